"""Compute the energy of each part of a mechanism from the states of a result."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from discretization.state_measures import elastic_densities, element_states, translational_momenta
from discretization.system import System
from rigid.system import Floats, Ints, State
from rodsim.results.layout import Layout

BLOCK = 2_000_000  # approximate count of numbers of the states that are read at once


class PartEnergy(NamedTuple):
    """Energy histories (T,) of one rod or body, J."""

    kinetic: Floats
    elastic: Floats
    gravity: Floats


def stored_energies(system: System, state: State) -> tuple[Floats, Ints]:
    """Return the elastic energies of all points of rods (..., g), J, and a frame next to each point (g,).

    The points of two-frame elements come first.
    """
    points = system.rods.points
    strain, _ = element_states(system, state)
    return points.weight * elastic_densities(system, state, strain), points.frames[:, 0]


class Outputs(Protocol):
    """A result, or anything else with a layout and states at outputs."""

    @property
    def layout(self) -> Layout: ...
    @property
    def n_outputs(self) -> int: ...
    def states(self, outputs: slice) -> State: ...


def energies_by_part(result: Outputs) -> dict[str, PartEnergy]:
    """Return the energies of all rods and bodies by name; empty if the file, of an older version, does not hold the system."""
    layout = result.layout
    if layout.system is None:
        return {}
    size = max(1, BLOCK // (40 * layout.n_frames))
    blocks = [
        part_energies(layout, result.states(slice(start, min(start + size, result.n_outputs))))
        for start in range(0, result.n_outputs, size)
    ]
    return {
        name: PartEnergy(*np.concatenate([block[name] for block in blocks], axis=1))
        for name in (blocks[0] if blocks else ())
    }


def part_energies(layout: Layout, state: State, only: str | None = None) -> dict[str, PartEnergy]:
    """Return the energies (T,) of all rods and bodies by name at states (T, ...), or of the part `only`.

    A consistent mass matrix couples frames: T = v . M v/2 is divided among the frames as v . p/2 of each. The sums over all parts
    equal the columns of the audit table, except for springs.
    """
    system = layout.system
    assert system is not None
    frames = {rod.name: rod.frames for rod in layout.rods}
    frames |= {body.name: np.array([body.frame]) for body in layout.bodies}
    momenta = translational_momenta(system, state)
    spin = np.einsum("nij,tnj->tni", system.frames.inertia, state.Omega)
    kinetic = 0.5 * (np.sum(state.v * momenta, axis=-1) + np.sum(state.Omega * spin, axis=-1))
    gravity = -system.frames.mass * (state.r @ system.gravity)
    stored, first = stored_energies(system, state)
    return {
        name: PartEnergy(
            kinetic[:, of_part].sum(axis=1),
            stored[:, np.isin(first, of_part)].sum(axis=1),
            gravity[:, of_part].sum(axis=1),
        )
        for name, of_part in frames.items()
        if only in (None, name)
    }
