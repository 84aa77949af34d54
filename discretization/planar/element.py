"""The SE(3) rod element of two frames that move in a plane: `discretization.space.se3_element` with what is left of it there.

Frames are turned by angles against a common basis of the plane; the relative one is theta, tau = tan(theta/2), u = tau^2,
g(u) = theta/sin(theta). With J x = (-x_2, x_1), a x b = a_1 b_2 - a_2 b_1, e = r_b - r_a and A, B the two turns,

    y = (A + B)^T e/(2 L),   Gamma = g y - (1, 0),   K = theta/L                                             (1)
    w = C (mean of (Gamma, K) - its stress-free value) + D (their change)/h                                  (2)
    on y:  cy = L gbar (w_1, w_2),   n = Sbar cy,   S = (A + B)/(2 L)                                        (3)

Turns of a step are Cayley numbers psi = 2 tan(angle/2): theta changes by 2 atan(x), x = (psi_b - psi_a)/(2 + psi_a psi_b/2),
and tau to (tau + x)/(1 - tau x). The change of g, by g[u0,u1], divides by psi_b - psi_a without a difference:

    t = eps (w_3 atan(x)/x + L (w . ybar) g[u0,u1] T),   eps = 1/(1 + psi_a psi_b/4),   T = (tau0 + tau1)(1 + tau0 tau1)/2   (4)
    torques: on a  (Abar cy) x ebar/(2 L) - t,   on b  n x ebar minus that on a                             (5)

so that n . (dr_b - dr_a) + torques . psi is the change of energy and what is dissipated, exactly.

Numbers are lanes (`rigid.lanes`), of eight elements: what is decided is decided for all of these together, by the largest.
"""

import math

import numpy as np

from discretization.space.strain_functions import strain_function_differences
from rigid.compilation.decorators import flat_kernel, small_kernel
from rigid.lanes import by_lane, largest, where_less

# What an element remembers of the start of a step: y, tau, g, constant part of w (2), strains, dw/d(strains at the end) (2),
# 1/(2 L), e, L.
Y1, Y2, TAU, G0, W1, W2, W3, E1, E2, E3, C11, C12, C13, C22, C23, C33, SCALE, EX, EY, LENGTH, START = range(
    21
)

_LARGEST_OF_SERIES = 0.02  # u to which all terms are exact, and that to which five are
_LARGEST_OF_FIVE = 1e-4
_N = np.arange(10.0)
# g = 1 + sum_{n>=1} (-1)^{n+1} 2/((2n+1)(2n-1)) u^n
_SERIES = (-1.0) ** (_N + 1) * 2.0 / ((2.0 * _N + 1.0) * (2.0 * _N - 1.0))
_SERIES[0] = 1.0
_G1, _G2, _G3, _G4, _G5, _G6, _G7, _G8, _G9 = _SERIES[1:].tolist()


@small_kernel
def _stretch_of_small(u):
    p = _G5 + u * (_G6 + u * (_G7 + u * (_G8 + u * _G9)))
    return 1.0 + u * (_G1 + u * (_G2 + u * (_G3 + u * (_G4 + u * p))))


@by_lane
@small_kernel
def _stretch_of_any(u):
    if u <= _LARGEST_OF_SERIES:
        return _stretch_of_small(u)
    root = math.sqrt(u)
    return (1.0 + u) * math.atan(root) / root


@small_kernel
def stretch(u):
    """g(u)."""
    return _stretch_of_small(u) if largest(u) <= _LARGEST_OF_SERIES else _stretch_of_any(u)


@flat_kernel
def _next_term(a, u0, u1, of):
    """One coefficient more: of p(u0), p(u1), p'(u1), p[u0,u1], p[u0,u1,u1]."""
    p0, p1, slope, first, second = of
    return p0 * u0 + a, p1 * u1 + a, slope * u1 + p1, first * u1 + p0, second * u1 + first


