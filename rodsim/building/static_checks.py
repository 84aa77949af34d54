"""What a model needs to have an equilibrium: nothing may be free to fly away."""

from __future__ import annotations

import numpy as np

from discretization.components import components
from discretization.groups import Role, groups_of, pairs_of
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import loads_of
from discretization.known_facts import known_of_unchanging
from discretization.system import System
from rigid.errors import ModelError, PartName
from rigid.system import Ints
from rodsim.building.build import Built
from rodsim.results.layout import Layout


def part_at(layout: Layout, frame: int) -> PartName:
    """Whose frame it is."""
    for body in layout.bodies:
        if body.frame == frame:
            return PartName("body", body.name)
    for rod in layout.rods:
        if frame in rod.frames:
            return PartName("rod", rod.name)
    return PartName("ground", "ground")


def check_elastic(built: Built) -> None:
    """Raise ModelError where a rod relaxes: what it does at rest depends on how long it rested; or where something has states."""
    spans, own = built.system.spans, built.system.others
    evolving = [kind.name for k in np.unique(own.kind) if (kind := INTERACTIONS[k]).evolves]
    if evolving:
        raise ModelError(
            f"interaction of kind '{evolving[0]}': its states follow from equations of motion, which small motions and what is "
            "at rest do not take; simulate it until it rests, or leave it out"
        )
    if not np.any(spans.relaxation):
        return
    points = np.repeat(np.arange(len(spans.kind)), spans.order)
    frame = int(spans.frames[points[np.argmax(spans.relaxation > 0.0)], 0])
    part = part_at(built.layout, frame)
    raise ModelError(
        f"{part.kind} '{part.name}': its section relaxes; at rest for long it is as without, so leave `with_relaxation` out",
        about=[part],
    )


@known_of_unchanging
def _hanging(system: System) -> tuple[Ints, Ints]:
    """(n,) a number for each frame, the same for those that hang together, and moving frames that hang on no ground."""
    contacts = system.contacts
    acting = groups_of(system, None, Role.ENERGY, Role.WORK, Role.CONSTRAINT)  # dampers hold nothing at rest
    driven = np.flatnonzero(system.frames.fixed)
    standing = np.stack([np.zeros_like(driven), driven], axis=1)  # what stands where it is told is ground
    meeting = contacts.frames[contacts.first[contacts.pairs]]
    joined = np.concatenate([pairs_of(acting), standing, meeting])
    group = components(joined.T, len(system.frames.mass))
    return group, np.flatnonzero((group != group[0]) & (system.frames.fixed == 0))


def check_held(built: Built) -> None:
    """Raise ModelError where a part is connected to the ground by nothing, joint, rod, spring or what it may come to lie on."""
    system = built.system
    group, free = _hanging(system)
    if not len(free):
        return
    part = part_at(built.layout, int(free[0]))
    names = list(built.layout.description["loads"])
    loaded = [
        name  # behind those at points there are distributed ones
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
