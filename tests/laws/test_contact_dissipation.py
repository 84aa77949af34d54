"""Contact dissipation: restitution, friction with its bristle, rolling and drilling resistance, compared with closed forms."""

import numpy as np
import pytest

from discretization.interaction_kinds import INTERACTIONS
from tests.support.contact_dissipation import (
    ALL,
    ELEMENT,
    ENERGY,
    KINDS,
    PLANE_LOSSES,
    PLANE_ROD_DISSIPATION,
    PLANE_SPHERE_DISSIPATION,
    ROD_DISSIPATIONS,
    SPHERE,
    SPHERES_DISSIPATION,
    H,
    loss,
    lossy,
)
from tests.support.contacts import (
    EPS,
    LINEAR,
    bristle_energy,
    dual,
    moved,
    posed,
    turned,
    updated_bristles,
    value,
    work,
)


def step_dissipation(kind, X, y0, y1, h=H):
    """Return the dissipation of the step and the internal variables at its end."""
    end = X.copy()
    end[-4:] = updated_bristles(kind, y0, y1, X, 1 / h)
    gained = bristle_energy(kind, y1, end) - bristle_energy(kind, y0, X)
    return work(dual(kind, y0, y1, X, 1 / h), y0, y1) - gained, end[-4:]


@KINDS
@pytest.mark.parametrize("step", [0.0, 1e-6, 1e-3, 0.02, 0.3])
def test_no_contact_gains_energy(kind, step):
    """480 cases: stick and slip, both normal directions, rolling and drilling, any bristle."""
    slides = set()
    for seed in range(12):
        for stiffness, rest_speed in ((20.0, 0.0), (2e3, 0.0), (20.0, 3e-2), (2e3, 1e-4)):
            for sliding in (0.0, 1.0):
                options = ALL | {
                    "internal": (0.01, -0.02, 0.015, sliding),
                    "kt": stiffness,
                    "rest": rest_speed,
                }
                t, _ = lossy(kind, seed=seed, step=step, **options)
                dissipated, bristle = step_dissipation(kind, t.X, t.y0, t.y1)
                assert dissipated > -1e-15 * (1.0 + bristle_energy(kind, t.y0, t.X))
                slides.add(bristle[3])
    assert slides == ({0.0, 1.0} if step < 0.02 else {1.0}) or step in (0.02, 0.3)


@KINDS
def test_dissipative_forces_conserve_momenta_and_ignore_common_motion(kind):
    rng = np.random.default_rng(4)
    for seed in range(5):
        t, _ = lossy(kind, seed=seed, step=0.1, **ALL)
        f = dual(kind, t.y0, t.y1, t.X, 1 / H).real
        assert np.abs(f).max() > 1.0
        assert np.abs(f[:, 0].sum(axis=0)).max() < 2e-15 * np.abs(f).max()
        moment = np.cross((t.y0 + t.y1) / 2, f).sum(axis=(0, 1))
        assert np.abs(moment).max() < 1e-14 * np.abs(f).max()
    t, _ = lossy(kind, **ALL | {"internal": (0, 0, 0, 0)})
    together = t.y0 @ turned(rng, 1.0)
    together[:, 0] += rng.normal(size=3)
    assert np.abs(dual(kind, t.y0, together, t.X, 1 / H)).max() < 1e-9 * np.abs(f).max()
    lost_, bristle = step_dissipation(kind, t.X, t.y0, together)
    assert abs(lost_) < 1e-12
    assert np.abs(bristle).max() < 1e-12


@KINDS
def test_bristle_rotates_with_its_surface(kind):
    """In a common rigid motion the bristle is constant in the first frame, and nothing is dissipated."""
    rng = np.random.default_rng(5)
    t, _ = lossy(kind, mu=(5e3, 5e3), internal=(0.001, -0.002, 0.0015, 0.0))
    for _ in range(3):  # into the plane normal to the contact
        t.X[-4:] = updated_bristles(kind, t.y0, t.y0, t.X, 1 / H)
    before = t.X[-4:].copy()
    together = t.y0 @ turned(rng, 0.3)
    after = updated_bristles(kind, t.y0, together, t.X, 1 / H)
    assert after == pytest.approx(before, abs=2e-5)
    assert np.linalg.norm(after[:3]) == pytest.approx(np.linalg.norm(before[:3]), rel=1e-12)


