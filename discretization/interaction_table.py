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
from rigid.interactions.spring import SPRING
from rigid.interactions.torsion_spring import TORSION_SPRING
from rigid.system import Floats, Ints, Loads, Springs, TorsionSprings
from rigid.vectors import FEW

SPRINGS, TORSIONS = INTERACTIONS.index(SPRING), INTERACTIONS.index(TORSION_SPRING)
FIRST_LOAD = INTERACTIONS.index(LOADS[0])  # kinds in `LOADS` are consecutive
FRAMES = 8  # columns of `InteractionTable.frames` if no kind has more frames; also in files


class InteractionTable(NamedTuple):
    """Table of e interactions."""

    kind: Ints  # (e,) index in INTERACTIONS
    frames: Ints  # (e, FRAMES), or wider if one has more: the first `arity` of the kind are used, others -1
    first: Ints  # (e + 1,) parameters of interaction k are first[k] .. first[k + 1] - 1
    numbers: Floats  # parameters of all interactions
    # (e, 2) N, N m: force and moment with the rounding error of the interaction's forces; for constraints see `Interaction`
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


def table_of(each: Sequence[Interaction] = ()) -> InteractionTable:
    """Return the table of a list of interactions.

    Raises ModelError if a kind has too many frames, rows or internal variables, if a kind with input values has more than one
    frame, or if the gradient size of a constraint is not positive.
    """
    for own in each:
        kind = own.kind
        if kind.arity > MAX_FRAMES or kind.rows > MAX_ROWS or kind.n_internal > MAX_INTERNAL_VARIABLES:
            raise ModelError(
                f"{kind.name}: {kind.arity} frames, {kind.rows} rows, {kind.n_internal} own variables; there may be "
                f"{MAX_FRAMES}, "
                f"{MAX_ROWS} and {MAX_INTERNAL_VARIABLES}: make several interactions of it"
            )
        if kind.signal >= 0 and kind.arity > 1:
            raise ModelError(
                f"{kind.name}: {kind.arity} frames and values from outside; make one interaction of it for each frame"
            )
        if own.kind.rows and not max(own.size) > 0.0:
            raise ModelError(
                f"{own.kind.name}: size {own.size} of its gradient; give sizes to a place and to a turn, one positive"
            )
    frames = np.full((len(each), max([FRAMES, *(own.kind.arity for own in each)])), -1, np.int64)
    for k, own in enumerate(each):
        frames[k, : own.kind.arity] = own.frames
    widths = [len(own.numbers) for own in each]
    return InteractionTable(
        np.array([INTERACTIONS.index(own.kind) for own in each], np.int64),
        frames,
        np.concatenate([[0], np.cumsum(widths)]).astype(np.int64),
        np.concatenate([np.zeros(0), *(own.numbers for own in each)]),
        np.array([own.size for own in each], float).reshape(-1, 2),
    )


def is_dissipation(kind: Kind) -> bool:
    """Return whether a kind is a dissipation and not an energy."""
    return kind.value is no_value


def _of_kinds(own: InteractionTable, number: Callable[[Kind], int]) -> Ints:
    """Return `number(kind)` for each interaction, (e,)."""
    if not len(own.kind):
        return np.zeros(0, np.int64)
    if len(own.kind) <= FEW:
        return np.array([number(INTERACTIONS[k]) for k in own.kind.tolist()], np.int64)
    found = np.zeros(int(own.kind.max()) + 1, np.int64)
    for k in set(own.kind.tolist()):
        found[k] = number(INTERACTIONS[k])
    return found[own.kind]


def rows_of(own: InteractionTable) -> Ints:
    """Return the number of scalar equations of each interaction, (e,)."""
    return _of_kinds(own, lambda kind: kind.rows)


def constraint_indices(own: InteractionTable) -> Ints:
    """Return the indices of the interactions that are constraints."""
    return np.flatnonzero(rows_of(own))


def counted_variable_counts(own: InteractionTable) -> Ints:
    """Return the number of counted internal variables of each interaction, (e,)."""
    return _of_kinds(own, _counted)


def history_variable_counts(own: InteractionTable) -> Ints:
    """Return the number of internal variables of each interaction that are updated at the end of an accepted step, (e,)."""
    return _of_kinds(own, _settled)


def history_variable_values(own: InteractionTable) -> Floats:
    """Return the internal variables of `history_variable_counts` (k,) as stored among the parameters, interaction by
    interaction.
    """
    if not len(own.kind):
        return np.zeros(0)
    return own.numbers[_places(own, history_variable_counts(own))]


