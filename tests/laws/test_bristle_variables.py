"""Internal variables updated after each step, and one-sided kinds: bristle friction between bodies and the ground in every
scheme.
"""

from pathlib import Path

import numpy as np
import pytest

from discretization.interaction_groups import Role, groups_of
from discretization.interaction_table import history_variable_counts
from discretization.internal_variables import internal_variables, part, with_part
from discretization.state_measures import energies, momenta, stored_energies
from discretization.time.stepper import Stepper
from rigid.errors import ModelError
from rigid.system import State
from rodsim import Box, Model, Result, audit, modes, signals, simulate
from rodsim.mechanics import integrate
from tests.support.jenkins_elements import CHAIN, JENKINS, STRUT, WALLS, K

pytestmark = pytest.mark.filterwarnings("ignore::rigid.errors.InitialVelocityWarning")
H = 0.01
BRICK = Box(0.5, 0.3, 0.2, density=100.0)
MASS = 0.5 * 0.3 * 0.2 * 100.0
NO_WEIGHT = (0.0, 0.0, 0.0)


def sled(load=0.0, limit=2.0, stiffness=400.0, z=0.0, speed=0.0, spring=0.0) -> Model:
    """A body that slides along x under a load, with an optional spring that pulls it back; nothing rotates."""
    model = Model("sled", gravity=NO_WEIGHT)
    body = model.add_body("sled", BRICK, velocity=(speed, 0.0, 0.0))
    model.add_interaction("bristle", JENKINS[1], model.ground, body, k=stiffness, limit=limit, z=[z])
    if load:
        model.add_force("push", body, (load, 0.0, 0.0))
    if spring:
        model.add_bushing("spring", model.ground, body, spring, at=(0, 0, 0))
    return model


def tumbling(joint=False) -> Model:
    """Two bodies that spin about each other, connected by bristles of three variables, with friction between them."""
    model = Model("tumbling", gravity=NO_WEIGHT)
    one = model.add_body("one", BRICK, angular_velocity=(0.3, -0.2, 0.9), velocity=(0.1, 0.2, -0.1))
    two = model.add_body("two", BRICK, position=(0.3, 0.6, 0.2), velocity=(0.5, -0.3, 0.4))
    model.add_interaction("rubbing", JENKINS[3], one, two, k=30.0, limit=1.5, z=[0.01, -0.02, 0.03])
    if joint:
        model.add_joint("hinge", "revolute", model.ground, one, at=(0, 0, 0), axis=(0, 0.6, 0.8))
    return model


def run(model: Model, t_end: float, integrator: str = "em", every: int = 1, **options) -> Result:
    return simulate(model, t_end, H, integrator, output_every=every, progress=False, **options)


def bristles(result: Result) -> np.ndarray:
    """Return the internal variables that are updated after each step, shape (N, k)."""
    assert result.layout.system is not None
    return part(result.layout.system, result.states(slice(None)), "settled")


def balance_error(result: Result) -> float:
    """Return the error of total energy + dissipation - work, relative to the largest energy."""
    total = result.energy["total"] + result.dissipation - result.work
    return float(np.abs(total - total[0]).max() / np.abs(result.energy["total"]).max())


@pytest.mark.parametrize("integrator", ["em", "em-ggl", "em-d(0.5)"])
def test_energy_including_bristles_decreases_only_by_sliding(integrator):
    result = run(tumbling(integrator == "em-ggl"), 0.6, integrator)
    lost = np.diff(result.dissipation)
    assert lost.min() > -1e-15
    assert (lost > 1e-4).any()
    assert (lost < 1e-15).any()  # both sliding and sticking occur
    if "em-d" not in integrator:
        assert balance_error(result) < 1e-13
    checked = audit(result)
    assert checked.ok, checked.text()
    assert checked.energy_balance < 1e-12
    bristle_energies = 15.0 * np.sum(bristles(result) ** 2, axis=1)
    assert result.energy["spring"] == pytest.approx(bristle_energies, rel=1e-14)
    assert bristle_energies.min() > 0.0


