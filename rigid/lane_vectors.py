"""Load and store vectors, quaternions and matrices of lanes in an array: numbers from offset k on, eight items side by side."""

from rigid.compilation.decorators import always_inline_kernel
from rigid.lanes import WIDTH, load, store


@always_inline_kernel
def load3_at(x, k):
    """Load a vector of lanes from offset k of an array."""
    at = k * WIDTH
    return load(x, at), load(x, at + WIDTH), load(x, at + 2 * WIDTH)


@always_inline_kernel
def load4_at(x, k):
    """Load a quaternion of lanes from offset k of an array."""
    at = k * WIDTH
    return load(x, at), load(x, at + WIDTH), load(x, at + 2 * WIDTH), load(x, at + 3 * WIDTH)


@always_inline_kernel
def load9_at(x, k):
    """Load a matrix of lanes, row by row, from offset k of an array."""
    a, b, c = load3_at(x, k), load3_at(x, k + 3), load3_at(x, k + 6)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@always_inline_kernel
def store3_at(v, x, k):
    """Store a vector of lanes at offset k of an array."""
    at = k * WIDTH
    store(v[0], x, at)
    store(v[1], x, at + WIDTH)
    store(v[2], x, at + 2 * WIDTH)


@always_inline_kernel
def store4_at(q, x, k):
    """Store a quaternion of lanes at offset k of an array."""
    store3_at((q[0], q[1], q[2]), x, k)
    store(q[3], x, (k + 3) * WIDTH)


@always_inline_kernel
def store9_at(A, x, k):
    """Store a matrix of lanes, row by row, at offset k of an array."""
    store3_at((A[0], A[1], A[2]), x, k)
    store3_at((A[3], A[4], A[5]), x, k + 3)
    store3_at((A[6], A[7], A[8]), x, k + 6)
