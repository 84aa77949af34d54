"""Quaternions as vectors of R^4, scalar first, and the matrices L, R, E of 003 (13)-(16). Shapes (..., 4), (..., 4, 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # float64, or complex128 for a complex step

CONJUGATION = np.array([1.0, -1.0, -1.0, -1.0])
# entries of the matrices as indices into (x, -x), for `hat` into (x, -x, 0)
_HAT = np.array([[6, 5, 1], [2, 6, 3], [4, 0, 6]])
_LEFT = np.array([[0, 5, 6, 7], [1, 0, 7, 2], [2, 3, 0, 5], [3, 6, 1, 0]])
_RIGHT = np.array([[0, 5, 6, 7], [1, 0, 3, 6], [2, 7, 0, 1], [3, 2, 5, 0]])


def apply(A: Array, x: Array) -> Array:
    """Return A x for matrices (..., m, n) and vectors (..., n)."""
    return np.einsum("...ij,...j->...i", A, x)


def inner(x: Array, y: Array) -> Array:
    """Return <x, y> over the last axis, without conjugation."""
    return np.einsum("...i,...i->...", x, y)


def hat(v: Array) -> Array:
    """Return the matrix of v x, (..., 3, 3)."""
    v = np.asarray(v)
    return np.concatenate([v, -v, np.zeros_like(v[..., :1])], axis=-1)[..., _HAT]


def L(p: Array) -> Array:
    """Return the matrix (..., 4, 4) with L(p) q = p q (14)."""
    p = np.asarray(p)
    return np.concatenate([p, -p], axis=-1)[..., _LEFT]


def R(q: Array) -> Array:
    """Return the matrix (..., 4, 4) with R(q) p = p q (14)."""
    q = np.asarray(q)
    return np.concatenate([q, -q], axis=-1)[..., _RIGHT]


def E(q: Array) -> Array:
    """Return the map of Euler and Rodrigues (..., 3, 3), 1 + 2 q0 hat(q) + 2 hat(q)^2 (15).

    It is a rotation if |q| = 1, and quadratic for every q.
    """
    Q = hat(q[..., 1:])
    return np.eye(3) + 2 * q[..., :1, None] * Q + 2 * Q @ Q


def conjugate(q: Array) -> Array:
    """Return q^c = (q0, -q)."""
    return q * CONJUGATION


def product(p: Array, q: Array) -> Array:
    """Return the product p q (13)."""
    return apply(L(p), q)


def pure(v: Array) -> Array:
    """Return the pure quaternion (0, v)."""
    return np.concatenate([np.zeros_like(v[..., :1]), v], axis=-1)


def vector(q: Array) -> Array:
    """Return the vector part, the last three components."""
    return q[..., 1:]
