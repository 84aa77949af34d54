"""Signed distances of cores of hulls and bodies of revolution from other surfaces; a negative value is the penetration depth.

The signed distance from a convex set is convex, also along a segment: its minimum is found by golden-section search.
"""

from __future__ import annotations

import numpy as np

from discretization.contact.core_parameters import core_numbers, hull_pair_parameters
from discretization.contact.table import Contacts
from rigid.compilation.decorators import inline_kernel, kernel
from rigid.kinematics.core_pairs import distance_of_cores, turned
from rigid.kinematics.cores import AXIS, is_faceted, is_round, signed_distance
from rigid.kinematics.facets import facet_axes, next_axis
from rigid.linear_algebra import dot, load3, minus, plus, real, times
from rigid.system import Floats, Ints

_GOLDEN, _STEPS = 0.6180339887498949, 60  # golden-section ratio, number of steps


def from_surfaces(contacts: Contacts, points: Floats, ends: Ints, surfaces: Ints) -> Floats:
    """Return the distances (c,), m, of points and segments from the cores of `surfaces` (c,).

    points (k, 3): positions; ends (c, 4): end points as in `Candidates`, the middle of the core second; surfaces (c,): the cores.
    """
    out = np.empty(len(ends))
    unique, which = np.unique(surfaces, return_inverse=True)
    blocks = [core_numbers(contacts, int(surface)) for surface in unique]
    first = np.cumsum([0, *(len(block) for block in blocks)])
    from_cores(points, ends, np.concatenate([np.zeros(0), *blocks]), first[which.reshape(-1)], out)
    return out


def from_hulls(contacts: Contacts, points: Floats, ends: Ints, surfaces: Ints) -> Floats:
    """Return the distances (c,), m, of the cores of two hulls, `surfaces` (c, 2); below 0, the overlap."""
    out = np.empty(len(ends))
    unique, which = np.unique(surfaces, axis=0, return_inverse=True)
    blocks = [block for pair in unique.tolist() for block in hull_pair_parameters(contacts, pair)]
    first = np.cumsum([0, *(len(block) for block in blocks)])
    at = np.stack([first[:-1:2], first[1::2]], axis=1)[which.reshape(-1)]
    between_cores(points, ends, np.concatenate([np.zeros(0), *blocks]), at, out)
    return out


@inline_kernel
def _core(points, k):
    """Return the middle and axes of the core whose first point is k."""
    c = load3(points[k])
    a, b, e = minus(load3(points[k + 1]), c), minus(load3(points[k + 2]), c), minus(load3(points[k + 3]), c)
    return c, (
        times(1.0 / dot(a, a) ** 0.5, a),
        times(1.0 / dot(b, b) ** 0.5, b),
        times(1.0 / dot(e, e) ** 0.5, e),
    )


@inline_kernel
def _with_facets(one, other):
    """Return the middle and axes of the second core, with its facets rotated to their position relative to the first."""
    (_, axes), (c, (_, _, a)) = one, other
    axis_in_first = dot(axes[0], a) + 0j, dot(axes[1], a) + 0j, dot(axes[2], a) + 0j
    u, v, _ = facet_axes(axis_in_first, next_axis(axis_in_first), 0.0)
    return c, (turned(axes, real(u)), turned(axes, real(v)), a)


@kernel
def between_cores(points, ends, X, at, out):
    """Write the distances of `from_hulls` to `out` (c,); at (c, 2): offsets of the blocks of both cores in X."""
    for c in range(out.shape[0]):
        one, other = _core(points, ends[c, 0]), _core(points, ends[c, 2])
        if is_faceted(X, at[c, 1]):
            other = _with_facets(one, other)
        out[c] = distance_of_cores(one, other, X, at[c, 0], at[c, 1])


@inline_kernel
def _position(x, points, k, X, at):
    """Return the position of a point in the axes of the core whose first point is k.

    For a body of revolution: radius, height, 0.
    """
    c, axes = _core(points, k)
    w = minus(x, c)
    u = dot(axes[0], w), dot(axes[1], w), dot(axes[2], w)
    if not is_round(X, at):
        return u
    z = u[0] * X[at + AXIS] + u[1] * X[at + AXIS + 1] + u[2] * X[at + AXIS + 2]
    return max(dot(u, u) - z * z, 0.0) ** 0.5, z, 0.0


@inline_kernel
def _distance_at(a, b, t, points, k, X, at):
    """Return the signed distance of the point at t, 0 to 1, of a segment from a core."""
    return signed_distance(_position(plus(times(1.0 - t, a), times(t, b)), points, k, X, at), X, at)


@kernel
def from_cores(points, ends, X, at, out):
    """Write the distances of `from_surfaces` to `out` (c,); at (c,): offset of the block of each core in X."""
    for c in range(out.shape[0]):
        a, b, k = load3(points[ends[c, 0]]), load3(points[ends[c, 1]]), ends[c, 2]
        least = min(
            _distance_at(a, b, 0.0, points, k, X, at[c]), _distance_at(a, b, 1.0, points, k, X, at[c])
        )
        if ends[c, 0] != ends[c, 1]:
            low, high = 0.0, 1.0
            for _ in range(_STEPS):
                s, t = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
                u, v = _distance_at(a, b, s, points, k, X, at[c]), _distance_at(a, b, t, points, k, X, at[c])
                least = min(least, u, v)
                if u < v:
                    high = t
                else:
                    low = s
        out[c] = least
