"""Contact energies: the properties that each must satisfy, at random and at special poses."""

from fractions import Fraction

import numpy as np
import pytest

from rigid.interactions.contact.circles import circle_on_plane
from rigid.interactions.contact.gaps import mean_contact_parameter, of_segment
from rigid.interactions.contact.normal_laws import potential, resistance
from tests.support.contacts import (
    BARRIER,
    ENERGIES,
    EPS,
    HERTZ,
    LAWS,
    LINEAR,
    MESH_KINDS,
    POLYNOMIAL,
    RHO,
    RODS,
    SPHERE_MESH,
    SPHERE_ROD,
    SPHERES,
    all_poses,
    dual,
    moved,
    posed,
    touch,
    value,
    work,
)

KINDS = pytest.mark.parametrize("kind", ENERGIES, ids=lambda kind: kind.name)
LAW_COEFFICIENTS = pytest.mark.parametrize("law", LAWS)


POWERS = {  # laws with integer powers of the depth, and their coefficients
    **{f"power {n}": (np.array([0.0, 7.0, n, 0.0]), {n: 7}) for n in (1, 2, 3)},
    # an exponent close to 1 tests the general path for a linear law, too
    "power 1 and a rounding": (np.array([0.0, 7.0, 1.0 + 1e-15, 0.0]), {1: 7}),
    "polynomial": (POLYNOMIAL, {n: Fraction(coefficient) for n, coefficient in enumerate(POLYNOMIAL[1:], 1)}),
}


@pytest.mark.parametrize("u", [0.0, 1e-15, 1e-9, 1e-4, 0.03, 0.0999, 0.1001, 0.3, 0.7, 0.999])
@pytest.mark.parametrize("name", POWERS)
def test_divided_difference_of_a_power_law_has_full_precision(name, u):
    """Compare with exact fractions, including depths that nearly agree."""
    (law, terms), x1 = POWERS[name], 0.375 if name == "polynomial" else 0.37
    x0 = x1 * (1.0 - u)
    a, b = Fraction(x0), Fraction(x1)
    exact = sum(c * sum(a**j * b ** (n - j) for j in range(n + 1)) / (n + 1) for n, c in terms.items())
    tolerance = 1e-15 if name == "polynomial" else 2e-15
    for g0, g1 in ((-x0, -x1), (-x1, -x0)):
        assert resistance(law, g0 + 0j, g1 + 0j).real == pytest.approx(float(exact), rel=tolerance)


def test_divided_difference_of_hertz_equals_its_square_root_form():
    """With a^2, b^2 for depths: (b^5 - a^5)/(b^2 - a^2) = (a^4 + a^3 b + ... + b^4)/(a + b), without a difference."""
    for u in (0.0, 1e-13, 1e-6, 0.02, 0.05, 0.3, 0.9):
        b = Fraction(3, 4)
        a = b * (1 - Fraction(u))
        exact = float(sum(a**j * b ** (4 - j) for j in range(5)) / (a + b)) * HERTZ[1] / 2.5
        quotient = resistance(HERTZ, -float(a * a) + 0j, -float(b * b) + 0j).real
        assert quotient == pytest.approx(exact, rel=3e-15)


def test_divided_difference_of_a_barrier_is_the_mean_slope():
    """Compare with Gauss quadrature over short and long intervals; the change from the difference to a series is continuous."""
    points, weights = np.polynomial.legendre.leggauss(40)

    def slope(g):
        return 50.0 * (2 * (g - 0.2) * np.log(g / 0.2) + (g - 0.2) ** 2 / g)

    for g0, g1 in ((0.1, 0.1), (0.1, 0.1 + 1e-13), (0.05, 0.07), (0.1, 0.122), (0.1, 0.1223), (0.03, 0.19)):
        mean = weights @ slope(0.5 * (g0 + g1) + 0.5 * (g1 - g0) * points) / 2
        for a, b in ((g0, g1), (g1, g0)):
            assert resistance(BARRIER, a + 0j, b + 0j).real == pytest.approx(mean, rel=1e-14)


@LAW_COEFFICIENTS
def test_contact_laws_are_one_sided_and_smooth_at_first_contact(law):
    X = LAWS[law]
    edge, e = X[3] * (law == "barrier"), 1e-7
    assert potential(X, edge + e + 0j) == resistance(X, edge + e + 0j, edge + 2 * e + 0j) == 0
    assert 0 < potential(X, edge - e + 0j).real < 1e-9
    assert 0 < resistance(X, edge - e + 0j, edge - 2 * e + 0j).real < 0.02
    for g0, g1 in ((edge - 0.1, edge + 0.05), (edge + 0.05, edge - 0.1), (edge - 0.1, edge - 0.02)):
        Q = resistance(X, g0 + 0j, g1 + 0j).real
        assert Q > 0
        assert Q * (g0 - g1) == pytest.approx((potential(X, g1 + 0j) - potential(X, g0 + 0j)).real, rel=1e-13)


