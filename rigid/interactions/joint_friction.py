"""Viscous damping of a joint: a moment -c (omega_b - omega_a), and a force -k ds/dt along its axis.

    power lost   c |omega_b - omega_a|^2 + k (ds/dt)^2 = c/2 sum_ij (dB_ij/dt)^2 + k (ds/dt)^2,
    B_ij = d_i^a . d_j^b,   s = u_a . (p_b - p_a)                                                                       (1)

Only the free motions of the joint contribute: of a revolute joint the rotation about its axis, of a spherical one all rotations,
of a prismatic one s, of a cylindrical one rotation and s. B and s are bilinear: over a step their changes replace the rates, and
the other factor is its mean, so that what is lost is exactly (1) of the changes over h; both momenta are conserved.

Without k it is a couple with a closed form. With the matrices A, B of the directions of both frames, at the ends of the step and
averaged, and the axial vector ax of the skew part, ax(M)_k = e_kpq M_pq, the torque on a is

    ax(Abar W Bbar^T),   W = c lam/2 (A1^T B1 - A0^T B0),   with  ax(hat(eta) P) = (P - tr P I) eta                    (2)
"""

from rigid.compilation.decorators import inline_kernel
from rigid.interactions import point_on_plane
from rigid.interactions.kinds import dissipation, dual_function, frame, tangent_function
from rigid.interactions.torsion_spring import write_couple
from rigid.linear_algebra import (
    average,
    cross,
    dot,
    matrix_average,
    matrix_minus,
    matrix_plus,
    matrix_times,
    minus,
    plus_identity,
    product,
    product_transposed,
    times,
    trace,
    transpose,
    transposed_product,
    twice_axial,
)

TURNING, SLIDING = 9, 10  # offsets of c and k among the numbers, after X_a, X_b, U_a


@inline_kernel
def _row(x, b, z, db):
    """Return the rates d/dt (x . b_j), j = 1, 2, 3; z, db: rates of x and of b."""
    return (
        dot(z, b[1]) + dot(x, db[1]),
        dot(z, b[2]) + dot(x, db[2]),
        dot(z, b[3]) + dot(x, db[3]),
    )


@inline_kernel
def _change(y, k, z):
    """Return the change of the pose of frame k from the poses y to z."""
    p, q = frame(y, k), frame(z, k)
    return minus(q[0], p[0]), minus(q[1], p[1]), minus(q[2], p[2]), minus(q[3], p[3])


@inline_kernel
def _mean(y, k, z):
    """Return the mean of the poses of frame k in y and z."""
    p, q = frame(y, k), frame(z, k)
    return average(p[0], q[0]), average(p[1], q[1]), average(p[2], q[2]), average(p[3], q[3])


@inline_kernel
def _turn(a, b, da, db, X, lam, out):
    """Add the duals of the moment on frames a, b whose poses change by da, db."""
    for i in range(3):
        row = _row(a[1 + i], b, da[1 + i], db)
        for j in range(3):
            w = 0.5 * lam * X[TURNING] * row[j]
            for l in range(3):
                out[0, 1 + i, l] += w * b[1 + j][l]
                out[1, 1 + j, l] += w * a[1 + i][l]


@dual_function
def step_dual(y0, y1, X, lam, out):
    """Write the dual to the changes of s and B over a step, lam = 1/h."""
    u0, d0 = point_on_plane.factors(y0, X)
    u1, d1 = point_on_plane.factors(y1, X)
    slip = dot(u1, d1) - dot(u0, d0)
    point_on_plane.write_dual_of_product(average(u0, u1), average(d0, d1), X, lam[0] * X[SLIDING] * slip, out)
    a, b, da, db = _mean(y0, 0, y1), _mean(y0, 1, y1), _change(y0, 0, y1), _change(y0, 1, y1)
    _turn(a, b, da, db, X, lam[0], out)


