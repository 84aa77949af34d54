"""Axial law of a string that carries no compression: N = EA Gamma for Gamma > 0, else 0.

phi = -EA m(x)^2/2,   phi[x0, x1] = -EA (m0 + m1)/2 (m1 - m0)/(x1 - x0),   m(x) = min(x, 0)
"""

from discretization.space.laws.functions import energy_function, quotient_function
from rigid.compilation.decorators import inline_kernel


@inline_kernel
def _compressed(x):
    """Return min(x, 0)."""
    return x if x.real < 0.0 else 0.0 * x


@energy_function
def energy(x, X, at):
    """Return phi(x)."""
    m = _compressed(x)
    return -0.5 * X[at] * m * m


@quotient_function
def quotient(x0, x1, X, at):
    """Return the divided difference phi[x0, x1]."""
    m0, m1 = _compressed(x0), _compressed(x1)
    if (x0.real < 0.0) == (x1.real < 0.0):
        return -0.5 * X[at] * (m0 + m1)
    return -0.5 * X[at] * (m0 + m1) * ((m1 - m0) / (x1 - x0))
