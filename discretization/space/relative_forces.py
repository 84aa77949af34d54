"""The relative rod element in `em`: discrete forces in real numbers, and their derivatives.

`relative_element` (1) to (7) give the forces; on the frames they are, with means over the step,

    force on a:  f_a = Rbar_m Y_a,  the opposite on m                                                                  (1)
    torque on a: t_a = T_a C_a,  T_a C = (2/Tbar_a) 2 axial(Rbar_m (hat(C) - (cbar_a . C)/2 I) Rbar_a^T)               (2)
    torque on m: sum_a f_a x (rbar_a - rbar_m) - t_a                                                                   (3)

Derivatives are taken to the ends of the step, dr and eta of every frame. At a point the strains change with

    dGamma = G_q dq + G_c dc,   dK = K_c dc + K_d dc'                                                                  (4)

and (4), (5) of `relative_element` are P n, Q m, N n + M m with the matrices below, which change themselves; summed over the
points this is a matrix of (C, Y) to (c, y) of the outer frames, which (1) to (3) and

    dc_a = T(c_a)^-1 R_m1^T (eta_a - eta_m),   dy_a = R_m1^T (dr_a - dr_m + e_a1 x eta_m)                              (5)

bring to the frames.
"""

from discretization.space.closed_spans import (
    FORCE,
    FORCES,
    NODES,
    STRAINS_END,
    STRAINS_START,
    SUMS,
    add_block_to,
    add_to,
    blocks_at,
    matrix_at,
    stress_at,
    vector_at,
)
from discretization.space.interpolation import SLOPES, VALUES
from discretization.space.relative_element import on_relative, quotients
from discretization.space.rod_points import LENGTH, order_of, weight_of
from rigid.compilation import compiled, small_kernel
from rigid.linear_algebra import (
    apply,
    apply_transposed,
    average,
    cross,
    dot,
    hat,
    load3,
    matrix_average,
    matrix_minus,
    matrix_plus,
    matrix_times,
    minus,
    outer,
    plus,
    plus_identity,
    product,
    product_transposed,
    store3,
    times,
    trace,
    transpose,
    transposed_product,
    twice_axial,
)
from rigid.rotations import inverse_tangent

# of a node, in its row: c, y at start and end, 1 + tr B at both, then C and Y
C0, Y0, C1, Y1, T0, T1, C_SUM, Y_SUM, NODE = 0, 3, 6, 9, 12, 13, 14, 17, 20


@small_kernel
def _seen_from(M, A, e):
    """c, y, 1 + tr B of a frame with the rotation A at e from the middle one."""
    B = transposed_product(M, A)
    T = 1.0 + trace(B)
    return times(2.0 / T, twice_axial(B)), apply_transposed(M, e), T


@small_kernel
def _at_point(K, p, g, length, c, y):
    """c, c', q at point g, from columns c, y of the nodes."""
    at, rate, q, s = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0 / length
    for a in range(p + 1):
        if a != p // 2:
            own, place = vector_at(K, NODES + a, c), vector_at(K, NODES + a, y)
            l, dl = VALUES[p, g, a], s * SLOPES[p, g, a]
            at, rate, q = plus(at, times(l, own)), plus(rate, times(dl, own)), plus(q, times(dl, place))
    return at, rate, q


@small_kernel
def _strains_of(at, of_quotients):
    """Gamma, K."""
    Gamma = plus(at[2], of_quotients[1])
    return (Gamma[0] - 1.0, Gamma[1], Gamma[2]), of_quotients[2]


@small_kernel
def _strain_slopes(end, of_end):
    """(4): G_q, G_c, K_c, K_d."""
    c, dc, q = end
    s, w, u = of_end
    hc, scale = hat(c), 1.0 / s
    G_q = plus_identity(matrix_times(scale, matrix_minus(matrix_times(0.5, product(hc, hc)), hc)), 1.0)
    G_c = matrix_minus(hat(minus(q, times(0.5, cross(c, q)))), matrix_times(0.5, product(hc, hat(q))))
    G_c = matrix_times(scale, matrix_minus(G_c, outer(times(0.5, w), c)))
    K_c = matrix_times(0.5 * scale, matrix_minus(hat(dc), outer(u, c)))
    K_d = matrix_times(scale, plus_identity(matrix_times(-0.5, hc), 1.0))
    return G_q, G_c, K_c, K_d