@pytest.mark.parametrize(
    ("integrator", "chart"),
    [
        ("EML", "quaternion"),
        ("EML-kappa", "quaternion"),
        ("GGL-EM", "director"),
        ("EM-G", "director"),
        ("EMH", "quaternion-alpha"),
    ],
)
def test_chart_schemes_account_for_bristles_as_em(integrator, chart):
    trajectory = integrate(tumbling().mechanical_system(chart), integrator, H, 0.4)
    lost = np.diff(trajectory.dissipation)
    assert lost.min() > -1e-15
    assert (lost > 1e-4).any()
    E = trajectory.energy()
    assert np.abs(E + trajectory.dissipation - E[0]).max() < 1e-13 * np.abs(E).max()
    em = run(tumbling(), 0.4)
    assert trajectory.totals[-1, 2:] == pytest.approx(bristles(em)[-1], abs=2e-4)  # both have order 2


@pytest.mark.parametrize("integrator", ["MPL", "MPH", "GL-SPARK(1)", "mG(1, 1)"])
def test_midpoint_force_scheme_updates_bristles_over_the_whole_step(integrator):
    """Nothing rotates and the spring is linear, so the step equals that of `em` exactly if the update uses the full h."""
    model = sled(speed=1.0, spring=120.0, limit=6.0)
    em = run(model, 0.8)
    assert np.diff(np.sign(bristles(em)[:, 0])).any()  # back and forth
    chart = "quaternion" if integrator == "MPL" else "director"
    trajectory = integrate(model.mechanical_system(chart), integrator, H, 0.8)
    assert trajectory.q[:, 0] == pytest.approx(em.states(slice(None)).r[:, 1, 0], abs=1e-11)
    assert trajectory.totals[:, 2] == pytest.approx(bristles(em)[:, 0], abs=1e-11)
    assert trajectory.dissipation == pytest.approx(em.dissipation, abs=1e-11)
    assert trajectory.total_energy() == pytest.approx(em.energy["total"], abs=1e-11)


def test_bristle_friction_between_bodies_conserves_momenta():
    result = run(tumbling(), 0.6)
    assert result.layout.system is not None
    for momentum in momenta(result.layout.system, result.states(slice(None))):
        assert np.abs(momentum - momentum[0]).max() < 1e-13


@pytest.mark.parametrize("integrator", ["em", "GGL-EM"])
def test_bristle_sticks_below_its_limit(integrator):
    load, stiffness = 1.5, 400.0
    at_rest = run(sled(load, z=load / stiffness), 300 * H, integrator, 100)
    assert np.abs(at_rest.states(slice(None)).r[:, 1]).max() < 1e-15
    assert at_rest.dissipation[-1] < 1e-15
    swinging = run(sled(0.9, z=0.0), 300 * H, integrator, 1)  # five swings
    x = swinging.states(slice(None)).r[:, 1, 0]
    assert x.min() > -1e-13
    assert x.max() == pytest.approx(2.0 * 0.9 / stiffness, rel=2e-3)
    assert np.abs(swinging.dissipation).max() < 1e-15


@pytest.mark.parametrize("integrator", ["em", "EML", "MPL"])
def test_bristle_slides_with_constant_force_above_its_limit(integrator):
    load, limit, T = 5.0, 2.0, 0.5
    result = run(sled(load, limit, z=limit / 400.0), T, integrator)
    # exact from the first step on: the bristles start at their limit
    assert result.energy["kinetic"][-1] == pytest.approx((load - limit) ** 2 * T**2 / (2.0 * MASS), rel=1e-12)
    distance = (load - limit) * T**2 / (2.0 * MASS)
    assert result.dissipation[-1] == pytest.approx(limit * distance, rel=1e-12)
    assert bristles(result)[:, 0] == pytest.approx(limit / 400.0, rel=1e-13)
    # from rest the bristle first deforms: within one step if it is stiff, over several if it is soft
    stiff, soft = run(sled(load, limit, 4e6), T, integrator), run(sled(load, limit, 400.0), T, integrator)
    assert stiff.energy["kinetic"][-1] == pytest.approx(result.energy["kinetic"][-1], rel=1e-5)
    gained = soft.energy["kinetic"][-1] + soft.dissipation[-1] + limit**2 / (2.0 * 400.0)
    assert gained == pytest.approx(soft.work[-1], rel=1e-12)
    assert soft.energy["kinetic"][-1] > 1.1 * result.energy["kinetic"][-1]


