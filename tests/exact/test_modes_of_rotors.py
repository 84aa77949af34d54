"""Modes of rotating systems: spinning bodies and rotors, whirling shafts, blades in steady rotation."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from scipy.optimize import brentq

from benchmarks.modes import WRIGHT, beam_model, steel, turning_modes
from rodsim import Box, MassProperties, Model, ModelError, Section, linearise, modes, steady_rotation


def free_body(moments, spin, **settings):
    model = Model("body")
    model.add_body("racket", MassProperties(1.5, np.diag(moments)), angular_velocity=spin, **settings)
    return model


@pytest.mark.parametrize("moments", [(1.0, 2.0, 3.0), (0.9, 1.0, 1.7)])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_spin_is_stable_about_extreme_axes_and_grows_exactly_about_the_middle_one(moments, axis):
    speed = 5.0
    spin = speed * np.eye(3)[axis]
    I, (j, k) = np.array(moments), [a for a in range(3) if a != axis]
    square = speed**2 * (I[axis] - I[j]) * (I[axis] - I[k]) / (I[j] * I[k])
    result = modes(free_body(moments, spin, position=(1, 2, 3), velocity=3 * spin), 7)
    if axis == 1:
        assert result.growth[np.array(result.kinds) == "grows"] == pytest.approx([np.sqrt(-square)], rel=1e-9)
        assert result.growth[np.array(result.kinds) == "decays"] == pytest.approx(
            [-np.sqrt(-square)], rel=1e-9
        )
    else:
        assert result.stable
        # uniform motions, and a tilt of the axis, rotate with the speed of the axes
        assert sorted(result.omega[np.array(result.kinds) != "rigid"]) == pytest.approx(
            sorted([np.sqrt(square), speed, speed, speed]), rel=1e-6
        )


def test_rotor_has_exact_forward_and_backward_whirl():
    m, Jd, Jp, c, a, b, speed = 2.0, 0.5, 0.8, 100.0, 0.5, 0.7, 40.0
    model = Model("rotor")
    disc = model.add_body("disc", MassProperties(m, np.diag([Jd, Jd, Jp])), angular_velocity=(0, 0, speed))
    for k, z in enumerate((-a, b)):
        for l, (x, y) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1))):
            model.add_spring(f"bearing {k}{l}", model.ground.at((x, y, z)), disc.at((0, 0, z)), c)
    result = modes(model, 6)
    # complex displacement u = x + i y and tilt phi: two opposite springs make 2 c along their line
    K = 2 * c * np.array([[2.0, b - a], [b - a, a * a + b * b]])
    roots = np.roots(np.polysub(np.polymul([m, 0, -K[0, 0]], [Jd, -Jp * speed, -K[1, 1]]), [K[0, 1] ** 2]))
    swing = result.omega[np.array(result.kinds) == "oscillates"]
    assert np.sort(swing) == pytest.approx(np.sort(np.abs(roots)), rel=1e-9)


def shaft(n, speed, element="relative(2)", EI=80.0):
    section = Section.from_stiffness(
        EA=3e3, GA=2e3, GJ=50, EI=EI, mass_per_length=2.0, inertia_per_length=(1.0, 0.5, 0.5)
    )
    model = Model("shaft")
    rod = model.add_rod(
        "rod",
        [(0, 0, 0), (2, 0, 0)],
        section,
        n,
        element=element,
        angular_velocity=(speed, 0, 0),
        mass="lumped",
    )
    for name, anchor in (("left", rod.start), ("right", rod.end)):
        model.add_joint(name, "spherical", model.ground, anchor)
    return model


def test_a_shaft_whirls_as_timoshenkos_spinning_beam():
    """(GA k^2 - rho A w^2)(EI k^2 + GA - rho I w^2 + rho Jp W w) = (GA k)^2 for the waves between pins."""
    GA, EI, A, I, Jp, speed = 2e3, 80.0, 2.0, 0.5, 1.0, 12.0
    result = modes(shaft(32, speed), 12)
    expected = []
    for k in np.pi / 2 * np.arange(1, 4):
        polynomial = np.polymul([-A, 0, GA * k * k], [-I, Jp * speed, EI * k * k + GA])
        expected += list(np.abs(np.roots(np.polysub(polynomial, [(GA * k) ** 2]))))
    omega = result.omega[np.array(result.kinds) == "oscillates"]
    for w in np.sort(expected)[:4]:
        assert np.abs(omega / w - 1).min() < 1e-5, w
    assert result.stable


def test_rotating_axes_shift_the_whirl_by_the_speed():
    """In axes that rotate with a round shaft a forward whirl is slower by the speed, a backward one faster."""
    speed = 3.0
    still, turning = modes(shaft(12, speed), 10), modes(shaft(12, 0.0), 30, spin=(speed, 0, 0))
    of_axes = turning.omega[np.array(turning.kinds) == "oscillates"]
    lowest = [w for w, x in zip(still.omega, np.abs(still.shapes), strict=True) if x[:, 1:3].max() > 1e-3]
    lowest = [w for w in lowest if w > 0][:2]  # backward, forward
    for w, shift in zip(lowest, (speed, -speed), strict=True):
        assert np.abs(of_axes - abs(w + shift)).min() < 1e-6 * w


def test_internal_damping_destabilises_whirl_above_the_critical_speed():
    def stable(speed):
        model = shaft(8, speed, "se3")
        section = Section.from_stiffness(
            EA=3e3,
            GA=2e3,
            GJ=50,
            EI=80,
            mass_per_length=2.0,
            inertia_per_length=(1e-3, 5e-4, 5e-4),
            damping_time=1e-3,
        )
        model.rods["rod"] = type(model.rods["rod"])(**{**model.rods["rod"].__dict__, "section": section})
        return modes(model, 4).stable

    k = np.pi / 2
    critical = np.sqrt(80 * k**4 / 2 / (1 + 80 * k * k / 2e3))  # of the shaft at rest, with shear
    assert stable(0.9 * critical)
    assert not stable(1.1 * critical)


def test_unsymmetric_shaft_has_constant_coefficients_only_in_rotating_axes():
    with pytest.raises(ModelError, match=r"stiffness changes during the motion.*give `spin=`"):
        linearise(shaft(4, 3.0, "se3", EI=(80.0, 60.0)))
    assert linearise(shaft(4, 3.0, "se3", EI=(80.0, 60.0)), spin=(3.0, 0, 0)).gyroscopic.nnz


def test_unsteady_velocities_are_named():
    model = free_body((1, 2, 3), (0, 0, 1.0))
    model.add_body("other", Box(1, 1, 1, density=1.0), position=(2, 0, 0), velocity=(0, 5, 0))
    with pytest.raises(ModelError, match=r"body '(racket|other)' .*not a steady rotation"):
        linearise(model)


def flap_frequency(speed, hub, guess):
    """Frequency of the classical equation w'''' - (N w')' = w^2 w, N = W^2 (hub (1 - x) + (1 - x^2)/2).

    By integration from the root.
    """

    def ends(omega):
        def rates(x, y):
            N, dN = speed**2 * (hub * (1 - x) + 0.5 * (1 - x * x)), -(speed**2) * (hub + x)
            return [y[1], y[2], y[3], N * y[2] + dN * y[1] + omega**2 * y[0]]

        both = [
            solve_ivp(rates, (0, 1), start, method="DOP853", rtol=1e-11, atol=1e-12).y[2:, -1]
            for start in ([0, 0, 1, 0], [0, 0, 0, 1])
        ]
        return np.linalg.det(np.array(both))

    return brentq(ends, guess * (1 - 2e-3), guess * (1 + 2e-3), xtol=1e-9)


def ritz_flap_frequencies(speed, n=16):
    """The three lowest of 1/2 int w''^2 + N w'^2 = w^2/2 int w^2, N = W^2 (1 - x^2)/2, with w = x^2 P_k(2 x - 1), k < n."""
    nodes, weights = np.polynomial.legendre.leggauss(2 * n)
    x, weights = 0.5 * (nodes + 1), 0.5 * weights
    table = [
        np.polynomial.Legendre.basis(k, [0, 1]) * np.polynomial.Legendre([1 / 3, 1 / 2, 1 / 6], [0, 1])
        for k in range(n)
    ]
    w, dw, ddw = (
        np.array([p.deriv(d)(x) if d else p(x) for p in table]) * np.sqrt(weights) for d in (0, 1, 2)
    )
    K = ddw @ ddw.T + (dw * speed**2 * 0.5 * (1 - x * x)) @ dw.T
    return np.sqrt(eigh(K, w @ w.T, eigvals_only=True)[:3])


@pytest.mark.parametrize("speed", WRIGHT)
def test_table_of_wright_equals_a_ritz_solution(speed):
    assert pytest.approx(ritz_flap_frequencies(speed), abs=5.01e-5) == WRIGHT[speed]


@pytest.mark.parametrize("speed", WRIGHT)
def test_rotating_blade_has_the_published_flap_and_lag_frequencies(speed):
    flap, lag = turning_modes(speed)
    assert flap == pytest.approx(WRIGHT[speed], abs=1e-4)  # to the digits of the table
    # in the plane of rotation the centrifugal force also pulls outwards
    assert lag**2 == pytest.approx(flap**2 - speed**2, rel=1e-4)


@pytest.mark.parametrize(("speed", "hub"), [(3.0, 0.0), (5.0, 1.0), (10.0, 0.5)])
def test_flap_frequencies_are_those_of_the_classical_equation_with_a_hub(speed, hub):
    flap, lag = turning_modes(speed, hub)
    expected = [flap_frequency(speed, hub, w) for w in flap]
    assert flap == pytest.approx(expected, rel=2e-5)  # remaining effect of stretch, shear and rotary inertia
    assert lag**2 == pytest.approx(np.square(expected) - speed**2, rel=1e-4)


def test_free_spinning_rod_has_the_exact_stretch():
    """r(s) = sin(k s)/(k cos(k L)) from the middle, k = W sqrt(rho/E), L half the length: L + k^2 L^3/3 at its ends."""
    r = steady_rotation(beam_model(steel(0.1), "FF", "se3", "mean", 16), (0, 0, 30.0)).r[1:]
    assert r.sum(axis=0) == pytest.approx(0.0, abs=1e-12)
    stretch = 30.0**2 * 7850 / 2.1e11 * 0.5**3 / 3
    assert r[-1, 0] - 0.5 == pytest.approx(stretch, rel=1e-2)
