"""A light cable towed through water: it is straight, at the critical angle at which drag and weight balance.

The Morison drag on its nodes is a user-defined interaction that is not linear in the velocity. At the angle phi from the
horizontal the weight w cos(phi) per length equals the normal drag c_n (U sin(phi))^2.
"""

import numpy as np
import pytest
from scipy.optimize import brentq

import rodsim
from rodsim import Model, Section, audit, signals, simulate
from rodsim.interactions import average, dot, minus, norm, push, times

LENGTH, DIAMETER, DENSITY, WATER, SPEED = 20.0, 0.01, 1300.0, 1000.0, 1.0  # m, kg/m^3, m/s
AREA = np.pi * DIAMETER**2 / 4.0
WEIGHT = (DENSITY - WATER) * AREA * 9.81  # N/m, in water
NORMAL = 0.5 * WATER * 1.2 * DIAMETER  # N/m at 1 m/s


def resist(t, v, X, out):
    """Add the drag against the velocity v of a point with the tangent t."""
    along = times(dot(t, v) / dot(t, t), t)
    across = minus(v, along)
    push(out, 0, times(X[0] * norm(across), across))
    push(out, 0, times(X[1] * norm(along), along))


@rodsim.interaction("Morison drag", frames=1, numbers=("normal", "tangential"), free=False, linear=False)
class Drag:
    """c |v_n| v_n + c_t |v_t| v_t, of the velocity across and along the first axis."""

    def step_dual(y0, y1, h, X, out):
        resist(average(y0[0, 1], y1[0, 1]), times(1.0 / h, minus(y1[0, 0], y0[0, 0])), X, out)

    def rate_dual(y, z, X, out):
        resist(y[0, 1], z[0, 0], X, out)


def test_cable_in_steady_tow_is_straight_at_the_critical_angle():
    mass, n = DENSITY * AREA, 20
    model = Model("tow", gravity=(0, 0, -WEIGHT / mass))
    section = Section.from_stiffness(
        EA=1e5, GA=1e5, GJ=0.1, EI=0.1, mass_per_length=mass, inertia_per_length=1e-4
    )
    cable = model.add_rod("cable", [(0, 0, 0), (0, 0, -LENGTH)], section, n, up=(1, 0, 0))
    ship = model.add_driven("ship", (0, 0, 0), displacement=signals.Steady(SPEED).along((1, 0, 0)))
    model.add_joint("tow", "spherical", ship, cable.start)
    for k in range(n + 1):
        share = NORMAL * (0.5 if k in (0, n) else 1.0) * LENGTH / n
        model.add_interaction(f"drag {k}", Drag, cable.at(k / n), normal=share, tangential=0.02 * share)
    result = simulate(model, 100.0, 0.1, "em-d(0.5)", progress=False)
    ends = np.diff(result.rod("cable").r[-1], axis=0)
    angles = np.arctan2(-ends[:, 2], -ends[:, 0])
    critical = brentq(lambda phi: WEIGHT * np.cos(phi) - NORMAL * (SPEED * np.sin(phi)) ** 2, 0.01, 1.5)
    assert np.degrees(critical) == pytest.approx(11.2093, abs=1e-4)
    assert angles == pytest.approx(critical, abs=1e-7)
    assert audit(result).ok
