"""Joints that close loops of trees: compute the forces and moments that pass through them (loop closure by a Schur complement).

The tree omits these joints; their forces and moments connect bodies that the tree leaves unconnected. Let K be the matrix
of the tree and z the corrections of its bodies. For such a joint let m = (f, k) be its force and moment, B the effect of m on
the equations of both of its bodies, and G the motion of one body relative to the other at the joint. The equations

    K z + B m = -R,   G z = -g,   conditions of k as of a joint of the tree                                     (1)

are solved by the effect of these forces on each other through the tree (Schur complement). With K z_0 = -R and K Z = -B

    G Z m = -(g + G z_0)                                                                                        (2)

The unknowns are f and k at the end of the iteration, as for joints of the tree: the tangent has no block between both bodies. A
column of Z is computed by a sweep from both bodies up to the roots and a sweep down to all bodies to which joints of other
loops are attached. The columns of one joint are computed together in SIMD lanes (`rigid.lanes`).
"""

from __future__ import annotations

from discretization.assembly.workspace import rotation_of
from discretization.trees.bodies import half_dyad, store_vector, update_joint, vector_at
from discretization.trees.data_layout import (
    AXIS,
    CONDITION,
    GAP,
    JOINT_FORCE,
    JOINT_MOMENT,
    LEVER,
    LEVER1,
    MOMENT,
    NEW_COUPLE,
    NEW_FORCE,
    NEXT,
    OFF_AXIS,
    PARENT_LEVER,
    PARENT_LEVER1,
    TILT,
    TURN,
    TURNS,
)
from discretization.trees.elimination import (
    add_to_rows,
    add_vector,
    apply_load,
    carry_load,
    carry_motion,
    correct_body,
)
from discretization.trees.spanning_tree import BALL, HINGE, UNIVERSAL
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.lane_arrays import view_in_lanes
from rigid.linear_algebra import apply, cross, dot, load3, minus, plus, times

# smallest pivot relative to the largest number of its column; below it the loop constraints are not independent
SMALLEST = 1e-14


@internal_kernel
def update_loops(tree, loops, work):
    """Compute levers, axes and gaps of joints that close loops, and add the geometric stiffness of their forces (rotating levers)
    to the blocks of their bodies. For hinges also compute the directions of OFF_AXIS.
    """
    joints = loops.joints
    for j in range(loops.place.shape[0]):
        w = joints.joint_data[joints.joint[j]]
        force = vector_at(w, JOINT_FORCE)
        update_joint(joints, work, j)
        if joints.kind[j] == HINGE:
            for k in range(2):
                store_vector(
                    w,
                    OFF_AXIS + 3 * k,
                    apply(rotation_of(work.R1, joints.frame[j]), load3(joints.U[joints.joint[j], 1 + k, 0])),
                )
        body, other = loops.place[j, 0], loops.place[j, 1]
        turning = half_dyad(vector_at(w, LEVER1), times(-1.0, force))
        add_to_rows(work.values, tree.sums[body] + MOMENT + TURN, turning)
        if other >= 0:
            turning = half_dyad(vector_at(w, PARENT_LEVER1), force)
            add_to_rows(work.values, tree.sums[other] + MOMENT + TURN, turning)


@internal_kernel
def close_loops(tree, loops, work):
    """Compute the new forces f and moments k of joints that close loops, and add their effect to the right-hand sides of the
    tree.

    The bodies of the tree are already eliminated; `back_substitute` follows. Return 0, or 1 if the loop constraints are not
    independent.
    """
    for s in range(loops.sets.shape[0]):
        if _close(tree, loops, work, loops.sets[s]) != 0:
            return 1
    return 0


@internal_kernel
def _close(tree, loops, work, sizes):
    """Compute f and k of one set of coupled loops (`sizes`: row of `LoopArrays.sets`); return 0 or 1 as `close_loops` does."""
    first, last, begin, end, n = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
    low = loops.low[sizes[5] : sizes[5] + n]
    clear_matrix(loops.matrix, low)
    for k in range(begin, end):
        correct_body(tree, work, loops.bodies[k])
    for j in range(first, last):
        store_right_hand_side(loops, work, j)
        _put_columns(tree, loops, work, j)
    if solve(loops.matrix, loops.impulse, (loops.row_size, loops.column_size, loops.exchanged), low) != 0:
        return 1
    for j in range(first, last):
        store_joint_wrench(loops, j)
    for k in range(end - 1, begin - 1, -1):
        apply_load(tree, work, loops.loads, loops.unknowns, loops.bodies[k])
    return 0


@internal_kernel
def store_joint_wrench(loops, j):
    """Store the new force f and moment k of a joint, and add them to the load on both bodies."""
    w, at = loops.joints.joint_data[loops.joints.joint[j]], loops.column[j]
    f = vector_at(loops.impulse, at)
    k = vector_at(loops.impulse, at + 3) if loops.joints.kind[j] != BALL else times(0.0, f)
    store_vector(w, NEW_FORCE, f)
    store_vector(w, NEW_COUPLE, k)
    add_joint_load_on_ends(loops, loops.loads, j, f, k)


