"""Solve the equations of one step by Newton's method, with the linear solvers that it needs.

The matrix is recomputed unless the last correction reduced the residual by a factor of 100; then its factors are used
again. If the step before needed no matrix, as when nothing moves, only the residual is evaluated first. If contacts couple
many parts (`coupled`), factors are reused only if two more corrections with the same contraction would end the iteration: the
remaining error is then in a few contacts that slip, open or close. The old factors contain nothing about these, and a correction
with them points in a wrong direction. The iteration ends when every residual is at its own round-off level (`noise`), because
energy and momentum are conserved only as well as these equations are solved. It also ends when the residual cannot decrease
further and is within a safe factor of that level.

The remaining residual often has the same sign from step to step: the errors of N steps would add up to N times round-off.
Therefore the correction for this residual is computed with the available factors and without another evaluation
(`final_correction`): its error is of second order in round-off. The step adds this correction to the state unrounded, so that
only the rounding of sums remains, whose signs are random.

If forces are nearly a sign function, of a slip velocity or of the rate at which a gap closes, full corrections overshoot the
state of rest and return. Their tangents are those of `discretization.assembly.regularised_forces`.
"""

import functools
from typing import Any

from numba import typeof, types
from numba._dispatcher import compute_fingerprint

from discretization.assembly.constraint_rows import add_constraint_noise, has_only_common_constraints
from discretization.assembly.generic_assembly import NOT_FINITE as NOT_FINITE
from discretization.assembly.generic_assembly import all_have_closed_loops
from discretization.assembly.prescribed_motions import add_drive_velocities
from discretization.assembly.step_dissipation import add_damped_inertia
from discretization.assembly.step_equations import add_forces, assemble, move
from discretization.assembly.stress_dissipation import add_stresses
from discretization.assembly.thread_team import clear_matrix, factor_by_fronts, solve_by_fronts
from discretization.assembly.velocity_constraint_groups import add_velocity_constraint_groups
from discretization.assembly.velocity_constraints import (
    add_velocity_constraint_noise,
    add_velocity_constraints,
    correct_velocity_constraints,
)
from discretization.assembly.workspace import NOISE_FACTOR, Workspace
from discretization.linear import sparse
from discretization.linear.band_gmres import acting_blocks, solve_full_matrix, solve_with_far_blocks
from discretization.linear.block_tridiagonal_runs import factor_with_runs, solve_with_runs
from discretization.linear.multifrontal import fronts_solve_transposed
from discretization.linear.narrow_band import narrow_solve_transposed
from discretization.system import System
from rigid.compilation.decorators import allocating_internal_kernel, compiled, internal_kernel
from rigid.compilation.raised_exceptions import RAISED
from rigid.kinematics.rotations import inverse_tangent
from rigid.linear_algebra import add3, apply, load3, times
from rigid.system import State

CONVERGED, NOT_CONVERGED, SINGULAR, FOLDED = 0, 1, 2, 3
REASONS = {
    NOT_CONVERGED: "Newton's iteration did not converge",
    SINGULAR: "the Newton matrix is singular",
    FOLDED: "the relative rotation of the two ends of a rod element or of a bushing passed pi",
    NOT_FINITE: "the residual is not a finite number, or its tangent is not",
    RAISED: "a compiled function raised an exception, which is printed above",
}
ADVICE = {
    NOT_CONVERGED: "try a smaller dt, more elements, or look for loads or springs that are far too stiff",
    SINGULAR: "look for a redundant joint, or a frame without inertia",
    FOLDED: "use more elements, or a smaller dt",
    NOT_FINITE: "look for loads that are not finite or far too large, and for an exception printed above",
    RAISED: "correct the function that raised it",
}

