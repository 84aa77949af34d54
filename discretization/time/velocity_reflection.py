"""Decide whether a step of `em` reflects velocities even with h = 0, so that its compositions need half substeps.

Joints constrain the mean velocity of a step, and v1 = 2 dr/h - v0 reflects the part of the velocities that violates G v = 0. A
frame that is clamped to the ground, or to a fixed frame, does not move at all: its velocities are zero at the ends of all steps,
and there is nothing to reflect.

States of a user-defined kind may be reflected too, as s1 = 2 sbar - s0 of states that follow immediately
(`rigid.interactions.kinds.InternalStateEquations` declares which).
"""

from __future__ import annotations

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.memoization import memoized, per_structure
from discretization.multipliers import multipliers_of
from discretization.system import System
from rigid.interactions.constraints import facts

FIXED = 1  # value in `Frames.fixed`; a driven frame has another value
_WHOLE = 6  # number of rows of a joint that leaves nothing free


def has_state_reflection(system: System) -> bool:
    """Return whether the internal states of a kind change in a step of zero length."""
    kinds = (INTERACTIONS[k].state_equations for k in np.unique(system.others.kind))
    return any(equations is not None and equations.reverses for equations in kinds)


@memoized(per_structure)
def has_velocity_reflection(system: System) -> bool:
    """Return whether a constraint other than a clamp to a fixed frame acts on frames that move."""
    multipliers = multipliers_of(system)
    if not len(multipliers.rows):
        return False
    fixed = (multipliers.frames < 0) | (system.frames.fixed[multipliers.frames] == FIXED)
    clamps = (multipliers.of_joint == _WHOLE) & ((~fixed).sum(axis=1) <= 1)
    kinds = system.constraints.kind
    clamps[len(kinds) :] = False  # gears and similar constraints
    clamps[: len(kinds)] &= ~np.asarray(facts(kinds, "driven"), bool)
    return not bool(clamps.all())
