"""Apply prescribed motion in a Cayley energy-momentum step: given end poses, velocity constraints, work of every drive.

The increments dr, psi of driven frames are given. The forces on them are assembled in rows behind the equations, so that their
drive does the work  force . dr + torque . psi  of the total force. A driven constraint has the numbers Xbar in its dual and X1
in its row, and (`rigid.interactions.driven_constraints`)

    work of its drive = lam (g(y0, dX) + g(y1, dX))/2                                                       (1)

With hidden (velocity-level) constraints the velocities at the end satisfy  g_v(1; X1) + g(y1, dX1/dt) = 0, and the discrete
derivative of A = gam . g_v is taken with Xbar. Since A changes along the motion of all frames by
gam . (g_v(1; Xbar) - g_v(0; Xbar)), which is zero if nothing is driven, the balance of energy holds with

    work += D A . (dv, dOmega, dr, psi) of a driven frame,
    work -= gam . (g_v(1; Xbar) - g_v(0; Xbar)) of a driven constraint                                      (2)
"""

from __future__ import annotations

from discretization.assembly.generic_assembly import _add_pulled, kind_of
from discretization.assembly.velocity_constraints import constraint_points, velocity_constraint_ends
from discretization.assembly.workspace import rotation_of, three
from discretization.internal_variables import DRIVE
from rigid.compilation.decorators import internal_kernel
from rigid.interactions.blocks import put_pose
from rigid.interactions.closed_forms import hidden_derivative_of, hidden_value_of
from rigid.interactions.kinds import dual_at, value_at
from rigid.kinematics.rotations import load4
from rigid.linear_algebra import apply_transposed, cross, dot, load3, minus, plus, store3, times

WORK = 8  # column of the work in a row of drives in `State.internal`


@internal_kernel
def drive_offset(work, k):
    """Return the offset of the numbers (9,) of drive k in `State.internal`."""
    return work.internal_offsets.drive + DRIVE * k


@internal_kernel
def begin_drives(system, hidden, state, work, h, signals):
    """Set what is prescribed in the step: parameters of driven constraints, increments of driven frames.

    `signals`: rows of three values that follow those of the loads, see `discretization.drives`.
    `hidden`: arrays of the velocity-level constraints, or None.
    """
    drives, at = work.drives, work.generic_groups.signals.shape[0]
    mean, end, rates = (
        work.generic_groups.interacting.numbers,
        work.generic_groups.at_end,
        work.generic_groups.rates,
    )
    for k in range(drives.rows.shape[0]):
        offset, U, w = drive_offset(work, k), drives.direction[k], drives.value[k]
        before = state.internal[offset : offset + DRIVE]
        for i in range(3):
            end[U + i], rates[U + i] = signals[at, i], signals[at + 2, i]
            mean[U + i] = 0.5 * (before[i] + signals[at, i])
            drives.change[U + i] = signals[at, i] - before[i]
        end[w], rates[w] = signals[at + 1, 0], signals[at + 1, 1]
        mean[w] = 0.5 * (before[3] + end[w])
        drives.change[w] = end[w] - before[3]
        if hidden is not None:
            c = drives.rows[k]
            for i in range(3):
                hidden.Ua_mean[c, i] = 0.5 * (before[i] + signals[at, i])
                hidden.Ua_end[c, i] = signals[at, i]
        at += 3
    for k in range(drives.frames.shape[0]):
        f = drives.frames[k]
        store3(minus(load3(signals[at]), load3(state.r[f])), work.dr[f])
        # 2 axial/scalar of q1 o conj(q0)
        p, q = (signals[at + 4, 0], load3(signals[at + 3])), load4(state.quat[f])
        scalar = p[0] * q[0] + dot(p[1], q[1:])
        axial = minus(times(q[0], p[1]), times(p[0], q[1:]))
        axial = minus(axial, cross(p[1], q[1:]))
        store3(times(2.0 / scalar, axial), work.psi[f])
        if hidden is not None:
            # W such that the velocities after the step are the prescribed ones: `discretization.assembly.velocity_constraints`
            # (2)
            v = plus(load3(state.v[f]), load3(signals[at + 1]))
            Omega = plus(load3(state.Omega[f]), load3(signals[at + 2]))
            rotation = apply_transposed(rotation_of(work.R0, f), load3(work.psi[f]))
            store3(minus(load3(work.dr[f]), times(0.5 * h, v)), hidden.W[f, 0:3])
            store3(minus(rotation, times(0.5 * h, Omega)), hidden.W[f, 3:6])
        at += 5


@internal_kernel
def end_drives(system, state, work, signals):
    """Copy the prescribed end of the step into the state; call it after the work has been accumulated."""
    drives, at = work.drives, work.generic_groups.signals.shape[0]
    for k in range(drives.rows.shape[0]):
        first = drive_offset(work, k)
        values = state.internal[first : first + DRIVE]
        for i in range(3):
            values[i], values[4 + i] = signals[at, i], signals[at + 2, i]
        values[3], values[7] = signals[at + 1, 0], signals[at + 1, 1]
        at += 3
    for k in range(drives.frames.shape[0]):
        f = drives.frames[k]
        for i in range(3):
            state.r[f, i] = work.r1[f, i]
            state.v[f, i], state.Omega[f, i] = signals[at + 1, i], signals[at + 2, i]
        for i in range(4):
            state.quat[f, i] = work.q1[f, i]
        at += 5


@internal_kernel
def _explicit(generic, e, numbers, y, kind):
    """Return g(y, numbers) of a driven constraint; `numbers` hold rates or changes in place of the driven quantities."""
    entry = generic.interacting.entries[e]
    value_of_kind = value_at(kind.value)
    value_of_kind(y, numbers[entry.first : entry.last], generic.g)
    return generic.g[0].real


