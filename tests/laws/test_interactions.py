"""Properties that every interaction must satisfy; random poses, relative rotations up to 3 rad."""

import numpy as np
import pytest

from discretization.interaction_groups import registered_kinds
from discretization.space.se3_element import strains
from rigid.interactions.weight import WEIGHT
from tests.support.interactions import EPS, FREE, GEAR, dual, names, numbers, poses, value

BY_NAME = {kind.name: kind for kinds in registered_kinds().values() for kind in kinds}
COINCIDENT_POINTS, SCREWED_POINTS = BY_NAME["coincident points"], BY_NAME["screwed points"]
SE3_ELEMENT = BY_NAME["SE(3) rod element"]
CONSTRAINTS = [kind for kind in FREE if kind.rows]
EVERY = [*FREE, WEIGHT]


def multipliers(kind, rng):
    return rng.normal(size=3) if kind.rows else np.ones(1)


@pytest.mark.parametrize("angles", [(0.0, 1e-9), (1e-3, 0.1), (1.0, 1.2), (0.3, 3.0), (3.0, 2.9)])
@pytest.mark.parametrize("kind", EVERY, ids=names)
def test_work_of_the_dual_is_the_change_of_energy(kind, angles):
    rng = np.random.default_rng(1)
    X, lam = numbers(kind, rng), multipliers(kind, rng)
    y0, y1 = poses(rng, angles[0])[0], poses(rng, angles[1])[0]
    change = lam[: max(kind.rows, 1)] @ (value(kind, y1, X) - value(kind, y0, X)).real
    work = np.sum(dual(kind, y0, y1, X, lam).real * (y1 - y0))
    if kind in (SCREWED_POINTS, GEAR):  # a single value does not count whole turns
        period = 2 * np.pi * (X[15] if kind is SCREWED_POINTS else 2.5) * lam[0]
        change += period * np.round((work - change) / period)
    size = np.abs(value(kind, y0, X)).max() + np.abs(value(kind, y1, X)).max() + 1.0
    assert abs(work - change) < 1e-13 * size


@pytest.mark.parametrize("angle", [1e-8, 0.4, 1.5, 3.0])
@pytest.mark.parametrize("kind", EVERY, ids=names)
def test_dual_at_equal_poses_is_the_gradient(kind, angle):
    """Compare with complex steps along every component of the poses; directors need not be orthonormal."""
    rng = np.random.default_rng(2)
    X, lam = numbers(kind, rng), multipliers(kind, rng)
    y = poses(rng, angle)[0]
    gradient = np.zeros((2, 4, 3))
    for place in np.ndindex(kind.arity, 4, 3):
        step = y.astype(complex)
        step[place] += 1j * EPS
        gradient[place] = lam[: max(kind.rows, 1)] @ value(kind, step, X).imag / EPS
    force = dual(kind, y, y, X, lam).real
    assert np.abs(force - gradient).max() < 1e-12 * (1.0 + np.abs(gradient).max())


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("angles", [(0.02, 0.03), (0.6, 0.9), (2.4, 1.7), (1.0, 1.0)])
@pytest.mark.parametrize("kind", EVERY, ids=names)
def test_duals_accept_complex_steps(kind, angles, end):
    """Compare with central differences: no modulus, conjugate or branch depends on an imaginary part."""
    rng = np.random.default_rng(3)
    X, lam = numbers(kind, rng), multipliers(kind, rng)
    ends = [poses(rng, angle)[0] for angle in angles]
    d = rng.normal(size=(2, 4, 3))
    e = 1e-6

    def along(s):
        moved = [y.astype(complex) for y in ends]
        moved[end] = moved[end] + s * d
        return dual(kind, *moved, X, lam)

    step, difference = along(1j * EPS).imag / EPS, (along(e) - along(-e)).real / (2 * e)
    assert np.abs(step - difference).max() < 1e-7 * (1.0 + np.abs(difference).max())


@pytest.mark.parametrize("kind", EVERY, ids=names)
def test_constant_dual_does_not_depend_on_the_poses(kind):
    rng = np.random.default_rng(7)
    X, lam = numbers(kind, rng), multipliers(kind, rng)
    one, other = (dual(kind, poses(rng, 0.7)[0], poses(rng, 1.4)[0], X, lam) for _ in range(2))
    assert np.array_equal(one, other) == kind.constant


@pytest.mark.parametrize("kind", CONSTRAINTS, ids=names)
def test_bend_is_the_derivative_of_the_gradient(kind):
    rng = np.random.default_rng(4)
    X, lam = numbers(kind, rng), multipliers(kind, rng)
    y, z = poses(rng)[0], rng.normal(size=(2, 4, 3))
    step = dual(kind, y + 1j * EPS * z, y + 1j * EPS * z, X, lam).imag / EPS
    assert np.abs(dual(kind, y, z, X, lam, "bend").real - step).max() < 1e-14


@pytest.mark.parametrize("kind", FREE, ids=names)
def test_interactions_conserve_both_momenta(kind):
    """Forces sum to zero, and so do moments of averaged positions and directors."""
    rng = np.random.default_rng(5)
    X, lam = numbers(kind, rng), multipliers(kind, rng)
    y0, y1 = poses(rng, 0.7)[0], poses(rng, 1.4)[0]
    if kind is COINCIDENT_POINTS:  # its forces act at two points: collinear only if these coincide
        for y in (y0, y1):
            y[1, 0] -= value(kind, y, X).real
    f = dual(kind, y0, y1, X, lam).real
    assert np.abs(f[:, 0].sum(axis=0)).max() < 1e-14 * (1.0 + np.abs(f).max())
    moment = np.cross((y0 + y1) / 2, f).sum(axis=(0, 1))
    assert np.abs(moment).max() < 2e-14 * (1.0 + np.abs(f).max())


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.5, 2.0, 3.1])
def test_rod_element_energy_is_that_of_its_strains(angle):
    rng = np.random.default_rng(6)
    X = numbers(SE3_ELEMENT, rng)
    y, quat = poses(rng, angle)
    e = strains(y[0, 0], quat[0], y[1, 0], quat[1], X[0])[0] - X[37:]
    expected = 0.5 * X[0] * e @ X[1:37].reshape(6, 6) @ e
    assert value(SE3_ELEMENT, y, X)[0].real == pytest.approx(expected, rel=1e-13)
