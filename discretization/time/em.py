"""Compute a step of `em`, `em-ggl` or `em-d`: the Cayley energy-momentum step of the general solver.

The state of a frame is its position r, unit quaternion q (rotation matrix R), velocity v (inertial) and angular velocity Omega
(in the axes of the frame). Unknowns of a step of length h are the displacement dr, the rotation parameters psi and the joint
multipliers; 0 and 1 denote start and end.

    q1 = (1, psi/2) o q0/sqrt(1 + |psi|^2/4)                                                            (1)
    v1 = 2 dr/h - v0,   Omega1 = 2 R0^T psi/h - Omega0                                                  (2)
    balance of momenta with discrete derivatives; joints g = 0 at the end: `discretization.assembly.step_equations`     (3)

Order 2, symmetric, implicit. Conserves: total energy (or its balance with work and dissipation), linear
momentum, angular momentum, |q| = 1, position constraints g = 0. Joints constrain the mean velocity of a step. With G = dg/dq,
(2) therefore changes the sign of (reflects) the part of the velocities that violates G v = 0: at the ends of the steps G v is of
order h^2, not zero.

A composition advances by substeps of gamma_i h. Because `em` is symmetric, this raises the order and conserves every invariant.
In models with joints each substep is taken in two equal halves; the second one reverses the reflection by the first. Positions
and velocities then have the full order, and G v at the ends of the steps is of that order in h.

`em-ggl` satisfies joints at position and velocity level. The velocity-level (hidden) constraints are g_v = G v, with multipliers
gam. A = gam . g_v has the discrete derivatives D_x A (`rigid.interactions.hidden_constraints`). With the mass M and the inertia J
of a frame, gam removes the part w of the velocities:

    v1 = 2 (dr/h - w) - v0,   Omega1 = 2 (R0^T psi/h - w) - Omega0,   M w = D_v A,   J w = D_Omega A    (4)
    (3) with the forces h D_r A, h D_psi A;   g(1) = 0;   g_v(1) = 0: `discretization.assembly.velocity_constraints`   (5)

This is the principle of Gear, Gupta and Leimkuhler for frames: paper 002 (33) of docs/evidence/papers.md. Order 2, symmetric. It
conserves the invariants of `em`, and G v = 0 at the ends of the steps: (4) and (5) change T + V by -gam . (g_v(1) - g_v(0)) = 0,
and D of a common rigid motion is zero. The velocities at the start must satisfy G v = 0. No velocity is reflected, so
compositions need no halves. In the kernels `hidden` is None for `em`; the compiled code then contains none of these terms.

`em-d(rho)` dissipates the motion that a step does not resolve and conserves the momenta:
`discretization.assembly.step_dissipation`. In the kernels `plain` is None for all other schemes.

`discretization.time.time_loop` calls `general_step` for each substep.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.assembly.actuated_elements import is_actuated
from discretization.assembly.element_lanes import strain_change, write_end_strains
from discretization.assembly.frame_formulas import accelerations, velocity_changes
from discretization.assembly.generic_assembly import (
    DISSIPATES,
    DRIVES,
    WORKS,
    generic_energy_taken,
)
from discretization.assembly.load_forces import add_load_noise, work_of_loads, write_load_values
from discretization.assembly.predictor import BY_ACCELERATION, predict_scalar
from discretization.assembly.prescribed_motions import add_drive_work
from discretization.assembly.rod_spans import span_dissipation
from discretization.assembly.spring_forces import spring_damper_loss, work_of_distance_forces
from discretization.assembly.step_dissipation import begin_dissipation, begin_stresses, end_dissipation
from discretization.assembly.step_equations import begin_step, move
from discretization.assembly.tendon_forces import work_of_tendons
from discretization.assembly.velocity_constraints import begin_velocity_constraints
from discretization.assembly.workspace import rotation_of
from discretization.integrator_memory import WIDTH
from discretization.time.newton import CONVERGED, NOT_FINITE, newton
from rigid.compilation.decorators import allocating_internal_kernel, inline_kernel, internal_kernel
from rigid.kinematics.rotations import cayley_rotation, inverse_tangent, load4
from rigid.linear_algebra import apply, apply_transposed, load3, minus, plus, store3, times
from rigid.tuple_references import by_reference

# Indices of the counters of a time loop in an array of int64; MOST_ITERATIONS: largest number of iterations in a step.
STEPS, SOLVES, ITERATIONS, MOST_ITERATIONS, FACTORISATIONS, N_COUNTS = range(6)
BEGIN, END = range(2)  # first argument of `StepContext.hooks`: start or end of a step


@internal_kernel
def predict_multipliers(lam, work, h):
    """Set the initial guess of the multipliers, as scaled impulses, from those of the step before, `lam`."""
    for k in range(work.lam.shape[0]):
        work.lam[k] = h * lam[k] / work.scale[work.impulses.constraint[k]]


@internal_kernel
def has_drives(work):
    """Return whether the model has prescribed motion."""
    return work.drives.rows.shape[0] + work.drives.frames.shape[0] > 0


@internal_kernel
def account(system, numbering, hidden, state, work, h, general=True):
    """Add the work of loads and drives and the dissipation of the step to state.totals, without that of actuations.

    `generic_energy_taken` also updates the internal variables that change at the end of a step.

    general: None for models without higher-order rod elements, drives and interactions with the generic assembly
    (`generic_groups`).
    """
    work_done, dissipated = work_of_loads(work), 0.0
    work_done += work_of_distance_forces(state, work) + work_of_tendons(state, work)
    if work.viscous:
        elements = system.elements
        for m in range(elements.length.shape[0]):
            for i in range(6):
                for j in range(6):
                    rate_i, rate_j = strain_change(work.elements, m, i), strain_change(work.elements, m, j)
                    dissipated += elements.length[m] / h * rate_i * elements.damping[m, i, j] * rate_j
        if general is not None:
            dissipated += span_dissipation(system, state, work, h)
    dissipated += spring_damper_loss(state, work, h)
    if general is not None:
        if work.generic_groups.interacting.entries.size > 0:
            dissipated += generic_energy_taken(DISSIPATES, state, work, h)
            work_done -= generic_energy_taken(WORKS, state, work, h) + generic_energy_taken(
                DRIVES, state, work, h
            )
        if has_drives(work):
            work_done += add_drive_work(system, numbering, hidden, state, work, h)
    state.totals[0] += work_done
    state.totals[1] += dissipated


@internal_kernel
def apply_final_correction_to_ends(system, numbering, state, work):
    """Apply the last correction of Newton's method (`newton.final_correction`) to dr and psi, before dissipation is computed.

    Without it, energy plus dissipated energy would change by the residual of the equations. The uncorrected dr and psi are saved
    for `remove_final_correction`.
    """
    for f in range(system.frames.mass.shape[0]):
        dr, psi = load3(work.dr[f]), load3(work.psi[f])
        store3(dr, work.solution[0, f])
        store3(psi, work.solution[1, f])
        if system.frames.fixed[f] == 0:
            offset = numbering.frame[f]
            rotation = apply(inverse_tangent(psi), load3(work.rhs[offset + 3 : offset + 6]))
            store3(plus(dr, load3(work.rhs[offset : offset + 3])), work.dr[f])
            store3(plus(psi, rotation), work.psi[f])
    move(system, state, work)
    if work.viscous or is_actuated(work):
        write_end_strains(work)


@internal_kernel
def remove_final_correction(work):
    """Restore the dr and psi of Newton's method without its last correction.

    `commit` adds the last correction separately, before sums are rounded.
    """
    for f in range(work.dr.shape[0]):
        store3(load3(work.solution[0, f]), work.dr[f])
        store3(load3(work.solution[1, f]), work.psi[f])


@internal_kernel
def _changes(numbering, hidden, state, work, h, f):
    """Return v1 - v0 and Omega1 - Omega0 of frame f by (2) or (4), and the last correction of Newton's method to dr and psi
    (`newton.final_correction`).
    """
    offset, R0, psi = numbering.frame[f], rotation_of(work.R0, f), load3(work.psi[f])
    displacement, rotation = (
        load3(work.rhs[offset : offset + 3]),
        apply(inverse_tangent(psi), load3(work.rhs[offset + 3 : offset + 6])),
    )
    rate, spin = times(1.0 / h, load3(work.dr[f])), times(1.0 / h, apply_transposed(R0, psi))
    position_change, rotation_change = displacement, apply_transposed(R0, rotation)
    if hidden is not None:
        rate, spin = (
            minus(rate, times(1.0 / h, load3(hidden.W[f, 0:3]))),
            minus(spin, times(1.0 / h, load3(hidden.W[f, 3:6]))),
        )
        if hidden.has_correction[f] != 0:
            position_change, rotation_change = (
                minus(position_change, load3(work.rhs[offset + 6 : offset + 9])),
                minus(rotation_change, load3(work.rhs[offset + 9 : offset + 12])),
            )
    dv, dOmega = velocity_changes(
        rate, spin, load3(state.v[f]), load3(state.Omega[f]), position_change, rotation_change, h
    )
    return dv, dOmega, displacement, rotation


@internal_kernel
def commit(numbering, hidden, plain, state, work, h):
    """Write the end of the step to the state: (1), (2) or (4) for frames outside of SIMD batches, and the multipliers."""
    for f in work.alone:
        _commit_frame(numbering, hidden, plain, state, work, h, f)
    commit_multipliers(state, work, h)


@internal_kernel
def commit_alone(numbering, state, work, h):
    """Write the end of a step of `em` to the state, for frames that are not in SIMD batches."""
    for f in work.alone:
        _commit_frame(numbering, None, None, state, work, h, f)


@inline_kernel
def _commit_frame(numbering, hidden, plain, state, work, h, f):
    """Write the end of the step of frame f to the state."""
    v0, Omega0 = load3(state.v[f]), load3(state.Omega[f])
    dv, dOmega, displacement, rotation = _changes(numbering, hidden, state, work, h, f)
    if plain is not None:
        v1, Omega1 = load3(work.dissipation.end[f, 0:3]), load3(work.dissipation.end[f, 3:6])
        dv, dOmega = minus(v1, v0), minus(Omega1, Omega0)
    offset = WIDTH * f
    a, alpha = accelerations(rotation_of(work.R0, f), rotation_of(work.R1, f), dv, dOmega, h)
    store3(a, state.memory[offset : offset + 3])
    store3(alpha, state.memory[offset + 3 : offset + 6])
    store3(plus(v0, dv), state.v[f])
    store3(plus(Omega0, dOmega), state.Omega[f])
    store3(plus(load3(state.r[f]), plus(load3(work.dr[f]), displacement)), state.r[f])
    q1 = cayley_rotation(plus(load3(work.psi[f]), rotation), load4(state.quat[f]))
    state.quat[f, 0], state.quat[f, 1], state.quat[f, 2], state.quat[f, 3] = q1


@internal_kernel
def commit_multipliers(state, work, h):
    """Write the multipliers, with the last correction of Newton's method, to the state, scaled back to forces."""
    for k in range(work.lam.shape[0]):
        lam = work.lam[k] + work.rhs[work.impulses.unknown[k]]
        state.lam[k] = lam * work.scale[work.impulses.constraint[k]] / h