@small_kernel
def stretches(u0, u1):
    """g(u1), g'(u1), g[u0,u1], g[u0,u1,u1]."""
    most, none = max(largest(u0), largest(u1)), 0.0 * u0
    if most <= _LARGEST_OF_SERIES:
        of = (_G5 + none, _G5 + none, none, none, none)
        if most > _LARGEST_OF_FIVE:
            of = (_G9 + none, _G9 + none, none, none, none)
            for a in (_G8, _G7, _G6, _G5):
                of = _next_term(a, u0, u1, of)
        for a in (_G4, _G3, _G2, _G1, 1.0):
            of = _next_term(a, u0, u1, of)
        return of[1], of[2], of[3], of[4]
    f0, f1, df1, F, F1, _, _, _, _, _ = strain_function_differences(u0, u1)
    u = 0.5 * (u0 + u1)
    return (
        (1.0 + u1) * f1,
        f1 + (1.0 + u1) * df1,
        (1.0 + u) * F + 0.5 * (f0 + f1),
        0.5 * F + (1.0 + u) * F1 + 0.5 * df1,
    )


@flat_kernel
def start_of_step(frame_a, frame_b, e, length):
    """y, tau, g, the strains and 1/(2 L); frames: (w, z) of half their turn, then (c, s)."""
    wa, za, ca, sa = frame_a
    wb, zb, cb, sb = frame_b
    scale = 0.5 / length
    sx, sy = scale * (ca + cb), scale * (sa + sb)
    y1, y2 = sx * e[0] + sy * e[1], sx * e[1] - sy * e[0]
    tau = (wa * zb - za * wb) / (wa * wb + za * zb)
    u = tau * tau
    g = stretch(u)
    # theta is g sin(theta)
    return (y1, y2), tau, g, (g * y1 - 1.0, g * y2, 4.0 * scale * (g * tau / (1.0 + u))), scale


@flat_kernel
def linear_part(C, strain0, E):
    """Constant part of w (2) and dw/d(strains at the end) without damping: upper half, row by row; C (9,)."""
    d1, d2, d3 = 0.5 * E[0] - strain0[0], 0.5 * E[1] - strain0[1], 0.5 * E[2] - strain0[2]
    w = (
        C[0] * d1 + C[1] * d2 + C[2] * d3,
        C[3] * d1 + C[4] * d2 + C[5] * d3,
        C[6] * d1 + C[7] * d2 + C[8] * d3,
    )
    return w, (0.5 * C[0], 0.5 * C[1], 0.5 * C[2], 0.5 * C[4], 0.5 * C[5], 0.5 * C[8])


@flat_kernel
def with_damping(w, c, D, E, h):
    """The same with it; D (9,)."""
    rate = 1.0 / h
    w1 = w[0] - rate * (D[0] * E[0] + D[1] * E[1] + D[2] * E[2])
    w2 = w[1] - rate * (D[3] * E[0] + D[4] * E[1] + D[5] * E[2])
    w3 = w[2] - rate * (D[6] * E[0] + D[7] * E[1] + D[8] * E[2])
    c1, c2, c3 = c[0] + rate * D[0], c[1] + rate * D[1], c[2] + rate * D[2]
    return (w1, w2, w3), (c1, c2, c3, c[3] + rate * D[4], c[4] + rate * D[5], c[5] + rate * D[8])


@by_lane
@small_kernel
def _part_of_turn(x):
    """atan(x)/x."""
    return math.atan(x) / x if x != 0.0 else 1.0


@small_kernel
def turning(x):
    """atan(x)/x and its derivative."""
    u = x * x
    value = 1.0 - u * (1.0 / 3.0 - u * (0.2 - u * (1.0 / 7.0 - u * (1.0 / 9.0 - u / 11.0))))
    slope = -x * (2.0 / 3.0 - u * (0.8 - u * (6.0 / 7.0 - u * (8.0 / 9.0 - u * 10.0 / 11.0))))
    if largest(u) < 1e-3:
        return value, slope
    whole = _part_of_turn(x)
    steep = x * (1.0 / (1.0 + u) - whole) / (u + where_less(u, 1e-3, 1.0, 0.0))
    return where_less(u, 1e-3, value, whole), where_less(u, 1e-3, slope, steep)


