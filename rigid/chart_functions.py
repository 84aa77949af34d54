"""The compiled functions of a multibody model in the director chart and in the quaternion chart.

Every interaction is written once, in points p = r + R X and directions u = R U of the frames it joins; the pull-back
of `rigid.poses` brings its forces to the coordinates of either chart. Values are functions of one pose, discrete
derivatives of averaged poses: those of points and directions are exact, since poses are at most quadratic in
the coordinates.

Sources: internal constraints 002 (103), 000 (30); mass 002 (101), 000 (46), (139); alpha- and gamma-type inertia 004.
"""

import cmath
import math

from rigid.chart_layout import (
    ALPHA,
    BY_TORQUE,
    CHART,
    CONSTRAINT_FLOATS,
    CONSTRAINT_INTS,
    FRAME_FLOATS,
    FRAME_INTS,
    GAMMA,
    HEAD,
    INERTIA,
    LOAD_FLOATS,
    LOAD_INTS,
    N_CONSTRAINTS,
    N_FRAMES,
    N_LOADS,
    N_SPRINGS,
    N_TORSIONS,
    N_WEIGHTS,
    QUATERNION,
    SINGULAR,
    SPRING_FLOATS,
    SPRING_INTS,
    TORSION_FLOATS,
    TORSION_INTS,
    WEIGHT_FLOATS,
    float_starts,
    load_at,
    load_matrix_at,
    starts,
)
from rigid.compilation import small_kernel
from rigid.linear_algebra import apply, average, cross, dot, minus, plus, times
from rigid.mechanical import system_function
from rigid.poses import (
    ZERO,
    add_position_part,
    add_pulled,
    add_quaternion_part,
    direction,
    load_quat,
    mean_pose,
    on_point,
    on_point_and_direction,
    point,
    pose,
    rate,
    torque_of,
)
from rigid.quaternion_maps import E_transposed, G, G_transposed, add_quat, quat_dot, quat_mean
from rigid.system import ALONG, COINCIDENT, FORCE, PERPENDICULAR

AXES = ((1.0 + 0j, 0j, 0j), (0j, 1.0 + 0j, 0j), (0j, 0j, 1.0 + 0j))


@small_kernel
def clear(out):
    """out = 0, a vector."""
    for i in range(out.size):
        out[i] = 0.0


