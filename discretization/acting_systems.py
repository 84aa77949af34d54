"""Systems between two events: a system whose joints and drives act only in part.

The states of a run with events have the arrays of the whole system. The integrator takes its steps with an `ActingSystem`: the
same frames and interactions, and those rows of constraints that act. States are converted by the indices of these rows; the
multipliers of the others are zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discretization.drives import driven_rows
from discretization.internal_variables import WIDTHS, internal_variables, part
from discretization.redundancy import redundancy, with_redundancy_marked
from discretization.system import System
from rigid.interactions.constraints import first_rows
from rigid.system import Ints, State

_NO_MARKS = np.zeros(0, np.uint8)


@dataclass(frozen=True, eq=False)
class ActingSystem:
    """A system with the joints and drives that act.

    Attributes
    ----------
    system : System
        Without the rows that do not act.
    rows : (p,) array of int
        Its multipliers among the m of the whole system.
    internal : (q,) array of int
        Its internal variables among those of the whole system.
    """

    system: System
    rows: Ints
    internal: Ints

    def state_of(self, state: State) -> State:
        """Return a state of the whole system as a state of the phase."""
        return state._replace(lam=state.lam[..., self.rows], internal=state.internal[..., self.internal])

    def whole(self, states: State, before: State) -> State:
        """Return states (k, ...) of the phase as states of the whole system; `before` has the numbers that the phase lacks."""
        lam = np.zeros((len(states.r), len(before.lam)))
        lam[:, self.rows] = states.lam
        internal = np.tile(before.internal, (len(states.r), 1))
        # without the bristles of contacts, which come last, in the states of a list of contacts
        internal[:, self.internal[: states.internal.shape[1]]] = states.internal
        return states._replace(lam=lam, internal=internal)


def acting_system(system: System, state: State) -> ActingSystem:
    """Return the system with the joints and drives that act in a state."""
    controls, constraints, blocks = system.controls, system.constraints, internal_variables(system)
    if not len(controls.switch):
        return ActingSystem(system, np.arange(len(state.lam)), np.arange(blocks.size))
    drive = np.arange(blocks.drive)
    acting = controls.acting(part(system, state, "sampled")) > 0.0
    keep = acting_drives(system, state)
    mask = _acting_constraints(system, state)
    part_of_system = system._replace(
        constraints=constraints.chosen(mask)._replace(repeats=_NO_MARKS),
        others=system.others._replace(repeats=_NO_MARKS),
        controls=controls._replace(switch=np.zeros(0, np.int64)),
    )
    positions = []
    for name, width in WIDTHS.items():
        numbers_of_rows = drive[keep] if name == "drive" else np.arange(getattr(blocks, name))
        positions.append((blocks.first(name) + width * numbers_of_rows[:, None] + np.arange(width)).ravel())
    acts = ActingSystem(part_of_system, np.flatnonzero(acting), np.concatenate(positions))
    redundant = redundancy(part_of_system, acts.state_of(state))
    if redundant is None:
        return acts
    return replace(acts, system=with_redundancy_marked(part_of_system, redundant))


def acting_drives(system: System, state: State) -> NDArray[np.bool_]:
    """Return which drives act in a state, (drives,): driven rows, then driven frames."""
    driven = driven_rows(system.constraints)
    keep = np.ones(internal_variables(system).drive, bool)
    keep[: len(driven)] = _acting_constraints(system, state)[driven]
    return keep


def _acting_constraints(system: System, state: State) -> NDArray[np.bool_]:
    """Return which constraints act in a state."""
    if not len(system.constraints.kind):
        return np.zeros(0, bool)
    acting = system.controls.acting(part(system, state, "sampled")) > 0.0
    mask: NDArray[np.bool_] = acting[first_rows(system.constraints)]
    return mask
