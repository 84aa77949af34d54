"""Solve sparse linear equations with a few full rows and columns, by a small Schur complement.

    A x + G^T y + B^T z = b,   G x = c,   B x = d,   A symmetric, G sparse, B (k, n) full, k small                  (1)

SuperLU may choose full rows as pivots, which causes complete fill-in. Instead, one unknown is held for each row, E x = s:

    A x + G^T y + E^T e = b - B^T z,   G x = c,   E x = s                                                           (2)

is sparse; z and s follow from the 2 k equations e = 0, B x = d. A may be singular, as at a critical point, if B holds the
motions in its null space. (2) is then regular as well: a QR decomposition with column pivoting selects held unknowns in which
these motions are large and independent.

Source: Govaerts, Numerical Methods for Bifurcations of Dynamical Equilibria (2000), chapter 3, for bordered matrices.
"""

from __future__ import annotations

import numpy as np
import scipy  # submodules are loaded lazily
from numpy.typing import NDArray

from discretization.linear.blas_threads import one_thread
from discretization.linearisation.saddle_point import SaddlePointSolver
from rigid.errors import ModelError
from rigid.system import Floats


class BorderedMatrix:
    """Factorised matrix of (1).

    Parameters
    ----------
    A : sparse matrix (n, n), symmetric
    G : sparse matrix (m, n)
    B : (k, n) full rows; k may be 0
    motions : (k, n) independent motions that the rows of B hold: B motions^T is regular
    """

    def __init__(
        self, A: scipy.sparse.csr_matrix, G: scipy.sparse.csr_matrix, B: Floats, motions: Floats
    ) -> None:
        self._A, self._G, self._B = A, G, B
        self._m, self._k = G.shape[0], len(B)
        m, k, n = self._m, self._k, A.shape[0]
        if not k:
            self._saddle = SaddlePointSolver(A, G)
            return
        with one_thread():
            pivots = scipy.linalg.qr(motions, mode="r", pivoting=True)[1][:k]
        E = scipy.sparse.csr_matrix((np.ones(k), (range(k), pivots)), shape=(k, n))
        self._saddle = SaddlePointSolver(A, scipy.sparse.vstack([G, E], format="csr"))
        # right-hand sides of (2): columns for z, then for s
        right, below = np.zeros((n, 2 * k)), np.zeros((m + k, 2 * k))
        right[:, :k], below[m:, k:] = -B.T, np.eye(k)
        self._x, self._y = self._saddle.reactions(right, below)
        # e in units of s, so that entries have similar magnitude
        self._stiffness = float(np.abs(self._y[m:, k:]).max()) or 1.0
        small = np.vstack([self._y[m:] / self._stiffness, B @ self._x])
        small[:k, :k] *= self._stiffness
        small[k:, :k] *= self._stiffness
        try:  # the inverse, as LAPACK would wake threads to solve with several right-hand sides
            self._inverse = np.linalg.inv(small)
        except np.linalg.LinAlgError:
            raise ModelError("linear equations: the matrix is singular; shift it") from None

    def reactions(self, b: NDArray, below: NDArray | None = None) -> tuple[NDArray, NDArray]:
        """Solve (1) for x and the reactions.

        Parameters
        ----------
        b : (n,) or (n, columns)
        below : (m + k, ...) right-hand sides c, followed by d; default: zero

        Returns
        -------
        x (n, ...), and the reactions y, followed by z (m + k, ...)
        """
        k, m = self._k, self._m
        if not k:
            return self._saddle.reactions(b, below)
        rows = np.zeros((m + k, *b.shape[1:]), b.dtype) if below is None else below
        x, y = self._saddle.reactions(b, rows)
        coefficients = self._inverse @ np.concatenate([-y[m:] / self._stiffness, rows[m:] - self._B @ x])
        coefficients[:k] *= self._stiffness
        x, y = x + self._x @ coefficients, y + self._y @ coefficients
        y[m:] = coefficients[:k]
        return x, y

    def refined(self, b: NDArray, below: NDArray) -> tuple[NDArray, NDArray]:
        """Solve (1) as `reactions` does, with one step of iterative refinement."""
        x, y = self.reactions(b, below)
        m = self._m
        left = b - self._A @ x - self._G.T @ y[:m] - self._B.T @ y[m:]
        correction = self.reactions(left, below - np.concatenate([self._G @ x, self._B @ x]))
        return x + correction[0], y + correction[1]

    def solve(self, b: NDArray, below: NDArray | None = None) -> NDArray:
        """Solve (1) and return x (n, ...) only."""
        return self.reactions(b, below)[0]
