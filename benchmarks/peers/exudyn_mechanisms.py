"""The rigid mechanisms in Exudyn: Lie group nodes in space, its planar bodies in the plane."""

from __future__ import annotations

from time import process_time
from typing import Any

import exudyn.itemInterface as items
import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.measurement import Measurement
from benchmarks.mechanisms import GROUND, Joint, Mechanism, RigidBody
from benchmarks.peers.exudyn_bodies import add_body, weigh
from benchmarks.peers.exudyn_common import NAME, Floats, new_system, node, settings, solve

# Locked translations (3) and rotations (3) of the joint's frame.
_LOCKED = {
    "universal": [1, 1, 1, 0, 0, 1],  # x fixed in the first part stays perpendicular to y fixed in the second
}


def run(case: Mechanism, resolution: int, h: float) -> Measurement:
    """One run with steps of h; `resolution` is only a label of the result."""
    first = process_time()
    system = new_system()
    placed = _Planar(system, case) if case.planar else _Spatial(system, case)
    for joint in case.joints:
        placed.join(joint)
    springs = []
    for s in case.springs:
        markers = [placed.marker(s.a, s.from_), placed.marker(s.b, s.to)]
        springs.append(
            system.AddObject(
                items.SpringDamper(
                    markerNumbers=markers,
                    stiffness=s.stiffness,
                    damping=s.damping,
                    referenceLength=s.length,
                )
            )
        )
    system.Assemble()
    steps = round(case.t_end / h)
    s = settings(case.t_end, steps, sparse=len(case.bodies) > 8)
    if case.radius is None:
        s.timeIntegration.generalizedAlpha.useNewmark = True
        s.timeIntegration.generalizedAlpha.useIndex2Constraints = True
    else:
        s.timeIntegration.generalizedAlpha.spectralRadius = case.radius
    s.timeIntegration.newton.modifiedNewtonJacUpdatePerStep = True
    if case.redundant:
        s.linearSolver.ignoreSingularJacobian = True
    before = _energy(system, case, placed, [0.0] * len(springs), start=True)
    wall = solve(system, s)
    whole_s = process_time() - first
    lengths = [float(np.linalg.norm(placed.now(s.b, s.to) - placed.now(s.a, s.from_))) for s in case.springs]
    stretched = [now - s.length for now, s in zip(lengths, case.springs, strict=True)]
    after = _energy(system, case, placed, stretched, start=False)
    scale = sum(b.mass for b in case.bodies) * float(np.linalg.norm(case.gravity)) * case.scale
    error = case.error(placed.watched())
    drift = (after - before) / scale
    return Measurement(NAME, case.name, resolution, h, steps, wall, error, drift, whole_s)


class _Placed:
    """Bodies of a case in a system: their numbers, and markers on them."""

    def __init__(self, system: Any, case: Mechanism):
        self.system, self.case = system, case
        self.ground = system.AddObject(items.ObjectGround())
        self.nodes: dict[str, int] = {}
        self.bodies: dict[str, int] = {}
        for body in case.bodies:
            self.nodes[body.name], self.bodies[body.name] = self.add(body)
            weigh(system, self.bodies[body.name], [body.mass * g for g in case.gravity])

    def add(self, body: RigidBody) -> tuple[int, int]:
        raise NotImplementedError

    def join(self, joint: Joint) -> None:
        raise NotImplementedError

    def local(self, part: str, point: Any) -> list[float]:
        """A world point at t = 0 in the axes of a part."""
        if part == GROUND:
            return list(point)
        body = self.case.body(part)
        return list(_turned(body).inv().apply(np.subtract(point, body.r)))

    def marker(self, part: str, point: Any) -> int:
        number = self.ground if part == GROUND else self.bodies[part]
        return int(
            self.system.AddMarker(
                items.MarkerBodyRigid(bodyNumber=number, localPosition=self.local(part, point))
            )
        )

    def pose(self, part: str) -> tuple[Floats, Floats]:
        number = self.nodes[part]
        return node(self.system, number, "Position"), node(self.system, number, "RotationMatrix").reshape(
            3, 3
        )

    def now(self, part: str, point: Any) -> Floats:
        """Current position of a point given by its world position at t = 0."""
        r, R = self.pose(part)
        return np.asarray(r + R @ self.local(part, point))

    def watched(self) -> Floats:
        r, R = self.pose(self.case.watched)
        return np.asarray(r + R @ self.case.point)

    def rates(self, part: str) -> tuple[Floats, Floats]:
        number = self.nodes[part]
        return node(self.system, number, "Velocity"), node(self.system, number, "AngularVelocityLocal")


