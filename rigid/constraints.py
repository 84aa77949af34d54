"""Scalar constraints of two frames: value, gradients and second derivative for the Cayley energy-momentum
step.

All kinds are bilinear in positions and directors of frames a and b; with p = r + R X, u = R U, d = p_b - p_a:

    PERPENDICULAR  y = u_a . u_b                torques  +-(u_a x u_b)
    (1) ALONG          y = u_a . d                  force u_a on p_b, torque on a  u_a x (p_b - r_a)
    (2) DISTANCE       y = d . d/2                  force d on p_b, -d on p_a
    (3) COINCIDENT     y = d, three rows            assembled by `discretization.assembly` itself
    (4)

With every factor averaged over the step the gradient G is a discrete derivative: y1 - y0 = G . (dr_a, psi_a,
dr_b, psi_b), and G of a common rigid motion vanishes, so constraint forces do no work and keep both momenta.

A gradient is the tuple (force on b, torque on a, torque on b); the force on a is minus that on b.
"""

from rigid.compilation import small_kernel
from rigid.linear_algebra import (
    add_block,
    cross,
    dot,
    dyad,
    hat,
    matrix_times,
    plus,
    times,
    transpose,
)
from rigid.system import ALONG, PERPENDICULAR


@small_kernel
def constraint_value(kind, ua, ub, d):
    """y of (1)-(3)."""
    if kind == PERPENDICULAR:
        return dot(ua, ub)
    if kind == ALONG:
        return dot(ua, d)
    return 0.5 * dot(d, d)


@small_kernel
def constraint_gradient(kind, ua, ub, xa, xb, d):
    """Force on b, torque on a, torque on b: of averaged factors, or of those at the end of the step."""
    if kind == PERPENDICULAR:
        torque = cross(ua, ub)
        return (0.0, 0.0, 0.0), torque, times(-1.0, torque)
    if kind == ALONG:
        return ua, cross(ua, plus(d, xa)), cross(xb, ua)
    return d, cross(d, xa), cross(xb, d)


@small_kernel
def turned_right(a, b):
    """Matrix of eta -> a x (eta x b)."""
    return matrix_times(-1.0, transpose(dyad(a, b)))


@small_kernel
def add_at(values, base, stride, row, column, factor, A):
    """Sub-block (row, column) of a block of two frames' unknowns += factor A; 0 is the position, 1 the
    rotation.
    """
    add_block(matrix_times(factor, A), values, base + 3 * row + 3 * column * stride, stride)


@small_kernel
def add_constraint_hessian(
    kind, lam, ua, ub, xa, xb, d, ua1, ub1, xa1, xb1, values, base, stride_a, stride_b
):
    """Matrix += lam d(averaged gradient)/d(end of the step): bars without suffix, end values with 1.

    Half of every factor turns with the end of the step: delta ubar = eta x u1/2. `base`: blocks aa, ab, ba,
    bb.
    """
    half = 0.5 * lam
    aa, ab, ba, bb = base[0], base[1], base[2], base[3]
    if kind == PERPENDICULAR:
        left, right = dyad(ua1, ub), turned_right(ua, ub1)
        add_at(values, aa, stride_a, 1, 1, half, left)
        add_at(values, ab, stride_b, 1, 1, half, right)
        add_at(values, ba, stride_a, 1, 1, -half, left)
        add_at(values, bb, stride_b, 1, 1, -half, right)
    elif kind == ALONG:
        w = plus(d, xa)
        add_at(values, ba, stride_a, 0, 1, -half, hat(ua1))  # force on b
        add_at(values, aa, stride_a, 0, 1, half, hat(ua1))
        add_at(values, bb, stride_b, 1, 1, half, dyad(xb1, ua))  # x_b x u_a
        add_at(values, ba, stride_a, 1, 1, half, turned_right(xb, ua1))
        add_at(values, aa, stride_a, 1, 1, half, dyad(ua1, w))  # u_a x w
        add_at(values, aa, stride_a, 1, 0, -half, hat(ua))
        add_at(values, ab, stride_b, 1, 0, half, hat(ua))
        add_at(values, ab, stride_b, 1, 1, half, turned_right(ua, xb1))
    else:
        add_pair_hessian(lam, xa, xb, d, xa1, xb1, values, base, stride_a, stride_b)


@small_kernel
def add_pair_hessian(sigma, xa, xb, d, xa1, xb1, values, base, stride_a, stride_b):
    """Matrix += tangent at fixed sigma of the force sigma dbar on p_b, -sigma dbar on p_a."""
    half = 0.5 * sigma
    aa, ab, ba, bb = base[0], base[1], base[2], base[3]
    for i in range(3):
        values[aa + i + i * stride_a] += half
        values[bb + i + i * stride_b] += half
        values[ab + i + i * stride_b] -= half
        values[ba + i + i * stride_a] -= half
    # force on b: sigma/2 (delta r_b - delta r_a + eta_b x x_b1 - eta_a x x_a1)
    add_at(values, bb, stride_b, 0, 1, -half, hat(xb1))
    add_at(values, ba, stride_a, 0, 1, half, hat(xa1))
    add_at(values, ab, stride_b, 0, 1, half, hat(xb1))
    add_at(values, aa, stride_a, 0, 1, -half, hat(xa1))
    # torque on b: x_b x d
    add_at(values, bb, stride_b, 1, 1, half, dyad(xb1, d))
    add_at(values, bb, stride_b, 1, 0, half, hat(xb))
    add_at(values, ba, stride_a, 1, 0, -half, hat(xb))
    add_at(values, bb, stride_b, 1, 1, half, turned_right(xb, xb1))
    add_at(values, ba, stride_a, 1, 1, -half, turned_right(xb, xa1))
    # torque on a: -x_a x d
    add_at(values, aa, stride_a, 1, 1, -half, dyad(xa1, d))
    add_at(values, ab, stride_b, 1, 0, -half, hat(xa))
    add_at(values, aa, stride_a, 1, 0, half, hat(xa))
    add_at(values, ab, stride_b, 1, 1, -half, turned_right(xa, xb1))
    add_at(values, aa, stride_a, 1, 1, half, turned_right(xa, xa1))
