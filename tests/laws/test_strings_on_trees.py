"""Strings on trees: their nodes have three unknowns each and move as with the general solver."""

from functools import partial

import numpy as np
import pytest

import rodsim
from discretization.state_measures import momenta
from rodsim import Adaptive, Box, MassProperties, Material, Model, Section, audit, curves, simulate
from tests.support.trees import CLOSE, run, same

EA, MASS = 200.0, 0.5  # N, kg/m
SLACK = Section.string(EA=EA, mass_per_length=MASS)
STIFF = Section.string(EA=EA, mass_per_length=MASS, slack=False)
VISCOUS = Section.string(EA=EA, mass_per_length=MASS, damping_time=2e-3)
RELAXING = Section.string(EA=EA, mass_per_length=MASS, slack=False).with_relaxation(0.02, 0.5)
RUBBER = Section.circular(0.02, Material(E=1e7, nu=0.3, density=1000.0))
WHEEL = MassProperties(0.4, np.diag([2e-3, 3e-3, 4e-3]))
GRAVITY = (1.0, 2.0, -9.0)


def flying(section=STIFF, mass="mean"):
    """A bent string in free flight, whose parts have different velocities."""
    model = Model("flying")
    velocity = lambda s: (0.2, 3 * s * s - 1, np.cos(4 * s))  # noqa: E731
    model.add_rod(
        "line", lambda s: (s, 0.3 * np.sin(3 * s), 0.2 * s * s), section, 11, velocity=velocity, mass=mass
    )
    return model


def taut(section=SLACK, elements=11, ends=2):
    """A string under tension, held at one end or both, in a load across it."""
    model = Model("taut", gravity=GRAVITY)
    line = model.add_rod(
        "line", [(0, 0, 0), (1.1, 0, 0)], section, elements, stress_free=[(0, 0, 0), (1.0, 0, 0)]
    )
    for k, end in enumerate((line.start, line.end)[:ends]):
        model.add_joint(f"end {k}", "spherical", *((model.ground, end) if k else (end, model.ground)))
    model.add_distributed_load("wind", line, (0.0, 0.4, 0.1))
    return model


def between_bodies():
    """A string from a body on a hinge to a free body, by points away from their centres, and a rod that it pulls."""
    model = Model("bodies", gravity=GRAVITY)
    box = model.add_body("box", Box(0.2, 0.1, 0.3, mass=1.0), (0, 0, 0))
    model.add_joint("hinge", "revolute", model.ground, box, at=(-0.1, 0, 0), axis=(0, 1, 0.2))
    wheel = model.add_body("wheel", WHEEL, (1.2, 0, 0), angular_velocity=(0.0, 1.0, 2.0))
    one = model.add_rod("one", [(0.1, 0, 0), (1.1, 0, 0)], STIFF, 10)
    model.add_joint("left", "spherical", box, one.start, at=(0.1, 0, 0))
    model.add_joint("right", "spherical", one.end, wheel, at=(1.1, 0, 0))
    mast = model.add_rod("mast", [(1.3, 0, 0), (1.3, 0, 0.6)], RUBBER, 3)
    model.add_joint("foot", "clamp", mast.start)
    stay = model.add_rod("stay", [(1.3, 0, 0.6), (1.2, 0, 0.05)], VISCOUS, 4)
    model.add_joint("top", "spherical", mast.end, stay.start)
    model.add_joint("eye", "spherical", stay.end, wheel, at=(1.2, 0, 0.05))
    return model


