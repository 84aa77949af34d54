"""Closed form of the SE(3) rod element with a nonlinear material for `em`, based on `se3_element`.

The closed form of `se3_element` has stresses w = w0 + (C/2 + D/h) e1, linear in the strains e1 at the end. For the stresses w of
a law and S = dw/de1 it is evaluated with C = 2 S, D = 0, w0 = w - S e1: stresses and tangent are then those of the law.
"""

from discretization.space.closed_form_spans import (
    FORCE,
    FORCES,
    STRAINS_END,
    STRAINS_START,
    SUMS,
    blocks_at,
    matrix_at,
    stress_at,
)
from discretization.space.rod_gauss_points import LENGTH
from discretization.space.se3_element import (
    E0,
    HALF0,
    K0,
    S0,
    STRESS0,
    U0,
    Y0,
    discrete_forces,
    invariants,
    strains_of,
)
from discretization.space.strain_functions import strain_functions
from rigid.compilation.decorators import compiled, inline_kernel
from rigid.linear_algebra import (
    apply,
    load3,
    matrix_times,
    minus,
    plus,
    store3,
    store_block,
    times,
    trace,
    transposed_product,
    twice_axial,
)

# scratch rows of K: tangent, C, D, the start of the step, strains at the end
TANGENT, C, D, START, END = SUMS, SUMS + 9, SUMS + 15, SUMS + 21, SUMS + 22


@inline_kernel
def _half_of(A, B):
    """Return the unit quaternion of A^T B, whose angle is less than pi."""
    rotation = transposed_product(A, B)
    w = 0.5 * (1.0 + trace(rotation)) ** 0.5
    v = times(0.25 / w, twice_axial(rotation))
    return w, v[0], v[1], v[2]


@inline_kernel
def _strains(A, B, e, length):
    """Return y, k, s, u, the scalar part of the half rotation, Gamma, K."""
    identity = (1.0, 0.0, 0.0, 0.0)
    y, k, s, u, half = invariants(A, B, identity, _half_of(A, B), e, length)
    f, _, p, _ = strain_functions(u)
    Gamma, K = strains_of(y, k, s, u, f, p, length)
    return y, k, s, u, half, Gamma, K


@compiled(FORCES)
def forces(r, dr, R0, R1, frames, X, viscosity, ratio, tangent, K):
    """Compute the discrete forces of one span into K; arguments as in `closed_form_spans`."""
    a, b, L = frames[0], frames[1], X[LENGTH]
    A0, B0, A1, B1 = matrix_at(R0, a), matrix_at(R0, b), matrix_at(R1, a), matrix_at(R1, b)
    e0 = minus(load3(r[b]), load3(r[a]))
    e1 = plus(e0, minus(load3(dr[b]), load3(dr[a])))
    y, k, s, u, half, Gamma0, K_0 = _strains(A0, B0, e0, L)
    _, _, _, _, _, Gamma1, K_1 = _strains(A1, B1, e1, L)
    store3(Gamma0, K[STRAINS_START, 0:3])
    store3(K_0, K[STRAINS_START, 3:6])
    store3(Gamma1, K[STRAINS_END, 0:3])
    store3(K_1, K[STRAINS_END, 3:6])
    start = K[START]
    store3(y, start[Y0 : Y0 + 3])
    store3(k, start[K0 : K0 + 3])
    start[S0], start[U0], start[HALF0] = s, u, half
    store3(Gamma0, start[E0 : E0 + 3])
    store3(K_0, start[E0 + 3 : E0 + 6])
    w_N, w_M = stress_at(X, viscosity, ratio, 0, Gamma0, K_0, Gamma1, K_1)
    if tangent:
        blocks = blocks_at(X, viscosity, ratio, 1.0, 0, Gamma0, K_0, Gamma1, K_1)
    else:
        none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        blocks = (none, none, none, none)
    NN, NM, MN, MM = blocks
    for i in range(6):
        for j in range(6):
            K[D + i, j] = 0.0
    store_block(matrix_times(2.0, NN), K, C, 0)
    store_block(matrix_times(2.0, NM), K, C, 3)
    store_block(matrix_times(2.0, MN), K, C + 3, 0)
    store_block(matrix_times(2.0, MM), K, C + 3, 3)
    store3(minus(w_N, plus(apply(NN, Gamma1), apply(NM, K_1))), start[STRESS0 : STRESS0 + 3])
    store3(minus(w_M, plus(apply(MN, Gamma1), apply(MM, K_1))), start[STRESS0 + 3 : STRESS0 + 6])
    material = L, K[C : C + 6], K[D : D + 6], False
    poses1 = A1, B1, (1.0, 0.0, 0.0, 0.0), _half_of(A1, B1), e1
    _, n, torque_a, torque_b = discrete_forces(
        (A0, B0, e0), poses1, start, material, 1.0, tangent, K[END], K[TANGENT : TANGENT + 9]
    )
    store3(times(-1.0, n), K[FORCE, 0:3])
    store3(torque_a, K[FORCE, 3:6])
    store3(n, K[FORCE, 6:9])
    store3(torque_b, K[FORCE, 9:12])
    if tangent:
        _bring_to_frames(K)


@inline_kernel
def _bring_to_frames(K):
    """Expand derivatives of n and the torques to (e1, eta_a, eta_b) to those of all forces to dr, eta of both frames."""
    for i in range(12):
        for j in range(12):
            K[i, j] = 0.0
    for i in range(3):
        # rows: force on a, torque on a, force on b, torque on b, from the rows of n and of the torques
        for to, row, sign in ((0, 0, -1.0), (3, 3, 1.0), (6, 0, 1.0), (9, 6, 1.0)):
            for column, of, factor in ((0, 0, -1.0), (3, 3, 1.0), (6, 0, 1.0), (9, 6, 1.0)):
                for j in range(3):
                    K[column + j, to + i] = sign * factor * K[TANGENT + row + i, of + j]
