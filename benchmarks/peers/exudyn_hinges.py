"""B3 in its plane in Exudyn: a kinematic tree of hinges, one unknown a bar, with its explicit Runge-Kutta methods."""

from __future__ import annotations

from time import process_time
from typing import Any

import exudyn.itemInterface as items
import numpy as np

from benchmarks.cases import ChainCase, steps_a_part
from benchmarks.measurement import Measurement
from benchmarks.peers.exudyn_common import NAME, exudyn, history, new_system, settings


def run(case: ChainCase, resolution: int, h: float, method: str = "RK44") -> Measurement:
    """One run with steps of h of an explicit method without step control."""
    if case.spin:
        raise ValueError(f"{case.name} leaves its plane")
    n = case.n_bars
    first = process_time()
    system = new_system()
    none = [0.0] * n
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=none,
            initialCoordinates=none,
            initialCoordinates_t=none,
            numberOfODE2Coordinates=n,
        )
    )
    system.AddObject(_tree(case, node))
    variable = exudyn.OutputVariableType.Coordinates
    angles = system.AddSensor(
        items.SensorNode(nodeNumber=node, outputVariableType=variable, storeInternal=True, writeToFile=False)
    )
    system.Assemble()
    steps = case.instants * steps_a_part(case.t_end, h, case.instants)
    s = settings(case.t_end, steps, sparse=False, period=case.t_end / case.instants)
    s.timeIntegration.explicitIntegration.dynamicSolverType = getattr(exudyn.DynamicSolverType, method)
    s.timeIntegration.explicitIntegration.computeEndOfStepAccelerations = False
    solver: Any = exudyn.MainSolverExplicit()
    solver.InitializeSolver(system, s)
    begin = process_time()
    succeeded = solver.SolveSteps(system, s)
    wall = process_time() - begin
    solver.FinalizeSolver(system, s)
    whole_s = process_time() - first
    if not succeeded:
        raise RuntimeError(f"Exudyn stopped before the end: {solver.GetErrorString()}")
    angle_sums = np.cumsum(history(system, angles, case.t_end, case.instants), axis=1)
    across = np.zeros(case.instants)
    tip = case.bar_length * np.column_stack(
        [np.cos(angle_sums).sum(axis=1), across, np.sin(angle_sums).sum(axis=1)]
    )
    name = f"{NAME} tree {method}"
    return Measurement(name, case.name, resolution, h, steps, wall, case.error(tip), float("nan"), whole_s)


def _tree(case: ChainCase, node: int) -> Any:
    """Kinematic tree whose bars rotate about z of Exudyn's plane x, y, with gravity along -y."""
    n = case.n_bars
    return items.ObjectKinematicTree(
        nodeNumber=node,
        jointTypes=[exudyn.JointType.RevoluteZ] * n,
        linkParents=list(range(-1, n - 1)),
        jointTransformations=exudyn.Matrix3DList([np.eye(3)] * n),
        jointOffsets=exudyn.Vector3DList([[case.bar_length if i else 0.0, 0.0, 0.0] for i in range(n)]),
        linkInertiasCOM=exudyn.Matrix3DList([np.diag(case.inertia)] * n),
        linkCOMs=exudyn.Vector3DList([[0.5 * case.bar_length, 0.0, 0.0]] * n),
        linkMasses=[case.mass] * n,
        gravity=[0.0, -case.gravity, 0.0],
    )
