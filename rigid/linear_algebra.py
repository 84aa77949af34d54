"""Small vectors and 3 x 3 matrices for the kernels. Results go to `out`, which is never one of the inputs."""

from rigid.compilation import small_kernel


@small_kernel
def cross(a, b, out):
    """out = a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@small_kernel
def dot(a, b):
    """a . b of 3-vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@small_kernel
def apply(A, x, out):
    """out = A x."""
    for i in range(3):
        out[i] = A[i, 0] * x[0] + A[i, 1] * x[1] + A[i, 2] * x[2]


@small_kernel
def apply_transposed(A, x, out):
    """out = A^T x."""
    for i in range(3):
        out[i] = A[0, i] * x[0] + A[1, i] * x[1] + A[2, i] * x[2]


@small_kernel
def product(A, B, out):
    """out = A B."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]


@small_kernel
def product_transposed(A, B, out):
    """out = A B^T."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[j, 0] + A[i, 1] * B[j, 1] + A[i, 2] * B[j, 2]


@small_kernel
def transposed_product(A, B, out):
    """out = A^T B."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[0, i] * B[0, j] + A[1, i] * B[1, j] + A[2, i] * B[2, j]


@small_kernel
def hat_product(a, B, out):
    """out = hat(a) B, the columns a x b_j."""
    for j in range(3):
        out[0, j] = a[1] * B[2, j] - a[2] * B[1, j]
        out[1, j] = a[2] * B[0, j] - a[0] * B[2, j]
        out[2, j] = a[0] * B[1, j] - a[1] * B[0, j]


@small_kernel
def transposed_hat_product(A, a, out):
    """out = A^T hat(a)."""
    for i in range(3):
        out[i, 0] = A[1, i] * a[2] - A[2, i] * a[1]
        out[i, 1] = A[2, i] * a[0] - A[0, i] * a[2]
        out[i, 2] = A[0, i] * a[1] - A[1, i] * a[0]


@small_kernel
def mean(A, B, out):
    """out = (A + B)/2 of 3 x 3 matrices."""
    for i in range(3):
        for j in range(3):
            out[i, j] = 0.5 * (A[i, j] + B[i, j])
