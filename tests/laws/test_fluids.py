"""Laws of parts in fluids: exact energy and momenta with added mass, relative motion, losses, closed tangents, equilibria."""

import math

import numpy as np
import pytest
import pyvista
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq, root

from discretization.interaction_kinds import INTERACTIONS
from rigid import quaternions
from rodsim import (
    Box,
    ConvergenceError,
    Material,
    Model,
    ModelError,
    Section,
    audit,
    equilibrium,
    fluids,
    modes,
    signals,
    simulate,
)

KINDS = {kind.name: kind for kind in INTERACTIONS}
LINE_DRAG, BODY_DRAG = KINDS["drag of a line"], KINDS["drag of a body"]
ADDED_MASSES = {
    (size, flows): KINDS[name + (" in a flow" if flows else "")]
    for size, name in ((3, "translational added mass"), (6, "rigid-body added mass"))
    for flows in (False, True)
}
COMPLEX_STEP = 1e-60
G = 9.81
UP = np.array([0.0, 0.0, 1.0])
FLOWS = {
    "uniform": [0, 1, 0.0, 1.0, 0.2, 0.1, 0.0, 0],
    "power law": [*fluids.PowerLaw((1, 0.5, 0), 2.0, 0.3, -10).numbers(), 0.0, 0],
    "table": [*fluids.Profile([-5, -1, 0, 5], np.arange(12.0).reshape(4, 3) ** 0.5).numbers(), 0.0, 0],
    "formula": [
        *fluids.Formula(
            [
                "exp(x/3)*sin(y + t) - z**2",
                "sqrt(2 + tanh(z))*(x - 1)**-2",
                "(1.5 + x*cos(z))**0.3/(2 + atan(y))",
            ]
        ).numbers(),
        *[0.0, 0],
    ],
    "waves": [
        *[0, 1, 0.0, 0.0, 0.0, 0.0, 5.0, 2],
        *fluids.AiryWave(1, 3, (1, 1, 0), 0.3).numbers(UP, G, 20.0, 2.0),
        *fluids.AiryWave(1, 4, (1, -1, 0)).numbers(UP, G, None, 0.0),
    ],
}


def directors(rng, size):
    return quaternions.to_matrix(quaternions.from_rotation_vector(size * rng.normal(size=3)))


def random_ends(arity, rng):
    """Poses at both ends of a step; of several frames the first is the ground."""
    y0 = np.zeros((arity, 4, 3), complex)
    y0[:, 1:] = np.eye(3)
    for k in range(arity > 1, arity):
        y0[k, 0], y0[k, 1:] = rng.normal(size=3), directors(rng, 1.0).T
    y1 = y0.copy()
    for k in range(arity > 1, arity):
        y1[k, 0] += 0.3 * rng.normal(size=3)
        y1[k, 1:] = y0[k, 1:] @ directors(rng, 0.5).T
    return y0, y1


def along(y, k, j):
    """Poses with a complex step along coordinate j of frame k."""
    moved, e = y.copy(), np.eye(3)[j % 3] * 1j * COMPLEX_STEP
    if j < 3:
        moved[k, 0] += e
    else:
        moved[k, 1:] += np.cross(e, y[k, 1:])
    return moved


def pulled(kind, y0, y1, X, rate):
    """Forces and torques (arity, 6) of a dual."""
    out = np.zeros_like(y0)
    kind.dual(y0, y1, X, np.array([rate], complex), out)
    torque = np.cross(0.5 * (y0 + y1)[:, 1:], out[:, 1:]).sum(axis=1)
    return np.concatenate([out[:, 0], torque], axis=1), out


def numbers_of(kind, flow, rng):
    """Numbers of a kind in a flow at t = 0.7 s with the factor 0.9."""
    flowing = [0.9, 0.7, 1.0, *UP, *FLOWS[flow]]
    if kind is LINE_DRAG:
        return np.array([1.3, 0.4, 0.6, *flowing])
    if kind is BODY_DRAG:
        return np.array([*rng.normal(size=3), *np.diag([1.0, 2.0, 3.0]).ravel(), 0.6, *flowing])
    A = rng.normal(size=(kind.n_internal, kind.n_internal))
    velocities = rng.normal(size=kind.n_internal)
    return np.array([*(A @ A.T).ravel(), *(flowing if kind.arity == 2 else []), *velocities])


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("kind", [LINE_DRAG, *ADDED_MASSES.values()], ids=lambda kind: kind.name)
def test_closed_tangent_is_the_derivative_of_the_dual(kind, flow):
    rng = np.random.default_rng(3)
    y0, y1 = random_ends(kind.arity, rng)
    X, rate, a = numbers_of(kind, flow, rng), 2.5, kind.arity
    width = 3 if kind.turning == 0 else 6
    K, out = np.zeros((width * a, width * a)), np.zeros_like(y0)
    kind.tangent(y0, y1, X, np.array([rate], complex), out, K)
    moving = range(a > 1, a)
    columns = [
        pulled(kind, y0, along(y1, k, j), X, rate)[0][moving, :width].imag.ravel() / COMPLEX_STEP
        for k in moving
        for j in range(width)
    ]
    first = width * (a > 1)
    assert K[first:, first:] == pytest.approx(np.array(columns), abs=1e-14 * np.abs(columns).max())


@pytest.mark.parametrize("size", [3, 6])
def test_added_mass_conserves_energy_and_momenta_in_a_step(size):
    rng, rate = np.random.default_rng(5), 2.5
    kind = ADDED_MASSES[size, False]
    y0, y1 = random_ends(1, rng)
    X = numbers_of(kind, "uniform", rng)
    M, V0 = X[: size * size].reshape(size, size), X[size * size :]
    (wrench,), dual = pulled(kind, y0, y1, X, rate)
    updated = np.zeros_like(y0)
    kind.condensed.update_internal(y0, y1, X, np.array([rate], complex), updated)
    V1 = updated.ravel()[:size].real
    gain = 0.5 * (V1 @ M @ V1 - V0 @ M @ V0)
    assert (dual * (y1 - y0)).sum().real == pytest.approx(gain, rel=1e-13)
    p0, p1 = M @ V0, M @ V1
    R0, R1, r0, r1 = y0[0, 1:].real.T, y1[0, 1:].real.T, y0[0, 0].real, y1[0, 0].real
    force, torque = wrench[:3].real / rate, wrench[3:].real / rate
    assert R1 @ p1[:3] - R0 @ p0[:3] == pytest.approx(force, abs=1e-13)
    L0, L1 = np.cross(r0, R0 @ p0[:3]), np.cross(r1, R1 @ p1[:3])
    if size == 6:
        L0, L1 = L0 + R0 @ p0[3:], L1 + R1 @ p1[3:]
    assert pytest.approx(torque + np.cross(0.5 * (r0 + r1), force), abs=1e-13) == L1 - L0


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("kind", [LINE_DRAG, BODY_DRAG], ids=lambda kind: kind.name)
def test_drag_loses_energy_and_the_fluid_does_the_rest_of_the_work(kind, flow):
    """In a uniform flow the rest of the work is that of the drag along the motion of the fluid."""
    rng, rate = np.random.default_rng(7), 2.5
    y0, y1 = random_ends(kind.arity, rng)
    X, lam, out = numbers_of(kind, flow, rng), np.array([rate], complex), np.zeros_like(y0)
    wrench, dual = pulled(kind, y0, y1, X, rate)
    kind.condensed.lost(y0, y1, X, lam, out)
    lost = out[0, 0, 0].real
    assert lost > 0.0
    if flow == "uniform":
        u = 0.9 * np.array([1.0, 0.2, 0.1])
        taken = (dual * (y1 - y0)).sum().real
        assert taken - lost == pytest.approx(wrench[:, :3].sum(axis=0).real @ u / rate, rel=1e-12)


