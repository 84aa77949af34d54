"""Assemble interactions without a closed form from their duals (discrete gradients) alone in a Cayley energy-momentum step.

These are constraints, energies and dissipations. Kinds that have a loop of their own (`discretization.assembly.spring_forces`)
are stored in the same arrays.

With y0, y1 the poses at both ends, the impulses are the dual between them, pulled back to a force and the torque
sum_k dbar_k x f_k. Rows of the matrix are the duals at the end, columns those between the ends, for unit multipliers.
The tangent of the impulses is taken by complex steps along dr and eta of every frame, d_k1 -> d_k1 + i eps eta x d_k1.
An energy has one dual, its discrete force; a dissipation has the dual of the change over the step, with lam = 1/h. One loop
serves all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.assembly.actuated_elements import actuated_elements
from discretization.assembly.fluid_forces import add_fluid_forces, end_added_masses, line_drag_energy
from discretization.assembly.regularised_forces import DATA_OFFSET, regularise_force
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import (
    constraint_indices,
    counted_variable_counts,
    groups_of,
    history_variable_counts,
    is_dissipation,
    signals_of,
)
from discretization.internal_variables import first_history_variable
from discretization.space.closed_form_spans import FORCE
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions.blocks import is_idle, move_along, move_back, pulled, put_pose
from rigid.interactions.constraints import CONSTRAINTS
from rigid.interactions.internal_variables import (
    begin_internal_step,
    end_internal_step,
    update_internal_variables,
)
from rigid.interactions.kinds import (
    COMPLEX_STEP,
    EXPECTED,
    LINE_DRAGS,
    MAX_FRAMES,
    MAX_INTERNAL_VARIABLES,
    MAX_ROWS,
    UNKNOWN,
    WITH_SEEN,
    Group,
    dual_at,
    group_from_columns,
    no_bend,
    pack_groups,
    tangent_at,
    value_at,
)
from rigid.linear_algebra import dot, load3
from rigid.system import Constraints

EPS = 2.220446049250313e-16
NOT_FINITE = 4  # status of a step with a derivative that is not finite


DISSIPATES, WORKS, LOOPS_DISSIPATE, LOOPS_WORK = 1, 2, 4, 8
DRIVES = DISSIPATES | WORKS  # its dual is multiplied by 1/h like that of a dissipation, but it does work


class GenericAssembly(NamedTuple):
    """All interactions assembled from their duals, kind by kind, constraints of the table first, and scratch arrays for one."""

    interacting: Any  # `InteractionArrays`; `row`: number among all items with multipliers, -1: none
    at_end: np.ndarray  # parameters at the end of the step; for driven constraints not the mean values
    rates: np.ndarray  # parameters with the rates of driven quantities in their place
    takes: np.ndarray  # (kinds,) uint8 flags DISSIPATES ... LOOPS_WORK, see above; 0: energy or constraint
    loop: np.ndarray  # (e,) number of the loop that assembles the interaction, 0: from its duals
    signals: np.ndarray  # (l, 4) per load: interaction, offset of its value in the parameters, frame, loop
    actuated: np.ndarray  # (a, 5) result of `actuated_elements`
    held: np.ndarray  # (a,) scratch array of `hold_actuations`
    base: np.ndarray  # (e, f, f) addresses of the frame blocks; f: columns of `InteractionTable.frames`
    row_base: np.ndarray  # (e, f, 2) addresses of the blocks frame-multiplier, multiplier-frame
    size: np.ndarray  # (e, 2) force and moment that determine the round-off, N and N m; 0: constraints
    internal_offset: (
        np.ndarray
    )  # (e,) offset in `State.internal` of internal variables, counted or updated at step end
    start: np.ndarray  # (f, 4, 3) complex poses at the start; `end`, `dual`: same shape
    end: np.ndarray
    dual: np.ndarray
    lam: np.ndarray  # (MAX_ROWS,) complex multipliers
    g: (
        np.ndarray
    )  # (MAX_INTERNAL_VARIABLES,) complex constraint values (at most MAX_ROWS) or internal variables
    block: np.ndarray  # (6 f, 6 f) tangent of one interaction
    sliding: np.ndarray  # (WITH_SEEN,) complex, lam of kinds with set-valued forces (`slides`)
    expected: np.ndarray  # (e or 0, WITH_SEEN) values at the last tangent in this step, `regularised_forces`
    border: np.ndarray  # (e,) border row of a tendon, -1: none
    acts: np.ndarray  # (e,) uint8, 1: contact acted in this step, its round-off is in `Workspace.noise`


def table_groups(constraints: Constraints, which: np.ndarray) -> list[Group]:
    """Return the constraints `which` (c,) of the table, grouped by kind; their `row` is their number in the table."""
    groups = []
    for number, kind in enumerate(CONSTRAINTS):
        use = np.flatnonzero(which & (constraints.kind == number))
        if len(use):
            groups.append(group_from_columns(kind, constraints, use, use))
    return groups


def generic_groups(system: Any, numbering: Any, which: np.ndarray) -> GenericAssembly:
    """Build the arrays of the constraints `which` (c,) and of all interactions in `System.others`."""
    table = system.others
    generic = groups_of(table, np.arange(len(table.kind)))
    first = len(system.constraints.kind)
    constraints_of_table = constraint_indices(table)
    item = np.full(len(table.kind), -1, np.int64)
    item[constraints_of_table] = first + np.arange(len(constraints_of_table))
    groups = table_groups(system.constraints, which)
    c = _numbers(groups)
    e = _numbers(generic)
    n_frames = table.frames.shape[1]
    base = np.zeros((len(c) + len(e), n_frames, n_frames), np.int64)
    base[: len(c), :2, :2] = numbering.constraint_base[c, :4].reshape(-1, 2, 2)
    base[len(c) :] = numbering.other_base[e]
    row_base = np.zeros((*base.shape[:2], 2), np.int64)
    row_base[: len(c), :2] = numbering.constraint_base[c, 4:].reshape(-1, 2, 2).swapaxes(1, 2)
    has_rows = np.flatnonzero(item[e] >= 0)
    row_base[len(c) + has_rows] = numbering.row_base[item[e][has_rows] - first]
    size = np.zeros((len(base), 2))
    size[len(c) :] = np.where(item[e][:, None] >= 0, 0.0, table.size[e])
    count = counted_variable_counts(table)
    counted = np.zeros(len(base), np.int64)
    counted[len(c) :] = np.where(
        history_variable_counts(table) > 0, first_history_variable(system), np.cumsum(count) - count
    )[e]
    border = np.full(len(base), -1)
    if numbering.border.rows:
        border[len(c) :] = numbering.border_of[e]
    groups += [group._replace(row=item[group.row]) for group in generic]
    takes = [_flags_of(group) for group in groups]
    interacting = pack_groups(groups)
    for index, group in enumerate(groups):
        if group.kind.rows and group.kind.bend is no_bend and not group.kind.constant:
            interacting.kinds.bend[index] = 0  # the kind has no `bend`: see `rigid.interactions.hidden_rates`
    at_end, rates = interacting.numbers.copy(), interacting.numbers.copy()
    start, end, dual = (np.zeros((n_frames, 4, 3), complex) for _ in range(3))
    lam, g = np.zeros(MAX_ROWS, complex), np.zeros(MAX_INTERNAL_VARIABLES, complex)
    kinds, block = np.array(takes, np.uint8), np.zeros((6 * n_frames, 6 * n_frames))
    loop = np.array([group.kind.loop for group in groups for _ in group.row], np.int64)
    signal = np.array([group.kind.signal for group in groups for _ in group.row], np.int64)
    signals = _signals(len(c) + np.argsort(e)[signals_of(table)], interacting, signal, loop)
    actuated = actuated_elements(system.elements.frames, interacting, signals)
    return GenericAssembly(
        interacting,
        at_end,
        rates,
        kinds,
        loop,
        signals,
        actuated,
        np.zeros(len(actuated)),
        base,
        row_base,
        size,
        counted,
        start,
        end,
        dual,
        lam,
        g,
        block,
        np.zeros(WITH_SEEN, complex),
        np.zeros((len(base) if np.any(interacting.kinds.slides) else 0, WITH_SEEN)),
        border,
        np.zeros(len(base), np.uint8),
    )


def with_parameters_of(duals: GenericAssembly, system: Any) -> GenericAssembly:
    """Return arrays with the parameters of a system of the same structure.

    `duals` must not contain constraints of the table.
    """
    table, interacting = system.others, duals.interacting
    if not len(table.kind):
        return duals
    width = np.diff(table.first)
    order = np.lexsort((width, table.kind))  # sorted by kind, as `groups_of` returns them
    width, last = width[order], np.cumsum(width[order])
    numbers = table.numbers[np.repeat(table.first[order] - last + width, width) + np.arange(last[-1])]
    kinds, entries, takes = interacting.kinds, interacting.entries, duals.takes.copy()
    for which, first in enumerate(kinds.first.tolist()):
        kind = INTERACTIONS[int(table.kind[order[first]])]
        if kind.parallel_damper:
            damping = numbers[entries.first[first : kinds.last[which]] + kind.parallel_damper[1]]
            takes[which] = LOOPS_DISSIPATE * bool(damping.any())
    with_numbers = interacting._replace(numbers=numbers)
    actuated = actuated_elements(system.elements.frames, with_numbers, duals.signals)
    return duals._replace(
        interacting=with_numbers,
        at_end=numbers.copy(),
        rates=numbers.copy(),
        takes=takes,
        actuated=actuated,
        held=np.zeros(len(actuated)),
        size=np.where(entries.row[:, None] >= 0, 0.0, table.size[order]),
    )


def _flags_of(group: Group) -> int:
    """Return the entry of a group in `GenericAssembly.takes`."""
    if damper := group.kind.parallel_damper:
        return LOOPS_DISSIPATE * bool(group.numbers[:, damper[1]].any())
    if group.kind.loop:
        return LOOPS_WORK * group.kind.works
    return DISSIPATES * is_dissipation(group.kind) + WORKS * group.kind.works


def _signals(index: np.ndarray, interacting: Any, signal: np.ndarray, loop: np.ndarray) -> np.ndarray:
    """Return `GenericAssembly.signals`; `index` (l,): index of each load among all interactions."""
    entries = interacting.entries[index]
    offsets = entries.first + signal[index]
    return np.column_stack([index, offsets, entries.frames[:, 0], loop[index]]).astype(np.int64)


@internal_kernel
def kind_number(interacting, e):
    """Return the index of the kind of interaction e."""
    which = 0
    while not interacting.kinds[which].first <= e < interacting.kinds[which].last:
        which += 1
    return which


@internal_kernel
def kind_of(interacting, e):
    """Return the kind of interaction e."""
    return interacting.kinds[kind_number(interacting, e)]


def all_have_closed_loops(duals: GenericAssembly) -> bool:
    """Return whether all interactions are assembled by loops of their own, and none has rows, whose rates are not."""
    return bool(np.all(duals.loop)) and not duals.interacting.kinds.rows.any()


def _numbers(groups: list[Group]) -> np.ndarray:
    """Return the rows of all groups, concatenated."""
    return np.concatenate([np.zeros(0, np.int64), *(group.row for group in groups)])


@inline_kernel
def _add_pulled(dual, y0, y1, k, out, at, stride):
    """Add force and torque on frame k to out[at + i stride], i = 0 ... 5."""
    force, torque = pulled(dual, y0, y1, k)
    for i in range(3):
        out[at + i * stride] += force[i].real
        out[at + (3 + i) * stride] += torque[i].real


class EnergyDuals(NamedTuple):
    """Energies, and dissipations between the same frames, of interactions identified by their row."""

    energies: Any  # `InteractionArrays` of the energies
    dissipations: Any  # `InteractionArrays` of the dissipations
    kind: np.ndarray  # (e, 2) kind of interaction e among energies and among dissipations, -1: none
    place: np.ndarray  # (e, 2) index of interaction e in `energies.entries` and in `dissipations.entries`
    start: np.ndarray  # (MAX_FRAMES, 4, 3) complex poses at the start; `end`, `dual`: same shape
    end: np.ndarray
    dual: np.ndarray
    lam: np.ndarray  # (1,) complex multiplier


def energy_duals(energies: list[Group], dissipations: list[Group], count: int) -> EnergyDuals:
    """Build the arrays of the interactions 0 .. count - 1."""
    kind, place = np.full((2, count, 2), -1, np.int64)
    arrays = [pack_groups(energies), pack_groups(dissipations)]
    for column, interacting in enumerate(arrays):
        for which in range(len(interacting.kinds)):
            indices = np.arange(interacting.kinds[which].first, interacting.kinds[which].last)
            rows = interacting.entries.row[indices]
            kind[rows, column], place[rows, column] = which, indices
    start, end, dual = (np.zeros((MAX_FRAMES, 4, 3), complex) for _ in range(3))
    return EnergyDuals(arrays[0], arrays[1], kind, place, start, end, dual, np.zeros(1, complex))


@internal_kernel
def fill_generic_tangent(duals, r, work, e, h, tangent, K):
    """Write the forces of interaction e and, if `tangent`, their derivatives in the layout of
    `discretization.space.closed_form_spans`.
    """
    rows = K.shape[1]
    for i in range(rows if tangent else 0):
        for j in range(rows):
            K[i, j] = 0.0
    for j in range(rows):
        K[FORCE, j] = 0.0
    _add_by_duals(duals.energies, duals, 0, 1.0, r, work, e, tangent, K)
    if duals.kind[e, 1] >= 0:
        _add_by_duals(duals.dissipations, duals, 1, 1.0 / h, r, work, e, tangent, K)


@internal_kernel
def write_end_poses(poses, entry, arity, r, work):
    """Write the poses of the frames of an interaction at both ends of the step.

    Positions are relative to that of the first frame at the start.
    """
    origin = load3(r[entry.frames[0]])
    for k in range(arity):
        f = entry.frames[k]
        put_pose(r, work.R0, f, origin, poses.start, k)
        put_pose(r, work.R1, f, origin, poses.end, k)
        for i in range(3):
            poses.end[k, 0, i] += work.dr[f, i]


@internal_kernel
def _add_by_duals(interacting, duals, column, factor, r, work, e, tangent, K):
    """Add forces of the energy (`column` 0) or dissipation (1) of interaction e and, if `tangent`, their derivatives to K.
    `factor`: lam of the dual.
    """
    y0, y1, dual, lam = duals.start, duals.end, duals.dual, duals.lam
    kind, entry = interacting.kinds[duals.kind[e, column]], interacting.entries[duals.place[e, column]]
    dual_of_kind, X = dual_at(kind.dual), interacting.numbers[entry.first : entry.last]
    lam[0] = factor
    write_end_poses(duals, entry, kind.arity, r, work)
    dual_of_kind(y0, y1, X, lam, dual)
    for k in range(kind.arity):
        _add_pulled(dual, y0, y1, k, K[FORCE], 6 * k, 1)
    for k in range(kind.arity if tangent else 0):
        for j in range(6):
            move_along(y1, k, j)
            dual_of_kind(y0, y1, X, lam, dual)
            for l in range(kind.arity):
                force, torque = pulled(dual, y0, y1, l)
                for i in range(3):
                    K[6 * k + j, 6 * l + i] += force[i].imag / COMPLEX_STEP
                    K[6 * k + j, 6 * l + 3 + i] += torque[i].imag / COMPLEX_STEP
            move_back(y1, k)


@inline_kernel
def _work(dual, y0, y1, arity):
    """Return the work dual . (y1 - y0), J."""
    work = 0.0
    for k in range(arity):
        for i in range(4):
            for l in range(3):
                work += dual[k, i, l].real * (y1[k, i, l].real - y0[k, i, l].real)
    return work


@inline_kernel
def _work_of(generic, kind, entry, work):
    """Return the work of the dual of one interaction in the step, J; its closed tangent gives that of a couple."""
    start, end, X = generic.start, generic.end, generic.interacting.numbers[entry.first : entry.last]
    if kind.couple != 0 and kind.tangent != 0:
        tangent_of_kind, torques = tangent_at(kind.tangent), generic.block[12]
        tangent_of_kind(start, end, X, generic.lam, generic.dual, generic.block)
        on_a, on_b = load3(torques[3:6]), load3(torques[9:12])
        return dot(on_a, load3(work.psi[entry.frames[0]])) + dot(on_b, load3(work.psi[entry.frames[1]]))
    dual_of_kind = dual_at(kind.dual)
    dual_of_kind(start, end, X, generic.lam, generic.dual)
    return _work(generic.dual, start, end, kind.arity)


@internal_kernel
def begin_generic(duals, e, h, variables):
    """Set condensed internal variables, the first of `variables`, for a step of length h."""
    interacting, which = duals.dissipations, duals.kind[e, 1]
    if which >= 0 and interacting.kinds[which].begin != 0:
        kind, entry = interacting.kinds[which], interacting.entries[duals.place[e, 1]]
        begin_internal_step(interacting, kind, entry, h, variables, duals.dual)


@internal_kernel
def generic_dissipation(duals, r, work, e, h, variables):
    """Return the energy dissipated by interaction e in the step, J; update its condensed internal variables in `variables`."""
    interacting, which = duals.dissipations, duals.kind[e, 1]
    if which < 0:
        return 0.0
    kind, entry = interacting.kinds[which], interacting.entries[duals.place[e, 1]]
    dual_of_kind = dual_at(kind.dual)
    duals.lam[0] = 1.0 / h
    write_end_poses(duals, entry, kind.arity, r, work)
    dual_of_kind(duals.start, duals.end, interacting.numbers[entry.first : entry.last], duals.lam, duals.dual)
    dissipated = _work(duals.dual, duals.start, duals.end, kind.arity)
    if kind.begin != 0:
        ends = duals.start, duals.end
        dissipated -= end_internal_step(interacting, kind, entry, ends, False, variables, duals.dual)
    return dissipated


@internal_kernel
def load_counted_variables(numbering, state, work):
    """Copy the internal variables at the start of the step into the parameters; add their round-off to the rows.

    During the step, counted variables (winding numbers) are taken nearest to these values; those updated at its end stay
    constant.
    """
    generic = work.generic_groups
    interacting = generic.interacting
    for which in range(interacting.kinds.size):
        kind = interacting.kinds[which]
        for e in range(kind.first, kind.last if kind.n_internal > 0 else kind.first):
            entry, largest = interacting.entries[e], 0.0
            if kind.slides != 0:
                generic.expected[e, DATA_OFFSET] = 0.0
            for i in range(kind.n_internal):
                value, number = (
                    state.internal[generic.internal_offset[e] + i],
                    entry.last - kind.n_internal + i,
                )
                interacting.numbers[number], generic.at_end[number] = value, value
                largest = max(largest, abs(value))
            for i in range(kind.rows):
                gradient = work.facts.size[entry.row] * work.facts.arm[entry.row]  # to a rotation
                work.noise[numbering.row[entry.row] + i] += (
                    2.0 * EPS * work.scale[entry.row] * gradient * largest
                )


@internal_kernel
def store_counted_variables(state, work):
    """Recompute the counted internal variables from r1, R1 and store them in the state.

    They are not sums of changes, so that no round-off accumulates.
    """
    generic = work.generic_groups
    interacting = generic.interacting
    for which in range(interacting.kinds.size):
        kind = interacting.kinds[which]
        for e in range(kind.first, kind.last if kind.count != 0 else kind.first):
            entry, count_of_kind = interacting.entries[e], value_at(kind.count)
            origin = load3(work.r1[entry.frames[0]])
            for k in range(kind.arity):
                put_pose(work.r1, work.R1, entry.frames[k], origin, generic.end, k)
            count_of_kind(generic.end, generic.at_end[entry.first : entry.last], generic.g)
            for i in range(kind.n_internal):
                state.internal[generic.internal_offset[e] + i] = generic.g[i].real


@internal_kernel
def add_generic_noise(numbering, state, work, h):
    """Add the round-off of the forces of interactions without rows; it grows with their counted variables.

    The round-off of a contact is added when it first acts in the step (`add_generic`): its usual force is far above the forces
    on a body that does not touch anything yet.
    """
    generic = work.generic_groups
    interacting = generic.interacting
    for which in range(interacting.kinds.size):
        kind = interacting.kinds[which]
        for e in range(kind.first, kind.last if kind.rows == 0 and kind.signal < 0 else kind.first):
            generic.acts[e] = 0
            if kind.one_sided == 0:
                _add_noise_of(generic, kind, e, numbering, state, work, h)


@internal_kernel
def _add_noise_of(generic, kind, e, numbering, state, work, h):
    """Add the round-off of the forces of interaction e."""
    grown = EPS / abs(h) if kind.inertial != 0 else EPS * abs(h)
    for i in range(kind.n_internal if kind.count != 0 else 0):
        grown *= 1.0 + abs(state.internal[generic.internal_offset[e] + i])
    for k in range(kind.arity):
        at = numbering.frame[generic.interacting.entries[e].frames[k]]
        for i in range(3):
            work.noise[at + i] += grown * generic.size[e, 0]
            work.noise[at + 3 + i] += grown * generic.size[e, 1]


@internal_kernel
def add_forces_of(arrays, entry, arity, numbering, h, residual):
    """Add h times the dual of one interaction to the residual of its frames."""
    dual, y0, y1 = arrays.dual.real, arrays.start.real, arrays.end.real
    for k in range(arity):
        force, torque = pulled(dual, y0, y1, k)
        at = numbering.frame[entry.frames[k]]
        for i in range(3):
            residual[at + i] += h * force[i]
            residual[at + 3 + i] += h * torque[i]


@internal_kernel
def add_column_of(arrays, base, entry, arity, numbering, h, k, j, values):
    """Add the derivative of the forces along coordinate j of frame k, taken from the imaginary parts.

    `base`: addresses of the blocks of the interaction. Return whether the derivative is finite.
    """
    stride, total = numbering.frame_stride[entry.frames[k]], 0.0
    for l in range(arity):
        force, torque = pulled(arrays.dual, arrays.start, arrays.end, l)
        at = base[l, k] + j * stride
        for i in range(3):
            by_force, by_torque = h * force[i].imag / COMPLEX_STEP, h * torque[i].imag / COMPLEX_STEP
            values[at + i] += by_force
            values[at + 3 + i] += by_torque
            total += abs(by_force) + abs(by_torque)
    return total < np.inf


@internal_kernel
def _add_rows_of(generic, kind, functions, e, numbering, work, tangent):
    """Add g at the end of the step and, if `tangent`, rows and columns of the multipliers of a constraint.

    Then write its current multipliers to `generic.lam`.
    """
    entry, y0, y1, dual, lam = (
        generic.interacting.entries[e],
        generic.start,
        generic.end,
        generic.dual,
        generic.lam,
    )
    X, X1 = generic.interacting.numbers[entry.first : entry.last], generic.at_end[entry.first : entry.last]
    value_of_kind, dual_of_kind = functions
    row, scale = numbering.row[entry.row], work.scale[entry.row]
    value_of_kind(y1, X1, generic.g)
    for i in range(kind.rows):
        work.residual[row + i] += scale * generic.g[i].real
    for i in range(kind.rows if tangent else 0):
        for j in range(kind.rows):
            lam[j] = scale if j == i else 0.0
        dual_of_kind(y0, y1, X, lam, dual)
        for k in range(kind.arity):
            at = generic.row_base[e, k, 0] + i * numbering.row_stride[entry.row]
            _add_pulled(dual, y0, y1, k, work.values, at, 1)
        dual_of_kind(y1, y1, X1, lam, dual)
        for k in range(kind.arity):
            stride = numbering.frame_stride[entry.frames[k]]
            _add_pulled(dual, y1, y1, k, work.values, generic.row_base[e, k, 1] + i, stride)
    for i in range(kind.rows):
        lam[i] = scale * work.lam[numbering.lam[entry.row] + i]


@internal_kernel
def _add_block_of(generic, base, entry, kind, numbering, h, values):
    """Add the derivative stored in `generic.block` to the matrix; return whether it is finite.

    It is that of forces with respect to positions or, if rotations matter (`kind.turning`), of forces and torques with respect to
    positions and rotations.
    """
    size, total = 3 if kind.turning == 0 else 6, 0.0
    for k in range(kind.arity):
        if generic.dual[k, 3, 0] == 0.0 or numbering.frame[entry.frames[k]] >= numbering.size:
            continue  # the frame does not contribute, or has no unknowns
        stride = numbering.frame_stride[entry.frames[k]]
        for l in range(kind.arity):
            if generic.dual[l, 3, 0] == 0.0:
                continue
            for j in range(size):
                at = base[l, k] + j * stride
                for i in range(size):
                    change = h * generic.block[size * k + j, size * l + i]
                    values[at + i] += change
                    total += abs(change)
    return total < np.inf


@internal_kernel
def _add_couple_of(generic, base, entry, numbering, h, work):
    """Add the couple and its derivatives stored in `generic.block` to the residual and the matrix; return whether they are
    finite.
    """
    K, total = generic.block, 0.0
    for k in range(2):
        f, columns = entry.frames[k], 3 + 6 * k
        stride, at = numbering.frame_stride[f], numbering.frame[f] + 3
        for i in range(3):
            work.residual[at + i] += h * K[12, columns + i]
            total += abs(K[12, columns + i])
        for l in range(2):
            to = base[l, k] + 3 * stride + 3
            for j in range(3):
                for i in range(3):
                    change = h * K[columns + j, 3 + 6 * l + i]
                    work.values[to + j * stride + i] += change
                    total += abs(change)
    return total < np.inf


@internal_kernel
def add_generic(numbering, state, work, h, tangent):
    """Add residual and, if `tangent`, matrix of all interactions assembled from their duals.

    Return 0, or NOT_FINITE if a derivative is not finite, for example because a user function raised an exception.
    """
    generic, finite = work.generic_groups, True
    interacting, y0, y1, dual = generic.interacting, generic.start, generic.end, generic.dual
    for which in range(interacting.kinds.size):
        kind = interacting.kinds[which]
        if kind.real_loop != 0:
            add_fluid_forces(generic, kind, numbering, state, work, h, tangent)
            continue
        value_of_kind, dual_of_kind = value_at(kind.value), dual_at(kind.dual)
        lam = generic.lam if kind.slides == 0 else generic.sliding
        factor = h if kind.rows == 0 else 1.0
        lam[0] = 1.0 / h if generic.takes[which] & DISSIPATES else 1.0
        for e in range(kind.first, kind.last if generic.loop[kind.first] == 0 else kind.first):
            entry, base = interacting.entries[e], generic.base[e]
            X = interacting.numbers[entry.first : entry.last]
            write_end_poses(generic, entry, kind.arity, state.r, work)
            if tangent and kind.couple != 0 and kind.tangent != 0:
                tangent_of_kind = tangent_at(kind.tangent)
                tangent_of_kind(y0, y1, X, lam, dual, generic.block)
                finite &= _add_couple_of(generic, base, entry, numbering, factor, work)
                continue
            if kind.rows > 0:
                _add_rows_of(generic, kind, (value_of_kind, dual_of_kind), e, numbering, work, tangent)
            if kind.slides != 0:
                lam[EXPECTED] = UNKNOWN
            dual_of_kind(y0, y1, X, lam, dual)
            if is_idle(kind, dual):
                if tangent and kind.slides != 0:
                    generic.expected[e, DATA_OFFSET] = 0.0
                continue
            if kind.one_sided != 0 and generic.acts[e] == 0:
                generic.acts[e] = 1
                _add_noise_of(generic, kind, e, numbering, state, work, h)
            if tangent and kind.slides != 0:
                regularise_force(generic.expected[e], lam)
            add_forces_of(generic, entry, kind.arity, numbering, factor, work.residual)
            if tangent and kind.tangent != 0:
                for k in range(kind.arity):
                    dual[k, 3, 0] = 1.0 if numbering.frame[entry.frames[k]] < numbering.size else 0.0
                tangent_of_kind = tangent_at(kind.tangent)
                tangent_of_kind(y0, y1, X, lam, dual, generic.block)
                finite &= _add_block_of(generic, base, entry, kind, numbering, factor, work.values)
                continue
            for k in range(kind.arity if tangent else 0):
                if numbering.frame[entry.frames[k]] >= numbering.size:
                    continue  # the frame has no unknowns
                for j in range(6 if k < kind.turning else 3):
                    move_along(y1, k, j)
                    dual_of_kind(y0, y1, X, lam, dual)
                    finite &= add_column_of(
                        generic, base, entry, kind.arity, numbering, factor, k, j, work.values
                    )
                    move_back(y1, k)
    return 0 if finite else NOT_FINITE


@internal_kernel
def generic_energy_taken(flag, state, work, h):
    """Return the energy taken from the system in the step by interactions with `takes` equal to `flag`, J.

    `flag`: DISSIPATES, WORKS or DRIVES. Internal variables that are updated at the end of a step are updated here. What a kind
    that drives loses (`Condensed.lost`) is added to the dissipation in `state.totals`; the returned energy does not contain it.
    """
    generic, energy = work.generic_groups, 0.0
    interacting = generic.interacting
    generic.lam[0] = 1.0 / h if flag & DISSIPATES else 1.0
    for which in range(interacting.kinds.size):
        if generic.takes[which] != flag:
            continue
        kind = interacting.kinds[which]
        if kind.real_loop == LINE_DRAGS:
            taken, lost = line_drag_energy(generic, kind, state, work, h)
            energy += taken - lost
            state.totals[1] += lost
            continue
        if kind.real_loop != 0:
            energy += end_added_masses(generic, kind, state, work, h)
            continue
        for e in range(kind.first, kind.last):
            entry = interacting.entries[e]
            write_end_poses(generic, entry, kind.arity, state.r, work)
            if kind.returns_work == 0:
                energy += _work_of(generic, kind, entry, work)
            if kind.lost != 0:
                X, loss_of_kind = interacting.numbers[entry.first : entry.last], dual_at(kind.lost)
                loss_of_kind(generic.start, generic.end, X, generic.lam, generic.dual)
                energy -= generic.dual[0, 0, 0].real
                state.totals[1] += generic.dual[0, 0, 0].real
            if kind.update_internal != 0:
                variables, ends = (
                    state.internal[generic.internal_offset[e] : generic.internal_offset[e] + kind.n_internal],
                    (generic.start, generic.end),
                )
                energy -= update_internal_variables(
                    interacting, kind, entry, ends, generic.lam, variables, generic.dual
                )
                if kind.returns_work != 0:
                    energy += generic.dual[1, 0, 0].real
    return energy
