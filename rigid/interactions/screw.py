"""Screw constraint: g = u . d - p alpha, a displacement proportional to the angle alpha of b about u = u_a, d = p_b - p_a.

alpha is the angle from w_a to u_b about u, p the lead per radian. No counter of revolutions is needed: where g = 0 the
displacement determines their number, so that g = p (u . d/p - alpha) is taken to be the value nearest to zero.

The discrete derivative has u and d averaged, as `along`, and the change of angle over a step exactly, as `torsion_spring`.
At velocity level, if the other rows of the joint keep the axes parallel: dalpha/dt = u . (omega_b - omega_a), hence

    (Omega_a x U) . y + U . z - p (U . B Omega_b - U . Omega_a)                                             (1)

with y, z of `rigid.interactions.hidden_constraints`; in poses, c and s the cosine and sine of alpha and c^2 + s^2 = 1,

    d(u . d)/dt - p (c ds/dt - s dc/dt)                                                                 (2)

by the product rule in c, s and their rates, and in the factors of their products.
"""

import math

from rigid.compilation.decorators import inline_kernel
from rigid.interactions import point_on_plane
from rigid.interactions.kinds import (
    ClosedForms,
    Kind,
    dual_function,
    frame,
    hidden_function,
    store,
    value_function,
    vector,
)
from rigid.interactions.torsion_spring import argument, rotation_over_step
from rigid.kinematics.poses import add_duals, direction, on_direction, on_point, on_point_and_direction, point
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

LEAD = 15  # offset of the lead per radian among the numbers


@inline_kernel
def plane_direction(X):
    """Return U x W, which spans with W the plane of the rotation, counted about U."""
    return cross(vector(X, 6), vector(X, 9))


@inline_kernel
def parts(y, X):
    """Return u, d and (c, s, w_a, (u x w)_a, u_b): c and s are the cosine and sine of alpha."""
    a, b = frame(y, 0), frame(y, 1)
    w, v, beta = direction(a, vector(X, 9)), direction(a, plane_direction(X)), direction(b, vector(X, 12))
    d = minus(point(b, vector(X, 3)), point(a, vector(X, 0)))
    return direction(a, vector(X, 6)), d, (dot(w, beta), dot(v, beta), w, v, beta)


@inline_kernel
def sliding_dual(u, d, X, lam):
    """Return the duals of lam u . d on a and b."""
    f = times(lam, u)
    on_a = on_point_and_direction(times(-1.0, f), vector(X, 0), times(lam, d), vector(X, 6))
    return on_a, on_point(f, vector(X, 3))


@inline_kernel
def rotation_dual(moment, c, s, w, v, beta, X):
    """Return the duals of moment (c ds - s dc) on a and b."""
    on_w = on_direction(times(-moment * s, beta), vector(X, 9))
    on_v = on_direction(times(moment * c, beta), plane_direction(X))
    on_b = on_direction(times(moment, minus(times(c, v), times(s, w))), vector(X, 12))
    return add_duals(on_w, on_v), on_b


@value_function
def value(y, X, out):
    """Write the constraint u . d - p alpha."""
    u, d, (c, s, _, _, _) = parts(y, X)
    angle = dot(u, d) / X[LEAD] - argument(c, s)
    out[0] = X[LEAD] * (angle - 2.0 * math.pi * round(angle.real / (2.0 * math.pi)))


@dual_function
def dual(y0, y1, X, lam, out):
    """Write the discrete derivative of lam . g: u and d averaged; the angle by its change."""
    u0, d0, start = parts(y0, X)
    u1, d1, end = parts(y1, X)
    _, ratio, _, _, (c, s, w, v, beta) = rotation_over_step(start, end)
    slide = sliding_dual(average(u0, u1), average(d0, d1), X, lam[0])
    rotation = rotation_dual(-X[LEAD] * lam[0] * ratio, c, s, w, v, beta, X)
    store(add_duals(slide[0], rotation[0]), out, 0)
    store(add_duals(slide[1], rotation[1]), out, 1)


@dual_function
def bend(y, z, X, lam, out):
    """Write the change of the gradient along z: all three factors of (c ds - s dc)/(c^2 + s^2) change."""
    du, dd, (_, _, dw, dv, dbeta) = parts(z, X)
    _, _, (c, s, w, v, beta) = parts(y, X)
    dc, ds = dot(dw, beta) + dot(w, dbeta), dot(dv, beta) + dot(v, dbeta)
    square, moment = c * c + s * s, -X[LEAD] * lam[0]
    change = -2.0 * (c * dc + s * ds) / (square * square)
    slide = sliding_dual(du, dd, X, lam[0])
    first = rotation_dual(moment / square, dc, ds, w, v, beta, X)
    second = rotation_dual(moment / square, c, s, dw, dv, dbeta, X)
    last = rotation_dual(moment * change, c, s, w, v, beta, X)
    store(add_duals(add_duals(slide[0], first[0]), add_duals(second[0], last[0])), out, 0)
    store(add_duals(add_duals(slide[1], first[1]), add_duals(second[1], last[1])), out, 1)


