"""A gear: a sum of coordinates of joints that stays what it is, g = q_1 + q_2 + ... = 0, one row for all of them.

Each coordinate stands between two of the gear's frames, a and b, and counts by the length of its U, u = R U:

    angle          q = |U| alpha, alpha that of b about u_a from w_a to u_b, counted through turns
    displacement   q = u_a . d,   d = p_b - p_a

alpha is the value nearest to the one among the numbers, the angle where the step began; the angles are the gear's own variables,
in the order of the coordinates.

The discrete derivative of an angle is its change over a step, exactly, as in `torsion_spring`, that of a displacement has both
factors averaged, as in `along`: sums of them vanish where the sum of the coordinates does not change, so that a gear does no
work, and each is a pair of opposite forces or torques.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rigid.compilation.decorators import small_kernel
from rigid.errors import ModelError
from rigid.interactions.kinds import (
    MOST_OWN,
    Kind,
    add_dual,
    dual_function,
    frame,
    value_function,
    vector,
    whole,
)
from rigid.interactions.torsion_spring import angle_of, turning_between
from rigid.kinematics.poses import add_duals, direction, on_direction, on_point, on_point_and_direction, point
from rigid.linear_algebra import average, cross, dot, minus, times
from rigid.system import Floats

ANGLE, DISPLACEMENT = 0, 1
MOST_GEARED = 8  # frames
SIZE = 18  # numbers of a coordinate: sort, places of a and b among the frames, then Xa, Xb, Ua, Wa, Ub; behind all the angles
XA, XB, UA, WA, UB = 3, 6, 9, 12, 15


class Coordinate(NamedTuple):
    """One of them; X (3,) and U (3,) in the axes of the frames a and b, those that its sort does not use at will."""

    sort: int  # ANGLE or DISPLACEMENT
    frames: tuple[int, int]
    Xa: Floats
    Xb: Floats
    Ua: Floats
    Wa: Floats
    Ub: Floats


def gear(
    coordinates: Sequence[Coordinate], owner: str = "gear"
) -> tuple[Kind, list[int], Floats, tuple[float, float]]:
    """Kind, frames, numbers and sizes of its gradient to a place and to a turn, of a gear of these coordinates.

    Raises ModelError where they stand between more frames, or are more angles, than a gear may have.
    """
    frames = list(dict.fromkeys(f for own in coordinates for f in own.frames))
    angles = sum(own.sort == ANGLE for own in coordinates)
    if (len(frames), angles) not in GEARS:
        raise ModelError(
            f"{owner}: {angles} angles between {len(frames)} parts, ground included; a gear has at most {MOST_OWN} between "
            f"{MOST_GEARED}: make two of it, with a part between them"
        )
    rows = [
        np.concatenate([[own.sort, *map(frames.index, own.frames)], own.Xa, own.Xb, own.Ua, own.Wa, own.Ub])
        for own in coordinates
    ]
    place = turn = 0.0
    for own in coordinates:
        size, reach = np.linalg.norm(own.Ua), 1.0 + np.linalg.norm(own.Xa) + np.linalg.norm(own.Xb)
        place = max(place, float(size if own.sort == DISPLACEMENT else 0.0))
        turn = max(turn, float(size * (reach if own.sort == DISPLACEMENT else 1.0)))
    return GEARS[len(frames), angles], frames, np.concatenate([*rows, np.zeros(angles)]), (place, turn)


def coordinates_of(frames: Sequence[int], numbers: Floats) -> list[Coordinate]:
    """What a gear was made of."""
    table = numbers[: len(numbers) // SIZE * SIZE].reshape(-1, SIZE)
    return [
        Coordinate(int(x[0]), (int(frames[int(x[1])]), int(frames[int(x[2])])), *x[XA:].reshape(5, 3))
        for x in table
    ]


@small_kernel
def ends_of(y, X):
    """The frames a and b of a coordinate."""
    return frame(y, whole(X[1])), frame(y, whole(X[2]))


@small_kernel
def size_and_third(X):
    """|U| and u x W, with W the plane of the turn."""
    U = vector(X, UA)
    size = np.sqrt(dot(U, U))
    return size, cross(times(1.0 / size, U), vector(X, WA))


@small_kernel
def turned(y, X, V):
    """c, s, w_a, v_a, u_b: cosine and sine of alpha, and what they are made of."""
    a, b = ends_of(y, X)
    w, v, beta = direction(a, vector(X, WA)), direction(a, V), direction(b, vector(X, UB))
    return dot(w, beta), dot(v, beta), w, v, beta


@small_kernel
def angle(y, X, at):
    """alpha next to `at`."""
    _, V = size_and_third(X)
    c, s, _, _, _ = turned(y, X, V)
    return angle_of(c, s, at)


@small_kernel
def factors(y, X):
    """u_a and d."""
    a, b = ends_of(y, X)
    return direction(a, vector(X, UA)), minus(point(b, vector(X, XB)), point(a, vector(X, XA)))


@small_kernel
def add_turn(moment, found, X, V, out):
    """Duals of moment (c ds - s dc) on a and b."""
    c, s, w, v, beta = found
    on_w, on_v = (
        on_direction(times(-moment * s, beta), vector(X, WA)),
        on_direction(times(moment * c, beta), V),
    )
    add_dual(add_duals(on_w, on_v), out, whole(X[1]))
    on_b = on_direction(times(moment, minus(times(c, v), times(s, w))), vector(X, UB))
    add_dual(on_b, out, whole(X[2]))


@small_kernel
def add_along(u, d, X, lam, out):
    """lam u on p_b, its opposite on p_a, lam d on u_a."""
    f = times(lam, u)
    on_a = on_point_and_direction(times(-1.0, f), vector(X, XA), times(lam, d), vector(X, UA))
    add_dual(on_a, out, whole(X[1]))
    add_dual(on_point(f, vector(X, XB)), out, whole(X[2]))


@value_function
def value(y, X, out):
    """The sum."""
    n = X.shape[0] // SIZE
    at, total = SIZE * n, 0j
    for k in range(n):
        own = X[SIZE * k : SIZE * (k + 1)]
        if whole(own[0]) == ANGLE:
            total += size_and_third(own)[0] * angle(y, own, X[at])
            at += 1
        else:
            u, d = factors(y, own)
            total += dot(u, d)
    out[0] = total


@value_function
def count(y, X, out):
    """The angles."""
    n, i = X.shape[0] // SIZE, 0
    for k in range(n):
        own = X[SIZE * k : SIZE * (k + 1)]
        if whole(own[0]) == ANGLE:
            out[i] = angle(y, own, X[SIZE * n + i])
            i += 1


@dual_function
def dual(y0, y1, X, lam, out):
    """Of angles the change, of displacements both factors averaged."""
    out[:] = 0.0
    for k in range(X.shape[0] // SIZE):
        own = X[SIZE * k : SIZE * (k + 1)]
        if whole(own[0]) == ANGLE:
            size, V = size_and_third(own)
            _, ratio, _, _, middle = turning_between(turned(y0, own, V), turned(y1, own, V))
            add_turn(lam[0] * size * ratio, middle, own, V, out)
        else:
            u0, d0 = factors(y0, own)
            u1, d1 = factors(y1, own)
            add_along(average(u0, u1), average(d0, d1), own, lam[0], out)


@dual_function
def bend(y, z, X, lam, out):
    """Of (c ds - s dc)/(c^2 + s^2) all three factors change; of a displacement the gradient is linear: itself at z."""
    out[:] = 0.0
    for k in range(X.shape[0] // SIZE):
        own = X[SIZE * k : SIZE * (k + 1)]
        if whole(own[0]) == ANGLE:
            size, V = size_and_third(own)
            c, s, w, v, beta = turned(y, own, V)
            _, _, dw, dv, dbeta = turned(z, own, V)
            dc, ds = dot(dw, beta) + dot(w, dbeta), dot(dv, beta) + dot(v, dbeta)
            square, moment = c * c + s * s, size * lam[0]
            change = -2.0 * (c * dc + s * ds) / (square * square)
            add_turn(moment / square, (dc, ds, w, v, beta), own, V, out)
            add_turn(moment / square, (c, s, dw, dv, dbeta), own, V, out)
            add_turn(moment * change, (c, s, w, v, beta), own, V, out)
        else:
            u, d = factors(z, own)
            add_along(u, d, own, lam[0], out)


def _kind(frames: int, angles: int) -> Kind:
    name = f"gear of {frames} frames and {angles} angles"
    return Kind(name, frames, 1, value, dual, bend, steep=True, own=angles, count=count)


# by the numbers of frames and of angles
GEARS = {(m, k): _kind(m, k) for m in range(2, MOST_GEARED + 1) for k in range(MOST_OWN + 1)}
