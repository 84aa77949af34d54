"""Every integrator: its order, what it promises, what it needs, and how it fails."""

import numpy as np
import pytest

from discretization.time.integrate import Start, integrate
from discretization.time.integrators import FAMILIES, parse
from discretization.time.symplecticity import _Step, newton_matrix, symplectic_defect
from rigid.charts import rotating_body
from rigid.errors import ConvergenceError, ModelError
from rodsim.papers import properties
from rodsim.papers.properties import ROWS, top

PROMISED = {
    "energy": lambda row: row.energy,
    "generalised energy": lambda row: row.energy,
    "momentum": lambda row: row.momentum,
    "symplectic": lambda row: row.symplectic,
    "position": lambda row: row.position,
    "velocity": lambda row: row.momentum_constraint,
}
# round-off of a hundred steps whose residuals are solved to a few units in the last place; mG sums many of them
ROUND_OFF = 5e-13


@pytest.fixture(scope="module", params=ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def measured(request):
    integrator, chart, steps = request.param
    return parse(integrator), properties.measure(integrator, chart, steps, timed=False)


def test_observed_order_is_the_declared_one(measured):
    scheme, row = measured
    assert row.order == pytest.approx(scheme.order, abs=0.1)


def test_promised_invariants_are_kept_to_round_off(measured):
    scheme, row = measured
    broken = {what: PROMISED[what](row) for what in scheme.promises if not PROMISED[what](row) < ROUND_OFF}
    assert not broken


@pytest.mark.parametrize("name", ["EML", "MPH", "EM-G", "GGL-EM", "mG(2)"])
def test_schemes_that_promise_no_symplecticity_are_not_symplectic(name):
    """The measurement can fail."""
    scheme = parse(name)
    chart = "singular" if scheme.singular_mass else "director"
    assert symplectic_defect(top(chart if name != "MPH" else "alpha"), scheme, 0.05) > 1e-8


def test_ggl_em_in_quaternions_satisfies_both_constraints_and_keeps_energy_and_momentum():
    run = integrate(top("gamma"), "GGL-EM", 0.02, 2.0)
    energy, L = run.generalised_energy(), run.momentum(run.system.symmetries[-1])
    assert np.abs(energy - energy[0]).max() < 1e-13
    assert np.abs(L - L[0]).max() < 1e-13
    assert run.position_residual().max() < 1e-15
    assert np.abs(np.einsum("ij,ij->i", run.q, run.p)).max() < 1e-13


@pytest.mark.parametrize(
    ("name", "theta", "vartheta", "factor"),
    [("VI-A", 0.6, None, 0.6 / 0.4), ("VI-B", 0.5, 0.6, 0.6 / 0.4), ("VI-B", 0.2, 0.4, 0.4 / 0.6)],
)
def test_theta_schemes_multiply_what_violates_the_constraints(name, theta, vartheta, factor):
    """A momentum normal to g = 0 is multiplied by -theta/(1 - theta) (A), by -vartheta/(1 - vartheta) (B)."""
    parameters = {"theta": theta} if vartheta is None else {"theta": theta, "vartheta": vartheta}
    system = top("alpha")
    normal = 1e-9 * system.q0
    p0 = system.momentum(system.q0, system.v0)
    h, found = 1e-5, []
    for p in (p0, p0 + normal):
        start = Start(0.0, system.q0, p, system.v0, np.zeros(1), np.zeros(1))
        run = integrate(system, name, h, 4 * h, start=start, **parameters)
        found.append(np.einsum("ij,ij->i", run.q, run.p))
    grown = found[1] - found[0]
    assert grown[1:] / grown[:-1] == pytest.approx(-factor, rel=1e-2)


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"BS99"}))
def test_newton_matrix_is_the_derivative_of_the_residual(name):
    """Complex steps against central differences, at the solution of a step."""
    scheme = parse(name)
    system = top("singular" if scheme.singular_mass else "gamma")
    if scheme.prepare:
        system = scheme.prepare(system)
    one = _Step(system, scheme, 0.05, np.zeros((len(scheme.nodes), 1)))
    state = (system.q0, system.momentum(system.q0, system.v0), system.v0)
    x = one.solve(*state)
    matrix = newton_matrix(system, scheme, 0.05)
    e = 1e-6 * np.eye(len(x))
    differences = np.array(
        [(one.residual(x + d, state) - one.residual(x - d, state)).real / 2e-6 for d in e]
    ).T
    assert np.abs(matrix - differences).max() < 1e-6 * np.abs(matrix).max()


@pytest.mark.parametrize("guess", ["simple", "advanced"])
@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"BS99"}))
def test_both_guesses_lead_to_the_same_step(name, guess):
    scheme = parse(name)
    system = top("singular" if scheme.singular_mass else "alpha")
    run = integrate(system, scheme, 0.02, 0.2, guess=guess)
    other = integrate(system, scheme, 0.02, 0.2)
    assert np.abs(run.q - other.q).max() < 1e-12


def test_a_run_in_two_parts_is_the_run_in_one_to_the_bit():
    system = top("alpha")
    whole = integrate(system, "GGL-EM", 0.02, 1.0)
    first = integrate(system, "GGL-EM", 0.02, 0.4)
    second = integrate(system, "GGL-EM", 0.02, 0.6, start=first.at(-1))
    assert np.array_equal(second.q[-1], whole.q[-1])
    assert np.array_equal(second.p[-1], whole.p[-1])
    assert np.array_equal(second.t[-1], whole.t[-1])


def test_failure_keeps_the_steps_before_it():
    system = rotating_body("fast", np.array([6.0, 8.0, 3.0]), np.array([10.0, 20.0, 20.0]))
    with pytest.raises(ConvergenceError, match="try a smaller h") as failure:
        integrate(system, "EML", 0.5, 50.0)
    kept = failure.value.trajectory
    assert len(kept.t) >= 1
    assert kept.t[-1] == pytest.approx(failure.value.t)
    assert np.all(np.isfinite(kept.q))


REFUSED = {
    "needs a regular mass": lambda: integrate(top("singular"), "GGL-EM", 0.1, 1.0),
    "needs a quaternion chart": lambda: integrate(top("director"), "EML-kappa", 0.1, 1.0),
    "is not known": lambda: integrate(top("singular"), "RK4", 0.1, 1.0),
    "use BS99": lambda: integrate(top("axis"), "EMH", 0.1, 1.0),
    "needs a top": lambda: integrate(top("alpha"), "BS99", 0.1, 1.0),
    "not a multiple": lambda: integrate(top("singular"), "EML", 0.3, 1.0),
    "give positive numbers": lambda: integrate(top("singular"), "EML", -0.1, 1.0),
    "guess": lambda: integrate(top("singular"), "EML", 0.1, 1.0, guess="lucky"),
    "theta = 0": lambda: parse("VI-A(0)"),
    "vartheta = 2": lambda: parse("VI-B(1, 2)"),
    "k = 0": lambda: parse("mG(0)"),
    "s = 1": lambda: parse("Lobatto-IIIA-B(1)"),
    "cannot be composed": lambda: parse("VI-S(order=4)"),
    "of order 4 cannot be composed to 8; choose 6": lambda: parse("GL-SPARK(2, order=8)"),
    "choose 4 or 6": lambda: parse("EML(order=8)"),
    "cannot be read": lambda: parse("mG(three)"),
    "do not fit": lambda: parse("EML(theta=0.5)"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_does_not_fit_is_refused_with_the_reason(message):
    with pytest.raises(ModelError, match=message):
        REFUSED[message]()
