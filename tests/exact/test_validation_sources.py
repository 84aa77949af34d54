"""Numbers of `rodsim validate` from shooting, or from a closed form not in a book, are recomputed without rodsim."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from rodsim.validation import buckling_loads as stability
from rodsim.validation import cantilevers
from rodsim.validation import driven_models as drives
from rodsim.validation import rods_at_rest as equilibria
from tests.support.shooting import Place, Span, along, back, linearised, solved, start, times


def turned(at: Place, about_z: float) -> Place:
    """Cross a corner: the axes of the next rod are rotated about z."""
    c, s = np.cos(about_z), np.sin(about_z)
    return at._replace(
        R=np.einsum("ijc,jk->ikc", at.R, np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
    )


def rows(*values: np.ndarray | float, like: np.ndarray) -> np.ndarray:
    """A vector (3, columns)."""
    return np.stack([value + 0j * like[0] for value in values])


def planar(EA: float, GA: float, EI: float, length: float, curvature: float = 0.0) -> Span:
    return Span(length, (EA, GA, GA), (EI, EI, EI), (0.0, 0.0, curvature))


@pytest.mark.parametrize("name", equilibria.REISSNER)
def test_reissner_cantilevers_are_the_exact_ones(name: str) -> None:
    EA, GA, EI, P, tip = equilibria.REISSNER[name]
    span = planar(EA, GA, EI, 1.0)

    def end(u: np.ndarray) -> Place:
        return along(span, start(u.shape[1])._replace(n=rows(0, P, 0, like=u), m=rows(0, 0, u[0], like=u)))

    moment = solved(lambda u: end(u).m[2:], np.array([P * tip[0]]))
    assert moment[0] == pytest.approx(P * tip[0], rel=1e-12)  # of the whole rod
    assert end(moment[:, None] + 0j).r[:2, 0].real == pytest.approx(tip, abs=1e-11)


@pytest.mark.parametrize("force", equilibria.FOLLOWER)
def test_follower_cantilevers_are_those_of_an_initial_value_problem(force: float) -> None:
    """In the axes of the loaded end force and moment are known; the result is transformed to the root."""
    span = planar(4.2e10, 1.61538e10, 3.5e7, -100.0)
    end = start(1)
    end = end._replace(m=0 * end.m, n=rows(0, force, 0, like=end.n))
    root = along(span, end, 60)
    u = back(root.R, -root.r)[:, 0].real - [100.0, 0.0, 0.0]
    assert u[:2] == pytest.approx(equilibria.FOLLOWER[force], abs=2e-8)


def test_the_bend_of_45_degrees_is_that_of_shooting() -> None:
    """Slenderness 100; moments at the root known to seven digits."""
    force, known = equilibria.BEND[100]
    span = Span(25 * np.pi, (1e7, 5e6, 5e6), (1e7 / 12 * 1.0,) * 3, (0.0, 0.0, 0.01))

    def end(u: np.ndarray) -> Place:
        return along(span, start(u.shape[1])._replace(n=rows(0, 0, force, like=u), m=u), 24)

    moment = solved(lambda u: end(u).m, np.array([9410.88, -28290.26, 0.0]))
    unloaded = 100 * np.array([np.sin(np.pi / 4), 1 - np.cos(np.pi / 4), 0.0])
    assert end(moment[:, None] + 0j).r[:, 0].real - unloaded == pytest.approx(known, abs=1e-8)


# Lee's frame: angle of the column's foot and force on it at the limits of the load and at the turning points of its position
FEET = (
    (2.2251, 3515.0, 14209.0),
    (1.6190, 8968.0, 12376.0),
    (0.5997, 8940.0, 8400.0),
    (0.2132, 5290.0, 4835.0),
    (-0.1220, 4202.0, 4109.0),
    (-0.6400, 3116.0, 4737.0),
)


@pytest.mark.parametrize("k", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 6))])
def test_turning_points_of_lees_frame_are_those_of_shooting(k: int) -> None:
    kind, load, u, v = equilibria.LEE[k]
    spans = [planar(4.32e7, 4.32e12, 1.44e7, length) for length in (120.0, 24.0, 96.0)]

    def watched(x: np.ndarray) -> tuple[Place, Place]:
        """x: angle of the foot, force on the foot (opposite to its pull on the column), load; /1e4 N."""
        c, s, zero = np.cos(x[0]), np.sin(x[0]), 0 * x[0]
        R = np.stack([[c, -s, zero], [s, c, zero], [zero, zero, zero + 1]])
        foot = start(x.shape[1])._replace(R=R, n=-1e4 * rows(x[1], x[2], 0, like=x))
        mid = along(spans[1], turned(along(spans[0], foot, 24), -np.pi / 2), 12)
        return mid, along(spans[2], mid._replace(n=mid.n + 1e4 * rows(0, x[3], 0, like=x)), 24)

    def gaps(x: np.ndarray) -> np.ndarray:
        mid, end = watched(x)
        return np.stack(
            [
                end.r[0] - 120,
                end.r[1] - 120,
                end.m[2] / 1e6,
                mid.r[0] - 24 - u if kind == "turning v" else mid.r[1] - 120 - v,
            ]
        )

    angle, fx, fy = FEET[k]
    # the foot is pushed up and to the right, so the column is pressed
    x = solved(gaps, np.array([angle, fx / 1e4, fy / 1e4, load / 1e4]))
    mid, _ = watched(x[:, None] + 0j)
    assert 1e4 * x[3] == pytest.approx(load, abs=2e-4)
    assert [mid.r[0, 0].real - 24, mid.r[1, 0].real - 120] == pytest.approx([u, v], abs=2e-7)
    # along the path: the rate of the load, or of the other coordinate, is zero here
    rates = np.linalg.solve(linearised(gaps, x)[1], np.array([0.0, 0.0, 0.0, 1.0]))

    def place(y: np.ndarray) -> np.ndarray:
        return watched(y)[0].r[:2]

    moved = np.array([place(x[:, None] + 1e-30j * rates[:, None])[i, 0].imag / 1e-30 for i in (0, 1)])
    turning = {"limit": rates[3], "turning v": moved[1], "turning u": moved[0]}[kind]
    assert abs(turning) < 1e-6


@pytest.mark.parametrize("degrees", [30, 45, 75])
def test_princeton_beams_equal_those_of_shooting(degrees: int) -> None:
    E, G = cantilevers.E, cantilevers.E / 2 / (1 + cantilevers.NU)
    h, w = cantilevers.WIDE, cantilevers.THIN
    weak, strong, a = h * w**3 / 12, w * h**3 / 12, np.deg2rad(degrees)
    span = Span(0.508, (E * h * w, G * h * w, G * h * w), (0.198 * G * (weak + strong), E * weak, E * strong))
    known = np.array(cantilevers.PRINCETON[degrees])

    def end(u: np.ndarray) -> Place:
        force = 13.345 * rows(0, -np.cos(a), np.sin(a), like=u)
        return along(span, start(u.shape[1])._replace(n=force, m=u), 10)

    # of the whole beam about its root
    arm, pull = known + np.array([0.508, 0.0, 0.0]), 13.345 * np.array([0.0, -np.cos(a), np.sin(a)])
    moment = solved(lambda u: end(u).m, np.cross(arm, pull) + 1e-3)
    assert end(moment[:, None] + 0j).r[:, 0].real - [0.508, 0, 0] == pytest.approx(known, abs=2e-12)


def test_the_l_frame_is_that_of_shooting() -> None:
    shear = 10 * 1.3 / 15.3 * 2.1e11 / 2.6 * 0.005
    leg = planar(2.1e11 * 0.005, shear, 2.1e11 * 0.1 * 0.05**3 / 12, 1.0)

    def end(u: np.ndarray) -> Place:
        root = start(u.shape[1])._replace(n=rows(1e6, 0, 0, like=u), m=rows(0, 0, u[0], like=u))
        return along(leg, turned(along(leg, root), np.pi / 2))

    moment = solved(lambda u: end(u).m[2:], np.array([-86000.0]))
    assert end(moment[:, None] + 0j).r[:2, 0].real - 1 == pytest.approx(cantilevers.CORNER, abs=2e-12)


@pytest.mark.parametrize(
    ("load", "guess"), [("dead", (2.67, -3.09, -2.83, 0.897)), ("following", (3.30, -3.10, -3.02, 0.886))]
)
def test_deep_arch_limits_are_those_of_shooting(load: str, guess: tuple[float, ...]) -> None:
    """At the given sinking of the crown the load is the given one, and stationary."""
    P, v = stability.ARCH[load]
    half, radius = np.deg2rad(215.0) / 2, 100.0
    span = planar(1e8, 1e8, 1e6, half * radius, -1 / radius)
    foot = radius * np.array([np.sin(half), np.cos(half)])

    def gaps(x: np.ndarray) -> np.ndarray:
        at = start(x.shape[1])._replace(n=1e2 * rows(x[0], x[1], 0, like=x), m=1e4 * rows(0, 0, x[2], like=x))
        at = turned(at, half)._replace(r=rows(-foot[0], foot[1], 0, like=x))
        crown = along(span, at, 24)
        pull = rows(0, -1e3 * x[3], 0, like=x)
        if load == "following":
            pull = times(crown.R, pull)
        end = along(span, crown._replace(n=crown.n - pull), 24)
        return np.stack([end.r[0] - foot[0], end.r[1] - foot[1], end.m[2] / 1e4, radius - crown.r[1] - v])

    x = solved(gaps, np.array(guess))
    assert 1e3 * x[3] == pytest.approx(P, abs=2e-7)
    rates = np.linalg.solve(linearised(gaps, x)[1], np.array([0.0, 0.0, 0.0, 1.0]))
    assert abs(1e3 * rates[3]) < 1e-6


@pytest.mark.parametrize(("name", "sign"), [("pull", 1.0), ("push", -1.0)])
def test_right_angle_frame_buckles_at_the_published_load(name: str, sign: float) -> None:
    """There the determinant of the out-of-plane equations changes its sign."""
    L, E, h, t = stability.LEG, stability.YOUNG, stability.HIGH, stability.THICK
    G = E / 2 / (1 + stability.POISSON)
    leg = Span(L, (E * h * t, G * h * t, G * h * t), (G * h * t**3 / 3, E * h * t**3 / 12, E * t * h**3 / 12))

    def determinant(P: float) -> float:
        def moment(u: np.ndarray) -> np.ndarray:
            root = start(u.shape[1])._replace(n=rows(sign * P, 0, 0, like=u), m=u)
            return along(leg, turned(along(leg, root, 14), -np.pi / 2), 14).m

        flat = solved(lambda u: moment(rows(0, 0, u[0], like=u))[2:], np.array([sign * P * L]))
        return float(np.linalg.det(linearised(moment, np.array([0.0, 0.0, flat[0]]))[1][:2, :2]))

    P = stability.FRAME[name]
    assert determinant(P * (1 - 1e-11)) * determinant(P * (1 + 1e-11)) < 0.0


@pytest.mark.parametrize(("name", "sign"), [("closing", -1.0), ("opening", 1.0)])
def test_frame_under_moments_buckles_at_the_published_moment(name: str, sign: float) -> None:
    """No force, so each leg is a top: sections rotate with K = C^-1 M, M' = M x K, about a moment fixed in
    space.

    From M = (0, 0, m) in sections bent by kappa = m/EI3: dM1' = -a dM2, dM2' = b dM1, a = m (1/EI2 - 1/EI3),
    b = m (1/GJ - 1/EI3). The rotations are th1 = (dM2 - dm2)/m, th2 = (dm1 - dM1)/m, dm the change of the
    moment in space. At the
    foot th = 0; on the plane of symmetry there is no rotation about its axis y and no moment about x: dm =
    e_y.
    """
    L, E, h, t = stability.LEG, stability.YOUNG, stability.HIGH, stability.THICK
    GJ, weak, strong = E / 2 / (1 + stability.POISSON) * h * t**3 / 3, E * h * t**3 / 12, E * t * h**3 / 12

    def turn_about_y(M: float) -> float:
        m = sign * M
        a, b = m * (1 / weak - 1 / strong), m * (1 / GJ - 1 / strong)
        apex = np.pi / 4
        (f1, f2), (d1, d2) = (
            (np.sin(angle), np.cos(angle)) for angle in (apex - m * L / strong, apex)
        )  # e_y in the axes of the foot, of the apex
        k = np.sqrt(a * b)
        M1 = f1 * np.cos(k * L) - a / k * f2 * np.sin(k * L)
        M2 = f2 * np.cos(k * L) + b / k * f1 * np.sin(k * L)
        return float(d1 * (M2 - d2) + d2 * (d1 - M1)) / m

    moment = brentq(turn_about_y, 600.0, 650.0, xtol=1e-11)
    assert moment == pytest.approx(stability.FRAME_MOMENTS[name], rel=1e-11)
    assert moment == pytest.approx(np.pi * np.sqrt(weak * GJ) / L, rel=3e-5)


def test_the_disc_on_its_shaft_moves_by_jeffcotts_equation() -> None:
    """m z'' + k z = m e (phi'^2 - i phi'') exp(i phi), phi = a t^2/2, z = y + i z."""
    e, a = drives.UNBALANCE, drives.ACCELERATION

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        pull = e * ((a * t) ** 2 - 1j * a) * np.exp(0.5j * a * t * t)
        return np.array([y[1], pull - 192.0 * y[0]])

    times = list(drives.JEFFCOTT)
    start = np.zeros(2, complex)
    z = solve_ivp(rates, (0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-17).y[0]
    assert np.stack([z.real, z.imag], axis=1) == pytest.approx(
        np.array(list(drives.JEFFCOTT.values())), abs=1e-13
    )


def test_slider_position_is_that_of_a_quadrature() -> None:
    """1/2 I(phi) phi'^2 is constant, so t = int (I(phi)/2E)^1/2 dphi."""
    a, b = drives.CRANK, drives.ROD

    def inertia(phi: float) -> float:
        s = a / b * np.sin(phi)  # the rod is rotated by -arcsin s
        ratio = -a / b * np.cos(phi) / np.sqrt(1 - s * s)  # derivative by the crank angle
        middle = (-a * np.sin(phi) + 0.5 * b * s * ratio, 0.5 * a * np.cos(phi))
        slide = -a * np.sin(phi) + b * s * ratio
        of_rod = middle[0] ** 2 + middle[1] ** 2 + b * b / 12 * ratio**2
        return drives.CRANK_MASS * a * a / 3 + drives.ROD_MASS * of_rod + drives.SLIDER_MASS * slide**2

    def rate(t: float, phi: np.ndarray) -> float:
        return drives.RATE * np.sqrt(inertia(0.0) / inertia(float(phi[0])))

    times = list(drives.SLIDER)
    phi = solve_ivp(rate, (0, times[-1]), [0.0], "DOP853", times, rtol=1e-13, atol=1e-14).y[0]
    slider = a * np.cos(phi) + np.sqrt(b * b - (a * np.sin(phi)) ** 2)
    assert slider == pytest.approx(np.array(list(drives.SLIDER.values())), abs=2e-12)
