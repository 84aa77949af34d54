"""Aerodynamic force on a strip of a rod: lift, drag and moment by tables over the angle of attack (a polar).

The strip at a node has the length l, the chord c, and axes in the section: e towards the leading edge, n the side of the upper
surface, d1 along the rod, e = n x d1. With the velocity w of the air relative to a point of the section, its parts across the
rod w_e = -w . e (from the leading edge backwards) and w_n = w . n, and W^2 = w_e^2 + w_n^2,

    alpha = atan2(w_n, w_e),   q = rho/2 W^2                                                             (1)
    F = q c l (C_l a + C_d b),   moment q c^2 l C_m about d1                                              (2)

b = (-w_e e + w_n n)/W is the direction of the air, a = (w_n e + w_e n)/W that across it. Coefficients are linear between the
angles of the polar. Outside of them the force is not a number, so that a step fails. Over a step w is that of the mean velocity,
as in `rigid.interactions.fluid_drag`, and all work is that of the fluid. The first frame is the ground.
"""

import math

import numpy as np

from rigid.compilation.decorators import inline_kernel
from rigid.interactions.flow_fields import current, end_of_flow, flow
from rigid.interactions.kinds import (
    InternalStateEquations,
    Kind,
    dissipation,
    dual_function,
    frame,
    no_bend,
    store,
    vector,
    whole,
)
from rigid.interactions.loads import on_directors
from rigid.interactions.pressure import nothing
from rigid.kinematics.poses import ZERO, add_duals, direction, mean_pose, on_point, point
from rigid.linear_algebra import average, dot, minus, plus, square_root, times

# offsets among the numbers: e and n, the point, rho c l/2, the chord, the flow; the polar is behind the flow
LEADING, UPPER, POINT, SIZE, CHORD, FLOW = 0, 3, 6, 9, 10, 11
POLAR_ROW = 4  # angle, C_l, C_d, C_m


@inline_kernel
def _angle(w, m, X):
    """Return the angle of attack, W, w_e and w_n; w: velocity of the air relative to the section."""
    back, up = -dot(w, direction(m, vector(X, LEADING))), dot(w, direction(m, vector(X, UPPER)))
    square = back * back + up * up
    r, b, u = square.real, back.real, up.real
    # the derivative of the angle is (w_e dw_n - w_n dw_e)/W^2
    change = (b * (up - u) - u * (back - b)) / r if r > 0.0 else 0.0 * up
    return math.atan2(u, b) + change, square_root(square), back, up


@inline_kernel
def _coefficients(alpha, X):
    """Return C_l, C_d and C_m; nan outside of the polar."""
    at = end_of_flow(X, FLOW)
    count, first = whole(X[at]), at + 1
    last = first + POLAR_ROW * (count - 1)
    if alpha.real < X[first].real or alpha.real > X[last].real:
        none = np.nan + 0.0 * alpha
        return none, none, none
    while first + POLAR_ROW < last and alpha.real > X[first + POLAR_ROW].real:
        first += POLAR_ROW
    next_row = first + POLAR_ROW
    share = (alpha - X[first]) / (X[next_row] - X[first])
    return (
        X[first + 1] + share * (X[next_row + 1] - X[first + 1]),
        X[first + 2] + share * (X[next_row + 2] - X[first + 2]),
        X[first + 3] + share * (X[next_row + 3] - X[first + 3]),
    )


@inline_kernel
def _write(w, m, X, factor, out):
    """Write factor times the dual of a strip with the mean pose m."""
    store((ZERO, ZERO, ZERO, ZERO), out, 0)
    store((ZERO, ZERO, ZERO, ZERO), out, 1)
    alpha, W, back, up = _angle(w, m, X)
    if W.real > 0.0:
        lift, drag, moment = _coefficients(alpha, X)
        e, n = direction(m, vector(X, LEADING)), direction(m, vector(X, UPPER))
        size = factor * X[SIZE] * W
        along = plus(times(lift * up - drag * back, e), times(lift * back + drag * up, n))
        f, twist = times(-size, along), times(-size * W * X[CHORD] * moment, m[1])
        store(add_duals(on_point(f, vector(X, POINT)), on_directors(twist, m)), out, 1)


@inline_kernel
def _place(m, y0, y1, X):
    """Return the mean place of the point, from the origin of the ground."""
    return minus(point(m, vector(X, POINT)), average(frame(y0, 0)[0], frame(y1, 0)[0]))


@inline_kernel
def _write_step(y0, y1, rate, X, out):
    """Write the dual over a step of length 1/rate."""
    m = mean_pose(frame(y0, 1), frame(y1, 1))
    v = times(rate, minus(point(frame(y1, 1), vector(X, POINT)), point(frame(y0, 1), vector(X, POINT))))
    u, _ = flow(_place(m, y0, y1, X), X, FLOW)
    _write(minus(u, v), m, X, 1.0, out)


@dual_function
def step(y0, y1, X, lam, out):
    """Write the dual over a step, lam = 1/h."""
    _write_step(y0, y1, lam[0], X, out)


@dual_function
def rate(y, z, X, lam, out):
    """Write the dual at the rates z of the poses."""
    m = frame(y, 1)
    u, _ = flow(_place(m, y, y, X), X, FLOW)
    _write(minus(u, point(frame(z, 1), vector(X, POINT))), m, X, 1.0, out)


@dual_function
def equations(y0, y1, X, lam, out):
    """Write the dual over a step of length lam[0]."""
    _write_step(y0, y1, 1.0 / lam[0], X, out)


@dual_function
def at_rest(y0, y1, X, lam, out):
    """Write the dual of a strip at rest in the wind."""
    m = mean_pose(frame(y0, 1), frame(y1, 1))
    _write(current(_place(m, y0, y1, X), X, FLOW), m, X, lam[0], out)


@dual_function
def angle_of_attack(y, z, X, lam, out):
    """Write the angle of attack and W of the poses y with the rates z to out[0, 0, :2]."""
    m = frame(y, 1)
    u, _ = flow(_place(m, y, y, X), X, FLOW)
    alpha, W, _, _ = _angle(minus(u, point(frame(z, 1), vector(X, POINT))), m, X)
    out[0, 0, 0], out[0, 0, 1] = alpha, W


AIRFOIL = dissipation("airfoil", 2, step, rate)._replace(
    works=True,
    signal=FLOW,
    state_equations=InternalStateEquations(
        Kind("airfoil, at rest", 2, 0, nothing, at_rest, no_bend, works=True, signal=FLOW), nothing, equations
    ),
)
