"""Assemble springs and torsion springs with parallel dampers, and forces on distances, in a Cayley energy-momentum step.

Real closed forms of these kinds are compiled into loops over their interactions (`rigid.interactions.kinds.Kind.loop`).
"""

from __future__ import annotations

from discretization.assembly.workspace import add_pair_forces, norm, rotate_at_both_ends
from discretization.integrator_memory import WIDTH
from rigid.compilation.decorators import internal_kernel
from rigid.interactions import distance, spring, torsion_spring
from rigid.interactions.measure_forces import DISTANCE, DISTANCE_FORCES, central_force_of_step, force_of
from rigid.interactions.spring import SPRINGS, force_of_step
from rigid.interactions.torsion_spring import BRANCH, TORSIONS, torque_of_step
from rigid.linear_algebra import (
    add3,
    add_at,
    average,
    dot,
    dyad,
    hat_times,
    load3,
    matrix_minus,
    matrix_plus,
    matrix_times,
    minus,
    outer,
    plus,
    plus_identity,
    times,
    times_hat,
)

_pull = distance.pull
_NONE = (0.0, 0.0, 0.0)
# offset of the stiffness in the parameters, by loop number; the rest strain and the damping follow it
_STIFFNESS = (0, 6, 9)
assert _STIFFNESS[SPRINGS] + 2 == spring.DAMPING
assert _STIFFNESS[TORSIONS] + 2 == torsion_spring.DAMPING


@internal_kernel
def is_spring(loop):
    """Return whether `loop` is the loop of a spring or torsion spring; 0 means assembly from duals."""
    return 0 < loop <= TORSIONS


@internal_kernel
def spring_ends(entry, X, state, work):
    """Return d0, the vector between the two points at the start, and the pairs of `rigid.interactions.kinds`.

    The pairs are those of the mean of the step and of its end.
    """
    a, b = entry.frames[0], entry.frames[1]
    xa0, xa1, xa = rotate_at_both_ends(work, a, load3(X))
    xb0, xb1, xb = rotate_at_both_ends(work, b, load3(X[3:6]))
    e0 = minus(load3(state.r[b]), load3(state.r[a]))
    e1 = plus(e0, minus(load3(work.dr[b]), load3(work.dr[a])))
    d0, d1 = plus(e0, minus(xb0, xa0)), plus(e1, minus(xb1, xa1))
    return d0, (_NONE, _NONE, xa, xb, average(d0, d1)), (_NONE, _NONE, xa1, xb1, d1)


@internal_kernel
def torsion_step(entry, X, work, h):
    """Evaluate `torque_of_step` for a torsion spring: change of angle, dissipated energy, torque and its derivatives."""
    a, b = entry.frames[0], entry.frames[1]
    u0, u1, _ = rotate_at_both_ends(work, a, load3(X))
    w0, w1, _ = rotate_at_both_ends(work, a, load3(X[3:6]))
    b0, b1, _ = rotate_at_both_ends(work, b, load3(X[6:9]))
    return torque_of_step((X[9], X[11], X[10]), h, X[BRANCH], (u0, w0, b0), (u1, w1, b1))


@internal_kernel
def add_springs(numbering, state, work, h, tangent):
    """Add residual and, if `tangent`, matrix of all springs, torsion springs and forces on distances."""
    generic = work.generic_groups
    for which in range(generic.interacting.kinds.size):
        kind = generic.interacting.kinds[which]
        loop = generic.loop[kind.first]
        if not (is_spring(loop) or loop == DISTANCE_FORCES):
            continue
        for e in range(kind.first, kind.last):
            entry = generic.interacting.entries[e]
            X = generic.interacting.numbers[entry.first : entry.last]
            if loop == TORSIONS:
                _add_torsion(entry, X, generic.base[e], numbering, work, h, tangent)
            else:
                _add_central(loop, entry, X, generic.base[e], numbering, state, work, h, tangent)


@internal_kernel
def _add_central(loop, entry, X, base, numbering, state, work, h, tangent):
    """Add residual and, if `tangent`, matrix of one spring or force on a distance."""
    a, b = entry.frames[0], entry.frames[1]
    d0, mean, end = spring_ends(entry, X, state, work)
    if loop == SPRINGS:
        sigma, slope, _ = force_of_step((X[6], X[8], X[7]), h, d0, end[4])
    else:
        sigma, slope = central_force_of_step(force_of(X, DISTANCE), d0, end[4])
    force, torque_a, torque_b = _pull((sigma * h, 0.0, 0.0), mean)
    add_pair_forces(work.residual, numbering.frame[a], numbering.frame[b], force, torque_a, torque_b)
    if tangent:
        # the force changes by D (dr_b - dr_a + eta_b x x_b1 - eta_a x x_a1)
        D = plus_identity(outer(times(h * slope, mean[4]), end[4]), 0.5 * h * sigma)
        sides = mean[2], mean[3], end[2], end[3], force
        bases = base[0, 0], base[0, 1], base[1, 0], base[1, 1]
        strides = numbering.frame_stride[a], numbering.frame_stride[b]
        add_central_tangent(D, sides, (work.values, bases, *strides))


