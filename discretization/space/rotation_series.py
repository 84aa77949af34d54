"""Functions of a rotation by the rotation vector x = theta n, |n| = 1, as power series in u = x . x.

A rotation R acts on a vector q, and changes with x, as

    R^T q = q - alpha x x q + beta x x (x x q)                                                                          (1)
    axial(R^T R') = alpha x' + delta (x . x') x - beta x x x'                                                           (2)
    alpha = sin(theta)/theta,   beta = (1 - cos(theta))/u,   delta = (1 - alpha)/u                                      (3)
          = sum of (-u)^k/(2k + 1)!,       (-u)^k/(2k + 2)!,         (-u)^k/(2k + 3)!

The series converge for every u. Their divided differences are evaluated by Horner's rule, so that no digits cancel, for any two
rotations below pi.
"""

from math import factorial

import numpy as np

from discretization.space.strain_functions import polynomial_differences
from rigid.compilation.decorators import inline_kernel
from rigid.lanes import largest

TERMS = 16  # highest power of the series: its term is 1e-17 at u = 10
SINE, COSINE, CUBIC = (
    np.array([(-1.0) ** k / factorial(2 * k + i) for k in range(TERMS + 1)]) for i in (1, 2, 3)
)


@inline_kernel
def _terms(u):
    """Return the highest power of the series that contributes at `u`."""
    if u < 0.25:
        return 7
    return 10 if u < 2.0 else TERMS


@inline_kernel
def rotation_differences(u0, u1):
    """Return F(u0), F(u1), F'(u1), F[u0,u1], F[u0,u1,u1] for each of F = alpha, beta, delta; u0, u1 >= 0: numbers or lanes."""
    n = _terms(max(largest(u0), largest(u1)))
    return (
        polynomial_differences(SINE, n, u0, u1),
        polynomial_differences(COSINE, n, u0, u1),
        polynomial_differences(CUBIC, n, u0, u1),
    )


@inline_kernel
def complex_rotation_differences(u0, u1):
    """Return F(u0), F(u1), F'(u1), F[u0,u1], F[u0,u1,u1] for each of F = alpha, beta, delta at complex u0, u1."""
    return (
        polynomial_differences(SINE, TERMS, u0, u1),
        polynomial_differences(COSINE, TERMS, u0, u1),
        polynomial_differences(CUBIC, TERMS, u0, u1),
    )
