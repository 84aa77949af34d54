"""Dampers, viscous rods, drag and joint friction: properties of every dissipative kind; rotations up to 3 rad."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from discretization.interaction_groups import registered_kinds
from discretization.space.bushing import damper_numbers, marker
from discretization.space.free_bushing import free_numbers
from discretization.space.se3_element import strains
from rigid import quaternions
from rigid.interactions.laws import law_numbers
from rodsim import Box, Model, ModelError, SpringLaw, modes, simulate
from rodsim.mechanics import integrate
from tests.support.interactions import EPS, dual, names, poses, random_rotation
from tests.support.rods import INERTIA

BY_NAME = {kind.name: kind for kinds in registered_kinds().values() for kind in kinds}
(
    DAMPER,
    TORSION_DAMPER,
    DRAG,
    JOINT_FRICTION,
    ROTATION_DAMPING,
    BUSHING_DAMPER,
    FREE_BUSHING_DAMPER,
    VISCOUS_SE3_ELEMENT,
) = map(
    BY_NAME.get,
    (
        "damper",
        "torsion damper",
        "external damping",
        "joint friction",
        "rotation damping of a joint",
        "damper of a bushing",
        "damper of a bushing with a free axis",
        "viscous SE(3) rod element",
    ),
)
LENGTH_DAMPER, DISPLACEMENT_DAMPER, ANGLE_DAMPER = (
    BY_NAME[f"damper with a law of the rate of {what}"]
    for what in ("its length", "a displacement", "an angle")
)
LAWS = (LENGTH_DAMPER, DISPLACEMENT_DAMPER, ANGLE_DAMPER)  # here with a linear law
BETWEEN = (
    DAMPER,
    TORSION_DAMPER,
    VISCOUS_SE3_ELEMENT,
    BUSHING_DAMPER,
    FREE_BUSHING_DAMPER,
    JOINT_FRICTION,
    ROTATION_DAMPING,
    *LAWS,
)
KINDS = (*BETWEEN, DRAG)
TURNS = (TORSION_DAMPER, ANGLE_DAMPER)  # known up to whole turns
C, K, ALONG = 3.0, 5.0, np.array([0.6, 0.0, 0.8])
TAU = 0.7  # step size


def numbers(kind, rng):
    """Random parameters of a dissipation of this kind."""
    if kind is DRAG:
        return np.concatenate([[C], (0.5 * np.trace(INERTIA) * np.eye(3) - INERTIA).ravel()])
    if kind in (JOINT_FRICTION, ROTATION_DAMPING):
        return np.concatenate([rng.normal(size=6), ALONG, [C, K if kind is JOINT_FRICTION else 0.0]])
    if kind is DAMPER:
        return np.concatenate([rng.normal(size=6), [40.0, 0.3, 3.0]])
    if kind is TORSION_DAMPER:
        U = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        return np.concatenate(
            [U[0], U[1], quaternions.rotate(random_rotation(rng, 1.0), U[0]), [30.0, 0.4, 2.0, 0.0]]
        )
    B = rng.normal(size=(6, 6))
    if kind in (BUSHING_DAMPER, FREE_BUSHING_DAMPER):
        markers = [
            (rng.normal(size=3), quaternions.to_matrix(random_rotation(rng, 0.05)).ravel()) for _ in range(2)
        ]
        both = np.concatenate([x for marker in markers for x in marker])
        if kind is FREE_BUSHING_DAMPER:
            return free_numbers(both, B @ B.T, np.zeros(6), True)
        return damper_numbers(both, B @ B.T)
    if kind in LAWS:
        law = law_numbers("law", SpringLaw.polynomial([0.0, 3.0]).pieces)
        head = numbers(TORSION_DAMPER, rng)[:9] if kind is ANGLE_DAMPER else rng.normal(size=9)
        head = np.append(head, 0.0) if kind is ANGLE_DAMPER else head[: 6 if kind is LENGTH_DAMPER else 9]
        return np.concatenate([head, law])
    return np.concatenate([[0.7], (B @ B.T).ravel()])


def independent_strains(kind, y, quat, X):
    """Return the strains whose rates enter the quadratic dissipation, computed independently, and their matrix."""
    a, b = (y[k, 0] + X[3 * k : 3 * k + 3] @ y[k, 1:] for k in (0, 1))
    if kind is DRAG:
        return y[0].ravel(), np.kron(block_diag(C, X[1:].reshape(3, 3)), np.eye(3))
    if kind in (JOINT_FRICTION, ROTATION_DAMPING):
        relative, along = y[0, 1:] @ y[1, 1:].T, ALONG @ y[0, 1:] @ (b - a)
        return np.append(relative, along), np.diag([*9 * [0.5 * C], X[10]])
    if kind in LAWS:
        if kind is DISPLACEMENT_DAMPER:
            return np.array([X[6:9] @ y[0, 1:] @ (b - a)]), np.array([[3.0]])
        if kind is LENGTH_DAMPER:
            return independent_strains(DAMPER, y, quat, X)[0], np.array([[3.0]])
        return independent_strains(TORSION_DAMPER, y, quat, X)[0], np.array([[3.0]])
    if kind in (BUSHING_DAMPER, FREE_BUSHING_DAMPER):
        markers = np.array([marker(tuple(y[k]), k, X) for k in (0, 1)])
        turns = quaternions.from_matrix(np.swapaxes(markers[:, 1:], 1, 2))
        if kind is FREE_BUSHING_DAMPER:
            return bearing_coordinates(markers), X[25:61].reshape(6, 6)
        return strains(markers[0, 0], turns[0], markers[1, 0], turns[1], 1.0)[0], X[25:].reshape(6, 6)
    if kind is DAMPER:
        return np.array([np.linalg.norm(b - a)]), X[8:9, None]
    if kind is TORSION_DAMPER:
        u, w, b = X[:3] @ y[0, 1:], X[3:6] @ y[0, 1:], X[6:9] @ y[1, 1:]
        return np.array([np.arctan2(w @ b, u @ b)]), X[11:12, None]
    e = strains(y[0, 0], quat[0], y[1, 0], quat[1], X[0])[0]
    return e, X[0] * X[1:].reshape(6, 6)


def bearing_coordinates(markers):
    """Displacement, rotation about the free axis and tilt of two markers (2, 4, 3), by quaternions: R_a^T R_b = tilt o
    rotation.
    """
    axes = np.swapaxes(markers[:, 1:], 1, 2)
    w, x, *_ = turned = quaternions.from_matrix(axes[0].T @ axes[1])
    about = np.array([w, x, 0.0, 0.0]) / np.hypot(w, x)
    tilt = quaternions.to_rotation_vector(quaternions.multiply(turned, quaternions.conjugate(about)))
    assert abs(tilt[0]) < 1e-12
    return np.concatenate([axes[0].T @ (markers[1, 0] - markers[0, 0]), [2 * np.arctan2(x, w)], tilt[1:]])


@pytest.mark.parametrize("angles", [(0.0, 1e-9), (1e-3, 0.1), (1.0, 1.2), (0.3, 2.0), (2.9, 2.8)])
@pytest.mark.parametrize("kind", KINDS, ids=names)
def test_step_dissipates_the_square_of_the_strain_change(kind, angles):
    rng = np.random.default_rng(1)
    X = numbers(kind, rng)
    (y0, quat0), (y1, quat1) = poses(rng, angles[0]), poses(rng, angles[1])
    before, matrix = independent_strains(kind, y0, quat0, X)
    change = independent_strains(kind, y1, quat1, X)[0] - before
    turns = slice(3, 4) if kind is FREE_BUSHING_DAMPER else slice(0, len(change) * (kind in TURNS))
    change[turns] = (change[turns] + np.pi) % (2 * np.pi) - np.pi
    work = np.sum(dual(kind, y0, y1, X, [1 / TAU], "dual").real * (y1 - y0))
    assert work == pytest.approx(change @ matrix @ change / TAU, rel=1e-12)
    assert work > 0.0


@pytest.mark.parametrize("angle", [1e-8, 0.4, 1.5, 3.0])
@pytest.mark.parametrize("kind", KINDS, ids=names)
def test_rate_dual_is_the_limit_of_a_short_step(kind, angle):
    """The difference is of second order in the step about its midpoint; pose rates need not be rotations."""
    rng = np.random.default_rng(2)
    X = numbers(kind, rng)
    y, z = poses(rng, angle)[0], rng.normal(size=(2, 4, 3))
    rate = dual(kind, y, z, X, [1.0], "bend").real
    errors = [
        np.abs(dual(kind, y - h / 2 * z, y + h / 2 * z, X, [1 / h]).real - rate).max() for h in (2e-4, 1e-4)
    ]
    assert errors[1] < 1e-4 * np.abs(rate).max()
    assert errors[1] < errors[0] / 3.8 or errors[1] < 1e-9 * np.abs(rate).max()


@pytest.mark.parametrize("kind", KINDS, ids=names)
def test_damping_force_is_linear_symmetric_and_dissipative(kind):
    rng = np.random.default_rng(3)
    X = numbers(kind, rng)
    y = poses(rng, 1.0)[0]
    z, w = rng.normal(size=(2, 2, 4, 3))
    at_z, at_w, at_sum = (dual(kind, y, x, X, [1.0], "bend").real for x in (z, w, 2 * z - w))
    assert at_sum == pytest.approx(2 * at_z - at_w, rel=1e-11, abs=1e-11 * np.abs(at_sum).max())
    assert np.sum(at_z * w) == pytest.approx(np.sum(at_w * z), rel=1e-11)
    assert np.sum(at_z * z) > 0.0


@pytest.mark.parametrize("kind", BETWEEN, ids=names)
def test_rigid_motion_has_no_damping_force(kind):
    rng = np.random.default_rng(4)
    X = numbers(kind, rng)
    y = poses(rng, 1.3)[0]
    velocity, omega = rng.normal(size=(2, 3))
    z = np.cross(omega, y)
    z[:, 0] += velocity
    assert np.abs(dual(kind, y, z, X, [1.0], "bend")).max() < 1e-13
    turned = y @ quaternions.to_matrix(random_rotation(rng, 2.0)).T
    turned[:, 0] += velocity
    assert np.abs(dual(kind, y, turned, X, [1.0])).max() < 1e-13


@pytest.mark.parametrize("kind", BETWEEN, ids=names)
def test_damping_forces_conserve_both_momenta(kind):
    rng = np.random.default_rng(5)
    X = numbers(kind, rng)
    y0, y1 = poses(rng, 0.7)[0], poses(rng, 1.4)[0]
    z = rng.normal(size=(2, 4, 3))
    for f, y in (
        (dual(kind, y0, y1, X, [1.0]).real, (y0 + y1) / 2),
        (dual(kind, y0, z, X, [1.0], "bend").real, y0),
    ):
        assert np.abs(f[:, 0].sum(axis=0)).max() < 1e-13 * np.abs(f).max()
        assert np.abs(np.cross(y, f).sum(axis=(0, 1))).max() < 1e-13 * np.abs(f).max()


@pytest.mark.parametrize("function", ["dual", "bend"])
@pytest.mark.parametrize("angles", [(0.02, 0.03), (0.6, 0.9), (2.4, 1.7)])
@pytest.mark.parametrize("kind", KINDS, ids=names)
def test_damping_duals_accept_complex_steps(kind, angles, function):
    """Compare with central differences along poses and rates at once."""
    rng = np.random.default_rng(6)
    X = numbers(kind, rng)
    ends = np.array([poses(rng, angle)[0] for angle in angles])
    d, e = rng.normal(size=ends.shape), 1e-6

    def along(s):
        y0, y1 = ends + s * d
        return dual(kind, y0, y1, X, [1.0], function)

    step, difference = along(1j * EPS).imag / EPS, (along(e) - along(-e)).real / (2 * e)
    bound = 1e-8 if kind in (DRAG, JOINT_FRICTION, ROTATION_DAMPING) else 1e-7
    assert np.abs(step - difference).max() < bound * (1.0 + np.abs(difference).max())


@pytest.mark.parametrize("kind", [DAMPER, LENGTH_DAMPER], ids=names)
def test_coincident_points_have_no_damping_force(kind):
    """The force has no direction there."""
    X = np.array([0.0, 0, 0, 0, 0, 0, 3.0]) if kind is DAMPER else numbers(kind, np.random.default_rng(8))
    X[:6] = 0.0
    y = np.zeros((2, 4, 3))
    y[:, 1:] = np.eye(3)
    assert not np.any(dual(kind, y, y, X, [1.0]))
    assert not np.any(dual(kind, y, np.ones((2, 4, 3)), X, [1.0], "bend"))


def spin(y, w, arity):
    """Rates of poses with angular velocities w (arity, 3) and random velocities."""
    z = np.zeros((2, 4, 3))
    z[:arity, 1:] = np.cross(w[:, None], y[:arity, 1:])
    return z


def test_external_damping_power_is_that_of_force_and_moment():
    """c |v|^2 + Omega . C Omega."""
    rng = np.random.default_rng(0)
    y = poses(rng)[0]
    w, v = rng.normal(size=(2, 3))
    z = spin(y, w[None], 1)
    z[0, 0] = v
    f = dual(DRAG, y, z, numbers(DRAG, rng), [1.0], "bend").real
    Omega = y[0, 1:] @ w
    assert np.sum(f * z) == pytest.approx(C * v @ v + Omega @ INERTIA @ Omega, rel=1e-13)
    assert f[0, 0] == pytest.approx(C * v)
    moment = np.cross(y[0, 1:], f[0, 1:]).sum(axis=0)
    assert y[0, 1:] @ moment == pytest.approx(INERTIA @ Omega, rel=1e-13)
    assert not np.any(f[1])


def test_joint_friction_power_is_that_of_rotation_and_sliding():
    """c |omega_b - omega_a|^2 + k (ds/dt)^2, with a moment along the relative rotation."""
    rng = np.random.default_rng(1)
    y = poses(rng)[0]
    w, v = rng.normal(size=(2, 2, 3))
    z = spin(y, w, 2)
    z[:, 0] = v
    X = numbers(JOINT_FRICTION, rng)
    f = dual(JOINT_FRICTION, y, z, X, [1.0], "bend").real
    p = [y[k, 0] + X[3 * k : 3 * k + 3] @ y[k, 1:] for k in (0, 1)]
    dp = [z[k, 0] + X[3 * k : 3 * k + 3] @ z[k, 1:] for k in (0, 1)]
    u, du = ALONG @ y[0, 1:], ALONG @ z[0, 1:]
    rate = du @ (p[1] - p[0]) + u @ (dp[1] - dp[0])
    assert np.sum(f * z) == pytest.approx(C * np.sum((w[1] - w[0]) ** 2) + K * rate**2, rel=1e-12)
    X[10] = 0.0  # rotation alone
    f = dual(JOINT_FRICTION, y, z, X, [1.0], "bend").real
    moments = np.cross(y[:, 1:], f[:, 1:]).sum(axis=1)
    assert moments[1] == pytest.approx(C * (w[1] - w[0]), rel=1e-12)
    assert moments[0] == pytest.approx(-moments[1], rel=1e-12)


# -- names in errors, and schemes that accept dampers -----------------------------------------------------------------


LOSSY = {
    "external damping": lambda model, body: model.add_mass_damping("air", body, 0.5),
    "damper of a bushing": lambda model, body: model.add_bushing(
        "b", model.ground, body, 1.0, 0.1, at=(0, 0, 0)
    ),
    "damper of a bushing with a free axis": lambda model, body: model.add_bushing(
        "b", model.ground, body, [1, 1, 1, 1, 0, 1], 0.1, at=(0, 0, 0)
    ),
    "damper": lambda model, body: model.add_spring(
        "s", model.ground.at((1, 0, 0)), body.at((0, 0, 0)), 1.0, damping=0.1
    ),
    "torsion damper": lambda model, body: model.add_spring(
        "s", model.ground, body, 1.0, damping=0.1, along="rotation", axis=(0, 1, 0)
    ),
}


def lossy(part):
    model = Model("lossy")
    body = model.add_body(
        "body", Box(0.1, 0.2, 0.3, mass=1.0), velocity=(1, 0, 0), angular_velocity=(0, 3, 0)
    )
    LOSSY[part](model, body)
    return model


@pytest.mark.parametrize("integrator", ["em4", "em4-ggl"])
@pytest.mark.parametrize("part", LOSSY)
def test_compositions_reject_dissipation_by_name(part, integrator):
    message = rf"'{integrator}' takes negative substeps, which the {part} does not allow; use integrator"
    with pytest.raises(ModelError, match=f"{message} '{integrator.replace('4', '')}'"):
        simulate(lossy(part), 0.1, 0.1, integrator)


@pytest.mark.parametrize("part", LOSSY)
def test_mechanical_system_accepts_dampers_and_variational_schemes_reject_them(part):
    system = lossy(part).mechanical_system(chart="director")
    assert integrate(system, "GGL-EM", 0.01, 0.05).totals[-1, 1] > 0.0
    with pytest.raises(ModelError, match="variational: it does not support the dampers"):
        integrate(system, "VI-S", 0.01, 0.05)


def test_modes_use_the_slope_of_a_nonlinear_damper_at_rest():
    """m s^2 + c s + k = 0 with the slope c of c v + d v^3 at v = 0."""
    model = Model("damped")
    mass = model.add_body("mass", Box(0.1, 0.1, 0.1, mass=2.0), position=(1, 0, 0))
    model.add_joint("slide", "prismatic", "ground", mass, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_spring("spring", "ground@0,0,0", mass, 50.0)
    law = SpringLaw.polynomial([0.0, 3.0, 0.0, 40.0], 5.0)
    model.add_spring("damper", "ground@0,0,0", mass, damping=law)
    assert modes(model, 1).values[0] == pytest.approx(np.roots([2.0, 3.0, 50.0])[0], rel=1e-12)
