"""Tendons: lines of one tension through points of rods, bodies and the ground.

A tendon of given tension T through the points p_0 ... p_n pulls each two neighbours towards each other:

    force on p_i   T (e_{i+1} - e_i),   e_i = (p_i - p_{i-1})/l_i,   work of a step   -T sum (l_i1 - l_i0)          (1)

Each segment is a force -T on a distance (`rigid.interactions.measure_forces`); all share one signal. Friction at the points is an
interaction of all points (`rigid.interactions.tendon_friction`): T is the tension between the first two points, and falls towards
the last point if the tendon slips towards the first. A tendon without a given tension is inextensible or elastic, one interaction
of all frames that it passes (`rigid.interactions.tendon_length`). A tendon over pulleys or drums is one interaction too, also
with a given tension (`rigid.interactions.reeved_tendons`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

from discretization.interaction_table import Interaction
from rigid import checks
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.interactions.kinds import MAX_FRAMES
from rigid.interactions.measure_forces import MEASURE_FORCES
from rigid.interactions.reeved_tendons import (
    PER_STOP,
    REEVED_ELASTIC,
    REEVED_LENGTHS,
    REEVED_TENSIONS,
    REEVED_VARYING,
    count_of_stops,
)
from rigid.interactions.tendon_friction import TENDON_FRICTIONS
from rigid.interactions.tendon_length import ELASTIC_TENDONS, PER_FRAME, TENDON_LENGTHS, VARYING_TENDONS
from rigid.system import Floats
from rodsim.components.base import (
    NOT_NEGATIVE,
    POSITIVE,
    CheckContext,
    ExternalValues,
    ParameterType,
    Place,
    Poses,
    component,
    parameter,
)
from rodsim.components.joint_forces import NOT_NEGATIVE_SCALAR, SCALAR
from rodsim.components.model_parts import Anchor, Rod
from rodsim.components.pulleys import Reeving, Wheel, checked_stops, reeve, stops_at, stops_by_name
from rodsim.components.user_interactions import AnchoredInteraction
from rodsim.components.varying_values import scaled_input

NO_INPUT = np.zeros(3)
SEGMENT = 9  # count of numbers of a force on a distance


def _is_list(value: Any) -> bool:
    """Return whether a value is a sequence, but no text."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def _check_points(context: CheckContext, what: str, value: Any) -> tuple[Any, ...]:
    """Return two or more points, pulleys and drums of the model, of which neighbours differ."""
    if not _is_list(value) or len(value) < 2:
        raise ModelError(f"{context.owner}: points = {shown(value)}. Give two or more points, in their order")
    stops = checked_stops(context, value)
    for k, (a, b) in enumerate(pairwise(stops)):
        if isinstance(a, Wheel) or isinstance(b, Wheel):
            continue
        if a.part is b.part and a.s == b.s and np.array_equal(a.X, b.X):
            raise ModelError(
                f"{context.owner}: points {k} and {k + 1} are the same point of {a.part}. Remove one of them"
            )
    return stops


POINTS_OF_PARTS = ParameterType(
    "points of parts",
    _check_points,
    lambda value: [str(point) for point in value],
    by_name=stops_by_name,
)


