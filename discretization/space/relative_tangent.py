"""Tangent of the relative rod element at one point for `em`: derivatives with respect to the end of the step.

The strains at the end change by

    dGamma = G_q dq + G_x dx,   dK = K_x dx + K_d dx'                                                                  (1)

and (4), (5) of `relative_element` are P n, Q m, N n + M m with the matrices below. These change too: averages by half the
change of the end, the functions of `rotation_series` and their divided differences by their derivatives times 2 x . dx.
"""

from rigid.compilation.decorators import inline_kernel
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

VALUE0, VALUE1, SLOPE1, FIRST, SECOND = range(5)  # indices: F(u0), F(u1), F'(u1), F[u0,u1], F[u0,u1,u1]


@inline_kernel
def _hats(a, b):
    """Return hat(a) hat(b) = b a^T - (a . b) I."""
    return plus_identity(outer(b, a), -dot(a, b))


@inline_kernel
def _sum(alpha, a, beta, b, delta, d):
    """Return the vector alpha a + beta b + delta d."""
    return plus(times(alpha, a), plus(times(beta, b), times(delta, d)))


@inline_kernel
def strain_slopes(end, of_end, functions):
    """Return G_q, G_x, K_x, K_d of (1)."""
    x, dx, q = end
    A, B, C, rho = of_end
    alpha, beta, delta = functions
    a, b, d = alpha[VALUE1], beta[VALUE1], delta[VALUE1]
    a1, b1, d1 = 2.0 * alpha[SLOPE1], 2.0 * beta[SLOPE1], 2.0 * delta[SLOPE1]
    hx = hat(x)
    G_q = plus_identity(matrix_minus(matrix_times(b, _hats(x, x)), matrix_times(a, hx)), 1.0)
    G_x = matrix_minus(hat(minus(times(a, q), times(b, A))), matrix_times(b, _hats(x, q)))
    G_x = matrix_plus(G_x, outer(minus(times(b1, B), times(a1, A)), x))
    K_x = plus_identity(matrix_plus(outer(times(d, x), dx), hat(times(b, dx))), d * rho)
    K_x = matrix_plus(K_x, outer(_sum(a1, dx, -b1, C, d1 * rho, x), x))
    K_d = plus_identity(matrix_minus(outer(times(d, x), x), matrix_times(b, hx)), a)
    return G_q, G_x, K_x, K_d


