"""Rod elements of several nodes: their properties as interactions, and their strains of a rod."""

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from discretization.space import cayley_element, relative_element
from discretization.space.interpolation import nodes, points
from discretization.space.rod_elements import BY_NUMBER
from discretization.space.rod_gauss_points import POINT
from discretization.space.rotation_series import rotation_differences
from rigid import quaternions
from rigid.mechanics.mechanical_system import call
from tests.support.interactions import EPS, random_rotation
from tests.support.rod_elements import FAMILIES, LENGTH, TAU, poses, strains, value

ENERGIES = [kind for family in FAMILIES for kind in family.ENERGIES.values()]
DISSIPATIONS = [kind for family in FAMILIES for kind in family.DISSIPATIONS.values()]
E1 = np.array([1.0, 0.0, 0.0])


def names(kind):
    return kind.name


def numbers(kind, rng, strain0=0.1):
    """Parameters of an element of this kind with full stiffness; a viscous element has no stress-free strains."""
    p = kind.arity - 1
    strain0 = 0.0 if kind in DISSIPATIONS else strain0
    X = [np.array([p, LENGTH])]
    for _ in range(p):
        B = rng.normal(size=(6, 6))
        X += [(B @ B.T + np.eye(6)).ravel(), strain0 * rng.normal(size=6), np.zeros(POINT - 42)]
    return np.concatenate(X)


def dual(kind, y0, y1, X, lam=1.0, function="dual"):
    out = np.full((8, 4, 3), np.nan, complex)
    y0, y1 = (np.ascontiguousarray(y, complex) for y in (y0, y1))
    call(getattr(kind, function), (y0, y1, X, np.array([lam], complex), out))
    return out[: kind.arity]


def rod(fractions, length):
    """Poses of a rod with strains `stretch_at`, `bend_at` at fractions of its length."""

    def rate(s, y):
        R = y[3:].reshape(3, 3)
        return np.concatenate([R @ (stretch_at(s) + E1), np.cross(R, bend_at(s)).ravel()])

    start = np.concatenate([np.zeros(3), np.eye(3).ravel()])
    solution = solve_ivp(rate, (0.0, length), start, t_eval=length * fractions, rtol=1e-12, atol=1e-14).y.T
    return np.concatenate(
        [solution[:, None, :3], np.swapaxes(solution[:, 3:].reshape(-1, 3, 3), 1, 2)], axis=1
    )


@pytest.mark.parametrize("bends", [(0.0, 1e-9), (1e-3, 0.1), (0.5, 0.6), (0.2, 1.2)])
@pytest.mark.parametrize("kind", ENERGIES, ids=names)
def test_rod_dual_work_is_the_change_of_energy(kind, bends):
    rng = np.random.default_rng(1)
    X = numbers(kind, rng)
    y0, y1 = (poses(kind, rng, bend) for bend in bends)
    change = (value(kind, y1, X) - value(kind, y0, X)).real
    work = np.sum(dual(kind, y0, y1, X).real * (y1 - y0))
    assert abs(work - change) < 1e-13 * abs(value(kind, y0, X) + value(kind, y1, X))


@pytest.mark.parametrize("bend", [1e-8, 0.4, 1.2])
@pytest.mark.parametrize("kind", ENERGIES, ids=names)
def test_rod_dual_at_equal_poses_is_the_gradient(kind, bend):
    """Compare with complex steps along every component of the poses; directors need not be orthonormal."""
    rng = np.random.default_rng(2)
    X, y = numbers(kind, rng), poses(kind, rng, bend)
    gradient = np.zeros(y.shape)
    for place in np.ndindex(y.shape):
        step = y.astype(complex)
        step[place] += 1j * EPS
        gradient[place] = value(kind, step, X).imag / EPS
    assert np.abs(dual(kind, y, y, X).real - gradient).max() < 1e-13 * np.abs(gradient).max()


@pytest.mark.parametrize("function", ["dual", "bend"])
@pytest.mark.parametrize("kind", [*ENERGIES, *DISSIPATIONS], ids=names)
def test_rod_duals_accept_complex_steps(kind, function):
    """Compare with central differences along both ends at once."""
    rng = np.random.default_rng(3)
    X = numbers(kind, rng)
    ends = np.array([poses(kind, rng, bend) for bend in (0.6, 0.9)])
    d, e = rng.normal(size=ends.shape), 1e-6

    def along(s):
        return dual(kind, *(ends + s * d), X, 1.0, function)

    step, difference = along(1j * EPS).imag / EPS, (along(e) - along(-e)).real / (2 * e)
    assert np.abs(step - difference).max() < 1e-7 * (1.0 + np.abs(difference).max())


