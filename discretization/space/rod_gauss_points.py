"""Layout of the numbers of rod elements with Gauss points, interpolation at the points, and stresses from strains.

Numbers X of an element: order p, length L, then the numbers of its p points. A point has the stiffness (or viscosity) row by row
and the stress-free strains. A law added to the linear one (`laws`) has its invariant, its number in
`laws.functions.LAW_FUNCTIONS` (0 without a law) and its parameters. Numbers of a viscosity have no stress-free strains; instead
of the parameters they hold the constant part of the viscous stress in a step: `maxwell_branch`. Values and slopes at a point
are sums over the nodes with the tables of `interpolation`.
"""

from typing import Any

from discretization.space.interpolation import SLOPES, VALUES, WEIGHTS
from discretization.space.laws import AXIAL, GENERAL, MOST_PARAMETERS
from discretization.space.laws.functions import (
    PARAMETERS,
    density_of_number,
    energy_of_number,
    quotient_of_number,
    stress_of_number,
)
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import Kind, no_bend, vector, whole
from rigid.interactions.pressure import nothing
from rigid.linear_algebra import average, dot, minus, plus, times

ORDER, LENGTH, FIRST = 0, 1, 2  # offsets among the numbers of an element; FIRST: of the first point
POINT, STRAIN0 = PARAMETERS + MOST_PARAMETERS, 36  # numbers per point; offset of its stress-free strains
INVARIANT, LAW = 42, 43
BEHIND, FREQUENCY = PARAMETERS, PARAMETERS + 6  # offsets in a viscosity: s of `maxwell_branch` (3), 1/h


@inline_kernel
def order_of(X):
    """Return the order p of an element."""
    return whole(X[ORDER])


@inline_kernel
def weight_of(X, g):
    """Return the length of the rod that point g represents, m."""
    return WEIGHTS[order_of(X), g] * X[LENGTH]


@inline_kernel
def value_at_point(y, k, p, g):
    """Return sum_a l_a y[a, k]: row k of the poses, interpolated at point g."""
    x0, x1, x2 = 0j, 0j, 0j
    for a in range(p + 1):
        l, x = VALUES[p, g, a], y[a, k]
        x0, x1, x2 = x0 + l * x[0], x1 + l * x[1], x2 + l * x[2]
    return x0, x1, x2


@inline_kernel
def slope_at_point(y, k, p, g, length):
    """Return sum_a l_a' y[a, k]/L: the derivative of row k of the poses along the rod at point g."""
    x0, x1, x2, s = 0j, 0j, 0j, 1.0 / length
    for a in range(p + 1):
        l, x = s * SLOPES[p, g, a], y[a, k]
        x0, x1, x2 = x0 + l * x[0], x1 + l * x[1], x2 + l * x[2]
    return x0, x1, x2


@inline_kernel
def unloaded(Gamma, K, X, g):
    """Return Gamma, K less the stress-free strains of point g."""
    at = FIRST + POINT * g + STRAIN0
    return minus(Gamma, vector(X, at)), minus(K, vector(X, at + 3))


@inline_kernel
def stress_of(Gamma, K, X, g):
    """Return the linear stresses N, M of point g."""
    at = FIRST + POINT * g
    return row_times(X, at, Gamma, K), row_times(X, at + 18, Gamma, K)


@inline_kernel
def row_times(X, i, Gamma, K):
    """Return three rows of C (Gamma, K); `i`: offset of the first row in X."""
    return (
        dot(vector(X, i), Gamma) + dot(vector(X, i + 3), K),
        dot(vector(X, i + 6), Gamma) + dot(vector(X, i + 9), K),
        dot(vector(X, i + 12), Gamma) + dot(vector(X, i + 15), K),
    )


@inline_kernel
def clear(out, count):
    """Set the duals of the first `count` frames to zero."""
    for a in range(count):
        for i in range(4):
            for j in range(3):
                out[a, i, j] = 0.0


@inline_kernel
def add(x, s, out):
    """Add s x to `out` (3,)."""
    for j in range(3):
        out[j] += s * x[j]


@inline_kernel
def invariant_of(Gamma, K, X, at):
    """Return the invariant x, the argument of the law at a point; `at`: offset of its numbers."""
    if whole(X[at + INVARIANT]) == AXIAL:
        return Gamma[0]
    return 0.5 * (X[at + 28] * K[1] * K[1] + X[at + 35] * K[2] * K[2])


