"""Compute the energy of each part of a mechanism from the states of a result."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.state_measures import elastic_densities, element_states, translational_momenta
from discretization.system import System
from rigid.system import Floats, Ints, State
from rodsim.results.result import Result

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


def energies_by_part(result: Result) -> dict[str, PartEnergy]:
    """Return the energies of all rods and bodies by name; empty if the file, of an older version, does not hold the system.

    A consistent mass matrix couples frames: T = v . M v/2 is divided among the frames as v . p/2 of each. The sums over all parts
    equal the columns of the audit table, except for springs.
    """
    system, layout = result.layout.system, result.layout
    if system is None:
        return {}
    frames = {rod.name: rod.frames for rod in layout.rods}
    frames |= {body.name: np.array([body.frame]) for body in layout.bodies}
    blocks_of: dict[str, list[Floats]] = {name: [] for name in frames}
    size = max(1, BLOCK // (40 * layout.n_frames))
    for start in range(0, result.n_outputs, size):
        state = result.states(slice(start, min(start + size, result.n_outputs)))
        momenta = translational_momenta(system, state)
        spin = np.einsum("nij,tnj->tni", system.frames.inertia, state.Omega)
        kinetic = 0.5 * (np.sum(state.v * momenta, axis=-1) + np.sum(state.Omega * spin, axis=-1))
        gravity = -system.frames.mass * (state.r @ system.gravity)
        stored, first = stored_energies(system, state)
        for name, part_frames in frames.items():
            parts = (kinetic[:, part_frames], stored[:, np.isin(first, part_frames)], gravity[:, part_frames])
            blocks_of[name].append(np.stack([part.sum(axis=1) for part in parts]))
    return {name: PartEnergy(*np.concatenate(blocks, axis=1)) for name, blocks in blocks_of.items()}
