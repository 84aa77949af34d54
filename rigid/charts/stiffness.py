"""Second derivatives of the energies of a chart, interaction by interaction.

An energy acts between its own frames alone: its dual is evaluated once for every coordinate of these, with that
coordinate moved by a complex step, and pulled back. Colours of a whole system would evaluate each interaction for the
coordinates of its neighbours as well, and all that a scheme does besides.
"""

from __future__ import annotations

import numpy as np

from rigid.compilation.decorators import inner_kernel
from rigid.interactions.blocks import is_idle
from rigid.interactions.kinds import COMPLEX_STEP, dual_at, frame, store
from rigid.kinematics.chart_frames import DIRECTORS, DUAL, END, QUATERNION, ROWS, START, ChartFrames
from rigid.kinematics.poses import add_mean_pulled, pose
from rigid.mechanics.mechanical import MechanicalSystem
from rigid.system import Ints


@inner_kernel
def coordinate(F, f, j):
    """Place of coordinate j of frame f: its position, if it moves, then its orientation; -1 where there are no more."""
    at, to = F.each[f].position, F.each[f].orientation
    if at >= 0:
        if j < 3:
            return at + j
        j -= 3
    size = 4 if F.chart == QUATERNION else 9
    return to + j if to >= 0 and j < size else -1


@inner_kernel
def is_curved(kind, F):
    """Whether the kind is an energy whose pulled dual changes with the coordinates."""
    return kind.rows == 0 and not (kind.constant == 1 and F.chart == DIRECTORS)


@inner_kernel
def take_changes(D, own, arity, pulled, at, out):
    """out[at:] = imaginary parts of `pulled` at the coordinates of the frames, over the step; they are cleared."""
    for a in range(arity):
        i = 0
        place = coordinate(D.frames, own.frames[a], 0)
        while place >= 0:
            out[at] = pulled[place].imag / COMPLEX_STEP
            pulled[place] = 0.0
            at += 1
            i += 1
            place = coordinate(D.frames, own.frames[a], i)
    return at


@inner_kernel
def leave_out(D, own, arity, at, out):
    """out[at:] = 0 for all pairs of coordinates of the frames; where the next interaction begins."""
    count = 0
    for a in range(arity):
        i = 0
        while coordinate(D.frames, own.frames[a], i) >= 0:
            i += 1
        count += i
    for k in range(count * count):
        out[at + k] = 0.0
    return at + count * count


@inner_kernel
def fill_energy_tangents(q0, q1, between, D, pulled, out):
    """out = changes of D V(q0, q1) with q1 (between), or of the gradient at q1, in the order of `energy_entries`.

    pulled (n,): scratch.
    """
    S, I = D.scratch, D.interacting
    other = q0 if between else q1
    pulled[:] = 0.0
    at = 0
    for which in range(I.kinds.size):
        kind = I.kinds[which]
        if not is_curved(kind, D.frames):
            continue
        dual = dual_at(kind.dual)
        for e in range(kind.first, kind.last):
            own = I.each[e]
            numbers = I.numbers[own.first : own.last]
            S[ROWS, 0, 0, 0] = 1.0
            for k in range(kind.arity):
                store(pose(other, D.frames, own.frames[k]), S[START], k)
                store(pose(q1, D.frames, own.frames[k]), S[END], k)
            if kind.one_sided != 0:
                dual(S[START], S[END], numbers, S[ROWS, 0, 0], S[DUAL])
                if is_idle(kind, S[DUAL]):
                    at = leave_out(D, own, kind.arity, at, out)
                    continue
            for b in range(kind.arity):
                j = 0
                place = coordinate(D.frames, own.frames[b], 0)
                while place >= 0:
                    q1[place] += 1j * COMPLEX_STEP
                    moved = pose(q1, D.frames, own.frames[b])
                    store(moved, S[END], b)
                    if not between:
                        store(moved, S[START], b)
                    dual(S[START], S[END], numbers, S[ROWS, 0, 0], S[DUAL])
                    for a in range(kind.arity):
                        add_mean_pulled(frame(S[DUAL], a), other, q1, D.frames, own.frames[a], pulled)
                    q1[place] = q1[place].real
                    at = take_changes(D, own, kind.arity, pulled, at, out)
                    j += 1
                    place = coordinate(D.frames, own.frames[b], j)
                store(pose(q1, D.frames, own.frames[b]), S[END], b)
                store(pose(other, D.frames, own.frames[b]), S[START], b)


def energy_entries(system: MechanicalSystem) -> tuple[Ints, Ints]:
    """Rows and columns, coordinates both, of what `fill_energy_tangents` finds; an entry may come more than once."""
    F, I = system.data.frames, system.data.interacting
    rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    of_frame = [_coordinates(F, f) for f in range(len(F.each))]
    for kind in I.kinds:
        for own in I.each[kind.first : kind.last] if is_curved(kind, F) else ():
            places = np.concatenate([of_frame[f] for f in own.frames[: kind.arity]])
            rows.append(np.tile(places, len(places)))
            columns.append(np.repeat(places, len(places)))
    return np.concatenate(rows), np.concatenate(columns)


def _coordinates(F: ChartFrames, f: int) -> Ints:
    """All coordinates of frame f."""
    size = 4 if F.chart == QUATERNION else 9
    at, to = F.each[f].position, F.each[f].orientation
    parts = [np.arange(at, at + 3 if at >= 0 else at), np.arange(to, to + size if to >= 0 else to)]
    return np.concatenate(parts).astype(np.int64)
