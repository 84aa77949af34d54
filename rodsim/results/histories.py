"""The history of one rod or body, read from a result when it is asked for; of joints: `joint_history`."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rigid.checks import shown
from rigid.quaternions import rotate
from rigid.system import Floats, Ints
from rodsim.results.along_rods import length_of, lines_to, places_of_elements
from rodsim.results.errors import ResultError
from rodsim.results.layout import BodyLayout, RodLayout
from rodsim.results.sources import Source
from rodsim.results.twist_and_writhe import ends_of, twist, writhe

OF_ELEMENTS = ("Gamma", "K", "N", "M")


def _columns(source: Source, name: str, numbers: Ints) -> NDArray[Any]:
    """Items `numbers` of the second axis of the array `name`, for all outputs."""
    if len(numbers) == 0:
        return source.read(name, (slice(None), slice(0, 0)))
    low, high = int(numbers.min()), int(numbers.max()) + 1
    # one block from the file; picking single columns there is slow
    return source.read(name, (slice(None), slice(low, high)))[:, numbers - low]


class RodHistory:
    """Hold the history of one rod: arrays (T, n_nodes, ...) of its sections, (T, n_elements, ...) of its elements.

    `Result.rod` returns it. Places, rotations and velocities are those of nodes; strains `Gamma`, `K` and stresses `N`, `M`
    are those of elements, known at `s_element` of the rod's length.

    Examples
    --------
    >>> cord = result.rod("cord")
    >>> cord.r.shape, cord.N.shape
    ((6, 5, 3), (6, 4, 3))
    >>> bool(cord.r[0, 0, 2] == 0.0)
    True
    """

    def __init__(self, source: Source, layout: RodLayout) -> None:
        self._source = source
        self.layout = layout

    @property
    def name(self) -> str:
        """Name of the rod."""
        return self.layout.name

    @property
    def arclength(self) -> Floats:
        """(n_nodes,) m, in the stress-free shape"""
        return self.layout.arclength

    @cached_property
    def r(self) -> Floats:
        """(T, n_nodes, 3) m, positions"""
        return _columns(self._source, "r", self.layout.frames)

    @cached_property
    def quat(self) -> Floats:
        """(T, n_nodes, 4) unit quaternions (w, x, y, z), section to inertial axes"""
        return _columns(self._source, "quat", self.layout.frames)

    @cached_property
    def v(self) -> Floats:
        """(T, n_nodes, 3) m/s, velocities, inertial axes"""
        return _columns(self._source, "v", self.layout.frames)

    @cached_property
    def Omega(self) -> Floats:
        """(T, n_nodes, 3) rad/s, angular velocities, section axes"""
        return _columns(self._source, "Omega", self.layout.frames)

    @property
    def omega(self) -> Floats:
        """(T, n_nodes, 3) rad/s, angular velocities, inertial axes"""
        return rotate(self.quat, self.Omega)

    @cached_property
    def _strains(self) -> Floats:
        return _columns(self._source, "strains", self.layout.elements)

    @cached_property
    def _stresses(self) -> Floats:
        return _columns(self._source, "stresses", self.layout.elements)

    @property
    def Gamma(self) -> Floats:
        """(T, n_elements, 3) stretch and shear, section axes"""
        return self._strains[..., :3]

    @property
    def K(self) -> Floats:
        """(T, n_elements, 3) 1/m, twist and bending, section axes"""
        return self._strains[..., 3:]

    @property
    def N(self) -> Floats:
        """(T, n_elements, 3) N, normal and shear forces, section axes"""
        return self._stresses[..., :3]

    @property
    def M(self) -> Floats:
        """(T, n_elements, 3) N m, torque and bending moments, section axes"""
        return self._stresses[..., 3:]

    @cached_property
    def s_element(self) -> Floats:
        """(n_elements,) m, where Gamma, K, N and M are known, in the stress-free shape"""
        return places_of_elements(self._source.layout, self.layout)

    @cached_property
    def twist(self) -> Floats:
        """(T,) turns of the sections about the axis, right-handed ones positive; less than half a turn an element"""
        return twist(self.r, self.quat, self.layout.closed)

    @cached_property
    def writhe(self) -> Floats:
        """(T,) turns of the axis about itself; an open rod goes on as straight rays along d1 of its ends"""
        return writhe(self.r, None if self.layout.closed else ends_of(self.quat))

    @property
    def link(self) -> Floats:
        """(T,) turns, twist and writhe: of a closed rod a whole number, of an open one the turns of its ends about their axes.

        It changes by two where strands go through each other.
        """
        return self.twist + self.writhe

    def along(self, field: str, fractions: ArrayLike) -> Floats:
        """(T, k, 3) "Gamma", "K", "N" or "M" at fractions (k,) of the stress-free length; 0 and 1 are the ends.

        On straight lines between the places `s_element`, extrapolated to the ends: of second order. Raises ResultError for
        another field, or a fraction outside of [0, 1].
        """
        places = np.atleast_1d(np.asarray(fractions, float))
        if field not in OF_ELEMENTS:
            raise ResultError(f"rod '{self.name}': along {field!r}; give one of {', '.join(OF_ELEMENTS)}")
        if places.ndim > 1 or not bool(np.all((places >= 0.0) & (places <= 1.0))):
            raise ResultError(f"rod '{self.name}': fractions = {shown(fractions)}; give numbers from 0 to 1")
        layout = self._source.layout
        found = lines_to(layout, self.layout, places * length_of(layout, self.layout))
        return found.of(getattr(self, field))


class BodyHistory:
    """Hold the history of one rigid body: arrays (T, ...).

    `Result.body` returns it. `r` and `v` are those of the reference point of its shape, `point` follows any other.

    Examples
    --------
    >>> block = result.body("block")
    >>> block.r.shape, block.quat.shape
    ((6, 3), (6, 4))
    >>> block.point((0.05, 0.0, 0.0)).shape
    (6, 3)
    """

    def __init__(self, source: Source, layout: BodyLayout) -> None:
        self._source = source
        self.layout = layout

    @property
    def name(self) -> str:
        """Name of the body."""
        return self.layout.name

    @cached_property
    def center_of_mass(self) -> Floats:
        """(T, 3) m"""
        return self._source.read("r", (slice(None), self.layout.frame))

    @cached_property
    def quat(self) -> Floats:
        """(T, 4) unit quaternions (w, x, y, z), body to inertial axes"""
        return self._source.read("quat", (slice(None), self.layout.frame))

    @cached_property
    def Omega(self) -> Floats:
        """(T, 3) rad/s, body-fixed axes"""
        return self._source.read("Omega", (slice(None), self.layout.frame))

    @property
    def omega(self) -> Floats:
        """(T, 3) rad/s, inertial axes"""
        return rotate(self.quat, self.Omega)

    @property
    def r(self) -> Floats:
        """(T, 3) m, the reference point"""
        return self.point(self.layout.reference)

    @property
    def v(self) -> Floats:
        """(T, 3) m/s, of the reference point, inertial axes"""
        v = self._source.read("v", (slice(None), self.layout.frame))
        return v + rotate(self.quat, np.cross(self.Omega, self.layout.reference))

    def point(self, X: Floats) -> Floats:
        """(T, 3) m, where the point X (m, body axes, from the centre of mass) is."""
        return self.center_of_mass + rotate(self.quat, X)
