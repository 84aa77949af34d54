"""B3, B4 in Exudyn: rigid bodies with Lie group nodes, spherical joints, the implicit trapezoidal rule; see `exudyn_hinges`."""

from __future__ import annotations

from time import process_time
from typing import Any

import exudyn.itemInterface as items
import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.cases import ChainCase, TopCase, Triple, steps_a_part
from benchmarks.measurement import Measurement
from benchmarks.peers.exudyn_common import NAME, exudyn, history, new_system, node, settings, solve


def run(case: ChainCase | TopCase, resolution: int, h: float) -> Measurement:
    """One run with steps of h; `resolution` is the number of bodies and is only a label of the result."""
    return _run_chain(case, resolution, h) if isinstance(case, ChainCase) else _run_top(case, resolution, h)


def _run_chain(case: ChainCase, resolution: int, h: float) -> Measurement:
    first = process_time()
    system = new_system()
    half = 0.5 * case.bar_length
    last = _ground(system)
    nodes = []
    for i in range(case.n_bars):
        centre = [(i + 0.5) * case.bar_length, 0.0, 0.0]
        moving = {"v": (0.0, case.spin * centre[0], 0.0), "omega": (0.0, 0.0, case.spin)}
        number, body = add_body(system, case.mass, case.inertia, centre, **moving)
        nodes.append(number)
        near, far = (
            system.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[x, 0.0, 0.0]))
            for x in (-half, half)
        )
        system.AddObject(items.SphericalJoint(markerNumbers=[last, near]))
        weigh(system, body, (0.0, 0.0, -case.mass * case.gravity))
        last = far
    free = _watch(system, body, (half, 0.0, 0.0))
    system.Assemble()
    steps = case.instants * steps_a_part(case.t_end, h, case.instants)
    s = _settings(case, steps, sparse=case.n_bars > 8)
    wall = solve(system, s)
    whole_s = process_time() - first
    energy = 0.0
    for number in nodes:
        v, Omega = node(system, number, "Velocity"), node(system, number, "AngularVelocityLocal")
        energy += 0.5 * case.mass * v @ v + 0.5 * Omega**2 @ np.array(case.inertia)
        energy += case.mass * case.gravity * node(system, number, "Position")[2]
    before = 0.5 * case.n_bars * (case.inertia[2] * case.spin**2)
    before += sum(
        0.5 * case.mass * (case.spin * (i + 0.5) * case.bar_length) ** 2 for i in range(case.n_bars)
    )
    error = case.error(history(system, free, case.t_end, case.instants))
    drift = float(energy - before) / case.energy_scale
    return Measurement(NAME, case.name, resolution, h, steps, wall, error, drift, whole_s)


def _run_top(case: TopCase, resolution: int, h: float) -> Measurement:
    first = process_time()
    system = new_system()
    number, body = add_body(system, case.mass, case.inertia, case.r, case.quat, case.v, case.omega)
    tip = system.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[0.0, 0.0, -case.offset]))
    system.AddObject(items.SphericalJoint(markerNumbers=[_ground(system), tip]))
    weigh(system, body, (0.0, 0.0, -case.mass * case.gravity))
    centre = _watch(system, body, (0.0, 0.0, 0.0))
    system.Assemble()
    steps = case.instants * steps_a_part(case.t_end, h, case.instants)
    s = _settings(case, steps, sparse=False)
    inertia = np.diag(case.inertia)
    R = Rotation.from_quat(case.quat, scalar_first=True)
    before = case.energy(case.r, case.v, inertia, R.inv().apply(case.omega))
    wall = solve(system, s)
    whole_s = process_time() - first
    r = node(system, number, "Position")
    after = case.energy(
        r, node(system, number, "Velocity"), inertia, node(system, number, "AngularVelocityLocal")
    )
    drift = (after - before) / case.energy_scale
    error = case.error(history(system, centre, case.t_end, case.instants))
    return Measurement(NAME, case.name, resolution, h, steps, wall, error, drift, whole_s)


def _settings(case: ChainCase | TopCase, steps: int, sparse: bool) -> Any:
    """Trapezoidal rule, constraints on velocities, a new tangent in each step.

    Measured: as fast as any setting on the chains; the index 3 generalised alpha method fails on the top.
    """
    s = settings(case.t_end, steps, sparse, period=case.t_end / case.instants)
    s.timeIntegration.generalizedAlpha.useNewmark = True
    s.timeIntegration.generalizedAlpha.useIndex2Constraints = True
    s.timeIntegration.newton.modifiedNewtonJacUpdatePerStep = True
    return s


def _watch(system: Any, body: int, point: Triple) -> int:
    """Add a sensor of a point of a body."""
    variable = exudyn.OutputVariableType.Position
    options: dict[str, Any] = {"storeInternal": True, "writeToFile": False}
    sensor = items.SensorBody(bodyNumber=body, localPosition=point, outputVariableType=variable, **options)
    return int(system.AddSensor(sensor))


def _ground(system: Any) -> int:
    ground = system.AddObject(items.ObjectGround())
    return int(system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground)))


def add_body(
    system: Any,
    mass: float,
    inertia: tuple[float, float, float],
    r: Any,
    quat: Any = (1.0, 0.0, 0.0, 0.0),
    v: Any = (0.0, 0.0, 0.0),
    omega: Any = (0.0, 0.0, 0.0),
) -> tuple[int, int]:
    """Add a body; return the numbers of its node and of the body."""
    rotation = Rotation.from_quat(quat, scalar_first=True)
    Omega = rotation.inv().apply(omega)
    number = system.AddNode(
        items.NodeRigidBodyRotVecLG(
            referenceCoordinates=[*r, *rotation.as_rotvec()], initialVelocities=[*v, *Omega]
        )
    )
    body = system.AddObject(
        items.ObjectRigidBody(mass=mass, inertia=[*inertia, 0.0, 0.0, 0.0], nodeNumber=number)
    )
    return number, body


def weigh(system: Any, body: int, weight: Any) -> None:
    """Apply the weight (3,), N, of a body at its centre of mass."""
    marker = system.AddMarker(items.MarkerBodyPosition(bodyNumber=body))
    system.AddLoad(items.Force(markerNumber=marker, loadVector=list(weight)))