@KINDS
@pytest.mark.parametrize("sliding", [0.0, 1.0])
@pytest.mark.parametrize("step", [1e-4, 0.02])
def test_dissipative_duals_accept_complex_steps(kind, step, sliding):
    rng = np.random.default_rng(8)
    for seed in range(3):
        t, _ = lossy(kind, "hertz", seed, step, **ALL | {"internal": (0.01, -0.02, 0.015, sliding)})
        d, e = rng.normal(size=t.y0.shape), 1e-7

        def along(s, t=t, d=d):
            return dual(kind, t.y0, t.y1 + s * d, t.X, 1 / H)

        derivative, difference = along(1j * EPS).imag / EPS, (along(e) - along(-e)).real / (2 * e)
        assert np.abs(derivative - difference).max() < 1e-5 * np.abs(difference).max()


@KINDS
def test_separated_surfaces_dissipate_nothing_and_reset_their_bristle(kind):
    t, _ = lossy(kind, **ALL)
    away = t.y0.copy()
    if kind in PLANE_LOSSES:
        away[0, 0] -= 2.0 * t.X[5:8] @ away[0, 1:]
    else:
        away[0, 0, 2] += 9.0
        away[1 if kind is ELEMENT else 0, 0, 2] += 9.0
    assert not np.any(dual(kind, away, away, t.X, 1 / H))
    assert not np.any(updated_bristles(kind, away, away, t.X, 1 / H))
    assert step_dissipation(kind, t.X, away, away)[0] == pytest.approx(bristle_energy(kind, away, t.X))


@KINDS
def test_contact_at_rest_carries_the_bristle_force(kind):
    t, _ = lossy(kind, **ALL)
    at_rest = dual(kind, t.y0, t.y0, t.X, 1 / H)
    assert np.abs(at_rest).max() > 1.0
    assert np.array_equal(dual(kind, t.y0, t.y0, t.X, 1.0, "bend"), at_rest)


@KINDS
def test_normal_damping_force_is_parallel_to_the_gradient(kind):
    """The force is (b and the Hunt-Crossley term) times the penetration rate, for approach and separation."""
    for seed in range(4):
        t, X = lossy(kind, seed=seed, step=1e-3, b=0.4, c=0.1)
        normal = dual(ENERGY[kind], t.y0, t.y1, X).real
        force = dual(kind, t.y0, t.y1, t.X, 1 / H).real
        V0, V1 = (value(ENERGY[kind], y, X).real for y in (t.y0, t.y1))
        phi = np.sum(force * normal) / np.sum(normal * normal)
        assert force == pytest.approx(phi * normal, abs=1e-12 * np.abs(normal).max())
        assert phi * (V1 - V0) > 0
        if kind in (PLANE_SPHERE_DISSIPATION, SPHERES_DISSIPATION, SPHERE):  # a single gap
            D0, D1 = (0.3 - np.sqrt(2 * V / LINEAR[1]) for V in (V0, V1))
            w = (D0 - D1) / H
            assert phi == pytest.approx(0.4 * w / np.hypot(w, 1e-3) + 0.1 * w, rel=1e-9)


@KINDS
def test_contact_never_pulls(kind):
    """At any separation velocity and with any coefficients."""
    for seed in range(4):
        t, X = lossy(kind, seed=seed, step=1e-3, b=1.0, c=1e3)
        normal = dual(ENERGY[kind], t.y0, t.y1, X).real
        force = dual(kind, t.y0, t.y1, t.X, 1 / 1e-9).real
        V0, V1 = (value(ENERGY[kind], y, X).real for y in (t.y0, t.y1))
        if V1 < V0:
            assert force == pytest.approx(-normal, abs=1e-14 * np.abs(normal).max())
        else:
            assert np.sum(force * normal) > 0


