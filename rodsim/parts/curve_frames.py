"""Frames along a curve: where the cross-sections of a rod are and how they are turned.

The section normal d1 is the tangent. d3 is the direction `up` across it: one direction at the start, from
where d2, d3 follow with the least rotation (double reflection, Wang et al. 2008), so a curve without torsion
about its tangent gets no twist, and on closed curves the angle left over is spread evenly; or a callable,
one direction at every place. `twist` turns d2, d3 further about the tangent.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from discretization.known_facts import SMALL
from rigid import quaternions
from rigid.checks import direction, number
from rigid.compilation.decorators import kernel, small_kernel
from rigid.errors import ModelError
from rigid.linear_algebra import dot, load3, minus, store3, times
from rigid.system import Floats
from rigid.vectors import cross
from rodsim.parts.space_curves import Curve

Up = ArrayLike | Callable[[float], ArrayLike]
Twist = float | Callable[[float], float]

# rad of the tangent between two places where the frame is carried along; its error is of order 4
_STEP = 0.05
# rad of a callable `up` about the rod between two such places
_UP_STEP = 0.5
_MOST_PLACES = 32_000  # for a callable `up`, or 4 an element


MOST = 8  # of one curve
_kept: WeakKeyDictionary[Curve, OrderedDict[Any, tuple[Floats, Floats]]] = WeakKeyDictionary()


def frames_along(
    owner: str,
    curve: Curve,
    fractions: Floats,
    up: Up | None = None,
    twist: Twist = 0.0,
    parameter: Callable[[Floats], Floats] | None = None,
) -> tuple[Floats, Floats]:
    """`_frames_along`; of a curve by points, without functions of the user and with few fractions, as they were found before."""
    if curve.by_callable or callable(up) or callable(twist) or len(fractions) > SMALL:
        return _frames_along(owner, curve, fractions, up, twist, parameter)
    of_curve = _kept.setdefault(curve, OrderedDict())
    up = None if up is None else np.asarray(up, float)
    key = (
        np.asarray(fractions, float).tobytes(),
        None if up is None else up.tobytes(),
        float(twist).hex(),
        parameter,
    )
    if key not in of_curve:
        of_curve[key] = _frames_along(owner, curve, fractions, up, twist, parameter)
        while len(of_curve) > MOST:
            of_curve.popitem(last=False)
    r, quat = of_curve[key]
    return r.copy(), quat.copy()


def _frames_along(
    owner: str,
    curve: Curve,
    fractions: Floats,
    up: Up | None,
    twist: Twist,
    parameter: Callable[[Floats], Floats] | None,
) -> tuple[Floats, Floats]:
    """Positions (n, 3) and quaternions (n, 4) at fractions of the rod's length, which begin with 0;
    neighbours have q_i . q_{i+1} > 0.

    twist: the angle at s = 1 (rad), reached evenly, or a callable s -> angle; parameter: from fractions to
    the curve's parameter, by default to that of the arc length. Raises ModelError where frames turn by more
    than pi between neighbours: from them alone, that cannot be told from a smaller turn the other way.
    """
    parameter = curve.parameter if parameter is None else parameter
    fractions = np.asarray(fractions, float)
    # a closed curve is carried along up to its start: the angle left over there is spread
    stops = np.append(fractions, 1.0) if curve.closed and fractions[-1] < 1.0 else fractions
    bent = np.zeros(len(stops) - 1) if curve.straight else np.diff(curve.turned(parameter(stops)))
    _check_turn(owner, "curve turns", bent)
    # at least 256 steps on the whole, so that few nodes do not make the carried frame coarse; a straight line carries it as it is
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
        _carry(r, t, d3)
        if not callable(up):
            angle = _angles(t[-1:], d3[-1:], d3[:1]) * s if curve.closed else np.zeros(len(s))
            break
        angle = np.unwrap(_angles(t, d3, _across(owner, t, directions_at(owner, up, s), s)))
        steps = np.abs(np.diff(angle))
        # looked at twice: directions that make whole turns between two places seem to stand still
        if steps.max(initial=0.0) <= _UP_STEP and np.abs(angle[::per] - before).max() < 1.0:
            break
        before = angle[::per]
        if 2 * len(s) > max(_MOST_PLACES, 4 * len(stops)):
            raise ModelError(
                f"{owner}: up turns by {steps.max():.3g} rad at s = {s[np.argmax(steps)]:.3f} at once; let it turn steadily"
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
    """Angles (n,) of a twist at s (n,), rad."""
    if callable(twist):
        return np.array([number(owner, f"twist at s = {x:g}", twist(float(x))) for x in s])
    return twist * np.asarray(s, float)


def directions_at(owner: str, up: Callable[[float], ArrayLike], s: Floats) -> Floats:
    """Unit vectors (n, 3) of a callable `up` at s (n,)."""
    return np.array([direction(owner, f"up at s = {x:g}", up(float(x))) for x in s])


def _first_normal(owner: str, t: Floats, up: Up | None) -> Floats:
    """d3 (3,) at the start of the tangents t; without `up` nearest to z, or to x where the rod begins along z."""
    if up is None:
        up = (0.0, 0.0, 1.0) if abs(t[0, 2]) < 0.9 else (1.0, 0.0, 0.0)
    start = np.zeros(1)
    wish = directions_at(owner, up, start) if callable(up) else direction(owner, "up", up)[None]
    return _across(owner, t[:1], wish, start)[0]


def _check_turn(owner: str, what: str, turned: Floats) -> None:
    if turned.max(initial=0.0) > np.pi:
        where, n = int(np.argmax(turned)), len(turned)
        more = int(np.ceil(n * turned.max()))
        raise ModelError(
            f"{owner}: the {what} by {turned.max():.3g} rad along element {where} of {n}; "
            f"give more elements, {more} make about 1 rad each"
        )


def _across(owner: str, t: Floats, wish: Floats, s: Floats) -> Floats:
    """Unit vectors (n, 3) across the tangents, nearest to `wish`."""
    across = wish - np.sum(wish * t, axis=1)[:, None] * t
    size = np.linalg.norm(across, axis=1)
    if size.min() < 1e-8:
        k = int(np.argmin(size))
        raise ModelError(
            f"{owner}: up = {wish[k].tolist()} points along the rod at s = {s[k]:g}; give a direction across it"
        )
    return across / size[:, None]


def _angles(t: Floats, a: Floats, b: Floats) -> Floats:
    """Angles (n,) about t that turn a to b, both across t; in [-pi, pi]."""
    return np.arctan2(np.sum(cross(a, b) * t, axis=1), np.sum(a * b, axis=1))


@kernel
def _carry(r, t, d3):
    """Double reflection: d3 of node k + 1 from that of node k."""
    for k in range(r.shape[0] - 1):
        z = load3(t[k + 1])
        v = minus(load3(r[k + 1]), load3(r[k]))
        x, y = _reflected(load3(d3[k]), v), _reflected(load3(t[k]), v)
        w = minus(z, y)
        if dot(w, w) > 0.0:
            x = _reflected(x, w)
        x = minus(x, times(dot(x, z), z))  # exactly across the tangent
        store3(times(1.0 / np.sqrt(dot(x, x)), x), d3[k + 1])


@small_kernel
def _reflected(x, v):
    """x in the plane across v."""
    return minus(x, times(2.0 / dot(v, v) * dot(v, x), v))
