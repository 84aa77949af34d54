"""Pulleys and drums that a tendon passes: circles fixed to points of parts, and the interaction of a tendon over them.

The physics is in `rigid.interactions.reeved_tendons`. Two neighbouring circles must have parallel axes; a span may leave the
plane of a circle by a small angle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rigid import checks
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.interactions import evaluation
from rigid.interactions.kinds import Kind, group
from rigid.interactions.reeved_tendons import (
    MAX_CIRCLES,
    MAX_STOPS,
    PER_STOP,
    REEVED_LENGTHS,
    count_of_angles,
)
from rigid.system import Floats
from rodsim.components.base import CheckContext, Place, Poses, anchor, perpendicular_to
from rodsim.components.part_lookup import find_part_or_point

PARALLEL = 1e-6  # largest sine of the angle between the axes of two neighbouring circles
STEEPEST = 0.25  # largest part of a span along the axis of a circle at t = 0
_FULL_TURN = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class Wheel:
    """Base of circles that a tendon passes."""

    on: Any
    axis: ArrayLike
    radius: float
    side: int = 1

    def __repr__(self) -> str:
        return f"<{self} of radius {self.radius:g} m>"

    def __str__(self) -> str:
        return f"{type(self).__name__.lower()} on {self.on}"


@dataclass(frozen=True, eq=False, repr=False)
class Pulley(Wheel):
    """A pulley over which a tendon slides without friction: a circle fixed to a point of a part.

    A tendon that comes off the pulley passes it straight, and lies on it again when it comes back.

    Parameters
    ----------
    on : point, body or str
        Centre, such as `body.at((0, 0, 0.1))` or "ground@0,0,2". A body stands for its reference point.
    axis : (3,) array
        World direction of the axis at t = 0, of any length; it rotates with the part.
    radius : float
        Distance of the tendon from the axis, m.
    side : {1, -1}, default 1
        1: from the first to the last point, the tendon goes around the axis by the right-hand rule. -1: the other way.
    turns : int, default 0
        Full turns at t = 0 in addition to an angle of wrap between -90 and 270 degrees.

    Examples
    --------
    >>> from rodsim import Pulley
    >>> Pulley("ground@0,0,2", axis=(0, 1, 0), radius=0.1)
    <pulley on ground@0,0,2 of radius 0.1 m>
    """

    turns: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Drum(Wheel):
    """A drum on which an end of a tendon is fixed and wound: a circle fixed to a point of a part, without slip.

    The drum rotates with its part: a body on a hinge has inertia, a driven frame winds the tendon. The length of the tendon
    counts what has left the drum; the drum never becomes empty.

    Parameters
    ----------
    on : point, body or str
        Centre, on the axis about which the part rotates. A body stands for its reference point.
    axis : (3,) array
        World direction of the axis at t = 0, of any length; it rotates with the part.
    radius : float
        Distance of the tendon from the axis, m.
    side : {1, -1}, default 1
        1: from the first to the last point, the tendon goes around the axis by the right-hand rule. -1: the other way.

    Examples
    --------
    >>> from rodsim import Drum
    >>> Drum("winch", axis=(0, 1, 0), radius=0.1, side=-1)
    <drum on winch of radius 0.1 m>
    """


def checked_circle(context: CheckContext, what: str, wheel: Any) -> Any:
    """Return a circle with checked values; ModelError that names the tendon and the stop."""
    owner = f"{context.owner}, {what}"
    if wheel.side not in (1, -1) or isinstance(wheel.side, bool):
        raise ModelError(
            f"{owner}: side = {shown(wheel.side)}. Give 1 if the tendon goes around the axis by the right-hand rule, else -1"
        )
    values = {
        "on": anchor(context, what, wheel.on),
        "axis": checks.direction(owner, "axis", wheel.axis),
        "radius": checks.number(owner, "radius", wheel.radius, positive=True),
        "side": int(wheel.side),
    }
    if isinstance(wheel, Pulley):
        values["turns"] = checks.count(owner, "turns", wheel.turns, at_least=0)
    return replace(wheel, **values)


def checked_stops(context: CheckContext, value: Sequence[Any]) -> tuple[Any, ...]:
    """Return checked points, pulleys and drums; ModelError if a drum is not at an end, or the circles are too many."""
    stops = tuple(
        checked_circle(context, f"point {k}", stop)
        if isinstance(stop, Wheel)
        else anchor(context, f"point {k}", stop)
        for k, stop in enumerate(value)
    )
    circles = [k for k, stop in enumerate(stops) if isinstance(stop, Wheel)]
    for k in circles:
        if isinstance(stops[k], Drum) != (k in (0, len(stops) - 1)):
            raise ModelError(
                f"{context.owner}: point {k} is a {stops[k]}. A tendon ends on points or drums, and passes points and pulleys; "
                "divide it into two tendons at a drum"
            )
    if circles and (len(circles) > MAX_CIRCLES or len(stops) > MAX_STOPS):
        raise ModelError(
            f"{context.owner}: passes {len(stops)} points with {len(circles)} pulleys and drums; the limits are {MAX_STOPS} and "
            f"{MAX_CIRCLES}. Divide it into two tendons"
        )
    return stops


def stops_by_name(owner: str, model: Any, value: Any) -> Any:
    """Replace names of points, and of the centres of circles, by points of the model."""

    def point(stop: Any) -> Any:
        if isinstance(stop, Wheel):
            return replace(stop, on=point(stop.on))
        return find_part_or_point(owner, model, stop) if isinstance(stop, str) else stop

    return list(map(point, value)) if isinstance(value, Sequence) and not isinstance(value, str) else value


def stops_at(stops: Sequence[Any], points: Sequence[Any]) -> tuple[Any, ...]:
    """Return the stops at other points."""
    return tuple(
        replace(stop, on=point) if isinstance(stop, Wheel) else point
        for stop, point in zip(stops, points, strict=True)
    )


class Reeving(NamedTuple):
    """A tendon over circles as placed at t = 0."""

    frames: list[int]
    stops: Floats  # (10 n,) numbers of the stops
    angles: Floats  # initial guess of the counted angles
    at_start: float  # length at t = 0 without what is wound on drums, m
    on_drums: float  # length that the counted angles of the drums stand for at t = 0, m

    @property
    def stop_count(self) -> int:
        """Number of stops."""
        return len(self.frames)

    def numbers(self, length: float, stiffness: float) -> Floats:
        """Return the numbers of an interaction with this length without tension, m."""
        rest = [length + self.on_drums, stiffness, 0.0, 0.0, 0.0]
        return np.concatenate([self.stops, rest, self.angles])

    @property
    def path(self) -> list[list[float]]:
        """Frame, C, A and R of each stop, for results."""
        rows = self.stops.reshape(-1, PER_STOP)[:, [0, 1, 2, 3, 4, 5, 9]].tolist()
        return [[frame, *row] for frame, row in zip(self.frames, rows, strict=True)]

    @property
    def arm(self) -> float:
        """Largest distance of the tendon from the origin of a frame, m."""
        rows = self.stops.reshape(-1, PER_STOP)
        return float((np.linalg.norm(rows[:, :3], axis=1) + np.abs(rows[:, 9])).max())


class _Names(NamedTuple):
    """Names of the stops of a tendon in messages."""

    owner: str
    word: str  # "point" or "drum"
    first: int  # number of the first stop
    closed: int  # number of stops of a closed rope; 0: not closed

    def number(self, k: int) -> int:
        """Return the number of stop k."""
        return (self.first + k) % self.closed if self.closed else self.first + k

    def one(self, k: int) -> str:
        """Return the name of stop k."""
        return f"{self.word} {self.number(k)}"

    def both(self, k: int) -> str:
        """Return the names of stops k and k + 1."""
        return f"{self.word}s {self.number(k)} and {self.number(k + 1)}"


def reeve(
    owner: str, poses: Poses, stops: Sequence[Any], first: int = 0, word: str = "point", closed: int = 0
) -> Reeving:
    """Place a tendon over circles.

    first, word: number of the first stop in messages, and the name of a stop. closed: number of stops of the closed rope to
    which these two belong. Raises ModelError if a span does not exist, is too steep, or joins axes that are not parallel.
    """
    names = _Names(owner, word, first, closed)
    placed = [poses.place(stop.on if isinstance(stop, Wheel) else stop) for stop in stops]
    circles = [stop if isinstance(stop, Wheel) else None for stop in stops]
    axes = _aligned_axes(names, circles)
    radii = [
        0.0 if c is None else c.radius * c.side * flip for c, (_, flip) in zip(circles, axes, strict=True)
    ]
    for k in range(len(stops) - 1):
        _check_span(names, k, placed[k : k + 2], axes[k : k + 2], radii[k : k + 2])
    rows = []
    for place, (axis, _), radius in zip(placed, axes, radii, strict=True):
        zero = np.zeros(3) if axis is None else poses.local(place.frame, perpendicular_to(axis))
        A = np.zeros(3) if axis is None else poses.local(place.frame, axis)
        rows.append(np.concatenate([place.X, A, zero, [radius]]))
    angles: Floats = np.zeros(count_of_angles(len(stops)))
    guesses = [0.5 * np.pi + _FULL_TURN * c.turns if isinstance(c, Pulley) else 0.0 for c in circles if c]
    angles[: len(guesses)] = guesses
    reeving = Reeving([place.frame for place in placed], np.concatenate(rows), angles, 0.0, 0.0)
    kind = REEVED_LENGTHS[reeving.stop_count]
    length = _evaluated(kind, reeving, poses)[0]
    angles = _evaluated(kind._replace(value=kind.count, rows=len(angles)), reeving, poses)
    wound = [
        c.radius * x for c, x in zip([c for c in circles if c], angles, strict=False) if isinstance(c, Drum)
    ]
    return reeving._replace(angles=angles, at_start=float(length) - sum(wound), on_drums=float(sum(wound)))


def _evaluated(kind: Kind, reeving: Reeving, poses: Poses) -> Floats:
    """Return the values of a kind for the numbers of a tendon of no length."""
    numbers = reeving.numbers(0.0, 0.0)
    values: Floats = evaluation.values([group(kind, np.array(reeving.frames), numbers)], poses.r, poses.quat)
    return values


def _aligned_axes(names: _Names, circles: Sequence[Any]) -> list[tuple[Floats | None, int]]:
    """Return the axis of each circle and its sign, so that neighbouring circles have one axis; None: a point."""
    axes: list[tuple[Floats | None, int]] = []
    for k, circle in enumerate(circles):
        if circle is None:
            axes.append((None, 1))
            continue
        before, flip = axes[-1][0] if axes else None, 1
        if before is not None:
            if np.linalg.norm(np.cross(before, circle.axis)) > PARALLEL:
                raise ModelError(
                    f"{names.owner}: the axes of {names.both(k - 1)}, {np.round(before, 6).tolist()} and "
                    f"{np.round(circle.axis, 6).tolist()}, are not parallel. Give them one axis, or put a point between them"
                )
            flip = 1 if before @ circle.axis > 0.0 else -1
        axes.append((flip * circle.axis, flip))
    return axes


def _check_span(
    names: _Names, k: int, placed: Sequence[Place], axes: Sequence[Any], radii: Sequence[float]
) -> None:
    """Raise ModelError unless there is a tangent from stop k to stop k + 1 that hardly leaves the planes of their circles."""
    d, D = placed[1].world - placed[0].world, radii[1] - radii[0]
    n = axes[0][0] if axes[0][0] is not None else axes[1][0]
    if n is None:
        return
    z = float(n @ d)
    distance = float(np.linalg.norm(d - z * n))
    if distance <= abs(D) and 0.0 in radii:
        point, circle = (k, k + 1) if radii[0] == 0.0 else (k + 1, k)
        raise ModelError(
            f"{names.owner}: {names.one(point)} lies inside the circle of {names.one(circle)}, {distance:.6g} m from its axis, "
            f"with radius = {abs(D):.6g} m. Move it, or give a smaller radius"
        )
    if distance <= abs(D):
        raise ModelError(
            f"{names.owner}: the circles of {names.both(k)} leave no room for a tangent: their axes are {distance:.6g} m apart, "
            f"and it needs more than {abs(D):.6g} m. Move one of them, or change a radius or a side"
        )
    span = np.sqrt(distance**2 - D**2)
    if abs(z) > STEEPEST * span:
        raise ModelError(
            f"{names.owner}: the span between {names.both(k)} leaves the plane of its circle, by {abs(z):.6g} m on {span:.6g} m. "
            "Move a point into the plane, or put a point between them"
        )
