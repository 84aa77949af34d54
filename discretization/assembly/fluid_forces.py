"""Add drag of lines and added masses to a Cayley energy-momentum step, in real numbers and without calls by pointer.

The formulas are those of `rigid.interactions.fluid_drag` (1) and `rigid.interactions.added_mass` (2).
"""

from __future__ import annotations

from rigid.compilation.decorators import internal_kernel
from rigid.interactions.added_mass import mean_velocities_of_step, relative_velocity, step_and_slopes
from rigid.interactions.flow_fields import flow_and_slopes, moves_in_place
from rigid.interactions.fluid_drag import (
    LINE_FLOW,
    direction_of,
    force_on_node,
    forces_of_step,
    slope_of_place,
)
from rigid.interactions.kinds import LINE_DRAGS
from rigid.linear_algebra import (
    add3,
    add_at,
    add_block,
    dot,
    load3,
    load9,
    matrix_minus,
    matrix_plus,
    matrix_times,
    minus,
    plus,
    times,
)


@internal_kernel
def _node(entry, k, state, work, h):
    """Return the mean place of frame k of an interaction, from the origin of frame 0, and its mean velocity."""
    f, dr = entry.frames[k], load3(work.dr[entry.frames[k]])
    place = plus(minus(load3(state.r[f]), load3(state.r[entry.frames[0]])), times(0.5, dr))
    return place, times(1.0 / h, dr)


@internal_kernel
def _add_line_drag(generic, e, numbering, state, work, h, tangent):
    """Add residual and, if `tangent`, matrix of the drag of a line."""
    entry, base = generic.interacting.entries[e], generic.base[e]
    X = generic.interacting.numbers[entry.first : entry.last]
    place1, v1 = _node(entry, 1, state, work, h)
    place2, v2 = _node(entry, 2, state, work, h)
    d = minus(place2, place1)
    a, b = entry.frames[1], entry.frames[2]
    at, bt = numbering.frame[a], numbering.frame[b]
    if not tangent:
        f1, _ = force_on_node(place1, v1, d, X)
        f2, _ = force_on_node(place2, v2, d, X)
        add3(times(h, f1), work.residual[at : at + 3])
        add3(times(h, f2), work.residual[bt : bt + 3])
        return
    chord = direction_of(d)
    u1, a1, du1, da1 = flow_and_slopes(place1, X, LINE_FLOW)
    u2, a2, du2, da2 = flow_and_slopes(place2, X, LINE_FLOW)
    f1, of_w1, by_chord1 = forces_of_step(minus(v1, u1), a1, chord, X)
    f2, of_w2, by_chord2 = forces_of_step(minus(v2, u2), a2, chord, X)
    add3(times(h, f1), work.residual[at : at + 3])
    add3(times(h, f2), work.residual[bt : bt + 3])
    values, sa, sb = work.values, numbering.frame_stride[a], numbering.frame_stride[b]
    by_chord1, by_chord2 = matrix_times(h, by_chord1), matrix_times(h, by_chord2)
    # h times the derivative of w to the end of the step is I
    on_1, on_2 = matrix_minus(of_w1, by_chord1), matrix_plus(of_w2, by_chord2)
    if moves_in_place(X, LINE_FLOW):
        on_1 = matrix_plus(on_1, matrix_times(h, slope_of_place(of_w1, du1, da1, X)))
        on_2 = matrix_plus(on_2, matrix_times(h, slope_of_place(of_w2, du2, da2, X)))
    if at < numbering.size:
        add_block(on_1, values, base[1, 1], sa)
    if bt < numbering.size:
        add_block(on_2, values, base[2, 2], sb)
    if at < numbering.size and bt < numbering.size:
        add_block(by_chord1, values, base[1, 2], sb)
        add_block(matrix_times(-1.0, by_chord2), values, base[2, 1], sa)


