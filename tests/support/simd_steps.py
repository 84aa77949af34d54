"""A step in whose middle everything may be displaced, and the equations of `em` for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from discretization.assembly.numbering import number_unknowns
from discretization.assembly.workspace import workspace
from tests.support.newton_iterations import ADD, BEGIN, MOVE, done

H = 0.01


def in_a_step(system: Any, state: Any, angle: float, rng: np.random.Generator) -> tuple[Any, ...]:
    """System, numbering, state and workspace; frames are rotated by about `angle`, rad, before the step and in it."""
    moving = system.frames.fixed == 0
    quat = state.quat + angle * moving[:, None] * rng.standard_normal(state.quat.shape)
    quat /= np.linalg.norm(quat, axis=1)[:, None]
    r = state.r + 0.005 * moving[:, None] * rng.standard_normal(state.r.shape)
    v = 0.3 * moving[:, None] * rng.standard_normal(state.v.shape)
    state = state._replace(r=r, quat=quat, v=v)
    numbering = number_unknowns(system)
    work = workspace(system, numbering)
    work.dr[moving] = 0.002 * rng.standard_normal((moving.sum(), 3))
    work.psi[moving] = angle * rng.standard_normal((moving.sum(), 3))
    done(BEGIN | MOVE, system, numbering, state, work, H)
    return system, numbering, state, work


def begun(system: Any, numbering: Any, state: Any, work: Any) -> None:
    """Shared data of the iterations of a step from this state."""
    done(BEGIN, system, numbering, state, work, H)


def assembled(system: Any, numbering: Any, state: Any, work: Any) -> tuple[Any, ...]:
    """Residual and entries of the matrix of a step, and whether an element folds."""
    status = int(done(ADD, system, numbering, state, work, H) != 0)
    return work.residual[: numbering.size].copy(), work.values[: numbering.n_values].copy(), status
