"""What acts on the frames of a result besides their rods' own stresses, as forces, moments and power of its states.

All that `groups_of` lists has one rule: its dual at the stored poses, or rates, is a force and a torque on each of its frames.
What is left are the stresses of the rods, which are fluxes of local laws and no forces on them, and constraints: their
multipliers are means over steps, which states do not follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from discretization.drives import flattened
from discretization.groups import Acting, Role, groups_of, is_load
from discretization.own_variables import own_variables
from discretization.system import System
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.kinds import Group, group
from rigid.system import Floats, Ints, State
from rodsim.results.node_loads import NodeLoad, values_at

RODS = ("elements", "spans")  # tables of rod elements
FORCES = (Role.ENERGY, Role.WORK, Role.DISSIPATION)  # whose duals are forces of the states


class Sources(NamedTuple):
    """What is done to every frame at every output."""

    force: Floats  # (T, n, 3) N
    moment: Floats  # (T, n, 3) N m, about the origin
    power: Floats  # (T, n) W


def sources_of(system: System, state: State | None = None) -> Iterator[Acting]:
    """What acts with forces that follow from stored states, and is no stress of a rod; state: as of `groups_of`."""
    for own in groups_of(system, state, *FORCES):
        if own.table not in RODS:
            yield own
        elif own.role is Role.DISSIPATION:
            yield _viscous(system, own)


def _viscous(system: System, own: Acting) -> Acting:
    """Without the rod elements that lose something by a branch alone: its stress is one of the rod."""
    if own.table != "spans":
        return own
    spans = system.spans
    some = np.logical_or.reduceat(np.any(spans.damping, axis=(1, 2)), spans.first[:-1])[own.use]
    return own._replace(group=_chosen(own.group, some), use=own.use[some])


def is_unknown(own: Acting) -> bool:
    """Whether it acts, and nothing says with which force; a contact comes and goes between the outputs."""
    return own.role not in FORCES or own.group.kind.one_sided


def sources(system: System, loads: list[NodeLoad], t: Floats, state: State, frames: Ints) -> Sources:
    """What does something to some of the `frames`, at the outputs `state` with the times t (T,); loads: all of the system's."""
    wrench, values = np.zeros((*state.r.shape[:2], 6)), values_at(loads, t)
    for outputs, own in _at_states(system, state):
        among = _among(own.group, frames)
        states = State(*(x[outputs] if len(x) == len(t) else x for x in state))
        if own.role is Role.DISSIPATION:
            found = evaluation.resistances([among], states)
        elif is_load(own):
            found = _of_loads(system, own, frames, values[outputs], states)
        else:
            found = evaluation.gradients([among], states.r, states.quat)
        of_frames = np.moveaxis(wrench[outputs], 1, 0)  # a view
        for k, each in enumerate(among.frames.T):
            np.subtract.at(of_frames, each, np.moveaxis(found[:, :, k], 1, 0))
    force, torque = wrench[..., :3], wrench[..., 3:]
    omega = quaternions.rotate(state.quat, state.Omega)
    return Sources(
        force,
        torque + np.cross(state.r, force),
        np.sum(force * state.v, axis=-1) + np.sum(torque * omega, axis=-1),
    )


def _of_loads(system: System, own: Acting, frames: Ints, values: Floats, states: State) -> Floats:
    """Gradients (T, k, 1, 6) of those on some of the `frames`, with the values (T, l, 3) of all loads at each of the states."""
    use = np.isin(own.group.frames[:, 0], frames)
    kind, which = own.group.kind, np.searchsorted(system.signals, own.use[use])
    times, n = states.r.shape[:2]
    numbers = np.tile(own.group.numbers[use], (times, 1, 1))
    numbers[:, :, kind.signal : kind.signal + 3] = values[:, which]
    copies = own.group.frames[use] + n * np.arange(times)[:, None, None]
    each = group(kind, copies.ravel(), numbers.reshape(-1, numbers.shape[-1]), np.arange(copies.size))
    flat = flattened(states)
    return evaluation.gradients([each], flat.r, flat.quat).reshape(times, len(which), 1, 6)


def _at_states(system: System, state: State) -> Iterator[tuple[slice, Acting]]:
    """The sources with the numbers that they have at some of the states."""
    every, blocks = len(state.r), own_variables(system)
    if not blocks.angle and not blocks.settled:
        for own in sources_of(system):
            yield slice(0, every), own
        return
    for i in range(every):  # what is counted through turns, or settles, is another number in each
        one = State(*(x[i] if len(x) == every else x for x in state))
        for own in sources_of(system, one):
            yield slice(i, i + 1), own


def _among(own: Group, frames: Ints) -> Group:
    """Those that act on some of the frames, in rows of their own."""
    return _chosen(own, np.any(np.isin(own.frames, frames), axis=1))


def _chosen(own: Group, use: Any) -> Group:
    return own._replace(frames=own.frames[use], numbers=own.numbers[use], row=np.arange(use.sum()))