def floor(depth, radius=0.5, law=LINEAR, **options):
    """Return poses, and parameters of energy and dissipation, of a ball with this penetration of a floor."""
    y = np.array([np.vstack([np.zeros(3), np.eye(3)]), np.vstack([(0.3, -0.2, radius - depth), np.eye(3)])])
    X = np.concatenate([law, [radius], [0, 0, 1], np.zeros(6)])
    return y, X, np.concatenate([X, loss(**options)])


def displaced(y, dx):
    out = y.copy()
    out[1, 0] += dx
    return out


def test_sticking_is_elastic_and_slipping_has_constant_force():
    depth, kt = 0.01, 2e3
    Q = LINEAR[1] * depth  # 30 N
    y, _, X = floor(depth, mu=(0.5, 0.3), rest=0.0, kt=kt)
    short = displaced(y, (1e-3, 0, 0))
    f = dual(PLANE_SPHERE_DISSIPATION, y, short, X, 1 / H).real
    assert f[1, 0] == pytest.approx([0.5 * kt * 1e-3, 0, 0], rel=1e-12)
    moment = np.cross(y[1, 1:], f[1, 1:]).sum(axis=0)
    assert moment == pytest.approx([0, -0.49 * 0.5 * kt * 1e-3, 0], rel=1e-12)
    dissipated, bristle = step_dissipation(PLANE_SPHERE_DISSIPATION, X, y, short)
    assert dissipated == pytest.approx(0.0, abs=1e-18)
    assert bristle == pytest.approx([1e-3, 0, 0, 0], rel=1e-12)
    long = displaced(y, (0.03, 0.04, 0))
    f = dual(PLANE_SPHERE_DISSIPATION, y, long, X, 1 / H).real
    assert f[1, 0] == pytest.approx([0.6 * 0.5 * Q, 0.8 * 0.5 * Q, 0], rel=1e-12)
    assert f[0, 0] == pytest.approx(-f[1, 0], rel=1e-15)
    dissipated, bristle = step_dissipation(PLANE_SPHERE_DISSIPATION, X, y, long)
    assert bristle == pytest.approx([0.6 * 0.5 * Q / kt, 0.8 * 0.5 * Q / kt, 0, 1], rel=1e-12)
    assert dissipated == pytest.approx(0.5 * Q * 0.05 - 0.5 * (0.5 * Q) ** 2 / kt, rel=1e-12)


def test_sliding_continues_with_the_kinetic_coefficient_and_ends_below_it():
    depth, kt = 0.01, 2e3
    Q = LINEAR[1] * depth
    y, _, X = floor(depth, mu=(0.5, 0.3), rest=0.0, kt=kt)
    X[-4:] = updated_bristles(PLANE_SPHERE_DISSIPATION, y, displaced(y, (0.05, 0, 0)), X, 1 / H)
    y = displaced(y, (0.05, 0, 0))
    further = displaced(y, (0.05, 0, 0))
    assert dual(PLANE_SPHERE_DISSIPATION, y, further, X, 1 / H).real[1, 0, 0] == pytest.approx(
        0.3 * Q, rel=1e-12
    )
    dissipated, X[-4:] = step_dissipation(PLANE_SPHERE_DISSIPATION, X, y, further)
    released = ((0.5 * Q) ** 2 - (0.3 * Q) ** 2) / (2 * kt)
    assert dissipated == pytest.approx(0.3 * Q * 0.05 + released, rel=1e-12)
    onward = displaced(further, (0.05, 0, 0))
    dissipated, bristle = step_dissipation(PLANE_SPHERE_DISSIPATION, X, further, onward)
    assert dissipated == pytest.approx(0.3 * Q * 0.05, rel=1e-12)  # Coulomb's law
    back = displaced(further, (-1e-3, 0, 0))
    dissipated, bristle = step_dissipation(PLANE_SPHERE_DISSIPATION, X, further, back)
    assert bristle == pytest.approx([0.3 * Q / kt - 1e-3, 0, 0, 0], rel=1e-12)
    assert dissipated == pytest.approx(0.0, abs=1e-17)


