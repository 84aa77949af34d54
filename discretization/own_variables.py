"""Own variables: what a state keeps of interactions beside the poses of their frames, in one array, `State.own`.

    block    sort        a row of it
    angle    counted     (1) rad, through full turns: of torsion springs, of geared joints (`discretization.gears`), then what
                         all other kinds count (`rigid.interactions.kinds.Kind.count`)
    branch   condensed   (6) elastic strains of relaxing branches, at the points of spans (`discretization.space.relaxing_branch`)
    drive    given       (9) numbers of a prescribed motion and its work (`discretization.drives`)
    memory   a scheme's  (6) what `em-d` remembers of velocities and strains (`discretization.assembly.step_dissipation`)

Block stands behind block, row behind row, in this order. Counted variables are functions of the poses but for whole turns;
condensed ones are eliminated where their interaction is assembled, so that they are no unknowns of a step. All but the
memory, for which an integrator makes room, follow from the system.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.drives import NUMBERS, Varying, count_drives
from discretization.gears import count_angles
from discretization.others import counting, own_of
from discretization.system import System
from rigid.interactions import evaluation
from rigid.system import Floats, State

WIDTHS = {"angle": 1, "branch": 6, "drive": NUMBERS, "memory": 6}
BRANCH, DRIVE, MEMORY = WIDTHS["branch"], WIDTHS["drive"], WIDTHS["memory"]  # for compiled code


class OwnVariables(NamedTuple):
    """How many rows each block has."""

    angle: int = 0
    branch: int = 0
    drive: int = 0
    memory: int = 0

    @property
    def size(self) -> int:
        """Of `State.own`."""
        return sum(rows * width for rows, width in zip(self, WIDTHS.values(), strict=True))

    def first(self, block: str) -> int:
        """Where a block begins."""
        before = self._fields[: self._fields.index(block)]
        return sum(getattr(self, name) * WIDTHS[name] for name in before)

    def part(self, own: Floats, block: str) -> Floats:
        """The rows (..., k, width) of a block, of angles (..., k); a view of `own` (..., size) where it is contiguous."""
        first, rows, width = self.first(block), getattr(self, block), WIDTHS[block]
        values = own[..., first : first + rows * width]
        return values if width == 1 else values.reshape(*own.shape[:-1], rows, width)

    def varying(self, own: Floats, behind: int = 0) -> Varying:
        """The numbers of constraints that states keep; behind: angles that belong to interactions of no table."""
        return Varying(self.part(own, "drive"), self.part(own, "angle")[..., : self.angle - behind])

    def joined(self, **parts: Any) -> Floats:
        """`State.own` of these blocks, those left out zero."""
        own = np.zeros(self.size)
        for name, values in parts.items():
            self.part(own, name)[...] = values
        return own


def own_variables(system: System, own: Floats | None = None) -> OwnVariables:
    """Of a system; with the memory that there is in `own` (..., size)."""
    branches = len(system.spans.weight) if np.any(system.spans.relaxation) else 0
    angles = count_angles(system) + int(own_of(system.others).sum())
    found = OwnVariables(angles, branches, count_drives(system))
    return found if own is None else found._replace(memory=(own.shape[-1] - found.size) // MEMORY)


def part(system: System, state: State, block: str) -> Floats:
    """A block of one state or of many, see `OwnVariables.part`."""
    return own_variables(system, state.own).part(state.own, block)


def varying_of(system: System, state: State) -> Varying:
    """The numbers of the constraints that one state or many keep."""
    return own_variables(system).varying(state.own, int(own_of(system.others).sum()))


def counted_by_others(system: System, state: State) -> Floats:
    """(..., k) what the interactions of no table have counted, in one state or in many."""
    angles = part(system, state, "angle")
    return angles[..., angles.shape[-1] - int(own_of(system.others).sum()) :]


def with_part(system: System, state: State, block: str, values: Any) -> State:
    """The state with another block."""
    own = state.own.copy()
    own_variables(system, own).part(own, block)[...] = values
    return state._replace(own=own)


class OwnPlaces(NamedTuple):
    """Where blocks begin, for compiled code; angles begin at 0."""

    branch: int
    drive: int
    memory: int


def own_places(system: System) -> OwnPlaces:
    """Of a system."""
    found = own_variables(system)
    return OwnPlaces(*(found.first(name) for name in OwnPlaces._fields))


def with_counted_angles(system: System, state: State) -> State:
    """The state at t = 0: what interactions of no table count is next to what their numbers say."""
    if not own_of(system.others).any():
        return state
    angle = part(system, state, "angle").copy()
    counted = evaluation.values(counting(system.others), state.r, state.quat)
    angle[len(angle) - len(counted) :] = counted
    return with_part(system, state, "angle", angle)
