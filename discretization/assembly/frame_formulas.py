"""Formulas of one frame in a step of `em`: (1) and (2) of `discretization.assembly.step_equations`.

They work on the numbers of one frame or on SIMD lanes (`rigid.lanes`) of several frames.
"""

from __future__ import annotations

from discretization.assembly.stress_rounding import EPS
from rigid.compilation.decorators import inline_kernel
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

TINY = 1e-300  # kg: a frame without mass has no inertia either


@inline_kernel
def rounding(mass, J, v, spin, weight, h):
    """Return the round-off levels of (1) and (2) due to the inertia and weight of a frame, N s and N m s.

    `spin`: J Omega. `weight`: |g|.
    """
    force = EPS * mass * (4.0 * root(dot(v, v)) + abs(h) * weight)
    return force, 2.0 * EPS * root(dot(spin, spin)) + force * root(trace(J) / (mass + TINY))


@inline_kernel
def predict_increments(w0, mean, turning, h):
    """Return dr and psi of a step with the mean velocity `mean` and the mean spatial angular velocity `turning`.

    w0: spatial angular velocity at the start; that at the end is w1 = 2 turning - w0. psi/h is the mean of w0 and R0 R1^T w1.
    The latter is w1 - psi x (w1 - w0)/2. Therefore psi - b x psi = h turning with b = h (turning - w0)/2.
    """
    u, b = times(h, turning), times(0.5 * h, minus(turning, w0))
    psi = plus(u, plus(cross(b, u), times(dot(b, u), b)))
    return times(h, mean), times(1.0 / (1.0 + dot(b, b)), psi)


@inline_kernel
def round_displacement(r0, dr):
    """Round dr so that r0 + dr is a floating-point number.

    Otherwise the round-off of the end position would enter no equation if the first correction is the last, and the energy would
    drift by it.
    """
    return minus(plus(r0, dr), r0)


@inline_kernel
def balance(mass, v0, dr, gravity, h):
    """Return the contribution of inertia and weight to (1), N s."""
    momentum = minus(times(1.0 / h, dr), v0)
    return minus(times(2.0 * mass, momentum), times(h * mass, gravity))


@inline_kernel
def spin_at_end(R0, Omega0, psi, h):
    """Return the body-fixed angular velocity Omega1 at the end of the step, rad/s."""
    return minus(times(2.0 / h, apply_transposed(R0, psi)), Omega0)


@inline_kernel
def spin_tangent(RJ, R0, R1, psi, L1, h):
    """Return the tangent of the spin R1 J Omega1 with respect to the rotation increment eta.

    d(R1 J Omega1) = -hat(L1) eta + (2/h) R1 J R0^T T^-1 eta, with T^-1 = (1 + |psi|^2/4) R0 Rbar^T and the mean Rbar of R0 and
    R1; RJ: R1 J, L1: R1 J Omega1.
    """
    K = product_transposed(RJ, matrix_plus(R0, R1))
    return matrix_minus(matrix_times((1.0 + 0.25 * dot(psi, psi)) / h, K), hat(L1))


@inline_kernel
def velocity_changes(rate, spin, v0, Omega0, displacement, turning, h):
    """Return v1 - v0, Omega1 - Omega0 from the mean velocities of a step and what the final correction adds to its increments.

    They are differences of nearly equal numbers, which are exact. Adding them to the velocities is then the only rounding of the
    size of the velocities.
    """
    return velocity_change(rate, v0, displacement, h), velocity_change(spin, Omega0, turning, h)


@inline_kernel
def velocity_change(rate, v0, displacement, h):
    """Return v1 - v0 as `velocity_changes` does."""
    return times(2.0, plus(minus(rate, v0), times(1.0 / h, displacement)))


@inline_kernel
def accelerations(R0, R1, dv, dOmega, h):
    """Return the accelerations of the step: m/s^2 and, in spatial axes, rad/s^2.

    R1 Omega1 - R0 Omega0 is the mean of R0 and R1 times dOmega: both map the mean of Omega0 and Omega1 to the same
    vector, psi/h.
    """
    return times(1.0 / h, dv), times(0.5 / h, plus(apply(R0, dOmega), apply(R1, dOmega)))
