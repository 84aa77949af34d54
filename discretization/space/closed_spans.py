"""What a closed form of a span gives `em`: discrete forces, their derivatives and the strains at both ends of the step.

    forces(r, dr, R0, R1, frames, X, D, ratio, tangent, K)

of positions r (n, 3) at the start, their increments dr, rotations R0, R1 (n, 3, 3), the span's frames, its numbers X and
those of its viscosity D, which counts times `ratio` = 1/h, or 0. Into K (MATRIX_ROWS, 6 MOST_FRAMES) go, with 6 columns a
frame (force, torque), the derivatives of the forces to dr and eta, one row for each of these, on demand; behind them the
strains at start and end, 6 a point, and the forces. What follows is room for the form's own use.
"""

from numba import types

from discretization.space.interpolation import MOST
from discretization.space.laws import AXIAL, GENERAL
from discretization.space.laws.functions import quotient_of_number, stress_of_number
from discretization.space.rod_points import (
    FIRST,
    INVARIANT,
    LAW,
    POINT,
    general_between,
    invariant_of,
    six,
    stress_of,
    unloaded,
    viscous_between,
)
from rigid.compilation.decorators import function_at, small_kernel
from rigid.interactions.kinds import COMPLEX_STEP, whole
from rigid.linear_algebra import average, matrix_plus, outer, plus, times

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
MORE = NODES + MOST + 1
SUMS = MORE + MOST + 1
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
    if whole(X[at + LAW]) == 0:
        return 0.0, 0.0
    quotient = quotient_of_number(whole(X[at + LAW]), X)
    x0, x1 = invariant_of(Gamma0, K0, X, at), invariant_of(Gamma1, K1, X, at)
    s = quotient(x0 + 0j, x1 + COMPLEX_STEP * 1j, X, at)
    return s.real, s.imag / COMPLEX_STEP


@small_kernel
def stress_at(X, D, ratio, g, Gamma0, K0, Gamma1, K1):
    """N, M of point g: elastic between the strains at both ends, viscous of their change times ratio."""
    N, M = elastic_at(X, g, Gamma0, K0, Gamma1, K1)
    if ratio != 0.0:
        viscous = viscous_between(Gamma0, K0, Gamma1, K1, D, g)
        N, M = plus(N, times(ratio, viscous[0])), plus(M, times(ratio, viscous[1]))
    return N, M


@small_kernel
def elastic_at(X, g, Gamma0, K0, Gamma1, K1):
    """N, M of point g between the strains at both ends."""
    (Gamma0, K0), (Gamma1, K1) = unloaded(Gamma0, K0, X, g), unloaded(Gamma1, K1, X, g)
    at = FIRST + POINT * g
    if whole(X[at + INVARIANT]) == GENERAL:
        n, m = general_between(Gamma0, K0, Gamma1, K1, X, at)
        return (n[0].real, n[1].real, n[2].real), (m[0].real, m[1].real, m[2].real)
    Gamma, K = average(Gamma0, Gamma1), average(K0, K1)
    N, M = stress_of(Gamma, K, X, g)
    s, _ = law_between(X, g, Gamma0, K0, Gamma1, K1)
    if whole(X[at + INVARIANT]) == AXIAL:
        return (N[0] + s, N[1], N[2]), M
    return N, (M[0], M[1] + s * X[at + 28] * K[1], M[2] + s * X[at + 35] * K[2])


@small_kernel
def _general_column(X, at, e0, e1, j):
    """Derivative of the stresses of a W in all strains to strain j at the end, by a complex step."""
    i = COMPLEX_STEP * 1j
    end = (
        e1[0] + (i if j == 0 else 0j),
        e1[1] + (i if j == 1 else 0j),
        e1[2] + (i if j == 2 else 0j),
        e1[3] + (i if j == 3 else 0j),
        e1[4] + (i if j == 4 else 0j),
        e1[5] + (i if j == 5 else 0j),
    )
    stress = stress_of_number(whole(X[at + LAW]), X)
    s, h = stress(e0, end, X, at), 1.0 / COMPLEX_STEP
    N = h * s[0].imag, h * s[1].imag, h * s[2].imag
    return N, (h * s[3].imag, h * s[4].imag, h * s[5].imag)


