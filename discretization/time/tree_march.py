"""Compute a step of `em` of a tree: its linearised joints are eliminated from the leaves to the root (`discretization.trees`).

dr, psi and the forces of joints are iterates, as in `discretization.time.newton`; no matrix of the whole system is assembled. The
last correction (`discretization.time.newton_stopping`) is not added to the increments: the step adds it to the state unrounded,
as in `discretization.time.newton`.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numba import typeof, types

from discretization.assembly.actuated_elements import (
    WORK_DUE,
    begin_actuations,
    hold_actuations,
    is_actuated,
    work_of_held_step,
)
from discretization.assembly.constraint_rows import add_constraint_noise
from discretization.assembly.element_lanes import begin_elements, write_end_strains
from discretization.assembly.generic_assembly import (
    add_generic_noise,
    all_have_closed_loops,
    load_counted_variables,
    store_counted_variables,
)
from discretization.assembly.load_forces import add_load_noise, write_load_values
from discretization.assembly.predictor import (
    count_known_means,
    factors_of,
    predict_scalar,
    store_means_scalar,
    update_record,
    weights_at,
)
from discretization.assembly.prescribed_motions import begin_drives, end_drives
from discretization.assembly.rod_spans import begin_spans
from discretization.assembly.step_equations import (
    add_forces,
    begin_step,
    move,
    move_fixed_frames,
    move_scalar_frames,
)
from discretization.assembly.workspace import EPS, NOISE_FACTOR, norm, store_rotation
from discretization.drives import DRIVEN, count_drives
from discretization.relative_rotations import passed_rotation_limit
from discretization.time.em import (
    account,
    commit_alone,
    commit_multipliers,
    has_drives,
    has_finite_account,
    predict_multipliers,
)
from discretization.time.newton import (
    CONVERGED,
    FOLDED,
    MAX_ROTATION,
    NOT_CONVERGED,
    NOT_FINITE,
    SINGULAR,
    correct_alone,
    correct_outside_groups,
    damping_of,
    scalar_frames_rest,
)
from discretization.time.newton_stopping import NEGLIGIBLE_CORRECTION, can_reuse_tangent, is_converged_after
from discretization.trees.bodies import (
    apply_final_correction,
    assemble_bodies,
    assemble_residuals,
    begin_fixed_frames,
    begin_fixed_quaternions,
    begin_joints,
    begin_tree,
    end_joints,
    rotate_bodies,
    scale_rows,
    store_vector,
    update_joint,
    update_sliding_joint,
    update_sliding_joints,
    vector_at,
)
from discretization.trees.body_lanes import (
    apply_final_correction_to_groups,
    assemble_body_groups,
    assemble_group_residuals,
    begin_body_groups,
    begin_joint_groups,
    correct_body_groups,
    end_joint_groups,
    load_rotations,
)
from discretization.trees.data_layout import (
    DIAGONAL_BLOCK,
    JOINT_FORCE,
    JOINT_MOMENT,
    LEVER,
    NEW_COUPLE,
    NEW_FORCE,
    PARENT_LEVER,
)
from discretization.trees.elimination import (
    back_substitute,
    eliminate,
    no_general_joint,
    process_general_joint,
    recover_joint_wrenches,
    reeliminate,
)
from discretization.trees.free_bodies import clear_rows
from discretization.trees.lane_states import (
    begin_groups,
    commit_groups,
    load_body_groups,
    store_body_groups,
)
from discretization.trees.loops import close_loops, update_loops
from discretization.trees.spanning_tree import FREE, OTHER
from rigid.compilation.decorators import always_inline_kernel, compiled, inline_kernel, internal_kernel
from rigid.compilation.raised_exceptions import RAISED
from rigid.kinematics.rotations import load4, rotation_matrix
from rigid.lanes import WIDTH as LANES
from rigid.lanes import store
from rigid.linear_algebra import add3, cross, load3, minus, plus, times
from rigid.tuple_references import by_reference

# first argument of `remaining` and `drives`
BEGIN, ASSEMBLE, CLOSE, NOISE, END = range(5)
UNRESTRICTED = -1  # status of a step in which bodies came to rest by joint forces that were not computed
FORCES_MISSING = 2  # index in `count`: 1 if forces of joints are not known after a substep


@by_reference
class StepContext(NamedTuple):
    """Arguments of a step of a tree; remaining, of_loops, general_joint, drives: compiled functions of `tree_kernels` for these
    models.
    """

    remaining: Any
    of_loops: Any
    general_joint: Any
    drives: Any
    has_others: bool  # the model has more than bodies, their weights and joints of closed form
    uses_forces: bool  # an iteration begins with the forces of joints of the step before
    plain: bool  # a correction may reuse the tangents of the one before: only bodies on joints of closed form
    system: Any
    numbering: Any
    tree: Any
    loops: Any
    lanes: Any
    weights: Any  # of the predictor (`discretization.assembly.predictor`); (0, 6) without history
    work: Any


def _remaining(part, system, numbering, tree, loops, state, work, h):
    """Process everything except bodies, their weights and joints of closed form; return 0, FOLDED or NOT_FINITE."""
    return _process_remaining(part, system, numbering, tree, loops, state, work, h, True, True)


def _common_remaining(part, system, numbering, tree, loops, state, work, h):
    """Process the remaining parts of models without drives and interactions with the generic assembly (`generic_groups`), as
    `_remaining` does.
    """
    return _process_remaining(part, system, numbering, tree, loops, state, work, h, None, True)


def _bare_remaining(part, system, numbering, tree, loops, state, work, h):
    """Process rods, springs and loads, as `_remaining` does, in models whose joints are all of closed form."""
    return _process_remaining(part, system, numbering, tree, loops, state, work, h, None, None)


@internal_kernel
def _process_remaining(part, system, numbering, tree, loops, state, work, h, general, rows):
    """Implement `_remaining` and its variants, from which the compiler leaves out unused parts.

    general, rows: None, as in `add_forces`, if the model has none of the interactions or rows that they stand for.
    """
    rods = system.elements.length.shape[0] > 0
    if part == BEGIN:
        load_counted_variables(numbering, state, work)
        if rods:
            move_fixed_frames(state, work)
            begin_elements(system, state, work, h)
        if general is not None:
            begin_spans(system, state, work, h)
    elif part == ASSEMBLE:
        n, values, residual = tree.frame.shape[0], work.values, work.residual
        for i in range(DIAGONAL_BLOCK * n, values.shape[0], LANES):
            store(0.0, values, i)
        for i in range(6 * n, residual.shape[0]):
            residual[i] = 0.0
        clear_rows(tree, work)
        if rods:
            move_scalar_frames(state, work)
        failed = add_forces(system, numbering, state, work, h, True, general, True, rows)
        if failed != 0:
            return NOT_FINITE if failed == NOT_FINITE else FOLDED
    elif part == NOISE:
        begin_step(system, numbering, state, work, h, general)
        if general is None:
            add_generic_noise(numbering, state, work, h)
        add_load_noise(numbering, work, h)
    elif part == END:
        if work.turns.frames.shape[0] > 0:
            move(system, state, work)
            if passed_rotation_limit(state, work):
                return FOLDED
        if work.viscous:
            move(system, state, work)
            write_end_strains(work)
        if general is not None:  # noqa: SIM102  the compiler leaves out what is None
            if has_drives(work):
                put_driving_forces(system, numbering, tree, loops, state, work, h)
        if work.accounts:
            account(system, numbering, None, state, work, h, general)
        store_counted_variables(state, work)
        return 0 if has_finite_account(state) else NOT_FINITE
    return 0


@internal_kernel
def _work_of_last_step(system, state, work, h):
    """Return the work of the actuations in a step at the end of a loop, J, with the bits of a step that begins there."""
    for f in range(state.r.shape[0]):
        store_rotation(work.R0, f, rotation_matrix(load4(state.quat[f])))
    begin_elements(system, state, work, h)
    return work_of_held_step(work)


@internal_kernel
def put_driving_forces(system, numbering, tree, loops, state, work, h):
    """Add the last correction to the multipliers, and put the forces on driven frames at the end of the step behind the
    residuals.
    """
    for k in range(work.lam.shape[0]):
        unknown = work.impulses.unknown[k]
        work.lam[k], work.rhs[unknown] = work.lam[k] + work.rhs[unknown], 0.0
    if work.drives.frames.shape[0] == 0:
        return
    for i in range(work.residual.shape[0]):
        work.residual[i] = 0.0
    move(system, state, work)
    add_forces(system, numbering, state, work, h, False)
    _add_joints_to_driven(system, numbering, tree, work)
    _add_joints_to_driven(system, numbering, loops.joints, work)


@internal_kernel
def _add_joints_to_driven(system, numbering, joints, work):
    """Add the forces of joints of closed form whose other frame is driven."""
    for i in range(joints.frame.shape[0]):
        partner = joints.partner[i]
        if joints.kind[i] > OTHER and system.frames.fixed[partner] == DRIVEN:
            if joints.slides[i] > 0:
                update_sliding_joint(joints, work, i)
            else:
                update_joint(joints, work, i)
            at, w = numbering.frame[partner], joints.joint_data[joints.joint[i]]
            f, k = vector_at(w, JOINT_FORCE), vector_at(w, JOINT_MOMENT)
            add3(f, work.residual[at : at + 3])
            moment = plus(cross(vector_at(w, PARENT_LEVER), f), k)
            add3(moment, work.residual[at + 3 : at + 6])


def _drives(part, system, state, work, h, values):
    """Put or commit driven motions; return 0.

    values: (l, 3) values of loads, followed by the values of drives at the end of the step.
    """
    if part == BEGIN:
        for f in work.drives.frames:
            store_rotation(work.R0, f, rotation_matrix(load4(state.quat[f])))
        begin_drives(system, None, state, work, h, values)
        move_fixed_frames(state, work)
    elif part == END:
        end_drives(system, state, work, values)
    return 0


@internal_kernel
def _drives_rest(work):
    """Return whether no driven frame moves in this step."""
    for f in work.drives.frames:
        for i in range(3):
            if work.dr[f, i] != 0.0 or work.psi[f, i] != 0.0:
                return False
    return True


def _no_drives(part, system, state, work, h, values):
    """Do nothing: for models without drives."""
    return 0


def _no_remaining(part, system, numbering, tree, loops, state, work, h):
    """Do nothing: for trees without remaining parts, or without loops."""
    return 0


def _loops(part, system, numbering, tree, loops, state, work, h):
    """Assemble or close the loops of the tree, as `part` says; return 0, or 1 if the loops are not independently constrained."""
    if part == ASSEMBLE:
        update_loops(tree, loops, work)
    elif part == CLOSE:
        return close_loops(tree, loops, work)
    return 0


def has_other_elements(system: Any, tree: Any) -> bool:
    """Return whether a tree has anything else than bodies, their weights and joints of closed form."""
    acts = len(system.others.kind) or system.rods.n_points or count_drives(system)
    return bool(acts or np.any(tree.rows))


def tree_kernels(
    system: Any, numbering: Any, tree: Any, loops: Any, state: Any, work: Any, types_key: Any
) -> tuple[Any, Any, Any, Any]:
    """Return the compiled functions of a step for the remaining parts of a model, its loops, its bodies on other joints and its
    drives.

    Parts that the model does not have are replaced by empty functions. types_key: key that determines the types of all models
    (`rigid.bound_arguments.type_key`).
    """
    models = system, numbering, tree, loops, state, work
    driven = count_drives(system) > 0
    common = not driven and not len(system.spans.kind) and all_have_closed_loops(work.generic_groups)
    remaining = (_common_remaining if len(work.facts.closed) else _bare_remaining) if common else _remaining
    remaining_parts, closed = (
        remaining if has_other_elements(system, tree) else _no_remaining,
        _loops if len(loops.place) else _no_remaining,
    )
    general_kernel = (
        process_general_joint if bool(np.any(~tree.plain & (tree.kind > FREE))) else no_general_joint
    )
    known = remaining_parts, closed, general_kernel, driven, types_key
    if known not in _known:
        kinds = [typeof(model) for model in models]
        drives = _compiled_drives(_drives if driven else _no_drives, *map(typeof, (system, state, work)))
        general_joint = _compiled_other_joint(general_kernel, kinds[2], kinds[5])
        _known[known] = _compiled(remaining_parts, *kinds), _compiled(closed, *kinds), general_joint, drives
    kernels: tuple[Any, Any, Any, Any] = _known[known]
    return kernels


_known: dict[Any, Any] = {}


@functools.cache
def _compiled(function: Any, *models: Any) -> Any:
    return compiled(types.int64(types.int64, *models, types.float64))(function)


@functools.cache
def _compiled_other_joint(function: Any, tree: Any, work: Any) -> Any:
    return compiled(types.float64(types.int64, tree, work, types.int64, types.boolean))(function)


@functools.cache
def _compiled_drives(function: Any, *models: Any) -> Any:
    array_type = types.Array(types.float64, 2, "C")
    return compiled(types.int64(types.int64, *models, types.float64, array_type))(function)


@internal_kernel
def _update_joint_forces(tree, fraction):
    """Take the new forces and couples of joints, or go the fraction `fraction` of the way to them."""
    for i in range(tree.frame.shape[0]):
        if tree.kind[i] > OTHER:
            w = tree.joint_data[tree.joint[i]]
            store_vector(
                w, JOINT_FORCE, _interpolated(vector_at(w, JOINT_FORCE), vector_at(w, NEW_FORCE), fraction)
            )
            store_vector(
                w, JOINT_MOMENT, _interpolated(vector_at(w, JOINT_MOMENT), vector_at(w, NEW_COUPLE), fraction)
            )


@inline_kernel
def _interpolated(old, new, fraction):
    """Return the vector at the fraction `fraction` of the way from one vector to the other."""
    return new if fraction == 1.0 else plus(old, times(fraction, minus(new, old)))


@internal_kernel
def _add_joint(residual, joints, j, body, other):
    """Add the force and moment of a joint on both of its bodies to their residuals `residual`."""
    w = joints.joint_data[joints.joint[j]]
    f, k = vector_at(w, JOINT_FORCE), vector_at(w, JOINT_MOMENT)
    add3(times(-1.0, f), residual[6 * body : 6 * body + 3])
    add3(times(-1.0, plus(cross(vector_at(w, LEVER), f), k)), residual[6 * body + 3 : 6 * body + 6])
    if other >= 0:
        add3(f, residual[6 * other : 6 * other + 3])
        add3(plus(cross(vector_at(w, PARENT_LEVER), f), k), residual[6 * other + 3 : 6 * other + 6])


@internal_kernel
def _is_balanced(context, state, h):
    """Return whether the predicted forces hold bodies at rest, up to rounding."""
    system, numbering, tree = context.system, context.numbering, context.tree
    loops, work, remaining = context.loops, context.work, context.remaining
    residual, noise = work.rhs, work.noise
    n, weight = tree.frame.shape[0], norm(load3(system.gravity))
    for i in range(noise.shape[0]):
        noise[i] = 0.0
    if remaining(NOISE, system, numbering, tree, loops, state, work, h) != 0:
        return False
    scale_rows(tree, work, h)
    add_constraint_noise(numbering, work)
    for i in range(6 * n):
        residual[i] = work.residual[i]
    for i in range(n):
        if tree.frame[i] < 0:
            continue
        size = EPS * abs(h) * system.frames.mass[tree.frame[i]] * weight
        for j in range(3):
            noise[6 * i + j] += size
            noise[6 * i + 3 + j] += size * tree.reach[i]
        if tree.kind[i] > OTHER:
            _add_joint(residual, tree, i, i, tree.parent[i])
    for j in range(loops.place.shape[0]):
        _add_joint(residual, loops.joints, j, loops.place[j, 0], loops.place[j, 1])
    worst = 0.0
    for i in range(6 * n):
        worst = max(worst, abs(residual[i]) / (noise[i] + 1e-300))
    for i in range(residual.shape[0]):  # the last correction is zero, also for multipliers
        residual[i] = 0.0
    for i in range(n):
        for r in range(tree.rows[i]):
            row = tree.row[tree.first_row[i] + r]
            worst = max(worst, abs(work.residual[row]) / (noise[row] + 1e-300))
    return worst <= NOISE_FACTOR


@internal_kernel
def _is_finite(tree, work):
    """Return whether all residuals of bodies are finite."""
    finite = True
    for i in range(6 * tree.frame.shape[0]):
        finite = finite and abs(work.residual[i]) < 1e300
    return finite


@internal_kernel
def _newton(context, state, h, at_rest, shown, needs_forces, max_iterations, count):
    """Solve the step's equations from the present dr, psi and multipliers; the last correction is left in work.rhs.

    at_rest: True if no body moves in the prediction; shown: as in `move_group`; needs_forces: True if forces of joints are
    needed.
    """
    system, numbering, tree = context.system, context.numbering, context.tree
    loops, lanes, work = context.loops, context.lanes, context.work
    remaining, of_loops, before, reuses = context.remaining, context.of_loops, 0.0, False
    grouped, closed = lanes.kind.shape[0] > 0, loops.place.shape[0] > 0
    iterated, plain = closed or tree.needs_iteration, context.plain
    while True:
        if reuses:
            assemble_residuals(system, tree, state, work, h)
            assemble_group_residuals(system, tree, lanes, work, h)
        else:
            assemble_bodies(system, tree, state, work, h)
            assemble_body_groups(system, tree, lanes, work, h)
            update_sliding_joints(tree, work)
        failed = 0
        if shown:
            failed = remaining(ASSEMBLE, system, numbering, tree, loops, state, work, h)
        if closed:
            failed = max(failed, of_loops(ASSEMBLE, system, numbering, tree, loops, state, work, h))
        if failed != 0:
            return failed
        if at_rest and _is_balanced(context, state, h):
            return CONVERGED
        at_rest = False
        finite = plain or _is_finite(tree, work)  # linked bodies overwrite residuals by corrections
        if reuses:
            reeliminate(tree, work)
        else:
            eliminate(tree, work, iterated, context.general_joint)
        if closed:
            failed = of_loops(CLOSE, system, numbering, tree, loops, state, work, h)
            if failed == RAISED:
                return RAISED
        size = back_substitute(tree, work, context.general_joint) if failed == 0 else 1e300
        count[0] += 1
        count[1] += not reuses
        if not size < 1e300:
            return SINGULAR if (finite if not plain else _is_finite(tree, work)) else NOT_FINITE
        last = is_converged_after(size, before, count[0], work.solved, reuses, NEGLIGIBLE_CORRECTION)
        if iterated or (last and needs_forces):
            recover_joint_wrenches(tree, work)
        if last:
            if needs_forces:
                _update_joint_forces(tree, 1.0)
            if closed:
                _update_joint_forces(loops.joints, 1.0)
            return CONVERGED
        if count[0] > max_iterations:
            return NOT_CONVERGED
        damping = 1.0 if size <= MAX_ROTATION else damping_of(system, numbering, work)
        if grouped:
            correct_body_groups(lanes, work, damping, shown)
        if shown:
            correct_outside_groups(numbering, work, damping)
        else:
            correct_alone(numbering, work, damping)
        if iterated:
            _update_joint_forces(tree, damping)
        if closed:
            _update_joint_forces(loops.joints, damping)
        reuses = (
            plain
            and can_reuse_tangent(size, before, NEGLIGIBLE_CORRECTION, tree.frame.shape[0])
            and not reuses
        )
        before = size


@internal_kernel
def _predict(context, state, h, by, shown):
    """Begin a step and set the initial guess of Newton's method; return whether no body moves.

    by: factors of (1) of `discretization.assembly.predictor`; shown: as in `move_group`.
    """
    lanes, work, at_rest, history = context.lanes, context.work, True, context.weights.shape[0] > 0
    begin_tree(context.system, context.tree, state, work)
    if lanes.kind.shape[0] > 0:
        at_rest = begin_groups(lanes, work, h, by, history, shown)
        begin_body_groups(lanes, work)
    predict_scalar(state, work, h, by, history, True)
    return at_rest and scalar_frames_rest(work)


@internal_kernel
def _commit(context, state, h, known, w, shown):
    """Write the end of a step to the state and add it to the predictor history; known, w: number of known means, and weights."""
    lanes, work, errors, history = context.lanes, context.work, (0.0, 0.0), context.weights.shape[0] > 0
    if lanes.kind.shape[0] > 0:
        errors = commit_groups(lanes, work, h, w, history)
        if shown:
            store_body_groups(lanes, state, work, history)
    commit_alone(context.numbering, state, work, h)
    if history:
        update_record(state.memory, h, known, store_means_scalar(state, work, h, w, errors))


@always_inline_kernel
def tree_step(context, state, substeps, k, last, always_forces, values, max_iterations, count):
    """Take one substep of a tree (`discretization.time.time_loop`); last: True for the last substep of the loop.

    always_forces: True if forces of joints are computed in each substep. With False they may be missing, as
    `count[FORCES_MISSING]` records from substep to substep; if a later substep needs them, the step returns UNRESTRICTED.
    """
    system, numbering, tree, loops = context.system, context.numbering, context.tree, context.loops
    history = context.weights.shape[0] > 0
    lanes, work, remaining, n = context.lanes, context.work, context.remaining, len(substeps)
    grouped, closed, h = lanes.kind.shape[0] > 0, loops.place.shape[0] > 0, substeps[k % n]
    shown, iterated = context.has_others or tree.sliding.shape[0] > 0, closed or tree.needs_iteration
    if k == 0:
        begin_fixed_frames(tree, state, work)
        begin_fixed_quaternions(tree, state, work)
        if grouped:
            load_body_groups(system, lanes, state, work, history)
    if shown or k == 0:  # rows of joints of closed form are not scaled
        scale_rows(tree, work, h)
        write_load_values(work, values)
        context.drives(BEGIN, system, state, work, h, values)
    known = count_known_means(context.weights, state.memory, substeps, k)
    w = weights_at(context.weights, known, k % n)
    at_rest = _predict(context, state, h, factors_of(state.memory, known, w), shown) and _drives_rest(work)
    if at_rest and count[FORCES_MISSING] != 0:
        return UNRESTRICTED
    if shown or k == 0:
        failed = remaining(BEGIN, system, numbering, tree, loops, state, work, h)
        if failed != CONVERGED:
            return failed
    if is_actuated(work):
        if count[WORK_DUE] != 0:
            state.totals[0] += work_of_held_step(work)
        begin_actuations(work)
    # if not `needs_forces`, forces of joints follow from the motion, and are not needed before the end
    needs_forces = context.uses_forces or iterated or at_rest
    if needs_forces:
        predict_multipliers(state.lam, work, h)
    if iterated or at_rest:
        rotate_bodies(tree, work)
        begin_joints(tree, work)
        if grouped:
            begin_joint_groups(tree, lanes, work)
        if closed:
            begin_joints(loops.joints, work)
    ends = needs_forces or always_forces or last
    status = _newton(context, state, h, at_rest, shown, ends, max_iterations, count)
    if status != CONVERGED:
        return status
    if grouped:
        apply_final_correction_to_groups(lanes, work, ends or shown, shown)
    apply_final_correction(tree, state, work)
    if shown:
        status = remaining(END, system, numbering, tree, loops, state, work, h)
        if status != CONVERGED:
            return status
        if grouped:
            load_rotations(lanes, work)
    if ends:
        if grouped:
            end_joint_groups(tree, lanes, work)
        end_joints(tree, work)
        if closed:
            end_joints(loops.joints, work)
        commit_multipliers(state, work, h)
    if shown:
        context.drives(END, system, state, work, h, values)
    _commit(context, state, h, known, w, shown)
    if last and grouped and not shown:
        store_body_groups(lanes, state, work, history)
    if is_actuated(work):
        hold_actuations(work)
        count[WORK_DUE] = 0 if last else 1
        if last:
            state.totals[0] += _work_of_last_step(system, state, work, h)
    count[FORCES_MISSING] = 0 if ends else 1
    return CONVERGED
