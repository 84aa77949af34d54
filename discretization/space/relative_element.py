"""Relative rod element of order p = 2 or 4 as an interaction: poses of the frames relative to the middle one are interpolated.

With m the middle of the p + 1 frames and B_a = R_m^T R_a, T_a = 1 + tr B_a,

    c_a = 4 axial(B_a)/T_a = 2 tan(theta/2) n,   x_a = f(u_a) c_a = theta n,   u_a = |c_a|^2/4                            (1)
    y_a = R_m^T (r_a - r_m),   x_m = y_m = 0

x and y are interpolated; at p Gauss points, ' the derivative along the stress-free length, q = y', with the functions of
`rotation_series` of x . x,

    A = x x q,   B = x x A,   C = x x x',   rho = x . x'                                                                 (2)
    Gamma = q - alpha A + beta B - e1,   K = alpha x' + delta rho x - beta C                                             (3)

which is Gamma = R_x^T q - e1, K = axial(R_x^T R_x') of the rotation R_x by x: cross sections stay orthonormal, however much an
element is bent, and a constant curvature is represented exactly. All terms are products, sums and functions of one invariant, so
that the product rule with averages and divided differences gives the discrete derivative. With n, m the mean stresses times the
weight, all others averages, F[] divided differences, g = -alpha n + beta n x x:

    on q:   n + g x x,      on x':  alpha m + delta (m . x) x - beta m x x                                               (4)
    on x:   q x g + beta A x n + delta (rho m + (m . x) x') - beta x' x m + 2 phi x                                      (5)
            phi = alpha[] (m . x' - n . A) + beta[] (n . B - m . C) + delta[] (m . rho x)
    X_a = sum of l_a (on x) + l_a' (on x'),   Y_a = sum of l_a' (on q),   C_a = fbar X_a + f[] (cbar_a . X_a) cbar_a/2   (6)
    W_a = (2 hat(C_a) - (C_a . cbar_a) I)/Tbar_a
    dual of a:  Rbar_m Y_a,  Rbar_m W_a;     of m:  -Rbar_m Y_a,  Rbar_a W_a^T + (rbar_a - rbar_m) Y_a^T                 (7)

(the second is a matrix whose columns are the duals of the directors). For odd p no frame is in the middle: with another one
as reference the element would not be symmetric in its two ends.
"""

from discretization.space.cayley_element import bring_to_frames, seen_from
from discretization.space.cayley_element import rates_seen_from as cayley_rates
from discretization.space.interpolation import SLOPES, VALUES
from discretization.space.rod_gauss_points import (
    LENGTH,
    actuating_stress,
    actuation,
    add,
    clear,
    energy_of,
    order_of,
    stress_between,
    unloaded,
    viscous_between,
    viscous_of_rates,
    weight_of,
)
from discretization.space.rotation_series import complex_rotation_differences
from discretization.space.se3_dual import complex_differences
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import Kind, dissipation, dual_function, frame, no_bend, value_function, vector
from rigid.linear_algebra import average, cross, dot, minus, plus, times

ZERO = (0j, 0j, 0j)


@inline_kernel
def rotation_seen_from(m, a):
    """Return x, y of (1) of frame a relative to frame m."""
    c, y, _ = seen_from(m, a)
    u = 0.25 * dot(c, c)
    f, _, _, _, _, _ = complex_differences(u, u)
    return times(f, c), y


@inline_kernel
def rates_seen_from(m, a, dm, da):
    """Return the rates of x and y of frame a relative to frame m if these poses have the rates da, dm."""
    c, _, _ = seen_from(m, a)
    dc, dy = cayley_rates(m, a, dm, da)
    u = 0.25 * dot(c, c)
    f, _, slope, _, _, _ = complex_differences(u, u)
    return plus(times(f, dc), times(0.5 * slope * dot(c, dc), c)), dy