@small_kernel
def _point_tangent(start, end, of_start, of_end, n, m, slopes, stiffness):
    """Derivatives of (on c, on c', on q) to (c, c', q) at the end; rows and columns in this order."""
    s0, w0, u0 = of_start
    s1, w1, u1 = of_end
    c, dc, q = average(start[0], end[0]), average(start[1], end[1]), average(start[2], end[2])
    c1, q1 = end[0], end[2]
    scale = 2.0 / (s0 + s1)
    z = average(cross(start[0], start[2]), cross(c1, q1))
    w, u = average(w0, w1), average(u0, u1)
    a, b = times(scale, n), times(scale, m)
    ha, hb, hc, hq, hc1 = hat(a), hat(b), hat(c), hat(q), hat(c1)
    G_q, G_c, K_c, K_d = slopes
    SNN, SNM, SMN, SMM = stiffness
    # stresses
    Nq, Mq = product(SNN, G_q), product(SMN, G_q)
    Nc = matrix_plus(product(SNN, G_c), product(SNM, K_c))
    Mc = matrix_plus(product(SMN, G_c), product(SMM, K_c))
    Nd, Md = product(SNM, K_d), product(SMM, K_d)
    # P, Q, N, M: what brings them to q, c', c
    P = plus_identity(matrix_times(scale, matrix_plus(hc, matrix_times(0.5, product(hc, hc)))), 1.0)
    Q = matrix_times(scale, plus_identity(matrix_times(0.5, hc), 1.0))
    N = matrix_minus(hat(minus(times(0.5, z), q)), matrix_times(0.5, product(hq, hc)))
    N = matrix_times(scale, matrix_minus(N, outer(c, times(0.5, w))))
    M = matrix_times(-0.5 * scale, matrix_plus(hat(dc), outer(c, u)))
    # and their change
    quarter = 0.25 * scale
    ca = cross(c, a)
    on_q = plus(ca, times(0.5, cross(c, ca)))
    by_c_q = matrix_plus(hat(plus(times(0.5, a), times(0.25, ca))), matrix_times(0.25, product(hc, ha)))
    by_c_q = matrix_times(-1.0, matrix_plus(by_c_q, outer(times(quarter, on_q), c1)))
    on_dc = plus(b, times(0.5, cross(c, b)))
    by_c_dc = matrix_times(-1.0, matrix_plus(matrix_times(0.25, hb), outer(times(quarter, on_dc), c1)))
    pulled = minus(apply_transposed(G_q, n), n)
    by_q_c = matrix_minus(hat(plus(times(0.5, a), times(0.25, ca))), matrix_times(0.25, product(ha, hc1)))
    by_q_c = matrix_minus(by_q_c, outer(times(quarter, c), pulled))
    by_dc_c = matrix_minus(matrix_times(0.25, hb), outer(times(quarter, c), apply_transposed(K_d, m)))
    fall = dot(n, w) + dot(m, u)
    turned = minus(times(0.5, cross(z, a)), plus(cross(q, a), times(0.5, plus(cross(q, ca), cross(dc, b)))))
    row = plus(apply_transposed(G_c, n), apply_transposed(K_c, m))
    row = minus(times(0.5 * scale * fall, c1), row)
    by_c_c = matrix_times(0.25, matrix_plus(product(ha, hat(q1)), product(hq, ha)))
    by_c_c = matrix_minus(
        matrix_plus(by_c_c, outer(times(quarter, c), row)), outer(times(quarter, turned), c1)
    )
    by_c_c = plus_identity(by_c_c, -quarter * fall)
    return (
        matrix_plus(matrix_plus(product(N, Nc), product(M, Mc)), by_c_c),
        matrix_plus(matrix_plus(product(N, Nd), product(M, Md)), by_dc_c),
        matrix_plus(matrix_plus(product(N, Nq), product(M, Mq)), by_q_c),
        matrix_plus(product(Q, Mc), by_c_dc),
        product(Q, Md),
        product(Q, Mq),
        matrix_plus(product(P, Nc), by_c_q),
        product(P, Nd),
        product(P, Nq),
    )


