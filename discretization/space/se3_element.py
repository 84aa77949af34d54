"""The SE(3) rod element: strains of two frames, discrete derivative of its energy, analytic tangent.

Two frames a, b (rotations A, B; positions with e = r_b - r_a) and the stress-free length L. From bilinear invariants

    k = 4 axial(A^T B)/(1 + tr A^T B) = 2 tan(theta/2) n,   y = (A + B)^T e/(2 L),   s = k . y,   u = k . k/4      (1)
    Gamma = g(u) y - p(u) s k - e1                                                                             (2)
    K     = f(u) k/L                                                                                           (3)

which is the logarithm of the relative pose: constant strain (a helix, an arc, pure bending) is exact with one element.
The stored energy is L/2 (e - e0)^T C (e - e0), e = (Gamma, K).

Over a step (0 -> 1, bars are averages, F[..] divided differences) with averaged stresses w = (wN, wM)

    w  = C (ebar - e0) + D (e1 - e0)/h                                                                         (4)
    cy = L (gbar wN - pbar (wN . kbar) kbar)                                                                   (5)
    ck = fbar wM + f[]/2 (wM . kbar) kbar
         + L (kbar/2 (g[] wN . ybar - p[] wN . avg(s k)) - pbar (sbar wN + (wN . kbar) ybar))                  (6)
    n  = (Abar + Bbar) cy/(2 L)                         force on r_b, -n on r_a                                (7)
    Dk ck = 4 axial(Abar Z Bbar^T)/Tbar,  Z = hat(ck) - (kbar . ck)/2 I,  Tbar = 1 + avg tr A^T B              (8)
    torques: on a  (Abar cy) x ebar/(2 L) - Dk ck,   on b  (Bbar cy) x ebar/(2 L) + Dk ck                      (9)

so that n . (dr_b - dr_a) + torques . psi equals the change of energy plus what is dissipated, exactly; net force is zero and
net moment is zero, exactly. Derivation: docs/numerics.md.

Tangents are taken with respect to the end of the step: de of e1, and delta A1 = hat(eta_a) A1, delta B1 = hat(eta_b) B1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discretization.space.strain_functions import strain_function_differences, strain_functions
from rigid import quaternions
from rigid.compilation import kernel, small_kernel
from rigid.linear_algebra import (
    apply,
    cross,
    dot,
    hat_product,
    mean,
    product,
    product_transposed,
    transposed_hat_product,
)
from rigid.rotations import inverse_tangent, relative_half, rotation_matrix
from rigid.system import Floats

# What an element remembers of the start of a step.
START = 24
Y0, K0, S0, U0, HALF0, STRESS0 = 0, 3, 6, 7, 8, 9  # y (3), k (3), s, u, scalar of the half rotation, w0 (6)
E0 = 15  # strains (6)

# Scratch space of one element: 3 x 3 matrices and 3-vectors.
MATRICES, VECTORS = 30, 16


@small_kernel
def invariants(A, B, qa, qb, e, length, half, y, k):
    """(1): y and k; `half` receives the relative half rotation. Returns s, u."""
    relative_half(qa, qb, half)
    for i in range(3):
        k[i] = 2.0 * half[i + 1] / half[0]
        y[i] = 0.0
        for j in range(3):
            y[i] += (A[j, i] + B[j, i]) * e[j]
        y[i] *= 0.5 / length
    return dot(k, y), 0.25 * dot(k, k)


@small_kernel
def strains_of(y, k, s, f, g, p, length, out):
    """(2), (3): out = (Gamma, K)."""
    for i in range(3):
        out[i] = g * y[i] - p * s * k[i]
        out[3 + i] = f * k[i] / length
    out[0] -= 1.0


@kernel
def element_strains(frames, length, r, quat, out):
    """Strains (m, 6) of all elements in the configuration r (n, 3), quat (n, 4)."""
    A, B = np.empty((3, 3)), np.empty((3, 3))
    y, k, e, half = np.empty(3), np.empty(3), np.empty(3), np.empty(4)
    for m in range(frames.shape[0]):
        a, b = frames[m, 0], frames[m, 1]
        rotation_matrix(quat[a], A)
        rotation_matrix(quat[b], B)
        for i in range(3):
            e[i] = r[b, i] - r[a, i]
        s, u = invariants(A, B, quat[a], quat[b], e, length[m], half, y, k)
        f, _, p, _ = strain_functions(u)
        strains_of(y, k, s, f, (1.0 + u) * f, p, length[m], out[m])


def strains(ra: ArrayLike, qa: ArrayLike, rb: ArrayLike, qb: ArrayLike, length: ArrayLike) -> Floats:
    """SE(3) strains (Gamma, K), shape (m, 6), between m pairs of frames.

    Parameters: positions `ra`, `rb` (m, 3) in m, unit quaternions `qa`, `qb` (m, 4), `length` (m,) in m.
    Gamma is dimensionless, K in 1/m, both in section axes. Relative rotations must stay below pi.
    """
    ra, rb, qa, qb = (np.atleast_2d(np.asarray(x, float)) for x in (ra, rb, qa, qb))
    m = len(ra)
    r, quat = np.concatenate([ra, rb]), np.concatenate([qa, qb])
    frames = np.stack([np.arange(m), np.arange(m) + m], axis=1)
    out = np.empty((m, 6))
    element_strains(frames, np.broadcast_to(np.asarray(length, float), (m,)).copy(), r, quaternions.normalize(quat), out)
    return out


@small_kernel
def start_of_step(A, B, qa, qb, e, length, stiffness, damping, strain0, h, half, y, k, out):
    """What stays the same in all Newton iterations of a step: invariants, strains, constant part of w (4)."""
    s, u = invariants(A, B, qa, qb, e, length, half, y, k)
    f, _, p, _ = strain_functions(u)
    strains_of(y, k, s, f, (1.0 + u) * f, p, length, out[E0 : E0 + 6])
    for i in range(3):
        out[Y0 + i] = y[i]
        out[K0 + i] = k[i]
    out[S0], out[U0], out[HALF0] = s, u, half[0]
    for i in range(6):
        out[STRESS0 + i] = 0.0
        for j in range(6):
            out[STRESS0 + i] += (
                stiffness[i, j] * (0.5 * out[E0 + j] - strain0[j]) - damping[i, j] * out[E0 + j] / h
            )


@small_kernel
def discrete_forces(
    A0, A1, B0, B1, qa1, qb1, e0, e1, start, length, stiffness, damping, h, tangent, M, V, w, de, H, force, K
):
    """Force and torques (7)-(9) in force = (n, torque_a, torque_b); with `tangent`, K (9, 9) = d force/d(e1, eta_a, eta_b).

    M (MATRICES, 3, 3), V (VECTORS, 3), w (6,), de (6,) and H (4, 6, 6) are scratch. Returns 0, or 1 where the relative
    rotation of the two frames passed pi.
    """
    y, k, ybar, kbar, ebar, ks = V[0], V[1], V[2], V[3], V[4], V[5]
    cy, ck, t, half = V[6], V[7], V[8], w
    Abar, Bbar, S, Z = M[0], M[1], M[2], M[3]
    s1, u1 = invariants(A1, B1, qa1, qb1, e1, length, half, y, k)
    half0, half1 = start[HALF0], half[0]
    if half0 * half1 <= 0.0:
        return 1
    u0, s0 = start[U0], start[S0]
    f0, f1, df1, F, F1, p0, p1, dp1, P, P1 = strain_function_differences(u0, u1)
    u = 0.5 * (u0 + u1)
    g0, g1 = (1.0 + u0) * f0, (1.0 + u1) * f1
    f, g, p = 0.5 * (f0 + f1), 0.5 * (g0 + g1), 0.5 * (p0 + p1)
    G = (1.0 + u) * F + f
    sbar = 0.5 * (s0 + s1)
    strains_of(y, k, s1, f1, g1, p1, length, de)
    for i in range(6):  # (4)
        w[i] = start[STRESS0 + i]
        for j in range(6):
            w[i] += (0.5 * stiffness[i, j] + damping[i, j] / h) * de[j]
    wN, wM = w[0:3], w[3:6]
    for i in range(3):
        ybar[i] = 0.5 * (start[Y0 + i] + y[i])
        kbar[i] = 0.5 * (start[K0 + i] + k[i])
        ebar[i] = 0.5 * (e0[i] + e1[i])
        ks[i] = 0.5 * (s0 * start[K0 + i] + s1 * k[i])
    mean(A0, A1, Abar)
    mean(B0, B1, Bbar)
    mean(Abar, Bbar, S)
    wNk, wMk, wNy, wNz = dot(wN, kbar), dot(wM, kbar), dot(wN, ybar), dot(wN, ks)
    alpha = G * wNy - P * wNz
    for i in range(3):
        cy[i] = length * (g * wN[i] - p * wNk * kbar[i])  # (5)
        ck[i] = (  # (6)
            f * wM[i]
            + 0.5 * F * wMk * kbar[i]
            + length * (0.5 * alpha * kbar[i] - p * (sbar * wN[i] + wNk * ybar[i]))
        )
    # (7)
    apply(S, cy, t)
    for i in range(3):
        force[i] = t[i] / length
    # (8)
    T = 2.0 * (half0 * half0 + half1 * half1)
    kappa = dot(kbar, ck)
    _hat_minus(ck, 0.5 * kappa, Z)
    X, ZB = M[4], M[5]
    product_transposed(Z, Bbar, ZB)
    product(Abar, ZB, X)
    turn = V[9]
    turn[0], turn[1], turn[2] = 2 * (X[2, 1] - X[1, 2]), 2 * (X[0, 2] - X[2, 0]), 2 * (X[1, 0] - X[0, 1])
    # (9)
    ma, mb, ta, tb = V[10], V[11], V[12], V[13]
    apply(Abar, cy, ma)
    apply(Bbar, cy, mb)
    cross(ma, ebar, ta)
    cross(mb, ebar, tb)
    scale = 0.5 / length
    for i in range(3):
        force[3 + i] = scale * ta[i] - turn[i] / T
        force[6 + i] = scale * tb[i] + turn[i] / T
    if not tangent:
        return 0

    # -- strains at the end: columns (y, k) of d(Gamma, K), then E = dw/d(y, k)
    Gk = H[0]  # rows Gamma, K; columns y, k
    dg1 = f1 + (1.0 + u1) * df1
    for i in range(3):
        for j in range(3):
            Gk[i, j] = -p1 * k[i] * k[j]
            Gk[i, 3 + j] = (0.5 * dg1 * y[i] - 0.5 * dp1 * s1 * k[i]) * k[j] - p1 * k[i] * y[j]
            Gk[3 + i, 3 + j] = 0.5 * df1 * k[i] * k[j] / length
        Gk[i, i] += g1
        Gk[i, 3 + i] -= p1 * s1
        Gk[3 + i, 3 + i] += f1 / length
    E = H[1]
    for i in range(6):
        for j in range(6):
            c = 0.5 * stiffness[i, j] + damping[i, j] / h
            if j == 0:
                for l in range(6):
                    E[i, l] = c * Gk[0, l]
            elif c != 0.0:
                first = 0 if j < 3 else 3
                for l in range(first, 6):
                    E[i, l] += c * Gk[j, l]
    # -- dc = d(cy, ck)/dw, then its product with E
    C = H[2]
    for i in range(3):
        for j in range(3):
            C[i, j] = -length * p * kbar[i] * kbar[j]
            C[3 + i, j] = length * (0.5 * kbar[i] * (G * ybar[j] - P * ks[j]) - p * ybar[i] * kbar[j])
            C[3 + i, 3 + j] = 0.5 * F * kbar[i] * kbar[j]
        C[i, i] += length * g
        C[3 + i, i] -= length * p * sbar
        C[3 + i, 3 + i] += f
    Q = H[3]
    for i in range(3):
        for l in range(6):
            Q[i, l] = C[i, 0] * E[0, l] + C[i, 1] * E[1, l] + C[i, 2] * E[2, l]
            Q[3 + i, l] = (
                C[3 + i, 0] * E[0, l]
                + C[3 + i, 1] * E[1, l]
                + C[3 + i, 2] * E[2, l]
                + C[3 + i, 3] * E[3, l]
                + C[3 + i, 4] * E[4, l]
                + C[3 + i, 5] * E[5, l]
            )
    # -- what (5), (6) depend on y and k directly
    G1 = 0.5 * F + (1.0 + u) * F1 + 0.5 * df1
    wNk1 = dot(wN, k)
    for i in range(3):
        rest = sbar * wN[i] + wNk * ybar[i]
        for j in range(3):
            Q[i, 3 + j] += length * (
                (0.25 * dg1 * wN[i] - 0.25 * dp1 * wNk * kbar[i]) * k[j] - 0.5 * p * kbar[i] * wN[j]
            )
            Q[3 + i, j] += length * (
                0.25 * kbar[i] * (G * wN[j] - P * wNk1 * k[j]) - 0.5 * p * wN[i] * k[j]
            )
            Q[3 + i, 3 + j] += (
                (0.25 * df1 * wM[i] + 0.5 * F1 * wMk * 0.5 * kbar[i]) * k[j]
                + 0.25 * F * kbar[i] * wM[j]
                + length
                * (
                    0.25 * kbar[i] * ((G1 * wNy - P1 * wNz) * k[j] - P * (wNk1 * y[j] + s1 * wN[j]))
                    - 0.25 * dp1 * rest * k[j]
                    - 0.5 * p * (wN[i] * y[j] + ybar[i] * wN[j])
                )
            )
        Q[i, 3 + i] -= 0.5 * length * p * wNk
        Q[3 + i, i] -= 0.5 * length * p * wNk
        Q[3 + i, 3 + i] += 0.25 * F * wMk + 0.25 * length * alpha
    # -- dy = Ye de + Ya eta_a + Yb eta_b,  dk = R (eta_b - eta_a)
    Ye, Ya, Yb, R, Tinv = M[6], M[7], M[8], M[9], M[10]
    transposed_hat_product(A1, e1, Ya)
    transposed_hat_product(B1, e1, Yb)
    for i in range(3):
        for j in range(3):
            Ye[i, j] = scale * (A1[j, i] + B1[j, i])
            Ya[i, j] *= scale
            Yb[i, j] *= scale
    inverse_tangent(k, Tinv)
    product_transposed(Tinv, A1, R)
    # -- columns of d cy and d ck
    cye, cya, cyb, cke, cka, ckb, QkR = M[11], M[12], M[13], M[14], M[15], M[16], M[17]
    product(Q[0:3, 3:6], R, QkR)
    product(Q[0:3, 0:3], Ye, cye)
    product(Q[0:3, 0:3], Ya, cya)
    product(Q[0:3, 0:3], Yb, cyb)
    _shift(cya, cyb, QkR)
    product(Q[3:6, 3:6], R, QkR)
    product(Q[3:6, 0:3], Ye, cke)
    product(Q[3:6, 0:3], Ya, cka)
    product(Q[3:6, 0:3], Yb, ckb)
    _shift(cka, ckb, QkR)
    # -- Dk of (8): columns 4 W + t kbar^T with W = (a_j x b_k - a_k x b_j)/2 and t = sum a_k x b_k
    Dk, tsum = M[18], V[14]
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        tsum[i] = 0.0
        for j in range(3):
            tsum[i] += Abar[i1, j] * Bbar[i2, j] - Abar[i2, j] * Bbar[i1, j]
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            Dk[i, j] = 2.0 * (
                (Abar[i1, j1] * Bbar[i2, j2] - Abar[i2, j1] * Bbar[i1, j2])
                - (Abar[i1, j2] * Bbar[i2, j1] - Abar[i2, j2] * Bbar[i1, j1])
            )
    for i in range(3):
        for j in range(3):
            Dk[i, j] = (Dk[i, j] + tsum[i] * kbar[j]) / T
    # -- rows of the tangent
    block = M[19]
    _rows(K, 0, S, cye, cya, cyb, 1.0 / length, block)
    hat_product(ebar, Abar, X)
    _rows(K, 3, X, cye, cya, cyb, -scale, block)
    hat_product(ebar, Bbar, X)
    _rows(K, 6, X, cye, cya, cyb, -scale, block)
    for c in range(3):
        part = cke if c == 0 else (cka if c == 1 else ckb)
        product(Dk, part, block)
        for i in range(3):
            for j in range(3):
                K[3 + i, 3 * c + j] -= block[i, j]
                K[6 + i, 3 * c + j] += block[i, j]
    # -- directors in (7) and (9) turn with the ends
    a1c, b1c = V[10], V[11]  # A1 cy, B1 cy; ma, mb are used up by the half step of e1 first
    quarter = 0.25 / length
    _add_hat(K, 3, 0, ma, quarter)
    _add_hat(K, 6, 0, mb, quarter)
    apply(A1, cy, a1c)
    apply(B1, cy, b1c)
    _add_hat(K, 0, 3, a1c, -quarter)
    _add_hat(K, 0, 6, b1c, -quarter)
    ae, be = dot(a1c, ebar), dot(b1c, ebar)
    for i in range(3):
        for j in range(3):
            K[3 + i, 3 + j] += quarter * a1c[i] * ebar[j]
            K[6 + i, 6 + j] += quarter * b1c[i] * ebar[j]
        K[3 + i, 3 + i] -= quarter * ae
        K[6 + i, 6 + i] -= quarter * be
    # -- Dk ck at fixed ck: directors, kbar . ck and Tbar
    Xa, Xb, AZ = M[20], M[21], M[22]
    product(A1, ZB, Xa)
    product(Abar, Z, AZ)
    product_transposed(AZ, B1, Xb)
    tra, trb = Xa[0, 0] + Xa[1, 1] + Xa[2, 2], Xb[0, 0] + Xb[1, 1] + Xb[2, 2]
    t1, row = V[14], V[15]
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        tk = 0.0
        for j in range(3):
            tk += A1[i1, j] * B1[i2, j] - A1[i2, j] * B1[i1, j]
        row[i] = 0.5 * tk / T
    for i in range(3):
        t1[i] = tsum[i] / T
    ckR = V[12]
    for j in range(3):
        ckR[j] = 0.5 * (ck[0] * R[0, j] + ck[1] * R[1, j] + ck[2] * R[2, j])
    for i in range(3):
        for j in range(3):
            both = t1[i] * ckR[j] + turn[i] / T * row[j]
            da = -Xa[i, j] / T - both
            db = Xb[j, i] / T + both
            if i == j:
                da += tra / T
                db -= trb / T
            K[3 + i, 3 + j] -= da
            K[6 + i, 3 + j] += da
            K[3 + i, 6 + j] -= db
            K[6 + i, 6 + j] += db
    return 0


@small_kernel
def _hat_minus(c, d, out):
    """out = hat(c) - d I."""
    out[0, 0], out[1, 1], out[2, 2] = -d, -d, -d
    out[0, 1], out[0, 2] = -c[2], c[1]
    out[1, 0], out[1, 2] = c[2], -c[0]
    out[2, 0], out[2, 1] = -c[1], c[0]


@small_kernel
def _shift(a, b, X):
    """a -= X, b += X."""
    for i in range(3):
        for j in range(3):
            a[i, j] -= X[i, j]
            b[i, j] += X[i, j]


@small_kernel
def _rows(K, i0, X, ce, ca, cb, factor, block):
    """Rows i0.. of K = factor X (ce | ca | cb)."""
    for c in range(3):
        part = ce if c == 0 else (ca if c == 1 else cb)
        product(X, part, block)
        for i in range(3):
            for j in range(3):
                K[i0 + i, 3 * c + j] = factor * block[i, j]


@small_kernel
def _add_hat(K, i0, j0, a, factor):
    """Block (i0, j0) of K += factor hat(a)."""
    x, y, z = factor * a[0], factor * a[1], factor * a[2]
    K[i0, j0 + 1] -= z
    K[i0, j0 + 2] += y
    K[i0 + 1, j0] += z
    K[i0 + 1, j0 + 2] -= x
    K[i0 + 2, j0] -= y
    K[i0 + 2, j0 + 1] += x
