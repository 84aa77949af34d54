"""Loads and resistance in a step, and the work and dissipation they stand for.

The balance of momenta of every scheme has F(q, s) - R(q, v), loads minus viscous resistance (`rigid.mechanics.mechanical`), at
configurations and rates of its own: at one place, or between the ends of the step, where discrete derivatives keep the
balance of energy exact. What these forces do along the scheme's own change of the coordinates is the work and the
dissipation of the step; `account` of a scheme adds them up with its own quadrature, so that where the scheme keeps the
energy, energy + dissipation - work is kept to round-off, and dissipation is never negative. Condensed own variables go on with
it, and what they keep is energy; they go by one change of the strains, so that a scheme has one place for forces, or its ends.
"""

from typing import NamedTuple

from discretization.time.dense import inner, mean
from discretization.time.scheme import account
from discretization.time.scratch import PerCoordinate, scratch
from rigid.charts.condensed import DISSIPATED, WORK_DONE, end_all
from rigid.compilation.decorators import inner_kernel, small_kernel
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.mechanics.mechanical import CONDENSED, DISCRETE_FORCE, VISCOUS


class Forces(NamedTuple):
    """Scratch of forces."""

    middle: PerCoordinate  # (q0 + q1)/2
    frequency: PerCoordinate  # 1/h, one number
    resistance: PerCoordinate  # R
    acting: PerCoordinate  # F, then R, whose work is added up


class Path(NamedTuple):
    """Scratch of accounts."""

    q: PerCoordinate  # where forces are taken
    rate: PerCoordinate
    change: PerCoordinate  # along which they do work


forces, path = scratch(Forces), scratch(Path, above=(Forces,))


@inner_kernel
def loads_between(fn, D, q0, q1, signal, W, out):
    """out = F of the step from q0 to q1."""
    if D.flags & DISCRETE_FORCE:
        fn.discrete_force(q0, q1, signal, D, out)
        return
    w = forces(W, D)
    mean(q0, q1, w.middle)
    fn.force(w.middle, signal, D, out)


@inner_kernel
def resistance_between(fn, D, q0, q1, h, W, out):
    """out = R of the change of the strains from q0 to q1 over h."""
    frequency = forces(W, D).frequency[:1]
    frequency[0] = 1.0 / h
    fn.discrete_resistance(q0, q1, frequency, D, out)


@inner_kernel
def forces_between(fn, D, S, q1, W, out):
    """out = F - R of the step."""
    loads_between(fn, D, S.q0, q1, S.signal[0], W, out)
    if D.flags & VISCOUS:
        R = forces(W, D).resistance
        resistance_between(fn, D, S.q0, q1, S.h, W, R)
        for i in range(D.n):
            out[i] -= R[i]


@inner_kernel
def forces_at(fn, D, q, v, signal, W, out):
    """out = F(q, s) - R(q, v)."""
    fn.force(q, signal, D, out)
    if D.flags & VISCOUS:
        R = forces(W, D).resistance
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
    acting = forces(W, D).acting
    fn.force(q, signal, D, acting)
    totals[WORK_DONE] += inner(acting, change)
    if D.flags & VISCOUS:
        fn.resistance(q, v, D, acting)
        totals[DISSIPATED] += inner(acting, change)
    if D.flags & CONDENSED:
        ahead = forces(W, D).middle
        for i in range(D.n):
            ahead[i] = q[i] + COMPLEX_STEP * 1j * change[i]
        end_all(D, q, ahead, True, totals)


@inner_kernel
def account_between(fn, D, S, q1, change, W, totals):
    """totals += F . change, R . change, of forces between the ends of the step."""
    acting = forces(W, D).acting
    loads_between(fn, D, S.q0, q1, S.signal[0], W, acting)
    totals[WORK_DONE] += inner(acting, change)
    if D.flags & VISCOUS:
        resistance_between(fn, D, S.q0, q1, S.h, W, acting)
        totals[DISSIPATED] += inner(acting, change)
    if D.flags & CONDENSED:
        end_all(D, S.q0, q1, False, totals)


@account
def account_ends(fn, D, S, W, x, q1, v1, totals):
    """Forces between the ends along q1 - q0: EM-G and its kin, GGL-EM."""
    change = path(W, D).change
    for i in range(D.n):
        change[i] = q1[i] - S.q0[i]
    account_between(fn, D, S, q1, change, W, totals)


@account
def account_velocities(fn, D, S, W, x, q1, v1, totals):
    """Forces between the ends along h vbar, which is q1 - q0 but for EML-kappa: Livens' schemes."""
    change = path(W, D).change
    for i in range(D.n):
        change[i] = 0.5 * S.h * (S.v0[i] + v1[i])
    account_between(fn, D, S, q1, change, W, totals)


@account
def account_middle(fn, D, S, W, x, q1, v1, totals):
    """Forces at the midpoint along q1 - q0: midpoint rules."""
    w = path(W, D)
    for i in range(D.n):
        w.q[i] = 0.5 * (S.q0[i] + q1[i])
        w.change[i] = q1[i] - S.q0[i]
    scaled(1.0 / S.h, w.change, w.rate)
    account_at(fn, D, w.q, w.rate, S.signal[0], w.change, W, totals)
