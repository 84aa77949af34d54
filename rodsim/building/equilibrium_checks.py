"""Check that a model can have an equilibrium: every part is connected to the ground, every state is determined at rest."""

from __future__ import annotations

import numpy as np

from discretization.components import components
from discretization.interaction_groups import Role, groups_of, pairs_of
from discretization.interaction_table import loads_of
from discretization.linearisation.internal_states import undetermined_states
from discretization.memoization import memoized, per_structure
from discretization.relaxed_system import (
    evolving_interactions,
    has_evolution_equations,
    relaxed_state,
    relaxed_system,
)
from discretization.system import System
from rigid.errors import ModelError, PartName
from rigid.system import Ints
from rodsim.building.build import Built
from rodsim.interactions.registration import KINDS
from rodsim.results.layout import Layout


def part_at(layout: Layout, frame: int) -> PartName:
    """Return kind and name of the part that has this frame."""
    for body in layout.bodies:
        if body.frame == frame:
            return PartName("body", body.name)
    for rod in layout.rods:
        if frame in rod.frames:
            return PartName("rod", rod.name)
    return PartName("ground", "ground")


def at_rest(built: Built) -> Built:
    """Return the model in its relaxed state: without internal states and relaxing branches, and its state without them.

    A model that has none of them is returned as it is.
    """
    if not has_evolution_equations(built.system):
        return built
    system = relaxed_system(built.system, built.state)
    return built._replace(system=system, state=relaxed_state(built.system, system, built.state))


def check_determined(built: Built) -> None:
    """Raise ModelError if an interaction has internal states that no equation determines at rest."""
    system, state = built.system, built.state
    if not len(evolving_interactions(system.others)):
        return
    for item_group in groups_of(system, state, Role.DISSIPATION):
        if item_group.group.kind.state_equations is None:
            continue
        for k, item in enumerate(item_group.use):
            if not len(free := undetermined_states(item_group.group, k, state)):
                continue
            widths = KINDS[item_group.group.kind.name].numbers if item_group.group.kind.name in KINDS else ()
            names = [name for name, width in widths for _ in range(max(width, 1))][
                -item_group.group.kind.n_internal :
            ]
            state_names = " and ".join(
                dict.fromkeys(f"'{names[i]}'" if names else f"number {i}" for i in free)
            )
            raise ModelError(
                f"{built.interaction_names[item]}: at rest its state {state_names} is not determined, `evolve` does not "
                f"depend on it there, "
                "as that of an integrator; simulate the model until it rests, hold it by what has no integrator, or let the "
                "state leak: x' = e - x/T"
            )


@memoized(per_structure)
def _unsupported_frames(system: System) -> tuple[Ints, Ints]:
    """Return the number of the connected component of each frame (n,), and the moving frames not connected to the ground."""
    contacts = system.contacts
    # dampers exert no force at rest
    acting = groups_of(system, None, Role.ENERGY, Role.WORK, Role.CONSTRAINT)
    driven = np.flatnonzero(system.frames.fixed)
    standing = np.stack([np.zeros_like(driven), driven], axis=1)  # driven frames count as ground
    meeting = contacts.frames[contacts.first[contacts.pairs]]
    joined = np.concatenate([pairs_of(acting), standing, meeting])
    group = components(joined.T, len(system.frames.mass))
    return group, np.flatnonzero((group != group[0]) & (system.frames.fixed == 0))


def check_supported(built: Built) -> None:
    """Raise ModelError if a part is not connected to the ground by a joint, rod, spring, or a surface that it may touch."""
    system = relaxed_system(built.system) if has_evolution_equations(built.system) else built.system
    group, free = _unsupported_frames(system)
    if not len(free):
        return
    part = part_at(built.layout, int(free[0]))
    names = list(built.layout.description["loads"])
    loaded = [
        name  # distributed loads follow after loads at points
        for name, frame in zip(names, loads_of(system.others).frame, strict=False)
        if group[frame] == group[free[0]]
    ]
    about = [part, *(PartName("load", name) for name in loaded)]
    under = f", and load '{loaded[0]}' acts on it" if loaded else ""
    raise ModelError(
        f"{part.kind} '{part.name}': nothing joins it to the ground{under}, so that it has no equilibrium of its own; hold "
        "it by a joint or a spring (where its loads balance each other, the joint's force will be zero)",
        about=about,
    )
