"""Entries for mass-proportional damping, damping in joints, and pressure along a rod."""

from __future__ import annotations

from typing import Any

import numpy as np

from discretization.interaction_table import Interaction
from rigid.errors import ModelError
from rigid.interactions.drag import DRAG
from rigid.interactions.joint_friction import JOINT_FRICTION
from rigid.interactions.pressure import PRESSED_EDGE
from rigid.joints import JOINTS
from rigid.signals import VectorFunction, vector_function
from rigid.system import Floats
from rodsim.parts.entry import (
    DIRECTION,
    JOINT,
    NOT_NEGATIVE,
    NUMBER,
    PART,
    ROD,
    Asked,
    InteractionEntry,
    Poses,
    Sort,
    entry,
    stated,
)
from rodsim.parts.joint_entries import JointEntry
from rodsim.parts.model_parts import Body, Rod

NONE = (0.0, 0.0)  # round-off level of forces that are small compared with inertia


@entry
class MassDampingEntry(InteractionEntry):
    """A force -rate m (v - ambient) and a moment -rotation J omega on every body or section of a part."""

    key, word, many = "mass_dampings", "mass damping", "damping in proportion to mass"
    kind_described = "external damping"
    on: Body | Rod = stated(PART, "name of a body or a rod", described_as="part")
    rate: float = stated(NOT_NEGATIVE, "force -rate m v [1/s]")
    rotation: float = stated(NOT_NEGATIVE, "moment -rotation J omega; left out: as rate [1/s]", None)
    ambient: VectorFunction | None = stated(
        Sort(
            "vector",
            lambda asked, what, value: vector_function(asked.owner, value),
            lambda wind: wind(np.zeros(1))[0].tolist(),
        ),
        "velocity of what is around [m/s]",
        None,
    )

    @classmethod
    def complete(cls, asked: Asked, values: dict[str, Any]) -> None:
        if values["rotation"] is None:
            values["rotation"] = values["rate"]

    def made(self, poses: Poses) -> list[Interaction]:
        found = []
        for f in poses.frames_of(self.on):
            J = poses.frames.inertia[f]
            tensor = self.rotation * (0.5 * np.trace(J) * np.eye(3) - J)
            numbers = np.concatenate([[self.rate * poses.frames.mass[f]], tensor.ravel()])
            found.append(Interaction(DRAG, [f], numbers, NONE))
        return found


@entry
class PressureEntry(InteractionEntry):
    """A force per current length of a rod, across it in the plane with this normal."""

    key, word, many = "pressures", "pressure", "pressures on what rods bound in a plane"
    on: Rod = stated(ROD, "name of the rod", described_as="rod")
    pressure: float = stated(NUMBER, "force per current length, towards normal x tangent [N/m]")
    normal: Floats = stated(DIRECTION, "of the plane, in world axes [1]")

    def made(self, poses: Poses) -> list[Interaction]:
        nodes = poses.frames_of(self.on)
        edges = np.stack([nodes, np.roll(nodes, -1)], axis=1)[: len(nodes) if self.on.closed else -1]
        sizes = abs(self.pressure) * np.linalg.norm(poses.r[edges[:, 1]] - poses.r[edges[:, 0]], axis=1)
        return [
            Interaction(PRESSED_EDGE, edge, self.pressure * self.normal, (size, 0.0))
            for edge, size in zip(edges.tolist(), sizes, strict=True)
        ]


@entry
class JointDampingEntry(InteractionEntry):
    """A moment against the relative turn of a joint, a force against its sliding."""

    key, word, many = "joint_dampings", "joint damping", "viscous resistance in joints"
    kind_described = "joint friction"
    joint: JointEntry = stated(JOINT, "name of a joint")
    turning: float = stated(NOT_NEGATIVE, "moment over relative turning rate [N m s]", 0.0)
    sliding: float = stated(NOT_NEGATIVE, "force over sliding rate [N s/m]", 0.0)

    @classmethod
    def complete(cls, asked: Asked, values: dict[str, Any]) -> None:
        owner, joint = asked.owner, values["joint"]
        turn, slide = values["turning"], values["sliding"]
        for what, value in (("turning", turn), ("sliding", slide)):
            if value > 0.0 and what not in JOINTS[joint.kind].rubbing:
                kinds = [kind for kind, own in JOINTS.items() if what in own.rubbing]
                raise ModelError(
                    f"{owner}: {what} = {value:g}, but the {joint.kind} joint '{joint.name}' leaves that motion no freedom; "
                    f"leave it out, or take a joint of {', '.join(kinds)}"
                )
        if turn == slide == 0.0:
            raise ModelError(f"{owner}: resists nothing; give turning= or sliding=")

    def made(self, poses: Poses) -> list[Interaction]:
        frames = [poses.frame_of(x) for x in (self.joint.a, self.joint.b)]
        # a sliding joint fixes the directions across its axis, so any two points measure the displacement along it
        points: Floats = np.zeros(6)
        axis = np.zeros(3) if self.joint.axis is None else poses.local(frames[0], self.joint.axis)
        numbers = np.concatenate([points, axis, [self.turning, self.sliding]])
        return [Interaction(JOINT_FRICTION, frames, numbers, NONE)]
