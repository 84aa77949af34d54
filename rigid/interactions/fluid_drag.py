"""Forces of a flowing fluid on a line and on a body: Morison's drag, and the pressure of the accelerated fluid (Froude-Krylov).

A line between two nodes has the direction t of its chord, averaged over the step. With the velocity w = v - u of a node relative
to the fluid there (`rigid.interactions.flow_fields`), its part along t, w_t, and across it, w_n, each node carries

    F = -(c_n |w_n| w_n + c_t |w_t| w_t) + m a,   c_n = rho d C_n l/4,   c_t = rho pi d C_t l/4,   m = rho A l/2          (1)

half of the force per length of a line of the length l, diameter d and section A; a is the acceleration of the fluid. A body has a
drag at one of its points, with the matrix D = rho C A/2 in its axes and the mass m of the displaced fluid:

    F = -|w| R D R^T w + m a                                                                            (2)

Over a step v is the change of position over h, at the mean position and at the time of the middle. The work of F over the step is
that of the fluid, F_drag . u h + m a . v h, less the loss -F_drag . w h, which is never negative (`Condensed.lost`).

The first frame is the ground, from whose origin places are measured. Equilibria have v = 0, the current without
waves, and of its acceleration (U . grad) U.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.flow_fields import current, flow, flow_and_slopes, steady_acceleration
from rigid.interactions.kinds import (
    LINE_DRAGS,
    Condensed,
    InternalStateEquations,
    Kind,
    dissipation,
    dual_function,
    frame,
    no_bend,
    store,
    tangent_function,
    vector,
)
from rigid.interactions.pressure import nothing
from rigid.kinematics.poses import ZERO, mean_pose, on_point, point
from rigid.linear_algebra import (
    average,
    dot,
    matrix_plus,
    matrix_times,
    minus,
    outer,
    plus,
    product,
    real,
    square_root,
    store_block,
    times,
    transpose,
)

NORMAL, TANGENTIAL, DISPLACED, LINE_FLOW = 0, 1, 2, 3  # offsets among the numbers of a line
POINT, MATRIX, DISPLACED_BY_BODY, BODY_FLOW = 0, 3, 12, 13  # and of a body


@inline_kernel
def _resist(w, d, X):
    """Return the drag against the relative velocity w of a node of a line along d."""
    square = dot(d, d)
    along = times(dot(w, d) / square, d) if square.real > 0.0 else times(0.0, w)
    across = minus(w, along)
    return plus(
        times(X[NORMAL] * square_root(dot(across, across)), across),
        times(X[TANGENTIAL] * square_root(dot(along, along)), along),
    )


@inline_kernel
def _chord(y0, y1):
    """Return the mean chord of the line between frames 1 and 2."""
    return minus(average(frame(y0, 2)[0], frame(y1, 2)[0]), average(frame(y0, 1)[0], frame(y1, 1)[0]))


@inline_kernel
def _place(y0, y1, k):
    """Return the mean place of frame k, from the origin of the ground."""
    return minus(average(frame(y0, k)[0], frame(y1, k)[0]), average(frame(y0, 0)[0], frame(y1, 0)[0]))


@inline_kernel
def _write_line(y0, y1, v1, v2, X, out):
    """Write the dual of a line whose nodes have the velocities v1, v2."""
    d = _chord(y0, y1)
    f1, _ = force_on_node(_place(y0, y1, 1), v1, d, X)
    f2, _ = force_on_node(_place(y0, y1, 2), v2, d, X)
    store((ZERO, ZERO, ZERO, ZERO), out, 0)
    store((f1, ZERO, ZERO, ZERO), out, 1)
    store((f2, ZERO, ZERO, ZERO), out, 2)


@inline_kernel
def _rate(y0, y1, rate, k):
    """Return the mean velocity of frame k over a step."""
    return times(rate, minus(frame(y1, k)[0], frame(y0, k)[0]))


@dual_function
def line_step(y0, y1, X, lam, out):
    """Write the dual over a step, lam = 1/h."""
    _write_line(y0, y1, _rate(y0, y1, lam[0], 1), _rate(y0, y1, lam[0], 2), X, out)


@dual_function
def line_rate(y, z, X, lam, out):
    """Write the dual at the rates z of the poses."""
    _write_line(y, y, frame(z, 1)[0], frame(z, 2)[0], X, out)


@dual_function
def line_equations(y0, y1, X, lam, out):
    """Write the dual over a step of length lam[0]."""
    rate = 1.0 / lam[0]
    _write_line(y0, y1, _rate(y0, y1, rate, 1), _rate(y0, y1, rate, 2), X, out)


@dual_function
def line_at_rest(y0, y1, X, lam, out):
    """Write the dual of a line at rest in the current."""
    d = _chord(y0, y1)
    store((ZERO, ZERO, ZERO, ZERO), out, 0)
    for k in range(1, 3):
        place = _place(y0, y1, k)
        w = times(-1.0, current(place, X, LINE_FLOW))
        f = minus(_resist(w, d, X), times(X[DISPLACED], steady_acceleration(place, X, LINE_FLOW)))
        store((times(lam[0], f), ZERO, ZERO, ZERO), out, k)


@dual_function
def line_loss(y0, y1, X, lam, out):
    """Write the energy that a step dissipates, J, to out[0, 0, 0]."""
    d, power = _chord(y0, y1), 0.0j
    for k in range(1, 3):
        _, lost = force_on_node(_place(y0, y1, k), _rate(y0, y1, lam[0], k), d, X)
        power += lost
    out[0, 0, 0] = power / lam[0]


@inline_kernel
def force_on_node(place, v, d, X):
    """Return minus the force on a node with the velocity v, and the power that it loses; d: chord."""
    u, a = flow(place, X, LINE_FLOW)
    w = minus(v, u)
    f = _resist(w, d, X)
    return minus(f, times(X[DISPLACED], a)), dot(f, w)


@inline_kernel
def forces_of_step(w, a, chord, X):
    """Return minus the force on a node, and its derivatives to w and, by the chord, to the end of the step of frame 2.

    w: velocity relative to the fluid, whose acceleration is a; chord: its direction t and 1 over its length. The derivative by
    the chord to the end of frame 1 is minus that of frame 2.
    """
    (t, inverse), cn, ct = chord, X[NORMAL], X[TANGENTIAL]
    s = dot(w, t)
    across = minus(w, times(s, t))
    size = square_root(dot(across, across))
    along = ct * abs(s) * s
    force = minus(plus(times(cn * size, across), times(along, t)), times(X[DISPLACED], a))
    # of w: cn |n| (P + n n^T/|n|^2) + 2 ct |s| t t^T, P = I - t t^T
    scale = cn / size if size > 0.0 else 0.0
    of_w = _plus_dyads(cn * size, scale, across, 2.0 * ct * abs(s) - cn * size, t)
    # of t: (2 ct |s| - cn |n|) t n^T - cn s/|n| n n^T + (ct |s| s - cn |n| s) P
    factor = 0.5 * inverse
    mixed = times(factor * (2.0 * ct * abs(s) - cn * size), across)
    p = factor * (along - cn * size * s)
    of_t = _plus_dyads(p, -factor * scale * s, across, -p, t)
    return force, of_w, matrix_plus(of_t, outer(t, mixed))


@inline_kernel
def slope_of_place(of_w, du, da, X):
    """Return the derivative of minus the force on a node to the end of its step by its place alone."""
    return matrix_plus(matrix_times(-0.5, product(of_w, du)), matrix_times(-0.5 * X[DISPLACED], da))


@inline_kernel
def _plus_dyads(p, a, n, b, t):
    """Return p I + a n n^T + b t t^T."""
    xy, xz = a * n[0] * n[1] + b * t[0] * t[1], a * n[0] * n[2] + b * t[0] * t[2]
    yz = a * n[1] * n[2] + b * t[1] * t[2]
    xx, yy = p + a * n[0] * n[0] + b * t[0] * t[0], p + a * n[1] * n[1] + b * t[1] * t[1]
    return xx, xy, xz, xy, yy, yz, xz, yz, p + a * n[2] * n[2] + b * t[2] * t[2]


@inline_kernel
def direction_of(d):
    """Return the direction of a chord, and 1 over its length; zeros if it has no length."""
    length = square_root(dot(d, d))
    inverse = 1.0 / length if length > 0.0 else 0.0
    return times(inverse, d), inverse


@tangent_function
def line_tangent(y0, y1, X, lam, out, K):
    """Write the tangent of `line_step` with respect to the positions at the end of the step."""
    rate, chord = lam[0].real, direction_of(real(_chord(y0, y1)))
    for k in range(1, 3):
        place, v = real(_place(y0, y1, k)), real(_rate(y0, y1, lam[0], k))
        u, a, du, da = flow_and_slopes(place, X, LINE_FLOW)
        _, of_w, half = forces_of_step(minus(v, u), a, chord, X)
        by_motion, by_flow = matrix_times(rate, of_w), slope_of_place(of_w, du, da, X)
        store_block(transpose(matrix_times(-1.0, by_flow)), K, 0, 3 * k)
        for l in range(1, 3):
            A = half if l == 2 else matrix_times(-1.0, half)
            if l == k:
                A = matrix_plus(A, matrix_plus(by_motion, by_flow))
            store_block(transpose(A), K, 3 * l, 3 * k)
    for j in range(3):
        for i in range(9):
            K[3 * (i // 3) + j, i % 3] = 0.0


@inline_kernel
def _resist_body(w, m, X):
    """Return the drag against the relative velocity w of a body with the mean pose m."""
    local = dot(w, m[1]), dot(w, m[2]), dot(w, m[3])
    size = square_root(dot(w, w))
    f = (
        size * dot(vector(X, MATRIX), local),
        size * dot(vector(X, MATRIX + 3), local),
        size * dot(vector(X, MATRIX + 6), local),
    )
    return plus(times(f[0], m[1]), plus(times(f[1], m[2]), times(f[2], m[3])))


@inline_kernel
def _write_body(y0, y1, v, X, out):
    """Write the dual of a body whose point has the velocity v."""
    m = mean_pose(frame(y0, 1), frame(y1, 1))
    u, a = flow(_place_of_body(y0, y1, m, X), X, BODY_FLOW)
    f = minus(_resist_body(minus(v, u), m, X), times(X[DISPLACED_BY_BODY], a))
    store((ZERO, ZERO, ZERO, ZERO), out, 0)
    store(on_point(f, vector(X, POINT)), out, 1)


@inline_kernel
def _place_of_body(y0, y1, m, X):
    """Return the mean place of the point of a body, from the origin of the ground."""
    return minus(point(m, vector(X, POINT)), average(frame(y0, 0)[0], frame(y1, 0)[0]))


@inline_kernel
def _rate_of_body(y0, y1, rate, X):
    """Return the mean velocity of the point of a body over a step."""
    return times(rate, minus(point(frame(y1, 1), vector(X, POINT)), point(frame(y0, 1), vector(X, POINT))))


@dual_function
def body_step(y0, y1, X, lam, out):
    """Write the dual over a step, lam = 1/h."""
    _write_body(y0, y1, _rate_of_body(y0, y1, lam[0], X), X, out)


@dual_function
def body_rate(y, z, X, lam, out):
    """Write the dual at the rates z of the poses."""
    _write_body(y, y, point(frame(z, 1), vector(X, POINT)), X, out)


@dual_function
def body_equations(y0, y1, X, lam, out):
    """Write the dual over a step of length lam[0]."""
    _write_body(y0, y1, _rate_of_body(y0, y1, 1.0 / lam[0], X), X, out)


@dual_function
def body_at_rest(y0, y1, X, lam, out):
    """Write the dual of a body at rest in the current."""
    m = mean_pose(frame(y0, 1), frame(y1, 1))
    place = _place_of_body(y0, y1, m, X)
    w = times(-1.0, current(place, X, BODY_FLOW))
    f = minus(_resist_body(w, m, X), times(X[DISPLACED_BY_BODY], steady_acceleration(place, X, BODY_FLOW)))
    store((ZERO, ZERO, ZERO, ZERO), out, 0)
    store(on_point(times(lam[0], f), vector(X, POINT)), out, 1)


@dual_function
def body_loss(y0, y1, X, lam, out):
    """Write the energy that a step dissipates, J, to out[0, 0, 0]."""
    m = mean_pose(frame(y0, 1), frame(y1, 1))
    u, _ = flow(_place_of_body(y0, y1, m, X), X, BODY_FLOW)
    w = minus(_rate_of_body(y0, y1, lam[0], X), u)
    out[0, 0, 0] = dot(_resist_body(w, m, X), w) / lam[0]


def _drag(name, arity, signal, functions, **fields):
    """Return the kind of the forces of a flowing fluid."""
    step, rate, equations, at_rest, loss = functions
    resting = Kind(f"{name}, at rest", arity, 0, nothing, at_rest, no_bend, works=True, signal=signal)
    return dissipation(name, arity, step, rate)._replace(
        works=True,
        signal=signal,
        condensed=Condensed(lost=loss),
        state_equations=InternalStateEquations(resting, nothing, equations),
        **fields,
    )


LINE_DRAG = _drag(
    "drag of a line",
    3,
    LINE_FLOW,
    (line_step, line_rate, line_equations, line_at_rest, line_loss),
    turning=0,
    tangent=line_tangent,
    real_loop=LINE_DRAGS,
)
BODY_DRAG = _drag(
    "drag of a body", 2, BODY_FLOW, (body_step, body_rate, body_equations, body_at_rest, body_loss)
)
