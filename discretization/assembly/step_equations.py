"""Assemble residual and tangent of a Cayley energy-momentum step from frames and interactions.

Unknowns: dr, psi of every moving frame, impulses Lam of every constraint. With suffix 0 and 1 for the ends of the step, bars
for averages, R1 = cay(psi) R0:

    2 m (dr/h - v0) + h f + G_r^T Lam = 0                                                               (1)
    R1 J Omega1 - R0 J Omega0 + h tau + G_psi^T Lam = 0,   Omega1 = 2 R0^T psi/h - Omega0               (2)
    g(1) = 0                                                                                            (3)

f, tau are the discrete derivatives of all energies minus the applied loads, G of all constraints. Rows (3) and the
multipliers are scaled by s = 2 m/h of the lighter frame, so that the matrix is balanced: Lam = s x unknown.

A step calls `begin_step` once; each Newton iteration calls `move` and `assemble`.
"""

from __future__ import annotations

import numpy as np

from discretization.assembly.actuated_elements import begin_actuations
from discretization.assembly.constraint_rows import (
    add_common_constraints,
    add_constraints,
    begin_constraints,
    regularise_redundant,
)
from discretization.assembly.element_lanes import begin_elements
from discretization.assembly.frame_formulas import balance, rounding, spin_at_end, spin_tangent
from discretization.assembly.generic_assembly import add_generic, add_generic_noise
from discretization.assembly.load_forces import add_loads
from discretization.assembly.rod_spans import add_span_noise, add_spans, begin_spans
from discretization.assembly.spring_forces import add_springs
from discretization.assembly.tendon_forces import add_tendons
from discretization.assembly.thread_team import add_all_elements, clear_matrix
from discretization.assembly.workspace import norm, rotation_of, store_rotation
from rigid.compilation.decorators import internal_kernel
from rigid.kinematics.rotations import cayley_rotation, load4, rotation_matrix
from rigid.linear_algebra import add3, add_at, apply, dot, load3, load9, minus, product


@internal_kernel
def begin_step(system, numbering, state, work, h, general=True):
    """Compute what the Newton iterations of a step share.

    These are initial rotations, the start of the elements, scales of the constraints and round-off levels of the residuals.
    `general`: None for models without spans and generic interactions, as in `assemble`.
    """
    gravity, extent = load3(system.gravity), 0.0
    weight = np.sqrt(dot(gravity, gravity))
    for f in range(state.r.shape[0]):
        extent = max(extent, _begin_frame(system, numbering, state, work, f, weight, h))
    begin_elements(system, state, work, h)
    begin_actuations(work)
    if general is not None:
        if system.spans.kind.size > 0:
            add_span_noise(system, numbering, work, h)
            begin_spans(system, state, work, h)
        if work.generic_groups.interacting.entries.size > 0:
            add_generic_noise(numbering, state, work, h)
    begin_constraints(numbering, state, work, h, extent)


@internal_kernel
def _begin_frame(system, numbering, state, work, f, weight, h):
    """Compute initial rotation and round-off level of the residual of frame f; return its distance from the origin, m."""
    frames, noise = system.frames, work.noise
    store_rotation(work.R0, f, rotation_matrix(load4(state.quat[f])))
    at, mass, J = numbering.frame[f], frames.mass[f], load9(frames.inertia[f])
    spin = apply(J, load3(state.Omega[f]))
    force, moment = rounding(mass, J, load3(state.v[f]), spin, weight, h)
    for i in range(3):
        noise[at + i] = force
        noise[at + 3 + i] = moment
    return norm(state.r[f])


@internal_kernel
def move(system, state, work):
    """Compute r1, q1, R1 of all frames from the increments dr, psi; call it after `begin_step`."""
    for f in range(state.r.shape[0]):
        _move_frame(state, work, f)


@internal_kernel
def move_scalar_frames(state, work):
    """Compute r1, q1, R1 of the moving frames that are treated one by one (`work.alone`)."""
    for f in work.alone:
        _move_frame(state, work, f)


@internal_kernel
def move_fixed_frames(state, work):
    """Compute r1, q1, R1 of the frames that are fixed or whose motion is prescribed (`work.prescribed`)."""
    for f in work.prescribed:
        _move_frame(state, work, f)


@internal_kernel
def _move_frame(state, work, f):
    """Compute r1, q1, R1 of frame f from its increments."""
    for i in range(3):
        work.r1[f, i] = state.r[f, i] + work.dr[f, i]
    q = cayley_rotation(load3(work.psi[f]), load4(state.quat[f]))
    work.q1[f, 0], work.q1[f, 1], work.q1[f, 2], work.q1[f, 3] = q
    store_rotation(work.R1, f, rotation_matrix(q))


@internal_kernel
def assemble(system, numbering, state, work, h, tangent, general=True, acted=True):
    """Evaluate the residual (1)-(3) at the current dr, psi, lam and, if `tangent`, the matrix.

    Return 0, 1 if an element failed, or NOT_FINITE if a derivative is not finite. `general`: None for models without elements
    of order p (spans) and without interactions that are assembled from their duals. `acted`: None for models without springs
    and loads whose constraints are all `COMMON`. The compiler then omits these terms.
    """
    for i in range(work.residual.shape[0]):
        work.residual[i] = 0.0
    if tangent:
        clear_matrix(numbering, work)
    _inertia(system, numbering, state, work, h, tangent)
    return add_forces(system, numbering, state, work, h, tangent, general, acted)


@internal_kernel
def add_forces(system, numbering, state, work, h, tangent, general=True, acted=True, rows=True):
    """Add all terms but inertia and weight: elements, constraints, springs, loads.

    Return the status, and interpret `general` and `acted`, as `assemble` does. `rows`: None if no constraint is assembled.
    """
    status = add_all_elements(work, h, tangent)
    if status != 0:
        return status
    if general is not None:
        status = add_spans(system, numbering, state, work, h, tangent)
        if status != 0:
            return status
        status = add_generic(numbering, state, work, h, tangent)
        if status != 0:
            return status
    if rows is not None:
        if acted is None:
            add_common_constraints(system, numbering, state, work, tangent)
        else:
            add_constraints(system, numbering, state, work, tangent)
        if tangent:
            regularise_redundant(numbering, work)
    if acted is not None:
        add_springs(numbering, state, work, h, tangent)
        add_tendons(numbering, state, work, h, tangent)
        add_loads(numbering, work, h, tangent)
    return 0


@internal_kernel
def _inertia(system, numbering, state, work, h, tangent):
    """Add inertia and weight of the frames `work.alone` to the residual (1), (2) and, if `tangent`, to the matrix."""
    frames, gravity = system.frames, load3(system.gravity)
    for f in work.alone:
        at, mass, J = numbering.frame[f], frames.mass[f], load9(frames.inertia[f])
        R0, R1, psi = rotation_of(work.R0, f), rotation_of(work.R1, f), load3(work.psi[f])
        Omega0 = load3(state.Omega[f])
        L1 = apply(R1, apply(J, spin_at_end(R0, Omega0, psi, h)))
        force = balance(mass, load3(state.v[f]), load3(work.dr[f]), gravity, h)
        add3(force, work.residual[at : at + 3])
        add3(minus(L1, apply(R0, apply(J, Omega0))), work.residual[at + 3 : at + 6])
        if tangent:
            base, stride = numbering.frame_base[f], numbering.frame_stride[f]
            for j in range(3):
                work.values[base + j + j * stride] += 2.0 * mass / h
            add_at(work.values, base, stride, 1, 1, 1.0, spin_tangent(product(R1, J), R0, R1, psi, L1, h))
