"""A frame in a step of `em`, (1) and (2) of `discretization.assembly.step_equations`: the formulas, on numbers of a frame or on
lanes (`rigid.lanes`) of several.
"""

from __future__ import annotations

from discretization.assembly.stress_rounding import EPS
from rigid.compilation.decorators import small_kernel
from rigid.lanes import root
from rigid.linear_algebra import (
    apply,
    apply_transposed,
    cross,
    dot,
    hat,
    matrix_minus,
    matrix_plus,
    matrix_times,
    minus,
    plus,
    product_transposed,
    times,
    trace,
)


@small_kernel
def rounding(mass, J, v, spin, weight, h):
    """Round-off levels of (1) and (2) of what a frame has of them; spin: J Omega, weight: |g|."""
    force = EPS * mass * (4.0 * root(dot(v, v)) + abs(h) * weight)
    return force, 2.0 * EPS * root(dot(spin, spin)) + force * root(trace(J) / mass)


@small_kernel
def predicted(R0, v, Omega, a, alpha, h):
    """dr and psi of a step whose accelerations, as of `accelerations`, are these.

    With spatial angular velocities w0 and w1 = w0 + h alpha, psi/h is the mean of w0 and R0 R1^T w1, and the latter is
    w1 - psi x (w1 - w0)/2: psi - b x psi = h (w0 + h alpha/2) with b = h^2 alpha/4.
    """
    u, b = times(h, plus(apply(R0, Omega), times(0.5 * h, alpha))), times(0.25 * h * h, alpha)
    psi = plus(u, plus(cross(b, u), times(dot(b, u), b)))
    return times(h, plus(v, times(0.5 * h, a))), times(1.0 / (1.0 + dot(b, b)), psi)


@small_kernel
def turned_steadily(R0, v, Omega, a, alpha, h):
    """dr and the turn, as an angle, of a step with these accelerations, and the square of half of it."""
    turn = times(h, plus(apply(R0, Omega), times(0.5 * h, alpha)))
    return times(h, plus(v, times(0.5 * h, a))), turn, 0.25 * dot(turn, turn)


MOST_TURNED = 2.25  # square of half the largest angle, rad, that `tangent_over_angle` is good for


@small_kernel
def tangent_over_angle(z):
    """tan x/x of z = x^2, by its continued fraction: to 2e-12 for x below 3/2."""
    above = 34459425.0 - z * (4729725.0 - z * (135135.0 - z * (990.0 - z)))
    return above / (34459425.0 - z * (16216200.0 - z * (945945.0 - z * (13860.0 - z * 45.0))))


@small_kernel
def to_a_place(r0, dr):
    """dr to a place that numbers have. What the end of a step rounds off would otherwise be in no equation where its first
    correction is the last, and energy would drift by it.
    """
    return minus(plus(r0, dr), r0)


@small_kernel
def balance(mass, v0, dr, gravity, h):
    """What inertia and weight are in (1)."""
    momentum = minus(times(1.0 / h, dr), v0)
    return minus(times(2.0 * mass, momentum), times(h * mass, gravity))


@small_kernel
def spin_at_end(R0, Omega0, psi, h):
    """Omega1."""
    return minus(times(2.0 / h, apply_transposed(R0, psi)), Omega0)


@small_kernel
def turning_inertia(RJ, R0, R1, psi, L1, h):
    """d(R1 J Omega1) = -hat(L1) eta + (2/h) R1 J R0^T T^-1 eta, with T^-1 = (1 + |psi|^2/4) R0 Rbar^T and the mean Rbar of R0 and
    R1; RJ: R1 J, L1: R1 J Omega1.
    """
    K = product_transposed(RJ, matrix_plus(R0, R1))
    return matrix_minus(matrix_times((1.0 + 0.25 * dot(psi, psi)) / h, K), hat(L1))


@small_kernel
def changes(rate, spin, v0, Omega0, faster, quicker, h):
    """v1 - v0, Omega1 - Omega0 of the mean velocities of a step, with what the last correction adds to its increments. They are
    differences of numbers that are nearly the same, which are exact; to add them to the velocities is then the only rounding
    of a size with these.
    """
    dv = plus(minus(rate, v0), times(1.0 / h, faster))
    dOmega = plus(minus(spin, Omega0), times(1.0 / h, quicker))
    return times(2.0, dv), times(2.0, dOmega)


@small_kernel
def accelerations(R0, R1, dv, dOmega, h):
    """Of the step: R1 Omega1 - R0 Omega0 is the mean of R0 and R1 by dOmega, as psi, along their mean, is the same by both."""
    return times(1.0 / h, dv), times(0.5 / h, plus(apply(R0, dOmega), apply(R1, dOmega)))
