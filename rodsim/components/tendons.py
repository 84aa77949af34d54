"""Tendons: a force of one tension along a line through points of rods, bodies and the ground.

A tendon of tension T through the points p_0 ... p_n pulls each two neighbours towards each other:

    force on p_i   T (e_{i+1} - e_i),   e_i = (p_i - p_{i-1})/l_i,   work of a step   -T sum (l_i1 - l_i0)          (1)

Each segment is a force -T on a distance (`rigid.interactions.measure_forces`); all share one signal. Friction at the points is an
interaction of all points (`rigid.interactions.tendon_friction`): T is the tension between the first two points, and falls towards
the last point if the tendon slips towards the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from discretization.interaction_table import Interaction
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.interactions.measure_forces import MEASURE_FORCES
from rigid.interactions.tendon_friction import TENDON_FRICTIONS
from rigid.system import Floats
from rodsim.components.base import (
    NOT_NEGATIVE,
    POSITIVE,
    CheckContext,
    ExternalValues,
    ParameterType,
    Place,
    Poses,
    anchor,
    component,
    parameter,
)
from rodsim.components.joint_forces import NOT_NEGATIVE_SCALAR
from rodsim.components.model_parts import Anchor, Rod
from rodsim.components.user_interactions import AnchoredInteraction, points_by_name
from rodsim.components.varying_values import scaled_input

_NO_INPUT = np.zeros(3)
SEGMENT = 9  # count of numbers of a force on a distance


def _is_list(value: Any) -> bool:
    """Return whether a value is a sequence, but no text."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def _check_points(context: CheckContext, what: str, value: Any) -> tuple[Anchor, ...]:
    """Return two or more points of the model, of which neighbours differ."""
    if not _is_list(value) or len(value) < 2:
        raise ModelError(f"{context.owner}: points = {shown(value)}. Give two or more points, in their order")
    points = tuple(anchor(context, what, x) for x in value)
    for k, (a, b) in enumerate(pairwise(points)):
        if a.part is b.part and a.s == b.s and np.array_equal(a.X, b.X):
            raise ModelError(
                f"{context.owner}: points {k} and {k + 1} are the same point of {a.part}. Remove one of them"
            )
    return points


POINTS_OF_PARTS = ParameterType(
    "points of parts",
    _check_points,
    lambda value: [str(point) for point in value],
    by_name=lambda owner, model, value: points_by_name(owner, model, value) if _is_list(value) else value,
)


@component
class Tendon(AnchoredInteraction):
    """A tendon of given tension through points of rods, bodies and the ground."""

    key, word, list_description = "tendons", "tendon", "tendons through points of parts"
    anchors: tuple[Anchor, ...] = parameter(
        POINTS_OF_PARTS, "two or more points of parts that the tendon passes, in their order", key="points"
    )
    tension: Any = parameter(
        NOT_NEGATIVE_SCALAR, "tension at the first point: a number, or a function of time [N]"
    )
    friction: float = parameter(
        NOT_NEGATIVE, "coefficient of friction at the points between its ends [1]", 0.0
    )
    slip_rate: float = parameter(POSITIVE, "slip rate over which friction builds up [m/s]", 1e-3)

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        if not any(not _is_rigid(a, b) for a, b in pairwise(values["anchors"])):
            raise ModelError(
                f"{context.owner}: all its points are on {values['anchors'][0].part}, so that it does not act. "
                "Give points of two parts"
            )
        count = len(values["anchors"])
        if values["friction"] and count not in TENDON_FRICTIONS:
            raise ModelError(
                f"{context.owner}: has friction and {count} points. With friction a tendon passes {min(TENDON_FRICTIONS)} to "
                f"{max(TENDON_FRICTIONS)} points. Leave points out, or set friction=0"
            )

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        interactions = [_force_on_segment(a, b) for a, b in self._segments(poses)]
        if self.friction:
            interactions.append(
                _friction([poses.place(x) for x in self.anchors], self.friction, self.slip_rate)
            )
        return interactions

    def external_values(self, poses: Poses) -> Sequence[ExternalValues]:
        owner, count = f"tendon '{self.name}'", len(self._segments(poses))
        values = [scaled_input(owner, self.tension, (-1.0, 0.0, 0.0), count=count)]
        return [*values, scaled_input(owner, self.tension)] if self.friction else values

    def anchor_pairs(self) -> list[tuple[int, int]]:
        """Return one pair if all points are on one part: if that is rigid, the tendon does not act."""
        return [(0, 1)] if len({id(point.part) for point in self.anchors}) == 1 else []

    def levers(self, X: Floats) -> list[Floats | None]:
        return [X[k : k + 3] for k in range(0, 3 * len(self.anchors) if len(X) > SEGMENT else 6, 3)]

    def _segments(self, poses: Poses) -> list[tuple[Place, Place]]:
        """Return the ends of the segments whose length can change: those between two frames."""
        placed = [poses.place(point) for point in self.anchors]
        for k, (a, b) in enumerate(pairwise(placed)):
            if np.array_equal(a.world, b.world):
                raise ModelError(
                    f"tendon '{self.name}': points {k} and {k + 1} are at one place at t = 0, {a.world.tolist()}, so that the "
                    "tendon has no direction there. Move one of them"
                )
        return [(a, b) for a, b in pairwise(placed) if a.frame != b.frame]

    def __repr__(self) -> str:
        first, last = self.anchors[0], self.anchors[-1]
        return f"<tendon '{self.name}' through {len(self.anchors)} points, from {first} to {last}>"


def _is_rigid(a: Anchor, b: Anchor) -> bool:
    """Return whether the distance of two points cannot change."""
    same_section = a.s == b.s if isinstance(a.part, Rod) else True
    return a.part is b.part and same_section


def _force_on_segment(a: Place, b: Place) -> Interaction:
    """Return a force on the distance of two points."""
    arm = float(np.linalg.norm(a.X) + np.linalg.norm(b.X))
    numbers = np.concatenate([a.X, b.X, _NO_INPUT])
    return Interaction(MEASURE_FORCES["distance"], [a.frame, b.frame], numbers, (1.0, arm))


def _friction(points: Sequence[Place], coefficient: float, slip_rate: float) -> Interaction:
    """Return the friction at the points of a tendon."""
    arm = max(float(np.linalg.norm(point.X)) for point in points)
    length = sum(float(np.linalg.norm(b.world - a.world)) for a, b in pairwise(points))
    force = coefficient * np.pi * (1.0 + length / slip_rate)  # of the round-off of the rate of the length
    numbers = np.concatenate([*(point.X for point in points), [coefficient, slip_rate], _NO_INPUT])
    return Interaction(
        TENDON_FRICTIONS[len(points)], [point.frame for point in points], numbers, (force, force * arm)
    )
