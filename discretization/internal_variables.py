"""Layout of the internal variables: state of interactions in addition to the poses of their frames.

All are in one array, `State.internal`:

    block    sort        a row of it
    angle    counted     (1) rad, through full turns: values that interactions count (`rigid.interactions.kinds.Kind.count`), in
                         the order of `System.others`: torsion springs, gears, all others
    branch   condensed   (6) elastic strains of relaxing branches, at the points of spans (`discretization.space.maxwell_branch`)
    drive    prescribed  (9) numbers of a prescribed motion and its work (`discretization.drives`)
    sampled  sampled     (1) what sensors and controllers remember and hold (`discretization.controls`)
    settled  condensed   (1) bristles and other memory of dissipations in `System.others`, in its order
                         (`rigid.interactions.kinds.Condensed.update_internal`)
    bristle  per list    (6) windows of `System.contacts` (`discretization.contact.contact_patches`): number of the window in the
                         list, from 1 on, bristle (3), whether it slides, stiffness; unused rows are zero

Blocks are stored one after another, row by row, in this order. Counted variables are functions of the poses except for whole
turns. Condensed ones are eliminated when their interaction is assembled, or updated when a step is accepted, so that they are
not unknowns of a step. All depend on the system; the state of an integrator is stored apart (`discretization.integrator_memory`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.contact.contact_patches import bristle_capacity
from discretization.drives import NUMBERS, count_drives
from discretization.interaction_table import (
    counted_variable_counts,
    counted_variable_groups,
    groups_of,
    history_variable_counts,
)
from discretization.memoization import memoized, per_structure
from discretization.space.spans import dissipations_of, points_between
from discretization.system import System
from rigid.interactions import evaluation
from rigid.system import Floats, Ints, State

WIDTHS = {"angle": 1, "branch": 6, "drive": NUMBERS, "sampled": 1, "settled": 1, "bristle": 6}
BRANCH, DRIVE = WIDTHS["branch"], WIDTHS["drive"]  # for compiled code


class InternalVariables(NamedTuple):
    """Number of rows of each block of `State.internal`."""

    angle: int = 0
    branch: int = 0
    drive: int = 0
    sampled: int = 0
    settled: int = 0
    bristle: int = 0

    @property
    def size(self) -> int:
        """Return the length of `State.internal`."""
        return sum(rows * width for rows, width in zip(self, WIDTHS.values(), strict=True))

    def first(self, block: str) -> int:
        """Return the index at which a block begins."""
        before = self._fields[: self._fields.index(block)]
        return sum(getattr(self, name) * WIDTHS[name] for name in before)

    def part(self, variables: Floats, block: str) -> Floats:
        """Return the rows (..., k, width) of a block of `variables` (..., size), or (..., k) if its width is 1.

        The result is a view if `variables` is contiguous.
        """
        first, rows, width = self.first(block), getattr(self, block), WIDTHS[block]
        values = variables[..., first : first + rows * width]
        return values if width == 1 else values.reshape(*variables.shape[:-1], rows, width)

    def joined(self, **parts: Any) -> Floats:
        """Return `State.internal` assembled from blocks by name; missing blocks are zero."""
        variables = np.zeros(self.size)
        for name, values in parts.items():
            self.part(variables, name)[...] = values
        return variables


@memoized(per_structure)
def internal_variables(system: System) -> InternalVariables:
    """Return the layout of the internal variables of a system."""
    branches = system.rods.branches
    counted, settled = (
        int(of(system.others).sum()) for of in (counted_variable_counts, history_variable_counts)
    )
    return InternalVariables(
        counted,
        branches,
        count_drives(system),
        system.controls.size,
        settled,
        bristle_capacity(system.contacts),
    )


def part(system: System, state: State, block: str) -> Floats:
    """Return a block of one state or of many, see `InternalVariables.part`."""
    return internal_variables(system).part(state.internal, block)


def without_neighbour_list(system: System, full_system: System, state: State) -> State:
    """Convert a state of `full_system` to one of `system`, the same system with another list of contacts; omit the bristles."""
    blocks = {block: part(full_system, state, block) for block in ("angle", "branch", "drive", "sampled")}
    return state._replace(internal=internal_variables(system).joined(**blocks))


def with_part(system: System, state: State, block: str, values: Any) -> State:
    """Return the state with the values of a block replaced."""
    variables = state.internal.copy()
    internal_variables(system).part(variables, block)[...] = values
    return state._replace(internal=variables)


def condensed_indices(system: System) -> Ints:
    """Return the indices in `State.internal` of the condensed variables of interactions, group by group."""
    spans, blocks = system.spans, internal_variables(system)
    relaxing = [group.row for group in dissipations_of(spans) if group.kind.n_internal]
    points = [points_between(spans, rows).ravel() for rows in relaxing]
    branch_points = np.concatenate([np.zeros(0, np.int64), *points])
    span_indices = (blocks.first("branch") + BRANCH * branch_points[:, None] + np.arange(BRANCH)).ravel()
    count, first = history_variable_counts(system.others), first_history_variable(system)
    other_indices = [
        first[group.row][:, None] + np.arange(group.kind.n_internal)
        for group in groups_of(system.others, np.flatnonzero(count))
    ]
    return np.concatenate([span_indices, *(indices.ravel() for indices in other_indices)])


def first_history_variable(system: System) -> Ints:
    """Return the index (e,) in `State.internal` of the first variable of the block "settled" of each interaction.

    The order is that of `System.others`. The entry is meaningful only if the interaction has such variables.
    """
    count = history_variable_counts(system.others)
    first: Ints = internal_variables(system).first("settled") + np.cumsum(count) - count
    return first


class InternalOffsets(NamedTuple):
    """Indices at which blocks begin, for compiled code; angles begin at 0."""

    branch: int
    drive: int


def internal_offsets(system: System) -> InternalOffsets:
    """Return the indices at which the blocks of a system begin."""
    layout = internal_variables(system)
    return InternalOffsets(*(layout.first(name) for name in InternalOffsets._fields))


def with_counted_angles(system: System, state: State) -> State:
    """Return the state at t = 0 with counted variables initialised to the values closest to those of the parameters."""
    if not counted_variable_counts(system.others).any():
        return state
    counted = evaluation.values(counted_variable_groups(system.others), state.r, state.quat)
    return with_part(system, state, "angle", counted)