@internal_kernel
def _put_pair(r, R, generic, e, y):
    """Write the poses (r, R) of both frames of driven constraint e to y, relative to the position of the first."""
    frames = generic.interacting.entries[e].frames
    for k in range(2):
        put_pose(r, R, frames[k], load3(r[frames[0]]), y, k)


@internal_kernel
def add_drive_velocities(system, numbering, hidden, state, work, h, tangent):
    """Add g(y1, dX1/dt) to the velocity-level rows of driven constraints and, if `tangent`, its gradient to the matrix."""
    generic, drives = work.generic_groups, work.drives
    for k in range(drives.rows.shape[0]):
        c, e = drives.rows[k], drives.entry[k]
        half = 0.5 * work.scale[c]
        row = numbering.row[c] + hidden.behind[c]
        kind = kind_of(generic.interacting, e)
        _put_pair(work.r1, work.R1, generic, e, generic.end)
        work.residual[row] += half * h * _explicit(generic, e, generic.rates, generic.end, kind)
        if not tangent:
            continue
        entry, dual_of_kind = generic.interacting.entries[e], dual_at(kind.dual)
        generic.lam[0] = half * h
        dual_of_kind(
            generic.end, generic.end, generic.rates[entry.first : entry.last], generic.lam, generic.dual
        )
        for side in range(2):
            stride = numbering.frame_stride[entry.frames[side]]
            base = numbering.constraint_base[c, 6 + side] + hidden.behind[c]
            _add_pulled(generic.dual, generic.end, generic.end, side, work.values, base, stride)


@internal_kernel
def add_drive_work(system, numbering, hidden, state, work, h):
    """Add the work of the step to the record of each drive in `State.internal`; return the total work, J."""
    generic, drives, total = work.generic_groups, work.drives, 0.0
    for k in range(drives.rows.shape[0]):
        c, e = drives.rows[k], drives.entry[k]
        lam = work.lam[numbering.lam[c]] * work.scale[c] / h
        kind = kind_of(generic.interacting, e)
        _put_pair(state.r, work.R0, generic, e, generic.start)
        _put_pair(work.r1, work.R1, generic, e, generic.end)
        mean = 0.5 * _explicit(generic, e, drives.change, generic.start, kind)
        mean += 0.5 * _explicit(generic, e, drives.change, generic.end, kind)
        work_of_drive = lam * mean  # (1)
        if hidden is not None:
            work_of_drive -= _hidden_change(system, numbering, hidden, state, work, h, c)  # (2)
        state.internal[drive_offset(work, k) + WORK] += work_of_drive
        total += work_of_drive
    for k in range(drives.frames.shape[0]):
        f = drives.frames[k]
        at = numbering.frame[f]
        work_of_drive = dot(load3(work.residual[at : at + 3]), load3(work.dr[f]))
        work_of_drive += dot(load3(work.residual[at + 3 : at + 6]), load3(work.psi[f]))
        work_of_drive /= h
        if hidden is not None:
            for c in range(system.constraints.kind.shape[0]):
                if system.constraints.frames[c, 0] == f or system.constraints.frames[c, 1] == f:
                    work_of_drive += _hidden_work(system, numbering, hidden, state, work, h, c, f)  # (2)
        state.internal[drive_offset(work, drives.rows.shape[0] + k) + WORK] += work_of_drive
        total += work_of_drive
    return total


@internal_kernel
def _hidden_change(system, numbering, hidden, state, work, h, c):
    """Return gam (g_v(1; Xbar) - g_v(0; Xbar)) of driven constraint c."""
    a, b = system.constraints.frames[c, 0], system.constraints.frames[c, 1]
    points, kind = constraint_points(system, hidden, c, hidden.Ua_mean), system.constraints.kind[c]
    start, end = velocity_constraint_ends(state, work, hidden, h, a, b)
    change = hidden_value_of(kind, points, end)[0] - hidden_value_of(kind, points, start)[0]
    return 0.5 * work.scale[c] * hidden.gam[numbering.lam[c]] * change


@internal_kernel
def _hidden_work(system, numbering, hidden, state, work, h, c, f):
    """Return D A . (dv, dOmega, dr, psi) of the driven frame f at constraint c."""
    a, b = system.constraints.frames[c, 0], system.constraints.frames[c, 1]
    start, end = velocity_constraint_ends(state, work, hidden, h, a, b)
    gam = three(hidden.gam, numbering.lam[c], numbering.rows[c], 0.5 * work.scale[c])
    kind = system.constraints.kind[c]
    D_v, D_Oa, D_Ob, D_r, D_a, D_b = hidden_derivative_of(
        kind, gam, constraint_points(system, hidden, c, hidden.Ua_mean), start, end
    )
    dr, psi = load3(work.dr[f]), load3(work.psi[f])
    dv = _change_of_velocity(state, hidden, work, h, f)
    rotation = apply_transposed(rotation_of(work.R0, f), psi)
    dOmega = times(
        2.0, minus(times(1.0 / h, minus(rotation, load3(hidden.W[f, 3:6]))), load3(state.Omega[f]))
    )
    if f == b:
        return dot(D_v, dv) + dot(D_Ob, dOmega) + dot(D_r, dr) + dot(D_b, psi)
    return dot(D_Oa, dOmega) + dot(D_a, psi) - dot(D_v, dv) - dot(D_r, dr)


@internal_kernel
def _change_of_velocity(state, hidden, work, h, f):
    """Return v1 - v0 = 2 ((dr - W)/h - v0)."""
    mean = times(1.0 / h, minus(load3(work.dr[f]), load3(hidden.W[f, 0:3])))
    return times(2.0, minus(mean, load3(state.v[f])))