# --- bodies

AXES = (0.9, 0.5, 0.3)
ADDED = np.array(fluids.ellipsoid_added_mass(AXES, 1000.0))
MASS = 300.0
MOVING = {"velocity": (1.0, 0.4, -0.3), "angular_velocity": (0.5, 1.1, -0.7)}


def swimmer(current=None, velocity=MOVING["velocity"], drag_area=0.0):
    """An ellipsoid without weight in a fluid."""
    model = Model("swimmer")
    body = model.add_body(
        "body",
        Box(0.5, 0.4, 0.3, mass=MASS),
        velocity=velocity,
        angular_velocity=MOVING["angular_velocity"],
    )
    sea = model.add_fluid("sea", 1000.0, current)
    model.add_submerged_body("wet", body, sea, added_mass=ADDED, drag_area=drag_area)
    return model


def momenta(result):
    """Linear momentum, and angular momentum about the origin, of body and fluid at all outputs."""
    states, frames = result.states(slice(None)), result.layout.system.frames
    r, quat = states.r[:, 1], states.quat[:, 1]
    V = result.layout.internal.part(states.internal, "settled")
    P = frames.mass[1] * states.v[:, 1] + quaternions.rotate(quat, V[:, :3] * ADDED[:3])
    spin = states.Omega[:, 1] @ frames.inertia[1] + V[:, 3:] * ADDED[3:]
    return P, np.cross(r, P) + quaternions.rotate(quat, spin)


def test_body_and_fluid_conserve_energy_and_momenta():
    result = simulate(swimmer(), 4.0, 0.05, output_every=1, progress=False)
    report = audit(result)
    assert report.ok, report.text()
    E = result.energy["total"]
    assert np.ptp(E) < 1e-12 * E[0]
    for momentum in momenta(result):
        assert np.abs(momentum - momentum[0]).max() < 1e-12 * np.linalg.norm(momentum[0])


@pytest.mark.parametrize(("integrator", "order", "dt"), [("em", 2, 0.05), ("em4", 4, 0.1)])
def test_ellipsoid_follows_kirchhoffs_equations_with_the_order_of_the_integrator(integrator, order, dt):
    y0 = np.concatenate([np.zeros(3), np.eye(3).ravel(), MOVING["velocity"], MOVING["angular_velocity"]])
    J = np.diag(swimmer().build().system.frames.inertia[1]) + ADDED[3:]
    m = MASS + ADDED[:3]

    def rates(t, y):
        R, V, W = y[3:12].reshape(3, 3), y[12:15], y[15:]
        P, L = m * V, J * W
        turned = np.cross(R, W)  # rows of R hat(W)
        dV, dW = np.cross(P, W) / m, (np.cross(L, W) + np.cross(P, V)) / J
        return np.concatenate([R @ V, turned.ravel(), dV, dW])

    exact = solve_ivp(rates, (0, 2), y0, rtol=1e-12, atol=1e-13).y[:3, -1]
    runs = [simulate(swimmer(), 2.0, h, integrator, progress=False) for h in (dt, dt / 2)]
    errors = [np.abs(run.body("body").r[-1] - exact).max() for run in runs]
    assert errors[0] < 0.01
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
    E = runs[0].energy["total"]
    assert np.ptp(E) < 1e-12 * E[0]


def test_added_masses_of_ellipsoids_are_lambs_integrals():
    a, b, c = AXES
    volume = 4.0 / 3.0 * np.pi * a * b * c

    def share(x):
        scale = lambda s: 1.0 / ((x * x + s) * np.sqrt((a * a + s) * (b * b + s) * (c * c + s)))  # noqa: E731
        return a * b * c * quad(scale, 0, np.inf, epsabs=0, epsrel=1e-12)[0]

    A, B, C = share(a), share(b), share(c)
    assert pytest.approx(2.0, rel=1e-10) == A + B + C
    assert ADDED[:3] == pytest.approx(1000.0 * volume * np.array([x / (2 - x) for x in (A, B, C)]), rel=1e-9)
    turning = (b * b - c * c) ** 2 * (C - B) / (2 * (b * b - c * c) + (b * b + c * c) * (B - C)) / 5
    assert ADDED[3] == pytest.approx(1000.0 * volume * turning, rel=1e-9)
    sphere = fluids.ellipsoid_added_mass((0.4, 0.4, 0.4), 1000.0)
    assert sphere == pytest.approx([1000 * 2 / 3 * np.pi * 0.4**3] * 3 + [0.0] * 3, rel=1e-13)


def test_motion_in_a_current_is_that_in_a_fluid_at_rest_seen_from_a_moving_frame():
    """Galilean invariance: equal motions relative to the fluid, equal losses; only the work of the fluid differs."""
    u = np.array([0.7, -0.2, 0.4])
    at_rest, moved = (
        simulate(model, 2.0, 0.05, output_every=1, progress=False)
        for model in (
            swimmer(drag_area=(0.2, 0.4, 0.6)),
            swimmer(u, np.add(MOVING["velocity"], u), (0.2, 0.4, 0.6)),
        )
    )
    drift = moved.t[:, None] * u
    assert moved.body("body").r - drift == pytest.approx(at_rest.body("body").r, abs=1e-12)
    lost, also_lost = (result.states(slice(None)).totals[:, 1] for result in (at_rest, moved))
    assert lost[-1] > 10.0
    assert also_lost == pytest.approx(lost, rel=1e-11)
    assert np.diff(lost).min() > 0.0
    assert audit(moved).ok, audit(moved).text()


