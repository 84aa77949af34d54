"""Curves in space: arc length, points and frames along them.

The section normal d1 is the tangent; d2, d3 follow with the least rotation (double reflection, Wang et al.
2008), so a curve without torsion about its tangent gets no twist. On closed curves the angle left over is
spread evenly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, CubicSpline, make_interp_spline

from rigid import quaternions
from rigid.checks import direction
from rigid.compilation import allocating_kernel
from rigid.errors import ModelError
from rigid.system import Floats

CurveLike = ArrayLike | Callable[[float], ArrayLike]

_SAMPLES = 2000  # pieces of the spline through a callable
_GAUSS_X, _GAUSS_W = np.polynomial.legendre.leggauss(8)


class Curve:
    """A curve by points, (k, 3) in m, or by a callable s in [0, 1] -> (3,).

    Two points are a straight line; more are joined by a cubic spline in the length of the chords (periodic
    where closed; do not repeat the first point). Raises ModelError for a curve without length, with equal
    neighbours or values that are not finite.
    """

    def __init__(self, owner: str, curve: CurveLike, closed: bool = False):
        self.closed = closed
        self._spline, breaks = _spline_of(owner, curve, closed)
        self._slope = self._spline.derivative()
        middle, half = (breaks[1:] + breaks[:-1]) / 2, np.diff(breaks) / 2
        nodes = middle[:, None] + half[:, None] * _GAUSS_X
        speed = np.linalg.norm(self._slope(nodes.ravel()), axis=1).reshape(nodes.shape)
        self._breaks = breaks
        self._lengths = np.concatenate([[0.0], np.cumsum(half * (speed @ _GAUSS_W))])
        self.length = float(self._lengths[-1])
        if not (np.isfinite(self.length) and self.length > 0.0):
            raise ModelError(
                f"{owner}: the curve has the length {self.length}; give points apart from each other"
            )

    def parameter(self, fraction: Floats) -> Floats:
        """Parameter of the spline at fractions of the arc length, by Newton from a linear guess."""
        wanted = np.asarray(fraction, float) * self.length
        piece = np.clip(np.searchsorted(self._lengths, wanted, side="right") - 1, 0, len(self._breaks) - 2)
        left, right = self._breaks[piece], self._breaks[piece + 1]
        inside = (wanted - self._lengths[piece]) / np.diff(self._lengths)[piece]
        u = left + inside * (right - left)
        for _ in range(8):
            half = (u - left) / 2
            nodes = left[:, None] + half[:, None] * (1 + _GAUSS_X)
            speed = np.linalg.norm(self._slope(nodes.ravel()), axis=1).reshape(nodes.shape)
            excess = self._lengths[piece] + half * (speed @ _GAUSS_W) - wanted
            change = excess / np.linalg.norm(self._slope(u), axis=1)
            u = np.clip(u - change, left, right)
            if np.abs(change).max(initial=0.0) < 1e-14:
                break
        return u

    def frames(self, owner: str, fractions: Floats, up: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Positions (n, 3) and quaternions (n, 4) at fractions of the arc length; `up` is turned into d3 at
        the first one.

        Between the given fractions the frame is carried along in small steps. Neighbours have q_i . q_{i+1}
        > 0.
        """
        fractions = np.asarray(fractions, float)
        last = 1.0 if self.closed else fractions[-1]
        stops = np.append(fractions, last) if self.closed else fractions
        # at least 256 steps on the whole, so that few nodes do not make the carried frame coarse
        per = max(1, int(np.ceil(256 / max(len(stops) - 1, 1))))
        fine = (stops[:-1, None] + np.diff(stops)[:, None] * np.arange(per) / per).ravel()
        u = self.parameter(np.append(fine, stops[-1]))
        r, t = self._spline(u), self._slope(u)
        t /= np.linalg.norm(t, axis=1)[:, None]
        d3 = np.empty_like(t)
        d3[0] = _normal(owner, t[0], up)
        _carry(r, t, d3)
        if self.closed:
            angle = np.arctan2(np.dot(np.cross(d3[-1], d3[0]), t[0]), np.dot(d3[-1], d3[0]))
            part = angle * np.append(fine, stops[-1])
            d3 = np.cos(part)[:, None] * d3 + np.sin(part)[:, None] * np.cross(t, d3)
        keep = slice(0, len(fractions) * per, per)
        r, t, d3 = r[keep], t[keep], d3[keep]
        quat = quaternions.from_matrix(np.stack([t, np.cross(d3, t), d3], axis=2))
        flips = np.sum(quat[1:] * quat[:-1], axis=1) < 0
        quat[1:][np.cumsum(flips) % 2 == 1] *= -1.0
        return r, quat