def test_reversed_bristle_releases_no_more_than_its_energy():
    """z0 = -2 L/k for the limit L, pushed back by 1.9 L/k: T/k would release too much energy; then 2 T . (T* - T)/k is
    dissipated.
    """
    kt, mu = 2e3, 0.5
    limit = mu * LINEAR[1] * 0.01
    y, _, X = floor(0.01, mu=(mu, mu), kt=kt, rest=0.0, internal=(-2.0 * limit / kt, 0, 0, 1))
    dissipated, bristle = step_dissipation(
        PLANE_SPHERE_DISSIPATION, X, y, displaced(y, (1.9 * limit / kt, 0, 0))
    )
    assert bristle == pytest.approx([0, 0, 0, 1], abs=1e-15)
    assert dissipated == pytest.approx(2 * limit * 0.05 * limit / kt, rel=1e-11)


@pytest.mark.parametrize("h", [1e-2, 1e-3])
def test_creeping_contact_is_damped(h):
    """The damping force is mu_s N/(10 v) times the speed; beyond the limit the spring yields to the damper."""
    kt, v, ds = 2e3, 1e-3, 5e-6
    y, _, X = floor(0.01, mu=(0.5, 0.3), rest=v, kt=kt)
    d = 0.5 * 30.0 / (10.0 * v)
    short = displaced(y, (ds, 0, 0))
    f = dual(PLANE_SPHERE_DISSIPATION, y, short, X, 1 / h).real
    assert f[1, 0, 0] == pytest.approx(0.5 * kt * ds + d * ds / h, rel=1e-9)
    dissipated, bristle = step_dissipation(PLANE_SPHERE_DISSIPATION, X, y, short, h)
    assert bristle == pytest.approx([ds, 0, 0, 0], rel=1e-9)
    assert dissipated == pytest.approx(d * ds**2 / h, rel=1e-8)
    # 1e-6 m more than reaches the limit: T/k would gain energy
    ds = 15.0 / (0.5 * kt + d / h) + 1e-6
    dissipated, bristle = step_dissipation(PLANE_SPHERE_DISSIPATION, X, y, displaced(y, (ds, 0, 0)), h)
    assert bristle == pytest.approx([ds - 1e-6, 0, 0, 1], rel=1e-8)
    assert dissipated == pytest.approx(15.0 * ds - 0.5 * kt * (ds - 1e-6) ** 2, rel=1e-8)


def test_sliding_friction_is_proportional_to_the_total_normal_force():
    """The normal force is the sum of the elastic and the dissipative part, as in an impact."""
    y, _, X = floor(0.01, mu=(0.5, 0.5), kt=1e8, b=0.5)
    deeper = displaced(y, (0.05, 0, -0.002))
    f = dual(PLANE_SPHERE_DISSIPATION, y, deeper, X, 1 / H).real[1, 0]
    Q = LINEAR[1] * 0.011
    phi = 0.5 * 0.2 / np.hypot(0.2, 1e-3)
    assert f == pytest.approx([0.5 * Q * (1 + phi), 0, -Q * phi], rel=1e-12)


def element_on_floor(**options):
    """A rod element along e1 on a floor."""
    y = np.array([np.vstack([p, np.eye(3)]) for p in ((0, 0, 0), (0.1, 0, 0.19), (0.7, 0, 0.19))], float)
    X = np.concatenate([LINEAR, [0.2], [0, 0, 1], np.zeros(3), [4.0, 0.6]])
    return y, X, np.concatenate([X, loss(mu=(0.4, 0.4), kt=1e5, **options)])