def test_drag_in_a_current_damps_more_along_it_than_across():
    """The slope of |w| w is 2 |u| along u and |u| across: real parts of the roots of (m + m_a) x'' + c x' + k x = 0."""
    U, area, k, added, density = 1.5, 0.3, 4000.0, 50.0, 1000.0
    model = Model("moored")
    body = model.add_body("buoy", Box(0.5, 0.4, 0.3, mass=100.0))
    model.add_bushing("mooring", "ground", body, [k, k, k, 1e6, 1e6, 1e6], at=(0, 0, 0))
    sea = model.add_fluid("sea", density, (U, 0, 0))
    model.add_submerged_body("wet", body, sea, drag_area=area, added_mass=added)
    at_rest = equilibrium(model)
    assert at_rest.body("buoy").r[-1, 0] == pytest.approx(0.5 * density * area * U * U / k, rel=1e-10)
    values = modes(model, 3, at_rest.state()).values
    c = 0.5 * density * area * U / (2 * (100.0 + added))
    assert sorted(-values.real) == pytest.approx([c, c, 2 * c], rel=1e-7)


# --- lines

D, RHO = 0.02, 1000.0
AREA = np.pi * D * D / 4


def line(n=10, mass=None, top=True, points=((0, 0, 0), (0, 0, -2)), gravity=(0, 0, -G), **settings):
    """A line in a fluid; its mass per length is 1.3 times that of the fluid."""
    model = Model("line", gravity=gravity)
    section = Section.from_stiffness(
        EA=1e4, GA=1e4, GJ=0.1, EI=0.1, mass_per_length=mass or 1.3 * RHO * AREA, inertia_per_length=1e-4
    )
    rod = model.add_rod("line", points, section, n, up=(0, 1, 0))
    if top:
        model.add_joint("top", "spherical", "ground", rod.start)
    fluid = {key: settings.pop(key) for key in ("current", "waves", "build_up") if key in settings}
    sea = model.add_fluid("sea", RHO, **fluid)
    model.add_submerged_rod("wet", rod, sea, D, **settings)
    return model


@pytest.mark.parametrize("added_mass", [0.0, 1.0])
def test_sinking_line_reaches_its_terminal_speed(added_mass):
    """0.3 rho A g = rho d C v^2/2 of a horizontal line."""
    model = line(top=False, points=((0, 0, 0), (1, 0, 0)), added_mass=added_mass)
    result = simulate(model, 4.0, 0.01, progress=False)
    speed = np.sqrt(0.3 * AREA * G / (0.5 * D * 1.2))
    assert result.rod("line").v[-1] == pytest.approx(np.tile([0, 0, -speed], (11, 1)), abs=1e-9)
    assert audit(result).ok, audit(result).text()


def test_line_in_a_current_hangs_at_the_critical_angle():
    """w cos phi = rho d C U^2 sin^2 phi/2 for a straight line, phi from the current."""
    U, weight, drag = 0.3, 0.3 * RHO * AREA * G, 0.5 * RHO * D * 1.2
    result = equilibrium(line(current=(U, 0, 0), added_mass=0.0))
    phi = brentq(lambda x: weight * np.cos(x) - drag * (U * np.sin(x)) ** 2, 0.01, 1.57)
    chords = np.diff(result.rod("line").r[-1], axis=0)
    assert np.arctan2(-chords[:, 2], chords[:, 0]) == pytest.approx(np.full(10, phi), abs=1e-9)


def arc(n, U, length):
    """A line of EA = 1e6 N across a current between two points 1 m apart."""
    model = Model("arc")
    section = Section.from_stiffness(
        EA=1e6, GA=1e6, GJ=1e-7, EI=1e-7, mass_per_length=1.0, inertia_per_length=1e-4
    )
    shape = [(x, 0.45 * np.sin(np.pi * x), 0) for x in np.linspace(0, 1, 9)]
    rod = model.add_rod("line", shape, section, n, stress_free=[(0, 0, 0), (length, 0, 0)])
    for name, point in (("left", rod.start), ("right", rod.end)):
        model.add_joint(name, "spherical", "ground", point)
    sea = model.add_fluid("sea", RHO, (0, U, 0))
    model.add_submerged_rod("wet", rod, sea, D, added_mass=0.0)
    return equilibrium(model).rod("line").r[-1, n // 2]


def test_line_across_a_current_approaches_the_exact_arc_to_second_order():
    """Without weight and tangential drag the tension T is constant, and T dtheta/ds = -q cos^2 theta."""
    U, length = 0.8, 1.2
    q = 0.5 * RHO * D * 1.2 * U * U

    def end(T, angle, s):
        def rates(_, y):
            stretch = 1 + T / 1e6
            return [stretch * np.cos(y[2]), stretch * np.sin(y[2]), -q * np.cos(y[2]) ** 2 / T]

        return solve_ivp(rates, (0, s), [0, 0, angle], rtol=1e-11, atol=1e-12).y[:2, -1]

    exact = root(lambda x: end(*x, length) - [1.0, 0.0], [q / 1.5, 1.0], tol=1e-12)
    height = end(*exact.x, length / 2)[1]
    errors = [abs(arc(n, U, length)[1] - height) for n in (64, 128)]
    assert errors[0] < 0.01
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "em-d(0.5)", "EML-kappa"])
def test_energy_of_a_line_in_a_current_is_balanced(integrator):
    profile = fluids.Profile([-2, 0], [[0.1, 0.4, 0], [0.5, 0, 0]])
    model = line(current=profile, tangential_drag=0.05, waves=fluids.AiryWave(0.1, 1.5), build_up=0.2)
    result = simulate(model, 0.5, 0.01, integrator, progress=False)
    report = audit(result)
    assert report.ok, report.text()
    assert result.states(slice(None)).totals[-1, 1] > 0.0


# --- waves


@pytest.mark.parametrize("depth", [None, 30.0, 3.0])
def test_wave_number_solves_the_dispersion_relation(depth):
    wave = fluids.AiryWave(1.0, 7.0)
    k, w = wave.wave_number(G, depth), 2 * np.pi / 7
    assert w * w == pytest.approx(G * k * (1.0 if depth is None else np.tanh(k * depth)), rel=1e-14)


