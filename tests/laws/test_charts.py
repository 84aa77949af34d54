"""Charts of multibody models: derivatives, discrete derivatives, inertia, momentum maps."""

import numpy as np
import pytest

from rigid import quaternions
from rigid.charts.multibody import Interactions, Weight, multibody_system, rotating_body
from rigid.errors import ModelError
from rigid.mechanics import mechanical
from rigid.mechanics.mechanical import MechanicalSystem, call
from rigid.system import (
    ALONG,
    COINCIDENT,
    DISTANCE,
    FORCE,
    MOMENT,
    PERPENDICULAR,
    Constraints,
    Frames,
    Loads,
    Springs,
    TorsionSprings,
)
from tests.support.arrays import acting

CHARTS = [
    ("director", "singular"),
    ("quaternion", "singular"),
    ("quaternion", "alpha"),
    ("quaternion", "gamma"),
]
REGULAR = [CHARTS[0], *CHARTS[2:]]
F = 3


def model(chart, inertia, monkeypatch):
    """A fixed frame and two bodies with every kind of interaction, not assembled: g(q0) is not 0."""
    rng = np.random.default_rng(0)

    def vectors(k):
        return rng.normal(size=(k, 3))

    quat = quaternions.normalize(rng.normal(size=(F, 4)))
    J = np.array([np.diag([3.0, 4.0, 5.0]) + 0.1 for _ in range(F)])
    frames = Frames(np.array([1.0, 2.0, 3.0]), J, np.array([1, 0, 0], np.uint8))
    kinds = np.array([COINCIDENT, PERPENDICULAR, ALONG, DISTANCE])
    pairs = np.array([[0, 1], [1, 2], [2, 1], [1, 2]])
    parts = [vectors(4) for _ in range(4)]
    constraints = Constraints(kinds, pairs, *parts, np.array([0.0, 0.1, 0.2, 0.3]), np.zeros(4, int))
    k, length = np.array([3.0, 4.0]), np.ones(2)
    springs = Springs(np.array([[0, 1], [1, 2]]), vectors(2), vectors(2), k, np.zeros(2), length)
    U, W = np.array([[1.0, 0, 0]]), np.array([[0, 1.0, 0]])
    torsions = TorsionSprings(
        np.array([[1, 2]]), U, W, vectors(1), np.array([2.0]), np.zeros(1), np.array([0.3])
    )
    loads = Loads(
        np.array([FORCE, MOMENT, FORCE]), np.array([1, 2, 2]), vectors(3), np.array([0, 0, 1], np.uint8)
    )
    weights = (Weight(1, vectors(1)[0], vectors(1)[0]),)
    values = vectors(3)
    own = Interactions(constraints, weights, lambda t: values, **acting(springs, torsions, loads))
    monkeypatch.setattr(MechanicalSystem, "__post_init__", lambda self: None)
    return multibody_system(
        "two bodies", frames, vectors(F), quat, vectors(F), vectors(F), own, chart=chart, inertia=inertia
    )


def evaluate(system, name, shape, *arguments):
    inputs = (np.ascontiguousarray(a, complex) for a in arguments)
    out = np.zeros(shape, complex)
    call(getattr(system.functions, name), (*inputs, system.data, out))
    return out


def slope(f, q):
    """Derivative by central differences, along the last axis."""
    e = 1e-6
    return np.stack([(f(q + e * d) - f(q - e * d)) / (2 * e) for d in np.eye(len(q))], axis=-1)


@pytest.mark.parametrize(("chart", "inertia"), CHARTS)
def test_derivatives_agree_with_differences(chart, inertia, monkeypatch):
    system = model(chart, inertia, monkeypatch)
    n, m, q = system.n, system.m, system.q0
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
    if (chart, inertia) in REGULAR:
        pairs["inverse_mass_gradient"] = (
            slope(lambda x: a @ evaluate(system, "inverse_mass", (n, n), x).real @ b, q),
            evaluate(system, "inverse_mass_gradient", n, q, a, b).real,
        )
    for name, (difference, own) in pairs.items():
        assert np.abs(difference - own).max() < 1e-7, name


@pytest.mark.parametrize("name", ["constraints", "gradient", "mass"])
@pytest.mark.parametrize(("chart", "inertia"), CHARTS)
def test_functions_are_analytic(name, chart, inertia, monkeypatch):
    """Complex steps against central differences: nothing takes a modulus or a conjugate."""
    system = model(chart, inertia, monkeypatch)
    shape = {"constraints": system.m, "gradient": system.n, "mass": (system.n, system.n)}[name]
    d = np.random.default_rng(2).normal(size=system.n)
    step = evaluate(system, name, shape, system.q0 + 1e-40j * d).imag / 1e-40
    ends = [evaluate(system, name, shape, system.q0 + s * 1e-6 * d).real for s in (1, -1)]
    assert np.abs(step - (ends[0] - ends[1]) / 2e-6).max() < 1e-7