@flat_kernel
def forces(start, frame_a, frame_b, e1, length):
    """n of (3), torques (5) on a and b, the strains at the end, and what `tangent` takes of them; status 1 where a relative turn
    passed pi.

    start: y, tau, g, constant part of w, third strain, dw/d(strains at the end), 1/(2 L), e, all at the start; frames: (c, s)
    at the start and at the end, then psi.
    """
    (y01, y02), tau0, g0, w0, bent, (c11, c12, c13, c22, c23, c33), scale, e0 = start
    ca0, sa0, ca, sa, pa = frame_a
    cb0, sb0, cb, sb, pb = frame_b
    below = 1.0 + 0.25 * pa * pb
    eps = 1.0 / below
    x = 0.5 * (pb - pa) * eps
    left = 1.0 - tau0 * x
    status = 1 if largest(-below) >= 0.0 or largest(-left) >= 0.0 else 0
    tau = (tau0 + x) / left
    hh, dh = turning(x)
    u1 = tau * tau
    g1, dg1, G, dG = stretches(tau0 * tau0, u1)
    T = 0.5 * (tau0 + tau) * (1.0 + tau0 * tau)
    # strains and stresses
    e1x, e1y = e1
    sx, sy = scale * (ca + cb), scale * (sa + sb)
    y1, y2 = sx * e1x + sy * e1y, sx * e1y - sy * e1x
    E1, E2, E3 = g1 * y1 - 1.0, g1 * y2, bent + 4.0 * hh * x * scale
    w1 = w0[0] + c11 * E1 + c12 * E2 + c13 * E3
    w2 = w0[1] + c12 * E1 + c22 * E2 + c23 * E3
    w3 = w0[2] + c13 * E1 + c23 * E2 + c33 * E3
    # forces
    yb1, yb2, gL = 0.5 * (y01 + y1), 0.5 * (y02 + y2), 0.5 * length * (g0 + g1)
    cy1, cy2 = gL * w1, gL * w2
    A1, A2 = 0.5 * (ca0 + ca), 0.5 * (sa0 + sa)
    S1, S2 = 0.5 * scale * (ca0 + ca + cb0 + cb), 0.5 * scale * (sa0 + sa + sb0 + sb)
    ex, ey = 0.5 * (e0[0] + e1x), 0.5 * (e0[1] + e1y)
    n1, n2 = S1 * cy1 - S2 * cy2, S2 * cy1 + S1 * cy2
    a1, a2 = A1 * cy1 - A2 * cy2, A2 * cy1 + A1 * cy2
    wy, LGT = w1 * yb1 + w2 * yb2, length * G * T
    Q = hh * w3 + wy * LGT
    torque_a = scale * (a1 * ey - a2 * ex) - eps * Q
    torque_b = n1 * ey - n2 * ex - torque_a
    turns = eps, x, hh, dh, tau, u1, g1, dg1, G, dG, T
    places = (sx, sy), (y1, y2), (yb1, yb2), (A1, A2), (S1, S2), (ex, ey)
    own = turns, places, (w1, w2, w3), gL, (cy1, cy2), (n1, n2), (a1, a2), wy, LGT, Q
    return status, (n1, n2, torque_a, torque_b), (E1, E2, E3), own


