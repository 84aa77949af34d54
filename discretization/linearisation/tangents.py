"""Compute forces of interactions and their derivatives: one loop over groups, complex steps of the duals; compiled.

In the displacement dr and the spatial rotation eta of every frame, d_k -> d_k + eta x d_k, a dual is pulled back to

    force f_0, torque sum_k d_k x f_k                                                                     (1)

and an interaction contributes a block (6, 6) for each pair of its frames:

    K_ab = d(1)_a/d(dr, eta)_b     of the gradients of energies, of lam . g for constraints               (2)
    C_ab = (1)_a of the dual of the unit rate of (dr, eta)_b, for dissipations                            (3)
    and (2) of the duals of dissipations if the frames spin at rest: d_k' = s x d_k, rotated with eta     (4)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # submodules are loaded on first access

from rigid.compilation.decorators import allocating_kernel, inline_kernel, kernel
from rigid.errors import ModelError
from rigid.interactions.blocks import add_change, move_along, move_back, put_pose
from rigid.interactions.evaluation import check_frames
from rigid.interactions.kinds import (
    COMPLEX_STEP,
    MAX_FRAMES,
    Group,
    InteractionArrays,
    dual_at,
    frame,
    pack_groups,
)
from rigid.kinematics.poses import torque_of
from rigid.kinematics.rotations import load4, rotation_matrix
from rigid.linear_algebra import load3
from rigid.system import Floats, Ints, State


class StiffnessBlocks(NamedTuple):
    """Blocks (6, 6) of a matrix between frames, in coordinate format."""

    rows: Ints  # (k,) frames
    columns: Ints  # (k,) frames
    values: Floats  # (k, 6, 6)

    def matrix(self, place: Ints) -> scipy.sparse.bsr_matrix:
        """Return the sum of the blocks as a sparse matrix of frames with a place >= 0; `place`: (n,) index of each frame."""
        size = int(place.max(initial=-1)) + 1
        rows, columns = place[self.rows], place[self.columns]
        use = np.flatnonzero((rows >= 0) & (columns >= 0))
        key = rows[use] * np.int64(size) + columns[use]
        order = np.argsort(key, kind="stable")
        key, starts = np.unique(key[order], return_index=True)
        shape = (6 * size, 6 * size)
        if not len(key):
            return scipy.sparse.bsr_matrix(shape, blocksize=(6, 6))
        data = np.add.reduceat(self.values[use[order]], starts, axis=0)
        indptr = np.searchsorted(key // size, np.arange(size + 1))
        return scipy.sparse.bsr_matrix((data, key % size, indptr), shape=shape)

    def full(self, place: Ints) -> Floats:
        """Return the sum of the blocks as an array for frames with a place >= 0: a tenth of the time for small models."""
        size = 6 * (int(place.max(initial=-1)) + 1)
        out = np.zeros((size, size))
        _add_blocks(self.rows, self.columns, self.values, place, out)
        return out

    def times(self, x: Floats) -> Floats:
        """Return the product with x (n, 6), (n, 6)."""
        out = np.zeros_like(x)
        np.add.at(out, self.rows, np.einsum("kij,kj->ki", self.values, x[self.columns]))
        return out


def joined(parts: Sequence[StiffnessBlocks]) -> StiffnessBlocks:
    """Return the blocks of all parts."""
    return StiffnessBlocks(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class PosedGroups(NamedTuple):
    """Energies and constraints at the poses of a state, in the form that compiled code reads."""

    groups: Sequence[Group]
    interacting: InteractionArrays
    r: Floats  # (n, 3) positions, m
    R: Floats  # (n, 3, 3) rotation matrices
    rows: int  # number of multipliers of the constraints

    def stiffness(self, lam: Floats) -> StiffnessBlocks:
        """Return the blocks (2) of energies, and of constraints times their multipliers lam (m,)."""
        self._check(lam)
        out = _zero_blocks(self.groups)
        _differentiate(self.interacting, self.r, self.R, lam, out.values)
        return out

    def forces(self, lam: Floats) -> Floats:
        """Return the forces and torques (1) on all frames, (n, 6), for multipliers lam (m,)."""
        self._check(lam)
        out = np.zeros((len(self.r), 6))
        _add_forces(self.interacting, self.r, self.R, lam, out)
        return out

    def jacobian(self, rows: int, place: Ints) -> Floats:
        """Return the derivatives (rows, 6 k) of the constraints with respect to (dr, eta) of frames with a place >= 0."""
        out = np.zeros((max(rows, self.rows), 6 * (int(place.max(initial=-1)) + 1)))
        if self.rows:
            _put_gradients(self.interacting, self.r, self.R, place, out)
        return out

    def _check(self, lam: Floats) -> None:
        """Raise ModelError if there are fewer multipliers than constraint rows."""
        if len(lam) < self.rows:
            raise ModelError(
                f"{len(lam)} multipliers for {self.rows} rows of constraints; give those of the same system"
            )


def groups_at_state(groups: Sequence[Group], state: State) -> PosedGroups:
    """Return the groups at the poses of a state."""
    r, quat = np.ascontiguousarray(state.r), np.ascontiguousarray(state.quat)
    if r.shape != (len(r), 3) or quat.shape != (len(r), 4):
        raise ModelError(
            f"State.r has shape {r.shape}, State.quat is of {len(quat)} frames; give (n, 3) and (n, 4)"
        )
    R = np.empty((len(r), 3, 3))
    _put_rotations(quat, R)
    check_frames(groups, len(r))
    constraint_groups = [group for group in groups if group.kind.rows and len(group.row)]
    rows = max((int(group.row.max()) + group.kind.rows for group in constraint_groups), default=0)
    return PosedGroups(groups, pack_groups(groups), r, R, rows)


def stiffness(groups: Sequence[Group], state: State, lam: Floats) -> StiffnessBlocks:
    """Return the blocks (2) of energies, and of constraints times their multipliers lam (m,)."""
    return groups_at_state(groups, state).stiffness(lam)


def forces(groups: Sequence[Group], state: State, lam: Floats) -> Floats:
    """Return the forces and torques (1) on all frames, (n, 6), for multipliers lam (m,)."""
    return groups_at_state(groups, state).forces(lam)


def damping(
    groups: Sequence[Group], state: State, spin: Floats
) -> tuple[Floats, StiffnessBlocks, StiffnessBlocks]:
    """Return forces (n, 6), blocks (3) and blocks (4) of dissipations between frames that spin with `spin` (n, 3), rad/s."""
    out, C, K = np.zeros((len(state.r), 6)), _zero_blocks(groups), _zero_blocks(groups)
    if not groups:
        return out, C, K
    posed = groups_at_state(groups, state)
    if np.shape(spin) != posed.r.shape:
        raise ModelError(f"spin has shape {np.shape(spin)}, of {len(posed.r)} frames; give {posed.r.shape}")
    _resist(posed.interacting, posed.r, posed.R, np.ascontiguousarray(spin), out, C.values, K.values)
    return out, C, K


def _zero_blocks(groups: Sequence[Group]) -> StiffnessBlocks:
    """Return zero blocks for all pairs of frames of every interaction."""
    rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for group in groups:
        rows.append(group.frames.repeat(group.kind.arity, axis=1).ravel())
        columns.append(group.frames[:, None].repeat(group.kind.arity, axis=1).ravel())
    both = np.concatenate(rows), np.concatenate(columns)
    return StiffnessBlocks(*both, np.zeros((len(both[0]), 6, 6)))


@kernel
def _add_blocks(rows, columns, values, place, out):
    """Add the blocks of frames with a place >= 0 to the matrix out."""
    for k in range(len(rows)):
        a, b = 6 * place[rows[k]], 6 * place[columns[k]]
        if a >= 0 and b >= 0:
            for i in range(6):
                for j in range(6):
                    out[a + i, b + j] += values[k, i, j]


@kernel
def _put_rotations(quat, out):
    """Set out (n, 3, 3) to the rotation matrices of quat (n, 4)."""
    for k in range(len(quat)):
        R = rotation_matrix(load4(quat[k]))
        for i in range(3):
            for j in range(3):
                out[k, i, j] = R[3 * i + j]


@inline_kernel
def _put(r, R, entry, arity, y):
    """Store the poses of the frames of an interaction, relative to the position of the first, in y."""
    origin = load3(r[entry.frames[0]])
    for k in range(arity):
        put_pose(r, R, entry.frames[k], origin, y, k)


@inline_kernel
def _put_spin(spin, f, y, z, k):
    """Store the rates s x d of the directors of frame f, number k of an interaction, in z; s is the row of `spin`."""
    x, y1, z1 = spin[f, 0], spin[f, 1], spin[f, 2]
    for i in range(3):
        z[k, 0, i] = 0.0
    for i in range(1, 4):
        a, b, c = y[k, i, 0], y[k, i, 1], y[k, i, 2]
        z[k, i, 0], z[k, i, 1], z[k, i, 2] = y1 * c - z1 * b, z1 * a - x * c, x * b - y1 * a


@inline_kernel
def _multipliers(kind, entry, all_of_them, lam):
    """Copy the multipliers of an interaction to lam; 1 for an energy."""
    lam[0] = 1.0
    for k in range(kind.rows):
        lam[k] = all_of_them[entry.row + k]


@inline_kernel
def _store(dual, y, at, arity, b, j, scale, imaginary, out):
    """Set column j of the blocks of frames (a, b) of one interaction, for all a, to scale times (1).

    `at`: offset of its blocks in out; `imaginary`: use the imaginary part of (1) (complex step), else the real part.
    """
    for a in range(arity):
        f = frame(dual, a)
        force, torque = f[0], torque_of(f, frame(y, a))
        block = out[at + a * arity + b]
        for i in range(3):
            if imaginary:
                block[i, j] = scale * force[i].imag
                block[3 + i, j] = scale * torque[i].imag
            else:
                block[i, j] = scale * force[i].real
                block[3 + i, j] = scale * torque[i].real


@inline_kernel
def _most_rows(I):
    """Return the largest number of rows of a kind, at least 1."""
    rows = 1
    for kind_index in range(I.kinds.size):
        rows = max(rows, I.kinds[kind_index].rows)
    return rows


@inline_kernel
def _add(dual, y, entry, arity, out):
    """Add the forces and torques (1) of an interaction to the rows of its frames in out (n, 6)."""
    for a in range(arity):
        _add_to(dual, y, a, out[entry.frames[a]])


@inline_kernel
def _add_to(dual, y, a, out):
    """Add the force and torque (1) on the frame that is number a of an interaction to out (6,)."""
    f = frame(dual, a)
    force, torque = f[0], torque_of(f, frame(y, a))
    for i in range(3):
        out[i] += force[i].real
        out[3 + i] += torque[i].real


@allocating_kernel
def _differentiate(I, r, R, multipliers, out):
    """Set out to the blocks (2) of all interactions by complex steps."""
    y, dual = np.zeros((MAX_FRAMES, 4, 3), np.complex128), np.zeros((MAX_FRAMES, 4, 3), np.complex128)
    lam, at = np.zeros(_most_rows(I), np.complex128), 0
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        function, arity = dual_at(kind.dual), kind.arity
        for e in range(kind.first, kind.last):
            entry = I.entries[e]
            X = I.numbers[entry.first : entry.last]
            _multipliers(kind, entry, multipliers, lam)
            if not lam[: max(kind.rows, 1)].any():  # a constraint without multipliers contributes nothing
                at += arity * arity
                continue
            _put(r, R, entry, arity, y)
            for b in range(arity):
                for j in range(6):
                    move_along(y, b, j)
                    function(y, y, X, lam, dual)
                    _store(dual, y, at, arity, b, j, 1.0 / COMPLEX_STEP, True, out)
                    move_back(y, b)
            at += arity * arity


@allocating_kernel
def _add_forces(I, r, R, multipliers, out):
    """Add the forces and torques (1) of all interactions to out (n, 6)."""
    y, dual = np.zeros((MAX_FRAMES, 4, 3), np.complex128), np.zeros((MAX_FRAMES, 4, 3), np.complex128)
    lam = np.zeros(_most_rows(I), np.complex128)
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        function = dual_at(kind.dual)
        for e in range(kind.first, kind.last):
            entry = I.entries[e]
            _put(r, R, entry, kind.arity, y)
            _multipliers(kind, entry, multipliers, lam)
            function(y, y, I.numbers[entry.first : entry.last], lam, dual)
            _add(dual, y, entry, kind.arity, out)


@allocating_kernel
def _put_gradients(I, r, R, place, out):
    """Add the gradients of all constraint rows to out (rows, 6 k)."""
    y, dual = np.zeros((MAX_FRAMES, 4, 3), np.complex128), np.zeros((MAX_FRAMES, 4, 3), np.complex128)
    lam = np.zeros(_most_rows(I), np.complex128)
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        function = dual_at(kind.dual)
        for e in range(kind.first, kind.last if kind.rows else kind.first):
            entry = I.entries[e]
            _put(r, R, entry, kind.arity, y)
            for k in range(kind.rows):
                lam[:] = 0.0
                lam[k] = 1.0
                function(y, y, I.numbers[entry.first : entry.last], lam, dual)
                for a in range(kind.arity):
                    at = 6 * place[entry.frames[a]]
                    if at >= 0:
                        _add_to(dual, y, a, out[entry.row + k, at : at + 6])


@allocating_kernel
def _resist(I, r, R, spin, out, C, K):
    """Add the forces of dissipations to out (n, 6); set C to the blocks (3) and K to the blocks (4)."""
    y, z = np.zeros((MAX_FRAMES, 4, 3), np.complex128), np.zeros((MAX_FRAMES, 4, 3), np.complex128)
    dual, lam, at = np.zeros((MAX_FRAMES, 4, 3), np.complex128), np.ones(1, np.complex128), 0
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        function, arity = dual_at(kind.bend), kind.arity
        rates = y if kind.slides != 0 else z
        for e in range(kind.first, kind.last):
            entry = I.entries[e]
            X = I.numbers[entry.first : entry.last]
            _put(r, R, entry, arity, y)
            at_rest = kind.update_internal != 0
            for b in range(arity):
                _put_spin(spin, entry.frames[b], y, z, b)
                if at_rest:  # use the slope at rest
                    z[b] = 0.0
            for b in range(arity):
                for j in range(6):
                    add_change(y, z, b, j, COMPLEX_STEP * 1j)
                    function(y, rates, X, lam, dual)
                    _store(dual, y, at, arity, b, j, 1.0 / COMPLEX_STEP, True, C)
                    _put_spin(spin, entry.frames[b], y, z, b)
                    if at_rest:
                        z[b] = 0.0
            for k in range(arity):
                _put_spin(spin, entry.frames[k], y, z, k)
            function(y, rates, X, lam, dual)
            _add(dual, y, entry, arity, out)
            for b in range(arity):
                for j in range(6):
                    move_along(y, b, j)
                    if j >= 3:  # rates do not change with dr
                        move_along(z, b, j)
                    function(y, rates, X, lam, dual)
                    _store(dual, y, at, arity, b, j, 1.0 / COMPLEX_STEP, True, K)
                    move_back(y, b)
                    move_back(z, b)
            at += arity * arity
