"""List all interactions of a system, grouped by kind, regardless of the table of `System` that stores them.

This is the one list of interactions for code that only reads a system: linearisation, statics, measures, audits, buckling,
checks. Code that reads by `groups_of` omits nothing and recognises a new kind by its role:

    ENERGY       value, dual         CONSTRAINT   rows of g, their multipliers in `State.lam`
    DISSIPATION  duals of rates      WORK         duals without a value: what they do is counted as work

Weights and inertia are not included. Values of loads are inputs: `with_load_values` stores them among the parameters, which are
zero otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from discretization import interaction_table
from discretization.contact.friction_groups import friction_groups
from discretization.contact.interactions import contact_groups
from discretization.drives import at_states, has_driven_parameters
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import is_dissipation
from discretization.internal_variables import part
from discretization.multipliers import count_multipliers
from discretization.space import se3_dual, spans
from discretization.space.rod_elements import BY_NUMBER
from discretization.system import System
from rigid.interactions import constraints
from rigid.interactions.kinds import Group, Kind
from rigid.system import Floats, Ints, State


class Role(Enum):
    """How a group enters the balance of energy."""

    ENERGY = "energy"
    CONSTRAINT = "constraint"
    DISSIPATION = "dissipation"
    WORK = "work"


class InteractionGroup(NamedTuple):
    """One group of interactions of a system, and the table that stores it."""

    group: Group  # `row`: index in `State.lam` for constraints, else index in the table
    role: Role
    table: str  # field name of `System`
    use: Ints  # (k,) rows in that table; for contacts numbers of the pairs that touch


def groups_of(system: System, state: State | None = None, *roles: Role) -> list[InteractionGroup]:
    """Return all groups of interactions, or those with one of the roles `roles`.

    `state`: one state, which supplies the values of drives and internal variables and determines which surfaces touch. None: the
    parameters are those of the tables, for queries about which frames are joined; surfaces in contact join nothing.
    """
    entries = [
        *_rods(system, state),
        *_others(system, state),
        *_contacts(system, state),
        *_constraints(system, state),
    ]
    return [entry for entry in entries if len(entry.use) and (not roles or entry.role in roles)]


def energies_of(system: System, state: State) -> list[Group]:
    """Return all groups with a potential, or with forces that depend only on the poses; weights are not included."""
    return [entry.group for entry in groups_of(system, state, Role.ENERGY, Role.WORK)]


def constraints_of(system: System, state: State) -> list[Group]:
    """Return the groups of constraints with the drives of `state`; their rows are those of `State.lam`."""
    interaction_entries = (
        _others(system, state) if len(interaction_table.constraint_indices(system.others)) else ()
    )
    return [
        entry.group
        for entry in (*interaction_entries, *_constraints(system, state))
        if entry.role is Role.CONSTRAINT and len(entry.use)
    ]


def dissipations_of(system: System, state: State | None = None) -> list[Group]:
    """Return the groups of viscous rods, dampers and friction.

    `state`: the state whose internal variables they depend on, as in `groups_of`.
    """
    return [entry.group for entry in groups_of(system, state, Role.DISSIPATION)]


def rods_of(system: System) -> list[Group]:
    """Return the groups of the energies of all rod elements."""
    return [entry.group for entry in _rods(system, None) if entry.role is Role.ENERGY and len(entry.use)]


def pairs_of(acting: Sequence[InteractionGroup]) -> Ints:
    """Return all pairs of frames (k, 2) that a group joins."""
    return np.concatenate(
        [
            np.zeros((0, 2), np.int64),
            *(entry.group.frames[:, [a, b]] for entry in acting for a, b in _couples(entry.group.kind)),
        ]
    )


def is_load(entry: InteractionGroup) -> bool:
    """Return whether the values of a group are inputs of the model."""
    return entry.group.kind.signal >= 0


def is_curved(entry: InteractionGroup) -> bool:
    """Return whether a group is a constraint of more than second degree in the poses."""
    return entry.group.kind.steep or entry.group.kind.hidden is not None


def _couples(kind: Kind) -> list[tuple[int, int]]:
    """Return the index pairs (a, b), a < b, of the frames of a kind."""
    return [(a, b) for a in range(kind.arity) for b in range(a + 1, kind.arity)]


def with_load_values(system: System, values: Floats) -> System:
    """Return the system with the values (l, 3) of its loads stored as parameters, so that `groups_of` includes their forces."""
    return system._replace(others=interaction_table.with_signals(system.others, values))


def externally_supported_frames(acting: Sequence[InteractionGroup]) -> Ints:
    """Return the frames with an interaction that joins them to no moving frame, such as air or a pressure; not loads."""
    frames = [
        entry.group.frames.ravel() for entry in acting if entry.group.kind.arity == 1 and not is_load(entry)
    ]
    return np.concatenate([np.zeros(0, np.int64), *frames])


def _rods(system: System, state: State | None) -> Iterator[InteractionGroup]:
    """Yield the groups of rod elements: energies and dissipations of `elements` and `spans`."""
    elements, spanned = system.elements, len(system.spans.kind) > 0
    if spanned:
        for group in spans.energies_of(system.spans):
            yield InteractionGroup(group, Role.ENERGY, "spans", group.row)
    rows = np.arange(len(elements.length))
    if len(rows):
        yield InteractionGroup(se3_dual.energies_of(elements), Role.ENERGY, "elements", rows)
    if spanned:
        branch = None if state is None else part(system, state, "branch")
        for group in spans.dissipations_of(system.spans, branch):
            yield InteractionGroup(group, Role.DISSIPATION, "spans", group.row)
    if np.any(elements.damping):
        damped = np.flatnonzero(np.any(elements.damping, axis=(1, 2)))
        yield InteractionGroup(se3_dual.dissipations_of(elements), Role.DISSIPATION, "elements", damped)


def _others(system: System, state: State | None) -> Iterator[InteractionGroup]:
    """Yield the groups of `System.others`, and the dampers listed with its energies (`Kind.parallel_damper`)."""
    if not len(system.others.kind):
        return
    table, rows = system.others, interaction_table.rows_of(system.others)
    if state is not None:
        table = interaction_table.with_counted_variables(table, part(system, state, "angle"))
        table = interaction_table.with_history_variables(table, part(system, state, "settled"))
    first = count_multipliers(system) - rows.sum() + np.cumsum(rows) - rows
    for number in np.unique(table.kind):
        role = role_of(INTERACTIONS[number])
        for members in interaction_table.groups_of(table, np.flatnonzero(table.kind == number)):
            group = members._replace(row=first[members.row]) if role is Role.CONSTRAINT else members
            yield InteractionGroup(group, role, "others", members.row)
            if damper := members.kind.parallel_damper:
                damped_rows = np.flatnonzero(members.numbers[:, damper[1]])
                damped = Group(
                    damper[0],
                    members.frames[damped_rows],
                    members.numbers[damped_rows],
                    members.row[damped_rows],
                )
                yield InteractionGroup(damped, Role.DISSIPATION, "others", damped.row)


def _contacts(system: System, state: State | None) -> Iterator[InteractionGroup]:
    """Yield the groups of contacts that touch in `state`, and their friction."""
    if state is None or not len(system.contacts.pairs):
        return
    bristles = part(system, state, "bristle")
    for group in (
        *contact_groups(system.contacts, state),
        *friction_groups(system.contacts, state, bristles),
    ):
        yield InteractionGroup(group, role_of(group.kind), "contacts", group.row)


def role_of(kind: Kind) -> Role:
    """Return the role of a kind that is not a rod element."""
    if kind.rows:
        return Role.CONSTRAINT
    if is_dissipation(kind):
        return Role.DISSIPATION
    return Role.WORK if kind.works else Role.ENERGY


def _constraints(system: System, state: State | None) -> Iterator[InteractionGroup]:
    """Yield the groups of `System.constraints`, with the drives of `state`."""
    table = system.constraints
    if state is not None and has_driven_parameters(table):
        table, _ = at_states(table, state, part(system, state, "drive"))
    for number, group in zip(sorted(set(table.kind.tolist())), constraints.groups_of(table), strict=True):
        yield InteractionGroup(group, Role.CONSTRAINT, "constraints", np.flatnonzero(table.kind == number))


def registered_kinds() -> dict[str, list[Kind]]:
    """Return all built-in kinds, by the table of `System` that stores their interactions."""
    span_kinds = [
        kind
        for element in BY_NUMBER
        for table in (element.kernels().ENERGIES, element.kernels().DISSIPATIONS)
        for order, kind in table.items()
        if order == element.order
    ]
    return {
        "elements": [se3_dual.SE3_ELEMENT, se3_dual.VISCOUS_SE3_ELEMENT],
        "spans": span_kinds,
        "others": [
            *INTERACTIONS[: INTERACTIONS.n_fixed],
            *(
                kind.parallel_damper[0]
                for kind in INTERACTIONS[: INTERACTIONS.n_fixed]
                if kind.parallel_damper
            ),
        ],
        "constraints": constraints.CONSTRAINTS[: constraints.CONSTRAINTS.n_fixed],
    }
