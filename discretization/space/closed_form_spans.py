"""Interface and helpers of the closed forms of spans for `em`: discrete forces, their tangent, strains at both ends of the step.

    forces(r, dr, R0, R1, frames, X, D, ratio, tangent, K)

with positions r (n, 3) at the start, their increments dr, rotations R0, R1 (n, 3, 3), the span's frames, its numbers X and the
numbers D of its viscosity, which is multiplied by `ratio` = 1/h, or 0. A form writes to K (MATRIX_ROWS, 6 MOST_FRAMES), with 6
columns a frame (force, torque). If `tangent`, the first rows are the derivatives of the forces to dr and eta, one row for each of
these. Then follow the strains at start and end, 6 a point, and the forces. The remaining rows are scratch.

A form may evaluate eight spans of a linear material at once, in SIMD lanes (`rigid.lanes`):

    lane_forces(r, dr, R0, R1, addresses, X, D, ratio, tangent, K)

with `addresses` (:, 8) instead of frames, the numbers X, D of all spans and K (MATRIX_ROWS, 6 MOST_FRAMES, 8); all eight have one
order. The formulas are the same: the functions here that read and write depend on the number of axes of K or `frames`.
"""

from numba import types

from discretization.space.interpolation import MOST
from discretization.space.laws import AXIAL, GENERAL
from discretization.space.laws.functions import quotient_of_number, stress_of_number
from discretization.space.rod_gauss_points import (
    BEHIND,
    FIRST,
    INVARIANT,
    LAW,
    POINT,
    STRAIN0,
    general_between,
    invariant_of,
    six,
    stress_of,
    unloaded,
    viscous_between,
)
from rigid.compilation.decorators import function_at, inline_kernel
from rigid.interactions.kinds import COMPLEX_STEP, whole
from rigid.lanes import WIDTH, choose, load, numbers6, rows3, rows9, store
from rigid.linear_algebra import apply, average, matrix_plus, matrix_times, minus, outer, plus, times

F1, F2, F3 = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]
I1, I2 = types.int64[::1], types.int64[:, ::1]
FORCES = types.void(F2, F2, F3, F3, I1, F1, F1, types.float64, types.boolean, F2)
forces_at = function_at(FORCES)
LANE_FORCES = types.void(F2, F2, F3, F3, I2, F1, F1, types.float64, types.boolean, F3)
lane_forces_at = function_at(LANE_FORCES)
STRAINS_START, STRAINS_END, FORCE, NODES = (
    6 * (MOST + 1) + 0,
    6 * (MOST + 1) + 1,
    6 * (MOST + 1) + 2,
    6 * (MOST + 1) + 3,
)
MORE = NODES + MOST + 1
SUMS = MORE + MOST + 1
MATRIX_ROWS = SUMS + 6 * (MOST + 1)


# rows of `addresses` of eight spans: frames, number of each span, offset of its numbers, whether a stiffness is not diagonal
FRAMES, SPAN, NUMBERS, FULL = 0, MOST + 1, MOST + 2, MOST + 3


@inline_kernel
def number_at(K, i, j):
    """Return K[i, j]; lanes if K (rows, columns, 8) holds eight spans."""
    if K.ndim == 2:
        return K[i, j]
    return load(K, (i * K.shape[1] + j) * WIDTH)


@inline_kernel
def set_entry(x, K, i, j):
    """Set K[i, j] = x."""
    if K.ndim == 2:
        K[i, j] = x
    else:
        store(x, K, (i * K.shape[1] + j) * WIDTH)


@inline_kernel
def nothing(K):
    """Return zero of the type of the entries of K, a number or lanes."""
    if K.ndim == 2:
        return 0.0
    return choose(0.0, 0.0, 0, WIDTH)


@inline_kernel
def vector_at(K, row, i):
    """Return K[row, i:i + 3]."""
    return number_at(K, row, i), number_at(K, row, i + 1), number_at(K, row, i + 2)


@inline_kernel
def put_vector(x, K, row, i):
    """Set K[row, i:i + 3] = x."""
    set_entry(x[0], K, row, i)
    set_entry(x[1], K, row, i + 1)
    set_entry(x[2], K, row, i + 2)


