"""A run with a tolerance takes fewer iterations, and what it keeps of its laws is what was asked for."""

import numpy as np
import pytest

from rigid.errors import ModelError
from rodsim import Model, Section, simulate
from rodsim.parts.materials import Material
from rodsim.results.audit import audit
from rodsim.results.errors import ResultError

T, H, STEPS = 0.4, 2e-3, 200


def tumbling_rod():
    """A soft rod in free flight, bent and turning, with a body on a joint at its end."""
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


def test_a_larger_tolerance_takes_fewer_iterations(runs):
    iterations = [audit(run).newton_mean for run in runs.values()]
    assert iterations == sorted(iterations, reverse=True)
    assert iterations[0] > iterations[-1] + 1.0


def test_the_laws_are_kept_to_the_tolerance_and_not_better_than_without(runs):
    assert drift(runs[0.0]) < 1e-12
    for tolerance in (1e-6, 1e-4):
        assert 1e-12 < drift(runs[tolerance]) < STEPS * tolerance


def test_the_audit_names_the_tolerance_and_judges_by_it(runs):
    assert "tolerance" not in audit(runs[0.0]).text()
    for tolerance in (1e-9, 1e-6, 1e-4):
        found = audit(runs[tolerance])
        assert found.ok, found.text()
        assert f"{tolerance:g} was asked for" in found.text()
    run = runs[1e-4]
    run.description["run"]["tolerance"] = 0.0  # the same states, had round-off been asked for
    assert not audit(run).ok
    run.description["run"]["tolerance"] = 1e-4


def test_the_motion_is_the_same_to_the_tolerance(runs):
    """Over ten steps: later the rod buckles, which magnifies every difference."""
    exact = runs[0.0].state(1).r
    for tolerance in (1e-9, 1e-6, 1e-4):
        assert np.abs(runs[tolerance].state(1).r - exact).max() < 10 * tolerance


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": -1e-9}, r"tolerance = -1e-09 is below 0"),
        ({"tolerance": 0.1}, r"tolerance = 0.1 leaves nothing"),
        (
            {"tolerance": 1e-8, "integrator": "EML"},
            r"'EML' solves its steps to round-off; leave tolerance = 1e-08 out",
        ),
    ],
)
def test_a_tolerance_that_cannot_be_used_is_refused(options, message):
    with pytest.raises(ModelError, match=message):
        simulate(tumbling_rod(), T, H, **options)


def test_a_run_goes_on_with_its_own_tolerance_only(tmp_path):
    file = tmp_path / "a.vtkhdf"
    simulate(tumbling_rod(), 0.02, H, tolerance=1e-6, output=file)
    with pytest.raises(ResultError, match="in run"):
        simulate(tumbling_rod(), 0.04, H, output=file, resume=True)
    resumed = simulate(tumbling_rod(), 0.04, H, tolerance=1e-6, output=file, resume=True)
    whole = simulate(tumbling_rod(), 0.04, H, tolerance=1e-6)
    assert np.array_equal(resumed.state(resumed.n_outputs - 1).r, whole.state(whole.n_outputs - 1).r)
