"""Validation cases by the program of the papers: same scheme and step, so equal numbers to its Newton tolerance."""

from __future__ import annotations

from functools import partial

import numpy as np
import sympy as sp

from discretization.time.integrate import integrate
from rigid.charts.multibody import rotating_body
from rigid.symbolic.systems import Part, symbolic_system
from rodsim.validation.case import Case, Known, Values

METIS = "metis, the program of the papers, tolerance 1e-9 a step"
# EML, h = 0.1: t -> q, p
MASS_SPRING = {
    0.5: (0.455316150351, 1.55531615035, -0.389437992218, 1.4657707416, 0.389200184584, 0.389200184584),
    5.0: (-0.614053245601, 0.485946754399, -0.0238754490063, -0.240455967087, -1.20421870889, -1.20421870889),
    10.0: (0.869890660899, 1.9698906609, 0.304267983434, 0.355237241731, -0.551483627316, -0.551483627316),
}
# EML, h = 0.01: t -> q
HEAVY_TOP = {
    0.1: (0.685507574491, 0.414423734698, 0.175223963204, 0.572388763126),
    1.0: (0.908357509955, -0.287280636255, -0.0400578763599, -0.301250455075),
    2.0: (0.58006227945, 0.393584961818, -0.00404106218983, -0.713163585446),
}
# VI-S, h = 0.05: t -> q, p
PENDULUM = {
    0.5: (0.188991915879, 0.274180493446, -0.942924765157, -4.13132481017, -0.702298161394, -1.03225992507),
    5.0: (-0.717369812148, 0.299022421733, -0.629258407906, 1.36879711853, -1.96453907787, -2.49400714353),
}


def mass_spring(_: int) -> Values:
    """Integrate two masses in redundant coordinates with a singular mass."""
    x1, q2, x2 = q = sp.symbols("x1 q2 x2")
    s = sp.Symbol("s")
    system = symbolic_system(
        "mass-spring system",
        q,
        q0=[0.0, 1.1, 0.0],
        v0=[1.0, 1.0, -1.0],
        M=[[2, 0, 0], [0, 1, 1], [0, 1, 1]],
        V=[Part(sp.Rational(k, 2) * (s**2 + s**4), s, x) for k, x in ((1, x1), (3, x2))],
        g=[((q2 - x1) ** 2 - sp.Rational(11, 10) ** 2) / 2],
    )
    run = integrate(system, "EML", 0.1, 10.0)
    return {f"q, p({t:g})": np.append(run.q[round(10 * t)], run.p[round(10 * t)]) for t in MASS_SPRING}


def heavy_top(_: int) -> Values:
    """Integrate a cone that rotates about its tip."""
    mass, length = 2700.0 * np.pi * 0.05**2 * 0.1 / 3, 0.075
    across = mass * (3.0 / 80.0 * (4.0 * 0.05**2 + 0.1**2) + length**2)
    J = np.array([across, across, 0.3 * mass * 0.05**2])
    Omega = 10.0 * np.array([0.0, np.sin(np.pi / 3), 0.5]) + [0.0, 0.0, 135.6]
    quat = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6), 0.0, 0.0])
    weight = (np.array([0.0, 0.0, length]), np.array([0.0, 0.0, -mass * 9.81]))
    run = integrate(rotating_body("heavy top", J, Omega, quat, [weight]), "EML", 0.01, 2.0)
    return {f"q({t:g})": run.q[round(100 * t)] for t in HEAVY_TOP}


def pendulum(_: int) -> Values:
    """Integrate a point mass on the unit sphere."""
    q = sp.symbols("x y z")
    system = symbolic_system(
        "pendulum",
        q,
        q0=[1.0, 0.0, 0.0],
        v0=[0.0, 1.0, 0.0],
        M=sp.eye(3).tolist(),
        V=sp.Float(9.81) * q[2],
        g=[(sum(x**2 for x in q) - 1) / 2],
    )
    run = integrate(system, "VI-S", 0.05, 5.0)
    return {f"q, p({t:g})": np.append(run.q[round(20 * t)], run.p[round(20 * t)]) for t in PENDULUM}


_case = partial(Case, order=None, slow=True)
CASES = (
    _case(
        name="metis-mass-spring",
        title="Mass-spring system in redundant coordinates",
        source=METIS,
        known={f"q, p({t:g})": Known(value, 1e-8, 1.0) for t, value in MASS_SPRING.items()},
        run=mass_spring,
        meshes=("", "EML, h = 0.1"),
    ),
    _case(
        name="metis-heavy-top",
        title="Heavy top about its tip",
        source=METIS,
        known={f"q({t:g})": Known(value, 1e-8, 1.0) for t, value in HEAVY_TOP.items()},
        run=heavy_top,
        meshes=("", "EML, h = 0.01"),
    ),
    _case(
        name="metis-pendulum",
        title="Mathematical pendulum in three dimensions",
        source=METIS,
        known={f"q, p({t:g})": Known(value, 1e-8, 5.0) for t, value in PENDULUM.items()},
        run=pendulum,
        meshes=("", "VI-S, h = 0.05"),
    ),
)