@pytest.mark.parametrize("kind", [*ENERGIES, *DISSIPATIONS], ids=names)
def test_rod_element_forces_conserve_both_momenta(kind):
    rng = np.random.default_rng(4)
    X = numbers(kind, rng)
    y0, y1 = poses(kind, rng, 0.7), poses(kind, rng, 0.4)
    f = dual(kind, y0, y1, X).real
    assert np.abs(f[:, 0].sum(axis=0)).max() < 1e-13 * np.abs(f).max()
    assert np.abs(np.cross((y0 + y1) / 2, f).sum(axis=(0, 1))).max() < 1e-13 * np.abs(f).max()


@pytest.mark.parametrize("kind", ENERGIES, ids=names)
def test_rigid_motion_changes_no_strain(kind):
    rng = np.random.default_rng(5)
    y = poses(kind, rng)
    moved = y @ quaternions.to_matrix(random_rotation(rng, 2.5)).T
    moved[:, 0] += rng.normal(size=3)
    assert np.abs(strains(kind, moved) - strains(kind, y)).max() < 1e-12 * np.abs(strains(kind, y)).max()


@pytest.mark.parametrize("kind", ENERGIES, ids=names)
def test_straight_rod_stretch_and_shear_are_exact(kind):
    p = kind.arity - 1
    y = np.tile(np.concatenate([np.zeros((1, 3)), np.eye(3)]), (p + 1, 1, 1))
    y[:, 0] = LENGTH * nodes(p)[:, None] * (1.2, 0.1, -0.3)
    assert strains(kind, y) == pytest.approx(np.tile([0.2, 0.1, -0.3, 0, 0, 0], (p, 1)), abs=1e-13)


def bend_at(s):
    return np.array([1.0 + 0.5 * s, 0.7 - s**2, 0.8 * np.cos(2 * s)])


def stretch_at(s):
    return np.array([0.1 * s, 0.05, -0.1 * s**2])


@pytest.mark.parametrize("kind", ENERGIES, ids=names)
def test_strains_at_quadrature_points_converge_at_their_order(kind):
    """Order p + 1 in the element length, one more than slopes elsewhere; for a rod bent in all directions."""
    p = kind.arity - 1
    errors = []
    for length in (LENGTH / 4, LENGTH / 8):
        y = rod(nodes(p), length)
        y[:, 0] *= LENGTH / length  # the element's own length, with curvatures reduced accordingly
        computed = strains(kind, y) * np.repeat([1.0, LENGTH / length], 3)
        exact = np.array([[*stretch_at(s), *bend_at(s)] for s in length * points(p)[0]])
        errors.append(np.abs(computed - exact).max())
    assert errors[0] / errors[1] > 2 ** (p + 0.7)
    assert errors[1] < 0.02


@pytest.mark.parametrize("kind", DISSIPATIONS, ids=names)
def test_rod_step_dissipates_the_square_of_the_strain_change(kind):
    rng = np.random.default_rng(7)
    X = numbers(kind, rng, strain0=0.0)
    y0, y1 = poses(kind, rng, 0.3), poses(kind, rng, 0.8)
    energy = ENERGIES[DISSIPATIONS.index(kind)]
    change = strains(energy, y1) - strains(energy, y0)
    C = X[2:].reshape(-1, POINT)[:, :36].reshape(-1, 6, 6)
    expected = LENGTH / TAU * points(len(C))[1] @ np.einsum("gi,gij,gj->g", change, C, change)
    work = np.sum(dual(kind, y0, y1, X, 1 / TAU).real * (y1 - y0))
    assert work == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", DISSIPATIONS, ids=names)
def test_rod_rate_dual_is_the_limit_of_a_short_step(kind):
    """The difference is of second order in the step about its midpoint; pose rates need not be rotations."""
    rng = np.random.default_rng(8)
    X = numbers(kind, rng)
    y, z = poses(kind, rng, 0.6), rng.normal(size=(kind.arity, 4, 3))
    rate = dual(kind, y, z, X, 1.0, "bend").real
    errors = [
        np.abs(dual(kind, y - h / 2 * z, y + h / 2 * z, X, 1 / h).real - rate).max() for h in (2e-4, 1e-4)
    ]
    assert errors[1] < 1e-4 * np.abs(rate).max()
    assert errors[1] < errors[0] / 3.8 or errors[1] < 1e-9 * np.abs(rate).max()


