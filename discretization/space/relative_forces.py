"""Discrete forces of the relative rod element for `em`, in real arithmetic, and their tangent.

The forces follow from `relative_element` (1) to (7). On the frames they are, with means over the step,

    force on a:  f_a = Rbar_m Y_a,  the opposite on m                                                                  (1)
    torque on a: t_a = T_a C_a,  T_a C = (2/Tbar_a) 2 axial(Rbar_m (hat(C) - (cbar_a . C)/2 I) Rbar_a^T)               (2)
    torque on m: sum_a f_a x (rbar_a - rbar_m) - t_a                                                                   (3)
    C_a = F_a X_a,  F_a = fbar I + f[] cbar_a cbar_a^T/2                                                               (4)

Derivatives are taken with respect to the end of the step, dr and eta of every frame. The point tangents (`relative_tangent`),
summed over the points, form a matrix of (X, Y) to (x, y) of the outer frames, which (1) to (4) and

    dc_a = T(c_a)^-1 R_m1^T (eta_a - eta_m),   dx_a = (f I + f' c_a1 c_a1^T/2) dc_a                                    (5)
    dy_a = R_m1^T (dr_a - dr_m + e_a1 x eta_m)

transform to the frames.
"""

from discretization.space.closed_form_spans import (
    FORCE,
    FORCES,
    LANE_FORCES,
    MORE,
    NODES,
    NUMBERS,
    STRAINS_END,
    STRAINS_START,
    SUMS,
    add_block_to,
    add_to,
    blocks_over_step,
    mixed,
    nothing,
    number_at,
    put_vector,
    rotation_of,
    set_entry,
    stress_over_step,
    vector_at,
    vector_of,
)
from discretization.space.interpolation import SLOPES, VALUES, WEIGHTS
from discretization.space.relative_element import on_relative, products_of, strains_by
from discretization.space.relative_tangent import (
    FIRST,
    SECOND,
    SLOPE1,
    VALUE0,
    VALUE1,
    point_tangent,
    spreads_of,
    strain_slopes,
)
from discretization.space.rod_gauss_points import LENGTH, order_of
from discretization.space.rotation_series import rotation_differences
from discretization.space.strain_functions import strain_function_differences
from rigid.compilation.decorators import compiled, inline_kernel
from rigid.kinematics.rotations import inverse_tangent
from rigid.lanes import WIDTH, numbers1
from rigid.linear_algebra import (
    apply,
    apply_transposed,
    average,
    cross,
    dot,
    hat,
    hat_times,
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
    times,
    times_hat,
    trace,
    transpose,
    transposed_product,
    twice_axial,
)

# offsets in the first row of a node: x, y at start and end, 1 + tr B at both, X, Y, T_a; in its second row: c at both, C, f
X0, Y0, X1, Y1, T0, T1, X_SUM, Y_SUM, TURNING, NODE = 0, 3, 6, 9, 12, 13, 14, 17, 20, 29
C0, C1, C_SUM, OF_TURN = 0, 3, 6, 9


@inline_kernel
def _seen_from(M, A, e):
    """Return c, y, 1 + tr B of a frame with the rotation A, at e from the middle frame with the rotation M."""
    B = transposed_product(M, A)
    T = 1.0 + trace(B)
    return times(2.0 / T, twice_axial(B)), apply_transposed(M, e), T


@inline_kernel
def _store_turns(K, a, c0, c1):
    """Store x of `relative_element` (1) of node a at start and end, c at both, and f with its divided differences."""
    row = MORE + a
    F0, F1, slope, first, second, _, _, _, _, _ = strain_function_differences(
        0.25 * dot(c0, c0), 0.25 * dot(c1, c1)
    )
    put_vector(times(F0, c0), K, NODES + a, X0)
    put_vector(times(F1, c1), K, NODES + a, X1)
    put_vector(c0, K, row, C0)
    put_vector(c1, K, row, C1)
    set_entry(F0, K, row, OF_TURN + VALUE0)
    set_entry(F1, K, row, OF_TURN + VALUE1)
    set_entry(slope, K, row, OF_TURN + SLOPE1)
    set_entry(first, K, row, OF_TURN + FIRST)
    set_entry(second, K, row, OF_TURN + SECOND)


