"""Hidden constraints g_v = dg/dt = 0 of two frames, in invariants: value and discrete derivative.

All components are those of frame a, so that g_v does not change with a common rigid motion of positions and velocities.
With p = r + R X, d = p_b - p_a, B = Ra^T Rb, y = Ra^T d, Omega body-fixed:

    COINCIDENT     z = Ra^T (v_b - v_a) + B (Omega_b x X_b) - Omega_a x X_a, three rows                     (1)
    PERPENDICULAR  (Omega_a x U_a) . B U_b + U_a . B (Omega_b x U_b)                                        (2)
    ALONG          (Omega_a x U_a) . y + U_a . z                                                            (3)
    DISTANCE       y . z                                                                                    (4)

The discrete derivative of A = gam . g_v follows from the product rule (x y)1 - (x y)0 = xbar (y1 - y0) + ybar (x1 - x0)
in these invariants: means of B, y, z at the two ends, not products of means. Hence exactly

    A1 - A0 = sum of D_v . dv + D_Omega . dOmega + D_r . dr + D_psi . psi                                   (5)

and D of a common rigid motion vanishes. With equal ends it is the gradient.

An end is the tuple (r_b - r_a, v_b - v_a, Ra, Rb, Omega_a, Omega_b); a derivative the tuple (D_v of b, D_Omega of a,
D_Omega of b, D_r of b, D_psi of a, D_psi of b), D_v and D_r of a being minus those of b.
"""

from __future__ import annotations

from rigid.compilation import small_kernel
from rigid.linear_algebra import (
    apply,
    apply_transposed,
    average,
    cross,
    dot,
    matrix_average,
    minus,
    plus,
    times,
    transposed_product,
)
from rigid.system import ALONG, COINCIDENT, PERPENDICULAR


@small_kernel
def _points_apart(Xa, Xb, end):
    """d = p_b - p_a of the points Xa, Xb."""
    dr, _, Ra, Rb, _, _ = end
    return plus(dr, minus(apply(Rb, Xb), apply(Ra, Xa)))


@small_kernel
def _rate_of_points(Xa, Xb, end):
    """z of (1)."""
    _, dv, Ra, Rb, Omega_a, Omega_b = end
    at_b = plus(dv, apply(Rb, cross(Omega_b, Xb)))
    return minus(apply_transposed(Ra, at_b), cross(Omega_a, Xa))


@small_kernel
def hidden_value(kind, Ua, Ub, Xa, Xb, end):
    """g_v of (1)-(4); three components, of which the scalar kinds use the first."""
    _, _, Ra, Rb, Omega_a, Omega_b = end
    if kind == PERPENDICULAR:
        ua, ub = apply(Ra, Ua), apply(Rb, Ub)
        rate = dot(apply(Ra, cross(Omega_a, Ua)), ub) + dot(ua, apply(Rb, cross(Omega_b, Ub)))
        return rate, 0.0, 0.0
    z = _rate_of_points(Xa, Xb, end)
    if kind == COINCIDENT:
        return z
    y = apply_transposed(Ra, _points_apart(Xa, Xb, end))
    if kind == ALONG:
        return dot(cross(Omega_a, Ua), y) + dot(Ua, z), 0.0, 0.0
    return dot(y, z), 0.0, 0.0


@small_kernel
def _derivative_of_rate(Gam, Xa, Xb, end0, end1):
    """Of Gam . z, with Gam constant in frame a."""
    gam = apply(matrix_average(end0[2], end1[2]), Gam)
    dv = average(end0[1], end1[1])
    turning = apply(matrix_average(end0[3], end1[3]), cross(average(end0[5], end1[5]), Xb))
    B = matrix_average(transposed_product(end0[2], end0[3]), transposed_product(end1[2], end1[3]))
    torque = cross(gam, turning)
    return (
        gam,
        cross(Gam, Xa),
        cross(Xb, apply_transposed(B, Gam)),
        (0.0, 0.0, 0.0),
        plus(cross(gam, dv), torque),
        times(-1.0, torque),
    )


@small_kernel
def _derivative_of_place(Gam, Xa, Xb, end0, end1):
    """D_r of b, D_psi of a and of b: of Gam . y, with Gam constant in frame a."""
    Ra, Rb = matrix_average(end0[2], end1[2]), matrix_average(end0[3], end1[3])
    force = apply(Ra, Gam)
    d = average(_points_apart(Xa, Xb, end0), _points_apart(Xa, Xb, end1))
    return force, cross(force, plus(d, apply(Ra, Xa))), cross(apply(Rb, Xb), force)


@small_kernel
def hidden_derivative(kind, gam, Ua, Ub, Xa, Xb, end0, end1):
    """D of (5); gam: three components, of which the scalar kinds use the first."""
    Omega_a, Omega_b = average(end0[4], end1[4]), average(end0[5], end1[5])
    if kind == PERPENDICULAR:
        Ra, Rb = matrix_average(end0[2], end1[2]), matrix_average(end0[3], end1[3])
        B = matrix_average(transposed_product(end0[2], end0[3]), transposed_product(end1[2], end1[3]))
        torque = plus(
            cross(apply(Ra, cross(Omega_a, Ua)), apply(Rb, Ub)),
            cross(apply(Ra, Ua), apply(Rb, cross(Omega_b, Ub))),
        )
        none = (0.0, 0.0, 0.0)
        return (
            none,
            times(gam[0], cross(Ua, apply(B, Ub))),
            times(gam[0], cross(Ub, apply_transposed(B, Ua))),
            none,
            times(gam[0], torque),
            times(-gam[0], torque),
        )
    if kind == COINCIDENT:
        return _derivative_of_rate(gam, Xa, Xb, end0, end1)
    y = average(
        apply_transposed(end0[2], _points_apart(Xa, Xb, end0)),
        apply_transposed(end1[2], _points_apart(Xa, Xb, end1)),
    )
    if kind == ALONG:
        with_rate, with_place = times(gam[0], Ua), times(gam[0], cross(Omega_a, Ua))
        spin = cross(with_rate, y)
    else:
        z = average(_rate_of_points(Xa, Xb, end0), _rate_of_points(Xa, Xb, end1))
        with_rate, with_place = times(gam[0], y), times(gam[0], z)
        spin = (0.0, 0.0, 0.0)
    D_v, D_Omega_a, D_Omega_b, _, torque_a, torque_b = _derivative_of_rate(with_rate, Xa, Xb, end0, end1)
    force, place_a, place_b = _derivative_of_place(with_place, Xa, Xb, end0, end1)
    return D_v, plus(D_Omega_a, spin), D_Omega_b, force, plus(torque_a, place_a), plus(torque_b, place_b)
