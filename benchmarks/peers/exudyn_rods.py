"""B1, B2 in Exudyn: its geometrically exact two-node beam in space, generalised alpha; in the plane see `exudyn_planar`."""

from __future__ import annotations

from itertools import pairwise
from time import process_time
from typing import Any

import exudyn.itemInterface as items
import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.cases import RodCase, steps_a_part
from benchmarks.measurement import Measurement
from benchmarks.peers.exudyn_common import NAME, exudyn, history, new_system, node, settings, solve, watch
from benchmarks.peers.exudyn_energy import rod_energy


def run(case: RodCase, resolution: int, h: float) -> Measurement:
    """One run with `resolution` elements and steps of h.

    Nodes are rotation vectors with a Lie group step: smaller errors at large steps than Euler parameters.
    """
    first = process_time()
    system = new_system()
    nodes = _rod(system, case, resolution)
    energies: list[float] = []
    looking = [0.0]  # s, time that is not the program's

    def record(mbs: Any, *_: Any) -> Any:
        begin = process_time()
        energies.append(_energy(mbs, case, nodes))
        looking[0] += process_time() - begin
        return [0.0]

    call: Any = record  # declared with a protocol that plain functions do not satisfy
    system.AddSensor(items.SensorUserFunction(sensorUserFunction=call, writeToFile=False, storeInternal=True))
    ends = [watch(system, nodes[0]), watch(system, nodes[-1])]
    system.Assemble()
    steps = case.instants * steps_a_part(case.t_end, h, case.instants)
    s = settings(case.t_end, steps, sparse=True, period=case.t_end / case.instants)
    s.timeIntegration.generalizedAlpha.spectralRadius = 0.9  # 0.7 to 1 differ little; index 3 asks for < 1
    # B2 is faster with a new tangent each step, B1 with the old one until convergence is slow.
    s.timeIntegration.newton.modifiedNewtonJacUpdatePerStep = case.clamped
    wall = solve(system, s) - looking[0]
    whole_s = process_time() - first - looking[0]
    start, end = (history(system, sensor, case.t_end, case.instants) for sensor in ends)
    before, after = energies[round(case.t_energy / case.t_end * case.instants)], energies[-1]
    scale = abs(before) if case.peak else case.mass_per_length * case.length * case.gravity * case.length
    drift = (after - before) / scale
    error = case.error(start, end)
    return Measurement(NAME, case.name, resolution, h, steps, wall, error, drift, whole_s)


def _rod(system: Any, case: RodCase, n_elements: int) -> list[int]:
    section = exudyn.BeamSection()
    section.stiffnessMatrix = np.diag(case.stiffness)
    section.inertia = np.diag(case.inertia_per_length)
    section.massPerLength = case.mass_per_length
    angles = Rotation.from_matrix(case.axes).as_rotvec()
    points = np.linspace(case.start, case.end, n_elements + 1)
    nodes = [system.AddNode(items.NodeRigidBodyRotVecLG(referenceCoordinates=[*p, *angles])) for p in points]
    for a, b in pairwise(nodes):
        system.AddObject(
            items.ObjectBeamGeometricallyExact(
                nodeNumbers=[a, b], length=case.length / n_elements, sectionData=section
            )
        )
    markers = [system.AddMarker(items.MarkerNodeRigid(nodeNumber=n)) for n in nodes]
    if case.clamped:
        ground = system.AddObject(items.ObjectGround(referencePosition=case.start))
        to = system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground))
        system.AddObject(items.GenericJoint(markerNumbers=[to, markers[0]], rotationMarker0=case.axes))
    if case.gravity:
        weight = case.mass_per_length * case.weight * case.length / n_elements
        for i, marker in enumerate(markers):
            fraction = 0.5 if i in (0, n_elements) else 1.0
            system.AddLoad(items.Force(markerNumber=marker, loadVector=list(fraction * weight)))
    if case.peak:
        for kind, direction in ((items.Force, case.force), (items.Torque, case.moment)):
            system.AddLoad(
                kind(
                    markerNumber=markers[0],
                    loadVector=direction,
                    loadVectorUserFunction=_load(case, direction),
                )
            )
    return nodes


def _load(case: RodCase, direction: tuple[float, float, float]) -> Any:
    def value(mbs: Any, t: float, load: Any) -> list[float]:
        f = case.load_factor(t)
        return [f * c for c in direction]

    return value


def _energy(system: Any, case: RodCase, nodes: list[int]) -> float:
    r = np.array([node(system, n, "Position") for n in nodes])
    R = np.array([node(system, n, "RotationMatrix").reshape(3, 3) for n in nodes])
    v = np.array([node(system, n, "Velocity") for n in nodes])
    Omega = np.array([node(system, n, "AngularVelocityLocal") for n in nodes])
    return rod_energy(case, r, R, v, Omega)
