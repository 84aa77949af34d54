"""Loads and resistance in a step, and the work and dissipation they stand for.

The balance of momenta of every scheme has F(q, s) - R(q, v), loads minus viscous resistance (`rigid.mechanical`), at
configurations and rates of its own: at one place, or between the ends of the step, where discrete derivatives keep the
balance of energy exact. What these forces do along the scheme's own change of the coordinates is the work and the
dissipation of the step; `account` of a scheme adds them up with its own quadrature, so that where the scheme keeps the
energy, energy + dissipation - work is kept to round-off, and dissipation is never negative.
"""

from discretization.time.dense import inner, mean
from discretization.time.scheme import FREQUENCY, LOADS, MIDDLE, RATE, RESISTANCE, account
from rigid.compilation import inner_kernel, small_kernel
from rigid.mechanical import DISCRETE_FORCE, VISCOUS

WORK_DONE, DISSIPATED = 0, 1  # places in the totals of a step


@inner_kernel
def loads_between(fn, D, q0, q1, signal, W, out):
    """out = F of the step from q0 to q1."""
    if D.flags & DISCRETE_FORCE:
        fn.discrete_force(q0, q1, signal, D, out)
        return
    middle = W.vector[MIDDLE, : D.n]
    mean(q0, q1, middle)
    fn.force(middle, signal, D, out)


@inner_kernel
def resistance_between(fn, D, q0, q1, h, W, out):
    """out = R of the change of the strains from q0 to q1 over h."""
    frequency = W.vector[FREQUENCY, :1]
    frequency[0] = 1.0 / h
    fn.discrete_resistance(q0, q1, frequency, D, out)


@inner_kernel
def forces_between(fn, D, S, q1, W, out):
    """out = F - R of the step."""
    loads_between(fn, D, S.q0, q1, S.signal[0], W, out)
    if D.flags & VISCOUS:
        R = W.vector[RESISTANCE, : D.n]
        resistance_between(fn, D, S.q0, q1, S.h, W, R)
        for i in range(D.n):
            out[i] -= R[i]


@inner_kernel
def forces_at(fn, D, q, v, signal, W, out):
    """out = F(q, s) - R(q, v)."""
    fn.force(q, signal, D, out)
    if D.flags & VISCOUS:
        R = W.vector[RESISTANCE, : D.n]
        fn.resistance(q, v, D, R)
        for i in range(D.n):
            out[i] -= R[i]


@small_kernel
def scaled(factor, a, out):
    """out = factor a."""
    for i in range(a.size):
        out[i] = factor * a[i]


@inner_kernel
def account_at(fn, D, q, v, signal, change, W, totals):
    """totals += F . change, R . change, of forces at one place."""
    F = W.vector[LOADS, : D.n]
    fn.force(q, signal, D, F)
    totals[WORK_DONE] += inner(F, change)
    if D.flags & VISCOUS:
        fn.resistance(q, v, D, F)
        totals[DISSIPATED] += inner(F, change)


@inner_kernel
def account_between(fn, D, S, q1, change, W, totals):
    """totals += F . change, R . change, of forces between the ends of the step."""
    F = W.vector[LOADS, : D.n]
    loads_between(fn, D, S.q0, q1, S.signal[0], W, F)
    totals[WORK_DONE] += inner(F, change)
    if D.flags & VISCOUS:
        resistance_between(fn, D, S.q0, q1, S.h, W, F)
        totals[DISSIPATED] += inner(F, change)


@account
def account_ends(fn, D, S, W, x, q1, v1, totals):
    """Forces between the ends along q1 - q0: EM-G and its kin, GGL-EM."""
    change = W.vector[RATE, : D.n]
    for i in range(D.n):
        change[i] = q1[i] - S.q0[i]
    account_between(fn, D, S, q1, change, W, totals)


@account
def account_velocities(fn, D, S, W, x, q1, v1, totals):
    """Forces between the ends along h vbar, which is q1 - q0 but for EML-kappa: Livens' schemes."""
    change = W.vector[RATE, : D.n]
    for i in range(D.n):
        change[i] = 0.5 * S.h * (S.v0[i] + v1[i])
    account_between(fn, D, S, q1, change, W, totals)


@account
def account_middle(fn, D, S, W, x, q1, v1, totals):
    """Forces at the midpoint along q1 - q0: midpoint rules."""
    middle, change, v = W.vector[MIDDLE, : D.n], W.vector[RATE, : D.n], W.vector[RESISTANCE, : D.n]
    for i in range(D.n):
        middle[i] = 0.5 * (S.q0[i] + q1[i])
        change[i] = q1[i] - S.q0[i]
    scaled(1.0 / S.h, change, v)
    account_at(fn, D, middle, v, S.signal[0], change, W, totals)
