"""Interactions in a chart, compiled: V, g, their gradients and discrete derivatives, pulled back from duals.

Every function is one loop over the groups of a system; what an interaction is stands in its own file. The internal
constraints of a chart, 002 (103) and 000 (30), come first among the rows of g.
"""

from rigid.chart_frames import QUATERNION, load_at
from rigid.compilation import small_kernel
from rigid.interactions.kinds import dual_at, frame, value_at
from rigid.linear_algebra import cross, dot, times
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
    on_point,
    pose,
    rate,
)
from rigid.quaternion_maps import E_transposed, add_quat, quat_dot
from rigid.system import FORCE


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
def put_pose(y, out, k):
    """Pose as an array (4, 3)."""
    a = out[k]
    for i in range(3):
        a[0, i], a[1, i], a[2, i], a[3, i] = y[0][i], y[1][i], y[2][i], y[3][i]


@small_kernel
def put_poses(q, D, frames, out):
    """Poses of the frames of one interaction at q."""
    for k in range(frames.size):
        put_pose(pose(q, D.frames, frames[k]), out, k)


@small_kernel
def put_rates(q, v, D, frames, out):
    """Rates of the poses."""
    for k in range(frames.size):
        put_pose(rate(q, v, D.frames, frames[k]), out, k)


@small_kernel
def add_duals(D, kind, e, q0, q1, lam, out):
    """out += discrete derivative of lam . value of interaction e between q0 and q1."""
    I, S = D.interacting, D.scratch
    frames = I.frames[e, : I.arity[kind]]
    put_poses(q0, D, frames, S.y0)
    put_poses(q1, D, frames, S.y1)
    dual = dual_at(I.functions[kind, 1])
    dual(S.y0, S.y1, I.numbers[I.start[e] : I.start[e + 1]], lam, S.dual)
    for k in range(frames.size):
        add_mean_pulled(frame(S.dual, k), q0, q1, D.frames, frames[k], out)


@small_kernel
def fill_discrete_gradient(q0, q1, D, out):
    """Discrete derivative of V, its gradient where q0 is q1."""
    clear(out)
    lam = D.scratch.row
    I = D.interacting
    for kind in range(I.rows.size):
        if I.rows[kind] == 0:
            for e in range(I.first[kind], I.first[kind + 1]):
                lam[0] = 1.0
                add_duals(D, kind, e, q0, q1, lam, out)


@system_function("potential")
def potential(q, D, out):
    """V(q)."""
    V, S, I = 0j, D.scratch, D.interacting
    for kind in range(I.rows.size):
        if I.rows[kind] == 0:
            value = value_at(I.functions[kind, 0])
            for e in range(I.first[kind], I.first[kind + 1]):
                put_poses(q, D, I.frames[e, : I.arity[kind]], S.y0)
                value(S.y0, I.numbers[I.start[e] : I.start[e + 1]], S.row)
                V += S.row[0]
    out[0] = V


@system_function("gradient")
def gradient(q, D, out):
    """Gradient of V."""
    fill_discrete_gradient(q, q, D, out)


@system_function("discrete_gradient")
def discrete_gradient(q0, q1, D, out):
    """Discrete derivative of V: V(q1) - V(q0) = out . (q1 - q0)."""
    fill_discrete_gradient(q0, q1, D, out)


@system_function("constraints")
def constraints(q, D, out):
    """g(q): internal ones frame by frame, then the joints."""
    S = D.scratch
    row = 0
    for f in range(D.frames.mass.size):
        to = D.frames.orientation[f]
        if to < 0:
            continue
        if D.frames.chart == QUATERNION:
            quat = load_quat(q, to)
            out[row] = 0.5 * (quat_dot(quat, quat) - 1.0)
            row += 1
        else:
            for k in range(6):
                i, j = pair_of(k)
                product = dot(load_at(q, to + 3 * i), load_at(q, to + 3 * j))
                out[row] = 0.5 * (product - 1.0) if i == j else product
                row += 1
    I = D.interacting
    for kind in range(I.rows.size):
        value = value_at(I.functions[kind, 0])
        for e in range(I.first[kind], I.first[kind + 1] if I.rows[kind] > 0 else 0):
            put_poses(q, D, I.frames[e, : I.arity[kind]], S.y0)
            value(S.y0, I.numbers[I.start[e] : I.start[e + 1]], S.row)
            for k in range(I.rows[kind]):
                out[I.row[e] + k] = S.row[k]