@inline_kernel
def vector_of(x, frames, a):
    """Return row frames[a] of x (n, 3); lanes if frames (rows, 8) are those of eight spans."""
    if frames.ndim == 1:
        f = frames[a]
        return x[f, 0], x[f, 1], x[f, 2]
    return rows3(x, frames, (FRAMES + a) * WIDTH)


@inline_kernel
def rotation_of(R, frames, a):
    """Return R[frames[a]] of rotations (n, 3, 3); frames as in `vector_of`."""
    if frames.ndim == 1:
        return matrix_at(R, frames[a])
    return rows9(R, frames, (FRAMES + a) * WIDTH)


@inline_kernel
def matrix_at(R, f):
    """Return R[f] of an array (n, 3, 3)."""
    return (
        R[f, 0, 0], R[f, 0, 1], R[f, 0, 2], R[f, 1, 0], R[f, 1, 1], R[f, 1, 2], R[f, 2, 0], R[f, 2, 1], R[f, 2, 2]
    )  # fmt: skip


@inline_kernel
def add_to(K, row, i, x):
    """Add x to K[row, i:i + 3]."""
    put_vector(plus(vector_at(K, row, i), x), K, row, i)


@inline_kernel
def add_block_to(K, column, row, A):
    """Add A to a 3 x 3 block of the derivatives, which are stored column by column."""
    add_to(K, column, row, (A[0], A[3], A[6]))
    add_to(K, column + 1, row, (A[1], A[4], A[7]))
    add_to(K, column + 2, row, (A[2], A[5], A[8]))


@inline_kernel
def _eight_stiffnesses(X, addresses, g):
    """Return the blocks NN, NM, MN, MM of the stiffness or the viscosity of point g of eight spans."""
    first, at = NUMBERS * WIDTH, FIRST + POINT * g
    a, b = numbers6(X, addresses, first, at), numbers6(X, addresses, first, at + 6)
    c, d = numbers6(X, addresses, first, at + 12), numbers6(X, addresses, first, at + 18)
    e, f = numbers6(X, addresses, first, at + 24), numbers6(X, addresses, first, at + 30)
    return (
        (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]),
        (a[3], a[4], a[5], b[3], b[4], b[5], c[3], c[4], c[5]),
        (d[0], d[1], d[2], e[0], e[1], e[2], f[0], f[1], f[2]),
        (d[3], d[4], d[5], e[3], e[4], e[5], f[3], f[4], f[5]),
    )


@inline_kernel
def _applied(blocks, Gamma, K):
    """Return N, M of the blocks applied to Gamma, K."""
    NN, NM, MN, MM = blocks
    return plus(apply(NN, Gamma), apply(NM, K)), plus(apply(MN, Gamma), apply(MM, K))


@inline_kernel
def stress_over_step(frames, X, D, ratio, g, Gamma0, K0, Gamma1, K1):
    """Return N, M as `stress_at` does; for eight spans, which are all linear, X, D are the numbers of all spans."""
    if frames.ndim == 1:
        return stress_at(X, D, ratio, g, Gamma0, K0, Gamma1, K1)
    first, at = NUMBERS * WIDTH, FIRST + POINT * g
    e = numbers6(X, frames, first, at + STRAIN0)
    Gamma, K = (e[0], e[1], e[2]), (e[3], e[4], e[5])
    Gamma = average(minus(Gamma0, Gamma), minus(Gamma1, Gamma))
    K = average(minus(K0, K), minus(K1, K))
    N, M = _applied(_eight_stiffnesses(X, frames, g), Gamma, K)
    if ratio != 0.0:
        n, m = _applied(_eight_stiffnesses(D, frames, g), minus(Gamma1, Gamma0), minus(K1, K0))
        b = numbers6(D, frames, first, at + BEHIND)
        N = plus(N, times(ratio, plus(n, (b[0], b[1], b[2]))))
        M = plus(M, times(ratio, plus(m, (b[3], b[4], b[5]))))
    return N, M


@inline_kernel
def blocks_over_step(frames, X, D, ratio, weight, g, Gamma0, K0, Gamma1, K1):
    """Return the stress derivatives as `blocks_at` does; arguments for eight spans as in `stress_over_step`."""
    if frames.ndim == 1:
        return blocks_at(X, D, ratio, weight, g, Gamma0, K0, Gamma1, K1)
    NN, NM, MN, MM = _eight_stiffnesses(X, frames, g)
    s = 0.5 * weight
    NN, NM, MN, MM = matrix_times(s, NN), matrix_times(s, NM), matrix_times(s, MN), matrix_times(s, MM)
    if ratio != 0.0:
        nn, nm, mn, mm = _eight_stiffnesses(D, frames, g)
        s = ratio * weight
        NN, NM = matrix_plus(NN, matrix_times(s, nn)), matrix_plus(NM, matrix_times(s, nm))
        MN, MM = matrix_plus(MN, matrix_times(s, mn)), matrix_plus(MM, matrix_times(s, mm))
    return NN, NM, MN, MM


