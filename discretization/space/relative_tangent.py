"""The relative rod element in `em`: how stresses at a point, and what they do, change with the end of the step.

The strains change with

    dGamma = G_q dq + G_c dc,   dK = K_c dc + K_d dc'                                                                  (1)

and (4), (5) of `relative_element` are P n, Q m, N n + M m with the matrices below, which change themselves.
"""

from discretization.space.closed_spans import coupled
from rigid.compilation.decorators import small_kernel
from rigid.linear_algebra import (
    average,
    cross,
    dot,
    hat,
    matrix_minus,
    matrix_plus,
    matrix_times,
    minus,
    outer,
    plus,
    plus_identity,
    product,
    scaled_rows,
    times,
)


@small_kernel
def _hats(a, b):
    """hat(a) hat(b) = b a^T - (a . b) I."""
    return plus_identity(outer(b, a), -dot(a, b))


@small_kernel
def strain_slopes(end, of_end):
    """(1): G_q, G_c, K_c, K_d."""
    c, dc, q = end
    s, w, u = of_end
    hc, scale = hat(c), 1.0 / s
    G_q = plus_identity(matrix_times(scale, matrix_minus(matrix_times(0.5, _hats(c, c)), hc)), 1.0)
    G_c = matrix_minus(hat(minus(q, times(0.5, cross(c, q)))), matrix_times(0.5, _hats(c, q)))
    G_c = matrix_times(scale, matrix_minus(G_c, outer(times(0.5, w), c)))
    K_c = matrix_times(0.5 * scale, matrix_minus(hat(dc), outer(u, c)))
    K_d = matrix_times(scale, plus_identity(matrix_times(-0.5, hc), 1.0))
    return G_q, G_c, K_c, K_d


@small_kernel
def spreads_of(start, end, of_start, of_end, n, m):
    """P, Q, N, M of `relative_element` (4), (5), what brings stresses to q, c', c, and how they change: (c to q), (c to c'),
    (q to c), (c' to c), (c to c).
    """
    s0, w0, u0 = of_start
    s1, w1, u1 = of_end
    c, dc, q = average(start[0], end[0]), average(start[1], end[1]), average(start[2], end[2])
    c1, dc1, q1 = end
    scale = 2.0 / (s0 + s1)
    z = average(cross(start[0], start[2]), cross(c1, q1))
    w, u = average(w0, w1), average(u0, u1)
    a, b = times(scale, n), times(scale, m)
    P = matrix_times(scale, matrix_plus(hat(c), matrix_times(0.5, _hats(c, c))))
    Q = matrix_times(scale, plus_identity(matrix_times(0.5, hat(c)), 1.0))
    N = matrix_minus(hat(minus(times(0.5, z), q)), matrix_times(0.5, _hats(q, c)))
    N = matrix_times(scale, matrix_minus(N, outer(c, times(0.5, w))))
    M = matrix_times(-0.5 * scale, matrix_plus(hat(dc), outer(c, u)))
    quarter, ca, cb = 0.25 * scale, cross(c, a), cross(c, b)
    half = hat(plus(times(0.5, a), times(0.25, ca)))
    on_q = times(quarter, plus(ca, times(0.5, cross(c, ca))))
    c_q = matrix_plus(matrix_plus(half, matrix_times(0.25, _hats(c, a))), outer(on_q, c1))
    on_dc = times(quarter, plus(b, times(0.5, cb)))
    c_dc = matrix_plus(matrix_times(0.25, hat(b)), outer(on_dc, c1))
    # G_q^T n - n and K_d^T m, with hat(c1)^T = -hat(c1)
    cn = cross(c1, n)
    pulled = times(1.0 / s1, plus(cn, times(0.5, cross(c1, cn))))
    q_c = matrix_minus(matrix_minus(half, matrix_times(0.25, _hats(a, c1))), outer(times(quarter, c), pulled))
    pulled = times(1.0 / s1, plus(m, times(0.5, cross(c1, m))))
    dc_c = matrix_minus(matrix_times(0.25, hat(b)), outer(times(quarter, c), pulled))
    fall = dot(n, w) + dot(m, u)
    turned = minus(times(0.5, cross(z, a)), plus(cross(q, a), times(0.5, plus(cross(q, ca), cross(dc, b)))))
    # less G_c^T n + K_c^T m
    row = plus(times(0.5, cross(q1, cn)), cross(minus(q1, times(0.5, cross(c1, q1))), n))
    row = plus(row, plus(times(0.5, cross(dc1, m)), times(0.5 * (dot(w1, n) + dot(u1, m)), c1)))
    row = plus(times(0.5 * scale * fall, c1), times(1.0 / s1, row))
    c_c = matrix_times(0.25, matrix_plus(_hats(a, q1), _hats(q, a)))
    c_c = plus_identity(matrix_plus(c_c, outer(times(quarter, c), row)), -quarter * fall)
    c_c = matrix_minus(c_c, outer(times(quarter, turned), c1))
    changes = matrix_times(-1.0, c_q), matrix_times(-1.0, c_dc), q_c, dc_c, c_c
    return (plus_identity(P, 1.0), Q, N, M), changes


@small_kernel
def point_tangent(spreads, slopes, stiffness):
    """Derivatives of (on c, on c', on q) to (c, c', q) at the end; rows and columns in this order."""
    (P, Q, N, M), (c_q, c_dc, q_c, dc_c, c_c) = spreads
    G_q, G_c, K_c, K_d = slopes
    SNN, SNM, SMN, SMM = stiffness
    if not coupled(stiffness):
        none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        Nq, Nc = scaled_rows(SNN, G_q), scaled_rows(SNN, G_c)
        Mc, Md = scaled_rows(SMM, K_c), scaled_rows(SMM, K_d)
        return (
            matrix_plus(matrix_plus(product(N, Nc), product(M, Mc)), c_c),
            matrix_plus(product(M, Md), dc_c),
            matrix_plus(product(N, Nq), q_c),
            matrix_plus(product(Q, Mc), c_dc),
            product(Q, Md),
            none,
            matrix_plus(product(P, Nc), c_q),
            none,
            product(P, Nq),
        )
    Nq, Mq = product(SNN, G_q), product(SMN, G_q)
    Nc = matrix_plus(product(SNN, G_c), product(SNM, K_c))
    Mc = matrix_plus(product(SMN, G_c), product(SMM, K_c))
    Nd, Md = product(SNM, K_d), product(SMM, K_d)
    return (
        matrix_plus(matrix_plus(product(N, Nc), product(M, Mc)), c_c),
        matrix_plus(matrix_plus(product(N, Nd), product(M, Md)), dc_c),
        matrix_plus(matrix_plus(product(N, Nq), product(M, Mq)), q_c),
        matrix_plus(product(Q, Mc), c_dc),
        product(Q, Md),
        product(Q, Mq),
        matrix_plus(product(P, Nc), c_q),
        product(P, Nd),
        product(P, Nq),
    )
