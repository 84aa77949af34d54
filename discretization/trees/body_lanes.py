"""SIMD version of `discretization.trees.bodies`: groups of eight bodies with one kind of joint, one per lane of `rigid.lanes`.

Results are bit-identical to those of the version for single bodies. Poses and the arrays that the elimination reads are stored
body by body. Data of joints that are constant, in all steps or in one, are stored number by number, eight bodies next to each
other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.assembly.frame_formulas import balance, spin_at_end, spin_tangent
from discretization.integrator_memory import MEANS
from discretization.integrator_memory import WIDTH as NUMBERS
from discretization.trees.bodies import (
    components_in_three,
    components_in_two,
    levers,
    rotate_matrix,
    shift_tangent_to_joint,
    tilt_between_axes,
)
from discretization.trees.data_layout import AXIS, DIAGONAL_BLOCK, JOINT_FORCE, NEXT, SIZE, TreeArrays
from discretization.trees.spanning_tree import BALL, FREE, HINGE, OTHER, POINT, UNIVERSAL, WELD
from rigid.compilation.decorators import always_inline_kernel, inline_kernel, internal_kernel
from rigid.kinematics.rotations import cayley_rotation, inverse_tangent, rotation_matrix
from rigid.lane_arrays import zeros_in_lanes
from rigid.lane_vectors import load3_at, load4_at, load9_at, store3_at, store9_at
from rigid.lanes import (
    WIDTH,
    load,
    numbers1,
    numbers3,
    numbers6,
    put3,
    put4,
    put5,
    put6,
    put9,
    put15,
    put18,
    put27,
    put48,
    put_rows3,
    put_rows4,
    put_rows9,
    rows3,
    rows9,
)
from rigid.linear_algebra import apply, average, cross, dot, load3, minus, plus, product, times
from rigid.system import Floats, Ints
from rigid.tuple_references import by_reference

# offsets of the constants of a joint: points on the body and on its parent, three axes on each, three directions on each
X, PARENT_X, U, PARENT_U, D, PARENT_D, CONSTANTS = 0, 3, 6, 15, 24, 33, 42
# offsets of the data of a body at the start of a step: quaternion, R0, r, v, Omega, R0 J Omega, inertia, mass
QUAT0, ROTATION0, POSITION0, VELOCITY0, SPIN0, MOMENTUM0, INERTIA, MASS, POSE = (
    0,
    4,
    13,
    16,
    19,
    22,
    25,
    34,
    35,
)
# offsets of the points and first axes, rotated to the start of the step
X0, PARENT_X0, U0, PARENT_U0, START = 0, 3, 6, 9, 12
# offsets of the current iterate at the end of a step: rotation, position, increments, and their rounding remainders
ROTATION1, POSITION1, INCREMENT, TURN, REMAINDER, END = 0, 9, 12, 15, 18, 24
# rows of `BodyLanes.offsets`: bodies, their frames, first unknowns, blocks, frames of their parents, first multipliers; then
# offsets in `TreeArrays.joint_data`: of the joint, of its second axis, of its force
BODY, FRAME, UNKNOWN, BLOCKS, PARTNER, LAM, JOINT, SECOND, WRENCH, N_PLACES = range(10)


@by_reference
class BodyLanes(NamedTuple):
    """Groups of eight bodies; spare lanes of a last group repeat its last body and write the same values."""

    kind: Ints  # (groups,) kind of the joints of a group; OTHER for joints that slide
    quats: bool  # True if quaternions at the end of the step are needed, as for nodes of rods
    side: Ints  # (groups,) 1: the bodies are frames b of their joints; -1: frames a
    turning: Ints  # (groups,) number of rows of directions
    offsets: Ints  # (groups, N_PLACES, 8) indices and offsets of each body
    constant: Floats  # (joints, CONSTANTS, 8) joint constants of the groups on joints of closed form, which come first
    start: Floats  # (joints, START, 8) points and axes of these joints at the start of the step
    poses: Floats  # (groups, POSE, 8) data at the start of the step
    end: Floats  # (groups, END, 8) iterate at the end of the step
    # (groups, 6 (1 + MEANS), 8) accelerations, then mean velocities (`discretization.integrator_memory`); (groups, 6, 8)
    # without history
    rates: Floats


def body_lanes(tree: TreeArrays, body: Ints, quats: bool) -> BodyLanes:
    """Allocate the groups of the bodies `body` (8 groups,); `quats`: as in `BodyLanes`."""
    head = body[::WIDTH]
    offsets = np.zeros((N_PLACES, len(body)), np.int64)
    offsets[BODY], offsets[PARTNER], offsets[LAM] = body, tree.partner[body], tree.lam[body]
    offsets[FRAME], offsets[UNKNOWN], offsets[BLOCKS] = tree.frame[body], 6 * body, DIAGONAL_BLOCK * body
    first = SIZE * tree.joint[body]
    offsets[JOINT], offsets[SECOND], offsets[WRENCH] = first, first + AXIS + NEXT, first + JOINT_FORCE
    kind = np.where(tree.slides[head] > 0, OTHER, tree.kind[head])
    joints = int(np.sum(kind > OTHER))
    lanes = BodyLanes(
        kind=kind,
        quats=quats,
        side=np.where(tree.slides[head] > 0, 1, tree.side[head]),
        turning=tree.turning[head],
        offsets=np.ascontiguousarray(offsets.reshape(N_PLACES, -1, WIDTH).swapaxes(0, 1)),
        constant=zeros_in_lanes(joints, CONSTANTS),
        start=zeros_in_lanes(joints, START),
        poses=zeros_in_lanes(len(head), POSE),
        end=zeros_in_lanes(len(head), END),
        rates=zeros_in_lanes(len(head), NUMBERS if quats else NUMBERS * (1 + MEANS)),
    )
    return with_joint_data(lanes, tree)


def with_joint_data(lanes: BodyLanes, tree: TreeArrays) -> BodyLanes:
    """Return the groups with the joint data of a tree of the same structure."""
    if not len(lanes.constant):
        return lanes
    body = lanes.offsets[lanes.kind > OTHER, BODY].reshape(-1)
    X, U, D = (array[tree.joint[body]] for array in (tree.X, tree.U, tree.D))
    is_b = tree.side[body][:, None, None] > 0
    of_body, of_parent = np.where(is_b, D[:, :, 1], D[:, :, 0]), np.where(is_b, D[:, :, 0], D[:, :, 1])
    parts = X, U[:, :, 0], U[:, :, 1], of_body, of_parent
    numbers = np.concatenate([array.reshape(len(body), -1) for array in parts], axis=1)
    constant = zeros_in_lanes(len(lanes.constant), CONSTANTS)
    constant[:] = numbers.reshape(-1, WIDTH, CONSTANTS).transpose(0, 2, 1)
    return lanes._replace(constant=constant)


@inline_kernel
def index_offset(group, row):
    """Return the offset at which row `row` of the indices (`BodyLanes.offsets`) of a group begins."""
    return (group * N_PLACES + row) * WIDTH


@internal_kernel
def begin_body_groups(lanes, work):
    """Rotate the points and axes of joints to the start of the step; rotations of all frames at the start must be up to date."""
    constant, start, poses, offsets = lanes.constant, lanes.start, lanes.poses, lanes.offsets
    for group in range(lanes.kind.shape[0]):
        kind, c, s = lanes.kind[group], group * CONSTANTS, group * START
        if kind <= OTHER:
            continue
        R0 = load9_at(poses, group * POSE + ROTATION0)
        P0 = rows9(work.R0, offsets, index_offset(group, PARTNER))
        store3_at(apply(R0, load3_at(constant, c + X)), start, s + X0)
        store3_at(apply(P0, load3_at(constant, c + PARENT_X)), start, s + PARENT_X0)
        if kind in (HINGE, UNIVERSAL):
            store3_at(apply(R0, load3_at(constant, c + U)), start, s + U0)
            store3_at(apply(P0, load3_at(constant, c + PARENT_U)), start, s + PARENT_U0)


@internal_kernel
def correct_body_groups(lanes, work, fraction, shown):
    """Add the corrections in work.rhs times `fraction` to the increments, and update the poses; `shown`: as in `move_group`."""
    end = lanes.end
    for group in range(lanes.kind.shape[0]):
        s = group * END
        if lanes.kind[group] == POINT:
            displacement = numbers3(work.rhs, lanes.offsets, index_offset(group, UNKNOWN), 0)
            displacement = plus(times(fraction, displacement), load3_at(end, s + INCREMENT))
            displace_group(lanes, work, group, displacement, True, shown)
            continue
        corrections = numbers6(work.rhs, lanes.offsets, index_offset(group, UNKNOWN), 0)
        dr, psi = load3_at(end, s + INCREMENT), load3_at(end, s + TURN)
        eta = times(fraction, (corrections[3], corrections[4], corrections[5]))
        dr = plus(times(fraction, (corrections[0], corrections[1], corrections[2])), dr)
        psi = plus(apply(inverse_tangent(psi), eta), psi)
        move_group(lanes, work, group, dr, psi, True, shown)


@always_inline_kernel
def move_group(lanes, work, group, dr, psi, placed, shown):
    """Compute positions r1 and rotations R1 at the end of the step from increments dr, psi, and store all of them for the group.

    `placed`: True if r1 and R1 are also stored frame by frame in `work`; `shown`: True if the increments are.
    """
    poses, offsets, end, at, s = (
        lanes.poses,
        lanes.offsets,
        lanes.end,
        index_offset(group, FRAME),
        group * POSE,
    )
    if shown:
        put_rows3(dr, work.dr, offsets, at)
        put_rows3(psi, work.psi, offsets, at)
    if lanes.quats:
        q1 = cayley_rotation(psi, load4_at(poses, s + QUAT0))
        put_rows4(q1, work.q1, offsets, at)
        R1 = rotation_matrix(q1)
    else:
        R1 = rotate_matrix(psi, load9_at(poses, s + ROTATION0))
    r1 = plus(load3_at(poses, s + POSITION0), dr)
    if placed:
        put_rows9(R1, work.R1, offsets, at)
        put_rows3(r1, work.r1, offsets, at)
    s = group * END
    store9_at(R1, end, s + ROTATION1)
    store3_at(r1, end, s + POSITION1)
    store3_at(dr, end, s + INCREMENT)
    store3_at(psi, end, s + TURN)


@always_inline_kernel
def displace_group(lanes, work, group, dr, placed, shown):
    """Compute positions r1 at the end of the step of a group of POINT bodies, as `move_group` does for others."""
    at, s = index_offset(group, FRAME), group * END
    r1 = plus(load3_at(lanes.poses, group * POSE + POSITION0), dr)
    if shown:
        put_rows3(dr, work.dr, lanes.offsets, at)
    if placed:
        put_rows3(r1, work.r1, lanes.offsets, at)
    store3_at(r1, lanes.end, s + POSITION1)
    store3_at(dr, lanes.end, s + INCREMENT)


@inline_kernel
def _moment_direction(lanes, group, j, body, parent):
    """Return the direction of the moment on frame b that the multiplier of direction row j exerts.

    `body`, `parent`: rotations of body and parent at both ends of the step.
    """
    c = group * CONSTANTS + 3 * j
    of_own, of_parent = load3_at(lanes.constant, c + D), load3_at(lanes.constant, c + PARENT_D)
    a = average(apply(body[0], of_own), apply(body[1], of_own))
    b = average(apply(parent[0], of_parent), apply(parent[1], of_parent))
    return cross(b, a) if lanes.side[group] > 0 else cross(a, b)


@inline_kernel
def _rotations_of(lanes, work, group):
    """Return the rotations of the bodies and of their parents, each at the start and at the end of the step."""
    partner = index_offset(group, PARTNER)
    body = (
        load9_at(lanes.poses, group * POSE + ROTATION0),
        load9_at(lanes.end, group * END + ROTATION1),
    )
    return body, (rows9(work.R0, lanes.offsets, partner), rows9(work.R1, lanes.offsets, partner))


@internal_kernel
def begin_joint_groups(tree, lanes, work):
    """Compute the joint forces f and moments k of the predicted multipliers, for the predicted poses at the end of the step."""
    offsets = lanes.offsets
    for group in range(lanes.kind.shape[0]):
        if lanes.kind[group] <= OTHER:
            continue
        side, first = 1.0 * lanes.side[group], index_offset(group, LAM)
        force = times(-side, numbers3(work.lam, offsets, first, 0))
        body, parent = _rotations_of(lanes, work, group)
        none = 0.0 * side * body[0][0]
        couple = (none, none, none)
        for j in range(lanes.turning[group]):
            factor = side * numbers1(work.lam, offsets, first, 3 + j)[0]
            couple = plus(couple, times(factor, _moment_direction(lanes, group, j, body, parent)))
        put6((*force, *couple), tree.joint_data, offsets, index_offset(group, WRENCH))


@internal_kernel
def end_joint_groups(tree, lanes, work):
    """Compute the multipliers from the joint forces f and moments k, with the directions at the end of the iteration."""
    offsets = lanes.offsets
    for group in range(lanes.kind.shape[0]):
        kind, side = lanes.kind[group], 1.0 * lanes.side[group]
        if kind <= OTHER:
            continue
        first, wrench = (
            index_offset(group, LAM),
            numbers6(tree.joint_data, offsets, index_offset(group, WRENCH), 0),
        )
        f = times(-side, (wrench[0], wrench[1], wrench[2]))
        if kind == BALL:
            put3(f, work.lam, offsets, first)
            continue
        k = times(side, (wrench[3], wrench[4], wrench[5]))
        body, parent = _rotations_of(lanes, work, group)
        one = _moment_direction(lanes, group, 0, body, parent)
        if kind == HINGE:
            a, b = components_in_two(one, _moment_direction(lanes, group, 1, body, parent), k)
            put5((f[0], f[1], f[2], a, b), work.lam, offsets, first)
        elif kind == UNIVERSAL:
            put4((f[0], f[1], f[2], dot(one, k) / dot(one, one)), work.lam, offsets, first)
        else:
            two, three = (
                _moment_direction(lanes, group, 1, body, parent),
                _moment_direction(lanes, group, 2, body, parent),
            )
            a, b, c = components_in_three(one, two, three, k)
            put6((f[0], f[1], f[2], a, b, c), work.lam, offsets, first)


@internal_kernel
def assemble_body_groups(system, tree, lanes, work, h):
    """Assemble all groups: residual and tangent of inertia and weight, and levers, axes and gaps of joints of closed form.

    The tangents are expressed at the points of these joints. The poses of all bodies must be up to date.
    """
    for group in range(lanes.kind.shape[0]):
        _assemble_group(system, tree, lanes, work, h, group, True)


@internal_kernel
def assemble_group_residuals(system, tree, lanes, work, h):
    """Assemble the residuals of inertia and weight and the joints of all groups, without tangents; all joints must be of closed
    form.
    """
    for group in range(lanes.kind.shape[0]):
        _assemble_group(system, tree, lanes, work, h, group, False)


@always_inline_kernel
def _assemble_group(system, tree, lanes, work, h, group, tangents):
    """Assemble one group: residual of inertia and weight, joints of closed form, and, if `tangents`, the diagonal blocks."""
    poses, gravity = lanes.poses, load3(system.gravity)
    constant, start, end, offsets = lanes.constant, lanes.start, lanes.end, lanes.offsets
    s, e = group * POSE, group * END
    if lanes.kind[group] == POINT:
        mass, dr = load(poses, (s + MASS) * WIDTH), load3_at(end, e + INCREMENT)
        force = balance(mass, load3_at(poses, s + VELOCITY0), dr, gravity, h)
        put6(
            (force[0], force[1], force[2], 0.0, 0.0, 0.0),
            work.residual,
            offsets,
            index_offset(group, UNKNOWN),
        )
        if tangents:
            _put_masses(2.0 * mass / h, work.values, offsets, index_offset(group, BLOCKS))
        return
    R0, J = load9_at(poses, s + ROTATION0), load9_at(poses, s + INERTIA)
    R1, dr, psi = load9_at(end, e + ROTATION1), load3_at(end, e + INCREMENT), load3_at(end, e + TURN)
    mass, RJ = load(poses, (s + MASS) * WIDTH), product(R1, J)
    L1 = apply(RJ, spin_at_end(R0, load3_at(poses, s + SPIN0), psi, h))
    moment = minus(L1, load3_at(poses, s + MOMENTUM0))
    force = balance(mass, load3_at(poses, s + VELOCITY0), dr, gravity, h)
    both = force[0], force[1], force[2], moment[0], moment[1], moment[2]
    put6(both, work.residual, offsets, index_offset(group, UNKNOWN))
    if tangents:
        K, m = spin_tangent(RJ, R0, R1, psi, L1, h), 2.0 * mass / h
        if lanes.kind[group] == FREE:
            _put_in_columns(m, K, work.values, offsets, index_offset(group, BLOCKS))
        elif lanes.kind[group] == OTHER:
            none = 0.0 * m
            zero = (none, none, none, none, none, none, none, none, none)
            _put_blocks(m, zero, zero, K, work.values, offsets, index_offset(group, BLOCKS))
    if lanes.kind[group] <= OTHER:
        return
    partner, c = index_offset(group, PARTNER), group * CONSTANTS
    P1 = rows9(work.R1, offsets, partner)
    x1, x, y1, y, gap = levers(
        R1,
        P1,
        load3_at(constant, c + X),
        load3_at(constant, c + PARENT_X),
        load3_at(start, group * START + X0),
        load3_at(start, group * START + PARENT_X0),
        load3_at(end, e + POSITION1),
        rows3(work.r1, offsets, partner),
    )
    if tangents:
        fe, ky, ke = shift_tangent_to_joint(m, K, x1, x)
        _put_blocks(m, fe, ky, ke, work.values, offsets, index_offset(group, BLOCKS))
    _place_axes(tree, lanes, group, R1, P1, (*x1, *x, *y1, *y, *gap))


@always_inline_kernel
def _put_masses(m, values, offsets, at):
    """Store the first three columns of the diagonal blocks of a group of POINT bodies: mass m."""
    columns = (
        m, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        0.0, m, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        0.0, 0.0, m, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    )  # fmt: skip
    put27(columns, values, offsets, at)


@always_inline_kernel
def _put_in_columns(m, K, values, offsets, at):
    """Store the diagonal blocks of a group of bodies without joints, column by column: mass m, rotational inertia K."""
    columns = (
        m, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        0.0, m, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        0.0, 0.0, m, 0.0, 0.0, 0.0, 0.0, 0.0,
        0.0, 0.0, 0.0, K[0], K[3], K[6], 0.0, 0.0,
        0.0, 0.0, 0.0, K[1], K[4], K[7], 0.0, 0.0,
        0.0, 0.0, 0.0, K[2], K[5], K[8], 0.0, 0.0,
    )  # fmt: skip
    put48(columns, values, offsets, at)


@always_inline_kernel
def _put_blocks(m, fe, ky, ke, values, offsets, at):
    """Store the diagonal blocks of a group of bodies on joints, row by row: m I and the parts fe, ky, ke of
    `shift_tangent_to_joint`.
    """
    rows = (
        m, 0.0, 0.0, 0.0, fe[0], fe[1], fe[2], 0.0,
        0.0, m, 0.0, 0.0, fe[3], fe[4], fe[5], 0.0,
        0.0, 0.0, m, 0.0, fe[6], fe[7], fe[8], 0.0,
        ky[0], ky[1], ky[2], 0.0, ke[0], ke[1], ke[2], 0.0,
        ky[3], ky[4], ky[5], 0.0, ke[3], ke[4], ke[5], 0.0,
        ky[6], ky[7], ky[8], 0.0, ke[6], ke[7], ke[8], 0.0,
    )  # fmt: skip
    put48(rows, values, offsets, at)


@always_inline_kernel
def _place_axes(tree, lanes, group, R1, P1, levers_and_gap):
    """Store levers, gaps, axes and tilts of the joints of a group; `levers_and_gap`: levers and gaps, 15 numbers per body."""
    kind, offsets, joint_data, constant, start = (
        lanes.kind[group],
        lanes.offsets,
        tree.joint_data,
        lanes.constant,
        lanes.start,
    )
    first, c, s = index_offset(group, JOINT), group * CONSTANTS, group * START
    if kind == BALL:
        put15(levers_and_gap, joint_data, offsets, first)
        return
    if kind == WELD:
        none = 0.0 * levers_and_gap[0]
        tilt = (none, none, none)
        for j in range(3):
            u1 = apply(R1, load3_at(constant, c + U + 3 * j))
            w1 = apply(P1, load3_at(constant, c + PARENT_U + 3 * j))
            tilt = plus(tilt, times(0.5, cross(u1, w1)))
        put18((*levers_and_gap, *tilt), joint_data, offsets, first)
        return
    u1, w1 = apply(R1, load3_at(constant, c + U)), apply(P1, load3_at(constant, c + PARENT_U))
    u, w = average(load3_at(start, s + U0), u1), average(load3_at(start, s + PARENT_U0), w1)
    if kind == UNIVERSAL:
        put27((*levers_and_gap, *tilt_between_axes(u1, w1), *u1, *u, *u1), joint_data, offsets, first)
        put9((*w1, *w, *w1), joint_data, offsets, index_offset(group, SECOND))
    elif lanes.side[group] > 0:
        put27((*levers_and_gap, *cross(u1, w1), *u1, *u, *u1), joint_data, offsets, first)
    else:
        put27((*levers_and_gap, *cross(u1, w1), *u1, *w, *w1), joint_data, offsets, first)


@internal_kernel
def load_rotations(lanes, work):
    """Load R1 of all bodies from its frame-by-frame array in `work` into the groups."""
    for group in range(lanes.kind.shape[0]):
        if lanes.kind[group] == POINT:
            continue
        store9_at(
            rows9(work.R1, lanes.offsets, index_offset(group, FRAME)), lanes.end, group * END + ROTATION1
        )


@internal_kernel
def apply_final_correction_to_groups(lanes, work, placed, shown):
    """Update the end of the step with the last correction; its part that is lost to rounding in the sums is stored at REMAINDER.

    The step adds that part to the state without this rounding. `placed`, `shown`: as in `move_group`; if `shown`, the lost part
    is also stored in work.rhs.
    """
    end, offsets = lanes.end, lanes.offsets
    for group in range(lanes.kind.shape[0]):
        at, s = index_offset(group, UNKNOWN), group * END
        if lanes.kind[group] == POINT:
            o, dr = numbers3(work.rhs, offsets, at, 0), load3_at(end, s + INCREMENT)
            dr1 = plus(dr, o)
            o = minus(o, minus(dr1, dr))
            store3_at(o, end, s + REMAINDER)
            if shown:
                put3(o, work.rhs, offsets, at)
            displace_group(lanes, work, group, dr1, placed, shown)
            continue
        corrections = numbers6(work.rhs, offsets, at, 0)
        dr, psi = load3_at(end, s + INCREMENT), load3_at(end, s + TURN)
        o, rotation = (
            (corrections[0], corrections[1], corrections[2]),
            apply(inverse_tangent(psi), (corrections[3], corrections[4], corrections[5])),
        )
        dr1, psi1 = plus(dr, o), plus(psi, rotation)
        o, rotation = minus(o, minus(dr1, dr)), minus(rotation, minus(psi1, psi))
        store3_at(o, end, s + REMAINDER)
        store3_at(rotation, end, s + REMAINDER + 3)
        if shown:
            put6((o[0], o[1], o[2], rotation[0], rotation[1], rotation[2]), work.rhs, offsets, at)
        move_group(lanes, work, group, dr1, psi1, placed, shown)