@inline_kernel
def relative_motion(loops, j, body, other):
    """Return the motion of a body relative to the other at a joint, due to their corrections, as two vectors: displacements, and
    rotations or changes of the conditions on the moment. `body`, `other`: corrections (displacement, rotation).
    """
    joints = loops.joints
    w, kind = joints.joint_data[joints.joint[j]], joints.kind[j]
    couple = vector_at(w, JOINT_MOMENT)
    (ob, eb), (oa, ea) = body, other
    displacement = minus(
        plus(ob, cross(eb, vector_at(w, LEVER1))), plus(oa, cross(ea, vector_at(w, PARENT_LEVER1)))
    )
    rotation = minus(eb, ea)
    if kind == HINGE:
        turning = times(0.5, cross(vector_at(w, TURNS), couple))
        s, t = vector_at(w, OFF_AXIS), vector_at(w, OFF_AXIS + 3)
        of = eb if joints.side[j] > 0 else ea
        return displacement, (dot(s, rotation), dot(t, rotation), dot(turning, of))
    if kind == UNIVERSAL:
        u, v = vector_at(w, AXIS), vector_at(w, AXIS + NEXT)
        of_body, of_other = times(0.5, cross(u, couple)), times(0.5, cross(v, couple))
        return displacement, (dot(cross(u, v), rotation), dot(of_body, eb), dot(of_other, ea))
    return displacement, rotation


@internal_kernel
def store_right_hand_side(loops, work, j):
    """Store the right-hand side of (2) for a joint."""
    joints = loops.joints
    w, kind, at = joints.joint_data[joints.joint[j]], joints.kind[j], loops.column[j]
    body, other = loops.place[j, 0], loops.place[j, 1]
    displacement, rotation = relative_motion(loops, j, _correction(work, body), _correction(work, other))
    store_vector(loops.impulse, at, times(-1.0, plus(displacement, vector_at(w, GAP))))
    if kind == BALL:
        return
    tilt = vector_at(w, TILT)
    if kind == HINGE:
        s, t = vector_at(w, OFF_AXIS), vector_at(w, OFF_AXIS + 3)
        rotation = (rotation[0] - dot(s, tilt), rotation[1] - dot(t, tilt), rotation[2])
    elif kind == UNIVERSAL:
        rotation = (
            rotation[0] - dot(cross(vector_at(w, AXIS), vector_at(w, AXIS + NEXT)), tilt),
            rotation[1],
            rotation[2],
        )
    else:
        rotation = minus(rotation, tilt)
    store_vector(loops.impulse, at + 3, times(-1.0, rotation))


@inline_kernel
def _correction(work, i):
    """Return the correction (displacement, rotation) of a body; zero if it is fixed."""
    if i < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    return vector_at(work.rhs, 6 * i), vector_at(work.rhs, 6 * i + 3)


@internal_kernel
def _put_columns(tree, loops, work, j):
    """Compute and store the columns of G Z for a joint."""
    joints, matrix, rows, at = loops.joints, loops.matrix, loops.rows, loops.column[j]
    pull, unknowns, motions = (
        view_in_lanes(loops.lane_loads),
        view_in_lanes(loops.lane_unknowns),
        view_in_lanes(loops.lane_motions),
    )
    unit, in_rows, n = view_in_lanes(loops.unit), view_in_lanes(rows), tree.frame.shape[0]
    add_joint_load_on_ends(loops, pull, j, vector_at(unit, 0), vector_at(unit, 3))
    for k in range(loops.up[j, 0], loops.up[j, 1]):
        carry_load(tree, work, pull, unknowns[loops.above[k]], loops.above[k])
    for k in range(loops.down[j, 0], loops.down[j, 1]):
        carry_motion(tree, work, unknowns, motions, loops.below[k], n)
    for k in range(loops.near[j, 0], loops.near[j, 1]):
        other = loops.touched[k]
        a = loops.place[other, 1]
        displacement, rotation = relative_motion(
            loops,
            other,
            motion_of_body(motions, loops.place[other, 0]),
            motion_of_body(motions, a if a >= 0 else n),
        )
        store_vector(in_rows, 0, displacement)
        store_vector(in_rows, 3, rotation)
        _put_rows(matrix, rows, loops.column[other], at, joints.kind[other] == BALL, joints.kind[j] == BALL)
    add_conditions(loops, j)
    for k in range(loops.up[j, 0], loops.up[j, 1]):
        clear(unknowns[loops.above[k]])
    for k in range(loops.down[j, 0], loops.down[j, 1]):
        clear(motions[loops.below[k]])


@internal_kernel
def add_conditions(loops, j):
    """Add the conditions on the moment of a joint to its rows of the matrix."""
    w, kind, at, matrix = (
        loops.joints.joint_data[loops.joints.joint[j]],
        loops.joints.kind[j],
        loops.column[j],
        loops.matrix,
    )
    for c in range(3):
        if kind == HINGE:
            matrix[at + 5, at + 3 + c] += w[CONDITION + c]
        elif kind == UNIVERSAL:
            matrix[at + 4, at + 3 + c] += w[CONDITION + c]
            matrix[at + 5, at + 3 + c] += w[CONDITION + NEXT + c]


