"""Charts of multibody models: derivatives, discrete derivatives, inertia, momentum maps, the work of forces."""

from functools import cache

import numpy as np
import pytest

from rigid import quaternions
from rigid.errors import ModelError
from rigid.mechanics import mechanical_system
from rigid.mechanics.mechanical_system import call
from rodsim import Box, Model, Sphere
from rodsim.mechanics import rotating_body
from tests.support.mechanisms import arms

CHARTS = ("director", "quaternion", "quaternion-alpha", "quaternion-gamma")
REGULAR = [chart for chart in CHARTS if chart != "quaternion"]


@cache
def general_system(chart):
    """A system with bodies, joints, springs and loads of every kind, and coordinates off the constraints."""
    model = arms()
    second = model.bodies["second"]
    third = model.add_body(
        "third", Box(0.3, 0.4, 0.2, density=100), (2.2, 0.3, 0.1), angular_velocity=(1, 2, 3)
    )
    model.add_joint("rail", "prismatic", second, third, at=(2.0, 0.1, 0), axis=(0.3, 1, 0.2))
    model.add_joint("strut", "distance", model.ground.at((2, -1, 1)), third.at((0.1, 0.05, -0.1)))
    system = model.mechanical_system(chart)
    return system, system.q0 + 0.2 * np.random.default_rng(0).normal(size=system.n)


def evaluate(system, name, shape, *arguments):
    inputs = (np.ascontiguousarray(a, complex) for a in arguments)
    out = np.zeros(shape, complex)
    call(getattr(system.functions, name), (*inputs, system.data, out))
    return out


def slope(f, q):
    """Derivative by central differences, along the last axis."""
    e = 1e-6
    return np.stack([(f(q + e * d) - f(q - e * d)) / (2 * e) for d in np.eye(len(q))], axis=-1)


@pytest.mark.parametrize("chart", CHARTS)
def test_derivatives_agree_with_differences(chart):
    system, q0 = general_system(chart)
    n, m, q = system.n, system.m, q0
    rng = np.random.default_rng(1)
    a, b, lam = rng.normal(size=n), rng.normal(size=n), rng.normal(size=m)
    pairs = {
        "jacobian": (slope(system.constraints, q), system.jacobian(q)),
        "gradient": (slope(system.potential, q), system.gradient(q)),
        "curvature": (
            slope(lambda x: lam @ system.jacobian(x) @ a, q),
            evaluate(system, "curvature", n, q, a, lam).real,
        ),
        "mass_gradient": (
            slope(lambda x: a @ system.mass(x) @ b, q),
            evaluate(system, "mass_gradient", n, q, a, b).real,
        ),
    }
    if chart in REGULAR:
        pairs["inverse_mass_gradient"] = (
            slope(lambda x: a @ evaluate(system, "inverse_mass", (n, n), x).real @ b, q),
            evaluate(system, "inverse_mass_gradient", n, q, a, b).real,
        )
    for name, (difference, derivative) in pairs.items():
        assert np.abs(difference - derivative).max() < 1e-7, name


@pytest.mark.parametrize("name", ["constraints", "gradient", "mass"])
@pytest.mark.parametrize("chart", CHARTS)
def test_functions_are_analytic(name, chart):
    """Compare complex steps with central differences: no modulus or conjugate is taken."""
    system, q0 = general_system(chart)
    shape = {"constraints": system.m, "gradient": system.n, "mass": (system.n, system.n)}[name]
    d = np.random.default_rng(2).normal(size=system.n)
    step = evaluate(system, name, shape, q0 + 1e-40j * d).imag / 1e-40
    ends = [evaluate(system, name, shape, q0 + s * 1e-6 * d).real for s in (1, -1)]
    assert np.abs(step - (ends[0] - ends[1]) / 2e-6).max() < 1e-7


@pytest.mark.parametrize("chart", CHARTS)
def test_discrete_derivatives_are_exact_over_a_large_step(chart):
    system, q0 = general_system(chart)
    n, m = system.n, system.m
    rng = np.random.default_rng(3)
    q1, v0, v1 = q0 + 0.1 * rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)
    dq = q1 - q0
    DV = evaluate(system, "discrete_gradient", n, q0, q1).real
    assert DV @ dq == pytest.approx(system.potential(q1) - system.potential(q0), abs=1e-12)
    Dg = evaluate(system, "discrete_jacobian", (m, n), q0, q1).real
    assert np.abs(Dg @ dq - (system.constraints(q1) - system.constraints(q0))).max() < 1e-13
    inputs = [x.astype(complex) for x in (q0, v0, q1, v1)]
    out = [np.zeros(n, complex), np.zeros(n, complex)]
    call(system.functions.discrete_kinetic, (*inputs, system.data, *out))
    change = system.kinetic(q1, v1) - system.kinetic(q0, v0)
    assert (out[0] @ dq + out[1] @ (v1 - v0)).real == pytest.approx(change, abs=1e-12)


