"""Compute the forces, moments and power on the frames of a result at its stored states, without the stresses of the rods.

One rule holds for all interactions that `groups_of` lists: the gradient (dual) at the stored poses, or rates, is a force and a
torque on each frame. Two kinds of interactions are excluded. Stresses of rods are fluxes of the local laws, not sources. The
multipliers of constraints are means over steps and so do not follow from the states.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from discretization.drives import flatten_states
from discretization.interaction_groups import InteractionGroup, Role, groups_of, is_load
from discretization.internal_variables import internal_variables, part
from discretization.system import System
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.kinds import Group, group
from rigid.system import Floats, Ints, State
from rodsim.results.node_loads import NodeLoad, values_at

RODS = ("elements", "spans")  # names of the tables of rod elements
# roles of interactions whose forces follow from the states
FORCES = (Role.ENERGY, Role.WORK, Role.DISSIPATION)


class Sources(NamedTuple):
    """Force, moment and power on each of n frames at T outputs."""

    force: Floats  # (T, n, 3) forces, N
    moment: Floats  # (T, n, 3) moments about the origin, N m
    power: Floats  # (T, n) power, W


def known_interactions(system: System, state: State | None = None) -> Iterator[InteractionGroup]:
    """Yield the interactions whose forces follow from stored states, without the stresses of rods.

    `state`: one state or None, passed to `groups_of`.
    """
    for interaction in groups_of(system, state, *FORCES):
        if interaction.table not in RODS:
            yield interaction
        elif interaction.role is Role.DISSIPATION:
            yield _viscous(system, interaction)


def _viscous(system: System, interaction: InteractionGroup) -> InteractionGroup:
    """Return a group of dissipative rod elements restricted to those with viscosity.

    The others dissipate only in a relaxing branch, whose stress is part of the stress of the rod.
    """
    if interaction.table != "spans":
        return interaction
    spans = system.spans
    some = np.logical_or.reduceat(np.any(spans.damping, axis=(1, 2)), spans.first[:-1])[interaction.use]
    return interaction._replace(group=_select_rows(interaction.group, some), use=interaction.use[some])


def is_unknown(interaction: InteractionGroup) -> bool:
    """Return True if the force of an interaction does not follow from stored states.

    This includes contacts, which may open and close between outputs, and inerters, whose force is that of an acceleration.
    """
    kind = interaction.group.kind
    return interaction.role not in FORCES or kind.one_sided or kind.inertial


def sources(system: System, loads: list[NodeLoad], t: Floats, state: State, frames: Ints) -> Sources:
    """Return the forces, moments and power of all interactions that act on some of the `frames`, at T outputs.

    `loads`: all loads of the system. `t`: (T,) times of the outputs, s. `state`: their states (T, ...).
    """
    wrench, values = np.zeros((*state.r.shape[:2], 6)), values_at(loads, t)
    values = system.controls.load_values(part(system, state, "sampled"), values)
    for outputs, interaction in _at_states(system, state):
        among = _select_frames(interaction.group, frames)
        states = State(*(x[outputs] if len(x) == len(t) else x for x in state))
        if is_load(interaction):
            wrenches = load_wrenches(system, interaction, frames, values[outputs], states)
        elif interaction.role is Role.DISSIPATION:
            wrenches = evaluation.resistances([among], states)
        else:
            wrenches = evaluation.gradients([among], states.r, states.quat)
        wrench_by_frame = np.moveaxis(wrench[outputs], 1, 0)  # a view, so that `wrench` is changed in place
        for k, column in enumerate(among.frames.T):
            np.subtract.at(wrench_by_frame, column, np.moveaxis(wrenches[:, :, k], 1, 0))
    force, torque = wrench[..., :3], wrench[..., 3:]
    omega = quaternions.rotate(state.quat, state.Omega)
    return Sources(
        force,
        torque + np.cross(state.r, force),
        np.sum(force * state.v, axis=-1) + np.sum(torque * omega, axis=-1),
    )


def load_wrenches(
    system: System, interaction: InteractionGroup, frames: Ints, values: Floats, states: State
) -> Floats:
    """Return the gradients or resistances (T, k, f, 6) of the k loads on `frames`, f frames each.

    `values` (T, l, 3): those of all loads at T states.
    """
    use = np.any(np.isin(interaction.group.frames, frames), axis=1)
    kind, load_numbers = interaction.group.kind, np.searchsorted(system.signals, interaction.use[use])
    times, n = states.r.shape[:2]
    numbers = np.tile(interaction.group.numbers[use], (times, 1, 1))
    numbers[:, :, kind.signal : kind.signal + 3] = values[:, load_numbers]
    copies = interaction.group.frames[use] + n * np.arange(times)[:, None, None]
    count = times * len(load_numbers)
    loads = group(
        kind, copies.reshape(-1, kind.arity), numbers.reshape(count, numbers.shape[-1]), np.arange(count)
    )
    flat = flatten_states(states)
    if interaction.role is Role.DISSIPATION:
        wrenches = evaluation.resistances([loads], flat)
    else:
        wrenches = evaluation.gradients([loads], flat.r, flat.quat)
    return wrenches.reshape(times, len(load_numbers), kind.arity, 6)


def _at_states(system: System, state: State) -> Iterator[tuple[slice, InteractionGroup]]:
    """Yield the interactions of `known_interactions` with their parameters, and the slice of states for which these hold."""
    every, blocks = len(state.r), internal_variables(system)
    if not blocks.angle and not blocks.settled:
        for interaction in known_interactions(system):
            yield slice(0, every), interaction
        return
    for i in range(every):  # counted angles and settled variables have a different value in each state
        one = State(*(x[i] if len(x) == every else x for x in state))
        for interaction in known_interactions(system, one):
            yield slice(i, i + 1), interaction


def _select_frames(interactions: Group, frames: Ints) -> Group:
    """Return the interactions of a group that act on some of the frames, with rows numbered from 0."""
    return _select_rows(interactions, np.any(np.isin(interactions.frames, frames), axis=1))


def _select_rows(interactions: Group, use: Any) -> Group:
    """Return the interactions of a group selected by the mask `use`, with rows numbered from 0."""
    return interactions._replace(
        frames=interactions.frames[use], numbers=interactions.numbers[use], row=np.arange(use.sum())
    )
