"""Potentials and loads of the charts, compiled: weights, springs, torsion springs, forces and moments.

Discrete derivatives in the invariants of `rigid.springs`; the moment of a load is 000 (128).
"""

import cmath
import math

from rigid.chart_layout import (
    BY_TORQUE,
    CHART,
    FRAME_INTS,
    HEAD,
    LOAD_FLOATS,
    LOAD_INTS,
    N_LOADS,
    N_SPRINGS,
    N_TORSIONS,
    N_WEIGHTS,
    QUATERNION,
    SPRING_FLOATS,
    SPRING_INTS,
    TORSION_FLOATS,
    TORSION_INTS,
    WEIGHT_FLOATS,
    float_starts,
    load_at,
    starts,
)
from rigid.compilation import small_kernel
from rigid.linear_algebra import average, cross, dot, minus, plus, times
from rigid.mechanical import system_function
from rigid.poses import (
    ZERO,
    add_mean_pulled,
    add_pulled,
    clear,
    direction,
    load_quat,
    on_point,
    point,
    pose,
)
from rigid.quaternion_maps import E_transposed, add_quat, quat_dot
from rigid.system import FORCE


@small_kernel
def turned_pair(ya, yb, numbers, i):
    """(c, s, u_a, w_a, u_b) of a torsion spring: c = u_a . u_b, s = w_a . u_b."""
    u, w = direction(ya, load_at(numbers, i)), direction(ya, load_at(numbers, i + 3))
    b = direction(yb, load_at(numbers, i + 6))
    return dot(u, b), dot(w, b), u, w, b


@small_kernel
def argument(c, s):
    """Angle of (c, s) and, for a complex step, its first derivative along the imaginary parts.

    A complex logarithm would mix the tiny imaginary parts with the real ones and lose them.
    """
    square = c.real * c.real + s.real * s.real
    return math.atan2(s.real, c.real) + 1j * (c.real * s.imag - s.real * c.imag) / square


@small_kernel
def angle_of(ya, yb, numbers, i):
    """Angle of a torsion spring, nearest to the one at the start (`branch`).

    V is a function of q alone and counts no turns: a spring wound by more than half a turn needs `em`.
    """
    c, s, _, _, _ = turned_pair(ya, yb, numbers, i)
    turn, branch = argument(c, s), numbers[i + 11]
    return turn + 2.0 * math.pi * round((branch - turn.real) / (2.0 * math.pi))


@small_kernel
def add_spring_forces(q0, q1, D, out):
    """out += discrete derivative of the springs' energy, pulled back at (q0 + q1)/2; gradient if q0 is q1."""
    numbers, table = D.numbers, D.table
    s, sf = starts(table)[1], float_starts(table)[1]
    for k in range(table[N_SPRINGS]):
        at, i = s + SPRING_INTS * k, sf + SPRING_FLOATS * k
        a, b = table[at], table[at + 1]
        Xa, Xb = load_at(numbers, i), load_at(numbers, i + 3)
        d0 = minus(point(pose(q0, numbers, table, b), Xb), point(pose(q0, numbers, table, a), Xa))
        d1 = minus(point(pose(q1, numbers, table, b), Xb), point(pose(q1, numbers, table, a), Xa))
        length = 0.5 * (cmath.sqrt(dot(d0, d0)) + cmath.sqrt(dot(d1, d1)))
        force = times(numbers[i + 6] * (length - numbers[i + 7]) / length, average(d0, d1))
        add_mean_pulled(on_point(times(-1.0, force), Xa), q0, q1, D, a, out)
        add_mean_pulled(on_point(force, Xb), q0, q1, D, b, out)


@small_kernel
def add_torsion_forces(q0, q1, D, out):
    """out += discrete derivative of the torsion springs' energy; see `rigid.springs` for the formula."""
    numbers, table = D.numbers, D.table
    t, tf = starts(table)[2], float_starts(table)[2]
    for k in range(table[N_TORSIONS]):
        at, i = t + TORSION_INTS * k, tf + TORSION_FLOATS * k
        a, b = table[at], table[at + 1]
        ya, yb = pose(q0, numbers, table, a), pose(q0, numbers, table, b)
        za, zb = pose(q1, numbers, table, a), pose(q1, numbers, table, b)
        c0, s0, u0, w0, b0 = turned_pair(ya, yb, numbers, i)
        c1, s1, u1, w1, b1 = turned_pair(za, zb, numbers, i)
        radii = cmath.sqrt((c0 * c0 + s0 * s0) * (c1 * c1 + s1 * s1))
        X = c0 * s1 - s0 * c1
        delta = argument(c0 * c1 + s0 * s1, X)
        ratio = 1.0 + delta * delta / 6.0 + 7.0 * delta**2 * delta**2 / 360.0
        if abs(delta.real) > 1e-3:
            ratio = delta / (X / radii)
        start = angle_of(ya, yb, numbers, i)
        moment = numbers[i + 9] * (start + 0.5 * delta - numbers[i + 10]) * ratio / radii
        c, s = 0.5 * (c0 + c1), 0.5 * (s0 + s1)
        u, w, beta = average(u0, u1), average(w0, w1), average(b0, b1)
        # moment (cbar ds - sbar dc), with ds = w . db + b . dw and dc = u . db + b . du
        fb = times(moment, minus(times(c, w), times(s, u)))
        fu, fw = times(-moment * s, beta), times(moment * c, beta)
        fa = dual_of_two_directions(fu, load_at(numbers, i), fw, load_at(numbers, i + 3))
        add_mean_pulled(fa, q0, q1, D, a, out)
        add_mean_pulled(dual_of_two_directions(fb, load_at(numbers, i + 6), ZERO, ZERO), q0, q1, D, b, out)


