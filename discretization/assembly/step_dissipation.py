"""Add the numerical dissipation of `em-d(rho)` to a Cayley energy-momentum step: it damps what a step does not resolve.

Momenta stay exact. With gamma = (1 - rho)^2/(2 (3 - rho)(1 + rho)), nu = 2 (1 + rho)/(3 - rho), every damped quantity x has a
memory x~ of its increments,

    dx = x1 - x0,   x~1 = x~0 + nu (dx - x~0)                                                               (1)

A stress gets the part gamma C (de - e~) along the increment of its strains e; velocities get parts of their own,

    dr = h vbar + a,   a = h gamma Rbar (du - u~),   u = R^T (p - m c)/m,   p = M v                         (2)
    R0^T psi = h (Omegabar + gamma (dOmega - Omega~))                                                       (3)
    -a x (pbar - m cbar)/h as a torque on the frame                                                         (4)

m: mass of the frame; M: mass matrix, including masses shared by rods; c: velocity of the centre of mass of the connected group of
the frame, zero if the group is connected to the ground. A free group is moved by -sum m a/sum m after the step, so that its
centre moves with c. Then P and L are those of `em`, and T + V changes by the work less
sum W(dx, gamma (dx - x~)) = change of Y + D,

    Y = sum gamma/(2 nu) W(x~, x~),   D = sum gamma (1 - nu/2) W(dx - x~, dx - x~) >= 0                     (5)

W: quadratic form of the matrices L C, m, J, k. For omega h -> inf both roots of a mode, of (q, q~) as of (v, v~), are -rho.
docs/theory/dissipation.md derives this.

The memory stores, in this order, one row for each frame (u~, Omega~), each element and point of spans (e~), each spring and
torsion spring (first column), each other strain energy, whose part is in `stress_dissipation`. `plain` is the unmodified system;
the system of the step has damping and stress-free strains replaced such that the stress includes the part above:

    C (ebar - e0) + gamma C (de - e~) = C (ebar - (e0 + gamma e~)) + (gamma h C) de/h.
"""

from __future__ import annotations

from discretization.assembly.element_lanes import strain_change
from discretization.assembly.load_forces import evaluate_load, force_of_load
from discretization.assembly.rod_spans import strains_over_step
from discretization.assembly.spring_forces import begin_spring_dissipation, end_spring_dissipation
from discretization.assembly.stress_dissipation import begin_strains, end_stresses
from discretization.assembly.workspace import EPS, norm, rotation_of
from discretization.integrator_memory import WIDTH
from discretization.internal_variables import BRANCH
from discretization.space.closed_form_spans import STRAINS_END, STRAINS_START
from discretization.space.maxwell_branch import begin_branch
from discretization.space.rod_gauss_points import BEHIND, FIRST, POINT
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.kinematics.rotations import inverse_tangent
from rigid.linear_algebra import (
    add3,
    add_at,
    apply,
    apply_transposed,
    average,
    cross,
    dot,
    hat,
    load3,
    load9,
    matrix_minus,
    matrix_plus,
    matrix_times,
    minus,
    outer,
    plus,
    plus_identity,
    product,
    product_transposed,
    store3,
    times,
    transposed_product,
)

_SWEEPS = 40  # maximum number of sweeps over frames that share mass; each reduces the error at least tenfold


@internal_kernel
def memory_offset(state, row):
    """Return the offset in `State.memory` of the row (6,) of a frame, or of a strain point behind the frames."""
    return WIDTH * (state.r.shape[0] + row)


@internal_kernel
def begin_stresses(system, plain, state, work, h):
    """Set damping and stress-free strains of elements and springs for the step; call it before `begin_step`."""
    gamma, row = work.dissipation.law[0], state.r.shape[0]
    elements, original = system.elements, plain.elements
    for m in range(original.length.shape[0]):
        memory = memory_offset(state, row + m)
        for i in range(6):
            elements.strain0[m, i] = original.strain0[m, i] + gamma * state.memory[memory + i]
            for j in range(6):
                elements.damping[m, i, j] = (
                    original.damping[m, i, j] + gamma * h * original.stiffness[m, i, j]
                )
    row += original.length.shape[0] + plain.spans.weight.shape[0]
    begin_spring_dissipation(memory_offset(state, row), state, work, h)


