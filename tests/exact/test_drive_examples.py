"""Examples of prescribed motion: their scenes and their numbers."""

from pathlib import Path

import numpy as np
import pytest

from examples.spin_up import STRETCH, spin_up
from rodsim import audit, simulate
from rodsim.scenes.model_from_scene import load
from rodsim.validation.driven_models import steady_beam

SCENES = Path(__file__).parents[2] / "examples" / "scenes"


@pytest.mark.parametrize("name", ["slider_crank", "shaken_chain", "planetary_gear"])
def test_driven_scene_balances_energy(name):
    loaded = load(SCENES / f"{name}.yaml")
    run = loaded.scene.run
    result = simulate(loaded.model, 1.0, run.dt, run.integrator)
    report = audit(result)
    assert report.ok, report.text()
    assert report.energy_balance < 1e-11
    assert report.dissipation > 1e-3 * report.energy_scale
    assert np.ptp(result.drive_work()) > 0.1 * report.energy_scale


def test_spin_up_beam_has_the_reference_lag_and_stretch():
    run = spin_up(t_end=18.0)
    report = audit(run.result)
    assert report.energy_balance < 1e-11
    assert pytest.approx(5.14e-4, abs=5e-7) == STRETCH
    # Simo & Vu-Quoc's figure: the tip lags by about 0.6 m in the middle of the spin-up, and does not lead after it
    assert 0.5 < -run.across.min() < 0.65
    assert 4.0 < run.t[np.argmin(run.across)] < 9.0
    steady = run.t > 15.5
    assert run.along[steady].mean() == pytest.approx(STRETCH, rel=0.02)
    # the work is the energy of a beam that rotates as a rigid one, and vibrates a little against the drive
    rigid = 0.5 * 1.2 * 10.0**3 / 3 * 6.0**2
    assert run.result.drive_work("hub")[steady].mean() == pytest.approx(rigid, rel=3e-2)


@pytest.mark.parametrize(("n", "h"), [(10, 0.05), (20, 0.025)])
def test_spin_up_work_is_the_kinetic_energy_of_discrete_rotation(n, h):
    """Velocities whose mean is the chord of a step are larger by tan(x)/x, x = speed h/2.

    Lumped masses have 1 + 1/(2 n^2) of the rod's inertia. So the work is too large by 2 % with the example's
    ten elements
    and h = 0.05, and by a quarter of that with twice as many elements and steps.
    """
    run = spin_up(dt=h, n_elements=n).result
    work = run.drive_work("hub")[run.t >= 15.0].mean()
    exact, _ = steady_beam()
    x = 0.5 * 6.0 * h
    assert work == pytest.approx(exact * (1 + 0.5 / n**2) * (np.tan(x) / x) ** 2, rel=1e-4)
    assert work - exact == pytest.approx(0.0204 * exact * (10 / n) ** 2, rel=0.05)
