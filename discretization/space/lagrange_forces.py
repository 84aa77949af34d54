"""Discrete forces of the Lagrange rod element for `em`, in real arithmetic, and their tangent.

With the sums F_a of `lagrange_element` (2) over the points, distributed to the nodes, the forces on the frames are

    f_a = sum of l_a' Dbar n,   t_a = 2 axial(F_a Rbar_a^T)                                                            (1)
    F_a = sum of l_a (rbar' n^T - Dbar' hat(m)/2) + l_a' Dbar hat(m)/2

Derivatives are taken with respect to the end of the step, dr and eta of every frame, dr' = sum l_b' dr_b,
dD = sum l_b hat(eta_b) R_b1, dD' = sum l_b' hat(eta_b) R_b1: the strains at the end change by

    dGamma = l_b' D^T dr_b + l_b R_b^T hat(r') eta_b                                                                   (2)
    dK = axial(l_b' D^T hat(eta_b) R_b - l_b R_b^T hat(eta_b) D')

The stresses change by (C/2 + D/h) times that, and each other factor in (1) by half of its change at the end.
"""

from discretization.space.closed_form_spans import (
    FORCE,
    FORCES,
    NODES,
    STRAINS_END,
    STRAINS_START,
    SUMS,
    add_block_to,
    add_to,
    blocks_at,
    coupled,
    matrix_at,
    stress_at,
    vector_at,
)
from discretization.space.interpolation import SLOPES, VALUES
from discretization.space.rod_gauss_points import LENGTH, order_of, weight_of
from rigid.compilation.decorators import compiled, inline_kernel
from rigid.linear_algebra import (
    apply,
    apply_transposed,
    average,
    cross,
    hat,
    hat_times,
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
    scaled_rows,
    store3,
    times,
    times_hat,
    trace,
    transpose,
    transposed_product,
    twice_axial,
)

ZERO3, ZERO9 = (0.0, 0.0, 0.0), (0.0,) * 9
# offsets in the row of a node: F_a and f_a, then the matrices that map n and m of a point to its torque
F_SUM, NODE, BY_N, BY_M = 0, 12, 12, 21


@inline_kernel
def _at_point(r, dr, R, frames, p, g, length, moved):
    """Return r', D, D' at Gauss point g: at the start, or with moved = 1 at the end."""
    slope, D, D1, s = ZERO3, ZERO9, ZERO9, 1.0 / length
    first = frames[0]
    for a in range(p + 1):
        f, l, dl = frames[a], VALUES[p, g, a], s * SLOPES[p, g, a]
        e = minus(load3(r[f]), load3(r[first]))
        e = plus(e, times(moved, minus(load3(dr[f]), load3(dr[first]))))
        A = matrix_at(R, f)
        slope = plus(slope, times(dl, e))
        D, D1 = matrix_plus(D, matrix_times(l, A)), matrix_plus(D1, matrix_times(dl, A))
    return slope, D, D1


@inline_kernel
def _strains_of(at):
    """Return Gamma, K from r', D, D'."""
    slope, D, D1 = at
    Gamma = apply_transposed(D, slope)
    return (Gamma[0] - 1.0, Gamma[1], Gamma[2]), times(0.5, twice_axial(transposed_product(D, D1)))


@inline_kernel
def _columns(A):
    return (A[0], A[3], A[6]), (A[1], A[4], A[7]), (A[2], A[5], A[8])


@inline_kernel
def _turned_between(A, B):
    """Return the matrix of eta -> 2 axial(A^T hat(eta) B)."""
    (a0, a1, a2), (b0, b1, b2) = _columns(A), _columns(B)
    x = minus(cross(b1, a2), cross(b2, a1))
    y = minus(cross(b2, a0), cross(b0, a2))
    z = minus(cross(b0, a1), cross(b1, a0))
    return x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]


@inline_kernel
def _hat_between(A, B):
    """Return the matrix of m -> 2 axial(A hat(m) B^T)."""
    (a0, a1, a2), (b0, b1, b2) = _columns(A), _columns(B)
    x = minus(cross(a1, b2), cross(a2, b1))
    y = minus(cross(a2, b0), cross(a0, b2))
    z = minus(cross(a0, b1), cross(a1, b0))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@inline_kernel
