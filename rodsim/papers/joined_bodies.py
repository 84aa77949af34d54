"""Measure what every integrator conserves of joined bodies: a chain of three asymmetric bodies with joints off their axes.

The chain hangs from the ground by a spherical joint, with a second spherical joint, a revolute joint, a spring and oblique
gravity. It shows energies, constraints and the order. Free in space, without gravity and ground, it shows all momenta.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from discretization.time.integrate import integrate
from discretization.time.integrators import parse
from discretization.time.symplecticity import symplectic_defect
from rigid.inertia import Box
from rigid.mechanics.mechanical_system import MechanicalSystem
from rigid.system import Floats
from rodsim.model import Model
from rodsim.papers.claims import largest, sweep
from rodsim.papers.scheme_properties import (
    Properties,
    energies_and_residuals,
    in_chart,
    momenta,
    positions,
    rows,
    vector_drift,
)

H, STEPS = 0.02, 50
T_ORDER = 0.1
INTEGRATORS = {
    "singular": ("EML", "REML", "Null-EML", "EML-kappa", "MPL", "EML(order=4)", "EML-kappa(order=6)"),
    "alpha": ("MPH", "EMH", "GGL-EM"),
    "gamma": (
        *("IMS", "EMS", "VI-S", "VI-A(0.5)", "VI-B(1, 0.5)", "VI-B(0.5, 0.5)", "mG(1)", "mG(2)", "mG(2, 2)"),
        *("GL-SPARK(1)", "GL-SPARK(2)", "GL-SPARK(3)", "Lobatto-IIIA-B(3)"),
    ),
    "director": (
        *(
            "EML",
            "MPL",
            "MPH",
            "EM-G",
            "EM-G(order=4)",
            "VI-S",
            "VI-A(0.5)",
            "VI-B(1, 0.5)",
            "VI-B(0.5, 0.5)",
        ),
        *("GGL-EM", "GGL-EM(order=4)", "mG(1)", "mG(2)", "mG(2, 2)", "GL-SPARK(2)", "Lobatto-IIIA-B(2)"),
    ),
}
ROWS = rows(
    INTEGRATORS,
    {
        1: (1 / 800, 1 / 1600, 1 / 3200),
        2: (1 / 200, 1 / 400, 1 / 800),
        4: (1 / 40, 1 / 60, 1 / 80),
        6: (1 / 20, 1 / 30, 1 / 40),
    },
)


def chain(free: bool = False) -> Model:
    """Return the chain.

    `free`: True for a chain that flies and rotates in space, without gravity and root joint; the spring then ties the first body,
    instead of the ground, to the third.
    """
    model = Model("free chain" if free else "chain", gravity=(0, 0, 0) if free else (1.5, -2.0, -9.0))
    shapes = (Box(1, 0.3, 0.2, density=20), Box(0.8, 0.2, 0.4, density=20), Box(0.6, 0.3, 0.15, density=30))
    turns = ((0.5, 1.0, 3.0), (1.0, -2.0, 0.5), (-1.0, 0.5, 2.0))
    first, second, third = (
        model.add_body(
            name,
            shape,
            position=(x, 0, 0),
            velocity=(0.3, 0, 1) if free and name == "first" else (0, 0, 0),
            angular_velocity=angular_velocity,
        )
        for name, shape, x, angular_velocity in zip(
            ("first", "second", "third"), shapes, (0.5, 1.4, 2.1), turns, strict=True
        )
    )
    if not free:
        model.add_joint("root", "spherical", a=model.ground, b=first, at=(0, 0.1, 0.05))
    model.add_joint("knee", "spherical", a=first, b=second, at=(1.0, 0.1, -0.05))
    model.add_joint("ankle", "revolute", a=second, b=third, at=(1.8, -0.08, 0.1), axis=(0.2, 1, 0.3))
    anchor = first.at((0, 0.1, 0.1)) if free else model.ground.at((1, 1, 1))
    model.add_spring("cord", anchor, third.at((0.3, 0.1, 0)), stiffness=40.0)
    return model


@cache
def system(chart: str, free: bool = False) -> MechanicalSystem:
    """Return the chain in a chart of the table: singular, alpha, gamma or director."""
    return in_chart(chain(free), chart)


@cache
def exact_positions() -> Floats:
    """Return the positions at t = 0.1, to 1e-13, by a scheme of order 6."""
    return positions(integrate(system("gamma"), "GL-SPARK(3)", 1 / 640, T_ORDER))


def order_of_positions(integrator: str, chart: str, steps: Sequence[float]) -> float:
    """Return the order of the positions observed at t = 0.1."""
    hanging = system(chart)
    return sweep(
        steps, lambda h: largest(positions(integrate(hanging, integrator, h, T_ORDER)) - exact_positions())
    ).order


def measure(integrator: str, chart: str, steps: Sequence[float] = ()) -> Properties:
    """Measure all properties of one integrator in one chart; the order only if `steps` for it are given.

    Energies are relative to the energy that potential and kinetic energy exchange, momenta, of the free chain, to their size.
    """
    scheme, hanging = parse(integrator), system(chart)
    run = integrate(hanging, scheme, H, STEPS * H)
    linear, angular = map(vector_drift, momenta(integrate(system(chart, free=True), scheme, H, STEPS * H)))
    return Properties(
        integrator,
        chart,
        "",
        order=order_of_positions(integrator, chart, steps) if steps else np.nan,
        linear=linear,
        angular=angular,
        symplectic=symplectic_defect(hanging, scheme, H),
        iterations=float(run.iterations[1:].mean()) / len(scheme.fractions),
        **energies_and_residuals(run, float(np.ptp(run.potential()))),
    )
