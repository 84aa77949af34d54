"""Integrate a scheme over many steps, and its tangent solutions along the run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.continuum.quaternions import Array, conjugate, product
from discretization.multisymplectic.implicit_step import (
    CompletedStep,
    ImplicitScheme,
    propagate_variations,
    take_step,
)
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.system import Floats


class Run(NamedTuple):
    """States (steps + 1, ...) at times t, s, and the steps between them."""

    t: Floats
    states: Floats
    steps: list[CompletedStep]


class Tangent(NamedTuple):
    """Variations of the states (steps + 1, k, ...) and of the unknowns x of the steps (steps, k, ...)."""

    states: Floats
    x: Floats


def integrate(scheme: ImplicitScheme, start: Floats, h: float, steps: int) -> Run:
    """Take `steps` steps of length h, s; raise ConvergenceError if one has no solution."""
    state, taken_steps = start, []
    for k in range(steps):
        taken_steps.append(take_step(scheme, state, h, k * h))
        state = taken_steps[-1].new
    return Run(h * np.arange(steps + 1), np.array([start, *(step.new for step in taken_steps)]), taken_steps)


def propagate_tangents(scheme: ImplicitScheme, run: Run, h: float, variations: Floats) -> Tangent:
    """Propagate variations (k, ...) of the initial state along a run."""
    states, unknowns = [variations], []
    for step in run.steps:
        dx, new = propagate_variations(scheme, step, h, states[-1])
        states.append(new)
        unknowns.append(dx)
    return Tangent(np.array(states), np.array(unknowns))


def tangent_vectors(scheme: ImplicitScheme, state: Floats, count: int = 2, seed: int = 0) -> Floats:
    """Return random variations (count, ...) of a state that satisfy the linearised constraints of the scheme.

    They are vectors of standard normal entries (size 1), projected onto the constraints.
    """
    moved = state + 1j * COMPLEX_STEP * np.eye(state.size)
    G = np.array([scheme.constraints(y).imag / COMPLEX_STEP for y in moved]).T
    v = np.random.default_rng(seed).standard_normal((count, state.size))
    return np.asarray(v - v @ G.T @ np.linalg.pinv(G).T)


def momenta(u: Array, p: Array) -> tuple[Array, Array]:
    """Return linear momentum p_phi and angular momentum phi x p_phi + (p q^c)/2 of each row, (..., 3)."""
    spin = product(p[..., 3:], conjugate(u[..., 3:]))[..., 1:] / 2
    return p[..., :3], np.cross(u[..., :3], p[..., :3]) + spin
