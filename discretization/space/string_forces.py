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
from rigid.linear_algebra import dot, load3, minus, plus, store3, times

NONE = (0.0, 0.0, 0.0)


@inline_kernel
def _tensile(g0, g1):
    """Return the mean of max(g, 0) over a step with the strains g0, g1 at its ends, as stress of unit stiffness, and its slope.

    The stress is (m1^2 - m0^2)/(2 (g1 - g0)) with m = max(g, 0).
    """
    m0, m1 = max(g0, 0.0), max(g1, 0.0)
    if (g0 < 0.0) == (g1 < 0.0):
        return 0.5 * (m0 + m1), 0.5 if g1 > 0.0 else 0.0
    q = 0.5 * (m0 + m1) * (m1 - m0) / (g1 - g0)
    return q, (m1 - q) / (g1 - g0)


@inline_kernel
def _elastic(X, g0, g1):
    """Return the elastic stress of a step with any law, and its derivative to g1."""
    law, slope = law_between(X, 0, (g0, 0.0, 0.0), NONE, (g1, 0.0, 0.0), NONE)
    return 0.5 * X[FIRST] * (g0 + g1) + law, 0.5 * X[FIRST] + slope


@inline_kernel
def string_force(ends, change, X, D, ratio, slack):
    """Return the strains at both ends of a step, the force n on b, and the tangent: (u, (dN/L - N/s) t) and N/s of (1).

    ends: positions of both frames at the start; change: dr_b - dr_a. X, D, ratio: as in `closed_form_spans`. slack: True if the
    string carries no compression, False if its material is linear, None for any law.
    """
    L = X[LENGTH]
    d0 = minus(ends[1], ends[0])
    d1 = plus(d0, change)
    l0, l1 = dot(d0, d0) ** 0.5, dot(d1, d1) ** 0.5
    g0, g1 = l0 / L - 1.0, l1 / L - 1.0
    e0, e1 = g0 - X[FIRST + STRAIN0], g1 - X[FIRST + STRAIN0]
    if slack is None:
        N, dN = _elastic(X, e0, e1)
    else:
        N, dN = _tensile(e0, e1) if slack else (0.5 * (e0 + e1), 0.5)
        N, dN = X[FIRST] * N, X[FIRST] * dN
    if ratio != 0.0:
        N += ratio * (D[FIRST] * (g1 - g0) + D[FIRST + BEHIND])
        dN += ratio * D[FIRST]
    total = l0 + l1
    inverse = 1.0 / total if total > 0.0 else 0.0
    u, across = times(inverse, plus(d0, d1)), N * inverse
    along = times((dN / L - across) / l1 if l1 > 0.0 else 0.0, d1)
    return g0, g1, times(N, u), (u, along), across


@compiled(FORCES)
def forces(r, dr, R0, R1, frames, X, D, ratio, tangent, K):
    """Compute the discrete forces of one string element into K; arguments as in `closed_form_spans`."""
    a, b = frames[0], frames[1]
    change = minus(load3(dr[b]), load3(dr[a]))
    g0, g1, n, (u, along), across = string_force((load3(r[a]), load3(r[b])), change, X, D, ratio, None)
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
