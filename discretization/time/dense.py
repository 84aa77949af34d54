"""Small dense linear algebra of integrators: in place, no allocation."""

from rigid.compilation import small_kernel


@small_kernel
def copy(x, out):
    """out = x."""
    for i in range(out.size):
        out[i] = x[i]


@small_kernel
def mean(a, b, out):
    """out = (a + b)/2."""
    for i in range(out.size):
        out[i] = 0.5 * (a[i] + b[i])


@small_kernel
def difference(a, b, out):
    """out = a - b."""
    for i in range(out.size):
        out[i] = a[i] - b[i]


@small_kernel
def inner(a, b):
    """a . b, without conjugation: it must stay analytic."""
    s = 0j
    for i in range(a.size):
        s += a[i] * b[i]
    return s


@small_kernel
def multiply(A, x, out):
    """out = A x."""
    for i in range(A.shape[0]):
        s = 0j
        for j in range(A.shape[1]):
            s += A[i, j] * x[j]
        out[i] = s


@small_kernel
def multiply_transposed(A, x, out):
    """out = A^T x."""
    for j in range(A.shape[1]):
        out[j] = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[j] += A[i, j] * x[i]


@small_kernel
def solve(A, x):
    """x = A^-1 x by elimination with row pivoting; A (n, n) is overwritten, real or complex. 0, or 1 if singular."""
    n = x.size
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(A[i, k].real) > abs(A[pivot, k].real):
                pivot = i
        if not abs(A[pivot, k].real) > 0.0:
            return 1
        if pivot != k:
            for j in range(k, n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            x[k], x[pivot] = x[pivot], x[k]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            factor = A[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= factor * A[k, j]
                x[i] -= factor * x[k]
    for k in range(n - 1, -1, -1):
        s = x[k]
        for j in range(k + 1, n):
            s -= A[k, j] * x[j]
        x[k] = s / A[k, k]
    return 0
