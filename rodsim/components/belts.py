"""Belts: closed ropes around two or more drums, on which they do not slip; each span is an elastic tendon of its own.

The span from drum a to drum b has the length l = s + R_a beta_a - R_b beta_b of `rigid.interactions.reeved_tendons`: it grows by
what drum b winds off, and shrinks by what drum a winds on. Its tension is k <l - l_0 + T_0/k> with the length l_0 and the
pretension T_0 at t = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from discretization.interaction_table import Interaction
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.interactions.reeved_tendons import REEVED_ELASTIC
from rigid.system import Floats
from rodsim.components.base import (
    NOT_NEGATIVE,
    POSITIVE,
    CheckContext,
    ParameterType,
    Poses,
    component,
    parameter,
)
from rodsim.components.model_parts import Anchor
from rodsim.components.pulleys import Drum, Reeving, checked_circle, reeve, stops_at, stops_by_name
from rodsim.components.user_interactions import AnchoredInteraction


def _check_drums(context: CheckContext, what: str, value: Any) -> tuple[Drum, ...]:
    """Return two or more checked drums."""
    if not isinstance(value, Sequence) or not all(isinstance(x, Drum) for x in value):
        raise ModelError(f"{context.owner}: drums = {shown(value)}. Give a list of `Drum`s, in their order")
    if len(value) < 2:
        raise ModelError(f"{context.owner}: has {len(value)} drum. Give two or more, in their order")
    return tuple(checked_circle(context, f"drum {k}", drum) for k, drum in enumerate(value))


DRUMS = ParameterType(
    "drums", _check_drums, lambda value: [str(drum) for drum in value], by_name=stops_by_name
)


@component
class Belt(AnchoredInteraction):
    """A belt around drums, on which it does not slip: each of its spans is elastic and has its own tension."""

    key, word, list_description = "belts", "belt", "belts around drums, without slip"
    drums: tuple[Drum, ...] = parameter(DRUMS, "two or more drums around which the belt runs, in their order")
    stiffness: float | None = parameter(
        POSITIVE, "tension of a span over its elongation; left out: EA over its length at t = 0 [N/m]", None
    )
    EA: float | None = parameter(POSITIVE, "axial stiffness of the belt, in place of a stiffness [N]", None)
    pretension: float = parameter(NOT_NEGATIVE, "tension of all spans at t = 0 [N]", 0.0)
    anchors: tuple[Anchor, ...] = ()  # centres of the drums

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        values["anchors"] = tuple(drum.on for drum in values["drums"])
        if (values["stiffness"] is None) == (values["EA"] is None):
            both = "neither a stiffness nor EA" if values["EA"] is None else "a stiffness and EA"
            raise ModelError(f"{context.owner}: has {both}. Give one of them")
        parts = [anchor.part for anchor in values["anchors"]]
        for k, part in enumerate(parts):
            if part is parts[k - 1]:
                raise ModelError(
                    f"{context.owner}: drums {(k - 1) % len(parts)} and {k} are both on {part}, so that the span between them "
                    "does not act. Give drums of different parts"
                )

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        interactions = []
        for span in self._spans(poses):
            stiffness = self.EA / span.at_start if self.stiffness is None else self.stiffness  # type: ignore[operator]
            length = span.at_start - self.pretension / stiffness
            if length <= 0.0:
                raise ModelError(
                    f"belt '{self.name}': pretension = {self.pretension:g} N stretches a span of {span.at_start:g} m from "
                    "nothing. Give a smaller pretension or a greater stiffness"
                )
            force = stiffness * (1.0 + span.at_start)
            numbers = span.numbers(length, stiffness)
            interactions.append(
                Interaction(REEVED_ELASTIC[2], span.frames, numbers, (force, force * span.arm))
            )
        return interactions

    def _spans(self, poses: Poses) -> list[Reeving]:
        """Return the spans from each drum to the next, from the last to the first at the end."""
        owner, count = f"belt '{self.name}'", len(self.drums)
        return [
            reeve(owner, poses, [self.drums[k], self.drums[(k + 1) % count]], k, "drum", count)
            for k in range(count)
        ]

    def layout(self, poses: Poses) -> dict[str, Any]:
        """Return what results need: the number of its interactions, and the frame, C, A and R of each drum."""
        spans = self._spans(poses)
        return {"interactions": len(spans), "path": [span.path[0] for span in spans]}

    def anchor_pairs(self) -> list[tuple[int, int]]:
        return [(k, (k + 1) % len(self.drums)) for k in range(len(self.drums))]

    def levers(self, X: Floats) -> list[Floats | None]:
        return [None, None]

    def with_rigid_rods(self, changed: dict[str, Any], section: Callable[[Anchor], Floats]) -> Any:
        if anchors := changed.get("anchors"):
            changed["drums"] = stops_at(self.drums, anchors)
        return replace(self, **changed)

    def __repr__(self) -> str:
        return f"<belt '{self.name}' around {len(self.drums)} drums>"
