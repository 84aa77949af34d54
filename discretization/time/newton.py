"""Solve the equations of one step by Newton's method, with the linear solvers that it needs.

The matrix is recomputed and factorised in each iteration, unless the last correction reduced the residual by a factor of 100;
then the factors are reused. If the step before needed no matrix, for example because nothing moves, only the residual is
evaluated first. If contacts couple many parts (`coupled`), the error that remains is often in a few contacts that slip, open or
close. The old factors do not contain these changes, and a correction with them points in a wrong direction. Factors are then
reused only if two more corrections with the same contraction would end the iteration.

The contraction is the residual after a correction divided by that before it. The level of an iterate is its largest residual in
units of the round-off level of its equation (`noise`). The iteration ends when this level is below `NOISE_FACTOR`, because energy
and momentum are conserved only as well as these equations are solved. It also ends when the residual stagnates and its level is
below `_SAFE`. With a tolerance of the user, the level `work.solved` replaces `NOISE_FACTOR`.

The residual of a solved step often has the same sign from step to step: the errors of N steps would add up to N times round-off.
Therefore one more correction for this residual is computed with the available factors, and the residual is not evaluated again
(`final_correction`). The error that remains is of second order in round-off. The step adds this correction to the state before
rounding, so that only the rounding errors of sums remain, which have random signs.

Some forces are nearly a sign function of a slip velocity or of the rate at which a gap closes. With their exact tangent, full
corrections overshoot the state of rest and return. `discretization.assembly.regularised_forces` gives the tangents to use.
"""

import functools
from typing import Any

from numba import typeof, types

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
from discretization.linear.bordered_band import factor_border, solve_bordered, solve_bordered_transposed
from discretization.linear.multifrontal import fronts_solve_transposed
from discretization.linear.narrow_band import narrow_solve_transposed
from discretization.system import System
from rigid.bound_arguments import type_key
from rigid.compilation.decorators import (
    allocating_internal_kernel,
    compiled,
    inline_kernel,
    internal_kernel,
)
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

# fraction of NOISE_FACTOR below which a prediction is accepted in `em-d`, where errors add up without a last correction
_PREDICTED = 0.25
_NEGLIGIBLE = 1e-3  # level below which no last correction is needed, for example if nothing moves
_SAFE = 1e5  # level below which an iteration that stagnates counts as solved
_REUSE = 0.01  # contraction below which the factors are reused
_EXPECTED = 1e-3  # contraction that is expected of the next correction if contacts couple many parts
STALLED = 0.3  # contraction above which the iteration stagnates
# the same with velocity-level constraints, whose tangent is incomplete: Newton's method is slow at large rotations
STALLED_HIDDEN = 0.9
MAX_ROTATION = 1.5  # rad, largest rotation of a frame in one Newton correction


def has_blocks_beyond_band(numbering: Any) -> bool | None:
    """Return None if the matrix is a band without blocks outside of it, else True.

    With None, kernels are compiled without multifrontal LU, far blocks (those outside of the band), a border and SuperLU.
    """
    plain = numbering.band >= 0 and not len(numbering.far.row) and not numbering.border.rows
    return None if plain else True


@internal_kernel
def _factored_band(numbering, work):
    """Factorise the band in place; return 0 or SINGULAR."""
    failed, _ = factor_with_runs(
        work.values,
        numbering.size - numbering.border.rows,
        numbering.band,
        numbering.runs,
        work.done,
        work.pivots,
        work.first,
        work.multipliers,
    )
    return SINGULAR if failed else 0


@internal_kernel
def _factored_border(numbering, work):
    """Factorise the band and its border; return 0 or SINGULAR."""
    if _factored_band(numbering, work) != 0:
        return SINGULAR
    return SINGULAR if factor_border(*_bordered(numbering, work)) else 0


@inline_kernel
def _bordered(numbering, work):
    """Return the arguments that functions of `discretization.linear.bordered_band` have in common."""
    factors = work.done, work.pivots, work.first
    return (
        work.values,
        numbering.size,
        numbering.border,
        numbering.band,
        factors,
        work.panels,
        work.blocks,
    )


