"""March eight runs of a tree (`discretization.time.tree_march`) at once in SIMD lanes; each run is bit-identical to the run
alone.

Bodies and joints use the source code of a single run, compiled for lanes.
"""

from __future__ import annotations

from discretization.assembly.load_forces import add_loads, work_of_loads, write_load_values
from discretization.assembly.predictor import (
    factors_of_runs,
    predict_scalar,
    store_means_scalar,
    update_records_of_runs,
)
from discretization.time.batch_march import (
    AGAIN,
    FRESH,
    OUT,
    any_run_active,
    correct_runs,
    end_step,
    is_at_rest,
    select_vector,
)
from discretization.time.em import commit_alone, commit_multipliers, predict_multipliers
from discretization.time.newton_stopping import NEGLIGIBLE_CORRECTION, can_reuse_tangent, is_converged_after
from discretization.trees.batch_loops import close_batch_loops
from discretization.trees.bodies import (
    apply_final_correction,
    assemble_bodies,
    assemble_residuals,
    begin_fixed_frames,
    begin_joints,
    begin_tree,
    end_joints,
    rotate_bodies,
    scale_rows,
    store_vector,
    vector_at,
)
from discretization.trees.data_layout import DIAGONAL_BLOCK, JOINT_FORCE, JOINT_MOMENT, NEW_COUPLE, NEW_FORCE
from discretization.trees.elimination import (
    correct_plain_body,
    eliminate_plain,
    recover_joint_wrench,
    reeliminate_plain,
    transform_to_joint,
)
from discretization.trees.loops import update_loops
from rigid.compilation.decorators import internal_kernel, nogil_kernel
from rigid.lane_arrays import view_in_lanes
from rigid.lanes import WIDTH, load, most, store, where_less


@internal_kernel
def _copy(x, y):
    """Copy the lanes of x to y."""
    for i in range(x.shape[0]):
        store(load(x, i * WIDTH), y, i * WIDTH)


@internal_kernel
def _expand(batch, tree, work):
    """Compute corrections, root first, into work.rhs, and forces with them; batch.level receives the largest rotation of each
    run.
    """
    largest = correct_plain_body(tree, work, 0)
    not_finite = largest - largest  # NaN if something is not finite
    for i in range(1, tree.frame.shape[0]):
        rotation = correct_plain_body(tree, work, i)
        not_finite = not_finite + (rotation - rotation)
        largest = most(largest, rotation)
    for i in range(tree.frame.shape[0]):
        recover_joint_wrench(tree, work, i)
    store(largest + not_finite, batch.level, 0)


@internal_kernel
def _update_joint_forces(batch, tree):
    """Take new forces and couples of joints for the runs that take the correction and those that end with it."""
    takes = load(batch.takes, 0) + load(batch.ends, 0)
    for i in range(tree.frame.shape[0]):
        w = tree.joint_data[tree.joint[i]]
        store_vector(w, JOINT_FORCE, select_vector(takes, vector_at(w, NEW_FORCE), vector_at(w, JOINT_FORCE)))
        store_vector(
            w, JOINT_MOMENT, select_vector(takes, vector_at(w, NEW_COUPLE), vector_at(w, JOINT_MOMENT))
        )


@internal_kernel
def _store_last(batch):
    """Store the corrections of the runs that end with them."""
    ends = load(batch.ends, 0)
    for i in range(batch.last.shape[0]):
        at = i * WIDTH
        store(where_less(0.5, ends, load(batch.rhs, at), load(batch.last, at)), batch.last, at)


@internal_kernel
def _update_phases(batch, bodies, solved, max_iterations, at):
    """Decide for the runs in the phase `at` whether they take their corrections, end with them or leave the march."""
    for run in range(WIDTH):
        batch.takes[run] = batch.ends[run] = 0.0
        if batch.left[run] != 0.0:
            batch.at[run] = OUT
        if batch.at[run] != at:
            continue
        size, before = batch.level[run], batch.before[run]
        batch.iteration[run] += 1
        if not size < 1e300:
            batch.left[run], batch.at[run] = 1.0, OUT
        elif is_converged_after(
            size, before, batch.iteration[run], solved, at == AGAIN, NEGLIGIBLE_CORRECTION
        ):
            batch.at[run], batch.ends[run] = OUT, 1.0
        elif batch.iteration[run] > max_iterations:
            batch.left[run], batch.at[run] = 1.0, OUT
        else:
            reuses = (
                batch.plain and at == FRESH and can_reuse_tangent(size, before, NEGLIGIBLE_CORRECTION, bodies)
            )
            batch.takes[run], batch.before[run], batch.at[run] = 1.0, size, AGAIN if reuses else FRESH


@internal_kernel
def _any_in_phase(batch, at):
    """Return whether a run is in the phase `at`."""
    any_run = False
    for run in range(WIDTH):
        any_run = any_run or batch.at[run] == at
    return any_run


