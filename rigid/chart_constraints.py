"""Constraints of the charts, compiled: g, its Jacobian G, its discrete derivative, and the gradient of lam . G w.

Internal ones: 002 (103), 000 (30); joints in bilinear invariants of points and directions: rigid.system.
"""

from rigid.chart_layout import (
    CHART,
    CONSTRAINT_FLOATS,
    CONSTRAINT_INTS,
    FRAME_INTS,
    HEAD,
    N_CONSTRAINTS,
    N_FRAMES,
    QUATERNION,
    float_starts,
    load_at,
    starts,
)
from rigid.compilation import small_kernel
from rigid.linear_algebra import dot, minus, times
from rigid.mechanical import system_function
from rigid.poses import (
    ZERO,
    add_mean_pulled,
    add_pulled,
    add_quaternion_part,
    clear,
    clear_matrix,
    direction,
    load_quat,
    mean_pose,
    on_point,
    on_point_and_direction,
    point,
    pose,
    rate,
)
from rigid.quaternion_maps import add_quat, quat_dot
from rigid.system import ALONG, COINCIDENT, PERPENDICULAR

AXES = ((1.0 + 0j, 0j, 0j), (0j, 1.0 + 0j, 0j), (0j, 0j, 1.0 + 0j))


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
