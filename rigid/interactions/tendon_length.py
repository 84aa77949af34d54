"""Tendons whose tension is unknown: inextensible, elastic, or of a length that varies, through any number of frames.

With the length l = sum |d_j| of all segments, d_j = p_in(j + 1) - p_out(j),

    inextensible    g = l - L = 0                           tension: minus the multiplier                      (1)
    elastic         V = k <l - L>^2/2,   <x> = max(x, 0)    slack if l < L                                     (2)

Since |d_1| - |d_0| = dbar . (d_1 - d_0)/lbar exactly (`measures`), the force lam dbar/lbar on p_in(j + 1), and its opposite on
p_out(j), does the work of lam (l_1 - l_0). The tension of (2) over a step is (V_1 - V_0)/(l_1 - l_0). Where L varies, it is
constant in a step, and the energy counts as work.

The tendon enters a frame at p_in and leaves it at p_out; what lies between both has a fixed length and is not part of L. Numbers:
X_in and X_out of each frame, L, k, and three from outside whose sum is added to L. A frame may occur twice.
"""

from __future__ import annotations

import cmath

from rigid.compilation.decorators import inline_kernel
from rigid.interactions import measures
from rigid.interactions.kinds import (
    MAX_FRAMES,
    Kind,
    dual_function,
    frame,
    no_bend,
    value_function,
    vector,
)
from rigid.interactions.measure_forces import force_of
from rigid.interactions.pressure import nothing
from rigid.kinematics.poses import point
from rigid.linear_algebra import average, dot, minus, plus, times

PER_FRAME = 6  # numbers of each frame
TENDONS = 9  # number of their loop in `em`, after that of forces on distances


@inline_kernel
def _between(y, X, j):
    """Return the vector d_j of segment j."""
    at = PER_FRAME * j
    return minus(point(frame(y, j + 1), vector(X, at + 6)), point(frame(y, j), vector(X, at + 3)))


@inline_kernel
def count_of_frames(X):
    """Return the number of frames."""
    return X.shape[0] // PER_FRAME


@inline_kernel
def length_of(y, X):
    """Return the length l."""
    total = 0j
    for j in range(count_of_frames(X) - 1):
        d = _between(y, X, j)
        total += cmath.sqrt(dot(d, d))
    return total


@inline_kernel
def change_of_length(y0, y1, X):
    """Return the change of the length from the poses y0 to y1, without the difference of two lengths."""
    total = 0j
    for j in range(count_of_frames(X) - 1):
        a, b = _between(y0, X, j), _between(y1, X, j)
        lengths = cmath.sqrt(dot(a, a)) + cmath.sqrt(dot(b, b))
        if lengths != 0.0:
            total += dot(plus(a, b), minus(b, a)) / lengths
    return total


@inline_kernel
def _pull(out, X, j, f):
    """Add the force f on p_in(j + 1), and its opposite on p_out(j), to the dual `out`."""
    at = PER_FRAME * j
    measures.add_force(out, j + 1, X, at + 6, f)
    measures.add_force(out, j, X, at + 3, times(-1.0, f))


@inline_kernel
def write_tension(y0, y1, X, tension, out):
    """Write the tension times the discrete derivative of the length."""
    measures.clear_duals(out, count_of_frames(X))
    for j in range(count_of_frames(X) - 1):
        a, b = _between(y0, X, j), _between(y1, X, j)
        mean = 0.5 * (cmath.sqrt(dot(a, a)) + cmath.sqrt(dot(b, b)))
        if mean != 0.0:
            _pull(out, X, j, times(tension / mean, average(a, b)))


@inline_kernel
def tension_of_step(stiffness, stretch, change):
    """Return the mean tension (V_1 - V_0)/(l_1 - l_0) over a step, N; stretch: l_0 - L; change: l_1 - l_0."""
    last = stretch + change
    if stretch.real > 0.0 and last.real > 0.0:
        return stiffness * (stretch + 0.5 * change)
    if last.real > 0.0:
        return 0.5 * stiffness * last * last / change
    if stretch.real > 0.0:
        return -0.5 * stiffness * stretch * stretch / change
    return 0.0 * change


@inline_kernel
def slope_of_tension(stiffness, stretch, change):
    """Return the derivative of `tension_of_step` to l_1, N/m, of real numbers."""
    last = stretch + change
    if stretch > 0.0 and last > 0.0:
        return 0.5 * stiffness
    if last > 0.0:
        return stiffness * last / change * (1.0 - 0.5 * last / change)
    return 0.5 * stiffness * (stretch / change) ** 2 if stretch > 0.0 else 0.0


@value_function
def residual(y, X, out):
    """Write the constraint l - L."""
    out[0] = length_of(y, X) - X[PER_FRAME * count_of_frames(X)]


@dual_function
def length_dual(y0, y1, X, lam, out):
    """Write the dual of lam l."""
    write_tension(y0, y1, X, lam[0], out)


@dual_function
def length_bend(y, z, X, lam, out):
    """Write the change of the gradient of lam l along z: (z_d - e (e . z_d))/l with e = d/l for each segment."""
    measures.clear_duals(out, count_of_frames(X))
    for j in range(count_of_frames(X) - 1):
        d, change = _between(y, X, j), _between(z, X, j)
        square = dot(d, d)
        if square != 0.0:
            along = dot(d, change) / square
            _pull(out, X, j, times(lam[0] / cmath.sqrt(square), minus(change, times(along, d))))


@value_function
def elastic_energy(y, X, out):
    """Write the energy (2)."""
    at = PER_FRAME * count_of_frames(X)
    stretch = length_of(y, X) - X[at]
    out[0] = 0.5 * X[at + 1] * stretch * stretch if stretch.real > 0.0 else 0.0 * stretch


@dual_function
def elastic_dual(y0, y1, X, lam, out):
    """Write the discrete derivative of (2)."""
    at = PER_FRAME * count_of_frames(X)
    tension = tension_of_step(X[at + 1], length_of(y0, X) - X[at], change_of_length(y0, y1, X))
    write_tension(y0, y1, X, lam[0] * tension, out)


@dual_function
def varying_dual(y0, y1, X, lam, out):
    """Write the discrete derivative of (2) with the length L that holds in this step."""
    at = PER_FRAME * count_of_frames(X)
    stretch = length_of(y0, X) - X[at] - force_of(X, at + 2)
    write_tension(y0, y1, X, lam[0] * tension_of_step(X[at + 1], stretch, change_of_length(y0, y1, X)), out)


_COUNTS = range(2, MAX_FRAMES + 1)
# kinds by their number of frames
TENDON_LENGTHS = {
    n: Kind(
        f"inextensible tendon of {n} frames",
        n,
        1,
        residual,
        length_dual,
        length_bend,
        steep=True,
        loop=TENDONS,
    )
    for n in _COUNTS
}
ELASTIC_TENDONS = {
    n: Kind(
        f"elastic tendon of {n} frames",
        n,
        0,
        elastic_energy,
        elastic_dual,
        no_bend,
        loop=TENDONS,
    )
    for n in _COUNTS
}
VARYING_TENDONS = {
    n: Kind(
        f"tendon of varying length of {n} frames",
        n,
        0,
        nothing,
        varying_dual,
        no_bend,
        works=True,
        signal=PER_FRAME * n + 2,
        potential=True,
        loop=TENDONS,
    )
    for n in _COUNTS
}
