"""Compute forces of a step and their derivatives to both of its ends and to the numbers, for all interactions of a group at once.

With poses y0, y1 at both ends of a step, ybar their mean, a dual f(y0, y1) is pulled back to

    F = (force f_0, torque sum_k dbar_k x f_k)     of every frame                                                   (1)

and is differentiated in the displacement dr and the spatial rotation eta of every frame,
d_k -> d_k + eta x d_k, by complex steps:

    end = dF/d(dr, eta)_1,   start = dF/d(dr, eta)_0,   numbers = dF/dX                                             (2)

A discrete derivative is symmetric in its ends, f(y0, y1) = f(y1, y0), a dissipation is odd, f(y0, y1; 1/h) = f(y1, y0; -1/h): so
`start` is `end` of the call with the ends exchanged, at -h. Two quantities of a step do not follow from the poses: the internal
variables of a branch that relaxes, and the revolutions that an angle has counted. They are among the numbers, with their values
at the start of the step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rigid import quaternions
from rigid.compilation.decorators import allocating_kernel, inline_kernel
from rigid.errors import ModelError
from rigid.interactions.evaluation import check_frames
from rigid.interactions.kinds import (
    COMPLEX_STEP,
    MAX_FRAMES,
    Group,
    dual_at,
    dual_of_complex_at,
    frame,
    pack_groups,
    pack_groups_for_complex_numbers,
    value_of_complex_at,
)
from rigid.kinematics.poses import mean_pose, torque_of
from rigid.linear_algebra import load3
from rigid.system import Floats, State


class Blocks(NamedTuple):
    """Forces of k interactions between `arity` frames, and their derivatives (2).

    [e, a, i, b, j] is the derivative of force i on frame a to coordinate j of frame b.
    """

    force: Floats  # (k, arity, 6) forces and torques (1), N, N m
    end: Floats  # (k, arity, 6, arity, 6) derivatives to the end
    start: Floats  # (k, arity, 6, arity, 6) derivatives to the start


def blocks(group: Group, start: State, end: State, lam: Floats | float = 1.0) -> Blocks:
    """Return the forces of a group over a step between two states, and their derivatives to both ends.

    Parameters: `lam`: multipliers (k, rows) of constraints; of dissipations 1/h, 1/s; of energies 1. Of the states only the
    poses are read. Raises ModelError if they have fewer frames than the group.
    """
    poses, multipliers = _poses(group, start, end), _multipliers(group, lam)
    k, a = len(group.frames), group.kind.arity
    out = Blocks(np.zeros((k, a, 6)), np.zeros((k, a, 6, a, 6)), np.zeros((k, a, 6, a, 6)))
    if k:
        _fill(pack_groups([group]), *poses, multipliers, out.force, out.end, out.start)
    return out


def number_blocks(group: Group, start: State, end: State, lam: Floats | float = 1.0) -> Floats:
    """Return the derivatives (k, arity, 6, w) of the forces (1) to the w numbers of each interaction.

    The arguments are those of `blocks`.
    """
    poses, multipliers = _poses(group, start, end), _multipliers(group, lam)
    out = np.zeros((len(group.frames), group.kind.arity, 6, group.numbers.shape[1]))
    if out.size:
        _fill_numbers(pack_groups_for_complex_numbers([group], "dual"), *poses, multipliers, out)
    return out


def value_numbers(group: Group, state: State) -> Floats:
    """Return the derivatives (k, max(rows, 1), w) of V or g to the w numbers of each interaction."""
    r, R = _poses_of(group, state)
    rows = max(group.kind.rows, 1)
    out = np.zeros((len(group.frames), rows, group.numbers.shape[1]))
    if out.size:
        _fill_values(pack_groups_for_complex_numbers([group], "value"), r, R, np.zeros(rows, complex), out)
    return out


def _poses(group: Group, start: State, end: State) -> tuple[Floats, Floats, Floats, Floats]:
    """Return positions r (n, 3) and rotation matrices R (n, 3, 3) at both ends."""
    return *_poses_of(group, start), *_poses_of(group, end)


def _poses_of(group: Group, state: State) -> tuple[Floats, Floats]:
    """Return positions r (n, 3) and rotation matrices R (n, 3, 3) of a state; raise ModelError if shapes do not fit."""
    n = len(state.r)
    if state.r.shape != (n, 3) or state.quat.shape != (n, 4):
        raise ModelError(
            f"State.r has shape {state.r.shape}, State.quat {state.quat.shape}; give (n, 3) and (n, 4)"
        )
    check_frames([group], n)
    return np.ascontiguousarray(state.r, float), np.ascontiguousarray(quaternions.to_matrix(state.quat))


def _multipliers(group: Group, lam: Floats | float) -> Any:
    """Return the multipliers (k, max(rows, 1)), complex."""
    shape = len(group.frames), max(group.kind.rows, 1)
    if np.ndim(lam) and np.shape(lam) != shape:
        raise ModelError(f"{group.kind.name}: lam has shape {np.shape(lam)}; give {shape}, or one number")
    return np.broadcast_to(np.asarray(lam, complex), shape).copy()


@inline_kernel
def put_pose(r, R, f, origin, y, k):
    """Write the pose of frame f as that of frame k of an interaction, relative to the position `origin`.

    So no digits are lost far from zero.
    """
    for i in range(3):
        y[k, 0, i] = r[f, i] - origin[i]
        for j in range(3):
            y[k, 1 + j, i] = R[f, i, j]


@inline_kernel
def add_change(y, z, k, j, step):
    """Add `step` times the change of the pose y_k along coordinate j of (dr, eta) to z_k; z may be y."""
    if j < 3:
        z[k, 0, j] += step
        return
    p, q = (j - 2) % 3, (j - 1) % 3  # e_j x e_p = e_q
    for i in range(1, 4):
        d_p, d_q = y[k, i, p], y[k, i, q]
        z[k, i, q] += step * d_p
        z[k, i, p] -= step * d_q


@inline_kernel
def move_along(y, k, j):
    """Add an imaginary step along coordinate j of (dr, eta) to the pose of frame k."""
    add_change(y, y, k, j, COMPLEX_STEP * 1j)


@inline_kernel
def move_back(y, k):
    """Remove the imaginary step from the pose of frame k."""
    for i in range(4):
        for l in range(3):
            y[k, i, l] = y[k, i, l].real


@inline_kernel
def pulled(dual, y0, y1, k):
    """Return force and torque (1) of frame k."""
    f = frame(dual, k)
    return f[0], torque_of(f, mean_pose(frame(y0, k), frame(y1, k)))


@inline_kernel
def put_imaginary(dual, y0, y1, arity, K, row):
    """Write the imaginary parts of forces and torques of all frames, over the complex step, into a row of K."""
    for k in range(arity):
        force, torque = pulled(dual, y0, y1, k)
        for i in range(3):
            K[row, 6 * k + i] = force[i].imag / COMPLEX_STEP
            K[row, 6 * k + 3 + i] = torque[i].imag / COMPLEX_STEP


@inline_kernel
def is_idle(kind, dual):
    """Return True if the kind is one-sided and does not act: its dual is zero, and so is its tangent."""
    if kind.one_sided == 0:
        return False
    for k in range(kind.arity):
        for j in range(4):
            for i in range(3):
                if dual[k, j, i] != 0.0:
                    return False
    return True


@inline_kernel
def _put_ends(entry, arity, r0, R0, r1, R1, y0, y1):
    """Write the poses of all frames of one interaction at both ends, relative to the first frame at the start."""
    origin = load3(r0[entry.frames[0]])
    for k in range(arity):
        put_pose(r0, R0, entry.frames[k], origin, y0, k)
        put_pose(r1, R1, entry.frames[k], origin, y1, k)


@inline_kernel
def _store_column(dual, y0, y1, arity, b, j, out):
    """Write the imaginary parts of (1), over the step, into out[:, :, b, j]."""
    for a in range(arity):
        force, torque = pulled(dual, y0, y1, a)
        for i in range(3):
            out[a, i, b, j] = force[i].imag / COMPLEX_STEP
            out[a, 3 + i, b, j] = torque[i].imag / COMPLEX_STEP


@allocating_kernel
def _fill(interaction_arrays, r0, R0, r1, R1, lam, force, end, start):
    """Write the forces (1) and their derivatives (2) to both ends for one group."""
    y0, y1 = np.zeros((MAX_FRAMES, 4, 3), np.complex128), np.zeros((MAX_FRAMES, 4, 3), np.complex128)
    dual, kind = np.zeros((MAX_FRAMES, 4, 3), np.complex128), interaction_arrays.kinds[0]
    function, arity = dual_at(kind.dual), kind.arity
    for e in range(force.shape[0]):
        entry = interaction_arrays.entries[e]
        X = interaction_arrays.numbers[entry.first : entry.last]
        _put_ends(entry, arity, r0, R0, r1, R1, y0, y1)
        function(y0, y1, X, lam[e], dual)
        for a in range(arity):
            f, torque = pulled(dual, y0, y1, a)
            for i in range(3):
                force[e, a, i], force[e, a, 3 + i] = f[i].real, torque[i].real
        for b in range(arity):
            for j in range(6):
                move_along(y1, b, j)
                function(y0, y1, X, lam[e], dual)
                _store_column(dual, y0, y1, arity, b, j, end[e])
                move_back(y1, b)
                move_along(y0, b, j)
                function(y0, y1, X, lam[e], dual)
                _store_column(dual, y0, y1, arity, b, j, start[e])
                move_back(y0, b)


@allocating_kernel
def _fill_numbers(interaction_arrays, r0, R0, r1, R1, lam, out):
    """Write the derivatives of the forces (1) to the numbers, which are complex, for one group."""
    y0, y1 = np.zeros((MAX_FRAMES, 4, 3), np.complex128), np.zeros((MAX_FRAMES, 4, 3), np.complex128)
    dual, kind = np.zeros((MAX_FRAMES, 4, 3), np.complex128), interaction_arrays.kinds[0]
    function = dual_of_complex_at(kind.dual)
    for e in range(out.shape[0]):
        entry = interaction_arrays.entries[e]
        X = interaction_arrays.numbers[entry.first : entry.last]
        _put_ends(entry, kind.arity, r0, R0, r1, R1, y0, y1)
        for n in range(X.size):
            X[n] += COMPLEX_STEP * 1j
            function(y0, y1, X, lam[e], dual)
            X[n] = X[n].real
            for a in range(kind.arity):
                force, torque = pulled(dual, y0, y1, a)
                for i in range(3):
                    out[e, a, i, n] = force[i].imag / COMPLEX_STEP
                    out[e, a, 3 + i, n] = torque[i].imag / COMPLEX_STEP


@allocating_kernel
def _fill_values(interaction_arrays, r, R, value, out):
    """Write the derivatives of V or g to the numbers, which are complex, for one group."""
    y, kind = np.zeros((MAX_FRAMES, 4, 3), np.complex128), interaction_arrays.kinds[0]
    function = value_of_complex_at(kind.value)
    for e in range(out.shape[0]):
        entry = interaction_arrays.entries[e]
        X = interaction_arrays.numbers[entry.first : entry.last]
        for k in range(kind.arity):
            put_pose(r, R, entry.frames[k], load3(r[entry.frames[0]]), y, k)
        for n in range(X.size):
            X[n] += COMPLEX_STEP * 1j
            function(y, X, value)
            X[n] = X[n].real
            for i in range(value.size):
                out[e, i, n] = value[i].imag / COMPLEX_STEP