@inline_kernel
def _mean_value(K, a, i, j):
    """Return the mean of columns i and j of the row of node a."""
    return 0.5 * (number_at(K, NODES + a, i) + number_at(K, NODES + a, j))


@inline_kernel
def _mean_c(K, a):
    """Return cbar_a."""
    return average(vector_at(K, MORE + a, C0), vector_at(K, MORE + a, C1))


@inline_kernel
def _mean_turn(K, a):
    """Return F_a of (4)."""
    row, c = MORE + a, _mean_c(K, a)
    mean = 0.5 * (number_at(K, row, OF_TURN + VALUE0) + number_at(K, row, OF_TURN + VALUE1))
    return plus_identity(outer(times(0.5 * number_at(K, row, OF_TURN + FIRST), c), c), mean)


@inline_kernel
def _end_turn(K, a, M1):
    """Return the derivatives of x_a and of c_a with respect to eta_a - eta_m, from (5)."""
    row = MORE + a
    c = vector_at(K, row, C1)
    to_c = product_transposed(inverse_tangent(c), M1)
    slope = outer(times(0.5 * number_at(K, row, OF_TURN + SLOPE1), c), c)
    return product(plus_identity(slope, number_at(K, row, OF_TURN + VALUE1)), to_c), to_c


@inline_kernel
def _turn_spread(K, a):
    """Return the derivative of F_a X with respect to c_a1 at fixed X."""
    row, X = MORE + a, vector_at(K, NODES + a, X_SUM)
    c1, c = vector_at(K, row, C1), _mean_c(K, a)
    cX = dot(c, X)
    by_f = times(0.25 * number_at(K, row, OF_TURN + SLOPE1), X)
    by_f = plus(by_f, times(0.25 * number_at(K, row, OF_TURN + SECOND) * cX, c))
    quarter = 0.25 * number_at(K, row, OF_TURN + FIRST)
    return plus_identity(matrix_plus(outer(by_f, c1), outer(times(quarter, c), X)), quarter * cX)


@inline_kernel
def _at_point(K, p, g, length, x, y):
    """Return x, x', q at Gauss point g, interpolated from columns x, y of the nodes."""
    zero, s = nothing(K), 1.0 / length
    at, rate, q = (zero, zero, zero), (zero, zero, zero), (zero, zero, zero)
    for a in range(p + 1):
        if a != p // 2:
            x_a, q_a = vector_at(K, NODES + a, x), vector_at(K, NODES + a, y)
            l, dl = VALUES[p, g, a], s * SLOPES[p, g, a]
            at, rate, q = plus(at, times(l, x_a)), plus(rate, times(dl, x_a)), plus(q, times(dl, q_a))
    return at, rate, q


@inline_kernel
def _in_space(blocks, M, M1):
    """Return the blocks for q in inertial axes: forces on q are multiplied by M, changes of q by M1^T."""
    xx, xd, xq, dx, dd, dq, qx, qd, qq = blocks
    return (
        xx, xd, product_transposed(xq, M1), dx, dd, product_transposed(dq, M1),
        product(M, qx), product(M, qd), product(M, product_transposed(qq, M1)),
    )  # fmt: skip


@inline_kernel
def _add_point(K, p, g, length, blocks):
    """Add a point to the matrix of (X, M Y) to (x, M1 y): its derivatives weighted with l_a, l_a' on both sides."""
    xx, xd, xq, dx, dd, dq, qx, qd, qq = blocks
    s, k = 1.0 / length, p // 2
    for b in range(p + 1):
        if b == k:
            continue
        l, dl = VALUES[p, g, b], s * SLOPES[p, g, b]
        to_x = matrix_plus(matrix_times(l, xx), matrix_times(dl, xd))
        to_dx = matrix_plus(matrix_times(l, dx), matrix_times(dl, dd))
        to_q = matrix_plus(matrix_times(l, qx), matrix_times(dl, qd))
        x_by_q, dx_by_q, q_by_q = matrix_times(dl, xq), matrix_times(dl, dq), matrix_times(dl, qq)
        for a in range(p + 1):
            if a == k:
                continue
            l, dl = VALUES[p, g, a], s * SLOPES[p, g, a]
            add_block_to(K, SUMS + 6 * b, 6 * a, matrix_plus(matrix_times(l, to_x), matrix_times(dl, to_dx)))
            add_block_to(
                K, SUMS + 6 * b + 3, 6 * a, matrix_plus(matrix_times(l, x_by_q), matrix_times(dl, dx_by_q))
            )
            add_block_to(K, SUMS + 6 * b, 6 * a + 3, matrix_times(dl, to_q))
            add_block_to(K, SUMS + 6 * b + 3, 6 * a + 3, matrix_times(dl, q_by_q))