def flow_at(x, t, numbers):
    """Velocity and acceleration of a flow, by the force on a body with m a and a drag of 1 |w| w."""
    y = np.zeros((2, 4, 3), complex)
    y[:, 1:], y[1, 0] = np.eye(3), x
    X, out = np.array([0.0, 0, 0, *np.eye(3).ravel(), 0.0, 1.0, t, 1.0, *UP, *numbers]), np.zeros_like(y)
    BODY_DRAG.bend(y, 0 * y, X, np.ones(1, complex), out)
    f = -out[1, 0].real
    X[3:12], X[12] = 0.0, 1.0
    BODY_DRAG.bend(y, 0 * y, X, np.ones(1, complex), out)
    return f / np.sqrt(np.linalg.norm(f)), -out[1, 0].real


def test_waves_are_irrotational_and_solenoidal_and_accelerate_by_their_rate():
    x, t, e, numbers = np.array([0.3, -0.4, 1.0]), 1.1, 1e-5, FLOWS["waves"]
    gradient = np.array(
        [(flow_at(x + d, t, numbers)[0] - flow_at(x - d, t, numbers)[0]) / (2 * e) for d in e * np.eye(3)]
    )
    assert np.trace(gradient) == pytest.approx(0.0, abs=1e-8)
    assert gradient == pytest.approx(gradient.T, abs=1e-8)
    rate = (flow_at(x, t + e, numbers)[0] - flow_at(x, t - e, numbers)[0]) / (2 * e)
    assert flow_at(x, t, numbers)[1] == pytest.approx(rate, abs=1e-8)
    above, at = (flow_at((0.3, -0.4, z), t, numbers)[0] for z in (6.0, 5.0))
    assert above == pytest.approx(at, abs=1e-12)


def test_wave_has_no_flow_through_the_bed_and_moves_with_its_surface():
    depth, H, T = 4.0, 0.2, 3.0
    wave = fluids.AiryWave(H, T)
    numbers = [0, 1, 0.0, 0.0, 0.0, 0.0, 0.0, 1, *wave.numbers(UP, G, depth, 0.0)]
    t = 0.4
    assert flow_at((0.7, 0, -depth), t, numbers)[0][2] == pytest.approx(0.0, abs=1e-14)
    q = wave.wave_number(G, depth) * 0.7 - 2 * np.pi / T * t
    rise = H / 2 * 2 * np.pi / T * np.sin(q)
    assert flow_at((0.7, 0, 0.0), t, numbers)[0][2] == pytest.approx(rise, rel=1e-12)


def test_neutral_body_follows_the_orbit_of_the_water():
    """With the mass of the displaced water, its force and its added mass, a small body moves as the water."""
    H, T, z = 0.002, 2.0, -0.3
    wave = fluids.AiryWave(H, T)
    k, w = wave.wave_number(G), 2 * np.pi / T
    u = H / 2 * w * np.exp(k * z) * np.array([1.0, 0.0, 0.0])
    model = Model("float", gravity=(0, 0, -G))
    body = model.add_body("body", Box(0.01, 0.01, 0.01, mass=1e-3), position=(0, 0, z), velocity=u)
    sea = model.add_fluid("sea", 1000.0, waves=wave)
    model.add_submerged_body("wet", body, sea, volume=1e-6, added_mass=5e-4)
    result = simulate(model, 2.0, 0.01, progress=False)
    t, r = result.t, result.body("body").r
    radius = H / 2 * np.exp(k * z)
    drift = w * k * radius**2 * t  # of Stokes
    assert r[:, 0] == pytest.approx(radius * np.sin(w * t) + drift, abs=1e-3 * radius)
    assert r[:, 2] == pytest.approx(z + radius * (np.cos(w * t) - 1), abs=0.02 * radius)


# --- formulas


def test_values_of_a_formula_are_those_of_its_text():
    texts = ["-x**3/(1 + y**2) + 2**0.5", "sinh(z) - cosh(x)*log(2 + t)", "tan(x)*atan(y)**-2 - 3 + tanh(-z)"]
    field, t = fluids.Formula(texts), 0.7
    x, y, z = place = np.array([[0.3, -0.7, 0.2], [1.1, 0.4, -0.9]]).T
    expected = (
        -(x**3) / (1 + y**2) + 2**0.5,
        np.sinh(z) - np.cosh(x) * np.log(2 + t),
        np.tan(x) / np.arctan(y) ** 2 - 3 - np.tanh(z),
    )
    assert field.at(place.T, t) == pytest.approx(np.stack(expected, axis=-1), rel=1e-14)
    # compiled code evaluates the same: a drag |u| u on a body at rest in a step
    for row, u in zip(place.T, np.stack(expected, axis=-1), strict=True):
        y, out = np.zeros((2, 4, 3), complex), np.zeros((2, 4, 3), complex)
        y[:, 1:], y[1, 0] = np.eye(3), row
        X = np.array([0, 0, 0, *np.eye(3).ravel(), 0.0, 1.0, t, 1.0, *UP, *field.numbers(), 0.0, 0.0])
        BODY_DRAG.dual(y, y, X, np.array([1.0], complex), out)
        assert out[1, 0].real == pytest.approx(-np.linalg.norm(u) * u, rel=1e-13)


def in_flow(current, **options):
    """A line and a body in a flow, after 0.5 s."""
    model = Model("in flow", gravity=(0, 0, -G))
    section = Section.from_stiffness(
        EA=1e3, GA=1e3, GJ=0.5, EI=0.5, mass_per_length=3.0, inertia_per_length=0.01
    )
    rod = model.add_rod("line", [(0, 0, -3), (1, 0, -1)], section, 6, mass="lumped")
    model.add_joint("anchor", "clamp", rod.start)
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 0.5, -2))
    sea = model.add_fluid("sea", 1000.0, current, **options)
    model.add_submerged_rod("wet line", rod, sea, 0.05, drag=1.2, tangential_drag=0.1, added_mass=1.0)
    model.add_submerged_body("wet body", body, sea, volume=1e-3, drag_area=0.01, added_mass=0.5)
    result = simulate(model, 0.5, 0.01, progress=False)
    assert audit(result).ok, audit(result).text()
    return np.concatenate([result.rod("line").r[-1], result.body("body").r[-1:]])


@pytest.mark.parametrize(
    ("formula", "current", "options"),
    [
        (("0.5 + 0.1*z", "-0.2*z", "0"), fluids.Profile([-10, 10], [[-0.5, 2, 0], [1.5, -2, 0]]), {}),
        (("1", "0", "0.5"), (1.0, 0, 0.5), {}),
        (("((z + 9)/3)**0.3", "0", "0"), fluids.PowerLaw((1, 0, 0), 3.0, 0.3, -9.0), {}),
    ],
)
def test_a_formula_moves_parts_as_the_current_that_it_describes(formula, current, options):
    assert in_flow(fluids.Formula(formula)) == pytest.approx(in_flow(current, **options), abs=1e-12)