def with_counted_variables(own: InteractionTable, values: Floats) -> InteractionTable:
    """Return the table with counted internal variables (k,) of a state stored among the parameters."""
    return _with_own(own, values, counted_variable_counts(own)) if len(values) else own


def with_history_variables(own: InteractionTable, values: Floats) -> InteractionTable:
    """Return the table with the internal variables (k,) of `history_variable_counts` of a state stored among the parameters."""
    return _with_own(own, values, history_variable_counts(own)) if len(values) else own


def _with_own(own: InteractionTable, values: Floats, count: Ints) -> InteractionTable:
    """Return the table with `values` (k,) as the last `count` (e,) parameters of each interaction."""
    numbers = own.numbers.copy()
    numbers[_places(own, count)] = values
    return own._replace(numbers=numbers)


def _places(own: InteractionTable, count: Ints) -> Ints:
    """Return the indices in `numbers` of the last `count` (e,) parameters of each interaction."""
    offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    places: Ints = np.repeat(own.first[1:] - count, count) + offset
    return places


def counted_variable_groups(own: InteractionTable) -> list[Group]:
    """Return groups whose values are the counted variables; their row is the index of the first one of each interaction."""
    count = counted_variable_counts(own)
    first = np.cumsum(count) - count
    return [
        each._replace(
            kind=each.kind._replace(value=each.kind.count, rows=each.kind.n_internal), row=first[each.row]
        )
        for each in groups_of(own, np.flatnonzero(count))
    ]