@internal_kernel
def _take_corrections(tree, loops, batch):
    """Apply the corrections of the runs that take them, and store those of the runs that end with them."""
    _update_joint_forces(batch, tree)
    if loops is not None:
        _update_joint_forces(batch, loops.joints)
    _store_last(batch)
    correct_runs(batch)


@internal_kernel
def _newton(views, loops, batch, solved, h, max_iterations):
    """Solve the step of all runs that have not left; batch.last receives their last corrections."""
    system, numbering, tree, state, work = views
    none = 0.0 * load(batch.left, 0)
    for i in range(batch.last.shape[0]):
        store(none, batch.last, i * WIDTH)
    for run in range(WIDTH):
        batch.iteration[run], batch.before[run] = 0, 0.0
        if is_at_rest(batch, run):  # only the march of a single run checks whether it remains at rest
            batch.left[run] = 1.0
        batch.at[run] = FRESH if batch.left[run] == 0.0 else OUT
    while True:
        if _any_in_phase(batch, AGAIN):
            assemble_residuals(system, tree, state, work, h)
            for i in range(tree.frame.shape[0] - 1, -1, -1):
                reeliminate_plain(tree, work, i)
            _expand(batch, tree, work)
            _update_phases(batch, tree.frame.shape[0], solved, max_iterations, AGAIN)
            _take_corrections(tree, loops, batch)
        if not _any_in_phase(batch, FRESH):
            return
        assemble_bodies(system, tree, state, work, h)
        for i in range(6 * tree.frame.shape[0], work.residual.shape[0]):
            work.residual[i] = 0.0
        if work.generic_groups.signals.shape[0] > 0:
            for i in range(DIAGONAL_BLOCK * tree.frame.shape[0], work.values.shape[0]):
                work.values[i] = none
            add_loads(numbering, work, h, True)
            for i in range(tree.frame.shape[0]):
                if tree.acted[i]:
                    transform_to_joint(tree, work, i)
        if loops is not None:
            update_loops(tree, loops, work)
        for i in range(tree.frame.shape[0] - 1, -1, -1):
            eliminate_plain(tree, work, i, loops is not None)
        if loops is not None:
            close_batch_loops(batch, tree, loops, work, view_in_lanes(batch.more), view_in_lanes(batch.moved))
        _expand(batch, tree, work)
        _update_phases(batch, tree.frame.shape[0], solved, max_iterations, FRESH)
        _take_corrections(tree, loops, batch)


@internal_kernel
def _march(batch, loops, solved, h, values, max_iterations, stored, counts):
    """March eight runs; loops: arrays of the loops of the tree, or None."""
    system, numbering, tree = view_in_lanes(batch.system), batch.numbering, view_in_lanes(batch.tree)
    state, work, signals = view_in_lanes(batch.state), view_in_lanes(batch.work), view_in_lanes(values)
    memory, steps = batch.state.memory, values.shape[0] // counts.shape[1]
    none = 0.0 * load(batch.left, 0)
    begin_fixed_frames(tree, state, work)
    for k in range(values.shape[0]):
        if not any_run_active(batch):
            return
        write_load_values(work, signals[k])
        begin_tree(system, tree, state, work)
        scale_rows(tree, work, h)
        w, by = factors_of_runs(batch.weights, memory, h, batch.factors, batch.known)
        predict_scalar(state, work, h, by, batch.weights.shape[0] > 0, True)
        predict_multipliers(state.lam, work, h)
        if loops is not None:
            rotate_bodies(tree, work)
            begin_joints(tree, work)
            begin_joints(loops.joints, work)
        _newton((system, numbering, tree, state, work), loops, batch, solved, h, max_iterations)
        _copy(batch.last, batch.rhs)
        apply_final_correction(tree, state, work)
        if batch.accounts:
            state.totals[0] += work_of_loads(work)
        end_joints(tree, work)
        if loops is not None:
            end_joints(loops.joints, work)
        commit_alone(numbering, state, work, h)
        commit_multipliers(state, work, h)
        if batch.weights.shape[0] > 0:
            errors = store_means_scalar(state, work, h, w, (none, none))
            update_records_of_runs(memory, h, errors, batch.factors, batch.known)
        end_step(batch, stored, counts, k // steps, steps)


@nogil_kernel
def march_tree_batch(batch, solved, h, values, max_iterations, stored, counts):
    """Take steps of length h of eight runs from batch.state, one for each row of `values`, or as far as each run can follow the
    others.

    solved: residual/noise that counts as solved; values: (steps, loads, 3, 8) loads; stored: states with an additional first axis
    (parts) and last axis (runs); counts: (8, parts, N_COUNTS), zeros on entry. batch.left: on entry 1 for runs that do not take
    part.
    """
    _march(batch, None, solved, h, values, max_iterations, stored, counts)


@nogil_kernel
def march_tree_batch_with_loops(batch, solved, h, values, max_iterations, stored, counts):
    """Take steps of eight runs of a tree with loops, with the arguments of `march_tree_batch`."""
    _march(batch, view_in_lanes(batch.loops), solved, h, values, max_iterations, stored, counts)