@small_kernel
def _weighted(x, A, y, B, z, C, w, D):
    """x A + y B + z C + w D."""
    return matrix_plus(
        matrix_plus(matrix_times(x, A), matrix_times(y, B)),
        matrix_plus(matrix_times(z, C), matrix_times(w, D)),
    )


@small_kernel
def _add_point(K, p, g, length, blocks):
    """The matrix of (C, Y) to (c, y): l_a, l_a' on both sides of the derivatives at a point."""
    cc, cd, cq, dc, dd, dq, qc, qd, qq = blocks
    s, k = 1.0 / length, p // 2
    for b in range(p + 1):
        if b == k:
            continue
        l, dl = VALUES[p, g, b], s * SLOPES[p, g, b]
        to_c = matrix_plus(matrix_times(l, cc), matrix_times(dl, cd))
        to_dc = matrix_plus(matrix_times(l, dc), matrix_times(dl, dd))
        to_q = matrix_plus(matrix_times(l, qc), matrix_times(dl, qd))
        c_by_q, dc_by_q, q_by_q = matrix_times(dl, cq), matrix_times(dl, dq), matrix_times(dl, qq)
        for a in range(p + 1):
            if a == k:
                continue
            l, dl = VALUES[p, g, a], s * SLOPES[p, g, a]
            add_block_to(K, SUMS + 6 * b, 6 * a, matrix_plus(matrix_times(l, to_c), matrix_times(dl, to_dc)))
            add_block_to(
                K, SUMS + 6 * b + 3, 6 * a, matrix_plus(matrix_times(l, c_by_q), matrix_times(dl, dc_by_q))
            )
            add_block_to(K, SUMS + 6 * b, 6 * a + 3, matrix_times(dl, to_q))
            add_block_to(K, SUMS + 6 * b + 3, 6 * a + 3, matrix_times(dl, q_by_q))


@small_kernel
def _turn_matrix(A, B, c, T):
    """T_a of (2), A of the middle frame: columns 2 (a_j x b_l - a_l x b_j)/T less t c^T/T, t = sum of b_i x a_i."""
    a0, a1, a2 = (A[0], A[3], A[6]), (A[1], A[4], A[7]), (A[2], A[5], A[8])
    b0, b1, b2 = (B[0], B[3], B[6]), (B[1], B[4], B[7]), (B[2], B[5], B[8])
    t, s = twice_axial(product_transposed(A, B)), 2.0 / T
    x = times(s, minus(minus(cross(a1, b2), cross(a2, b1)), times(0.5 * c[0], t)))
    y = times(s, minus(minus(cross(a2, b0), cross(a0, b2)), times(0.5 * c[1], t)))
    z = times(s, minus(minus(cross(a0, b1), cross(a1, b0)), times(0.5 * c[2], t)))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@small_kernel
