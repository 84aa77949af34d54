"""Compute the inertia of the charts: M(q), W(q), their gradients, and discrete derivatives of T and T*; compiled.

Sources: 002 (101), 000 (46), (139), 004; discrete derivatives 000 (87), (88), (146).
"""

from __future__ import annotations

from typing import NamedTuple

from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.kinematics.chart_frames import ALPHA, GAMMA, QUATERNION, SINGULAR
from rigid.kinematics.poses import (
    clear,
    clear_matrix,
    load_quat,
)
from rigid.kinematics.quaternion_maps import G, G_transposed, add_quat, quat_dot, quat_mean
from rigid.linear_algebra import apply, plus, times
from rigid.mechanics.mechanical_system import system_function


class Form(NamedTuple):
    """Coefficients of T or T* of a frame: mass v . v/2 for its position and, for its quaternion,

    scale (w . K w + beta c^2 + gamma v . v)/2,   w = G(q) v,   c = q . v.                               (1)
    """

    scale: float
    mass: float
    K: tuple[float, ...]
    beta: float
    gamma: float


@inline_kernel
def euler_tensor(J):
    """Return the Euler tensor E = tr(J)/2 I - J, the second moments of mass, as 9 numbers, kg m^2."""
    half = 0.5 * (J[0] + J[4] + J[8])
    return half - J[0], -J[1], -J[2], -J[3], half - J[4], -J[5], -J[6], -J[7], half - J[8]


@internal_kernel
def inertia_of(D, f):
    """Return the inertia J of frame f as 9 numbers, row by row, kg m^2."""
    J = D.frames.entries[f].inertia
    return J[0], J[1], J[2], J[3], J[4], J[5], J[6], J[7], J[8]


@inline_kernel
def inverse3(A):
    """Return the inverse of a symmetric 3 x 3 matrix of 9 numbers."""
    c0 = A[4] * A[8] - A[5] * A[7], A[5] * A[6] - A[3] * A[8], A[3] * A[7] - A[4] * A[6]
    det = A[0] * c0[0] + A[1] * c0[1] + A[2] * c0[2]
    s = 1.0 / det
    return (
        s * c0[0], s * (A[2] * A[7] - A[1] * A[8]), s * (A[1] * A[5] - A[2] * A[4]),
        s * c0[1], s * (A[0] * A[8] - A[2] * A[6]), s * (A[2] * A[3] - A[0] * A[5]),
        s * c0[2], s * (A[1] * A[6] - A[0] * A[7]), s * (A[0] * A[4] - A[1] * A[3]),
    )  # fmt: skip


@internal_kernel
def inertia_split(D, f):
    """Return (K, beta, gamma) of T = Omega . K Omega/2 + 2 beta (q . v)^2 + 2 gamma v . v, Omega = 2 G(q) v."""
    J, parameter, kind = inertia_of(D, f), D.frames.entries[f].parameter, D.frames.form
    if kind == SINGULAR:
        return J, 0.0, 0.0
    if kind == ALPHA:
        return J, parameter, 0.0
    g = parameter
    return (J[0] - g, J[1], J[2], J[3], J[4] - g, J[5], J[6], J[7], J[8] - g), 0.0, g


@internal_kernel
def coenergy_split(D, f):
    """Return (K, beta, gamma) of T* = t . K t/8 + beta (q . p)^2/8 + gamma p . p/8, t = G(q) p."""
    J, parameter = inertia_of(D, f), D.frames.entries[f].parameter
    K = inverse3(J)
    if D.frames.form != GAMMA:
        return K, 1.0 / parameter, 0.0
    g = 1.0 / parameter
    return (K[0] - g, K[1], K[2], K[3], K[4] - g, K[5], K[6], K[7], K[8] - g), 0.0, g