class _Spatial(_Placed):
    def add(self, body: RigidBody) -> tuple[int, int]:
        return add_body(self.system, body.mass, body.inertia, body.r, body.quat, body.v, body.omega)

    def join(self, joint: Joint) -> None:
        markers = [self.marker(joint.a, joint.at), self.marker(joint.b, joint.at)]
        if joint.kind in ("spherical", "point_on_line"):
            axes = [0 if c else 1 for c in joint.axis] if joint.axis else [1, 1, 1]  # first part: the ground
            self.system.AddObject(items.SphericalJoint(markerNumbers=markers, constrainedAxes=axes))
            return
        R = _frame(joint)
        turns = [
            R if p == GROUND else _turned(self.case.body(p)).inv().as_matrix() @ R for p in (joint.a, joint.b)
        ]
        options: dict[str, Any] = {
            "markerNumbers": markers,
            "rotationMarker0": turns[0],
            "rotationMarker1": turns[1],
        }
        if joint.kind == "revolute":
            self.system.AddObject(items.ObjectJointRevoluteZ(**options))
        elif joint.kind == "prismatic":
            self.system.AddObject(items.ObjectJointPrismaticX(**options))
        else:
            self.system.AddObject(items.GenericJoint(constrainedAxes=_LOCKED[joint.kind], **options))


class _Planar(_Placed):
    def add(self, body: RigidBody) -> tuple[int, int]:
        if any(j.kind == "distance" for j in self.case.joints):  # nothing rotates: a point marker suffices
            number = self.system.AddNode(
                items.NodePoint2D(referenceCoordinates=body.r[:2], initialVelocities=body.v[:2])
            )
            return number, self.system.AddObject(items.MassPoint2D(physicsMass=body.mass, nodeNumber=number))
        angle = _turned(body).as_rotvec()[2]
        number = self.system.AddNode(
            items.NodeRigidBody2D(
                referenceCoordinates=[*body.r[:2], angle], initialVelocities=[*body.v[:2], body.omega[2]]
            )
        )
        return number, self.system.AddObject(
            items.RigidBody2D(physicsMass=body.mass, physicsInertia=body.inertia[2], nodeNumber=number)
        )

    def marker(self, part: str, point: Any) -> int:
        number = self.ground if part == GROUND else self.bodies[part]
        local = self.local(part, point)
        return int(self.system.AddMarker(items.MarkerBodyPosition(bodyNumber=number, localPosition=local)))

    def join(self, joint: Joint) -> None:
        if joint.kind == "distance":
            centres = [(0.0, 0.0, 0.0) if p == GROUND else self.case.body(p).r for p in (joint.a, joint.b)]
            markers = [self.marker(p, c) for p, c in zip((joint.a, joint.b), centres, strict=True)]
            length = float(np.linalg.norm(np.subtract(*centres)))
            self.system.AddObject(items.DistanceConstraint(markerNumbers=markers, distance=length))
            return
        markers = [self.marker(joint.a, joint.at), self.marker(joint.b, joint.at)]
        self.system.AddObject(items.RevoluteJoint2D(markerNumbers=markers))

    def pose(self, part: str) -> tuple[Floats, Floats]:
        if any(j.kind == "distance" for j in self.case.joints):
            return node(self.system, self.nodes[part], "Position"), np.eye(3)
        return super().pose(part)

    def rates(self, part: str) -> tuple[Floats, Floats]:
        if any(j.kind == "distance" for j in self.case.joints):
            return node(self.system, self.nodes[part], "Velocity"), np.zeros(3)
        v, Omega = super().rates(part)
        return v, np.asarray(Omega)


def _turned(body: RigidBody) -> Rotation:
    return Rotation.from_quat(body.quat, scalar_first=True)


def _frame(joint: Joint) -> Floats:
    """The joint's frame in the world at t = 0: a revolute rotates about its z, a prismatic slides along its
    x.
    """
    assert joint.axis is not None
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    if joint.kind == "universal":
        assert joint.second is not None
        second = np.array(joint.second) / np.linalg.norm(joint.second)
        return np.column_stack([axis, second, np.cross(axis, second)])
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, other) / np.linalg.norm(np.cross(axis, other))
    if joint.kind == "revolute":
        return np.column_stack([first, np.cross(axis, first), axis])
    return np.column_stack([axis, first, np.cross(axis, first)])


def _energy(system: Any, case: Mechanism, placed: _Placed, stretched: list[float], start: bool) -> float:
    if start:
        r = np.array([b.r for b in case.bodies])
        v = np.array([b.v for b in case.bodies])
        Omega = np.array([_turned(b).inv().apply(b.omega) for b in case.bodies])
    else:
        r = np.array([placed.pose(b.name)[0] for b in case.bodies])
        rates = [placed.rates(b.name) for b in case.bodies]
        v, Omega = np.array([x for x, _ in rates]), np.array([x for _, x in rates])
    return case.energy(r, v, Omega, np.array(stretched))