def _bring_to_frames(r, dr, R0, R1, frames, p, tangent, K):
    """(1) to (3) from C and Y, and the derivatives."""
    k = p // 2
    m = frames[k]
    M1 = matrix_at(R1, m)
    M = matrix_average(matrix_at(R0, m), M1)
    on_m, about_m = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for a in range(p + 1):
        if a == k:
            continue
        f, row = frames[a], K[NODES + a]
        A1 = matrix_at(R1, f)
        A = matrix_average(matrix_at(R0, f), A1)
        c, C, Y = (
            average(load3(row[C0 : C0 + 3]), load3(row[C1 : C1 + 3])),
            vector_at(K, NODES + a, C_SUM),
            vector_at(K, NODES + a, Y_SUM),
        )
        T = 0.5 * (row[T0] + row[T1])
        turning = _turn_matrix(M, A, c, T)
        force, turn = apply(M, Y), apply(turning, C)
        d0 = minus(load3(r[f]), load3(r[m]))
        step = minus(load3(dr[f]), load3(dr[m]))
        e = plus(d0, times(0.5, step))
        store3(force, K[FORCE, 6 * a : 6 * a + 3])
        store3(turn, K[FORCE, 6 * a + 3 : 6 * a + 6])
        on_m = minus(on_m, force)
        about_m = plus(about_m, minus(cross(force, e), turn))
        if not tangent:
            continue
        lever = hat(times(-1.0, e))  # force x e = lever force
        # sums change: (5) from the right, (1) and (2) from the left
        for b in range(p + 1):
            if b == k:
                continue
            e_b = plus(minus(load3(r[frames[b]]), load3(r[m])), minus(load3(dr[frames[b]]), load3(dr[m])))
            to_c = product_transposed(inverse_tangent(vector_at(K, NODES + b, C1)), M1)
            C_c, C_y = _block(K, b, a, 0, 0), _block(K, b, a, 3, 0)
            Y_c, Y_y = _block(K, b, a, 0, 3), _block(K, b, a, 3, 3)
            f_e, f_c = product(M, product_transposed(Y_y, M1)), product(M, product(Y_c, to_c))
            t_e, t_c = product(turning, product_transposed(C_y, M1)), product(turning, product(C_c, to_c))
            he = hat(e_b)
            _add_column(K, a, k, 6 * b, 6 * k, f_e, t_e, lever)
            f_m, t_m = matrix_minus(product(f_e, he), f_c), matrix_minus(product(t_e, he), t_c)
            _add_rows(K, a, k, 6 * b + 3, f_c, t_c, lever)
            _add_rows(K, a, k, 6 * k + 3, f_m, t_m, lever)
        # and what brings them to the frames
        half = matrix_times(-0.5, hat(apply(M1, Y)))
        Z = plus_identity(hat(C), -0.5 * dot(c, C))
        ZA = product_transposed(Z, A)
        X_m, X_a = product(M1, ZA), product_transposed(product(M, Z), A1)
        t = times(-1.0 / T, twice_axial(product_transposed(M, A)))
        t1 = times(-0.5 / T, twice_axial(product_transposed(M1, A1)))
        to_c = product_transposed(inverse_tangent(load3(row[C1 : C1 + 3])), M1)
        both = matrix_plus(outer(t, apply_transposed(to_c, times(0.5, C))), outer(turn, t1))
        by_m = plus_identity(matrix_times(-1.0 / T, X_m), trace(X_m) / T)
        by_a = plus_identity(matrix_times(1.0 / T, transpose(X_a)), -trace(X_a) / T)
        none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        _add_rows(K, a, k, 6 * k + 3, half, matrix_minus(by_m, both), lever)
        _add_rows(K, a, k, 6 * a + 3, none, matrix_plus(by_a, both), lever)
        hf = hat(times(0.5, force))
        add_block_to(K, 6 * a, 6 * k + 3, hf)
        add_block_to(K, 6 * k, 6 * k + 3, matrix_times(-1.0, hf))
    store3(on_m, K[FORCE, 6 * k : 6 * k + 3])
    store3(about_m, K[FORCE, 6 * k + 3 : 6 * k + 6])


@small_kernel
def _block(K, b, a, column, row):
    """3 x 3 block of the sums."""
    i, j = SUMS + 6 * b + column, 6 * a + row
    return (
        K[i, j], K[i + 1, j], K[i + 2, j],
        K[i, j + 1], K[i + 1, j + 1], K[i + 2, j + 1],
        K[i, j + 2], K[i + 1, j + 2], K[i + 2, j + 2],
    )  # fmt: skip