def test_barrier_cannot_be_passed():
    """There is no energy behind a barrier, so a step that ends there fails."""
    assert np.isnan(potential(BARRIER, 0j))
    assert np.isnan(resistance(BARRIER, 0.1 + 0j, -0.01 + 0j))
    near = [resistance(BARRIER, g + 0j, g + 0j).real for g in (1e-2, 1e-4, 1e-6)]
    assert near[2] > 50 * near[1] > 2500 * near[0]


@KINDS
@LAW_COEFFICIENTS
@pytest.mark.parametrize("step", [0.0, 1e-12, 1e-6, 1e-3, 0.02, 0.3])
def test_work_of_contact_is_the_change_of_its_energy(kind, law, step):
    for seed in range(4):
        t = touch(kind, law, seed, step)
        V0, V1 = (value(kind, y, t.X).real for y in (t.y0, t.y1))
        if not np.isfinite(V1):  # a barrier that a diverging step has passed
            continue
        assert V0 > 0
        work_done = work(dual(kind, t.y0, t.y1, t.X), t.y0, t.y1)
        assert abs(work_done - (V1 - V0)) < 1e-14 * (V0 + V1)


@KINDS
@LAW_COEFFICIENTS
def test_equal_end_poses_give_the_gradient(kind, law):
    t = touch(kind, law)
    gradient = np.zeros_like(t.y0)
    for place in np.ndindex(gradient.shape):
        step = t.y0.astype(complex)
        step[place] += 1j * EPS
        gradient[place] = value(kind, step, t.X).imag / EPS
    force = dual(kind, t.y0, t.y0, t.X).real
    assert np.abs(gradient).max() > 1.0
    assert np.abs(force - gradient).max() < 2e-13 * np.abs(gradient).max()


@KINDS
@LAW_COEFFICIENTS
@pytest.mark.parametrize("step", [0.0, 1e-9, 0.02])
def test_step_ends_may_be_exchanged(kind, law, step):
    t = touch(kind, law, step=step)
    one, other = dual(kind, t.y0, t.y1, t.X).real, dual(kind, t.y1, t.y0, t.X).real
    assert np.abs(one - other).max() < 1e-14 * np.abs(one).max()


@KINDS
def test_contact_conserves_both_momenta(kind):
    for seed in range(5):
        t = touch(kind, seed=seed, step=0.05)
        f = dual(kind, t.y0, t.y1, t.X).real
        assert np.abs(f[:, 0].sum(axis=0)).max() < 1e-15 * np.abs(f).max()
        moment = np.cross((t.y0 + t.y1) / 2, f).sum(axis=(0, 1))
        assert np.abs(moment).max() < 2e-15 * np.abs(f).max()


@KINDS
@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("step", [0.0, 1e-13, 1e-7, 0.02])
def test_contact_duals_accept_complex_steps(kind, end, step):
    rng = np.random.default_rng(8)
    t = touch(kind, "hertz", step=step)
    d, e = rng.normal(size=t.y0.shape), 1e-6

    def along(s):
        ends = [t.y0.astype(complex), t.y1.astype(complex)]
        ends[end] = ends[end] + s * d
        return dual(kind, *ends, t.X)

    derivative, difference = along(1j * EPS).imag / EPS, (along(e) - along(-e)).real / (2 * e)
    assert np.abs(derivative - difference).max() < 1e-6 * np.abs(difference).max()


@KINDS
@LAW_COEFFICIENTS
def test_separated_surfaces_have_no_force(kind, law):
    """All entries are zero, so that no derivatives need to be evaluated."""
    t = touch(kind, law)
    up = t.y0.copy()
    far = 3.0 * (up[-1, 0] - up[0, 0]) + 2.0
    up[:1, 0] -= far
    lifted = t.y1.copy()
    lifted[:1, 0] -= far
    if kind.name.startswith("contact of a plane"):
        normal = t.X[5:8] @ up[0, 1:]
        up[0, 0], lifted[0, 0] = t.y0[0, 0] - 2.0 * normal, t.y1[0, 0] - 2.0 * normal
    if kind is SPHERE_MESH:  # not on the other side
        up[0, 0] = lifted[0, 0] = t.y0[0, 0] + 2.0 * t.y0[1, 3]
    assert value(kind, up, t.X) == 0
    assert not np.any(dual(kind, up, lifted, t.X))
    for one, other in ((t.y0, lifted), (up, t.y1)):
        forces = dual(kind, one, other, t.X)
        change = (value(kind, other, t.X) - value(kind, one, t.X)).real
        assert work(forces, one, other) == pytest.approx(change, rel=1e-11)


