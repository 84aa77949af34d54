"""Runs with a tolerance: fewer iterations, and invariants conserved to the requested precision."""

import numpy as np
import pytest

from rigid.system import State
from rodsim import Box, Material, Model, ModelError, ResultError, Section, audit, simulate

T, H, STEPS = 0.4, 2e-3, 200


def tumbling_rod():
    """A soft rod in free flight, bent and rotating, with a body on a joint at its end."""
    model = Model("tumbling")
    s = np.linspace(0.0, 1.0, 9)
    shape = np.stack([np.sin(s), 0.3 * (1 - np.cos(2 * s)), 0.1 * s**2], axis=1)
    section = Section.circular(0.02, Material(E=2e6, nu=0.4, density=1100.0))
    model.add_rod(
        "rod",
        shape,
        section,
        12,
        velocity=lambda s: (0.3, 4 * s - 2, 1.0 - s),
        stress_free=[(0, 0, 0), (1.2, 0, 0)],
    )
    return model


@pytest.fixture(scope="module")
def runs():
    return {x: simulate(tumbling_rod(), T, H, tolerance=x, output_every=10) for x in (0.0, 1e-9, 1e-6, 1e-4)}


def drift(result):
    a = audit(result)
    return max(a.energy_drift, a.linear_momentum_drift, a.angular_momentum_drift)


def test_larger_tolerance_takes_fewer_iterations(runs):
    iterations = [audit(run).newton_mean for run in runs.values()]
    assert iterations == sorted(iterations, reverse=True)
    assert iterations[0] > iterations[-1] + 1.0


def test_invariants_are_conserved_to_the_tolerance(runs):
    assert drift(runs[0.0]) < 1e-12
    for tolerance in (1e-6, 1e-4):
        assert 1e-12 < drift(runs[tolerance]) < STEPS * tolerance


def test_audit_names_the_tolerance_and_judges_by_it(runs):
    assert "tolerance" not in audit(runs[0.0]).text()
    for tolerance in (1e-9, 1e-6, 1e-4):
        audit_report = audit(runs[tolerance])
        assert audit_report.ok, audit_report.text()
        assert f"{tolerance:g} was requested" in audit_report.text()
    run = runs[1e-4]
    run.description["run"]["tolerance"] = 0.0  # the same states, had round-off been requested
    assert not audit(run).ok
    run.description["run"]["tolerance"] = 1e-4


def test_motion_is_equal_to_within_the_tolerance(runs):
    """Over ten steps: later the rod buckles, which amplifies every difference."""
    exact = runs[0.0].state(1).r
    for tolerance in (1e-9, 1e-6, 1e-4):
        assert np.abs(runs[tolerance].state(1).r - exact).max() < 10 * tolerance


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": -1e-9}, r"tolerance = -1e-09 is below 0"),
        ({"tolerance": 0.1}, r"tolerance = 0.1 is too large to conserve anything"),
        (
            {"tolerance": 1e-8, "integrator": "EML"},
            r"'EML' solves its steps to round-off; remove tolerance = 1e-08",
        ),
    ],
)
def test_invalid_tolerance_is_rejected(options, message):
    with pytest.raises(ModelError, match=message):
        simulate(tumbling_rod(), T, H, **options)


def test_resumed_run_requires_its_tolerance(tmp_path):
    file = tmp_path / "a.vtkhdf"
    simulate(tumbling_rod(), 0.02, H, tolerance=1e-6, output=file)
    with pytest.raises(ResultError, match="in run"):
        simulate(tumbling_rod(), 0.04, H, output=file, resume=True)
    resumed = simulate(tumbling_rod(), 0.04, H, tolerance=1e-6, output=file, resume=True)
    uninterrupted = simulate(tumbling_rod(), 0.04, H, tolerance=1e-6)
    assert np.array_equal(
        resumed.state(resumed.n_outputs - 1).r, uninterrupted.state(uninterrupted.n_outputs - 1).r
    )


TOLERANCES = (0.0, 1e-6, 1e-5, 1e-3)


def body_over_floor(model, body, stiffness=1e6):
    """A contact of a body with a floor far below it."""
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("contact", [model.add_solid("solid", body, radius=0.005)], floor, stiffness)


@pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")
@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize("integrator", ["em", "em4"])
def test_body_above_a_floor_falls_freely_at_any_tolerance(tolerance, integrator):
    model = Model("falling", gravity=(0, 0, -9.81))
    cube = model.add_body("cube", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 0, 1.0))
    body_over_floor(model, cube)
    fallen = simulate(model, 0.1, 1e-2, tolerance=tolerance, integrator=integrator)
    assert fallen.body("cube").r[:, 2] == pytest.approx(1.0 - 0.5 * 9.81 * fallen.t**2, rel=1e-12)


def nearly_balanced(shape):
    """Bodies at rest under two large loads that differ slightly, with a special solver or without."""
    model = Model(shape, gravity=(0, 0, 0))
    body = model.add_body("body", Box(0.1, 0.2, 0.3, mass=1.0), position=(0, 0, 1.0))
    if shape == "general":
        body_over_floor(model, body)
    if shape == "tree":
        arm = model.add_body("arm", Box(0.3, 0.1, 0.2, mass=2.0), position=(0.3, 0, 1.0))
        model.add_joint("shoulder", "revolute", model.ground, body, at=(0, 0.1, 1.0), axis=(1, 2, 0))
        model.add_joint("elbow", "revolute", body, arm, at=(0.1, 0, 1.0), axis=(0, 1, 1))
    model.add_force("push", body, (0, 0, 1e5))
    model.add_force("pull", body, (0, 0, -1e5 - 1.0))
    return model


@pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")
@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize("shape", ["general", "tree", "planar"])
def test_unbalanced_loads_move_bodies_at_any_tolerance(shape, tolerance):
    """The load difference is below the larger tolerances: the prediction of rest must not be accepted."""
    model = nearly_balanced(shape)
    exact, result = (simulate(model, 0.1, 1e-2, tolerance=x) for x in (0.0, tolerance))
    assert result.description["run"].get("solver", "general").startswith(shape)
    z = exact.body("body").r[:, 2] - 1.0
    assert z[-1] < -1e-5
    # one iteration solves steps of such a small motion to their second order
    assert result.body("body").r[:, 2] - 1.0 == pytest.approx(z, abs=1e-4 * abs(z[-1]))


@pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")
@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_inactive_contact_changes_nothing_at_any_stiffness(tolerance):
    """Bit-identical: while inactive, its usual force does not affect the round-off estimate of a step."""
    runs = []
    for stiffness in (1e2, 1e9):
        model = Model("tumbling", gravity=(0, 0, -9.81))
        body = Box(0.1, 0.2, 0.3, mass=1.0)
        box = model.add_body("box", body, position=(0, 0, 1.0), angular_velocity=(3, 4, 5))
        body_over_floor(model, box, stiffness)
        runs.append(simulate(model, 0.1, 2e-3, tolerance=tolerance))
    for field, soft, stiff in zip(State._fields, *(run.states(slice(None)) for run in runs), strict=True):
        assert np.array_equal(soft, stiff), field
    assert np.array_equal(runs[0].newton_iterations, runs[1].newton_iterations)
