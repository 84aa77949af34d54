"""How many ways down there are at an equilibrium: negative eigenvalues of K on the motions that the joints allow.

    inertia of [K G^T; G -eps] = inertia of K + G^T G/eps, and a negative number for each row of G                (1)

counted as the negative pivots of an LU without row exchanges, after a fill-reducing order of rows and columns alike. Near a
critical point (1) is known to eps of the stiffness; where the number changes by one, the sign of the determinant of [K G^T; G 0]
is exact. With follower loads or away from an equilibrium K is not symmetric: the count is then an indication.
"""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded when they are asked for
from numpy.typing import NDArray

from discretization.linear.one_thread import one_thread
from discretization.linear.sparse import sparse_lu
from discretization.median import median
from discretization.statics.rest import Rest
from rigid.system import Floats

_EPS = 1e-7  # of the stiffness
SMALL = 120  # unknowns, up to which a full matrix is quicker
_PANEL = 64  # columns that LAPACK takes at once


def negative_count(rest: Rest) -> int:
    """Of the assembled tangent, before it is factored; -1: it cannot be told."""
    if rest.size > SMALL:
        return negative_pivots(rest.symmetric(), rest.is_row)
    matrix = rest.dense()
    return negative_pivots(0.5 * (matrix + matrix.T), rest.is_row)


def negative_pivots(matrix: scipy.sparse.csc_matrix | Floats, is_row: NDArray[np.bool_]) -> int:
    """The same of a symmetric [K G^T; G 0], its rows of G told, which are scaled by a stiffness; -1: it cannot be told."""
    diagonal = np.abs(matrix.diagonal())
    stiffness, rows = median(diagonal[~is_row]) or 1.0, np.flatnonzero(is_row)
    if isinstance(matrix, np.ndarray):
        shifted = matrix.copy()
        shifted[rows, rows] -= _EPS * stiffness
        return _negative_of_dense(shifted) - len(rows)
    starts = np.concatenate([[0], np.cumsum(is_row)])
    shift = scipy.sparse.csc_matrix((np.full(len(rows), -_EPS * stiffness), rows, starts), shape=matrix.shape)
    try:
        factors = sparse_lu(
            (matrix + shift).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        return -1
    if np.any(factors.perm_r != factors.perm_c):
        return -1
    return int(np.count_nonzero(factors.U.diagonal() < 0.0)) - int(is_row.sum())


def _negative_of_dense(matrix: Floats) -> int:
    """Negative eigenvalues of a symmetric matrix, by Sylvester's law from P^T A P = L D L^T of Bunch and Kaufman."""
    with one_thread(len(matrix)):
        factors, pivots, _ = scipy.linalg.lapack.dsytrf(matrix, lower=1, lwork=_PANEL * len(matrix))
    pairs = pivots < 0  # two rows each: a block of D, whose eigenvalues have different signs
    return int(np.count_nonzero(factors.diagonal()[~pairs] < 0.0)) + int(pairs.sum()) // 2


def smallest_stiffness(rest: Rest) -> float:
    """Size of the eigenvalue nearest to zero of K on the motions allowed, in the weights of `Rest`, by inverse iteration."""
    x = np.where(rest.is_row, 0.0, np.random.default_rng(0).standard_normal(rest.size))
    x /= rest.norm(x)
    residual, grown = np.zeros(len(rest.work.residual)), 1.0
    for _ in range(4):
        residual[: rest.size] = -rest.weight * x
        x = rest.solve(residual)
        grown = rest.norm(x)
        x /= grown
    return 1.0 / grown