@inline_kernel
def six(Gamma, K):
    """Return all six strains as complex numbers."""
    return Gamma[0] + 0j, Gamma[1] + 0j, Gamma[2] + 0j, K[0] + 0j, K[1] + 0j, K[2] + 0j


@inline_kernel
def general_between(Gamma0, K0, Gamma1, K1, X, at):
    """Return the discrete derivative N, M of a W that depends on all strains."""
    stress = stress_of_number(whole(X[at + LAW]), X)
    s = stress(six(Gamma0, K0), six(Gamma1, K1), X, at)
    return (s[0], s[1], s[2]), (s[3], s[4], s[5])


@inline_kernel
def energy_of(Gamma, K, X, g):
    """Return the energy per length W, J/m, from strains less the stress-free ones."""
    at = FIRST + POINT * g
    if whole(X[at + INVARIANT]) == GENERAL:
        density = density_of_number(whole(X[at + LAW]), X)
        return density(six(Gamma, K), X, at)
    N, M = stress_of(Gamma, K, X, g)
    W = 0.5 * (dot(Gamma, N) + dot(K, M)) + 0j
    if whole(X[at + LAW]) != 0:
        energy = energy_of_number(whole(X[at + LAW]), X)
        W += energy(invariant_of(Gamma, K, X, at), X, at)
    return W


@inline_kernel
def stress_between(Gamma0, K0, Gamma1, K1, X, g):
    """Return the discrete derivative N, M of W between two strains that include the stress-free ones."""
    (Gamma0, K0), (Gamma1, K1) = unloaded(Gamma0, K0, X, g), unloaded(Gamma1, K1, X, g)
    at = FIRST + POINT * g
    if whole(X[at + INVARIANT]) == GENERAL:
        return general_between(Gamma0, K0, Gamma1, K1, X, at)
    Gamma, K = average(Gamma0, Gamma1), average(K0, K1)
    N, M = stress_of(Gamma, K, X, g)
    if whole(X[at + LAW]) == 0:
        return N, M
    quotient = quotient_of_number(whole(X[at + LAW]), X)
    s = quotient(invariant_of(Gamma0, K0, X, at), invariant_of(Gamma1, K1, X, at), X, at)
    if whole(X[at + INVARIANT]) == AXIAL:
        return (N[0] + s, N[1], N[2]), M
    return N, (M[0], M[1] + s * X[at + 28] * K[1], M[2] + s * X[at + 35] * K[2])


@inline_kernel
def viscous_between(Gamma0, K0, Gamma1, K1, X, g):
    """Return the viscous stress N, M of the change of the strains plus the constant part of a Maxwell branch.

    X: numbers of the viscosity.
    """
    N, M = stress_of(minus(Gamma1, Gamma0), minus(K1, K0), X, g)
    at = FIRST + POINT * g + BEHIND
    return plus(N, vector(X, at)), plus(M, vector(X, at + 3))


@inline_kernel
def actuating_stress(X, lam, g):
    """Return minus the stress N, M that actuates point g, times its length and `lam[0]`.

    X: order, length, and for each point the stress (6) where the number from outside, which follows them, is 1.
    """
    w, at = -lam[0] * X[FIRST + 6 * order_of(X)] * weight_of(X, g), FIRST + 6 * g
    return times(w, vector(X, at)), times(w, vector(X, at + 3))


def actuation(name: str, order: int, dual: Any) -> Kind:
    """Return the kind of the `actuating_stress` of an element, whose work is that of a load; dual: its discrete derivative."""
    kind = Kind(f"actuation of a {name}", order + 1, 0, nothing, dual, no_bend)
    return kind._replace(works=True, signal=FIRST + 6 * order, potential=True)


@inline_kernel
def viscous_of_rates(dGamma, dK, X, g):
    """Return the viscous stress N, M of strain rates that are constant over the step plus the part of a Maxwell branch.

    X: numbers of the viscosity.
    """
    N, M = stress_of(dGamma, dK, X, g)
    at, rate = FIRST + POINT * g + BEHIND, X[FIRST + POINT * g + FREQUENCY]
    return plus(N, times(rate, vector(X, at))), plus(M, times(rate, vector(X, at + 3)))