@internal_kernel
def _begin_spans(system, state, work, h):
    """Set the viscosities of spans for the step.

    Their stress-free strains are not changed, because material laws depend on them.
    """
    spans, arrays, gamma = system.spans, work.spans, work.dissipation.law[0]
    row = state.r.shape[0] + system.elements.length.shape[0]
    for m in range(spans.kind.size):
        for g in range(arrays.first[m + 1] - arrays.first[m]):
            point = arrays.first[m] + g
            D = arrays.viscosity[arrays.at[m] + FIRST + POINT * g : arrays.at[m + 1]]
            memory = memory_offset(state, row + point)
            if spans.relaxation[point] > 0.0:
                material = spans.damping[point], spans.branch[point], spans.relaxation[point]
                at = work.internal_offsets.branch + BRANCH * point
                begin_branch(material, state.internal[at : at + BRANCH], h, D, BEHIND)
            else:
                for i in range(6):
                    D[BEHIND + i] = 0.0
                    for j in range(6):
                        D[6 * i + j] = spans.damping[point, i, j]
            for i in range(6):
                for j in range(6):
                    C = gamma * h * spans.stiffness[point, i, j]
                    D[6 * i + j] += C
                    D[BEHIND + i] -= C * state.memory[memory + j]


@internal_kernel
def _momentum(dissipation, v, f):
    """Return the momentum p of frame f, kg m/s, from the velocities (n, 3 or more) of all frames."""
    shares = dissipation.shares
    p = times(shares.diagonal[f], load3(v[f]))
    for k in range(shares.first[f], shares.first[f + 1]):
        p = plus(p, times(shares.mass[k], load3(v[shares.other[k]])))
    return p


@inline_kernel
def _reference(group, c, f):
    """Return the velocity c of the group of frame f, zero if it is connected to the ground."""
    return load3(c[group[f]]) if group[f] >= 0 else (0.0, 0.0, 0.0)


@internal_kernel
def begin_dissipation(system, numbering, state, work, h):
    """Compute what the Newton iterations of a step share; call it after `begin_step`."""
    frames, dissipation, noise = system.frames, work.dissipation, work.noise
    _begin_spans(system, state, work, h)
    begin_strains(state, work)
    for k in range(dissipation.total.shape[0]):
        store3((0.0, 0.0, 0.0), dissipation.before[k])
    for f in range(frames.mass.shape[0]):
        if dissipation.group[f] >= 0:
            fraction = frames.mass[f] / dissipation.total[dissipation.group[f]]
            add3(times(fraction, load3(state.v[f])), dissipation.before[dissipation.group[f]])
    for f in range(frames.mass.shape[0]):
        store3(load3(state.v[f]), dissipation.end[f, 0:3])
        if dissipation.gamma[f] == 0.0:
            continue
        c = _reference(dissipation.group, dissipation.before, f)
        w = minus(times(1.0 / frames.mass[f], _momentum(dissipation, state.v, f)), c)
        start = plus(
            apply_transposed(rotation_of(work.R0, f), w), load3(state.memory[memory_offset(state, f) :])
        )
        store3(start, dissipation.start[f])
        rounding = EPS * abs(h) * dissipation.gamma[f] * frames.mass[f] * (norm(w) + norm(c)) * norm(w)
        for i in range(3):
            noise[numbering.frame[f] + 3 + i] += rounding


@internal_kernel
def _move_references(system, state, work, h):
    """Compute the velocity c of each group at the end of the step; weights and external forces change it."""
    dissipation, gravity = work.dissipation, load3(system.gravity)
    for k in range(dissipation.total.shape[0]):
        store3(plus(load3(dissipation.before[k]), times(h, gravity)), dissipation.after[k])
    for l in range(work.generic_groups.signals.shape[0]):
        for k in range(evaluate_load(l, state, work, h)):
            f, force, _ = force_of_load(l, k, work)
            group = dissipation.group[f]
            if group >= 0:
                add3(times(h / dissipation.total[group], force), dissipation.after[group])


@internal_kernel
def _end_velocity(system, state, work, h, f):
    """Return v1 of frame f by (2), for given end velocities of the frames that share its mass."""
    dissipation, mass = work.dissipation, system.frames.mass[f]
    before = minus(times(1.0 / h, load3(work.dr[f])), times(0.5, load3(state.v[f])))
    gamma = dissipation.gamma[f]
    if gamma == 0.0:
        return times(2.0, before)
    R0, R1, k = rotation_of(work.R0, f), rotation_of(work.R1, f), times(0.5, load3(work.psi[f]))
    own_mass, v = dissipation.shares.diagonal[f], load3(dissipation.end[f, 0:3])
    remaining = minus(_momentum(dissipation, dissipation.end, f), times(own_mass, v))
    remaining = minus(times(1.0 / mass, remaining), _reference(dissipation.group, dissipation.after, f))
    known = minus(load3(dissipation.start[f]), apply_transposed(R1, remaining))
    y = plus(before, times(0.5 * gamma, plus(apply(R0, known), apply(R1, known))))
    # (I/2 + gamma m'/m Rbar R1^T) v1 = y, where R0 R1^T = (I + hat(k))^-1 (I - hat(k))
    a = 1.0 + 2.0 * gamma * own_mass / mass
    z = minus(plus(times(a * a, y), times(dot(k, y), k)), times(a, cross(k, y)))
    z = times(2.0 / (a * (a * a + dot(k, k))), z)
    return plus(z, cross(k, z))


