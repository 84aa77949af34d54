"""The SE(3) rod element with a material beyond the linear one: a span between two frames with one point, in the middle.

Strains and the way of a stress to the frames are those of `se3_dual`, whose work is L times stress . (change of the strains)
for any stress: with one that does the work W1 - W0 of a law (`rod_points.stress_between`) the energy is exact. Its numbers
are those of `rod_points`, so that laws and viscosities are the same in all elements.
"""

from discretization.space.rod_points import (
    LENGTH,
    energy_of,
    stress_between,
    unloaded,
    viscous_between,
    viscous_of_rates,
)
from discretization.space.se3_dual import ends_of, spread, strain_rates
from discretization.space.se3_dual import strains_of as strains_of_ends
from rigid.compilation.decorators import small_kernel
from rigid.interactions.kinds import Kind, dissipation, dual_function, no_bend, value_function
from rigid.linear_algebra import times


@small_kernel
def _strains(y, X):
    """Gamma, K less those without stress."""
    L = X[LENGTH]
    at, _, functions = ends_of(y, y, L)
    Gamma, K, _, _ = strains_of_ends(at, at, functions, L)
    return unloaded(Gamma, K, X, 0)


@value_function
def value(y, X, out):
    """L W."""
    Gamma, K = _strains(y, X)
    out[0] = X[LENGTH] * energy_of(Gamma, K, X, 0)


@dual_function
def dual(y0, y1, X, lam, out):
    """The stress between the strains at both ends."""
    L = X[LENGTH]
    start, end, functions = ends_of(y0, y1, L)
    Gamma0, K0, Gamma1, K1 = strains_of_ends(start, end, functions, L)
    N, M = stress_between(Gamma0, K0, Gamma1, K1, X, 0)
    spread(y0, y1, start, end, functions, L, times(lam[0], N), times(lam[0], M), out)


@dual_function
def step_dual(y0, y1, X, lam, out):
    """The viscous stress of the change of the strains times lam."""
    L = X[LENGTH]
    start, end, functions = ends_of(y0, y1, L)
    Gamma0, K0, Gamma1, K1 = strains_of_ends(start, end, functions, L)
    N, M = viscous_between(Gamma0, K0, Gamma1, K1, X, 0)
    spread(y0, y1, start, end, functions, L, times(lam[0], N), times(lam[0], M), out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """The viscous stress of the rates of the strains."""
    L = X[LENGTH]
    at, _, functions = ends_of(y, y, L)
    dGamma, dK = strain_rates(y, z, at, functions, L)
    N, M = viscous_of_rates(dGamma, dK, X, 0)
    spread(y, y, at, at, functions, L, times(lam[0], N), times(lam[0], M), out)


@value_function
def strains(y, X, out):
    """Gamma, K less those without stress."""
    Gamma, K = _strains(y, X)
    for i in range(3):
        out[i], out[3 + i] = Gamma[i], K[i]


_NAME = "SE(3) rod element with a law"
ENERGIES = {1: Kind(_NAME, 2, 0, value, dual, no_bend)}
DISSIPATIONS = {1: dissipation(f"viscous {_NAME}", 2, step_dual, rate_dual)}
STRAINS = {1: Kind(f"strains, {_NAME}", 2, 6, strains, no_bend, no_bend)}
