"""Former version of `relative_element`, with Cayley vectors instead of rotation vectors, for files that were written with it.

With m the middle of the p + 1 frames and B_a = R_m^T R_a, T_a = 1 + tr B_a,

    c_a = 4 axial(B_a)/T_a = 2 tan(theta/2) n,   y_a = R_m^T (r_a - r_m),   c_m = y_m = 0                              (1)

are interpolated; at p Gauss points, ' the derivative along the stress-free length, q = y',

    s = 1 + c . c/4,   w = -c x q + c x (c x q)/2,   u = c' - c x c'/2                                                 (2)
    Gamma = q + w/s - e1,   K = u/s                                                                                    (3)

which is Gamma = R_c^T q - e1, K = axial(R_c^T R_c') of the rotation R_c with the Cayley vector c: cross sections stay
orthonormal, however much an element is bent. All terms are rational in bilinear invariants, so that the product and quotient
rules give the discrete derivative. With n, m the mean stresses times the weight, a = n/sbar, b = m/sbar, z = avg(c x q),

    on q:  n - a x cbar + (a x cbar) x cbar/2,     on c':  b - b x cbar/2                                              (4)
    on c:  -qbar x a + z x a/2 + qbar x (a x cbar)/2 - cbar' x b/2 - cbar (n . avg(w/s) + m . avg(u/s))/(2 sbar)       (5)
    C_a = sum of l_a (on c) + l_a' (on c'),   Y_a = sum of l_a' (on q),   W_a = (2 hat(C_a) - (C_a . cbar_a) I)/Tbar_a (6)
    dual of a:  Rbar_m Y_a,  Rbar_m W_a;     of m:  -Rbar_m Y_a,  Rbar_a W_a^T + (rbar_a - rbar_m) Y_a^T               (7)

(the second is a matrix whose columns are the duals of the directors). For odd p no frame is in the middle: with another one
as reference the element would not be symmetric in its two ends.
"""

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
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import Kind, dissipation, dual_function, frame, no_bend, value_function, vector
from rigid.kinematics.poses import mean_pose
from rigid.linear_algebra import average, cross, dot, minus, plus, times

ZERO = (0j, 0j, 0j)


@inline_kernel
def twice_axial_of(m, a):
    """Return 2 axial(R_m^T R_a) from the directors of the poses m, a; bilinear in the poses."""
    return (
        dot(m[3], a[2]) - dot(m[2], a[3]),
        dot(m[1], a[3]) - dot(m[3], a[1]),
        dot(m[2], a[1]) - dot(m[1], a[2]),
    )


@inline_kernel
def trace_of(m, a):
    """Return tr R_m^T R_a from the directors of the poses m, a; bilinear in the poses."""
    return dot(m[1], a[1]) + dot(m[2], a[2]) + dot(m[3], a[3])


@inline_kernel
def seen_from(m, a):
    """Return c, y, T of (1) of frame a relative to frame m."""
    T, e = 1.0 + trace_of(m, a), minus(a[0], m[0])
    return times(2.0 / T, twice_axial_of(m, a)), (dot(m[1], e), dot(m[2], e), dot(m[3], e)), T


@inline_kernel
def rates_seen_from(m, a, dm, da):
    """Return the rates of c and y of frame a relative to frame m if these poses have the rates da, dm."""
    c, _, T = seen_from(m, a)
    dT = trace_of(dm, a) + trace_of(m, da)
    dc = times(2.0 / T, plus(twice_axial_of(dm, a), twice_axial_of(m, da)))
    e, de = minus(a[0], m[0]), minus(da[0], dm[0])
    dy = (
        dot(dm[1], e) + dot(m[1], de),
        dot(dm[2], e) + dot(m[2], de),
        dot(dm[3], e) + dot(m[3], de),
    )
    return minus(dc, times(dT / T, c)), dy