def test_a_vortex_carries_a_light_body_in_circles():
    """The drag of a body of small mass keeps it at the velocity of the fluid, up to the centripetal force."""
    model = Model("vortex")
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=1e-6), (1, 0, 0), velocity=(0, 1.0, 0))
    vortex = model.add_fluid("vortex", 1.0, fluids.Formula(["-y", "x", "0"]))
    model.add_submerged_body("carried", body, vortex, drag_area=1.0)
    r = simulate(model, math.pi, 0.01, progress=False).body("body").r
    assert r[-1] == pytest.approx([-1.0, 0, 0], abs=0.01)
    assert np.linalg.norm(r, axis=1) == pytest.approx(np.ones(len(r)), abs=0.01)


# --- acceleration of currents


def carried(velocity, start, n, t_end=1.0, **options):
    """Position of a body of the density of the fluid that begins with the velocity of the current, after n steps."""
    model = Model("carried", gravity=(0, 0, -G))
    current = fluids.Formula(velocity)
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=1.0), start, velocity=current.at(start))
    sea = model.add_fluid("sea", 1000.0, current)
    model.add_submerged_body("wet", body, sea, volume=1e-3, **options)
    result = simulate(model, t_end, t_end / n, progress=False)
    assert audit(result).ok, audit(result).text()
    return result.body("body").r[-1]


@pytest.mark.parametrize("options", [{}, {"drag_area": 0.01}, {"added_mass": 0.5, "drag_area": 0.01}])
def test_a_fluid_that_accelerates_as_a_whole_carries_a_body_of_its_density(options):
    """d'Alembert: in axes that move with the fluid, nothing acts on the body."""
    r = carried(("0.5 + 0.3*t", "0", "-0.2*t"), (0, 0, 0), 10, **options)
    assert r == pytest.approx([0.65, 0, -0.1], abs=1e-12)
    errors = [
        np.abs(carried(("sin(3*t)", "0", "0"), (0, 0, 0), n, **options)[0] - (1 - math.cos(3)) / 3)
        for n in (20, 40)
    ]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_a_vortex_carries_a_body_of_its_density_in_a_circle():
    """The acceleration (u . grad) u of the fluid is that of the circle: without drag and added mass, with order 2."""
    errors = [
        np.linalg.norm(carried(("-y", "x", "0"), (1, 0, 0), n, math.pi) - [-1.0, 0, 0]) for n in (40, 80)
    ]
    assert errors[1] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_a_fluid_carries_a_rod_of_its_density():
    model = Model("carried", gravity=(0, 0, -G))
    section = Section.circular(0.05, Material(E=1e8, nu=0.3, density=1000.0))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 1)], section, 6, velocity=(0.5, 0, 0))
    sea = model.add_fluid("sea", 1000.0, fluids.Formula(("0.5 + 0.3*t", "0", "-0.2*t")))
    model.add_submerged_rod("wet", rod, sea, 0.1)
    r = simulate(model, 1.0, 0.1, progress=False).rod("rod").r
    assert r[-1] - r[0] == pytest.approx(np.tile([0.65, 0, -0.1], (7, 1)), abs=1e-9)


def test_a_steady_flow_that_converges_pushes_a_body_that_rests():
    """(u . grad) u = 4 x along x; a motion that begins in the equilibrium rests."""
    model = Model("held")
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=1.0), position=(2.0, 0, 0))
    model.add_joint("hold", "weld", model.ground, body.at((0, 0, 0)))
    sea = model.add_fluid("sea", 1000.0, fluids.Formula(("2*x", "-2*y", "0")))
    model.add_submerged_body("wet", body, sea, volume=1e-3)
    rest = equilibrium(model)
    assert np.abs(rest.joint("hold").force[-1]) == pytest.approx([8.0, 0, 0], abs=1e-12)
    assert rest.reactions["hold"].force == pytest.approx([-8.0, 0, 0], abs=1e-12)
    moved = simulate(model, 0.2, 0.02, start=rest, progress=False)
    assert moved.joint("hold").force == pytest.approx(
        np.tile(rest.joint("hold").force[-1], (11, 1)), abs=1e-9
    )


# --- pictures of flows


def stormy():
    model = Model("stormy", gravity=(0, 0, -G))
    profile = fluids.Profile([-60, 0], [[0, 0, 0], [1.0, 0.3, 0]])
    model.add_fluid("sea", 1025.0, profile, factor="1 + t", waves=fluids.AiryWave(2.0, 6.0))
    return model


def test_velocity_of_a_fluid_is_that_of_its_current_and_its_waves():
    model, t = stormy(), 0.5
    places = np.array([[[0.0, 0.0, -30.0], [5.0, 1.0, -3.0]]])
    k, w = (2 * np.pi / 6.0) ** 2 / G, 2 * np.pi / 6.0
    phase, size = k * places[..., 0] - w * t, w * np.exp(k * places[..., 2])
    zero = np.zeros_like(phase)
    waves = np.stack([size * np.cos(phase), zero, size * np.sin(phase)], axis=-1)
    current = (1 + places[..., 2:] / 60) * np.array([1.0, 0.3, 0.0]) * (1 + t)
    assert fluids.flow_velocity(model, "sea", places, t) == pytest.approx(waves + current, rel=1e-12)


def test_flows_are_drawn_and_exported(tmp_path):
    model = stormy()
    picture = fluids.draw_flow(model, "sea", tmp_path / "flow.png", (0, 0, -60), (80, 0, 0), 0.5)
    assert picture.stat().st_size > 10_000
    file = fluids.export_flow(model, "sea", tmp_path / "flow.vti", (0, 0, -60), (80, 0, 0), (3, 1, 4), 0.5)
    grid = pyvista.read(file)
    assert grid.dimensions == (3, 1, 4)
    assert grid.points[-1] == pytest.approx([80, 0, 0])
    expected = fluids.flow_velocity(model, "sea", np.asarray(grid.points, float), 0.5)
    assert grid.point_data["velocity"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda model: fluids.flow_velocity(model, "air", (0, 0, 0)),
            "there is no fluid 'air'; there are: sea",
        ),
        (lambda model: fluids.flow_velocity(model, "sea", (0, np.nan, 0)), "give finite places"),
        (lambda model: fluids.draw_flow(model, "sea", "x.png", (0, 0, 0), (0, 0, 1)), "are above each other"),
        (
            lambda model: fluids.draw_flow(model, "sea", "x.txt", (0, 0, 0), (1, 0, 1)),
            "has no format that is known",
        ),
        (
            lambda model: fluids.export_flow(model, "sea", "x.vtk", (0, 0, 0), (1, 0, 1)),
            "does not end in .vti",
        ),
        (lambda model: fluids.export_flow(model, "sea", "x.vti", (0, 0, 1), (1, 0, 0)), "is below lower"),
        (
            lambda model: fluids.export_flow(model, "sea", "x.vti", (0, 0, 0), (1, 0, 1), (1000, 1000, 2)),
            "together at most 1e6",
        ),
    ],
)
def test_impossible_pictures_of_flows_are_refused(call, words):
    with pytest.raises(ModelError, match=words):
        call(stormy())


