"""Eight runs of a planar model side by side, lane by lane a run (`rigid.lane_arrays`): which can, and their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.planar.arrays import MX, N_FRAME, Tables, Work, work_of
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
    before: Floats  # (8,) largest turn of the correction before; 0: there is none
    terms: Floats  # (6, 8) of `discretization.assembly.extrapolation`
    size: Floats  # (8,) largest turn of the correction
    turn: Floats  # (8,) that of the step, as it is foretold
    takes: Floats  # (8,) 1: takes the correction
    ends: Floats  # (8,) 1: ends with it
    at: Ints  # (8,) what a run is at
    iteration: Ints  # (8,)
    factored: Ints  # (8,)


def key_of(stepper: Any) -> tuple[Any, ...]:
    """What runs in a plane must have in common to march side by side; () where they cannot.

    They can where each frame hangs on a hinge alone, none closes a loop, and nothing acts but gravity and loads.
    """
    tables = stepper.tables
    if not tables.hung:
        return ()
    return alike((tables, tuple(stepper.shapes.values())))


def lanes_of(steppers: Sequence[Any]) -> PlanarRuns:
    """Stack the arrays of up to eight steppers of one key in lanes; lanes without a stepper repeat the last one."""
    runs = [steppers[min(run, len(steppers) - 1)] for run in range(WIDTH)]
    tables: Tables = stacked([stepper.tables for stepper in runs])
    work: Work = stacked([work_of(stepper.tables) for stepper in runs])
    each, numbers = room(6), np.zeros((3, WIDTH), np.int64)
    return PlanarRuns(
        tables=tables,
        work=work,
        state=State(*(room(*shape) for shape in steppers[0].shapes.values())),
        last=room(len(work.frames), N_FRAME - MX),
        last_more=room(*work.more.shape[:-1]),
        left=each[0],
        before=each[1],
        size=each[2],
        takes=each[3],
        ends=each[4],
        turn=each[5],
        terms=room(6),
        at=numbers[0],
        iteration=numbers[1],
        factored=numbers[2],
    )
