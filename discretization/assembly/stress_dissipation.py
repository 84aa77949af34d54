"""Add the dissipation of `em-d(rho)` to strain energies assembled from their duals: bushings, springs with laws, limits.

With C the tangent stiffness at the start of a step and F F^T = C, an interaction has the stress

    gamma F (F^T de - z0),   z1 = z0 + nu (F^T de - z0)                                                     (1)

in addition, on the discrete derivative of its strains e; gamma, nu are those of
`discretization.assembly.step_dissipation`. If C is constant, z = F^T e~ and the stress is gamma C (de - e~). If C changes, an
energy gamma/(2 nu) e~ . C e~ of remembered strains would change with it, although no work is done. Therefore z is remembered,
whose square is an energy: for any F of each step,

    de . gamma F (F^T de - z0) = gamma/(2 nu) (|z1|^2 - |z0|^2) + gamma (1 - nu/2) |F^T de - z0|^2          (2)

exactly, the changes of Y and D. F is the Cholesky factor of C without its non-positive pivots: a softening law has none, and
neither has a stop that is not reached, where z decays by itself. F^T de - z is of second order if C changes smoothly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.assembly.generic_assembly import add_column_of, add_forces_of, write_end_poses
from discretization.integrator_memory import WIDTH
from discretization.interaction_groups import Role, groups_of
from rigid.compilation.decorators import address_of, inline_kernel, internal_kernel
from rigid.interactions.blocks import move_along, move_back
from rigid.interactions.kinds import (
    COMPLEX_STEP,
    MAX_FRAMES,
    MAX_STRAINS,
    Group,
    dual_at,
    pack_groups,
    stress_at,
    value_at,
)
from rigid.system import Floats

_POSITIVE = 1e-12  # fraction of a diagonal entry of C: a smaller pivot is round-off of zero

HAS_STRAIN = np.dtype(
    [
        *((name, np.int64) for name in ("strains", "dual", "law", "arity", "count", "first", "last")),
        ("period", np.float64),
    ],
    align=True,
)  # function addresses of a kind; its interactions are first .. last - 1


class StrainWork(NamedTuple):
    """Interactions with strains, kind by kind, and scratch arrays for one interaction."""

    kinds: Any  # (k,) records of type HAS_STRAIN
    entries: Any  # (e,) entries of `pack_groups`; `row` is the number in `System.others`
    numbers: Floats
    root: Floats  # (e, MAX_STRAINS, MAX_STRAINS) factor F of the step
    strain0: Floats  # (e, MAX_STRAINS) strains at the start of the step
    strain: np.ndarray  # (MAX_STRAINS,) complex scratch
    stress: np.ndarray  # (MAX_STRAINS,) complex scratch
    start: np.ndarray  # (MAX_FRAMES, 4, 3) complex poses at the start; `end`, `dual`: same shape
    end: np.ndarray
    dual: np.ndarray


def strain_groups(system: Any, in_loops: bool = False) -> list[Group]:
    """Return the energies that declare their strains, grouped by kind.

    `in_loops`: True for those with a closed form in a loop of `em`, False for those assembled from their duals.
    """
    acting = [entry.group for entry in groups_of(system, None, Role.ENERGY) if entry.table == "others"]
    return [
        group
        for group in acting
        if group.kind.strain_energy is not None and bool(group.kind.loop) == in_loops
    ]


def strain_work(groups: list[Group]) -> StrainWork:
    """Allocate the arrays of these groups."""
    arrays = pack_groups(groups)
    kinds = np.zeros(len(groups), HAS_STRAIN)
    for k, group in enumerate(groups):
        strain_energy, kind = group.kind.strain_energy, arrays.kinds[k]
        assert strain_energy is not None
        addresses = (address_of(f) for f in (strain_energy.strains, strain_energy.dual, strain_energy.law))
        kinds[k] = (
            *addresses,
            group.kind.arity,
            strain_energy.count,
            kind.first,
            kind.last,
            strain_energy.period,
        )
    count = len(arrays.entries)
    start, end, dual = (np.zeros((MAX_FRAMES, 4, 3), complex) for _ in range(3))
    strain, stress = np.zeros((2, MAX_STRAINS), complex)
    return StrainWork(
        kinds.view(np.recarray),
        arrays.entries,
        arrays.numbers,
        np.zeros((count, MAX_STRAINS, MAX_STRAINS)),
        np.zeros((count, MAX_STRAINS)),
        strain,
        stress,
        start,
        end,
        dual,
    )


@internal_kernel
def strain_memory_offset(state, strained, e):
    """Return the offset of z of interaction e in `State.memory`; these are the last rows, before Y and D."""
    return state.memory.shape[0] - 2 - WIDTH * (strained.entries.size - e)


@inline_kernel
def factorise(A, n):
    """Replace A (n, n) by its Cholesky factor F, F F^T = A, on and below the diagonal; non-positive pivots give zero columns."""
    for j in range(n):
        pivot = A[j, j]
        for k in range(j):
            pivot -= A[j, k] * A[j, k]
        root = np.sqrt(pivot) if pivot > _POSITIVE * abs(A[j, j]) else 0.0
        for i in range(j + 1, n):
            x = A[i, j]
            for k in range(j):
                x -= A[i, k] * A[j, k]
            A[i, j] = x / root if root > 0.0 else 0.0
        A[j, j] = root


@internal_kernel
def begin_strains(state, work):
    """Compute strains at the start of the step, and F from the tangent stiffness there."""
    strained = work.dissipation.strained
    for which in range(strained.kinds.size):
        kind = strained.kinds[which]
        n, strains, law = kind.count, value_at(kind.strains), stress_at(kind.law)
        for e in range(kind.first, kind.last):
            entry, F = strained.entries[e], strained.root[e]
            X = strained.numbers[entry.first : entry.last]
            write_end_poses(strained, entry, kind.arity, state.r, work)
            strains(strained.start, X, strained.strain)
            for i in range(n):
                strained.strain0[e, i] = strained.strain[i].real
            for j in range(n):
                strained.strain[j] += COMPLEX_STEP * 1j
                law(strained.strain, X, strained.stress)
                strained.strain[j] = strained.strain[j].real
                for i in range(n):
                    F[i, j] = strained.stress[i].imag / COMPLEX_STEP
            factorise(F, n)


@inline_kernel
def _excess(strained, kind, e, j, z):
    """Return component j of F^T de - z0 for the end strains `strained.strain`; de is wrapped if the strain has a period."""
    component = 0j - z[j]
    for i in range(j, kind.count):
        change = strained.strain[i] - strained.strain0[e, i]
        if kind.period > 0.0:
            change -= kind.period * np.round(change.real / kind.period)
        component += strained.root[e, i, j] * change
    return component


@internal_kernel
def _put_dual(strained, kind, e, X, gamma, z):
    """Compute the dual of the stress (1) for the poses at both ends of the step."""
    strains, dual = value_at(kind.strains), dual_at(kind.dual)
    strains(strained.end, X, strained.strain)
    for i in range(kind.count):
        strained.stress[i] = 0j
    for j in range(kind.count):
        excess = gamma * _excess(strained, kind, e, j, z)
        for i in range(j, kind.count):
            strained.stress[i] += strained.root[e, i, j] * excess
    dual(strained.start, strained.end, X, strained.stress, strained.dual)


@internal_kernel
def add_stresses(numbering, state, work, h, tangent):
    """Add the forces of (1) to the residual and, if `tangent`, their derivatives to the matrix."""
    strained, gamma = work.dissipation.strained, work.dissipation.law[0]
    for which in range(strained.kinds.size):
        kind = strained.kinds[which]
        for e in range(kind.first, kind.last):
            entry, at = strained.entries[e], strain_memory_offset(state, strained, e)
            z = state.memory[at : at + WIDTH]
            X = strained.numbers[entry.first : entry.last]
            write_end_poses(strained, entry, kind.arity, state.r, work)
            _put_dual(strained, kind, e, X, gamma, z)
            add_forces_of(strained, entry, kind.arity, numbering, h, work.residual)
            for k in range(kind.arity if tangent else 0):
                for j in range(6):
                    move_along(strained.end, k, j)
                    _put_dual(strained, kind, e, X, gamma, z)
                    base = numbering.other_base[entry.row]
                    add_column_of(strained, base, entry, kind.arity, numbering, h, k, j, work.values)
                    move_back(strained.end, k)


@internal_kernel
def end_stresses(state, work):
    """Update z at the end of the step; return D and Y of (2), J."""
    strained, gamma, nu = work.dissipation.strained, work.dissipation.law[0], work.dissipation.law[1]
    dissipated, stored = 0.0, 0.0
    for which in range(strained.kinds.size):
        kind = strained.kinds[which]
        strains = value_at(kind.strains)
        for e in range(kind.first, kind.last):
            entry, at = strained.entries[e], strain_memory_offset(state, strained, e)
            z = state.memory[at : at + WIDTH]
            write_end_poses(strained, entry, kind.arity, state.r, work)
            strains(strained.end, strained.numbers[entry.first : entry.last], strained.strain)
            for j in range(kind.count):
                excess = _excess(strained, kind, e, j, z).real
                z[j] += nu * excess
                dissipated += gamma * (1.0 - 0.5 * nu) * excess * excess
                stored += 0.5 * gamma / nu * z[j] * z[j]
    return dissipated, stored
