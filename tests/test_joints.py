"""Every joint: assembled at t = 0, Jacobian, objectivity, the motion it leaves free, no work."""

import numpy as np
import pytest

from discretization.consistent import constraint_jacobian
from discretization.measures import constraint_residual, velocity_residual
from rigid import quaternions
from rigid.joints import JOINTS
from rodsim import Box, Model, audit, simulate

FREE = {"clamp": 0, "weld": 0, "spherical": 3, "revolute": 1, "prismatic": 1}
AXIS = {"revolute": (1, 2, -1), "prismatic": (1, 2, -1)}


def joined(kind):
    """Two moving bodies in a general pose, joined; a clamp holds one to the ground."""
    rng = np.random.default_rng(2)
    model = Model(kind)
    poses = [
        {
            "position": rng.standard_normal(3),
            "orientation": quaternions.normalize(rng.standard_normal(4)),
            "velocity": rng.standard_normal(3),
            "angular_velocity": rng.standard_normal(3),
        }
        for _ in range(2)
    ]
    a = model.add_body("a", Box(0.3, 0.4, 0.5, density=100), **poses[0])
    if kind == "clamp":
        model.add_joint("joint", kind, a, at=(0.1, 0.2, 0.3))
    else:
        b = model.add_body("b", Box(0.5, 0.2, 0.3, density=200), **poses[1])
        model.add_joint("joint", kind, a, b, at=(0.1, 0.2, 0.3), axis=AXIS.get(kind))
    return model


@pytest.mark.parametrize("kind", JOINTS)
def test_joint_is_assembled_and_leaves_the_declared_motion_free(kind):
    system, state, *_ = joined(kind).build()
    assert np.abs(constraint_residual(system, state)).max() < 1e-14
    assert len(state.lam) == JOINTS[kind].n_rows == 6 - FREE[kind]
    assert (
        np.linalg.matrix_rank(constraint_jacobian(system, state).toarray(), tol=1e-8) == JOINTS[kind].n_rows
    )


@pytest.mark.parametrize("kind", JOINTS)
def test_jacobian_is_the_derivative_of_the_constraints(kind):
    system, state, *_ = joined(kind).build()
    n, size, columns = len(state.r), 1e-6, []
    for unit in np.eye(6 * n) * size:
        change = unit.reshape(n, 6)
        moved = [
            state._replace(
                r=state.r + sign * change[:, :3],
                quat=quaternions.multiply(quaternions.from_rotation_vector(sign * change[:, 3:]), state.quat),
            )
            for sign in (1, -1)
        ]
        columns.append(
            (constraint_residual(system, moved[0]) - constraint_residual(system, moved[1])) / (2 * size)
        )
    G = constraint_jacobian(system, state).toarray()
    assert np.abs(G - np.array(columns).T)[:, 6:].max() < 1e-8
    omega = quaternions.rotate(state.quat, state.Omega)
    velocity = np.concatenate([state.v, omega], axis=1).ravel()
    assert np.abs(G @ velocity - velocity_residual(system, state)).max() < 1e-12


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind != "clamp"])
def test_a_common_rigid_motion_leaves_the_joint_alone(kind):
    system, state, *_ = joined(kind).build()
    g = quaternions.normalize([0.2, 0.5, -0.7, 0.3])
    moved = state._replace(r=quaternions.rotate(g, state.r) + 1.0, quat=quaternions.multiply(g, state.quat))
    assert np.abs(constraint_residual(system, moved)).max() < 1e-14


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind != "clamp"])
def test_joint_forces_do_no_work_and_keep_momenta(kind):
    report = audit(simulate(joined(kind), 2.0, 0.01))
    assert report.energy_balance < 1e-12
    assert report.constraint < 1e-13
    assert report.linear_momentum_drift < 1e-12
    assert report.angular_momentum_drift < 1e-12


def test_a_door_swings_with_the_period_of_the_physical_pendulum():
    """Box 10 x 1 x 1 of 10 kg/m^3 hinged at the middle of its end, released at 90 degrees: theta(1) exact."""
    model = Model("door", gravity=(0, 0, -9.81))
    box = model.add_body("box", Box(10, 1, 1, density=10), position=(5, 0, 0))
    model.add_joint("hinge", "revolute", model.ground, box, at=(0, 0, 0), axis=(0, 1, 0))
    result = simulate(model, 1.0, 0.005, "em4")
    r = result.body("box").r[-1]
    assert np.arctan2(r[0], -r[2]) == pytest.approx(0.84971439156516378, abs=1e-8)
