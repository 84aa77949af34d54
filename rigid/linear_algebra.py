"""Compute with 3-vectors and 3 x 3 matrices in kernels, as tuples of 3 and of 9 floats (row by row).

Tuples live in registers: a product of two matrices costs a quarter of its cost with small arrays, and nothing aliases. `load_*`
and `store_*` convert from and to arrays.
"""

import math

from rigid.compilation.decorators import inline_kernel


@inline_kernel
def load3(x):
    """Load a vector from an array (3,)."""
    return x[0], x[1], x[2]


@inline_kernel
def load9(A):
    """Load a matrix from an array (3, 3)."""
    return A[0, 0], A[0, 1], A[0, 2], A[1, 0], A[1, 1], A[1, 2], A[2, 0], A[2, 1], A[2, 2]


@inline_kernel
def load_block(A, i, j):
    """Load a matrix from the 3 x 3 block of an array whose first entry is (i, j)."""
    return (
        A[i, j], A[i, j + 1], A[i, j + 2],
        A[i + 1, j], A[i + 1, j + 1], A[i + 1, j + 2],
        A[i + 2, j], A[i + 2, j + 1], A[i + 2, j + 2],
    )  # fmt: skip


@inline_kernel
def store3(x, out):
    """Store x in an array, out (3,) = x."""
    out[0], out[1], out[2] = x


@inline_kernel
def add3(x, out):
    """Add x to an array, out (3,) += x."""
    out[0] += x[0]
    out[1] += x[1]
    out[2] += x[2]


@inline_kernel
def store_block(A, out, i, j):
    """Store A in the 3 x 3 block of `out` whose first entry is (i, j)."""
    out[i, j], out[i, j + 1], out[i, j + 2] = A[0], A[1], A[2]
    out[i + 1, j], out[i + 1, j + 1], out[i + 1, j + 2] = A[3], A[4], A[5]
    out[i + 2, j], out[i + 2, j + 1], out[i + 2, j + 2] = A[6], A[7], A[8]


@inline_kernel
def add_block(A, values, at, stride):
    """Add A to a block of a matrix stored by columns: values[at + i + j stride] += A_ij."""
    values[at] += A[0]
    values[at + 1] += A[3]
    values[at + 2] += A[6]
    at += stride
    values[at] += A[1]
    values[at + 1] += A[4]
    values[at + 2] += A[7]
    at += stride
    values[at] += A[2]
    values[at + 1] += A[5]
    values[at + 2] += A[8]


