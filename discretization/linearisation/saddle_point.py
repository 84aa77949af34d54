"""Solve saddle-point (KKT) systems with joints, A x + G^T y = b, G x = 0, with one factorisation.

The null space of G is never formed: x = P b with P the inverse of A on it. P maps constraint reactions G^T y to
zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy  # submodules are loaded on first access
from numpy.typing import NDArray

from discretization.linear.sparse import sparse_lu
from rigid.errors import ModelError

ROUNDING = 1e-12  # diagonal entries below this part of the largest one are zero
REDUNDANT = 1e-9  # diagonal entries of the multipliers if rows are dependent, relative to the scaled rows


class SaddlePointSolver:
    """Factors of the KKT matrix of A (n, n), real or complex, and G (m, n); applies P."""

    def __init__(self, A: scipy.sparse.csr_matrix, G: scipy.sparse.csr_matrix) -> None:
        self.size = A.shape[0]
        self._rows = G.shape[0]
        diagonal = np.abs(A.diagonal())
        # omit entries that are zero up to rounding: their logarithms would dominate the mean
        counts = diagonal[diagonal > ROUNDING * diagonal.max(initial=0.0)]
        scale = float(np.exp(np.mean(np.log(counts)))) if len(counts) else 1.0
        self._scale, G = scale, scale * G
        try:
            self._factors = _factored(
                scipy.sparse.bmat([[A, G.T], [G, None]], format="csc")
                if self._rows
                else scipy.sparse.csc_matrix(A)
            )
        except RuntimeError:
            if not self._rows:
                raise ModelError("linear equations: the matrix is singular; shift it") from None
            below = -REDUNDANT * scale * scipy.sparse.diags(np.ones(self._rows))
            try:
                self._factors = _factored(scipy.sparse.bmat([[A, G.T], [G, below]], format="csc"))
            except RuntimeError:
                raise ModelError("linear equations: the matrix is singular; shift it") from None

    def reactions(self, b: NDArray, below: NDArray | None = None) -> tuple[NDArray, NDArray]:
        """Return x and y of A x + G^T y = b, G x = below, for b (n,) or (n, columns).

        `below`: zero by default, for which x = P b.
        """
        full = np.zeros((self.size + self._rows, *b.shape[1:]), b.dtype)
        full[: self.size] = b
        if below is not None:
            full[self.size :] = self._scale * below
        solution = np.asarray(self._factors.solve(full))
        return solution[: self.size], self._scale * solution[self.size :]

    def solve(self, b: NDArray, below: NDArray | None = None) -> NDArray:
        """Return x of A x + G^T y = b, G x = below, for b (n,) or (n, columns); `below` is zero by default."""
        return self.reactions(b, below)[0]


def _factored(A: scipy.sparse.csc_matrix) -> Any:
    """Return the sparse LU factors of A."""
    # the pattern is symmetric: an ordering of A + A^T causes less fill-in than one of A^T A
    return sparse_lu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.1)
