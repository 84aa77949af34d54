"""Scalar constraints of two frames: value, gradients and second derivative for the Cayley energy-momentum step.

All kinds are bilinear in positions and directors of frames a and b; with p = r + R X, u = R U, d = p_b - p_a:

    PERPENDICULAR  y = u_a . u_b                torques  +-(u_a x u_b)                                       (1)
    ALONG          y = u_a . d                  force u_a on p_b, torque on a  u_a x (p_b - r_a)             (2)
    DISTANCE       y = d . d/2                  force d on p_b, -d on p_a                                    (3)
    COINCIDENT     y = d, three rows            assembled by `discretization.assembly` itself                (4)

With every factor averaged over the step the gradient G is a discrete derivative: y1 - y0 = G . (dr_a, psi_a, dr_b, psi_b),
and G of a common rigid motion vanishes, so constraint forces do no work and keep both momenta.
"""

from rigid.compilation import small_kernel
from rigid.linear_algebra import cross, dot
from rigid.system import ALONG, PERPENDICULAR

VECTORS = 12  # scratch 3-vectors


@small_kernel
def constraint_value(kind, ua, ub, d):
    """y of (1)-(3)."""
    if kind == PERPENDICULAR:
        return dot(ua, ub)
    if kind == ALONG:
        return dot(ua, d)
    return 0.5 * dot(d, d)


@small_kernel
def constraint_gradient(kind, ua, ub, xa, xb, d, scratch, out):
    """out (12,) = gradient with respect to (r_a, turn_a, r_b, turn_b), of averaged factors or of those at the end."""
    w, t = scratch[0], scratch[1]
    for i in range(12):
        out[i] = 0.0
    if kind == PERPENDICULAR:
        cross(ua, ub, t)
        for i in range(3):
            out[3 + i] = t[i]
            out[9 + i] = -t[i]
        return
    force = ua if kind == ALONG else d
    for i in range(3):
        out[i] = -force[i]
        out[6 + i] = force[i]
        w[i] = d[i] + xa[i] if kind == ALONG else xa[i]
    if kind == ALONG:
        cross(force, w, t)  # u_a x (p_b - r_a)
    else:
        cross(force, w, t)  # -x_a x d
    for i in range(3):
        out[3 + i] = t[i]
    cross(xb, force, t)
    for i in range(3):
        out[9 + i] = t[i]


@small_kernel
def add_dyad(K, i0, j0, factor, a, b):
    """Block (i0, j0) of K += factor (a b^T - (a . b) I), the matrix of eta -> factor (eta x a) x b."""
    ab = dot(a, b)
    for i in range(3):
        for j in range(3):
            K[i0 + i, j0 + j] += factor * a[i] * b[j]
        K[i0 + i, j0 + i] -= factor * ab


@small_kernel
def add_cross(K, i0, j0, factor, a):
    """Block (i0, j0) of K += factor hat(a)."""
    x, y, z = factor * a[0], factor * a[1], factor * a[2]
    K[i0, j0 + 1] -= z
    K[i0, j0 + 2] += y
    K[i0 + 1, j0] += z
    K[i0 + 1, j0 + 2] -= x
    K[i0 + 2, j0] -= y
    K[i0 + 2, j0 + 1] += x


@small_kernel
def add_dyad_transposed(K, i0, j0, factor, a, b):
    """Block (i0, j0) of K += factor ((a . b) I - b a^T), the matrix of eta -> factor a x (eta x b)."""
    ab = dot(a, b)
    for i in range(3):
        for j in range(3):
            K[i0 + i, j0 + j] -= factor * b[i] * a[j]
        K[i0 + i, j0 + i] += factor * ab


@small_kernel
def constraint_hessian(kind, lam, ua, ub, xa, xb, d, ua1, ub1, xa1, xb1, scratch, K):
    """K (12, 12) += lam d(averaged gradient)/d(end of the step): bars without suffix, end values with 1.

    Half of every factor turns with the end of the step: delta(ubar) = eta x u1/2.
    """
    half = 0.5 * lam
    if kind == PERPENDICULAR:
        add_dyad(K, 3, 3, half, ua1, ub)
        add_dyad_transposed(K, 3, 9, half, ua, ub1)
        add_dyad(K, 9, 3, -half, ua1, ub)
        add_dyad_transposed(K, 9, 9, -half, ua, ub1)
    elif kind == ALONG:
        w = scratch[0]
        for i in range(3):
            w[i] = d[i] + xa[i]
        add_cross(K, 6, 3, -half, ua1)  # force on b
        add_cross(K, 0, 3, half, ua1)
        add_dyad(K, 9, 9, half, xb1, ua)  # x_b x u_a
        add_dyad_transposed(K, 9, 3, half, xb, ua1)
        add_dyad(K, 3, 3, half, ua1, w)  # u_a x w
        add_cross(K, 3, 6, half, ua)
        add_cross(K, 3, 0, -half, ua)
        add_dyad_transposed(K, 3, 9, half, ua, xb1)
    else:
        add_pair_hessian(lam, xa, xb, d, xa1, xb1, K)


@small_kernel
def add_pair_hessian(sigma, xa, xb, d, xa1, xb1, K):
    """K (12, 12) += tangent at fixed sigma of the force sigma dbar on p_b, -sigma dbar on p_a."""
    half = 0.5 * sigma
    for i in range(3):
        K[i, i] += half
        K[6 + i, 6 + i] += half
        K[i, 6 + i] -= half
        K[6 + i, i] -= half
    # force on b: sigma (delta r_b - delta r_a - x_b1 x eta... )/2
    add_cross(K, 6, 9, -half, xb1)
    add_cross(K, 6, 3, half, xa1)
    add_cross(K, 0, 9, half, xb1)
    add_cross(K, 0, 3, -half, xa1)
    # torque on b: x_b x d
    add_dyad(K, 9, 9, half, xb1, d)
    add_cross(K, 9, 6, half, xb)
    add_cross(K, 9, 0, -half, xb)
    add_dyad_transposed(K, 9, 9, half, xb, xb1)
    add_dyad_transposed(K, 9, 3, -half, xb, xa1)
    # torque on a: -x_a x d
    add_dyad(K, 3, 3, -half, xa1, d)
    add_cross(K, 3, 6, -half, xa)
    add_cross(K, 3, 0, half, xa)
    add_dyad_transposed(K, 3, 9, -half, xa, xb1)
    add_dyad_transposed(K, 3, 3, half, xa, xa1)
