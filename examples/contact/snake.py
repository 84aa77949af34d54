"""A snake crawls on the ground: muscle moments travel along it as a wave; lateral friction is twice the forward friction.

Body, muscles and friction are those of PyElastica's ContinuumSnakeCase, after M. Gazzola, L. H. Dudte, A. G. McCormick, L.
Mahadevan, Royal Society Open Science 5 (2018) 171628: an optimum, which advances a twelfth of its length per second. The
muscles exert a moment beta(s) sin(2 pi (t/T - s)), beta a cubic spline, s counted from the head; friction acts along and
across the body, each against its own component of the slip.

The number is the speed of the centre of mass over a period.
"""

from __future__ import annotations

from functools import cache
from math import sin

import numpy as np
from scipy.interpolate import BSpline

from rigid.system import Floats
from rodsim import Friction, Model, Result, Section, signals, simulate
from rodsim.components.model_parts import Rod

LENGTH, PERIOD, G = 0.35, 2.0, 9.80665  # m, s, m/s^2
RADIUS, DENSITY, E = 0.011 * LENGTH, 1000.0, 1e6  # m, kg/m^3, Pa
COUPLES = (3.4e-3, 3.3e-3, 4.2e-3, 2.6e-3, 3.6e-3, 3.5e-3)  # N m, control points from head to tail
FRICTION = LENGTH / (PERIOD**2 * G * 0.1)  # forth, of a Froude number of 0.1
FORTH, BACK, ASIDE = 1.0, 1.5, 2.0


BETA = BSpline([0, 0, 0, 0, 1 / 3, 2 / 3, 1, 1, 1, 1], COUPLES, 3)
WAVE = 2.0 * np.pi


SLOPE = BETA.derivative()


@cache
def largest(s: float) -> float:
    """Return the amplitude beta of the muscle moment at s, N m."""
    return float(BETA(s))


def couple(s: float, t: float) -> float:
    """Return the muscle moment at s from the head, N m; it grows during the first period."""
    return min(max(t / PERIOD, 0.0), 1.0) * largest(s) * sin(WAVE * (t / PERIOD - s))


def change(s: Floats, t: Floats) -> Floats:
    """Return the derivative of this moment with respect to the arc length, N m/m, for arrays that broadcast."""
    phase = WAVE * (t / PERIOD - s)
    return (
        np.clip(t / PERIOD, 0.0, 1.0) * (SLOPE(s) * np.sin(phase) - WAVE * BETA(s) * np.cos(phase)) / LENGTH
    )


def muscles(model: Model, rod: Rod) -> None:
    """Apply the muscle moments about the vertical: their derivative as a distributed moment, and moments at the ends."""
    along = signals.Field(lambda x, t: (0.0, change(1.0 - x, t), 0.0))
    model.add_distributed_load("muscles", rod, along, kind="moment")
    model.add_moment("tail", rod.start, lambda t: (0.0, -couple(1.0, t), 0.0))
    model.add_moment("head", rod.end, lambda t: (0.0, couple(0.0, t), 0.0))


def model(n_elements: int = 20) -> Model:
    """Return the model: the snake lies along z, head first; its weight presses it into the ground by 1/100 of its radius."""
    made = Model("snake", gravity=(0.0, -G, 0.0))
    A, second = np.pi * RADIUS**2, np.pi / 4 * RADIUS**4
    shear = E / 1.5
    section = Section.from_stiffness(
        EA=E * A,
        GA=27 / 28 * shear * A,
        GJ=2 * shear * second,
        EI=E * second,
        mass_per_length=DENSITY * A,
        inertia_per_length=[DENSITY * second * ratio for ratio in (2.0, 1.0, 1.0)],
        radius=RADIUS,
    )
    rod = made.add_rod("snake", [(0, 0, 0), (0, 0, LENGTH)], section, n_elements, mass="lumped")
    stiffness, depth = 1e4, DENSITY * A * G / 1e4
    ground = made.add_plane("ground", made.ground.at((0.0, depth - RADIUS, 0.0)), (0, 1, 0))
    made.add_contact(
        "crawls",
        ground,
        rod,
        stiffness=stiffness,
        stations=1,  # both ends of an element: its chord lies on the ground
        damping=20.0,
        rest_speed=1e-3,
        friction=Friction(FRICTION, tangential_stiffness=1e3, anisotropy=(FORTH, BACK, ASIDE)),
    )
    made.add_mass_damping("slows", rod, 2e-3, rotation=2e-3 * 4 / RADIUS**2)
    muscles(made, rod)
    return made


def run(
    periods: int = 2,
    dt: float = 0.01,
    n_elements: int = 20,
    tolerance: float = 0.0,
    progress: bool | None = None,
) -> Result:
    """Simulate whole periods; the muscle moments grow during the first one.

    With a tolerance of 1e-6 the equations of a step take one iteration instead of four.
    """
    end = periods * PERIOD
    return simulate(model(n_elements), end, dt, output_every=5, tolerance=tolerance, progress=progress)


def speed(result: Result) -> float:
    """Return the forward speed of the centre of mass in the last period, m/s."""
    weights = np.ones(result.rod("snake").r.shape[1])
    weights[[0, -1]] = 0.5
    z = result.rod("snake").r[..., 2] @ weights / weights.sum()
    return float((z[-1] - z[result.index_at(result.t[-1] - PERIOD)]) / PERIOD)


if __name__ == "__main__":
    print(f"{speed(run(periods=3)):.5f} m/s")