def test_element_bends_on_the_ground_without_sliding():
    """The nodes rotate about the normal in opposite directions: the chord does not move, so there is no friction."""
    y, _, F = element_on_floor()
    new, rotation = y.copy(), np.array([[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    new[1, 1:], new[2, 1:] = y[1, 1:] @ rotation, y[2, 1:] @ rotation.T
    assert np.abs(dual(PLANE_ROD_DISSIPATION, y, new, F, 1 / H)).max() < 1e-12


def test_rod_stations_have_the_same_friction_factors():
    """The segment below is long and crosses the rod; its own direction does not matter."""
    y = posed([(-0.3, 0, 0.28), (0.3, 0, 0.28), (0, -1, 0), (0, 1, 0)], np.random.default_rng(0), 0.0)
    X = [*LINEAR, 0.3, 6.0, 0.6, 2.0, 0.15]
    f = []
    for ways in ((1.0, 1.0, 1.0), (0.5, 0.8, 2.0)):
        row = np.concatenate([X, loss(mu=(0.4, 0.4), kt=1e7, ways=ways)])
        for dx, dy in ((1e-3, 0), (-1e-3, 0), (0, 1e-3)):
            new = y.copy()
            new[:2, 0, :2] += (dx, dy)
            f.append(np.linalg.norm(dual(ELEMENT, y, new, row, 1 / H).real[:2, 0].sum(axis=0)))
    assert np.array(f[3:]) / f[:3] == pytest.approx([0.5, 0.8, 2.0], rel=3e-5)  # the normals tilt slightly


@pytest.mark.parametrize(
    "direction", [(1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.6), (-0.8, 0.6), (0.28, -0.96)]
)
def test_anisotropic_friction_has_separate_factors_per_direction(direction):
    """F = mu N (f_along e_along, f_aside e_aside), e = s/|s|: each part against its part of the slip. Once the bristle has its
    full length, exactly F . s is dissipated.
    """
    y, _, X = element_on_floor(ways=(0.5, 0.8, 2.0))
    limit, factors = 0.4 * 18.0, (0.5 if direction[0] > 0.0 else 0.8, 2.0, 0.0)
    for _ in range(2):
        new, before = y.copy(), X.copy()
        new[1:, 0, :2] += 0.1 * np.array(direction)
        f = dual(PLANE_ROD_DISSIPATION, y, new, X, 1 / H).real[1:, 0].sum(axis=0)
        assert f == pytest.approx(limit * np.array(factors) * [*direction, 0], abs=1e-12 * limit)
        dissipated, X[-4:] = step_dissipation(PLANE_ROD_DISSIPATION, X, y, new)
        y = new
    assert X[-4:] == pytest.approx(before[-4:], rel=1e-12)
    assert dissipated == pytest.approx(limit * 0.1 * np.dot(factors[:2], np.square(direction)), rel=1e-12)


@pytest.mark.parametrize("ways", [(1.0, 1.0, 1.0), (0.5, 0.8, 2.0)])
def test_anisotropic_friction_limit_is_an_ellipse_reached_at_one_slip_length(ways):
    """(T_along/f_along)^2 + (T_aside/f_aside)^2 = (mu N)^2; below the limit, a spring of k times the factors."""
    y, _, X = element_on_floor(ways=ways, rest=0.0)
    for angle in np.linspace(0.1, 6.2, 9):
        e = np.array([np.cos(angle), np.sin(angle)])
        factors = np.array([ways[0] if e[0] > 0.0 else ways[1], ways[2]])
        for size, fraction in ((0.9, 0.9), (1.0 + 1e-9, 1.0), (40.0, 1.0)):
            new = y.copy()
            new[1:, 0, :2] += size * e * 2.0 * 7.2 / 1e5
            f = dual(PLANE_ROD_DISSIPATION, y, new, X, 1 / H).real
            assert np.linalg.norm(f[1:, 0].sum(axis=0)[:2] / factors) == pytest.approx(
                fraction * 7.2, rel=2e-9
            )


@pytest.mark.parametrize("rest_speed", [0.0, 1e-3, 1e-4])
def test_bristle_reversing_between_directions_gains_no_energy(rest_speed):
    """The bristle is ten times softer forward than backward: after the reversal it would store more energy than was supplied."""
    y, _, X = element_on_floor(ways=(0.2, 2.0, 1.0), rest=rest_speed)
    before = X.copy()
    before[-4] = 5e-5
    for back in np.linspace(1e-6, 4e-4, 400):
        new = y.copy()
        new[1:, 0, 0] -= back
        dissipated, bristle = step_dissipation(PLANE_ROD_DISSIPATION, before, y, new)
        assert dissipated > -1e-17  # relative to 1e-4 J
        assert bristle[0] <= 5e-5
    stiffness = 0.5e5 + (0.4 * 18.0 / (10.0 * rest_speed * H) if rest_speed else 0.0)
    reversal, f = 5e-5 / np.sqrt(0.2) * 1e5 / stiffness, []  # where the force is zero and continuous
    for e in (-1e-9, 1e-9):
        new = y.copy()
        new[1:, 0, 0] -= reversal * (1 + e)
        f.append(dual(PLANE_ROD_DISSIPATION, y, new, before, 1 / H).real[1:, 0].sum(axis=0)[0])
    assert f == pytest.approx([0.0, 0.0], abs=1e-6)


def test_rod_standing_on_its_end_has_the_lateral_friction_factor():
    """The tangent of a standing rod has no part in the plane; a leaning rod has a factor in between, by sin^2."""
    for lean, factor in ((0.0, 2.0), (0.5, 2.0 + (0.5 - 2.0) * np.sin(0.5) ** 2)):
        y, _, X = element_on_floor(ways=(0.5, 0.5, 2.0))
        X[-17] = 1.0  # one interval
        top = np.array([np.sin(lean), 0.0, np.cos(lean)])
        y[2, 0] = y[1, 0] + 0.6 * top
        new = y.copy()
        new[1:, 0, 0] += 0.1
        f = dual(PLANE_ROD_DISSIPATION, y, new, X, 1 / H).real[1:, 0].sum(axis=0)
        assert f[0] == pytest.approx(factor * 0.4 * 0.5 * 18.0, rel=1e-12)


@pytest.mark.parametrize(("axis", "length"), [(2, "drill"), (0, "roll"), (1, "roll")])
def test_rolling_resistance_is_a_length_times_the_normal_force(axis, length):
    y, _, X = floor(0.01, **{length: 0.02})
    omega, n, new = 3.0, np.eye(3)[axis], y.copy()
    c, s = np.cos(omega * H), np.sin(omega * H)
    new[1, 1:] = [c * d + s * np.cross(n, d) + (1 - c) * (n @ d) * n for d in y[1, 1:]]
    f = dual(PLANE_SPHERE_DISSIPATION, y, new, X, 1 / H).real
    moment = [np.cross((y[k, 1:] + new[k, 1:]) / 2, f[k, 1:]).sum(axis=0) for k in (0, 1)]
    assert moment[1] == pytest.approx(0.02 * 30.0 * n, abs=1e-6)
    assert moment[0] == pytest.approx(-moment[1], abs=1e-15)
    assert not np.any(f[:, 0])
    turned_by = 2.0 * np.tan(omega * H / 2)  # the motion on which a moment does work in a step
    expected = 0.6 * turned_by * turned_by / np.hypot(turned_by, 1e-3 * H)
    assert step_dissipation(PLANE_SPHERE_DISSIPATION, X, y, new)[0] == pytest.approx(expected, rel=1e-12)
    other = "roll" if length == "drill" else "drill"
    assert (
        np.abs(dual(PLANE_SPHERE_DISSIPATION, y, new, floor(0.01, **{other: 0.02})[2], 1 / H)).max() < 1e-12
    )


def test_rolling_ball_has_no_friction_force():
    """v = omega r, with r the distance to the contact point; spinning about the normal is also free."""
    y, _, X = floor(0.01, mu=(0.5, 0.5), kt=1e6)
    angle, r = 0.03, 0.49
    new = y.copy()
    c, s = np.cos(angle), np.sin(angle)
    new[1, 1:] = new[1, 1:] @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    new[1, 0, 0] += 2 * np.tan(angle / 2) * r
    assert np.abs(dual(PLANE_SPHERE_DISSIPATION, y, new, X, 1 / H)).max() < 1e-8
    spun = y.copy()
    spun[1, 1:] = spun[1, 1:] @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    assert np.abs(dual(PLANE_SPHERE_DISSIPATION, y, spun, X, 1 / H)).max() < 1e-8


def station_over_row(kind, s, nodes, mu=(0.4, 0.4), moves=(0.004, 0.003, 0.0)):
    """Poses at both ends of a step, and parameters, of a sliding station at s along a straight row of nodes."""
    d = np.array([(0.1, 0, 0), (-0.02, 0, 0)]) if kind[0] == 2 else np.zeros((1, 3))
    on_line = np.array([(x, 0.0, 0.0) for x in nodes])
    y0 = np.array([np.vstack([p, np.eye(3)]) for p in (*(np.array([(s, 0, 0.28)]) + d), *on_line)])
    y1 = y0.copy()
    y1[: kind[0], 0] += moves
    X = [*LINEAR, 0.3, *([3.0, 0.1] if kind[0] == 2 else np.zeros(3)), kind[1], 0.1]
    return y0, y1, np.concatenate([X, loss(mu=mu, kt=50.0, rest=0.0)])


@pytest.mark.parametrize("frames", [1, 2])
@pytest.mark.parametrize("mu", [(0.4, 0.4), (40.0, 40.0)])
@pytest.mark.parametrize("moves", [(0.0, 0.003, 0.001), (0.004, 0.003, 0.0)])
def test_friction_is_equal_at_and_between_nodes(frames, mu, moves):
    """The total force equals that of one long segment: in the middle of a segment, near a node and at it; stick and slip."""
    nodes, kind = (-1.0, -0.2, 0.3, 1.5), ROD_DISSIPATIONS[frames, 4]
    # stations at s + (0.1, 0.06, 0.02, -0.02), or at s; they do not pass a node within the step
    for s in (-0.6, -0.21, -0.2, -0.19, -0.22, 0.0, 0.299 if moves[0] == 0.0 else 0.29, 0.3, 0.26, 0.9):
        y0, y1, X = station_over_row((frames, 2), s, (nodes[0], nodes[3]), mu, moves)
        one = dual(ROD_DISSIPATIONS[frames, 2], y0, y1, X, 1 / H).real
        bristle = updated_bristles(ROD_DISSIPATIONS[frames, 2], y0, y1, X, 1 / H)
        y0, y1, X = station_over_row((frames, 4), s, nodes, mu, moves)
        force = dual(kind, y0, y1, X, 1 / H).real
        size = np.linalg.norm(one[:frames, 0].sum(axis=0))
        assert size > 0.07
        assert np.abs(force[:frames] - one[:frames]).max() < 1e-12 * size
        assert np.abs(force[frames:].sum(axis=0)[0] - one[frames:].sum(axis=0)[0]).max() < 1e-12 * size
        assert updated_bristles(kind, y0, y1, X, 1 / H) == pytest.approx(bristle, rel=1e-11, abs=1e-17)


@pytest.mark.parametrize("frames", [1, 2])
@pytest.mark.parametrize("mu", [(0.4, 0.4), (40.0, 40.0)])
@pytest.mark.parametrize("move", [0.05, -0.05, 0.6])
def test_friction_is_equal_in_a_step_past_nodes(frames, mu, move):
    """The step passes one node, forward and back, or two nodes."""
    s, moves = -0.2 - 0.4 * np.sign(move) * min(abs(move), 0.1), (move, 0.003, 0.001)
    nodes, size = (-1.0, -0.2, 0.3, 1.5), None
    for polyline in (nodes[::3], nodes):
        y0, y1, X = station_over_row((frames, len(polyline)), s, polyline, mu, moves)
        kind, r = ROD_DISSIPATIONS[frames, len(polyline)], 0.5 * (y0 + y1)[:, 0]
        f = dual(kind, y0, y1, X, 1 / H).real[:, 0]
        sides = np.array(
            [f[:frames].sum(axis=0), *(forces[frames:].sum(axis=0) for forces in (f, np.cross(r, f)))]
        )
        end = updated_bristles(kind, y0, y1, X, 1 / H)
        if size is None:
            one, size, first = sides, np.abs(sides).max(), end
    assert size > 0.07
    assert np.abs(sides - one).max() < 1e-12 * size
    assert end == pytest.approx(first, rel=1e-11, abs=1e-17)


def test_windows_of_all_sizes_have_unique_names_and_are_compiled_once():
    names = [kind.name for kind in INTERACTIONS]
    assert len(set(names)) == len(names)
    assert set(ROD_DISSIPATIONS) == {(frames, n) for frames in (1, 2) for n in range(2, 13 - frames)}
    for (frames, nodes), kind in ROD_DISSIPATIONS.items():
        assert kind.arity == frames + nodes
        assert kind.dual is ROD_DISSIPATIONS[frames, 2].dual


def test_longer_window_gives_the_same_forces():
    """Distant segments contribute nothing."""
    y0, y1, X = station_over_row((2, 3), 0.05, (-0.5, 0.0, 0.6))
    short = dual(ROD_DISSIPATIONS[2, 3], y0, y1, X, 1 / H)
    y0, y1, X = station_over_row((2, 6), 0.05, (-2.0, -0.5, 0.0, 0.6, 1.2, 1.9))
    long = dual(ROD_DISSIPATIONS[2, 6], y0, y1, X, 1 / H)
    assert np.array_equal(long[[0, 1, 3, 4, 5]], short)
    assert not np.any(long[[2, 6, 7]])


def test_friction_lever_arm_is_the_radius_of_surface_a():
    """A thin rod below a thick ball: the moment on the ball refers to its own surface."""
    y0 = posed([(0, 0, 0.28), (-1, 0, 0), (1, 0, 0)], np.random.default_rng(0), 0.0)
    y1 = moved(y0, np.random.default_rng(0), 0.0, 0.0)
    y1[0, 0, 1] += 0.02
    X = np.concatenate([LINEAR, [0.3], np.zeros(3), [2.0, 0.27], loss(mu=(0.4, 0.4), kt=1e5)])
    f = dual(SPHERE, y0, y1, X, 1 / H).real
    moment = np.cross(y0[0, 1:], f[0, 1:]).sum(axis=0)
    lever = np.linalg.norm(moment) / np.linalg.norm(f[0, 0])
    assert lever == pytest.approx(0.27 / 0.3 * 0.28, rel=2e-2)
    X = np.concatenate([LINEAR, [0.3], np.zeros(6), [0.27], loss(mu=(0.4, 0.4), kt=1e5)])
    y0[1, 0] = y1[1, 0] = 0.0
    f = dual(SPHERES_DISSIPATION, y0[:2], y1[:2], X, 1 / H).real
    moments = [np.linalg.norm(np.cross(y0[k, 1:], f[k, 1:]).sum(axis=0)) for k in (0, 1)]
    assert moments[0] / moments[1] == pytest.approx(9.0, rel=1e-6)


def test_end_node_of_a_rod_keeps_its_contact_force():
    """Beyond the end of a rod its last node is in contact, with the lever arm of a ball."""
    y0, y1, X = station_over_row((1, 2), 0.05, (-1.0, 0.0), mu=(40.0, 40.0), moves=(0.0, 0.003, 0.0))
    f = dual(SPHERE, y0, y1, X, 1 / H).real
    assert f[0, 0] == pytest.approx([0, 0.5 * 50.0 * 0.003, 0], rel=1e-2, abs=1e-3)
    assert np.abs(f[1]).max() == 0.0
