"""Maps E, G of quaternions as tuples (scalar, vector), bilinear: E(a) b = -E(b) a, G(a) b = -G(b) a.

They relate the rate v of a quaternion to the angular velocity: omega = 2 E(q) v (inertial), Omega = 2 G(q) v (body-fixed).
Source: 000 (35), (43).
"""

from rigid.compilation.decorators import inline_kernel
from rigid.linear_algebra import cross, dot, minus, plus, times


@inline_kernel
def G(q, v):
    """Return the 3-vector G(q) v."""
    return minus(minus(times(q[0], v[1]), times(v[0], q[1])), cross(q[1], v[1]))


@inline_kernel
def G_transposed(q, x):
    """Return the quaternion (scalar, vector) G(q)^T x."""
    return -dot(q[1], x), plus(times(q[0], x), cross(q[1], x))


@inline_kernel
def E_transposed(q, x):
    """Return the quaternion (scalar, vector) E(q)^T x."""
    return -dot(q[1], x), minus(times(q[0], x), cross(q[1], x))


@inline_kernel
def quat_dot(p, q):
    """Return the scalar product p . q of two quaternions."""
    return p[0] * q[0] + dot(p[1], q[1])


@inline_kernel
def quat_mean(p, q):
    """Return the mean (p + q)/2 of two quaternions."""
    return 0.5 * (p[0] + q[0]), times(0.5, plus(p[1], q[1]))


@inline_kernel
def add_quat(s, x, to, out):
    """Add s times the quaternion x to out[to:to + 4]."""
    out[to] += s * x[0]
    out[to + 1] += s * x[1][0]
    out[to + 2] += s * x[1][1]
    out[to + 3] += s * x[1][2]
