"""Failed steps: halved steps equal the smaller steps, completed steps are kept, and all iterations are counted."""

import numpy as np
import pytest

from discretization.consistent_velocities import project_velocities
from discretization.time import stepper
from discretization.time.em import N_COUNTS
from discretization.time.integrators import parse
from discretization.time.mechanical_stepper import MechanicalStepper
from discretization.time.newton import NOT_CONVERGED, SINGULAR
from discretization.time.stepper import Stepper
from discretization.time.stepper_base import MAX_HALVINGS
from rigid import checks
from rigid.errors import ConvergenceError
from rodsim import Box, Model, audit, signals, simulate
from rodsim.mechanics import integrate
from rodsim.papers import joined_bodies
from tests.support.joined_bodies import hinge

# order, h, iterations allowed in a solve, halvings that this causes
HALVED = [(2, 0.125, 5, 1), (4, 0.5, 9, 1), (6, 0.25, 6, 1), (6, 0.5, 8, 3)]
FIRST = 3  # steps before the one under test, so that t is not 0


def pushed():
    """The hinge under loads that vary within a step."""
    model = hinge()
    tip = model.bodies["bar"].at((0.4, 0, 0))
    model.add_force("push", tip, lambda t: (300 * np.sin(7 * t), 0, 200 * t))
    built = model.build()
    return built, project_velocities(built.system, built.state)[0]


@pytest.mark.parametrize(("order", "h", "allowed", "halvings"), HALVED)
def test_halved_step_equals_its_parts_with_loads_at_their_times(order, h, allowed, halvings, monkeypatch):
    """Bit-identical, also if the halves are halved again; iterations of failed attempts are counted in addition."""
    built, state = pushed()
    parts = halvings + 1
    exact, cost = Stepper(built.system, h / parts, order, built.load_values).advance(
        state, FIRST * parts, parts
    )
    monkeypatch.setattr(stepper, "MAX_ITERATIONS", allowed)
    halved, report = Stepper(built.system, h, order, built.load_values).advance(state, FIRST, 1)
    assert all(np.array_equal(a, b) for a, b in zip(halved, exact, strict=True))
    assert (report.halvings, report.most_iterations) == (halvings, allowed)
    # a failed attempt ends with a solve that took all iterations allowed
    assert report.solves >= cost.solves + halvings
    assert report.iterations >= cost.iterations + halvings * allowed
    if order == 2:  # where an attempt is one solve
        assert (report.solves, report.iterations) == (
            cost.solves + halvings,
            cost.iterations + halvings * allowed,
        )


@pytest.mark.parametrize("halvings", [1, 2])
@pytest.mark.parametrize(
    "integrator",
    ["EML-kappa", "MPL", "EM-G", "GGL-EM", "VI-B(0.5, 0.5)", "mG(2)", "GL-SPARK(2)", "EML(order=4)"],
)
def test_halved_step_of_any_scheme_equals_its_parts(integrator, halvings):
    """Bit-identical; loads are huge at a time that only the full step evaluates, and at one that only its first half does."""
    h, scheme = 1 / 64, parse(integrator)
    first = scheme.fractions[0] * scheme.nodes[0]
    bad = [FIRST * h + first * h / 2**k for k in range(halvings)]
    model = hinge()
    model.add_moment(
        "push",
        model.bodies["bar"],
        lambda t: (0, 1e308 if min(abs(t - s) for s in bad) < 1e-9 else np.sin(9 * t), 1),
    )
    built = model.build()
    state = project_velocities(built.system, built.state)[0]

    def stepper_of(length):
        return MechanicalStepper(
            "hinge", built.system, built.state, length, integrator, None, built.load_values
        )

    state = stepper_of(h).start(state)
    halved, report = stepper_of(h).advance(state, FIRST, 1)
    if halvings == 1:
        exact, _ = stepper_of(h / 2).advance(state, 2 * FIRST, 2)
    else:
        exact, _ = stepper_of(h / 4).advance(state, 4 * FIRST, 2)
        exact, _ = stepper_of(h / 2).advance(exact, 2 * FIRST + 1, 1)
    assert report.halvings == halvings
    assert report.solves == 2 * halvings + 1  # the parts, and each failed attempt
    assert all(np.array_equal(a, b) for a, b in zip(halved, exact, strict=True))
    assert not np.array_equal(state.totals, halved.totals)


