"""Compute quadrature nodes on [0, 1] and Lagrange polynomials."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Legendre, legendre

from rigid.system import Floats


def gauss(n: int) -> tuple[Floats, Floats]:
    """Return nodes and weights (n,) of Gauss' rule, exact to degree 2n - 1: the zeros of 004 (A.18)."""
    x, w = legendre.leggauss(n)
    return (1.0 + x) / 2.0, w / 2.0


def lobatto(n: int) -> tuple[Floats, Floats]:
    """Return nodes and weights (n,) of Lobatto's rule with both ends, exact to degree 2n - 3: the zeros of 004 (A.17)."""
    inner = Legendre.basis(n - 1).deriv()
    x = np.concatenate([[-1.0], np.sort(inner.roots().real), [1.0]])
    # two Newton steps: eigenvalues of the companion matrix lose a digit or two
    for _ in range(2):
        x[1:-1] -= inner(x[1:-1]) / inner.deriv()(x[1:-1])
    w = 2.0 / (n * (n - 1) * Legendre.basis(n - 1)(x) ** 2)
    return (1.0 + x) / 2.0, w / 2.0


def lagrange(nodes: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Return values and derivatives (len(x), len(nodes)) of the Lagrange polynomials of `nodes` at x: 001 (20)."""
    n = len(nodes)
    values, slopes = np.ones((len(x), n)), np.zeros((len(x), n))
    for i in range(n):
        remaining = [j for j in range(n) if j != i]
        for j in remaining:
            values[:, i] *= (x - nodes[j]) / (nodes[i] - nodes[j])
        for l in remaining:
            term = np.full(len(x), 1.0 / (nodes[i] - nodes[l]))
            for j in remaining:
                if j != l:
                    term *= (x - nodes[j]) / (nodes[i] - nodes[j])
            slopes[:, i] += term
    return values, slopes
