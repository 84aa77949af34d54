"""Constraint that keeps a point in a plane of the other frame: g = u_a . d - value, d = p_b - p_a, u_a = R_a U.

Bilinear: the discrete derivative has u_a and d averaged over the step: force lam u_a on p_b, torque on a
lam u_a x (p_b - r_a). Velocity level: (Omega_a x U_a) . y + U_a . z, with y, z of `rigid.interactions.hidden_constraints`.
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
from rigid.kinematics.poses import direction, on_point, on_point_and_direction, point
from rigid.linear_algebra import (
    add_at,
    average,
    cross,
    dot,
    dyad,
    hat,
    minus,
    plus,
    real,
    times,
    turned_right,
)

NONE = (0.0, 0.0, 0.0)


@inline_kernel
def factors(y, X):
    """Return both factors of the constraint, u_a and d."""
    a, b = frame(y, 0), frame(y, 1)
    return direction(a, vector(X, 6)), minus(point(b, vector(X, 3)), point(a, vector(X, 0)))


@inline_kernel
def write_dual_of_product(u, d, X, lam, out):
    """Write the dual of lam u . d: lam u on p_b, its opposite on p_a, lam d on u_a."""
    f = times(lam, u)
    store(on_point_and_direction(times(-1.0, f), vector(X, 0), times(lam, d), vector(X, 6)), out, 0)
    store(on_point(f, vector(X, 3)), out, 1)


@inline_kernel
def real_factors(y, X):
    """Return u_a, d, and the levers of p_a and p_b at the real poses y."""
    a, b = frame(y, 0), frame(y, 1)
    lever_a, lever_b = real(direction(a, vector(X, 0))), real(direction(b, vector(X, 3)))
    d = plus(minus(real(b[0]), real(a[0])), minus(lever_b, lever_a))
    return real(direction(a, vector(X, 6))), d, lever_a, lever_b


@inline_kernel
def write_tangent_of_product(force, slope, start, end, K):
    """Write the tangent K (12, 12) of a force on the product u . d over a step, as `Kind.tangent` does.

    `slope`: derivative of the force to the product at the end; `start`, `end`: `real_factors`.
    """
    u1, d1, a1, b1 = end
    u, d, a, b = average(start[0], u1), average(start[1], d1), average(start[2], a1), average(start[3], b1)
    on_a, on_b = minus(cross(u, d), cross(a, u)), cross(b, u)  # torques of a unit force
    for j in range(12):
        e = 1.0 * (j % 3 == 0), 1.0 * (j % 3 == 1), 1.0 * (j % 3 == 2)
        which = j // 3  # position and rotation of a, then of b
        eta_a, eta_b = e if which == 1 else NONE, e if which == 3 else NONE
        du, da, db = cross(eta_a, u1), cross(eta_a, a1), cross(eta_b, b1)
        dd = plus(minus(e if which == 2 else NONE, e if which == 0 else NONE), minus(db, da))
        df, half = slope * (dot(du, d1) + dot(u1, dd)), 0.5 * force
        f_b = plus(times(df, u), times(half, du))
        t_a = plus(cross(du, d), minus(cross(u, dd), plus(cross(da, u), cross(a, du))))
        t_a = plus(times(df, on_a), times(half, t_a))
        t_b = plus(times(df, on_b), times(half, plus(cross(db, u), cross(b, du))))
        for i in range(3):
            K[j, i], K[j, 6 + i], K[j, 3 + i], K[j, 9 + i] = -f_b[i], f_b[i], t_a[i], t_b[i]


@value_function
def value(y, X, out):
    """Write the constraint u_a . d - value."""
    u, d = factors(y, X)
    out[0] = dot(u, d) - X[9]


@dual_function
def dual(y0, y1, X, lam, out):
    """Write the discrete derivative of lam . g: both factors averaged."""
    u0, d0 = factors(y0, X)
    u1, d1 = factors(y1, X)
    write_dual_of_product(average(u0, u1), average(d0, d1), X, lam[0], out)


@dual_function
def bend(y, z, X, lam, out):
    """Write the change of the gradient along z: the gradient is linear in the poses, so it is the gradient at z."""
    u, d = factors(z, X)
    write_dual_of_product(u, d, X, lam[0], out)


@inline_kernel
def distance_along(pair, value):
    """Return the constraint u_a . d - value as the first of three components."""
    return dot(pair[0], pair[4]) - value, 0.0, 0.0


@inline_kernel
def pull(lam, pair):
    """Return the pulled-back dual: lam u_a on p_b, and on a the opposite force, also at p_b."""
    ua, _, xa, xb, d = pair
    f = times(lam[0], ua)
    return f, cross(f, plus(d, xa)), cross(xb, f)


@inline_kernel
def add_tangent(lam, mean, end, block):
    """Add the derivative of `pull` to the matrix: u_a rotates, and d rotates and moves."""
    ua, _, xa, xb, d = mean
    ua1, _, _, xb1, _ = end
    values, (aa, ab, ba, bb), sa, sb = block
    half, w = 0.5 * lam[0], plus(d, xa)
    add_at(values, ba, sa, 0, 1, -half, hat(ua1))  # force on b
    add_at(values, aa, sa, 0, 1, half, hat(ua1))
    add_at(values, bb, sb, 1, 1, half, dyad(xb1, ua))  # x_b x u_a
    add_at(values, ba, sa, 1, 1, half, turned_right(xb, ua1))
    add_at(values, aa, sa, 1, 1, half, dyad(ua1, w))  # u_a x w
    add_at(values, aa, sa, 1, 0, -half, hat(ua))
    add_at(values, ab, sb, 1, 0, half, hat(ua))
    add_at(values, ab, sb, 1, 1, half, turned_right(ua, xb1))


@inline_kernel
def hidden_value(parameters, end):
    """Return the velocity-level constraint (Omega_a x U_a) . y + U_a . z as the first of three components."""
    Ua, _, Xa, Xb = parameters[:4]
    y, z = relative_position(Xa, Xb, end), rate_of_points(Xa, Xb, end)
    return dot(cross(end[4], Ua), y) + dot(Ua, z), 0.0, 0.0


@inline_kernel
def hidden_derivative(gam, parameters, end0, end1):
    """Return the discrete derivative of gam times the velocity-level constraint by the product rule: y and z averaged."""
    Ua, _, Xa, Xb = parameters[:4]
    y = average(relative_position(Xa, Xb, end0), relative_position(Xa, Xb, end1))
    on_z = times(gam[0], Ua)
    on_y = times(gam[0], cross(average(end0[4], end1[4]), Ua))
    D_v, D_Omega_a, D_Omega_b, _, torque_a, torque_b = derivative_of_rate(on_z, Xa, Xb, end0, end1)
    force, place_a, place_b = derivative_of_position(on_y, Xa, Xb, end0, end1)
    D_Omega_a = plus(D_Omega_a, cross(on_z, y))
    return D_v, D_Omega_a, D_Omega_b, force, plus(torque_a, place_a), plus(torque_b, place_b)


POINT_ALONG_DIRECTION = Kind(
    "point along direction",
    2,
    1,
    value,
    dual,
    bend,
    columns=("Xa", "Xb", "Ua", "value"),
    closed=ClosedForms(distance_along, pull, add_tangent, hidden_value, hidden_derivative),
)