# --- messages


def bad(**settings):
    model = Model("bad", gravity=settings.pop("gravity", (0, 0, -G)))
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=1.0))
    sea = model.add_fluid("sea", settings.pop("density", 1000.0), settings.pop("current", None), **settings)
    model.add_submerged_body("wet", body, sea, drag_area=1.0)
    model.build()


def nested(depth):
    return "(1 + " * depth + "x" + ")" * depth


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: bad(density=-1.0), "fluid 'sea': density = -1"),
        (lambda: bad(current=(np.nan, 0, 0)), "fluid 'sea': current"),
        (lambda: bad(current=(np.inf, 0, 0)), "fluid 'sea': current"),
        (lambda: fluids.Profile([0, 1], [[1, 0, 0], [np.nan, 0, 0]]), "Profile: velocity"),
        (lambda: fluids.Profile([0, 0], [[1, 0, 0], [2, 0, 0]]), r"height z\[1\] = 0 m is not above z\[0\]"),
        (lambda: fluids.Profile([0, 1], [[1, 0, 0]]), "2 heights and 1 velocities"),
        (lambda: fluids.PowerLaw((1, 0, 0), height=-1.0), "PowerLaw: height = -1"),
        (lambda: fluids.AiryWave(1.0, 0.0), "AiryWave: period = 0"),
        (lambda: fluids.Formula(["1", "2"]), "give three formulas of x, y, z and t"),
        (lambda: fluids.Formula(["u", "0", "0"]), "'u' contains 'u'"),
        (lambda: fluids.Formula([nested(8), "0", "0"]), "needs more than 8 operands at once"),
        (lambda: fluids.ellipsoid_added_mass((1, 0, 1), 1.0), "Give three positive lengths"),
        (lambda: bad(waves=3), "waves = 3. Give fluids.AiryWave"),
        (
            lambda: bad(waves=fluids.AiryWave(1, 3), gravity=(0, 0, 0)),
            "has waves, but the model has no gravity",
        ),
        (lambda: bad(waves=fluids.AiryWave(1, 3, (0, 0, 1))), "is vertical. Give a horizontal direction"),
    ],
)
def test_bad_flows_are_refused(make, words):
    with pytest.raises(ModelError, match=words):
        make()


def test_bad_submerged_parts_are_refused():
    model = Model("bad")
    body = model.add_body("body", Box(0.1, 0.1, 0.1, mass=1.0))
    section = Section.from_stiffness(EA=1, GA=1, GJ=1, EI=1, mass_per_length=1, inertia_per_length=1)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 2)
    sea = model.add_fluid("sea", 1000.0)
    for arguments, words in (
        ({}, "submerged body 'x': has no force"),
        ({"drag_area": (1, -1, 0)}, "drag_area = .* has a negative number"),
        ({"added_mass": [[1, 2], [3, 4]]}, "added_mass"),
        ({"added_mass": np.triu(np.ones((6, 6)))}, "added_mass is not symmetric"),
        ({"added_mass": (1, -2, 1)}, "added_mass has the eigenvalue -2"),
    ):
        with pytest.raises(ModelError, match=words):
            model.add_submerged_body("x", body, sea, **arguments)
    with pytest.raises(ModelError, match="is not on a body"):
        model.add_submerged_body("x", rod.end, sea, volume=1.0)
    with pytest.raises(ModelError, match="'lake' is not a fluid of this model; there are: sea"):
        model.add_submerged_rod("x", rod, "lake", 0.1)
    with pytest.raises(ModelError, match="diameter = -1"):
        model.add_submerged_rod("x", rod, sea, -1)
    model.add_submerged_rod("x", rod, sea, 0.1)
    with pytest.raises(ModelError, match="'x' puts the same rod into the same fluid"):
        model.add_submerged_rod("y", rod, sea, 0.1)


# --- results


def test_forces_along_a_line_balance_its_weight_in_equilibrium(tmp_path):
    """Buoyancy, drag, weight and the force of the hinge add to zero, in memory and in a file."""
    model = line(current=(0.3, 0.1, 0), tangential_drag=0.1)
    for output in (None, tmp_path / "line.vtkhdf"):
        result = equilibrium(model, output=output)
        wet = result.in_fluid("wet")
        weight = np.array([0, 0, -1.3 * RHO * AREA * 2 * G])
        assert wet.buoyancy[-1].sum(axis=0) == pytest.approx([0, 0, RHO * AREA * 2 * G], rel=1e-12)
        total = wet.drag[-1].sum(axis=0) + wet.buoyancy[-1].sum(axis=0) + weight
        assert result.joint("top").force[-1] + total == pytest.approx(np.zeros(3), abs=1e-9)


@pytest.mark.parametrize(("axis", "output"), [(0, None), (1, "accelerated.vtkhdf"), (2, None)])
def test_added_mass_in_results_resists_a_constant_force(axis, output, tmp_path):
    """M a = F with the mass and the added mass: the force of the fluid is -M_a F/(m + M_a), along an axis of the body."""
    model, force, added = Model("m"), 6.0 * np.eye(3)[axis], np.array([1.0, 2.0, 4.0])
    orientation = quaternions.from_rotation_vector(np.array([0.3, -0.2, 0.5]))
    R = quaternions.to_matrix(orientation)
    body = model.add_body("body", Box(0.2, 0.2, 0.2, mass=2.0), orientation=orientation)
    model.add_force("push", body, R @ force)
    sea = model.add_fluid("sea", RHO)
    model.add_submerged_body("wet", body, sea, added_mass=added)
    output = None if output is None else tmp_path / output
    wet = simulate(model, t_end=0.5, dt=0.05, output=output).in_fluid("wet")
    expected = -R @ (added * force / (2.0 + added))
    assert wet.added_mass == pytest.approx(np.tile(expected, (11, 1)), rel=1e-9, abs=1e-9)
    assert wet.added_momentum[-1] == pytest.approx(-0.5 * expected, rel=1e-9, abs=1e-9)
    assert not wet.inertia.any()


