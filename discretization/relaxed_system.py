"""Convert a system and its states to long-term rest: branches have relaxed, internal states are stationary.

At long-term rest the variables with evolution equations are constant. A relaxing branch carries no stress and is removed.
An interaction with states x is replaced by its kind at rest (`rigid.interactions.kinds.InternalStateEquations`), which has no
internal variables. So a system and its counterpart at rest have the same frames, interactions and multipliers, and states that
differ only in `State.internal` (`discretization.internal_variables`).
"""

from __future__ import annotations

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import (
    InteractionTable,
    groups_of,
    history_variable_counts,
    with_history_variables,
)
from discretization.internal_variables import first_history_variable, internal_variables, part
from discretization.system import System
from rigid.interactions import evaluation
from rigid.system import Ints, State


def evolving_interactions(table: InteractionTable) -> Ints:
    """Return the indices of the interactions whose states follow evolution equations."""
    kinds = [k for k in set(table.kind.tolist()) if INTERACTIONS[k].state_equations is not None]
    return np.flatnonzero(np.isin(table.kind, kinds)) if kinds else np.zeros(0, np.int64)


def has_evolution_equations(system: System) -> bool:
    """Return whether the system has variables with evolution equations: relaxing branches or states of interactions."""
    return bool(system.rods.relaxing.any()) or len(evolving_interactions(system.others)) > 0


def relaxed_system(system: System, state: State | None = None) -> System:
    """Return the system at long-term rest.

    `state`: supplies the initial guess for the states at rest; by default that of the parameters.
    """
    if not has_evolution_equations(system):
        return system
    table = system.others
    if state is not None:
        table = with_history_variables(table, part(system, state, "settled"))
    if len(evolving_interactions(table)):
        kind = table.kind.copy()
        for k in np.unique(kind):
            if (state_equations := INTERACTIONS[k].state_equations) is not None:
                kind[table.kind == k] = INTERACTIONS.index(INTERACTIONS.register(state_equations.at_rest))
        table = table._replace(kind=kind)
    return system.with_rods(system.rods.relaxed())._replace(others=table)


def relaxed_state(system: System, at_rest: System, state: State) -> State:
    """Convert a state of `system` to one of `at_rest`, its counterpart at rest; internal variables that it lacks are dropped."""
    before, after = internal_variables(system), internal_variables(at_rest)
    names = ("angle", "drive", "bristle", *(("branch",) if after.branch else ()))
    blocks = {name: before.part(state.internal, name) for name in names if getattr(after, name)}
    if after.settled:
        count, stays = history_variable_counts(system.others), history_variable_counts(at_rest.others) > 0
        blocks["settled"] = part(system, state, "settled")[np.repeat(stays, count)]
    return state._replace(internal=after.joined(**blocks))


def unrelaxed_state(system: System, at_rest: System, like: State, state: State) -> State:
    """Convert a state of `at_rest` to one of `system`, with stationary internal states.

    `like`: a state of `system` that supplies the other internal variables of the block "settled".
    """
    before, after = internal_variables(at_rest), internal_variables(system)
    names = ("angle", "drive", "bristle", *(("branch",) if before.branch else ()))
    blocks = {name: before.part(state.internal, name) for name in names if getattr(before, name)}
    variables = after.joined(**blocks)
    after.part(variables, "settled")[...] = part(system, like, "settled")
    return with_stationary_states(system, state._replace(internal=variables))


def with_stationary_states(system: System, state: State) -> State:
    """Return the state with internal variables that are stationary for its poses: branches relaxed, states at rest."""
    use = evolving_interactions(system.others)
    relaxes = internal_variables(system).branch > 0
    if not len(use) and not relaxes:
        return state
    variables = state.internal.copy()
    if relaxes:
        internal_variables(system).part(variables, "branch")[...] = 0.0
    if len(use):
        first, table = (
            first_history_variable(system),
            with_history_variables(system.others, part(system, state, "settled")),
        )
        groups = []
        for group in groups_of(table, use[history_variable_counts(table)[use] > 0]):
            state_equations = group.kind.state_equations
            assert state_equations is not None
            kind = state_equations.at_rest._replace(value=state_equations.states, rows=group.kind.n_internal)
            groups.append(group._replace(kind=kind, row=first[group.row]))
        count = history_variable_counts(table)
        indices = np.concatenate([first[k] + np.arange(count[k]) for k in use])
        if len(indices):
            variables[indices] = evaluation.values(groups, state.r, state.quat)[indices]
    return state._replace(internal=variables)
