"""Compute arc length, points and tangents of curves in space."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import scipy  # submodules are imported on first access
from numpy.typing import ArrayLike

from rigid.checks import LARGEST, numbers, vector
from rigid.errors import ModelError
from rigid.system import Floats

CurveLike = ArrayLike | Callable[[float], ArrayLike]

_SAMPLES = 2000  # pieces of the first spline through a callable; doubled until the spline fits the callable
_MOST_SAMPLES = 256_000
_SAMPLES_PER_TURN = 16  # smallest number of samples per turn of a helix
_GOLDEN = (3 - np.sqrt(5)) / 2  # golden section, far from all simple fractions
_MAX_DISTANCE = (
    1e8  # largest distance from the origin over the extent of the curve; rounding dominates beyond it
)
_SPLINE_TOLERANCE = 1e-10  # tolerance between spline and callable between samples, relative to the extent
_GAUSS_X, _GAUSS_W = np.polynomial.legendre.leggauss(8)


class StraightLine:
    """Straight line r(u) = (a (l - u) + b u)/l from a to b (3,), m; u: distance from a, l: distance of b from a, m.

    It is bit-identical to scipy's spline of degree 1 through both points, and does not load scipy.
    """

    def __init__(self, a: Floats, b: Floats, length: float):
        self._a, self._b, self._length = a, b, length

    def __call__(self, u: ArrayLike) -> Floats:
        """Return points (..., 3), m, at u of any shape; u may lie beyond the ends."""
        u = np.asarray(u, dtype=float)[..., None]
        w = 1.0 / self._length
        return self._a * (w * (self._length - u)) + self._b * (w * u)

    def derivative(self) -> Direction:
        """Return the derivative dr/du as a constant function."""
        # adding 0 turns -0 into 0
        return Direction((self._b - self._a) / self._length + 0.0)


class Direction:
    """Constant vector (3,) as a function of u."""

    def __init__(self, vector: Floats):
        self._vector = vector

    def __call__(self, u: ArrayLike) -> Floats:
        """Return the vector for every u, (..., 3), u of any shape."""
        return np.broadcast_to(self._vector, (*np.shape(u), 3)).copy()


class VectorisedCurve:
    """Base class of curves that return the points (..., 3) of many s at once."""

    def __call__(self, s: ArrayLike) -> Floats:
        """Return points (..., 3), m, at s of any shape."""
        raise NotImplementedError


class Helix(VectorisedCurve):
    """Helix r(s) = center + R (cos(a s) x + sin(a s) y) + rise s axis, s in [0, 1]; a circle if rise = 0.

    x, y, axis: right-handed unit vectors (3,). a: total angle, rad. rise: total rise along the axis, m.
    """

    NOT_IN_KEYS = ("given",)  # left out of the keys of studies: the other attributes hold the same

    def __init__(
        self, center: Floats, x: Floats, axis: Floats, radius: float, angle: float, rise: float = 0.0
    ):
        self.center, self.x, self.y, self.axis = center, x, np.cross(axis, x), axis
        self.radius, self.angle, self.rise = radius, angle, rise
        self.given: dict[str, Any] | None = None  # keys of the curve in a scene

    def __call__(self, s: ArrayLike) -> Floats:
        """Return points (..., 3), m, at s of any shape."""
        s = np.asarray(s, dtype=float)[..., None]
        a = self.angle * s
        return (
            self.center + self.radius * (np.cos(a) * self.x + np.sin(a) * self.y) + self.rise * s * self.axis
        )


class Curve:
    """Curve with arc length, given by points (k, 3), m, or by a callable s in [0, 1] -> (3,), m.

    Two points are a straight line. More are joined by a cubic spline in the chord length; it is periodic if closed, and the first
    point need not be repeated. Raises ModelError for a curve without length, with equal neighbours or with values that are not
    finite.
    """

    NOT_IN_KEYS = ("given",)  # left out of the keys of studies: the other attributes follow from it

    def __init__(self, owner: str, curve: CurveLike, closed: bool = False):
        self.closed = closed
        self.by_callable = callable(curve)
        points = None if callable(curve) else numbers(curve)
        self.given: Any = curve if points is None else points.copy()
        self._spline, breaks = _spline_of(owner, curve, closed)
        self._slope = self._spline.derivative()
        self._breaks, pieces = _measure_lengths(self._slope, breaks)
        self._lengths = np.concatenate([[0.0], np.cumsum(pieces)])
        self.length = float(self._lengths[-1])
        if not (np.isfinite(self.length) and self.length > 0.0):
            raise ModelError(
                f"{owner}: the curve has the length {self.length}; give points apart from each other"
            )
        speed = np.linalg.norm(self._slope(self._breaks), axis=1)
        if speed.min() < 1e-8 * self.length / (self._breaks[-1] - self._breaks[0]):
            where = self._spline(self._breaks[np.argmin(speed)])
            raise ModelError(
                f"{owner}: the curve stands still at {where} and has no tangent there; let it move at every s"
            )
        self._places = np.sort(np.append(_gauss_nodes(self._breaks).ravel(), self._breaks))
        tangents = self._slope(self._places)
        tangents /= np.linalg.norm(tangents, axis=1)[:, None]
        # angles from chords: accurate if small, for which arccos loses half of the digits
        chord = np.linalg.norm(np.diff(tangents, axis=0), axis=1)
        angles = 2 * np.arcsin(np.minimum(chord / 2, 1.0))
        self._turned = np.concatenate([[0.0], np.cumsum(angles)])

    def parameter(self, fraction: Floats) -> Floats:
        """Return the spline parameters (n,) at fractions (n,) of the arc length, by Newton's method from a linear guess."""
        target = np.asarray(fraction, float) * self.length
        piece = np.clip(np.searchsorted(self._lengths, target, side="right") - 1, 0, len(self._breaks) - 2)
        left, right = self._breaks[piece], self._breaks[piece + 1]
        inside = (target - self._lengths[piece]) / np.diff(self._lengths)[piece]
        u = left + inside * (right - left)
        for _ in range(8):
            half = (u - left) / 2
            nodes = left[:, None] + half[:, None] * (1 + _GAUSS_X)
            speed = self._speed(nodes.ravel()).reshape(nodes.shape)
            excess = self._lengths[piece] + half * (speed @ _GAUSS_W) - target
            change = excess / self._speed(u)
            u = np.clip(u - change, left, right)
            if np.abs(change).max(initial=0.0) < 1e-14:
                break
        return u

    def _speed(self, u: Floats) -> Floats:
        """Return the speed |dr/du| (n,) at parameters u (n,)."""
        speed: Floats = np.linalg.norm(self._slope(u), axis=1)
        return speed

    @property
    def straight(self) -> bool:
        """True if the curve is one straight line between two points."""
        return isinstance(self._spline, StraightLine)

    def points(self, u: Floats) -> Floats:
        """Return points (n, 3), m, at parameters u (n,) of the spline; for a callable u is its argument s."""
        return self._spline(u)

    def tangents(self, u: Floats) -> Floats:
        """Return unit tangents (n, 3) at parameters u (n,) of the spline."""
        t = self._slope(u)
        return t / np.linalg.norm(t, axis=1)[:, None]

    def turned(self, u: Floats) -> Floats:
        """Return the accumulated rotation (n,) of the tangent from the start to u (n,), rad; it never decreases."""
        return np.interp(u, self._places, self._turned)


