"""Count the unstable directions of an equilibrium: negative eigenvalues of K on the motions that the joints allow.

    inertia of [K G^T; G -eps] = inertia of K + G^T G/eps, and a negative number for each row of G                (1)

counted as the negative pivots of an LU without row exchanges, after a fill-reducing order of rows and columns alike. Near a
critical point (1) is known to eps of the stiffness; at a point at which the number changes by one, the sign of the determinant
of [K G^T; G 0] is exact. Away from an equilibrium K is not symmetric: the count is then an indication. Under follower loads it
is not symmetric either, and (1) does not hold: `negative_real_count` counts eigenvalues instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its subpackages are loaded on first access
from numpy.typing import NDArray

from discretization.linear.blas_threads import one_thread
from discretization.linear.sparse import sparse_lu
from discretization.median import median
from discretization.statics.equilibrium_system import EquilibriumSystem
from rigid.system import Floats

_EPS = 1e-7  # relative to the stiffness
SMALL = 120  # number of unknowns up to which a full matrix is quicker
FULL = 300  # number of unknowns up to which all eigenvalues of an unsymmetric matrix are computed
FEW = 8  # number of eigenvalues computed for larger matrices
REAL = 1e-6  # largest imaginary part of a real eigenvalue, relative
_PANEL = 64  # block size of LAPACK, columns


class Smallest(NamedTuple):
    """Eigenvalue nearest to zero of K on the motions allowed, in the weights of `EquilibriumSystem`."""

    size: float
    motion: Floats  # (size,) eigenvector of norm 1


def negative_count(statics: EquilibriumSystem, noise: float = 0.0) -> int:
    """Count the negative eigenvalues of the assembled tangent, before it is factorised; -1: they cannot be counted.

    noise: eigenvalues above -noise, in the weights of `EquilibriumSystem`, are not counted.
    """
    if statics.size > SMALL:
        matrix = statics.symmetric()
        if noise:
            matrix = (matrix + scipy.sparse.diags(noise * statics.weight)).tocsc()
    else:
        matrix = statics.dense()
        matrix = 0.5 * (matrix + matrix.T)
        matrix[np.diag_indices(statics.size)] += noise * statics.weight
    return negative_pivots(matrix, statics.is_row)


def negative_pivots(matrix: scipy.sparse.csc_matrix | Floats, is_row: NDArray[np.bool_]) -> int:
    """Count the negative eigenvalues of K on the null space of G for a symmetric [K G^T; G 0]; -1: they cannot be counted.

    is_row: True for the rows of G, which are scaled by a stiffness.
    """
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
    """Return the number of negative eigenvalues of a symmetric matrix.

    It follows from Sylvester's law of inertia and P^T A P = L D L^T of Bunch and Kaufman.
    """
    with one_thread(len(matrix)):
        factors, pivots, _ = scipy.linalg.lapack.dsytrf(matrix, lower=1, lwork=_PANEL * len(matrix))
    pairs = pivots < 0  # two rows each: a block of D, whose eigenvalues have different signs
    return int(np.count_nonzero(factors.diagonal()[~pairs] < 0.0)) + int(pairs.sum()) // 2


def negative_real_count(statics: EquilibriumSystem, noise: float, most: float) -> int:
    """Count the real eigenvalues between -most and -noise of K on the motions allowed, in the weights of `EquilibriumSystem`.

    K may be unsymmetric and must be factorised. For large models the `FEW` eigenvalues nearest to zero are examined.
    """
    size, residual = statics.size, np.zeros(len(statics.work.residual))

    def inverse(x: Floats) -> Floats:
        residual[:size] = -statics.weight * x
        return statics.solve(residual)

    if size <= FULL:
        inverses = np.linalg.eigvals(np.stack([inverse(x) for x in np.eye(size)], axis=1))
    else:
        operator = scipy.sparse.linalg.LinearOperator((size, size), matvec=inverse, dtype=float)
        start = np.where(statics.is_row, 0.0, np.random.default_rng(0).standard_normal(size))
        try:
            inverses = scipy.sparse.linalg.eigs(
                operator, FEW, which="LM", v0=start, return_eigenvectors=False
            )
        except scipy.sparse.linalg.ArpackNoConvergence as error:
            inverses = error.eigenvalues
    real = np.abs(inverses.imag) <= REAL * np.abs(inverses)
    counted = (inverses.real < -1.0 / most) & (noise * np.abs(inverses) < 1.0)
    return int(np.count_nonzero(real & counted))


def smallest_stiffness(statics: EquilibriumSystem) -> Smallest:
    """Compute the eigenvalue nearest to zero of K on the motions allowed by inverse iteration; K must be factorised."""
    x = np.where(statics.is_row, 0.0, np.random.default_rng(0).standard_normal(statics.size))
    x /= statics.norm(x)
    residual, growth = np.zeros(len(statics.work.residual)), 1.0
    for _ in range(4):
        residual[: statics.size] = -statics.weight * x
        x = statics.solve(residual)
        growth = statics.norm(x)
        x /= growth
    return Smallest(1.0 / growth, x)