@KINDS
def test_dual_is_continuous_where_a_contact_opens(kind):
    """The dual is continuous where a gap opens and where a nearest point reaches the end of its segment."""
    t, rng = touch(kind, "linear", 3, 0.0), np.random.default_rng(0)
    d = (0.1 if kind in MESH_KINDS else 0.6) * rng.normal(size=t.y0.shape)  # not through a mesh
    s = np.linspace(0.0, 1.0, 4001)
    forces = np.array([dual(kind, t.y0, t.y0 + factor * d, t.X).real.ravel() for factor in s[::8]])
    assert np.abs(np.diff(forces, axis=0)).max() < 0.05 * np.abs(forces).max()


def test_mean_contact_point_lies_between_nearest_points_and_force_is_normal():
    """Including cases in which one or both nearest points are ends of a segment."""
    rng = np.random.default_rng(2)
    X = np.concatenate([LINEAR, [5.0]])
    cases = set()
    for _ in range(400):
        x0, a0, b0 = rng.normal(size=(3, 3)).astype(complex)
        x1, a1, b1 = (p + 0.7 * rng.normal(size=3) for p in (x0, a0, b0))
        ends = []
        for x, a, b in ((x0, a0, b0), (x1, a1, b1)):
            ends.append(np.clip(((x - a) @ (b - a)).real / ((b - a) @ (b - a)).real, 0, 1))
        Q, force, _, d, t = of_segment(X, *(tuple(p) for p in (x0, x1, a0, b0, a1, b1)), 0.0, 1.0)
        t = t.real
        assert min(ends) - 1e-15 <= t <= max(ends) + 1e-15
        D0 = np.linalg.norm(x0 - a0 - ends[0] * (b0 - a0))
        D1 = np.linalg.norm(x1 - a1 - ends[1] * (b1 - a1))
        d0, d1 = x0 - a0 - t * (b0 - a0), x1 - a1 - t * (b1 - a1)
        assert (d1 @ d1 - d0 @ d0).real == pytest.approx(D1**2 - D0**2, abs=1e-13)
        assert np.array(d) == pytest.approx((d0 + d1) / 2, abs=1e-14)
        assert np.array(force) == pytest.approx(Q * (d0 + d1) / (D0 + D1), rel=1e-12)
        cases.add(tuple(0 if s == 0 else 2 if s == 1 else 1 for s in ends))
    assert len(cases) >= 8


def test_mean_contact_point_has_full_precision():
    """Near either nearest point, and where both coincide: there the derivative is the limit for points that nearly coincide."""
    end, change, far = 1e-3 + 2e8, 1e-3, 1e8
    tau = 1e-3 / (1e-3 + np.sqrt(far * far + 1e-3 * end) + far)
    forth = mean_contact_parameter(0j, change + 0j, -far + 0j, 0j, 1 + 0j, 1 + 0j).real
    assert forth == pytest.approx(tau * change, rel=1e-13)
    back = mean_contact_parameter(1 + 0j, 1 - change + 0j, far + 0j, 0j, 1 + 0j, 1 + 0j).real
    assert back == pytest.approx(1 - tau * change, abs=1e-16)
    same = mean_contact_parameter(0.4 + 0j, 0.4 + 1j * EPS, 0j, 0j, 1 + 0j, 4 + 0j).imag / EPS
    near = (mean_contact_parameter(0.4 + 0j, 0.4 + 1e-6 + 0j, 0j, 0j, 1 + 0j, 4 + 0j).real - 0.4) / 1e-6
    assert same == pytest.approx(near, rel=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e-12, 0.3])
def test_parallel_rods_distribute_their_load_by_length(offset):
    """The force is k delta per length, distributed to nodes like an even load on a beam."""
    rng = np.random.default_rng(1)
    y = posed([(0.0, 0, 0.1), (1.0, 0, 0.1), (-1.0, offset, 0), (2.0, offset, 0)], rng)
    D = np.hypot(0.1, offset)
    X = np.concatenate([LINEAR, [0.5, 10.0, 1.0, 0.0]])
    f = dual(RODS, y, y, X).real[:, 0]
    total = LINEAR[1] * (0.5 - D)
    assert value(RODS, y, X).real == pytest.approx(0.5 * LINEAR[1] * (0.5 - D) ** 2, rel=1e-14)
    assert np.linalg.norm(f[:2], axis=1) == pytest.approx([total / 2, total / 2], rel=1e-12)
    assert np.linalg.norm(f[2:], axis=1) == pytest.approx([total / 2, total / 2], rel=1e-12)