def _spline_of(owner: str, curve: CurveLike, closed: bool) -> tuple[CubicSpline | BSpline, Floats]:
    if callable(curve):
        s = np.linspace(0.0, 1.0, _SAMPLES + 1)
        points = np.array([np.asarray(curve(float(x)), dtype=float) for x in s])
        if points.shape != (len(s), 3) or not np.all(np.isfinite(points)):
            raise ModelError(f"{owner}: the curve must give 3 finite numbers for every s in [0, 1]")
        if closed:
            if np.abs(points[-1] - points[0]).max() > 1e-9 * np.ptp(points, axis=0).max():
                raise ModelError(
                    f"{owner}: closed, but the curve ends at {points[-1]} and not where it begins, {points[0]}"
                )
            points[-1] = points[0]
            return make_interp_spline(s, points, k=5, bc_type="periodic"), s
        return make_interp_spline(s, points, k=5), s
    try:
        points = np.array(curve, dtype=float)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 2 or not np.all(np.isfinite(points)):
        raise ModelError(
            f"{owner}: give the curve as at least 2 points of 3 finite numbers, or as a callable"
        )
    if closed:
        if len(points) < 3:
            raise ModelError(f"{owner}: a closed curve needs at least 3 points, not {len(points)}")
        if np.abs(points[0] - points[-1]).max() > 1e-12 * np.ptp(points, axis=0).max():
            points = np.concatenate([points, points[:1]])
        points[-1] = points[0]
    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if np.any(chords == 0.0):
        raise ModelError(
            f"{owner}: points {int(np.argmin(chords))} and {int(np.argmin(chords)) + 1} of the curve are equal"
        )
    u = np.concatenate([[0.0], np.cumsum(chords)])
    if len(points) == 2:
        return make_interp_spline(u, points, k=1), u
    return CubicSpline(u, points, bc_type="periodic" if closed else "not-a-knot"), u


def _normal(owner: str, tangent: Floats, up: ArrayLike | None) -> Floats:
    """A unit vector perpendicular to the tangent, nearest to `up` (default: z, or x along z)."""
    if up is None:
        wish = np.array([0.0, 0.0, 1.0]) if abs(tangent[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
    else:
        wish = direction(owner, "up", up)
    across = wish - (wish @ tangent) * tangent
    size = np.linalg.norm(across)
    if size < 1e-8:
        raise ModelError(f"{owner}: up = {up!r} points along the rod; give a direction across it")
    return across / size


@allocating_kernel
def _carry(r, t, d3):
    """Double reflection: d3 of node k + 1 from that of node k."""
    for k in range(r.shape[0] - 1):
        v = r[k + 1] - r[k]
        c = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
        x, y = d3[k], t[k]
        fx = 2.0 / c * (v[0] * x[0] + v[1] * x[1] + v[2] * x[2])
        fy = 2.0 / c * (v[0] * y[0] + v[1] * y[1] + v[2] * y[2])
        x1, y1 = x - fx * v, y - fy * v
        w = t[k + 1] - y1
        c = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
        if c > 0.0:
            x1 = x1 - 2.0 / c * (w[0] * x1[0] + w[1] * x1[1] + w[2] * x1[2]) * w
        # keep it exactly across the tangent
        z = t[k + 1]
        x1 = x1 - (x1[0] * z[0] + x1[1] * z[1] + x1[2] * z[2]) * z
        d3[k + 1] = x1 / np.sqrt(x1[0] * x1[0] + x1[1] * x1[1] + x1[2] * x1[2])
