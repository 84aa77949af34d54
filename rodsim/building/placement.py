"""Number the frames of a model and place them at t = 0: bodies, nodes of rods, driven frames, and points on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from discretization.consistent_velocities import PrescribedVelocities
from discretization.drives import DRIVEN
from rigid import quaternions
from rigid.errors import ModelError
from rigid.system import Floats, Frames, Ints
from rigid.vectors import cross
from rodsim.building.meshing import RodMesh, mesh_rod
from rodsim.components.model_data import ModelData
from rodsim.components.model_parts import Anchor, Body, Driven, Ground, Rod
from rodsim.components.part_lookup import ErrorContext

_AXES, _ZERO, _IDENTITY = np.eye(3), np.zeros((1, 3)), quaternions.IDENTITY[None]


class Placed(NamedTuple):
    """Hold a point that is fixed to a frame."""

    frame: int
    X: Floats  # (3,) m, from the frame's origin, frame axes
    world: Floats  # (3,) m, position at t = 0


class Placement:
    """Hold frame numbers, initial poses and velocities: the ground, bodies, nodes of the rods, driven frames, in this order."""

    def __init__(self, model: ModelData, meshed: Mapping[str, RodMesh] = MappingProxyType({})):
        """Number the frames of `model` and place them; `meshed`: meshes of rods that exist already."""
        if not model.bodies and not model.rods:
            raise ModelError(f"model '{model.name}': has nothing that moves; add a body or a rod")
        bodies = list(model.bodies.values())
        self.body_frame = {body.name: k + 1 for k, body in enumerate(bodies)}
        self.meshes: dict[str, RodMesh] = {}
        self.first: dict[str, int] = {}
        n = 1 + len(bodies)
        entries = list(model.entries) if model.rods else []
        for rod in model.rods.values():
            with ErrorContext("rod", rod.name):
                ready_mesh = meshed.get(rod.name)
                # fractions of the length that need a node
                stops = (s for entry in entries for s in entry.required_nodes(rod))
                self.meshes[rod.name] = mesh_rod(rod, stops) if ready_mesh is None else ready_mesh
            self.first[rod.name] = n
            n += len(self.meshes[rod.name].mass)
        driven = list(model.driven.values())
        self.driven_frame = {part.name: n + k for k, part in enumerate(driven)}
        n += len(driven)
        at_start = [[x[0] for x in part.motion(np.zeros(1))] for part in driven]
        meshes = list(self.meshes.values())
        properties = [body.properties for body in bodies]
        position, turned = _rows([b.position for b in bodies]), _rows([b.orientation for b in bodies], 4)
        center = position + quaternions.rotate(turned, _rows([x.center for x in properties]))
        omega, arm = _rows([_vector_or_zero(b.angular_velocity) for b in bodies]), center - position
        spin = quaternions.rotate(quaternions.conjugate(turned), omega)
        at_center = _rows([_vector_or_zero(b.velocity) for b in bodies]) + cross(omega, arm)
        moved = [[x[k] for x in at_start] for k in range(4)]
        self.r = _stack(_ZERO, center, *(m.r for m in meshes), moved[0])
        self.quat = _stack(_IDENTITY, turned, *(m.quat for m in meshes), moved[1])
        self.v = _stack(_ZERO, at_center, *(m.v for m in meshes), moved[2])
        self.Omega = _stack(_ZERO, spin, *(m.Omega for m in meshes), moved[3])
        unit = [np.eye(3)] * len(driven)
        mass = _stack([1.0], [x.mass for x in properties], *(m.mass for m in meshes), np.ones(len(driven)))
        inertia = _stack([_AXES], [x.inertia for x in properties], *(m.inertia for m in meshes), unit)
        fixed = np.zeros(n, dtype=np.uint8)
        fixed[0] = 1
        fixed[list(self.driven_frame.values())] = DRIVEN
        self.frames = Frames(mass, inertia, fixed)
        without_velocity = [rod for rod in model.rods.values() if rod.velocity is None]
        self.prescribed_velocities = PrescribedVelocities(
            np.ones(n, bool), np.ones(n, bool), np.zeros((n, 3)), tuple(map(self.frames_of, without_velocity))
        )
        for rod in model.rods.values():
            nodes = self.frames_of(rod)
            self.prescribed_velocities.v[nodes] = rod.velocity is not None
            self.prescribed_velocities.Omega[nodes] = rod.angular_velocity is not None or rod.is_string
            if rod.velocity is not None:
                self.prescribed_velocities.point[nodes] = -quaternions.rotate(
                    self.quat[nodes], self.meshes[rod.name].center
                )
        first = slice(1, 1 + len(bodies))
        self.prescribed_velocities.v[first] = [body.velocity is not None for body in bodies]
        self.prescribed_velocities.Omega[first] = [body.angular_velocity is not None for body in bodies]
        self.prescribed_velocities.point[first] = -arm
        self.size = float(max((self.r.max(axis=0) - self.r.min(axis=0)).max(), 1e-12))
        self.bodies, self.gravity = model.bodies, model.gravity

    def place(self, anchor: Anchor) -> Placed:
        """Return the frame of an anchor, its lever arm and its position at t = 0."""
        return self.placed([anchor])[0]

    def placed(self, anchors: Sequence[Anchor]) -> list[Placed]:
        """Return the frames, lever arms and positions of several anchors, evaluated at once."""
        if not anchors:
            return []
        frames, centers = [], []
        for anchor in anchors:
            part = anchor.part
            if isinstance(part, Body):
                frames.append(self.body_frame[part.name])
                centers.append(part.properties.center)
            elif isinstance(part, Rod):
                mesh = self.meshes[part.name]
                node = mesh.node(anchor.s)
                frames.append(self.first[part.name] + node)
                centers.append(mesh.center[node])
            else:
                frames.append(0 if isinstance(part, Ground) else self.driven_frame[part.name])
                centers.append(_ZERO[0])
        X = _rows([anchor.X for anchor in anchors]) - _rows(centers)
        world = self.r[frames] + quaternions.rotate(self.quat[frames], X)
        return [Placed(f, x, p if f else x) for f, x, p in zip(frames, X, world, strict=True)]

    def frame_of(self, part: Anchor | Body | Ground | Driven) -> int:
        """Return the frame number of a side of a joint: an anchor, a body, the ground or a driven frame."""
        if isinstance(part, Anchor):
            return self.place(part).frame
        if isinstance(part, Driven):
            return self.driven_frame[part.name]
        return self.body_frame[part.name] if isinstance(part, Body) else 0

    def frames_of(self, part: Body | Rod) -> Ints:
        """Return the numbers (k,) of all frames of a part."""
        if isinstance(part, Body):
            return np.array([self.body_frame[part.name]])
        return self.first[part.name] + np.arange(len(self.meshes[part.name].mass))

    def frames_of_rods(self) -> list[tuple[str, Ints]]:
        """Return the names and the frames of all rods."""
        return [(name, self.first[name] + np.arange(len(mesh.mass))) for name, mesh in self.meshes.items()]

    def local(self, frame: int, direction: Floats) -> Floats:
        """Return a world direction (3,) in the axes of a frame at t = 0."""
        return quaternions.rotate(quaternions.conjugate(self.quat[frame]), direction)


def _vector_or_zero(value: Floats | None) -> Floats:
    """Return the vector (3,), zero if it was not given."""
    return np.zeros(3) if value is None else value


def _rows(vectors: Sequence[Floats], width: int = 3) -> Floats:
    """Return the vectors as one array (k, width)."""
    return np.concatenate(vectors).reshape(-1, width) if vectors else np.zeros((0, width))


def _stack(*parts: Any) -> Floats:
    """Concatenate the arrays that are not empty along their first axis."""
    return np.ascontiguousarray(
        np.concatenate([np.asarray(part, dtype=float) for part in parts if len(part)])
    )