@internal_kernel
def _solved_band(numbering, work):
    """Solve with the factors of the band; the solution overwrites work.rhs. Return 0."""
    solve_with_runs(work.values, numbering.size, numbering.band, work.done, work.pivots, work.first, work.rhs)
    return 0


@allocating_internal_kernel
def factor_as(beyond, numbering, work):
    """Factorise the assembled matrix; return 0 or SINGULAR. beyond: result of `has_blocks_beyond_band`."""
    if beyond is not None:
        return factor(numbering, work)
    return _factored_band(numbering, work)


@allocating_internal_kernel
def solve_as(beyond, numbering, work):
    """Solve with the factors of `factor_as`; the solution overwrites work.rhs. Return 0 or SINGULAR.

    beyond: result of `has_blocks_beyond_band`.
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
        if numbering.border.rows > 0:
            return _factored_border(numbering, work)
        return _factored_band(numbering, work)
    fronts, work.integers[0] = numbering.fronts, 0
    if fronts.inner.size > 0 and factor_by_fronts(numbering, work) == 0:
        work.integers[0] = 1
        return 0
    failed = sparse.factored(numbering.handle, values, numbering.indptr, numbering.indices)
    return SINGULAR if failed else 0


@allocating_internal_kernel
def solve(numbering, work):
    """Compute work.rhs = matrix^-1 work.rhs; return 0, or SINGULAR if the iterative solver for far blocks failed."""
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
        elif numbering.border.rows > 0:
            arguments = (*_bordered(numbering, work), work.rhs)
            solve_bordered(*arguments)
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

    With far blocks the whole matrix is factorised; later calls of `solve` use these factors too.
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
        elif numbering.border.rows > 0:
            arguments = (*_bordered(numbering, work), work.rhs)
            solve_bordered_transposed(*arguments)
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
    """Add the correction in work.rhs to dr, psi and the multipliers; return the damping factor (step length).

    The correction eta of a rotation is added to psi as T^-1 eta (`inverse_tangent`).
    """
    damping = damping_of(system, numbering, work)
    correct_outside_groups(numbering, work, damping)
    return damping


@internal_kernel
def damping_of(system, numbering, work):
    """Return the damping factor with which the correction in work.rhs rotates no frame by more than MAX_ROTATION."""
    frames, rhs = system.frames, work.rhs
    largest = 0.0
    for f in range(frames.mass.shape[0]):
        if frames.fixed[f] == 0:
            offset = numbering.frame[f] + 3
            squared = (
                rhs[offset] * rhs[offset]
                + rhs[offset + 1] * rhs[offset + 1]
                + rhs[offset + 2] * rhs[offset + 2]
            )
            largest = max(largest, squared)
    return 1.0 if largest <= MAX_ROTATION * MAX_ROTATION else MAX_ROTATION / largest**0.5


@internal_kernel
def correct_outside_groups(numbering, work, damping):
    """Add the correction, times the damping factor, to multipliers and to frames that are not in SIMD batches."""
    correct_alone(numbering, work, damping)
    for k in range(work.lam.shape[0]):
        work.lam[k] += damping * work.rhs[work.impulses.unknown[k]]


@internal_kernel
def correct_alone(numbering, work, damping):
    """Add the correction, times the damping factor, to frames that are not in SIMD batches."""
    rhs = work.rhs
    for f in work.alone:
        offset = numbering.frame[f]
        add3(times(damping, load3(rhs[offset : offset + 3])), work.dr[f])
        eta = times(damping, load3(rhs[offset + 3 : offset + 6]))
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
    """Return whether no frame outside of the SIMD batches moves in this step."""
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

    level: largest residual in units of its round-off level; beyond: result of `has_blocks_beyond_band`; factored: True if factors
    are available. If not, `work.values` is the matrix and is factorised here.
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
    """Return whether a step that the predictor has solved needs no `final_correction`."""
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
def may_reuse_factors(level, previous_level, solved):
    """Return whether factors may be reused after a correction from `previous_level` to `level`.

    Its contraction must be at most `_REUSE`, and two more corrections with this contraction must lead below `solved`.
    """
    return level <= _REUSE * previous_level and level * (level / previous_level) ** 2 <= solved


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
    """Assemble residual and matrix for models without higher-order rod elements and without interactions that need the generic
    assembly (`generic_groups`).
    """
    if assemble(system, numbering, state, work, h, tangent, None) != 0:
        return FOLDED
    if hidden is not None:
        add_velocity_constraints(system, numbering, hidden, state, work, h, tangent)
    return 0


def _bare_equations(system, numbering, hidden, state, work, h, tangent):
    """Assemble residual and matrix for models of rods, bodies and common joints only (`has_only_common_constraints`)."""
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
    """Return the fingerprints by which numba recognises the types of arguments.

    Their computation takes negligible time; that of the types (`typeof`) takes as long as many steps.
    """
    return tuple(map(type_key, models))


def equations_of(
    system: System,
    numbering: Any,
    hidden: Any,
    state: State,
    work: Workspace,
    scheme_equations: Any = None,
    fingerprints: tuple[Any, ...] = (),
) -> Any:
    """Return the function that assembles the equations of a model, compiled, as an argument of `newton`.

    scheme_equations: assembly function that replaces that of `em`, with the arguments and return values of `_equations`; or None.
    fingerprints: `argument_fingerprints` of the first five arguments, if they are already known.

    The function is passed as a pointer: it is compiled once, not again with each kernel that calls it, and without the terms that
    do not occur in the model.
    """
    general = bool(system.spans.kind.size or not all_have_closed_loops(work.generic_groups))
    common = _bare_equations if has_only_common_constraints(system) else _common_equations
    of_model = _damped_equations if work.dissipation.law.size else _equations if general else common
    scheme_equations = of_model if scheme_equations is None else scheme_equations
    models = system, numbering, hidden, state, work
    key = scheme_equations, *(fingerprints or argument_fingerprints(*models))
    if key not in _known:
        _known[key] = _compiled(scheme_equations, *map(typeof, models))
    return _known[key]


_known: dict[Any, Any] = {}


@functools.cache
def _compiled(equations: Any, *models: Any) -> Any:
    return compiled(types.int64(*models, types.float64, types.boolean))(equations)


@allocating_internal_kernel
def newton(equations, beyond, system, numbering, hidden, state, work, h, max_iterations, count):
    """Solve the equations of a step, starting from the predicted dr, psi, lam and, unless `hidden` is None, W, gam.

    Return CONVERGED or the reason of the failure. beyond: result of `has_blocks_beyond_band`; the numbers of iterations and
    factorisations are added to count (2,).
    """
    stall = STALLED if hidden is None else STALLED_HIDDEN
    # a prediction is accepted only at round-off, for any tolerance of the user: else slow motions would stand still
    accepted = NOISE_FACTOR * (1.0 if work.dissipation.law.size == 0 else _PREDICTED)
    move(system, state, work)
    previous_level, level, iteration, new_factors = 1e300, 0.0, 0, False
    # tangent: the next evaluation includes the matrix; residual_known: it repeats an evaluation only to get the matrix
    tangent, residual_known = work.solved_without_matrix[0] == 0, False
    work.solved_without_matrix[0] = 0
    coupled = numbering.far.row.size > 0
    while True:
        failed = equations(system, numbering, hidden, state, work, h, tangent)
        if failed != 0:
            return failed
        if not residual_known:
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
                # an evaluation with `tangent` has overwritten the factors by a new matrix
                factored = iteration > 0 and not tangent
                return final_correction(beyond, numbering, work, level, factored, count)
            stalled = iteration > 2 and level > stall * previous_level
            # stagnation at round-off: another correction would be as large as its error
            if stalled and new_factors and level <= _SAFE:
                return set_zero_correction(numbering, work)
            if iteration == max_iterations:
                return NOT_CONVERGED
            if not tangent and (
                iteration == 0
                or not may_reuse_factors(level, previous_level, work.solved if coupled else 1e300)
            ):
                tangent = residual_known = True
                continue
        if tangent:
            if factor_as(beyond, numbering, work) != 0:
                return SINGULAR if matrix_is_finite(numbering, work) else NOT_FINITE
            count[1] += 1
        # if a new matrix will probably be needed after this correction, evaluate it together with the residual
        new_factors, residual_known, tangent = (
            tangent,
            False,
            coupled and not may_reuse_factors(_EXPECTED * level, level, work.solved),
        )
        previous_level = level
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
