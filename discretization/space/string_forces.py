"""Closed form of the string element for `em`, based on `string_element` (2).

With t = d_1/l_1, s = l_0 + l_1 and dN the derivative of the stress of the step to the strain at its end,

    dn = u (dN/L - N/s) t . delta + N/s delta,   u = (d_0 + d_1)/s,   delta = dr_b - dr_a                            (1)
"""

from discretization.space.closed_form_spans import (
    FORCE,
    FORCES,
    STRAINS_END,
    STRAINS_START,
    law_between,
)
from discretization.space.rod_gauss_points import BEHIND, FIRST, LENGTH, STRAIN0
from rigid.compilation.decorators import compiled, inline_kernel
from rigid.lanes import most, root, where_less
from rigid.linear_algebra import dot, load3, minus, plus, store3, times

NONE = (0.0, 0.0, 0.0)


@inline_kernel
def inverse_of(x):
    """Return 1/x, or 0 if x is 0, of a number or of lanes; x >= 0."""
    return x / (x * x + 1e-300)


@inline_kernel
def tensile_stress(g0, g1):
    """Return the mean of max(g, 0) over a step with the strains g0, g1 at its ends, in lanes, and its derivative to g1.

    The stress is (m1^2 - m0^2)/(2 (g1 - g0)) with m = max(g, 0).
    """
    m0, m1 = most(g0, 0.0), most(g1, 0.0)
    mean, changed = 0.5 * (m0 + m1), abs(where_less(g0, 0.0, 1.0, 0.0) - where_less(g1, 0.0, 1.0, 0.0))
    q = mean * (m1 - m0) / (g1 - g0)
    slope = where_less(0.0, changed, (m1 - q) / (g1 - g0), where_less(0.0, g1, 0.5, 0.0))
    return where_less(0.0, changed, q, mean), slope


@inline_kernel
def strains_over_step(d0, change, L):
    """Return d and its length at both ends of the step, and the strains g0, g1 there; change: dr_b - dr_a."""
    d1 = plus(d0, change)
    l0, l1 = root(dot(d0, d0)), root(dot(d1, d1))
    return (d0, l0), (d1, l1), l0 / L - 1.0, l1 / L - 1.0


@inline_kernel
def force_of_stress(start, end, L, N, dN):
    """Return the force n on b of the stress N, and its tangent: u, (dN/L - N/s) t and N/s of (1).

    start, end: d and its length at both ends of the step.
    """
    (d0, l0), (d1, l1) = start, end
    inverse = inverse_of(l0 + l1)
    u, across = times(inverse, plus(d0, d1)), N * inverse
    return times(N, u), u, times((dN / L - across) * inverse_of(l1), d1), across


@compiled(FORCES)
def forces(r, dr, R0, R1, frames, X, D, ratio, tangent, K):
    """Compute the discrete forces of one string element into K; arguments as in `closed_form_spans`."""
    a, b = frames[0], frames[1]
    d0, change, L = minus(load3(r[b]), load3(r[a])), minus(load3(dr[b]), load3(dr[a])), X[LENGTH]
    start, end, g0, g1 = strains_over_step(d0, change, L)
    e0, e1 = g0 - X[FIRST + STRAIN0], g1 - X[FIRST + STRAIN0]
    law, slope = law_between(X, 0, (e0, 0.0, 0.0), NONE, (e1, 0.0, 0.0), NONE)
    N, dN = 0.5 * X[FIRST] * (e0 + e1) + law, 0.5 * X[FIRST] + slope
    N += ratio * (D[FIRST] * (g1 - g0) + D[FIRST + BEHIND])
    n, u, along, across = force_of_stress(start, end, L, N, dN + ratio * D[FIRST])
    for i in range(6):
        K[STRAINS_START, i] = K[STRAINS_END, i] = 0.0
    K[STRAINS_START, 0], K[STRAINS_END, 0] = g0, g1
    store3(times(-1.0, n), K[FORCE, 0:3])
    store3(NONE, K[FORCE, 3:6])
    store3(n, K[FORCE, 6:9])
    store3(NONE, K[FORCE, 9:12])
    if not tangent:
        return
    for i in range(12):
        for j in range(12):
            K[i, j] = 0.0
    for j in range(3):
        for i in range(3):
            k = u[i] * along[j] + (across if i == j else 0.0)
            K[j, i] = K[6 + j, 6 + i] = k
            K[j, 6 + i] = K[6 + j, i] = -k