@flat_kernel
def tangent(start, frame_a, frame_b, e1, length, own):
    """Derivatives of forces and torques, as `forces` gives them, to (e1, angle of a, angle of b), row by row (4, 4)."""
    _, tau0, _, _, _, (c11, c12, c13, c22, c23, c33), scale, _ = start
    turns, places, (w1, w2, w3), gL, (cy1, cy2), (n1, n2), (a1, a2), wy, LGT, Q = own
    eps, x, hh, dh, tau, u1, g1, dg1, G, dG, T = turns
    (sx, sy), (y1, y2), (yb1, yb2), (A1, A2), (S1, S2), (ex, ey) = places
    _, _, ca, sa, pa = frame_a
    _, _, cb, sb, pb = frame_b
    e1x, e1y = e1
    half, quarter, eQ = 0.5 * scale, 0.25 * eps * eps, eps * LGT
    # columns e1
    x1, x2, z1, z2 = g1 * sx, -g1 * sy, g1 * sy, g1 * sx
    dw1, dw2, dw3 = c11 * x1 + c12 * x2, c12 * x1 + c22 * x2, c13 * x1 + c23 * x2
    dc1, dc2 = gL * dw1, gL * dw2
    n11, n21 = S1 * dc1 - S2 * dc2, S2 * dc1 + S1 * dc2
    da1, da2 = A1 * dc1 - A2 * dc2, A2 * dc1 + A1 * dc2
    dwy = dw1 * yb1 + dw2 * yb2 + 0.5 * (w1 * sx - w2 * sy)
    t1 = scale * (da1 * ey - da2 * ex - 0.5 * a2) - eps * hh * dw3 - eQ * dwy
    dw1, dw2, dw3 = c11 * z1 + c12 * z2, c12 * z1 + c22 * z2, c13 * z1 + c23 * z2
    dc1, dc2 = gL * dw1, gL * dw2
    n12, n22 = S1 * dc1 - S2 * dc2, S2 * dc1 + S1 * dc2
    da1, da2 = A1 * dc1 - A2 * dc2, A2 * dc1 + A1 * dc2
    dwy = dw1 * yb1 + dw2 * yb2 + 0.5 * (w1 * sy + w2 * sx)
    t2 = scale * (da1 * ey - da2 * ex + 0.5 * a1) - eps * hh * dw3 - eQ * dwy
    # the turn of a: of A1 at the end, and through theta, which it takes back
    dtau = 0.5 * (1.0 + u1)
    dg = 2.0 * tau * dtau * dg1
    dT = 0.5 * dtau * (1.0 + tau0 * (tau0 + 2.0 * tau))
    dQ = 0.5 * dh * (1.0 + x * x) * w3 + wy * length * (2.0 * tau * dtau * dG * T + G * dT)
    d1, d2 = scale * (ca * e1y - sa * e1x), -scale * (sa * e1y + ca * e1x)
    x1, x2, x3 = g1 * d1 - dg * y1, g1 * d2 - dg * y2, -2.0 * scale
    dw1, dw2 = c11 * x1 + c12 * x2 + c13 * x3, c12 * x1 + c22 * x2 + c23 * x3
    dw3, dgL = c13 * x1 + c23 * x2 + c33 * x3, 0.5 * length * dg
    dc1, dc2 = gL * dw1 - dgL * w1, gL * dw2 - dgL * w2
    acy1, acy2 = ca * cy1 - sa * cy2, sa * cy1 + ca * cy2
    bcy1, bcy2 = cb * cy1 - sb * cy2, sb * cy1 + cb * cy2
    na1, na2 = S1 * dc1 - S2 * dc2 - half * acy2, S2 * dc1 + S1 * dc2 + half * acy1
    da1, da2 = A1 * dc1 - A2 * dc2 - 0.5 * acy2, A2 * dc1 + A1 * dc2 + 0.5 * acy1
    dwy = dw1 * yb1 + dw2 * yb2 + 0.5 * (w1 * d1 + w2 * d2)
    of_a = -quarter * pb * (1.0 + 0.25 * pa * pa)
    ta = scale * (da1 * ey - da2 * ex) - of_a * Q - eps * (hh * dw3 - dQ) - eQ * dwy
    # that of b: with those of a and of e1 it turns the end of the step as a whole, which strains do not see
    of_b = -quarter * pa * (1.0 + 0.25 * pb * pb)
    nb1 = -half * (acy2 + bcy2) - na1 + n11 * e1y - n12 * e1x
    nb2 = half * (acy1 + bcy1) - na2 + n21 * e1y - n22 * e1x
    whole = 0.5 * scale * (-acy2 * ey - acy1 * ex + a1 * e1x + a2 * e1y) - (of_a + of_b) * Q
    tb = whole - ta + t1 * e1y - t2 * e1x
    return (
        n11, n12, na1, nb1,
        n21, n22, na2, nb2,
        t1, t2, ta, tb,
        n11 * ey - n21 * ex - 0.5 * n2 - t1,
        n12 * ey - n22 * ex + 0.5 * n1 - t2,
        na1 * ey - na2 * ex - ta,
        nb1 * ey - nb2 * ex - tb,
    )  # fmt: skip
