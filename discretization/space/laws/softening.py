"""Bending law that softens towards a largest moment: M = EI K/sqrt(1 + (EI K/moment)^2) if both EI are the same.

With w = moment^2/sqrt(EI_2 EI_3),

    phi = w (sqrt(1 + 2 x/w) - 1) - x,   phi[x0, x1] = 2/(sqrt(1 + 2 x0/w) + sqrt(1 + 2 x1/w)) - 1
"""

import numpy as np

from discretization.space.laws.functions import PARAMETERS, energy_function, quotient_function
from rigid.compilation.decorators import inline_kernel


@inline_kernel
def root(x, X, at):
    """Return sqrt(1 + 2 x/w) and w."""
    w = X[at + PARAMETERS] ** 2 / np.sqrt(X[at + 28] * X[at + 35])
    return np.sqrt(1.0 + 2.0 * x / w), w


@energy_function
def energy(x, X, at):
    """Return phi(x) = 2 x/(root + 1) - x."""
    return 2.0 * x / (root(x, X, at)[0] + 1.0) - x


@quotient_function
def quotient(x0, x1, X, at):
    """Return the divided difference phi[x0, x1]."""
    return 2.0 / (root(x0, X, at)[0] + root(x1, X, at)[0]) - 1.0
