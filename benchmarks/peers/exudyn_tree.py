"""An open mechanism in Exudyn in minimal coordinates: its kinematic tree, without constraints."""

from __future__ import annotations

from time import process_time
from typing import Any

import exudyn.itemInterface as items
import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.measurement import Measurement
from benchmarks.mechanisms import GROUND, Joint, Mechanism
from benchmarks.peers.exudyn_common import NAME, Floats, exudyn, new_system, settings, solve


def run(case: Mechanism, resolution: int, h: float) -> Measurement:
    """One run with steps of h: a link for each joint, in the order of the joints."""
    first = process_time()
    system = new_system()
    tree = _Tree(case)
    number = tree.add_to(system)
    for s in case.springs:
        markers = [tree.marker(system, number, s.a, s.from_), tree.marker(system, number, s.b, s.to)]
        system.AddObject(
            items.SpringDamper(
                markerNumbers=markers, stiffness=s.stiffness, damping=s.damping, referenceLength=s.length
            )
        )
    where = np.array(case.body(case.watched).r) + _turn(case, case.watched) @ case.point
    sensor = system.AddSensor(
        items.SensorKinematicTree(
            objectNumber=number,
            linkNumber=tree.link[case.watched],
            localPosition=tree.local(case.watched, where),
            writeToFile=False,
            outputVariableType=exudyn.OutputVariableType.Position,
        )
    )
    system.Assemble()
    steps = round(case.t_end / h)
    s = settings(case.t_end, steps, sparse=False)
    s.timeIntegration.generalizedAlpha.useNewmark = True
    s.timeIntegration.generalizedAlpha.useIndex2Constraints = True
    s.timeIntegration.newton.relativeTolerance = 1e-6
    s.timeIntegration.newton.modifiedNewtonJacUpdatePerStep = True
    wall = solve(system, s)
    whole_s = process_time() - first
    error = case.error(np.array(system.GetSensorValues(sensor)))
    return Measurement(f"{NAME} tree", case.name, resolution, h, steps, wall, error, float("nan"), whole_s)


class _Tree:
    """Link frames at the joints, with z along the joint axes."""

    def __init__(self, case: Mechanism):
        self.case = case
        self.link = {joint.b: k for k, joint in enumerate(case.joints)}
        self.frames = [_frame(joint) for joint in case.joints]

    def local(self, part: str, point: Any) -> Floats:
        """A world point at t = 0 in the frame of a link."""
        k = self.link[part]
        return np.asarray(self.frames[k].T @ np.subtract(point, self.case.joints[k].at))

    def marker(self, system: Any, number: int, part: str, point: Any) -> int:
        return int(
            system.AddMarker(
                items.MarkerKinematicTreeRigid(
                    objectNumber=number, linkNumber=self.link[part], localPosition=self.local(part, point)
                )
            )
        )

    def add_to(self, system: Any) -> int:
        case, n = self.case, len(self.case.joints)
        turns, inertias = exudyn.Matrix3DList(), exudyn.Matrix3DList()
        offsets, centres = exudyn.Vector3DList(), exudyn.Vector3DList()
        parents, kinds, masses, rates = [], [], [], []
        for k, joint in enumerate(case.joints):
            body, F = case.body(joint.b), self.frames[k]
            parent = -1 if joint.a == GROUND else self.link[joint.a]
            A, at = (np.eye(3), np.zeros(3)) if parent < 0 else (self.frames[parent], case.joints[parent].at)
            R = F.T @ _turn(case, joint.b)
            turns.Append(A.T @ F)
            offsets.Append(A.T @ np.subtract(joint.at, at))
            centres.Append(self.local(joint.b, body.r))
            inertias.Append(R @ np.diag(body.inertia) @ R.T)
            masses.append(body.mass)
            parents.append(parent)
            slides = joint.kind == "prismatic"
            kinds.append(exudyn.JointType.PrismaticZ if slides else exudyn.JointType.RevoluteZ)
            rates.append(_rate(case, joint, F[:, 2]))
        node = system.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=[0.0] * n,
                initialCoordinates=[0.0] * n,
                initialCoordinates_t=rates,
                numberOfODE2Coordinates=n,
            )
        )
        return int(
            system.AddObject(
                items.ObjectKinematicTree(
                    nodeNumber=node,
                    jointTypes=kinds,
                    linkParents=parents,
                    jointTransformations=turns,
                    jointOffsets=offsets,
                    linkInertiasCOM=inertias,
                    linkCOMs=centres,
                    linkMasses=masses,
                    gravity=list(case.gravity),
                )
            )
        )


def _turn(case: Mechanism, part: str) -> Floats:
    return np.asarray(Rotation.from_quat(case.body(part).quat, scalar_first=True).as_matrix())


def _rate(case: Mechanism, joint: Joint, axis: Floats) -> float:
    """Rate of the joint's coordinate at t = 0."""
    b = case.body(joint.b)
    if joint.a == GROUND:
        r, v, omega = np.zeros(3), np.zeros(3), np.zeros(3)
    else:
        a = case.body(joint.a)
        r, v, omega = np.array(a.r), np.array(a.v), np.array(a.omega)
    if joint.kind == "prismatic":
        return float(axis @ (np.array(b.v) - v - np.cross(omega, np.array(b.r) - r)))
    return float(axis @ (np.array(b.omega) - omega))


def _frame(joint: Joint) -> Floats:
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)  # type: ignore[arg-type]
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, other) / np.linalg.norm(np.cross(axis, other))
    return np.column_stack([first, np.cross(axis, first), axis])