def polyline(kind, x, nodes, X, inner, y1=None):
    """Energy, and force on the point at x, of all segments of the nodes less their inner vertices."""
    rng = np.random.default_rng(4)
    V, force = 0.0, np.zeros(3)
    for k in range(len(nodes) - 1):
        segment = np.concatenate([X[:-1], [float(inner and k < len(nodes) - 2)]])
        y = posed([*x, nodes[k], nodes[k + 1]], rng)
        V += value(kind, y, segment).real
        force += dual(kind, y, y, segment).real[: len(x), 0].sum(axis=0)
    return V, force


@pytest.mark.parametrize("kind", [SPHERE_ROD, RODS], ids=lambda kind: kind.name)
def test_straight_polyline_acts_like_one_segment(kind):
    """In the middle of a segment, near a node and at it; without the vertex terms a node would count twice."""
    nodes = np.array([(s, 0.0, 0.0) for s in (-1.0, -0.2, 0.3, 1.5)])
    X = np.concatenate([HERTZ, [0.3], [0.0, 0.0, 0.0, 1.0] if kind is SPHERE_ROD else [3.0, 0.1, 1.0]])
    for s in (-0.4, -0.2, -0.2 + 1e-9, 0.0, 0.3, 0.7):
        x = [(s, 0.0, 0.2)] if kind is SPHERE_ROD else [(s, 0.0, 0.2), (s, 0.1, 0.2)]
        V, force = polyline(kind, x, nodes, X, True)
        one, alone = polyline(kind, x, nodes[[0, 3]], X, True)
        assert pytest.approx(one, rel=1e-13) == V
        assert force == pytest.approx(alone, rel=1e-12, abs=1e-11)
    x = [(0.3, 0.0, 0.2)] if kind is SPHERE_ROD else [(0.3, 0.0, 0.2), (0.3, 0.1, 0.2)]
    assert polyline(kind, x, nodes, X, False)[0] > 1.5 * polyline(kind, x, nodes, X, True)[0]


@pytest.mark.parametrize("kind", [SPHERE_ROD, RODS], ids=lambda kind: kind.name)
@pytest.mark.parametrize("move", [(0.04, 0.0, 0.0), (-0.04, 0.01, 0.005), (0.9, -0.02, 0.01)])
def test_step_past_nodes_of_a_straight_polyline_equals_one_on_a_segment(kind, move):
    """Forces and moments on both sides agree, also if the step passes two nodes."""
    x = [(-0.22 if move[0] > 0 else -0.18, 0.0, 0.2)]
    x += [(0.33, 0.1, 0.21)] if kind is RODS else []
    X = np.concatenate([HERTZ, [0.3], [0.0, 0.0, 0.0] if kind is SPHERE_ROD else [3.0, 0.1]])

    def summed(nodes):
        resultants = np.zeros((4, 3))
        for k in range(len(nodes) - 1):
            y0 = posed([*x, *[(s, 0.0, 0.0) for s in nodes[k : k + 2]]], np.random.default_rng(4))
            y1 = y0.copy()
            y1[: len(x), 0] += move
            f = dual(kind, y0, y1, np.append(X, float(k < len(nodes) - 2))).real
            r = 0.5 * (y0 + y1)[:, 0]
            for rows, side in ((slice(0, len(x)), 0), (slice(len(x), None), 2)):
                resultants[side] += f[rows, 0].sum(axis=0)
                resultants[side + 1] += np.cross(r[rows], f[rows, 0]).sum(axis=0)
        return resultants

    one = summed((-1.0, 1.5))
    assert np.abs(summed((-1.0, -0.2, 0.3, 1.5)) - one).max() < 2e-13 * np.abs(one).max()


def sphere_over_vertex(law):
    """Poses and parameters of a sphere over the end of a segment that continues in another."""
    height, X = (
        0.15 if law == "barrier" else 0.25,
        np.concatenate([LAWS[law], [RHO[law], 0.0, 0.0, 0.0, 1.0]]),
    )
    return posed([(-0.02, 0.01, height), (-0.5, 0.0, 0.05), (0.0, 0.0, 0.0)], np.random.default_rng(2)), X


