"""Compute with unit quaternions as numpy arrays, scalar first: (w, x, y, z) = (cos(a/2), sin(a/2) n).

All functions broadcast over leading axes. R(q) maps body to inertial components, and R(p o q) = R(p) R(q). The compiled kernels
use the same formulas in `rigid.kinematics.rotations`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats
from rigid.vectors import FEW, cross

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def multiply(p: ArrayLike, q: ArrayLike) -> Floats:
    """Return the Hamilton product p o q, (..., 4)."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    pv, qv = p[..., 1:], q[..., 1:]
    w = p[..., 0] * q[..., 0] - np.sum(pv * qv, axis=-1)
    vector = p[..., :1] * qv + q[..., :1] * pv + cross(pv, qv)
    return np.concatenate([w[..., None], vector], axis=-1)


def conjugate(q: ArrayLike) -> Floats:
    """Return (w, -x, -y, -z), the inverse of a unit quaternion, (..., 4)."""
    return np.asarray(q, float) * np.array([1.0, -1.0, -1.0, -1.0])


def normalize(q: ArrayLike) -> Floats:
    """Return q / |q|, (..., 4)."""
    q = np.asarray(q, float)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def to_matrix(q: ArrayLike) -> Floats:
    """Return the rotation matrices (..., 3, 3) of unit quaternions (..., 4); column k is the director d_k."""
    w, x, y, z = np.moveaxis(np.asarray(q, float), -1, 0)
    R = np.empty((*w.shape, 3, 3))
    R[..., 0, 0], R[..., 0, 1], R[..., 0, 2] = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
    )
    R[..., 1, 0], R[..., 1, 1], R[..., 1, 2] = (
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
    )
    R[..., 2, 0], R[..., 2, 1], R[..., 2, 2] = (
        2 * (x * z - w * y),
        2 * (y * z + w * x),
        1 - 2 * (x * x + y * y),
    )
    return R


def from_matrix(R: ArrayLike) -> Floats:
    """Return the unit quaternions (..., 4), w >= 0, of rotation matrices (..., 3, 3).

    Each of the four components is the largest one for some rotations. The column of the 4 x 4 matrix 4 q q^T with the largest
    diagonal entry loses no digits (Shepperd 1978).
    """
    R = np.asarray(R, float)
    trace = np.trace(R, axis1=-2, axis2=-1)
    outer = np.empty((*R.shape[:-2], 4, 4))
    outer[..., 0, 0] = 1 + trace
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        outer[..., i + 1, i + 1] = 1 + 2 * R[..., i, i] - trace
        outer[..., 0, i + 1] = outer[..., i + 1, 0] = R[..., k, j] - R[..., j, k]
        outer[..., i + 1, j + 1] = outer[..., j + 1, i + 1] = R[..., i, j] + R[..., j, i]
    best = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    q = normalize(np.take_along_axis(outer, best[..., None, None], axis=-1)[..., 0])
    return np.where(q[..., :1] < 0, -q, q)


def rotate(q: ArrayLike, x: ArrayLike) -> Floats:
    """Return R(q) x of vectors x (..., 3)."""
    q, x = np.asarray(q, float), np.asarray(x, float)
    if q.ndim == 1 and x.ndim == 1:
        return np.array(_rotated(q.tolist(), x.tolist()))
    if q.ndim == 2 and x.ndim == 2 and len(q) == len(x) <= FEW:
        if not len(x):
            return x.copy()
        return np.array([_rotated(*pair) for pair in zip(q.tolist(), x.tolist(), strict=True)])
    t = 2 * cross(q[..., 1:], x)
    return x + q[..., :1] * t + cross(q[..., 1:], t)


def _rotated(q: list[float], x: list[float]) -> tuple[float, float, float]:
    """Return R(q) x of one vector, number by number in the order of `rotate`."""
    (w, a, b, c), (x1, x2, x3) = q, x
    t1, t2, t3 = 2 * (b * x3 - c * x2), 2 * (c * x1 - a * x3), 2 * (a * x2 - b * x1)
    return (
        x1 + w * t1 + (b * t3 - c * t2),
        x2 + w * t2 + (c * t1 - a * t3),
        x3 + w * t3 + (a * t2 - b * t1),
    )


def from_rotation_vector(w: ArrayLike) -> Floats:
    """Return the unit quaternions (..., 4) of rotations by |w| about w (..., 3), rad: the exponential map, accurate at
    every angle.
    """
    w = np.asarray(w, float)
    half = np.linalg.norm(w, axis=-1, keepdims=True) / 2
    # np.sinc(x) = sin(pi x)/(pi x) is 1 at 0
    return np.concatenate([np.cos(half), w / 2 * np.sinc(half / np.pi)], axis=-1)


def to_rotation_vector(q: ArrayLike) -> Floats:
    """Return the rotation vectors (..., 3), rad, of length at most pi, of unit quaternions (..., 4): the logarithm."""
    q = np.asarray(q, float)
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, q[..., :1])
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = np.where(sine > 0, angle / np.where(sine > 0, sine, 1.0), 2.0)
    return factor * q[..., 1:]


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Floats:
    """Return the unit quaternions (..., 4) of rotations by `angle` (rad) about `axis` (..., 3), of any non-zero length."""
    axis = np.asarray(axis, float)
    unit = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    return from_rotation_vector(unit * np.asarray(angle, float)[..., None])