def test_variational_step_without_a_solution_is_halved():
    """`integrate` has one step size and fails there; the model run continues, with halved instead of damped steps."""
    system = joined_bodies.system("director")
    with pytest.raises(ConvergenceError, match="try a smaller h: beyond some h") as failure:
        integrate(system, "VI-S", 0.04, 2.0)
    assert integrate(system, "VI-S", 0.02, failure.value.t + 0.04).t[-1] > failure.value.t
    result = simulate(joined_bodies.chain(), 2.0, 0.04, "VI-S", chart="director", output_every=1)
    assert 0 < np.flatnonzero(result.halvings)[0] <= round(failure.value.t / 0.04) + 1
    assert result.t[-1] == pytest.approx(2.0)
    assert audit(result).constraint < 1e-9  # also of frames: no set of directors is reflected


@pytest.fixture(autouse=True)
def any_load_passes(monkeypatch):
    """Disable the check that rejects loads by name if they are so large that a step must fail."""
    monkeypatch.setattr(checks, "LARGEST", np.inf)


def overloaded_pendulum(stops_at):
    """A pendulum whose load is far too large from t = stops_at on."""
    model = Model("broken", gravity=(0, 0, -9.81))
    bar = model.add_body("bar", Box(1, 0.1, 0.2, density=100), position=(0.5, 0, 0))
    model.add_joint("pin", "spherical", model.ground, bar, at=(0, 0, 0))
    model.add_force("load", bar.at((0.5, 0, 0)), lambda t: (0, 1.0 if t < stops_at else 1e308, 0))
    return model


@pytest.mark.parametrize("good", [1, 50])  # at the end and in the middle of one compiled march
@pytest.mark.parametrize("integrator", ["em", "em4", "em-ggl", "EML-kappa"])
def test_failed_run_ends_with_the_last_good_step(integrator, good, tmp_path):
    """Steps since the last output are kept: in the error, in its result and in the file."""
    h = 0.01
    with pytest.raises(ConvergenceError) as failure:
        simulate(overloaded_pendulum(good * h), 1.0, h, integrator, tmp_path / "run.vtkhdf", output_every=100)
    error = failure.value
    assert error.reached.step == good
    assert error.t == pytest.approx(good * h)
    assert list(error.result.step) == [0, good]
    uninterrupted = simulate(overloaded_pendulum(np.inf), good * h, h, integrator, output_every=100)
    for reached, stored, expected in zip(
        error.reached.state, error.result.state(-1), uninterrupted.state(-1), strict=True
    ):
        assert np.array_equal(reached, expected)
        assert np.array_equal(stored, expected)


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "EML-kappa"])
def test_failed_run_stores_no_output_twice(integrator):
    with pytest.raises(ConvergenceError) as failure:
        simulate(overloaded_pendulum(0.5), 1.0, 0.01, integrator, output_every=25)
    assert list(failure.value.result.step) == [0, 25, 50]


def test_iteration_means_include_halved_and_failed_steps(monkeypatch):
    """The mean includes every solve between two outputs and never exceeds the largest."""
    monkeypatch.setattr(stepper, "MAX_ITERATIONS", 4)
    result = simulate(hinge(), 1.0, 0.125, output_every=2, solver="general")
    mean, most = result.newton_iterations[1:], result.audit_column("newton_max")[1:]
    assert result.halvings.sum() > 0
    assert np.all((mean > 1) & (mean <= most))
    assert most.max() == 4


