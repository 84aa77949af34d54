"""Compute the generalised forces without potential in a chart: loads, pressure, resistance of dissipations; compiled.

The forces are duals of the interactions, pulled back to the coordinates of the chart.
"""

from rigid.charts.interactions import add_duals_of, put_poses, put_rates
from rigid.charts.internal_variables import move_to_step_ends
from rigid.compilation.decorators import internal_kernel
from rigid.interactions.kinds import dual_at, frame
from rigid.kinematics.chart_frames import DUAL, END, QUATERNION, ROWS, START, STEP
from rigid.kinematics.poses import (
    ZERO,
    add_mean_pulled,
    add_pulled,
    clear,
    load_quat,
    mean_pose,
    torque_of,
)
from rigid.kinematics.quaternion_maps import E_transposed, add_quat, quat_dot, quat_mean
from rigid.linear_algebra import cross, times
from rigid.mechanics.mechanical_system import system_function


@internal_kernel
def add_moment(m, y, q0, q1, F, f, out):
    """Add a moment m (3,), N m, on frame f to out: 2 E(qbar)^T m (000 (128)) in the quaternion chart.

    In the director chart the duals are m x dbar_k/2, as the angular velocity is sum d_k x d(d_k)/dt/2. `y`: mean pose.
    """
    to = F.entries[f].orientation
    if to < 0:
        return
    if F.chart == QUATERNION:
        quat = quat_mean(load_quat(q0, to), load_quat(q1, to))
        scale = quat_dot(quat, quat) if F.by_torque else 1.0 + 0j
        add_quat(2.0 / scale, E_transposed(quat, m), to, out)
    else:
        half = times(0.5, m)
        add_mean_pulled((ZERO, cross(half, y[1]), cross(half, y[2]), cross(half, y[3])), q0, q1, F, f, out)


@internal_kernel
def _write_values(I, signal):
    """Copy the external values in `signal`, three for each interaction that has some, to the parameters of interactions."""
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        for e in range(kind.first, kind.last if kind.signal >= 0 else kind.first):
            entry = I.entries[e]
            for i in range(3):
                I.numbers[entry.first + kind.signal + i] = signal[3 * entry.row + i]


@internal_kernel
def fill_loads(q0, q1, signal, D, out):
    """Set out to minus the pulled-back duals, between q0 and q1, of all interactions that do work.

    The values of loads, three per row of `signal`, are first copied to the loads' parameters, and those of dissipations with
    inputs to theirs: loads are evaluated before resistances.
    """
    F, S, I = D.frames, D.scratch, D.working
    against = S[ROWS, 0, 0]
    clear(out)
    _write_values(I, signal)
    _write_values(D.dissipating, signal)
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        for e in range(kind.first, kind.last):
            entry = I.entries[e]
            against[0] = -1.0
            if kind.torque == 0:
                add_duals_of(I, D, kind, e, q0, q1, against, out)
                continue
            dual = dual_at(kind.dual)
            put_poses(q0, D, entry, kind.arity, S[START])
            put_poses(q1, D, entry, kind.arity, S[END])
            dual(S[START], S[END], I.numbers[entry.first : entry.last], against, S[DUAL])
            for k in range(kind.arity):
                y = mean_pose(frame(S[START], k), frame(S[END], k))
                add_moment(torque_of(frame(S[DUAL], k), y), y, q0, q1, F, entry.frames[k], out)


@system_function("force")
def force(q, signal, D, out):
    """Compute the generalised forces (n,) of loads and pressure at q; `signal` holds the values (l, 3) of the loads."""
    fill_loads(q, q, signal, D, out)


@system_function("discrete_force")
def discrete_force(q0, q1, signal, D, out):
    """Compute the generalised forces (n,) of loads and pressure over the step from q0 to q1.

    Loads act on the mean pose, follower loads along its directors, so that their work is f . (p1 - p0),
    m . sum dbar_k x (d_k1 - d_k0)/2.
    """
    fill_loads(q0, q1, signal, D, out)


@system_function("resistance")
def resistance(q, w, D, out):
    """Compute the viscous forces (n,) at q against the rates w; w . out is the power they dissipate, W.

    Dissipations with `update_internal`, and those that may do work, are evaluated over a step centred at q if a step
    length is set.
    """
    S, I = D.scratch, D.dissipating
    clear(out)
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        over_step = (kind.update_internal != 0 or kind.works != 0) and S[STEP, 0, 0, 0] != 0.0
        dual = dual_at(kind.dual if over_step else kind.bend)
        for e in range(kind.first, kind.last):
            entry = I.entries[e]
            S[ROWS, 0, 0, 0] = 1.0
            put_poses(q, D, entry, kind.arity, S[START])
            put_rates(q, w, D, entry, kind.arity, S[END])
            if over_step:
                move_to_step_ends(kind.arity, 0.5 / S[STEP, 0, 0, 0], S)
                S[ROWS, 0, 0, 0] = S[STEP, 0, 0, 0]
            holds = kind.slides != 0 and not over_step
            end = S[START] if holds else S[END]
            dual(S[START], end, I.numbers[entry.first : entry.last], S[ROWS, 0, 0], S[DUAL])
            for k in range(kind.arity):
                add_pulled(frame(S[DUAL], k), q, D.frames, entry.frames[k], 1.0, out)


@system_function("discrete_resistance")
def discrete_resistance(q0, q1, frequency, D, out):
    """Compute the viscous forces (n,) against the change of the strains over a step times frequency[0] = 1/h.

    (q1 - q0) . out is the energy that the step dissipates, J.
    """
    I = D.dissipating
    clear(out)
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        for e in range(kind.first, kind.last):
            add_duals_of(I, D, kind, e, q0, q1, frequency, out)