def with_masses():
    """A string with a point mass at its end and one in between, a body that hangs from it, and springs to two of its nodes."""
    model = Model("masses", gravity=GRAVITY)
    line = model.add_rod("line", [(0, 0, 0), (1.6, 0, 0)], STIFF, 16)
    model.add_joint("held", "spherical", model.ground, line.start)
    for name, at in (("bob", 1.0), ("knot", 0.5)):
        bob = model.add_body(name, MassProperties(0.2, np.zeros((3, 3))), (1.6 * at, 0, 0))
        model.add_joint(name, "spherical", line.at(at), bob)
    lamp = model.add_body("lamp", WHEEL, (1.2, 0.0, -0.1))
    model.add_joint("hook", "spherical", line.at(0.75), lamp, at=(1.2, 0, 0))
    model.add_spring("cord", model.ground.at((0.4, 0.5, 0.5)), line.at(0.25), 20.0, damping=0.1)
    model.add_spring("across", line.at(0.125), lamp.at((0, 0.1, 0)), 5.0)
    model.add_spring("along", line.at(0.375), line.at(0.625), 5.0)
    return model


def net(section=STIFF):
    """Strings that cross in nine knots, supported at two corners."""
    model, knots = Model("net", gravity=GRAVITY), {}
    for i, j in np.ndindex(3, 3):
        for name, di, dj in (("x", 1, 0), ("y", 0, 1)):
            if i + di < 3 and j + dj < 3:
                cord = model.add_rod(f"{name} {i} {j}", [(i, j, 0), (i + di, j + dj, 0)], section, 4)
                knots.setdefault((i, j), []).append(cord.start)
                knots.setdefault((i + di, j + dj), []).append(cord.end)
    for (i, j), (first, *remaining) in knots.items():
        for k, other in enumerate(remaining):
            model.add_joint(f"knot {i} {j} {k}", "spherical", *((first, other) if k % 2 else (other, first)))
    for i in (0, 2):
        model.add_joint(f"pin {i}", "spherical", model.ground, knots[i, 2][0])
    return model


def towed():
    """A string whose end is driven, in water, with a chain of two more strings behind it."""
    model = Model("towed", gravity=GRAVITY)
    ship = model.add_driven("ship", (0, 0, 0), displacement=rodsim.signals.Steady(0.5).along((1, 0.2, 0)))
    line = model.add_rod("line", [(0, 0, 0), (-1, 0, 0)], VISCOUS, 10)
    tail = model.add_rod("tail", [(-1, 0, 0), (-1.5, 0, 0)], STIFF, 5)
    model.add_joint("tow", "spherical", ship, line.start)
    model.add_joint("shackle", "spherical", line.end, tail.start)
    sea = model.add_fluid("sea", 100.0, current=(0.0, 0.3, 0.0))
    model.add_submerged_rod("wet", line, sea, 0.02, drag=1.2)
    return model


CASES = {f"flying, {mass}": partial(flying, mass=mass) for mass in ("lumped", "mean", "consistent")}
CASES |= {
    "flying, slack": partial(flying, SLACK),
    "viscous": partial(taut, VISCOUS),
    "relaxing": partial(taut, RELAXING),
    "hanging": partial(taut, STIFF, ends=1),
    "held at both ends": taut,
    "two elements": partial(taut, elements=2),
    "between bodies": between_bodies,
    "with masses": with_masses,
    "net": net,
    "towed": towed,
}


@pytest.mark.parametrize("name", CASES)
def test_strings_on_trees_move_as_with_the_general_solver(name: str) -> None:
    results = [run(CASES[name](), 100, 1e-3, solver=solver) for solver in ("auto", "general")]
    same(*(result.state() for result in results), CLOSE)
    assert all(result.halvings.sum() == 0 for result in results)
    assert audit(results[0]).ok, audit(results[0]).text()
    assert results[0].description["run"]["solver"].startswith("tree")


@pytest.mark.parametrize("integrator", ["em", "em4", "em6"])
@pytest.mark.parametrize("section", [SLACK, STIFF], ids=["slack", "stiff"])
def test_free_strings_on_trees_keep_energy_and_momenta(section: Section, integrator: str) -> None:
    result = simulate(flying(section), 0.5, 0.01, integrator, output_every=1, progress=False)
    energy = result.energy["total"]
    assert np.ptp(energy) <= 2e-14 * np.abs(energy).max()
    for momentum in momenta(result.layout.system, result.states(slice(None))):
        assert np.abs(momentum - momentum[0]).max() <= 2e-14 * np.abs(momentum).max()


