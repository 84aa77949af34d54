"""Chambers: tubes of a constant cross-section through points of rods, bodies and the ground, filled with a gas or a liquid.

A chamber of the given pressure p above that of the surroundings pushes each two neighbouring points apart with the force A p.
Each segment is a force on a distance (`rigid.interactions.measure_forces`), as with a tendon of the tension -A p. A closed
chamber holds a gas or a liquid, whose pressure follows from its volume: one interaction of all frames that it passes
(`rigid.interactions.chambers`). A liquid that is not compressible keeps the length of the tube, as an inextensible tendon does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from discretization.interaction_table import Interaction
from rigid import checks
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.interactions.chambers import GAS_CHAMBERS, LIQUID_CHAMBERS, PUMPED_CHAMBERS
from rigid.interactions.kinds import MAX_FRAMES
from rigid.interactions.tendon_length import PER_FRAME, TENDON_LENGTHS
from rigid.system import Floats
from rodsim.components.base import (
    NOT_NEGATIVE,
    POSITIVE,
    CheckContext,
    ExternalValues,
    Place,
    Poses,
    component,
    parameter,
)
from rodsim.components.joint_forces import SCALAR
from rodsim.components.model_parts import Anchor
from rodsim.components.pulleys import Wheel, stops_at
from rodsim.components.tendons import (
    NO_INPUT,
    POINTS_OF_PARTS,
    SEGMENT,
    StopsAlong,
    check_apart,
    force_on_segment,
    is_rigid,
    stops_along,
)
from rodsim.components.user_interactions import AnchoredInteraction
from rodsim.components.varying_values import scaled_input

AIR = 101325.0  # pressure of the surroundings, Pa
_OF_LIQUID = ("volume", "bulk_modulus")


@component
class Chamber(AnchoredInteraction):
    """A chamber along points of rods, bodies and the ground: of given pressure, or filled with a gas or a liquid."""

    key, word, list_description = (
        "chambers",
        "chamber",
        "chambers along points of parts, filled with a gas or a liquid",
    )
    points: tuple[Any, ...] = parameter(
        POINTS_OF_PARTS, "two or more points of parts that the chamber passes, in their order"
    )
    area: float = parameter(POSITIVE, "area of its cross-section [m^2]")
    pressure: Any = parameter(
        SCALAR,
        "pressure above that of the surroundings: a number, or a function of time; left out: the filling decides [Pa]",
        None,
    )
    volume: Any = parameter(
        SCALAR,
        "volume of the liquid without pressure, which may vary if there is a bulk modulus; default: that at t = 0 [m^3]",
        None,
    )
    bulk_modulus: float | None = parameter(
        POSITIVE,
        "bulk modulus of the liquid; left out, without a pressure and a gas: not compressible [Pa]",
        None,
    )
    gas_pressure: float | None = parameter(
        POSITIVE, "absolute pressure at t = 0 of the gas that fills the chamber [Pa]", None
    )
    exponent: float = parameter(
        POSITIVE,
        "polytropic exponent of the gas: 1 at constant temperature, 1.4 for air without heat exchange [1]",
        1.4,
    )
    ambient: float = parameter(NOT_NEGATIVE, "absolute pressure of the surroundings of a gas [Pa]", AIR)
    dead_volume: float = parameter(
        NOT_NEGATIVE,
        "volume that belongs to the chamber besides that along its points, of hoses or tanks [m^3]",
        0.0,
    )
    anchors: tuple[Anchor, ...] = ()  # of the points

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        owner, points = context.owner, values["points"]
        for k, point in enumerate(points):
            if isinstance(point, Wheel):
                raise ModelError(f"{owner}: points[{k}] = {point} is a circle. A chamber passes points alone")
        values["anchors"] = points
        if all(is_rigid(a, b) for a, b in pairwise(points)):
            raise ModelError(
                f"{owner}: all its points are on {points[0].part}, so that it does not act. Give points of two parts"
            )
        given = [what for what in ("pressure", *_OF_LIQUID, "gas_pressure") if values[what] is not None]
        if len(given) > 1 and set(given) != set(_OF_LIQUID):
            raise ModelError(
                f"{owner}: has {', '.join(given)}. Give a pressure, a gas_pressure, or a bulk_modulus with or without a volume"
            )
        if given == ["volume"]:
            raise ModelError(
                f"{owner}: volume = {shown(values['volume'])}, but a liquid that is not compressible keeps the volume at t = 0. "
                "Give a bulk_modulus, or leave the volume out"
            )
        if values["volume"] is not None and not callable(values["volume"]):
            checks.number(owner, "volume", values["volume"], positive=True)

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        if self.pressure is not None:
            return [force_on_segment(a, b) for a, b in self._segments(poses)]
        stops = self._stops(poses)
        count, arm = len(stops.frames), float(np.abs(stops.points).max())
        length, outside = stops.at_start, self._unchanged(stops)
        if self.gas_pressure is not None:
            n, force = self.exponent, self.area * self.gas_pressure
            numbers = [outside, force * (length + outside) ** n, n, self.area * self.ambient]
            size = force * (1.0 + n) + numbers[-1]
            return [
                Interaction(
                    GAS_CHAMBERS[count], stops.frames, np.append(stops.points, numbers), (size, size * arm)
                )
            ]
        if self.bulk_modulus is None:
            return [
                Interaction(
                    TENDON_LENGTHS[count], stops.frames, np.append(stops.points, length), (1.0, 1.0 + arm)
                )
            ]
        varies = callable(self.volume)
        free = length if self.volume is None or varies else self.volume / self.area - outside
        stiffness = self.area * self.bulk_modulus / (length + outside)
        kind = (PUMPED_CHAMBERS if varies else LIQUID_CHAMBERS)[count]
        numbers = [free, stiffness, *(NO_INPUT if varies else [])]
        size = stiffness * (1.0 + length + abs(free))
        return [Interaction(kind, stops.frames, np.append(stops.points, numbers), (size, size * arm))]

    def external_values(self, poses: Poses) -> list[ExternalValues]:
        owner = f"chamber '{self.name}'"
        if self.pressure is not None:
            return [
                scaled_input(owner, self.pressure, (self.area, 0.0, 0.0), count=len(self._segments(poses)))
            ]
        if not callable(self.volume):
            return []
        stops = self._stops(poses)
        base = -(stops.at_start + self._unchanged(stops))
        return [scaled_input(owner, self.volume, (1.0 / self.area, 0.0, 0.0), (0.0, base, 0.0))]

    def _unchanged(self, stops: StopsAlong) -> float:
        """Return what does not change of the volume over the area, m."""
        return stops.on_frames + self.dead_volume / self.area

    def _stops(self, poses: Poses) -> StopsAlong:
        """Return the frames that a closed chamber passes; ModelError if they are too many."""
        self._segments(poses)
        stops = stops_along(self._placed(poses))
        if len(stops.frames) > MAX_FRAMES:
            raise ModelError(
                f"chamber '{self.name}': passes {len(stops.frames)} frames; without a given pressure the limit is {MAX_FRAMES}. "
                "Leave points out"
            )
        return stops

    def _placed(self, poses: Poses) -> list[Place]:
        """Return the places of the points."""
        return [poses.place(point) for point in self.anchors]

    def _segments(self, poses: Poses) -> list[tuple[Place, Place]]:
        """Return the ends of the segments whose length can change: those between two frames."""
        placed = self._placed(poses)
        for k, (a, b) in enumerate(pairwise(placed)):
            check_apart("chamber", self.name, k, a, b)
        return [(a, b) for a, b in pairwise(placed) if a.frame != b.frame]

    def layout(self, poses: Poses) -> dict[str, Any]:
        """Return what results need: the number of its interactions, the area, m^2, the length between points of one frame, m,
        the dead volume, m^3, and the frame, C, A and R of each point.
        """
        placed = self._placed(poses)
        return {
            "interactions": len(self._segments(poses)) if self.pressure is not None else 1,
            "fixed_length": stops_along(placed).on_frames,
            "area": self.area,
            "dead_volume": self.dead_volume,
            "path": [[place.frame, *place.X.tolist(), 0.0, 0.0, 0.0, 0.0] for place in placed],
        }

    def anchor_pairs(self) -> list[tuple[int, int]]:
        """Return one pair if all points are on one part: if that is rigid, the chamber does not act."""
        return [(0, 1)] if len({id(point.part) for point in self.anchors}) == 1 else []

    def levers(self, X: Floats) -> list[Floats | None]:
        if self.pressure is not None:
            return [X[k : k + 3] for k in range(0, SEGMENT - 3, 3)]
        ends = X[: PER_FRAME * (len(X) // PER_FRAME)].reshape(-1, 2, 3)
        return [entry if entry.any() else leave for entry, leave in ends]

    def with_rigid_rods(self, changed: dict[str, Any], section: Callable[[Anchor], Floats]) -> Any:
        if anchors := changed.get("anchors"):
            changed["points"] = stops_at(self.points, anchors)
        return replace(self, **changed)

    def __repr__(self) -> str:
        first, last = self.anchors[0], self.anchors[-1]
        return f"<chamber '{self.name}' through {len(self.anchors)} points, from {first} to {last}>"
