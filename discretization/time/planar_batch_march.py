"""March eight runs of a planar model at once in SIMD lanes; each run is bit-identical to the run alone.

Frames, hinges and loads use the source code of a single run (`discretization.time.planar_march`), compiled for lanes.
"""

from discretization.assembly.predictor import factors_of_runs, update_records_of_runs
from discretization.planar.arrays import DX, DY, MPSI, MX, MY, PSI
from discretization.planar.step import load_state_in_plane, store_state_in_plane
from discretization.time.batch_march import AGAIN, FRESH, OUT, any_run_active, end_step
from discretization.time.newton import MAX_ROTATION
from discretization.time.planar_march import account, commit
from discretization.time.planar_newton import (
    begin_open_chain,
    can_reuse_chain_tangent,
    correct_open_chain,
    is_chain_converged,
    predicted_rotation,
)
from rigid.compilation.decorators import internal_kernel, nogil_kernel
from rigid.lane_arrays import view_in_lanes
from rigid.lanes import WIDTH, load, store, where_less


@internal_kernel
def _correct(own, work):
    """Add the corrections of the runs that take them."""
    takes = load(own.takes, 0)
    for s in range(work.hinges.shape[0]):
        frame = work.frames[s]
        more = (1.0 + 0.25 * frame[PSI] * frame[PSI]) * frame[MPSI]
        frame[DX] = where_less(0.5, takes, frame[DX] + frame[MX], frame[DX])
        frame[DY] = where_less(0.5, takes, frame[DY] + frame[MY], frame[DY])
        frame[PSI] = where_less(0.5, takes, frame[PSI] + more, frame[PSI])
    for j in range(work.lam.shape[0]):
        for i in range(2):
            lam = work.lam[j, i]
            work.lam[j, i] = where_less(0.5, takes, lam + work.more[j, i], lam)


@internal_kernel
def _keep_last(own, last, last_more, work):
    """Store the corrections of the runs that end with them as their last ones."""
    ends = load(own.ends, 0)
    for s in range(work.hinges.shape[0]):
        for i in range(3):
            last[s, i] = where_less(0.5, ends, work.frames[s, MX + i], last[s, i])
    for j in range(last_more.shape[0]):
        for i in range(2):
            last_more[j, i] = where_less(0.5, ends, work.more[j, i], last_more[j, i])


@internal_kernel
def _no_last(last, last_more):
    """Set the last corrections to zero, until they are known."""
    for s in range(last.shape[0]):
        for i in range(3):
            last[s, i] = 0.0
    for j in range(last_more.shape[0]):
        for i in range(2):
            last_more[j, i] = 0.0


@internal_kernel
def _take_last(last, last_more, work):
    """Copy the stored last corrections to work."""
    for s in range(work.hinges.shape[0]):
        for i in range(3):
            work.frames[s, MX + i] = last[s, i]
    for j in range(last_more.shape[0]):
        for i in range(2):
            work.more[j, i] = last_more[j, i]


@internal_kernel
def _judge(own, bodies, solved, most_iterations, at):
    """Decide for the runs in the phase `at` whether they take their corrections, end with them or leave the march."""
    for run in range(WIDTH):
        own.takes[run] = own.ends[run] = 0.0
        if own.at[run] != at:
            continue
        size, before, turn = own.size[run], own.before[run], own.turn[run]
        own.factored[run] += at == FRESH
        if not size <= MAX_ROTATION:
            own.left[run], own.at[run] = 1.0, OUT
        elif is_chain_converged(size, before, own.iteration[run] + 1, solved, at == AGAIN, turn):
            own.ends[run], own.at[run] = 1.0, OUT
        elif own.iteration[run] == most_iterations:
            own.left[run], own.at[run] = 1.0, OUT
        else:
            again = at == FRESH and can_reuse_chain_tangent(size, before, turn, bodies)
            own.takes[run], own.before[run], own.at[run] = 1.0, size, AGAIN if again else FRESH
            own.iteration[run] += 1


@internal_kernel
def _some_are(own, at):
    """Return whether a run is in the phase `at`."""
    some = False
    for run in range(WIDTH):
        some = some or own.at[run] == at
    return some


@internal_kernel
def _newton(views, own, solved, h, most_iterations):
    """Solve the step of all runs that have not left; their last corrections are left in work."""
    tables, work, values, last, last_more = views
    _no_last(last, last_more)
    store(predicted_rotation(work), own.turn, 0)
    for run in range(WIDTH):
        own.at[run] = FRESH if own.left[run] == 0.0 else OUT
        own.iteration[run], own.before[run], own.factored[run] = 0, 0.0, 0
    at = FRESH
    while _some_are(own, FRESH) or _some_are(own, AGAIN):
        at = AGAIN if _some_are(own, AGAIN) else FRESH  # first the runs that reuse the present factors
        store(correct_open_chain(tables, work, h, values, at == AGAIN), own.size, 0)
        _judge(own, work.hinges.shape[0], solved, most_iterations, at)
        _keep_last(own, last, last_more, work)
        _correct(own, work)
    _take_last(last, last_more, work)


@nogil_kernel
def march_planar_batch(own, solved, h, values, most_iterations, kept, counts):
    """Take steps of eight runs of a planar model, as `discretization.time.tree_batch_march.march_tree_batch` does for trees."""
    tables, work, state = view_in_lanes(own.tables), view_in_lanes(own.work), view_in_lanes(own.state)
    every, last, last_more = view_in_lanes(values), view_in_lanes(own.last), view_in_lanes(own.last_more)
    share, memory, history = values.shape[0] // counts.shape[1], own.state.memory, own.weights.shape[0] > 0
    for k in range(values.shape[0]):
        if not any_run_active(own):
            return
        signals = every[k]
        load_state_in_plane(tables, state, work)
        w, by = factors_of_runs(own.weights, memory, h, own.factors, own.known)
        begin_open_chain(tables, state, work, h, signals, by, history)
        _newton((tables, work, signals, last, last_more), own, solved, h, most_iterations)
        if tables.accounts:
            account(tables, state, work, h, signals)
        missed = commit(state, work, h, w, history)
        if history:
            update_records_of_runs(memory, h, missed, own.factors, own.known)
        store_state_in_plane(tables, state, work)
        end_step(own, kept, counts, k // share, share)
