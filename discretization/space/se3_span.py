"""SE(3) rod element with a nonlinear material: a span between two frames with one point, in the middle.

Strains and the dual of a stress are those of `se3_dual`. The work of that dual is L times stress . (change of the strains) for
any stress, so that the energy is exact with a stress whose work is W1 - W0 of the law (`rod_gauss_points.stress_between`). The
layout of the numbers is that of `rod_gauss_points`, so that laws and viscosities are implemented once for all elements.
"""

from discretization.space.rod_gauss_points import (
    LENGTH,
    actuation,
    energy_of,
    stress_between,
    unloaded,
    viscous_between,
    viscous_of_rates,
)
from discretization.space.se3_dual import actuation_dual, ends_of, spread, strain_rates
from discretization.space.se3_dual import strains_of as strains_of_ends
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import Kind, dissipation, dual_function, no_bend, value_function
from rigid.linear_algebra import times


@inline_kernel
def _strains(y, X):
    """Return Gamma, K less the stress-free strains."""
    L = X[LENGTH]
    at, _, functions = ends_of(y, y, L)
    Gamma, K, _, _ = strains_of_ends(at, at, functions, L)
    return unloaded(Gamma, K, X, 0)


@value_function
def value(y, X, out):
    """Write the stored energy L W to `out[0]`, J."""
    Gamma, K = _strains(y, X)
    out[0] = X[LENGTH] * energy_of(Gamma, K, X, 0)


@dual_function
def dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the discrete gradient of the energy to `out` (2, 4, 3).

    Its stress is that between the strains at both ends of the step.
    """
    L = X[LENGTH]
    start, end, functions = ends_of(y0, y1, L)
    Gamma0, K0, Gamma1, K1 = strains_of_ends(start, end, functions, L)
    N, M = stress_between(Gamma0, K0, Gamma1, K1, X, 0)
    spread(y0, y1, start, end, functions, L, times(lam[0], N), times(lam[0], M), out)


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the dual of the viscous stress of the change of the strains to `out` (2, 4, 3)."""
    L = X[LENGTH]
    start, end, functions = ends_of(y0, y1, L)
    Gamma0, K0, Gamma1, K1 = strains_of_ends(start, end, functions, L)
    N, M = viscous_between(Gamma0, K0, Gamma1, K1, X, 0)
    spread(y0, y1, start, end, functions, L, times(lam[0], N), times(lam[0], M), out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write `lam[0]` times the dual of the viscous stress of the strain rates to `out` (2, 4, 3).

    y: poses; z: their rates.
    """
    L = X[LENGTH]
    at, _, functions = ends_of(y, y, L)
    dGamma, dK = strain_rates(y, z, at, functions, L)
    N, M = viscous_of_rates(dGamma, dK, X, 0)
    spread(y, y, at, at, functions, L, times(lam[0], N), times(lam[0], M), out)


@value_function
def strains(y, X, out):
    """Write Gamma, K less the stress-free strains to `out` (6,)."""
    Gamma, K = _strains(y, X)
    for i in range(3):
        out[i], out[3 + i] = Gamma[i], K[i]


_NAME = "SE(3) rod element with a law"
ENERGIES = {1: Kind(_NAME, 2, 0, value, dual, no_bend)}
DISSIPATIONS = {1: dissipation(f"viscous {_NAME}", 2, step_dual, rate_dual)}
STRAINS = {1: Kind(f"strains, {_NAME}", 2, 6, strains, no_bend, no_bend)}
ACTUATIONS = {1: actuation(_NAME, 1, actuation_dual)}