@component
class Tendon(AnchoredInteraction):
    """A tendon through points and over pulleys of rods, bodies and the ground: of given tension, elastic or inextensible."""

    key, word, list_description = "tendons", "tendon", "tendons through points of parts"
    points: tuple[Any, ...] = parameter(
        POINTS_OF_PARTS,
        "two or more points of parts, pulleys and drums that the tendon passes, in their order",
    )
    tension: Any = parameter(
        NOT_NEGATIVE_SCALAR,
        "tension at the first point: a number, or a function of time; left out: the length decides [N]",
        None,
    )
    stiffness: float | None = parameter(
        POSITIVE, "tension over elongation; left out, without a tension: inextensible [N/m]", None
    )
    length: Any = parameter(
        SCALAR,
        "length without tension, which may vary if there is a stiffness; default: that at t = 0 [m]",
        None,
    )
    friction: float = parameter(
        NOT_NEGATIVE, "coefficient of friction at the points between its ends [1]", 0.0
    )
    slip_rate: float = parameter(POSITIVE, "slip rate over which friction builds up [m/s]", 1e-3)
    anchors: tuple[Anchor, ...] = ()  # of the points, and of the centres of pulleys and drums

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        owner, stops, length = context.owner, values["points"], values["length"]
        points = tuple(stop.on if isinstance(stop, Wheel) else stop for stop in stops)
        values["anchors"], is_reeved = points, points != stops
        if is_reeved and values["friction"]:
            raise ModelError(
                f"{owner}: has friction and passes pulleys. Set friction=0, or give points along the rim of the pulley"
            )
        if all(is_rigid(a, b) for a, b in pairwise(points)):
            raise ModelError(
                f"{owner}: all its points are on {points[0].part}, so that it does not act. Give points of two parts"
            )
        if values["tension"] is not None:
            for what in ("stiffness", "length"):
                if values[what] is not None:
                    raise ModelError(f"{owner}: has a tension and a {what}. Give one of them")
        elif values["friction"]:
            raise ModelError(f"{owner}: has friction, but no tension. Give tension=, or set friction=0")
        if values["friction"] and len(points) not in TENDON_FRICTIONS:
            raise ModelError(
                f"{owner}: has friction and {len(points)} points. With friction a tendon passes {min(TENDON_FRICTIONS)} to "
                f"{max(TENDON_FRICTIONS)} points. Leave points out, or set friction=0"
            )
        if callable(length) and values["stiffness"] is None:
            raise ModelError(
                f"{owner}: its length varies, and it is inextensible. Give a stiffness=, or use the drive of a distance joint"
            )
        if length is not None and not callable(length):
            checks.number(owner, "length", length, positive=True)

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        if self.tension is None:
            return [self._over_circles(self._reeving(poses)) if self._is_reeved else self._of_length(poses)]
        interactions = [force_on_segment(a, b) for a, b in self._segments(poses)]
        interactions += [
            Interaction(REEVED_TENSIONS[x.stop_count], x.frames, x.numbers(0.0, 0.0), (1.0, x.arm))
            for x in self._reevings(poses)
        ]
        if self.friction:
            interactions.append(
                _friction([poses.place(x) for x in self.anchors], self.friction, self.slip_rate)
            )
        return interactions

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        owner = f"tendon '{self.name}'"
        if self.tension is None:
            if not callable(self.length):
                return []
            start = self._length_at_start(poses)
            return [scaled_input(owner, self.length, (1.0, 0.0, 0.0), (0.0, -start, 0.0))]
        count = len(self._segments(poses)) + len(self._reevings(poses))
        values = [scaled_input(owner, self.tension, (-1.0, 0.0, 0.0), count=count)]
        return [*values, scaled_input(owner, self.tension)] if self.friction else values

    @property
    def _is_reeved(self) -> bool:
        """True if the tendon passes pulleys or drums."""
        return any(isinstance(point, Wheel) for point in self.points)

    def _reeving(self, poses: Poses) -> Reeving:
        """Return the tendon over its circles at t = 0."""
        return reeve(f"tendon '{self.name}'", poses, self.points)

    def _reevings(self, poses: Poses) -> list[Reeving]:
        """Return the pieces between two points, or to an end, that pass circles, at t = 0."""
        ends = [0, *(k for k, point in enumerate(self.points) if not isinstance(point, Wheel))]
        ends = sorted({*ends, len(self.points) - 1})
        owner = f"tendon '{self.name}'"
        return [
            reeve(owner, poses, self.points[a : b + 1], a)
            for a, b in pairwise(ends)
            if any(isinstance(point, Wheel) for point in self.points[a : b + 1])
        ]

    def _length_at_start(self, poses: Poses) -> float:
        """Return the length at t = 0 without what is wound on drums, m."""
        if self._is_reeved:
            return self._reeving(poses).at_start
        return self._stops(poses).at_start + self._stops(poses).on_frames

    def _over_circles(self, reeving: Reeving) -> Interaction:
        """Return the interaction of a tendon over circles."""
        count, arm = reeving.stop_count, reeving.arm
        length = reeving.at_start if self.length is None or callable(self.length) else self.length
        if self.stiffness is None:
            return Interaction(
                REEVED_LENGTHS[count], reeving.frames, reeving.numbers(length, 0.0), (1.0, 1.0 + arm)
            )
        varies = callable(self.length)
        kind = (REEVED_VARYING if varies else REEVED_ELASTIC)[count]
        force = self.stiffness * (1.0 + reeving.at_start)
        return Interaction(
            kind, reeving.frames, reeving.numbers(length, self.stiffness), (force, force * arm)
        )

    def _stops(self, poses: Poses) -> StopsAlong:
        """Return the frames that the tendon passes; ModelError if they are too many."""
        self._segments(poses)
        stops = stops_along([poses.place(point) for point in self.anchors])
        if len(stops.frames) > MAX_FRAMES:
            raise ModelError(
                f"tendon '{self.name}': passes {len(stops.frames)} frames; without a given tension the limit is {MAX_FRAMES}. "
                "Leave points out"
            )
        return stops

    def _of_length(self, poses: Poses) -> Interaction:
        """Return the interaction of a tendon whose length decides about its tension."""
        stops = self._stops(poses)
        length, varies = stops.at_start, callable(self.length)
        if self.length is not None and not varies:
            length = self.length - stops.on_frames
            if length <= 0.0:
                raise ModelError(
                    f"tendon '{self.name}': length = {self.length:g} m, but {stops.on_frames:g} m of it lie between points that "
                    "are fixed to each other. Give a greater length"
                )
        count, arm = len(stops.frames), float(np.abs(stops.points).max())
        if self.stiffness is None:
            return Interaction(
                TENDON_LENGTHS[count], stops.frames, np.append(stops.points, length), (1.0, 1.0 + arm)
            )
        numbers = np.concatenate([stops.points, [length, self.stiffness], NO_INPUT if varies else []])
        kind = (VARYING_TENDONS if varies else ELASTIC_TENDONS)[count]
        force = self.stiffness * (1.0 if varies else 1.0 + stops.at_start)
        return Interaction(kind, stops.frames, numbers, (force, force * arm))

    def layout(self, poses: Poses) -> dict[str, Any]:
        """Return what results need: the number of its interactions without friction, the length that these do not have, m (that
        between points of one frame, minus that on drums), and the frame, C, A and R of each stop.
        """
        path = self._path(poses)
        if self.tension is None:
            fixed = -self._reeving(poses).on_drums if self._is_reeved else self._stops(poses).on_frames
            return {"interactions": 1, "fixed_length": fixed, "path": path}
        reevings = self._reevings(poses)
        fixed = sum(
            float(np.linalg.norm(b.X - a.X)) for a, b in self._straight(poses) if a.frame == b.frame
        ) - sum(reeving.on_drums for reeving in reevings)
        count = len(self._segments(poses)) + len(reevings)
        return {"interactions": count, "fixed_length": fixed, "path": path}

    def _path(self, poses: Poses) -> list[list[float]]:
        """Return the frame, C, A and R of each stop."""
        if self._is_reeved:
            return self._reeving(poses).path
        return [
            [place.frame, *place.X.tolist(), 0.0, 0.0, 0.0, 0.0] for place in map(poses.place, self.anchors)
        ]

    def anchor_pairs(self) -> list[tuple[int, int]]:
        """Return one pair if all points are on one part: if that is rigid, the tendon does not act."""
        return [(0, 1)] if len({id(point.part) for point in self.anchors}) == 1 else []

    def levers(self, X: Floats) -> list[Floats | None]:
        if self._is_reeved and len(X) > SEGMENT:
            stops = X[: PER_STOP * count_of_stops(X)].reshape(-1, PER_STOP)
            return [None if radius else C for C, radius in zip(stops[:, :3], stops[:, 9], strict=True)]
        if self.tension is None:
            ends = X[: PER_FRAME * (len(X) // PER_FRAME)].reshape(-1, 2, 3)
            return [entry if entry.any() else leave for entry, leave in ends]
        return [X[k : k + 3] for k in range(0, 3 * len(self.anchors) if len(X) > SEGMENT else 6, 3)]

    def with_rigid_rods(self, changed: dict[str, Any], section: Callable[[Anchor], Floats]) -> Any:
        if anchors := changed.get("anchors"):
            changed["points"] = stops_at(self.points, anchors)
        return replace(self, **changed)

    def _segments(self, poses: Poses) -> list[tuple[Place, Place]]:
        """Return the ends of the segments whose length can change: those between two frames."""
        return [(a, b) for a, b in self._straight(poses) if a.frame != b.frame]

    def _straight(self, poses: Poses) -> list[tuple[Place, Place]]:
        """Return the ends of all segments between two points."""
        placed, straight = [poses.place(point) for point in self.anchors], []
        for k, (a, b) in enumerate(pairwise(placed)):
            if any(isinstance(point, Wheel) for point in self.points[k : k + 2]):
                continue
            check_apart("tendon", self.name, k, a, b)
            straight.append((a, b))
        return straight

    def __repr__(self) -> str:
        first, last = self.anchors[0], self.anchors[-1]
        return f"<tendon '{self.name}' through {len(self.anchors)} points, from {first} to {last}>"


def is_rigid(a: Anchor, b: Anchor) -> bool:
    """Return whether the distance of two points cannot change."""
    same_section = a.s == b.s if isinstance(a.part, Rod) else True
    return a.part is b.part and same_section


class StopsAlong(NamedTuple):
    """The frames that a tendon passes, one after the other."""

    frames: list[int]
    points: Floats  # (6 n,) points at which it enters and leaves each of the n frames, m, frame axes
    at_start: float  # length of the segments between the frames at t = 0, m
    on_frames: float  # length between points of one frame, m


def stops_along(placed: Sequence[Place]) -> StopsAlong:
    """Return the frames that a tendon through these points passes."""
    groups = [list(group) for _, group in groupby(placed, key=lambda place: place.frame)]
    points = np.concatenate([[*group[0].X, *group[-1].X] for group in groups])
    fixed = sum(float(np.linalg.norm(b.X - a.X)) for group in groups for a, b in pairwise(group))
    free = sum(float(np.linalg.norm(b[0].world - a[-1].world)) for a, b in pairwise(groups))
    return StopsAlong([group[0].frame for group in groups], points, free, fixed)


def check_apart(word: str, name: str, k: int, a: Place, b: Place) -> None:
    """Raise ModelError if points k and k + 1 of a tendon or chamber are at one place; word: which of both it is."""
    if np.array_equal(a.world, b.world):
        raise ModelError(
            f"{word} '{name}': points {k} and {k + 1} are at one place at t = 0, {a.world.tolist()}, so that the {word} has no "
            "direction there. Move one of them"
        )


def force_on_segment(a: Place, b: Place) -> Interaction:
    """Return a force on the distance of two points."""
    arm = float(np.linalg.norm(a.X) + np.linalg.norm(b.X))
    numbers = np.concatenate([a.X, b.X, NO_INPUT])
    return Interaction(MEASURE_FORCES["distance"], [a.frame, b.frame], numbers, (1.0, arm))


def _friction(points: Sequence[Place], coefficient: float, slip_rate: float) -> Interaction:
    """Return the friction at the points of a tendon."""
    arm = max(float(np.linalg.norm(point.X)) for point in points)
    length = sum(float(np.linalg.norm(b.world - a.world)) for a, b in pairwise(points))
    force = coefficient * np.pi * (1.0 + length / slip_rate)  # of the round-off of the rate of the length
    numbers = np.concatenate([*(point.X for point in points), [coefficient, slip_rate], NO_INPUT])
    return Interaction(
        TENDON_FRICTIONS[len(points)], [point.frame for point in points], numbers, (force, force * arm)
    )
