"""Determine which boxes the local audit of a rod covers, and describe the unknown forces at the nodes of the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.contact.table import contact_frames
from discretization.interaction_groups import InteractionGroup, groups_of, is_load
from discretization.system import System
from rigid.system import Ints
from rodsim.results.gear_history import joint_of_rows
from rodsim.results.layout import Layout, RodLayout
from rodsim.results.node_forces import is_unknown, known_interactions
from rodsim.results.node_loads import node_loads
from rodsim.results.rod_grid import RodGrid


class Coverage(NamedTuple):
    """Boxes (n - 2,) of a rod on whose nodes something acts, and notes on what the local audit does not cover."""

    unknown: NDArray[np.bool_]  # True if an unknown force acts on a node of the box
    loaded: NDArray[np.bool_]  # True if any force, known or unknown, acts on a node of the box
    notes: list[str]


class UnknownForce(NamedTuple):
    """An interaction whose force does not follow from the states: its description and the frames on which it acts."""

    words: str
    frames: Ints


def coverage(layout: Layout, rod: RodLayout, grid: RodGrid) -> Coverage:
    """Return the boxes of a rod on whose nodes unknown forces, or any forces, act, and notes on what is not covered."""
    assert layout.system is not None
    owner, notes = f"rod '{rod.name}'", []
    if not rod.closed:
        notes.append(f"{owner}: the halves of the boxes at its two ends")
    if grid.relaxing:
        notes.append(f"{owner}: material momentum, which a relaxing branch does not conserve")
    elif not grid.uniform:
        notes.append(
            f"{owner}: material momentum, since sections or stress-free strains change along the rod"
        )
    unknown = np.zeros(len(grid.S) - 2, bool)
    for force in _unknown_forces(layout):
        boxes = grid.boxes_of(force.frames)
        unknown |= boxes
        if count := int(boxes.sum()):
            notes.append(f"{owner}: the {'box' if count == 1 else f'{count} boxes'} {force.words}")
    loaded = unknown.copy()
    for interaction in known_interactions(layout.system):
        loaded |= grid.boxes_of(interaction.group.frames.ravel())
    count = int((loaded & ~unknown).sum())
    if count and grid.uniform and not grid.relaxing:
        notes.append(f"{owner}: material momentum in the {count} boxes on whose nodes something acts")
    return Coverage(unknown, loaded, notes)


def acts_along(layout: Layout, rod: RodLayout, order: int) -> bool:
    """Return True if an interaction or a load acts on all nodes of an element of this rod, and so presumably along the element.

    `order`: order of the rod's elements.
    """
    assert layout.system is not None
    nodes = len(rod.frames)
    element_nodes = order * np.arange(len(rod.elements) // order)[:, None] + np.arange(order + 1)
    frames, loads = rod.frames[element_nodes % nodes], node_loads(layout)
    frame_groups = [
        interaction.group.frames
        for interaction in known_interactions(layout.system)
        if not is_load(interaction)
    ]
    frame_groups += [
        np.array([load.frame for load in loads if load.name == name]) for name in {x.name for x in loads}
    ]
    return any(bool(np.isin(frames, interaction).all(axis=1).any()) for interaction in frame_groups)


def _by_joint(system: System, acting: Iterable[InteractionGroup]) -> dict[int, list[Ints]]:
    """Return the frames of the constraints among `acting`, by the number of their joint."""
    frames_of: dict[int, list[Ints]] = {}
    for interaction in acting:
        if interaction.table == "constraints":
            for number, frames in zip(
                system.constraints.joint[interaction.use], interaction.group.frames, strict=True
            ):
                frames_of.setdefault(int(number), []).append(frames)
    return frames_of


def _unknown_forces(layout: Layout) -> Iterator[UnknownForce]:
    """Yield all interactions with unknown forces.

    These are joints, surfaces that may touch, fixed and driven frames, loads whose values a file does not store, and interactions
    for which `is_unknown` holds.
    """
    system = layout.system
    assert system is not None
    unknown = list(filter(is_unknown, groups_of(system)))
    for interaction in unknown:
        if interaction.table != "constraints":
            yield UnknownForce(
                f"where a {interaction.group.kind.name} acts", interaction.group.frames.ravel()
            )
    for number, joint_frames in sorted(_by_joint(system, unknown).items()):
        joint = joint_of_rows(layout.joints, number)
        words = "whose elements do not stretch" if joint is None else f"where joint '{joint.name}' holds it"
        yield UnknownForce(words, np.concatenate(joint_frames))
    yield UnknownForce("where surfaces may touch", contact_frames(system.contacts))
    fixed = np.flatnonzero(system.frames.fixed)
    yield UnknownForce("whose node is fixed or driven", fixed[fixed > 0])
    loads = [load for load in node_loads(layout) if load.value is None]
    for name in dict.fromkeys(load.name for load in loads):
        frames = np.array([load.frame for load in loads if load.name == name])
        yield UnknownForce(f"of {name}, whose values a file does not store", frames)
