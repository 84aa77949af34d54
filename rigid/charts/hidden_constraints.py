"""Compute discrete derivatives of velocity-level constraints gam . dg/dt for frames in quaternions.

`rigid.interactions.hidden_rates` provides the discrete derivatives with respect to poses, velocities and Omega for every kind of
interaction. In quaternions

    v = p_r/m,   Omega = J^-1 G(q) p/2                                                                    (4)

which is the Omega of the velocity W(q) p if |q| = 1 and q . p = 0. `add_discrete_derivative_in_directors` serves the director
chart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rigid.charts.inertia import inertia_of, inverse3
from rigid.charts.interactions import put_poses, put_rates
from rigid.compilation.decorators import internal_kernel
from rigid.interactions.hidden_rates import (
    put_discrete_derivative,
    put_discrete_rates,
    put_discrete_rates_of_directors,
)
from rigid.interactions.kinds import frame, store
from rigid.kinematics.chart_frames import (
    DUAL,
    FRAMES_END,
    FRAMES_START,
    MOVING_END,
    MOVING_START,
    ON_FRAMES,
    ON_MOVING,
    POSES_END,
    POSES_START,
    RATES_END,
    RATES_START,
    ROWS,
    load_at,
)
from rigid.kinematics.poses import ZERO, add_mean_pulled, add_pulled, load_quat
from rigid.kinematics.quaternion_maps import G, G_transposed, add_quat, quat_mean
from rigid.linear_algebra import apply, times


class Ends(NamedTuple):
    """Coordinates q and momenta p at the start (0) and the end (1) of a step."""

    q0: Any
    p0: Any
    q1: Any
    p1: Any


class Parts(NamedTuple):
    """Parts of a discrete derivative: with respect to q and p, through G(q) p and q . p, and pulled-back duals of the poses."""

    q: Any
    p: Any
    poses: Any


@internal_kernel
def rates_of(q, p, D, f):
    """Return v (3,) and Omega (3,) of frame f by (4)."""
    at, to = D.frames.entries[f].position, D.frames.entries[f].orientation
    v, Omega = ZERO, ZERO
    if at >= 0:
        v = times(1.0 / D.frames.entries[f].mass, load_at(p, at))
    if to >= 0:
        Omega = apply(inverse3(inertia_of(D, f)), times(0.5, G(load_quat(q, to), load_quat(p, to))))
    return v, Omega


@internal_kernel
def add_by_momenta(D_v, D_Omega, ends, D, f, out):
    """Add the derivatives D_v and D_Omega of frame f to `out` as derivatives with respect to q and p, by (4)."""
    at, to = D.frames.entries[f].position, D.frames.entries[f].orientation
    if at >= 0:
        for i in range(3):
            out.p[at + i] += D_v[i] / D.frames.entries[f].mass
    if to >= 0:
        spin = times(0.5, apply(inverse3(inertia_of(D, f)), D_Omega))
        q = quat_mean(load_quat(ends.q0, to), load_quat(ends.q1, to))
        p = quat_mean(load_quat(ends.p0, to), load_quat(ends.p1, to))
        add_quat(1.0, G_transposed(q, spin), to, out.p)
        add_quat(-1.0, G_transposed(p, spin), to, out.q)


@internal_kernel
def add_hidden_of(kind, e, ends, gam, D, out):
    """Add the discrete derivative of gam . dg/dt of interaction e, (3) of `rigid.interactions.hidden_rates`, to `out`."""
    q0, p0, q1, p1 = ends
    I, S = D.interaction_arrays, D.scratch
    entry = I.entries[e]
    put_poses(q0, D, entry, kind.arity, S[FRAMES_START])
    put_poses(q1, D, entry, kind.arity, S[FRAMES_END])
    for k in range(kind.arity):
        v0, w0 = rates_of(q0, p0, D, entry.frames[k])
        v1, w1 = rates_of(q1, p1, D, entry.frames[k])
        store((v0, w0, ZERO, ZERO), S[MOVING_START], k)
        store((v1, w1, ZERO, ZERO), S[MOVING_END], k)
    put_discrete_rates(kind, I.numbers[entry.first : entry.last], gam[entry.row : entry.row + kind.rows], S)
    for k in range(kind.arity):
        moving = frame(S[ON_MOVING], k)
        add_by_momenta(moving[0], moving[1], ends, D, entry.frames[k], out)
        add_mean_pulled(frame(S[ON_FRAMES], k), q0, q1, D.frames, entry.frames[k], out.poses)


@internal_kernel
def add_discrete_hidden(ends, gam, D, out):
    """Add discrete derivatives of gam . dg/dt of all joints, and of gam q . p of the unit-length constraints, to `out`."""
    row = 0
    for f in range(D.frames.entries.size):
        to = D.frames.entries[f].orientation
        if to >= 0:
            add_quat(gam[row], quat_mean(load_quat(ends.p0, to), load_quat(ends.p1, to)), to, out.q)
            add_quat(gam[row], quat_mean(load_quat(ends.q0, to), load_quat(ends.q1, to)), to, out.p)
            row += 1
    I = D.interaction_arrays
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        for e in range(kind.first, kind.last if kind.rows > 0 else 0):
            add_hidden_of(kind, e, ends, gam, D, out)


@internal_kernel
def copy_bilinear(gam, D, out):
    """Copy gam to out, with zeros for constraints that are more than quadratic in poses; return True if there are any."""
    any_zeroed = False
    for row in range(D.m):
        out[row] = gam[row]
    I = D.interaction_arrays
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        for e in range(kind.first, kind.last if kind.hidden != 0 or kind.steep != 0 else kind.first):
            for k in range(kind.rows):
                out[I.entries[e].row + k] = 0.0
                any_zeroed = True
    return any_zeroed


@internal_kernel
def add_discrete_derivative_in_directors(q0, v0, q1, v1, gam, D, out_q, out_v):
    """Add discrete derivatives of gam . dg/dt with respect to coordinates and their rates to out_q and out_v.

    Only constraints that are more than quadratic in poses contribute. For the director chart, in which poses are linear.
    """
    I, S = D.interaction_arrays, D.scratch
    for kind_index in range(I.kinds.size):
        kind = I.kinds[kind_index]
        for e in range(kind.first, kind.last if kind.hidden != 0 or kind.steep != 0 else kind.first):
            entry = I.entries[e]
            numbers, gam_of_rows = I.numbers[entry.first : entry.last], gam[entry.row : entry.row + kind.rows]
            if kind.hidden != 0:
                put_poses(q0, D, entry, kind.arity, S[POSES_START])
                put_rates(q0, v0, D, entry, kind.arity, S[RATES_START])
                put_poses(q1, D, entry, kind.arity, S[POSES_END])
                put_rates(q1, v1, D, entry, kind.arity, S[RATES_END])
                put_discrete_derivative(kind, numbers, gam_of_rows, S)
            else:
                put_poses(q0, D, entry, kind.arity, S[FRAMES_START])
                put_rates(q0, v0, D, entry, kind.arity, S[MOVING_START])
                put_poses(q1, D, entry, kind.arity, S[FRAMES_END])
                put_rates(q1, v1, D, entry, kind.arity, S[MOVING_END])
                put_discrete_rates_of_directors(kind, numbers, gam_of_rows, S)
            on_pose, on_rate = (ROWS, DUAL) if kind.hidden != 0 else (ON_FRAMES, ON_MOVING)
            for k in range(kind.arity):
                add_pulled(frame(S[on_pose], k), q1, D.frames, entry.frames[k], 1.0, out_q)
                add_pulled(frame(S[on_rate], k), q1, D.frames, entry.frames[k], 1.0, out_v)
