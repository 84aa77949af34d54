"""Rotation kernels of the Cayley energy-momentum step.

A step turns a frame by R1 = cay(psi) R0 with the Cayley vector psi = 2 tan(theta/2) n. A variation of the end of the step
is written as delta R1 = hat(eta) R1; then delta psi = T(psi)^-1 eta with

    T(psi)^-1 = I + psi psi^T / 4 - hat(psi) / 2                                      (1)

Nothing here needs a series: every expression is rational in psi, exact from 1 to 1e-16.
"""

import math

from rigid.compilation import small_kernel


@small_kernel
def rotation_matrix(q, out):
    """out = R(q), 3 x 3, of the unit quaternion q = (w, x, y, z)."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    out[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    out[0, 1] = 2.0 * (x * y - w * z)
    out[0, 2] = 2.0 * (x * z + w * y)
    out[1, 0] = 2.0 * (x * y + w * z)
    out[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    out[1, 2] = 2.0 * (y * z - w * x)
    out[2, 0] = 2.0 * (x * z - w * y)
    out[2, 1] = 2.0 * (y * z + w * x)
    out[2, 2] = 1.0 - 2.0 * (x * x + y * y)


@small_kernel
def cayley_turn(psi, q, out):
    """out = (1, psi/2) o q / sqrt(1 + |psi|^2/4), normalised against the drift of rounding."""
    x, y, z = 0.5 * psi[0], 0.5 * psi[1], 0.5 * psi[2]
    w0, x0, y0, z0 = q[0], q[1], q[2], q[3]
    w1 = w0 - (x * x0 + y * y0 + z * z0)
    x1 = x0 + x * w0 + y * z0 - z * y0
    y1 = y0 + y * w0 + z * x0 - x * z0
    z1 = z0 + z * w0 + x * y0 - y * x0
    scale = 1.0 / math.sqrt(w1 * w1 + x1 * x1 + y1 * y1 + z1 * z1)
    out[0], out[1], out[2], out[3] = scale * w1, scale * x1, scale * y1, scale * z1


@small_kernel
def inverse_tangent(k, out):
    """out = T(k)^-1 of equation (1)."""
    for i in range(3):
        for j in range(3):
            out[i, j] = 0.25 * k[i] * k[j]
        out[i, i] += 1.0
    out[0, 1] += 0.5 * k[2]
    out[0, 2] -= 0.5 * k[1]
    out[1, 0] -= 0.5 * k[2]
    out[1, 2] += 0.5 * k[0]
    out[2, 0] += 0.5 * k[1]
    out[2, 1] -= 0.5 * k[0]


@small_kernel
def relative_half(p, q, out):
    """out = scalar and vector part of p* o q (4 numbers): half the rotation from frame p to frame q, in p's axes."""
    out[0] = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]
    out[1] = p[0] * q[1] - q[0] * p[1] - (p[2] * q[3] - p[3] * q[2])
    out[2] = p[0] * q[2] - q[0] * p[2] - (p[3] * q[1] - p[1] * q[3])
    out[3] = p[0] * q[3] - q[0] * p[3] - (p[1] * q[2] - p[2] * q[1])