def test_sliding_ends_with_the_energy_stored_in_the_bristle():
    """Friction dissipates all other energy: the distance is v^2/(2 g mu), here m v^2/(2 limit), less the bristle deflection."""
    result = run(sled(limit=6.0, stiffness=4000.0, speed=1.0), 1.0)
    assert result.energy["total"][-1] < 6.0**2 / (2.0 * 4000.0) * 1.001
    x = result.states(slice(None)).r[:, 1, 0]
    assert x.max() == pytest.approx(MASS / 12.0, abs=6.0 / 4000.0)


@pytest.mark.parametrize("integrator", ["em", "GGL-EM", "mG(1, 1)"])
def test_outputs_stops_and_restarts_keep_runs_bitwise_equal(integrator, tmp_path: Path):
    chart = None if integrator == "em" else "director"
    uninterrupted = run(tumbling(), 0.2, integrator, chart=chart)
    rarely = run(tumbling(), 0.2, integrator, 10, chart=chart)
    for field, one, other in zip(
        State._fields, uninterrupted.states(slice(None, None, 10)), rarely.states(slice(None)), strict=True
    ):
        assert np.array_equal(one, other), field
    path = tmp_path / "run.vtkhdf"
    for t_end, resume in ((0.1, False), (0.2, True)):
        run(tumbling(), t_end, integrator, chart=chart, output=path, resume=resume)
    opened = Result.load(path)
    assert np.array_equal(bristles(opened), bristles(uninterrupted))
    assert np.array_equal(opened.energy["spring"], uninterrupted.energy["spring"])
    for field, one, other in zip(
        State._fields, opened.states(slice(None)), uninterrupted.states(slice(None)), strict=True
    ):
        assert np.array_equal(one, other), field


def test_start_transfers_bristles_and_reports_new_ones():
    first, uninterrupted = run(tumbling(), 0.1), run(tumbling(), 0.2)
    continued = run(tumbling(), 0.1, start=first)
    assert np.array_equal(bristles(continued)[0], bristles(first)[-1])
    assert bristles(continued)[-1] == pytest.approx(bristles(uninterrupted)[-1], abs=1e-12)
    assert audit(continued).ok
    extended = tumbling()
    extended.add_interaction(
        "a third", JENKINS[1], extended.ground, extended.bodies["two"], k=9.0, limit=1.0, z=[0.004]
    )
    continued = run(extended, 0.1, start=first)
    assert bristles(continued)[0].tolist() == [*bristles(first)[-1], 0.004]
    assert "friction states of new interactions start from their initial values" in str(
        continued.description["start"]
    )
    assert audit(continued).ok
    without_bristles = Model("tumbling", gravity=NO_WEIGHT)
    for body in tumbling().bodies.values():
        without_bristles.bodies[body.name] = body
    assert bristles(run(without_bristles, 0.1, start=first)).shape[1] == 0


@pytest.mark.parametrize("integrator", ["em4", "em6-ggl"])
def test_compositions_reject_bristles_by_name(integrator):
    with pytest.raises(
        ModelError, match=f"'{integrator}' takes negative substeps, which the jenkins 3 does not"
    ):
        run(tumbling(), 0.1, integrator)


@pytest.mark.parametrize("integrator", ["mG(2)", "GL-SPARK(2)", "Lobatto-IIIA-B(2)"])
def test_schemes_with_several_force_points_reject_bristles_by_name(integrator):
    with pytest.raises(
        ModelError, match=r"evaluates forces at . points of a step.* sticks and slides, in 'tumbling'"
    ):
        run(tumbling(), 0.1, integrator, chart="director")