@internal_kernel
def _end_velocities(system, state, work, h):
    """Compute v1, Omega1 of all frames by (2) and (3); shared masses are solved by Gauss-Seidel sweeps."""
    frames, dissipation = system.frames, work.dissipation
    for _ in range(_SWEEPS):
        change, speed = 0.0, 0.0
        for f in range(frames.mass.shape[0]):
            v, before = _end_velocity(system, state, work, h, f), load3(dissipation.end[f, 0:3])
            for i in range(3):
                change, speed = max(change, abs(v[i] - before[i])), max(speed, abs(v[i]))
            store3(v, dissipation.end[f, 0:3])
        if dissipation.shares.other.shape[0] == 0 or change <= EPS * speed:
            break
    for f in range(frames.mass.shape[0]):
        gamma = dissipation.law[0] if frames.fixed[f] == 0 else 0.0
        spin = times(1.0 / h, apply_transposed(rotation_of(work.R0, f), load3(work.psi[f])))
        spin = minus(spin, times(0.5 - gamma, load3(state.Omega[f])))
        if gamma != 0.0:
            spin = plus(spin, times(gamma, load3(state.memory[memory_offset(state, f) + 3 :])))
        store3(times(1.0 / (0.5 + gamma), spin), dissipation.end[f, 3:6])


@internal_kernel
def _relative_velocities(system, state, work, f):
    """Return (p - m c)/m of frame f at both ends of the step, m/s."""
    dissipation, mass = work.dissipation, system.frames.mass[f]
    w0 = minus(
        times(1.0 / mass, _momentum(dissipation, state.v, f)),
        _reference(dissipation.group, dissipation.before, f),
    )
    w1 = minus(
        times(1.0 / mass, _momentum(dissipation, dissipation.end, f)),
        _reference(dissipation.group, dissipation.after, f),
    )
    return w0, w1


@internal_kernel
def _extra_displacement(work, h, f, w1):
    """Return the displacement a of (2), m."""
    R0, R1 = rotation_of(work.R0, f), rotation_of(work.R1, f)
    excess = minus(apply_transposed(R1, w1), load3(work.dissipation.start[f]))
    return times(0.5 * h * work.dissipation.gamma[f], plus(apply(R0, excess), apply(R1, excess)))


