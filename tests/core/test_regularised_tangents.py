"""Forces that are nearly a sign function: their regularised tangents keep Newton's method from cycling across rest."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.heaps import heap
from discretization.assembly.regularised_forces import (
    HOLDING,
    LIMIT,
    MOMENTS,
    OVER,
    TURNING,
    WAY,
    regularise_force,
)
from rigid.interactions.kinds import EXPECTED, MAX_FRAMES, RATE, UNKNOWN, WITH_SEEN
from rigid.mechanics.mechanical_system import call
from rodsim import Model, Result, simulate
from rodsim import Sphere as Ball
from tests.support.contact_dissipation import ALL, KINDS, H, lossy
from tests.support.contacts import EPS, all_poses

MOST = 200  # iterations


def dual_values(w: float, v: float, P: np.ndarray, limit: float) -> np.ndarray:
    """Internal values that a dual writes."""
    lam, size = np.zeros(WITH_SEEN, complex), np.hypot(w, v)
    lam[RATE], lam[WAY], lam[OVER] = w, w / size, 1.0 / size
    lam[HOLDING : HOLDING + 3], lam[LIMIT] = P, limit
    return lam


def iterations_to_rest(load: float, start: float, expecting: bool, a: float = 1e-2, v: float = 1e-3) -> int:
    """Newton iterations for a w + w/sqrt(w^2 + v^2) = load."""
    row, w = np.zeros(WITH_SEEN), start
    for k in range(MOST):
        size = np.hypot(w, v)
        residual = a * w + w / size - load
        if abs(residual) < 1e-12:
            return k
        lam = dual_values(w, v, np.zeros(3), 1.0)
        regularise_force(row, lam)
        s = lam[EXPECTED].real if expecting else w / size
        w -= residual / (a + (1.0 - s * w / size) / size)
        if not abs(w) < 1e12:
            return MOST
    return MOST


def test_newton_converges_in_few_iterations_if_a_contact_comes_to_rest() -> None:
    """With the plain tangent the corrections would cycle across rest for ever."""
    starts = [s * 10.0**p for s in (-1, 1) for p in range(-4, 2)]
    loads = (-0.9, -0.3, 0.0, 0.5, 0.99)
    iterations = [iterations_to_rest(load, start, True) for load in loads for start in starts]
    plain = [iterations_to_rest(load, start, False) for load in loads for start in starts]
    assert max(iterations) <= 18
    assert np.mean(np.array(plain) == MOST) > 0.3


def friction(P: np.ndarray, limit: float) -> np.ndarray:
    return P * min(1.0, limit / max(np.linalg.norm(P), 1e-300))


def iterations_to_stick(load: np.ndarray, start: np.ndarray, expecting: bool, k: float = 1e4) -> int:
    """Newton iterations for a s + T(k s) = load, |T| at most 1, with a matrix a."""
    a, row, s = np.array([[0.1, 0.03, 0.0], [0.0, 0.05, 0.02], [0.01, 0.0, 0.2]]), np.zeros(WITH_SEEN), start
    for j in range(MOST):
        P = k * s
        residual = a @ s + friction(P, 1.0) - load
        if np.abs(residual).max() < 1e-10:
            return j
        lam, size = dual_values(0.0, 1.0, P, 1.0), np.linalg.norm(P)
        regularise_force(row, lam)
        direction = P / max(size, 1e-300)
        T = lam[EXPECTED + 1 : MOMENTS].real if expecting else direction
        tangent = k * np.eye(3) if size <= 1.0 else k / size * (np.eye(3) - np.outer(T, direction))
        s = s - np.linalg.solve(a + tangent, residual)
        if not np.abs(s).max() < 1e12:
            return MOST
    return MOST


def test_newton_converges_in_few_iterations_from_slip_to_stick() -> None:
    rng = np.random.default_rng(5)
    loads, starts = rng.normal(size=(40, 3)), 10.0 ** rng.uniform(-4, 1, (40, 1)) * rng.normal(size=(40, 3))
    loads *= rng.uniform(0.1, 3.0, (40, 1)) / np.linalg.norm(loads, axis=1, keepdims=True)
    iterations = [iterations_to_stick(*pair, True) for pair in zip(loads, starts, strict=True)]
    plain = [iterations_to_stick(*pair, False) for pair in zip(loads, starts, strict=True)]
    assert max(iterations) <= 20
    assert sum(iterations) < sum(plain)
    assert max(plain) > 2 * max(iterations)


def iterations_to_lie(load: np.ndarray, start: np.ndarray, expecting: bool, offset: int) -> int:
    """Newton iterations for a w + w/sqrt(1 + |w|^2) = load, with w over the rest rate.

    offset: 0 or 3, that of drilling or of rolling.
    """
    a, row, w = np.diag([3e-3, 1e-3, 2e-3]), np.zeros(WITH_SEEN), start
    for k in range(MOST):
        over = 1.0 / np.sqrt(1.0 + w @ w)
        residual = a @ w + over * w - load
        if np.abs(residual).max() < 1e-12:
            return k
        lam = dual_values(0.0, 1.0, np.zeros(3), 1.0)
        lam[TURNING + offset : TURNING + offset + 3] = w
        regularise_force(row, lam)
        T = lam[MOMENTS + offset : MOMENTS + offset + 3].real if expecting else over * w
        w = w - np.linalg.solve(a + over * (np.eye(3) - np.outer(T, over * w)), residual)
        if not np.abs(w).max() < 1e12:
            return MOST
    return MOST


def test_newton_converges_in_few_iterations_if_rolling_or_drilling_ends() -> None:
    rng = np.random.default_rng(7)
    loads, starts = rng.normal(size=(30, 3)), 10.0 ** rng.uniform(-2, 4, (30, 1)) * rng.normal(size=(30, 3))
    loads *= rng.uniform(0.1, 1.5, (30, 1)) / np.linalg.norm(loads, axis=1, keepdims=True)
    pairs = list(zip(loads, starts, strict=True))
    for offset in (0, 3):
        assert max(iterations_to_lie(*pair, True, offset) for pair in pairs) <= 20
    plain = [iterations_to_lie(*pair, False, 0) for pair in pairs]
    assert np.mean(np.array(plain) == MOST) > 0.3


@KINDS
@pytest.mark.parametrize("sliding", [0.0, 1.0])
def test_regularised_tangents_equal_the_derivatives_at_the_expected_state(kind, sliding) -> None:
    """The force does not depend on the expected state."""
    rng = np.random.default_rng(8)
    for step in (1e-4, 0.02):
        t, _ = lossy(kind, "hertz", 1, step, **ALL | {"internal": (0.01, -0.02, 0.015, sliding)})
        d = rng.normal(size=t.y0.shape)

        def dual(s, lam, t=t, d=d):
            out = np.zeros((MAX_FRAMES, 4, 3), complex)
            call(kind.dual, (all_poses(t.y0), all_poses(t.y1 + s * d), t.X, lam, out))
            return out[: kind.arity]

        lam = np.zeros(WITH_SEEN, complex)
        lam[0], lam[EXPECTED] = 1.0 / H, UNKNOWN
        exact, force = dual(1j * EPS, lam).imag / EPS, dual(0.0, lam)
        assert np.array_equal(force, dual(0.0, np.array([1.0 / H], complex)))
        P, limit = lam[HOLDING : HOLDING + 3].real, lam[LIMIT].real
        regularise_force(np.zeros(WITH_SEEN), lam)
        assert np.abs(dual(1j * EPS, lam).imag / EPS - exact).max() < 1e-9 * np.abs(exact).max()
        saved = lam.copy()
        for first, count in ((EXPECTED, 1), (EXPECTED + 1, 3), (MOMENTS, 3), (MOMENTS + 3, 3)):
            lam[:] = saved
            lam[first : first + count] *= -1.0  # the sign has changed
            if first != EXPECTED + 1 or np.linalg.norm(P) > limit:
                assert np.array_equal(dual(0.0, lam), force)
                assert np.abs(dual(1j * EPS, lam).imag / EPS - exact).max() > 1e-5 * np.abs(exact).max()


def pile() -> Model:
    """27 spheres fall at 2 m/s on each other in a box, which closes their contacts in all directions at once."""
    model, rng = Model("pile", gravity=(0, 0, -9.81)), np.random.default_rng(3)
    planes = [model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))]
    for name, x, y in (("left", -1, 0), ("right", 1, 0), ("front", 0, -1), ("back", 0, 1)):
        planes.append(model.add_plane(name, model.ground.at((0.16 * x, 0.16 * y, 0)), (-x, -y, 0)))
    spheres = []
    for k in range(27):
        place = np.array([0.101 * (k % 3 - 1), 0.101 * (k // 3 % 3 - 1), 0.05 + 0.11 * (k // 9)])
        place += rng.uniform(-5e-4, 5e-4, 3)
        place[2] = max(place[2], 0.0505)
        ball = model.add_body(
            f"ball {k}", Ball(0.05, density=1000), position=tuple(place), velocity=(0, 0, -2)
        )
        spheres.append(model.add_sphere(f"sphere {k}", ball.at((0, 0, 0)), 0.05))
    loss = {"stiffness": 1e5, "friction": 0.4, "rest_speed": 1e-3, "restitution": 0.5}
    model.add_contact("walls", spheres, planes, **loss)
    model.add_contact("each", spheres, **loss)
    return model


def balance(result: Result) -> float:
    total = result.energy["total"] + result.audit_column("dissipation") - result.audit_column("work")
    return float(np.abs(total - total[0]).max() / np.abs(total).max())


@pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")
def test_falling_pile_of_spheres_needs_few_iterations_per_step() -> None:
    """With the plain tangent it takes up to 22 iterations, with halved corrections."""
    result = simulate(pile(), 0.02, 5e-4, progress=False, output_every=1)
    assert result.halvings.sum() == 0
    assert result.newton_iterations.max() <= 14
    assert balance(result) < 1e-13


@pytest.mark.parametrize(("rolling", "steps"), [(0.0, 50), (2e-4, 75)])
def test_heap_of_rods_with_friction_needs_few_iterations_per_step(rolling: float, steps: int) -> None:
    """With the plain tangent it takes 30 iterations and a halved step.

    With rolling resistance, 10 of the last steps are then halved, up to 18 times, and the run fails a little
    later.
    """
    rod_heap = heap(20, 4, True, h=1e-3, rolling=rolling)
    stepper = rod_heap.stepper()
    state, most_iterations = stepper.start(rod_heap.state), 0
    for k in range(steps):
        state, report = stepper.advance(state, k, 1)
        most_iterations = max(most_iterations, report.most_iterations)
        assert report.halvings == 0
    assert 4 <= most_iterations <= 14
