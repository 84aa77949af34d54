"""Spring-dampers in the Cayley energy-momentum step.

Between two points, l = |d|, d = p_b - p_a, V = k (l - l0)^2/2. Since l1 - l0 = dbar . (d1 - d0)/lbar exactly, the force

    sigma dbar,   sigma = (k (lbar - l0) + c dbar . (d1 - d0)/(h lbar))/lbar                                 (1)

does exactly the work -(V1 - V0) minus the dissipation c (dl/h)^2 h.

In an angle: with c = u_a . u_b, s = w_a . u_b the angle from u_a to u_b about u_a x w_a is atan2(s, c); its change over the step
is delta = atan2(X, Y), X = c0 s1 - s0 c1 = cbar (s1 - s0) - sbar (c1 - c0), so that

    moment m = k (alpha0 + delta/2 - angle0) + c delta/h,  torque on a  m rho ((cbar wbar_a - sbar ubar_a) x ubar_b),  on b minus that   (2)

with rho = delta/X is again a discrete derivative; alpha0 is carried through full turns.
"""

import math

from rigid.compilation import small_kernel
from rigid.constraints import add_dyad, add_dyad_transposed, add_pair_hessian
from rigid.linear_algebra import cross, dot


@small_kernel
def spring_force(stiffness, damping, length0, h, d, d0, d1):
    """(1): sigma, its derivatives to l1 and to the elongation dbar . (d1 - d0), and lbar; also the dissipation."""
    first, last = math.sqrt(dot(d0, d0)), math.sqrt(dot(d1, d1))
    length = 0.5 * (first + last)
    if length == 0.0:
        return stiffness if length0 == 0.0 else 0.0, 0.0, 0.0, 0.0
    elongation = (d[0] * (d1[0] - d0[0]) + d[1] * (d1[1] - d0[1]) + d[2] * (d1[2] - d0[2])) / length
    sigma = (stiffness * (length - length0) + damping * elongation / h) / length
    # with lbar = (l0 + l1)/2 and elongation = l1 - l0: d sigma/d l1
    slope = 0.0
    if last > 0.0:
        slope = (0.5 * stiffness + damping / h - 0.5 * sigma) / length
    return sigma, slope, last, damping * elongation * elongation / h


@small_kernel
def spring_tangent(sigma, slope, last, xa, xb, d, d1, xa1, xb1, gradient, gradient1, K):
    """K (12, 12) += sigma d(gradient) + gradient (d sigma): `gradient` of d.d/2 averaged, `gradient1` at the end."""
    add_pair_hessian(sigma, xa, xb, d, xa1, xb1, K)
    if last > 0.0:
        for i in range(12):
            for j in range(12):
                K[i, j] += gradient[i] * slope * gradient1[j] / last


@small_kernel
def angle_over_sine(a):
    """a/sin(a) and its derivative, |a| < pi."""
    if abs(a) < 0.02:
        x = a * a
        return 1.0 + x / 6.0 * (1.0 + 7.0 * x / 60.0), a / 3.0 * (1.0 + 7.0 * x / 30.0 + 31.0 * x * x / 840.0)
    s = math.sin(a)
    return a / s, (s - a * math.cos(a)) / (s * s)


@small_kernel
def torsion_spring(
    stiffness, damping, angle0, h, alpha, u0, w0, b0, u1, w1, b1, tangent, V, row, force, K
):
    """(2): force (6,) = torques on a and b; K (6, 6) their tangent to (eta_a, eta_b). Returns delta and the dissipation.

    u, w: directions on frame a, b: direction on frame b, at the start (0) and the end (1) of the step. V: 8 scratch vectors.
    """
    c0, s0, c1, s1 = dot(u0, b0), dot(w0, b0), dot(u1, b1), dot(w1, b1)
    delta = math.atan2(c0 * s1 - s0 * c1, c0 * c1 + s0 * s1)
    radius0, radius1 = math.sqrt(c0 * c0 + s0 * s0), math.sqrt(c1 * c1 + s1 * s1)
    ratio, dratio = angle_over_sine(delta)
    rho = ratio / (radius0 * radius1)
    moment = stiffness * (alpha + 0.5 * delta - angle0) + damping * delta / h
    c, s = 0.5 * (c0 + c1), 0.5 * (s0 + s1)
    q, q1, bbar, tau, dtau, t = V[0], V[1], V[2], V[3], V[4], V[5]
    for i in range(3):
        q[i] = 0.5 * (c * (w0[i] + w1[i]) - s * (u0[i] + u1[i]))
        q1[i] = 0.5 * (c * w1[i] - s * u1[i])
        bbar[i] = 0.5 * (b0[i] + b1[i])
    cross(q, bbar, tau)
    for i in range(3):
        force[i] = moment * rho * tau[i]
        force[3 + i] = -force[i]
    if tangent:
        for i in range(6):
            for j in range(6):
                K[i, j] = 0.0
        factor = moment * rho
        add_dyad(K, 0, 0, factor, q1, bbar)
        for i in range(3):
            t[i] = 0.5 * b1[i]
        add_dyad_transposed(K, 0, 3, factor, q, t)
        dc, ds = V[6], V[7]  # derivative to eta_a of c1, s1; to eta_b it is minus that
        cross(u1, b1, dc)
        cross(w1, b1, ds)
        wb, ub = q1, t
        for i in range(3):
            dtau[i] = 0.5 * (w0[i] + w1[i])
        cross(dtau, bbar, wb)
        for i in range(3):
            dtau[i] = 0.5 * (u0[i] + u1[i])
        cross(dtau, bbar, ub)
        dmoment = 0.5 * stiffness + damping / h
        square = radius1 * radius1
        for j in range(3):
            ddelta = (c1 * ds[j] - s1 * dc[j]) / square
            dradius = (c1 * dc[j] + s1 * ds[j]) / square
            row[j] = dmoment * rho * ddelta + moment * (dratio / (radius0 * radius1) * ddelta - rho * dradius)
        for i in range(3):
            for j in range(3):
                x = tau[i] * row[j] + 0.5 * factor * (wb[i] * dc[j] - ub[i] * ds[j])
                K[i, j] += x
                K[i, 3 + j] -= x
        for i in range(3):
            for j in range(6):
                K[3 + i, j] = -K[i, j]
    return delta, damping * delta * delta / h