@pytest.mark.parametrize("chart", REGULAR)
def test_discrete_derivatives_of_the_coenergy_are_exact(chart):
    system, q0 = general_system(chart)
    n = system.n
    rng = np.random.default_rng(4)
    q1, p0, p1 = q0 + 0.3 * rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)
    out = [np.zeros(n, complex), np.zeros(n, complex)]
    inputs = [x.astype(complex) for x in (q0, p0, q1, p1)]
    call(system.functions.discrete_coenergy, (*inputs, system.data, *out))
    change = (
        system.hamiltonian(q1, p1) - system.potential(q1) - system.hamiltonian(q0, p0) + system.potential(q0)
    )
    assert (out[0] @ (q1 - q0) + out[1] @ (p1 - p0)).real == pytest.approx(change, rel=2e-15, abs=1e-13)


def test_force_does_the_same_work_in_every_chart():
    """Power F . dq/dt of loads."""
    powers = []
    for chart in CHARTS:
        system, _ = general_system(chart)
        signal = np.ascontiguousarray(np.asarray(system.signal(0.1)).ravel())
        out = np.zeros(system.n, complex)
        call(system.functions.force, (system.q0.astype(complex), signal, system.data, out))
        powers.append((out @ system.v0).real)
    assert abs(powers[0]) > 0.1
    assert powers == pytest.approx([powers[0]] * len(CHARTS), rel=1e-12)


@pytest.mark.parametrize("values", [(1.0, 2.0, 2.5), ((3.0, 0.2, 0.1), (0.2, 4.0, 0.3), (0.1, 0.3, 5.0))])
def test_kinetic_energy_and_angular_momentum_are_the_same_in_all_charts(values):
    J = np.array(values)
    matrix = np.diag(J) if J.ndim == 1 else J
    Omega, quat = np.array([0.3, -1.0, 2.0]), quaternions.normalize([0.5, 0.1, -0.7, 0.3])
    L = quaternions.rotate(quat, matrix @ Omega)
    for chart in CHARTS:
        kind, _, inertia = chart.partition("-")
        system = rotating_body("body", J, Omega, quat, chart=kind, inertia=inertia or "singular")
        p = system.momentum(system.q0, system.v0)
        assert system.kinetic(system.q0, system.v0) == pytest.approx(Omega @ matrix @ Omega / 2, rel=1e-14)
        assert [float(s(system.q0, p)) for s in system.symmetries] == pytest.approx(L, rel=1e-13)
        if chart in REGULAR:
            assert (
                np.abs(system.inverse_mass(system.q0) @ system.mass(system.q0) - np.eye(system.n)).max()
                < 1e-14
            )


def test_unknown_charts_are_rejected():
    with pytest.raises(ModelError, match="chart 'euler' is not known"):
        rotating_body("m", np.ones(3), np.zeros(3), chart="euler")
    with pytest.raises(ModelError, match="gamma = -1"):
        rotating_body("m", np.ones(3), np.zeros(3), inertia="gamma", parameter=-1.0)


def test_coordinates_off_the_constraints_are_rejected():
    with pytest.raises(ModelError, match=r"\|g1\(q0\)\| = 1.5; give initial coordinates"):
        rotating_body("m", np.ones(3), np.zeros(3), quat=np.array([2.0, 0.0, 0.0, 0.0]))


def test_chart_flags_match_its_functions():
    assert rotating_body("m", np.ones(3), np.zeros(3)).has(mechanical_system.SINGULAR_MASS)
    assert rotating_body("m", np.ones(3), np.zeros(3), chart="director").has(mechanical_system.CONSTANT_MASS)


@pytest.mark.parametrize("chart", CHARTS)
def test_contact_force_outside_a_step_is_the_bristle_force(chart):
    """The force is independent of the velocity, because the dissipation depends on both ends of a step."""
    model = Model("ball", gravity=(0, 0, -9.81))
    ball = model.add_body("ball", Sphere(0.1, density=1000.0), (0, 0, 0.099))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    surface = model.add_sphere("ball", ball, 0.1)
    model.add_contact("rubs", surface, floor, stiffness=1e5, friction=0.5, restitution=0.5)
    system = model.mechanical_system(chart)
    rates = np.random.default_rng(3).normal(size=(2, system.n))
    for w in (0.0 * rates[0], *rates):
        assert np.abs(evaluate(system, "resistance", system.n, system.q0, w)).max() == 0.0
    over_a_step = evaluate(
        system, "discrete_resistance", system.n, system.q0, system.q0 + 1e-3 * rates[0], [1e3]
    )
    assert np.abs(over_a_step).max() > 1.0