@inline_kernel
def mixed(frames, blocks):
    """Return True if the blocks of `blocks_over_step` must be treated as full matrices."""
    if frames.ndim == 1:
        return coupled(blocks)
    return frames[FULL, 0] != 0


@inline_kernel
def law_between(X, g, Gamma0, K0, Gamma1, K1):
    """Return phi[x0, x1] of the law at point g and its derivative to x1, between strains less the stress-free ones."""
    at = FIRST + POINT * g
    if whole(X[at + LAW]) == 0:
        return 0.0, 0.0
    quotient = quotient_of_number(whole(X[at + LAW]), X)
    x0, x1 = invariant_of(Gamma0, K0, X, at), invariant_of(Gamma1, K1, X, at)
    s = quotient(x0 + 0j, x1 + COMPLEX_STEP * 1j, X, at)
    return s.real, s.imag / COMPLEX_STEP


@inline_kernel
def stress_at(X, D, ratio, g, Gamma0, K0, Gamma1, K1):
    """Return N, M of point g: elastic between the strains at both ends, plus `ratio` times viscous of their change."""
    N, M = elastic_at(X, g, Gamma0, K0, Gamma1, K1)
    if ratio != 0.0:
        viscous = viscous_between(Gamma0, K0, Gamma1, K1, D, g)
        N, M = plus(N, times(ratio, viscous[0])), plus(M, times(ratio, viscous[1]))
    return N, M


@inline_kernel
def elastic_at(X, g, Gamma0, K0, Gamma1, K1):
    """Return the elastic N, M of point g between the strains at both ends."""
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


@inline_kernel
def _general_column(X, at, e0, e1, j):
    """Return the derivative of the stresses of a W in all strains to strain j at the end, by a complex step."""
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


@inline_kernel
def _of_columns(s, a, b, c):
    """Return s times the matrix with the columns a, b, c."""
    return s * a[0], s * b[0], s * c[0], s * a[1], s * b[1], s * c[1], s * a[2], s * b[2], s * c[2]


@inline_kernel
def _general_blocks(X, D, ratio, weight, g, e0, e1):
    """Return the stress derivatives as `blocks_at` does, for a W in all strains."""
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


@inline_kernel
def blocks_at(X, D, ratio, weight, g, Gamma0, K0, Gamma1, K1):
    """Return the derivatives of the stresses, times the weight, to the strains at the end: NN, NM, MN, MM."""
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


@inline_kernel
def scaled_block(X, s, g, row, column):
    """Return s times a 3 x 3 block of the stiffness or the viscosity of point g."""
    at = FIRST + POINT * g + 6 * row + column
    return (
        s * X[at], s * X[at + 1], s * X[at + 2],
        s * X[at + 6], s * X[at + 7], s * X[at + 8],
        s * X[at + 12], s * X[at + 13], s * X[at + 14],
    )  # fmt: skip


@inline_kernel
def coupled(blocks):
    """Return True if the blocks of `blocks_at` are anything but diagonals of NN and MM."""
    A, B, C, D = blocks
    off_diagonal = abs(A[1]) + abs(A[2]) + abs(A[3]) + abs(A[5]) + abs(A[6]) + abs(A[7])
    off_diagonal += abs(D[1]) + abs(D[2]) + abs(D[3]) + abs(D[5]) + abs(D[6]) + abs(D[7])
    for i in range(9):
        off_diagonal += abs(B[i]) + abs(C[i])
    return off_diagonal != 0.0


@inline_kernel
def block_of(X, D, ratio, weight, g, row, column):
    """Return weight (C/2 + ratio D): a block of the derivative of the stresses to the strains at the end."""
    elastic = scaled_block(X, 0.5 * weight, g, row, column)
    if ratio == 0.0:
        return elastic
    return matrix_plus(elastic, scaled_block(D, ratio * weight, g, row, column))
