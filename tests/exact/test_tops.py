"""Tops that slide on a table with friction: Jellett's integral, conserved for any friction, and their rest angles."""

from __future__ import annotations

import numpy as np
import pytest

from examples.contact import tippe_top
from examples.contact.tippe_top import Top

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")


def spin_top(top: Top, t_end: float, h: float):
    """Return the run, the relative change of Jellett's integral, and the final angle theta minus the rest angle."""
    run = tippe_top.run(top, t_end, h, progress=False)
    assert np.ptp(run.energy["total"] + run.dissipation) < 1e-12 * run.energy["total"][0]
    assert np.diff(run.dissipation).min() >= 0.0
    jellett, ends = tippe_top.jellett(run, top), tippe_top.axis(run)[-1, 2]
    return run, np.ptp(jellett) / jellett[0], np.arccos(ends) - np.arccos(tippe_top.rests(top))


def test_jellett_integral_is_conserved_to_second_order():
    """Errors of a top that turns over: 2.4e-4, 6.1e-5."""
    drifts = [spin_top(Top(), 2.0, h)[1] for h in (4e-4, 2e-4)]
    assert drifts[1] < 8e-5
    assert np.log2(drifts[0] / drifts[1]) == pytest.approx(2.0, abs=0.1)


def test_rising_top_on_a_small_tip_conserves_the_jellett_integral():
    """The centre of mass is above that of the tip, by twice its radius. Error 1.8e-5, from the contact depths
    between outputs.
    """
    top = Top(off=2.0, ratio=0.5, spin=500.0, tilt=np.pi - 0.3)
    run, drift, shortfall = spin_top(top, 1.0, 1e-4)
    assert drift < 5e-5
    assert run.contact("slides").depth.min() == 0.0
    assert tippe_top.rests(top) == -1.0
    assert abs(shortfall) < 0.1


TOPS = {  # top, end time s, cos(theta) of least energy, distance from it at which it may roll, rad
    "too slow": (Top(spin=20.0, friction=0.05), 2.0, 1.0, 0.25),
    "too slim": (Top(ratio=0.7, tilt=0.5, friction=0.05), 2.0, 1.0, 0.1),
    "turns over": (Top(friction=0.1), 4.0, -1.0, 0.15),
}


@pytest.mark.parametrize("name", TOPS)
def test_tippe_top_approaches_its_energy_minimum(name):
    """Limit of the spin 28 rad/s; of A/C 0.8 and 1.2. A rolling top stays: the less friction, the closer to
    the rest angle.
    """
    top, t_end, ends, rolls = TOPS[name]
    assert tippe_top.rests(top) == pytest.approx(ends, abs=1e-3)
    _, drift, shortfall = spin_top(top, t_end, 5e-4)
    assert abs(shortfall) < rolls
    assert drift < 5e-4


def test_less_friction_brings_a_top_closer_to_its_rest_angle():
    """A top too flat to turn over: its energy is least at cos(theta) = -0.5542, and it rolls 0.18 and 0.11
    rad before that.
    """
    nearer = []
    for mu in (0.2, 0.1):
        top = Top(ratio=1.3, friction=mu)
        assert tippe_top.rests(top) == pytest.approx(-0.5542, abs=1e-3)
        nearer.append(abs(spin_top(top, 3.0, 5e-4)[2]))
    assert nearer[1] < 0.7 * nearer[0] < 0.15


def test_tippe_top_limits_of_spin_and_inertia_are_exact():
    """Upright is not a minimum from w^2 = m g a (R - a)^2/(R (A R - C (R - a))) on.

    Inverted is one from lambda^2 = m g a C^2 (R + a)^4/(R (C (R + a) - A R)) on.
    """
    R, a, C = tippe_top.RADIUS, 0.2 * tippe_top.RADIUS, tippe_top.AXIAL
    weight = tippe_top.MASS * tippe_top.G * a
    tips = np.sqrt(weight * (R - a) ** 2 / (R * C * a))
    assert tips == pytest.approx(28.0, abs=0.05)
    over = np.sqrt(weight * C**2 * (R + a) ** 4 / (R * C * a)) / (C * (R - a))
    assert over == pytest.approx(63.0, abs=0.05)
    for spin, least in ((0.99 * tips, 1.0), (1.01 * tips, None), (0.99 * over, None), (1.01 * over, -1.0)):
        cosine = tippe_top.rests(Top(spin=spin, tilt=0.05))
        assert cosine == least if least else -1.0 < cosine < 1.0
    for ratio, least in ((0.79, 1.0), (0.81, -1.0), (1.19, -1.0), (1.21, None)):
        cosine = tippe_top.rests(Top(spin=3000.0, ratio=ratio, tilt=0.05))
        assert cosine == least if least else -1.0 < cosine < 1.0
