"""Constraint that keeps the angle between two directions: g = u_a . u_b - value, u = R U.

Bilinear: the discrete derivative has u_a and u_b averaged over the step, the torques are +-lam u_a x u_b.
Velocity level: (Omega_a x U_a) . B U_b + U_a . B (Omega_b x U_b), B = Ra^T Rb.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import (
    ClosedForms,
    Kind,
    dual_function,
    frame,
    store,
    value_function,
    vector,
)
from rigid.kinematics.poses import direction, on_direction
from rigid.linear_algebra import (
    add_at,
    apply,
    apply_transposed,
    average,
    cross,
    dot,
    dyad,
    matrix_average,
    plus,
    times,
    transposed_product,
    turned_right,
)


@inline_kernel
def directions(y, X):
    """Return the directions u_a and u_b."""
    return direction(frame(y, 0), vector(X, 0)), direction(frame(y, 1), vector(X, 3))


@value_function
def value(y, X, out):
    """Write the constraint u_a . u_b - value."""
    ua, ub = directions(y, X)
    out[0] = dot(ua, ub) - X[6]


@dual_function
def dual(y0, y1, X, lam, out):
    """Write the discrete derivative of lam . g: lam u_b on u_a and lam u_a on u_b, averaged."""
    a0, b0 = directions(y0, X)
    a1, b1 = directions(y1, X)
    store(on_direction(times(lam[0], average(b0, b1)), vector(X, 0)), out, 0)
    store(on_direction(times(lam[0], average(a0, a1)), vector(X, 3)), out, 1)


@dual_function
def bend(y, z, X, lam, out):
    """Write the change of the gradient along z: the gradient is linear in the poses, so it is the gradient at z."""
    ua, ub = directions(z, X)
    store(on_direction(times(lam[0], ub), vector(X, 0)), out, 0)
    store(on_direction(times(lam[0], ua), vector(X, 3)), out, 1)


@inline_kernel
def angle(pair, value):
    """Return the constraint u_a . u_b - value as the first of three components."""
    return dot(pair[0], pair[1]) - value, 0.0, 0.0


@inline_kernel
def pull(lam, pair):
    """Return the pulled-back dual: no force, the torque lam u_a x u_b on a, its opposite on b."""
    torque = times(lam[0], cross(pair[0], pair[1]))
    return (0.0, 0.0, 0.0), torque, times(-1.0, torque)


@inline_kernel
def add_tangent(lam, mean, end, block):
    """Add the derivative of `pull` to the matrix: both directions rotate."""
    values, (aa, ab, ba, bb), sa, sb = block
    half = 0.5 * lam[0]
    left, right = dyad(end[0], mean[1]), turned_right(mean[0], end[1])
    add_at(values, aa, sa, 1, 1, half, left)
    add_at(values, ab, sb, 1, 1, half, right)
    add_at(values, ba, sa, 1, 1, -half, left)
    add_at(values, bb, sb, 1, 1, -half, right)


@inline_kernel
def hidden_value(parameters, end):
    """Return the velocity-level constraint, (Omega_a x U_a) . B U_b + U_a . B (Omega_b x U_b), and two zeros."""
    Ua, Ub, _, _ = parameters[:4]
    _, _, Ra, Rb, Omega_a, Omega_b = end
    ua, ub = apply(Ra, Ua), apply(Rb, Ub)
    rate = dot(apply(Ra, cross(Omega_a, Ua)), ub) + dot(ua, apply(Rb, cross(Omega_b, Ub)))
    return rate, 0.0, 0.0


@inline_kernel
def hidden_derivative(gam, parameters, end0, end1):
    """Return the discrete derivative of gam times the velocity-level constraint by the product rule.

    B is averaged, not Ra and Rb separately.
    """
    Ua, Ub, _, _ = parameters[:4]
    Omega_a, Omega_b = average(end0[4], end1[4]), average(end0[5], end1[5])
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


PERPENDICULAR_DIRECTIONS = Kind(
    "perpendicular directions",
    2,
    1,
    value,
    dual,
    bend,
    columns=("Ua", "Ub", "value"),
    turns=True,
    closed=ClosedForms(angle, pull, add_tangent, hidden_value, hidden_derivative),
)
