"""The beam test models in Exudyn: its geometrically exact beams, in the plane its planar ones."""

from __future__ import annotations

from itertools import pairwise
from time import process_time
from typing import Any

import exudyn.itemInterface as items
import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.frames import Beam, Frame
from benchmarks.measurement import Measurement
from benchmarks.mechanisms import Triple
from benchmarks.peers.exudyn_common import NAME, Floats, exudyn, new_system, node, settings, solve


def run(case: Frame, resolution: int, h: float, dense: bool = False) -> Measurement:
    """Compute frequencies by its sparse or dense solver, an equilibrium in load steps of h, or a motion by
    steps of h.
    """
    first = process_time()
    system = new_system()
    if case.frequencies:
        return _frequencies(system, case, resolution, h, dense)
    nodes = _Planar(system, case, resolution) if case.planar else _Spatial(system, case, resolution)
    for point in case.clamps:
        nodes.clamp(point)
    for kind, loads in ((items.Force, case.forces), (items.Torque, case.moments)):
        for point, value in loads:
            marker = system.AddMarker(items.MarkerNodeRigid(nodeNumber=nodes.number(point)))
            system.AddLoad(kind(markerNumber=marker, loadVector=list(value)))
    system.Assemble()
    if case.t_end is None:
        steps = round(1.0 / h)
        wall = _equilibrium(system, steps)
    else:
        steps = round(case.t_end / h)
        s = settings(case.t_end, steps, sparse=True)
        s.timeIntegration.generalizedAlpha.spectralRadius = 0.9
        wall = solve(system, s)
    whole_s = process_time() - first
    error = case.error(node(system, nodes.number(case.watched), "Position"))
    return Measurement(NAME, case.name, resolution, h, steps, wall, error, float("nan"), whole_s)


def _frequencies(system: Any, case: Frame, resolution: int, h: float, dense: bool) -> Measurement:
    """The clamp is imposed by removing coordinates: faster than the null space of a joint."""
    first = process_time()
    _Turning(system, case, resolution)
    system.Assemble()
    begin = process_time()
    squares, _ = system.ComputeODE2Eigenvalues(
        useSparseSolver=not dense,
        numberOfEigenvalues=len(case.frequencies),
        constrainedCoordinates=list(range(6)),  # coordinates of the first node
    )
    end = process_time()
    error = case.error_of_frequencies(np.sqrt(np.abs(squares[: len(case.frequencies)])))
    nan = float("nan")
    name = f"{NAME} dense" if dense else NAME
    return Measurement(name, case.name, resolution, h, 1, end - begin, error, nan, end - first)


def _equilibrium(system: Any, steps: int) -> float:
    """Seconds in the static solver's load steps; the loosest tolerance that does not change the printed
    errors.
    """
    s = exudyn.SimulationSettings()
    s.staticSolver.numberOfLoadSteps = steps
    s.staticSolver.verboseMode = 0
    s.staticSolver.newton.maxIterations = 50
    s.staticSolver.newton.relativeTolerance = 1e-7
    s.solution.file.write = False
    s.solution.sensors.active = False
    s.parallel.numberOfThreads = 1
    s.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
    s.linearSolver.reuseAnalyzedPattern = True
    solver: Any = exudyn.MainSolverStatic()
    if not solver.InitializeSolver(system, s):
        raise RuntimeError("Exudyn did not initialise its static solver")
    begin = process_time()
    succeeded = solver.SolveSteps(system, s)
    wall = process_time() - begin
    solver.FinalizeSolver(system, s)
    if not succeeded:
        raise RuntimeError(f"Exudyn found no equilibrium: {solver.GetErrorString()}")
    return wall


