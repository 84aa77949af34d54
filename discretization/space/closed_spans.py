"""What a closed form of a span gives `em`: discrete forces, their derivatives and the strains at both ends of the step.

    forces(r, dr, R0, R1, frames, X, D, ratio, tangent, K)

of positions r (n, 3) at the start, their increments dr, rotations R0, R1 (n, 3, 3), the span's frames, its numbers X and
those of its viscosity D, which counts times `ratio` = 1/h, or 0. Into K (MATRIX_ROWS, 6 MOST_FRAMES) go, with 6 columns a
frame (force, torque), the derivatives of the forces to dr and eta, one row for each of these, on demand; behind them the
strains at start and end, 6 a point, and the forces. What follows is room for the form's own use.
"""

from numba import types

from discretization.space.interpolation import MOST
from discretization.space.laws import AXIAL
from discretization.space.laws.functions import quotient_at
from discretization.space.rod_points import (
    FIRST,
    INVARIANT,
    LAW_QUOTIENT,
    POINT,
    invariant_of,
    stress_of,
    unloaded,
)
from rigid.compilation import function_at, small_kernel
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.linear_algebra import average, matrix_plus, minus, outer, plus, times

F1, F2, F3 = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]
I1 = types.int64[::1]
FORCES = types.void(F2, F2, F3, F3, I1, F1, F1, types.float64, types.boolean, F2)
forces_at = function_at(FORCES)
STRAINS_START, STRAINS_END, FORCE, NODES = (
    6 * (MOST + 1) + 0,
    6 * (MOST + 1) + 1,
    6 * (MOST + 1) + 2,
    6 * (MOST + 1) + 3,
)
SUMS = NODES + MOST + 1
MATRIX_ROWS = SUMS + 6 * (MOST + 1)


@small_kernel
def vector_at(K, row, i):
    """K[row, i:i + 3]."""
    return K[row, i], K[row, i + 1], K[row, i + 2]


@small_kernel
def matrix_at(R, f):
    """R[f], an array (n, 3, 3)."""
    return (
        R[f, 0, 0], R[f, 0, 1], R[f, 0, 2], R[f, 1, 0], R[f, 1, 1], R[f, 1, 2], R[f, 2, 0], R[f, 2, 1], R[f, 2, 2]
    )  # fmt: skip


@small_kernel
def add_to(K, row, i, x):
    """K[row, i:i + 3] += x."""
    K[row, i] += x[0]
    K[row, i + 1] += x[1]
    K[row, i + 2] += x[2]


@small_kernel
def add_block_to(K, column, row, A):
    """Block of the derivatives += A; they are stored column by column."""
    for j in range(3):
        K[column + j, row] += A[j]
        K[column + j, row + 1] += A[3 + j]
        K[column + j, row + 2] += A[6 + j]


@small_kernel
def law_between(X, g, Gamma0, K0, Gamma1, K1):
    """phi[x0, x1] of the law at point g and its derivative to x1, between strains less the stress-free ones."""
    at = FIRST + POINT * g
    if X[at + LAW_QUOTIENT] == 0.0:
        return 0.0, 0.0
    quotient = quotient_at(int(X[at + LAW_QUOTIENT]))
    x0, x1 = invariant_of(Gamma0, K0, X, at), invariant_of(Gamma1, K1, X, at)
    s = quotient(x0 + 0j, x1 + COMPLEX_STEP * 1j, X, at)
    return s.real, s.imag / COMPLEX_STEP


@small_kernel
def stress_at(X, D, ratio, g, Gamma0, K0, Gamma1, K1):
    """N, M of point g: elastic between the strains at both ends, viscous of their change times ratio."""
    change = minus(Gamma1, Gamma0), minus(K1, K0)
    (Gamma0, K0), (Gamma1, K1) = unloaded(Gamma0, K0, X, g), unloaded(Gamma1, K1, X, g)
    Gamma, K = average(Gamma0, Gamma1), average(K0, K1)
    N, M = stress_of(Gamma, K, X, g)
    at = FIRST + POINT * g
    s, _ = law_between(X, g, Gamma0, K0, Gamma1, K1)
    if X[at + INVARIANT] == AXIAL:
        N = (N[0] + s, N[1], N[2])
    else:
        M = (M[0], M[1] + s * X[at + 28] * K[1], M[2] + s * X[at + 35] * K[2])
    if ratio != 0.0:
        viscous = stress_of(change[0], change[1], D, g)
        N, M = plus(N, times(ratio, viscous[0])), plus(M, times(ratio, viscous[1]))
    return N, M


@small_kernel
def blocks_at(X, D, ratio, weight, g, Gamma0, K0, Gamma1, K1):
    """Derivatives of the stresses, times the weight, to the strains at the end: NN, NM, MN, MM."""
    NN, MM = block_of(X, D, ratio, weight, g, 0, 0), block_of(X, D, ratio, weight, g, 3, 3)
    at = FIRST + POINT * g
    if X[at + LAW_QUOTIENT] != 0.0:
        (Gamma0, K0), (Gamma1, K1) = unloaded(Gamma0, K0, X, g), unloaded(Gamma1, K1, X, g)
        s, slope = law_between(X, g, Gamma0, K0, Gamma1, K1)
        if X[at + INVARIANT] == AXIAL:
            NN = (NN[0] + weight * slope, NN[1], NN[2], NN[3], NN[4], NN[5], NN[6], NN[7], NN[8])
        else:
            K, C2, C3 = average(K0, K1), weight * X[at + 28], weight * X[at + 35]
            half = (0.0, 0.0, 0.0, 0.0, 0.5 * s * C2, 0.0, 0.0, 0.0, 0.5 * s * C3)
            along = (0.0, slope * X[at + 28] * K1[1], slope * X[at + 35] * K1[2])
            MM = matrix_plus(MM, matrix_plus(half, outer((0.0, C2 * K[1], C3 * K[2]), along)))
    return NN, block_of(X, D, ratio, weight, g, 0, 3), block_of(X, D, ratio, weight, g, 3, 0), MM


@small_kernel
def coupled(blocks):
    """Whether the blocks of `blocks_at` are anything but diagonals of NN and MM."""
    A, B, C, D = blocks
    off = abs(A[1]) + abs(A[2]) + abs(A[3]) + abs(A[5]) + abs(A[6]) + abs(A[7])
    off += abs(D[1]) + abs(D[2]) + abs(D[3]) + abs(D[5]) + abs(D[6]) + abs(D[7])
    for i in range(9):
        off += abs(B[i]) + abs(C[i])
    return off != 0.0


@small_kernel
def block_of(X, D, ratio, weight, g, row, column):
    """weight (C/2 + ratio D): block of the derivative of the stresses to the strains at the end."""
    at, half = FIRST + POINT * g + 6 * row + column, 0.5 * weight
    own = (
        half * X[at], half * X[at + 1], half * X[at + 2],
        half * X[at + 6], half * X[at + 7], half * X[at + 8],
        half * X[at + 12], half * X[at + 13], half * X[at + 14],
    )  # fmt: skip
    if ratio == 0.0:
        return own
    s = ratio * weight
    return (
        own[0] + s * D[at], own[1] + s * D[at + 1], own[2] + s * D[at + 2],
        own[3] + s * D[at + 6], own[4] + s * D[at + 7], own[5] + s * D[at + 8],
        own[6] + s * D[at + 12], own[7] + s * D[at + 13], own[8] + s * D[at + 14],
    )  # fmt: skip
