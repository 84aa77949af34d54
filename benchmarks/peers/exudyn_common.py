"""Exudyn: import of its fast module, settings, and the clock around its time loop."""

from __future__ import annotations

import contextlib
import io
import sys
from time import process_time
from typing import Any

import numpy as np

from benchmarks.cases import Floats

sys.exudynFast = True  # type: ignore[attr-defined]  # the module without range checks: the faster of the two
with contextlib.redirect_stdout(io.StringIO()):
    import exudyn
    import exudyn.itemInterface as items

NAME = "Exudyn"


def new_system() -> Any:
    """Return an empty system, with the container that owns it kept alive."""
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    system.variables["container"] = container
    return system


def settings(t_end: float, steps: int, sparse: bool, period: float | None = None) -> Any:
    """Simulation settings with all output off; sensors are read every `period` if given."""
    s = exudyn.SimulationSettings()
    s.timeIntegration.numberOfSteps = steps
    s.timeIntegration.endTime = t_end
    s.timeIntegration.verboseMode = 0
    newton = s.timeIntegration.newton
    newton.useModifiedNewton = True
    # Measured on B1 and B2: looser than the default 1e-8, the fastest value that does not change the error.
    newton.relativeTolerance = 1e-4
    newton.modifiedNewtonContractivity = 0.2
    s.solution.file.write = False
    s.solution.sensors.active = period is not None
    if period is not None:
        s.solution.sensors.writePeriod = period
    s.parallel.numberOfThreads = 1
    types = exudyn.LinearSolverType
    s.linearSolver.solverType = types.EigenSparse if sparse else types.EigenDense
    s.linearSolver.reuseAnalyzedPattern = sparse
    return s


def solve(system: Any, s: Any) -> float:
    """March an assembled system to the end; return the seconds in the time loop, without its initialisation."""
    solver: Any = exudyn.MainSolverImplicitSecondOrder()
    if not solver.InitializeSolver(system, s):
        raise RuntimeError("Exudyn did not initialise its solver; see its output with verboseMode = 2")
    start = process_time()
    succeeded = solver.SolveSteps(system, s)
    wall = process_time() - start
    solver.FinalizeSolver(system, s)
    if not succeeded:
        raise RuntimeError(f"Exudyn stopped before the end: {solver.GetErrorString()}")
    return wall


def node(system: Any, number: int, variable: str) -> Floats:
    """Output of a node by the name of its output variable, e.g. "Position"."""
    return np.array(system.GetNodeOutput(number, getattr(exudyn.OutputVariableType, variable)))


def watch(system: Any, number: int) -> int:
    """Add a sensor that stores the position of a node at every period of the sensors."""
    variable = exudyn.OutputVariableType.Position
    sensor = items.SensorNode(
        nodeNumber=number, outputVariableType=variable, storeInternal=True, writeToFile=False
    )
    return int(system.AddSensor(sensor))


def history(system: Any, sensor: int, t_end: float, instants: int) -> Floats:
    """Return the stored values (instants, components) of a sensor at equal parts of `t_end`."""
    stored = np.array(system.GetSensorStoredData(sensor))[-instants:]
    instants_s = t_end * np.arange(1, instants + 1) / instants
    if len(stored) != instants or np.abs(stored[:, 0] - instants_s).max() > 1e-9 * t_end:
        raise RuntimeError(f"Exudyn stored values at {stored[:, 0]} s, not at {instants_s}")
    return stored[:, 1:]
