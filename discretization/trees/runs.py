"""Eight runs of a tree side by side, lane by lane a run (`rigid.lane_arrays`): which can, and their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.assembly.extrapolation import foreseen_of_runs
from discretization.assembly.workspace import Impulses
from discretization.interaction_table import without_loads
from discretization.trees.shape import OTHER
from rigid.lane_arrays import alike, room, stacked
from rigid.lanes import WIDTH
from rigid.references import by_reference
from rigid.system import Floats, Ints, State


class Bodies(NamedTuple):
    """As of `rigid.system.Frames`."""

    mass: Floats  # (n,)
    inertia: Floats  # (n, 3, 3)
    fixed: np.ndarray  # (n,)


@by_reference
class SystemOfRuns(NamedTuple):
    """What the step of a tree reads of `discretization.system.System`."""

    frames: Bodies
    gravity: Floats  # (3,)


@by_reference
class RowsOfRuns(NamedTuple):
    """And of `discretization.assembly.numbering.Numbering`, which all runs share."""

    frame: Ints
    frame_stride: Ints
    frame_base: Ints
    rows: Ints
    row: Ints
    lam: Ints


class Interactions(NamedTuple):
    """And of `rigid.interactions.kinds.Interacting`."""

    numbers: Floats


class LoadsOfRuns(NamedTuple):
    """And of `discretization.assembly.by_duals.ByDuals`."""

    interacting: Interactions
    signals: Ints


class Facts(NamedTuple):
    """And of `discretization.assembly.workspace.ConstraintFacts`."""

    lightest: Floats


@by_reference
class WorkOfRuns(NamedTuple):
    """And of `discretization.assembly.workspace.Workspace`."""

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
    by_duals: LoadsOfRuns
    residual: Floats
    rhs: Floats
    values: Floats


@by_reference
class TreeRuns(NamedTuple):
    """Numbers of eight runs; the last axis of arrays of floats counts these, and so do integers from `at` on."""

    system: SystemOfRuns
    numbering: RowsOfRuns
    tree: Any  # `discretization.trees.places.TreeArrays`
    loops: Any  # `discretization.trees.loop_tables.Loops`
    state: State
    work: WorkOfRuns
    accounts: bool  # something does work
    plain: bool  # there is nothing but bodies, their weights and joints of closed form
    # and what `discretization.time.run_march` reads of these
    block: Ints  # (n,) -1: fixed
    place: Ints  # (n,) first unknown of a frame
    foreseen: Any  # `discretization.assembly.extrapolation.Foreseen`
    dr: Floats
    psi: Floats
    rhs: Floats
    last: Floats  # last corrections
    left: Floats  # (8,) 1: the run goes on alone
    level: Floats  # (8,) size of the correction, as a turn
    before: Floats  # (8,) the same of the one before
    takes: Floats  # (8,) 1: takes the correction
    ends: Floats  # (8,) 1: takes the new forces of joints, not the correction
    at: Ints  # (8,) what a run is at
    iteration: Ints  # (8,)
    factored: Ints  # (8,) as often
    more: Floats  # (n, WIDTH, 8) scratch of a column, as `Loops.mores` and `Loops.moves`
    moved: Floats  # (n + 1, 6, 8)
    matrix: Floats  # (c, c) scratch of a run, as of `Loops`
    row_size: Floats  # (c,)
    column_size: Floats  # (c,)
    exchanged: Ints  # (c,)
    impulse: Floats  # (c,)


def key_of(stepper: Any) -> tuple[Any, ...]:
    """What runs of a tree must have in common to march side by side; () where they cannot.

    They can where each body hangs on a joint of closed form, and nothing acts but gravity and loads with closed forms.
    """
    system, tree, closed_form = stepper.system, stepper.arrays, stepper.work.by_duals.loop
    others = np.any(tree.kind <= OTHER) or np.any(tree.slides > 0) or len(without_loads(system.others).kind)
    if others or not np.all(closed_form > 0):
        return ()
    return alike((stepper.work.solved, *_parts(stepper)))


def _parts(stepper: Any) -> tuple[Any, ...]:
    """Of one run: system, rows, tree, loops, state and workspace, as far as the step reads them."""
    system, numbering, work = stepper.system, stepper.numbering, stepper.work
    frames, duals = system.frames, work.by_duals

    def of(kind: Any, source: Any, **given: Any) -> Any:
        return kind(**{name: given.get(name, getattr(source, name, None)) for name in kind._fields})

    loads = LoadsOfRuns(of(Interactions, duals.interacting), duals.signals)
    bodies, alone = np.arange(len(stepper.tree.frame)), np.flatnonzero(frames.fixed == 0)
    state = State(*(np.zeros(shape) for shape in stepper.shapes.values()))
    return (
        SystemOfRuns(of(Bodies, frames), np.asarray(system.gravity, float)),
        of(RowsOfRuns, numbering),
        stepper.arrays._replace(alone=bodies, joints_alone=bodies, spin0=np.zeros((len(bodies), 3))),
        stepper.loops,
        state,
        of(WorkOfRuns, work, alone=alone, facts=of(Facts, work.facts), by_duals=loads),
    )


def lanes_of(steppers: Sequence[Any]) -> TreeRuns:
    """Stack the arrays of up to eight steppers of one key in lanes; lanes without a stepper repeat the last one."""
    runs = [_parts(steppers[min(run, len(steppers) - 1)]) for run in range(WIDTH)]
    system, numbering, tree, loops, state, work = stacked(runs)
    foreseen = foreseen_of_runs(steppers[0].sizes)
    each, counted, alone = room(5), np.zeros(WIDTH, np.int64), steppers[0].loops
    return TreeRuns(
        system=system,
        numbering=numbering,
        tree=tree,
        loops=loops,
        state=state,
        work=work,
        accounts=steppers[0].work.accounts,
        plain=not len(steppers[0].system.others.kind) and not len(alone.place),
        block=np.where(system.frames.fixed == 0, 0, -1),
        place=np.minimum(numbering.frame, steppers[0].numbering.size),
        foreseen=foreseen,
        dr=work.dr,
        psi=work.psi,
        rhs=work.rhs,
        last=room(len(work.rhs)),
        left=each[0],
        level=each[1],
        before=each[2],
        takes=each[3],
        ends=each[4],
        at=np.zeros(WIDTH, np.int64),
        iteration=counted,
        factored=counted,
        more=room(*alone.mores.shape[:-1]),
        moved=room(*alone.moves.shape[:-1]),
        matrix=np.zeros_like(alone.matrix),
        row_size=np.zeros_like(alone.row_size),
        column_size=np.zeros_like(alone.column_size),
        exchanged=np.zeros_like(alone.exchanged),
        impulse=np.zeros_like(alone.impulse),
    )