# fraction of the convergence tolerance for a prediction in `em-d`, which has no last correction, so that errors add up
_PREDICTED = 0.25
_NEGLIGIBLE = 1e-3  # residual/noise that needs no last correction, for example if nothing moves
_SAFE = 1e5  # residual/noise that is accepted if the iteration has stalled
_REUSE = 0.01  # contraction below which the factors are reused
_EXPECTED = 1e-3  # contraction that is expected of a correction if contacts couple many parts
STALLED = 0.3  # contraction that counts as stagnation
STALLED_HIDDEN = (
    # contraction that counts as stagnation with velocity-level constraints: slow at large rotations, as their tangent is
    # incomplete
    0.9
)
MAX_ROTATION = 1.5  # rad, largest rotation of a frame in one Newton correction


def has_blocks_beyond_band(numbering: Any) -> bool | None:
    """Return None if the matrix is only a band, else True.

    With None, kernels are compiled without fronts, far blocks and SuperLU.
    """
    return None if numbering.band >= 0 and not len(numbering.far.row) else True


@internal_kernel
def _factored_band(numbering, work):
    """Factor the band in place; return 0 or SINGULAR."""
    failed, _ = factor_with_runs(
        work.values,
        numbering.size,
        numbering.band,
        numbering.runs,
        work.done,
        work.pivots,
        work.first,
        work.multipliers,
    )
    return SINGULAR if failed else 0


@internal_kernel
def _solved_band(numbering, work):
    """Solve with the factors of the band, in place of work.rhs; return 0."""
    solve_with_runs(work.values, numbering.size, numbering.band, work.done, work.pivots, work.first, work.rhs)
    return 0


@allocating_internal_kernel
def factor_as(beyond, numbering, work):
    """Factor the assembled matrix as `factor` does; return 0 or SINGULAR. beyond: result of `has_blocks_beyond_band`."""
    if beyond is not None:
        return factor(numbering, work)
    return _factored_band(numbering, work)


@allocating_internal_kernel
def solve_as(beyond, numbering, work):
    """Solve with the factors of `factor_as`, in place of work.rhs; return 0 or SINGULAR. beyond: result of
    `has_blocks_beyond_band`.
    """
    if beyond is not None:
        return solve(numbering, work)
    return _solved_band(numbering, work)


@allocating_internal_kernel
def factor(numbering, work):
    """Compute the LU factors of the assembled matrix; return 0 or SINGULAR."""
    values = work.values
    if numbering.band >= 0:
        if numbering.far.row.size > 0:
            for i in range(work.panels.size):
                work.panels[i] = values[i]
            acting_blocks(values, numbering.far, work.blocks, work.rows, work.counts)
        return _factored_band(numbering, work)
    fronts, work.integers[0] = numbering.fronts, 0
    if fronts.inner.size > 0 and factor_by_fronts(numbering, work) == 0:
        work.integers[0] = 1
        return 0
    failed = sparse.factored(numbering.handle, values, numbering.indptr, numbering.indices)
    return SINGULAR if failed else 0


@allocating_internal_kernel
def solve(numbering, work):
    """Compute work.rhs = matrix^-1 work.rhs; return 0 or SINGULAR, which only the iterative solver can return here."""
    values, band = work.values, numbering.band
    if band >= 0:
        failed = 0
        if numbering.far.row.size > 0:
            failed = solve_with_far_blocks(
                numbering.handle,
                numbering.far,
                band,
                (values, work.done, work.pivots, work.first, work.panels),
                (work.blocks, work.rows, work.counts),
                work.noise,
                work.solved,
                work.rhs,
            )
        else:
            _solved_band(numbering, work)
        return SINGULAR if failed else 0
    if work.integers[0] == 1:
        solve_by_fronts(numbering, work)
        return 0
    sparse.solved(numbering.handle, work.rhs, work.rhs)
    return 0