@inline_kernel
def _turn_matrix(A, B, c, T):
    """Return T_a of (2), A of the middle frame: columns 2 (a_j x b_l - a_l x b_j)/T less t c^T/T, t = sum of b_i x a_i."""
    a0, a1, a2 = (A[0], A[3], A[6]), (A[1], A[4], A[7]), (A[2], A[5], A[8])
    b0, b1, b2 = (B[0], B[3], B[6]), (B[1], B[4], B[7]), (B[2], B[5], B[8])
    t, s = twice_axial(product_transposed(A, B)), 2.0 / T
    x = times(s, minus(minus(cross(a1, b2), cross(a2, b1)), times(0.5 * c[0], t)))
    y = times(s, minus(minus(cross(a2, b0), cross(a0, b2)), times(0.5 * c[1], t)))
    z = times(s, minus(minus(cross(a0, b1), cross(a1, b0)), times(0.5 * c[2], t)))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@inline_kernel
def _block(K, column, row):
    """Return a 3 x 3 block of a matrix that is stored column by column."""
    return transpose(
        _matrix(vector_at(K, column, row), vector_at(K, column + 1, row), vector_at(K, column + 2, row))
    )


@inline_kernel
def _matrix(a, b, c):
    """Return the matrix with the rows a, b, c."""
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@inline_kernel
def _turning_of(K, a):
    """Return T_a from the row of node a."""
    row = NODES + a
    return _matrix(vector_at(K, row, TURNING), vector_at(K, row, TURNING + 3), vector_at(K, row, TURNING + 6))


@inline_kernel
def _lever(r, dr, frames, a, m, fraction):
    """Return r_a - r_m at the start plus `fraction` times its change over the step."""
    moved = minus(vector_of(dr, frames, a), vector_of(dr, frames, m))
    return plus(minus(vector_of(r, frames, a), vector_of(r, frames, m)), times(fraction, moved))


@inline_kernel
def _forces_on_frames(r, dr, R0, R1, frames, p, K):
    """Compute the forces (1) to (4) on the frames from X and Y; store T_a in the rows of the nodes."""
    k, zero = p // 2, nothing(K)
    M = matrix_average(rotation_of(R0, frames, k), rotation_of(R1, frames, k))
    on_m, about_m = (zero, zero, zero), (zero, zero, zero)
    for a in range(p + 1):
        if a == k:
            continue
        A = matrix_average(rotation_of(R0, frames, a), rotation_of(R1, frames, a))
        T = _turn_matrix(M, A, _mean_c(K, a), _mean_value(K, a, T0, T1))
        C = apply(_mean_turn(K, a), vector_at(K, NODES + a, X_SUM))
        put_vector(C, K, MORE + a, C_SUM)
        put_vector((T[0], T[1], T[2]), K, NODES + a, TURNING)
        put_vector((T[3], T[4], T[5]), K, NODES + a, TURNING + 3)
        put_vector((T[6], T[7], T[8]), K, NODES + a, TURNING + 6)
        force = apply(M, vector_at(K, NODES + a, Y_SUM))
        torque = apply(T, C)
        put_vector(force, K, FORCE, 6 * a)
        put_vector(torque, K, FORCE, 6 * a + 3)
        on_m = minus(on_m, force)
        about_m = plus(about_m, minus(cross(force, _lever(r, dr, frames, a, k, 0.5)), torque))
    put_vector(on_m, K, FORCE, 6 * k)
    put_vector(about_m, K, FORCE, 6 * k + 3)


