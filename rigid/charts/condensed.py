"""Condensed own variables in a chart, compiled: they stand in the books of a march, behind the works of the drives, from which
they come among the numbers of dissipations at the start of a step, and to which they go at its end.
"""

import numpy as np

from rigid.charts.interactions import put_poses
from rigid.compilation.decorators import allocating_kernel, inner_kernel
from rigid.interactions.condensed import begin_condensed, end_condensed
from rigid.kinematics.chart_frames import END, ROWS, START
from rigid.mechanics.mechanical import CONDENSED, MechanicalSystem
from rigid.system import Floats

DISSIPATED = 1  # place in the books


@inner_kernel
def begin_all(D, h, books):
    """Numbers of a step of length h; the energy that is kept."""
    I, at, kept = D.dissipating, 2 + D.driven.drives, 0.0
    for which in range(I.kinds.size):
        kind = I.kinds[which]
        for e in range(kind.first, kind.last if kind.begin != 0 else kind.first):
            own = books[at : at + kind.own]
            kept += begin_condensed(I, kind, I.each[e], h, own, D.scratch[ROWS])
            at += kind.own
    return kept


@inner_kernel
def end_all(D, q0, q1, along, books):
    """The end of the step from q0 to q1, or along q1 - q0 at q0 as `end_condensed` says; what is kept is not dissipated."""
    I, S, at = D.dissipating, D.scratch, 2 + D.driven.drives
    for which in range(I.kinds.size):
        kind = I.kinds[which]
        for e in range(kind.first, kind.last if kind.begin != 0 else kind.first):
            entry, own = I.each[e], books[at : at + kind.own]
            put_poses(q0, D, entry, kind.arity, S[START])
            put_poses(q1, D, entry, kind.arity, S[END])
            ends = S[START], S[END]
            books[DISSIPATED] -= end_condensed(I, kind, entry, ends, along, own, S[ROWS])
            at += kind.own


@allocating_kernel
def _begin_rows(D, h, books, out):
    for k in range(books.shape[0]):
        out[k] = begin_all(D, h, books[k])


def kept_energies(system: MechanicalSystem, books: Floats, h: float = 1.0) -> Floats:
    """(N,) J, in condensed own variables of rows (N, :) as `MechanicalSystem.books`; the numbers that follow from these are
    left as in a step of length h, s.
    """
    out = np.zeros(len(books))
    if system.has(CONDENSED):
        kept = system.data.dissipating.numbers[system.condensed]
        _begin_rows(system.data, h, np.ascontiguousarray(books), out)
        system.data.dissipating.numbers[system.condensed] = kept
    return out