def at_states(
    own: InteractionTable,
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
    count, copies = counted_variable_counts(own) if count is None else count, np.arange(len(values))
    first, found = np.cumsum(count) - count, []
    for each in groups_of(own, use):
        width = each.numbers.shape[1]
        numbers = np.tile(each.numbers, (len(copies), 1, 1))
        if many := int(count[each.row[0]]):
            place = first[each.row][:, None] + np.arange(many)
            numbers[:, :, width - many :] = values[:, place]
        of_copies = each.frames + frames * copies[:, None, None]
        of_rows = (row[each.row] + rows * copies[:, None]).ravel()
        found.append(
            group(each.kind, of_copies.reshape(-1, each.kind.arity), numbers.reshape(-1, width), of_rows)
        )
    return found


def stored_energy_groups(own: InteractionTable, settled: Floats, frames: int) -> list[Group]:
    """Return groups of the energies stored in the internal variables `settled` (T, k) of T states.

    The variables are those of `history_variable_counts`; copies of the frames and rows are as in `at_states`.
    """
    count = history_variable_counts(own)
    use, row = np.flatnonzero(count), np.cumsum(count > 0) - 1
    groups = at_states(own, settled, frames, use, row, len(use), count)
    return [
        each._replace(kind=each.kind._replace(value=each.kind.condensed.stored_energy)) for each in groups
    ]


def works(own: InteractionTable) -> bool:
    """Return whether some of the interactions do work that is not a change of an energy."""
    return any(INTERACTIONS[k].works for k in np.unique(own.kind))


def groups_of(own: InteractionTable, use: Ints) -> list[Group]:
    """Group the interactions `use` by kind and number of parameters; rows are indices in the table."""
    if not len(use):
        return []
    found, width = [], np.diff(own.first)
    for number, size in sorted(set(zip(own.kind[use].tolist(), width[use].tolist(), strict=True))):
        these = use[(own.kind[use] == number) & (width[use] == size)]
        kind = INTERACTIONS[number]
        numbers = own.numbers[own.first[these][:, None] + np.arange(size)]
        found.append(group(kind, own.frames[these, : kind.arity], numbers, these))
    return found


def energy_rows(own: InteractionTable) -> tuple[Ints, Ints, int]:
    """Return the indices (k,) of the energies, the index (e,) of each among them, and their number."""
    use = np.flatnonzero(
        [
            not (is_dissipation(INTERACTIONS[k]) or INTERACTIONS[k].rows or INTERACTIONS[k].works)
            for k in own.kind
        ]
    )
    place = np.cumsum(np.isin(np.arange(len(own.kind)), use)) - 1
    return use, place, len(use)


def at_rest(own: InteractionTable) -> InteractionTable:
    """Return the table without dissipations; do not write to the result."""
    kinds = [INTERACTIONS[k] for k in set(own.kind.tolist())]
    if not any(is_dissipation(kind) or kind.beside for kind in kinds):
        return own
    found = chosen(own, np.array([not is_dissipation(INTERACTIONS[k]) for k in own.kind], bool))
    numbers = found.numbers.copy()
    for k in np.unique(found.kind):
        if beside := INTERACTIONS[k].beside:
            numbers[found.first[:-1][found.kind == k] + beside[1]] = 0.0
    return found._replace(numbers=numbers)


def joined(one: InteractionTable, other: InteractionTable) -> InteractionTable:
    """Concatenate two tables."""
    repeats = [own.repeats if len(own.repeats) else np.zeros(len(own.kind), np.uint8) for own in (one, other)]
    first = np.concatenate([one.first, one.first[-1] + other.first[1:]])
    width = max(one.frames.shape[1], other.frames.shape[1])
    one, other = (own._replace(frames=_widened(own.frames, width)) for own in (one, other))
    columns = {
        name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in InteractionTable._fields
    }
    some = len(one.repeats) + len(other.repeats) > 0
    return InteractionTable(**columns)._replace(
        first=first, repeats=np.concatenate(repeats) if some else columns["repeats"]
    )


def _widened(frames: Ints, width: int) -> Ints:
    """Return `frames` with `width` columns; added entries are -1: none."""
    if frames.shape[1] == width:
        return frames
    found = np.full((len(frames), width), -1, np.int64)
    found[:, : frames.shape[1]] = frames
    return found


def chosen(own: InteractionTable, use: NDArray[np.bool_]) -> InteractionTable:
    """Return the table of the interactions selected by the mask `use` (e,)."""
    if not use.any():  # as in models with loads and springs alone
        rest = {name: getattr(own, name)[:0] for name in own._fields}
        return InteractionTable(**{**rest, "first": np.zeros(1, np.int64)})
    width = np.diff(own.first)
    return InteractionTable(
        own.kind[use],
        own.frames[use],
        np.concatenate([[0], np.cumsum(width[use])]).astype(np.int64),
        own.numbers[np.repeat(use, width)],
        own.size[use],
        own.repeats[use] if len(own.repeats) else own.repeats,
    )


def springs_of(own: InteractionTable) -> Springs:
    """Return the springs between points as a table of columns."""
    return Springs(**_columns(own, SPRINGS))


def torsions_of(own: InteractionTable) -> TorsionSprings:
    """Return the torsion springs as a table of columns."""
    return TorsionSprings(**_columns(own, TORSIONS))


def _columns(own: InteractionTable, kind: int) -> dict[str, Any]:
    """Return the columns of the interactions of one kind by name, with their frames."""
    use = np.flatnonzero(own.kind == kind)
    if not len(use) and len(own.kind):
        return dict(_no_columns(INTERACTIONS[kind], kind))
    found, place = {"frames": own.frames[use, :2].copy()}, own.first[use]
    for name in INTERACTIONS[kind].columns:
        width = 1 if name.islower() else 3
        values = own.numbers[place[:, None] + np.arange(width)]
        found[name], place = values if width == 3 else values[:, 0], place + width
    return found


@functools.lru_cache(maxsize=64)
def _no_columns(known: Any, kind: int) -> dict[str, Any]:
    """Return empty columns of a kind.

    `known`: the kind itself as a part of the cache key, since its number may denote another kind later.
    """
    return _columns(table_of(), kind)


def loads_of(own: InteractionTable) -> Loads:
    """Return the loads as a table of columns, in the order of their values."""
    use = _loads(own)
    kind, X = own.kind[use] - FIRST_LOAD, own.numbers[own.first[use][:, None] + np.arange(3)]
    return Loads(kind % 2, own.frames[use, 0].copy(), X, (kind // 2).astype(np.uint8))


def _loads(own: InteractionTable) -> Ints:
    """Return the indices of the loads."""
    return np.flatnonzero((own.kind >= FIRST_LOAD) & (own.kind < FIRST_LOAD + len(LOADS)))


def signals_of(own: InteractionTable) -> Ints:
    """Return the indices (l,) of interactions with input values, in the order of these values."""
    return np.flatnonzero(_of_kinds(own, lambda kind: kind.signal + 1))


def kinds_of_signals(own: InteractionTable) -> list[Kind]:
    """Return the kind of each interaction with input values, in the order of these values."""
    return [INTERACTIONS[k] for k in own.kind[signals_of(own)]]


def with_signals(own: InteractionTable, values: Floats) -> InteractionTable:
    """Return the table with input values (l, 3) stored among the parameters."""
    use = signals_of(own)
    if not len(use):
        return own
    numbers = own.numbers.copy()
    place = own.first[use] + _of_kinds(own, lambda kind: kind.signal)[use]
    numbers[place[:, None] + np.arange(3)] = values
    return own._replace(numbers=numbers)


def insert_file_tables(
    own: InteractionTable, springs: Springs, torsions: TorsionSprings, loads: Loads
) -> InteractionTable:
    """Return the table with loads, springs and torsion springs inserted before its interactions."""
    count = [len(column) for column in (loads.kind, springs.stiffness, torsions.stiffness)]
    if not any(count) and own.frames.shape[1] >= FRAMES:
        return own
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
    if len(own.kind) or own.frames.shape[1] > FRAMES:
        parts.append(own)
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
    own, count = INTERACTIONS[kind], len(size)
    columns = [getattr(table, name) for name in own.columns]
    numbers = np.column_stack([*columns, np.zeros((count, own.n_internal))])
    frames = _widened(table.frames, FRAMES)
    first = numbers.shape[1] * np.arange(count + 1)
    return InteractionTable(np.full(count, kind), frames, first.astype(np.int64), numbers.ravel(), size)


def without_file_tables(own: InteractionTable) -> InteractionTable:
    """Return the table without loads, springs and torsion springs, which have tables of their own in files."""
    if not len(own.kind):
        return own
    use = (own.kind != SPRINGS) & (own.kind != TORSIONS)
    use[_loads(own)] = False
    return chosen(own, use)


def without_loads(own: InteractionTable) -> InteractionTable:
    """Return the table without loads."""
    use = _loads(own)
    return chosen(own, ~np.isin(np.arange(len(own.kind)), use)) if len(use) else own


def in_files(own: InteractionTable) -> InteractionTable:
    """Return the table with the kind numbers of files in place of those of this process."""
    return own._replace(kind=INTERACTIONS.in_files(own.kind))


def _counted(kind: Kind) -> int:
    """Return the number of counted internal variables of a kind."""
    return 0 if kind.count is None else kind.n_internal


def _settled(kind: Kind) -> int:
    """Return the number of internal variables of a kind that are updated at the end of an accepted step."""
    return 0 if kind.condensed.update_internal is None else kind.n_internal


def variable_counts(names: Sequence[str]) -> Ints:
    """Return the numbers of counted and of settled internal variables (k, 2) of the registered kinds in `names`.

    Built-in kinds are not included; the order is that of the registry. Settled ones are those of `history_variable_counts`.
    """
    kinds = (kind for kind in INTERACTIONS[INTERACTIONS.ours :] if kind.name in names)
    found: Ints = np.array([(_counted(kind), _settled(kind)) for kind in kinds], np.int64).reshape(-1, 2)
    return found


def from_files(
    own: InteractionTable, names: Sequence[str], variables: Ints, made: Callable[[str], Kind | None]
) -> InteractionTable:
    """Return a table written by `in_files` with the kind numbers of this process.

    `names`: kinds that are not built in. `variables` (k, 2): result of `variable_counts` for them. `made`: returns a kind from
    its
    name, if the name determines it, else None. Raises ValueError if `variables` does not fit `names`.
    """
    if variables.shape != (len(names), 2) or np.any((variables < 0) | (variables > MAX_INTERNAL_VARIABLES)):
        raise ValueError(
            f"{len(names)} kinds that are not ours, but their own variables are {variables.tolist()}"
        )
    told = dict(zip(names, variables.astype(np.int64).tolist(), strict=True))

    def absent(name: str, use: Ints) -> Kind:
        """Return a kind for `name`: the one made from its name, or a placeholder without functions."""
        if (known := made(name)) is not None:
            return known
        arity, none = int((own.frames[use] >= 0).sum(axis=1).max()), MissingFunction(name)
        counted, settled = told[name]
        condensed = Condensed(update_internal=none if settled else None)
        kind = Kind(name, arity, 0, none, none, none, n_internal=counted + settled, condensed=condensed)
        return kind._replace(count=none if counted else None)

    return own._replace(kind=INTERACTIONS.from_files("others", own.kind, names, absent)) if names else own


def pairs_of(own: InteractionTable) -> Ints:
    """Return all pairs of frames (k, 2) that an interaction joins."""
    return pairs_between(own.frames)


def pairs_between(frames: Ints) -> Ints:
    """Return all pairs (k, 2) of different frames in one row of `frames` (e, most), -1: none; both orders."""
    found = [np.zeros((0, 2), np.int64)]
    for k in range(frames.shape[1] if len(frames) else 0):
        for l in range(frames.shape[1]):
            both = frames[:, [k, l]]
            found.append(both[(both >= 0).all(axis=1) & (both[:, 0] != both[:, 1])])
    return np.concatenate(found)


def one_sided(own: InteractionTable) -> NDArray[np.bool_]:
    """Return whether each interaction acts on contact alone, (e,)."""
    return (
        np.array([kind.one_sided for kind in INTERACTIONS], bool)[own.kind]
        if len(own.kind)
        else np.zeros(0, bool)
    )