@allocating_internal_kernel
def solve_transposed(numbering, work):
    """Compute work.rhs = matrix^-T work.rhs; return 0 or SINGULAR.

    With far blocks the factors of the whole matrix are used; later calls of `solve` use them too.
    """
    values, band, failed = work.values, numbering.band, 0
    if band >= 0:
        if numbering.far.row.size > 0:
            failed = solve_full_matrix(
                numbering.handle,
                work.panels,
                band,
                numbering.far,
                values,
                work.counts,
                work.rhs,
                True,
            )
        else:
            narrow_solve_transposed(values, numbering.size, band, work.pivots, work.first, work.rhs)
        return SINGULAR if failed else 0
    if work.integers[0] == 1:
        fronts_solve_transposed(numbering.fronts, work.panels, work.pivots, work.rhs, work.multipliers)
        return 0
    sparse.solve_transposed_compiled(numbering.handle, work.rhs, work.rhs)
    return 0


@internal_kernel
def correct(system, numbering, work):
    """Add the correction in work.rhs to dr, psi (through T^-1 eta) and the multipliers; return the step length (damping
    factor).
    """
    damping = damping_of(system, numbering, work)
    correct_outside_groups(numbering, work, damping)
    return damping


@internal_kernel
def damping_of(system, numbering, work):
    """Return the step length for the correction in work.rhs that rotates no frame by more than MAX_ROTATION."""
    frames, rhs = system.frames, work.rhs
    largest = 0.0
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] == 0:
            at = numbering.frame[f] + 3
            squared = rhs[at] * rhs[at] + rhs[at + 1] * rhs[at + 1] + rhs[at + 2] * rhs[at + 2]
            largest = max(largest, squared)
    return 1.0 if largest <= MAX_ROTATION * MAX_ROTATION else MAX_ROTATION / largest**0.5


@internal_kernel
def correct_outside_groups(numbering, work, damping):
    """Add the correction, times the damping factor, to frames in the scalar path and to multipliers."""
    correct_alone(numbering, work, damping)
    for k in range(work.lam.shape[0]):
        work.lam[k] += damping * work.rhs[work.impulses.unknown[k]]


@internal_kernel
def correct_alone(numbering, work, damping):
    """Add the correction, times the damping factor, to frames in the scalar path."""
    rhs = work.rhs
    for f in work.alone:
        at = numbering.frame[f]
        add3(times(damping, load3(rhs[at : at + 3])), work.dr[f])
        eta = times(damping, load3(rhs[at + 3 : at + 6]))
        add3(apply(inverse_tangent(load3(work.psi[f])), eta), work.psi[f])


@internal_kernel
def set_zero_correction(numbering, work):
    """Set the last correction in `work.rhs` to zero; return CONVERGED."""
    for i in range(numbering.size):
        work.rhs[i] = 0.0
    return CONVERGED


@internal_kernel
def is_at_rest(work):
    """Return whether no frame moves in this step."""
    for f in range(work.dr.shape[0]):
        for i in range(3):
            if work.dr[f, i] != 0.0 or work.psi[f, i] != 0.0:
                return False
    return True


@internal_kernel
def scalar_frames_rest(work):
    """Return whether no frame in the scalar path moves in this step; frames in SIMD batches are not checked."""
    for f in work.alone:
        for i in range(3):
            if work.dr[f, i] != 0.0 or work.psi[f, i] != 0.0:
                return False
    return True


@allocating_internal_kernel
def final_correction(beyond, numbering, work, level, factored, count):
    """Compute in work.rhs the correction for the remaining residual of a solved step.

    It is zero if the residual is negligible, if nothing moves, and in `em-d`, which computes the velocities at the end with the
    residual. Return CONVERGED, or NOT_FINITE if the matrix or the correction is not finite.

    beyond: result of `has_blocks_beyond_band`; factored: True if factors are available. Otherwise the matrix itself is
    available, of a prediction that needed no iteration.
    """
    set_zero_correction(numbering, work)
    if level <= _NEGLIGIBLE or work.dissipation.law.size > 0:
        return CONVERGED
    if not factored:
        if is_at_rest(work):
            return CONVERGED
        count[1] += 1
        if factor_as(beyond, numbering, work) != 0:
            return CONVERGED if matrix_is_finite(numbering, work) else NOT_FINITE
    for i in range(numbering.size):
        work.rhs[i] = -work.residual[i]
    if solve_as(beyond, numbering, work) != 0:
        return set_zero_correction(numbering, work)
    for i in range(numbering.size):
        if not abs(work.rhs[i]) < 1e300:
            return NOT_FINITE
    return CONVERGED