@internal_kernel
def add_damped_inertia(system, numbering, state, work, h, tangent):
    """Add rates of momenta, weights and the torque (4) to the residual and, if `tangent`, to the matrix.

    The tangent omits how v1 depends on the rotations of neighbours and on the forces that act on c.
    """
    frames, dissipation, gravity = system.frames, work.dissipation, load3(system.gravity)
    _move_references(system, state, work, h)
    _end_velocities(system, state, work, h)
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] == 1:
            continue
        at, mass, J = numbering.frame[f], frames.mass[f], load9(frames.inertia[f])
        p0, p1 = _momentum(dissipation, state.v, f), _momentum(dissipation, dissipation.end, f)
        if frames.fixed[f] != 0:  # prescribed motion: its own mass does not count, the mass it shares does
            own_change = times(mass, minus(load3(dissipation.end[f, 0:3]), load3(state.v[f])))
            add3(minus(minus(p1, p0), own_change), work.residual[at : at + 3])
            continue
        add3(minus(minus(p1, p0), times(h * mass, gravity)), work.residual[at : at + 3])
        R0, R1, psi = rotation_of(work.R0, f), rotation_of(work.R1, f), load3(work.psi[f])
        L1 = apply(R1, apply(J, load3(dissipation.end[f, 3:6])))
        add3(minus(L1, apply(R0, apply(J, load3(state.Omega[f])))), work.residual[at + 3 : at + 6])
        gamma = dissipation.gamma[f]
        if gamma != 0.0:
            w0, w1 = _relative_velocities(system, state, work, f)
            a, w = _extra_displacement(work, h, f, w1), average(w0, w1)
            add3(times(mass, cross(a, w)), work.residual[at + 3 : at + 6])  # (4)
        else:
            a, w, w1 = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if not tangent:
            continue
        base, stride, fraction = (
            numbering.frame_base[f],
            numbering.frame_stride[f],
            dissipation.shares.diagonal[f] / mass,
        )
        k, s = times(0.5, psi), 1.0 + 2.0 * gamma * fraction
        inverse = plus_identity(matrix_minus(outer(k, k), matrix_times(s, hat(k))), s * s)
        inverse = product(plus_identity(hat(k), 1.0), inverse)
        inverse = matrix_times(2.0 / (s * (s * s + dot(k, k))), inverse)
        Q = product_transposed(R0, R1)
        by_turn = matrix_plus(hat(apply(R1, load3(dissipation.start[f]))), product(Q, hat(w1)))
        v_r, v_eta = matrix_times(1.0 / h, inverse), matrix_times(-0.5 * gamma, product(inverse, by_turn))
        _store_slopes(dissipation.slopes[f], v_r, v_eta)
        add_at(work.values, base, stride, 0, 0, mass * fraction, v_r)
        add_at(work.values, base, stride, 0, 1, mass * fraction, v_eta)
        K = product(product(R1, J), transposed_product(R0, inverse_tangent(psi)))
        K = matrix_minus(matrix_times(1.0 / (h * (0.5 + dissipation.law[0])), K), hat(L1))
        add_at(work.values, base, stride, 1, 1, 1.0, K)
        if gamma != 0.0:  # m a x wbar, a = dr - h vbar
            of_v = matrix_plus(matrix_times(0.5 * h, hat(w)), matrix_times(0.5 * fraction, hat(a)))
            add_at(work.values, base, stride, 1, 0, mass, matrix_minus(product(of_v, v_r), hat(w)))
            add_at(work.values, base, stride, 1, 1, mass, product(of_v, v_eta))
    if tangent:
        _add_shared(system, work, h)


@inline_kernel
def _store_slopes(slopes, A, B):
    """Store two 3 x 3 matrices in an array (18,)."""
    for i in range(9):
        slopes[i], slopes[9 + i] = A[i], B[i]


@inline_kernel
def _stored_slope(slopes, at):
    """Return one of the two stored 3 x 3 matrices; `at`: 0 or 9."""
    return (
        slopes[at], slopes[at + 1], slopes[at + 2], slopes[at + 3], slopes[at + 4],
        slopes[at + 5], slopes[at + 6], slopes[at + 7], slopes[at + 8],
    )  # fmt: skip


@internal_kernel
def _add_shared(system, work, h):
    """Add the derivatives of the momentum of each frame with respect to the motion of the frames that share its mass."""
    frames, dissipation, values = system.frames, work.dissipation, work.values
    shares = dissipation.shares
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] != 0:
            continue
        # v1 also depends on the momenta of the neighbours: -h dv1/dr gamma/m Rbar R1^T
        turned = product_transposed(rotation_of(work.R0, f), rotation_of(work.R1, f))
        Rbar_R1 = matrix_times(0.5, plus_identity(turned, 1.0))
        part = -h * dissipation.gamma[f] * shares.diagonal[f] / frames.mass[f]
        B = plus_identity(matrix_times(part, product(_stored_slope(dissipation.slopes[f], 0), Rbar_R1)), 1.0)
        for k in range(shares.first[f], shares.first[f + 1]):
            g = shares.other[k]
            if frames.fixed[g] != 0:
                continue
            A = matrix_times(shares.mass[k], B)
            add_at(
                values,
                shares.base[k],
                shares.stride[k],
                0,
                0,
                1.0,
                product(A, _stored_slope(dissipation.slopes[g], 0)),
            )
            add_at(
                values,
                shares.base[k],
                shares.stride[k],
                0,
                1,
                1.0,
                product(A, _stored_slope(dissipation.slopes[g], 9)),
            )