@LAW_COEFFICIENTS
def test_step_past_a_vertex_conserves_the_invariants(law):
    """Check work, sums of forces and moments, exchange of both ends, and slopes."""
    y0, X = sphere_over_vertex(law)
    y1 = y0.copy()
    y1[:, 0] += [(0.05, -0.01, 0.01), (0.01, 0.0, 0.02), (0.0, 0.01, -0.01)]
    V0, V1 = (value(SPHERE_ROD, y, X).real for y in (y0, y1))
    f = dual(SPHERE_ROD, y0, y1, X).real
    most = np.abs(f).max()
    assert most > 0.1
    assert abs(work(f, y0, y1) - (V1 - V0)) < 1e-14 * most
    assert np.abs(dual(SPHERE_ROD, y1, y0, X).real - f).max() < 1e-13 * most
    assert np.abs(f[:, 0].sum(axis=0)).max() < 1e-14 * most
    assert np.abs(np.cross((y0 + y1)[:, 0], f[:, 0]).sum(axis=0)).max() < 1e-14 * most
    for place in ((0, 0, 0), (0, 0, 2), (1, 0, 2), (2, 0, 0)):
        direction = np.zeros_like(y1)
        direction[place] = 1.0
        up, down = (dual(SPHERE_ROD, y0, y1 + e * direction, X) for e in (1e-6, -1e-6))
        slope = (up - down).real / 2e-6
        derivative = dual(SPHERE_ROD, y0, y1 + 1j * EPS * direction, X).imag / EPS
        assert np.abs(derivative - slope).max() < 1e-6 * np.abs(slope).max()


@LAW_COEFFICIENTS
def test_force_is_continuous_if_a_step_ends_on_a_vertex(law):
    y0, X = sphere_over_vertex(law)
    y0[:2, 0] += [(-0.03, 0.0, 0.0), (0.0, 0.0, 0.05)]
    normal, ends = np.array([0.5, 0.0, -0.1]) / np.hypot(0.5, 0.1), []
    for beyond in (-1e-9, 1e-9):
        y1 = y0.copy()
        y1[0, 0] += (beyond - y0[0, 0] @ normal) * normal
        ends.append(dual(SPHERE_ROD, y0, y1, X).real)
    assert np.abs(ends[0] - ends[1]).max() < 1e-6 * np.abs(ends[0]).max()


def test_coincident_centres_have_no_contact_force():
    rng = np.random.default_rng(1)
    y = posed([(0, 0, 0), (0, 0, 0)], rng)
    X = np.concatenate([LINEAR, [0.3], np.zeros(6)])
    assert not np.any(dual(SPHERES, y, y, X))
    assert value(SPHERES, y, X).real == pytest.approx(0.5 * LINEAR[1] * 0.09)
    away = moved(y, rng, 0.05)
    change = (value(SPHERES, away, X) - value(SPHERES, y, X)).real
    assert work(dual(SPHERES, y, away, X), y, away) == pytest.approx(change, rel=1e-13)


@KINDS
def test_contact_depends_on_rotations_of_the_first_frames_only(kind):
    """`em` takes no derivatives with respect to the rotations of the other frames."""
    t, rng = touch(kind, "hertz"), np.random.default_rng(5)
    forces = dual(kind, t.y0, t.y1, t.X)
    assert not forces[kind.turning :, 1:].any()
    for k in range(kind.arity):
        y1 = t.y1.copy()
        y1[k, 1:] += 1e-3 * rng.normal(size=(3, 3))
        assert np.array_equal(dual(kind, t.y0, y1, t.X), forces) == (k >= kind.turning)


def test_tilted_circle_is_touched_at_its_lowest_and_highest_point():
    """The circle leans by 0.1 rad towards x and both points penetrate: check the total force and its position in the plane."""
    lean, R, height, rho = 0.1, 0.2, 0.05, 0.1
    c, s = np.cos(lean), np.sin(lean)
    plane = np.vstack([np.zeros(3), np.eye(3)])
    body = np.array([(0, 0, height), (c, 0, -s), (0, 1, 0), (s, 0, c)])
    X = np.concatenate([LINEAR, [rho], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 1], [R]])
    y = all_poses([plane, body])
    Q, force, place, power = circle_on_plane(y, y, X, 1.0 + 0j, 0.0 * y)
    low, high = rho - height + R * s, rho - height - R * s
    assert Q.real == pytest.approx(LINEAR[1] * (low + high), rel=1e-14)
    assert np.real(force) == pytest.approx([0, 0, Q.real])
    assert np.real(place) == pytest.approx([LINEAR[1] * (low - high) * R * c, 0, 0], rel=1e-9, abs=1e-12)
    assert power == 0
