"""Run the time loop of `em`, `em-ggl` and `em-d` for all solvers: substeps in sequence, outputs, failed steps.

A solver has a step function that takes the state at the start of a substep to that at its end, in place,

    (models, state, substeps, k, values, ..., most iterations, count) -> status of `discretization.time.newton`         (1)

`substeps` are the lengths of all substeps of a step, s, and k is the number of this substep since the loop began. `values` (l, 3)
are the values of loads in its middle, followed by those of drives at its end (`discretization.drives`). To `count` the function
adds iterations and factorisations. The loop ignores the state after a failed step, unless the step reports that the state is
intact: it goes back to a state that it saved some steps before, and repeats the steps up to the last whole step.

Sensors and controllers are sampled at the start of each whole step (`discretization.time.sampling`).

One of the models of the three solvers is given, the others are None: the compiler leaves out the code for them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from discretization.assembly.workspace import copy
from discretization.time.em import (
    FACTORISATIONS,
    ITERATIONS,
    MOST_ITERATIONS,
    N_COUNTS,
    SOLVES,
    STEPS,
    general_step,
)
from discretization.time.newton import CONVERGED
from discretization.time.planar_march import INTACT, planar_step
from discretization.time.sampling import is_sampling, sample_if_any
from discretization.time.state_copy import copy_state
from discretization.time.tree_march import UNRESTRICTED, tree_step
from rigid.compilation.decorators import allocating_internal_kernel, internal_kernel, nogil_allocating_kernel
from rigid.system import Floats
from rigid.tuple_references import by_reference

# number of steps between saved states to which the loop may go back: first value, doubled each time, largest value
NEAR, FAR = 4, 256


@by_reference
class MarchInputs(NamedTuple):
    """External inputs of a march of n steps."""

    substeps: Floats  # (s,) lengths of the substeps of a step, s
    load_values: (
        Floats  # (n s, l, 3) values of loads and drives in each substep; sampling writes those of loads
    )
    starts: Floats  # (n,) times at which the steps begin, s
    h: float  # nominal length of a step, s: the period of controllers without one
    max_iterations: int  # of Newton's method in a substep
    sampling: Any  # `discretization.time.sampling.SamplingArrays`, or None


@internal_kernel
def keep(state, stored, k):
    """Copy the state into row k of `stored`."""
    for f in range(state.r.shape[0]):
        copy(state.r[f], stored.r[k, f])
        copy(state.quat[f], stored.quat[k, f])
        copy(state.v[f], stored.v[k, f])
        copy(state.Omega[f], stored.Omega[k, f])
    copy(state.lam, stored.lam[k])
    copy(state.internal, stored.internal[k])
    copy(state.memory, stored.memory[k])
    copy(state.totals, stored.totals[k])


@allocating_internal_kernel
def _loop(of_plane, of_tree, of_any, state, inputs, first, end, needs_forces, count, counts):
    """Take the substeps first to end - 1 of a march; return the first status that is not CONVERGED.

    needs_forces: True if forces of joints of trees are needed after each substep; with False the loop may return
    UNRESTRICTED. counts: (N_COUNTS,) counts of one part as in `march_and_store`, which are added to.
    """
    substeps, load_values, max_iterations = inputs.substeps, inputs.load_values, inputs.max_iterations
    n, last, samples = substeps.shape[0], end - first - 1, is_sampling(inputs.sampling)
    for i in range(count.shape[0]):
        count[i] = 0
    for k in range(end - first):
        at = first + k
        count[0], count[1], status, values = 0, 0, CONVERGED, load_values[at]
        if k % n == 0:
            t, step_values = inputs.starts[at // n], load_values[at : at + n]
            status = sample_if_any(inputs.sampling, state, t, inputs.h, step_values)
            if status != CONVERGED:
                return status
        ends = k == last or (samples and (k + 1) % n == 0)  # the state in space is needed
        if of_plane is not None:
            status = planar_step(of_plane, state, substeps, k, ends, values, max_iterations, count)
        if of_tree is not None:
            status = tree_step(of_tree, state, substeps, k, ends, needs_forces, values, max_iterations, count)
        if of_any is not None:
            hidden, plain = of_any.hidden, of_any.plain
            status = general_step(of_any, hidden, plain, state, substeps, k, values, max_iterations, count)
        counts[SOLVES] += 1
        counts[ITERATIONS] += count[0]
        counts[MOST_ITERATIONS] = max(counts[MOST_ITERATIONS], count[0])
        counts[FACTORISATIONS] += count[1]
        if status != CONVERGED:
            return status
        counts[STEPS] += (k + 1) % n == 0
    return CONVERGED


@allocating_internal_kernel
def _loop_as_far(of_plane, of_tree, of_any, state, before, inputs, first, end, scratch, counts):
    """Take the substeps first to end - 1, or as many whole steps of them as can be solved.

    before: scratch state of the same shapes; scratch: (2, N_COUNTS) scratch counts.
    """
    copy_state(state, before)
    models, needs_forces, begun, count = (of_plane, of_tree, of_any), False, scratch[0], scratch[1]
    copy(counts, begun)
    status = _loop(*models, state, inputs, first, end, needs_forces, count, counts)
    if status == UNRESTRICTED:
        needs_forces = True
        copy(begun, counts)
        copy_state(before, state)
        status = _loop(*models, state, inputs, first, end, needs_forces, count, counts)
    if status != CONVERGED and count[INTACT] == 0:
        copy_state(before, state)
        done = (counts[STEPS] - begun[STEPS]) * inputs.substeps.shape[0]
        _loop(*models, state, inputs, first, first + done, needs_forces, count, begun)
    return status


@nogil_allocating_kernel
def march_and_store(of_plane, of_tree, of_any, state, before, inputs, stored, counts):
    """Advance the state in place, in equal parts; store the state after each part in `stored`, a state with an additional first
    axis, of length zero to store none.

    of_plane, of_tree, of_any: `StepContext` of `discretization.planar.arrays`, `discretization.time.tree_march` or
    `discretization.time.em`.

    before: scratch state. inputs: `MarchInputs`.

    counts: (parts + 2, N_COUNTS) int64 receives for each part steps done, solves, iterations, most iterations of a solve and
    factorisations, including those of the step that fails; its last two rows are scratch. Return the first status that is not
    CONVERGED. States stored before it are valid, and the state is that at the end of the last whole step.
    """
    parts, models = counts.shape[0] - 2, (of_plane, of_tree, of_any)
    per_part, n, steps = inputs.load_values.shape[0] // parts, inputs.substeps.shape[0], NEAR
    for part in range(parts):
        for i in range(N_COUNTS):
            counts[part, i] = 0
        first, end = part * per_part, (part + 1) * per_part
        while first < end:
            to = min(first + steps * n, end)
            status = _loop_as_far(*models, state, before, inputs, first, to, counts[parts:], counts[part])
            if status != CONVERGED:
                return status
            first, steps = first + steps * n, min(2 * steps, FAR)
        if part < stored.r.shape[0]:
            keep(state, stored, part)
    return CONVERGED