@internal_kernel
def _end_frames(system, state, work, h):
    """Update the memories of the velocities and compute the displacements of free groups; return D and Y of (5), J."""
    frames, dissipation = system.frames, work.dissipation
    nu, dissipated, stored = dissipation.law[1], 0.0, 0.0
    for k in range(dissipation.total.shape[0]):
        store3((0.0, 0.0, 0.0), dissipation.shift[k])
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] != 0:
            continue
        gamma, mass, J = dissipation.gamma[f], frames.mass[f], load9(frames.inertia[f])
        at = memory_offset(state, f)
        memory = state.memory[at : at + WIDTH]
        if gamma != 0.0:
            _, w1 = _relative_velocities(system, state, work, f)
            excess = minus(apply_transposed(rotation_of(work.R1, f), w1), load3(dissipation.start[f]))
            add3(times(nu, excess), memory[0:3])
            updated = load3(memory[0:3])
            dissipated += gamma * (1.0 - 0.5 * nu) * mass * dot(excess, excess)
            stored += 0.5 * gamma / nu * mass * dot(updated, updated)
            if dissipation.group[f] >= 0:
                group = dissipation.group[f]
                add3(
                    times(-mass / dissipation.total[group], _extra_displacement(work, h, f, w1)),
                    dissipation.shift[group],
                )
        turning = minus(load3(dissipation.end[f, 3:6]), load3(state.Omega[f]))
        excess = minus(turning, load3(memory[3:6]))
        add3(times(nu, excess), memory[3:6])
        updated = load3(memory[3:6])
        dissipated += dissipation.law[0] * (1.0 - 0.5 * nu) * dot(excess, apply(J, excess))
        stored += 0.5 * dissipation.law[0] / nu * dot(updated, apply(J, updated))
    return dissipated, stored


@inline_kernel
def _update_memory(gamma, nu, C, change, memory):
    """Update the memory (1) of one strain point; return its D and Y of (5), per length."""
    dissipated, stored = 0.0, 0.0
    for i in range(change.shape[0]):
        for j in range(change.shape[0]):
            dissipated += (change[i] - memory[i]) * C[i, j] * (change[j] - memory[j])
    for i in range(change.shape[0]):
        memory[i] += nu * (change[i] - memory[i])
    for i in range(change.shape[0]):
        for j in range(change.shape[0]):
            stored += memory[i] * C[i, j] * memory[j]
    return gamma * (1.0 - 0.5 * nu) * dissipated, 0.5 * gamma / nu * stored


@internal_kernel
def _end_strains(system, state, work, h):
    """Update the memories of the strains of elements and spans; return D and Y of (5), J."""
    elements, spans, arrays = system.elements, system.spans, work.spans
    (gamma, nu), K = (work.dissipation.law[0], work.dissipation.law[1]), arrays.K
    dissipated, stored, row = 0.0, 0.0, state.r.shape[0]
    for m in range(elements.length.shape[0]):
        change = K[STRAINS_END, 0:6]  # scratch
        for i in range(6):
            change[i] = strain_change(work.elements, m, i)
        at = memory_offset(state, row + m)
        of_point = _update_memory(gamma, nu, elements.stiffness[m], change, state.memory[at : at + WIDTH])
        dissipated, stored = (
            dissipated + elements.length[m] * of_point[0],
            stored + elements.length[m] * of_point[1],
        )
    row += elements.length.shape[0]
    for which in range(arrays.sequence.size):
        m = arrays.sequence[which]
        strains_over_step(spans, arrays, (state.r, work.dr, work.R0, work.R1), m, 1.0 / h)
        for g in range(arrays.first[m + 1] - arrays.first[m]):
            point, change = arrays.first[m] + g, K[STRAINS_END, 6 * g : 6 * g + 6]
            for i in range(6):
                change[i] -= K[STRAINS_START, 6 * g + i]
            at = memory_offset(state, row + point)
            of_point = _update_memory(
                gamma, nu, spans.stiffness[point], change, state.memory[at : at + WIDTH]
            )
            dissipated, stored = (
                dissipated + spans.weight[point] * of_point[0],
                stored + spans.weight[point] * of_point[1],
            )
    return dissipated, stored


@internal_kernel
def end_dissipation(system, state, work, h):
    """Update all memories and the energies Y and D stored behind them; move free groups with their centres of mass."""
    frames, dissipation = system.frames, work.dissipation
    of_frames, of_strains = _end_frames(system, state, work, h), _end_strains(system, state, work, h)
    row = state.r.shape[0] + system.elements.length.shape[0] + system.spans.weight.shape[0]
    of_springs, of_others = (
        end_spring_dissipation(memory_offset(state, row), state, work, h),
        end_stresses(state, work),
    )
    last = state.memory.shape[0]
    state.memory[last - 2] = of_frames[1] + of_strains[1] + of_springs[1] + of_others[1]
    state.memory[last - 1] += of_frames[0] + of_strains[0] + of_springs[0] + of_others[0]
    for f in range(frames.mass.shape[0]):
        if dissipation.group[f] >= 0:
            add3(load3(dissipation.shift[dissipation.group[f]]), work.dr[f])
            add3(load3(dissipation.shift[dissipation.group[f]]), work.r1[f])
