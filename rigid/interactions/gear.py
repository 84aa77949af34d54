"""Gear constraint: a sum of joint coordinates stays constant, g = q_1 + q_2 + ... = 0, one row for all of them.

Each coordinate is defined between two of the gear's frames, a and b, and is weighted by the length of its U, u = R U:

    angle          q = |U| alpha, alpha that of b about u_a from w_a to u_b, counted through turns
    displacement   q = u_a . d,   d = p_b - p_a

alpha is the value nearest to the one among the numbers, the angle at the start of the step; the angles are the gear's internal
variables, in the order of the coordinates.

The discrete derivative of an angle is its change over a step, exactly, as in `torsion_spring`; that of a displacement has both
factors averaged, as in `along`. Sums of them vanish if the sum of the coordinates does not change, so that a gear does no
work, and each is a pair of opposite forces or torques.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rigid.compilation.decorators import inline_kernel
from rigid.errors import ModelError
from rigid.interactions.kinds import (
    MAX_INTERNAL_VARIABLES,
    Kind,
    add_dual,
    dual_function,
    frame,
    value_function,
    vector,
    whole,
)
from rigid.interactions.torsion_spring import angle_of, rotation_over_step
from rigid.kinematics.poses import add_duals, direction, on_direction, on_point, on_point_and_direction, point
from rigid.linear_algebra import average, cross, dot, minus, times
from rigid.system import Floats

ANGLE, DISPLACEMENT = 0, 1
MAX_GEAR_COORDINATES = 8  # largest number of frames of a gear
# number of numbers of a coordinate: sort, indices of a and b among the frames, then Xa, Xb, Ua, Wa, Ub; the angles follow
# after all coordinates
SIZE = 18
XA, XB, UA, WA, UB = 3, 6, 9, 12, 15


class Coordinate(NamedTuple):
    """One coordinate of a gear.

    X (3,) and U (3,) are in the axes of the frames a and b; those that the coordinate type does not use are arbitrary.
    """

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
    """Return the kind, the frames, the numbers, and the sizes of the gradient to a position and to a rotation, of a gear.

    `coordinates`: those of the gear; `owner`: name for error messages. Raises ModelError if the coordinates have more frames, or
    more angles, than a gear may have.
    """
    frames = list(dict.fromkeys(f for coordinate in coordinates for f in coordinate.frames))
    angles = sum(coordinate.sort == ANGLE for coordinate in coordinates)
    if (len(frames), angles) not in GEARS:
        raise ModelError(
            f"{owner}: {angles} angles between {len(frames)} parts, ground included; a gear has at most "
            f"{MAX_INTERNAL_VARIABLES} between "
            f"{MAX_GEAR_COORDINATES}: divide it into two gears, with a part between them"
        )
    rows = [
        np.concatenate(
            [
                [coordinate.sort, *map(frames.index, coordinate.frames)],
                coordinate.Xa,
                coordinate.Xb,
                coordinate.Ua,
                coordinate.Wa,
                coordinate.Ub,
            ]
        )
        for coordinate in coordinates
    ]
    position_size = rotation_size = 0.0
    for coordinate in coordinates:
        size, reach = (
            np.linalg.norm(coordinate.Ua),
            1.0 + np.linalg.norm(coordinate.Xa) + np.linalg.norm(coordinate.Xb),
        )
        position_size = max(position_size, float(size if coordinate.sort == DISPLACEMENT else 0.0))
        rotation_size = max(rotation_size, float(size * (reach if coordinate.sort == DISPLACEMENT else 1.0)))
    return (
        GEARS[len(frames), angles],
        frames,
        np.concatenate([*rows, np.zeros(angles)]),
        (position_size, rotation_size),
    )


def coordinates_of(frames: Sequence[int], numbers: Floats) -> list[Coordinate]:
    """Return the coordinates from which a gear with these frames and numbers was made."""
    table = numbers[: len(numbers) // SIZE * SIZE].reshape(-1, SIZE)
    return [
        Coordinate(int(x[0]), (int(frames[int(x[1])]), int(frames[int(x[2])])), *x[XA:].reshape(5, 3))
        for x in table
    ]


@inline_kernel
def ends_of(y, X):
    """Return the poses of the frames a and b of a coordinate."""
    return frame(y, whole(X[1])), frame(y, whole(X[2]))


@inline_kernel
def size_and_plane_direction(X):
    """Return |U| and u x W, which spans with W the plane of the rotation."""
    U = vector(X, UA)
    size = np.sqrt(dot(U, U))
    return size, cross(times(1.0 / size, U), vector(X, WA))


@inline_kernel
def angle_parts(y, X, V):
    """Return c, s, w_a, v_a, u_b: cosine and sine of alpha, and the directions whose products they are."""
    a, b = ends_of(y, X)
    w, v, beta = direction(a, vector(X, WA)), direction(a, V), direction(b, vector(X, UB))
    return dot(w, beta), dot(v, beta), w, v, beta


@inline_kernel
def angle(y, X, at):
    """Return the value of alpha nearest to `at`."""
    _, V = size_and_plane_direction(X)
    c, s, _, _, _ = angle_parts(y, X, V)
    return angle_of(c, s, at)


@inline_kernel
def factors(y, X):
    """Return both factors of a displacement, u_a and d."""
    a, b = ends_of(y, X)
    return direction(a, vector(X, UA)), minus(point(b, vector(X, XB)), point(a, vector(X, XA)))


@inline_kernel
def add_rotation_dual(moment, parts, X, V, out):
    """Add the duals of moment (c ds - s dc) on a and b to `out`."""
    c, s, w, v, beta = parts
    on_w, on_v = (
        on_direction(times(-moment * s, beta), vector(X, WA)),
        on_direction(times(moment * c, beta), V),
    )
    add_dual(add_duals(on_w, on_v), out, whole(X[1]))
    on_b = on_direction(times(moment, minus(times(c, v), times(s, w))), vector(X, UB))
    add_dual(on_b, out, whole(X[2]))


@inline_kernel
def add_along(u, d, X, lam, out):
    """Add the duals of lam u . d to `out`: lam u on p_b, its opposite on p_a, lam d on u_a."""
    f = times(lam, u)
    on_a = on_point_and_direction(times(-1.0, f), vector(X, XA), times(lam, d), vector(X, UA))
    add_dual(on_a, out, whole(X[1]))
    add_dual(on_point(f, vector(X, XB)), out, whole(X[2]))


@value_function
def value(y, X, out):
    """Write the constraint: the sum of the coordinates."""
    n = X.shape[0] // SIZE
    at, total = SIZE * n, 0j
    for k in range(n):
        numbers = X[SIZE * k : SIZE * (k + 1)]
        if whole(numbers[0]) == ANGLE:
            total += size_and_plane_direction(numbers)[0] * angle(y, numbers, X[at])
            at += 1
        else:
            u, d = factors(y, numbers)
            total += dot(u, d)
    out[0] = total


@value_function
def count(y, X, out):
    """Write the angles of the gear, each nearest to the one among the numbers."""
    n, i = X.shape[0] // SIZE, 0
    for k in range(n):
        numbers = X[SIZE * k : SIZE * (k + 1)]
        if whole(numbers[0]) == ANGLE:
            out[i] = angle(y, numbers, X[SIZE * n + i])
            i += 1


@dual_function
def dual(y0, y1, X, lam, out):
    """Write the discrete derivative of lam . g: angles by their change, displacements with both factors averaged."""
    out[:] = 0.0
    for k in range(X.shape[0] // SIZE):
        numbers = X[SIZE * k : SIZE * (k + 1)]
        if whole(numbers[0]) == ANGLE:
            size, V = size_and_plane_direction(numbers)
            _, ratio, _, _, middle = rotation_over_step(
                angle_parts(y0, numbers, V), angle_parts(y1, numbers, V)
            )
            add_rotation_dual(lam[0] * size * ratio, middle, numbers, V, out)
        else:
            u0, d0 = factors(y0, numbers)
            u1, d1 = factors(y1, numbers)
            add_along(average(u0, u1), average(d0, d1), numbers, lam[0], out)


@dual_function
def bend(y, z, X, lam, out):
    """Write the change of the gradient along z.

    For an angle all three factors of (c ds - s dc)/(c^2 + s^2) change. For a displacement the gradient is linear in the poses, so
    its change is the gradient at z.
    """
    out[:] = 0.0
    for k in range(X.shape[0] // SIZE):
        numbers = X[SIZE * k : SIZE * (k + 1)]
        if whole(numbers[0]) == ANGLE:
            size, V = size_and_plane_direction(numbers)
            c, s, w, v, beta = angle_parts(y, numbers, V)
            _, _, dw, dv, dbeta = angle_parts(z, numbers, V)
            dc, ds = dot(dw, beta) + dot(w, dbeta), dot(dv, beta) + dot(v, dbeta)
            square, moment = c * c + s * s, size * lam[0]
            change = -2.0 * (c * dc + s * ds) / (square * square)
            add_rotation_dual(moment / square, (dc, ds, w, v, beta), numbers, V, out)
            add_rotation_dual(moment / square, (c, s, dw, dv, dbeta), numbers, V, out)
            add_rotation_dual(moment * change, (c, s, w, v, beta), numbers, V, out)
        else:
            u, d = factors(z, numbers)
            add_along(u, d, numbers, lam[0], out)


def _kind(frames: int, angles: int) -> Kind:
    """Return the kind of gears with this many frames and angles."""
    name = f"gear of {frames} frames and {angles} angles"
    return Kind(name, frames, 1, value, dual, bend, steep=True, n_internal=angles, count=count)


# kinds of gears by the number of frames and the number of angles
GEARS = {
    (m, k): _kind(m, k) for m in range(2, MAX_GEAR_COORDINATES + 1) for k in range(MAX_INTERNAL_VARIABLES + 1)
}
