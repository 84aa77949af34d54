"""Spring-dampers in the Cayley energy-momentum step.

Between two points, l = |d|, d = p_b - p_a, V = k (l - l0)^2/2. Since l1 - l0 = dbar . (d1 - d0)/lbar
exactly, the force

    sigma dbar,   sigma = (k (lbar - l0) + c dbar . (d1 - d0)/(h lbar))/lbar
    (1)

does exactly the work -(V1 - V0) minus the dissipation c (dl/h)^2 h.

In an angle: with c = u_a . u_b, s = w_a . u_b the angle from u_a to u_b about u_a x w_a is atan2(s, c); its
change over the step is delta = atan2(X, Y), X = c0 s1 - s0 c1 = cbar (s1 - s0) - sbar (c1 - c0), so that

    moment m = k (alpha0 + delta/2 - angle0) + c delta/h
    (2) torque on a  m rho ((cbar wbar_a - sbar ubar_a) x ubar_b),  on b minus that,  rho = delta/X
    (3)

is again a discrete derivative; alpha0 is carried through full turns.
"""

import math

from rigid.compilation import small_kernel
from rigid.constraints import turned_right
from rigid.linear_algebra import (
    average,
    cross,
    dot,
    dyad,
    matrix_plus,
    matrix_times,
    minus,
    outer,
    plus,
    times,
)


@small_kernel
def spring_force(stiffness, damping, length0, h, d, d0, d1):
    """(1): sigma, d sigma/d l1 divided by l1, and the dissipation over the step."""
    first, last = math.sqrt(dot(d0, d0)), math.sqrt(dot(d1, d1))
    length = 0.5 * (first + last)
    if length == 0.0:
        return stiffness if length0 == 0.0 else 0.0, 0.0, 0.0
    elongation = dot(d, minus(d1, d0)) / length
    sigma = (stiffness * (length - length0) + damping * elongation / h) / length
    slope = 0.0
    if last > 0.0:
        slope = (0.5 * stiffness + damping / h - 0.5 * sigma) / (length * last)
    return sigma, slope, damping * elongation * elongation / h


@small_kernel
def angle_over_sine(a):
    """a/sin(a) and its derivative, |a| < pi."""
    if abs(a) < 0.02:
        x = a * a
        return 1.0 + x / 6.0 * (1.0 + 7.0 * x / 60.0), a / 3.0 * (1.0 + 7.0 * x / 30.0 + 31.0 * x * x / 840.0)
    s = math.sin(a)
    return a / s, (s - a * math.cos(a)) / (s * s)


@small_kernel
def torsion_spring(stiffness, damping, angle0, h, alpha, u0, w0, b0, u1, w1, b1):
    """(3): change of the angle, dissipation, torque on a, and its derivatives to eta_a and eta_b (two
    matrices).

    u, w: directions on frame a, b: direction on frame b, at the start (0) and the end (1) of the step.
    """
    c0, s0, c1, s1 = dot(u0, b0), dot(w0, b0), dot(u1, b1), dot(w1, b1)
    delta = math.atan2(c0 * s1 - s0 * c1, c0 * c1 + s0 * s1)
    square = c1 * c1 + s1 * s1
    radii = math.sqrt((c0 * c0 + s0 * s0) * square)
    ratio, dratio = angle_over_sine(delta)
    rho = ratio / radii
    moment = stiffness * (alpha + 0.5 * delta - angle0) + damping * delta / h  # (2)
    c, s = 0.5 * (c0 + c1), 0.5 * (s0 + s1)
    u, w, b = average(u0, u1), average(w0, w1), average(b0, b1)
    q, q1 = minus(times(c, w), times(s, u)), times(0.5, minus(times(c, w1), times(s, u1)))
    tau = cross(q, b)
    torque = times(moment * rho, tau)
    # the rates of c1 and s1 are dc . (eta_a - eta_b), ds . (eta_a - eta_b)
    dc, ds = cross(u1, b1), cross(w1, b1)
    ddelta = times(1.0 / square, minus(times(c1, ds), times(s1, dc)))
    dradius = times(1.0 / square, plus(times(c1, dc), times(s1, ds)))
    row = times((0.5 * stiffness + damping / h) * rho, ddelta)
    row = plus(row, times(moment, minus(times(dratio / radii, ddelta), times(rho, dradius))))
    common = outer(tau, row)
    half = 0.5 * moment * rho
    common = matrix_plus(common, matrix_times(half, outer(cross(w, b), dc)))
    common = matrix_plus(common, matrix_times(-half, outer(cross(u, b), ds)))
    to_a = matrix_plus(common, matrix_times(moment * rho, dyad(q1, b)))
    to_b = matrix_plus(matrix_times(-1.0, common), matrix_times(half, turned_right(q, b1)))
    return delta, damping * delta * delta / h, torque, to_a, to_b