@small_kernel
def dual_of_two_directions(fu, U, fw, W):
    """Dual of fu on the direction U and fw on the direction W."""
    return (
        ZERO,
        plus(times(U[0], fu), times(W[0], fw)),
        plus(times(U[1], fu), times(W[1], fw)),
        plus(times(U[2], fu), times(W[2], fw)),
    )


@small_kernel
def add_weights(q0, q1, D, out):
    """out -= constant forces, pulled back at (q0 + q1)/2."""
    numbers, table = D.numbers, D.table
    w, wf = starts(table)[3], float_starts(table)[3]
    for k in range(table[N_WEIGHTS]):
        i = wf + WEIGHT_FLOATS * k
        f = times(-1.0 + 0j, load_at(numbers, i + 3))
        add_mean_pulled(on_point(f, load_at(numbers, i)), q0, q1, D, table[w + k], out)


@system_function("potential")
def potential(q, D, out):
    """V(q) of weights, springs and torsion springs."""
    numbers, table = D.numbers, D.table
    _, s, t, w, _ = starts(table)
    _, sf, tf, wf, _ = float_starts(table)
    V = 0j
    for k in range(table[N_SPRINGS]):
        at, i = s + SPRING_INTS * k, sf + SPRING_FLOATS * k
        ya, yb = pose(q, numbers, table, table[at]), pose(q, numbers, table, table[at + 1])
        d = minus(point(yb, load_at(numbers, i + 3)), point(ya, load_at(numbers, i)))
        elongation = cmath.sqrt(dot(d, d)) - numbers[i + 7]
        V += 0.5 * numbers[i + 6] * elongation * elongation
    for k in range(table[N_TORSIONS]):
        at, i = t + TORSION_INTS * k, tf + TORSION_FLOATS * k
        ya, yb = pose(q, numbers, table, table[at]), pose(q, numbers, table, table[at + 1])
        angle = angle_of(ya, yb, numbers, i) - numbers[i + 10]
        V += 0.5 * numbers[i + 9] * angle * angle
    for k in range(table[N_WEIGHTS]):
        i = wf + WEIGHT_FLOATS * k
        y = pose(q, numbers, table, table[w + k])
        V -= dot(load_at(numbers, i + 3), point(y, load_at(numbers, i)))
    out[0] = V


@system_function("discrete_gradient")
def discrete_gradient(q0, q1, D, out):
    """Discrete derivative of V: V(q1) - V(q0) = out . (q1 - q0)."""
    clear(out)
    add_weights(q0, q1, D, out)
    add_spring_forces(q0, q1, D, out)
    add_torsion_forces(q0, q1, D, out)


@system_function("gradient")
def gradient(q, D, out):
    """Gradient of V."""
    clear(out)
    add_weights(q, q, D, out)
    add_spring_forces(q, q, D, out)
    add_torsion_forces(q, q, D, out)


@system_function("force")
def force(q, signal, D, out):
    """Generalised forces of loads whose values (l, 3) stand in `signal`; a moment m is 2 E(q)^T m (000 (128))."""
    numbers, table = D.numbers, D.table
    clear(out)
    l, lf = starts(table)[4], float_starts(table)[4]
    for k in range(table[N_LOADS]):
        at, i = l + LOAD_INTS * k, lf + LOAD_FLOATS * k
        frame = table[at + 1]
        y = pose(q, numbers, table, frame)
        f = times(1.0 + 0j, load_at(signal, 3 * k))
        if table[at + 2] == 1:
            f = direction(y, f)
        if table[at] == FORCE:
            add_pulled(on_point(f, load_at(numbers, i)), q, table, frame, 1.0, out)
            continue
        to = table[HEAD + FRAME_INTS * frame + 1]
        if to < 0:
            continue
        if table[CHART] == QUATERNION:
            quat = load_quat(q, to)
            scale = quat_dot(quat, quat) if table[BY_TORQUE] else 1.0 + 0j
            add_quat(2.0 / scale, E_transposed(quat, f), to, out)
        else:
            # the angular velocity is sum d_k x d(d_k)/dt / 2
            duals = ZERO, times(0.5, cross(f, y[1])), times(0.5, cross(f, y[2])), times(0.5, cross(f, y[3]))
            add_pulled(duals, q, table, frame, 1.0, out)