@pytest.mark.parametrize(("chart", "inertia"), CHARTS)
def test_discrete_derivatives_are_exact_over_a_large_step(chart, inertia, monkeypatch):
    system = model(chart, inertia, monkeypatch)
    n, m, q0 = system.n, system.m, system.q0
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


@pytest.mark.parametrize(("chart", "inertia"), REGULAR)
def test_discrete_derivatives_of_the_coenergy_are_exact(chart, inertia, monkeypatch):
    system = model(chart, inertia, monkeypatch)
    n, q0 = system.n, system.q0
    rng = np.random.default_rng(4)
    q1, p0, p1 = q0 + 0.3 * rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)
    out = [np.zeros(n, complex), np.zeros(n, complex)]
    inputs = [x.astype(complex) for x in (q0, p0, q1, p1)]
    call(system.functions.discrete_coenergy, (*inputs, system.data, *out))
    change = (
        system.hamiltonian(q1, p1) - system.potential(q1) - system.hamiltonian(q0, p0) + system.potential(q0)
    )
    assert (out[0] @ (q1 - q0) + out[1] @ (p1 - p0)).real == pytest.approx(change, abs=1e-13)


@pytest.mark.parametrize(("chart", "inertia"), CHARTS)
def test_a_force_does_the_same_work_in_every_chart(chart, inertia, monkeypatch):
    """Power F . dq/dt of loads against f . v and m . omega."""
    system = model(chart, inertia, monkeypatch)
    values = np.asarray(system.signal(0.0)).reshape(-1, 3)
    out = np.zeros(system.n, complex)
    signal = np.ascontiguousarray(values.ravel())
    call(system.functions.force, (system.q0.astype(complex), signal, system.data, out))
    reference = model("quaternion", "singular", monkeypatch)
    powers = []
    for other in (system, reference):
        own = np.zeros(other.n, complex)
        call(other.functions.force, (other.q0.astype(complex), signal, other.data, own))
        powers.append((own @ other.v0).real)
    assert powers[0] == pytest.approx(powers[1], rel=1e-12)


@pytest.mark.parametrize("values", [(1.0, 2.0, 2.5), ((3.0, 0.2, 0.1), (0.2, 4.0, 0.3), (0.1, 0.3, 5.0))])
def test_kinetic_energy_and_angular_momentum_are_the_same_in_all_charts(values):
    J = np.array(values)
    matrix = np.diag(J) if J.ndim == 1 else J
    Omega, quat = np.array([0.3, -1.0, 2.0]), quaternions.normalize([0.5, 0.1, -0.7, 0.3])
    L = quaternions.rotate(quat, matrix @ Omega)
    for chart, inertia in CHARTS:
        system = rotating_body("body", J, Omega, quat, chart=chart, inertia=inertia)
        p = system.momentum(system.q0, system.v0)
        assert system.kinetic(system.q0, system.v0) == pytest.approx(Omega @ matrix @ Omega / 2, rel=1e-14)
        assert [float(s(system.q0, p)) for s in system.symmetries] == pytest.approx(L, rel=1e-13)
        if (chart, inertia) in REGULAR:
            assert (
                np.abs(system.inverse_mass(system.q0) @ system.mass(system.q0) - np.eye(system.n)).max()
                < 1e-14
            )


def test_only_springs_with_damping_make_a_system_viscous():
    frames = Frames(np.ones(2), np.eye(3)[None].repeat(2, 0), np.zeros(2, np.uint8))
    zero, unit = np.zeros((2, 3)), quaternions.IDENTITY[None].repeat(2, 0)
    r = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    for damping in (np.zeros(2), np.array([0.0, 3.0])):
        pair = np.array([[0, 1], [0, 1]])
        springs = Springs(pair, *np.zeros((2, 2, 3)), np.ones(2), damping, np.ones(2))
        system = multibody_system("m", frames, r, unit, zero, zero, Interactions(**acting(springs)))
        assert system.has(mechanical.VISCOUS) == damping.any()
        assert len(system.data.dissipating.each) == np.count_nonzero(damping)


def test_unknown_charts_are_refused():
    with pytest.raises(ModelError, match="chart 'euler' is not known"):
        rotating_body("m", np.ones(3), np.zeros(3), chart="euler")
    with pytest.raises(ModelError, match="gamma = -1"):
        rotating_body("m", np.ones(3), np.zeros(3), inertia="gamma", parameter=-1.0)


def test_coordinates_off_the_constraints_are_refused():
    with pytest.raises(ModelError, match=r"\|g1\(q0\)\| = 1.5; give initial coordinates"):
        rotating_body("m", np.ones(3), np.zeros(3), quat=np.array([2.0, 0.0, 0.0, 0.0]))


def test_flags_say_what_a_chart_has():
    assert rotating_body("m", np.ones(3), np.zeros(3)).has(mechanical.SINGULAR_MASS)
    assert rotating_body("m", np.ones(3), np.zeros(3), chart="director").has(mechanical.CONSTANT_MASS)
