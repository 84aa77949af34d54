"""Compiled Newton iteration for an equilibrium; see `discretization.statics.equilibrium_newton` for the method and its reasons.

Passing a model from Python takes as long as an iteration on a coarse mesh, and each iteration would need ten such calls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.assembly.workspace import NOISE_FACTOR, rotation_of
from discretization.statics.forces import (
    FOLDED,
    NOT_FINITE,
    SINGULAR,
    SOLVED,
    add_mass,
    advance_state,
    external_forces,
    factor_at_rest,
    solve_at_rest,
)
from discretization.statics.strains import Prediction, predict_strains, shift_reference_strains, strain_excess
from discretization.time.newton import residual_over_roundoff
from rigid.compilation.decorators import allocating_internal_kernel, allocating_kernel, internal_kernel
from rigid.linear_algebra import add_at, load9, product, product_transposed
from rigid.system import Floats, Ints
from rigid.tuple_references import by_reference

SAFE = 1e5  # residual over round-off that is accepted if corrections have no more effect
LARGEST_ROTATION = 0.7  # rad, largest rotation of a frame in one correction
STALLED = 1e-9  # relative correction size; a smaller correction without progress is rounding
SMALLEST = 0.05  # smallest damping factor that is tried before an element is reported as folded
WORSE = 3  # largest number of consecutive corrections that are no smaller than those before

NOT_CONVERGED = 4
ITERATIONS, LEVEL, FACTORISATIONS, SUMMED_ROTATION = range(4)  # indices of `IterationData.statistics`
FULL_TANGENT = 0.1  # contraction rate with reused factors above which they are computed again

# tasks of `at_rest`
FORCES, TANGENT, PREDICTED_TANGENT, NEWTON, CORRECT, ADVANCE, FACTOR, SOLVE, MASS, LOADS, RATES = range(11)
MAX_ITERATIONS = 25  # largest number of iterations


@by_reference
class IterationData(NamedTuple):
    """Data of the iteration in addition to the model: facts of `discretization.statics.equilibrium_system.EquilibriumSystem`,
    and scratch.
    """

    is_row: Any  # (N,) bool, True for rows of constraints
    turns: Ints  # (k, 3) unknowns of the rotations of moving frames
    weight: Floats  # (N,) weights of the norm
    offset: Floats  # (N + 6,) forces that hold the model in its state
    x: Floats  # (N,) correction
    residual: Floats  # (N + 6,) saved while the tangent is assembled; input of SOLVE, output of RATES
    statistics: Floats  # (4,) ITERATIONS, LEVEL, FACTORISATIONS, SUMMED_ROTATION
    strains: Prediction
    idle: Ints  # (k,) frames with axes without inertia, about which nothing acts
    massless_axis_stiffness: (
        Floats  # (k, 3, 3) N m, body-fixed stiffness about these; without it K is singular
    )


@by_reference
class EquilibriumData(NamedTuple):
    """All data of a system at rest, as compiled code stores it."""

    system: Any
    numbering: Any
    state: Any
    work: Any
    values: Floats  # (l, 3) values of the loads
    loads: Floats  # (l, 3) values of the loads at load factor 0
    rates: Floats  # (l, 3) rates of the loads with the load factor
    gravity: Floats  # (3,) m/s^2, at load factor 0
    gravity_rate: Floats  # (3,) m/s^2, rate with the load factor
    iteration_data: IterationData


@internal_kernel
def residual_at_rest(system, numbering, state, work, load_values, tangent, forces, data):
    """Compute the residual of `forces_at_rest` minus the forces that hold the model, and the tangent if requested.

    forces: pointer to `forces_at_rest`. Return the largest residual over its round-off; -1: not finite, -2: folded.
    """
    level = forces(system, numbering, state, work, load_values, tangent)
    if not level >= 0.0:
        return -2.0 if level == -2.0 else -1.0  # NaN: it raised an exception
    if tangent:
        _hold_idle(numbering, work, data)
    for i in range(work.residual.shape[0]):
        work.residual[i] -= data.offset[i]
    return residual_over_roundoff(numbering, work)


@internal_kernel
def _hold_idle(numbering, work, data):
    """Add a stiffness about the idle axes to the tangent, which would be singular without it."""
    for k in range(data.idle.shape[0]):
        f = data.idle[k]
        R = rotation_of(work.R0, f)
        stiffness = product_transposed(product(R, load9(data.massless_axis_stiffness[k])), R)
        add_at(work.values, numbering.frame_base[f], numbering.frame_stride[f], 1, 1, 1.0, stiffness)


@internal_kernel
def assemble_predicted_tangent(system, numbering, state, work, load_values, forces, data):
    """Assemble the tangent alone, with the predicted stresses; the residual is not changed."""
    for i in range(work.residual.shape[0]):
        data.residual[i] = work.residual[i]
    shift_reference_strains(system, work, data.strains, 1.0)
    forces(system, numbering, state, work, load_values, True)
    _hold_idle(numbering, work, data)
    shift_reference_strains(system, work, data.strains, 0.0)
    for i in range(work.residual.shape[0]):
        work.residual[i] = data.residual[i]


@internal_kernel
def apply_correction(system, numbering, state, work, data):
    """Correct the state by `data.x`, shortened so that no frame rotates too far; return SOLVED or the reason of the failure.

    Store the excess of the strains over their linear prediction.
    """
    largest = 0.0
    for k in range(data.turns.shape[0]):
        square = 0.0
        for i in range(3):
            square += data.x[data.turns[k, i]] ** 2
        largest = max(largest, square)
    fraction = min(1.0, LARGEST_ROTATION / np.sqrt(largest)) if largest > 0.0 else 1.0
    data.statistics[SUMMED_ROTATION] += fraction * np.sqrt(largest)
    if data.strains.excess.shape[0] == 0:
        return advance_state(system, numbering, state, work, data.x, fraction)
    predict_strains(system, numbering, state, work, data.strains, data.x)
    status = FOLDED
    while fraction >= SMALLEST and status != SOLVED:
        status = advance_state(system, numbering, state, work, data.x, fraction)
        if status == SOLVED:
            strain_excess(system, numbering, state, work, data.strains, data.x, fraction)
        fraction *= 0.5
    return status


@allocating_internal_kernel
def newton(system, numbering, state, work, load_values, forces, beyond, data):
    """Move the state to the equilibrium under these loads and return the status.

    `data.statistics` receives iterations, level, factorisations, and the sum of the largest rotations of the corrections, rad: no
    frame has rotated further. beyond: `has_blocks_beyond_band`.
    """
    statistics = data.statistics
    statistics[FACTORISATIONS] = statistics[SUMMED_ROTATION] = 0.0
    level = residual_at_rest(system, numbering, state, work, load_values, True, forces, data)
    before, smallest, n_worse, renewed = np.inf, np.inf, 0, True
    for iteration in range(MAX_ITERATIONS):
        statistics[ITERATIONS], statistics[LEVEL] = iteration, level
        if level < 0.0:
            return FOLDED if level == -2.0 else NOT_FINITE
        if level <= NOISE_FACTOR:
            return SOLVED
        if renewed:
            statistics[FACTORISATIONS] += 1.0
            if factor_at_rest(beyond, numbering, work) != SOLVED:
                return SINGULAR
        solve_at_rest(beyond, numbering, work, data.is_row, work.residual, data.x)
        size = 0.0
        for i in range(numbering.size):
            size += data.weight[i] * data.x[i] ** 2
        size = np.sqrt(size)
        if not size < 1e6:
            return SINGULAR
        if level <= SAFE and iteration > 2 and ((size < STALLED and level > 0.3 * before) or size < 1e-13):
            return SOLVED
        n_worse = n_worse + 1 if size > 0.9 * smallest else 0
        if n_worse > WORSE:
            return NOT_CONVERGED
        before, smallest = level, min(size, smallest)
        status = apply_correction(system, numbering, state, work, data)
        if status != SOLVED:
            return status
        level = residual_at_rest(system, numbering, state, work, load_values, False, forces, data)
        # the present factors also remove what is left of such a small residual
        renewed = level > SAFE or level > FULL_TANGENT * before
        if level > NOISE_FACTOR and renewed:
            assemble_predicted_tangent(system, numbering, state, work, load_values, forces, data)
    statistics[ITERATIONS], statistics[LEVEL] = MAX_ITERATIONS, level
    return NOT_CONVERGED


@internal_kernel
def load_at(model, factor):
    """Set loads and weights to those at a load factor."""
    for l in range(model.values.shape[0]):
        for i in range(3):
            model.values[l, i] = model.loads[l, i] + factor * model.rates[l, i]
    for i in range(3):
        model.system.gravity[i] = model.gravity[i] + factor * model.gravity_rate[i]


@allocating_kernel
def at_rest(model, forces, beyond, task, factor):
    """Execute one of the tasks, all in one kernel, with `forces_of` and `has_blocks_beyond_band` of the model.

    FORCES, or with the tangent TANGENT: `residual_at_rest`. PREDICTED_TANGENT: `assemble_predicted_tangent`. NEWTON: status of
    `newton`. CORRECT, ADVANCE: statuses of `apply_correction` and `advance_state`, by `data.x`. FACTOR: status. SOLVE: `data.x`
    from `data.residual`. MASS: add factor M to the matrix. LOADS: set the loads at a load factor. RATES: rates of loads and
    weights, in `data.residual`.
    """
    system, numbering, state, work = model.system, model.numbering, model.state, model.work
    values, data = model.values, model.iteration_data
    if task == PREDICTED_TANGENT:
        assemble_predicted_tangent(system, numbering, state, work, values, forces, data)
    elif task == NEWTON:
        return float(newton(system, numbering, state, work, values, forces, beyond, data))
    elif task == CORRECT:
        return float(apply_correction(system, numbering, state, work, data))
    elif task == ADVANCE:
        return float(advance_state(system, numbering, state, work, data.x, factor))
    elif task == FACTOR:
        return float(factor_at_rest(beyond, numbering, work))
    elif task == SOLVE:
        solve_at_rest(beyond, numbering, work, data.is_row, data.residual, data.x)
    elif task == MASS:
        add_mass(system, numbering, work, factor)
    elif task == LOADS:
        load_at(model, factor)
    elif task == RATES:
        external_forces(system, numbering, state, work, model.rates, model.gravity_rate, data.residual)
    else:
        return residual_at_rest(system, numbering, state, work, values, task == TANGENT, forces, data)
    return 0.0
