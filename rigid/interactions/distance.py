"""Constraint that keeps two points at a given distance: g = d . d/2 - value, d = p_b - p_a.

Quadratic: the discrete derivative has d averaged over the step, force lam d on p_b, its opposite on p_a.
Velocity level: y . z, with y, z of `rigid.interactions.hidden_constraints`.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.hidden_constraints import (
    derivative_of_position,
    derivative_of_rate,
    rate_of_points,
    relative_position,
)
from rigid.interactions.kinds import (
    ClosedForms,
    Kind,
    dual_function,
    frame,
    store,
    value_function,
    vector,
)
from rigid.kinematics.poses import on_point, point
from rigid.linear_algebra import add_at, average, cross, dot, dyad, hat, minus, plus, times, turned_right


@inline_kernel
def between(y, X):
    """Return d = p_b - p_a."""
    return minus(point(frame(y, 1), vector(X, 3)), point(frame(y, 0), vector(X, 0)))


@inline_kernel
def add_central_force(f, X, out):
    """Write the dual of the force f on p_b and -f on p_a."""
    store(on_point(times(-1.0, f), vector(X, 0)), out, 0)
    store(on_point(f, vector(X, 3)), out, 1)


@value_function
def value(y, X, out):
    """Write the constraint d . d/2 - value."""
    d = between(y, X)
    out[0] = 0.5 * dot(d, d) - X[6]


@dual_function
def dual(y0, y1, X, lam, out):
    """Write the discrete derivative of lam . g: the force lam dbar on p_b, its opposite on p_a."""
    add_central_force(times(lam[0], average(between(y0, X), between(y1, X))), X, out)


@dual_function
def bend(y, z, X, lam, out):
    """Write the change of the gradient along z: the gradient is linear in the poses, so it is the gradient at z."""
    add_central_force(times(lam[0], between(z, X)), X, out)


@inline_kernel
def half_square(pair, value):
    """Return the constraint d . d/2 - value as the first of three components."""
    return 0.5 * dot(pair[4], pair[4]) - value, 0.0, 0.0


@inline_kernel
def pull(lam, pair):
    """Return the pulled-back dual: lam d on p_b, -lam d on p_a."""
    _, _, xa, xb, d = pair
    f = times(lam[0], d)
    return f, cross(f, xa), cross(xb, f)


@inline_kernel
def add_tangent(lam, mean, end, block):
    """Add the derivative of the force lam dbar at fixed lam to the matrix; springs use it as well."""
    _, _, xa, xb, d = mean
    _, _, xa1, xb1, _ = end
    values, (aa, ab, ba, bb), sa, sb = block
    half = 0.5 * lam[0]
    for i in range(3):
        values[aa + i + i * sa] += half
        values[bb + i + i * sb] += half
        values[ab + i + i * sb] -= half
        values[ba + i + i * sa] -= half
    # force on b: lam/2 (delta r_b - delta r_a + eta_b x x_b1 - eta_a x x_a1)
    add_at(values, bb, sb, 0, 1, -half, hat(xb1))
    add_at(values, ba, sa, 0, 1, half, hat(xa1))
    add_at(values, ab, sb, 0, 1, half, hat(xb1))
    add_at(values, aa, sa, 0, 1, -half, hat(xa1))
    # torque on b: x_b x d
    add_at(values, bb, sb, 1, 1, half, dyad(xb1, d))
    add_at(values, bb, sb, 1, 0, half, hat(xb))
    add_at(values, ba, sa, 1, 0, -half, hat(xb))
    add_at(values, bb, sb, 1, 1, half, turned_right(xb, xb1))
    add_at(values, ba, sa, 1, 1, -half, turned_right(xb, xa1))
    # torque on a: -x_a x d
    add_at(values, aa, sa, 1, 1, -half, dyad(xa1, d))
    add_at(values, ab, sb, 1, 0, -half, hat(xa))
    add_at(values, aa, sa, 1, 0, half, hat(xa))
    add_at(values, ab, sb, 1, 1, -half, turned_right(xa, xb1))
    add_at(values, aa, sa, 1, 1, half, turned_right(xa, xa1))


@inline_kernel
def hidden_value(parameters, end):
    """Return the velocity-level constraint y . z as the first of three components."""
    _, _, Xa, Xb = parameters[:4]
    return dot(relative_position(Xa, Xb, end), rate_of_points(Xa, Xb, end)), 0.0, 0.0


@inline_kernel
def hidden_derivative(gam, parameters, end0, end1):
    """Return the discrete derivative of gam times the velocity-level constraint by the product rule: y and z averaged."""
    _, _, Xa, Xb = parameters[:4]
    on_z = times(gam[0], average(relative_position(Xa, Xb, end0), relative_position(Xa, Xb, end1)))
    on_y = times(gam[0], average(rate_of_points(Xa, Xb, end0), rate_of_points(Xa, Xb, end1)))
    D_v, D_Omega_a, D_Omega_b, _, torque_a, torque_b = derivative_of_rate(on_z, Xa, Xb, end0, end1)
    force, place_a, place_b = derivative_of_position(on_y, Xa, Xb, end0, end1)
    return D_v, D_Omega_a, D_Omega_b, force, plus(torque_a, place_a), plus(torque_b, place_b)


POINTS_AT_DISTANCE = Kind(
    "points at a distance",
    2,
    1,
    value,
    dual,
    bend,
    columns=("Xa", "Xb", "value"),
    quadratic=True,
    closed=ClosedForms(half_square, pull, add_tangent, hidden_value, hidden_derivative),
)