def _matrix_in(row, i):
    """Return nine numbers of a row from offset i."""
    return (
        row[i], row[i + 1], row[i + 2], row[i + 3], row[i + 4], row[i + 5], row[i + 6], row[i + 7], row[i + 8]
    )  # fmt: skip


@inline_kernel
def _by_stresses(nodes, p, g, length, mean, m, K):
    """Store the matrices that map the stresses of a point to the torques in the rows of the nodes.

    Also add to the sums whose rotation by m changes the torques; `_add_turns` uses them.
    """
    (R0, R1, frames), (slope, D, bend), s = nodes, mean, 1.0 / length
    for a in range(p + 1):
        row, f = K[NODES + a], frames[a]
        l, dl = VALUES[p, g, a], s * SLOPES[p, g, a]
        R = matrix_average(matrix_at(R0, f), matrix_at(R1, f))
        by_n = hat_times(times(-l, slope), R)
        U = matrix_minus(matrix_times(0.5 * dl, D), matrix_times(0.5 * l, bend))
        by_m = _hat_between(U, R)
        for i in range(9):
            row[BY_N + i], row[BY_M + i] = by_n[i], by_m[i]
        for b in range(p + 1):
            crossed = 0.25 * (dl * VALUES[p, g, b] - l * s * SLOPES[p, g, b])
            add_to(K, SUMS + a, 3 * b, times(crossed, m))


@inline_kernel
def _add_point_tangent(nodes, p, g, length, end, mean, stress, blocks, K):
    """Add the derivatives of one point, except for the rotation of the torques by m."""
    (R0, R1, frames), (n, m) = nodes, stress
    slope1, D1, bend1 = end
    D = mean[1]
    SNN, SNM, SMN, SMM = blocks
    _by_stresses(nodes, p, g, length, mean, m, K)
    mixed = coupled(blocks)
    N_slope, M_slope = product_transposed(SNN, D1), product_transposed(SMN, D1)  # derivatives to r'
    D_N_slope, s = product(D, N_slope), 1.0 / length
    for b in range(p + 1):
        l_b, dl_b, R_b = VALUES[p, g, b], s * SLOPES[p, g, b], matrix_at(R1, frames[b])
        # (2)
        Gamma_turn = times_hat(matrix_times(l_b, transpose(R_b)), slope1)
        K_turn = matrix_times(0.5 * dl_b, _turned_between(D1, R_b))
        K_turn = matrix_minus(K_turn, matrix_times(0.5 * l_b, _turned_between(R_b, bend1)))
        if mixed:
            N_turn = matrix_plus(product(SNN, Gamma_turn), product(SNM, K_turn))
            M_turn = matrix_plus(product(SMN, Gamma_turn), product(SMM, K_turn))
        else:
            N_turn, M_turn = scaled_rows(SNN, Gamma_turn), scaled_rows(SMM, K_turn)
        f_turn = matrix_minus(product(D, N_turn), hat(times(0.5 * l_b, apply(R_b, n))))
        for a in range(p + 1):
            row, l, dl, f = K[NODES + a], VALUES[p, g, a], s * SLOPES[p, g, a], frames[a]
            by_n, by_m = _matrix_in(row, BY_N), _matrix_in(row, BY_M)
            mean_n = apply(matrix_average(matrix_at(R0, f), matrix_at(R1, f)), times(0.5 * l, n))
            t = matrix_plus(product(by_n, N_slope), hat(mean_n))
            if mixed:
                t = matrix_plus(t, product(by_m, M_slope))
            add_block_to(K, 6 * b, 6 * a, matrix_times(dl * dl_b, D_N_slope))
            add_block_to(K, 6 * b + 3, 6 * a, matrix_times(dl, f_turn))
            add_block_to(K, 6 * b, 6 * a + 3, matrix_times(dl_b, t))
            t = matrix_plus(product(by_n, N_turn), product(by_m, M_turn))
            add_block_to(K, 6 * b + 3, 6 * a + 3, t)


