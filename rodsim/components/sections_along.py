"""Sections that vary along a rod: in pieces, or between stations, as read from a blade file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rigid.checks import array, shown
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.components.section_files import read_beamdyn
from rodsim.components.section_shapes import moved
from rodsim.components.sections import Section

SectionLike = Section | Sequence[tuple[float, Section]] | Callable[[float], Section]


class PiecewiseSection:
    """Sections of a rod in pieces: ``(end, section)`` from the end of the piece before, fractions of the stress-free length.

    `add_rod(..., section=[(0.3, thick), (1.0, thin)])` makes one. The ends of pieces are nodes of the rod.
    """

    def __init__(self, owner: str, pieces: Sequence[Any]):
        """Check the pieces; `owner`: the rod, in messages."""
        ends, self.sections = [], []
        for k, piece in enumerate(pieces):
            if not (isinstance(piece, list | tuple) and len(piece) == 2 and isinstance(piece[1], Section)):
                raise ModelError(
                    f"{owner}: section[{k}] = {shown(piece)} is not a piece; give (end, Section), the end as a fraction of the "
                    "length"
                )
            ends.append(piece[0])
            self.sections.append(piece[1])
        self.ends: Floats = array(owner, "ends of its sections", ends, (None,))
        if not len(ends) or self.ends[-1] != 1.0 or np.any(np.diff(self.ends, prepend=0.0) <= 0.0):
            raise ModelError(
                f"{owner}: the ends of its sections are {shown(ends)}; they grow from above 0 to 1, where the rod ends"
            )
        if any(section.of_string != self.sections[0].of_string for section in self.sections):
            raise ModelError(f"{owner}: some of its sections are those of strings; give all or none")

    def __call__(self, s: float) -> Section:
        """Return the section at a fraction of the length; at the end of a piece that of this piece."""
        return self.sections[min(int(np.searchsorted(self.ends, s)), len(self.sections) - 1)]

    def __repr__(self) -> str:
        return f"<PiecewiseSection: {len(self.sections)} pieces, up to s = {self.ends.tolist()}>"


def inner_ends(section: Any) -> list[float]:
    """Return the fractions of a rod's length at which its section jumps."""
    return section.ends[:-1].tolist() if isinstance(section, PiecewiseSection) else []


class SectionStations:
    """Sections at stations along a rod; between two stations, all matrices vary linearly.

    Pass it as the section of `Model.add_rod`, and its `fractions` as `nodes` if the stations shall be nodes.

    Parameters
    ----------
    fractions : array_like, shape (n,)
        Positions of the stations as fractions of the stress-free length, growing from 0 to 1.
    sections : sequence of Section
        Sections at the stations, linear ones without branches.

    Raises
    ------
    ModelError
        If the fractions do not grow from 0 to 1, or a section has a law, a branch or is that of a string.

    Examples
    --------
    >>> from rodsim import Material, Section, SectionStations
    >>> glass = Material(E=4e10, nu=0.3, density=1900.0)
    >>> blade = SectionStations([0, 1], [Section.tube(0.5, 0.4, glass), Section.tube(0.1, 0.08, glass)])
    >>> round(blade(0.5).radius, 12)
    0.3
    """

    def __init__(self, fractions: ArrayLike, sections: Sequence[Section]):
        owner = "SectionStations"
        self.fractions: Floats = array(owner, "fractions", fractions, (None,))
        self.sections = tuple(sections)
        s = self.fractions
        if len(s) < 2 or s[0] != 0.0 or s[-1] != 1.0 or np.any(np.diff(s) <= 0.0):
            raise ModelError(
                f"{owner}: fractions = {shown(s.tolist())} do not grow from 0 to 1; order and complete them"
            )
        if len(self.sections) != len(s):
            raise ModelError(
                f"{owner}: has {len(s)} fractions and {len(self.sections)} sections. Each fraction has its section"
            )
        for k, section in enumerate(self.sections):
            if not isinstance(section, Section):
                raise ModelError(f"{owner}: sections[{k}] = {shown(section)} is not a Section")
            if section.of_string or section.law >= 0 or section.law_expression or section.relaxation:
                raise ModelError(
                    f"{owner}: sections[{k}] is that of a string, or has a law or a branch; give linear sections, or a function "
                    "s -> Section"
                )

    def __call__(self, s: float) -> Section:
        """Return the section at the fraction s of the length."""
        k = min(max(int(np.searchsorted(self.fractions, s)), 1), len(self.fractions) - 1)
        a, b = self.sections[k - 1], self.sections[k]
        x = (s - self.fractions[k - 1]) / (self.fractions[k] - self.fractions[k - 1])

        if any(section.center != (0.0, 0.0) for section in (a, b)):
            parts = [_about_curve(section) for section in (a, b)]
            C, D, M = ((1.0 - x) * first + x * second for first, second in zip(*parts, strict=True))
            return Section.from_matrices(C, M, damping=D, radius=(1.0 - x) * a.radius + x * b.radius)

        def between(name: str) -> Any:
            return (1.0 - x) * np.asarray(getattr(a, name)) + x * np.asarray(getattr(b, name))

        return replace(
            a,
            stiffness=between("stiffness"),
            mass_per_length=float(between("mass_per_length")),
            inertia_per_length=between("inertia_per_length"),
            damping=between("damping"),
            radius=float(between("radius")),
            sides=tuple(between("sides").tolist()),
            product_of_inertia=float(between("product_of_inertia")),
        )

    @classmethod
    def from_beamdyn(cls, path: Path | str, *, radius: float = 0.0) -> SectionStations:
        """Return the stations of a blade file of BeamDyn.

        Its axes z (along the blade), x and y become d1, d2 and d3. Viscosity is stiffness times the damping times of the file;
        entries that couple two strains have the geometric mean of their times, so that D stays symmetric.

        Parameters
        ----------
        path : path-like
            The blade file ("DISTRIBUTED PROPERTIES" with 6 x 6 matrices at each station), SI units.
        radius : float, default 0.0
            Radius for drawing and contact, m.

        Returns
        -------
        SectionStations

        Raises
        ------
        ModelError
            If stations are missing or do not grow from 0 to 1, or a matrix is not that of a section.
        OSError
            If the file cannot be read.

        Examples
        --------
        >>> from rodsim import SectionStations
        >>> SectionStations.from_beamdyn("NREL_5MW_blade.dat")  # doctest: +SKIP
        <SectionStations: 49 stations>
        """
        blade = read_beamdyn("SectionStations.from_beamdyn", Path(path))
        root = np.sqrt(blade.damping_times)
        made = [
            Section.from_matrices(
                each.stiffness, each.mass, damping=each.stiffness * np.outer(root, root), radius=radius
            )
            for each in blade.matrices
        ]
        return cls(blade.fractions, made)

    def __repr__(self) -> str:
        return f"<SectionStations: {len(self.sections)} stations>"


def _about_curve(section: Section) -> tuple[Floats, Floats, Floats]:
    """Return stiffness, viscosity and mass (6, 6) of a section about the curve of the rod."""
    m, c = section.mass_per_length, np.array([0.0, *section.center])
    hat = np.cross(np.eye(3), c)  # hat v = c x v
    J = section.rotary_inertia + m * (c @ c * np.eye(3) - np.outer(c, c))
    mass = np.block([[m * np.eye(3), -m * hat], [m * hat, J]])
    return moved(section.stiffness, c[1:]), moved(section.damping, c[1:]), mass