@inline_kernel
def angle_rates(y, z, X):
    """Return c, s and their rates at one end with the poses y and rates z."""
    _, _, (c, s, w, v, beta) = parts(y, X)
    _, _, (_, _, dw, dv, dbeta) = parts(z, X)
    return c, s, dot(dw, beta) + dot(w, dbeta), dot(dv, beta) + dot(v, dbeta)


@hidden_function
def hidden(y0, z0, y1, z1, X, lam, on_y, on_z):
    """Write the discrete derivative of lam times the rate (2): means of c, s, their rates, and all directions."""
    u0, d0, (_, _, w0, v0, beta0) = parts(y0, X)
    u1, d1, (_, _, w1, v1, beta1) = parts(y1, X)
    du0, dd0, (_, _, dw0, dv0, dbeta0) = parts(z0, X)
    du1, dd1, (_, _, dw1, dv1, dbeta1) = parts(z1, X)
    c0, s0, dc0, ds0 = angle_rates(y0, z0, X)
    c1, s1, dc1, ds1 = angle_rates(y1, z1, X)
    c, s, dc, ds = 0.5 * (c0 + c1), 0.5 * (s0 + s1), 0.5 * (dc0 + dc1), 0.5 * (ds0 + ds1)
    w, v, beta = average(w0, w1), average(v0, v1), average(beta0, beta1)
    dw, dv, dbeta = average(dw0, dw1), average(dv0, dv1), average(dbeta0, dbeta1)
    moment = -X[LEAD] * lam[0]
    slide = sliding_dual(average(du0, du1), average(dd0, dd1), X, lam[0])
    first, second = (
        rotation_dual(-moment, dc, ds, w, v, beta, X),
        rotation_dual(moment, c, s, dw, dv, dbeta, X),
    )
    store(add_duals(slide[0], add_duals(first[0], second[0])), on_y, 0)
    store(add_duals(slide[1], add_duals(first[1], second[1])), on_y, 1)
    slide = sliding_dual(average(u0, u1), average(d0, d1), X, lam[0])
    rotation = rotation_dual(moment, c, s, w, v, beta, X)
    store(add_duals(slide[0], rotation[0]), on_z, 0)
    store(add_duals(slide[1], rotation[1]), on_z, 1)


@inline_kernel
def hidden_value(parameters, end):
    """Return the velocity-level constraint (1) as the first of three components."""
    Ua, lead = parameters[0], parameters[6]
    slide = point_on_plane.hidden_value(parameters, end)[0]
    _, _, Ra, Rb, Omega_a, Omega_b = end
    return slide - lead * (dot(apply(Ra, Ua), apply(Rb, Omega_b)) - dot(Ua, Omega_a)), 0.0, 0.0


@inline_kernel
def hidden_derivative(gam, parameters, end0, end1):
    """Return the discrete derivative of gam times the velocity-level constraint by the product rule: B averaged."""
    Ua, lead = parameters[0], parameters[6]
    D_v, D_Omega_a, D_Omega_b, D_r, D_a, D_b = point_on_plane.hidden_derivative(gam, parameters, end0, end1)
    B = matrix_average(transposed_product(end0[2], end0[3]), transposed_product(end1[2], end1[3]))
    Ra, Rb = matrix_average(end0[2], end1[2]), matrix_average(end0[3], end1[3])
    on_turn = times(-lead * gam[0], Ua)
    torque = cross(apply(Ra, on_turn), apply(Rb, average(end0[5], end1[5])))
    return (
        D_v,
        minus(D_Omega_a, on_turn),
        plus(D_Omega_b, apply_transposed(B, on_turn)),
        D_r,
        plus(D_a, torque),
        minus(D_b, torque),
    )


SCREWED_POINTS = Kind(
    "screwed points",
    2,
    1,
    value,
    dual,
    bend,
    columns=("Xa", "Xb", "Ua", "Wa", "Ub", "value"),
    hidden=hidden,
    closed=ClosedForms(hidden_value=hidden_value, hidden_derivative=hidden_derivative),
)
