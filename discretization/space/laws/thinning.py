"""Axial law of a section that conserves its volume, as in PyElastica: N = EA (1 - 1/e) at the stretch e = 1 + Gamma.

phi = EA (x - log(1 + x) - x^2/2),   phi[x0, x1] = EA (1 - log(1 + d)/((1 + x0) d) - (x0 + x1)/2),  d = (x1 - x0)/(1 + x0)
"""

import numpy as np

from discretization.space.laws.functions import energy_function, quotient_function
from rigid.compilation.decorators import inline_kernel


@inline_kernel
def log_quotient(d):
    """Return log(1 + d)/d; near zero by its series."""
    if abs(d.real) > 0.01:
        return np.log(1.0 + d) / d
    s = 0j
    for k in range(9, 0, -1):
        s = 1.0 / k - d * s
    return s


@energy_function
def energy(x, X, at):
    """Return phi(x)."""
    return X[at] * (x - x * log_quotient(x) - 0.5 * x * x)


@quotient_function
def quotient(x0, x1, X, at):
    """Return phi[x0, x1], or NaN if the rod has no length left, so that the step is halved."""
    if x0.real <= -1.0 or x1.real <= -1.0:
        return complex(np.nan)
    d = (x1 - x0) / (1.0 + x0)
    return X[at] * (1.0 - log_quotient(d) / (1.0 + x0) - 0.5 * (x0 + x1))
