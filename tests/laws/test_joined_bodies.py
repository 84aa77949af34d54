"""Joined bodies under every integrator: each conserves in each chart exactly its declared invariants."""

import re

import numpy as np
import pytest

from discretization.time.integrate import MAX_ITERATIONS
from discretization.time.integrators import parse
from rigid.errors import ConvergenceError, ModelError
from rigid.mechanics.mechanical_system import call
from rodsim import Box, MassProperties, Model
from rodsim.mechanics import integrate, rotating_body
from rodsim.papers import joined_bodies
from rodsim.papers.scheme_properties import COLUMNS, promised

# round-off of the steps; mG sums many residuals, EML's reductions divide theirs by the step
CONSERVED_TOLERANCE, CHANGED_TOLERANCE = 5e-13, 5e-12
# four Gauss points of mG(2) happen to be enough for this spring's energy
BETTER_THAN_DECLARED = {("mG(2)", "energy"), ("mG(2)", "generalised energy")}
SLOW = ("order=", "mG", "GL-SPARK(3)", "Lobatto-IIIA-B(3)")
# invariants are conserved in each step; others change within a few, except slow drift of velocity constraints
ALL_CHARTS = ("quaternion", "quaternion-alpha", "quaternion-gamma", "director")
STEPS, SLOWLY_LOST = 20, {("mG(2)", "gamma"): 50}


def rows():
    for integrator, chart, steps in joined_bodies.ROWS:
        slow = any(name_part in integrator for name_part in SLOW)
        yield pytest.param(
            integrator, chart, steps, id=f"{integrator} {chart}", marks=pytest.mark.slow if slow else ()
        )


@pytest.mark.parametrize(("integrator", "chart", "steps"), list(rows()))
def test_scheme_conserves_exactly_its_declared_invariants_of_joined_bodies(
    integrator, chart, steps, monkeypatch
):
    monkeypatch.setattr(joined_bodies, "STEPS", SLOWLY_LOST.get((integrator, chart), STEPS))
    measured = joined_bodies.measure(integrator, chart)
    values = {invariant: getattr(measured, column) for invariant, column in COLUMNS.items()}
    declared = promised(integrator, chart)
    broken = {
        invariant: values[invariant] for invariant in declared if not values[invariant] <= CONSERVED_TOLERANCE
    }
    violated = {
        invariant: value
        for invariant, value in values.items()
        if invariant not in declared
        and value < CHANGED_TOLERANCE
        and (integrator, invariant) not in BETTER_THAN_DECLARED
    }
    assert not broken
    assert not violated


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "chart", "steps"), joined_bodies.ROWS)
def test_position_order_of_joined_bodies_is_the_declared_one(integrator, chart, steps):
    order = joined_bodies.order_of_positions(integrator, chart, steps[:2])
    assert order == pytest.approx(parse(integrator).order, abs=0.1)


@pytest.mark.parametrize(
    ("integrator", "chart"),
    [("GL-SPARK(2)", "gamma"), ("GL-SPARK(2)", "director"), ("Lobatto-IIIA-B(2)", "director")],
)
def test_spark_satisfies_velocity_constraints_in_every_step(integrator, chart):
    """The last multiplier, which determines the end velocities, is solved in every step."""
    run = integrate(joined_bodies.system(chart), integrator, 0.02, 1.0)
    residual = run.velocity_residual()[1:]
    assert residual.max() < 5e-13
    assert residual.max() < 500 * np.median(residual)
    assert run.iterations[1:].mean() < 10.5  # corrections with one matrix


def multipliers(system, q, v):
    """Exact multipliers at a state: M a + G^T lam = -dV, G a = -(dG/dt) v, for a constant mass."""
    n, m = system.n, system.m
    G, bent = system.jacobian(q), np.zeros(m)
    for k, unit in enumerate(np.eye(m, dtype=complex)):
        slope = np.zeros(n, complex)
        call(system.functions.curvature, (q.astype(complex), v.astype(complex), unit, system.data, slope))
        bent[k] = slope.real @ v
    matrix = np.block([[system.mass(q), G.T], [G, np.zeros((m, m))]])
    return np.linalg.solve(matrix, np.concatenate([-system.gradient(q), -bent]))[n:]


def pendulum():
    model = Model("pendulum", gravity=(1, -2, -9))
    bob = model.add_body(
        "bob", Box(1, 0.3, 0.2, density=20), position=(0.5, 0, 0), angular_velocity=(0.5, 1, 3)
    )
    model.add_joint("pin", "spherical", a=model.ground, b=bob, at=(0, 0.1, 0.05))
    return model.mechanical_system("director")


