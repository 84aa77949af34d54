"""Balls in a row: which ones leave, with and without gaps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from examples.contact import cradle
from rodsim import Model, Sphere, simulate

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")


@pytest.mark.parametrize("lifted", [1, 3])
def test_as_many_cradle_balls_swing_out_as_swing_in(lifted):
    """The others move by the gaps between them, each about 0.005 rad."""
    run = cradle.run(lifted, 0.42, 2e-4, progress=False)
    rise = cradle.angles(run).max(axis=1)
    assert rise[-lifted:] == pytest.approx(cradle.LIFT, rel=1e-3)
    assert np.all(rise[:-lifted] < 6e-3 * lifted)
    assert np.ptp(run.energy["total"]) < 1e-12 * np.ptp(run.energy["kinetic"])  # weights are 40 times as much


def row(came: int, gap: float, h: float, n: int = 5, t_end: float = 0.03):
    """Velocities of n free balls of 0.1 kg, of which so many arrive at 1 m/s; k/m is 1e7 1/s^2."""
    model, balls = Model("row"), []
    for k in range(n):
        place = ((0.04 + gap) * k - 1e-3 * (k < came), 0.0, 0.0)
        body = model.add_body(f"{k}", Sphere(0.02, mass=0.1), place, velocity=(1.0 * (k < came), 0, 0))
        balls.append(model.add_sphere(f"{k}", body, 0.02))
    model.add_contact("row", balls, stiffness=1e6)
    run = simulate(model, t_end, h, progress=False)
    assert np.ptp(run.linear_momentum[:, 0]) < 1e-13  # kg m/s, of 0.1 to 0.4
    assert np.ptp(run.energy["total"]) < 1e-13  # J, of 0.05 to 0.2
    return np.array([run.body(f"{k}").v[-1, 0] for k in range(n)])


@pytest.mark.parametrize("came", [1, 2, 4])
def test_as_many_balls_leave_a_row_with_gaps_as_hit_it(came):
    """Equal masses exchange their velocities, also if an impact takes few steps."""
    leaves = (np.arange(5) >= 5 - came).astype(float)
    assert row(came, 1.5e-3, 1e-4) == pytest.approx(leaves, abs=1e-11)


def touching_three() -> list[float]:
    """Velocities of three touching balls on linear springs, hit by the first at speed 1; time in (m/k)^(1/2).

    Depths u, w of both: u'' = w - 2 u, w'' = u - 2 w, so that u + w = sin(t), u - w = sin(3^(1/2) t)/3^(1/2),
    until u is zero at
    T; then w'' = -2 w until w is zero, too.
    """

    def u(t: float) -> float:
        return 0.5 * (np.sin(t) + np.sin(np.sqrt(3.0) * t) / np.sqrt(3.0))

    def w(t: float) -> float:
        return np.sin(t) - u(t)

    T = brentq(u, 1.5, 3.0)
    first, last = 1.0 - quad(u, 0.0, T)[0], quad(w, 0.0, T)[0]
    middle = 1.0 - first - last
    difference = np.hypot(middle - last, np.sqrt(2.0) * w(T))
    mean = 0.5 * (middle + last)
    return [first, mean - 0.5 * difference, mean + 0.5 * difference]


def test_three_touching_balls_share_the_speed_of_the_first():
    """-0.1303, 0.1502, 0.9800 of it, to second order in the step."""
    exact = touching_three()
    assert np.sum(exact) == pytest.approx(1.0, abs=1e-14)
    assert np.sum(np.square(exact)) == pytest.approx(1.0, abs=1e-14)
    errors = [np.abs(row(1, 0.0, h, 3, 4e-3) - exact).max() for h in (1e-4, 5e-5, 2.5e-5)]
    assert errors[-1] < 1e-3
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx(2.0, abs=0.1)