@inline_kernel
def fill_quaternion_form(form, q, to, out):
    """Set the diagonal block of out at `to` to scale (G(q)^T K G(q) + beta q q^T + gamma I), the matrix of (1)."""
    s, gamma = form.scale, form.gamma
    for j in range(4):
        e = (
            (1.0 + 0j if j == 0 else 0j),
            (
                1.0 + 0j if j == 1 else 0j,
                1.0 + 0j if j == 2 else 0j,
                1.0 + 0j if j == 3 else 0j,
            ),
        )
        c = G_transposed(q, apply(form.K, G(q, e)))
        b = form.beta * quat_dot(q, e)
        out[to, to + j] = s * (c[0] + b * q[0] + gamma * e[0])
        for i in range(3):
            out[to + 1 + i, to + j] = s * (c[1][i] + b * q[1][i] + gamma * e[1][i])


@internal_kernel
def fill_shared(D, out):
    """Add the mass shared by neighbouring frames (consistent mass of rods) to the matrix out."""
    F = D.frames
    for k in range(F.shared.size):
        pair = F.shared[k]
        a, b, c = F.entries[pair.a].position, F.entries[pair.b].position, pair.coupling
        for i in range(3):
            if a >= 0:
                out[a + i, a + i] -= c
            if b >= 0:
                out[b + i, b + i] -= c
            if a >= 0 and b >= 0:
                out[a + i, b + i] += c
                out[b + i, a + i] += c


@internal_kernel
def add_shared(D, v0, v1, out):
    """Add the momentum -c (v_b - v_a) of frame b, and its opposite of frame a, to out; v is the mean (v0 + v1)/2."""
    F = D.frames
    for k in range(F.shared.size):
        pair = F.shared[k]
        a, b, c = F.entries[pair.a].position, F.entries[pair.b].position, pair.coupling
        for i in range(3):
            spread = 0j
            if a >= 0:
                spread -= 0.5 * (v0[a + i] + v1[a + i])
            if b >= 0:
                spread += 0.5 * (v0[b + i] + v1[b + i])
            if a >= 0:
                out[a + i] += c * spread
            if b >= 0:
                out[b + i] -= c * spread


@inline_kernel
def add_form_gradient(form, q, a, b, to, out):
    """Add the gradient with respect to q of scale a . (G(q)^T K G(q) + beta q q^T) b to out at `to`."""
    s, beta = form.scale, form.beta
    add_quat(-s, G_transposed(a, apply(form.K, G(q, b))), to, out)
    add_quat(-s, G_transposed(b, apply(form.K, G(q, a))), to, out)
    add_quat(s * beta * quat_dot(q, b), a, to, out)
    add_quat(s * beta * quat_dot(q, a), b, to, out)


@internal_kernel
def fill_directors(E, to, out):
    """Set the blocks of three directors at `to` to E_ij I."""
    for i in range(3):
        for j in range(3):
            for l in range(3):
                out[to + 3 * i + l, to + 3 * j + l] = E[3 * i + j]


@inline_kernel
def add_discrete_form(form, q0, v0, q1, v1, to, out_q, out_v):
    """Add the discrete derivatives of (1) with respect to q and v to out_q and out_v.

    w and c are bilinear: their averages over the step replace their values (000 (87), 000 (146)).
    """
    s, beta = form.scale, form.beta
    q, v = quat_mean(q0, q1), quat_mean(v0, v1)
    w = times(0.5, plus(G(q0, v0), G(q1, v1)))
    c = 0.5 * (quat_dot(q0, v0) + quat_dot(q1, v1))
    Kw = apply(form.K, w)
    add_quat(s, G_transposed(q, Kw), to, out_v)
    add_quat(s * beta * c, q, to, out_v)
    add_quat(s * form.gamma, v, to, out_v)
    add_quat(-s, G_transposed(v, Kw), to, out_q)
    add_quat(s * beta * c, v, to, out_q)


@internal_kernel
def add_directors(E, v0, v1, to, out):
    """Add E_ij (v0_j + v1_j)/2 of three directors to out at `to`."""
    for i in range(3):
        for j in range(3):
            for l in range(3):
                out[to + 3 * i + l] += 0.5 * E[3 * i + j] * (v0[to + 3 * j + l] + v1[to + 3 * j + l])


