"""Runs with contacts of balls and rods: invariants, dissipation, independence of how the run is divided, no penetration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discretization.state_measures import energies
from examples.contact import rod_on_rails
from rigid.errors import ConvergenceError, ModelError
from rodsim import Material, Model, Result, Section, Sphere, audit, signals, simulate
from tests.support.contact_models import (
    CROSSING,
    NEARLY_PARALLEL,
    PARALLEL,
    balls,
    friction_options,
    hills,
    slider,
    two_rods,
    yarns,
)

H = 5e-4
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")


def run(model: Model, t_end: float, dt: float = H, integrator: str = "em", **options) -> Result:
    return simulate(model, t_end, dt, integrator, progress=False, **{"output_every": 1, **options})


def drift(values: np.ndarray) -> float:
    """Largest change of rows, relative to their largest value."""
    return float(np.abs(values - values[0]).max() / np.abs(values[0]).max())


def balance(result: Result) -> float:
    """Error of the energy balance, relative to the initial energy."""
    return drift(result.energy["total"] + result.dissipation - result.work)


def bitwise_equal(a: Result, b: Result) -> bool:
    """Compare everything in the last states bit by bit."""
    return all(np.array_equal(x, y) for x, y in zip(a.state(-1), b.state(-1), strict=True))


def number_of_lists(result: Result) -> int:
    """Number of contact lists that were built."""
    parts = [result.layout.memory.parts(memory)["reference"] for memory in result.states(slice(None)).memory]
    return len(np.unique(parts, axis=0))


# --- conservation and dissipation


@pytest.mark.parametrize("direction", [CROSSING, NEARLY_PARALLEL, PARALLEL])
@pytest.mark.parametrize("dt", [1e-3, 2.5e-4])
def test_touching_rods_conserve_energy_and_momenta(direction: tuple[float, float, float], dt: float) -> None:
    result = run(two_rods(direction), 0.02, dt)
    assert result.energy["spring"].max() > 1e-2  # J: they did touch
    assert drift(result.energy["total"]) < 5e-14
    assert drift(result.linear_momentum) < 3e-15
    assert drift(result.angular_momentum) < 5e-14
    assert result.newton_iterations[1:].mean() < 5.0
    assert result.halvings.sum() == 0


@pytest.mark.parametrize("friction", [0.0, friction_options(0.4, 0.3)], ids=["smooth", "rough"])
def test_energy_balance_includes_the_losses_of_balls(friction) -> None:
    result = run(balls(restitution=0.5, friction=friction), 0.3, 1e-3)
    assert balance(result) < 2e-13
    assert np.diff(result.dissipation).min() >= 0.0
    assert result.dissipation[-1] > 0.3 * result.energy["total"][0]
    assert np.abs(result.linear_momentum - result.linear_momentum[0]).max() < 1e-12
    assert drift(result.angular_momentum) < 2e-12
    spin = max(np.abs(result.body(name).Omega[-1]).max() for name in "abc")
    assert (spin > 0.1) == (friction != 0.0)


def test_rod_sliding_past_the_end_of_another_keeps_the_energy_balance() -> None:
    """Sticking contact is transferred between windows of nodes; at first there are two windows, which merge."""
    result = run(slider(friction=friction_options(0.3, 0.3)), 0.06, 1e-3)
    assert balance(result) < 1e-13
    assert np.diff(result.dissipation).min() >= 0.0


@pytest.mark.parametrize(("direction", "most"), [(CROSSING, 10), (PARALLEL, 9)])
def test_frictional_impacts_conserve_momenta_in_few_iterations(direction, most: int) -> None:
    """At 2 m/s and a rest speed of 1 mm/s: with the tangent of the sign, corrections alternate between slip in both directions,
    13 and 18 times; no step is halved.
    """
    result = run(two_rods(direction, friction=friction_options(0.4, 0.4, 4e6), rest_speed=1e-3), 0.02)
    assert result.halvings.sum() == 0
    assert result.newton_iterations.max() <= most
    assert result.dissipation[-1] > 1e-3
    assert np.diff(result.dissipation).min() >= 0.0
    assert result.contact("meet").tangential_force.any()
    assert balance(result) < 5e-14
    assert drift(result.linear_momentum) < 3e-15
    assert drift(result.angular_momentum) < 2e-13


def test_rod_on_rails_needs_no_halved_steps() -> None:
    """The speed is 1 m/s, the rest speed 1 mm/s."""
    model = rod_on_rails.model()
    touch = model.contacts.pop("touch")
    options = {"stiffness": 1e5, "restitution": 0.5, "friction": 0.4, "stations": 8, "rest_speed": 1e-3}
    model.add_contact("touch", touch.a, touch.b, **options)
    result = run(model, 0.15, 1e-3)
    assert result.halvings.sum() == 0
    assert result.newton_iterations[1:].max() < 20
    assert result.dissipation[-1] > 0.015
    assert balance(result) < 1e-13


def test_friction_on_a_closed_rod_is_equal_at_its_first_node() -> None:
    """A ball moves along a ring from one segment to the next, past its first node or past another."""
    results = []
    for first in (0, 7):
        angles = 2 * np.pi * (np.arange(12) - first) / 12
        model = Model("ring")
        section = Section.circular(0.01, Material(E=1e8, nu=0.3, density=1000))
        points = np.stack([0.2 * np.cos(angles), 0.2 * np.sin(angles), 0 * angles], axis=1)
        ring = model.add_rod("ring", [tuple(p) for p in points], section, 12, closed=True)
        place = (0.21, -0.01, 0.0275)
        body = model.add_body("ball", Sphere(0.02, density=3000), place, velocity=(0, 1, -0.1))
        model.add_contact("rub", ring, model.add_sphere("ball", body, 0.02), stiffness=1e4, friction=0.3)
        results.append(run(model, 0.02).body("ball"))
    assert np.abs(results[0].Omega).max() > 1.0
    assert results[1].r == pytest.approx(results[0].r, abs=1e-12)
    assert results[1].Omega == pytest.approx(results[0].Omega, abs=1e-8)


def test_sticking_contact_keeps_its_position_on_a_moving_rod() -> None:
    """The pull is below the friction limit; bristles move from list to list, on a rod with more nodes than a window."""
    model = Model("together", gravity=(0, 0, -9.81))
    section = Section.circular(0.01, Material(E=1e9, nu=0.3, density=1000))
    weight = section.mass_per_length * 9.81
    low, high = 0.01 - 1.62 * weight / 1e5, 0.03 - 1.62 * weight / 1e5 - weight / 1e4
    rail = model.add_rod("rail", [(0, 0, low), (1, 0, low)], section, 16, velocity=(1, 0, 0))
    short_rod = model.add_rod("it", [(0.19, 0, high), (0.81, 0, high)], section, 1, velocity=(1, 0, 0))
    model.add_contact("floor", rail, model.add_plane("floor", "ground@0,0,0", (0, 0, 1)), stiffness=1e5)
    model.add_contact(
        "meet", short_rod, rail, stiffness=1e4, stations=10, friction=friction_options(0.5, 0.5)
    )
    model.add_distributed_load("pull", short_rod, signals.SmoothStep(0.8, 0.0, 0.1).along((1, 0, 0)))
    result = run(model, 0.4, 1e-3)
    aside = result.rod("it").r[:, :, 0].mean(axis=1) - result.rod("rail").r[:, :, 0].mean(axis=1)
    late = result.t > 0.15
    assert aside[-1] > 2e-5
    assert np.ptp(aside[late]) < 2e-3 * aside[-1]
    fraction = 0.8 * 0.62 / 1.62  # of the pull, which moves the rail
    assert result.contact("meet").tangential_force[late] == pytest.approx(fraction, rel=5e-3)
    assert number_of_lists(result) > 20


# --- dividing the run

SAME = {
    "balls, em": (balls, {}, "em", 0.2, 1e-3),
    "balls, em-ggl": (balls, {}, "em-ggl", 0.2, 1e-3),
    "balls, em-d": (balls, {}, "em-d(0.8)", 0.2, 1e-3),
    "balls, em4": (balls, {}, "em4", 0.2, 1e-3),
    "rods": (two_rods, {"n": 6, "stations": 3}, "em", 0.02, H),
    "rods that rub": (two_rods, {"n": 4, "friction": friction_options(0.4, 0.3)}, "em", 0.02, H),
    "hills": (hills, {"friction": 0.4, "restitution": 0.6}, "em", 0.12, 1e-3),
    "a rod that slides": (slider, {"friction": friction_options(0.4, 0.3)}, "em", 0.04, H),
}


@pytest.mark.parametrize(("make", "arguments", "integrator", "t_end", "dt"), SAME.values(), ids=SAME)
def test_run_is_independent_of_outputs_and_interruptions(
    make, arguments, integrator, t_end, dt, tmp_path: Path
) -> None:
    file, options = tmp_path / "run.vtkhdf", {"output_every": 5}
    uninterrupted = run(make(**arguments), t_end, dt, integrator, **options)
    run(make(**arguments), 0.5 * t_end, dt, integrator, output=file, **options)
    resumed = run(make(**arguments), t_end, dt, integrator, output=file, resume=True, **options)
    every = run(make(**arguments), t_end, dt, integrator)
    assert bitwise_equal(uninterrupted, resumed)
    assert np.array_equal(uninterrupted.newton_iterations, resumed.newton_iterations)
    assert bitwise_equal(uninterrupted, every)
    assert bitwise_equal(uninterrupted, run(make(**arguments), t_end, dt, integrator, output_every=7))
    assert number_of_lists(every) > 2
    assert every.contact("meet").energy.max() > 0.0
    audit_report = audit(Result.load(file))
    assert audit_report.ok
    assert audit_report.step_recomputation.steps > 0


def test_equivalent_schemes_agree_in_contact() -> None:
    """`em` and GGL-EM in quaternions are the same scheme for free rods; so is `em-ggl`."""
    em = run(two_rods(n=4, stations=3, mass="lumped"), 0.02, output_every=8)
    for integrator, chart in (("em-ggl", None), ("GGL-EM", "quaternion-alpha")):
        options = {"integrator": integrator, "chart": chart}
        other = run(two_rods(n=4, stations=3, mass="lumped"), 0.02, output_every=8, **options)
        assert other.rod("other").r[-1] == pytest.approx(em.rod("other").r[-1], abs=1e-13)
        assert drift(other.energy["total"]) < 5e-14
    assert bitwise_equal(
        other, run(two_rods(n=4, stations=3, mass="lumped"), 0.02, output_every=3, **options)
    )


def test_run_starts_from_a_state_of_another_run() -> None:
    """Contact lists and bristles start empty, the motion continues: bit-identical without friction if nothing touches."""
    first = run(balls(restitution=0.5), 0.05, 1e-3, output_every=10)
    both = run(balls(restitution=0.5), 0.1, 1e-3, output_every=10)
    second = run(balls(restitution=0.5), 0.05, 1e-3, output_every=10, start=first)
    for a, b in zip(both.state(-1)[:4], second.state(-1)[:4], strict=True):
        assert a == pytest.approx(b, abs=1e-12)
    rough = {"restitution": 0.5, "friction": friction_options(0.4, 0.3)}
    rubbed = run(balls(**rough), 0.1, 1e-3, output_every=10)
    assert balance(run(balls(**rough), 0.1, 1e-3, output_every=10, start=rubbed)) < 1e-12


@pytest.mark.parametrize("make", [balls, two_rods])
def test_energies_of_many_states_are_bitwise_those_of_single_states(make) -> None:
    model = make()
    result = run(model, 0.02 if model.rods else 0.3, H if model.rods else 1e-3, output_every=2)
    spring_energies = [
        energies(result.layout.system, result.state(k)).spring for k in range(result.n_outputs)
    ]
    assert np.array_equal(energies(result.layout.system, result.states(slice(None))).spring, spring_energies)
    assert np.count_nonzero(spring_energies) > 0


# --- no penetration


@pytest.mark.parametrize("steps_across", [0.2, 1.0])
def test_fast_yarns_do_not_pass_through_each_other(steps_across: float) -> None:
    """At 10 m/s in steps of one or five times the sum of the radii."""
    result = run(yarns(), 6e-4, 2e-5 / steps_across)
    one, other = result.rod("one"), result.rod("other")
    assert (other.r[:, 2, 2] - one.r[:, 2, 2]).min() > 0.0  # no yarn is on the other side
    assert other.v[-1, :, 2].mean() > -9.0  # m/s, they did touch
    assert drift(result.energy["total"]) < 1e-11
    assert result.halvings.sum() > 0 or steps_across == 1.0


def test_penetration_between_stations_is_reported() -> None:
    """Stations are at the nodes only, none of them close: shorter steps do not help."""
    run(two_rods(n=9, stations=6), 0.02, 1e-3)
    with pytest.raises(ConvergenceError, match=r"their axes are .* touch at 0.02 m.*`stations`"):
        run(two_rods(n=9, stations=1), 0.02, 1e-3)


def test_schemes_without_contact_reject_it() -> None:
    words = "does not support contacts between surfaces, of which the model has 3 pairs"
    with pytest.raises(ModelError, match=words):
        balls().mechanical_system()


def test_large_surface_does_not_enlarge_the_lists_of_small_ones() -> None:
    """Balls above a bowl of 30 m: of their 28 pairs the close ones are listed, as without the bowl."""
    skins = []
    for bowl in (False, True):
        model = Model("bowl", gravity=(0, 0, -9.81))
        row = []
        for k in range(8):
            body = model.add_body(f"{k}", Sphere(0.05, mass=0.1), (0.3 * k, 0, 0.2), velocity=(0, 0, -1.0))
            row.append(model.add_sphere(f"{k}", body, 0.05))
        model.add_contact("balls", row, stiffness=1e4)
        if bowl:
            large = model.add_sphere("bowl", model.ground.at((1.0, 0, -30.0)), 30.0)
            model.add_contact("lie", row, large, stiffness=1e4)
        skins.append(run(model, 1e-3, 1e-3).state(0).memory[-1])
    assert skins[0] == skins[1] < 0.2
