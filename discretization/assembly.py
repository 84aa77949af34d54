"""Residual and tangent of a Cayley energy-momentum step, assembled from frames and interactions.

Unknowns: dr, psi of every moving frame, impulses Lam of every constraint. With suffix 0 and 1 for the ends of the step, bars for
averages, R1 = cay(psi) R0:

    2 m (dr/h - v0) + h f + G_r^T Lam = 0                                                               (1)
    R1 J Omega1 - R0 J Omega0 + h tau + G_psi^T Lam = 0,   Omega1 = 2 R0^T psi/h - Omega0               (2)
    g(1) = 0                                                                                            (3)

f, tau are the discrete derivatives of all energies minus the applied loads, G of all constraints. Rows (3) and the multipliers
are scaled by s = 2 m/h of the lighter frame, so that the matrix is balanced: Lam = s x unknown.
"""

from typing import NamedTuple

import numpy as np

from discretization.numbering import Numbering
from discretization.space import se3_element
from discretization.system import System
from rigid import constraints as rigid_constraints
from rigid.compilation import kernel, small_kernel
from rigid.constraints import add_cross, add_dyad, constraint_gradient, constraint_hessian, constraint_value
from rigid.linear_algebra import apply, apply_transposed, cross, dot
from rigid.rotations import inverse_tangent, rotation_matrix
from rigid.springs import spring_force, spring_tangent, torsion_spring
from rigid.system import COINCIDENT, DISTANCE, FORCE, PERPENDICULAR, Floats, State

EPS = 2.220446049250313e-16


class Workspace(NamedTuple):
    """All arrays a step needs, allocated once for a model."""

    dr: Floats  # (n, 3)
    psi: Floats  # (n, 3)
    lam: Floats  # (m,) scaled multipliers
    r1: Floats  # (n, 3)
    q1: Floats  # (n, 4)
    R0: Floats  # (n, 3, 3)
    R1: Floats  # (n, 3, 3)
    start: Floats  # (elements, START)
    strain1: Floats  # (elements, 6) strains at the end of the step
    viscous: bool  # some element dissipates
    element_scale: Floats  # (elements, 2) largest stiffness of force and of moment, for the noise
    scale: Floats  # (c,) scale of constraint rows
    residual: Floats  # (N + 6,)
    noise: Floats  # (N + 6,) round-off level of each residual
    rhs: Floats  # (N,)
    values: Floats  # (n_values + n_dump,)
    pivots: np.ndarray  # (N,) int32
    integers: np.ndarray  # (8,) int32
    M: Floats  # (MATRICES, 3, 3)
    V: Floats  # (VECTORS, 3)
    H: Floats  # (4, 6, 6)
    K9: Floats  # (9, 9)
    K12: Floats  # (12, 12)
    vector: Floats  # (6, 12)


def workspace(system: System, numbering: Numbering) -> Workspace:
    """Allocate the arrays of a step for `system`."""
    n, m, c = len(system.frames.mass), len(system.elements.length), len(system.constraints.kind)
    n_lam = int(np.where(system.constraints.kind == COINCIDENT, 3, 1).sum())
    stiffness = np.abs(system.elements.stiffness)
    scale = np.zeros((m, 2))
    if m:
        scale[:, 0] = stiffness[:, :3, :].max(axis=(1, 2))
        scale[:, 1] = stiffness[:, 3:, :].max(axis=(1, 2))
    return Workspace(
        dr=np.zeros((n, 3)),
        psi=np.zeros((n, 3)),
        lam=np.zeros(n_lam),
        r1=np.zeros((n, 3)),
        q1=np.zeros((n, 4)),
        R0=np.zeros((n, 3, 3)),
        R1=np.zeros((n, 3, 3)),
        start=np.zeros((m, se3_element.START)),
        strain1=np.zeros((m, 6)),
        viscous=bool(np.any(system.elements.damping)),
        element_scale=scale,
        scale=np.ones(c),
        residual=np.zeros(numbering.size + 6),
        noise=np.zeros(numbering.size + 6),
        rhs=np.zeros(numbering.size),
        values=np.zeros(numbering.n_values + numbering.n_dump),
        pivots=np.zeros(numbering.size, dtype=np.int32),
        integers=np.zeros(8, dtype=np.int32),
        M=np.zeros((se3_element.MATRICES, 3, 3)),
        V=np.zeros((max(se3_element.VECTORS, rigid_constraints.VECTORS) + 16, 3)),
        H=np.zeros((4, 6, 6)),
        K9=np.zeros((9, 9)),
        K12=np.zeros((12, 12)),
        vector=np.zeros((6, 12)),
    )


