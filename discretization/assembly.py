"""Residual and tangent of a Cayley energy-momentum step, assembled from frames and interactions.

Unknowns: dr, psi of every moving frame, impulses Lam of every constraint. With suffix 0 and 1 for the ends
of the step, bars for averages, R1 = cay(psi) R0:

    2 m (dr/h - v0) + h f + G_r^T Lam = 0                                                               (1)
    R1 J Omega1 - R0 J Omega0 + h tau + G_psi^T Lam = 0,   Omega1 = 2 R0^T psi/h - Omega0               (2)
    g(1) = 0                                                                                            (3)

f, tau are the discrete derivatives of all energies minus the applied loads, G of all constraints. Rows (3)
and the multipliers are scaled by s = 2 m/h of the lighter frame, so that the matrix is balanced: Lam = s x
unknown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.numbering import Numbering
from discretization.space import se3_element
from discretization.system import System
from rigid.compilation import kernel, small_kernel
from rigid.constraints import (
    add_at,
    add_constraint_hessian,
    add_pair_hessian,
    constraint_gradient,
    constraint_value,
    turned_right,
)
from rigid.linear_algebra import (
    add3,
    add_block,
    apply,
    apply_transposed,
    average,
    cross,
    dot,
    dyad,
    hat,
    load3,
    load9,
    load_block,
    matrix_minus,
    matrix_times,
    minus,
    outer,
    plus,
    plus_identity,
    product,
    times,
    trace,
    transposed_product,
)
from rigid.references import by_reference
from rigid.rotations import cayley_turn, inverse_tangent, load4, rotation_matrix
from rigid.springs import spring_force, torsion_spring
from rigid.system import COINCIDENT, DISTANCE, FORCE, PERPENDICULAR, Floats

EPS = 2.220446049250313e-16


@by_reference
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
    accounts: bool  # something does work, dissipates or counts its angle
    solved: float  # residual/noise that counts as solved
    element_scale: Floats  # (elements, 2) largest stiffness of force and of moment, for the noise
    scale: Floats  # (c,) scale of constraint rows
    residual: Floats  # (N + 6,)
    noise: Floats  # (N + 6,) round-off level of each residual
    rhs: Floats  # (N,)
    values: Floats  # (n_values + n_dump,)
    pivots: np.ndarray  # (N,) int32
    integers: np.ndarray  # (8,) int32, arguments of LAPACK
    first: np.ndarray  # (N,) int32 first rows of the columns of U
    multipliers: Floats  # (band + 8,)
    K: Floats  # (9, 9) tangent of one element


AT_NOISE = 4.0  # residual/noise of a step that is solved to round-off


def workspace(system: System, numbering: Numbering, tolerance: float = 0.0) -> Workspace:
    """Allocate the arrays of a step for `system`; tolerance: relative, of its equations, 0: to round-off."""
    n, m, c = len(system.frames.mass), len(system.elements.length), len(system.constraints.kind)
    n_lam = int(np.where(system.constraints.kind == COINCIDENT, 3, 1).sum())
    stiffness = np.abs(system.elements.stiffness)
    viscous = bool(np.any(system.elements.damping))
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
        viscous=viscous,
        accounts=viscous
        or bool(len(system.loads.kind) or len(system.torsions.damping) or np.any(system.springs.damping)),
        solved=max(AT_NOISE, tolerance / EPS),
        element_scale=scale,
        scale=np.ones(c),
        residual=np.zeros(numbering.size + 6),
        noise=np.zeros(numbering.size + 6),
        rhs=np.zeros(numbering.size),
        values=np.zeros(numbering.n_values + numbering.n_dump),
        pivots=np.zeros(numbering.size, dtype=np.int32),
        integers=np.zeros(8, dtype=np.int32),
        first=np.zeros(numbering.size, dtype=np.int32),
        multipliers=np.zeros(max(numbering.band, 0) + 8),
        K=np.zeros((9, 9)),
    )


@kernel
def begin_step(system, numbering, state, work, h):
    """What the Newton iterations of a step share: rotations, start of the elements, scales of constraints,
    noise levels.
    """
    frames, elements, constraints, springs = (
        system.frames,
        system.elements,
        system.constraints,
        system.springs,
    )
    noise = work.noise
    extent = 0.0
    gravity = np.sqrt(dot(load3(system.gravity), load3(system.gravity)))
    for f in range(frames.mass.shape[0]):
        _store_rotation(work.R0, f, rotation_matrix(load4(state.quat[f])))
        extent = max(extent, _length(state.r[f]))
        at, mass = numbering.frame[f], frames.mass[f]
        v, spin = load3(state.v[f]), apply(load9(frames.inertia[f]), load3(state.Omega[f]))
        force = EPS * mass * (4.0 * np.sqrt(dot(v, v)) + abs(h) * gravity)
        gyration = np.sqrt(trace(load9(frames.inertia[f])) / mass)
        moment = 2.0 * EPS * np.sqrt(dot(spin, spin)) + force * gyration
        for i in range(3):
            noise[at + i] = force
            noise[at + 3 + i] = moment
    for m in range(elements.length.shape[0]):
        a, b = elements.frames[m, 0], elements.frames[m, 1]
        L = elements.length[m]
        se3_element.start_of_step(
            rotation_of(work.R0, a),
            rotation_of(work.R0, b),
            load4(state.quat[a]),
            load4(state.quat[b]),
            minus(load3(state.r[b]), load3(state.r[a])),
            L,
            elements.stiffness[m],
            elements.damping[m],
            elements.strain0[m],
            h,
            work.start[m],
        )
        force = EPS * abs(h) * work.element_scale[m, 0]
        moment = force * L + EPS * abs(h) * work.element_scale[m, 1] / L
        _add_noise(noise, numbering.frame[a], numbering.frame[b], force, moment)
    for s in range(springs.stiffness.shape[0]):
        level = EPS * abs(h) * springs.stiffness[s] * (1.0 + springs.length0[s])
        a, b = springs.frames[s, 0], springs.frames[s, 1]
        _add_noise(noise, numbering.frame[a], numbering.frame[b], level, level)
    for s in range(system.torsions.stiffness.shape[0]):
        level = EPS * abs(h * system.torsions.stiffness[s]) * (1.0 + abs(state.angle[s]))
        a, b = system.torsions.frames[s, 0], system.torsions.frames[s, 1]
        _add_noise(noise, numbering.frame[a], numbering.frame[b], 0.0, level)
    for c in range(constraints.kind.shape[0]):
        kind, a, b = constraints.kind[c], constraints.frames[c, 0], constraints.frames[c, 1]
        scale = 2.0 / abs(h) * _lightest(frames, a, b, kind)
        work.scale[c] = scale
        reach = 1.0
        if kind != PERPENDICULAR:
            reach = 0.1 * extent + _length(state.r[a]) + _length(state.r[b])
            reach += _length(constraints.Xa[c]) + _length(constraints.Xb[c])
        for i in range(3 if kind == COINCIDENT else 1):
            noise[numbering.row[c] + i] = 2.0 * EPS * scale * reach


@kernel
def add_load_noise(system, numbering, work, h, load_values):
    """Raise the noise levels by the rounding of the loads: all there is on a body at rest."""
    loads = system.loads
    for l in range(loads.kind.shape[0]):
        at, size = numbering.frame[loads.frame[l]], EPS * abs(h) * _length(load_values[l])
        force, moment = (size, size * _length(loads.X[l])) if loads.kind[l] == FORCE else (0.0, size)
        for i in range(3):
            work.noise[at + i] += force
            work.noise[at + 3 + i] += moment


@kernel
def add_constraint_noise(system, numbering, work):
    """Raise the noise levels by the rounding of the present constraint impulses."""
    constraints = system.constraints
    for c in range(constraints.kind.shape[0]):
        kind, a, b = constraints.kind[c], constraints.frames[c, 0], constraints.frames[c, 1]
        impulse = 0.0
        for i in range(3 if kind == COINCIDENT else 1):
            impulse += EPS * work.scale[c] * abs(work.lam[numbering.lam[c] + i])
        arm = _length(constraints.Xa[c]) + _length(constraints.Xb[c])
        if kind != COINCIDENT:
            arm += 1.0
        _add_noise(work.noise, numbering.frame[a], numbering.frame[b], impulse, arm * impulse)


@small_kernel
def _length(x):
    return np.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


@small_kernel
def _add_noise(noise, at, bt, force, moment):
    for i in range(3):
        noise[at + i] += force
        noise[bt + i] += force
        noise[at + 3 + i] += moment
        noise[bt + 3 + i] += moment


@small_kernel
def _lightest(frames, a, b, kind):
    """Mass, or inertia where only directors are held, of the lighter moving frame."""
    lightest = 0.0
    for f in (a, b):
        if frames.fixed[f] == 0:
            size = frames.mass[f]
            if kind == PERPENDICULAR:
                size = frames.inertia[f, 0, 0] + frames.inertia[f, 1, 1] + frames.inertia[f, 2, 2]
            if lightest == 0.0 or size < lightest:
                lightest = size
    return lightest


@small_kernel
def rotation_of(R, f):
    """Rotation matrix of frame f as a tuple, from an array (n, 3, 3)."""
    return (
        R[f, 0, 0], R[f, 0, 1], R[f, 0, 2], R[f, 1, 0], R[f, 1, 1], R[f, 1, 2], R[f, 2, 0], R[f, 2, 1], R[f, 2, 2]
    )  # fmt: skip


@small_kernel
def _store_rotation(R, f, A):
    R[f, 0, 0], R[f, 0, 1], R[f, 0, 2] = A[0], A[1], A[2]
    R[f, 1, 0], R[f, 1, 1], R[f, 1, 2] = A[3], A[4], A[5]
    R[f, 2, 0], R[f, 2, 1], R[f, 2, 2] = A[6], A[7], A[8]


@kernel
def move(system, state, work):
    """r1, q1, R1 of the increments dr, psi."""
    for f in range(system.frames.mass.shape[0]):
        for i in range(3):
            work.r1[f, i] = state.r[f, i] + work.dr[f, i]
        q = cayley_turn(load3(work.psi[f]), load4(state.quat[f]))
        work.q1[f, 0], work.q1[f, 1], work.q1[f, 2], work.q1[f, 3] = q
        _store_rotation(work.R1, f, rotation_matrix(q))


@kernel
def assemble(system, numbering, state, work, h, load_values, tangent):
    """Residual (1)-(3) at the present dr, psi, lam and, on demand, the matrix. Returns 0 or the status of a
    failed element.
    """
    for i in range(numbering.size + 6):
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
    frames, gravity = system.frames, load3(system.gravity)
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] != 0:
            continue
        at, mass, J = numbering.frame[f], frames.mass[f], load9(frames.inertia[f])
        R0, R1, psi, Omega0 = (
            rotation_of(work.R0, f),
            rotation_of(work.R1, f),
            load3(work.psi[f]),
            load3(state.Omega[f]),
        )
        Omega1 = minus(times(2.0 / h, apply_transposed(R0, psi)), Omega0)
        L1 = apply(R1, apply(J, Omega1))
        momentum = minus(times(1.0 / h, load3(work.dr[f])), load3(state.v[f]))
        add3(minus(times(2.0 * mass, momentum), times(h * mass, gravity)), work.residual[at : at + 3])  # (1)
        add3(minus(L1, apply(R0, apply(J, Omega0))), work.residual[at + 3 : at + 6])  # (2)
        if tangent:
            # d(R1 J Omega1) = -hat(L1) eta + (2/h) R1 J R0^T T^-1 eta
            base, stride = numbering.frame_base[f], numbering.frame_stride[f]
            for j in range(3):
                work.values[base + j + j * stride] += 2.0 * mass / h
            K = product(product(R1, J), transposed_product(R0, inverse_tangent(psi)))
            add_at(work.values, base, stride, 1, 1, 1.0, matrix_minus(matrix_times(2.0 / h, K), hat(L1)))


@kernel
def _elements(system, numbering, state, work, h, tangent):
    elements, K, values = system.elements, work.K, work.values
    for m in range(elements.length.shape[0]):
        a, b = elements.frames[m, 0], elements.frames[m, 1]
        e0 = minus(load3(state.r[b]), load3(state.r[a]))
        # not r1_b - r1_a: far from the origin that would lose the digits Newton needs
        e1 = plus(e0, minus(load3(work.dr[b]), load3(work.dr[a])))
        status, n, torque_a, torque_b = se3_element.discrete_forces(
            rotation_of(work.R0, a),
            rotation_of(work.R1, a),
            rotation_of(work.R0, b),
            rotation_of(work.R1, b),
            load4(work.q1[a]),
            load4(work.q1[b]),
            e0,
            e1,
            work.start[m],
            elements.length[m],
            elements.stiffness[m],
            elements.damping[m],
            h,
            tangent,
            work.strain1[m],
            K,
        )
        if status != 0:
            return status
        at, bt = numbering.frame[a], numbering.frame[b]
        coupling = elements.coupling[m]
        if coupling != 0.0:
            # momentum -coupling (v_b - v_a) of b and its opposite of a, as in (1)
            dv0 = minus(load3(state.v[b]), load3(state.v[a]))
            rate = minus(times(1.0 / h, minus(load3(work.dr[b]), load3(work.dr[a]))), dv0)
            n = minus(n, times(2.0 * coupling / h, rate))
        add3(times(-h, n), work.residual[at : at + 3])
        add3(times(h, torque_a), work.residual[at + 3 : at + 6])
        add3(times(h, n), work.residual[bt : bt + 3])
        add3(times(h, torque_b), work.residual[bt + 3 : bt + 6])
        if not tangent:
            continue
        # columns e1 = r_b - r_a, eta_a, eta_b; rows n (minus that on a), torques
        base = numbering.element_base[m]
        aa, ab, ba, bb = base[0], base[1], base[2], base[3]
        sa, sb = numbering.frame_stride[a], numbering.frame_stride[b]
        ne, na, nb = load_block(K, 0, 0), load_block(K, 0, 3), load_block(K, 0, 6)
        ne = plus_identity(ne, -2.0 * coupling / (h * h))
        add_at(values, aa, sa, 0, 0, h, ne)
        add_at(values, ba, sa, 0, 0, -h, ne)
        add_at(values, ab, sb, 0, 0, -h, ne)
        add_at(values, bb, sb, 0, 0, h, ne)
        add_at(values, aa, sa, 0, 1, -h, na)
        add_at(values, ba, sa, 0, 1, h, na)
        add_at(values, ab, sb, 0, 1, -h, nb)
        add_at(values, bb, sb, 0, 1, h, nb)
        te, ta, tb = load_block(K, 3, 0), load_block(K, 3, 3), load_block(K, 3, 6)
        add_at(values, aa, sa, 1, 0, -h, te)
        add_at(values, ab, sb, 1, 0, h, te)
        add_at(values, aa, sa, 1, 1, h, ta)
        add_at(values, ab, sb, 1, 1, h, tb)
        te, ta, tb = load_block(K, 6, 0), load_block(K, 6, 3), load_block(K, 6, 6)
        add_at(values, ba, sa, 1, 0, -h, te)
        add_at(values, bb, sb, 1, 0, h, te)
        add_at(values, ba, sa, 1, 1, h, ta)
        add_at(values, bb, sb, 1, 1, h, tb)
    return 0


@small_kernel
def _turned(work, f, X):
    """R0 X, R1 X and their mean."""
    x0, x1 = apply(rotation_of(work.R0, f), X), apply(rotation_of(work.R1, f), X)
    return x0, x1, average(x0, x1)


@kernel
def _constraints(system, numbering, state, work, tangent):
    constraints, values, residual = system.constraints, work.values, work.residual
    for c in range(constraints.kind.shape[0]):
        kind, a, b = constraints.kind[c], constraints.frames[c, 0], constraints.frames[c, 1]
        at, bt, row, scale = numbering.frame[a], numbering.frame[b], numbering.row[c], work.scale[c]
        first, base = numbering.lam[c], numbering.constraint_base[c]
        sa, sb, sc = numbering.frame_stride[a], numbering.frame_stride[b], numbering.row_stride[c]
        xa0, xa1, xa = _turned(work, a, load3(constraints.Xa[c]))
        xb0, xb1, xb = _turned(work, b, load3(constraints.Xb[c]))
        d1 = plus(minus(load3(work.r1[b]), load3(work.r1[a])), minus(xb1, xa1))
        if kind == COINCIDENT:
            lam = times(scale, load3(work.lam[first : first + 3]))
            add3(times(scale, d1), residual[row : row + 3])  # (3)
            add3(times(-1.0, lam), residual[at : at + 3])
            add3(lam, residual[bt : bt + 3])
            add3(cross(lam, xa), residual[at + 3 : at + 6])
            add3(cross(xb, lam), residual[bt + 3 : bt + 6])
            if not tangent:
                continue
            for i in range(3):
                values[base[4] + i + i * sc] -= scale
                values[base[5] + i + i * sc] += scale
                values[base[6] + i + i * sa] -= scale
                values[base[7] + i + i * sb] += scale
            add_block(matrix_times(-scale, hat(xa)), values, base[4] + 3, sc)
            add_block(matrix_times(scale, hat(xb)), values, base[5] + 3, sc)
            add_block(matrix_times(scale, hat(xa1)), values, base[6] + 3 * sa, sa)
            add_block(matrix_times(-scale, hat(xb1)), values, base[7] + 3 * sb, sb)
            add_at(values, base[0], sa, 1, 1, -0.5, dyad(xa1, lam))
            add_at(values, base[3], sb, 1, 1, 0.5, dyad(xb1, lam))
            continue
        _, ua1, ua = _turned(work, a, load3(constraints.Ua[c]))
        _, ub1, ub = _turned(work, b, load3(constraints.Ub[c]))
        d0 = plus(minus(load3(state.r[b]), load3(state.r[a])), minus(xb0, xa0))
        d = average(d0, d1)
        impulse = scale * work.lam[first]
        residual[row] += scale * (constraint_value(kind, ua1, ub1, d1) - constraints.value[c])  # (3)
        force, torque_a, torque_b = constraint_gradient(kind, ua, ub, xa, xb, d)
        _add_pair_forces(
            residual, at, bt, times(impulse, force), times(impulse, torque_a), times(impulse, torque_b)
        )
        if not tangent:
            continue
        force1, torque_a1, torque_b1 = constraint_gradient(kind, ua1, ub1, xa1, xb1, d1)
        for i in range(3):
            values[base[4] + i] -= scale * force[i]
            values[base[4] + 3 + i] += scale * torque_a[i]
            values[base[5] + i] += scale * force[i]
            values[base[5] + 3 + i] += scale * torque_b[i]
            values[base[6] + i * sa] -= scale * force1[i]
            values[base[6] + (3 + i) * sa] += scale * torque_a1[i]
            values[base[7] + i * sb] += scale * force1[i]
            values[base[7] + (3 + i) * sb] += scale * torque_b1[i]
        add_constraint_hessian(kind, impulse, ua, ub, xa, xb, d, ua1, ub1, xa1, xb1, values, base, sa, sb)


@small_kernel
def _add_pair_forces(residual, at, bt, force, torque_a, torque_b):
    add3(times(-1.0, force), residual[at : at + 3])
    add3(torque_a, residual[at + 3 : at + 6])
    add3(force, residual[bt : bt + 3])
    add3(torque_b, residual[bt + 3 : bt + 6])


@small_kernel
def spring_ends(springs, state, work, s):
    """d0, d1 of spring s and its levers: x_a1, mean x_a, x_b1, mean x_b."""
    a, b = springs.frames[s, 0], springs.frames[s, 1]
    xa0, xa1, xa = _turned(work, a, load3(springs.Xa[s]))
    xb0, xb1, xb = _turned(work, b, load3(springs.Xb[s]))
    e0 = minus(load3(state.r[b]), load3(state.r[a]))
    e1 = plus(e0, minus(load3(work.dr[b]), load3(work.dr[a])))
    return plus(e0, minus(xb0, xa0)), plus(e1, minus(xb1, xa1)), xa1, xa, xb1, xb


@kernel
def _springs(system, numbering, state, work, h, tangent):
    springs, values = system.springs, work.values
    for s in range(springs.stiffness.shape[0]):
        a, b = springs.frames[s, 0], springs.frames[s, 1]
        d0, d1, xa1, xa, xb1, xb = spring_ends(springs, state, work, s)
        d = average(d0, d1)
        sigma, slope, _ = spring_force(
            springs.stiffness[s], springs.damping[s], springs.length0[s], h, d, d0, d1
        )
        force, torque_a, torque_b = constraint_gradient(DISTANCE, d, d, xa, xb, d)
        sh = sigma * h
        at, bt = numbering.frame[a], numbering.frame[b]
        _add_pair_forces(work.residual, at, bt, times(sh, force), times(sh, torque_a), times(sh, torque_b))
        if not tangent:
            continue
        base, sa, sb = numbering.spring_base[s], numbering.frame_stride[a], numbering.frame_stride[b]
        add_pair_hessian(sh, xa, xb, d, xa1, xb1, values, base, sa, sb)
        force1, torque_a1, torque_b1 = constraint_gradient(DISTANCE, d1, d1, xa1, xb1, d1)
        column_a, column_b = (times(-1.0, force1), torque_a1), (force1, torque_b1)
        row_a, row_b = (times(-1.0, force), torque_a), (force, torque_b)
        for i in range(2):
            for j in range(2):
                add_at(values, base[0], sa, i, j, h * slope, outer(row_a[i], column_a[j]))
                add_at(values, base[1], sb, i, j, h * slope, outer(row_a[i], column_b[j]))
                add_at(values, base[2], sa, i, j, h * slope, outer(row_b[i], column_a[j]))
                add_at(values, base[3], sb, i, j, h * slope, outer(row_b[i], column_b[j]))


@small_kernel
def torsion_step(torsions, work, alpha, s, h):
    """`torsion_spring` for spring s over the step."""
    a, b = torsions.frames[s, 0], torsions.frames[s, 1]
    u0, u1, _ = _turned(work, a, load3(torsions.Ua[s]))
    w0, w1, _ = _turned(work, a, load3(torsions.Wa[s]))
    b0, b1, _ = _turned(work, b, load3(torsions.Ub[s]))
    stiffness, damping, angle0 = torsions.stiffness[s], torsions.damping[s], torsions.angle0[s]
    return torsion_spring(stiffness, damping, angle0, h, alpha, u0, w0, b0, u1, w1, b1)


@kernel
def _torsions(system, numbering, state, work, h, tangent):
    torsions, values = system.torsions, work.values
    for s in range(torsions.stiffness.shape[0]):
        a, b = torsions.frames[s, 0], torsions.frames[s, 1]
        _, _, torque, to_a, to_b = torsion_step(torsions, work, state.angle[s], s, h)
        at, bt = numbering.frame[a], numbering.frame[b]
        add3(times(h, torque), work.residual[at + 3 : at + 6])
        add3(times(-h, torque), work.residual[bt + 3 : bt + 6])
        if tangent:
            base, sa, sb = numbering.torsion_base[s], numbering.frame_stride[a], numbering.frame_stride[b]
            add_at(values, base[0], sa, 1, 1, h, to_a)
            add_at(values, base[1], sb, 1, 1, h, to_b)
            add_at(values, base[2], sa, 1, 1, -h, to_a)
            add_at(values, base[3], sb, 1, 1, -h, to_b)


@small_kernel
def load_step(loads, work, value, l):
    """Averaged force and torque of load l over the step, then what its tangent needs: x1, x, value at the
    end, mean value.
    """
    f = loads.frame[l]
    F = F1 = load3(value)
    if loads.following[l] != 0:
        _, F1, F = _turned(work, f, F)
    _, x1, x = _turned(work, f, load3(loads.X[l]))
    if loads.kind[l] == FORCE:
        return F, cross(x, F), x1, x, F1, F
    return (0.0, 0.0, 0.0), F, x1, x, F1, F


@kernel
def _loads(system, numbering, work, h, load_values, tangent):
    loads, values = system.loads, work.values
    for l in range(loads.kind.shape[0]):
        f = loads.frame[l]
        force, torque, x1, x, F1, F = load_step(loads, work, load_values[l], l)
        at = numbering.frame[f]
        add3(times(-h, force), work.residual[at : at + 3])
        add3(times(-h, torque), work.residual[at + 3 : at + 6])
        if not tangent:
            continue
        base, stride, half = numbering.frame_base[f], numbering.frame_stride[f], 0.5 * h
        following = loads.following[l] != 0
        if loads.kind[l] == FORCE:
            add_at(values, base, stride, 1, 1, -half, dyad(x1, F))
            if following:
                add_at(values, base, stride, 0, 1, half, hat(F1))
                add_at(values, base, stride, 1, 1, -half, turned_right(x, F1))
        elif following:
            add_at(values, base, stride, 1, 1, half, hat(F1))