@small_kernel
def fill_jacobian(q0, q1, D, out):
    """Discrete derivative of g between q0 and q1; its Jacobian where both are the same."""
    clear_matrix(out)
    row = 0
    for f in range(D.frames.mass.size):
        to = D.frames.orientation[f]
        if to < 0:
            continue
        if D.frames.chart == QUATERNION:
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
    lam = D.scratch.row
    I = D.interacting
    for kind in range(I.rows.size):
        for e in range(I.first[kind], I.first[kind + 1] if I.rows[kind] > 0 else 0):
            for k in range(I.rows[kind]):
                for i in range(I.rows[kind]):
                    lam[i] = 1.0 if i == k else 0.0
                add_duals(D, kind, e, q0, q1, lam, out[I.row[e] + k])


@system_function("jacobian")
def jacobian(q, D, out):
    """G(q)."""
    fill_jacobian(q, q, D, out)


@system_function("discrete_jacobian")
def discrete_jacobian(q0, q1, D, out):
    """Discrete derivative of g: g(q1) - g(q0) = out (q1 - q0)."""
    fill_jacobian(q0, q1, D, out)


@small_kernel
def add_internal_pull(q0, q1, lam, D, out):
    """out += (discrete derivative of the internal constraints)^T lam; linear in q0 + q1. The first row of a joint."""
    row = 0
    for f in range(D.frames.mass.size):
        to = D.frames.orientation[f]
        if to < 0:
            continue
        if D.frames.chart == QUATERNION:
            for i in range(to, to + 4):
                out[i] += 0.5 * lam[row] * (q0[i] + q1[i])
            row += 1
        else:
            for k in range(6):
                i, j = pair_of(k)
                for l in range(3):
                    a, b = to + 3 * i + l, to + 3 * j + l
                    if i == j:
                        out[a] += 0.5 * lam[row] * (q0[a] + q1[a])
                    else:
                        out[a] += 0.5 * lam[row] * (q0[b] + q1[b])
                        out[b] += 0.5 * lam[row] * (q0[a] + q1[a])
                row += 1


@small_kernel
def take_multipliers(lam, I, kind, e, out):
    """Those of interaction e."""
    for k in range(I.rows[kind]):
        out[k] = lam[I.row[e] + k]


@small_kernel
def fill_pull(q0, q1, lam, D, out):
    """(discrete derivative of g)^T lam."""
    clear(out)
    add_internal_pull(q0, q1, lam, D, out)
    own = D.scratch.row
    I = D.interacting
    for kind in range(I.rows.size):
        for e in range(I.first[kind], I.first[kind + 1] if I.rows[kind] > 0 else 0):
            take_multipliers(lam, I, kind, e, own)
            add_duals(D, kind, e, q0, q1, own, out)


@system_function("pull")
def pull(q, lam, D, out):
    """G(q)^T lam."""
    fill_pull(q, q, lam, D, out)


@system_function("discrete_pull")
def discrete_pull(q0, q1, lam, D, out):
    """Discrete derivative of g, transposed, times lam."""
    fill_pull(q0, q1, lam, D, out)


@small_kernel
def work_of(dual, z, count):
    """sum of dual . z over `count` frames."""
    s = 0j
    for a in range(count):
        for i in range(4):
            for l in range(3):
                s += dual[a, i, l] * z[a, i, l]
    return s


@system_function("rate")
def constraint_rate(q, w, D, out):
    """G(q) w."""
    S = D.scratch
    row = 0
    for f in range(D.frames.mass.size):
        to = D.frames.orientation[f]
        if to < 0:
            continue
        if D.frames.chart == QUATERNION:
            out[row] = quat_dot(load_quat(q, to), load_quat(w, to))
            row += 1
        else:
            for k in range(6):
                i, j = pair_of(k)
                out[row] = dot(load_at(q, to + 3 * i), load_at(w, to + 3 * j))
                if i != j:
                    out[row] += dot(load_at(q, to + 3 * j), load_at(w, to + 3 * i))
                row += 1
    I = D.interacting
    for kind in range(I.rows.size):
        dual = dual_at(I.functions[kind, 1])
        for e in range(I.first[kind], I.first[kind + 1] if I.rows[kind] > 0 else 0):
            frames, numbers = I.frames[e, : I.arity[kind]], I.numbers[I.start[e] : I.start[e + 1]]
            put_poses(q, D, frames, S.y0)
            put_rates(q, w, D, frames, S.y1)
            for k in range(I.rows[kind]):
                for i in range(I.rows[kind]):
                    S.row[i] = 1.0 if i == k else 0.0
                dual(S.y0, S.y0, numbers, S.row, S.dual)
                out[I.row[e] + k] = work_of(S.dual, S.y1, frames.size)


