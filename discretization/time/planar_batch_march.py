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
def _correct(batch, work):
    """Add the corrections of the runs that take them."""
    takes = load(batch.takes, 0)
    for s in range(work.hinges.shape[0]):
        frame = work.frames[s]
        rotation = (1.0 + 0.25 * frame[PSI] * frame[PSI]) * frame[MPSI]
        frame[DX] = where_less(0.5, takes, frame[DX] + frame[MX], frame[DX])
        frame[DY] = where_less(0.5, takes, frame[DY] + frame[MY], frame[DY])
        frame[PSI] = where_less(0.5, takes, frame[PSI] + rotation, frame[PSI])
    for j in range(work.lam.shape[0]):
        for i in range(2):
            lam = work.lam[j, i]
            work.lam[j, i] = where_less(0.5, takes, lam + work.impulse_correction[j, i], lam)


@internal_kernel
def _store_last(batch, last, last_impulse_correction, work):
    """Store the corrections of the runs that end with them as their last ones."""
    ends = load(batch.ends, 0)
    for s in range(work.hinges.shape[0]):
        for i in range(3):
            last[s, i] = where_less(0.5, ends, work.frames[s, MX + i], last[s, i])
    for j in range(last_impulse_correction.shape[0]):
        for i in range(2):
            last_impulse_correction[j, i] = where_less(
                0.5, ends, work.impulse_correction[j, i], last_impulse_correction[j, i]
            )


@internal_kernel
def _clear_last(last, last_impulse_correction):
    """Set the last corrections to zero, until they are known."""
    for s in range(last.shape[0]):
        for i in range(3):
            last[s, i] = 0.0
    for j in range(last_impulse_correction.shape[0]):
        for i in range(2):
            last_impulse_correction[j, i] = 0.0


@internal_kernel
def _restore_last(last, last_impulse_correction, work):
    """Copy the stored last corrections to work."""
    for s in range(work.hinges.shape[0]):
        for i in range(3):
            work.frames[s, MX + i] = last[s, i]
    for j in range(last_impulse_correction.shape[0]):
        for i in range(2):
            work.impulse_correction[j, i] = last_impulse_correction[j, i]


@internal_kernel
def _update_phases(batch, bodies, solved, most_iterations, at):
    """Decide for the runs in the phase `at` whether they take their corrections, end with them or leave the march."""
    for run in range(WIDTH):
        batch.takes[run] = batch.ends[run] = 0.0
        if batch.at[run] != at:
            continue
        size, before, rotation = batch.size[run], batch.before[run], batch.largest_rotation[run]
        batch.factored[run] += at == FRESH
        if not size <= MAX_ROTATION:
            batch.left[run], batch.at[run] = 1.0, OUT
        elif is_chain_converged(size, before, batch.iteration[run] + 1, solved, at == AGAIN, rotation):
            batch.ends[run], batch.at[run] = 1.0, OUT
        elif batch.iteration[run] == most_iterations:
            batch.left[run], batch.at[run] = 1.0, OUT
        else:
            reuses = at == FRESH and can_reuse_chain_tangent(size, before, rotation, bodies)
            batch.takes[run], batch.before[run], batch.at[run] = 1.0, size, AGAIN if reuses else FRESH
            batch.iteration[run] += 1


@internal_kernel
def _any_in_phase(batch, at):
    """Return whether a run is in the phase `at`."""
    any_run = False
    for run in range(WIDTH):
        any_run = any_run or batch.at[run] == at
    return any_run


@internal_kernel
def _newton(views, batch, solved, h, most_iterations):
    """Solve the step of all runs that have not left; their last corrections are left in work."""
    tables, work, values, last, last_impulse_correction = views
    _clear_last(last, last_impulse_correction)
    store(predicted_rotation(work), batch.largest_rotation, 0)
    for run in range(WIDTH):
        batch.at[run] = FRESH if batch.left[run] == 0.0 else OUT
        batch.iteration[run], batch.before[run], batch.factored[run] = 0, 0.0, 0
    at = FRESH
    while _any_in_phase(batch, FRESH) or _any_in_phase(batch, AGAIN):
        at = AGAIN if _any_in_phase(batch, AGAIN) else FRESH  # first the runs that reuse the present factors
        store(correct_open_chain(tables, work, h, values, at == AGAIN), batch.size, 0)
        _update_phases(batch, work.hinges.shape[0], solved, most_iterations, at)
        _store_last(batch, last, last_impulse_correction, work)
        _correct(batch, work)
    _restore_last(last, last_impulse_correction, work)


@nogil_kernel
def march_planar_batch(batch, solved, h, values, most_iterations, stored, counts):
    """Take steps of eight runs of a planar model, as `discretization.time.tree_batch_march.march_tree_batch` does for trees."""
    tables, work, state = view_in_lanes(batch.tables), view_in_lanes(batch.work), view_in_lanes(batch.state)
    signals_of_steps, last, last_impulse_correction = (
        view_in_lanes(values),
        view_in_lanes(batch.last),
        view_in_lanes(batch.last_impulse_correction),
    )
    steps, memory, history = (
        values.shape[0] // counts.shape[1],
        batch.state.memory,
        batch.weights.shape[0] > 0,
    )
    for k in range(values.shape[0]):
        if not any_run_active(batch):
            return
        signals = signals_of_steps[k]
        load_state_in_plane(tables, state, work)
        w, by = factors_of_runs(batch.weights, memory, h, batch.factors, batch.known)
        begin_open_chain(tables, state, work, h, signals, by, history)
        _newton((tables, work, signals, last, last_impulse_correction), batch, solved, h, most_iterations)
        if tables.accounts:
            account(tables, state, work, h, signals)
        errors = commit(state, work, h, w, history)
        if history:
            update_records_of_runs(memory, h, errors, batch.factors, batch.known)
        store_state_in_plane(tables, state, work)
        end_step(batch, stored, counts, k // steps, steps)