@internal_kernel
def add_central_tangent(D, sides, block):
    """Add the derivatives of a force on b, its opposite on a and their torques x_b x f, -x_a x f, with df = D d(d1).

    `sides`: x_a, x_b, x_a1, x_b1 and the force f; `block`: values, addresses of the blocks aa, ab, ba, bb, strides of a and b.
    """
    xa, xb, xa1, xb1, f = sides
    values, (aa, ab, ba, bb), sa, sb = block
    by_a, by_b = times_hat(D, xa1), times_hat(D, xb1)
    on_a, on_b = hat_times(xa, D), hat_times(xb, D)
    add_at(values, aa, sa, 0, 0, 1.0, D)
    add_at(values, aa, sa, 1, 0, 1.0, on_a)
    add_at(values, aa, sa, 0, 1, -1.0, by_a)
    add_at(values, aa, sa, 1, 1, -1.0, matrix_plus(hat_times(xa, by_a), matrix_times(0.5, dyad(xa1, f))))
    add_at(values, ba, sa, 0, 0, -1.0, D)
    add_at(values, ba, sa, 1, 0, -1.0, on_b)
    add_at(values, ba, sa, 0, 1, 1.0, by_a)
    add_at(values, ba, sa, 1, 1, 1.0, hat_times(xb, by_a))
    add_at(values, ab, sb, 0, 0, -1.0, D)
    add_at(values, ab, sb, 1, 0, -1.0, on_a)
    add_at(values, ab, sb, 0, 1, 1.0, by_b)
    add_at(values, ab, sb, 1, 1, 1.0, hat_times(xa, by_b))
    add_at(values, bb, sb, 0, 0, 1.0, D)
    add_at(values, bb, sb, 1, 0, 1.0, on_b)
    add_at(values, bb, sb, 0, 1, -1.0, by_b)
    add_at(values, bb, sb, 1, 1, 1.0, matrix_minus(matrix_times(0.5, dyad(xb1, f)), hat_times(xb, by_b)))


@internal_kernel
def _add_torsion(entry, X, base, numbering, work, h, tangent):
    """Add residual and, if `tangent`, matrix of one torsion spring."""
    a, b, values = entry.frames[0], entry.frames[1], work.values
    _, _, torque, to_a, to_b = torsion_step(entry, X, work, h)
    at, bt = numbering.frame[a], numbering.frame[b]
    add3(times(h, torque), work.residual[at + 3 : at + 6])
    add3(times(-h, torque), work.residual[bt + 3 : bt + 6])
    if tangent:
        sa, sb = numbering.frame_stride[a], numbering.frame_stride[b]
        add_at(values, base[0, 0], sa, 1, 1, h, to_a)
        add_at(values, base[0, 1], sb, 1, 1, h, to_b)
        add_at(values, base[1, 0], sa, 1, 1, -h, to_a)
        add_at(values, base[1, 1], sb, 1, 1, -h, to_b)


@internal_kernel
def work_of_distance_forces(state, work):
    """Return the work u (l1 - l0) of the forces on distances in the step, J."""
    generic, total = work.generic_groups, 0.0
    for l in range(generic.signals.shape[0]):
        e = generic.signals[l, 0]
        if generic.loop[e] == DISTANCE_FORCES:
            entry = generic.interacting.entries[e]
            X = generic.interacting.numbers[entry.first : entry.last]
            d0, _, end = spring_ends(entry, X, state, work)
            total += force_of(X, DISTANCE) * change_of_length(d0, end[4])
    return total


@internal_kernel
def change_of_length(d0, d1):
    """Return |d1| - |d0|, without the difference of two lengths."""
    length = norm(d0) + norm(d1)
    return dot(plus(d0, d1), minus(d1, d0)) / length if length > 0.0 else 0.0


@internal_kernel
def _strain_change(loop, entry, X, state, work, h):
    """Return the change of the strain of a spring over the step, and the energy its damper dissipates, J."""
    if loop == SPRINGS:
        d0, _, end = spring_ends(entry, X, state, work)
        change = change_of_length(d0, end[4])
        return change, X[8] * change * change / h
    step = torsion_step(entry, X, work, h)
    return step[0], step[1]


@internal_kernel
def spring_damper_loss(state, work, h):
    """Return the energy taken by the dampers in the step, J."""
    generic, dissipated = work.generic_groups, 0.0
    for e in range(generic.loop.size):
        entry = generic.interacting.entries[e]
        if (
            is_spring(generic.loop[e])
            and generic.at_end[entry.first + _STIFFNESS[generic.loop[e]] + 2] != 0.0
        ):
            dissipated += _strain_change(
                generic.loop[e], entry, generic.at_end[entry.first : entry.last], state, work, h
            )[1]
    return dissipated


@internal_kernel
def begin_spring_dissipation(at, state, work, h):
    """Set damping and rest strains of the springs for a step of `em-d`; their memory begins at offset `at` of `State.memory`.

    See `discretization.assembly.step_dissipation`.
    """
    generic, gamma = work.generic_groups, work.dissipation.law[0]
    X, plain = generic.interacting.numbers, generic.at_end
    for e in range(generic.loop.size):
        if is_spring(generic.loop[e]):
            k = generic.interacting.entries[e].first + _STIFFNESS[generic.loop[e]]
            X[k + 1] = plain[k + 1] + gamma * state.memory[at]
            X[k + 2] = plain[k + 2] + gamma * h * plain[k]
            at += WIDTH


@internal_kernel
def end_spring_dissipation(at, state, work, h):
    """Update the memory of the springs at the end of a step of `em-d`; return D and Y, J."""
    generic, law, dissipated, stored = work.generic_groups, work.dissipation.law, 0.0, 0.0
    for e in range(generic.loop.size):
        if is_spring(generic.loop[e]):
            entry = generic.interacting.entries[e]
            X, k = generic.at_end[entry.first : entry.last], _STIFFNESS[generic.loop[e]]
            excess = _strain_change(generic.loop[e], entry, X, state, work, h)[0] - state.memory[at]
            state.memory[at] += law[1] * excess
            dissipated += law[0] * (1.0 - 0.5 * law[1]) * X[k] * excess * excess
            stored += 0.5 * law[0] / law[1] * X[k] * state.memory[at] * state.memory[at]
            at += WIDTH
    return dissipated, stored
