"""A turn by x = theta n, |n| = 1: what it does to vectors and how it changes, by power series in u = x . x.

    R^T q = q - alpha x x q + beta x x (x x q)                                                                          (1)
    axial(R^T R') = alpha x' + delta (x . x') x - beta x x x'                                                           (2)
    alpha = sin(theta)/theta,   beta = (1 - cos(theta))/u,   delta = (1 - alpha)/u                                      (3)
          = sum of (-u)^k/(2k + 1)!,       (-u)^k/(2k + 2)!,         (-u)^k/(2k + 3)!

The series hold for every u; with their divided differences by Horner's rule nothing cancels, for any two turns below pi.
"""

from math import factorial

import numpy as np

from discretization.space.strain_functions import polynomial_differences
from rigid.compilation.decorators import small_kernel
from rigid.lanes import largest

TERMS = 16  # of the highest power: 1e-17 at u = 10
SINE, COSINE, CUBIC = (
    np.array([(-1.0) ** k / factorial(2 * k + i) for k in range(TERMS + 1)]) for i in (1, 2, 3)
)


@small_kernel
def _terms(u):
    """The highest power that counts."""
    if u < 0.25:
        return 7
    return 10 if u < 2.0 else TERMS


@small_kernel
def turn_differences(u0, u1):
    """Of alpha, beta and delta each: F(u0), F(u1), F'(u1), F[u0,u1], F[u0,u1,u1]; of numbers or lanes."""
    n = _terms(max(largest(u0), largest(u1)))
    return (
        polynomial_differences(SINE, n, u0, u1),
        polynomial_differences(COSINE, n, u0, u1),
        polynomial_differences(CUBIC, n, u0, u1),
    )


@small_kernel
def complex_turn_differences(u0, u1):
    """The same where u0 and u1 are complex."""
    return (
        polynomial_differences(SINE, TERMS, u0, u1),
        polynomial_differences(COSINE, TERMS, u0, u1),
        polynomial_differences(CUBIC, TERMS, u0, u1),
    )
