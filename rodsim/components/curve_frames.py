"""Compute frames along a curve: positions and orientations of the cross-sections of a rod.

The section normal d1 is the tangent. d3 is the direction `up`, projected across the tangent. If `up` is one direction, it
holds at the start, and d2, d3 are carried along with the least rotation (double reflection, Wang et al. 2008). A curve without
torsion about its tangent then gets no twist; on closed curves the remaining angle is spread evenly. If `up` is a callable, it
gives a direction at every position. `twist` rotates d2, d3 further about the tangent.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from rigid import quaternions
from rigid.checks import direction, number
from rigid.compilation.decorators import inline_kernel, kernel
from rigid.errors import ModelError
from rigid.linear_algebra import dot, load3, minus, store3, times
from rigid.system import Floats
from rigid.vectors import cross
from rodsim.components.space_curves import Curve

Up = ArrayLike | Callable[[float], ArrayLike]
Twist = float | Callable[[float], float]

# rotation of the tangent (rad) between two samples at which the frame is carried along; the error is of order 4
_STEP = 0.05
# rotation of a callable `up` about the rod (rad) between two samples
_UP_STEP = 0.5
_MAX_SAMPLES = 32_000  # samples for a callable `up`; 4 per element if that is more
_MAX_CACHED = 300  # number of fractions up to which results are cached


def frames_along(
    owner: str,
    curve: Curve,
    fractions: Floats,
    up: Up | None = None,
    twist: Twist = 0.0,
    parameter: Callable[[Floats], Floats] | None = None,
) -> tuple[Floats, Floats]:
    """Return positions (n, 3), m, and quaternions (n, 4) at fractions of the rod's length; see `_frames_along`.

    Results for curves by points, without user functions and with few fractions, are cached.
    """
    if curve.by_callable or callable(up) or callable(twist) or len(fractions) > _MAX_CACHED:
        return _frames_along(owner, curve, fractions, up, twist, parameter)
    words = np.asarray(fractions, float).tobytes(), None if up is None else np.asarray(up, float).tobytes()
    r, quat = _frames_of_points(owner, curve, *words, twist, parameter)
    return r.copy(), quat.copy()


@functools.lru_cache(maxsize=128)
def _frames_of_points(
    owner: str,
    curve: Curve,
    fractions: bytes,
    up: bytes | None,
    twist: float,
    parameter: Callable[[Floats], Floats] | None,
) -> tuple[Floats, Floats]:
    """Return the result of `frames_along`; arrays are given as bytes, which are hashable."""
    towards = None if up is None else np.frombuffer(up)
    return _frames_along(owner, curve, np.frombuffer(fractions), towards, twist, parameter)


def _frames_along(
    owner: str,
    curve: Curve,
    fractions: Floats,
    up: Up | None,
    twist: Twist,
    parameter: Callable[[Floats], Floats] | None,
) -> tuple[Floats, Floats]:
    """Compute positions (n, 3), m, and quaternions (n, 4) at fractions of the rod's length, which begin with 0.

    Neighbouring quaternions have q_i . q_{i+1} > 0.
    `twist`: angle at s = 1 (rad), reached evenly, or a callable s -> angle. `parameter`: maps fractions to the parameter of the
    curve; by default fractions are of the arc length. Raises ModelError if frames rotate by more than pi between neighbours: the
    frames alone do not distinguish that from a smaller rotation in the opposite direction.
    """
    parameter = curve.parameter if parameter is None else parameter
    fractions = np.asarray(fractions, float)
    # on a closed curve the frame is carried along back to the start: the remaining angle is spread evenly
    stops = np.append(fractions, 1.0) if curve.closed and fractions[-1] < 1.0 else fractions
    bent = np.zeros(len(stops) - 1) if curve.straight else np.diff(curve.turned(parameter(stops)))
    _check_turn(owner, "curve turns", bent)
    # at least 256 steps in total, so that the carried frame is accurate with few nodes; along a straight line it is constant
    least = 1 if curve.straight and not callable(up) else 256 / max(len(stops) - 1, 1)
    per = int(np.ceil(max(1, least, bent.max(initial=0.0) / _STEP)))
    before = np.full(len(stops), np.inf)
    while True:
        s = (stops[:-1, None] + np.diff(stops)[:, None] * np.arange(per) / per).ravel()
        s = np.append(s, stops[-1])
        u = parameter(s)
        r, t = curve.points(u), curve.tangents(u)
        d3 = np.empty_like(t)
        d3[0] = _first_normal(owner, t, up)
        _transport_normals(r, t, d3)
        if not callable(up):
            angle = _angles_about(t[-1:], d3[-1:], d3[:1]) * s if curve.closed else np.zeros(len(s))
            break
        angle = np.unwrap(_angles_about(t, d3, _nearest_normals(owner, t, directions_at(owner, up, s), s)))
        steps = np.abs(np.diff(angle))
        # compared with half the samples: directions that make whole turns between two samples seem constant
        if steps.max(initial=0.0) <= _UP_STEP and np.abs(angle[::per] - before).max() < 1.0:
            break
        before = angle[::per]
        if 2 * len(s) > max(_MAX_SAMPLES, 4 * len(stops)):
            raise ModelError(
                f"{owner}: up rotates by {steps.max():.3g} rad at s = {s[np.argmax(steps)]:.3f} at once; let it vary continuously"
            )
        per *= 2
    keep = slice(0, None, per)
    r, t, d3 = r[keep], t[keep], d3[keep]
    angle = angle[keep] + twist_angles(owner, twist, stops)
    _check_turn(owner, "curve and twist turn", bent + np.abs(np.diff(angle)))
    d3 = np.cos(angle)[:, None] * d3 + np.sin(angle)[:, None] * cross(t, d3)
    quat = quaternions.from_matrix(np.stack([t, cross(d3, t), d3], axis=2))
    flips = np.sum(quat[1:] * quat[:-1], axis=1) < 0
    quat[1:][np.cumsum(flips) % 2 == 1] *= -1.0
    return r[: len(fractions)], quat[: len(fractions)]


def twist_angles(owner: str, twist: Twist, s: Floats) -> Floats:
    """Return the angles (n,), rad, of a twist at s (n,)."""
    if callable(twist):
        return np.array([number(owner, f"twist at s = {x:g}", twist(float(x))) for x in s])
    return twist * np.asarray(s, float)


def directions_at(owner: str, up: Callable[[float], ArrayLike], s: Floats) -> Floats:
    """Return the unit vectors (n, 3) of a callable `up` at s (n,)."""
    return np.array([direction(owner, f"up at s = {x:g}", up(float(x))) for x in s])


def _first_normal(owner: str, t: Floats, up: Up | None) -> Floats:
    """Return d3 (3,) at the start of the tangents t; without `up` nearest to z, or to x if the rod begins along z."""
    if up is None:
        up = (0.0, 0.0, 1.0) if abs(t[0, 2]) < 0.9 else (1.0, 0.0, 0.0)
    start = np.zeros(1)
    wish = directions_at(owner, up, start) if callable(up) else direction(owner, "up", up)[None]
    return _nearest_normals(owner, t[:1], wish, start)[0]


def _check_turn(owner: str, what: str, turned: Floats) -> None:
    """Raise ModelError if an angle `turned` (n,), rad, between neighbouring nodes exceeds pi."""
    if turned.max(initial=0.0) > np.pi:
        where, n = int(np.argmax(turned)), len(turned)
        enough = int(np.ceil(n * turned.max()))
        raise ModelError(
            f"{owner}: the {what} by {turned.max():.3g} rad along element {where} of {n}; "
            f"give more elements, {enough} make about 1 rad each"
        )


def _nearest_normals(owner: str, t: Floats, wish: Floats, s: Floats) -> Floats:
    """Return the unit vectors (n, 3) across the tangents that are nearest to `wish` (n, 3)."""
    across = wish - np.sum(wish * t, axis=1)[:, None] * t
    size = np.linalg.norm(across, axis=1)
    if size.min() < 1e-8:
        k = int(np.argmin(size))
        raise ModelError(
            f"{owner}: up = {wish[k].tolist()} points along the rod at s = {s[k]:g}; give a direction across it"
        )
    return across / size[:, None]


def _angles_about(t: Floats, a: Floats, b: Floats) -> Floats:
    """Return the angles (n,) in [-pi, pi] of the rotations about t that take a to b, both across t."""
    return np.arctan2(np.sum(cross(a, b) * t, axis=1), np.sum(a * b, axis=1))


@kernel
def _transport_normals(r, t, d3):
    """Fill d3 (n, 3) in place from d3[0] by double reflection: d3 of node k + 1 follows from that of node k."""
    for k in range(r.shape[0] - 1):
        z = load3(t[k + 1])
        v = minus(load3(r[k + 1]), load3(r[k]))
        x, y = _reflected(load3(d3[k]), v), _reflected(load3(t[k]), v)
        w = minus(z, y)
        if dot(w, w) > 0.0:
            x = _reflected(x, w)
        x = minus(x, times(dot(x, z), z))  # exactly across the tangent
        store3(times(1.0 / np.sqrt(dot(x, x)), x), d3[k + 1])


@inline_kernel
def _reflected(x, v):
    """Return x reflected in the plane across v."""
    return minus(x, times(2.0 / dot(v, v) * dot(v, x), v))
