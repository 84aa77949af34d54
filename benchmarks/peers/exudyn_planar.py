"""B2 with Exudyn's planar elements: three unknowns a node (`beam`), or its ANCF cable with slopes (`cable`)."""

from __future__ import annotations

from time import process_time
from typing import Any

import exudyn.itemInterface as items
import numpy as np

from benchmarks.cases import Floats, RodCase, steps_a_part
from benchmarks.measurement import Measurement
from benchmarks.peers.exudyn_common import NAME, history, new_system, settings, solve, watch


def run(
    case: RodCase, resolution: int, h: float, element: str = "beam", sparse: bool = True, radius: float = 0.9
) -> Measurement:
    """Run `resolution` elements with steps of h in the plane of the rod and of gravity.

    sparse: the sparse solver, otherwise the dense one; radius: spectral radius of the generalised alpha
    method.
    """
    if case.peak or not case.clamped or case.down != (0.0, 0.0, -1.0):
        raise ValueError(f"{case.name} is not a clamped rod bent by gravity in its plane")
    first = process_time()
    system = new_system()
    last = _MESHES[element](system, case, resolution)
    end = watch(system, last)
    system.Assemble()
    steps = case.instants * steps_a_part(case.t_end, h, case.instants)
    s = settings(case.t_end, steps, sparse=sparse, period=case.t_end / case.instants)
    s.timeIntegration.generalizedAlpha.spectralRadius = radius
    s.timeIntegration.newton.modifiedNewtonJacUpdatePerStep = True
    wall = solve(system, s)
    whole_s = process_time() - first
    x, y, _ = history(system, end, case.t_end, case.instants).T
    error = case.error(np.zeros((case.instants, 3)), np.column_stack([x, np.zeros_like(x), y]))
    return Measurement(
        f"{NAME} {element} 2D", case.name, resolution, h, steps, wall, error, float("nan"), whole_s
    )


def _beam(system: Any, case: RodCase, n: int) -> int:
    EA, GA, _, _, EI, _ = case.stiffness
    element = case.length / n
    nodes = [
        system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[i * element, 0.0, 0.0]))
        for i in range(n + 1)
    ]
    for i in range(n):
        system.AddObject(
            items.ObjectBeamGeometricallyExact2D(
                nodeNumbers=nodes[i : i + 2],
                physicsLength=element,
                physicsMassPerLength=case.mass_per_length,
                physicsCrossSectionInertia=case.inertia_per_length[1],
                physicsBendingStiffness=EI,
                physicsAxialStiffness=EA,
                physicsShearStiffness=GA,
            )
        )
    weight = _in_plane(case.mass_per_length * element * case.weight)
    for i, number in enumerate(nodes):
        marker = system.AddMarker(items.MarkerNodePosition(nodeNumber=number))
        fraction = 0.5 if i in (0, n) else 1.0
        system.AddLoad(items.Force(markerNumber=marker, loadVector=list(fraction * weight)))
    _hold(system, nodes[0], (0, 1, 2))
    return int(nodes[-1])


def _cable(system: Any, case: RodCase, n: int) -> int:
    EA, _, _, _, EI, _ = case.stiffness
    element = case.length / n
    nodes = [
        system.AddNode(items.NodePoint2DSlope1(referenceCoordinates=[i * element, 0.0, 1.0, 0.0]))
        for i in range(n + 1)
    ]
    for i in range(n):
        cable = system.AddObject(
            items.ObjectANCFCable2D(
                nodeNumbers=nodes[i : i + 2],
                physicsLength=element,
                physicsMassPerLength=case.mass_per_length,
                physicsBendingStiffness=EI,
                physicsAxialStiffness=EA,
            )
        )
        marker = system.AddMarker(items.MarkerBodyMass(bodyNumber=cable))
        pull = list(_in_plane(case.weight))
        system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=pull))
    _hold(system, nodes[0], (0, 1, 3))
    return int(nodes[-1])


_MESHES = {"beam": _beam, "cable": _cable}


def _hold(system: Any, number: int, coordinates: tuple[int, ...]) -> None:
    ground = system.AddNode(items.NodePointGround())
    to = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    for k in coordinates:
        node_marker = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=number, coordinate=k))
        system.AddObject(items.CoordinateConstraint(markerNumbers=[to, node_marker]))


def _in_plane(vector: Floats) -> Floats:
    """Map world (x, y, z) to Exudyn's plane, whose y is z."""
    return np.array([vector[0], vector[2], 0.0])
