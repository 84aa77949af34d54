"""Evaluate loads and resistance in a step, and the work and dissipation that belong to them.

The balance of momenta of every scheme has F(q, s) - R(q, v), loads minus viscous resistance
(`rigid.mechanics.mechanical_system`). Each scheme evaluates them at its own configurations and rates: at one point, or between
the ends of the step, where discrete derivatives keep the balance of energy exact. The work and the dissipation of the step are
these forces times the change of the coordinates in the scheme. The function `account` of a scheme adds them with its own
quadrature. If the scheme conserves energy, energy + dissipation - work is therefore conserved to round-off, and dissipation is
never negative. Statically condensed internal variables are advanced by the same functions, and the energy that they store is
counted. They are advanced by one change of the strains, so that the scheme must evaluate forces at one point, or at the ends of
the step.
"""

from typing import NamedTuple

from discretization.time.dense_algebra import inner, mean
from discretization.time.scheme import account
from discretization.time.scratch_vectors import PerCoordinate, scratch
from rigid.charts.internal_variables import DISSIPATED, WORK_DONE, end_internal_steps
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.mechanics.mechanical_system import CONDENSED, DISCRETE_FORCE, VISCOUS


class Forces(NamedTuple):
    """Scratch vectors for forces."""

    middle: PerCoordinate  # (q0 + q1)/2
    frequency: PerCoordinate  # 1/h, one number
    resistance: PerCoordinate  # R
    acting: PerCoordinate  # F, then R, of which the work is added


class Path(NamedTuple):
    """Scratch vectors for work and dissipation."""

    q: PerCoordinate  # configuration at which forces are evaluated
    rate: PerCoordinate
    change: PerCoordinate  # change of the coordinates along which forces do work


forces, path = scratch(Forces), scratch(Path, above=(Forces,))


@internal_kernel
def loads_between(fn, D, q0, q1, signal, W, out):
    """Compute out = F of the step from q0 to q1."""
    if D.flags & DISCRETE_FORCE:
        fn.discrete_force(q0, q1, signal, D, out)
        return
    w = forces(W, D)
    mean(q0, q1, w.middle)
    fn.force(w.middle, signal, D, out)


@internal_kernel
def resistance_between(fn, D, q0, q1, h, W, out):
    """Compute out = R of the change of the strains from q0 to q1 over h."""
    frequency = forces(W, D).frequency[:1]
    frequency[0] = 1.0 / h
    fn.discrete_resistance(q0, q1, frequency, D, out)


@internal_kernel
def forces_between(fn, D, S, q1, W, out):
    """Compute out = F - R of the step."""
    loads_between(fn, D, S.q0, q1, S.signal[0], W, out)
    if D.flags & VISCOUS:
        R = forces(W, D).resistance
        resistance_between(fn, D, S.q0, q1, S.h, W, R)
        for i in range(D.n):
            out[i] -= R[i]


@internal_kernel
def forces_at(fn, D, q, v, signal, W, out):
    """Compute out = F(q, s) - R(q, v)."""
    fn.force(q, signal, D, out)
    if D.flags & VISCOUS:
        R = forces(W, D).resistance
        fn.resistance(q, v, D, R)
        for i in range(D.n):
            out[i] -= R[i]


@inline_kernel
def scaled(factor, a, out):
    """Compute out = factor a."""
    for i in range(a.size):
        out[i] = factor * a[i]


@internal_kernel
def account_at(fn, D, q, v, signal, change, W, totals):
    """Add F . change and R . change to totals, with forces at one point."""
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
        end_internal_steps(D, q, ahead, True, totals)


@internal_kernel
def account_between(fn, D, S, q1, change, W, totals):
    """Add F . change and R . change to totals, with forces between the ends of the step."""
    acting = forces(W, D).acting
    loads_between(fn, D, S.q0, q1, S.signal[0], W, acting)
    totals[WORK_DONE] += inner(acting, change)
    if D.flags & VISCOUS:
        resistance_between(fn, D, S.q0, q1, S.h, W, acting)
        totals[DISSIPATED] += inner(acting, change)
    if D.flags & CONDENSED:
        end_internal_steps(D, S.q0, q1, False, totals)


@account
def account_ends(fn, D, S, W, x, q1, v1, totals):
    """Add work and dissipation of forces between the ends along q1 - q0: EM-G and related schemes, GGL-EM."""
    change = path(W, D).change
    for i in range(D.n):
        change[i] = q1[i] - S.q0[i]
    account_between(fn, D, S, q1, change, W, totals)


@account
def account_velocities(fn, D, S, W, x, q1, v1, totals):
    """Add work and dissipation of forces between the ends along h vbar: Livens' schemes. It is q1 - q0 except for EML-kappa."""
    change = path(W, D).change
    for i in range(D.n):
        change[i] = 0.5 * S.h * (S.v0[i] + v1[i])
    account_between(fn, D, S, q1, change, W, totals)


@account
def account_middle(fn, D, S, W, x, q1, v1, totals):
    """Add work and dissipation of forces at the midpoint along q1 - q0: midpoint rules."""
    w = path(W, D)
    for i in range(D.n):
        w.q[i] = 0.5 * (S.q0[i] + q1[i])
        w.change[i] = q1[i] - S.q0[i]
    scaled(1.0 / S.h, w.change, w.rate)
    account_at(fn, D, w.q, w.rate, S.signal[0], w.change, W, totals)
