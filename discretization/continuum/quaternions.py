"""Quaternions as vectors of R^4, scalar first, and the matrices L, R, E of 003 (13)-(16). Shapes (..., 4), (..., 4, 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # float64, or complex128 for a complex step

CONJUGATION = np.array([1.0, -1.0, -1.0, -1.0])


def apply(A: Array, x: Array) -> Array:
    """A x for matrices (..., m, n) and vectors (..., n)."""
    return np.einsum("...ij,...j->...i", A, x)


def inner(x: Array, y: Array) -> Array:
    """<x, y> over the last axis, without conjugation."""
    return np.einsum("...i,...i->...", x, y)


def hat(v: Array) -> Array:
    """The matrix of v x, (..., 3, 3)."""
    x, y, z = np.moveaxis(v, -1, 0)
    o = np.zeros_like(x)
    return _matrix([[o, -z, y], [z, o, -x], [-y, x, o]])


def L(p: Array) -> Array:
    """L(p) q = p q (14)."""
    a, b, c, d = np.moveaxis(p, -1, 0)
    return _matrix([[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]])


def R(q: Array) -> Array:
    """R(q) p = p q (14)."""
    a, b, c, d = np.moveaxis(q, -1, 0)
    return _matrix([[a, -b, -c, -d], [b, a, d, -c], [c, -d, a, b], [d, c, -b, a]])


def E(q: Array) -> Array:
    """The map of Euler and Rodrigues, 1 + 2 q0 hat(q) + 2 hat(q)^2 (15); a rotation where |q| = 1, quadratic everywhere."""
    Q = hat(q[..., 1:])
    return np.eye(3) + 2 * q[..., :1, None] * Q + 2 * Q @ Q


def conjugate(q: Array) -> Array:
    """q^c = (q0, -q)."""
    return q * CONJUGATION


def product(p: Array, q: Array) -> Array:
    """p q (13)."""
    return apply(L(p), q)


def pure(v: Array) -> Array:
    """(0, v)."""
    return np.concatenate([np.zeros_like(v[..., :1]), v], axis=-1)


def vector(q: Array) -> Array:
    """The three last components."""
    return q[..., 1:]


def _matrix(rows: list[list[Array]]) -> Array:
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
