"""Compute coefficients of SPARK methods from the conditions of 004 appendix A (Jay 2007), not from printed tables.

    B(s)   sum b_i c_i^(k-1) = 1/k        C(s)   sum_j a_ij c_j^(k-1) = c_i^k/k
    Ctilde, Cbar: condition C between the nodes c of the stages and ctilde of the constraints

Ctilde(s - 2) of (A.16) holds for k = 1..s - 1, by (A.11).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from discretization.time.quadrature import gauss, lobatto
from rigid.errors import ModelError
from rigid.system import Floats


class Tableau(NamedTuple):
    """SPARK coefficients; stages i = 1..s, constraint stages 0..p."""

    A: Floats  # (s, s) coefficients of q
    A_hat: Floats  # (s, s) coefficients of p, forces
    A_tilde: Floats  # (s, p + 1) coefficients of p, constraint forces
    A_bar: Floats  # (p + 1, s) coefficients of the coordinates at which g = 0
    b: Floats  # (s,)
    b_tilde: Floats  # (p + 1,)
    c: Floats  # (s,)

    def options(self) -> Floats:
        """Return the numbers of stages and all coefficients as one flat array, for the compiled residual."""
        s, constraint_stages = self.A_tilde.shape
        flat = [x.ravel() for x in (self.A, self.A_hat, self.A_tilde, self.A_bar, self.b, self.b_tilde)]
        return np.concatenate([[s, constraint_stages], *flat])


def _read_only(*arrays: Floats) -> Tableau:
    """Return a tableau of these arrays, made read-only because many runs share it."""
    for array in arrays:
        array.setflags(write=False)
    return Tableau(*arrays)


def collocation(c: Floats, at: Floats) -> Floats:
    """Return a_ij (len(at), len(c)) with sum_j a_ij c_j^(k-1) = at_i^k/k for k = 1..len(c)."""
    k = np.arange(1, len(c) + 1)
    return np.linalg.solve(np.vander(c, increasing=True).T, (at[:, None] ** k / k).T).T


def with_ends(c: Floats, at: Floats, first: float) -> Floats:
    """Return a_ij with first column `first`, last column 0, and the rest from the conditions k = 1..len(c) - 2."""
    n = len(c)
    A = np.zeros((len(at), n))
    A[:, 0] = first
    if n > 2:
        k = np.arange(1, n - 1)
        powers = c ** (k[:, None] - 1)  # (k, j); 0^0 = 1
        target = at[:, None] ** k / k - first * powers[:, 0]
        A[:, 1:-1] = np.linalg.solve(powers[:, 1:-1], target.T).T
    return A


@cache
def gauss_lobatto(s: int) -> Tableau:
    """Return the tableau with s Gauss stages and constraints at s + 1 Lobatto nodes: (A.15), (A.16). Order 2s."""
    if s < 1:
        raise ModelError(f"Gauss-Lobatto SPARK with s = {s} stages; give at least 1")
    c, b = gauss(s)
    ct, bt = lobatto(s + 1)
    A = collocation(c, c)
    return _read_only(A, A, with_ends(ct, c, bt[0]), collocation(c, ct), b, bt, c)


@cache
def lobatto_3a_3b(s: int) -> Tableau:
    """Return the tableau with s stages at the Lobatto nodes: (A.13), (A.14). Order 2s - 2."""
    if s < 2:
        raise ModelError(f"Lobatto IIIA-B with s = {s} stages; give at least 2")
    c, b = lobatto(s)
    A = collocation(c, c)
    A_hat = with_ends(c, c, b[0])
    return _read_only(A, A_hat, A_hat, A, b, b, c)