@small_kernel
def bent_pose(w, z, D, f):
    """Second derivative of the pose of frame f along w and z."""
    r, d1, d2, d3 = rate(w, z, D.frames, f)
    return times(0j, r), d1, d2, d3


@system_function("second")
def second(q, w, z, D, out):
    """g''(q) (w, z): bend . Y'z + dual . Y''(w, z) for every row."""
    S, I = D.scratch, D.interacting
    row = 0
    for f in range(D.frames.mass.size):
        to = D.frames.orientation[f]
        if to < 0:
            continue
        if D.frames.chart == QUATERNION:
            out[row] = quat_dot(load_quat(z, to), load_quat(w, to))
            row += 1
        else:
            for k in range(6):
                i, j = pair_of(k)
                out[row] = dot(load_at(z, to + 3 * i), load_at(w, to + 3 * j))
                if i != j:
                    out[row] += dot(load_at(z, to + 3 * j), load_at(w, to + 3 * i))
                row += 1
    for kind in range(I.rows.size):
        dual, bend = dual_at(I.functions[kind, 1]), dual_at(I.functions[kind, 2])
        for e in range(I.first[kind], I.first[kind + 1] if I.rows[kind] > 0 else 0):
            frames, numbers = I.frames[e, : I.arity[kind]], I.numbers[I.start[e] : I.start[e + 1]]
            for k in range(I.rows[kind]):
                for i in range(I.rows[kind]):
                    S.row[i] = 1.0 if i == k else 0.0
                put_poses(q, D, frames, S.y0)
                put_rates(q, w, D, frames, S.y1)
                bend(S.y0, S.y1, numbers, S.row, S.dual)
                put_rates(q, z, D, frames, S.y1)
                value = work_of(S.dual, S.y1, frames.size)
                if D.frames.chart == QUATERNION:  # directors are quadratic in quaternions
                    dual(S.y0, S.y0, numbers, S.row, S.dual)
                    for a in range(frames.size):
                        put_pose(bent_pose(w, z, D, frames[a]), S.y1, a)
                    value += work_of(S.dual, S.y1, frames.size)
                out[I.row[e] + k] = value


@system_function("curvature")
def curvature(q, w, lam, D, out):
    """Gradient of lam . G(q) w."""
    S = D.scratch
    clear(out)
    add_internal_pull(w, w, lam, D, out)
    I = D.interacting
    for kind in range(I.rows.size):
        dual, bend = dual_at(I.functions[kind, 1]), dual_at(I.functions[kind, 2])
        for e in range(I.first[kind], I.first[kind + 1] if I.rows[kind] > 0 else 0):
            frames, numbers = I.frames[e, : I.arity[kind]], I.numbers[I.start[e] : I.start[e + 1]]
            take_multipliers(lam, I, kind, e, S.row)
            put_poses(q, D, frames, S.y0)
            put_rates(q, w, D, frames, S.y1)
            bend(S.y0, S.y1, numbers, S.row, S.dual)
            for k in range(frames.size):
                add_pulled(frame(S.dual, k), q, D.frames, frames[k], 1.0, out)
            if D.frames.chart == QUATERNION:  # the pull-back itself changes along w
                dual(S.y0, S.y0, numbers, S.row, S.dual)
                for k in range(frames.size):
                    to = D.frames.orientation[frames[k]]
                    if to >= 0:
                        add_quaternion_part(frame(S.dual, k), load_quat(w, to), to, 1.0, out)


@system_function("force")
def force(q, signal, D, out):
    """Generalised forces of loads whose values (l, 3) stand in `signal`; a moment m is 2 E(q)^T m (000 (128))."""
    F, loads = D.frames, D.loads
    clear(out)
    for k in range(loads.kind.size):
        f = loads.frame[k]
        y = pose(q, F, f)
        value = times(1.0 + 0j, load_at(signal, 3 * k))
        if loads.following[k] == 1:
            value = direction(y, value)
        if loads.kind[k] == FORCE:
            add_pulled(on_point(value, load_at(loads.X[k], 0)), q, F, f, 1.0, out)
            continue
        to = F.orientation[f]
        if to < 0:
            continue
        if F.chart == QUATERNION:
            quat = load_quat(q, to)
            scale = quat_dot(quat, quat) if F.by_torque else 1.0 + 0j
            add_quat(2.0 / scale, E_transposed(quat, value), to, out)
        else:
            # the angular velocity is sum d_k x d(d_k)/dt / 2
            duals = (
                ZERO,
                times(0.5, cross(value, y[1])),
                times(0.5, cross(value, y[2])),
                times(0.5, cross(value, y[3])),
            )
            add_pulled(duals, q, F, f, 1.0, out)