def test_momentum_of_added_mass_along_a_rod_is_the_impulse_on_it():
    """A rod that nothing else resists: what the force gives is the momentum of the rod and of the fluid at its nodes."""
    model = Model("m")
    section = Section.circular(0.05, Material(E=1e9, nu=0.3, density=500.0))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 1)], section, 8)
    model.add_force("push", rod.at(0.5), (1.0, 2.0, 0.0))
    sea = model.add_fluid("sea", RHO)
    model.add_submerged_rod("wet", rod, sea, 0.1, drag=0.0, buoyancy=0.0)
    result = simulate(model, t_end=0.2, dt=0.01)
    momentum = result.linear_momentum + result.in_fluid("wet").added_momentum.sum(axis=1)
    assert momentum == pytest.approx(result.t[:, None] * [1.0, 2.0, 0.0], abs=1e-9)
    assert np.linalg.norm(result.in_fluid("wet").added_momentum[-1].sum(axis=0)) > 0.1


def test_inertia_in_results_is_that_of_the_displaced_fluid():
    """In deep water du/dt = -A w^2 exp(k z) (sin w t, cos w t) below the origin; the drag has it besides its own force."""
    model = Model("m", gravity=(0, 0, -G))
    body = model.add_body("body", Box(0.2, 0.2, 0.2, mass=2.0), position=(0, 0, -3.0))
    model.add_joint("hold", "weld", model.ground, body.at((0, 0, 0)))
    wave = fluids.AiryWave(1.0, 4.0)
    sea = model.add_fluid("sea", RHO, waves=[wave])
    model.add_submerged_body("wet", body, sea, volume=0.008)
    model.add_submerged_body("dragged", body, sea, volume=0.008, drag_area=0.1)
    result = simulate(model, t_end=1.0, dt=0.1)
    w, phase = 2 * np.pi / 4.0, 2 * np.pi / 4.0 * result.t
    size = -RHO * 0.008 * 0.5 * w**2 * np.exp(-3.0 * wave.wave_number(G))
    expected = size * np.column_stack([np.sin(phase), np.zeros(11), np.cos(phase)])
    for name in ("wet", "dragged"):
        assert result.in_fluid(name).inertia == pytest.approx(expected, abs=1e-9)
    assert result.in_fluid("wet").drag == pytest.approx(expected, abs=1e-9)
    assert np.abs(result.in_fluid("dragged").drag - expected).max() > 1.0


# --- airfoils

FLAT = np.linspace(-180, 180, 721)
POLAR = fluids.Polar(
    FLAT, np.sin(2 * np.radians(FLAT)), 0.1 + np.sin(np.radians(FLAT)) ** 2, -0.1 * np.sin(np.radians(FLAT))
)


def wing(n, wind, polar, stiffness, length=5.0, **settings):
    """A clamped wing along y, whose leading edge is at -x and whose upper side is +z."""
    model = Model("wing")
    section = Section.from_stiffness(
        EA=1e7, GA=1e7, GJ=stiffness, EI=1e7, mass_per_length=5.0, inertia_per_length=0.1
    )
    rod = model.add_rod("wing", [(0, 0, 0), (0, length, 0)], section, n, up=(0, 0, 1))
    model.add_joint("root", "clamp", rod.start)
    air = model.add_fluid("air", 1.2, wind)
    model.add_airfoil("foil", rod, air, polar, **settings)
    return model


def test_wing_twists_by_the_closed_form_up_to_divergence():
    """theta(L) = alpha (1/cos(lambda L) - 1), lambda^2 = q c e dC_l/GJ; e: distance of the centre from the axis of twist."""
    c, e, U, L, alpha = 0.5, 0.25, 20.0, 5.0, np.radians(0.02)
    stiffness = 0.5 * 1.2 * U * U * c * (e * c) * 2 * np.pi * L * L
    straight = fluids.Polar([-20, 20], 2 * np.pi * np.radians([-20, 20]), [0, 0])
    errors = []
    for n in (8, 16):
        model = wing(n, (U, 0, 0), straight, stiffness, chord=c, twist=np.degrees(alpha), centre=e)
        quat = equilibrium(model).rod("wing").quat[-1]
        turned = quaternions.to_matrix(quat[0]).T @ quaternions.to_matrix(quat[-1])
        errors.append(np.arctan2(turned[2, 1], turned[1, 1]) - alpha * (1 / np.cos(1.0) - 1))
    assert abs(errors[0]) < 0.005 * alpha
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def blade_loads(rate, wind, chord, twist, radius):
    """Thrust along the wind and torque about it of a rotating straight blade, by quadrature."""

    def at(s):
        r = s * radius
        c, beta = np.interp(s, *np.transpose(chord)), np.radians(np.interp(s, *np.transpose(twist)))
        # axes in the section: x along the wind, z along the motion of the section
        e, n = np.array([-np.cos(beta), np.sin(beta)]), np.array([np.sin(beta), np.cos(beta)])
        w = np.array([wind, -rate * r])
        back, up = -w @ e, w @ n
        lift, drag, _ = POLAR.at(np.degrees(np.arctan2(up, back)))
        W = np.hypot(back, up)
        force = 0.6 * c * W * (lift * (up * e + back * n) + drag * (-back * e + up * n))
        return np.array([force[0], r * force[1]]) * radius

    s = np.linspace(0, 1, 4001)
    return np.trapezoid([at(x) for x in s], s, axis=0)


def test_rotating_blade_has_the_thrust_and_torque_of_the_quadrature():
    """A stiff blade on a hinge that is driven about the wind."""
    rate, speed, radius = 6.0, 8.0, 5.0
    chord, twist = [(0, 0.6), (1, 0.3)], [(0, 60.0), (1, 85.0)]
    errors = []
    for n in (8, 16):
        model = Model("blade")
        section = Section.from_stiffness(
            EA=1e9, GA=1e9, GJ=1e9, EI=1e9, mass_per_length=5.0, inertia_per_length=0.1
        )
        rod = model.add_rod(
            "blade",
            [(0, 0, 0), (0, radius, 0)],
            section,
            n,
            up=(0, 0, 1),
            angular_velocity=(rate, 0, 0),
            velocity=lambda s: (0.0, 0.0, rate * radius * s),
        )
        model.add_joint("hub", "revolute", "ground", rod.start, at=(0, 0, 0), axis=(1, 0, 0))
        model.add_drive("motor", "hub", signals.Steady(rate))
        air = model.add_fluid("air", 1.2, (speed, 0, 0))
        model.add_airfoil("foil", rod, air, POLAR, chord=chord, twist=twist)
        result = simulate(model, 0.02, 0.005, output_every=1, progress=False)
        foil, states = result.in_fluid("foil"), result.rod("blade")
        force = foil.drag[0]
        torque = np.cross(states.r[0], force)[:, 0].sum()
        errors.append(np.array([force[:, 0].sum(), torque]) - blade_loads(rate, speed, chord, twist, radius))
        assert audit(result).ok, audit(result).text()
    assert np.log2(errors[0] / errors[1]) == pytest.approx([2.0, 2.0], abs=0.2)
    assert np.abs(errors[1]).max() < 0.5


