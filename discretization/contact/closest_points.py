"""Distances of segments, and a conservative test whether two segments could have passed through each other in a step.

Points move in straight lines within a step and segments are straight. The vector d(s, t) from a point of one segment to a point
of the other is therefore bilinear in s, t, and at any time it lies between its values at both ends of the step. Two segments do
not meet if some direction n has n . d > 0 at both ends of the step for all four pairs of end points. The test tries the vectors
between the nearest points at both ends, which are separating directions of two convex sets.
"""

from __future__ import annotations

import numpy as np

from rigid.compilation.decorators import inline_kernel, kernel
from rigid.kinematics.segments import between, nearest_parameters
from rigid.linear_algebra import dot, load3, minus

DEEP = 0.2  # fraction of the reach: two lines nearer than that can pass through each other in a step of any length


@kernel
def distances(points, ends, out):
    """Write the distances |d| of segments to `out` (c,); ends (c, 4): a0, a1, b0, b1 among the points (k, 3)."""
    for c in range(ends.shape[0]):
        a0, a1 = load3(points[ends[c, 0]]), load3(points[ends[c, 1]])
        b0, b1 = load3(points[ends[c, 2]]), load3(points[ends[c, 3]])
        s, t = nearest_parameters(a0, a1, b0, b1)
        d = between(a0, a1, b0, b1, s, t)
        out[c] = np.sqrt(dot(d, d))


@kernel
def nearest_positions(ends, out):
    """Write the position, 0 to 1, on the first segment nearest to the second to `out` (c,).

    ends (c, 4, 3): positions a0, a1, b0, b1.
    """
    for c in range(ends.shape[0]):
        a0, a1, b0, b1 = load3(ends[c, 0]), load3(ends[c, 1]), load3(ends[c, 2]), load3(ends[c, 3])
        out[c] = nearest_parameters(a0, a1, b0, b1)[0]


@inline_kernel
def _separates(n, points, ends):
    """Return True if n . d > 0 for all pairs of end points."""
    for i in range(2):
        for k in range(2, 4):
            if dot(n, minus(load3(points[ends[i]]), load3(points[ends[k]]))) <= 0.0:
                return False
    return True


@kernel
def mark_crossings(points, ends, reach, out):
    """Set out (steps,) = 1 for each step in which a pair could have passed through each other, else 0.

    A pair also counts if it touched and moved further than its distance. points (steps + 1, k, 3): at the ends of the steps;
    ends (c, 4): see `distances`; reach (c,): activation distance of the forces.
    """
    for step in range(out.shape[0]):
        before, after = points[step], points[step + 1]
        out[step] = 0
        for c in range(ends.shape[0]):
            a0, a1 = load3(before[ends[c, 0]]), load3(before[ends[c, 1]])
            b0, b1 = load3(before[ends[c, 2]]), load3(before[ends[c, 3]])
            c0, c1 = load3(after[ends[c, 0]]), load3(after[ends[c, 1]])
            d0, d1 = load3(after[ends[c, 2]]), load3(after[ends[c, 3]])
            s, t = nearest_parameters(a0, a1, b0, b1)
            u, v = nearest_parameters(c0, c1, d0, d1)
            start, end = between(a0, a1, b0, b1, s, t), between(c0, c1, d0, d1, u, v)
            separated = _separates(start, after, ends[c]) or _separates(end, before, ends[c])
            moved = minus(between(c0, c1, d0, d1, s, t), start)
            near, away = dot(start, start), dot(end, end)
            far = min(near, away) < reach[c] * reach[c] and dot(moved, moved) > max(near, away)
            if far or not separated:
                out[step] = 1
                break
