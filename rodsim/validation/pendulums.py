"""Validation cases of pendulums and chains of rigid bodies."""

from __future__ import annotations

import numpy as np

from rigid.inertia import Box, MassProperties
from rodsim.model import Model
from rodsim.papers.pendulum import EXACT_P, EXACT_Q, EXACT_T
from rodsim.papers.physical_pendulum import EXACT as PHYSICAL
from rodsim.results.result import Result
from rodsim.simulation import simulate
from rodsim.validation.case import Case, Meshes, ReferenceValue, Values, reference_values_at, values_at

G = 9.81
# unit mass at distance 1, from (1, 0, 0) with velocity (0, 1, 0): t -> r, v
SPHERICAL = {
    0.1: (0.99380485191617493, 0.099761366687978042, -0.048985569552842918),
    1.0: (-0.90612889042745001, -0.39458146879706127, -0.15243325888621570),
    EXACT_T: EXACT_Q,
}
SPHERICAL_V = {EXACT_T: EXACT_P}
# unit mass at distance 1 from (-1, 0) at rest, in a plane: t -> (x, y)
SIMPLE = {
    0.5: (-0.39104879155054639, -0.92036994878519220),
    1.0: (0.98629175113187532, -0.16501085312554117),
    5.0: (-0.94230543504375734, -0.33475433841400058),
}
CHAIN_TIP = (-4.598300, 0.0, -0.758024)  # five bars of length 1 from horizontal, at t = 2


def physical(level: int) -> Values:
    """Simulate a box 10 x 1 x 1, density 10, released at 90 degrees, on a revolute joint at the middle of its end face."""
    model = Model("physical pendulum", gravity=(0.0, 0.0, -G))
    box = model.add_body("box", Box(10.0, 1.0, 1.0, density=10.0), position=(5.0, 0.0, 0.0))
    model.add_joint("pivot", "revolute", model.ground, box, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    run = simulate(model, 10.0, (0.02, 0.01)[level], "em6", output_every=1)
    x, _, z = run.body("box").center_of_mass.T
    return values_at("angle", PHYSICAL, run, np.arctan2(x, -z))


def bob(
    level: int, velocity: tuple[float, float, float], start: float, t_end: float, integrator: str
) -> Result:
    """Simulate a point mass on a massless rod; its rotation about itself has no effect."""
    model = Model("pendulum", gravity=(0.0, 0.0, -G))
    ball = model.add_body("bob", MassProperties(1.0, np.ones(3)), (start, 0.0, 0.0), velocity=velocity)
    model.add_joint("string", "distance", model.ground.at((0.0, 0.0, 0.0)), ball.at((0.0, 0.0, 0.0)))
    return simulate(model, t_end, (0.005, 0.0025)[level], integrator, output_every=1)


def spherical(level: int) -> Values:
    """Simulate the spherical pendulum."""
    run = bob(level, (0.0, 1.0, 0.0), 1.0, 2.0, "em6-ggl")
    ball = run.body("bob")
    return values_at("r", SPHERICAL, run, ball.r) | values_at("v", SPHERICAL_V, run, ball.v)


def simple(level: int) -> Values:
    """Simulate the simple pendulum in a plane."""
    run = bob(level, (0.0, 0.0, 0.0), -1.0, 5.0, "em6")
    return values_at("(x, y)", SIMPLE, run, run.body("bob").r[:, [0, 2]])


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
        reference_values_at("angle", PHYSICAL, 1e-15, 1.0),
        physical,
        Meshes("em6, h = 0.02", "em6, h = 0.01", 6, 1e-7),
    ),
    Case(
        "spherical-pendulum",
        "Point mass on a sphere",
        EXACT,
        reference_values_at("r", SPHERICAL, 1e-15, 1.0) | reference_values_at("v", SPHERICAL_V, 1e-15, 3.5),
        spherical,
        Meshes("em6-ggl, h = 0.005", "em6-ggl, h = 0.0025", 6, 1e-6),
    ),
    Case(
        "simple-pendulum",
        "IFToMM A01: simple pendulum",
        EXACT,
        reference_values_at("(x, y)", SIMPLE, 1e-15, 1.0),
        simple,
        Meshes("em6, h = 0.005", "em6, h = 0.0025", 6, 1e-7),
    ),
    Case(
        "chain",
        "Five pinned bars fall from horizontal",
        "converged, two programs, 6 digits",
        {"tip(2)": ReferenceValue(CHAIN_TIP, 1e-6, 1.0)},
        chain,
        Meshes("em4, h = 0.004", "em4, h = 0.002", 4, 1e-4),
    ),
)
