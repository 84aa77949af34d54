"""Closed form of the string element for `em`, based on `string_element` (2).

With t = d_1/l_1, s = l_0 + l_1 and dN the derivative of the stress of the step to the strain at its end,

    dn = dN (t . delta)/L (d_0 + d_1)/s + N/s (delta - (d_0 + d_1)/s (t . delta)),   delta = dr_b - dr_a              (1)
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
def normal_force(X, D, ratio, g0, g1):
    """Return N of a step and its derivative to g1 from the strains g0, g1 at both ends, less the stress-free one.

    X, D, ratio: as in `closed_form_spans`.
    """
    law, slope = law_between(X, 0, (g0, 0.0, 0.0), NONE, (g1, 0.0, 0.0), NONE)
    N, dN = 0.5 * X[FIRST] * (g0 + g1) + law, 0.5 * X[FIRST] + slope
    if ratio != 0.0:
        N += ratio * (D[FIRST] * (g1 - g0) + D[FIRST + BEHIND])
        dN += ratio * D[FIRST]
    return N, dN


@compiled(FORCES)
def forces(r, dr, R0, R1, frames, X, D, ratio, tangent, K):
    """Compute the discrete forces of one string element into K; arguments as in `closed_form_spans`."""
    a, b, L = frames[0], frames[1], X[LENGTH]
    d0 = minus(load3(r[b]), load3(r[a]))
    d1 = plus(d0, minus(load3(dr[b]), load3(dr[a])))
    l0, l1 = dot(d0, d0) ** 0.5, dot(d1, d1) ** 0.5
    g0, g1, rest = l0 / L - 1.0, l1 / L - 1.0, X[FIRST + STRAIN0]
    for i in range(6):
        K[STRAINS_START, i] = K[STRAINS_END, i] = 0.0
    K[STRAINS_START, 0], K[STRAINS_END, 0] = g0, g1
    N, dN = normal_force(X, D, ratio, g0 - rest, g1 - rest)
    total = l0 + l1
    u = times(1.0 / total if total > 0.0 else 0.0, plus(d0, d1))
    n = times(N, u)
    store3(times(-1.0, n), K[FORCE, 0:3])
    store3(NONE, K[FORCE, 3:6])
    store3(n, K[FORCE, 6:9])
    store3(NONE, K[FORCE, 9:12])
    if not tangent:
        return
    for i in range(12):
        for j in range(12):
            K[i, j] = 0.0
    across = N / total if total > 0.0 else 0.0
    along = times((dN / L - across) / l1 if l1 > 0.0 else 0.0, d1)
    for j in range(3):
        for i in range(3):
            k = u[i] * along[j] + (across if i == j else 0.0)
            K[j, i] = K[6 + j, 6 + i] = k
            K[j, 6 + i] = K[6 + j, i] = -k