@internal_kernel
def is_solved_by_prediction(work, level):
    """Return whether a step that the prediction already solves needs no `final_correction`."""
    return level <= _NEGLIGIBLE or work.dissipation.law.size > 0 or is_at_rest(work)


@internal_kernel
def residual_over_roundoff(numbering, work):
    """Return the largest residual in units of its round-off level; -1 if it is not finite."""
    worst = 0.0
    for i in range(numbering.size):
        ratio = abs(work.residual[i]) / (work.noise[i] + 1e-300)
        if not ratio < 1e300:
            return -1.0
        worst = max(worst, ratio)
    return worst


@internal_kernel
def matrix_is_finite(numbering, work):
    """Return whether all entries of the matrix are finite."""
    for k in range(numbering.n_values):  # noqa: SIM110  numba compiles loops
        if not abs(work.values[k]) < 1e300:
            return False
    return True


@internal_kernel
def may_reuse_factors(level, before, solved):
    """Return whether factors may be reused after a correction to this level: two more corrections like it would lead below
    `solved`.
    """
    return level <= _REUSE * before and level * (level / before) ** 2 <= solved


def _equations(system, numbering, hidden, state, work, h, tangent):
    """Assemble the residual and, on demand, the matrix of the step, with velocity-level constraints if there are any.

    Return 0, FOLDED or NOT_FINITE.
    """
    failed = assemble(system, numbering, state, work, h, tangent)
    if failed != 0:
        return NOT_FINITE if failed == NOT_FINITE else FOLDED
    if hidden is not None:
        add_velocity_constraints(system, numbering, hidden, state, work, h, tangent)
        add_velocity_constraint_groups(numbering, hidden, state, work, h, tangent)
        add_drive_velocities(system, numbering, hidden, state, work, h, tangent)
    return 0


def _common_equations(system, numbering, hidden, state, work, h, tangent):
    """Assemble residual and matrix for models without elements of order p and interactions with the generic assembly
    (`generic_groups`).
    """
    if assemble(system, numbering, state, work, h, tangent, None) != 0:
        return FOLDED
    if hidden is not None:
        add_velocity_constraints(system, numbering, hidden, state, work, h, tangent)
    return 0


def _bare_equations(system, numbering, hidden, state, work, h, tangent):
    """Assemble residual and matrix for models that consist only of rods, bodies and common joints."""
    if assemble(system, numbering, state, work, h, tangent, None, None) != 0:
        return FOLDED
    if hidden is not None:
        add_velocity_constraints(system, numbering, hidden, state, work, h, tangent)
    return 0


def _damped_equations(system, numbering, hidden, state, work, h, tangent):
    """Assemble residual and matrix of `em-d`, which has no velocity-level constraints."""
    for i in range(work.residual.shape[0]):
        work.residual[i] = 0.0
    if tangent:
        clear_matrix(numbering, work)
    add_damped_inertia(system, numbering, state, work, h, tangent)
    add_stresses(numbering, state, work, h, tangent)
    failed = add_forces(system, numbering, state, work, h, tangent)
    if failed != 0:
        return NOT_FINITE if failed == NOT_FINITE else FOLDED
    return 0


def argument_fingerprints(*models: Any) -> tuple[Any, ...]:
    """Return the fingerprints by which numba recognises argument types.

    Computing them takes negligible time; computing the types takes as long as many steps.
    """
    return tuple(map(compute_fingerprint, models))