@small_kernel
def clear_matrix(out):
    """out = 0, a matrix."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0


# --- constraints ---------------------------------------------------------------------------------


@small_kernel
def constraint_forces(kind, lam, ua, ub, d):
    """Forces lam dg: on p_b (minus it on p_a), on u_a and on u_b; kinds of `rigid.system` but COINCIDENT."""
    if kind == PERPENDICULAR:
        return ZERO, times(lam, ub), times(lam, ua)
    if kind == ALONG:
        return times(lam, ua), times(lam, d), ZERO
    return times(lam, d), ZERO, ZERO


@small_kernel
def duals_of_constraint(kind, lam, ya, yb, numbers, i):
    """Duals on frames a and b of lam dg at the poses given."""
    Xa, Xb = load_at(numbers, i), load_at(numbers, i + 3)
    Ua, Ub = load_at(numbers, i + 6), load_at(numbers, i + 9)
    d = minus(point(yb, Xb), point(ya, Xa))
    f, fa, fb = constraint_forces(kind, lam, direction(ya, Ua), direction(yb, Ub), d)
    return on_point_and_direction(times(-1.0, f), Xa, fa, Ua), on_point_and_direction(f, Xb, fb, Ub)


@small_kernel
def pair_of(k):
    """Directors (i, j) of internal constraint k in the director chart: (103) of 002."""
    if k < 3:
        return k, k
    if k == 3:
        return 0, 1
    if k == 4:
        return 0, 2
    return 1, 2


@small_kernel
def fill_jacobian(q0, q1, D, out):
    """Discrete derivative of g between q0 and q1; its Jacobian where both are the same."""
    numbers, table = D.numbers, D.table
    clear_matrix(out)
    row = 0
    for f in range(table[N_FRAMES]):
        to = table[HEAD + FRAME_INTS * f + 1]
        if to < 0:
            continue
        if table[CHART] == QUATERNION:
            for i in range(4):
                out[row, to + i] = 0.5 * (q0[to + i] + q1[to + i])
            row += 1
        else:
            for k in range(6):
                i, j = pair_of(k)
                for l in range(3):
                    out[row, to + 3 * i + l] = 0.5 * (q0[to + 3 * j + l] + q1[to + 3 * j + l])
                    out[row, to + 3 * j + l] = 0.5 * (q0[to + 3 * i + l] + q1[to + 3 * i + l])
                row += 1
    first = starts(table)[0]
    number = float_starts(table)[0]
    for c in range(table[N_CONSTRAINTS]):
        at, i = first + CONSTRAINT_INTS * c, number + CONSTRAINT_FLOATS * c
        kind, a, b, row = table[at], table[at + 1], table[at + 2], table[at + 3]
        if kind == COINCIDENT:
            for k in range(3):
                fa = on_point(times(-1.0, AXES[k]), load_at(numbers, i))
                fb = on_point(AXES[k], load_at(numbers, i + 3))
                add_mean_pulled(fa, q0, q1, D, a, out[row + k])
                add_mean_pulled(fb, q0, q1, D, b, out[row + k])
            continue
        ya = mean_pose(pose(q0, numbers, table, a), pose(q1, numbers, table, a))
        yb = mean_pose(pose(q0, numbers, table, b), pose(q1, numbers, table, b))
        fa, fb = duals_of_constraint(kind, 1.0 + 0j, ya, yb, numbers, i)
        add_mean_pulled(fa, q0, q1, D, a, out[row])
        add_mean_pulled(fb, q0, q1, D, b, out[row])


@small_kernel
def add_mean_pulled(f, q0, q1, D, frame, out):
    """out += the dual f of a discrete derivative between q0 and q1, brought to the coordinates.

    Pulled back at (q0 + q1)/2, where it is the discrete derivative in the coordinates; or, with the switch BY_TORQUE,
    as the torque in averaged directors, F = 2 E(qbar)^T torque/|qbar|^2, which is what EML-kappa needs.
    """
    table = D.table
    to = table[HEAD + FRAME_INTS * frame + 1]
    add_position_part(f, table, frame, 1.0, out)
    if to < 0:
        return
    if table[CHART] != QUATERNION:
        for i in range(3):
            for k in range(3):
                out[to + 3 * k + i] += f[1 + k][i]
        return
    p, q = load_quat(q0, to), load_quat(q1, to)
    if table[BY_TORQUE] == 0:
        add_quaternion_part(f, quat_mean(p, q), to, 1.0, out)
        return
    y = mean_pose(pose(q0, D.numbers, table, frame), pose(q1, D.numbers, table, frame))
    mean = quat_mean(p, q)
    add_quat(2.0 / quat_dot(mean, mean), E_transposed(mean, torque_of(f, y)), to, out)


@system_function("constraints")
def constraints(q, D, out):
    """g(q): internal ones frame by frame, then the joints."""
    numbers, table = D.numbers, D.table
    row = 0
    for f in range(table[N_FRAMES]):
        to = table[HEAD + FRAME_INTS * f + 1]
        if to < 0:
            continue
        if table[CHART] == QUATERNION:
            quat = load_quat(q, to)
            out[row] = 0.5 * (quat_dot(quat, quat) - 1.0)
            row += 1
        else:
            for k in range(6):
                i, j = pair_of(k)
                value = dot(load_at(q, to + 3 * i), load_at(q, to + 3 * j))
                out[row] = 0.5 * (value - 1.0) if i == j else value
                row += 1
    first = starts(table)[0]
    number = float_starts(table)[0]
    for c in range(table[N_CONSTRAINTS]):
        at, i = first + CONSTRAINT_INTS * c, number + CONSTRAINT_FLOATS * c
        kind, row = table[at], table[at + 3]
        ya, yb = pose(q, numbers, table, table[at + 1]), pose(q, numbers, table, table[at + 2])
        d = minus(point(yb, load_at(numbers, i + 3)), point(ya, load_at(numbers, i)))
        ua, ub = direction(ya, load_at(numbers, i + 6)), direction(yb, load_at(numbers, i + 9))
        if kind == COINCIDENT:
            for k in range(3):
                out[row + k] = d[k]
        elif kind == PERPENDICULAR:
            out[row] = dot(ua, ub) - numbers[i + 12]
        elif kind == ALONG:
            out[row] = dot(ua, d) - numbers[i + 12]
        else:
            out[row] = 0.5 * dot(d, d) - numbers[i + 12]


@system_function("jacobian")
def jacobian(q, D, out):
    """G(q)."""
    fill_jacobian(q, q, D, out)


@system_function("discrete_jacobian")
def discrete_jacobian(q0, q1, D, out):
    """Discrete derivative of g: g(q1) - g(q0) = out (q1 - q0)."""
    fill_jacobian(q0, q1, D, out)


@system_function("curvature")
def curvature(q, w, lam, D, out):
    """Gradient of lam . G(q) w."""
    numbers, table = D.numbers, D.table
    clear(out)
    row = 0
    for f in range(table[N_FRAMES]):
        to = table[HEAD + FRAME_INTS * f + 1]
        if to < 0:
            continue
        if table[CHART] == QUATERNION:
            add_quat(lam[row], load_quat(w, to), to, out)
            row += 1
        else:
            for k in range(6):
                i, j = pair_of(k)
                for l in range(3):
                    if i == j:
                        out[to + 3 * i + l] += lam[row] * w[to + 3 * i + l]
                    else:
                        out[to + 3 * i + l] += lam[row] * w[to + 3 * j + l]
                        out[to + 3 * j + l] += lam[row] * w[to + 3 * i + l]
                row += 1
    first = starts(table)[0]
    number = float_starts(table)[0]
    for c in range(table[N_CONSTRAINTS]):
        at, i = first + CONSTRAINT_INTS * c, number + CONSTRAINT_FLOATS * c
        kind, a, b, row = table[at], table[at + 1], table[at + 2], table[at + 3]
        if kind == COINCIDENT:
            pull = lam[row], lam[row + 1], lam[row + 2]
            fa = on_point(times(-1.0, pull), load_at(numbers, i))
            fb = on_point(pull, load_at(numbers, i + 3))
        else:
            ya, yb = pose(q, numbers, table, a), pose(q, numbers, table, b)
            fa, fb = duals_of_constraint(kind, lam[row], ya, yb, numbers, i)
            # the forces are linear in the poses: their rate is the same formula at the rates
            za, zb = rate(q, w, table, a), rate(q, w, table, b)
            ga, gb = duals_of_constraint(kind, lam[row], za, zb, numbers, i)
            add_pulled(ga, q, table, a, 1.0, out)
            add_pulled(gb, q, table, b, 1.0, out)
        if table[CHART] == QUATERNION:
            for frame, force in ((a, fa), (b, fb)):
                to = table[HEAD + FRAME_INTS * frame + 1]
                if to >= 0:
                    add_quaternion_part(force, load_quat(w, to), to, 1.0, out)


# --- potential -----------------------------------------------------------------------------------


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


# --- inertia -------------------------------------------------------------------------------------


@small_kernel
def euler_tensor(J):
    """E = tr(J)/2 I - J, the second moments of the mass."""
    half = 0.5 * (J[0] + J[4] + J[8])
    return half - J[0], -J[1], -J[2], -J[3], half - J[4], -J[5], -J[6], -J[7], half - J[8]


@small_kernel
def inverse3(A):
    """Inverse of a symmetric 3 x 3 matrix."""
    c0 = A[4] * A[8] - A[5] * A[7], A[5] * A[6] - A[3] * A[8], A[3] * A[7] - A[4] * A[6]
    det = A[0] * c0[0] + A[1] * c0[1] + A[2] * c0[2]
    s = 1.0 / det
    return (
        s * c0[0], s * (A[2] * A[7] - A[1] * A[8]), s * (A[1] * A[5] - A[2] * A[4]),
        s * c0[1], s * (A[0] * A[8] - A[2] * A[6]), s * (A[2] * A[3] - A[0] * A[5]),
        s * c0[2], s * (A[1] * A[6] - A[0] * A[7]), s * (A[0] * A[4] - A[1] * A[3]),
    )  # fmt: skip


@small_kernel
def inertia_split(D, f):
    """(K, beta, gamma) of T = Omega . K Omega/2 + 2 beta (q . v)^2 + 2 gamma v . v, Omega = 2 G(q) v."""
    base = FRAME_FLOATS * f
    J, parameter = load_matrix_at(D.numbers, base + 13), D.numbers[base + 22]
    kind = D.table[INERTIA]
    if kind == SINGULAR:
        return J, 0.0, 0.0
    if kind == ALPHA:
        return J, parameter, 0.0
    g = parameter
    return (J[0] - g, J[1], J[2], J[3], J[4] - g, J[5], J[6], J[7], J[8] - g), 0.0, g


@small_kernel
def coenergy_split(D, f):
    """(K, beta, gamma) of T* = t . K t/8 + beta (q . p)^2/8 + gamma p . p/8, t = G(q) p."""
    base = FRAME_FLOATS * f
    J, parameter = load_matrix_at(D.numbers, base + 13), D.numbers[base + 22]
    K = inverse3(J)
    if D.table[INERTIA] != GAMMA:
        return K, 1.0 / parameter, 0.0
    g = 1.0 / parameter
    return (K[0] - g, K[1], K[2], K[3], K[4] - g, K[5], K[6], K[7], K[8] - g), 0.0, g


@small_kernel
def fill_quaternion_form(s, K, beta, gamma, q, to, out):
    """Block at `to` = s (G(q)^T K G(q) + beta q q^T + gamma I)."""
    for j in range(4):
        e = (
            (1.0 + 0j if j == 0 else 0j),
            (
                1.0 + 0j if j == 1 else 0j,
                1.0 + 0j if j == 2 else 0j,
                1.0 + 0j if j == 3 else 0j,
            ),
        )
        c = G_transposed(q, apply(K, G(q, e)))
        b = beta * quat_dot(q, e)
        out[to, to + j] = s * (c[0] + b * q[0] + gamma * e[0])
        for i in range(3):
            out[to + 1 + i, to + j] = s * (c[1][i] + b * q[1][i] + gamma * e[1][i])


@small_kernel
def add_form_gradient(s, K, beta, q, a, b, to, out):
    """out += gradient of s a . (G(q)^T K G(q) + beta q q^T) b."""
    add_quat(-s, G_transposed(a, apply(K, G(q, b))), to, out)
    add_quat(-s, G_transposed(b, apply(K, G(q, a))), to, out)
    add_quat(s * beta * quat_dot(q, b), a, to, out)
    add_quat(s * beta * quat_dot(q, a), b, to, out)


@small_kernel
def fill_directors(E, to, out):
    """Blocks E_ij I of three directors."""
    for i in range(3):
        for j in range(3):
            for l in range(3):
                out[to + 3 * i + l, to + 3 * j + l] = E[3 * i + j]


@small_kernel
def add_discrete_form(s, K, beta, gamma, q0, v0, q1, v1, to, out_q, out_v):
    """Discrete derivatives of s (w . K w + beta c^2 + gamma v . v)/2, w = G(q) v and c = q . v bilinear: their
    averages over the step take the place of their values (000 (87), 000 (146))."""
    q, v = quat_mean(q0, q1), quat_mean(v0, v1)
    w = times(0.5, plus(G(q0, v0), G(q1, v1)))
    c = 0.5 * (quat_dot(q0, v0) + quat_dot(q1, v1))
    Kw = apply(K, w)
    add_quat(s, G_transposed(q, Kw), to, out_v)
    add_quat(s * beta * c, q, to, out_v)
    add_quat(s * gamma, v, to, out_v)
    add_quat(-s, G_transposed(v, Kw), to, out_q)
    add_quat(s * beta * c, v, to, out_q)


@small_kernel
def add_directors(E, v0, v1, to, out):
    """out += E_ij (v0_j + v1_j)/2 of three directors."""
    for i in range(3):
        for j in range(3):
            for l in range(3):
                out[to + 3 * i + l] += 0.5 * E[3 * i + j] * (v0[to + 3 * j + l] + v1[to + 3 * j + l])


@small_kernel
def form_of(D, f, inverse):
    """(s, m, K, beta, gamma) of frame f: T, or T* where `inverse`, is m v . v/2 of its position and s/2 times the form of
    `inertia_split`, or of `coenergy_split`, of its quaternion.
    """
    mass = D.numbers[FRAME_FLOATS * f + 12]
    if inverse:
        K, beta, gamma = coenergy_split(D, f)
        return 0.25, 1.0 / mass, K, beta, gamma
    K, beta, gamma = inertia_split(D, f)
    return 4.0, mass, K, beta, gamma


@small_kernel
def directors_of(D, f, inverse):
    """Euler tensor of frame f, or its inverse."""
    E = euler_tensor(load_matrix_at(D.numbers, FRAME_FLOATS * f + 13))
    return inverse3(E) if inverse else E


@small_kernel
def fill_forms(q, D, inverse, out):
    """out = M(q) or W(q)."""
    table = D.table
    clear_matrix(out)
    for f in range(table[N_FRAMES]):
        at, to = table[HEAD + FRAME_INTS * f], table[HEAD + FRAME_INTS * f + 1]
        if at < 0 and to < 0:
            continue
        s, m, K, beta, gamma = form_of(D, f, inverse)
        if at >= 0:
            for i in range(3):
                out[at + i, at + i] = m
        if to >= 0 and table[CHART] == QUATERNION:
            fill_quaternion_form(s, K, beta, gamma, load_quat(q, to), to, out)
        elif to >= 0:
            fill_directors(directors_of(D, f, inverse), to, out)


@small_kernel
def fill_form_gradients(q, a, b, D, inverse, out):
    """out = gradient of a . M(q) b or a . W(q) b."""
    clear(out)
    if D.table[CHART] != QUATERNION:
        return
    for f in range(D.table[N_FRAMES]):
        to = D.table[HEAD + FRAME_INTS * f + 1]
        if to >= 0:
            s, _, K, beta, _ = form_of(D, f, inverse)
            add_form_gradient(s, K, beta, load_quat(q, to), load_quat(a, to), load_quat(b, to), to, out)


@small_kernel
def fill_discrete_forms(q0, v0, q1, v1, D, inverse, out_q, out_v):
    """Discrete derivatives of v . M(q) v/2 or v . W(q) v/2."""
    table = D.table
    clear(out_q)
    clear(out_v)
    for f in range(table[N_FRAMES]):
        at, to = table[HEAD + FRAME_INTS * f], table[HEAD + FRAME_INTS * f + 1]
        if at < 0 and to < 0:
            continue
        s, m, K, beta, gamma = form_of(D, f, inverse)
        if at >= 0:
            for i in range(3):
                out_v[at + i] = 0.5 * m * (v0[at + i] + v1[at + i])
        if to >= 0 and table[CHART] == QUATERNION:
            q, v, p, w = load_quat(q0, to), load_quat(v0, to), load_quat(q1, to), load_quat(v1, to)
            add_discrete_form(s, K, beta, gamma, q, v, p, w, to, out_q, out_v)
        elif to >= 0:
            add_directors(directors_of(D, f, inverse), v0, v1, to, out_v)


@system_function("mass")
def mass(q, D, out):
    """M(q)."""
    fill_forms(q, D, False, out)


@system_function("inverse_mass")
def inverse_mass(q, D, out):
    """W(q): M^-1 on |q| = 1, continued as a polynomial of q (000 (139))."""
    fill_forms(q, D, True, out)


@system_function("mass_gradient")
def mass_gradient(q, a, b, D, out):
    """Gradient of a . M(q) b."""
    fill_form_gradients(q, a, b, D, False, out)


@system_function("inverse_mass_gradient")
def inverse_mass_gradient(q, a, b, D, out):
    """Gradient of a . W(q) b."""
    fill_form_gradients(q, a, b, D, True, out)


@system_function("discrete_kinetic")
def discrete_kinetic(q0, v0, q1, v1, D, out_q, out_v):
    """Discrete derivatives of T(q, v) in terms of Omega: 000 (87), (88)."""
    fill_discrete_forms(q0, v0, q1, v1, D, False, out_q, out_v)


@system_function("discrete_coenergy")
def discrete_coenergy(q0, p0, q1, p1, D, out_q, out_p):
    """Discrete derivatives of T*(q, p) in terms of G(q) p, q . p and p: 000 (146)."""
    fill_discrete_forms(q0, p0, q1, p1, D, True, out_q, out_p)
