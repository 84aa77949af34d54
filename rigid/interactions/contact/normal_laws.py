"""Normal contact laws: a one-sided smooth potential of the gap g between two surfaces, and its divided difference.

    power     V = k x^(n + 1)/(n + 1), x = -g the depth, 0 where g >= 0; n = 1 linear, 3/2 Hertz                      (1)
    barrier   V = -k (g - reach)^2 log(g/reach), 0 where g >= reach; without bound towards g = 0                   (2)
    polynomial   V = c1 x^2/2 + c2 x^3/3 + c3 x^4/4, the coefficients in the places of k, n and reach              (5)

Over a step the surfaces resist with Q = -(V(g1) - V(g0))/(g1 - g0) >= 0, which is evaluated without cancellation. For powers,
with u = (x1 - x0)/x1, x1 the greater depth and p = n + 1,

    (x1^p - x0^p)/(x1 - x0) = x1^(p - 1) (1 - (1 - u)^p)/u,   of small u by the binomial series                       (3)

For barriers the product rule gives terms of one sign,

    Q = k ((g0 + g1 - 2 reach) mean log(g/reach) + mean (g - reach)^2 log(g1/g0)/(g1 - g0))                           (4)

For polynomials Q is made of sums of products,

    Q = c1 (x0 + x1)/2 + c2 (x0^2 + x0 x1 + x1^2)/3 + c3 (x0 + x1)(x0^2 + x1^2)/4                                (6)

If the gap is open at one end of the step, V is 0 there, and Q is V of the other end divided by the change of the gap.
"""

import cmath

from rigid.compilation.decorators import inline_kernel
from rigid.compilation.real_functions import made_of
from rigid.interactions.kinds import whole

LAW, STIFFNESS, EXPONENT, REACH = 0, 1, 2, 3  # offsets of the parameters of a law
POWER, BARRIER, POLYNOMIAL = 0, 1, 2  # codes of the laws
PASSED = complex("nan")  # result if a barrier was passed: the step fails
_NEAR, _TERMS = 0.1, 20  # below _NEAR, _TERMS terms of a series are exact to round-off


@inline_kernel
def reach_of(X):
    """Return the gap below which the law acts, m."""
    return X[REACH].real if whole(X[LAW]) == BARRIER else 0.0


@inline_kernel
def is_active(X, g):
    """Return True if the law acts at the gap g."""
    return g.real < reach_of(X)


@inline_kernel
def potential(X, g):
    """Return V of the gap g, (1), (2) or (5); NaN if a barrier was passed."""
    if not is_active(X, g):
        return 0j
    if whole(X[LAW]) == BARRIER:
        if g.real <= 0.0:
            return PASSED
        return -X[STIFFNESS] * (g - X[REACH]) * (g - X[REACH]) * cmath.log(g / X[REACH])
    if whole(X[LAW]) == POLYNOMIAL:
        return g * g * (X[1] / 2.0 - g * (X[2] / 3.0 - g * X[3] / 4.0))
    p = X[EXPONENT] + 1.0
    return X[STIFFNESS] * (-g + 0j) ** p / p


@inline_kernel
def _powers_quotient(p, x0, x1):
    """Return (x1^p - x0^p)/(x1 - x0) for positive x0, x1, by (3)."""
    small, great = x0, x1
    if x0.real > x1.real:
        small, great = x1, x0
    u = (great - small) / great
    if u.real > _NEAR:
        return great ** (p - 1.0) * (1.0 - (small / great) ** p) / u
    term = p + 0j
    total = term
    for j in range(1, _TERMS):
        term *= -u * (p - j) / (j + 1.0)
        total += term
    return great ** (p - 1.0) * total


@inline_kernel
def _logarithms_quotient(g0, g1):
    """Return (log g1 - log g0)/(g1 - g0) for positive g0, g1."""
    w = (g1 - g0) / (g1 + g0)
    if abs(w.real) > _NEAR:
        return cmath.log(g1 / g0) / (g1 - g0)
    total, power = 1.0 + 0j, 1.0 + 0j
    for j in range(1, _TERMS // 2):  # atanh(w)/w
        power *= w * w
        total += power / (2.0 * j + 1.0)
    return 2.0 * total / (g0 + g1)


@inline_kernel
def resistance(X, g0, g1):
    """Return Q = -(V(g1) - V(g0))/(g1 - g0), or -dV/dg if both gaps are equal, in the type of the gaps."""
    return made_of(_resistance(X, g0 + 0j, g1 + 0j), g0)


@inline_kernel
def _resistance(X, g0, g1):
    """Return Q of `resistance` for complex gaps."""
    one, other = is_active(X, g0), is_active(X, g1)
    if not (one or other):
        return 0j
    if not (one and other):
        return (potential(X, g1) - potential(X, g0)) / (g0 - g1)
    k, n = X[STIFFNESS], X[EXPONENT]
    if whole(X[LAW]) == BARRIER:
        if g0.real <= 0.0 or g1.real <= 0.0:
            return PASSED
        a, b = g0 - X[REACH], g1 - X[REACH]
        logarithms = 0.5 * (cmath.log(g0 / X[REACH]) + cmath.log(g1 / X[REACH]))
        return k * ((a + b) * logarithms + 0.5 * (a * a + b * b) * _logarithms_quotient(g0, g1))
    if whole(X[LAW]) == POLYNOMIAL:
        both, squares = g0 + g1, g0 * g0 + g1 * g1
        return -X[1] * both / 2.0 + X[2] * (squares + g0 * g1) / 3.0 - X[3] * both * squares / 4.0
    if n == 1.0:
        return -0.5 * k * (g0 + g1)
    return k * _powers_quotient(n + 1.0, -g0, -g1) / (n + 1.0)
