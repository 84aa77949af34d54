"""Assemble velocity-level (hidden) constraints of interactions without closed forms in a Cayley energy-momentum step.

The equations are (1), (3) and (4) of `velocity_constraints`. The derivatives of A = gam . dg/dt are those that
`rigid.interactions.hidden_rates` computes from the dual of a kind, for any number of frames. The module treats interactions with
rows, and constraints of the table without hidden forms, such as those of a joint. With both ends alike these derivatives are the
gradient of dg/dt, which is linear in velocities.
"""

from __future__ import annotations

from discretization.assembly.velocity_constraints import add_row, add_to_frame, velocities_after
from discretization.assembly.workspace import rotation_of
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions.blocks import put_pose
from rigid.interactions.hidden_rates import put_discrete_rates
from rigid.interactions.kinds import frame
from rigid.kinematics.chart_frames import (
    FRAMES_END,
    FRAMES_START,
    MOVING_END,
    MOVING_START,
    ON_FRAMES,
    ON_MOVING,
)
from rigid.kinematics.poses import mean_pose, torque_of
from rigid.linear_algebra import dot, load3


@inline_kernel
def _real(x):
    return x[0].real, x[1].real, x[2].real


@internal_kernel
def _put_ends(entry, arity, hidden, state, work, h):
    """Write poses, velocities and angular velocities of the frames of an interaction at both ends of the step."""
    S, origin = hidden.scratch, load3(state.r[entry.frames[0]])
    for k in range(arity):
        f = entry.frames[k]
        put_pose(state.r, work.R0, f, origin, S[FRAMES_START], k)
        put_pose(state.r, work.R1, f, origin, S[FRAMES_END], k)
        v1, Omega1 = velocities_after(state, work, hidden, h, f)
        for i in range(3):
            S[FRAMES_END, k, 0, i] += work.dr[f, i]
            S[MOVING_START, k, 0, i], S[MOVING_START, k, 1, i] = state.v[f, i], state.Omega[f, i]
            S[MOVING_END, k, 0, i], S[MOVING_END, k, 1, i] = v1[i], Omega1[i]


@internal_kernel
def _stand_at_end(arity, S):
    """Copy the end of the step to its start, so that discrete derivatives become gradients at the end."""
    for k in range(arity):
        for j in range(4):
            for i in range(3):
                S[FRAMES_START, k, j, i] = S[FRAMES_END, k, j, i]
                S[MOVING_START, k, j, i] = S[MOVING_END, k, j, i]


@internal_kernel
def _parts(S, k):
    """Return the derivatives of A with respect to v, Omega, r and a rotation of frame k."""
    on, moving = frame(S[ON_FRAMES], k), frame(S[ON_MOVING], k)
    mean = mean_pose(frame(S[FRAMES_START], k), frame(S[FRAMES_END], k))
    return _real(moving[0]), _real(moving[1]), _real(on[0]), _real(torque_of(on, mean))


@internal_kernel
def _choose(k, rows, size, gam):
    """Set `gam` to a multiplier of this size for row k and zero for the other rows."""
    for i in range(rows):
        gam[i] = size if i == k else 0.0


@internal_kernel
def add_velocity_constraint_groups(numbering, hidden, state, work, h, tangent):
    """Add (1), (3) and (4) of constraints without hidden forms to the residual and, if `tangent`, to the matrix."""
    generic, S, gam = work.generic_groups, hidden.scratch, hidden.gradient
    interacting, residual, values = generic.interacting, work.residual, work.values
    for which in range(interacting.kinds.size):
        kind = interacting.kinds[which]
        for e in range(kind.first, kind.last if kind.rows > 0 else kind.first):
            entry = interacting.entries[e]
            c = entry.row
            if c < hidden.closed.shape[0] and hidden.closed[c] != 0:
                continue
            X, X1 = interacting.numbers[entry.first : entry.last], generic.at_end[entry.first : entry.last]
            half, behind, first = 0.5 * work.scale[c], hidden.behind[c], numbering.lam[c]
            _put_ends(entry, kind.arity, hidden, state, work, h)
            for i in range(kind.rows):
                gam[i] = half * hidden.gam[first + i]
            put_discrete_rates(kind, X, gam, S)
            for k in range(kind.arity):
                f = entry.frames[k]
                if hidden.has_correction[f] != 0:
                    D_v, D_Omega, D_r, D_psi = _parts(S, k)
                    add_to_frame(
                        residual, numbering.frame[f], rotation_of(work.R1, f), h, D_v, D_Omega, D_r, D_psi
                    )
            for i in range(kind.rows if tangent else 0):
                _choose(i, kind.rows, half, gam)
                put_discrete_rates(kind, X, gam, S)
                for k in range(kind.arity):
                    f = entry.frames[k]
                    if hidden.has_correction[f] != 0:
                        D_v, D_Omega, D_r, D_psi = _parts(S, k)
                        at = generic.row_base[e, k, 0] + (behind + i) * numbering.row_stride[c]
                        add_to_frame(values, at, rotation_of(work.R1, f), h, D_v, D_Omega, D_r, D_psi)
            _stand_at_end(kind.arity, S)
            for i in range(kind.rows):
                _choose(i, kind.rows, half * h, gam)
                put_discrete_rates(kind, X1, gam, S)
                for k in range(kind.arity):
                    f = entry.frames[k]
                    G_v, G_Omega, G_r, G_psi = _parts(S, k)
                    v1, Omega1 = velocities_after(state, work, hidden, h, f)
                    residual[numbering.row[c] + behind + i] += dot(G_v, v1) + dot(G_Omega, Omega1)  # (4)
                    if tangent and hidden.has_correction[f] != 0:
                        at, stride = generic.row_base[e, k, 1] + behind + i, numbering.frame_stride[f]
                        R0, psi = rotation_of(work.R0, f), load3(work.psi[f])
                        add_row(values, at, stride, R0, psi, h, G_v, G_Omega, G_r, G_psi)
