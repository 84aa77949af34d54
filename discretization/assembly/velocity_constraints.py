"""Assemble velocity-level (hidden) constraints of a Cayley energy-momentum step: residual and tangent.

Unknowns besides those of `step_equations`: gam of every constraint, W = h w of the frames that carry joints.
With A = sum of gam . g_v (`rigid.interactions.hidden_constraints`), D its discrete derivative and M the masses, including shared
ones:

    M w = D_v A,   J w = D_Omega A                                                                          (1)
    v1 = 2 (dr - W)/h - v0,   Omega1 = 2 (R0^T psi - W)/h - Omega0                                          (2)
    (1), (2) of `step_equations`  - 2 D_v A + h D_r A,   - 2 R1 D_Omega A + h D_psi A                       (3)
    g_v(1) = 0                                                                                              (4)

Taking w as an unknown keeps all blocks local: the effect of a joint on the velocities of its frames, and of those that share mass
with them, is never multiplied out. With s the scale of the constraint's rows: gam = s/2 x unknown, rows (4) times
s h/2, rows (1) times 2.

The tangent omits terms proportional to gam, which is of second order in h. Newton's corrections then shrink by a factor of that
size, and the residual is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.assembly.constraint_rows import REGULARISATION
from discretization.assembly.coupling_graph import carries_velocity
from discretization.assembly.rod_spans import add_span_masses
from discretization.assembly.workspace import EPS, Workspace, rotation_of, three, unit_vector
from discretization.multipliers import multipliers_of
from discretization.system import System
from rigid.compilation.decorators import inline_kernel, internal_kernel
from rigid.interactions.closed_forms import hidden_derivative_of, hidden_value_of
from rigid.interactions.constraints import CONSTRAINTS
from rigid.interactions.kinds import MAX_ROWS, has_hidden_forms
from rigid.kinematics.chart_frames import new_scratch
from rigid.kinematics.rotations import inverse_tangent
from rigid.linear_algebra import (
    add3,
    apply,
    apply_transposed,
    dot,
    load3,
    load9,
    minus,
    plus,
    times,
)
from rigid.system import Floats, Ints
from rigid.tuple_references import by_reference


@by_reference
class VelocityConstraints(NamedTuple):
    """Unknowns of the velocity-level constraints and their addresses."""

    has_correction: np.ndarray  # (n,) uint8, 1: the frame has W, 6 unknowns behind its dr
    behind: Ints  # (c + e,) offset from a constraint's row to its velocity-level row
    Ua_mean: Floats  # (c, 3) mean U_a of a step; differs from `Ua_end` only for driven constraints
    Ua_end: Floats  # (c, 3) U_a at the end of a step
    W: Floats  # (n, 6) translational part inertial, rotational part body-fixed
    gam: Floats  # (m,) scaled multipliers
    second: Floats  # (c, 6) vectors W_a, W_b of the constraints
    closed: (
        np.ndarray
    )  # (c,) uint8, 1: closed velocity-level forms; 0: from its dual, in `velocity_constraint_groups`
    scratch: np.ndarray  # scratch of one interaction assembled from its dual
    gradient: np.ndarray  # (MAX_ROWS,) complex multipliers of this interaction


def velocity_constraint_arrays(system: System, work: Workspace) -> VelocityConstraints:
    """Allocate what velocity-level constraints need in addition to `work`."""
    closed = [has_hidden_forms(CONSTRAINTS[number]) for number in system.constraints.kind]
    return VelocityConstraints(
        has_correction=carries_velocity(system).astype(np.uint8),
        behind=multipliers_of(system).of_joint,
        Ua_mean=system.constraints.Ua.copy(),
        Ua_end=system.constraints.Ua.copy(),
        W=np.zeros((len(system.frames.mass), 6)),
        gam=np.zeros(len(work.lam)),
        second=np.hstack([_or_zero(system.constraints.Wa, system), _or_zero(system.constraints.Wb, system)]),
        closed=np.array(closed, np.uint8),
        scratch=new_scratch(),
        gradient=np.zeros(MAX_ROWS, complex),
    )


def _or_zero(column: Floats, system: System) -> Floats:
    """Return a column (c, 3), or zeros if no constraint has it."""
    return column if len(column) else np.zeros((len(system.constraints.kind), 3))


@internal_kernel
def velocities_after(state, work, hidden, h, f):
    """Return v1, Omega1 of frame f by (2)."""
    dr, W_r = load3(work.dr[f]), load3(hidden.W[f, 0:3])
    rotation, W_turn = apply_transposed(rotation_of(work.R0, f), load3(work.psi[f])), load3(hidden.W[f, 3:6])
    v1 = minus(times(2.0 / h, minus(dr, W_r)), load3(state.v[f]))
    return v1, minus(times(2.0 / h, minus(rotation, W_turn)), load3(state.Omega[f]))


@internal_kernel
def constraint_points(system, hidden, c, Ua):
    """Return U_a, U_b, X_a, X_b, W_a, W_b and value of constraint c.

    `Ua`: array of U_a in the mean or at the end of the step; they differ only for driven constraints.
    """
    constraints, second = system.constraints, hidden.second
    return (
        load3(Ua[c]),
        load3(constraints.Ub[c]),
        load3(constraints.Xa[c]),
        load3(constraints.Xb[c]),
        load3(second[c, 0:3]),
        load3(second[c, 3:6]),
        constraints.value[c],
    )


@internal_kernel
def velocity_constraint_ends(state, work, hidden, h, a, b):
    """Return start and end of the step in the form that `rigid.interactions.hidden_constraints` expects."""
    va1, Omega_a1 = velocities_after(state, work, hidden, h, a)
    vb1, Omega_b1 = velocities_after(state, work, hidden, h, b)
    e0 = minus(load3(state.r[b]), load3(state.r[a]))
    e1 = plus(e0, minus(load3(work.dr[b]), load3(work.dr[a])))
    dv0 = minus(load3(state.v[b]), load3(state.v[a]))
    R0a, R0b, R1a, R1b = (
        rotation_of(work.R0, a),
        rotation_of(work.R0, b),
        rotation_of(work.R1, a),
        rotation_of(work.R1, b),
    )
    start = (e0, dv0, R0a, R0b, load3(state.Omega[a]), load3(state.Omega[b]))
    return start, (e1, minus(vb1, va1), R1a, R1b, Omega_a1, Omega_b1)


@internal_kernel
def begin_velocity_constraints(system, numbering, hidden, state, work, h):
    """Set the velocity-level multipliers and W to zero, and the round-off levels of (1) and (4)."""
    mass, noise, frames = system.frames.mass, work.noise, numbering.row_frames
    for f in range(mass.shape[0]):
        for i in range(6):
            hidden.W[f, i] = 0.0
            if hidden.has_correction[f] != 0:
                noise[numbering.frame[f] + 6 + i] = noise[numbering.frame[f] + i]
    for c in range(numbering.row.shape[0]):
        first = numbering.lam[c]
        speed, arm = 0.0, 1.0 + work.facts.reach[c]
        for k in range(frames.shape[1]):
            if frames[c, k] >= 0:
                v, Omega = load3(state.v[frames[c, k]]), load3(state.Omega[frames[c, k]])
                speed += dot(v, v) ** 0.5 + arm * dot(Omega, Omega) ** 0.5
        row = numbering.row[c] + hidden.behind[c]
        for i in range(numbering.rows[c]):
            hidden.gam[first + i] = 0.0
            # velocities are differences of increments: no more exact than the position rows
            noise[row + i] = EPS * work.scale[c] * abs(h) * speed + noise[numbering.row[c] + i] * 1e-2


@internal_kernel
def add_velocity_constraint_noise(numbering, hidden, work):
    """Raise the round-off levels by the round-off of the current velocity-level multipliers."""
    frames = numbering.row_frames
    for c in range(numbering.row.shape[0]):
        first = numbering.lam[c]
        size = 0.0
        for i in range(numbering.rows[c]):
            size += EPS * work.scale[c] * abs(hidden.gam[first + i])
        for k in range(frames.shape[1]):
            f = frames[c, k]
            if f >= 0 and hidden.has_correction[f] != 0:
                for i in range(12):
                    work.noise[numbering.frame[f] + i] += size


@inline_kernel
def add_to_frame(out, at, R1, h, D_v, D_Omega, D_r, D_psi):
    """Add the terms of a derivative of A to the rows (3) of a frame and to its rows (1), which follow them."""
    add3(plus(times(-2.0, D_v), times(h, D_r)), out[at : at + 3])
    add3(plus(times(-2.0, apply(R1, D_Omega)), times(h, D_psi)), out[at + 3 : at + 6])
    add3(times(-2.0, D_v), out[at + 6 : at + 9])
    add3(times(-2.0, D_Omega), out[at + 9 : at + 12])


@inline_kernel
def add_row(values, at, stride, R0, psi, h, D_v, D_Omega, D_r, D_psi):
    """Add a matrix row: the gradient at the end of the step with respect to dr, eta and W of a frame."""
    by_turn = plus(D_psi, times(2.0 / h, apply_transposed(inverse_tangent(psi), apply(R0, D_Omega))))
    for i in range(3):
        values[at + i * stride] += D_r[i] + 2.0 / h * D_v[i]
        values[at + (3 + i) * stride] += by_turn[i]
        values[at + (6 + i) * stride] -= 2.0 / h * D_v[i]
        values[at + (9 + i) * stride] -= 2.0 / h * D_Omega[i]


@internal_kernel
def add_velocity_constraints(system, numbering, hidden, state, work, h, tangent):
    """Add (1), (3) and (4) to the residual and, if `tangent`, to the matrix."""
    _add_masses(system, numbering, hidden, work, h, tangent)
    if tangent:
        _soften_hidden(numbering, hidden, work)
    constraints, residual, values = system.constraints, work.residual, work.values
    for c in range(constraints.kind.shape[0]):
        if hidden.closed[c] == 0:
            continue
        kind, a, b = constraints.kind[c], constraints.frames[c, 0], constraints.frames[c, 1]
        rows = numbering.rows[c]
        points = constraint_points(system, hidden, c, hidden.Ua_mean)
        last = constraint_points(system, hidden, c, hidden.Ua_end)
        start, end = velocity_constraint_ends(state, work, hidden, h, a, b)
        half = 0.5 * work.scale[c]
        behind = hidden.behind[c]
        value = hidden_value_of(kind, last, end)
        for i in range(rows):
            residual[numbering.row[c] + behind + i] += half * h * value[i]  # (4)
        gam = three(hidden.gam, numbering.lam[c], rows, half)
        D_v, D_Oa, D_Ob, D_r, D_a, D_b = hidden_derivative_of(kind, gam, points, start, end)
        moves_a, moves_b = hidden.has_correction[a] != 0, hidden.has_correction[b] != 0
        if moves_a:
            opposite, pull = times(-1.0, D_v), times(-1.0, D_r)
            add_to_frame(residual, numbering.frame[a], end[2], h, opposite, D_Oa, pull, D_a)
        if moves_b:
            add_to_frame(residual, numbering.frame[b], end[3], h, D_v, D_Ob, D_r, D_b)
        if not tangent:
            continue
        base, stride = numbering.constraint_base[c], numbering.row_stride[c]
        sa, sb = numbering.frame_stride[a], numbering.frame_stride[b]
        for i in range(rows):
            unit = unit_vector(i, half)
            D_v, D_Oa, D_Ob, D_r, D_a, D_b = hidden_derivative_of(kind, unit, points, start, end)
            unit = unit_vector(i, half * h)
            G_v, G_Oa, G_Ob, G_r, G_a, G_b = hidden_derivative_of(kind, unit, last, end, end)
            if moves_a:
                opposite, pull = times(-1.0, D_v), times(-1.0, D_r)
                add_to_frame(values, base[4] + (behind + i) * stride, end[2], h, opposite, D_Oa, pull, D_a)
                opposite, pull = times(-1.0, G_v), times(-1.0, G_r)
                R0, psi = rotation_of(work.R0, a), load3(work.psi[a])
                add_row(values, base[6] + behind + i, sa, R0, psi, h, opposite, G_Oa, pull, G_a)
            if moves_b:
                add_to_frame(values, base[5] + (behind + i) * stride, end[3], h, D_v, D_Ob, D_r, D_b)
                R0, psi = rotation_of(work.R0, b), load3(work.psi[b])
                add_row(values, base[7] + behind + i, sb, R0, psi, h, G_v, G_Ob, G_r, G_b)


@internal_kernel
def _soften_hidden(numbering, hidden, work):
    """Make the multipliers gam of redundant constraints unique, as
    `discretization.assembly.constraint_rows.regularise_redundant` does.
    """
    for k in range(numbering.repeating.shape[0]):
        c, base = numbering.repeating[k], numbering.repeating_base[k]
        for i in range(numbering.rows[c]):
            at = hidden.behind[c] + i
            work.values[base + at + at * numbering.row_stride[c]] -= REGULARISATION * work.scale[c]


@internal_kernel
def _add_masses(system, numbering, hidden, work, h, tangent):
    """Add 2 M W/h of (1) to the residual and, if `tangent`, its derivative to the matrix."""
    frames, elements, residual, values = system.frames, system.elements, work.residual, work.values
    for f in range(frames.mass.shape[0]):
        if hidden.has_correction[f] == 0:
            continue
        at, mass, J = numbering.frame[f] + 6, frames.mass[f], load9(frames.inertia[f])
        add3(times(2.0 * mass / h, load3(hidden.W[f, 0:3])), residual[at : at + 3])
        add3(times(2.0 / h, apply(J, load3(hidden.W[f, 3:6]))), residual[at + 3 : at + 6])
        if tangent:
            stride = numbering.frame_stride[f]
            corner = numbering.frame_base[f] + 6 + 6 * stride
            for i in range(3):
                values[corner + i + i * stride] += 2.0 * mass / h
                for j in range(3):
                    values[corner + 3 + i + (3 + j) * stride] += 2.0 / h * J[3 * i + j]
    for m in range(elements.length.shape[0]):
        if elements.coupling[m] == 0.0:
            continue
        a, b = elements.frames[m, 0], elements.frames[m, 1]
        shared = 2.0 * elements.coupling[m] / h
        relative = minus(load3(hidden.W[b, 0:3]), load3(hidden.W[a, 0:3]))
        base, sa, sb = numbering.element_base[m], numbering.frame_stride[a], numbering.frame_stride[b]
        for i in range(3):
            if hidden.has_correction[a] != 0:
                residual[numbering.frame[a] + 6 + i] += shared * relative[i]
            if hidden.has_correction[b] != 0:
                residual[numbering.frame[b] + 6 + i] -= shared * relative[i]
            if tangent:
                for k, stride, sign in ((0, sa, -1.0), (1, sb, 1.0), (2, sa, 1.0), (3, sb, -1.0)):
                    values[base[k] + 6 + i + (6 + i) * stride] += sign * shared
    if system.spans.kind.size > 0:
        add_span_masses(system, numbering, hidden, work, h, tangent)


@internal_kernel
def correct_velocity_constraints(system, numbering, hidden, work, damping):
    """Add the correction in `work.rhs` to W and gam, times the step length `damping` that the frames have used."""
    for f in range(system.frames.mass.shape[0]):
        if hidden.has_correction[f] != 0:
            for i in range(6):
                hidden.W[f, i] += damping * work.rhs[numbering.frame[f] + 6 + i]
    for c in range(numbering.row.shape[0]):
        for i in range(numbering.rows[c]):
            row = numbering.row[c] + hidden.behind[c] + i
            hidden.gam[numbering.lam[c] + i] += damping * work.rhs[row]
