"""External damping and joint friction as interactions: what a step loses, by other means; rates, short steps, momenta."""

import numpy as np
import pytest

from rigid import quaternions
from rigid.interactions.drag import DRAG
from rigid.interactions.joint_friction import JOINT_FRICTION
from tests.support.interactions import EPS, dual, poses, turn
from tests.support.rods import INERTIA

TAU = 0.7  # length of a step
C, K = 3.0, 5.0
U = np.array([0.6, 0.0, 0.8])


def numbers(kind, rng):
    if kind is DRAG:
        return np.concatenate([[C], (0.5 * np.trace(INERTIA) * np.eye(3) - INERTIA).ravel()])
    return np.concatenate([rng.normal(size=6), U, [C, K]])


def spin(y, w, arity):
    """Rates of poses that turn with w (arity, 3) and move with random velocities."""
    z = np.zeros((2, 4, 3))
    z[:arity, 1:] = np.cross(w[:, None], y[:arity, 1:])
    return z


KINDS = pytest.mark.parametrize("kind", [DRAG, JOINT_FRICTION], ids=lambda kind: kind.name)


def test_external_damping_takes_the_power_of_a_force_and_a_moment():
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


def test_joint_friction_takes_the_power_of_turning_and_sliding():
    """c |omega_b - omega_a|^2 + k (ds/dt)^2, with a moment along the relative turn."""
    rng = np.random.default_rng(1)
    y = poses(rng)[0]
    w, v = rng.normal(size=(2, 2, 3))
    z = spin(y, w, 2)
    z[:, 0] = v
    X = numbers(JOINT_FRICTION, rng)
    f = dual(JOINT_FRICTION, y, z, X, [1.0], "bend").real
    p = [y[k, 0] + X[3 * k : 3 * k + 3] @ y[k, 1:] for k in (0, 1)]
    dp = [z[k, 0] + X[3 * k : 3 * k + 3] @ z[k, 1:] for k in (0, 1)]
    u, du = U @ y[0, 1:], U @ z[0, 1:]
    rate = du @ (p[1] - p[0]) + u @ (dp[1] - dp[0])
    assert np.sum(f * z) == pytest.approx(C * np.sum((w[1] - w[0]) ** 2) + K * rate**2, rel=1e-12)
    X[10] = 0.0  # turning alone
    f = dual(JOINT_FRICTION, y, z, X, [1.0], "bend").real
    moments = np.cross(y[:, 1:], f[:, 1:]).sum(axis=1)
    assert moments[1] == pytest.approx(C * (w[1] - w[0]), rel=1e-12)
    assert moments[0] == pytest.approx(-moments[1], rel=1e-12)


@KINDS
def test_a_step_loses_the_square_of_the_changes_over_its_length(kind):
    rng = np.random.default_rng(2)
    X = numbers(kind, rng)
    y0, y1 = poses(rng, 0.7)[0], poses(rng, 1.4)[0]
    lost = np.sum(dual(kind, y0, y1, X, [1 / TAU]).real * (y1 - y0))
    if kind is DRAG:
        change = (y1 - y0)[0]
        expected = C * change[0] @ change[0] + np.sum(X[1:].reshape(3, 3) * (change[1:] @ change[1:].T))
    else:
        B0, B1 = (y[0, 1:] @ y[1, 1:].T for y in (y0, y1))
        s0, s1 = (
            (U @ y[0, 1:]) @ (y[1, 0] + X[3:6] @ y[1, 1:] - y[0, 0] - X[:3] @ y[0, 1:]) for y in (y0, y1)
        )
        expected = 0.5 * C * np.sum((B1 - B0) ** 2) + K * (s1 - s0) ** 2
    assert lost == pytest.approx(expected / TAU, rel=1e-12)
    assert lost > 0.0


@KINDS
def test_the_rate_dual_is_that_of_a_short_step(kind):
    rng = np.random.default_rng(3)
    X = numbers(kind, rng)
    y, z = poses(rng)[0], rng.normal(size=(2, 4, 3))
    rate = dual(kind, y, z, X, [1.0], "bend").real
    h = 1e-5
    step = dual(kind, y - h / 2 * z, y + h / 2 * z, X, [1 / h]).real
    assert np.abs(step - rate).max() < 1e-8 * np.abs(rate).max()


def test_joint_friction_keeps_both_momenta_and_sees_no_common_motion():
    rng = np.random.default_rng(4)
    X = numbers(JOINT_FRICTION, rng)
    y0, y1 = poses(rng, 0.7)[0], poses(rng, 1.4)[0]
    f, y = dual(JOINT_FRICTION, y0, y1, X, [1.0]).real, (y0 + y1) / 2
    assert np.abs(f[:, 0].sum(axis=0)).max() < 1e-13 * np.abs(f).max()
    assert np.abs(np.cross(y, f).sum(axis=(0, 1))).max() < 1e-13 * np.abs(f).max()
    turned = y0 @ quaternions.to_matrix(turn(rng, 2.0)).T
    turned[:, 0] += rng.normal(size=3)
    assert np.abs(dual(JOINT_FRICTION, y0, turned, X, [1.0])).max() < 1e-13


@KINDS
def test_resistance_takes_complex_steps(kind):
    rng = np.random.default_rng(5)
    X = numbers(kind, rng)
    y0, y1 = poses(rng, 0.7)[0], poses(rng, 1.4)[0]
    d, e = rng.normal(size=y1.shape), 1e-6

    def along(s):
        return dual(kind, y0, y1 + s * d, X, [1.0])

    step, difference = along(1j * EPS).imag / EPS, (along(e) - along(-e)).real / (2 * e)
    assert np.abs(step - difference).max() < 1e-8 * (1.0 + np.abs(difference).max())