@inline_kernel
def dot(a, b):
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline_kernel
def cross(a, b):
    """Return a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inline_kernel
def plus(a, b):
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inline_kernel
def minus(a, b):
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline_kernel
def times(s, a):
    """Return s a."""
    return s * a[0], s * a[1], s * a[2]


@inline_kernel
def real(v):
    """Return the real parts of a vector."""
    return v[0].real, v[1].real, v[2].real


@inline_kernel
def square_root(z):
    """Return sqrt(z) of a sum of squares, real or with a complex step, which is small compared with the real part."""
    root = math.sqrt(z.real) if z.real > 0.0 else 0.0
    return root + (0.5 / root if root > 0.0 else 0.0) * (z - z.real)


@inline_kernel
def average(a, b):
    """Return (a + b)/2."""
    return 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])


@inline_kernel
def apply(A, x):
    """Return A x."""
    return (
        A[0] * x[0] + A[1] * x[1] + A[2] * x[2],
        A[3] * x[0] + A[4] * x[1] + A[5] * x[2],
        A[6] * x[0] + A[7] * x[1] + A[8] * x[2],
    )


@inline_kernel
def apply_transposed(A, x):
    """Return A^T x."""
    return (
        A[0] * x[0] + A[3] * x[1] + A[6] * x[2],
        A[1] * x[0] + A[4] * x[1] + A[7] * x[2],
        A[2] * x[0] + A[5] * x[1] + A[8] * x[2],
    )


@inline_kernel
def transpose(A):
    """Return A^T."""
    return A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]


@inline_kernel
def product(A, B):
    """Return A B."""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@inline_kernel
def product_transposed(A, B):
    """Return A B^T."""
    return product(A, transpose(B))


@inline_kernel
def transposed_product(A, B):
    """Return A^T B."""
    return product(transpose(A), B)


@inline_kernel
def matrix_plus(A, B):
    """Return A + B."""
    return (
        A[0] + B[0], A[1] + B[1], A[2] + B[2], A[3] + B[3], A[4] + B[4],
        A[5] + B[5], A[6] + B[6], A[7] + B[7], A[8] + B[8],
    )  # fmt: skip


@inline_kernel
def matrix_minus(A, B):
    """Return A - B."""
    return (
        A[0] - B[0], A[1] - B[1], A[2] - B[2], A[3] - B[3], A[4] - B[4],
        A[5] - B[5], A[6] - B[6], A[7] - B[7], A[8] - B[8],
    )  # fmt: skip


@inline_kernel
def matrix_times(s, A):
    """Return s A."""
    return s * A[0], s * A[1], s * A[2], s * A[3], s * A[4], s * A[5], s * A[6], s * A[7], s * A[8]


@inline_kernel
def matrix_average(A, B):
    """Return (A + B)/2."""
    return matrix_times(0.5, matrix_plus(A, B))


@inline_kernel
def plus_identity(A, s):
    """Return A + s I."""
    return A[0] + s, A[1], A[2], A[3], A[4] + s, A[5], A[6], A[7], A[8] + s


@inline_kernel
def outer(a, b):
    """Return a b^T."""
    return (
        a[0] * b[0], a[0] * b[1], a[0] * b[2], a[1] * b[0], a[1] * b[1],
        a[1] * b[2], a[2] * b[0], a[2] * b[1], a[2] * b[2],
    )  # fmt: skip


@inline_kernel
def hat(a):
    """Return the matrix hat(a), with hat(a) x = a x x."""
    return 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0


@inline_kernel
def hat_times(a, X):
    """Return hat(a) X; its columns are a x X_j."""
    return (
        a[1] * X[6] - a[2] * X[3], a[1] * X[7] - a[2] * X[4], a[1] * X[8] - a[2] * X[5],
        a[2] * X[0] - a[0] * X[6], a[2] * X[1] - a[0] * X[7], a[2] * X[2] - a[0] * X[8],
        a[0] * X[3] - a[1] * X[0], a[0] * X[4] - a[1] * X[1], a[0] * X[5] - a[1] * X[2],
    )  # fmt: skip


@inline_kernel
def times_hat(X, a):
    """Return X hat(a); its rows are X_i x a."""
    return (
        X[1] * a[2] - X[2] * a[1], X[2] * a[0] - X[0] * a[2], X[0] * a[1] - X[1] * a[0],
        X[4] * a[2] - X[5] * a[1], X[5] * a[0] - X[3] * a[2], X[3] * a[1] - X[4] * a[0],
        X[7] * a[2] - X[8] * a[1], X[8] * a[0] - X[6] * a[2], X[6] * a[1] - X[7] * a[0],
    )  # fmt: skip


@inline_kernel
def scaled(C, x):
    """Return C x of a diagonal matrix C."""
    return C[0] * x[0], C[4] * x[1], C[8] * x[2]


@inline_kernel
def scaled_rows(C, X):
    """Return C X of a diagonal matrix C."""
    return (
        C[0] * X[0], C[0] * X[1], C[0] * X[2], C[4] * X[3], C[4] * X[4],
        C[4] * X[5], C[8] * X[6], C[8] * X[7], C[8] * X[8],
    )  # fmt: skip


@inline_kernel
def twice_axial(A):
    """Return (A32 - A23, A13 - A31, A21 - A12), twice the axial vector of A."""
    return A[7] - A[5], A[2] - A[6], A[3] - A[1]


@inline_kernel
def trace(A):
    """Return tr A."""
    return A[0] + A[4] + A[8]


@inline_kernel
def dyad(a, b):
    """Return a b^T - (a . b) I, the matrix of eta -> (eta x a) x b."""
    return plus_identity(outer(a, b), -dot(a, b))


@inline_kernel
def turned_right(a, b):
    """Return the matrix of eta -> a x (eta x b)."""
    return matrix_times(-1.0, transpose(dyad(a, b)))


@inline_kernel
def add_at(values, base, stride, row, column, factor, A):
    """Add factor A to the sub-block (row, column) of a 6 x 6 block of two frames' unknowns; 0 is the position, 1 the rotation.

    The matrix is stored by columns: the block begins at values[base], and columns are `stride` apart.
    """
    add_block(matrix_times(factor, A), values, base + 3 * row + 3 * column * stride, stride)
