"""Predictor of Newton's method in the plane.

Three accelerations per frame are extrapolated by (1) of `discretization.assembly.extrapolation`. In substeps of compositions
three mean velocities per frame are predicted by (1) of `discretization.assembly.mean_velocities`.

The numbers of x, y and the rotation are stored frame by frame, in elimination order, behind the spatial accelerations in
`State.memory`. If a step follows another planar step they are updated in place.
"""

from discretization.assembly.extrapolation import (
    all_larger,
    at_next,
    differences_at,
    factors_of,
    largest_of_each,
    over_distances_of,
    put_differences,
    put_nodes,
    renewed,
)
from discretization.assembly.mean_velocities import (
    latest_of,
    mean_of,
    place_of,
    put_substep,
    too_long,
)
from discretization.memory import MEANS
from discretization.memory import WIDTH as IN_SPACE
from discretization.planar.arrays import AOM, AX, AY, IN_PLANE, OM, VX, VY
from rigid.compilation.decorators import inner_kernel, small_kernel
from rigid.lanes import WIDTH, largest, load, most, store


@small_kernel
def first_difference(memory, frames):
    """Return the offset of the planar predictor history in `memory` for `frames` spatial frames; 0 if there is none."""
    first = IN_SPACE * frames
    return first if memory.shape[0] > first else 0


@inner_kernel
def last_rates(work):
    """Copy the accelerations of the last step into `work.foretold`, frame by frame."""
    for s in range(work.hinges.shape[0]):
        own, i = work.frames[s], IN_PLANE * s
        work.foretold[i], work.foretold[i + 1], work.foretold[i + 2] = own[AX], own[AY], own[AOM]


@inner_kernel
def foresee(x, memory, first, count, by):
    """Extrapolate the accelerations x to the middle of the next step in place, eight numbers at a time.

    count: how many numbers; first: offset of the differences in `memory`.
    """
    for i in range(0, count, WIDTH):
        store(at_next(load(x, i), differences_at(memory, first + i, count), by), x, i)


@small_kernel
def _means_at(memory, i, count, latest):
    """Load the last eight mean velocities m_0 ... m_7 of eight numbers."""
    return (
        load(memory, i + count * place_of(latest, 0)), load(memory, i + count * place_of(latest, 1)),
        load(memory, i + count * place_of(latest, 2)), load(memory, i + count * place_of(latest, 3)),
        load(memory, i + count * place_of(latest, 4)), load(memory, i + count * place_of(latest, 5)),
        load(memory, i + count * place_of(latest, 6)), load(memory, i + count * place_of(latest, 7)),
    )  # fmt: skip


@inner_kernel
def _foresee_means(x, memory, first, count, w):
    """Predict the mean velocities of the next substep by (1) into x, eight numbers at a time."""
    latest = latest_of(memory)
    for i in range(0, count, WIDTH):
        store(mean_of(w, _means_at(memory, first + i, count, latest)), x, i)


@inner_kernel
def _take_last_means(x, memory, first, count):
    """Copy the mean velocities of the last substep into x."""
    at = first + count * latest_of(memory)
    for i in range(count):
        x[i] = memory[at + i]


@small_kernel
def mean_velocities(own, s, foretold, of_means, half):
    """Return the predicted mean velocities (x, y, rotation) of frame s in the next step.

    foretold, of_means: prediction for all frames, by `foretell`; half: half the step, s.
    """
    i = IN_PLANE * s
    x, y, turn = foretold[i], foretold[i + 1], foretold[i + 2]
    if of_means:
        return x, y, turn
    return own[VX] + half * x, own[VY] + half * y, own[OM] + half * turn


@small_kernel
def put_rates(own, s, rates, work, of_means, h):
    """Store the accelerations of a frame in a step that has ended, and what the predictor history needs.

    The history gets these and the previous accelerations, or, if `of_means`, the mean velocities.
    """
    i, x, y, turn = IN_PLANE * s, rates[0], rates[1], rates[2]
    if of_means:
        x, y, turn = own[VX] - 0.5 * h * x, own[VY] - 0.5 * h * y, own[OM] - 0.5 * h * turn
    else:
        work.foretold[i], work.foretold[i + 1], work.foretold[i + 2] = own[AX], own[AY], own[AOM]
    own[AX], own[AY], own[AOM] = rates
    work.latest[i], work.latest[i + 1], work.latest[i + 2] = x, y, turn


@inner_kernel
def renew(now, before, memory, first, count, by):
    """Update the divided differences with `now` after `before`, eight numbers at a time; return the largest of each lane."""
    none = 0.0 * load(now, 0)
    e = none, none, none, none, none, none
    for i in range(0, count, WIDTH):
        D = renewed(load(now, i), load(before, i), differences_at(memory, first + i, count), by)
        put_differences(D, memory, first + i, count)
        e = all_larger(e, D)
    return e


@inner_kernel
def _put_means(now, foretold, memory, first, count, w):
    """Append one mean velocity to the history, eight numbers at a time.

    Returns the largest errors of the two predictions of it: by (1), and by the last mean. foretold: prediction by (1), scratch.
    """
    missed = beyond = 0.0 * load(now, 0)
    latest = latest_of(memory)
    new, last = first + count * place_of(latest, MEANS - 1), first + count * latest
    if too_long(memory):
        _foresee_means(foretold, memory, first, count, w)
    for i in range(0, count, WIDTH):
        x = load(now, i)
        missed = most(missed, abs(x - load(foretold, i)))
        beyond = most(beyond, abs(x - load(memory, last + i)))
        store(x, memory, new + i)
    return largest(missed), largest(beyond)


@inner_kernel
def foretell(state, work, means, h):
    """Predict the rates of the next step into `work.foretold`; return True if they are mean velocities.

    means: see `means_of`.
    """
    memory = state.memory
    first, count = first_difference(memory, state.r.shape[0]), work.foretold.shape[0]
    if means[0] > 0:
        if too_long(memory):
            _take_last_means(work.foretold, memory, first, count)
        else:
            _foresee_means(work.foretold, memory, first, count, means[1])
        return True
    last_rates(work)
    if first > 0 and means[0] < 0:
        foresee(work.foretold, memory, first, count, factors_of(memory, h))
    return False


@inner_kernel
def remember(state, work, means, h):
    """Add the step that has ended to the predictor history."""
    memory = state.memory
    first, count = first_difference(memory, state.r.shape[0]), work.foretold.shape[0]
    if means[0] >= 0:
        missed = _put_means(work.latest, work.foretold, memory, first, count, means[1])
        put_substep(memory, h, means[0], missed)
    elif first > 0:
        by = over_distances_of(memory, h)
        e = renew(work.latest, work.foretold, memory, first, count, by)
        put_nodes(memory, h, by, largest_of_each(e))