def test_strings_lose_what_em_d_says_it_dissipates() -> None:
    result = simulate(flying(), 0.2, 0.01, "em-d(0.5)", output_every=1, progress=False)
    assert audit(result).ok, audit(result).text()
    assert result.energy["total"][-1] < 0.999 * result.energy["total"][0]


def test_strings_on_trees_resume_bitwise(tmp_path) -> None:
    part = tmp_path / "part.vtkhdf"
    uninterrupted = run(with_masses(), 20, 2e-3, output_every=5)
    run(with_masses(), 10, 2e-3, output_every=5, output=part)
    resumed = run(with_masses(), 20, 2e-3, output_every=5, output=part, resume=True)
    assert all(np.array_equal(x, y) for x, y in zip(uninterrupted.state(), resumed.state(), strict=True))
    assert audit(resumed).ok


def compressed(h: float, end: tuple[float, float, float]) -> Model:
    """A strut of two elements to `end`, so compressed that the first pivot of its node in a step h is zero."""
    mass, q, along = (
        0.1,
        0.1,
        0.36,
    )  # q = 2 m L/(EA h^2); along: square of the first component of the direction
    ratio = (along + q) / (1.0 - along)  # c/(1 - c) of the compression c
    L = 0.5 * (1.0 + ratio)
    section = Section.string(EA=2.0 * mass * L / (q * h * h), mass_per_length=mass / L, slack=False)
    model = Model("strut")
    strut = model.add_rod(
        "strut",
        [(0, 0, 0), end],
        section,
        2,
        stress_free=[(0, 0, 0), (2.0 * L, 0, 0)],
        mass="lumped",
        velocity=lambda s: (0.0, 0.0, 1e-9 * np.sin(np.pi * s)),
    )
    for k, point in enumerate((strut.start, strut.end)):
        model.add_joint(f"end {k}", "spherical", model.ground, point)
    return model


@pytest.mark.parametrize("end", [(0.6, 0.8, 0.0), (0.6, 0.0, 0.8)])
def test_rows_are_exchanged_if_inertia_and_a_compressed_string_cancel(end) -> None:
    h = 0.01
    results = [run(compressed(h, end), 1, h, solver=solver) for solver in ("auto", "general")]
    same(*(result.state() for result in results), dict.fromkeys(CLOSE, 1e-10))
    assert results[0].halvings.sum() == 0
    assert results[0].newton_iterations[-1] <= results[1].newton_iterations[-1] + 1


def test_adaptive_steps_of_strings_agree_with_the_general_solver() -> None:
    runs = [
        simulate(flying(), 0.3, Adaptive(1e-4), solver=solver, output_dt=0.1, progress=False)
        for solver in ("auto", "general")
    ]
    same(*(result.state() for result in runs), dict.fromkeys(CLOSE, 1e-9))


def test_strings_that_become_slack_in_long_steps_keep_their_energy_balance() -> None:
    """Steps are halved: an unstretched line falls until it is taut, all elements at once."""
    model = Model("falling", gravity=(0, 0, -9.81))
    section = Section.string(EA=2e5, mass_per_length=MASS)
    line = model.add_rod("line", curves.catenary((0, 0, 0), (50, 0, 10), 60.0), section, 60, mass="lumped")
    for k, end in enumerate((line.start, line.end)):
        model.add_joint(f"end {k}", "spherical", model.ground, end)
    model.add_distributed_load("wind", line, (0.0, 2.0, 0.2))
    result = run(model, 20, 0.05)
    assert result.halvings.sum() > 0
    assert audit(result).ok, audit(result).text()


def test_strings_that_do_not_stretch_use_the_general_solver() -> None:
    section = Section.string(EA="inextensible", mass_per_length=MASS)
    model = Model("hanging", gravity=GRAVITY)
    line = model.add_rod("line", [(0, 0, 0), (1, 0, 0)], section, 4)
    model.add_joint("end", "spherical", model.ground, line.start)
    assert "solver" not in simulate(model, 2e-3, 1e-3, progress=False).description["run"]