class CurveByLength(VectorisedCurve):
    """A curve as a function of the fraction s of its arc length."""

    def __init__(self, curve: Curve):
        self.curve = curve

    @property
    def length(self) -> float:
        """Arc length of the curve, m."""
        return self.curve.length

    def __call__(self, s: ArrayLike) -> Floats:
        """Return points (..., 3), m, at fractions s, of any shape, of the arc length."""
        fractions = np.asarray(s, dtype=float)
        return self.curve.points(self.curve.parameter(fractions.ravel())).reshape(*fractions.shape, 3)


def by_length(curve: CurveLike) -> CurveByLength:
    """Return a curve as a function of the fraction of its arc length.

    A rod with `stress_free` takes the argument s of a drawn callable as the fraction of its own length. With the result of this
    function the stretch of the drawn shape is the same everywhere.

    Parameters
    ----------
    curve : array_like, shape (k, 3), or callable
        Points, m, or a function s in [0, 1] -> (3,).

    Returns
    -------
    callable
        Function of s in [0, 1]; its `length` is the arc length, m.

    Raises
    ------
    ModelError
        If the curve has no length, or values that are not finite.

    Examples
    --------
    >>> from rodsim import curves
    >>> curves.by_length(lambda s: (s * s + s, 0.0, 0.0))(0.5)
    array([1., 0., 0.])
    """
    return CurveByLength(curve_of("curve", curve))


