"""Arrays of eight runs of a planar model in SIMD lanes, one run per lane (`rigid.lane_arrays`), and the key they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discretization.integrator_memory import MEANS
from discretization.planar.arrays import MX, N_FRAME, Tables, Work, allocate_work
from rigid.lane_arrays import stack_lanes, stacking_key, zeros_in_lanes
from rigid.lanes import WIDTH
from rigid.system import Floats, Ints, State
from rigid.tuple_references import by_reference


@by_reference
class PlanarBatch(NamedTuple):
    """Arrays of eight runs; the last axis of float arrays is the run."""

    tables: Tables
    work: Work
    state: State
    last: Floats  # (k + 1, 3, 8) last corrections of frames
    last_impulse_correction: Floats  # (j, 2, 8) last corrections of impulses
    left: Floats  # (8,) 1 if the run has left the batch and continues separately
    before: Floats  # (8,) largest rotation of the previous correction; 0 if there is none
    weights: Floats  # of the predictor, the same for all runs; (0, 6) without history
    factors: Floats  # (13, 8) its weights and factors (`discretization.assembly.predictor.factors_of_runs`)
    known: Ints  # (8,) number of known means of each run
    size: Floats  # (8,) largest rotation of the correction
    largest_rotation: Floats  # (8,) largest predicted rotation of the step
    takes: Floats  # (8,) 1 if the run applies the correction
    ends: Floats  # (8,) 1 if the iteration ends with this correction
    at: Ints  # (8,) stage of each run
    iteration: Ints  # (8,) number of iterations
    factored: Ints  # (8,) counter of factorisations


def batch_key(stepper: Any) -> tuple[Any, ...]:
    """Return the key that planar runs must share to be integrated in lanes, or () if they cannot.

    They can if each frame is connected by one hinge alone, no hinge closes a loop, and only gravity and loads act.
    """
    tables = stepper.tables
    if not tables.is_open_chain:
        return ()
    return stacking_key((tables, tuple(stepper.shapes.values())))


def stack_runs(steppers: Sequence[Any]) -> PlanarBatch:
    """Stack the arrays of up to eight steppers with equal keys in lanes; lanes without a stepper repeat the last one."""
    runs = [steppers[min(run, len(steppers) - 1)] for run in range(WIDTH)]
    tables: Tables = stack_lanes([stepper.tables for stepper in runs])
    work: Work = stack_lanes([allocate_work(stepper.tables) for stepper in runs])
    floats, integers = zeros_in_lanes(6), np.zeros((4, WIDTH), np.int64)
    return PlanarBatch(
        tables=tables,
        work=work,
        state=State(*(zeros_in_lanes(*shape) for shape in steppers[0].shapes.values())),
        last=zeros_in_lanes(len(work.frames), N_FRAME - MX),
        last_impulse_correction=zeros_in_lanes(*work.impulse_correction.shape[:-1]),
        left=floats[0],
        before=floats[1],
        size=floats[2],
        takes=floats[3],
        ends=floats[4],
        largest_rotation=floats[5],
        weights=steppers[0].weights,
        factors=zeros_in_lanes(1 + 2 * MEANS),
        known=integers[3],
        at=integers[0],
        iteration=integers[1],
        factored=integers[2],
    )
