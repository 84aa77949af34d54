"""What the local audit of a rod covers: where something unknown acts on its nodes, and what that is, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.system import System
from rigid.system import Ints
from rodsim.results.layout import Layout, RodLayout
from rodsim.results.node_loads import node_loads
from rodsim.results.rod_grid import RodGrid


class Held(NamedTuple):
    """Boxes (n - 2,) where something unknown acts on the node; where a load acts, known or not."""

    unknown: NDArray[np.bool_]
    loaded: NDArray[np.bool_]


def held_boxes(layout: Layout, grid: RodGrid) -> Held:
    """The boxes of a rod that cannot be looked at."""
    system = layout.system
    assert system is not None
    tables = (system.constraints, system.springs, system.torsions)
    loads = node_loads(layout)
    frames = [table.frames.ravel() for table in tables]
    frames.append(np.array([load.frame for load in loads if load.value is None], np.int64))
    inner = grid.frames[1:-1]
    loaded = np.isin(inner, [load.frame for load in loads])
    return Held(np.isin(inner, np.concatenate(frames)), loaded)


def not_covered(layout: Layout, system: System, rod: RodLayout, grid: RodGrid) -> list[str]:
    """What the local audit does not look at of a rod."""
    owner, inner = f"rod '{rod.name}'", grid.frames[1:-1]
    notes = []
    if not rod.closed:
        notes.append(f"{owner}: the halves of the boxes at its two ends")
    if grid.viscous:
        notes.append(f"{owner}: viscous stresses; the residuals contain their force and power")
    if not grid.uniform:
        notes.append(
            f"{owner}: material momentum, since sections or stress-free strains change along the rod"
        )
    for joint, frames in _joints(layout, system):
        if np.isin(inner, frames).any():
            notes.append(f"{owner}: the box where joint '{joint}' holds it")
    for what, table in (("spring", system.springs), ("torsion spring", system.torsions)):
        if np.isin(inner, table.frames).any():
            notes.append(f"{owner}: boxes where a {what} holds it")
    for load in node_loads(layout):
        if load.frame in inner and load.value is None:
            notes.append(f"{owner}: the box of load '{load.name}', whose values a file does not keep")
    return notes


def _joints(layout: Layout, system: System) -> Iterator[tuple[str, Ints]]:
    for number, joint in enumerate(layout.joints):
        mine = system.constraints.joint == number
        yield joint.name, system.constraints.frames[mine]
