"""Compute products of a few vectors, bit-identical to numpy in a fraction of its time."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats

FEW = 12  # up to so many vectors are faster to process number by number than as arrays


def norm(a: Floats) -> float:
    """Return |a| of one vector."""
    return math.sqrt(a @ a)


def lengths(a: Floats) -> Floats:
    """Return |a| of vectors (k, 3), (k,)."""
    result: Floats = np.sqrt(np.add.reduce(a * a, axis=-1))
    return result


def cross(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return a x b, (..., 3)."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.ndim == 1 and b.ndim == 1:
        (a1, a2, a3), (b1, b2, b3) = a.tolist(), b.tolist()
        return np.array([a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1])
    if a.ndim == 2 and a.shape == b.shape and 0 < len(a) <= FEW:
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        return np.array(
            [
                (a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1)
                for (a1, a2, a3), (b1, b2, b3) in pairs
            ]
        )
    first = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out = np.empty((*first.shape, 3))
    out[..., 0] = first
    for k, i, j in ((1, 2, 0), (2, 0, 1)):
        out[..., k] = a[..., i] * b[..., j] - a[..., j] * b[..., i]
    return out