def test_internal_variables_are_stored_by_block_and_interaction():
    model = tumbling()
    model.add_spring("coil", model.ground, model.bodies["one"], 0.5, along="rotation", axis=(0, 0, 1))
    model.add_interaction("sole", JENKINS[1], model.ground, model.bodies["two"], k=7.0, limit=1.0, z=[0.05])
    built = model.build()
    system, state = built.system, built.state
    blocks = internal_variables(system)
    assert (blocks.angle, blocks.drive, blocks.settled) == (1, 0, 4)
    assert sorted(history_variable_counts(system.others).tolist()) == [0, 1, 3]
    variables = np.arange(1.0, 5.0)
    state = state._replace(internal=np.concatenate([state.internal[:1], variables]))
    order = [count for count in history_variable_counts(system.others) if count]
    acting = {
        entry.group.kind.name: entry.group.numbers[0] for entry in groups_of(system, state, Role.DISSIPATION)
    }
    parts = dict(zip(order, np.split(variables, np.cumsum(order)[:-1]), strict=True))
    assert acting["jenkins 1"][-1:].tolist() == parts[1].tolist()
    assert acting["jenkins 3"][-3:].tolist() == parts[3].tolist()
    expected_energies = [0.5 * acting[f"jenkins {k}"][K] * np.sum(parts[k] ** 2) for k in order]
    assert stored_energies(system, state) == pytest.approx(expected_energies, rel=1e-15)
    many = State(*(np.stack([x, x, x]) for x in state))
    many.internal[1, 1:] *= 2.0
    assert stored_energies(system, many) == pytest.approx(
        np.outer([1.0, 4.0, 1.0], expected_energies), rel=1e-15
    )
    without = energies(system, state._replace(internal=np.append(state.internal[:1], np.zeros(4)))).spring
    assert energies(system, state).spring - without == pytest.approx(sum(expected_energies), rel=1e-14)


def spinning_body_and_walls(one_sided: bool) -> Model:
    """A spinning body that falls on a wall, and a second wall that it never reaches."""
    model = Model("bouncing", gravity=(0.1, 0.0, -9.81))
    body = model.add_body("ball", BRICK, position=(0, 0, 0.03), angular_velocity=(1, 2, 3))
    far = model.add_body("far", BRICK, position=(1, 0, 50.0))
    # the inactive wall first, so that the active one is stored after it
    model.add_interaction("far floor", WALLS[one_sided], far, k=2e4, height=0.0)
    model.add_interaction("floor", WALLS[one_sided], body, k=2e4, height=0.0)
    model.add_spring("rope", body, far, 3.0)
    return model


@pytest.mark.parametrize(
    ("integrator", "chart"),
    [("em", None), ("em-d(0.5)", None), ("EML", "quaternion"), ("GGL-EM", "director"), ("MPL", "quaternion")],
)
def test_only_frames_without_forces_are_left_out(integrator, chart):
    one, other = (
        run(spinning_body_and_walls(one_sided), 0.2, integrator, chart=chart, solver="general").states(
            slice(None)
        )
        for one_sided in (True, False)
    )
    assert one.r[:, 1, 2].min() < -1e-3  # the wall was hit
    if integrator.startswith("em"):
        for field, a, b in zip(State._fields, one, other, strict=True):
            assert np.array_equal(a, b), field
    assert one.r == pytest.approx(other.r, abs=1e-9)