def test_error_names_the_scheme_and_the_smallest_step():
    message = (
        r"EML-kappa on 'broken', t = 0\.05 s: .*, even with a step of 9\.77e-06 s in place of 0\.01 s; try"
    )
    with pytest.raises(ConvergenceError, match=message) as failure:
        simulate(overloaded_pendulum(0.05), 1.0, 0.01, "EML-kappa", output_every=100)
    assert failure.value.report.halvings >= MAX_HALVINGS


def test_error_reports_the_cost_of_failed_attempts():
    with pytest.raises(
        ConvergenceError, match=r"(not a finite number|did not converge).*look for loads"
    ) as failure:
        simulate(overloaded_pendulum(0.5), 1.0, 0.01, output_every=100)
    error = failure.value
    assert error.report.halvings >= MAX_HALVINGS  # first halves may succeed
    assert error.h == pytest.approx(0.01 / 2**MAX_HALVINGS)
    # every solve of the last output, the failed ones after one iteration at most
    last = error.result.newton_iterations[-1]
    assert 1.0 < last <= error.result.audit_column("newton_max")[-1]


@pytest.mark.parametrize("status", [SINGULAR, NOT_CONVERGED])
def test_em_error_has_a_singular_matrix_attribute(status, monkeypatch):
    built = hinge().build()
    fails = lambda self, state, h, starts, parts: (status, np.zeros((parts, N_COUNTS), np.int64), state)  # noqa: E731
    monkeypatch.setattr(Stepper, "_run", fails)
    with pytest.raises(ConvergenceError) as failure:
        Stepper(built.system, 0.01, 2, built.load_values).advance(built.state, 0, 1)
    assert failure.value.singular == (status == SINGULAR)


@pytest.mark.parametrize(("vartheta", "stops_at", "singular"), [(1.0, np.inf, True), (0.5, 0.005, False)])
def test_every_scheme_error_has_a_singular_matrix_attribute(vartheta, stops_at, singular):
    """With vartheta = 1 the multipliers of VI-B have no effect (002 (82)); a too large load is a different failure."""
    with pytest.raises(ConvergenceError) as failure:
        simulate(overloaded_pendulum(stops_at), 0.02, 0.01, f"VI-B(0.5, {vartheta})", chart="director")
    assert failure.value.singular == singular


H, FAR = 0.005, 150  # s; steps of one output, more than the loop steps back


def kicked_chain(axis, kick):
    """Three bars on hinges, pushed in one step so hard that it must be halved."""
    model = Model("chain", gravity=(0, 0, -9.81))
    parent = model.ground.at((0, 0, 0))
    for k in range(3):
        body = model.add_body(f"bar {k}", Box(1, 0.1, 0.1, density=5), position=(0.5 + k, 0, 0))
        model.add_joint(f"hinge {k}", "revolute", parent, body.at((-0.5, 0, 0)), axis=axis(k))
        parent = body.at((0.5, 0, 0))
    model.add_force("kick", parent, kick)
    return model


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("integrator", ["em", "em4"])
@pytest.mark.parametrize("solver", ["planar", "tree", "general"])
@pytest.mark.parametrize("at", [3, 16, 100, FAR - 2])
def test_failed_step_keeps_the_state_reached_since_the_last_output(solver, integrator, at):
    """Bit-identical to a run with an output at each step: the loop returns to a saved state and continues from there."""

    kick = signals.Pulse(5e4, at * H, (at + 1) * H).along((0, 0, 1))

    def axis(k):
        return (0, 1, 0) if solver == "planar" else (0, 1, 0.2 * k)

    one, frequent = (
        simulate(
            kicked_chain(axis, kick),
            FAR * H,
            H,
            integrator,
            output_every=every,
            solver="general" if solver == "general" else "auto",
            progress=False,
        )
        for every in (FAR, 1)
    )
    used_solver = one.description["run"].get("solver", "general")
    assert used_solver.startswith(solver)
    assert one.halvings.sum() == frequent.halvings.sum() > 0
    for array, other in zip(one.state(), frequent.state(), strict=True):
        assert np.array_equal(array, other)
    assert one.newton_iterations[-1] > 0.0