@inline_kernel
def at_point(y, p, g, length):
    """Return c, c', q, interpolated at Gauss point g."""
    c, dc, q = ZERO, ZERO, ZERO
    m = frame(y, p // 2)
    for a in range(p + 1):
        if a != p // 2:
            c_a, q_a, _ = seen_from(m, frame(y, a))
            l, dl = VALUES[p, g, a], SLOPES[p, g, a] / length
            c, dc, q = plus(c, times(l, c_a)), plus(dc, times(dl, c_a)), plus(q, times(dl, q_a))
    return c, dc, q


@inline_kernel
def rates_at_point(y, z, p, g, length):
    """Return the rates of c, c', q at Gauss point g if the poses y have the rates z."""
    c, dc, q = ZERO, ZERO, ZERO
    m, dm = frame(y, p // 2), frame(z, p // 2)
    for a in range(p + 1):
        if a != p // 2:
            dc_a, dq_a = rates_seen_from(m, frame(y, a), dm, frame(z, a))
            l, dl = VALUES[p, g, a], SLOPES[p, g, a] / length
            c, dc, q = plus(c, times(l, dc_a)), plus(dc, times(dl, dc_a)), plus(q, times(dl, dq_a))
    return c, dc, q


@inline_kernel
def quotients(at):
    """Return s, w/s, u/s of (2)."""
    c, dc, q = at
    s = 1.0 + 0.25 * dot(c, c)
    cq = cross(c, q)
    w = minus(times(0.5, cross(c, cq)), cq)
    return s, times(1.0 / s, w), times(1.0 / s, minus(dc, times(0.5, cross(c, dc))))


@inline_kernel
def strains_of(at):
    """Return Gamma, K of (3) from c, c', q."""
    _, w, u = quotients(at)
    Gamma = plus(at[2], w)
    return (Gamma[0] - 1.0, Gamma[1], Gamma[2]), u


@inline_kernel
def strain_rates(at, rate):
    """Return the rates of Gamma and K if c, c', q have the rates `rate`."""
    (c, dc, q), (c1, dc1, q1) = at, rate
    s, w, u = quotients(at)
    fall = 0.5 * dot(c, c1) / s
    cq, cq1 = cross(c, q), plus(cross(c1, q), cross(c, q1))
    w1 = minus(times(0.5, plus(cross(c1, cq), cross(c, cq1))), cq1)
    u1 = minus(dc1, times(0.5, plus(cross(c1, dc), cross(c, dc1))))
    return plus(q1, minus(times(1.0 / s, w1), times(fall, w))), minus(times(1.0 / s, u1), times(fall, u))


@inline_kernel
def on_relative(start, end, n, m):
    """Return the dual (4), (5) on c, on c' and on q; `n`, `m`: mean stresses times the weight."""
    s0, w0, u0 = quotients(start)
    s1, w1, u1 = quotients(end)
    c, dc, q = average(start[0], end[0]), average(start[1], end[1]), average(start[2], end[2])
    s = 0.5 * (s0 + s1)
    z = average(cross(start[0], start[2]), cross(end[0], end[2]))
    a, b = times(1.0 / s, n), times(1.0 / s, m)
    ac, bc = cross(a, c), cross(b, c)
    on_q = plus(minus(n, ac), times(0.5, cross(ac, c)))
    on_dc = minus(b, times(0.5, bc))
    turned = plus(cross(z, a), minus(cross(q, ac), cross(dc, b)))
    fall = (dot(n, average(w0, w1)) + dot(m, average(u0, u1))) / (2.0 * s)
    return minus(minus(times(0.5, turned), cross(q, a)), times(fall, c)), on_dc, on_q


@inline_kernel
def add_on_nodes(start, end, n, m, p, g, length, out):
    """Add the contribution of one point to Y_a and C_a of (6): out[a, 0] += Y_a, out[a, 1] += C_a."""
    on_c, on_dc, on_q = on_relative(start, end, n, m)
    for a in range(p + 1):
        l, dl = VALUES[p, g, a], SLOPES[p, g, a] / length
        add(on_q, dl, out[a, 0])
        add(on_c, l, out[a, 1])
        add(on_dc, dl, out[a, 1])


@inline_kernel
def turned_columns(h, d, f1, f2, f3):
    """Return the columns of F (hat(h) + d I), F = (f1, f2, f3)."""
    return (
        plus(times(d, f1), minus(times(h[2], f2), times(h[1], f3))),
        plus(times(d, f2), minus(times(h[0], f3), times(h[2], f1))),
        plus(times(d, f3), minus(times(h[1], f1), times(h[0], f2))),
    )


@inline_kernel
def bring_to_frames(y0, y1, p, out):
    """Replace C_a and Y_a in `out` by the dual (7) on the frames."""
    k = p // 2
    m0, m1 = frame(y0, k), frame(y1, k)
    m = mean_pose(m0, m1)
    for i in range(4):
        for j in range(3):
            out[k, i, j] = 0.0
    for node in range(p + 1):
        if node == k:
            continue
        a0, a1 = frame(y0, node), frame(y1, node)
        a = mean_pose(a0, a1)
        (c0, _, T0), (c1, _, T1) = seen_from(m0, a0), seen_from(m1, a1)
        Y, C = vector(out[node, 0], 0), vector(out[node, 1], 0)
        T = 0.5 * (T0 + T1)
        h, d = times(2.0 / T, C), -dot(C, average(c0, c1)) / T
        force = plus(times(Y[0], m[1]), plus(times(Y[1], m[2]), times(Y[2], m[3])))
        on_a, on_m = (
            turned_columns(h, d, m[1], m[2], m[3]),
            turned_columns(times(-1.0, h), d, a[1], a[2], a[3]),
        )
        e = minus(a[0], m[0])
        for j in range(3):
            out[node, 0, j] = force[j]
            out[k, 0, j] -= force[j]
            for i in range(3):
                out[node, 1 + i, j] = on_a[i][j]
                out[k, 1 + i, j] += on_m[i][j] + Y[i] * e[j]


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
    bring_to_frames(y0, y1, p, out)


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
    bring_to_frames(y0, y1, p, out)


@dual_function
def actuation_dual(y0, y1, X, lam, out):
    """Write the dual of the actuating stress to `out` (p + 1, 4, 3)."""
    p, L = order_of(X), X[LENGTH]
    clear(out, p + 1)
    for g in range(p):
        start, end = at_point(y0, p, g, L), at_point(y1, p, g, L)
        N, M = actuating_stress(X, lam, g)
        add_on_nodes(start, end, N, M, p, g, L, out)
    bring_to_frames(y0, y1, p, out)


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
    bring_to_frames(y, y, p, out)


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
_NAMES = {p: f"relative rod element of order {p}, by Cayley vectors" for p in ORDERS}
ENERGIES = {p: Kind(_NAMES[p], p + 1, 0, value, dual, no_bend) for p in ORDERS}
DISSIPATIONS = {p: dissipation(f"viscous {_NAMES[p]}", p + 1, step_dual, rate_dual) for p in ORDERS}
STRAINS = {p: Kind(f"strains, {_NAMES[p]}", p + 1, 6 * p, strains, no_bend, no_bend) for p in ORDERS}
ACTUATIONS = {p: actuation(_NAMES[p], p, actuation_dual) for p in ORDERS}
