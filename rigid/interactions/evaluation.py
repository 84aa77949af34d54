"""Evaluate interactions at stored states: values, gradients, rates and resistances of many poses at once.

The duals are those of the integrators; with equal poses they are gradients. Pulled back to a displacement and a spatial rotation
of every frame, the gradient of one row is

    force f_0, torque sum_k d_k x f_k,   rate = sum over frames of force . v + torque . omega            (1)

and so is the resistance of a dissipation to the rates of the poses, v and omega x d_k.

Poses and velocities are taken relative to the position of the first frame of an interaction, so that no digits are lost far from
the origin. This is right for interactions that a common translation does not change, all but weight; the velocities that a
dissipation resists are those of the frames themselves. One state or many are evaluated: leading axes of the state arrays are
those of the result, and each of many states is evaluated bitwise as if alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rigid.compilation.decorators import inline_kernel, kernel
from rigid.errors import ModelError
from rigid.interactions.kinds import (
    MAX_FRAMES,
    MAX_ROWS,
    Group,
    InteractionArrays,
    dual_at,
    frame,
    pack_groups,
    value_at,
)
from rigid.kinematics.poses import torque_of
from rigid.kinematics.rotations import load4, rotation_matrix
from rigid.linear_algebra import apply, cross, dot, load3, minus
from rigid.system import Floats, State


@inline_kernel
def _put_poses(r, quat, entry, arity, y):
    """Write the poses y (arity, 4, 3) of the frames of one interaction, relative to the position of the first."""
    for k in range(arity):
        f = entry.frames[k]
        R = rotation_matrix(load4(quat[f]))
        for i in range(3):
            y[k, 0, i] = r[f, i] - r[entry.frames[0], i]
            for j in range(3):
                y[k, 1 + j, i] = R[3 * i + j]


@inline_kernel
def _row(kind, entry, numbers, k, y, lam, dual):
    """Write the gradient of row k, or of an energy, into `dual`."""
    for i in range(lam.size):
        lam[i] = 1.0 if i == k else 0.0
    function = dual_at(kind.dual)
    function(y, y, numbers, lam, dual)


@inline_kernel
def _real(x):
    """Return the real parts of a vector (3,)."""
    return x[0].real, x[1].real, x[2].real


@inline_kernel
def _put_values(kind, entry, numbers, y, value, out):
    """Add V or g to out (m, 1, 1)."""
    function = value_at(kind.value)
    function(y, numbers, value)
    for k in range(max(kind.rows, 1)):
        out[entry.row + k, 0, 0] += value[k].real


@inline_kernel
def _put_gradients(kind, entry, numbers, y, lam, dual, out):
    """Write the forces and torques of the gradient into out (m, arity, 6)."""
    for k in range(max(kind.rows, 1)):
        _row(kind, entry, numbers, k, y, lam, dual)
        for a in range(kind.arity):
            f = frame(dual, a)
            force, torque = _real(f[0]), _real(torque_of(f, frame(y, a)))
            for i in range(3):
                out[entry.row + k, a, i] = force[i]
                out[entry.row + k, a, 3 + i] = torque[i]


@inline_kernel
def _put_moving(entry, arity, moving, y, z):
    """Write the rates z (arity, 4, 3) of the poses y.

    `moving`: orientations, velocities and angular velocities of all frames.
    """
    quat, v, Omega = moving
    for k in range(arity):
        f = entry.frames[k]
        omega = apply(rotation_matrix(load4(quat[f])), load3(Omega[f]))
        for i in range(3):
            z[k, 0, i] = v[f, i]
        for j in range(1, 4):
            d = cross(omega, (y[k, j, 0].real, y[k, j, 1].real, y[k, j, 2].real))
            for i in range(3):
                z[k, j, i] = d[i]


@inline_kernel
def _put_resistances(kind, entry, numbers, y, z, lam, dual, out):
    """Write the forces and torques that resist the rates z into out (m, arity, 6)."""
    for i in range(lam.size):
        lam[i] = 1.0 if i == 0 else 0.0
    function = dual_at(kind.bend)
    function(y, y if kind.slides != 0 else z, numbers, lam, dual)
    for a in range(kind.arity):
        f = frame(dual, a)
        force, torque = _real(f[0]), _real(torque_of(f, frame(y, a)))
        for i in range(3):
            out[entry.row, a, i] = force[i]
            out[entry.row, a, 3 + i] = torque[i]


@inline_kernel
def _put_rates(kind, entry, numbers, y, moving, lam, dual, out):
    """Add the rate (1) to out (m, 1, 1); `moving`: orientations, velocities and angular velocities of all frames."""
    quat, v, Omega = moving
    v0 = load3(v[entry.frames[0]])
    for k in range(max(kind.rows, 1)):
        _row(kind, entry, numbers, k, y, lam, dual)
        rate = 0.0
        for a in range(kind.arity):
            g = entry.frames[a]
            f = frame(dual, a)
            omega = apply(rotation_matrix(load4(quat[g])), load3(Omega[g]))
            rate += dot(_real(f[0]), minus(load3(v[g]), v0))  # (1)
            rate += dot(_real(torque_of(f, frame(y, a))), omega)
        out[entry.row + k, 0, 0] += rate


VALUES, GRADIENTS, RATES, RESISTANCES = range(4)


@kernel
def _evaluate(what, interaction_arrays, states, scratch, row, out):
    """Evaluate `what` for all interactions at N states (r, quat, v, Omega) into out (N, m, ...).

    `what`: VALUES, GRADIENTS, RATES or RESISTANCES; v and Omega are read for rates and resistances only. `scratch`
    (3, MAX_FRAMES, 4, 3) and `row` (largest number of rows of a kind,), buffer for values or multipliers, are overwritten.
    """
    r, quat, v, Omega = states
    y, z, dual = scratch[0], scratch[1], scratch[2]
    for t in range(out.shape[0]):
        for kind_index in range(interaction_arrays.kinds.size):
            kind = interaction_arrays.kinds[kind_index]
            for e in range(kind.first, kind.last):
                entry = interaction_arrays.entries[e]
                numbers = interaction_arrays.numbers[entry.first : entry.last]
                _put_poses(r[t], quat[t], entry, kind.arity, y)
                if what == VALUES:
                    _put_values(kind, entry, numbers, y, row, out[t])
                elif what == GRADIENTS:
                    _put_gradients(kind, entry, numbers, y, row, dual, out[t])
                elif what == RATES:
                    _put_rates(kind, entry, numbers, y, (quat[t], v[t], Omega[t]), row, dual, out[t])
                else:
                    _put_moving(entry, kind.arity, (quat[t], v[t], Omega[t]), y, z)
                    _put_resistances(kind, entry, numbers, y, z, row, dual, out[t])


class EvaluationBuffers(NamedTuple):
    """Sizes that an evaluation of groups requires."""

    rows: int  # number of rows of all groups
    most_rows: int  # largest number of rows of a kind
    last: int  # largest frame number of the groups; -1: there is none


def buffers_for(groups: Sequence[Group]) -> EvaluationBuffers:
    """Return the sizes that an evaluation of these groups requires."""
    rows = max(
        (int(group.row.max()) + max(group.kind.rows, 1) for group in groups if len(group.row)), default=0
    )
    return EvaluationBuffers(rows, max([MAX_ROWS, *(group.kind.rows for group in groups)]), _last_of(groups))


def _last_of(groups: Sequence[Group]) -> int:
    """Return the largest frame number of these groups, -1 if there is none."""
    return max((int(group.frames.max()) for group in groups if group.frames.size), default=-1)


def values(groups: Sequence[Group], r: Floats, quat: Floats) -> Floats:
    """Return V (..., e) of every energy, or g (..., m) of all rows, at r (..., n, 3), quat (..., n, 4)."""
    return _evaluate_groups(VALUES, groups, (r, quat, r, r))[..., 0, 0]


def values_of(
    interaction_arrays: InteractionArrays, buffers: EvaluationBuffers, r: Floats, quat: Floats
) -> Floats:
    """Return V (..., e) or g (..., m) of groups that are already gathered, at r (..., n, 3), quat (..., n, 4)."""
    return _evaluate_packed(lambda: interaction_arrays, buffers, VALUES, (r, quat, r, r))[..., 0, 0]


def gradients(groups: Sequence[Group], r: Floats, quat: Floats) -> Floats:
    """Return the gradients (..., m, arity, 6) of all rows: force and spatial torque on each frame.

    The groups must have the same arity, and rows that no other group uses.
    """
    arity = max((group.kind.arity for group in groups), default=0)
    return _evaluate_groups(GRADIENTS, groups, (r, quat, r, r), (arity, 6))


def resistances(groups: Sequence[Group], state: State) -> Floats:
    """Return the resistances (..., m, arity, 6) of all dissipations: forces and spatial torques against the rates of each frame.

    They act on the frames with the opposite sign. The groups must have the same arity and separate rows, as in `gradients`.
    """
    arity = max((group.kind.arity for group in groups), default=0)
    return _evaluate_groups(RESISTANCES, groups, (state.r, state.quat, state.v, state.Omega), (arity, 6))


def rates(groups: Sequence[Group], state: State) -> Floats:
    """Return dg/dt or dV/dt (..., m) of all rows."""
    return _evaluate_groups(RATES, groups, (state.r, state.quat, state.v, state.Omega))[..., 0, 0]


def check_frames(groups: Sequence[Group], n: int) -> None:
    """Raise ModelError if groups use frames beyond n: compiled code would read beyond the end of the arrays."""
    _check_last(_last_of(groups), n)


def _check_last(last: int, n: int) -> None:
    """Raise ModelError if the frame number `last` is not below n."""
    if last >= n:
        raise ModelError(
            f"poses of {n} frames, but something acts on frame {last}; give the state of that system"
        )


def _evaluate_groups(
    what: int, groups: Sequence[Group], arrays: tuple[Floats, ...], shape: tuple[int, int] = (1, 1)
) -> Floats:
    """Return `what` (..., m, *each) of these groups at the states in `arrays` (r, quat, v, Omega)."""
    return _evaluate_packed(lambda: pack_groups(groups), buffers_for(groups), what, arrays, shape)


def _evaluate_packed(
    interaction_arrays: Callable[[], InteractionArrays],
    buffers: EvaluationBuffers,
    what: int,
    arrays: tuple[Floats, ...],
    shape: tuple[int, int] = (1, 1),
) -> Floats:
    """Return `what` (..., m, *each) at the states in `arrays` (r, quat, v, Omega).

    `interaction_arrays`: function that gathers the groups; it is called only if there is something to evaluate.
    """
    lead, n = arrays[0].shape[:-2], arrays[0].shape[-2]
    for name, array, width in zip(("r", "quat", "v", "Omega"), arrays, (3, 4, 3, 3), strict=True):
        if array.shape != (*lead, n, width):
            raise ModelError(
                f"State.{name} has shape {array.shape}; with r of {n} frames give {(*lead, n, width)}"
            )
    _check_last(buffers.last, n)
    r, quat, v, Omega = (
        np.ascontiguousarray(array, float).reshape(-1, *array.shape[-2:]) for array in arrays
    )
    out = np.zeros((len(r), buffers.rows, *shape))
    if out.size:
        scratch = np.zeros((3, MAX_FRAMES, 4, 3), complex)
        row = np.zeros(buffers.most_rows, complex)
        _evaluate(what, interaction_arrays(), (r, quat, v, Omega), scratch, row, out)
    return out.reshape(*lead, buffers.rows, *shape)