@inline_kernel
def _bring_to_frames(r, dr, R0, R1, frames, p, K):
    """Transform the summed point tangents to derivatives of the forces (1) to (4) on the frames.

    The sums are multiplied by (5) from the right and by (1), (2), (4) from the left; then the changes of these factors are added.
    Rows of the middle frame are sums of the rows of the others.
    """
    k = p // 2
    M1 = rotation_of(R1, frames, k)
    M = matrix_average(rotation_of(R0, frames, k), M1)
    for b in range(p + 1):
        if b == k:
            continue
        e = _lever(r, dr, frames, b, k, 1.0)
        to_x, _ = _end_turn(K, b, M1)
        for a in range(p + 1):
            if a == k:
                continue
            turning, column, row = product(_turning_of(K, a), _mean_turn(K, a)), SUMS + 6 * b, 6 * a
            f_e, f_c = _block(K, column + 3, row + 3), product(_block(K, column, row + 3), to_x)
            t_e = product(turning, _block(K, column + 3, row))
            t_c = product(turning, product(_block(K, column, row), to_x))
            add_block_to(K, 6 * b, row, f_e)
            add_block_to(K, 6 * b, row + 3, t_e)
            add_block_to(K, 6 * b + 3, row, f_c)
            add_block_to(K, 6 * b + 3, row + 3, t_c)
            add_block_to(K, 6 * k, row, matrix_times(-1.0, f_e))
            add_block_to(K, 6 * k, row + 3, matrix_times(-1.0, t_e))
            add_block_to(K, 6 * k + 3, row, matrix_minus(times_hat(f_e, e), f_c))
            add_block_to(K, 6 * k + 3, row + 3, matrix_minus(times_hat(t_e, e), t_c))
    for a in range(p + 1):
        if a == k:
            continue
        A1 = rotation_of(R1, frames, a)
        A = matrix_average(rotation_of(R0, frames, a), A1)
        c, C = _mean_c(K, a), vector_at(K, MORE + a, C_SUM)
        T, torque = _mean_value(K, a, T0, T1), vector_at(K, FORCE, 6 * a + 3)
        half = matrix_times(-0.5, hat(apply(M1, vector_at(K, NODES + a, Y_SUM))))
        Z = plus_identity(hat(C), -0.5 * dot(c, C))
        X_m, X_a = product(M1, product_transposed(Z, A)), product_transposed(product(M, Z), A1)
        t = times(-1.0 / T, twice_axial(product_transposed(M, A)))
        t1 = times(-0.5 / T, twice_axial(product_transposed(M1, A1)))
        _, to_c = _end_turn(K, a, M1)
        shared = matrix_plus(outer(t, apply_transposed(to_c, times(0.5, C))), outer(torque, t1))
        by_m = plus_identity(matrix_times(-1.0 / T, X_m), trace(X_m) / T)
        by_a = plus_identity(matrix_times(1.0 / T, transpose(X_a)), -trace(X_a) / T)
        add_block_to(K, 6 * k + 3, 6 * a, half)
        shared = matrix_plus(shared, product(_turning_of(K, a), product(_turn_spread(K, a), to_c)))
        add_block_to(K, 6 * k + 3, 6 * a + 3, matrix_minus(by_m, shared))
        add_block_to(K, 6 * a + 3, 6 * a + 3, matrix_plus(by_a, shared))
    for a in range(p + 1):
        if a == k:
            continue
        e, hf = _lever(r, dr, frames, a, k, 0.5), hat(times(0.5, vector_at(K, FORCE, 6 * a)))
        for column in range(0, 6 * (p + 1), 3):
            f = _block(K, column, 6 * a)
            turned = matrix_plus(hat_times(e, f), _block(K, column, 6 * a + 3))
            add_block_to(K, column, 6 * k, matrix_times(-1.0, f))
            add_block_to(K, column, 6 * k + 3, matrix_times(-1.0, turned))
        add_block_to(K, 6 * a, 6 * k + 3, hf)
        add_block_to(K, 6 * k, 6 * k + 3, matrix_times(-1.0, hf))


