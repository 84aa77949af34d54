"""What has no closed form in a Cayley energy-momentum step goes by its duals alone: constraints, energies, dissipations.

With y0, y1 the poses at both ends, the impulses are the dual between them, pulled back to a force and the torque
sum_k dbar_k x f_k; rows of the matrix are the duals at the end, columns those between the ends, for unit multipliers.
The tangent of the impulses is taken by complex steps along dr and eta of every frame, d_k1 -> d_k1 + i eps eta x d_k1.
Energies have one dual, their discrete force; dissipations one of the change over the step, with lam = 1/h.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.others import Others, dissipates, groups_of
from discretization.space.closed_spans import FORCE
from rigid.compilation import inner_kernel, small_kernel
from rigid.interactions.constraints import CONSTRAINTS
from rigid.interactions.kinds import (
    COMPLEX_STEP,
    MOST_FRAMES,
    MOST_ROWS,
    Group,
    dual_at,
    frame,
    gathered,
    of_columns,
    value_at,
)
from rigid.poses import mean_pose, torque_of
from rigid.system import Constraints

EPS = 2.220446049250313e-16


class ByDuals(NamedTuple):
    """The constraints that go by their duals, and room for one."""

    interacting: Any  # `Interacting`; the row of one is its number among all constraints
    at_end: (
        np.ndarray
    )  # its numbers at the end of the step: others, where a constraint is driven, than their means
    rates: np.ndarray  # the same of the rates of what is driven
    start: np.ndarray  # poses (MOST_FRAMES, 4, 3) complex
    end: np.ndarray
    dual: np.ndarray
    lam: np.ndarray  # (MOST_ROWS,) complex
    g: np.ndarray  # (MOST_ROWS,) complex


def by_duals(constraints: Constraints, which: np.ndarray) -> ByDuals:
    """Those constraints `which` (c,)."""
    groups = []
    for number, kind in enumerate(CONSTRAINTS):
        use = np.flatnonzero(which & (constraints.kind == number))
        if len(use):
            groups.append(of_columns(kind, constraints, use, use))
    start, end, dual = (np.zeros((MOST_FRAMES, 4, 3), complex) for _ in range(3))
    lam, g = np.zeros((2, MOST_ROWS), complex)
    interacting = gathered(groups)
    at_end, rates = interacting.numbers.copy(), interacting.numbers.copy()
    return ByDuals(interacting, at_end, rates, start, end, dual, lam, g)


@small_kernel
def _put(r, R, a, f, y, k):
    """Pose of frame f, from the place of frame a, as frame k of an interaction."""
    for i in range(3):
        y[k, 0, i] = r[f, i] - r[a, i]
        for j in range(3):
            y[k, 1 + j, i] = R[f, i, j]


@small_kernel
def step_along(y, k, j):
    """An imaginary step of frame k along coordinate j of (dr, eta)."""
    if j < 3:
        y[k, 0, j] += COMPLEX_STEP * 1j
        return
    p, q = (j - 2) % 3, (j - 1) % 3  # e_j x e_p = e_q
    for i in range(1, 4):
        d_p, d_q = y[k, i, p], y[k, i, q]
        y[k, i, q] += COMPLEX_STEP * 1j * d_p
        y[k, i, p] -= COMPLEX_STEP * 1j * d_q


@small_kernel
def step_back(y, k):
    """Pose of frame k without its imaginary step."""
    for i in range(4):
        for l in range(3):
            y[k, i, l] = y[k, i, l].real


@small_kernel
def _pulled(dual, y0, y1, k):
    """Force and torque on frame k in the mean of two poses."""
    f = frame(dual, k)
    return f[0], torque_of(f, mean_pose(frame(y0, k), frame(y1, k)))


@small_kernel
def _add_pulled(dual, y0, y1, k, out, at, stride):
    """out[at + i stride] += force and torque on frame k."""
    force, torque = _pulled(dual, y0, y1, k)
    for i in range(3):
        out[at + i * stride] += force[i].real
        out[at + (3 + i) * stride] += torque[i].real


@inner_kernel
def add_constraints_by_duals(system, numbering, state, work, tangent):
    """Residual and, on demand, matrix."""
    own, values = work.by_duals, work.values
    interacting, y0, y1, dual, lam = own.interacting, own.start, own.end, own.dual, own.lam
    for which in range(interacting.kinds.size):
        kind = interacting.kinds[which]
        value_of_kind, dual_of_kind = value_at(kind.value), dual_at(kind.dual)
        for e in range(kind.first, kind.last):
            entry = interacting.each[e]
            X, c = interacting.numbers[entry.first : entry.last], entry.row
            X1 = own.at_end[entry.first : entry.last]
            row, scale, a = numbering.row[c], work.scale[c], entry.frames[0]
            for k in range(2):
                _put(state.r, work.R0, a, entry.frames[k], y0, k)
                _put(work.r1, work.R1, a, entry.frames[k], y1, k)
            value_of_kind(y1, X1, own.g)
            for i in range(kind.rows):
                work.residual[row + i] += scale * own.g[i].real
                lam[i] = scale * work.lam[numbering.lam[c] + i]
            dual_of_kind(y0, y1, X, lam, dual)
            for k in range(2):
                _add_pulled(dual, y0, y1, k, work.residual, numbering.frame[entry.frames[k]], 1)
            if not tangent:
                continue
            base = numbering.constraint_base[c]
            for k in range(2):
                f = entry.frames[k]
                stride = numbering.frame_stride[f]
                for j in range(6):
                    step_along(y1, k, j)
                    dual_of_kind(y0, y1, X, lam, dual)
                    for l in range(2):
                        force, torque = _pulled(dual, y0, y1, l)
                        at = base[2 * l + k] + j * stride
                        for i in range(3):
                            values[at + i] += force[i].imag / COMPLEX_STEP
                            values[at + 3 + i] += torque[i].imag / COMPLEX_STEP
                    _put(work.r1, work.R1, a, f, y1, k)
            for i in range(kind.rows):
                for j in range(kind.rows):
                    lam[j] = scale if j == i else 0.0
                dual_of_kind(y0, y1, X, lam, dual)
                for k in range(2):
                    _add_pulled(dual, y0, y1, k, values, base[4 + k] + i * numbering.row_stride[c], 1)
                dual_of_kind(y1, y1, X1, lam, dual)
                for k in range(2):
                    stride = numbering.frame_stride[entry.frames[k]]
                    _add_pulled(dual, y1, y1, k, values, base[6 + k] + i, stride)


class EnergyDuals(NamedTuple):
    """Energies, and dissipations between the same frames, of interactions that are told apart by their row."""

    energies: Any  # `Interacting`
    dissipations: Any
    kind: (
        np.ndarray
    )  # (e, 2) kind of interaction e among the energies and among the dissipations, -1: it has none
    place: np.ndarray  # (e, 2) its place among all of them
    start: np.ndarray  # poses (MOST_FRAMES, 4, 3) complex
    end: np.ndarray
    dual: np.ndarray
    lam: np.ndarray  # (1,) complex


def energy_duals(energies: list[Group], dissipations: list[Group], count: int) -> EnergyDuals:
    """Of interactions 0 .. count - 1."""
    kind, place = np.full((2, count, 2), -1, np.int64)
    both = [gathered(energies), gathered(dissipations)]
    for column, interacting in enumerate(both):
        for which in range(len(interacting.kinds)):
            own = np.arange(interacting.kinds[which].first, interacting.kinds[which].last)
            rows = interacting.each.row[own]
            kind[rows, column], place[rows, column] = which, own
    start, end, dual = (np.zeros((MOST_FRAMES, 4, 3), complex) for _ in range(3))
    return EnergyDuals(both[0], both[1], kind, place, start, end, dual, np.zeros(1, complex))


@inner_kernel
def fill_by_duals(own, r, work, e, h, tangent, K):
    """Forces of interaction e and, on demand, their derivatives, as `discretization.space.closed_spans` wants them."""
    rows = K.shape[1]
    for i in range(rows if tangent else 0):
        for j in range(rows):
            K[i, j] = 0.0
    for j in range(rows):
        K[FORCE, j] = 0.0
    _add_by_duals(own.energies, own, 0, 1.0, r, work, e, tangent, K)
    if own.kind[e, 1] >= 0:
        _add_by_duals(own.dissipations, own, 1, 1.0 / h, r, work, e, tangent, K)


@inner_kernel
def put_ends(own, entry, arity, r, work):
    """Poses of the frames of an interaction at both ends of the step, from the place of the first at the start."""
    first = entry.frames[0]
    for k in range(arity):
        f = entry.frames[k]
        _put(r, work.R0, first, f, own.start, k)
        _put(r, work.R1, first, f, own.end, k)
        for i in range(3):
            own.end[k, 0, i] += work.dr[f, i]


@inner_kernel
def _add_by_duals(interacting, own, column, factor, r, work, e, tangent, K):
    y0, y1, dual, lam = own.start, own.end, own.dual, own.lam
    kind, entry = interacting.kinds[own.kind[e, column]], interacting.each[own.place[e, column]]
    dual_of_kind, X = dual_at(kind.dual), interacting.numbers[entry.first : entry.last]
    lam[0] = factor
    put_ends(own, entry, kind.arity, r, work)
    dual_of_kind(y0, y1, X, lam, dual)
    for k in range(kind.arity):
        _add_pulled(dual, y0, y1, k, K[FORCE], 6 * k, 1)
    for k in range(kind.arity if tangent else 0):
        for j in range(6):
            step_along(y1, k, j)
            dual_of_kind(y0, y1, X, lam, dual)
            for l in range(kind.arity):
                force, torque = _pulled(dual, y0, y1, l)
                for i in range(3):
                    K[6 * k + j, 6 * l + i] += force[i].imag / COMPLEX_STEP
                    K[6 * k + j, 6 * l + 3 + i] += torque[i].imag / COMPLEX_STEP
            step_back(y1, k)


@small_kernel
def _work(dual, y0, y1, arity):
    """dual . (y1 - y0)."""
    done = 0.0
    for k in range(arity):
        for i in range(4):
            for l in range(3):
                done += (dual[k, i, l] * (y1[k, i, l] - y0[k, i, l])).real
    return done


@inner_kernel
def lost_by_duals(own, r, work, e, h):
    """What interaction e has dissipated in the step, J."""
    interacting, which = own.dissipations, own.kind[e, 1]
    if which < 0:
        return 0.0
    kind, entry = interacting.kinds[which], interacting.each[own.place[e, 1]]
    dual_of_kind = dual_at(kind.dual)
    own.lam[0] = 1.0 / h
    put_ends(own, entry, kind.arity, r, work)
    dual_of_kind(own.start, own.end, interacting.numbers[entry.first : entry.last], own.lam, own.dual)
    return _work(own.dual, own.start, own.end, kind.arity)


DISSIPATES, WORKS = 1, 2


class OtherWork(NamedTuple):
    """Interactions of `discretization.others`, whose row is their number there, and room for one."""

    interacting: Any  # `Interacting`
    dissipates: np.ndarray  # (kinds,) uint8: DISSIPATES, WORKS; 0: has an energy
    start: np.ndarray  # poses (MOST_FRAMES, 4, 3) complex
    end: np.ndarray
    dual: np.ndarray
    lam: np.ndarray  # (1,) complex


def other_work(own: Others) -> OtherWork:
    """Allocate."""
    groups = groups_of(own, np.arange(len(own.kind)))
    lossy = np.array([DISSIPATES * dissipates(e.kind) + WORKS * e.kind.works for e in groups], np.uint8)
    start, end, dual = (np.zeros((MOST_FRAMES, 4, 3), complex) for _ in range(3))
    return OtherWork(gathered(groups), lossy, start, end, dual, np.zeros(1, complex))


@inner_kernel
def add_other_noise(system, numbering, work, h):
    """Round-off of their forces."""
    own = system.others
    for e in range(own.kind.size):
        for k in range(MOST_FRAMES):
            if own.frames[e, k] >= 0:
                at = numbering.frame[own.frames[e, k]]
                for i in range(3):
                    work.noise[at + i] += EPS * abs(h) * own.size[e, 0]
                    work.noise[at + 3 + i] += EPS * abs(h) * own.size[e, 1]


@inner_kernel
def add_forces_of(own, entry, arity, numbering, h, residual):
    """h times the dual of one interaction, on its frames."""
    for k in range(arity):
        force, torque = _pulled(own.dual, own.start, own.end, k)
        at = numbering.frame[entry.frames[k]]
        for i in range(3):
            residual[at + i] += h * force[i].real
            residual[at + 3 + i] += h * torque[i].real


@inner_kernel
def add_column_of(own, entry, arity, numbering, h, k, j, values):
    """Its derivative along coordinate j of frame k, from the imaginary parts."""
    stride = numbering.frame_stride[entry.frames[k]]
    for l in range(arity):
        force, torque = _pulled(own.dual, own.start, own.end, l)
        at = numbering.other_base[entry.row, l, k] + j * stride
        for i in range(3):
            values[at + i] += h * force[i].imag / COMPLEX_STEP
            values[at + 3 + i] += h * torque[i].imag / COMPLEX_STEP


@inner_kernel
def add_others(system, numbering, state, work, h, tangent):
    """Residual and, on demand, matrix."""
    own = work.others
    interacting, y0, y1, dual, lam = own.interacting, own.start, own.end, own.dual, own.lam
    for which in range(interacting.kinds.size):
        kind = interacting.kinds[which]
        dual_of_kind = dual_at(kind.dual)
        lam[0] = 1.0 / h if own.dissipates[which] == DISSIPATES else 1.0
        for e in range(kind.first, kind.last):
            entry = interacting.each[e]
            X = interacting.numbers[entry.first : entry.last]
            put_ends(own, entry, kind.arity, state.r, work)
            dual_of_kind(y0, y1, X, lam, dual)
            add_forces_of(own, entry, kind.arity, numbering, h, work.residual)
            for k in range(kind.arity if tangent else 0):
                for j in range(6):
                    step_along(y1, k, j)
                    dual_of_kind(y0, y1, X, lam, dual)
                    add_column_of(own, entry, kind.arity, numbering, h, k, j, work.values)
                    step_back(y1, k)


@inner_kernel
def others_take(what, system, state, work, h):
    """What those that dissipate, or those that do work, have taken from the energy in the step, J."""
    own, lost = work.others, 0.0
    interacting = own.interacting
    own.lam[0] = 1.0 / h if what == DISSIPATES else 1.0
    for which in range(interacting.kinds.size):
        if own.dissipates[which] != what:
            continue
        kind = interacting.kinds[which]
        dual_of_kind = dual_at(kind.dual)
        for e in range(kind.first, kind.last):
            entry = interacting.each[e]
            put_ends(own, entry, kind.arity, state.r, work)
            dual_of_kind(own.start, own.end, interacting.numbers[entry.first : entry.last], own.lam, own.dual)
            lost += _work(own.dual, own.start, own.end, kind.arity)
    return lost