@pytest.mark.parametrize(
    ("integrator", "order"),
    [
        ("GL-SPARK(2)", 2),
        ("GL-SPARK(3)", 3),
        ("Lobatto-IIIA-B(3)", 2),
        ("mG(2)", 2),
        ("mG(3)", 3),
    ],
)
def test_stored_multipliers_converge_to_step_end_values(integrator, order):
    system, steps, errors = pendulum(), (0.02, 0.01, 0.005), []
    for h in steps:
        run = integrate(system, integrator, h, 0.2)
        exact = multipliers(system, run.q[-1], system.inverse_mass(run.q[-1]) @ run.p[-1])
        errors.append(np.abs(run.lam[-1] - exact).max())
    assert errors[-1] < 1e-2 * np.abs(exact).max()
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(order, abs=0.15)


def light_pendulum(J):
    model = Model("light pendulum", gravity=(0, 0, -9.81))
    bob = model.add_body("bob", MassProperties(1.0, J * np.eye(3)), position=(1, 0, 0))
    model.add_joint("hinge", "revolute", a=model.ground, b=bob, at=(0, 0, 0), axis=(0, 1, 0))
    return model


@pytest.mark.parametrize("h", [0.02, 0.005])
def test_spark_accepts_a_body_with_negligible_inertia(h):
    """A mass of 1 kg on a rod of 1 m with J = 1e-9: the momenta of its rotation are round-off of the joint's."""
    run = integrate(light_pendulum(1e-9).mechanical_system("quaternion-gamma"), "GL-SPARK(3)", h, 1.0)
    assert np.abs(run.hamiltonian()).max() < 1e-9  # relative to 9.81, the error of order 6
    assert run.velocity_residual().max() < 1e-4  # round-off of momenta, 1e-16 m l v, divided by J
    assert run.iterations[1:].mean() < 12


def failed_run(system, integrator, h, t_end):
    with pytest.raises(ConvergenceError) as failure:
        integrate(system, integrator, h, t_end)
    return failure.value


def test_iterations_of_a_failed_step_are_reported():
    """The numbers are those of the failed substep, without and with damping, each within its limit."""
    error = failed_run(fast_body(), "EML(order=4)", 0.3, 30.0)
    match = re.search(r"after (\d+) iterations and (\d+) with damping from 5 starts", error.message)
    plain, damped = map(int, match.groups())
    assert plain <= MAX_ITERATIONS
    assert 5 <= damped <= 5 * 200
    assert error.iterations == plain + damped


def fast_body(inertia="singular"):
    return rotating_body("fast", np.array([6.0, 8.0, 3.0]), np.array([10.0, 20.0, 20.0]), inertia=inertia)


def test_eml_parasitic_failure_keeps_steps_and_named_scheme_continues():
    error = failed_run(fast_body(), "EML", 0.05, 50.0)
    assert "try a smaller h" in error.message
    assert "EMH with quaternion-alpha" in error.message
    trajectory = error.trajectory
    assert len(trajectory.t) > 100
    assert np.abs(trajectory.generalised_energy() / 2500.0 - 1.0).max() < 1e-12
    assert trajectory.t[-1] == pytest.approx(error.t)
    assert np.all(np.isfinite(trajectory.q))
    energy = integrate(fast_body("alpha"), "EMH", 0.05, 50.0).hamiltonian()
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-12


def disc(chart):
    """Two flat bodies on spherical joints."""
    model = Model("discs")
    flat = MassProperties(1.0, np.diag([1.0, 1.0, 2.0]))
    one = model.add_body("one", flat, position=(1, 0, 0), angular_velocity=(1, 0, 0))
    two = model.add_body("two", flat, position=(3, 0, 0), angular_velocity=(0, 0, 1))
    model.add_joint("root", "spherical", a=model.ground, b=one, at=(0, 0, 0))
    model.add_joint("knee", "spherical", a=one, b=two, at=(2, 0.1, 0))
    return model.mechanical_system(chart)


@pytest.mark.parametrize("chart", ["director", "quaternion"])
def test_flat_body_is_rejected_naming_charts_and_schemes_that_accept_it(chart):
    with pytest.raises(ModelError, match="regular mass") as refusal:
        integrate(disc(chart), "GGL-EM", 0.02, 0.1)
    advice = str(refusal.value).split(";")[-1].split("none in directors:")[-1].replace("EML-kappa", "")
    charts = [name for name in ALL_CHARTS if re.search(rf"\b{name}(?!-)\b", advice)]
    schemes = [name for name in ("EML", "MPL") if re.search(rf"\b{name}\b", advice)]
    assert charts == ["quaternion-alpha", "quaternion-gamma"]
    assert schemes == ["EML", "MPL"]
    for other in charts:
        assert integrate(disc(other), "GGL-EM", 0.02, 0.1).t[-1] == pytest.approx(0.1)
    for scheme in schemes:
        assert integrate(disc(chart), scheme, 0.02, 0.1).t[-1] == pytest.approx(0.1)
