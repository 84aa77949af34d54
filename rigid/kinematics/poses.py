"""Poses of frames in a chart, their rates, and the pull-back of duals, for directors and quaternions alike.

Every interaction is written once, in points p = r + R X and directions u = R U of the frames it joins; the pull-back
transforms its forces to the coordinates of either chart.

A pose is (r, d1, d2, d3); a force on a frame is its dual (f, f1, f2, f3), with the work f . dr + sum f_k . dd_k. In the
quaternion chart the directors are the columns of R(q), homogeneous of degree 2, so that with the symmetric matrix N(f),

    sum f_k . d_k(q) = q . N(f) q,   pull-back 2 N(f) q,   d(q1) - d(q0) = d'(qbar)(q1 - q0)    exactly.
"""

from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.kinematics.chart_frames import QUATERNION, load_at
from rigid.kinematics.quaternion_maps import E_transposed, add_quat, quat_dot, quat_mean
from rigid.linear_algebra import average, cross, dot, minus, plus, times

ZERO = (0j, 0j, 0j)


@inline_kernel
def load_quat(q, i):
    """Return the quaternion (scalar, vector) at q[i:i + 4]."""
    return q[i], (q[i + 1], q[i + 2], q[i + 3])


@inline_kernel
def bilinear_directors(p, q):
    """Return three directors: the symmetric bilinear form of p = (p0, pv), q = (q0, qv) whose diagonal is R(q)."""
    s = p[0] * q[0] - dot(p[1], q[1])
    x, y = p[1], q[1]
    w = plus(times(p[0], y), times(q[0], x))
    d1 = s + 2.0 * x[0] * y[0], x[0] * y[1] + x[1] * y[0] + w[2], x[0] * y[2] + x[2] * y[0] - w[1]
    d2 = x[0] * y[1] + x[1] * y[0] - w[2], s + 2.0 * x[1] * y[1], x[1] * y[2] + x[2] * y[1] + w[0]
    d3 = x[0] * y[2] + x[2] * y[0] + w[1], x[1] * y[2] + x[2] * y[1] - w[0], s + 2.0 * x[2] * y[2]
    return d1, d2, d3


@internal_kernel
def pose(q, F, f):
    """Return the pose (r, d1, d2, d3) of frame f of the chart's frames F at the coordinates q."""
    at, to = F.entries[f].position, F.entries[f].orientation
    r = times(1.0 + 0j, load_at(F.entries[f].r, 0))
    if at >= 0:
        r = load_at(q, at)
    d1 = times(1.0 + 0j, load_at(F.entries[f].directors, 0))
    d2 = times(1.0 + 0j, load_at(F.entries[f].directors, 3))
    d3 = times(1.0 + 0j, load_at(F.entries[f].directors, 6))
    if to >= 0:
        if F.chart == QUATERNION:
            quat = load_quat(q, to)
            d1, d2, d3 = bilinear_directors(quat, quat)
        else:
            d1, d2, d3 = load_at(q, to), load_at(q, to + 3), load_at(q, to + 6)
    return r, d1, d2, d3


@internal_kernel
def rate(q, v, F, f):
    """Return the rate of the pose of frame f at coordinates q with rates v; linear in v, and in q."""
    at, to = F.entries[f].position, F.entries[f].orientation
    r, d1, d2, d3 = ZERO, ZERO, ZERO, ZERO
    if at >= 0:
        r = load_at(v, at)
    if to >= 0:
        if F.chart == QUATERNION:
            d1, d2, d3 = bilinear_directors(load_quat(q, to), load_quat(v, to))
            d1, d2, d3 = times(2.0, d1), times(2.0, d2), times(2.0, d3)
        else:
            d1, d2, d3 = load_at(v, to), load_at(v, to + 3), load_at(v, to + 6)
    return r, d1, d2, d3


@inline_kernel
def mean_pose(a, b):
    """Return the mean (a + b)/2 of two poses."""
    return average(a[0], b[0]), average(a[1], b[1]), average(a[2], b[2]), average(a[3], b[3])


@inline_kernel
def point(y, X):
    """Return the point r + R X of a frame with the pose y."""
    return plus(y[0], direction(y, X))


