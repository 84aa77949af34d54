"""A correction of a tree with the tangents of the iteration before: simplified Newton (Deuflhard, Newton Methods for Nonlinear
Problems, 2.1.2).

Residuals, levers, gaps, tilts and axes are as they are now. What the elimination (`discretization.trees.elimination`) has made of
tangents stays: columns by the motion of the joint, how unknowns of joints follow from conditions and from the motion of the
parent. Of these it takes what is left of the residuals to the parents, and expands as it is. All joints are of closed form.
"""

from __future__ import annotations

from discretization.trees.bodies import put, vector_at
from discretization.trees.elimination import at_joint, columns_at, combined, matrix_of
from discretization.trees.places import (
    BALL_0,
    BALL_K,
    BALL_Y,
    BY_CONDITION,
    FORCE_D,
    FORCE_E,
    GAP,
    LEVER,
    MEAN_AXIS,
    MEAN_PARENT_AXIS,
    OWN,
    PARENT_LEVER,
    PARENT_LEVER1,
    ROW2_0,
    ROW2_Y,
    ROW_0,
    ROW_Y,
    TILT,
    TURNS1,
)
from discretization.trees.shape import BALL, HINGE, UNIVERSAL
from rigid.columns import (
    add_column6,
    arm_at,
    column_at,
    column_minus,
    column_plus,
    column_times,
    three_at,
    upper,
    with_moment,
)
from rigid.compilation.decorators import flat_kernel, inner_kernel, small_kernel
from rigid.linear_algebra import apply, cross, dot, minus, times


@inner_kernel
def eliminate_again(tree, work):
    """All bodies, tips first."""
    for i in range(tree.frame.shape[0] - 1, -1, -1):
        eliminate_joint_again(tree, work, i)


@small_kernel
def _left_of(w, row, by_condition):
    """Of an unknown by the motion of the joint and the turn of the parent, behind which its row stands."""
    row_y = vector_at(w, row)
    row_e = minus(vector_at(w, row + 3), cross(vector_at(w, PARENT_LEVER1), row_y))
    return by_condition - dot(row_y, vector_at(w, GAP)) + dot(row_e, vector_at(w, TILT))


@flat_kernel
def eliminate_joint_again(tree, work, i):
    """What is left of one, and what its unknowns are by it."""
    values, w, p, at, kind = work.values, tree.each[i], tree.parent[i], OWN * i, tree.kind[i]
    F, M, tilt = three_at(work.residual, 6 * i), three_at(work.residual, 6 * i + 3), vector_at(w, TILT)
    k0, n = minus(M, cross(vector_at(w, LEVER), F)), vector_at(w, MEAN_AXIS)
    turning = times(0.5, cross(vector_at(w, TURNS1), k0))
    more = at_joint(work, w, i)
    if kind == HINGE:
        # a condition that turns with the parent does not by the tilt
        condition = dot(n, k0) - (dot(turning, tilt) if tree.side[i] < 0 else 0.0)
        left = _left_of(w, ROW_Y, w[BY_CONDITION] * condition)
        w[ROW_0] = left
        more = column_plus(more, column_times(left, column_at(w, FORCE_D)))
    elif kind == UNIVERSAL:
        one, two = dot(n, k0), dot(vector_at(w, MEAN_PARENT_AXIS), k0) - dot(turning, tilt)
        left = _left_of(w, ROW_Y, w[BY_CONDITION] * one + w[BY_CONDITION + 1] * two)
        left2 = _left_of(w, ROW2_Y, w[BY_CONDITION + 2] * one + w[BY_CONDITION + 3] * two)
        w[ROW_0], w[ROW2_0] = left, left2
        by_both = column_plus(
            column_times(left, column_at(w, FORCE_D)), column_times(left2, column_at(w, FORCE_E))
        )
        more = column_plus(more, by_both)
    elif kind == BALL:
        tilt = minus(apply(matrix_of(w, BALL_K), k0), apply(matrix_of(w, BALL_Y), vector_at(w, GAP)))
        put(w, BALL_0, tilt)
    if p < 0:
        return
    Y, E = columns_at(values, at), columns_at(values, at + 24)
    more = column_plus(more, column_minus(combined(E, tilt), combined(Y, vector_at(w, GAP))))
    if kind == BALL:
        more = upper(more)
    add_column6(with_moment(arm_at(w, PARENT_LEVER), more), work.residual, 6 * p)