@internal_kernel
def _motion_of_mass(entry, kind, X, state, work, h):
    """Return 1/h, the mean relative velocity, its derivative to dr, and the rotations of the frame of an added mass."""
    at, size = kind.arity - 1, kind.n_internal
    f = entry.frames[at]
    place, v = _node(entry, at, state, work, h)
    w, of_r = relative_velocity(v, place, 1.0 / h, X, size * size if at == 1 else 0)
    return (1.0 / h, w, of_r), load9(work.R0[f]), load9(work.R1[f])


@internal_kernel
def _add_added_mass(generic, kind, e, numbering, state, work, h, tangent):
    """Add residual and, if `tangent`, matrix of an added mass."""
    entry, base, k = generic.interacting.entries[e], generic.base[e], kind.arity - 1
    X, f = generic.interacting.numbers[entry.first : entry.last], entry.frames[kind.arity - 1]
    motion, R0, R1 = _motion_of_mass(entry, kind, X, state, work, h)
    force, torque, F_r, F_eta, T_r, T_eta = step_and_slopes(motion, R0, R1, X, kind.n_internal, tangent)
    at, stride = numbering.frame[f], numbering.frame_stride[f]
    add3(times(h, force), work.residual[at : at + 3])
    add3(times(h, torque), work.residual[at + 3 : at + 6])
    if tangent and at < numbering.size:
        add_at(work.values, base[k, k], stride, 0, 0, h, F_r)
        add_at(work.values, base[k, k], stride, 0, 1, h, F_eta)
        add_at(work.values, base[k, k], stride, 1, 0, h, T_r)
        add_at(work.values, base[k, k], stride, 1, 1, h, T_eta)


@internal_kernel
def add_fluid_forces(generic, kind, numbering, state, work, h, tangent):
    """Add residual and, if `tangent`, matrix of all interactions of a kind with a real loop."""
    for e in range(kind.first, kind.last):
        if kind.real_loop == LINE_DRAGS:
            _add_line_drag(generic, e, numbering, state, work, h, tangent)
        else:
            _add_added_mass(generic, kind, e, numbering, state, work, h, tangent)


@internal_kernel
def end_added_masses(generic, kind, state, work, h):
    """Compute the velocities of added masses at the end of the step, and return the energy that their flow takes, J.

    The interaction takes the gain of its kinetic energy, which it stores, and in a flow the work u . (P1 - P0) besides.
    """
    size, taken = kind.n_internal, 0.0
    for e in range(kind.first, kind.last):
        entry, at = generic.interacting.entries[e], generic.internal_offset[e]
        X = generic.interacting.numbers[entry.first : entry.last]
        motion, R0, R1 = _motion_of_mass(entry, kind, X, state, work, h)
        V, W = mean_velocities_of_step(motion, R0, R1, size)
        if kind.arity == 2:
            force, _, _, _, _, _ = step_and_slopes(motion, R0, R1, X, size, False)
            _, v = _node(entry, 1, state, work, h)
            taken += h * dot(force, minus(v, motion[1]))
        for i in range(3):
            state.internal[at + i] = 2.0 * V[i] - state.internal[at + i]
            if size == 6:
                state.internal[at + 3 + i] = 2.0 * W[i] - state.internal[at + 3 + i]
    return taken


@internal_kernel
def line_drag_energy(generic, kind, state, work, h):
    """Return the energies that the drag of lines takes and dissipates in the step, J."""
    taken, lost = 0.0, 0.0
    for e in range(kind.first, kind.last):
        entry = generic.interacting.entries[e]
        X = generic.interacting.numbers[entry.first : entry.last]
        place1, v1 = _node(entry, 1, state, work, h)
        place2, v2 = _node(entry, 2, state, work, h)
        d = minus(place2, place1)
        f1, loss1 = force_on_node(place1, v1, d, X)
        f2, loss2 = force_on_node(place2, v2, d, X)
        lost += h * (loss1 + loss2)
        taken += h * (dot(f1, v1) + dot(f2, v2))
    return taken, lost