@internal_kernel
def has_finite_account(state):
    """Return whether work, dissipation and internal variables are finite; a user function that raised an exception leaves NaN."""
    total = 0.0
    for i in range(state.totals.shape[0]):
        total += abs(state.totals[i])
    for i in range(state.internal.shape[0]):
        total += abs(state.internal[i])
    return total < np.inf


@by_reference
class StepContext(NamedTuple):
    """Arguments of `general_step` that do not change from step to step, passed by reference; functions are passed as pointers.

    The compiled functions contain only the terms that occur in the system.
    """

    equations: Any  # result of `discretization.time.newton.equations_of`
    hooks: Any  # function of `discretization.time.step_hooks` for the start and the end of a step
    beyond: Any  # result of `discretization.time.newton.has_blocks_beyond_band`
    system: Any
    numbering: Any
    work: Any
    hidden: Any  # scratch arrays of the unknowns of `em-ggl`; None for other schemes
    plain: Any  # `em-d`: the unmodified system, as `system` is modified in each step; None for other schemes


@allocating_internal_kernel
def general_step(context, hidden, plain, state, substeps, k, values, max_iterations, count):
    """Take one substep of any system with the general solver; return a status of `discretization.time.newton`.

    The arguments are (1) of `discretization.time.time_loop`. hidden, plain: fields of `context`, passed separately so that the
    compiler can leave out the code for None.
    """
    system, numbering, work, h = (
        context.system,
        context.numbering,
        context.work,
        substeps[k % len(substeps)],
    )
    hooks = context.hooks
    if plain is not None:
        begin_stresses(system, plain, state, work, h)
    write_load_values(work, values)
    begin_step(system, numbering, state, work, h)
    add_load_noise(numbering, work, h)
    if plain is not None:
        begin_dissipation(system, numbering, state, work, h)
    if hidden is not None:
        begin_velocity_constraints(system, numbering, hidden, state, work, h)
    status = hooks(BEGIN, system, numbering, hidden, state, work, h, values)
    predict_scalar(state, work, h, BY_ACCELERATION, False, False)
    predict_multipliers(state.lam, work, h)
    if status != CONVERGED:
        return status
    equations, beyond = context.equations, context.beyond
    status = newton(equations, beyond, system, numbering, hidden, state, work, h, max_iterations, count)
    if status != CONVERGED:
        return status
    if plain is not None:
        end_dissipation(system, state, work, h)
        status = hooks(END, plain, numbering, hidden, state, work, h, values)
    else:
        status = hooks(END, system, numbering, hidden, state, work, h, values)
    if status != CONVERGED:
        return status
    if not has_finite_account(state):
        return NOT_FINITE
    commit(numbering, hidden, plain, state, work, h)
    return CONVERGED