@dual_function
def rate_dual(y, z, X, lam, out):
    """Write the dual to the rates z of the poses, lam = 1."""
    u, d = point_on_plane.factors(y, X)
    du, dd = point_on_plane.factors(z, X)
    point_on_plane.write_dual_of_product(u, d, X, lam[0] * X[SLIDING] * (dot(du, d) + dot(u, dd)), out)
    _turn(frame(y, 0), frame(y, 1), frame(z, 0), frame(z, 1), X, lam[0], out)


@inline_kernel
def _directions(y, k):
    """Return the matrix whose columns are the directions of frame k at the real poses y."""
    return (
        y[k, 1, 0].real, y[k, 2, 0].real, y[k, 3, 0].real, y[k, 1, 1].real, y[k, 2, 1].real,
        y[k, 3, 1].real, y[k, 1, 2].real, y[k, 2, 2].real, y[k, 3, 2].real,
    )  # fmt: skip


@inline_kernel
def _column(A, j):
    """Return column j of a matrix."""
    return A[j], A[3 + j], A[6 + j]


@inline_kernel
def _axial_of_products(U, V):
    """Return the matrix of eta -> ax(U hat(eta) V): its columns are U_t x V^s - U_s x V^t, V^s row s, (r, s, t) cyclic."""
    rows = transpose(V)
    u, v, w = _column(U, 0), _column(U, 1), _column(U, 2)
    a, b, c = _column(rows, 0), _column(rows, 1), _column(rows, 2)
    one, two, three = (
        minus(cross(w, b), cross(v, c)),
        minus(cross(u, c), cross(w, a)),
        minus(cross(v, a), cross(u, b)),
    )
    return one[0], two[0], three[0], one[1], two[1], three[1], one[2], two[2], three[2]


@inline_kernel
def _rotation_torques(y0, y1, c):
    """Return the torque (2) on a for c lam = `c`, and its derivatives to the rotations of a and b, two matrices."""
    A0, A1, B0, B1 = _directions(y0, 0), _directions(y1, 0), _directions(y0, 1), _directions(y1, 1)
    A, B, g = matrix_average(A0, A1), matrix_average(B0, B1), 0.5 * c
    W = matrix_times(g, matrix_minus(transposed_product(A1, B1), transposed_product(A0, B0)))
    torque = times(-1.0, twice_axial(product_transposed(product(A, W), B)))
    P, Q = product_transposed(product(A1, W), B), product_transposed(product(A, W), B1)
    by_change = matrix_times(g, _axial_of_products(product_transposed(A, A1), product_transposed(B1, B)))
    by_a = matrix_times(0.5, plus_identity(P, -trace(P)))
    by_b = matrix_times(-0.5, plus_identity(transpose(Q), -trace(Q)))
    return torque, matrix_minus(by_a, by_change), matrix_plus(by_b, by_change)


@tangent_function
def rotation_tangent(y0, y1, X, lam, out, K):
    """Write the torques (2) and their derivatives."""
    torque, to_a, to_b = _rotation_torques(y0, y1, lam[0].real * X[TURNING])
    write_couple(K, torque, to_a, to_b)


@tangent_function
def tangent(y0, y1, X, lam, out, K):
    """Write the tangent of `step_dual`."""
    start, end = point_on_plane.real_factors(y0, X), point_on_plane.real_factors(y1, X)
    slope = lam[0].real * X[SLIDING]
    force = slope * (dot(end[0], end[1]) - dot(start[0], start[1]))
    point_on_plane.write_tangent_of_product(force, slope, start, end, K)
    _, to_a, to_b = _rotation_torques(y0, y1, lam[0].real * X[TURNING])
    for i in range(3):
        for j in range(3):
            a, b = to_a[3 * i + j], to_b[3 * i + j]
            K[3 + j, 3 + i] += a
            K[3 + j, 9 + i] -= a
            K[9 + j, 3 + i] += b
            K[9 + j, 9 + i] -= b


JOINT_FRICTION = dissipation("joint friction", 2, step_dual, rate_dual)._replace(tangent=tangent)
# the same without sliding, k = 0
ROTATION_DAMPING = dissipation("rotation damping of a joint", 2, step_dual, rate_dual)._replace(
    couple=True, tangent=rotation_tangent
)