class _Nodes:
    """Nodes of a mesh by position; touching beams share one."""

    def __init__(self, system: Any, case: Frame, resolution: int):
        self.system, self.case = system, case
        self._numbers: dict[tuple[int, ...], int] = {}
        for beam in case.beams:
            n = resolution * beam.elements
            points = np.linspace(beam.start, beam.end, n + 1)
            length = float(np.linalg.norm(points[1] - points[0]))
            for pair in pairwise([self._at(p, beam) for p in points]):
                self.element(pair, length)

    def _at(self, point: Floats, beam: Beam) -> int:
        key = tuple(np.round(np.asarray(point) * 1e7).astype(int).tolist())
        if key not in self._numbers:
            self._numbers[key] = self.node(point, beam)
        return self._numbers[key]

    def number(self, point: Triple) -> int:
        return self._numbers[tuple(np.round(np.asarray(point) * 1e7).astype(int).tolist())]

    def node(self, point: Floats, beam: Beam) -> int:
        raise NotImplementedError

    def element(self, pair: tuple[int, int], length: float) -> None:
        raise NotImplementedError

    def clamp(self, point: Triple) -> None:
        raise NotImplementedError


class _Planar(_Nodes):
    """Nodes with angle zero and rotated elements: any number of beams may share one."""

    def node(self, point: Floats, beam: Beam) -> int:
        return int(self.system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[point[0], point[1], 0.0])))

    def element(self, pair: tuple[int, int], length: float) -> None:
        EA, GA2, _, _, _, EI3 = self.case.stiffness
        self.system.AddObject(
            items.ObjectBeamGeometricallyExact2D(
                nodeNumbers=list(pair),
                physicsLength=length,
                physicsMassPerLength=self.case.mass_per_length,
                physicsCrossSectionInertia=self.case.inertia_per_length[2],
                physicsBendingStiffness=EI3,
                physicsAxialStiffness=EA,
                physicsShearStiffness=GA2,
                includeReferenceRotations=False,
            )
        )

    def clamp(self, point: Triple) -> None:
        ground = self.system.AddNode(items.NodePointGround())
        fixed = self.system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
        for k in range(3):
            marker = self.system.AddMarker(
                items.MarkerNodeCoordinate(nodeNumber=self.number(point), coordinate=k)
            )
            self.system.AddObject(items.CoordinateConstraint(markerNumbers=[fixed, marker]))


class _Spatial(_Nodes):
    """Nodes with Euler parameters: nodes with a Lie group step have no statics."""

    def node(self, point: Floats, beam: Beam) -> int:
        quat = Rotation.from_matrix(_axes(self.case, beam)).as_quat(scalar_first=True)
        return int(self.system.AddNode(items.NodeRigidBodyEP(referenceCoordinates=[*point, *quat])))

    def element(self, pair: tuple[int, int], length: float) -> None:
        section = exudyn.BeamSection()
        section.stiffnessMatrix = np.diag(self.case.stiffness)
        section.inertia = np.diag(self.case.inertia_per_length)
        section.massPerLength = self.case.mass_per_length
        self.system.AddObject(
            items.ObjectBeamGeometricallyExact(nodeNumbers=list(pair), length=length, sectionData=section)
        )

    def clamp(self, point: Triple) -> None:
        ground = self.system.AddObject(items.ObjectGround(referencePosition=point))
        to = self.system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground))
        marker = self.system.AddMarker(items.MarkerNodeRigid(nodeNumber=self.number(point)))
        beam = next(b for b in self.case.beams if point in (b.start, b.end))
        self.system.AddObject(
            items.GenericJoint(markerNumbers=[to, marker], rotationMarker0=_axes(self.case, beam))
        )


class _Turning(_Spatial):
    """Nodes with rotation vectors: six coordinates and no constraint."""

    def node(self, point: Floats, beam: Beam) -> int:
        rotation_vector = Rotation.from_matrix(_axes(self.case, beam)).as_rotvec()
        return int(
            self.system.AddNode(items.NodeRigidBodyRotVecLG(referenceCoordinates=[*point, *rotation_vector]))
        )


def _axes(case: Frame, beam: Beam) -> Floats:
    d1 = np.subtract(beam.end, beam.start) / np.linalg.norm(np.subtract(beam.end, beam.start))
    d2 = np.cross(case.up, d1) / np.linalg.norm(np.cross(case.up, d1))
    return np.column_stack([d1, d2, np.cross(d1, d2)])