@small_kernel
def _of_columns(s, a, b, c):
    """s times the matrix of these columns."""
    return s * a[0], s * b[0], s * c[0], s * a[1], s * b[1], s * c[1], s * a[2], s * b[2], s * c[2]


@small_kernel
def _general_blocks(X, D, ratio, weight, g, e0, e1):
    """`blocks_at` of a W in all strains."""
    at = FIRST + POINT * g
    N0, M0 = _general_column(X, at, e0, e1, 0)
    N1, M1 = _general_column(X, at, e0, e1, 1)
    N2, M2 = _general_column(X, at, e0, e1, 2)
    N3, M3 = _general_column(X, at, e0, e1, 3)
    N4, M4 = _general_column(X, at, e0, e1, 4)
    N5, M5 = _general_column(X, at, e0, e1, 5)
    NN, NM = _of_columns(weight, N0, N1, N2), _of_columns(weight, N3, N4, N5)
    MN, MM = _of_columns(weight, M0, M1, M2), _of_columns(weight, M3, M4, M5)
    if ratio == 0.0:
        return NN, NM, MN, MM
    s = ratio * weight
    return (
        matrix_plus(NN, scaled_block(D, s, g, 0, 0)),
        matrix_plus(NM, scaled_block(D, s, g, 0, 3)),
        matrix_plus(MN, scaled_block(D, s, g, 3, 0)),
        matrix_plus(MM, scaled_block(D, s, g, 3, 3)),
    )


@small_kernel
def blocks_at(X, D, ratio, weight, g, Gamma0, K0, Gamma1, K1):
    """Derivatives of the stresses, times the weight, to the strains at the end: NN, NM, MN, MM."""
    if whole(X[FIRST + POINT * g + INVARIANT]) == GENERAL:
        (Gamma0, K0), (Gamma1, K1) = unloaded(Gamma0, K0, X, g), unloaded(Gamma1, K1, X, g)
        return _general_blocks(X, D, ratio, weight, g, six(Gamma0, K0), six(Gamma1, K1))
    NN, MM = block_of(X, D, ratio, weight, g, 0, 0), block_of(X, D, ratio, weight, g, 3, 3)
    at = FIRST + POINT * g
    if whole(X[at + LAW]) != 0:
        (Gamma0, K0), (Gamma1, K1) = unloaded(Gamma0, K0, X, g), unloaded(Gamma1, K1, X, g)
        s, slope = law_between(X, g, Gamma0, K0, Gamma1, K1)
        if whole(X[at + INVARIANT]) == AXIAL:
            NN = (NN[0] + weight * slope, NN[1], NN[2], NN[3], NN[4], NN[5], NN[6], NN[7], NN[8])
        else:
            K, C2, C3 = average(K0, K1), weight * X[at + 28], weight * X[at + 35]
            half = (0.0, 0.0, 0.0, 0.0, 0.5 * s * C2, 0.0, 0.0, 0.0, 0.5 * s * C3)
            along = (0.0, slope * X[at + 28] * K1[1], slope * X[at + 35] * K1[2])
            MM = matrix_plus(MM, matrix_plus(half, outer((0.0, C2 * K[1], C3 * K[2]), along)))
    return NN, block_of(X, D, ratio, weight, g, 0, 3), block_of(X, D, ratio, weight, g, 3, 0), MM


@small_kernel
def scaled_block(X, s, g, row, column):
    """s times a block of the stiffness or the viscosity of point g."""
    at = FIRST + POINT * g + 6 * row + column
    return (
        s * X[at], s * X[at + 1], s * X[at + 2],
        s * X[at + 6], s * X[at + 7], s * X[at + 8],
        s * X[at + 12], s * X[at + 13], s * X[at + 14],
    )  # fmt: skip


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
    own = scaled_block(X, 0.5 * weight, g, row, column)
    if ratio == 0.0:
        return own
    return matrix_plus(own, scaled_block(D, ratio * weight, g, row, column))