def test_polars_without_the_angle_are_refused_by_name():
    narrow = fluids.Polar([-10, 10], [-1, 1], [0.01, 0.01])
    with pytest.raises(
        ModelError, match=r"airfoil 'foil': at t = 0 s the angle of attack at s = 0 is 30 deg, .*-10 to 10"
    ):
        wing(4, (20, 0, 0), narrow, 1e5, chord=0.5, twist=30.0).build()
    for arguments, words in (
        ({"chord": -1.0}, "chord = -1 is not positive"),
        ({"chord": [(0, 1), (0.5, 1)]}, "chord is given from s = 0 to 0.5"),
        ({"chord": 1.0, "between": (0.5, 0.2)}, "Give two increasing fractions"),
        ({"chord": [(0, 1), (0, 2)]}, "rows .* with increasing s"),
    ):
        with pytest.raises(ModelError, match=words):
            wing(4, (20, 0, 0), POLAR, 1e5, **arguments)
    for arguments, words in (
        (([10, 0], [0, 0], [0, 0]), "two or more increasing angles"),
        (([0, 10], [0], [0, 0]), "2 angles, but 1 values of lift"),
        (([0, 10], [0, 0], [0, -1]), "the drag -1 is negative"),
    ):
        with pytest.raises(ModelError, match=words):
            fluids.Polar(*arguments)


def test_run_whose_angle_of_attack_leaves_the_polar_names_it_with_the_time():
    narrow = fluids.Polar([-10, 10], [-1, 1], [0.01, 0.01])
    model = wing(4, (0, 0, 0), narrow, 1e5, chord=0.5)
    model.others.clear()
    gust = model.add_fluid("gust", 1.2, (20, 0, 8), factor="t")
    model.add_airfoil("foil", model.rods["wing"], gust, narrow, 0.5, twist=-21.8)
    model.add_mass_damping("air", model.rods["wing"], 1.0)
    model.add_force("push", model.rods["wing"].end, [0, 0, "-8e4*t"])
    with pytest.raises(
        ConvergenceError, match=r"airfoil 'foil': the angle of attack at s = .* -10 to 10 deg.*t = "
    ):
        simulate(model, 2.0, 0.02, progress=False)


def string_in_water(**changes) -> Model:
    model = Model("wet string", gravity=-G * UP)
    section = Section.string(EA=1e4, mass_per_length=1.3, radius=0.02)
    rod = model.add_rod("line", [(0, 0, 0), (3, 0, 0)], section, 8)
    model.add_joint("top", "spherical", model.ground, rod.start)
    sea = model.add_fluid("sea", 1000.0, (0.0, 0.4, 0.0))
    model.add_submerged_rod("wet", rod, sea, 0.03, tangential_drag=0.02, **changes)
    return model


def test_string_hangs_straight_in_a_current_and_falls_with_balance() -> None:
    """At rest the drag across it balances its weight across it: w cos(phi) = rho d C U^2 sin^2(phi)/2."""
    model = string_in_water()
    rest = equilibrium(model)
    edges = np.diff(rest.rod("line").r[-1], axis=0)
    slopes = np.arctan2(np.abs(edges[:, 2]), np.abs(edges[:, 1]))
    weight = (1.3 - 1000.0 * 0.25 * np.pi * 0.03**2) * G
    balance = weight * np.cos(slopes) - 0.5 * 1000.0 * 0.03 * 1.2 * 0.4**2 * np.sin(slopes) ** 2
    assert np.abs(balance).max() < 1e-8 * weight
    result = simulate(model, 0.3, 0.01, output_every=1, progress=False)
    assert audit(result).ok, audit(result).text()


def test_string_has_the_same_added_mass_in_every_direction() -> None:
    with pytest.raises(
        ModelError, match=r"nodes of a string have no axis. Remove it; it is then 1 as across"
    ):
        string_in_water(tangential_added_mass=0.1)
    model = string_in_water()
    assert model.others["wet"].tangential_added_mass == 1.0
    with pytest.raises(ModelError, match="is a string, whose sections have no directions"):
        model.add_airfoil("vane", "line", "sea", fluids.Polar([-180, 180], [0, 0], [1, 1]), 0.1)


# --- the loop of real numbers of `em`


@pytest.mark.parametrize("flow", ["at rest", "flowing"])
def test_forces_of_em_are_those_of_the_duals(flow):
    """`GGL-EM` evaluates the duals; on a free line of lumped masses both take the same steps. The tangent of `em` is right."""
    current = fluids.Profile([-2, 0], [[0.1, 0.4, 0], [0.9, 0, 0]])
    settings = {"current": current, "waves": fluids.AiryWave(0.3, 1.5)} if flow == "flowing" else {}
    model = Model("line", gravity=(0, 0, -G))
    section = Section.from_stiffness(
        EA=1e4, GA=1e4, GJ=0.1, EI=0.1, mass_per_length=0.4, inertia_per_length=1e-4
    )
    rod = model.add_rod("line", [(0, 0, 0), (1, 0.2, -1)], section, 6, mass="lumped", up=(0, 1, 0))
    sea = model.add_fluid("sea", RHO, **settings)
    model.add_submerged_rod("wet", rod, sea, D, tangential_drag=0.3, tangential_added_mass=0.2)
    by_loop = simulate(model, 0.3, 0.01, solver="general", progress=False)
    by_duals = simulate(model, 0.3, 0.01, "GGL-EM", progress=False)
    assert by_loop.rod("line").r == pytest.approx(by_duals.rod("line").r, abs=1e-9)
    assert by_loop.work == pytest.approx(by_duals.work, abs=1e-7)
    assert by_loop.dissipation == pytest.approx(by_duals.dissipation, abs=1e-7)
    assert by_loop.newton_iterations[1:].mean() < 5.0


def test_newton_converges_in_few_iterations_with_added_mass_alone():
    model = line(drag=0.0, added_mass=20.0, current=(1.0, 0.3, 0))
    result = simulate(model, 0.2, 0.01, solver="general", progress=False)
    assert result.newton_iterations[1:].mean() < 4.2