@small_kernel
def add_block(values, base, stride, K, i0, j0, factor):
    """values[base + i + j stride] += factor K[i0 + i, j0 + j], 6 x 6."""
    for j in range(6):
        at = base + j * stride
        for i in range(6):
            values[at + i] += factor * K[i0 + i, j0 + j]


@small_kernel
def add_pair(values, base, stride_a, stride_b, K, factor):
    """All four blocks of K (12, 12) between two frames."""
    add_block(values, base[0], stride_a, K, 0, 0, factor)
    add_block(values, base[1], stride_b, K, 0, 6, factor)
    add_block(values, base[2], stride_a, K, 6, 0, factor)
    add_block(values, base[3], stride_b, K, 6, 6, factor)


@kernel
def begin_step(system, numbering, state, work, h):
    """Everything that the Newton iterations of a step share: rotations, start of the elements, scales, noise levels."""
    frames, elements, constraints = system.frames, system.elements, system.constraints
    noise = work.noise
    gravity = np.sqrt(dot(system.gravity, system.gravity))
    t, Jw = work.V[0], work.V[1]
    for f in range(frames.mass.shape[0]):
        rotation_matrix(state.quat[f], work.R0[f])
        at = numbering.frame[f]
        mass = frames.mass[f]
        apply(frames.inertia[f], state.Omega[f], Jw)
        speed = np.sqrt(dot(state.v[f], state.v[f]))
        spin = np.sqrt(dot(Jw, Jw))
        for i in range(3):
            noise[at + i] = EPS * mass * (4.0 * speed + abs(h) * gravity)
            noise[at + 3 + i] = 8.0 * EPS * spin
    for m in range(elements.length.shape[0]):
        a, b = elements.frames[m, 0], elements.frames[m, 1]
        for i in range(3):
            t[i] = state.r[b, i] - state.r[a, i]
        se3_element.start_of_step(
            work.R0[a],
            work.R0[b],
            state.quat[a],
            state.quat[b],
            t,
            elements.length[m],
            elements.stiffness[m],
            elements.damping[m],
            elements.strain0[m],
            h,
            work.vector[0],
            work.V[1],
            work.V[2],
            work.start[m],
        )
        L = elements.length[m]
        force = EPS * abs(h) * work.element_scale[m, 0]
        moment = force * L + EPS * abs(h) * work.element_scale[m, 1] / L
        for side in range(2):
            at = numbering.frame[elements.frames[m, side]]
            for i in range(3):
                noise[at + i] += force
                noise[at + 3 + i] += moment
    springs = system.springs
    for s in range(springs.stiffness.shape[0]):
        level = EPS * abs(h) * springs.stiffness[s] * (1.0 + springs.length0[s])
        for side in range(2):
            at = numbering.frame[springs.frames[s, side]]
            for i in range(3):
                noise[at + i] += level
                noise[at + 3 + i] += level
    for s in range(system.torsions.stiffness.shape[0]):
        level = EPS * abs(h * system.torsions.stiffness[s]) * (1.0 + abs(state.angle[s]))
        for side in range(2):
            at = numbering.frame[system.torsions.frames[s, side]]
            for i in range(3):
                noise[at + 3 + i] += level
    for c in range(constraints.kind.shape[0]):
        a, b = constraints.frames[c, 0], constraints.frames[c, 1]
        lightest = 0.0
        for side in range(2):
            f = constraints.frames[c, side]
            if frames.fixed[f] == 0:
                J = frames.inertia[f]
                size = frames.mass[f]
                if constraints.kind[c] == PERPENDICULAR:
                    size = J[0, 0] + J[1, 1] + J[2, 2]
                if lightest == 0.0 or size < lightest:
                    lightest = size
        scale = 2.0 * lightest / abs(h)
        work.scale[c] = scale
        reach = 1.0
        if constraints.kind[c] != PERPENDICULAR:
            reach = np.sqrt(dot(state.r[a], state.r[a])) + np.sqrt(dot(state.r[b], state.r[b]))
            reach += np.sqrt(dot(constraints.Xa[c], constraints.Xa[c])) + np.sqrt(dot(constraints.Xb[c], constraints.Xb[c]))
        rows = 3 if constraints.kind[c] == COINCIDENT else 1
        impulse = 0.0
        for i in range(rows):
            noise[numbering.row[c] + i] = 2.0 * EPS * scale * reach
            impulse += abs(h * state.lam[numbering.lam[c] + i])
        for side in range(2):
            at = numbering.frame[constraints.frames[c, side]]
            for i in range(3):
                noise[at + i] += EPS * impulse
                noise[at + 3 + i] += EPS * impulse * reach
    return 0


