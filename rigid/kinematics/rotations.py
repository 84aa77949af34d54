"""Rotation kernels of the Cayley energy-momentum step, on tuples.

A step rotates a frame by R1 = cay(psi) R0 with the Cayley vector psi = 2 tan(theta/2) n. A variation of the end of the step is
written as delta R1 = hat(eta) R1; then delta psi = T(psi)^-1 eta with

    T(psi)^-1 = I + psi psi^T / 4 - hat(psi) / 2                                      (1)

No series is needed: every expression is rational in psi, exact from 1 to 1e-16.
"""

from rigid.compilation.decorators import inline_kernel
from rigid.lanes import root
from rigid.linear_algebra import hat, matrix_minus, matrix_times, outer, plus_identity


@inline_kernel
def load4(q):
    """Return the quaternion in an array (4,)."""
    return q[0], q[1], q[2], q[3]


@inline_kernel
def rotation_matrix(q):
    """Return R(q) (9 components, row-major) of the unit quaternion q = (w, x, y, z)."""
    w, x, y, z = q
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@inline_kernel
def rotated(q, x):
    """Return R(q) x, by the formula of `rigid.quaternions.rotate`."""
    w, a, b, c = q
    x1, x2, x3 = x
    t1, t2, t3 = 2.0 * (b * x3 - c * x2), 2.0 * (c * x1 - a * x3), 2.0 * (a * x2 - b * x1)
    return (
        x1 + w * t1 + (b * t3 - c * t2), x2 + w * t2 + (c * t1 - a * t3), x3 + w * t3 + (a * t2 - b * t1),
    )  # fmt: skip


@inline_kernel
def cayley_rotation(psi, q):
    """Return (1, psi/2) o q / sqrt(1 + |psi|^2/4), normalised to prevent a drift by round-off."""
    x, y, z = 0.5 * psi[0], 0.5 * psi[1], 0.5 * psi[2]
    w0, x0, y0, z0 = q
    w1 = w0 - (x * x0 + y * y0 + z * z0)
    x1 = x0 + x * w0 + y * z0 - z * y0
    y1 = y0 + y * w0 + z * x0 - x * z0
    z1 = z0 + z * w0 + x * y0 - y * x0
    scale = 1.0 / root(w1 * w1 + x1 * x1 + y1 * y1 + z1 * z1)
    return scale * w1, scale * x1, scale * y1, scale * z1


@inline_kernel
def inverse_tangent(k):
    """Return the matrix T(k)^-1 of equation (1)."""
    return plus_identity(matrix_minus(matrix_times(0.25, outer(k, k)), matrix_times(0.5, hat(k))), 1.0)


@inline_kernel
def relative_half(p, q):
    """Return the scalar and vector part of p* o q, the quaternion of the rotation from frame p to frame q, in p's axes."""
    return (
        p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3],
        p[0] * q[1] - q[0] * p[1] - (p[2] * q[3] - p[3] * q[2]),
        p[0] * q[2] - q[0] * p[2] - (p[3] * q[1] - p[1] * q[3]),
        p[0] * q[3] - q[0] * p[3] - (p[1] * q[2] - p[2] * q[1]),
    )
