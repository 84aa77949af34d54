"""Batches of eight runs of a tree, one run per SIMD lane (`rigid.lane_arrays`): which runs can form a batch, and their arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.assembly.workspace import Impulses
from discretization.integrator_memory import MEANS
from discretization.interaction_table import without_loads
from discretization.trees.spanning_tree import OTHER
from rigid.lane_arrays import stack_lanes, stacking_key, zeros_in_lanes
from rigid.lanes import WIDTH
from rigid.system import Floats, Ints, State
from rigid.tuple_references import by_reference


class Bodies(NamedTuple):
    """Frame data of eight runs, with fields as in `rigid.system.Frames`."""

    mass: Floats  # (n,) kg
    inertia: Floats  # (n, 3, 3) kg m^2
    fixed: np.ndarray  # (n,) 0: the frame moves


@by_reference
class BatchSystem(NamedTuple):
    """The fields of `discretization.system.System` that the step of a tree reads, for eight runs."""

    frames: Bodies
    gravity: Floats  # (3,) m/s^2


@by_reference
class BatchRows(NamedTuple):
    """The fields of `discretization.assembly.numbering.Numbering` that the step of a tree reads; all runs share them."""

    frame: Ints
    frame_stride: Ints
    frame_base: Ints
    rows: Ints
    row: Ints
    lam: Ints


class Interactions(NamedTuple):
    """The fields of `rigid.interactions.kinds.InteractionArrays` that the step of a tree reads, for eight runs."""

    numbers: Floats


class BatchLoads(NamedTuple):
    """The fields of `discretization.assembly.generic_assembly.GenericAssembly` that the step of a tree reads, for eight runs."""

    interacting: Interactions
    signals: Ints


class Facts(NamedTuple):
    """The fields of `discretization.assembly.workspace.ConstraintData` that the step of a tree reads, for eight runs."""

    lightest: Floats


@by_reference
class BatchWorkspace(NamedTuple):
    """The fields of `discretization.assembly.workspace.Workspace` that the step of a tree reads, for eight runs."""

    alone: Ints
    dr: Floats
    psi: Floats
    lam: Floats
    r1: Floats
    R0: Floats
    R1: Floats
    scale: Floats
    facts: Facts
    impulses: Impulses
    generic_groups: BatchLoads
    residual: Floats
    rhs: Floats
    values: Floats


@by_reference
class TreeBatch(NamedTuple):
    """Arrays of eight runs.

    The last axis of float arrays is the run, except in the scratch arrays of one run; so is that of the integer arrays from `at`
    to `factored`.
    """

    system: BatchSystem
    numbering: BatchRows
    tree: Any  # `discretization.trees.data_layout.TreeArrays`
    loops: Any  # `discretization.trees.loop_arrays.LoopArrays`
    state: State
    work: BatchWorkspace
    accounts: bool  # True if loads or other interactions do work
    plain: bool  # True if there are only bodies, their weights and joints of closed form, and no loops
    # the following fields are read by `discretization.time.batch_march`
    block: Ints  # (n,) -1: fixed, else 0
    place: Ints  # (n,) first unknown of a frame
    weights: Floats  # of the predictor, the same for all runs; (0, 6) without history
    factors: Floats  # (13, 8) its weights and factors (`discretization.assembly.predictor.factors_of_runs`)
    known: Ints  # (8,) number of known means of each run
    dr: Floats
    psi: Floats
    rhs: Floats
    last: Floats  # last corrections
    left: Floats  # (8,) 1: the run has left the batch and continues separately
    level: Floats  # (8,) size of the correction as a rotation, rad
    before: Floats  # (8,) size of the previous correction, rad
    takes: Floats  # (8,) 1: the correction is applied
    ends: Floats  # (8,) 1: the iteration ends: the new joint forces are applied, the correction is not
    at: Ints  # (8,) stage of a run: OUT, FRESH or AGAIN of `discretization.time.batch_march`
    iteration: Ints  # (8,) number of iterations
    factored: Ints  # (8,) number of factorisations; the same array as `iteration`
    more: Floats  # (n, WIDTH, 8) scratch for one column, as `LoopArrays.lane_unknowns`
    moved: Floats  # (n + 1, 6, 8) scratch for one column, as `LoopArrays.lane_motions`
    matrix: Floats  # (c, c) scratch for one run, as in `LoopArrays`
    row_size: Floats  # (c,) scratch for one run, as in `LoopArrays`
    column_size: Floats  # (c,) scratch for one run, as in `LoopArrays`
    exchanged: Ints  # (c,) scratch for one run, as in `LoopArrays`
    impulse: Floats  # (c,) scratch for one run, as in `LoopArrays`


def batch_key(stepper: Any) -> tuple[Any, ...]:
    """Return the data that runs of a tree must share to be integrated in one batch; () if this run cannot be.

    It can if each body is on a joint of closed form that does not slide, and nothing acts but gravity and loads with closed
    forms.
    """
    system, tree, closed_form = stepper.system, stepper.arrays, stepper.work.generic_groups.loop
    unsupported = (
        np.any(tree.kind <= OTHER) or np.any(tree.slides > 0) or len(without_loads(system.others).kind)
    )
    if unsupported or not np.all(closed_form > 0):
        return ()
    return stacking_key((stepper.work.solved, *_parts(stepper)))


def _parts(stepper: Any) -> tuple[Any, ...]:
    """Return system, numbering, tree, loops, state and workspace of one run, as far as the step reads them."""
    system, numbering, work = stepper.system, stepper.numbering, stepper.work
    frames, duals = system.frames, work.generic_groups

    def of(kind: Any, source: Any, **overrides: Any) -> Any:
        """Return a `kind` with the fields of `source` and those of `overrides`."""
        return kind(**{name: overrides.get(name, getattr(source, name, None)) for name in kind._fields})

    loads = BatchLoads(of(Interactions, duals.interacting), duals.signals)
    bodies, alone = np.arange(len(stepper.tree.frame)), np.flatnonzero(frames.fixed == 0)
    state = State(*(np.zeros(shape) for shape in stepper.shapes.values()))
    return (
        BatchSystem(of(Bodies, frames), np.asarray(system.gravity, float)),
        of(BatchRows, numbering),
        stepper.arrays._replace(alone=bodies, joints_alone=bodies, spin0=np.zeros((len(bodies), 3))),
        stepper.loops,
        state,
        of(BatchWorkspace, work, alone=alone, facts=of(Facts, work.facts), generic_groups=loads),
    )


def stack_runs(steppers: Sequence[Any]) -> TreeBatch:
    """Stack the arrays of up to eight steppers with equal keys in SIMD lanes; lanes without a stepper repeat the last one."""
    runs = [_parts(steppers[min(run, len(steppers) - 1)]) for run in range(WIDTH)]
    system, numbering, tree, loops, state, work = stack_lanes(runs)
    floats, counters, first_loops = zeros_in_lanes(5), np.zeros(WIDTH, np.int64), steppers[0].loops
    return TreeBatch(
        system=system,
        numbering=numbering,
        tree=tree,
        loops=loops,
        state=state,
        work=work,
        accounts=steppers[0].work.accounts,
        plain=not len(steppers[0].system.others.kind) and not len(first_loops.place),
        block=np.where(system.frames.fixed == 0, 0, -1),
        place=np.minimum(numbering.frame, steppers[0].numbering.size),
        weights=steppers[0].weights,
        factors=zeros_in_lanes(1 + 2 * MEANS),
        known=np.zeros(WIDTH, np.int64),
        dr=work.dr,
        psi=work.psi,
        rhs=work.rhs,
        last=zeros_in_lanes(len(work.rhs)),
        left=floats[0],
        level=floats[1],
        before=floats[2],
        takes=floats[3],
        ends=floats[4],
        at=np.zeros(WIDTH, np.int64),
        iteration=counters,
        factored=counters,
        more=zeros_in_lanes(*first_loops.lane_unknowns.shape[:-1]),
        moved=zeros_in_lanes(*first_loops.lane_motions.shape[:-1]),
        matrix=np.zeros_like(first_loops.matrix),
        row_size=np.zeros_like(first_loops.row_size),
        column_size=np.zeros_like(first_loops.column_size),
        exchanged=np.zeros_like(first_loops.exchanged),
        impulse=np.zeros_like(first_loops.impulse),
    )
