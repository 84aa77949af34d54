"""Constraint without rotation about the common axis of two shafts: g = u_a . w_b - w_a . u_b, u = R U, w = R W across them.

g is twice the component along the shaft of the axial vector of Ra^T Rb. So g = 0 if b is rotated against a about an axis across
both: the angle is halved by the plane in which a joint of constant velocity transmits.
Bilinear: the discrete derivative has all four averaged over the step. Velocity level: that of `perpendicular`, twice.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions import direction_angle
from rigid.interactions.kinds import (
    ClosedForms,
    Kind,
    dual_function,
    frame,
    store,
    value_function,
    vector,
)
from rigid.kinematics.poses import add_duals, direction, on_direction
from rigid.linear_algebra import average, dot, minus, times


@inline_kernel
def across(y, X):
    """Return the directions across the shafts, u_a, w_a, u_b, w_b."""
    a, b = frame(y, 0), frame(y, 1)
    return (
        direction(a, vector(X, 0)),
        direction(a, vector(X, 3)),
        direction(b, vector(X, 6)),
        direction(b, vector(X, 9)),
    )


@inline_kernel
def write_dual_of_products(ua, wa, ub, wb, X, lam, out):
    """Write the dual of lam g: lam w_b on u_a, -lam u_b on w_a, -lam w_a on u_b, lam u_a on w_b."""
    on_a = on_direction(times(lam, wb), vector(X, 0)), on_direction(times(-lam, ub), vector(X, 3))
    on_b = on_direction(times(-lam, wa), vector(X, 6)), on_direction(times(lam, ua), vector(X, 9))
    store(add_duals(on_a[0], on_a[1]), out, 0)
    store(add_duals(on_b[0], on_b[1]), out, 1)


@value_function
def value(y, X, out):
    """Write the constraint u_a . w_b - w_a . u_b."""
    ua, wa, ub, wb = across(y, X)
    out[0] = dot(ua, wb) - dot(wa, ub)


@dual_function
def dual(y0, y1, X, lam, out):
    """Write the discrete derivative of lam . g: all four directions averaged."""
    ua0, wa0, ub0, wb0 = across(y0, X)
    ua1, wa1, ub1, wb1 = across(y1, X)
    write_dual_of_products(
        average(ua0, ua1), average(wa0, wa1), average(ub0, ub1), average(wb0, wb1), X, lam[0], out
    )


@dual_function
def bend(y, z, X, lam, out):
    """Write the change of the gradient along z: the gradient is linear in the poses, so it is the gradient at z."""
    ua, wa, ub, wb = across(z, X)
    write_dual_of_products(ua, wa, ub, wb, X, lam[0], out)


@inline_kernel
def halves(parameters):
    """Return the `parameters` of both products, u_a . w_b and w_a . u_b, as arguments of the functions of `perpendicular`."""
    Ua, Ub, Xa, Xb, Wa, Wb, value = parameters
    return (Ua, Wb, Xa, Xb, Wa, Wb, value), (Wa, Ub, Xa, Xb, Wa, Wb, value)


@inline_kernel
def hidden_value(parameters, end):
    """Return the velocity-level constraint: that of u_a . w_b less that of w_a . u_b."""
    first, second = halves(parameters)
    return minus(direction_angle.hidden_value(first, end), direction_angle.hidden_value(second, end))


@inline_kernel
def hidden_derivative(gam, parameters, end0, end1):
    """Return the discrete derivative of gam times the velocity-level constraint.

    It is the derivative for u_a . w_b less that for w_a . u_b.
    """
    first, second = halves(parameters)
    plus_first = direction_angle.hidden_derivative(gam, first, end0, end1)
    less_second = direction_angle.hidden_derivative(gam, second, end0, end1)
    return (
        plus_first[0],
        minus(plus_first[1], less_second[1]),
        minus(plus_first[2], less_second[2]),
        plus_first[3],
        minus(plus_first[4], less_second[4]),
        minus(plus_first[5], less_second[5]),
    )


CROSSED_DIRECTIONS = Kind(
    "crossed directions",
    2,
    1,
    value,
    dual,
    bend,
    columns=("Ua", "Wa", "Ub", "Wb"),
    turns=True,
    closed=ClosedForms(hidden_value=hidden_value, hidden_derivative=hidden_derivative),
)
