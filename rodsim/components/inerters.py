"""Inerters: inertia against the rate of a measure, and the reflected inertia of a joint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discretization.interaction_table import Interaction
from rigid.errors import ModelError
from rigid.interactions.inerters import INERTERS
from rodsim.components.base import (
    POSITIVE,
    CheckContext,
    InteractionComponent,
    Poses,
    angle_directions,
    component,
    distinct_frames,
    parameter,
)
from rodsim.components.controllers import MEASURE
from rodsim.components.joints import JointComponent
from rodsim.components.model_parts import Anchor
from rodsim.components.user_interactions import BoundMeasure
from rodsim.interactions.measures import Measure


@component
class Inerter(InteractionComponent):
    """A force against the acceleration of a distance, a displacement or an angle."""

    key, word, list_description = "inerters", "inerter", "inertia against the rate of a measure"
    measure: Measure = parameter(MEASURE, "distance, displacement or angle of two points or parts")
    inertance: float = parameter(POSITIVE, "force over acceleration [kg or kg m^2]")
    a: Anchor  # its two points
    b: Anchor

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        measure: Measure = values["measure"]
        if measure.word not in INERTERS:
            raise ModelError(
                f"{context.owner}: its measure is a {measure.word}. Give a {', a '.join(INERTERS)}, see `rodsim.measures`"
            )
        values["a"], values["b"] = measure.a, measure.b

    def make_interactions(self, poses: Poses) -> list[Interaction]:
        measure = BoundMeasure(
            self.name, self.measure.word, 0, 1, self.measure.directions, self.measure.length
        )
        frames = distinct_frames(poses, f"inerter '{self.name}'", self.a, self.b)
        a, b = (poses.place(anchor) for anchor in (self.a, self.b))
        numbers = [*measure.numbers(poses, (self.a, self.b)), self.inertance, 0.0]
        reach = float(np.linalg.norm(b.world - a.world)) if measure.word != "angle" else 1.0
        arm = reach + float(np.linalg.norm(a.X) + np.linalg.norm(b.X)) if measure.word != "angle" else 1.0
        return [_interaction(measure.word, frames, numbers, reach, arm)]

    def __repr__(self) -> str:
        return f"<inerter '{self.name}' of the {self.measure.word} from {self.a} to {self.b}>"


def reflected_inertia(joint: JointComponent, poses: Poses) -> Interaction:
    """Return the inertia against the rate of the coordinate of a revolute or a prismatic joint."""
    assert joint.axis is not None
    assert joint.inertia is not None
    a, b = (poses.frame_of(part) for part in (joint.a, joint.b))
    if joint.kind == "revolute":
        word, numbers = "angle", [*np.concatenate(angle_directions(poses, a, b, joint.axis)), 0.0]
    else:  # a prismatic joint fixes the directions across its axis, so that any two points measure the displacement
        word, numbers = "displacement", [*np.zeros(6), *poses.local(a, joint.axis)]
    reach = 1.0 if word == "angle" else float(np.linalg.norm(poses.r[b] - poses.r[a]))
    return _interaction(word, [a, b], [*numbers, joint.inertia, 0.0], reach, reach)


def _interaction(
    word: str, frames: list[int], numbers: Sequence[float], reach: float, arm: float
) -> Interaction:
    """Return the interaction; reach: size of the measured length, m, or 1 for an angle; arm: lever arm of the force, m."""
    force = 2.0 * numbers[-2] * reach
    size = (0.0, force) if word == "angle" else (force, force * arm)
    return Interaction(INERTERS[word], frames, np.array(numbers), size)