def equations_of(
    system: System,
    numbering: Any,
    hidden: Any,
    state: State,
    work: Workspace,
    which: Any = None,
    prints: tuple[Any, ...] = (),
) -> Any:
    """Return the equations of such a model as a compiled function that is passed to `march`.

    which: equations of a scheme that replaces those of `em`, or None. It is a Python function of these models, h and whether the
    matrix is wanted, which returns 0 or FOLDED. prints: `argument_fingerprints` the models, if they are known.

    Behind a pointer they are compiled once, not again with each of the kernels around them, and without the terms that the model
    does not have.
    """
    general = bool(system.spans.kind.size or not all_have_closed_loops(work.generic_groups))
    plain = _bare_equations if has_only_common_constraints(system) else _common_equations
    of_model = _damped_equations if work.dissipation.law.size else _equations if general else plain
    which = of_model if which is None else which
    models = system, numbering, hidden, state, work
    known = which, *(prints or argument_fingerprints(*models))
    if known not in _known:
        _known[known] = _compiled(which, *map(typeof, models))
    return _known[known]


_known: dict[Any, Any] = {}


@functools.cache
def _compiled(equations: Any, *models: Any) -> Any:
    return compiled(types.int64(*models, types.float64, types.boolean))(equations)


@allocating_internal_kernel
def newton(equations, beyond, system, numbering, hidden, state, work, h, max_iterations, count):
    """Solve the step's equations from the present dr, psi, lam and, unless `hidden` is None, W, gam.

    beyond: result of `has_blocks_beyond_band`; count: (2,) receives the numbers of iterations and factorisations, which are
    added.
    """
    stall = STALLED if hidden is None else STALLED_HIDDEN
    # a prediction is accepted only at round-off: one within a larger tolerance may mean that nothing moves
    accepted = NOISE_FACTOR * (1.0 if work.dissipation.law.size == 0 else _PREDICTED)
    move(system, state, work)
    before, level, iteration, fresh = 1e300, 0.0, 0, False
    tangent, known = (
        work.solved_without_matrix[0] == 0,
        False,
    )  # tangent: a matrix is wanted; known: the residual is known already
    work.solved_without_matrix[0] = 0
    coupled = numbering.far.row.size > 0
    while True:
        failed = equations(system, numbering, hidden, state, work, h, tangent)
        if failed != 0:
            return failed
        if not known:
            if iteration < 2:
                add_constraint_noise(numbering, work)
                if hidden is not None:
                    add_velocity_constraint_noise(numbering, hidden, work)
            level = residual_over_roundoff(numbering, work)
            if level < 0.0:
                return NOT_FINITE
            if level <= (accepted if iteration == 0 else work.solved):
                if iteration == 0:
                    work.solved_without_matrix[0] = is_solved_by_prediction(work, level)
                    if not tangent and work.solved_without_matrix[0] == 0:
                        tangent = True
                        continue
                # with `tangent` a new matrix has overwritten the factors
                factored = iteration > 0 and not tangent
                return final_correction(beyond, numbering, work, level, factored, count)
            stalled = iteration > 2 and level > stall * before
            # round-off: another correction would be as large as its error
            if stalled and fresh and level <= _SAFE:
                return set_zero_correction(numbering, work)
            if iteration == max_iterations:
                return NOT_CONVERGED
            if not tangent and (
                iteration == 0 or not may_reuse_factors(level, before, work.solved if coupled else 1e300)
            ):
                tangent = known = True
                continue
        if tangent:
            if factor_as(beyond, numbering, work) != 0:
                return SINGULAR if matrix_is_finite(numbering, work) else NOT_FINITE
            count[1] += 1
        # evaluate the matrix with the residual if a new matrix will be needed
        fresh, known, tangent = (
            tangent,
            False,
            coupled and not may_reuse_factors(_EXPECTED * level, level, work.solved),
        )
        before = level
        for i in range(numbering.size):
            work.rhs[i] = -work.residual[i]
        if solve_as(beyond, numbering, work) != 0:
            return SINGULAR if matrix_is_finite(numbering, work) else NOT_FINITE
        if hidden is not None:
            damping = correct(system, numbering, work)
            correct_velocity_constraints(system, numbering, hidden, work, damping)
            move(system, state, work)
        else:
            correct(system, numbering, work)
            move(system, state, work)
        iteration += 1
        count[0] += 1
