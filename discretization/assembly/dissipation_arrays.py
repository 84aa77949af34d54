"""Arrays that `em-d(rho)` needs in addition to those of `em`: coefficients, connected groups of frames, shared masses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules are loaded on first access

from discretization.assembly.stress_dissipation import StrainWork, strain_groups, strain_work
from discretization.interaction_groups import externally_supported_frames, groups_of, pairs_of
from discretization.space.interpolation import leading
from discretization.space.rod_elements import BY_NUMBER
from rigid.errors import ModelError
from rigid.system import Floats, Ints


class SharedMasses(NamedTuple):
    """Masses that neighbours share, row by row of the mass matrix: p_f = diagonal v_f + sum of mass v_other."""

    diagonal: Floats  # (n,) diagonal of the mass matrix, kg
    first: Ints  # (n + 1,) first entry of a frame in the arrays below
    other: Ints  # (k,) neighbouring frame
    mass: Floats  # (k,) off-diagonal mass, kg
    base: Ints  # (k,) address of the matrix block with the rows of the frame and the columns of the other
    stride: Ints  # (k,) column stride of that block


class Dissipation(NamedTuple):
    """Arrays of the numerical dissipation, allocated once for a model; all empty for the other integrators."""

    law: Floats  # (2,) coefficients gamma, nu
    gamma: Floats  # (n,) coefficient gamma of the velocities of a frame; 0: not damped
    group: Ints  # (n,) connected group of a frame, -1: connected to the ground
    total: Floats  # (k,) mass of a group, kg
    before: Floats  # (k, 3) velocity of its centre of mass at the start of a step, m/s
    after: Floats  # (k, 3) velocity of its centre of mass at the end of a step, m/s
    shift: Floats  # (k, 3) displacement of a group after the step, m
    start: Floats  # (n, 3) R0^T (p0 - m c0)/m + memory, m/s
    end: Floats  # (n, 6) velocities v1, Omega1 at the end of a step
    slopes: Floats  # (n, 18) derivatives dv1/d dr, dv1/d eta
    shares: SharedMasses
    strained: StrainWork


def damping_coefficients(rho: float) -> tuple[float, float]:
    """Return gamma, nu for a spectral radius rho at infinity."""
    return (1.0 - rho) ** 2 / (2.0 * (3.0 - rho) * (1.0 + rho)), 2.0 * (1.0 + rho) / (3.0 - rho)


def no_dissipation() -> Dissipation:
    """Return the arrays of an integrator without numerical dissipation."""
    none, vectors, numbers = np.zeros(0), np.zeros((0, 3)), np.zeros(0, np.int64)
    shares = SharedMasses(none, numbers, numbers, none, numbers, numbers)
    return Dissipation(
        none,
        none,
        numbers,
        none,
        vectors,
        vectors,
        vectors,
        vectors,
        np.zeros((0, 6)),
        np.zeros((0, 18)),
        shares,
        strain_work([]),
    )


def check_elements(system: Any) -> None:
    """Raise ModelError if a rod element does not provide its strains."""
    for number in np.unique(system.spans.kind):
        if not BY_NUMBER[number].closed:
            raise ModelError(
                f"em-d(rho): the rod element '{BY_NUMBER[number].word}' does not provide its strains; use another element, "
                "such as 'se3', or integrator 'em'"
            )


def dissipation_of(
    system: Any, numbering: Any, rho: float, undamped_frames: Ints | None = None
) -> Dissipation:
    """Build the arrays of a system with the spectral radius rho.

    `undamped_frames`: frames whose velocities are not damped.
    """
    n, mass = len(system.frames.mass), system.frames.mass
    gamma, nu = damping_coefficients(rho)
    gamma_of_frames = np.where((system.frames.fixed == 0) & (mass > 0.0), gamma, 0.0)
    gamma_of_frames[np.zeros(0, np.int64) if undamped_frames is None else undamped_frames] = 0.0
    group = _groups(system)
    k = int(group.max(initial=-1)) + 1
    total: Floats = np.bincount(group[group >= 0], mass[group >= 0], k).astype(float)
    before, after, shift = np.zeros((3, k, 3))
    shares = _shares(system, numbering)
    return Dissipation(
        np.array([gamma, nu]),
        gamma_of_frames,
        group,
        total,
        before,
        after,
        shift,
        np.zeros((n, 3)),
        np.zeros((n, 6)),
        np.zeros((n, 18)),
        shares,
        strain_work(strain_groups(system)),
    )


def _groups(system: Any) -> Ints:
    """Return the connected group of each frame (n,), joined by any interaction.

    The value is -1 for groups connected to the ground, to a prescribed motion or to the surroundings.
    """
    n, acting = len(system.frames.mass), groups_of(system)
    pairs = pairs_of(acting)
    joined = scipy.sparse.coo_matrix((np.ones(len(pairs)), pairs.T), shape=(n, n))
    _, group = scipy.sparse.csgraph.connected_components(joined, directed=False)
    supported = system.frames.fixed != 0
    supported[externally_supported_frames(acting)] = True
    free = ~np.isin(group, group[supported])
    out = np.full(n, -1, np.int64)
    out[free] = np.unique(group[free], return_inverse=True)[1]
    return out


def _shares(system: Any, numbering: Any) -> SharedMasses:
    """Build the mass matrix: diagonal masses, and off-diagonal ones of elements and spans with a consistent mass."""
    n, elements, spans = len(system.frames.mass), system.elements, system.spans
    rows: list[Any] = [np.zeros((0, 4), np.int64)]
    masses: list[Any] = [np.zeros(0)]
    use = np.flatnonzero(elements.coupling)
    for i, j, place in ((0, 1, 1), (1, 0, 2)):
        other = elements.frames[use, j]
        base, stride = numbering.element_base[use, place], numbering.frame_stride[other]
        rows.append(np.stack([elements.frames[use, i], other, base, stride], axis=1))
        masses.append(elements.coupling[use])
    for order in np.unique(spans.order[spans.coupling != 0.0]):
        use, a = np.flatnonzero((spans.order == order) & (spans.coupling != 0.0)), leading(order)
        for i, j in np.argwhere(~np.eye(order + 1, dtype=bool)):
            base, stride = numbering.span_base[use, i, j], numbering.span_stride[use, j]
            rows.append(np.stack([spans.frames[use, i], spans.frames[use, j], base, stride], axis=1))
            masses.append(-spans.coupling[use] * a[i] * a[j])
    table, mass = np.concatenate(rows), np.concatenate(masses)
    order = np.argsort(table[:, 0], kind="stable")
    frame, other, base, stride = (np.ascontiguousarray(column) for column in table[order].T)
    mass = mass[order]
    diagonal = system.frames.mass - np.bincount(frame, mass, n)
    first = np.concatenate([[0], np.cumsum(np.bincount(frame, minlength=n))]).astype(np.int64)
    return SharedMasses(diagonal, first, other, mass, base, stride)


def count_dissipation_rows(system: Any) -> int:
    """Return the number of rows that `em-d` remembers: frames, element and span points, springs and other strain energies.

    See `discretization.assembly.step_dissipation`.
    """
    count = len(system.frames.mass) + system.rods.n_points
    return count + sum(len(group.row) for group in (*strain_groups(system, True), *strain_groups(system)))