@pytest.mark.parametrize("kind", DISSIPATIONS, ids=names)
def test_rod_damping_force_is_linear_symmetric_and_dissipative(kind):
    rng = np.random.default_rng(9)
    X = numbers(kind, rng)
    y = poses(kind, rng)
    z, w = rng.normal(size=(2, kind.arity, 4, 3))
    at_z, at_w, at_sum = (dual(kind, y, x, X, 1.0, "bend").real for x in (z, w, 2 * z - w))
    assert at_sum == pytest.approx(2 * at_z - at_w, rel=1e-11, abs=1e-11 * np.abs(at_sum).max())
    assert np.sum(at_z * w) == pytest.approx(np.sum(at_w * z), rel=1e-10)
    assert np.sum(at_z * z) > 0.0


@pytest.mark.parametrize("kind", DISSIPATIONS, ids=names)
def test_rigid_motion_has_no_viscous_force(kind):
    rng = np.random.default_rng(10)
    X = numbers(kind, rng)
    y = poses(kind, rng)
    velocity, omega = rng.normal(size=(2, 3))
    z = np.cross(omega, y)
    z[:, 0] += velocity
    size = np.abs(dual(kind, y, rng.normal(size=y.shape), X, 1.0, "bend")).max()
    assert np.abs(dual(kind, y, z, X, 1.0, "bend")).max() < 1e-14 * size


@pytest.mark.parametrize("p", relative_element.ORDERS)
def test_constant_curvature_is_exact_in_relative_elements(p):
    """For any rotation of the ends; with Cayley vectors it is not exact."""
    K = np.array([1.0, 4.0, -2.0])
    s = LENGTH * (nodes(p) - 0.5)
    angle = s[:, None] * K
    theta = np.linalg.norm(angle, axis=1, keepdims=True)
    half = 0.5 * theta
    quat = np.concatenate([np.cos(half), np.sinc(half / np.pi) * 0.5 * angle], axis=1)
    y = np.concatenate([np.zeros((p + 1, 1, 3)), np.swapaxes(quaternions.to_matrix(quat), 1, 2)], axis=1)
    assert strains(relative_element.ENERGIES[p], y)[:, 3:] == pytest.approx(np.tile(K, (p, 1)), abs=1e-13)
    assert np.abs(strains(cayley_element.ENERGIES[p], y)[:, 3:] - K).max() > (1e-2 if p == 2 else 1e-5)


@pytest.mark.parametrize("u0", [0.0, 1e-9, 0.03, 0.9, 4.0, 9.8])
@pytest.mark.parametrize("u1", [1e-12, 0.2, 1.9, 9.0])
def test_rotation_functions_and_their_divided_differences(u0, u1):
    with mpmath.workdps(150):

        def exact(k, u):
            t = mpmath.sqrt(mpmath.mpf(u))
            return (
                (mpmath.sin(t) / t, (1 - mpmath.cos(t)) / t**2, (t - mpmath.sin(t)) / t**3)[k]
                if u
                else (mpmath.mpf(1) / (1, 2, 6)[k])
            )

        for k, differences in enumerate(rotation_differences(u0, u1)):
            f0, f1 = exact(k, u0), exact(k, u1)
            slope = mpmath.diff(lambda u, k=k: exact(k, u), u1)
            first = (f1 - f0) / (mpmath.mpf(u1) - u0)
            second = (slope - first) / (mpmath.mpf(u1) - u0)
            assert np.allclose(
                differences, [float(x) for x in (f0, f1, slope, first, second)], rtol=2e-14, atol=2e-16
            )


def test_element_numbers_in_files_keep_their_meaning():
    """Numbers 4 and 5 interpolate Cayley vectors, as relative(p) did in older versions: such results are recomputed as they
    were run.
    """
    assert [element.word for element in BY_NUMBER[4:6]] == ["cayley(2)", "cayley(4)"]
    assert [element.kernels() for element in BY_NUMBER[4:6]] == [cayley_element] * 2
    assert [element.kernels() for element in BY_NUMBER[8:10]] == [relative_element] * 2
