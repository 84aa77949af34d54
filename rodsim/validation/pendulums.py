"""Validation cases of pendulums and chains of rigid bodies."""

from __future__ import annotations

import numpy as np

from rigid.inertia import Box, MassProperties
from rodsim.model import Model
from rodsim.results.histories import BodyHistory
from rodsim.simulation import simulate
from rodsim.validation.case import Case, Known, Values

G = 9.81
# box 10 x 1 x 1, density 10, on the middle of its end face, released at 90 degrees: t -> angle from hanging
PHYSICAL = {
    0.5: 1.3875230685084256,
    1.0: 0.84971439156516378,
    2.0: -0.76324647581857370,
    5.0: 0.67304496169635757,
    10.0: -1.0836971007665720,
}
# unit mass at distance 1, from (1, 0, 0) with velocity (0, 1, 0): t -> r, v
SPHERICAL = {
    0.1: (0.99380485191617493, 0.099761366687978042, -0.048985569552842918),
    1.0: (-0.90612889042745001, -0.39458146879706127, -0.15243325888621570),
    2.0: (0.57925115720168228, 0.58824671673255091, -0.56429947468864967),
}
SPHERICAL_V = {2.0: (0.42625034023332965, 2.1592367103600091, 2.6884127602501748)}
# unit mass at distance 1 from (-1, 0) at rest, in a plane: t -> (x, y)
SIMPLE = {
    0.5: (-0.39104879155054639, -0.92036994878519220),
    1.0: (0.98629175113187532, -0.16501085312554117),
    5.0: (-0.94230543504375734, -0.33475433841400058),
}
CHAIN_TIP = (-4.598300, 0.0, -0.758024)  # five bars of length 1 from horizontal, at t = 2


def physical(level: int) -> Values:
    """Simulate a box on a revolute joint at the middle of its end face."""
    model = Model("physical pendulum", gravity=(0.0, 0.0, -G))
    box = model.add_body("box", Box(10.0, 1.0, 1.0, density=10.0), position=(5.0, 0.0, 0.0))
    model.add_joint("pivot", "revolute", model.ground, box, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    run = simulate(model, 10.0, (0.02, 0.01)[level], "em6", output_every=1)
    x, _, z = run.body("box").center_of_mass.T
    return {f"angle({t:g})": np.arctan2(x, -z)[run.index_at(t)] for t in PHYSICAL}


def bob(
    level: int, velocity: tuple[float, float, float], start: float, t_end: float, integrator: str
) -> BodyHistory:
    """Simulate a point mass on a massless rod; its rotation about itself has no effect."""
    model = Model("pendulum", gravity=(0.0, 0.0, -G))
    ball = model.add_body(
        "bob", MassProperties(1.0, np.array([1.0, 1.0, 1.0])), (start, 0.0, 0.0), velocity=velocity
    )
    model.add_joint("string", "distance", model.ground.at((0.0, 0.0, 0.0)), ball.at((0.0, 0.0, 0.0)))
    return simulate(model, t_end, (0.005, 0.0025)[level], integrator, output_every=1).body("bob")


def spherical(level: int) -> Values:
    """Simulate the spherical pendulum."""
    ball, every = bob(level, (0.0, 1.0, 0.0), 1.0, 2.0, "em6-ggl"), (200, 400)[level]
    found = {f"r({t:g})": ball.r[round(every * t)] for t in SPHERICAL}
    return found | {f"v({t:g})": ball.v[round(every * t)] for t in SPHERICAL_V}


def simple(level: int) -> Values:
    """Simulate the simple pendulum in a plane."""
    ball, every = bob(level, (0.0, 0.0, 0.0), -1.0, 5.0, "em6"), (200, 400)[level]
    return {f"(x, y)({t:g})": ball.r[round(every * t), [0, 2]] for t in SIMPLE}


def chain(level: int) -> Values:
    """Simulate five bars with spherical joints."""
    model = Model("chain", gravity=(0.0, 0.0, -G))
    last = model.ground.at((0.0, 0.0, 0.0))
    for k in range(5):
        bar = model.add_body(f"bar {k}", Box(1.0, 0.1, 0.1, density=1000.0), position=(k + 0.5, 0.0, 0.0))
        model.add_joint(f"joint {k}", "spherical", last, bar.at((-0.5, 0.0, 0.0)))
        last = bar.at((0.5, 0.0, 0.0))
    run = simulate(model, 2.0, (0.004, 0.002)[level], "em4", output_every=100)
    half = np.array([0.5, 0.0, 0.0])
    return {"tip(2)": run.body("bar 4").point(half)[-1]}


EXACT = "exact, elliptic functions, 17 digits"
CASES = (
    Case(
        "physical-pendulum",
        "Box on a revolute joint",
        EXACT,
        {f"angle({t:g})": Known(value, 1e-15, 1.0) for t, value in PHYSICAL.items()},
        physical,
        ("em6, h = 0.02", "em6, h = 0.01"),
        6,
        1e-7,
    ),
    Case(
        "spherical-pendulum",
        "Point mass on a sphere",
        EXACT,
        {f"r({t:g})": Known(value, 1e-15, 1.0) for t, value in SPHERICAL.items()}
        | {f"v({t:g})": Known(value, 1e-15, 3.5) for t, value in SPHERICAL_V.items()},
        spherical,
        ("em6-ggl, h = 0.005", "em6-ggl, h = 0.0025"),
        6,
        1e-6,
    ),
    Case(
        "simple-pendulum",
        "IFToMM A01: simple pendulum",
        EXACT,
        {f"(x, y)({t:g})": Known(value, 1e-15, 1.0) for t, value in SIMPLE.items()},
        simple,
        ("em6, h = 0.005", "em6, h = 0.0025"),
        6,
        1e-7,
    ),
    Case(
        "chain",
        "Five pinned bars fall from horizontal",
        "converged, two programs, 6 digits",
        {"tip(2)": Known(CHAIN_TIP, 1e-6, 1.0)},
        chain,
        ("em4, h = 0.004", "em4, h = 0.002"),
        4,
        1e-4,
    ),
)
