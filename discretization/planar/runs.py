"""Eight runs of a planar model side by side, lane by lane a run (`rigid.lane_arrays`): which can, and their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.planar.arrays import HINGE, MX, N_FRAME, Tables, Work, work_of
from rigid.lane_arrays import alike, room, stacked
from rigid.lanes import WIDTH
from rigid.references import by_reference
from rigid.system import Floats, Ints, State


@by_reference
class PlanarRuns(NamedTuple):
    """Numbers of eight runs; the last axis of arrays of floats counts these."""

    tables: Tables
    work: Work
    state: State
    last: Floats  # (k + 1, 3, 8) last corrections of frames
    last_more: Floats  # (j, 2, 8) and of impulses
    left: Floats  # (8,) 1: the run goes on alone
    level: Floats  # (8,) residual/noise
    before: Floats  # (8,) the same before the last correction
    foreseen: Floats  # (8,) and after the next one
    size: Floats  # (8,) largest turn of the correction; infinite where it is singular
    takes: Floats  # (8,) 1: takes the correction
    ends: Floats  # (8,) 1: ends with it
    at: Ints  # (8,) what a run is at
    wants: Ints  # (8,) 1: a new matrix
    fresh: Ints  # (8,) 1: the last correction was by one
    looked: Ints  # (8,) 1: its residual is looked at
    quick: Ints  # (8,) 1: the next correction is the last one, if it is small enough
    iteration: Ints  # (8,)
    factored: Ints  # (8,)


def key_of(stepper: Any) -> tuple[Any, ...]:
    """What runs in a plane must have in common to march side by side; () where they cannot.

    They can where each frame hangs on a hinge alone, none closes a loop, and nothing acts but gravity and loads.
    """
    tables = stepper.tables
    if len(tables.elements.ends) or len(tables.coupled) or len(tables.spring) or np.any(tables.kind != HINGE):
        return ()
    return alike((tables, tuple(stepper.shapes.values())))


def lanes_of(steppers: Sequence[Any]) -> PlanarRuns:
    """As `discretization.assembly.run_tables.lanes_of`."""
    runs = [steppers[min(run, len(steppers) - 1)] for run in range(WIDTH)]
    tables: Tables = stacked([stepper.tables for stepper in runs])
    work: Work = stacked([work_of(stepper.tables) for stepper in runs])
    each, numbers = room(7), np.zeros((7, WIDTH), np.int64)
    return PlanarRuns(
        tables=tables,
        work=work,
        state=State(*(room(*shape) for shape in steppers[0].shapes.values())),
        last=room(len(work.frames), N_FRAME - MX),
        last_more=room(*work.more.shape[:-1]),
        left=each[0],
        level=each[1],
        before=each[2],
        foreseen=each[3],
        size=each[4],
        takes=each[5],
        ends=each[6],
        at=numbers[0],
        wants=numbers[1],
        fresh=numbers[2],
        looked=numbers[3],
        quick=numbers[4],
        iteration=numbers[5],
        factored=numbers[6],
    )
