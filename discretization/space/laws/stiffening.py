"""Axial stiffening law: N = EA Gamma (1 + (Gamma/strain)^2), which doubles the force at Gamma = strain.

phi = EA x^4/(4 strain^2),   phi[x0, x1] = EA (x0 + x1)(x0^2 + x1^2)/(4 strain^2)
"""

from discretization.space.laws.functions import PARAMETERS, energy_function, quotient_function


@energy_function
def energy(x, X, at):
    """Return phi(x)."""
    s, square = X[at + PARAMETERS], x * x  # a complex power would not keep a real x real
    return X[at] * square * square / (4.0 * s * s)


@quotient_function
def quotient(x0, x1, X, at):
    """Return the divided difference phi[x0, x1]."""
    s = X[at + PARAMETERS]
    return X[at] * (x0 + x1) * (x0 * x0 + x1 * x1) / (4.0 * s * s)