@inline_kernel
def direction(y, U):
    """Return the direction R U of a frame with the pose y."""
    return plus(times(U[0], y[1]), plus(times(U[1], y[2]), times(U[2], y[3])))


@inline_kernel
def add_duals(f, g):
    """Return the sum of two duals."""
    return plus(f[0], g[0]), plus(f[1], g[1]), plus(f[2], g[2]), plus(f[3], g[3])


@inline_kernel
def on_point(f, X):
    """Return the dual of a force f at the point X."""
    return f, times(X[0], f), times(X[1], f), times(X[2], f)


@inline_kernel
def on_direction(u, U):
    """Return the dual of a work-conjugate u of the direction U."""
    return ZERO, times(U[0], u), times(U[1], u), times(U[2], u)


@inline_kernel
def on_point_and_direction(f, X, u, U):
    """Return the dual of a force f at X and of a work-conjugate u of the direction U."""
    return (
        f,
        plus(times(X[0], f), times(U[0], u)),
        plus(times(X[1], f), times(U[1], u)),
        plus(times(X[2], f), times(U[2], u)),
    )


@inline_kernel
def torque_of(f, y):
    """Return the torque of the dual f about the origin of the frame, sum d_k x f_k."""
    return plus(cross(y[1], f[1]), plus(cross(y[2], f[2]), cross(y[3], f[3])))


@internal_kernel
def add_position_part(f, F, frame, s, out):
    """Add s times the force of the dual f to `out`, at the offset of the frame's position."""
    at = F.entries[frame].position
    if at >= 0:
        for i in range(3):
            out[at + i] += s * f[0][i]


@internal_kernel
def add_pulled(f, q, F, frame, s, out):
    """Add s times the pull-back of the dual f at the coordinates q, Y'(q)^T f, to `out`."""
    add_position_part(f, F, frame, s, out)
    to = F.entries[frame].orientation
    if to < 0:
        return
    if F.chart == QUATERNION:
        add_quaternion_part(f, load_quat(q, to), to, s, out)
    else:
        for i in range(3):
            out[to + i] += s * f[1][i]
            out[to + 3 + i] += s * f[2][i]
            out[to + 6 + i] += s * f[3][i]


@inline_kernel
def add_quaternion_part(f, q, to, s, out):
    """Add 2 s N(f) q to out[to:to + 4]."""
    a = f[2][2] - f[3][1], f[3][0] - f[1][2], f[1][1] - f[2][0]
    trace = f[1][0] + f[2][1] + f[3][2]
    w, x = q
    out[to] += 2.0 * s * (trace * w + dot(a, x))
    # (F + F^T) x: column k of F is f_k
    Fx = plus(times(x[0], f[1]), plus(times(x[1], f[2]), times(x[2], f[3])))
    Fx = plus(Fx, (dot(f[1], x), dot(f[2], x), dot(f[3], x)))
    y = plus(times(w, a), minus(Fx, times(trace, x)))
    for i in range(3):
        out[to + 1 + i] += 2.0 * s * y[i]


@internal_kernel
def add_mean_pulled(f, q0, q1, F, frame, out):
    """Add the dual f of a discrete derivative between q0 and q1, transformed to the coordinates, to `out`.

    It is pulled back at (q0 + q1)/2, where it is the discrete derivative in the coordinates; or, with the switch `by_torque`,
    as the torque in averaged directors, F = 2 E(qbar)^T torque/|qbar|^2, which EML-kappa needs.
    """
    to = F.entries[frame].orientation
    add_position_part(f, F, frame, 1.0, out)
    if to < 0:
        return
    if F.chart != QUATERNION:
        for i in range(3):
            for k in range(3):
                out[to + 3 * k + i] += f[1 + k][i]
        return
    p, q = load_quat(q0, to), load_quat(q1, to)
    if F.by_torque == 0:
        add_quaternion_part(f, quat_mean(p, q), to, 1.0, out)
        return
    y = mean_pose(pose(q0, F, frame), pose(q1, F, frame))
    mean = quat_mean(p, q)
    add_quat(2.0 / quat_dot(mean, mean), E_transposed(mean, torque_of(f, y)), to, out)


@inline_kernel
def clear(out):
    """Set a vector to zero."""
    for i in range(out.size):
        out[i] = 0.0


@inline_kernel
def clear_matrix(out):
    """Set a matrix to zero."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
