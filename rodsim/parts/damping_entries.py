"""What acts on a motion besides springs and loads: external damping, viscous friction of a joint, pressure along a rod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discretization.others import Other
from rigid.interactions.drag import DRAG
from rigid.interactions.joint_friction import JOINT_FRICTION
from rigid.interactions.pressure import PRESSED_EDGE
from rigid.signals import VectorFunction
from rigid.system import Floats
from rodsim.parts.entries import JointEntry
from rodsim.parts.force_entries import OtherEntry, Poses

NONE = (0.0, 0.0)  # rounding of forces that are small against those of inertia


@dataclass(frozen=True, eq=False)
class DampingEntry(OtherEntry):
    """See `Model.add_external_damping`."""

    plural = "external dampings"
    name: str
    a: Any  # the body or rod
    b: Any  # the same
    rate: float
    rotation: float
    ambient: VectorFunction | None = None  # m/s, of what is around

    @property
    def kind(self) -> str:
        return "external damping"

    def made(self, poses: Poses) -> list[Other]:
        found = []
        for f in poses.frames_of(self.a):
            J = poses.frames.inertia[f]
            tensor = self.rotation * (0.5 * np.trace(J) * np.eye(3) - J)
            numbers = np.concatenate([[self.rate * poses.frames.mass[f]], tensor.ravel()])
            found.append(Other(DRAG, [f], numbers, NONE))
        return found

    def described(self) -> dict[str, Any]:
        return {
            "kind": "external damping",
            "part": str(self.a),
            "rate": self.rate,
            "rotation": self.rotation,
            **({} if self.ambient is None else {"ambient": self.ambient(np.zeros(1))[0].tolist()}),
        }


@dataclass(frozen=True, eq=False)
class PressureEntry(OtherEntry):
    """See `Model.add_pressure`."""

    plural = "pressures"
    name: str
    a: Any  # the rod
    b: Any  # the same
    pressure: float
    normal: Floats

    @property
    def kind(self) -> str:
        return "pressure"

    def made(self, poses: Poses) -> list[Other]:
        nodes = poses.frames_of(self.a)
        edges = np.stack([nodes, np.roll(nodes, -1)], axis=1)[: len(nodes) if self.a.closed else -1]
        sizes = abs(self.pressure) * np.linalg.norm(poses.r[edges[:, 1]] - poses.r[edges[:, 0]], axis=1)
        return [
            Other(PRESSED_EDGE, edge, self.pressure * self.normal, (size, 0.0))
            for edge, size in zip(edges.tolist(), sizes, strict=True)
        ]

    def described(self) -> dict[str, Any]:
        return {
            "kind": "pressure",
            "part": str(self.a),
            "pressure": self.pressure,
            "normal": self.normal.tolist(),
        }


@dataclass(frozen=True, eq=False)
class FrictionEntry(OtherEntry):
    """See `Model.add_joint_friction`."""

    plural = "joint frictions"
    name: str
    a: Any  # those of the joint
    b: Any
    joint: JointEntry
    turning: float
    sliding: float

    @property
    def kind(self) -> str:
        return "joint friction"

    def made(self, poses: Poses) -> list[Other]:
        frames = [poses.frame_of(x) for x in (self.a, self.b)]
        # a joint that slides keeps what is across its axis: any two points tell how far
        points: Floats = np.zeros(6)
        axis = np.zeros(3) if self.joint.axis is None else poses.local(frames[0], self.joint.axis)
        numbers = np.concatenate([points, axis, [self.turning, self.sliding]])
        return [Other(JOINT_FRICTION, frames, numbers, NONE)]

    def described(self) -> dict[str, Any]:
        return {
            "kind": "joint friction",
            "joint": self.joint.name,
            "turning": self.turning,
            "sliding": self.sliding,
        }
