"""Nearest points of two segments."""

from rigid.compilation.decorators import inline_kernel
from rigid.linear_algebra import dot, minus, plus, times


@inline_kernel
def clip_to_unit(x):
    """Return x clipped to [0, 1]."""
    return min(max(x, 0.0), 1.0)


@inline_kernel
def nearest_parameters(a0, a1, b0, b1):
    """Return (s, t) of the nearest points a0 + s (a1 - a0), b0 + t (b1 - b0); both ends of a segment may coincide."""
    e, f, w = minus(a1, a0), minus(b1, b0), minus(a0, b0)
    ee, ff, ef, we, wf = dot(e, e), dot(f, f), dot(e, f), dot(w, e), dot(w, f)
    det = ee * ff - ef * ef
    s = clip_to_unit((ef * wf - we * ff) / det) if det > 1e-12 * ee * ff else 0.5
    t = (ef * s + wf) / ff if ff > 0.0 else 0.0
    if t < 0.0 or t > 1.0 or ff == 0.0:
        t = clip_to_unit(t)
        s = clip_to_unit((ef * t - we) / ee) if ee > 0.0 else 0.0
    elif ee > 0.0:
        # for parallel segments every s is a solution if both points stay on their segments
        s = clip_to_unit((ef * t - we) / ee)
        t = clip_to_unit((ef * s + wf) / ff)
    return s, t


@inline_kernel
def between(a0, a1, b0, b1, s, t):
    """Return the vector from the point at t of the second segment to the point at s of the first."""
    a = plus(times(1.0 - s, a0), times(s, a1))
    return minus(a, plus(times(1.0 - t, b0), times(t, b1)))
