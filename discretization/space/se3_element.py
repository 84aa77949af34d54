"""SE(3) rod element between two frames: strains, discrete derivative of the energy, analytic tangent.

Two frames a, b have the rotation matrices A, B and the relative position e = r_b - r_a. L is the stress-free length, theta the
angle of the relative rotation A^T B about the unit vector d. Strains follow from

    k = 4 axial(A^T B)/(1 + tr A^T B) = 2 tan(theta/2) d,  y = (A + B)^T e/(2 L),  s = k . y,  u = k . k/4 (1)
    Gamma = g(u) y - p(u) s k - (1, 0, 0)                                                                  (2)
    K     = f(u) k/L                                                                                       (3)

with f, g and p of `discretization.space.strain_functions`. k, y and s do not change under a common rigid motion of both frames.
(Gamma + (1, 0, 0), K) L is the logarithm of the relative pose, so one element represents constant strain (a helix, an arc, pure
bending) exactly. The stored energy is L/2 (eps - eps_r)^T C (eps - eps_r), eps = (Gamma, K), with stress-free strains eps_r and
the stiffness C of the section.

A step of length h goes from configuration 0 to configuration 1. Bars are averages of both; f[], g[], p[] are divided
differences, (f(u1) - f(u0))/(u1 - u0); D is the viscosity of the section. The mean stresses w = (wN, wM) do the work
L w . (eps1 - eps0) = cy . (y1 - y0) + ck . (k1 - k0):

    w  = C (epsbar - eps_r) + D (eps1 - eps0)/h                                                            (4)
    cy = L (gbar wN - pbar (wN . kbar) kbar)                                                               (5)
    ck = fbar wM + f[]/2 (wM . kbar) kbar
         + L (kbar/2 (g[] wN . ybar - p[] wN . avg(s k)) - pbar (sbar wN + (wN . kbar) ybar))              (6)
    n  = (Abar + Bbar) cy/(2 L)                         force on r_b, -n on r_a                            (7)
    Dk ck = 4 axial(Abar Z Bbar^T)/Tbar,  Z = hat(ck) - (kbar . ck)/2 I,  Tbar = 1 + avg tr A^T B          (8)
    torques: on a  (Abar cy) x ebar/(2 L) - Dk ck,   on b  n x ebar minus that on a                        (9)

With the displacements dr and the rotation parameters psi of the step (`discretization.time.em`, (1)), n . (dr_b - dr_a) +
torques . psi equals exactly the change of energy plus the dissipated energy. Net force and net moment are exactly zero.
Derivation: docs/theory/elements.md.

Tangents are derivatives to the configuration at the end of the step: to e1 (e of configuration 1), and to eta_a, eta_b of
delta A1 = hat(eta_a) A1, delta B1 = hat(eta_b) B1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.space.strain_functions import strain_function_differences, strain_functions
from rigid import quaternions
from rigid.compilation.decorators import always_inline_kernel, inline_kernel, kernel
from rigid.kinematics.rotations import inverse_tangent, load4, relative_half, rotation_matrix
from rigid.linear_algebra import (
    apply,
    apply_transposed,
    average,
    cross,
    dot,
    dyad,
    hat,
    hat_times,
    load3,
    load_block,
    matrix_average,
    matrix_minus,
    matrix_plus,
    matrix_times,
    minus,
    outer,
    plus,
    plus_identity,
    product,
    product_transposed,
    scaled,
    scaled_rows,
    store3,
    store_block,
    times,
    times_hat,
    trace,
    transpose,
    twice_axial,
)
from rigid.system import Floats

# Offsets in the array that an element stores at the start of a step: y, k, s, u, scalar part of the quaternion of the relative
# rotation, constant part of w (4), strains; START: length of the array.
Y0, K0, S0, U0, HALF0, STRESS0, E0, START = 0, 3, 6, 7, 8, 9, 15, 21


@inline_kernel
def invariants(A, B, qa, qb, e, length):
    """Return y, k, s, u of (1) and cos(theta/2), the scalar part of the quaternion of the relative rotation."""
    half = relative_half(qa, qb)
    k = times(2.0 / half[0], (half[1], half[2], half[3]))
    y = times(0.5 / length, plus(apply_transposed(A, e), apply_transposed(B, e)))
    return y, k, dot(k, y), 0.25 * dot(k, k), half[0]


@inline_kernel
def strains_of(y, k, s, u, f, p, length):
    """Return Gamma, K of (2), (3)."""
    g = (1.0 + u) * f
    Gamma = minus(times(g, y), times(p * s, k))
    return (Gamma[0] - 1.0, Gamma[1], Gamma[2]), times(f / length, k)


@kernel
def element_strains(frames, length, r, quat, out):
    """Write the strains of all elements in the configuration r (n, 3), quat (n, 4) to `out` (m, 6)."""
    for m in range(frames.shape[0]):
        a, b = frames[m, 0], frames[m, 1]
        qa, qb = load4(quat[a]), load4(quat[b])
        e = minus(load3(r[b]), load3(r[a]))
        y, k, s, u, _ = invariants(rotation_matrix(qa), rotation_matrix(qb), qa, qb, e, length[m])
        f, _, p, _ = strain_functions(u)
        Gamma, K = strains_of(y, k, s, u, f, p, length[m])
        store3(Gamma, out[m, 0:3])
        store3(K, out[m, 3:6])


def strains_along(r: Floats, quat: Floats, length: Floats) -> Floats:
    """Return the strains (k - 1, 6) of a chain of elements between k consecutive frames, r (k, 3) in m, quat (k, 4).

    length (k - 1,): stress-free lengths, m.
    """
    m = len(length)
    frames, out = np.empty((m, 2), np.int64), np.empty((m, 6))
    frames[:, 0], frames[:, 1] = np.arange(m), np.arange(1, m + 1)
    element_strains(frames, length, np.ascontiguousarray(r), quaternions.normalize(quat), out)
    return out


def strains(ra: ArrayLike, qa: ArrayLike, rb: ArrayLike, qb: ArrayLike, length: ArrayLike) -> Floats:
    """Return the SE(3) strains (Gamma, K), shape (m, 6), between m pairs of frames.

    Parameters: positions `ra`, `rb` (m, 3) in m, unit quaternions `qa`, `qb` (m, 4), `length` (m,) in m.
    Gamma is dimensionless, K in 1/m, both in section axes. Relative rotations must stay below pi.
    """
    ra, rb, qa, qb = (np.atleast_2d(np.asarray(x, float)) for x in (ra, rb, qa, qb))
    m = len(ra)
    r, quat = np.concatenate([ra, rb]), np.concatenate([qa, qb])
    frames = np.stack([np.arange(m), np.arange(m) + m], axis=1)
    lengths, out = np.empty(m), np.empty((m, 6))
    lengths[:] = length
    element_strains(frames, lengths, r, quaternions.normalize(quat), out)
    return out


class AtStart(NamedTuple):
    """Data of an element at the start of a step, constant in all Newton iterations: y, k, s, u of (1) and those below."""

    y: Any
    k: Any
    s: Any
    u: Any
    half: Any  # cos(theta/2), scalar part of the quaternion of the relative rotation
    wN: Any  # constant part of wN (4)
    wM: Any  # constant part of wM (4)


class Averages(NamedTuple):
    """Intermediate results shared by the forces (4)-(9) and their derivatives."""

    y1: Any
    k1: Any
    s1: Any
    functions: Any  # f, g, p at the end, their divided differences and averages
    stresses: Any  # mean stresses wN, wM, their products with kbar, ybar, avg(s k); alpha: the bracket g[] ... in (6)
    averages: Any  # averages of y, k, s, e, avg(s k)
    rotations: Any  # averages A, B, and S = (A + B)/(2 L)
    pulls: Any  # terms of the force: cy, ck, gradient s wN + (wN . k) y of wN . (s k) to k, n
    turns: Any  # terms of the torques: Abar cy, Dk ck, Tbar, Z, Z Bbar^T


@always_inline_kernel
def linear_part(strains, strain0, stiffness):
    """Return the constant parts of wN and wM (4) and the blocks of dw/d(eps1), without viscosity.

    strains: Gamma, K at the start; strain0: those without stress; stiffness: its blocks NN, NM, MN, MM.
    """
    NN, NM, MN, MM = stiffness
    eps_N, eps_M = minus(times(0.5, strains[0]), strain0[0]), minus(times(0.5, strains[1]), strain0[1])
    halves = matrix_times(0.5, NN), matrix_times(0.5, NM), matrix_times(0.5, MN), matrix_times(0.5, MM)
    return (
        plus(apply(NN, eps_N), apply(NM, eps_M)),
        plus(apply(MN, eps_N), apply(MM, eps_M)),
        halves,
    )


@always_inline_kernel
def with_damping(part, strains, damping, h):
    """Add the viscosity to a result of `linear_part`; damping: blocks NN, NM, MN, MM of D."""
    (wN, wM, (NN, NM, MN, MM)), (Gamma, K), (D0, D1, D2, D3) = part, strains, damping
    D0, D1, D2, D3 = (
        matrix_times(1.0 / h, D0),
        matrix_times(1.0 / h, D1),
        matrix_times(1.0 / h, D2),
        matrix_times(1.0 / h, D3),
    )
    return (
        minus(wN, plus(apply(D0, Gamma), apply(D1, K))),
        minus(wM, plus(apply(D2, Gamma), apply(D3, K))),
        (matrix_plus(NN, D0), matrix_plus(NM, D1), matrix_plus(MN, D2), matrix_plus(MM, D3)),
    )


@inline_kernel
def _blocks(A):
    """Return the 3 x 3 blocks of a matrix (6, 6)."""
    return load_block(A, 0, 0), load_block(A, 0, 3), load_block(A, 3, 0), load_block(A, 3, 3)


@inline_kernel
def start_of_step(poses, material, strain0, h, out):
    """Store the data that are constant in all Newton iterations of a step in `out` (START,).

    poses: A, B, their quaternions and e; material: length, stiffness, damping, whether both are diagonal.
    """
    (A, B, qa, qb, e), (length, stiffness, damping, _) = poses, material
    y, k, s, u, half = invariants(A, B, qa, qb, e, length)
    f, _, p, _ = strain_functions(u)
    Gamma, K = strains_of(y, k, s, u, f, p, length)
    store3(y, out[Y0 : Y0 + 3])
    store3(k, out[K0 : K0 + 3])
    out[S0], out[U0], out[HALF0] = s, u, half
    store3(Gamma, out[E0 : E0 + 3])
    store3(K, out[E0 + 3 : E0 + 6])
    part = linear_part((Gamma, K), (load3(strain0[0:3]), load3(strain0[3:6])), _blocks(stiffness))
    w_N, w_M, _ = with_damping(part, (Gamma, K), _blocks(damping), h)
    store3(w_N, out[STRESS0 : STRESS0 + 3])
    store3(w_M, out[STRESS0 + 3 : STRESS0 + 6])


@inline_kernel
def _end_stiffness(stiffness, damping, h, i, j):
    """Return the 3 x 3 block at (i, j) of dw/d(eps1) = C/2 + D/h of (4)."""
    C = matrix_times(0.5, load_block(stiffness, i, j))
    return matrix_plus(C, matrix_times(1.0 / h, load_block(damping, i, j)))


@inline_kernel
def discrete_forces(poses0, poses1, start, material, h, tangent, strain1, K):
    """Return (status, n, torque_a, torque_b): force n of (7), torques (9) on a and b. Store their derivatives if `tangent`.

    poses0: A, B, e at the start; poses1: A, B, their quaternions and e at the end; material as in `start_of_step`.
    `strain1` (6,) receives the strains at the end, K (9, 9) the derivatives of (n, torque_a, torque_b) to (e1, eta_a, eta_b).
    Status is 1 if the relative rotation of the two frames passed pi in the step, else 0.
    """
    length, stiffness, damping, diagonal = material
    at_start = AtStart(
        load3(start[Y0 : Y0 + 3]), load3(start[K0 : K0 + 3]), start[S0], start[U0], start[HALF0],
        load3(start[STRESS0 : STRESS0 + 3]), load3(start[STRESS0 + 3 : STRESS0 + 6]),
    )  # fmt: skip
    end_stiffness = (
        _end_stiffness(stiffness, damping, h, 0, 0), _end_stiffness(stiffness, damping, h, 0, 3),
        _end_stiffness(stiffness, damping, h, 3, 0), _end_stiffness(stiffness, damping, h, 3, 3),
    )  # fmt: skip
    half1, strains1, forces, averages = forces_over_step(
        poses0, poses1, at_start, length, end_stiffness, diagonal
    )
    if start[HALF0] * half1 <= 0.0:
        return 1, forces[0], forces[1], forces[2]
    store3(strains1[0], strain1[0:3])
    store3(strains1[1], strain1[3:6])
    if tangent:
        ne, na, nb, te, ta, tb, ue, ua, ub = tangent_over_step(
            poses1, averages, length, end_stiffness, diagonal
        )
        store_block(ne, K, 0, 0)
        store_block(na, K, 0, 3)
        store_block(nb, K, 0, 6)
        store_block(te, K, 3, 0)
        store_block(ta, K, 3, 3)
        store_block(tb, K, 3, 6)
        store_block(ue, K, 6, 0)
        store_block(ua, K, 6, 3)
        store_block(ub, K, 6, 6)
    return 0, forces[0], forces[1], forces[2]


@always_inline_kernel
def forces_over_step(poses0, poses1, start, length, end_stiffness, diagonal):
    """Compute the discrete forces of one element over a step.

    Returns cos(theta/2) at the end, whose sign changes if the relative rotation passes pi; Gamma and K at the end; n of (7) and
    the torques (9) on a and b; the `Averages` for `tangent_over_step`.

    poses0, poses1: as in `discrete_forces`; end_stiffness: blocks of dw/d(eps1) of (4); diagonal: True if C and D are diagonal.
    All arguments are numbers, or all are SIMD lanes.
    """
    A1, B1, qa1, qb1, e1 = poses1
    at_end = invariants(A1, B1, qa1, qb1, e1, length)
    functions = strain_function_differences(start.u, at_end[3])
    return forces_between(poses0, poses1, start, at_end, functions, length, end_stiffness, diagonal)


@always_inline_kernel
def forces_between(poses0, poses1, start, at_end, functions, length, end_stiffness, diagonal):
    """Compute the discrete forces of one element from the invariants (1) at the end and the strain functions at both ends.

    Returns the same as `forces_over_step`.
    """
    (A0, B0, e0), (A1, B1, _, _, e1) = poses0, poses1
    CNN, CNM, CMN, CMM = end_stiffness
    y1, k1, s1, u1, half1 = at_end
    f0, f1, df1, F, F1, p0, p1, dp1, P, P1 = functions
    u = 0.5 * (start.u + u1)
    g0, g1 = (1.0 + start.u) * f0, (1.0 + u1) * f1
    f, g, p = 0.5 * (f0 + f1), 0.5 * (g0 + g1), 0.5 * (p0 + p1)
    G = (1.0 + u) * F + f
    Gamma1, K1 = strains_of(y1, k1, s1, u1, f1, p1, length)
    if diagonal:  # (4)
        wN, wM = plus(start.wN, scaled(CNN, Gamma1)), plus(start.wM, scaled(CMM, K1))
    else:
        wN = plus(start.wN, plus(apply(CNN, Gamma1), apply(CNM, K1)))
        wM = plus(start.wM, plus(apply(CMN, Gamma1), apply(CMM, K1)))
    y, k, e, s = average(start.y, y1), average(start.k, k1), average(e0, e1), 0.5 * (start.s + s1)
    sk = average(times(start.s, start.k), times(s1, k1))
    A, B = matrix_average(A0, A1), matrix_average(B0, B1)
    S = matrix_times(1.0 / length, matrix_average(A, B))
    wNk, wMk, wNy, wNz = dot(wN, k), dot(wM, k), dot(wN, y), dot(wN, sk)
    alpha = G * wNy - P * wNz
    cy = times(length, minus(times(g, wN), times(p * wNk, k)))  # (5)
    sk_gradient = plus(times(s, wN), times(wNk, y))
    ck = plus(times(f, wM), times(0.5 * F * wMk + 0.5 * length * alpha, k))  # (6)
    ck = minus(ck, times(length * p, sk_gradient))
    n = apply(S, cy)  # (7)
    T = 2.0 * (start.half * start.half + half1 * half1)  # Tbar of (8), as 1 + tr A^T B = 4 cos^2(theta/2)
    Z = plus_identity(hat(ck), -0.5 * dot(k, ck))
    ZB = product_transposed(Z, B)
    torque = times(2.0 / T, twice_axial(product(A, ZB)))
    Ac = apply(A, cy)
    torque_a = minus(times(0.5 / length, cross(Ac, e)), torque)  # (9)
    torque_b = minus(cross(n, e), torque_a)
    averages = Averages(
        y1,
        k1,
        s1,
        (u1, f1, df1, F, F1, p1, dp1, P, P1, u, f, g, p, G, g1),
        (wN, wM, wNk, wMk, wNy, wNz, alpha),
        (y, k, s, e, sk),
        (A, B, S),
        (cy, ck, sk_gradient, n),
        (Ac, torque, T, Z, ZB),
    )
    return half1, (Gamma1, K1), (n, torque_a, torque_b), averages


@always_inline_kernel
def tangent_over_step(poses1, averages, length, end_stiffness, diagonal):
    """Return the derivatives of n, torque_a, torque_b to (e1, eta_a, eta_b), row by row.

    averages: the `Averages` that `forces_over_step` returned; end_stiffness, diagonal: as in `forces_over_step`.
    """
    A1, B1, _, _, e1 = poses1
    CNN, CNM, CMN, CMM = end_stiffness
    y1, k1, s1 = averages.y1, averages.k1, averages.s1
    u1, f1, df1, F, F1, p1, dp1, P, P1, u, f, g, p, G, g1 = averages.functions
    wN, wM, wNk, wMk, wNy, wNz, alpha = averages.stresses
    y, k, s, e, sk = averages.averages
    A, B, S = averages.rotations
    cy, ck, sk_gradient, n = averages.pulls
    Ac, torque, T, Z, ZB = averages.turns
    scale = 0.5 / length
    # d(Gamma1, K1) to (y1, k1)
    dg1 = f1 + (1.0 + u1) * df1
    Gy = plus_identity(matrix_times(-p1, outer(k1, k1)), g1)
    Gk = outer(minus(times(0.5 * dg1, y1), times(0.5 * dp1 * s1, k1)), k1)
    Gk = plus_identity(matrix_minus(Gk, matrix_times(p1, outer(k1, y1))), -p1 * s1)
    Kk = plus_identity(matrix_times(0.5 * df1 / length, outer(k1, k1)), f1 / length)
    # derivatives of (cy, ck) to (y1, k1): through (wN, wM) ...
    yN = plus_identity(matrix_times(-length * p, outer(k, k)), length * g)
    kN = outer(k, times(0.5 * length, minus(times(G, y), times(P, sk))))
    kN = plus_identity(matrix_minus(kN, matrix_times(length * p, outer(y, k))), -length * p * s)
    kM = plus_identity(matrix_times(0.5 * F, outer(k, k)), f)
    if diagonal:
        Ny, Nk, Mk = scaled_rows(CNN, Gy), scaled_rows(CNN, Gk), scaled_rows(CMM, Kk)
        Hky = product(kN, Ny)
    else:
        Ny, My = product(CNN, Gy), product(CMN, Gy)
        Nk = matrix_plus(product(CNN, Gk), product(CNM, Kk))
        Mk = matrix_plus(product(CMN, Gk), product(CMM, Kk))
        Hky = matrix_plus(product(kN, Ny), product(kM, My))
    Hyy, Hyk = product(yN, Ny), product(yN, Nk)
    Hkk = matrix_plus(product(kN, Nk), product(kM, Mk))
    # ... and through y1, k1 where they occur in (5), (6) themselves
    G1 = 0.5 * F + (1.0 + u) * F1 + 0.5 * df1
    wNk1 = dot(wN, k1)
    direct = outer(minus(times(0.25 * length * dg1, wN), times(0.25 * length * dp1 * wNk, k)), k1)
    direct = matrix_minus(direct, matrix_times(0.5 * length * p, outer(k, wN)))
    Hyk = plus_identity(matrix_plus(Hyk, direct), -0.5 * length * p * wNk)
    direct = outer(k, times(0.25 * length, minus(times(G, wN), times(P * wNk1, k1))))
    direct = matrix_minus(direct, matrix_times(0.5 * length * p, outer(wN, k1)))
    Hky = plus_identity(matrix_plus(Hky, direct), -0.5 * length * p * wNk)
    along = plus(times(0.25 * df1, wM), times(0.25 * (F1 * wMk + length * (G1 * wNy - P1 * wNz)), k))
    direct = outer(minus(along, times(0.25 * length * dp1, sk_gradient)), k1)
    row = minus(times(F, wM), times(length * P, plus(times(wNk1, y1), times(s1, wN))))
    direct = matrix_plus(direct, matrix_times(0.25, outer(k, row)))
    direct = matrix_minus(direct, matrix_times(0.5 * length * p, matrix_plus(outer(wN, y1), outer(y, wN))))
    Hkk = plus_identity(matrix_plus(Hkk, direct), 0.25 * (F * wMk + length * alpha))
    # dy1 = Ye de1 + Ya eta_a + Yb eta_b,  dk1 = R (eta_b - eta_a). Invariants do not change under a common rotation eta of
    # e1, A1 and B1, hence columns b = (columns e) hat(e1) - columns a                                        (10)
    Ye = matrix_times(scale, transpose(matrix_plus(A1, B1)))
    Ya = times_hat(matrix_times(scale, transpose(A1)), e1)
    R = product_transposed(inverse_tangent(k1), A1)
    cye, cya = product(Hyy, Ye), matrix_minus(product(Hyy, Ya), product(Hyk, R))
    cke, cka = product(Hky, Ye), matrix_minus(product(Hky, Ya), product(Hkk, R))
    # rows of n: S dcy and the rotation of S
    quarter = 0.25 / length
    ne, na = product(S, cye), product(S, cya)
    nb = matrix_minus(times_hat(ne, e1), na)
    na = matrix_minus(na, matrix_times(quarter, hat(apply(A1, cy))))
    nb = matrix_minus(nb, matrix_times(quarter, hat(apply(B1, cy))))
    # moment M = Dk ck: Dk dck, then the derivatives of the directors, of kbar . ck and of Tbar at constant ck
    D = _turn_matrix(A, B, k, T)
    t = times(-1.0 / T, twice_axial(product_transposed(A, B)))  # (sum of a_i x b_i)/T
    t1 = times(-0.5 / T, twice_axial(product_transposed(A1, B1)))
    shared = matrix_plus(outer(t, apply_transposed(R, times(0.5, ck))), outer(torque, t1))
    Xa, Xb = product(A1, ZB), product_transposed(product(A, Z), B1)
    Me, Ma = product(D, cke), product(D, cka)
    Mb = matrix_minus(times_hat(Me, e1), Ma)  # (10)
    Ma = plus_identity(matrix_minus(Ma, matrix_times(1.0 / T, Xa)), trace(Xa) / T)
    Mb = plus_identity(matrix_plus(Mb, matrix_times(1.0 / T, transpose(Xb))), -trace(Xb) / T)
    Ma, Mb = matrix_minus(Ma, shared), matrix_plus(Mb, shared)
    # rows of the torque on a: (Abar dcy) x ebar/(2 L), the rotation of Abar, de1/2 of ebar, less those of M
    X = hat_times(times(-scale, e), A)
    te, ta = product(X, cye), product(X, cya)
    tb = matrix_minus(matrix_minus(times_hat(te, e1), ta), Mb)  # (10)
    te = matrix_minus(matrix_plus(te, matrix_times(quarter, hat(Ac))), Me)
    ta = matrix_minus(matrix_plus(ta, matrix_times(quarter, dyad(apply(A1, cy), e))), Ma)
    # rows of the torque on b, n x ebar - torque_a
    minus_e = times(-1.0, e)
    he = matrix_plus(hat_times(minus_e, ne), matrix_times(0.5, hat(n)))
    ha, hb = hat_times(minus_e, na), hat_times(minus_e, nb)
    return ne, na, nb, te, ta, tb, matrix_minus(he, te), matrix_minus(ha, ta), matrix_minus(hb, tb)


@inline_kernel
def _turn_matrix(A, B, k, T):
    """Return the matrix Dk of (8): (4 W + t k^T)/T with columns W_i = (a_j x b_l - a_l x b_j)/2 and t = sum of a_i x b_i."""
    a0, a1, a2 = (A[0], A[3], A[6]), (A[1], A[4], A[7]), (A[2], A[5], A[8])
    b0, b1, b2 = (B[0], B[3], B[6]), (B[1], B[4], B[7]), (B[2], B[5], B[8])
    t = plus(plus(cross(a0, b0), cross(a1, b1)), cross(a2, b2))
    c0 = plus(times(2.0, minus(cross(a1, b2), cross(a2, b1))), times(k[0], t))
    c1 = plus(times(2.0, minus(cross(a2, b0), cross(a0, b2))), times(k[1], t))
    c2 = plus(times(2.0, minus(cross(a0, b1), cross(a1, b0))), times(k[2], t))
    return matrix_times(1.0 / T, (c0[0], c1[0], c2[0], c0[1], c1[1], c2[1], c0[2], c1[2], c2[2]))
