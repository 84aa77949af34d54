"""Helper functions for a user's kind, in addition to the vectors of `rigid.linear_algebra`.

Poses and duals are arrays (frames, 4, 3).
"""

import cmath

from rigid.compilation.decorators import inline_kernel
from rigid.linear_algebra import dot


@inline_kernel
def norm(a):
    """Return the norm |a| as the square root of a . a, which accepts complex steps."""
    return cmath.sqrt(dot(a, a))


@inline_kernel
def along(y, k, U):
    """Return the direction sum_i U_i d_i in inertial axes; U (3,): components in the axes of frame k."""
    a = y[k]
    return (
        U[0] * a[1, 0] + U[1] * a[2, 0] + U[2] * a[3, 0],
        U[0] * a[1, 1] + U[1] * a[2, 1] + U[2] * a[3, 1],
        U[0] * a[1, 2] + U[1] * a[2, 2] + U[2] * a[3, 2],
    )


@inline_kernel
def push(out, k, f):
    """Add f to the dual of the position of anchor k: minus the force on it, N."""
    for l in range(3):
        out[k, 0, l] += f[l]


@inline_kernel
def turn(out, k, U, f):
    """Add f to the dual of the direction `along(y, k, U)`."""
    for l in range(3):
        for i in range(3):
            out[k, 1 + i, l] += U[i] * f[l]
