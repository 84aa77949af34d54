"""Links of bodies on joints to earlier bodies that are not their parents, through rod elements, springs and the like.

This extends (1) and (2) of `discretization.trees.elimination`. With the motions z_k of the linked bodies and the blocks between
them, C_k on the body, expressed at its joint, and R_k on the linked body,

    body   r + B z_p + A w + sum C_k z_k     force on other   R_k z     u = u_0 + U_p z_p + sum U_k z_k                 (1)

so that, with the directions S, the following blocks between parent and others, and between others, are added (fill-in):

    parent by other   C_k + A2 S U_k     other by parent   R_k (1 + S U_p)     other by other   R_j S U_k            (2)

and R_k (z_0 + S u_0) is added to the right-hand side. Motions of parent and others are those of their frames.
"""

from __future__ import annotations

from discretization.trees.bodies import vector_at
from discretization.trees.data_layout import (
    BLOCK,
    COLUMN,
    COUPLE,
    FORCE,
    FREE_AXIS,
    FREE_M,
    FREE_N,
    FREE_ROW,
    FREE_SHIFT,
    FREE_SIZE,
    GAP,
    LEVER,
    LEVER1,
    PARENT_LEVER,
    PARENT_LEVER1,
    ROW,
    ROW_0,
    ROW_STRIDE,
    TILT,
    TURN,
)
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.linear_algebra import cross, dot, minus, plus, times


@inline_kernel
def _unit(c):
    """Return unit motion c of six, as a displacement and a rotation."""
    return (
        (1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2)),
        (1.0 * (c == 3), 1.0 * (c == 4), 1.0 * (c == 5)),
    )


@inline_kernel
def _displaced(tree, i, u, j, y, e):
    """Return the motion (y, e) plus u times the free direction j of the joint of a body."""
    q, o = tree.directions[tree.general_index[i]], FREE_SIZE * j
    return plus(y, times(u, vector_at(q, o + FREE_SHIFT))), plus(e, times(u, vector_at(q, o + FREE_AXIS)))


@inline_kernel
def _force_on_body(tree, work, i, k, c):
    """Return the force and the moment about the joint of body i due to unit motion c of the other body of link k: column c of
    C_k.
    """
    at = tree.link[k] + COLUMN * c
    f = vector_at(work.values, at)
    return f, minus(
        vector_at(work.values, at + 3), cross(vector_at(tree.joint_data[tree.joint[i]], LEVER), f)
    )


@internal_kernel
def _add_reaction(tree, work, i, k, y, e, into, to):
    """Add the force and moment (6 numbers) on the other body of link k, due to the motion (y, e) of body i at the point of its
    joint, to an array at offset `to`.
    """
    o, back = minus(y, cross(e, vector_at(tree.joint_data[tree.joint[i]], LEVER1))), tree.link[k] + BLOCK
    for r in range(6):
        reaction = 0.0
        for c in range(3):
            reaction += (
                work.values[back + COLUMN * c + r] * o[c] + work.values[back + COLUMN * (3 + c) + r] * e[c]
            )
        into[to + r] += reaction


@internal_kernel
def eliminate_links(tree, work, i):
    """Compute U_k for a body whose joint is already eliminated, and add the blocks of (2) and the right-hand side."""
    first, end, p, to = tree.link_of[i], tree.link_of[i + 1], tree.parent[i], tree.left_of[i]
    for k in range(first, end):
        _put_unknowns(tree, work, i, k)
    if p >= 0:
        for k in range(first, end):
            to += 1  # the block of the parent by its own motion is handled by the elimination
            _add_to_parent(tree, work, i, k, tree.left[to])
        to += 1
    for k in range(first, end):
        _add_right_hand_side(tree, work, i, k)
        if p >= 0:
            _add_by_parent(tree, work, i, k, tree.left[to])
            to += 1
        for by in range(first, end):
            _add_by_other(tree, work, i, k, by, tree.left[to])
            to += 1


