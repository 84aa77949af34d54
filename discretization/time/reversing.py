"""Where a step of `em` reverses velocities even with h = 0, so that its compositions take halves.

Joints hold the mean velocity of a step, and v1 = 2 dr/h - v0 reverses what violates G v = 0. What is clamped to the ground, or
to a frame that is fixed, does not move at all: its velocities are zero at the ends of all steps, and there is nothing to reverse.

States of a user's kind may be reversed as well, as s1 = 2 sbar - s0 of what follows at once (`rigid.interactions.kinds.Evolving`
says which).
"""

from __future__ import annotations

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.known_facts import known
from discretization.multipliers import multipliers_of
from discretization.system import System
from rigid.interactions.constraints import facts

FIXED = 1  # in `Frames.fixed`; a driven frame is none
_WHOLE = 6  # rows of a joint that leaves nothing free


def states_reverse(system: System) -> bool:
    """Whether states of some kind are not the same after a step that takes no time."""
    kinds = (INTERACTIONS[k].evolves for k in np.unique(system.others.kind))
    return any(own is not None and own.reverses for own in kinds)


@known
def reverses(system: System) -> bool:
    """Whether something holds frames that move: any constraint but clamps of frames to fixed ones."""
    held = multipliers_of(system)
    if not len(held.rows):
        return False
    fixed = (held.frames < 0) | (system.frames.fixed[held.frames] == FIXED)
    clamps = (held.of_joint == _WHOLE) & ((~fixed).sum(axis=1) <= 1)
    kinds = system.constraints.kind
    clamps[len(kinds) :] = False  # gears and the like
    clamps[: len(kinds)] &= ~np.asarray(facts(kinds, "driven"), bool)
    return not bool(clamps.all())
