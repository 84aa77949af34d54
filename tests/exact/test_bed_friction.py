"""Friction on planes in equilibria: lines laid on a bed and pulled, a block on a slope, and motions that begin there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import root

from rodsim import (
    Box,
    ConvergenceError,
    Friction,
    Model,
    Newton,
    Result,
    Section,
    curves,
    equilibrium,
    simulate,
)
from rodsim.warnings import ModelCheckWarning

EA, WEIGHT, LENGTH, HEIGHT, MU, RADIUS = 1e7, 500.0, 100.0, 20.0, 0.2, 0.05  # N, N/m, m, m, 1, m
G = 9.81


def mooring(span: float, n_elements: int = 40, stiffness: float = 1e6, bends: bool = False) -> Model:
    """A line from an anchor on the bed to a fairlead at a horizontal distance, drawn as it is laid down."""
    model = Model("mooring", gravity=(0, 0, -G))
    mass = WEIGHT / G
    chain = Section.string(EA=EA, mass_per_length=mass, radius=RADIUS)
    if bends:
        chain = Section.from_stiffness(
            EA=EA, GA=1e6, GJ=1e3, EI=1e3, mass_per_length=mass, inertia_per_length=1.0, radius=RADIUS
        )
    drawn = curves.catenary((0, 0, RADIUS), (span, 0, HEIGHT + RADIUS), LENGTH, bed=RADIUS)
    line = model.add_rod("line", drawn, chain, n_elements, stress_free=[(0, 0, 0), (LENGTH, 0, 0)])
    model.add_joint("anchor", "spherical", model.ground, line.start)
    model.add_joint("fairlead", "spherical", model.ground, line.end)
    bed = model.add_plane("bed", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("lies", line, bed, stiffness=stiffness, friction=MU)
    return model


def catenary_on_a_bed(span: float, mu: float) -> tuple[float, float]:
    """Tensions at fairlead and anchor, horizontal, N.

    J. M. Jonkman, Dynamics modeling and loads analysis of an offshore floating wind turbine, NREL/TP-500-41958, 2007, (2-37),
    the formula of MoorPy with its coefficient CB.
    """

    def misfit(forces):
        H, V = forces
        lying, c = LENGTH - V / WEIGHT, H / WEIGHT
        free = lying - H / (mu * WEIGHT)
        x = lying + c * np.arcsinh(V / H) + H * LENGTH / EA
        x += mu * WEIGHT / (2 * EA) * (free * max(free, 0.0) - lying**2)
        return x - span, c * (np.hypot(1.0, V / H) - 1) + V**2 / (2 * EA * WEIGHT) - HEIGHT

    H, V = root(misfit, (1e4, 1.5e4), tol=1e-12).x
    return H, max(H - mu * WEIGHT * (LENGTH - V / WEIGHT), 0.0)


def tensions(result) -> tuple[float, float]:
    return result.reactions["fairlead"].force[0], -result.reactions["anchor"].force[0]


def test_tension_at_the_anchor_converges_to_the_catenary_with_friction():
    """The anchor carries half of the weight of an element, which is not pressed on the bed: the error is of first order."""
    fairlead, anchor = catenary_on_a_bed(92.0, MU)
    errors = []
    for n in (50, 100, 200):
        result = equilibrium(mooring(92.0, n, 1e7))
        assert result.audit().ok
        H, H_anchor = tensions(result)
        assert abs(H - fairlead) < 2e-4 * fairlead
        errors.append(H_anchor - anchor)
    assert 0.0 < errors[0] < 0.03 * anchor
    assert errors[2] < 0.4 * errors[0]


def test_a_rod_with_bending_has_the_tension_of_the_catenary():
    fairlead, anchor = catenary_on_a_bed(92.0, MU)
    H, H_anchor = tensions(equilibrium(mooring(92.0, 80, bends=True)))
    assert abs(H - fairlead) < 1e-3 * fairlead
    assert abs(H_anchor - anchor) < 0.02 * anchor


def lying(force: float, n: int = 10, gap: float = 0.0) -> Model:
    """A line of 20 N/m and 10 m on a bed, pulled along itself; mu w = 6 N/m."""
    model = Model("lying", gravity=(0, 0, -10.0))
    string = Section.string(EA=1e5, mass_per_length=2.0, radius=0.02)
    line = model.add_rod("line", [(0, 0, 0.02 + gap), (10, 0, 0.02 + gap)], string, n)
    model.add_force("pull", line.end, (force, 0, 0))
    model.add_joint("anchor", "spherical", model.ground, line.start)
    bed = model.add_plane("bed", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("lies", line, bed, stiffness=1e5, friction=0.3)
    return model


def test_tension_of_a_pulled_line_falls_by_mu_w_along_it():
    """T(s) = F - mu w (L - s) at the middles of the elements that slide."""
    result = equilibrium(lying(30.0), constant=["gravity"])
    tension = result.rod("line").N[-1][:, 0]
    middles = np.arange(10) + 0.5
    expected = 30.0 - 6.0 * (10.0 - middles)
    assert np.allclose(tension[6:], expected[6:], rtol=0, atol=1e-6)
    assert 0.0 < tension[0] < 0.1
    assert np.all(np.diff(tension) > 0.0)
    assert result.contact("lies").tangential_force[-1] == pytest.approx(30.0 - tension[0], abs=0.1)


@pytest.mark.parametrize(("gap", "lies"), [(2e-5, True), (1e-4, False)])
def test_a_line_drawn_within_a_thousandth_of_its_radius_above_the_bed_lies_on_it(gap, lies):
    """The radius is 0.02 m. What is drawn higher is laid down under the pull, so that its anchor carries the pull."""
    tension = equilibrium(lying(30.0, gap=gap), constant=["gravity"]).rod("line").N[-1][:, 0]
    if lies:
        assert 0.0 < tension[0] < 0.1
    else:
        assert np.allclose(tension, 30.0, rtol=0, atol=0.01)


def test_a_line_pulled_from_a_slack_start_ends_where_it_would_be_laid_and_holds_when_it_is_let_back():
    model = mooring(85.0)
    slack = equilibrium(model)
    pulled = equilibrium(model, start=slack, motions={"fairlead": {"displacement": (7, 0, 0)}})
    assert np.allclose(tensions(pulled), tensions(equilibrium(mooring(92.0))), rtol=3e-3)
    back = equilibrium(model, start=pulled, motions={"fairlead": {"displacement": (-2, 0, 0)}})
    fairlead, anchor = tensions(back)
    held = tensions(pulled)[1]
    assert fairlead < 0.7 * tensions(pulled)[0]
    assert abs(anchor - held) < 0.01 * held  # the bed keeps the tension of the pull


def test_equilibria_continue_from_a_file_to_the_bit(tmp_path):
    model, move = mooring(85.0, 20), {"fairlead": {"displacement": (7, 0, 0)}}
    slack = equilibrium(model, output=tmp_path / "slack.vtkhdf")
    assert Result.load(tmp_path / "slack.vtkhdf").audit().ok
    here, there = (
        equilibrium(model, start=start, motions=move) for start in (slack, tmp_path / "slack.vtkhdf")
    )
    assert np.array_equal(here.rod("line").r, there.rod("line").r)


@pytest.mark.parametrize("bends", [False, True])
def test_a_motion_that_begins_in_an_equilibrium_with_friction_rests(bends):
    model = mooring(92.0, 20, 1e5, bends)
    moved = simulate(model, t_end=0.1, dt=5e-3, start=equilibrium(model))
    assert np.abs(moved.rod("line").v).max() < 1e-7


def block(angle: float, on_a_body: bool = False) -> Model:
    """A block of 2 kg on a slope with the friction coefficient 0.4; the axes are those of the slope."""
    model = Model("slope", gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    body = model.add_body("block", Box(0.2, 0.1, 0.1, mass=2.0), position=(0, 0, 0.05))
    base, top = model.ground, (0, 0, 0)
    if on_a_body:
        base = model.add_body("base", Box(1.0, 1.0, 0.1, mass=5.0), position=(0, 0, -0.05))
        model.add_joint("bolt", "weld", model.ground, base.at((0, 0, 0)))
        top = (0, 0, 0.05)
    floor = model.add_plane("floor", base.at(top), (0, 0, 1))
    model.add_contact("rubs", model.add_solid("shape", body), floor, stiffness=1e5, friction=0.4)
    return model


@pytest.mark.parametrize("on_a_body", [False, True])
def test_friction_holds_a_block_on_a_slope_below_the_angle_of_friction(on_a_body):
    angle = 0.98 * np.arctan(0.4)
    result = equilibrium(block(angle, on_a_body))
    assert result.contact("rubs").tangential_force[-1] == pytest.approx(2.0 * G * np.sin(angle), rel=1e-9)
    assert result.audit().ok


def test_a_block_above_the_angle_of_friction_has_no_equilibrium():
    with pytest.raises(ConvergenceError, match="block"):
        equilibrium(block(1.02 * np.arctan(0.4)))


def test_friction_of_a_path_depends_on_its_history():
    """Pulled with 5 N and released: with a spring of 100 N/m and friction of 3 N it comes to 0.02 m, and stays there."""
    model = Model("slider", gravity=(0, 0, -10.0))
    body = model.add_body("slider", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 0, 0.05))
    model.add_spring("spring", model.ground.at((-1, 0, 0.05)), body, stiffness=100.0, length=1.0)
    model.add_force("pull", body, (5.0, 0, 0))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    shape = model.add_solid("shape", body)
    model.add_contact("rubs", shape, floor, stiffness=1e6, friction=Friction(0.3, tangential_stiffness=1e6))
    pulled = equilibrium(model, constant=["gravity"], method=Newton(factors=(0.5, 1.0)))
    assert pulled.body("slider").r[-1, 0] == pytest.approx(0.02, abs=1e-5)
    released = equilibrium(model, {"pull": (0, 0, 0)}, start=pulled)
    assert released.body("slider").r[-1, 0] == pytest.approx(0.02, abs=1e-5)


def test_friction_between_surfaces_and_along_an_arc_is_named_as_omitted():
    model = block(0.1)
    with (
        pytest.warns(ModelCheckWarning, match="'rubs' has friction, which this equilibrium omits"),
        pytest.raises(ConvergenceError),
    ):
        equilibrium(model, method="arc-length")