@pytest.mark.parametrize(
    ("integrator", "chart"),
    [("em", None), ("EML", "quaternion"), ("GGL-EM", "director"), ("MPH", "director"), ("MPL", "quaternion")],
)
def test_history_may_depend_on_poses_and_on_the_step(integrator, chart):
    """A spring and a damper written as one kind; a coil is wound and a drive rotates next to them, in separate blocks."""
    model = Model("strut", gravity=NO_WEIGHT)
    body = model.add_body("body", BRICK, position=(0.2, 0, 0), velocity=(1.0, 0.4, 0))
    model.add_interaction("strut", STRUT, model.ground, body, k=50.0, c=0.7, rate=0.0)
    wheel = model.add_body("wheel", BRICK, position=(0, 5, 0))
    model.add_joint("axle", "revolute", model.ground, wheel, at=(0, 5, 0), axis=(0, 0, 1))
    model.add_drive("motor", "axle", signals.Steady(2.0))
    model.add_spring("coil", model.ground, wheel, 0.5, along="rotation", axis=(0, 0, 1), angle=0.3)
    result = run(model, 0.3, integrator, chart=chart)
    x = result.states(slice(None)).r[:, 1, 0]
    assert bristles(result)[1:, 0] == pytest.approx(np.diff(x) / H, abs=1e-11)
    assert result.dissipation == pytest.approx(
        np.append(0.0, np.cumsum(0.7 * np.diff(x) ** 2 / H)), abs=1e-12
    )
    turned = 2.0 * result.t - 0.3
    assert result.energy["spring"] == pytest.approx(25.0 * x**2 + 0.25 * turned**2, abs=1e-12)
    if integrator == "em":  # charts sum the work of drives with order 2
        assert balance_error(result) < 1e-12
    if chart:
        of_chart = integrate(strut_without_wheel().mechanical_system(chart), integrator, H, 0.3)
        total_energy = of_chart.energy() + of_chart.dissipation
        assert np.abs(total_energy - total_energy[0]).max() < 1e-12


def strut_without_wheel() -> Model:
    """The model without the wheel."""
    alone = Model("alone", gravity=NO_WEIGHT)
    body = alone.add_body("body", BRICK, position=(0.2, 0, 0), velocity=(1.0, 0.4, 0))
    alone.add_interaction("strut", STRUT, alone.ground, body, k=50.0, c=0.7, rate=0.0)
    return alone


@pytest.mark.parametrize(
    ("integrator", "chart"), [("EML", "quaternion"), ("GGL-EM", "director"), ("MPL", "quaternion")]
)
def test_inactive_wall_does_not_add_iterations_in_charts(integrator, chart):
    one, other = (
        integrate(spinning_body_and_walls(one_sided).mechanical_system(chart), integrator, H, 0.2).iterations
        for one_sided in (True, False)
    )
    assert np.array_equal(one, other)


def test_newton_converges_for_a_wall_hit_within_the_step():
    built = spinning_body_and_walls(True).build()
    counts = []
    for one_sided in (True, False):
        built = spinning_body_and_walls(one_sided).build()
        state = built.state._replace(r=built.state.r.copy())
        state.r[1, 2] = -0.001
        stepper = Stepper(built.system, H)
        counts.append(stepper.advance(stepper.start(state), 0, 5)[1].iterations)
    assert counts[0] == counts[1]


def test_modes_include_the_bristle_force_but_not_its_damping():
    load = 1.5
    built = sled(load, spring=120.0).build()
    sticking_state = with_part(built.system, built.state, "settled", load / 400.0)
    without = modes(sled(spring=120.0), 3, sled(spring=120.0).build().state)
    computed_modes = modes(
        sled(load, spring=120.0), 3, sticking_state
    )  # in equilibrium through the bristle force
    assert computed_modes.values == pytest.approx(without.values, rel=1e-10)
    assert np.abs(without.values).min() > 1.0


def test_interaction_of_twelve_frames_runs_and_its_file_opens(tmp_path: Path):
    model = Model("chain", gravity=NO_WEIGHT)
    bodies = [
        model.add_body(f"body {k}", BRICK, position=(0.1 * k, 0, 0), velocity=(0, 0, 0.1 * k * k))
        for k in range(12)
    ]
    model.add_interaction("chain", CHAIN, *bodies, k=80.0)
    path = tmp_path / "chain.vtkhdf"
    result = run(model, 0.1, output=path)
    assert balance_error(result) < 1e-13
    system = Result.load(path).layout.system
    assert system is not None
    assert system.others.frames.shape == (1, 12)
    assert audit(Result.load(path)).ok
    d = np.diff(result.states(slice(None)).r[:, 1:], axis=1)
    assert result.energy["spring"] == pytest.approx(40.0 * np.sum(d**2, axis=(1, 2)), rel=1e-13)