@inline_kernel
def _add_turns(nodes, p, K):
    """Add the rotation of the torques by m: Y - tr(Y) I, Y = R_b hat(s) Rbar_a^T, s: minus the stored sum over the points."""
    R0, R1, frames = nodes
    for b in range(p + 1):
        R_b = matrix_at(R1, frames[b])
        for a in range(p + 1):
            f = frames[a]
            R = matrix_average(matrix_at(R0, f), matrix_at(R1, f))
            Y = product_transposed(times_hat(R_b, vector_at(K, SUMS + a, 3 * b)), R)
            add_block_to(K, 6 * b + 3, 6 * a + 3, plus_identity(matrix_times(-1.0, Y), trace(Y)))


@compiled(FORCES)
def forces(r, dr, R0, R1, frames, X, D, ratio, tangent, K):
    """Compute the discrete forces of one span into K; arguments as in `closed_form_spans`."""
    p, L = order_of(X), X[LENGTH]
    for a in range(p + 1):
        for i in range(NODE):
            K[NODES + a, i] = 0.0
    if tangent:
        for i in range(6 * (p + 1)):
            for j in range(6 * (p + 1)):
                K[i, j] = 0.0
        for a in range(p + 1):
            for i in range(3 * (p + 1)):
                K[SUMS + a, i] = 0.0
    for g in range(p):
        start, end = _at_point(r, dr, R0, frames, p, g, L, 0.0), _at_point(r, dr, R1, frames, p, g, L, 1.0)
        (Gamma0, K0), (Gamma1, K1) = _strains_of(start), _strains_of(end)
        store3(Gamma0, K[STRAINS_START, 6 * g : 6 * g + 3])
        store3(K0, K[STRAINS_START, 6 * g + 3 : 6 * g + 6])
        store3(Gamma1, K[STRAINS_END, 6 * g : 6 * g + 3])
        store3(K1, K[STRAINS_END, 6 * g + 3 : 6 * g + 6])
        w = weight_of(X, g)
        N, M = stress_at(X, D, ratio, g, Gamma0, K0, Gamma1, K1)
        n, m = times(w, N), times(w, M)
        slope = average(start[0], end[0])
        directors, bend = matrix_average(start[1], end[1]), matrix_average(start[2], end[2])
        hm = hat(times(0.5, m))
        on_slope = apply(directors, n)
        on_value = matrix_minus(outer(slope, n), product(bend, hm))
        on_bend = product(directors, hm)
        for a in range(p + 1):
            l, dl = VALUES[p, g, a], SLOPES[p, g, a] / L
            F = matrix_plus(matrix_times(l, on_value), matrix_times(dl, on_bend))
            for i in range(3):
                add_to(K, NODES + a, F_SUM + 3 * i, (F[3 * i], F[3 * i + 1], F[3 * i + 2]))
            add_to(K, NODES + a, F_SUM + 9, times(dl, on_slope))
        if tangent:
            blocks = blocks_at(X, D, ratio, w, g, Gamma0, K0, Gamma1, K1)
            _add_point_tangent((R0, R1, frames), p, g, L, end, (slope, directors, bend), (n, m), blocks, K)
    if tangent:
        _add_turns((R0, R1, frames), p, K)
    for a in range(p + 1):
        row, f = K[NODES + a], frames[a]
        F = (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8])
        R = matrix_average(matrix_at(R0, f), matrix_at(R1, f))
        store3(vector_at(K, NODES + a, F_SUM + 9), K[FORCE, 6 * a : 6 * a + 3])
        store3(twice_axial(product_transposed(F, R)), K[FORCE, 6 * a + 3 : 6 * a + 6])
        if tangent:  # half of the rotation of R_a
            G = product_transposed(F, matrix_at(R1, f))
            rotated = matrix_times(0.5, plus_identity(transpose(G), -trace(G)))
            add_block_to(K, 6 * a + 3, 6 * a + 3, rotated)