@kernel
def assemble(system, numbering, state, work, h, load_values, tangent):
    """Residual (1)-(3) at the present dr, psi, lam and, on demand, the matrix. Returns 0 or the status of a failed element."""
    n_unknowns = numbering.size
    for i in range(n_unknowns + 6):
        work.residual[i] = 0.0
    if tangent:
        for i in range(numbering.n_values):
            work.values[i] = 0.0
    _inertia(system, numbering, state, work, h, tangent)
    status = _elements(system, numbering, state, work, h, tangent)
    if status != 0:
        return status
    _constraints(system, numbering, state, work, tangent)
    _springs(system, numbering, state, work, h, tangent)
    _torsions(system, numbering, state, work, h, tangent)
    _loads(system, numbering, work, h, load_values, tangent)
    return 0


@kernel
def _inertia(system, numbering, state, work, h, tangent):
    frames = system.frames
    Omega, L0, L1, t, Tinv = work.V[0], work.V[1], work.V[2], work.V[3], work.M[0]
    RJ, RT = work.M[1], work.M[2]
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] != 0:
            continue
        at, mass, J = numbering.frame[f], frames.mass[f], frames.inertia[f]
        R0, R1 = work.R0[f], work.R1[f]
        apply_transposed(R0, work.psi[f], Omega)
        for i in range(3):
            Omega[i] = 2.0 * Omega[i] / h - state.Omega[f, i]
        apply(J, Omega, t)
        apply(R1, t, L1)
        apply(J, state.Omega[f], t)
        apply(R0, t, L0)
        for i in range(3):
            work.residual[at + i] += mass * (2.0 * (work.dr[f, i] / h - state.v[f, i]) - h * system.gravity[i])  # (1)
            work.residual[at + 3 + i] += L1[i] - L0[i]  # (2)
        if not tangent:
            continue
        # d(R1 J Omega1) = -hat(L1) eta + (2/h) R1 J R0^T T^-1 eta
        inverse_tangent(work.psi[f], Tinv)
        for i in range(3):
            for j in range(3):
                RT[i, j] = R0[0, i] * Tinv[0, j] + R0[1, i] * Tinv[1, j] + R0[2, i] * Tinv[2, j]
                RJ[i, j] = R1[i, 0] * J[0, j] + R1[i, 1] * J[1, j] + R1[i, 2] * J[2, j]
        base, stride = numbering.frame_base[f], numbering.frame_stride[f]
        for j in range(3):
            work.values[base + j + j * stride] += 2.0 * mass / h
            column = base + 3 + (3 + j) * stride
            for i in range(3):
                x = RJ[i, 0] * RT[0, j] + RJ[i, 1] * RT[1, j] + RJ[i, 2] * RT[2, j]
                work.values[column + i] += 2.0 / h * x
        column = base + 3 + 3 * stride
        work.values[column + 1] -= L1[2]
        work.values[column + 2] += L1[1]
        work.values[column + stride] += L1[2]
        work.values[column + stride + 2] -= L1[0]
        work.values[column + 2 * stride] -= L1[1]
        work.values[column + 2 * stride + 1] += L1[0]