MAX_CACHED_POINTS = 100  # points of a curve that is cached


def curve_of(owner: str, curve: CurveLike, closed: bool = False) -> Curve:
    """Return the `Curve` of points or of a callable; curves through few points are cached, since they are immutable."""
    points = None if callable(curve) else numbers(curve)
    if points is None or points.ndim != 2 or points.shape[1] != 3 or len(points) > MAX_CACHED_POINTS:
        return Curve(owner, curve, closed)
    try:
        return _through_points(points.tobytes(), closed)
    except ModelError:
        return Curve(owner, curve, closed)  # raises the error with the name of the owner


@lru_cache(maxsize=32)
def _through_points(points: bytes, closed: bool) -> Curve:
    """Return the curve through points (k, 3), m, which are given as bytes, as these are hashable."""
    return Curve("curve", np.frombuffer(points).reshape(-1, 3).copy(), closed)


def _spline_of(
    owner: str, curve: CurveLike, closed: bool
) -> tuple[scipy.interpolate.CubicSpline | scipy.interpolate.BSpline | StraightLine, Floats]:
    """Return the spline of a curve and its breaks (k + 1,); ModelError if the points do not define a curve."""
    if callable(curve):
        return _through_callable(owner, curve, closed)
    points = numbers(curve)
    if (
        points is None
        or points.ndim != 2
        or points.shape[1] != 3
        or len(points) < 2
        or not np.all(np.isfinite(points))
    ):
        raise ModelError(
            f"{owner}: give the curve as at least 2 points of 3 finite numbers, or as a callable"
        )
    _check_near(owner, points)
    if closed:
        if len(points) < 3:
            raise ModelError(
                f"{owner}: a closed curve needs at least 3 points, not {len(points)}; give more, or say that it is open"
            )
        if np.abs(points[0] - points[-1]).max() > 1e-12 * np.ptp(points, axis=0).max():
            points = np.concatenate([points, points[:1]])
        points[-1] = points[0]
    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if np.any(chords == 0.0):
        raise ModelError(
            f"{owner}: points {int(np.argmin(chords))} and {int(np.argmin(chords)) + 1} of the curve are equal"
        )
    u = np.concatenate([[0.0], np.cumsum(chords)])
    if not np.all(np.diff(u) > 0.0):
        at = int(np.argmin(np.diff(u)))
        raise ModelError(
            f"{owner}: points {at} and {at + 1} of the curve are {chords[at]:.3g} m apart, which is negligible compared with the "
            f"{u[-1]:.3g} m that it has; correct the one that lies too far away, or remove one of them"
        )
    if len(points) == 2:
        return StraightLine(points[0], points[1], float(u[1])), u
    return scipy.interpolate.CubicSpline(u, points, bc_type="periodic" if closed else "not-a-knot"), u


