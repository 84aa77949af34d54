"""Update condensed internal variables in a chart at the start and the end of a step; compiled.

The energy record of a time loop (`books`) stores them behind the works of the drives. They are copied from it to the parameters
(`numbers`) of dissipations at the start of a step, and back to it at the end of the step.
"""

import numpy as np

from rigid.charts.interactions import put_poses
from rigid.compilation.decorators import allocating_kernel, internal_kernel
from rigid.interactions.internal_variables import (
    begin_internal_step,
    end_internal_step,
    load_internal_variables,
    update_internal_variables,
)
from rigid.interactions.kinds import COMPLEX_STEP, dual_at, value_at
from rigid.kinematics.chart_frames import DUAL, END, ROWS, START, STEP
from rigid.mechanics.mechanical_system import CONDENSED, MechanicalSystem
from rigid.system import Floats

WORK_DONE, DISSIPATED = 0, 1  # offsets in the energy record `books`


@internal_kernel
def begin_internal_steps(D, h, books):
    """Copy internal variables from `books` and compute the parameters of a step of length h, s.

    Return the energy stored in internal variables that depend on strains alone, J. Those with `update_internal` are not counted.
    """
    I, at, energy = D.dissipating, 2 + D.driven.drives, 0.0
    D.scratch[STEP, 0, 0, 0] = 1.0 / h
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        for e in range(kind.first, kind.last if kind.n_internal > 0 else kind.first):
            internal = books[at : at + kind.n_internal]
            if kind.update_internal != 0:
                load_internal_variables(I, kind, I.entries[e], internal)
            else:
                energy += begin_internal_step(I, kind, I.entries[e], h, internal, D.scratch[ROWS])
            at += kind.n_internal
    return energy


@internal_kernel
def bristle_energy(D, q):
    """Return the energy at q stored in internal variables with `update_internal`, J, read from the parameters."""
    I, S, total = D.dissipating, D.scratch, 0.0
    energy = S[ROWS].reshape(S[ROWS].size)[0:1]
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        for e in range(kind.first, kind.last if kind.update_internal != 0 else kind.first):
            entry, stored_energy = I.entries[e], value_at(kind.stored_energy)
            put_poses(q, D, entry, kind.arity, S[START])
            stored_energy(S[START], I.numbers[entry.first : entry.last], energy)
            total += energy[0].real
    return total


@internal_kernel
def move_to_step_ends(arity, factor, S):
    """Replace poses y at START and their rates z at END by y - factor z and y + factor z."""
    for k in range(arity):
        for i in range(4):
            for j in range(3):
                y, z = S[START, k, i, j], S[END, k, i, j]
                S[START, k, i, j], S[END, k, i, j] = y - factor * z, y + factor * z


@internal_kernel
def _change_of(arity, S):
    """Replace y + i COMPLEX_STEP z at END by z."""
    for k in range(arity):
        for i in range(4):
            for j in range(3):
                S[END, k, i, j] = S[END, k, i, j].imag / COMPLEX_STEP


@internal_kernel
def _dissipated_energy(D, kind, entry, ends):
    """Return the energy that one dissipation takes from the motion between both ends of the step, J."""
    S, I, work = D.scratch, D.dissipating, 0.0
    dual_of_kind = dual_at(kind.dual)
    dual_of_kind(ends[0], ends[1], I.numbers[entry.first : entry.last], S[STEP, 0, 0], S[DUAL])
    for k in range(kind.arity):
        for i in range(4):
            for j in range(3):
                work += (S[DUAL, k, i, j] * (ends[1][k, i, j] - ends[0][k, i, j])).real
    return work


@internal_kernel
def end_internal_steps(D, q0, q1, along, books):
    """Update the internal variables in `books` at the end of the step from q0 to q1; subtract stored energy from dissipation.

    `along`: True if q1 = q0 + i COMPLEX_STEP z and the change along z counts, as in `end_internal_step`.
    """
    I, S, at = D.dissipating, D.scratch, 2 + D.driven.drives
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        for e in range(kind.first, kind.last if kind.n_internal > 0 or kind.works != 0 else kind.first):
            entry, internal = I.entries[e], books[at : at + kind.n_internal]
            put_poses(q0, D, entry, kind.arity, S[START])
            put_poses(q1, D, entry, kind.arity, S[END])
            ends = S[START], S[END]
            if kind.update_internal != 0 or kind.works != 0:
                if along:
                    _change_of(kind.arity, S)
                    move_to_step_ends(kind.arity, 0.5, S)
                dissipated = _dissipated_energy(D, kind, entry, ends) if kind.works != 0 else 0.0
                gained = 0.0
                if kind.update_internal != 0:
                    gained = update_internal_variables(I, kind, entry, ends, S[STEP, 0, 0], internal, S[ROWS])
                if kind.lost != 0:
                    X, loss_of_kind = I.numbers[entry.first : entry.last], dual_at(kind.lost)
                    loss_of_kind(ends[0], ends[1], X, S[STEP, 0, 0], S[DUAL])
                    dissipated -= S[DUAL, 0, 0, 0].real
                if kind.works != 0:  # `dissipated` was added to the dissipation with all other dissipations
                    books[DISSIPATED] -= dissipated
                    books[WORK_DONE] += gained - dissipated
                else:
                    books[DISSIPATED] -= gained
            else:
                books[DISSIPATED] -= end_internal_step(I, kind, entry, ends, along, internal, S[ROWS])
            at += kind.n_internal


@allocating_kernel
def _begin_rows(D, h, books, q, out):
    """Set out[k], J, to the energy stored in the internal variables of row k of `books` at q[k]."""
    for k in range(books.shape[0]):
        out[k] = begin_internal_steps(D, h, books[k])
        out[k] += bristle_energy(D, q[k])


def stored_energies(system: MechanicalSystem, books: Floats, q: Floats, h: float = 1.0) -> Floats:
    """Return the energies stored in condensed internal variables, (N,) J, for rows `books` (N, :) and coordinates q (N, n).

    Each row of `books` has the layout of `MechanicalSystem.books`. The internal variables among the parameters are restored;
    parameters derived from them keep their values for a step of length h, s.
    """
    out = np.zeros(len(books))
    if system.has(CONDENSED):
        saved = system.data.dissipating.numbers[system.condensed]
        _begin_rows(system.data, h, np.ascontiguousarray(books), np.ascontiguousarray(q, complex), out)
        system.data.dissipating.numbers[system.condensed] = saved
    return out