@internal_kernel
def _put_unknowns(tree, work, i, k):
    """Compute and store U_k, the rows of the unknowns of a body for link k."""
    q, lu, d, U = (
        tree.directions[tree.general_index[i]],
        tree.factors[tree.general_index[i]],
        tree.free[i],
        tree.linked[k],
    )
    for c in range(6):
        f, g = _force_on_body(tree, work, i, k, c)
        for j in range(d):
            o = FREE_SIZE * j
            x = dot(vector_at(q, o + FREE_N), f) + dot(vector_at(q, o + FREE_M), g)
            for b in range(j):
                x -= lu[j, b] * U[ROW_STRIDE * b + c]
            U[ROW_STRIDE * j + c] = x
        for j in range(d - 1, -1, -1):
            x = -U[ROW_STRIDE * j + c]
            for b in range(j + 1, d):
                x -= lu[j, b] * U[ROW_STRIDE * b + c]
            U[ROW_STRIDE * j + c] = lu[j, j] * x


@internal_kernel
def _add_to_parent(tree, work, i, k, to):
    """Add the force and moment on the parent due to the motion of the other body of link k to the block at offset `to`."""
    w, q, values = tree.joint_data[tree.joint[i]], tree.directions[tree.general_index[i]], work.values
    for c in range(6):
        f, g = _force_on_body(tree, work, i, k, c)
        for j in range(tree.free[i]):
            u, at = tree.linked[k, ROW_STRIDE * j + c], FREE_SIZE * j + FREE_ROW - ROW
            f = plus(f, times(u, vector_at(q, at + FORCE)))
            g = plus(g, times(u, vector_at(q, at + COUPLE)))
        g = plus(g, cross(vector_at(w, PARENT_LEVER), f))
        for r in range(3):
            values[to + COLUMN * c + r] += f[r]
            values[to + COLUMN * c + 3 + r] += g[r]


@internal_kernel
def _add_right_hand_side(tree, work, i, k):
    """Add the force and moment on the other body due to the constraint violation and the constant part of the unknowns of the
    joint to its residual.
    """
    w, q = tree.joint_data[tree.joint[i]], tree.directions[tree.general_index[i]]
    y, e = times(-1.0, vector_at(w, GAP)), vector_at(w, TILT)
    for j in range(tree.free[i]):
        y, e = _displaced(tree, i, q[FREE_SIZE * j + FREE_ROW + ROW_0 - ROW], j, y, e)
    _add_reaction(tree, work, i, k, y, e, work.residual, 6 * tree.near[k])


@internal_kernel
def _add_by_parent(tree, work, i, k, to):
    """Add the force and moment on the other body of link k due to the motion of the parent to the block at offset `to`."""
    w, q = tree.joint_data[tree.joint[i]], tree.directions[tree.general_index[i]]
    for c in range(6):
        o, rotation = _unit(c)
        yp = plus(o, cross(rotation, vector_at(w, PARENT_LEVER1)))
        y, e = yp, rotation
        for j in range(tree.free[i]):
            at = FREE_SIZE * j + FREE_ROW
            u = dot(vector_at(q, at), yp) + dot(vector_at(q, at + TURN), rotation)
            y, e = _displaced(tree, i, u, j, y, e)
        _add_reaction(tree, work, i, k, y, e, work.values, to + COLUMN * c)


@internal_kernel
def _add_by_other(tree, work, i, k, by, to):
    """Add the force and moment on the other body of link k due to the motion of the other body of link `by` to the block at
    offset `to`.
    """
    none = (0.0, 0.0, 0.0)
    for c in range(6):
        y, e = none, none
        for j in range(tree.free[i]):
            y, e = _displaced(tree, i, tree.linked[by, ROW_STRIDE * j + c], j, y, e)
        _add_reaction(tree, work, i, k, y, e, work.values, to + COLUMN * c)


@internal_kernel
def unknown_from_links(tree, work, i, j):
    """Return the part of unknown j of a body that follows from the corrections of its linked bodies."""
    u = 0.0
    for k in range(tree.link_of[i], tree.link_of[i + 1]):
        for c in range(6):
            u += tree.linked[k, ROW_STRIDE * j + c] * work.rhs[6 * tree.near[k] + c]
    return u


@internal_kernel
def force_from_links(tree, work, i):
    """Return the force and the moment about the joint of a body due to the corrections of its linked bodies."""
    f = g = (0.0, 0.0, 0.0)
    for k in range(tree.link_of[i], tree.link_of[i + 1]):
        for c in range(6):
            u = work.rhs[6 * tree.near[k] + c]
            df, dg = _force_on_body(tree, work, i, k, c)
            f, g = plus(f, times(u, df)), plus(g, times(u, dg))
    return f, g
