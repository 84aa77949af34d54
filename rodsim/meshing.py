"""From rods to frames and elements: nodes at all anchors, lumped masses, stress-free strains."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.space.elements import Elements
from discretization.space.se3_element import strains
from rigid import quaternions
from rigid.checks import shown, vector
from rigid.errors import ModelError
from rigid.system import Floats, Ints
from rodsim.parts import SAME_NODE, Rod
from rodsim.sections import Section

_CLOSES = 1e-6  # rad between the ends of a closed rod that count as rounding of what the user gave


class RodMesh(NamedTuple):
    """Nodes and elements of one rod; frame numbers count from 0 at its first node."""

    fractions: Floats  # (n,) of the stress-free length
    r: Floats  # (n, 3)
    quat: Floats  # (n, 4)
    v: Floats  # (n, 3)
    Omega: Floats  # (n, 3)
    mass: Floats  # (n,)
    inertia: Floats  # (n, 3, 3)
    radius: Floats  # (n,)
    sides: Floats  # (n, 2) width and height of rectangles
    arclength: Floats  # (n,)
    elements: Elements

    def node(self, s: float) -> int:
        """The node at the fraction s, which is an anchor's."""
        return int(np.argmin(np.abs(self.fractions - s)))


def node_fractions(n_elements: int, anchors: Iterable[float], closed: bool) -> Floats:
    """Fractions of the length with nodes: every anchor has one, between them elements are equally long.

    The number of elements stays `n_elements` wherever there are fewer anchors than elements.
    """
    stops = np.unique(np.concatenate([[0.0, 1.0], list(anchors)]))
    stops = stops[np.concatenate([[True], np.diff(stops) > SAME_NODE])]
    stops[-1] = 1.0
    pieces = np.diff(stops)
    counts = np.maximum(1, np.floor(pieces * n_elements + 1e-9).astype(int))
    while counts.sum() < n_elements:  # give what is left to the longest elements
        counts[np.argmax(pieces / counts)] += 1
    while counts.sum() > n_elements and counts.max() > 1:
        counts[np.argmin(np.where(counts > 1, pieces / counts, np.inf))] -= 1
    parts = [a + (b - a) * np.arange(c) / c for a, b, c in zip(stops[:-1], stops[1:], counts, strict=True)]
    fractions = np.concatenate(parts)
    return fractions if closed else np.append(fractions, 1.0)


def mesh_rod(rod: Rod, anchors: Iterable[float]) -> RodMesh:
    """Discretise `rod` with nodes at the fractions `anchors`."""
    owner = str(rod)
    fractions = node_fractions(rod.n_elements, anchors, rod.closed)
    stops = np.append(fractions, 1.0) if rod.closed else fractions
    n = len(fractions)
    r, quat = rod.initial_frames(stops)
    if rod.closed:
        _check_closing(owner, quat)
        r[-1], quat[-1] = r[0], quat[0]
    if rod.stress_free is rod.initial:
        r_free, quat_free = r, quat
    else:
        r_free, quat_free = rod.stress_free.frames(stops)
    length = np.diff(stops) * rod.stress_free.length
    # the stress-free shape need not close: its last element ends at its own end
    strain0 = strains(r_free[:-1], quat_free[:-1], r_free[1:], quat_free[1:], length)
    r, quat = r[:n], quat[:n]
    a = np.arange(len(length))
    b = (a + 1) % n
    _check_bend(owner, quat[a], quat[b], len(a))
    sections = _sections(rod, (stops[1:] + stops[:-1]) / 2)
    mass, inertia = np.zeros(n), np.zeros((n, 3))
    area, rectangle = np.zeros(n), np.zeros((n, 2))
    per_length = np.array([section.mass_per_length for section in sections])
    rotary = np.array([section.inertia_per_length for section in sections])
    radius = np.array([section.radius for section in sections])
    sides = np.array([section.sides for section in sections])
    if len(sections) == 1:
        per_length, rotary, radius, sides = (
            np.repeat(x, len(a), axis=0) for x in (per_length, rotary, radius, sides)
        )
    for side in (a, b):
        np.add.at(mass, side, per_length * length / 2)
        np.add.at(inertia, side, rotary * length[:, None] / 2)
        np.maximum.at(area, side, radius)
        np.maximum.at(rectangle, side, sides)
    stiffness = np.array([section.stiffness for section in sections])
    damping = np.array([section.damping for section in sections])
    if len(sections) == 1:
        stiffness, damping = (np.repeat(x, len(a), axis=0) for x in (stiffness, damping))
    omega = _along(rod, "angular_velocity", rod.angular_velocity, fractions)
    return RodMesh(
        fractions,
        r,
        quat,
        _along(rod, "velocity", rod.velocity, fractions),
        quaternions.rotate(quaternions.conjugate(quat), omega),
        mass,
        inertia[:, :, None] * np.eye(3),
        area,
        rectangle,
        fractions * rod.stress_free.length,
        Elements(
            np.stack([a, b], axis=1),
            length,
            stiffness,
            damping,
            strain0,
            rod.consistency * per_length * length / 6,
        ),
    )


def _sections(rod: Rod, middles: Floats) -> list[Section]:
    if isinstance(rod.section, Section):
        return [rod.section]
    sections = [rod.section(float(s)) for s in middles]
    for s, section in zip(middles, sections, strict=True):
        if not isinstance(section, Section):
            raise ModelError(
                f"{rod}: section(s = {s:g}) returned {shown(section)}, not a Section; return one"
            )
    return sections


def _along(rod: Rod, what: str, value: Floats | Callable[[float], ArrayLike], fractions: Floats) -> Floats:
    """Vectors (n, 3) at fractions of the length, of one for all or of a callable."""
    if callable(value):
        return np.array([vector(str(rod), f"{what} at s = {s:g}", value(float(s))) for s in fractions])
    return np.broadcast_to(value, (len(fractions), 3)).copy()


def _check_closing(owner: str, quat: Floats) -> None:
    """The first and the last of the frames of a closed rod are one section."""
    across = quaternions.multiply(quaternions.conjugate(quat[0]), quat[-1])
    angle = 2 * np.arctan2(np.linalg.norm(across[1:]), abs(across[0]))
    if angle > _CLOSES:
        raise ModelError(
            f"{owner}: closed, but the section at s = 1 is turned by {angle:.6g} rad against that at s = 0, which is the "
            "same; let twist make whole turns, and give stress_free_twist the rest with the opposite sign"
        )


def _check_bend(owner: str, qa: Floats, qb: Floats, n: int) -> None:
    turn = 2 * np.arccos(np.minimum(1.0, np.abs(np.sum(qa * qb, axis=1))))
    if turn.max() > 2.5:
        where = int(np.argmax(turn))
        raise ModelError(
            f"{owner}: element {where} of {n} turns by {turn.max():.2f} rad at t = 0; give more elements (below 2.5 rad each)"
        )


def joined(parts: list[Elements], first_frames: Ints) -> Elements:
    """The elements of several rods, frame numbers moved behind `first_frames`."""
    if not parts:
        none = np.zeros(0)
        return Elements(
            np.zeros((0, 2), np.int64), none, np.zeros((0, 6, 6)), np.zeros((0, 6, 6)), np.zeros((0, 6)), none
        )
    return Elements(
        np.concatenate([part.frames + first for part, first in zip(parts, first_frames, strict=True)]).astype(
            np.int64
        ),
        *(np.ascontiguousarray(np.concatenate(columns)) for columns in list(zip(*parts, strict=True))[1:]),
    )
