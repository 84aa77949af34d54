"""Constraint that keeps two points coincident: g = p_b - p_a, three rows in inertial components.

The gradient does not depend on the poses: force lam on p_b, -lam on p_a. Velocity level: z of
`rigid.interactions.hidden_constraints`.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.hidden_constraints import derivative_of_rate, rate_of_points
from rigid.interactions.kinds import (
    ClosedForms,
    Kind,
    dual_function,
    frame,
    no_bend,
    store,
    value_function,
    vector,
)
from rigid.kinematics.poses import on_point, point
from rigid.linear_algebra import add_at, add_block, cross, dyad, hat, matrix_times, minus, times


@value_function
def value(y, X, out):
    """Write the constraint p_b - p_a (3,)."""
    out[0], out[1], out[2] = minus(point(frame(y, 1), vector(X, 3)), point(frame(y, 0), vector(X, 0)))


@dual_function
def dual(y0, y1, X, lam, out):
    """Write the dual: lam on p_b, -lam on p_a."""
    f = vector(lam, 0)
    store(on_point(times(-1.0, f), vector(X, 0)), out, 0)
    store(on_point(f, vector(X, 3)), out, 1)


@inline_kernel
def place(pair, value):
    """Return the constraint d = p_b - p_a (3,)."""
    return pair[4]


@inline_kernel
def pull(lam, pair):
    """Return the pulled-back dual: lam on p_b, -lam on p_a."""
    _, _, xa, xb, _ = pair
    return lam, cross(lam, xa), cross(xb, lam)


@inline_kernel
def add_tangent(lam, mean, end, block):
    """Add the derivative of `pull` to the matrix: only the lever arms rotate."""
    _, _, xa1, xb1, _ = end
    values, (aa, _, _, bb), sa, sb = block
    add_at(values, aa, sa, 1, 1, -0.5, dyad(xa1, lam))
    add_at(values, bb, sb, 1, 1, 0.5, dyad(xb1, lam))


@inline_kernel
def add_rows(scale, mean, end, block):
    """Add the rows and columns of the multipliers to the matrix: identities and lever arms, times `scale`."""
    _, _, xa, xb, _ = mean
    _, _, xa1, xb1, _ = end
    values, base, sa, sb, sc = block
    for i in range(3):
        values[base[4] + i + i * sc] -= scale
        values[base[5] + i + i * sc] += scale
        values[base[6] + i + i * sa] -= scale
        values[base[7] + i + i * sb] += scale
    add_block(matrix_times(-scale, hat(xa)), values, base[4] + 3, sc)
    add_block(matrix_times(scale, hat(xb)), values, base[5] + 3, sc)
    add_block(matrix_times(scale, hat(xa1)), values, base[6] + 3 * sa, sa)
    add_block(matrix_times(-scale, hat(xb1)), values, base[7] + 3 * sb, sb)


@inline_kernel
def hidden_value(parameters, end):
    """Return the velocity-level constraint z (3,)."""
    _, _, Xa, Xb = parameters[:4]
    return rate_of_points(Xa, Xb, end)


@inline_kernel
def hidden_derivative(gam, parameters, end0, end1):
    """Return the discrete derivative of gam . z."""
    _, _, Xa, Xb = parameters[:4]
    return derivative_of_rate(gam, Xa, Xb, end0, end1)


COINCIDENT_POINTS = Kind(
    "coincident points",
    2,
    3,
    value,
    dual,
    no_bend,
    constant=True,
    columns=("Xa", "Xb"),
    closed=ClosedForms(place, pull, add_tangent, hidden_value, hidden_derivative, add_rows),
)
