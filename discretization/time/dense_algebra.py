"""Small dense linear algebra of integrators: in place, no allocation."""

from rigid.compilation.decorators import inline_kernel


@inline_kernel
def copy(x, out):
    """Compute out = x."""
    for i in range(out.size):
        out[i] = x[i]


@inline_kernel
def mean(a, b, out):
    """Compute out = (a + b)/2."""
    for i in range(out.size):
        out[i] = 0.5 * (a[i] + b[i])


@inline_kernel
def difference(a, b, out):
    """Compute out = a - b."""
    for i in range(out.size):
        out[i] = a[i] - b[i]


@inline_kernel
def inner(a, b):
    """Return a . b, without conjugation: it must stay analytic."""
    s = 0j
    for i in range(a.size):
        s += a[i] * b[i]
    return s


@inline_kernel
def multiply(A, x, out):
    """Compute out = A x."""
    for i in range(A.shape[0]):
        s = 0j
        for j in range(A.shape[1]):
            s += A[i, j] * x[j]
        out[i] = s


@inline_kernel
def multiply_transposed(A, x, out):
    """Compute out = A^T x."""
    for j in range(A.shape[1]):
        out[j] = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[j] += A[i, j] * x[i]


@inline_kernel
def solve(A, x):
    """Compute x = A^-1 x by elimination with row pivoting; A (n, n), real or complex, is overwritten.

    Return 0, or 1 if A is singular.
    """
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


@inline_kernel
def factor(A, scale, pivots):
    """Compute the LU factors of a real matrix in place, after dividing each row by its largest entry.

    `scale` receives the inverses of these entries. Return 0, or 1 if the matrix is singular.
    """
    n = pivots.size
    for i in range(n):
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(A[i, j]))
        if not largest > 0.0:
            return 1
        scale[i] = 1.0 / largest
        for j in range(n):
            A[i, j] *= scale[i]
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[pivot, k]):
                pivot = i
        pivots[k] = pivot
        if not abs(A[pivot, k]) > 0.0:
            return 1
        if pivot != k:
            for j in range(n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                A[i, k] *= inverse
                for j in range(k + 1, n):
                    A[i, j] -= A[i, k] * A[k, j]
    return 0


@inline_kernel
def substitute(A, scale, pivots, x):
    """Compute x = A^-1 x with the factors of `factor`."""
    n = x.size
    for i in range(n):
        x[i] *= scale[i]
    for k in range(n):
        pivot = pivots[k]
        if pivot != k:
            x[k], x[pivot] = x[pivot], x[k]
    for k in range(n):
        for i in range(k + 1, n):
            x[i] -= A[i, k] * x[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            x[k] -= A[k, j] * x[j]
        x[k] /= A[k, k]