@kernel
def _elements(system, numbering, state, work, h, tangent):
    elements = system.elements
    force, w = work.vector[0], work.vector[1]
    e0, e1 = work.vector[3], work.vector[4]
    K, values = work.K9, work.values
    for m in range(elements.length.shape[0]):
        a, b = elements.frames[m, 0], elements.frames[m, 1]
        for i in range(3):
            e0[i] = state.r[b, i] - state.r[a, i]
            # not r1_b - r1_a: far from the origin that would lose the digits Newton needs
            e1[i] = e0[i] + (work.dr[b, i] - work.dr[a, i])
        status = se3_element.discrete_forces(
            work.R0[a],
            work.R1[a],
            work.R0[b],
            work.R1[b],
            work.q1[a],
            work.q1[b],
            e0,
            e1,
            work.start[m],
            elements.length[m],
            elements.stiffness[m],
            elements.damping[m],
            h,
            tangent,
            work.M,
            work.V,
            w,
            work.strain1[m],
            work.H,
            force,
            K,
        )
        if status != 0:
            return status
        at, bt = numbering.frame[a], numbering.frame[b]
        for i in range(3):
            work.residual[at + i] -= h * force[i]
            work.residual[bt + i] += h * force[i]
            work.residual[at + 3 + i] += h * force[3 + i]
            work.residual[bt + 3 + i] += h * force[6 + i]
        if not tangent:
            continue
        # columns e1 = r_b - r_a, eta_a, eta_b; rows n (minus on a), torques
        base = numbering.element_base[m]
        stride_a, stride_b = numbering.frame_stride[a], numbering.frame_stride[b]
        for j in range(3):
            aa, ab = base[0] + j * stride_a, base[1] + j * stride_b
            ba, bb = base[2] + j * stride_a, base[3] + j * stride_b
            aat, abt = base[0] + (3 + j) * stride_a, base[1] + (3 + j) * stride_b
            bat, bbt = base[2] + (3 + j) * stride_a, base[3] + (3 + j) * stride_b
            for i in range(3):
                x = h * K[i, j]
                values[aa + i] += x
                values[bb + i] += x
                values[ab + i] -= x
                values[ba + i] -= x
                x = h * K[3 + i, j]
                values[aa + 3 + i] -= x
                values[ab + 3 + i] += x
                x = h * K[6 + i, j]
                values[ba + 3 + i] -= x
                values[bb + 3 + i] += x
                x = h * K[i, 3 + j]
                values[aat + i] -= x
                values[bat + i] += x
                x = h * K[i, 6 + j]
                values[abt + i] -= x
                values[bbt + i] += x
                values[aat + 3 + i] += h * K[3 + i, 3 + j]
                values[abt + 3 + i] += h * K[3 + i, 6 + j]
                values[bat + 3 + i] += h * K[6 + i, 3 + j]
                values[bbt + 3 + i] += h * K[6 + i, 6 + j]
    return 0


@small_kernel
def _turned(R0, R1, X, x0, x1, xbar):
    """x0 = R0 X, x1 = R1 X and their mean."""
    apply(R0, X, x0)
    apply(R1, X, x1)
    for i in range(3):
        xbar[i] = 0.5 * (x0[i] + x1[i])


@kernel
def _constraints(system, numbering, state, work, tangent):
    constraints, V, values = system.constraints, work.V, work.values
    xa0, xa1, xa, xb0, xb1, xb = V[0], V[1], V[2], V[3], V[4], V[5]
    ua0, ua1, ua, ub0, ub1, ub = V[6], V[7], V[8], V[9], V[10], V[11]
    d1, d, lam, t = V[12], V[13], V[14], V[15]
    scratch = V[16:]
    mean_gradient, end_gradient, K = work.vector[0], work.vector[1], work.K12
    for c in range(constraints.kind.shape[0]):
        kind, a, b = constraints.kind[c], constraints.frames[c, 0], constraints.frames[c, 1]
        at, bt, row, scale = numbering.frame[a], numbering.frame[b], numbering.row[c], work.scale[c]
        base = numbering.constraint_base[c]
        stride_a, stride_b, stride_c = numbering.frame_stride[a], numbering.frame_stride[b], numbering.row_stride[c]
        _turned(work.R0[a], work.R1[a], constraints.Xa[c], xa0, xa1, xa)
        _turned(work.R0[b], work.R1[b], constraints.Xb[c], xb0, xb1, xb)
        for i in range(3):
            d1[i] = (work.r1[b, i] - work.r1[a, i]) + (xb1[i] - xa1[i])
        if kind == COINCIDENT:
            for i in range(3):
                lam[i] = scale * work.lam[numbering.lam[c] + i]
                work.residual[row + i] = scale * d1[i]  # (3)
                work.residual[at + i] -= lam[i]
                work.residual[bt + i] += lam[i]
            cross(xa, lam, t)
            for i in range(3):
                work.residual[at + 3 + i] -= t[i]
            cross(xb, lam, t)
            for i in range(3):
                work.residual[bt + 3 + i] += t[i]
            if not tangent:
                continue
            for i in range(3):
                values[base[4] + i + i * stride_c] -= scale
                values[base[5] + i + i * stride_c] += scale
                values[base[6] + i + i * stride_a] -= scale
                values[base[7] + i + i * stride_b] += scale
            _hat_block(values, base[4] + 3, stride_c, xa, -scale)
            _hat_block(values, base[5] + 3, stride_c, xb, scale)
            _hat_block(values, base[6] + 3 * stride_a, stride_a, xa1, scale)
            _hat_block(values, base[7] + 3 * stride_b, stride_b, xb1, -scale)
            _dyad_block(values, base[0] + 3 + 3 * stride_a, stride_a, xa1, lam, -0.5)
            _dyad_block(values, base[3] + 3 + 3 * stride_b, stride_b, xb1, lam, 0.5)
            continue
        _turned(work.R0[a], work.R1[a], constraints.Ua[c], ua0, ua1, ua)
        _turned(work.R0[b], work.R1[b], constraints.Ub[c], ub0, ub1, ub)
        for i in range(3):
            d[i] = 0.5 * ((state.r[b, i] - state.r[a, i]) + (xb0[i] - xa0[i]) + d1[i])
        impulse = scale * work.lam[numbering.lam[c]]
        work.residual[row] = scale * (constraint_value(kind, ua1, ub1, d1) - constraints.value[c])  # (3)
        constraint_gradient(kind, ua, ub, xa, xb, d, scratch, mean_gradient)
        for i in range(6):
            work.residual[at + i] += impulse * mean_gradient[i]
            work.residual[bt + i] += impulse * mean_gradient[6 + i]
        if not tangent:
            continue
        constraint_gradient(kind, ua1, ub1, xa1, xb1, d1, scratch, end_gradient)
        for i in range(6):
            values[base[4] + i] += scale * mean_gradient[i]
            values[base[5] + i] += scale * mean_gradient[6 + i]
            values[base[6] + i * stride_a] += scale * end_gradient[i]
            values[base[7] + i * stride_b] += scale * end_gradient[6 + i]
        K[:] = 0.0
        constraint_hessian(kind, impulse, ua, ub, xa, xb, d, ua1, ub1, xa1, xb1, scratch, K)
        add_pair(values, base, stride_a, stride_b, K, 1.0)


