"""Table of interactions of any number of frames, distinguished by kind, each with its parameters.

`em` evaluates them by their duals, the charts as groups, measures and audits by their values. The rows of constraints follow
those of `System.constraints` (`discretization.multipliers`). Kinds: `discretization.interaction_kinds`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.interaction_kinds import INTERACTIONS
from rigid.errors import ModelError
from rigid.interactions.chambers import CHAMBERS
from rigid.interactions.joint_friction import JOINT_FRICTION, ROTATION_DAMPING, SLIDING
from rigid.interactions.kind_registry import MissingFunction
from rigid.interactions.kinds import (
    MAX_FRAMES,
    MAX_INTERNAL_VARIABLES,
    MAX_ROWS,
    Condensed,
    Group,
    Kind,
    group,
    no_value,
)
from rigid.interactions.loads import LOADS, VALUE
from rigid.interactions.reeved_tendons import wraps
from rigid.interactions.spring import SPRING
from rigid.interactions.tendon_length import TENDONS
from rigid.interactions.torsion_spring import TORSION_SPRING
from rigid.system import Floats, Ints, Loads, Springs, TorsionSprings
from rigid.vectors import FEW

SPRINGS, TORSIONS = INTERACTIONS.index(SPRING), INTERACTIONS.index(TORSION_SPRING)
_JOINT_FRICTIONS, _ROTATION_DAMPINGS = (
    INTERACTIONS.index(JOINT_FRICTION),
    INTERACTIONS.index(ROTATION_DAMPING),
)
FIRST_LOAD = INTERACTIONS.index(LOADS[0])  # kinds in `LOADS` are consecutive
FRAMES = 8  # columns of `InteractionTable.frames` if no kind has more frames; also in files


class InteractionTable(NamedTuple):
    """Table of e interactions."""

    kind: Ints  # (e,) index in INTERACTIONS
    frames: Ints  # (e, FRAMES), or wider if one has more: the first `arity` of the kind are used, others -1
    first: Ints  # (e + 1,) parameters of interaction k are first[k] .. first[k + 1] - 1
    numbers: Floats  # parameters of all interactions
    # (e, 2) N, N m: force and moment with the rounding error of the interaction's forces, of an interaction with input values
    # for a value of length 1; for constraints see `Interaction`
    size: Floats
    # (e,) 1: redundant constraint
    repeats: NDArray[np.uint8] = np.zeros(0, np.uint8)


class Interaction(NamedTuple):
    """One interaction."""

    kind: Kind
    frames: Sequence[int]
    numbers: Floats
    # see `InteractionTable`; for a constraint sizes of the gradient to a position and to a rotation (lever arm, m)
    size: tuple[float, float]


def table_of(interactions: Sequence[Interaction] = ()) -> InteractionTable:
    """Return the table of a list of interactions.

    Raises ModelError if a kind has too many frames, rows or internal variables, or if the gradient size of a constraint is not
    positive.
    """
    for interaction in interactions:
        kind = interaction.kind
        if kind.arity > MAX_FRAMES or kind.rows > MAX_ROWS or kind.n_internal > MAX_INTERNAL_VARIABLES:
            raise ModelError(
                f"{kind.name}: {kind.arity} frames, {kind.rows} rows and {kind.n_internal} internal variables; the limits are "
                f"{MAX_FRAMES}, {MAX_ROWS} and {MAX_INTERNAL_VARIABLES}. Divide it into several interactions."
            )
        if interaction.kind.rows and not max(interaction.size) > 0.0:
            raise ModelError(
                f"{interaction.kind.name}: gradient sizes {interaction.size} are not positive. "
                "Give those to a position and to a rotation; one must be positive."
            )
    frames = np.full(
        (len(interactions), max([FRAMES, *(interaction.kind.arity for interaction in interactions)])),
        -1,
        np.int64,
    )
    for k, interaction in enumerate(interactions):
        frames[k, : interaction.kind.arity] = interaction.frames
    widths = [len(interaction.numbers) for interaction in interactions]
    return InteractionTable(
        np.array([INTERACTIONS.index(interaction.kind) for interaction in interactions], np.int64),
        frames,
        np.concatenate([[0], np.cumsum(widths)]).astype(np.int64),
        np.concatenate([np.zeros(0), *(interaction.numbers for interaction in interactions)]),
        np.array([interaction.size for interaction in interactions], float).reshape(-1, 2),
    )


def is_dissipation(kind: Kind) -> bool:
    """Return whether a kind is a dissipation and not an energy."""
    return kind.value is no_value


def tendons_of(table: InteractionTable) -> Ints:
    """Return the indices of the tendons of unknown tension, and of the chambers of unknown pressure.

    Their tangents couple neighbours and, by one row, all frames.
    """
    return np.flatnonzero(_of_kinds(table, lambda kind: kind.loop in (TENDONS, CHAMBERS)))


def is_reeved(kind: Kind) -> bool:
    """Return whether a kind is a tendon over pulleys and drums."""
    return kind.count is wraps


def has_friction_of_load(kind: Kind) -> bool:
    """Return whether a kind dissipates in proportion to an input value, as the friction of a tendon does to its tension."""
    return is_dissipation(kind) and kind.signal >= 0 and not kind.works


def _of_kinds(table: InteractionTable, number: Callable[[Kind], int]) -> Ints:
    """Return `number(kind)` for each interaction, (e,)."""
    if not len(table.kind):
        return np.zeros(0, np.int64)
    if len(table.kind) <= FEW:
        return np.array([number(INTERACTIONS[k]) for k in table.kind.tolist()], np.int64)
    by_kind = np.zeros(int(table.kind.max()) + 1, np.int64)
    for k in set(table.kind.tolist()):
        by_kind[k] = number(INTERACTIONS[k])
    return by_kind[table.kind]


def rows_of(table: InteractionTable) -> Ints:
    """Return the number of scalar equations of each interaction, (e,)."""
    return _of_kinds(table, lambda kind: kind.rows)


def constraint_indices(table: InteractionTable) -> Ints:
    """Return the indices of the interactions that are constraints."""
    return np.flatnonzero(rows_of(table))


def counted_variable_counts(table: InteractionTable) -> Ints:
    """Return the number of counted internal variables of each interaction, (e,)."""
    return _of_kinds(table, _counted)


def history_variable_counts(table: InteractionTable) -> Ints:
    """Return the number of internal variables of each interaction that are updated at the end of an accepted step, (e,)."""
    return _of_kinds(table, _history)


def history_variable_values(table: InteractionTable) -> Floats:
    """Return the internal variables of `history_variable_counts` (k,) as stored among the parameters, interaction by
    interaction.
    """
    if not len(table.kind):
        return np.zeros(0)
    return table.numbers[_last_parameters(table, history_variable_counts(table))]


def with_counted_variables(table: InteractionTable, values: Floats) -> InteractionTable:
    """Return the table with counted internal variables (k,) of a state stored among the parameters."""
    return _with_last_parameters(table, values, counted_variable_counts(table)) if len(values) else table


def with_history_variables(table: InteractionTable, values: Floats) -> InteractionTable:
    """Return the table with the internal variables (k,) of `history_variable_counts` of a state stored among the parameters."""
    return _with_last_parameters(table, values, history_variable_counts(table)) if len(values) else table


def _with_last_parameters(table: InteractionTable, values: Floats, count: Ints) -> InteractionTable:
    """Return the table with `values` (k,) as the last `count` (e,) parameters of each interaction."""
    numbers = table.numbers.copy()
    numbers[_last_parameters(table, count)] = values
    return table._replace(numbers=numbers)


def _last_parameters(table: InteractionTable, count: Ints) -> Ints:
    """Return the indices in `numbers` of the last `count` (e,) parameters of each interaction."""
    offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    indices: Ints = np.repeat(table.first[1:] - count, count) + offset
    return indices


def counted_variable_groups(table: InteractionTable) -> list[Group]:
    """Return groups whose values are the counted variables; their row is the index of the first one of each interaction."""
    count = counted_variable_counts(table)
    first = np.cumsum(count) - count
    return [
        members._replace(
            kind=members.kind._replace(value=members.kind.count, rows=members.kind.n_internal),
            row=first[members.row],
        )
        for members in groups_of(table, np.flatnonzero(count))
    ]


def at_states(
    table: InteractionTable,
    values: Floats,
    frames: int,
    use: Ints,
    row: Ints,
    rows: int,
    count: Ints | None = None,
) -> list[Group]:
    """Return groups of the interactions `use` in T states, as one state of T copies of the `frames` frames.

    `values` (T, k): internal variables of the states. `row` (e,): first row of each interaction. `rows`: number of rows of one
    state. `count` (e,): number of internal variables of each interaction, by default `counted_variable_counts`.
    """
    count, copies = counted_variable_counts(table) if count is None else count, np.arange(len(values))
    first, groups = np.cumsum(count) - count, []
    for members in groups_of(table, use):
        width = members.numbers.shape[1]
        numbers = np.tile(members.numbers, (len(copies), 1, 1))
        if n_variables := int(count[members.row[0]]):
            indices = first[members.row][:, None] + np.arange(n_variables)
            numbers[:, :, width - n_variables :] = values[:, indices]
        copied_frames = members.frames + frames * copies[:, None, None]
        copied_rows = (row[members.row] + rows * copies[:, None]).ravel()
        groups.append(
            group(
                members.kind,
                copied_frames.reshape(-1, members.kind.arity),
                numbers.reshape(-1, width),
                copied_rows,
            )
        )
    return groups


def stored_energy_groups(table: InteractionTable, variables: Floats, frames: int) -> list[Group]:
    """Return groups of the energies stored in the internal variables `variables` (T, k) of T states.

    The variables are those of `history_variable_counts`; copies of the frames and rows are as in `at_states`.
    """
    count = history_variable_counts(table)
    use, row = np.flatnonzero(count), np.cumsum(count > 0) - 1
    groups = at_states(table, variables, frames, use, row, len(use), count)
    return [
        members._replace(kind=members.kind._replace(value=members.kind.condensed.stored_energy))
        for members in groups
    ]


def works(table: InteractionTable) -> bool:
    """Return whether some of the interactions do work that is not a change of an energy."""
    return any(INTERACTIONS[k].works for k in np.unique(table.kind))


def groups_of(table: InteractionTable, use: Ints) -> list[Group]:
    """Group the interactions `use` by kind and number of parameters; rows are indices in the table."""
    if not len(use):
        return []
    groups, width = [], np.diff(table.first)
    for number, size in sorted(set(zip(table.kind[use].tolist(), width[use].tolist(), strict=True))):
        members = use[(table.kind[use] == number) & (width[use] == size)]
        kind = INTERACTIONS[number]
        numbers = table.numbers[table.first[members][:, None] + np.arange(size)]
        groups.append(group(kind, table.frames[members, : kind.arity], numbers, members))
    return groups


def energy_rows(table: InteractionTable) -> tuple[Ints, Ints, int]:
    """Return the indices (k,) of the energies, the index (e,) of each among them, and their number."""
    use = np.flatnonzero(
        [
            not (is_dissipation(INTERACTIONS[k]) or INTERACTIONS[k].rows or INTERACTIONS[k].works)
            for k in table.kind
        ]
    )
    position = np.cumsum(np.isin(np.arange(len(table.kind)), use)) - 1
    return use, position, len(use)


def at_rest(table: InteractionTable) -> InteractionTable:
    """Return the table without dissipations; do not write to the result."""
    kinds = [INTERACTIONS[k] for k in set(table.kind.tolist())]
    if not any(is_dissipation(kind) or kind.parallel_damper for kind in kinds):
        return table
    remaining = chosen(table, np.array([not is_dissipation(INTERACTIONS[k]) for k in table.kind], bool))
    numbers = remaining.numbers.copy()
    for k in np.unique(remaining.kind):
        if damper := INTERACTIONS[k].parallel_damper:
            numbers[remaining.first[:-1][remaining.kind == k] + damper[1]] = 0.0
    return remaining._replace(numbers=numbers)


def joined(first_table: InteractionTable, second_table: InteractionTable) -> InteractionTable:
    """Concatenate two tables."""
    repeats = [
        table.repeats if len(table.repeats) else np.zeros(len(table.kind), np.uint8)
        for table in (first_table, second_table)
    ]
    first = np.concatenate([first_table.first, first_table.first[-1] + second_table.first[1:]])
    width = max(first_table.frames.shape[1], second_table.frames.shape[1])
    first_table, second_table = (
        table._replace(frames=_widened(table.frames, width)) for table in (first_table, second_table)
    )
    columns = {
        name: np.concatenate([getattr(first_table, name), getattr(second_table, name)])
        for name in InteractionTable._fields
    }
    has_repeats = len(first_table.repeats) + len(second_table.repeats) > 0
    return InteractionTable(**columns)._replace(
        first=first, repeats=np.concatenate(repeats) if has_repeats else columns["repeats"]
    )


def _widened(frames: Ints, width: int) -> Ints:
    """Return `frames` with `width` columns; added entries are -1: none."""
    if frames.shape[1] == width:
        return frames
    widened = np.full((len(frames), width), -1, np.int64)
    widened[:, : frames.shape[1]] = frames
    return widened


def chosen(table: InteractionTable, use: NDArray[np.bool_]) -> InteractionTable:
    """Return the table of the interactions selected by the mask `use` (e,)."""
    if not use.any():  # as in models with only loads and springs
        empty = {name: getattr(table, name)[:0] for name in table._fields}
        return InteractionTable(**{**empty, "first": np.zeros(1, np.int64)})
    width = np.diff(table.first)
    return InteractionTable(
        table.kind[use],
        table.frames[use],
        np.concatenate([[0], np.cumsum(width[use])]).astype(np.int64),
        table.numbers[np.repeat(use, width)],
        table.size[use],
        table.repeats[use] if len(table.repeats) else table.repeats,
    )


def springs_of(table: InteractionTable) -> Springs:
    """Return the springs between points as a table of columns."""
    return Springs(**_columns(table, SPRINGS))


def torsions_of(table: InteractionTable) -> TorsionSprings:
    """Return the torsion springs as a table of columns."""
    return TorsionSprings(**_columns(table, TORSIONS))


def _columns(table: InteractionTable, kind: int) -> dict[str, Any]:
    """Return the columns of the interactions of one kind by name, with their frames."""
    use = np.flatnonzero(table.kind == kind)
    if not len(use) and len(table.kind):
        return dict(_no_columns(INTERACTIONS[kind], kind))
    columns, indices = {"frames": table.frames[use, :2].copy()}, table.first[use]
    for name in INTERACTIONS[kind].columns:
        width = 1 if name.islower() else 3
        values = table.numbers[indices[:, None] + np.arange(width)]
        columns[name], indices = values if width == 3 else values[:, 0], indices + width
    return columns


@functools.lru_cache(maxsize=64)
def _no_columns(known: Any, kind: int) -> dict[str, Any]:
    """Return empty columns of a kind.

    `known`: the kind itself as a part of the cache key, since its number may denote another kind later.
    """
    return _columns(table_of(), kind)


def loads_of(table: InteractionTable) -> Loads:
    """Return the loads as a table of columns, in the order of their values."""
    use = _loads(table)
    kind, X = table.kind[use] - FIRST_LOAD, table.numbers[table.first[use][:, None] + np.arange(3)]
    return Loads(kind % 2, table.frames[use, 0].copy(), X, (kind // 2).astype(np.uint8))


def _loads(table: InteractionTable) -> Ints:
    """Return the indices of the loads."""
    return np.flatnonzero((table.kind >= FIRST_LOAD) & (table.kind < FIRST_LOAD + len(LOADS)))


def signals_of(table: InteractionTable) -> Ints:
    """Return the indices (l,) of interactions with input values, in the order of these values."""
    return np.flatnonzero(_of_kinds(table, lambda kind: kind.signal + 1))


def kinds_of_signals(table: InteractionTable) -> list[Kind]:
    """Return the kind of each interaction with input values, in the order of these values."""
    return [INTERACTIONS[k] for k in table.kind[signals_of(table)]]


def with_signals(table: InteractionTable, values: Floats) -> InteractionTable:
    """Return the table with input values (l, 3) stored among the parameters."""
    use = signals_of(table)
    if not len(use):
        return table
    numbers = table.numbers.copy()
    indices = table.first[use] + _of_kinds(table, lambda kind: kind.signal)[use]
    numbers[indices[:, None] + np.arange(3)] = values
    return table._replace(numbers=numbers)


def insert_file_tables(
    table: InteractionTable, springs: Springs, torsions: TorsionSprings, loads: Loads
) -> InteractionTable:
    """Return the table with loads, springs and torsion springs inserted before its interactions."""
    count = [len(column) for column in (loads.kind, springs.stiffness, torsions.stiffness)]
    if not any(count) and table.frames.shape[1] >= FRAMES:
        return table
    parts = [_of_loads(loads)] if count[0] or not any(count) else []
    if count[1]:
        levers = np.stack([np.linalg.norm(X, axis=1) for X in (springs.Xa, springs.Xb)], axis=1)
        # levers on moving frames; frame 0 is the ground
        arm = np.where(springs.frames > 0, levers, 1.0).max(axis=1, initial=1.0)
        force = springs.stiffness * (1.0 + springs.length0)
        parts.append(_of_columns(SPRINGS, springs, np.column_stack([force, force * arm])))
    if count[2]:
        sizes = np.column_stack([0.0 * torsions.stiffness, torsions.stiffness])
        parts.append(_of_columns(TORSIONS, torsions, sizes))
    if len(table.kind) or table.frames.shape[1] > FRAMES:
        parts.append(table)
    return functools.reduce(joined, parts)


def _of_loads(loads: Loads) -> InteractionTable:
    """Return the interaction table of loads, with zero values."""
    count, frames = len(loads.kind), _widened(loads.frame[:, None], FRAMES)
    numbers = np.column_stack([loads.X, np.zeros((count, 3))])
    kind = FIRST_LOAD + loads.kind + 2 * loads.following.astype(np.int64)
    return InteractionTable(
        kind, frames, 2 * VALUE * np.arange(count + 1), numbers.ravel(), np.zeros((count, 2))
    )


def _of_columns(kind: int, table: Springs | TorsionSprings, size: Floats) -> InteractionTable:
    """Return the interaction table of springs or torsion springs; `size` (k, 2) is that of `InteractionTable`."""
    interaction_kind, count = INTERACTIONS[kind], len(size)
    columns = [getattr(table, name) for name in interaction_kind.columns]
    numbers = np.column_stack([*columns, np.zeros((count, interaction_kind.n_internal))])
    frames = _widened(table.frames, FRAMES)
    first = numbers.shape[1] * np.arange(count + 1)
    return InteractionTable(np.full(count, kind), frames, first.astype(np.int64), numbers.ravel(), size)


def without_file_tables(table: InteractionTable) -> InteractionTable:
    """Return the table without loads, springs and torsion springs, which have separate tables in files."""
    if not len(table.kind):
        return table
    use = (table.kind != SPRINGS) & (table.kind != TORSIONS)
    use[_loads(table)] = False
    return chosen(table, use)


def without_loads(table: InteractionTable) -> InteractionTable:
    """Return the table without loads."""
    use = _loads(table)
    return chosen(table, ~np.isin(np.arange(len(table.kind)), use)) if len(use) else table


def in_files(table: InteractionTable) -> InteractionTable:
    """Return the table with the kind numbers of files in place of those of this process.

    In files, rotation damping is joint friction that does not slide, as in those of earlier versions.
    """
    kind = np.where(table.kind == _ROTATION_DAMPINGS, _JOINT_FRICTIONS, table.kind)
    return table._replace(kind=INTERACTIONS.in_files(kind))


def with_rotation_dampings(table: InteractionTable) -> InteractionTable:
    """Return a table of a file with rotation damping in place of joint friction that does not slide."""
    use = np.flatnonzero(table.kind == _JOINT_FRICTIONS)
    use = use[table.numbers[table.first[use] + SLIDING] == 0.0]
    kind = table.kind.copy()
    kind[use] = _ROTATION_DAMPINGS
    return table._replace(kind=kind) if len(use) else table


def _counted(kind: Kind) -> int:
    """Return the number of counted internal variables of a kind."""
    return 0 if kind.count is None else kind.n_internal


def _history(kind: Kind) -> int:
    """Return the number of internal variables of a kind that are updated at the end of an accepted step."""
    return 0 if kind.condensed.update_internal is None else kind.n_internal


def variable_counts(names: Sequence[str]) -> Ints:
    """Return the numbers of counted and of settled internal variables (k, 2) of the registered kinds in `names`.

    Built-in kinds are not included; the order is that of the registry. Settled ones are those of `history_variable_counts`.
    """
    kinds = (kind for kind in INTERACTIONS[INTERACTIONS.n_fixed :] if kind.name in names)
    counts: Ints = np.array([(_counted(kind), _history(kind)) for kind in kinds], np.int64).reshape(-1, 2)
    return counts


def from_files(
    table: InteractionTable,
    names: Sequence[str],
    variables: Ints,
    kind_from_name: Callable[[str], Kind | None],
) -> InteractionTable:
    """Return a table written by `in_files` with the kind numbers of this process.

    `names`: kinds that are not built in. `variables` (k, 2): result of `variable_counts` for them. `kind_from_name`: returns a
    kind if its name determines it, else None. Raises ValueError if `variables` does not fit `names`.
    """
    if variables.shape != (len(names), 2) or np.any((variables < 0) | (variables > MAX_INTERNAL_VARIABLES)):
        raise ValueError(
            f"{len(names)} user-defined kinds, but their counts of internal variables are {variables.tolist()}"
        )
    counts = dict(zip(names, variables.astype(np.int64).tolist(), strict=True))

    def absent(name: str, use: Ints) -> Kind:
        """Return a kind for `name`: the one made from its name, or a placeholder without functions."""
        if (kind_of_name := kind_from_name(name)) is not None:
            return kind_of_name
        arity, missing = int((table.frames[use] >= 0).sum(axis=1).max()), MissingFunction(name)
        counted, settled = counts[name]
        condensed = Condensed(update_internal=missing if settled else None)
        kind = Kind(
            name, arity, 0, missing, missing, missing, n_internal=counted + settled, condensed=condensed
        )
        return kind._replace(count=missing if counted else None)

    return (
        table._replace(kind=INTERACTIONS.from_files("others", table.kind, names, absent)) if names else table
    )


def pairs_of(table: InteractionTable) -> Ints:
    """Return all pairs of frames (k, 2) that an interaction joins."""
    return pairs_between(table.frames)


def pairs_between(frames: Ints) -> Ints:
    """Return all pairs (k, 2) of different frames in one row of `frames` (e, most), -1: none; both orders."""
    pairs = [np.zeros((0, 2), np.int64)]
    for k in range(frames.shape[1] if len(frames) else 0):
        for l in range(frames.shape[1]):
            both = frames[:, [k, l]]
            pairs.append(both[(both >= 0).all(axis=1) & (both[:, 0] != both[:, 1])])
    return np.concatenate(pairs)


def one_sided(table: InteractionTable) -> NDArray[np.bool_]:
    """Return whether each interaction acts on contact alone, (e,)."""
    return (
        np.array([kind.one_sided for kind in INTERACTIONS], bool)[table.kind]
        if len(table.kind)
        else np.zeros(0, bool)
    )