@internal_kernel
def form_of(D, f, inverse):
    """Return the `Form` (1) of frame f: T, or, if `inverse`, T* with momenta in place of velocities."""
    mass = D.frames.entries[f].mass
    if inverse:
        K, beta, gamma = coenergy_split(D, f)
        return Form(0.25, 1.0 / mass, K, beta, gamma)
    K, beta, gamma = inertia_split(D, f)
    return Form(4.0, mass, K, beta, gamma)


@internal_kernel
def directors_of(D, f, inverse):
    """Return the Euler tensor of frame f, or its inverse if `inverse`, as 9 numbers."""
    E = euler_tensor(inertia_of(D, f))
    return inverse3(E) if inverse else E


@internal_kernel
def fill_forms(q, D, inverse, out):
    """Set out (n, n) to M(q), or to W(q) if `inverse`."""
    clear_matrix(out)
    for f in range(D.frames.entries.size):
        at, to = D.frames.entries[f].position, D.frames.entries[f].orientation
        if at < 0 and to < 0:
            continue
        form = form_of(D, f, inverse)
        if at >= 0:
            for i in range(3):
                out[at + i, at + i] = form.mass
        if to >= 0 and D.frames.chart == QUATERNION:
            fill_quaternion_form(form, load_quat(q, to), to, out)
        elif to >= 0:
            fill_directors(directors_of(D, f, inverse), to, out)
    if not inverse:
        fill_shared(D, out)


@internal_kernel
def fill_form_gradients(q, a, b, D, inverse, out):
    """Set out (n,) to the gradient with respect to q of a . M(q) b, or of a . W(q) b if `inverse`."""
    clear(out)
    if D.frames.chart != QUATERNION:
        return
    for f in range(D.frames.entries.size):
        to = D.frames.entries[f].orientation
        if to >= 0:
            form = form_of(D, f, inverse)
            add_form_gradient(form, load_quat(q, to), load_quat(a, to), load_quat(b, to), to, out)


@internal_kernel
def fill_discrete_forms(q0, v0, q1, v1, D, inverse, out_q, out_v):
    """Set out_q and out_v to the discrete derivatives of v . M(q) v/2, or of v . W(q) v/2 if `inverse`."""
    clear(out_q)
    clear(out_v)
    for f in range(D.frames.entries.size):
        at, to = D.frames.entries[f].position, D.frames.entries[f].orientation
        if at < 0 and to < 0:
            continue
        form = form_of(D, f, inverse)
        if at >= 0:
            for i in range(3):
                out_v[at + i] = 0.5 * form.mass * (v0[at + i] + v1[at + i])
        if to >= 0 and D.frames.chart == QUATERNION:
            q, v, p, w = load_quat(q0, to), load_quat(v0, to), load_quat(q1, to), load_quat(v1, to)
            add_discrete_form(form, q, v, p, w, to, out_q, out_v)
        elif to >= 0:
            add_directors(directors_of(D, f, inverse), v0, v1, to, out_v)
    if not inverse:
        add_shared(D, v0, v1, out_v)


@system_function("mass")
def mass(q, D, out):
    """Compute the mass matrix M(q) (n, n)."""
    fill_forms(q, D, False, out)


@system_function("inverse_mass")
def inverse_mass(q, D, out):
    """Compute W(q) (n, n): M^-1 on |q| = 1, continued as a polynomial of q (000 (139))."""
    fill_forms(q, D, True, out)


@system_function("mass_gradient")
def mass_gradient(q, a, b, D, out):
    """Compute the gradient (n,) of a . M(q) b with respect to q."""
    fill_form_gradients(q, a, b, D, False, out)


@system_function("inverse_mass_gradient")
def inverse_mass_gradient(q, a, b, D, out):
    """Compute the gradient (n,) of a . W(q) b with respect to q."""
    fill_form_gradients(q, a, b, D, True, out)


@system_function("discrete_kinetic")
def discrete_kinetic(q0, v0, q1, v1, D, out_q, out_v):
    """Compute the discrete derivatives (n,) of T(q, v), which is formed with Omega: 000 (87), (88)."""
    fill_discrete_forms(q0, v0, q1, v1, D, False, out_q, out_v)