@small_kernel
def _hat_block(values, base, stride, a, factor):
    """values block (3, 3) at base += factor hat(a)."""
    x, y, z = factor * a[0], factor * a[1], factor * a[2]
    values[base + 1] += z
    values[base + 2] -= y
    values[base + stride] -= z
    values[base + stride + 2] += x
    values[base + 2 * stride] += y
    values[base + 2 * stride + 1] -= x


@small_kernel
def _dyad_block(values, base, stride, a, b, factor):
    """values block (3, 3) at base += factor (a b^T - (a . b) I)."""
    ab = factor * dot(a, b)
    for j in range(3):
        for i in range(3):
            values[base + i + j * stride] += factor * a[i] * b[j]
        values[base + j + j * stride] -= ab


@small_kernel
def spring_ends(springs, state, work, s):
    """Levers and line of spring s: V[0:6] = x_a, x_b at 0, 1 and mean; V[6:9] = d0, d1, mean."""
    V = work.V
    a, b = springs.frames[s, 0], springs.frames[s, 1]
    _turned(work.R0[a], work.R1[a], springs.Xa[s], V[0], V[1], V[2])
    _turned(work.R0[b], work.R1[b], springs.Xb[s], V[3], V[4], V[5])
    for i in range(3):
        e0 = state.r[b, i] - state.r[a, i]
        V[6, i] = e0 + (V[3, i] - V[0, i])
        V[7, i] = e0 + (work.dr[b, i] - work.dr[a, i]) + (V[4, i] - V[1, i])
        V[8, i] = 0.5 * (V[6, i] + V[7, i])


@kernel
def _springs(system, numbering, state, work, h, tangent):
    springs, V, K = system.springs, work.V, work.K12
    xa1, xa, xb1, xb, d0, d1, d, scratch = V[1], V[2], V[4], V[5], V[6], V[7], V[8], V[16:]
    gradient, gradient1 = work.vector[0], work.vector[1]
    for s in range(springs.stiffness.shape[0]):
        a, b = springs.frames[s, 0], springs.frames[s, 1]
        spring_ends(springs, state, work, s)
        sigma, slope, last, _ = spring_force(
            springs.stiffness[s], springs.damping[s], springs.length0[s], h, d, d0, d1
        )
        constraint_gradient(DISTANCE, d, d, xa, xb, d, scratch, gradient)
        at, bt = numbering.frame[a], numbering.frame[b]
        for i in range(6):
            work.residual[at + i] += h * sigma * gradient[i]
            work.residual[bt + i] += h * sigma * gradient[6 + i]
        if tangent:
            constraint_gradient(DISTANCE, d1, d1, xa1, xb1, d1, scratch, gradient1)
            K[:] = 0.0
            spring_tangent(sigma, slope, last, xa, xb, d, d1, xa1, xb1, gradient, gradient1, K)
            add_pair(
                work.values,
                numbering.spring_base[s],
                numbering.frame_stride[a],
                numbering.frame_stride[b],
                K,
                h,
            )


