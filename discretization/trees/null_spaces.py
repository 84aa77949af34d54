"""Compute the free directions of joints without closed forms from their constraint rows: distances, screws, several joints.

G are the r <= 6 rows of the constraints by the motion of the body, and B the directions of their forces, as assembly computes
them. Householder reflections factorise both:

    G^T = Q [R; 0],   B = P [T; 0]                                                                                   (1)

The motion of the body relative to its parent is w = -Q1 R^-T g + S u with the columns of S = Q2. Constraint forces do no work
along N = (I - P1 P1^T) S, so that N^T (body) = 0 contains no multipliers; they follow from the body's equations,

    T dlam = -P1^T (body).                                                                                           (2)

The constraints do not change under a common motion of both bodies, so that G and B also describe the motion of the parent: this
holds for constraints that are invariant under rigid motions of space.
"""

from __future__ import annotations

from discretization.trees.bodies import store_vector
from discretization.trees.data_layout import (
    BLOCK,
    COLUMN,
    FREE_N,
    FREE_SHIFT,
    FREE_SIZE,
    GAP,
    PARENT_LEVER,
    PARENT_LEVER1,
    TILT,
)
from rigid.compilation.decorators import internal_kernel
from rigid.linear_algebra import load3, minus, times


@internal_kernel
def store_null_spaces(tree, work, i):
    """Compute free directions, conditions and constraint violations of body i; levers start at its own centre."""
    w, q, index, rows = (
        tree.joint_data[tree.joint[i]],
        tree.directions[tree.general_index[i]],
        tree.general_index[i],
        tree.rows[i],
    )
    p, first, f = tree.parent[i], tree.block[i], tree.frame[i]
    if p >= 0:
        other = tree.frame[p]
        offset = minus(load3(work.r1[f]), load3(work.r1[other]))
        store_vector(w, PARENT_LEVER1, offset)
        store_vector(
            w, PARENT_LEVER, minus(offset, times(0.5, minus(load3(work.dr[f]), load3(work.dr[other]))))
        )
    Q, R, P, T = tree.bases[index, 0], tree.bases[index, 1], tree.bases[index, 2], tree.bases[index, 3]
    for c in range(6):
        for r in range(rows):
            R[c, r] = work.values[first + 3 * BLOCK + r + COLUMN * c]
            T[c, r] = work.values[first + 2 * BLOCK + c + 6 * r]
    _factor(R, Q, rows)
    _factor(T, P, rows)
    for j in range(6 - rows):
        o = FREE_SIZE * j
        for c in range(6):
            q[o + FREE_SHIFT + c] = q[o + FREE_N + c] = Q[c, rows + j]
        for r in range(rows):
            along = 0.0
            for c in range(6):
                along += P[c, r] * Q[c, rows + j]
            for c in range(6):
                q[o + FREE_N + c] -= along * P[c, r]
    for c in range(6):
        w[GAP + c] = 0.0
    for r in range(rows):
        x = -work.residual[tree.row[tree.first_row[i] + r]]
        for k in range(r):
            x -= R[k, r] * tree.solved[k]
        tree.solved[r] = x / R[r, r]
        for c in range(3):
            w[GAP + c] -= tree.solved[r] * Q[c, r]
            w[TILT + c] += tree.solved[r] * Q[3 + c, r]


@internal_kernel
def _factor(R, Q, rows):
    """Factorise a matrix (6, rows) in place by Householder reflections: R on and above its diagonal; Q (6, 6) is orthonormal."""
    for c in range(6):
        for k in range(6):
            Q[c, k] = 1.0 if c == k else 0.0
    for j in range(rows):
        size = 0.0
        for c in range(j, 6):
            size += R[c, j] * R[c, j]
        size = size**0.5
        if R[j, j] > 0.0:
            size = -size
        R[j, j] -= size  # the column now holds v, the normal of the reflection
        square = 0.0
        for c in range(j, 6):
            square += R[c, j] * R[c, j]
        if square == 0.0:
            square = 1.0
        for k in range(j + 1, rows):
            along = 0.0
            for c in range(j, 6):
                along += R[c, j] * R[c, k]
            for c in range(j, 6):
                R[c, k] -= 2.0 * along / square * R[c, j]
        for k in range(6):
            along = 0.0
            for c in range(j, 6):
                along += Q[k, c] * R[c, j]
            for c in range(j, 6):
                Q[k, c] -= 2.0 * along / square * R[c, j]
        R[j, j] = size


@internal_kernel
def store_multiplier_corrections(tree, work, i, F, k):
    """Compute the corrections of the multipliers by (2) and store them in work.rhs; F, k: residual force and
    moment of the body.
    """
    rows, P, T, x = (
        tree.rows[i],
        tree.bases[tree.general_index[i], 2],
        tree.bases[tree.general_index[i], 3],
        tree.solved,
    )
    for r in range(rows - 1, -1, -1):
        left = 0.0
        for c in range(3):
            left -= P[c, r] * F[c] + P[3 + c, r] * k[c]
        for j in range(r + 1, rows):
            left -= T[r, j] * x[j]
        x[r] = left / T[r, r]
        work.rhs[tree.row[tree.first_row[i] + r]] = x[r]