@inline_kernel
def at_point(y, p, g, length):
    """Return x, x', q, interpolated at Gauss point g."""
    x, dx, q = ZERO, ZERO, ZERO
    m = frame(y, p // 2)
    for a in range(p + 1):
        if a != p // 2:
            x_a, q_a = rotation_seen_from(m, frame(y, a))
            l, dl = VALUES[p, g, a], SLOPES[p, g, a] / length
            x, dx, q = plus(x, times(l, x_a)), plus(dx, times(dl, x_a)), plus(q, times(dl, q_a))
    return x, dx, q


@inline_kernel
def rates_at_point(y, z, p, g, length):
    """Return the rates of x, x', q at Gauss point g if the poses y have the rates z."""
    x, dx, q = ZERO, ZERO, ZERO
    m, dm = frame(y, p // 2), frame(z, p // 2)
    for a in range(p + 1):
        if a != p // 2:
            dx_a, dq_a = rates_seen_from(m, frame(y, a), dm, frame(z, a))
            l, dl = VALUES[p, g, a], SLOPES[p, g, a] / length
            x, dx, q = plus(x, times(l, dx_a)), plus(dx, times(dl, dx_a)), plus(q, times(dl, dq_a))
    return x, dx, q


@inline_kernel
def products_of(at):
    """Return A, B, C, rho of (2)."""
    x, dx, q = at
    A = cross(x, q)
    return A, cross(x, A), cross(x, dx), dot(x, dx)


@inline_kernel
def strains_by(at, products, alpha, beta, delta):
    """Return Gamma, K of (3) from the products (2) and the values of alpha, beta, delta."""
    x, dx, q = at
    A, B, C, rho = products
    Gamma = plus(q, minus(times(beta, B), times(alpha, A)))
    K = plus(times(alpha, dx), minus(times(delta * rho, x), times(beta, C)))
    return (Gamma[0] - 1.0, Gamma[1], Gamma[2]), K


@inline_kernel
def strains_of(at):
    """Return Gamma, K of (3) at one time from x, x', q."""
    u = dot(at[0], at[0])
    alpha, beta, delta = complex_rotation_differences(u, u)
    return strains_by(at, products_of(at), alpha[0], beta[0], delta[0])


@inline_kernel
def strain_rates(at, rate):
    """Return the rates of Gamma and K if x, x', q have the rates `rate`."""
    (x, dx, q), (x1, dx1, q1) = at, rate
    A, B, C, rho = products_of(at)
    u = dot(x, x)
    alpha, beta, delta = complex_rotation_differences(u, u)
    fall = 2.0 * dot(x, x1)
    A1 = plus(cross(x1, q), cross(x, q1))
    B1, C1 = plus(cross(x1, A), cross(x, A1)), plus(cross(x1, dx), cross(x, dx1))
    rho1 = dot(x1, dx) + dot(x, dx1)
    Gamma = plus(q1, minus(times(beta[0], B1), times(alpha[0], A1)))
    Gamma = plus(Gamma, times(fall, minus(times(beta[2], B), times(alpha[2], A))))
    K = plus(times(alpha[0], dx1), times(delta[0], plus(times(rho1, x), times(rho, x1))))
    K = minus(K, times(beta[0], C1))
    by_u = plus(times(alpha[2], dx), minus(times(delta[2] * rho, x), times(beta[2], C)))
    return Gamma, plus(K, times(fall, by_u))


@inline_kernel
def on_relative(start, end, of_start, of_end, functions, n, m):
    """Return the dual (4), (5) on x, on x' and on q; `n`, `m`: mean stresses times the weight."""
    (A0, B0, C0, rho0), (A1, B1, C1, rho1) = of_start, of_end
    x, dx, q = average(start[0], end[0]), average(start[1], end[1]), average(start[2], end[2])
    A, B, C, rho = average(A0, A1), average(B0, B1), average(C0, C1), 0.5 * (rho0 + rho1)
    w = average(times(rho0, start[0]), times(rho1, end[0]))
    alpha, beta, delta = functions
    a, b, d = 0.5 * (alpha[0] + alpha[1]), 0.5 * (beta[0] + beta[1]), 0.5 * (delta[0] + delta[1])
    g, mx = minus(times(b, cross(n, x)), times(a, n)), d * dot(m, x)
    on_q = plus(n, cross(g, x))
    on_dx = plus(times(a, m), minus(times(mx, x), times(b, cross(m, x))))
    phi = alpha[3] * (dot(m, dx) - dot(n, A)) + beta[3] * (dot(n, B) - dot(m, C)) + delta[3] * dot(m, w)
    on_x = plus(cross(q, g), times(b, minus(cross(A, n), cross(dx, m))))
    on_x = plus(on_x, plus(times(d * rho, m), times(mx, dx)))
    return plus(on_x, times(2.0 * phi, x)), on_dx, on_q


@inline_kernel
def add_on_nodes(start, end, n, m, p, g, length, out):
    """Add the contribution of one point to Y_a and X_a of (6): out[a, 0] += Y_a, out[a, 1] += X_a."""
    functions = complex_rotation_differences(dot(start[0], start[0]), dot(end[0], end[0]))
    on_x, on_dx, on_q = on_relative(start, end, products_of(start), products_of(end), functions, n, m)
    for a in range(p + 1):
        l, dl = VALUES[p, g, a], SLOPES[p, g, a] / length
        add(on_q, dl, out[a, 0])
        add(on_x, l, out[a, 1])
        add(on_dx, dl, out[a, 1])


@inline_kernel
def transform_rotations_to_frames(y0, y1, p, out):
    """Replace X_a and Y_a in `out` by the dual (6), (7) on the frames."""
    k = p // 2
    m0, m1 = frame(y0, k), frame(y1, k)
    for a in range(p + 1):
        if a != k:
            (c0, _, _), (c1, _, _) = seen_from(m0, frame(y0, a)), seen_from(m1, frame(y1, a))
            f0, f1, F, _, _, _ = complex_differences(0.25 * dot(c0, c0), 0.25 * dot(c1, c1))
            X, c = vector(out[a, 1], 0), average(c0, c1)
            C = plus(times(0.5 * (f0 + f1), X), times(0.5 * F * dot(c, X), c))
            for j in range(3):
                out[a, 1, j] = C[j]
    bring_to_frames(y0, y1, p, out)


@value_function
def value(y, X, out):
    """Write the stored energy to `out[0]`, J: the sum over the points of weight times W."""
    p, L = order_of(X), X[LENGTH]
    V = 0j
    for g in range(p):
        Gamma, K = strains_of(at_point(y, p, g, L))
        Gamma, K = unloaded(Gamma, K, X, g)
        V += weight_of(X, g) * energy_of(Gamma, K, X, g)
    out[0] = V


@dual_function
def dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the discrete gradient of the energy to `out` (p + 1, 4, 3).

    Its stress is that between the strains at both ends of the step.
    """
    p, L = order_of(X), X[LENGTH]
    clear(out, p + 1)
    for g in range(p):
        start, end = at_point(y0, p, g, L), at_point(y1, p, g, L)
        (Gamma0, K0), (Gamma1, K1) = strains_of(start), strains_of(end)
        N, M = stress_between(Gamma0, K0, Gamma1, K1, X, g)
        w = lam[0] * weight_of(X, g)
        add_on_nodes(start, end, times(w, N), times(w, M), p, g, L, out)
    transform_rotations_to_frames(y0, y1, p, out)


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the dual of the viscous stress of the change of the strains to `out` (p + 1, 4, 3)."""
    p, L = order_of(X), X[LENGTH]
    clear(out, p + 1)
    for g in range(p):
        start, end = at_point(y0, p, g, L), at_point(y1, p, g, L)
        (Gamma0, K0), (Gamma1, K1) = strains_of(start), strains_of(end)
        N, M = viscous_between(Gamma0, K0, Gamma1, K1, X, g)
        w = lam[0] * weight_of(X, g)
        add_on_nodes(start, end, times(w, N), times(w, M), p, g, L, out)
    transform_rotations_to_frames(y0, y1, p, out)


@dual_function
def actuation_dual(y0, y1, X, lam, out):
    """Write the dual of the actuating stress to `out` (p + 1, 4, 3)."""
    p, L = order_of(X), X[LENGTH]
    clear(out, p + 1)
    for g in range(p):
        start, end = at_point(y0, p, g, L), at_point(y1, p, g, L)
        N, M = actuating_stress(X, lam, g)
        add_on_nodes(start, end, N, M, p, g, L, out)
    transform_rotations_to_frames(y0, y1, p, out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write `lam[0]` times the dual of the viscous stress of the strain rates to `out` (p + 1, 4, 3).

    y: poses; z: their rates.
    """
    p, L = order_of(X), X[LENGTH]
    clear(out, p + 1)
    for g in range(p):
        at = at_point(y, p, g, L)
        Gamma, K = strain_rates(at, rates_at_point(y, z, p, g, L))
        N, M = viscous_of_rates(Gamma, K, X, g)
        w = lam[0] * weight_of(X, g)
        add_on_nodes(at, at, times(w, N), times(w, M), p, g, L, out)
    transform_rotations_to_frames(y, y, p, out)


@value_function
def strains(y, X, out):
    """Write Gamma, K of all points, less the stress-free strains, to `out` (6 p,)."""
    p, L = order_of(X), X[LENGTH]
    for g in range(p):
        Gamma, K = strains_of(at_point(y, p, g, L))
        Gamma, K = unloaded(Gamma, K, X, g)
        for i in range(3):
            out[6 * g + i], out[6 * g + 3 + i] = Gamma[i], K[i]


ORDERS = (2, 4)
_NAMES = {p: f"relative rod element of order {p}" for p in ORDERS}
ENERGIES = {p: Kind(_NAMES[p], p + 1, 0, value, dual, no_bend) for p in ORDERS}
DISSIPATIONS = {p: dissipation(f"viscous {_NAMES[p]}", p + 1, step_dual, rate_dual) for p in ORDERS}
STRAINS = {p: Kind(f"strains, {_NAMES[p]}", p + 1, 6 * p, strains, no_bend, no_bend) for p in ORDERS}
ACTUATIONS = {p: actuation(_NAMES[p], p, actuation_dual) for p in ORDERS}
