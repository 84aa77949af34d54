"""String element: two frames a, b at a distance l, of which only the positions count; without bending, shear and torsion.

    Gamma = (l/L - 1, 0, 0),   K = 0,   l = |d|,   d = r_b - r_a                                                    (1)

The stress N of a step is the divided difference of the energy per length (`rod_gauss_points.stress_between`). Its work over the
step is N L (Gamma_1 - Gamma_0) = N (l_1 - l_0), and l_1^2 - l_0^2 = (d_1 + d_0) . (d_1 - d_0), so that the force on b is

    n = N (d_0 + d_1)/(l_0 + l_1),                                                                                  (2)

and -n on a: the work is exact, and the moment of both forces about any point is zero for the mean positions of the step. The
frames feel no torque.
"""

from discretization.space.rod_gauss_points import (
    LENGTH,
    actuating_stress,
    actuation,
    clear,
    energy_of,
    stress_between,
    unloaded,
    viscous_between,
    viscous_of_rates,
)
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import Kind, dissipation, dual_function, no_bend, value_function
from rigid.linear_algebra import dot, minus, plus, square_root, times

_NONE = (0.0, 0.0, 0.0)


@inline_kernel
def between(y):
    """Return d and its length l."""
    d = minus((y[1, 0, 0], y[1, 0, 1], y[1, 0, 2]), (y[0, 0, 0], y[0, 0, 1], y[0, 0, 2]))
    return d, square_root(dot(d, d))


@inline_kernel
def stretch(l, X):
    """Return Gamma of (1) with the zeros of shear."""
    return l / X[LENGTH] - 1.0, 0.0 * l, 0.0 * l


@inline_kernel
def pull(y0, y1, N, out):
    """Write the dual of a normal force N, (2), to `out` (2, 4, 3)."""
    (d0, l0), (d1, l1) = between(y0), between(y1)
    total = l0 + l1
    n = times(N / total if total.real > 0.0 else 0.0 * total, plus(d0, d1))
    clear(out, 2)
    for i in range(3):
        out[0, 0, i], out[1, 0, i] = -n[i], n[i]


@value_function
def value(y, X, out):
    """Write the stored energy L W to `out[0]`, J."""
    Gamma, K = unloaded(stretch(between(y)[1], X), _NONE, X, 0)
    out[0] = X[LENGTH] * energy_of(Gamma, K, X, 0)


@dual_function
def dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the discrete gradient of the energy to `out` (2, 4, 3)."""
    Gamma0, Gamma1 = stretch(between(y0)[1], X), stretch(between(y1)[1], X)
    N, _ = stress_between(Gamma0, _NONE, Gamma1, _NONE, X, 0)
    pull(y0, y1, lam[0] * N[0], out)


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write `lam[0]` times the dual of the viscous stress of the change of the strains to `out` (2, 4, 3)."""
    Gamma0, Gamma1 = stretch(between(y0)[1], X), stretch(between(y1)[1], X)
    N, _ = viscous_between(Gamma0, _NONE, Gamma1, _NONE, X, 0)
    pull(y0, y1, lam[0] * N[0], out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write `lam[0]` times the dual of the viscous stress of the strain rates to `out` (2, 4, 3).

    y: poses; z: their rates.
    """
    d, l = between(y)
    rate = dot(d, between(z)[0]) / (l * X[LENGTH])
    N, _ = viscous_of_rates((rate, 0.0 * rate, 0.0 * rate), _NONE, X, 0)
    pull(y, y, lam[0] * N[0], out)


@dual_function
def actuation_dual(y0, y1, X, lam, out):
    """Write the dual of the actuating stress to `out` (2, 4, 3)."""
    N, _ = actuating_stress(X, lam, 0)
    pull(y0, y1, N[0] / X[LENGTH], out)


@value_function
def strains(y, X, out):
    """Write Gamma, K less the stress-free strains to `out` (6,)."""
    Gamma, K = unloaded(stretch(between(y)[1], X), _NONE, X, 0)
    for i in range(3):
        out[i], out[3 + i] = Gamma[i], K[i]


_NAME = "string element"
ENERGIES = {1: Kind(_NAME, 2, 0, value, dual, no_bend)}
DISSIPATIONS = {1: dissipation(f"viscous {_NAME}", 2, step_dual, rate_dual)}
STRAINS = {1: Kind(f"strains, {_NAME}", 2, 6, strains, no_bend, no_bend)}
ACTUATIONS = {1: actuation(_NAME, 1, actuation_dual)}