@small_kernel
def _add_rows(K, a, k, column, f, t, lever):
    """f_a, t_a change with these columns; so do what acts on the middle frame."""
    add_block_to(K, column, 6 * a, f)
    add_block_to(K, column, 6 * a + 3, t)
    add_block_to(K, column, 6 * k, matrix_times(-1.0, f))
    add_block_to(K, column, 6 * k + 3, matrix_minus(product(lever, f), t))


@small_kernel
def _add_column(K, a, k, column, opposite, f, t, lever):
    """The same for a displacement, and its opposite of the middle frame."""
    turned = matrix_minus(product(lever, f), t)
    for to, sign in ((column, 1.0), (opposite, -1.0)):
        add_block_to(K, to, 6 * a, matrix_times(sign, f))
        add_block_to(K, to, 6 * a + 3, matrix_times(sign, t))
        add_block_to(K, to, 6 * k, matrix_times(-sign, f))
        add_block_to(K, to, 6 * k + 3, matrix_times(sign, turned))


@compiled(FORCES)
def forces(r, dr, R0, R1, frames, X, D, ratio, tangent, K):
    """See `closed_spans`."""
    p, L = order_of(X), X[LENGTH]
    k = p // 2
    m = frames[k]
    M0, M1 = matrix_at(R0, m), matrix_at(R1, m)
    for a in range(p + 1):
        for i in range(NODE):
            K[NODES + a, i] = 0.0
        if a == k:
            continue
        f = frames[a]
        e = minus(load3(r[f]), load3(r[m]))
        c0, y0, t0 = _seen_from(M0, matrix_at(R0, f), e)
        e = plus(e, minus(load3(dr[f]), load3(dr[m])))
        c1, y1, t1 = _seen_from(M1, matrix_at(R1, f), e)
        row = K[NODES + a]
        store3(c0, row[C0 : C0 + 3])
        store3(y0, row[Y0 : Y0 + 3])
        store3(c1, row[C1 : C1 + 3])
        store3(y1, row[Y1 : Y1 + 3])
        row[T0], row[T1] = t0, t1
    if tangent:
        for i in range(6 * (p + 1)):
            for j in range(6 * (p + 1)):
                K[i, j], K[SUMS + i, j] = 0.0, 0.0
    for g in range(p):
        start, end = _at_point(K, p, g, L, C0, Y0), _at_point(K, p, g, L, C1, Y1)
        of_start, of_end = quotients(start), quotients(end)
        (Gamma0, K0), (Gamma1, K1) = _strains_of(start, of_start), _strains_of(end, of_end)
        store3(Gamma0, K[STRAINS_START, 6 * g : 6 * g + 3])
        store3(K0, K[STRAINS_START, 6 * g + 3 : 6 * g + 6])
        store3(Gamma1, K[STRAINS_END, 6 * g : 6 * g + 3])
        store3(K1, K[STRAINS_END, 6 * g + 3 : 6 * g + 6])
        w = weight_of(X, g)
        N, M = stress_at(X, D, ratio, g, Gamma0, K0, Gamma1, K1)
        n, m_ = times(w, N), times(w, M)
        on_c, on_dc, on_q = on_relative(start, end, n, m_)
        for a in range(p + 1):
            if a != k:
                l, dl = VALUES[p, g, a], SLOPES[p, g, a] / L
                add_to(K, NODES + a, C_SUM, plus(times(l, on_c), times(dl, on_dc)))
                add_to(K, NODES + a, Y_SUM, times(dl, on_q))
        if tangent:
            slopes = _strain_slopes(end, of_end)
            stiffness = blocks_at(X, D, ratio, w, g, Gamma0, K0, Gamma1, K1)
            blocks = _point_tangent(start, end, of_start, of_end, n, m_, slopes, stiffness)
            _add_point(K, p, g, L, blocks)
    _bring_to_frames(r, dr, R0, R1, frames, p, tangent, K)
