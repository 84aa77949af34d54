"""Compute second derivatives of the energies in a chart, interaction by interaction.

An energy depends on its own frames alone: its dual is evaluated once for every coordinate of these frames, with that
coordinate moved by a complex step, and pulled back. Graph colouring of the whole system would also evaluate each interaction
for the coordinates of its neighbours, and all other terms of a scheme.
"""

from __future__ import annotations

import numpy as np

from rigid.compilation.decorators import internal_kernel
from rigid.interactions.blocks import is_idle
from rigid.interactions.kinds import COMPLEX_STEP, dual_at, frame, store
from rigid.kinematics.chart_frames import DIRECTORS, DUAL, END, QUATERNION, ROWS, START, ChartFrames
from rigid.kinematics.poses import add_mean_pulled, pose
from rigid.mechanics.mechanical_system import MechanicalSystem
from rigid.system import Ints


@internal_kernel
def coordinate(F, f, j):
    """Return the index of coordinate j of frame f, position (if any) before orientation; -1 if f has no more than j."""
    at, to = F.entries[f].position, F.entries[f].orientation
    if at >= 0:
        if j < 3:
            return at + j
        j -= 3
    size = 4 if F.chart == QUATERNION else 9
    return to + j if to >= 0 and j < size else -1


@internal_kernel
def is_curved(kind, F):
    """Return True if the kind is an energy whose pulled-back dual changes with the coordinates."""
    return kind.rows == 0 and not (kind.constant == 1 and F.chart == DIRECTORS)


@internal_kernel
def store_derivatives(D, entry, arity, pulled, at, out):
    """Set out[at:] to the imaginary parts of `pulled` at the coordinates of the frames, divided by COMPLEX_STEP.

    These entries of `pulled` are set to 0. Return the offset behind the last entry written.
    """
    for a in range(arity):
        i = 0
        index = coordinate(D.frames, entry.frames[a], 0)
        while index >= 0:
            out[at] = pulled[index].imag / COMPLEX_STEP
            pulled[index] = 0.0
            at += 1
            i += 1
            index = coordinate(D.frames, entry.frames[a], i)
    return at


@internal_kernel
def fill_zeros(D, entry, arity, at, out):
    """Set out[at:] to 0 for all pairs of coordinates of the frames; return the offset of the next interaction."""
    count = 0
    for a in range(arity):
        i = 0
        while coordinate(D.frames, entry.frames[a], i) >= 0:
            i += 1
        count += i
    for k in range(count * count):
        out[at + k] = 0.0
    return at + count * count


@internal_kernel
def fill_energy_tangents(q0, q1, between, D, pulled, out):
    """Set out to derivatives with respect to q1 of the discrete derivative D V(q0, q1), or of the gradient at q1.

    `between`: True for the discrete derivative; `pulled`: (n,) scratch. The entries have the order of `energy_entries`.
    """
    S, I = D.scratch, D.interaction_arrays
    other = q0 if between else q1
    pulled[:] = 0.0
    at = 0
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        if not is_curved(kind, D.frames):
            continue
        dual = dual_at(kind.dual)
        for e in range(kind.first, kind.last):
            entry = I.entries[e]
            numbers = I.numbers[entry.first : entry.last]
            S[ROWS, 0, 0, 0] = 1.0
            for k in range(kind.arity):
                store(pose(other, D.frames, entry.frames[k]), S[START], k)
                store(pose(q1, D.frames, entry.frames[k]), S[END], k)
            if kind.one_sided != 0:
                dual(S[START], S[END], numbers, S[ROWS, 0, 0], S[DUAL])
                if is_idle(kind, S[DUAL]):
                    at = fill_zeros(D, entry, kind.arity, at, out)
                    continue
            for b in range(kind.arity):
                j = 0
                index = coordinate(D.frames, entry.frames[b], 0)
                while index >= 0:
                    q1[index] += 1j * COMPLEX_STEP
                    moved_pose = pose(q1, D.frames, entry.frames[b])
                    store(moved_pose, S[END], b)
                    if not between:
                        store(moved_pose, S[START], b)
                    dual(S[START], S[END], numbers, S[ROWS, 0, 0], S[DUAL])
                    for a in range(kind.arity):
                        add_mean_pulled(frame(S[DUAL], a), other, q1, D.frames, entry.frames[a], pulled)
                    q1[index] = q1[index].real
                    at = store_derivatives(D, entry, kind.arity, pulled, at, out)
                    j += 1
                    index = coordinate(D.frames, entry.frames[b], j)
                store(pose(q1, D.frames, entry.frames[b]), S[END], b)
                store(pose(other, D.frames, entry.frames[b]), S[START], b)


def energy_entries(system: MechanicalSystem) -> tuple[Ints, Ints]:
    """Return rows and columns (coordinates) of the entries of `fill_energy_tangents`; a pair may occur more than once."""
    F, I = system.data.frames, system.data.interaction_arrays
    rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    of_frame = [_coordinates(F, f) for f in range(len(F.entries))]
    for kind in I.kinds:
        for entry in I.entries[kind.first : kind.last] if is_curved(kind, F) else ():
            indices = np.concatenate([of_frame[f] for f in entry.frames[: kind.arity]])
            rows.append(np.tile(indices, len(indices)))
            columns.append(np.repeat(indices, len(indices)))
    return np.concatenate(rows), np.concatenate(columns)


def _coordinates(F: ChartFrames, f: int) -> Ints:
    """Return the indices of all coordinates of frame f."""
    size = 4 if F.chart == QUATERNION else 9
    at, to = F.entries[f].position, F.entries[f].orientation
    parts = [np.arange(at, at + 3 if at >= 0 else at), np.arange(to, to + size if to >= 0 else to)]
    return np.concatenate(parts).astype(np.int64)