@inline_kernel
def spreads_of(start, end, of_start, of_end, functions, n, m):
    """Return the matrices P, Q, N, M that map stresses to the forces on q, x', x, and the derivatives of these forces.

    P, Q, N, M are those of `relative_element` (4), (5). Derivatives at fixed stresses, in this order, named (argument to force):
    (x to q), (x to x'), (q to x), (x' to x), (x to x).
    """
    (A0, B0, C0, rho0), (A1, B1, C1, rho1) = of_start, of_end
    x, dx, q = average(start[0], end[0]), average(start[1], end[1]), average(start[2], end[2])
    A, B, C, rho = average(A0, A1), average(B0, B1), average(C0, C1), 0.5 * (rho0 + rho1)
    w = average(times(rho0, start[0]), times(rho1, end[0]))
    x1, dx1, q1 = end
    alpha, beta, delta = functions
    a, b, d = 0.5 * (alpha[0] + alpha[1]), 0.5 * (beta[0] + beta[1]), 0.5 * (delta[0] + delta[1])
    a1, b1, d1 = alpha[SLOPE1], beta[SLOPE1], delta[SLOPE1]
    aF, bF, dF = alpha[FIRST], beta[FIRST], delta[FIRST]

    P = plus_identity(matrix_plus(matrix_times(a, hat(x)), matrix_times(b, _hats(x, x))), 1.0)
    Q = plus_identity(matrix_plus(outer(times(d, x), x), matrix_times(b, hat(x))), a)
    N = matrix_minus(hat(minus(times(b, A), times(a, q))), matrix_times(b, _hats(q, x)))
    N = matrix_plus(N, outer(times(2.0, x), minus(times(bF, B), times(aF, A))))
    M = plus_identity(matrix_minus(outer(times(d, dx), x), hat(times(b, dx))), d * rho)
    M = matrix_plus(M, outer(times(2.0, x), _sum(aF, dx, -bF, C, dF, w)))

    xn, xm, mx, nx1 = cross(x, n), cross(x, m), dot(m, x), cross(n, x1)
    xxn = cross(x, xn)
    g = minus(times(-a, n), times(b, xn))
    x_q = matrix_plus(hat(plus(times(0.5 * a, n), times(0.5 * b, xn))), matrix_times(0.5 * b, _hats(x, n)))
    x_q = matrix_minus(outer(plus(times(a1, xn), times(b1, xxn)), x1), x_q)
    x_dx = plus_identity(matrix_minus(outer(times(0.5 * d, x), m), hat(times(0.5 * b, m))), 0.5 * d * mx)
    x_dx = matrix_plus(x_dx, outer(_sum(a1, m, b1, xm, d1 * mx, x), x1))
    q_x = matrix_plus(hat(times(-0.5, g)), matrix_times(-0.5 * b, _hats(n, x1)))
    q_x = matrix_plus(q_x, outer(x, minus(times(bF, cross(nx1, x1)), times(aF, nx1))))
    dx_x = plus_identity(matrix_plus(outer(times(0.5 * d, m), x1), hat(times(0.5 * b, m))), 0.5 * d * mx)
    dx_x = matrix_plus(dx_x, outer(x, _sum(aF, m, -bF, cross(m, x1), dF * dot(m, x1), x1)))

    pulled, bent, twisted = dot(m, dx) - dot(n, A), dot(n, B) - dot(m, C), dot(m, w)
    phi = aF * pulled + bF * bent + dF * twisted
    x_x = matrix_times(0.5 * b, matrix_plus(_hats(q, n), _hats(n, q1)))
    x_x = matrix_plus(x_x, matrix_times(0.5 * d, matrix_plus(outer(m, dx1), outer(dx, m))))
    by_u = minus(cross(A, n), cross(dx, m))
    by_u = _sum(b1, minus(by_u, cross(q, xn)), -a1, cross(q, n), d1, plus(times(rho, m), times(mx, dx)))
    x_x = plus_identity(matrix_plus(x_x, outer(by_u, x1)), phi)
    row = times(4.0 * (alpha[SECOND] * pulled + beta[SECOND] * bent + delta[SECOND] * twisted), x1)
    bends = minus(plus(cross(A1, n), cross(q1, nx1)), cross(dx1, m))
    twists = plus(times(dot(m, x1), dx1), times(rho1, m))
    row = plus(row, _sum(-aF, cross(q1, n), bF, bends, dF, twists))
    x_x = matrix_plus(x_x, outer(x, row))
    return (P, Q, N, M), (x_q, x_dx, q_x, dx_x, x_x)


@inline_kernel
def point_tangent(spreads, slopes, stiffness, full):
    """Return the derivatives of (on x, on x', on q) to (x, x', q) at the end, rows and columns in this order.

    full: True if the stiffness is more than diagonals of NN and MM.
    """
    (P, Q, N, M), (x_q, x_dx, q_x, dx_x, x_x) = spreads
    G_q, G_x, K_x, K_d = slopes
    SNN, SNM, SMN, SMM = stiffness
    if not full:
        zero = 0.0 * x_q[0]
        none = (zero, zero, zero, zero, zero, zero, zero, zero, zero)
        Nq, Nx = scaled_rows(SNN, G_q), scaled_rows(SNN, G_x)
        Mx, Md = scaled_rows(SMM, K_x), scaled_rows(SMM, K_d)
        return (
            matrix_plus(matrix_plus(product(N, Nx), product(M, Mx)), x_x),
            matrix_plus(product(M, Md), dx_x),
            matrix_plus(product(N, Nq), q_x),
            matrix_plus(product(Q, Mx), x_dx),
            product(Q, Md),
            none,
            matrix_plus(product(P, Nx), x_q),
            none,
            product(P, Nq),
        )
    Nq, Mq = product(SNN, G_q), product(SMN, G_q)
    Nx = matrix_plus(product(SNN, G_x), product(SNM, K_x))
    Mx = matrix_plus(product(SMN, G_x), product(SMM, K_x))
    Nd, Md = product(SNM, K_d), product(SMM, K_d)
    return (
        matrix_plus(matrix_plus(product(N, Nx), product(M, Mx)), x_x),
        matrix_plus(matrix_plus(product(N, Nd), product(M, Md)), dx_x),
        matrix_plus(matrix_plus(product(N, Nq), product(M, Mq)), q_x),
        matrix_plus(product(Q, Mx), x_dx),
        product(Q, Md),
        product(Q, Mq),
        matrix_plus(product(P, Nx), x_q),
        product(P, Nd),
        product(P, Nq),
    )