@kernel
def torsion_step(torsions, work, alpha, s, h, tangent, force, K):
    """Torques of torsion spring s over the step; returns the change of its angle and the dissipation."""
    V = work.V
    a, b = torsions.frames[s, 0], torsions.frames[s, 1]
    u0, w0, b0, u1, w1, b1, t = V[0], V[1], V[2], V[3], V[4], V[5], V[6]
    _turned(work.R0[a], work.R1[a], torsions.Ua[s], u0, u1, t)
    _turned(work.R0[a], work.R1[a], torsions.Wa[s], w0, w1, t)
    _turned(work.R0[b], work.R1[b], torsions.Ub[s], b0, b1, t)
    return torsion_spring(
        torsions.stiffness[s],
        torsions.damping[s],
        torsions.angle0[s],
        h,
        alpha,
        u0,
        w0,
        b0,
        u1,
        w1,
        b1,
        tangent,
        V[8:16],
        V[16],
        force,
        K,
    )


@kernel
def _torsions(system, numbering, state, work, h, tangent):
    torsions = system.torsions
    force, K6, K = work.vector[0], work.H[0], work.K12
    for s in range(torsions.stiffness.shape[0]):
        a, b = torsions.frames[s, 0], torsions.frames[s, 1]
        torsion_step(torsions, work, state.angle[s], s, h, tangent, force, K6)
        at, bt = numbering.frame[a], numbering.frame[b]
        for i in range(3):
            work.residual[at + 3 + i] += h * force[i]
            work.residual[bt + 3 + i] += h * force[3 + i]
        if tangent:
            K[:] = 0.0
            for i in range(3):
                for j in range(3):
                    K[3 + i, 3 + j] = K6[i, j]
                    K[3 + i, 9 + j] = K6[i, 3 + j]
                    K[9 + i, 3 + j] = K6[3 + i, j]
                    K[9 + i, 9 + j] = K6[3 + i, 3 + j]
            add_pair(
                work.values,
                numbering.torsion_base[s],
                numbering.frame_stride[a],
                numbering.frame_stride[b],
                K,
                h,
            )


@kernel
def load_step(loads, work, value, l, force):
    """Averaged force and torque (6,) of load l over the step."""
    f = loads.frame[l]
    V = work.V
    x0, x1, x, F0, F1, F, t = V[0], V[1], V[2], V[3], V[4], V[5], V[6]
    for i in range(3):
        F0[i], F1[i], F[i] = value[i], value[i], value[i]
    if loads.following[l] != 0:
        _turned(work.R0[f], work.R1[f], value, F0, F1, F)
    if loads.kind[l] == FORCE:
        _turned(work.R0[f], work.R1[f], loads.X[l], x0, x1, x)
        cross(x, F, t)
        for i in range(3):
            force[i], force[3 + i] = F[i], t[i]
    else:
        for i in range(3):
            force[i], force[3 + i] = 0.0, F[i]


@kernel
def _loads(system, numbering, work, h, load_values, tangent):
    loads, V, K, force = system.loads, work.V, work.K12, work.vector[0]
    for l in range(loads.kind.shape[0]):
        f = loads.frame[l]
        load_step(loads, work, load_values[l], l, force)
        at = numbering.frame[f]
        for i in range(6):
            work.residual[at + i] -= h * force[i]
        if not tangent:
            continue
        x1, x, F1, F = V[1], V[2], V[4], V[5]
        K[:] = 0.0
        if loads.kind[l] == FORCE:
            add_dyad(K, 3, 3, 0.5, x1, F)
            if loads.following[l] != 0:
                add_cross(K, 0, 3, -0.5, F1)
                rigid_constraints.add_dyad_transposed(K, 3, 3, 0.5, x, F1)
        elif loads.following[l] != 0:
            add_cross(K, 3, 3, -0.5, F1)
        add_block(work.values, numbering.frame_base[f], numbering.frame_stride[f], K, 0, 0, -h)
