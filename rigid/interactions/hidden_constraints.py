"""Shared parts of velocity-level (hidden) constraints g_v = dg/dt = 0 of two frames, in invariants: values, discrete derivatives.

All components are those of frame a, so that g_v does not change with a common rigid motion of positions and velocities.
With p = r + R X, d = p_b - p_a, B = Ra^T Rb, Omega body-fixed:

    y = Ra^T d,   z = Ra^T (v_b - v_a) + B (Omega_b x X_b) - Omega_a x X_a                                  (1)

The file of each kind of constraint gives its g_v in terms of y and z. The discrete derivative of A = gam . g_v follows from
the product rule (x y)1 - (x y)0 = xbar (y1 - y0) + ybar (x1 - x0) in these invariants: means of B, y, z at the two ends,
not products of means. Hence exactly

    A1 - A0 = sum of D_v . dv + D_Omega . dOmega + D_r . dr + D_psi . psi                                   (2)

and D of a common rigid motion vanishes. With equal ends it is the gradient.

An end is the tuple (r_b - r_a, v_b - v_a, Ra, Rb, Omega_a, Omega_b). A derivative is the tuple (D_v of b, D_Omega of a,
D_Omega of b, D_r of b, D_psi of a, D_psi of b), D_v and D_r of a being minus those of b.
"""

from __future__ import annotations

from rigid.compilation.decorators import inline_kernel
from rigid.linear_algebra import (
    apply,
    apply_transposed,
    average,
    cross,
    matrix_average,
    minus,
    plus,
    times,
    transposed_product,
)


@inline_kernel
def points_apart(Xa, Xb, end):
    """Return d = p_b - p_a of the points Xa, Xb."""
    dr, _, Ra, Rb, _, _ = end
    return plus(dr, minus(apply(Rb, Xb), apply(Ra, Xa)))


@inline_kernel
def relative_position(Xa, Xb, end):
    """Return y of (1): the relative position in the axes of frame a."""
    return apply_transposed(end[2], points_apart(Xa, Xb, end))


@inline_kernel
def rate_of_points(Xa, Xb, end):
    """Return z of (1): the relative velocity in the axes of frame a."""
    _, dv, Ra, Rb, Omega_a, Omega_b = end
    at_b = plus(dv, apply(Rb, cross(Omega_b, Xb)))
    return minus(apply_transposed(Ra, at_b), cross(Omega_a, Xa))


@inline_kernel
def derivative_of_rate(Gam, Xa, Xb, end0, end1):
    """Return the discrete derivative of Gam . z, with Gam constant in frame a."""
    gam = apply(matrix_average(end0[2], end1[2]), Gam)
    dv = average(end0[1], end1[1])
    rate_b = apply(matrix_average(end0[3], end1[3]), cross(average(end0[5], end1[5]), Xb))
    B = matrix_average(transposed_product(end0[2], end0[3]), transposed_product(end1[2], end1[3]))
    torque = cross(gam, rate_b)
    return (
        gam,
        cross(Gam, Xa),
        cross(Xb, apply_transposed(B, Gam)),
        (0.0, 0.0, 0.0),
        plus(cross(gam, dv), torque),
        times(-1.0, torque),
    )


@inline_kernel
def derivative_of_position(Gam, Xa, Xb, end0, end1):
    """Return D_r of b, D_psi of a and of b of the discrete derivative of Gam . y, with Gam constant in frame a."""
    Ra, Rb = matrix_average(end0[2], end1[2]), matrix_average(end0[3], end1[3])
    force = apply(Ra, Gam)
    d = average(points_apart(Xa, Xb, end0), points_apart(Xa, Xb, end1))
    return force, cross(force, plus(d, apply(Ra, Xa))), cross(apply(Rb, Xb), force)