def _through_callable(
    owner: str, curve: Callable[[float], ArrayLike], closed: bool
) -> tuple[scipy.interpolate.BSpline, Floats]:
    """Return a spline of degree 5 through samples of `curve`, and the positions s (n + 1,) of the samples.

    The number of samples is doubled until the spline also fits the curve between them. Corners and noise are never fitted. If the
    spline fits nearly everywhere and doubling gains little, the doubling ends: finer samples would only raise the slope of the
    noise.
    """
    n, before = _SAMPLES, np.inf
    points: Floats | None = None
    if isinstance(curve, Helix):  # too few samples would follow the axis of a steep helix
        turns = abs(curve.angle) / (2 * np.pi)
        if turns * _SAMPLES_PER_TURN > _MOST_SAMPLES:
            raise ModelError(
                f"{owner}: the curve winds too finely, with {turns:.4g} turns; give at most "
                f"{_MOST_SAMPLES // _SAMPLES_PER_TURN}, or several rods"
            )
        n = max(n, int(turns * _SAMPLES_PER_TURN))
    while True:
        s = np.linspace(0.0, 1.0, n + 1)
        known, points = points, np.empty((n + 1, 3))
        points[::2] = _sample(owner, curve, s[::2]) if known is None else known  # reuse every other sample
        points[1::2] = _sample(owner, curve, s[1::2])
        extent = np.ptp(points, axis=0).max()
        if extent == 0.0:
            raise ModelError(
                f"{owner}: the curve has the length 0, it is {points[0]} for every s; let it move with s"
            )
        _check_near(owner, points)
        if closed:
            if np.abs(points[-1] - points[0]).max() > 1e-9 * extent:
                raise ModelError(
                    f"{owner}: closed, but the curve ends at {points[-1]} and not where it begins, {points[0]}"
                )
            points[-1] = points[0]
        spline = scipy.interpolate.make_interp_spline(s, points, k=5, bc_type="periodic" if closed else None)
        # not at a simple fraction, at which a helix with some whole turns per sample would seem to fit
        between = s[:-1] + _GOLDEN * np.diff(s)
        errors = np.linalg.norm(spline(between) - _sample(owner, curve, between), axis=1)
        chord = np.linalg.norm(np.diff(points, axis=0), axis=1)
        # near corners the spline misses few samples, on a curve that winds too finely nearly all
        nearly = np.median(errors) <= 1e-2 * np.median(chord)
        # doubling divides the error of a smooth curve by 64, by 4 where the curvature jumps, by 2 at corners
        if errors.max() <= _SPLINE_TOLERANCE * extent or (nearly and errors.max() > before / 8):
            return spline, s
        if 2 * n > _MOST_SAMPLES:
            if nearly:
                return spline, s
            raise ModelError(
                f"{owner}: the curve winds too finely to be followed with {n} samples; give it in several rods"
            )
        n, before = 2 * n, errors.max()


def _sample(owner: str, curve: Callable[[float], ArrayLike], s: Floats) -> Floats:
    """Return the points (k, 3), m, of a callable at s (k,)."""
    if isinstance(curve, VectorisedCurve):
        return curve(s)
    points = numbers([curve(x) for x in s.tolist()])
    if points is not None and points.shape == (len(s), 3) and np.all(np.abs(points) <= LARGEST):
        return points
    # one of the values is invalid: check one by one to name its s
    return np.array([vector(owner, f"curve at s = {x:g}", curve(float(x))) for x in s])


def _check_near(owner: str, points: Floats) -> None:
    """Raise ModelError if the points are so far from the origin that rounding spoils their differences."""
    extent, far = np.ptp(points, axis=0).max(), np.abs(points).max()
    if extent * _MAX_DISTANCE < far:
        raise ModelError(
            f"{owner}: the curve extends over {extent:.3g} m at {far:.3g} m from the origin, where rounding leaves "
            "too few digits; place the model nearer to the origin"
        )


def _gauss_nodes(breaks: Floats) -> Floats:
    """Return the nodes (k, 8) of Gauss' rule on the k pieces between breaks (k + 1,)."""
    middle, half = (breaks[1:] + breaks[:-1]) / 2, np.diff(breaks) / 2
    return middle[:, None] + half[:, None] * _GAUSS_X


def _piece_lengths(
    slope: scipy.interpolate.BSpline | scipy.interpolate.CubicSpline, breaks: Floats
) -> Floats:
    """Return the arc lengths (k,), m, of the k pieces between breaks (k + 1,), by Gauss' rule."""
    nodes = _gauss_nodes(breaks)
    speed = np.linalg.norm(slope(nodes.ravel()), axis=1).reshape(nodes.shape)
    return np.diff(breaks) / 2 * (speed @ _GAUSS_W)


def _measure_lengths(
    slope: scipy.interpolate.BSpline | scipy.interpolate.CubicSpline, breaks: Floats
) -> tuple[Floats, Floats]:
    """Return refined breaks (k + 1,) and the arc lengths (k,), m, between them.

    Pieces are halved until Gauss' rule gives the same length on their halves. The speed is a square root: if the curve nearly
    stops, one application of the rule per piece is not accurate enough.
    """
    for _ in range(30):
        totals = _piece_lengths(slope, breaks)
        middle = (breaks[1:] + breaks[:-1]) / 2
        halves = _piece_lengths(slope, np.sort(np.append(breaks, middle))).reshape(-1, 2).sum(axis=1)
        open_ = np.abs(halves - totals) > 1e-13 * totals.sum()
        if not open_.any():
            break
        breaks = np.sort(np.append(breaks, middle[open_]))
    return breaks, _piece_lengths(slope, breaks)