@system_function("discrete_coenergy")
def discrete_coenergy(q0, p0, q1, p1, D, out_q, out_p):
    """Compute the discrete derivatives (n,) of T*(q, p), which is formed with G(q) p, q . p and p: 000 (146)."""
    fill_discrete_forms(q0, p0, q1, p1, D, True, out_q, out_p)


@inline_kernel
def add_form_product(form, q, v, to, out):
    """Add scale (G(q)^T K G(q) + beta q q^T + gamma I) v to out at `to`."""
    s = form.scale
    add_quat(s, G_transposed(q, apply(form.K, G(q, v))), to, out)
    add_quat(s * form.beta * quat_dot(q, v), q, to, out)
    add_quat(s * form.gamma, v, to, out)


@internal_kernel
def fill_product(q, v, D, inverse, out):
    """Set out (n,) to M(q) v, or to W(q) v if `inverse`."""
    clear(out)
    for f in range(D.frames.entries.size):
        at, to = D.frames.entries[f].position, D.frames.entries[f].orientation
        if at < 0 and to < 0:
            continue
        form = form_of(D, f, inverse)
        if at >= 0:
            for i in range(3):
                out[at + i] = form.mass * v[at + i]
        if to >= 0 and D.frames.chart == QUATERNION:
            add_form_product(form, load_quat(q, to), load_quat(v, to), to, out)
        elif to >= 0:
            add_directors(directors_of(D, f, inverse), v, v, to, out)
    if not inverse:
        add_shared(D, v, v, out)


@system_function("mass_product")
def mass_product(q, v, D, out):
    """Compute the product M(q) v (n,)."""
    fill_product(q, v, D, False, out)


@system_function("inverse_mass_product")
def inverse_mass_product(q, p, D, out):
    """Compute the product W(q) p (n,)."""
    fill_product(q, p, D, True, out)


@system_function("mass_solve")
def mass_solve(q, p, D, out):
    """Compute M(q)^-1 p (n,); for quaternions with L = [q, G^T], L L^T = |q|^2 I:

    M = L diag(4 beta, 4 K) L^T,   gamma I = gamma L L^T/|q|^2.
    """
    if D.frames.chart != QUATERNION:
        fill_product(q, p, D, True, out)
        return
    clear(out)
    for f in range(D.frames.entries.size):
        at, to = D.frames.entries[f].position, D.frames.entries[f].orientation
        if at >= 0:
            for i in range(3):
                out[at + i] = p[at + i] / D.frames.entries[f].mass
        if to < 0:
            continue
        K, beta, gamma = inertia_split(D, f)
        quat, momentum = load_quat(q, to), load_quat(p, to)
        square = quat_dot(quat, quat)
        g = gamma / square
        K = inverse3((K[0] + g, K[1], K[2], K[3], K[4] + g, K[5], K[6], K[7], K[8] + g))
        scale = 0.25 / (square * square)
        add_quat(scale, G_transposed(quat, apply(K, G(quat, momentum))), to, out)
        add_quat(scale / (beta + g) * quat_dot(quat, momentum), quat, to, out)


@system_function("inverse_mass_rate")
def inverse_mass_rate(q, z, p, D, out):
    """Compute the derivative (n,) of W(q) p along z; W is quadratic in the quaternions."""
    clear(out)
    if D.frames.chart != QUATERNION:
        return
    for f in range(D.frames.entries.size):
        to = D.frames.entries[f].orientation
        if to < 0:
            continue
        form = form_of(D, f, True)
        s, K, beta = form.scale, form.K, form.beta
        a, b, momentum = load_quat(q, to), load_quat(z, to), load_quat(p, to)
        add_quat(s, G_transposed(b, apply(K, G(a, momentum))), to, out)
        add_quat(s, G_transposed(a, apply(K, G(b, momentum))), to, out)
        add_quat(s * beta * quat_dot(a, momentum), b, to, out)
        add_quat(s * beta * quat_dot(b, momentum), a, to, out)
