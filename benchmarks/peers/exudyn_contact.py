"""Colliding spheres by Exudyn's general contact."""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np

from benchmarks.cases import Floats
from benchmarks.peers.exudyn_common import exudyn, items, new_system

SCHEMES = ("VelocityVerlet", "RK44", "RK67", "GeneralizedAlpha")


def run(
    positions: Floats,
    velocities: Floats,
    radius: float,
    mass: float,
    k: float,
    scheme: str,
    t_end: float,
    steps: int,
) -> tuple[Floats, Floats, float]:
    """Positions and velocities (n, 3) at t_end, and processor time, s; k: stiffness of two spheres in
    contact.
    """
    system = new_system()
    contact = system.AddGeneralContact()
    contact.SetFrictionPairings(np.zeros((1, 1)))
    contact.SetSearchTreeCellSize(numberOfCells=[8, 8, 8])
    nodes = []
    for x, v in zip(positions.tolist(), velocities.tolist(), strict=True):
        node = system.AddNode(items.NodePoint(referenceCoordinates=x, initialVelocities=v))
        system.AddObject(items.MassPoint(physicsMass=mass, nodeNumber=node))
        marker = system.AddMarker(items.MarkerNodePosition(nodeNumber=node))
        contact.AddSphereWithMarker(  # both stiffnesses are in series
            marker, radius=radius, contactStiffness=2.0 * k, contactDamping=0.0, frictionMaterialIndex=0
        )
        nodes.append(node)
    system.Assemble()
    s = _settings(t_end, steps)
    begun = process_time()
    system.SolveDynamic(s, solverType=getattr(exudyn.DynamicSolverType, scheme))
    seconds = process_time() - begun
    kinds = exudyn.OutputVariableType
    ends = [
        np.array([system.GetNodeOutput(node, kind) for node in nodes])
        for kind in (kinds.Position, kinds.Velocity)
    ]
    return ends[0], ends[1], seconds


def _settings(t_end: float, steps: int) -> Any:
    s = exudyn.SimulationSettings()
    s.timeIntegration.numberOfSteps = steps
    s.timeIntegration.endTime = t_end
    s.timeIntegration.verboseMode = 0
    s.timeIntegration.explicitIntegration.computeEndOfStepAccelerations = True
    s.timeIntegration.newton.useModifiedNewton = True
    s.solutionSettings.writeSolutionToFile = False
    s.solutionSettings.sensorsWritePeriod = t_end
    s.parallel.numberOfThreads = 1
    return s