@inline_kernel
def _forces_over_step(poses, frames, of_order, X, D, ratio, tangent, K):
    """Compute forces, strains and, if `tangent`, derivatives into K as `closed_form_spans` describes.

    poses: r, dr, R0, R1; of_order: p and the length.
    """
    (r, dr, R0, R1), (p, L) = poses, of_order
    k = p // 2
    M0, M1 = rotation_of(R0, frames, k), rotation_of(R1, frames, k)
    for a in range(p + 1):
        for i in range(NODE):
            set_entry(0.0, K, NODES + a, i)
        if a == k:
            continue
        e0 = minus(vector_of(r, frames, a), vector_of(r, frames, k))
        e1 = plus(e0, minus(vector_of(dr, frames, a), vector_of(dr, frames, k)))
        c0, y0, t0 = _seen_from(M0, rotation_of(R0, frames, a), e0)
        c1, y1, t1 = _seen_from(M1, rotation_of(R1, frames, a), e1)
        _store_turns(K, a, c0, c1)
        put_vector(y0, K, NODES + a, Y0)
        put_vector(y1, K, NODES + a, Y1)
        set_entry(t0, K, NODES + a, T0)
        set_entry(t1, K, NODES + a, T1)
    if tangent:
        for i in range(6 * (p + 1)):
            for j in range(6 * (p + 1)):
                set_entry(0.0, K, i, j)
                set_entry(0.0, K, SUMS + i, j)
    for g in range(p):
        start, end = _at_point(K, p, g, L, X0, Y0), _at_point(K, p, g, L, X1, Y1)
        of_start, of_end = products_of(start), products_of(end)
        functions = rotation_differences(dot(start[0], start[0]), dot(end[0], end[0]))
        alpha, beta, delta = functions
        Gamma0, K0 = strains_by(start, of_start, alpha[VALUE0], beta[VALUE0], delta[VALUE0])
        Gamma1, K1 = strains_by(end, of_end, alpha[VALUE1], beta[VALUE1], delta[VALUE1])
        put_vector(Gamma0, K, STRAINS_START, 6 * g)
        put_vector(K0, K, STRAINS_START, 6 * g + 3)
        put_vector(Gamma1, K, STRAINS_END, 6 * g)
        put_vector(K1, K, STRAINS_END, 6 * g + 3)
        w = WEIGHTS[p, g] * L
        N, M = stress_over_step(frames, X, D, ratio, g, Gamma0, K0, Gamma1, K1)
        n, m = times(w, N), times(w, M)
        on_x, on_dx, on_q = on_relative(start, end, of_start, of_end, functions, n, m)
        for a in range(p + 1):
            if a != k:
                l, dl = VALUES[p, g, a], SLOPES[p, g, a] / L
                add_to(K, NODES + a, X_SUM, plus(times(l, on_x), times(dl, on_dx)))
                add_to(K, NODES + a, Y_SUM, times(dl, on_q))
        if tangent:
            stiffness = blocks_over_step(frames, X, D, ratio, w, g, Gamma0, K0, Gamma1, K1)
            spreads = spreads_of(start, end, of_start, of_end, functions, n, m)
            slopes = strain_slopes(end, of_end, functions)
            blocks = point_tangent(spreads, slopes, stiffness, mixed(frames, stiffness))
            _add_point(K, p, g, L, _in_space(blocks, matrix_average(M0, M1), M1))
    _forces_on_frames(r, dr, R0, R1, frames, p, K)
    if tangent:
        _bring_to_frames(r, dr, R0, R1, frames, p, K)


@compiled(FORCES)
def forces(r, dr, R0, R1, frames, X, D, ratio, tangent, K):
    """Compute the discrete forces of one span into K; arguments as in `closed_form_spans`."""
    _forces_over_step((r, dr, R0, R1), frames, (order_of(X), X[LENGTH]), X, D, ratio, tangent, K)


@compiled(LANE_FORCES)
def lane_forces(r, dr, R0, R1, addresses, X, D, ratio, tangent, K):
    """Compute the discrete forces of eight spans in lanes into K; arguments as in `closed_form_spans`."""
    of_order = order_of(X[addresses[NUMBERS, 0] :]), numbers1(X, addresses, NUMBERS * WIDTH, LENGTH)[0]
    _forces_over_step((r, dr, R0, R1), addresses, of_order, X, D, ratio, tangent, K)
