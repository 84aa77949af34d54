"""What acts in a system: groups of kinds, whichever of the tables of `System` they stand in.

This is the one list of it for whoever only reads a system: small motions, statics, measures, audits, buckling, checks. Who
reads by `groups_of` forgets nothing, and is told of a new kind by its role:

    ENERGY       value, dual         CONSTRAINT   rows of g, their multipliers in `State.lam`
    DISSIPATION  duals of rates      WORK         duals without a value: what they do is counted as work

Weights and inertia are none of these. Values of loads come from outside: `loaded` puts them among the numbers, which are zero
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from discretization import interaction_table
from discretization.contact.interactions import touching
from discretization.contact.rubbing import rubbing
from discretization.drives import at_states, varying
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import dissipates
from discretization.multipliers import count_multipliers
from discretization.own_variables import part
from discretization.space import se3_dual, spans
from discretization.space.rod_elements import BY_NUMBER
from discretization.system import System
from rigid.interactions import constraints
from rigid.interactions.kinds import Group, Kind
from rigid.system import Floats, Ints, State


class Role(Enum):
    """What a group does to the balance of energy."""

    ENERGY = "energy"
    CONSTRAINT = "constraint"
    DISSIPATION = "dissipation"
    WORK = "work"


class Acting(NamedTuple):
    """One group of a system, and where it stands."""

    group: Group  # rows: of constraints those in `State.lam`, else the numbers of the interactions in their table
    role: Role
    table: str  # field of `System`
    use: Ints  # (k,) its rows in that table; of contacts numbers of the pairs that touch


def groups_of(system: System, state: State | None = None, *roles: Role) -> list[Acting]:
    """All that acts, or what has one of these roles.

    state: one state, of which what is driven and its own variables are taken, and in which surfaces touch; None: numbers as
    the tables have them, for those who ask who is joined to whom: what touches joins nothing.
    """
    found = [
        *_rods(system, state),
        *_others(system, state),
        *_contacts(system, state),
        *_constraints(system, state),
    ]
    return [own for own in found if len(own.use) and (not roles or own.role in roles)]


def energies_of(system: System, state: State) -> list[Group]:
    """What has a potential, or would have one if it closed: all forces that depend on the poses alone, but for weights."""
    return [own.group for own in groups_of(system, state, Role.ENERGY, Role.WORK)]


def constraints_of(system: System, state: State) -> list[Group]:
    """The constraints; their rows are those of `State.lam`, what is driven stands as in the state."""
    more = _others(system, state) if len(interaction_table.holding(system.others)) else ()
    return [
        own.group
        for own in (*more, *_constraints(system, state))
        if own.role is Role.CONSTRAINT and len(own.use)
    ]


def dissipations_of(system: System, state: State | None = None) -> list[Group]:
    """Viscous rods, dampers, friction; state: one of whose own variables they go by, as of `groups_of`."""
    return [own.group for own in groups_of(system, state, Role.DISSIPATION)]


def rods_of(system: System) -> list[Group]:
    """The energies of all rod elements."""
    return [own.group for own in _rods(system, None) if own.role is Role.ENERGY and len(own.use)]


def pairs_of(acting: Sequence[Acting]) -> Ints:
    """(k, 2) all pairs of frames that a group joins."""
    return np.concatenate(
        [
            np.zeros((0, 2), np.int64),
            *(own.group.frames[:, [a, b]] for own in acting for a, b in _couples(own.group.kind)),
        ]
    )


def is_load(own: Acting) -> bool:
    """Whether its values come from outside."""
    return own.group.kind.signal >= 0


def is_curved(own: Acting) -> bool:
    """Whether it is a constraint more than quadratic in the poses."""
    return own.group.kind.steep or own.group.kind.hidden is not None


def _couples(kind: Kind) -> list[tuple[int, int]]:
    return [(a, b) for a in range(kind.arity) for b in range(a + 1, kind.arity)]


def loaded(system: System, values: Floats) -> System:
    """The system with values (l, 3) of its loads among their numbers, so that `groups_of` has what they do."""
    return system._replace(others=interaction_table.with_signals(system.others, values))


def held_from_outside(acting: Sequence[Acting]) -> Ints:
    """Frames on which an interaction acts that joins them to nothing that moves: the air, a pressure; not loads."""
    alone = [own.group.frames.ravel() for own in acting if own.group.kind.arity == 1 and not is_load(own)]
    return np.concatenate([np.zeros(0, np.int64), *alone])


def _rods(system: System, state: State | None) -> Iterator[Acting]:
    elements, spanned = system.elements, len(system.spans.kind) > 0
    if spanned:
        for own in spans.energies_of(system.spans):
            yield Acting(own, Role.ENERGY, "spans", own.row)
    every = np.arange(len(elements.length))
    if len(every):
        yield Acting(se3_dual.energies_of(elements), Role.ENERGY, "elements", every)
    if spanned:
        branch = None if state is None else part(system, state, "branch")
        for own in spans.dissipations_of(system.spans, branch):
            yield Acting(own, Role.DISSIPATION, "spans", own.row)
    if np.any(elements.damping):
        use = np.flatnonzero(np.any(elements.damping, axis=(1, 2)))
        yield Acting(se3_dual.dissipations_of(elements), Role.DISSIPATION, "elements", use)


def _others(system: System, state: State | None) -> Iterator[Acting]:
    if not len(system.others.kind):
        return
    own, rows = system.others, interaction_table.rows_of(system.others)
    if state is not None:
        own = interaction_table.with_counted(own, part(system, state, "angle"))
        own = interaction_table.with_settled(own, part(system, state, "settled"))
    first = count_multipliers(system) - rows.sum() + np.cumsum(rows) - rows
    for number in np.unique(own.kind):
        role = role_of(INTERACTIONS[number])
        for each in interaction_table.groups_of(own, np.flatnonzero(own.kind == number)):
            group = each._replace(row=first[each.row]) if role is Role.CONSTRAINT else each
            yield Acting(group, role, "others", each.row)
            if beside := each.kind.beside:
                some = np.flatnonzero(each.numbers[:, beside[1]])
                damped = Group(beside[0], each.frames[some], each.numbers[some], each.row[some])
                yield Acting(damped, Role.DISSIPATION, "others", damped.row)


def _contacts(system: System, state: State | None) -> Iterator[Acting]:
    if state is None or not len(system.contacts.pairs):
        return
    bristles = part(system, state, "bristle")
    for own in (*touching(system.contacts, state), *rubbing(system.contacts, state, bristles)):
        yield Acting(own, role_of(own.kind), "contacts", own.row)


def role_of(kind: Kind) -> Role:
    """Of a kind that is no element of a rod."""
    if kind.rows:
        return Role.CONSTRAINT
    if dissipates(kind):
        return Role.DISSIPATION
    return Role.WORK if kind.works else Role.ENERGY


def _constraints(system: System, state: State | None) -> Iterator[Acting]:
    own = system.constraints
    if state is not None and varying(own):
        own, _ = at_states(own, state, part(system, state, "drive"))
    for number, each in zip(sorted(set(own.kind.tolist())), constraints.groups_of(own), strict=True):
        yield Acting(each, Role.CONSTRAINT, "constraints", np.flatnonzero(own.kind == number))


def registered() -> dict[str, list[Kind]]:
    """All kinds that are ours, by the table of `System` that their interactions stand in."""
    of_spans = [
        kind
        for element in BY_NUMBER
        for table in (element.kernels().ENERGIES, element.kernels().DISSIPATIONS)
        for order, kind in table.items()
        if order == element.order
    ]
    return {
        "elements": [se3_dual.SE3_ELEMENT, se3_dual.VISCOUS_SE3_ELEMENT],
        "spans": of_spans,
        "others": [
            *INTERACTIONS[: INTERACTIONS.ours],
            *(kind.beside[0] for kind in INTERACTIONS[: INTERACTIONS.ours] if kind.beside),
        ],
        "constraints": constraints.CONSTRAINTS[: constraints.CONSTRAINTS.ours],
    }
