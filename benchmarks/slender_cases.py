"""Examples of PyElastica with the parameters of its repository.

`reached` is exact for the stretched rod (EA (1 - 1/e) = F). The others are rodsim's with elements of order 4
on two meshes, which PyElastica's refined meshes approach with first order: its clamp fixes the whole first
element.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, cosh, pi, sin, sinh, sqrt

import numpy as np

from benchmarks.cases import Floats
from benchmarks.mechanisms import Triple
from benchmarks.slender import Slender


def _line(end: Triple) -> Callable[[Floats], Floats]:
    return lambda s: np.asarray(s)[..., None] * np.array(end)


def _round(radius: float, E: float, G: float) -> tuple[float, float, float, float, float, float]:
    """A full circular section: shear factor 27/28."""
    A, inertia = pi * radius**2, pi * radius**4 / 4.0
    shear = 27.0 / 28.0 * G * A
    return E * A, shear, shear, 2.0 * G * inertia, E * inertia, E * inertia


def _square(side: float, E: float) -> tuple[float, float, float, float, float, float]:
    """The square section of PyElastica's cantilevers: G = E / 3 for any requested value."""
    A, inertia, G = side**2, side**4 / 12.0, E / 3.0
    shear = 27.0 / 28.0 * G * A
    return E * A, shear, shear, 2.0 * G * inertia, E * inertia, E * inertia


def _inertia(density: float, radius: float) -> Triple:
    one = density * pi * radius**4 / 4.0
    return 2.0 * one, one, one


def _pendulum() -> Slender:
    radius, density, E = 0.005, 1100.0, 5e6
    return Slender(
        "PE-pendulum",
        "FlexibleSwingingPendulumCase: end at t = 1, error / length",
        _line((0.0, 0.0, 1.0)),
        normal=(0.0, 1.0, 0.0),
        length=1.0,
        stiffness=_round(radius, E, E / 1.5),
        mass_per_length=density * pi * radius**2,
        inertia_per_length=_inertia(density, radius),
        reached=(-0.09920, 0.0, -0.94008),
        scale=1.0,
        floor=1e-4,
        hinged=True,
        gravity=(-9.80665, 0.0, 0.0),
        t_end=1.0,
    )


def _swinging_cantilever() -> Slender:
    """The first bending mode of Euler and Bernoulli as velocity."""
    radius, density, E, end = 0.02, 2000.0, 1e5, 0.005
    beta = 0.596864 * pi
    ratio = (cos(beta) + cosh(beta)) / (sin(beta) + sinh(beta))

    def shape(s: Floats) -> Floats:
        x = beta * np.asarray(s)
        return np.asarray(np.cosh(x) - np.cos(x) + ratio * (np.sin(x) - np.sinh(x)))

    def velocity(s: Floats) -> Floats:
        return shape(s)[..., None] * np.array([0.0, 0.0, end / float(shape(np.array(1.0)))])

    omega = beta**2 * sqrt(E * radius**2 / 4.0 / density)
    return Slender(
        "PE-cantilever",
        "DynamicCantileverCase: end at t = 50, two periods, error / amplitude",
        _line((1.0, 0.0, 0.0)),
        normal=(0.0, 1.0, 0.0),
        length=1.0,
        stiffness=_round(radius, E, E / 3.0),
        mass_per_length=density * pi * radius**2,
        inertia_per_length=_inertia(density, radius),
        reached=(0.999995189, 0.0, -0.00295048),
        scale=end / omega,
        floor=1e-5,
        velocity=velocity,
        t_end=50.0,
    )


def _stretched() -> Slender:
    radius, density, E, force = 0.025, 1000.0, 1e4, 1.0
    EA = E * pi * radius**2
    return Slender(
        "PE-stretch",
        "AxialStretchingCase: end at rest, error / stretch",
        _line((1.0, 0.0, 0.0)),
        normal=(0.0, 1.0, 0.0),
        length=1.0,
        stiffness=_round(radius, E, E / 3.0),
        mass_per_length=density * pi * radius**2,
        inertia_per_length=_inertia(density, radius),
        reached=(EA / (EA - force), 0.0, 0.0),
        scale=force / (EA - force),
        floor=1e-12,
        end_force=(force, 0.0, 0.0),
        thinning=True,
        t_rest=3.0,
        damping=10.0,
    )


def _timoshenko() -> Slender:
    """Cantilever with low shear stiffness: nu = 99."""
    radius, density, E = 0.25, 5000.0, 1e6
    return Slender(
        "PE-timoshenko",
        "TimoshenkoBeamCase: end at rest, error / deflection",
        _line((0.0, 0.0, 3.0)),
        normal=(0.0, 1.0, 0.0),
        length=3.0,
        stiffness=_round(radius, E, E / 100.0),
        mass_per_length=density * pi * radius**2,
        inertia_per_length=_inertia(density, radius),
        reached=(-0.067748420785, 0.0, 2.999267928379),
        scale=0.0675,
        floor=1e-6,
        end_force=(-15.0, 0.0, 0.0),
        t_rest=25.0,
        damping=1.1,
    )


def _bend() -> Slender:
    """The bend of 45 degrees with its force out of the plane."""

    def arc(s: Floats) -> Floats:
        angle = 0.25 * pi * np.asarray(s)
        return np.stack([1.0 - np.cos(angle), np.sin(angle), 0.0 * angle], axis=-1)

    side, density, E = 0.01, 1000.0, 1e9
    mass = density * side**2
    return Slender(
        "PE-bend45",
        "CantileverTransversalLoadCase: end at rest, error / length",
        arc,
        normal=(0.0, 0.0, 1.0),
        length=0.25 * pi,
        stiffness=_square(side, E),
        mass_per_length=mass,
        inertia_per_length=(mass * side**2 / 6.0, mass * side**2 / 12.0, mass * side**2 / 12.0),
        reached=(0.153189685, 0.464802429, 0.538259947),
        scale=0.25 * pi,
        floor=1e-5,
        end_force=(0.0, 0.0, 6.0),
        t_rest=0.8,
        damping=33.0,
    )


def _loaded() -> Slender:
    """A dead load along the whole rod, ten times E I / L^3 for each length."""
    side, density, E, length, load = 0.01, 1000.0, 1.2e7, 0.5, 10.0
    mass = density * side**2
    pull = load * E * side**4 / 12.0 / (mass * length**3)
    return Slender(
        "PE-distributed",
        "CantileverDistributedLoad, dead: end at rest, error / length",
        _line((length, 0.0, 0.0)),
        normal=(0.0, 0.0, 1.0),
        length=length,
        stiffness=_square(side, E),
        mass_per_length=mass,
        inertia_per_length=(mass * side**2 / 6.0, mass * side**2 / 12.0, mass * side**2 / 12.0),
        reached=(0.328146543, -0.350254823, 0.0),
        scale=length,
        floor=1e-5,
        gravity=(0.0, -pull, 0.0),
        t_rest=3.0,
        damping=9.0,
    )


SLENDER = (_pendulum(), _swinging_cantilever(), _stretched(), _timoshenko(), _bend(), _loaded())