@internal_kernel
def _put_rows(matrix, rows, row, column, of_ball, ball):
    """Copy the columns of a joint from the scratch rows to the matrix; ball joints have three unknowns, others six."""
    for r in range(3 if of_ball else 6):
        for c in range(3 if ball else 6):
            matrix[row + r, column + c] = rows[r, c]


@internal_kernel
def clear(x):
    """Set all entries of an array, along its first axis, to zero."""
    for k in range(x.shape[0]):
        x[k] = 0.0


@inline_kernel
def motion_of_body(motions, i):
    """Return the motion (displacement, rotation) of a body."""
    return vector_at(motions[i], 0), vector_at(motions[i], 3)


@internal_kernel
def add_joint_load_on_ends(loops, pull, j, f, k):
    """Add the effect of f and k of a joint on the equations of both bodies to the loads `pull`."""
    w, body, other = loops.joints.joint_data[loops.joints.joint[j]], loops.place[j, 0], loops.place[j, 1]
    add_vector(pull[body], 0, times(-1.0, f))
    add_vector(pull[body], 3, times(-1.0, plus(cross(vector_at(w, LEVER), f), k)))
    if other >= 0:
        add_vector(pull[other], 0, f)
        add_vector(pull[other], 3, plus(cross(vector_at(w, PARENT_LEVER), f), k))


@inline_kernel
def _first(low, first, r):
    """Return the first column of row r of the profile, given the first column of the row above."""
    while low[first] < r:
        first += 1
    return first


@internal_kernel
def clear_matrix(matrix, low):
    """Set the profile of the matrix of a set of coupled loops to zero. `low`: for each column its last row, or that of an earlier
    column if it is larger; low[low[r]] is the last column of row r, including row exchanges.
    """
    first = 0
    for r in range(low.shape[0]):
        first = _first(low, first, r)
        for c in range(first, low[low[r]] + 1):
            matrix[r, c] = 0.0


@internal_kernel
def _scale(matrix, low, row, column):
    """Divide the rows, then the columns of the matrix by their largest absolute values; store the factors in `row`, `column`."""
    first = 0
    for c in range(low.shape[0]):
        column[c] = 0.0
    for r in range(low.shape[0]):
        first, largest = _first(low, first, r), 0.0
        for c in range(first, low[r] + 1):
            largest = max(largest, abs(matrix[r, c]))
        row[r] = 1.0 / largest
        for c in range(first, low[r] + 1):
            matrix[r, c] *= row[r]
            column[c] = max(column[c], abs(matrix[r, c]))
    first = 0
    for c in range(low.shape[0]):
        column[c] = 1.0 / column[c]
    for r in range(low.shape[0]):
        first = _first(low, first, r)
        for c in range(first, low[r] + 1):
            matrix[r, c] *= column[c]


@internal_kernel
def solve(matrix, x, scratch, low):
    """Solve (2) in place, with row exchanges; x is the right-hand side on entry. Return 0, or 1 if the matrix is singular, with x
    set to infinity.
    """
    row, column, exchanged = scratch
    n = low.shape[0]
    _scale(matrix, low, row, column)
    if _factored(matrix, exchanged, low) != 0:
        for r in range(n):
            x[r] = 1e300 * 1e300
        return 1
    for r in range(n):
        x[r] *= row[r]
    for c in range(n):
        best = exchanged[c]
        x[c], x[best] = x[best], x[c]
        for r in range(c + 1, low[c] + 1):
            x[r] -= matrix[r, c] * x[c]
    for r in range(n - 1, -1, -1):
        for c in range(r + 1, low[low[r]] + 1):
            x[r] -= matrix[r, c] * x[c]
        x[r] *= matrix[r, r]
    for c in range(n):
        x[c] *= column[c]
    return 0


@internal_kernel
def _factored(matrix, exchanged, low):
    """Factorise the scaled matrix in place (LU): the lower factor lies below the diagonal, and the diagonal is inverted. Return
    0, or 1 if the matrix is singular.
    """
    for c in range(low.shape[0]):
        best, end, last_column = c, low[c] + 1, low[low[c]] + 1
        for r in range(c + 1, end):
            if abs(matrix[r, c]) > abs(matrix[best, c]):
                best = r
        exchanged[c] = best
        if not abs(matrix[best, c]) > SMALLEST:
            return 1
        if best != c:
            for k in range(c, last_column):
                matrix[c, k], matrix[best, k] = matrix[best, k], matrix[c, k]
        pivot = 1.0 / matrix[c, c]
        for r in range(c + 1, end):
            factor = matrix[r, c] * pivot
            matrix[r, c] = factor
            for k in range(c + 1, last_column):
                matrix[r, k] -= factor * matrix[c, k]
        matrix[c, c] = pivot
    return 0
