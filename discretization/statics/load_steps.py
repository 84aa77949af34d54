"""Load steps: move from one load factor to another by equilibria, with steps as long as Newton's method allows.

The first step is the whole load change. If Newton's method fails, the step is cut to a quarter; if it succeeds, the next step is
longer the fewer iterations it took.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from discretization.statics.equilibrium_newton import (
    NewtonOutcome,
    loads_below_roundoff,
    newton,
    solve_by_load_direction,
)
from discretization.statics.equilibrium_system import EquilibriumSystem
from discretization.statics.forces import SOLVED

SMALLEST_STEP = 1e-5  # fraction of the load change; a shorter step would not help
LONG_STEP = 0.02  # fraction of the load change; a step below this is not cut if it rotates far
WANTED = 7  # desired number of iterations per step
GROWTH = 4.0


class PathPoint(NamedTuple):
    """An equilibrium that was reached."""

    factor: float
    iterations: int
    last_iterations: int


class LoadStepOutcome(NamedTuple):
    """Outcome of the load steps."""

    reached: float  # load factor reached
    failure: NewtonOutcome | None  # failure of the last attempt; None: the end was reached


def follow_load_steps(
    statics: EquilibriumSystem,
    start: float,
    end: float,
    first: float,
    report: Callable[[PathPoint], None],
) -> LoadStepOutcome:
    """Move `statics` from the equilibrium at factor `start` to `end`; call `report` at every equilibrium.

    first: longest first step, as a fraction of the load change; moved ground points make every step shorter. On failure
    `statics` is at the last equilibrium.
    """
    change = end - start
    longest = min(1.0, statics.loading.longest_step(statics.length) / abs(change))
    step, done = min(longest, first), 0.0
    iterations = 0
    while done < 1.0:
        step = min(step, 1.0 - done)
        if 1.0 - done - step < 1e-9:
            step = 1.0 - done
        saved = statics.save()
        to = end if step == 1.0 - done else start + change * (done + step)
        statics.load_at(to)
        outcome = newton(statics)
        if outcome.status == SOLVED and outcome.iterations == 0 and loads_below_roundoff(statics):
            statics.restore_saved(saved)
            statics.assemble(False)
            before = statics.residual.copy()
            statics.load_at(to)
            outcome = solve_by_load_direction(statics, before)
        iterations += outcome.iterations
        if outcome.status != SOLVED:
            statics.restore_saved(saved)
            step *= 0.25
            if step < SMALLEST_STEP:
                return LoadStepOutcome(statics.factor, outcome)
            continue
        if statics.summed_rotation > statics.max_rotation and step > LONG_STEP:
            statics.restore_saved(saved)  # angles are counted from one equilibrium to the next
            step *= 0.5
            continue
        done = 1.0 if step == 1.0 - done else done + step
        report(PathPoint(statics.factor, iterations, outcome.iterations))
        iterations = 0
        step = min(longest, step * min(GROWTH, max(0.5, 2.0 ** ((WANTED - outcome.iterations) / 2.0))))
    return LoadStepOutcome(statics.factor, None)


def find_equilibrium(statics: EquilibriumSystem) -> NewtonOutcome | None:
    """Move `statics` from any state to the equilibrium at its load factor; return None, or the failure.

    The forces that hold the initial state, minus its residual, are removed in small steps if necessary: prestress and constant
    loads then act as the loads of a `follow_load_steps`.
    """
    level = statics.assemble(False)
    if level < 0.0:
        return newton(statics)
    saved, held_forces = statics.save(), statics.residual.copy()
    outcome = newton(statics) if level > statics.convergence_level() else NewtonOutcome(SOLVED, 0, level)
    if (
        outcome.status == SOLVED
        and outcome.iterations == 0
        and statics.fading_forces is None
        and loads_below_roundoff(statics)
    ):
        statics.restore_saved(saved)
        statics.values[:], statics.system.gravity[:] = 0.0, 0.0
        statics.assemble(False)
        before = statics.residual.copy()
        statics.load_at(saved[1])
        outcome = solve_by_load_direction(statics, before)
    if outcome.status == SOLVED:
        return None
    statics.restore_saved(saved)
    of_start, statics.fading_forces = statics.fading_forces, held_forces
    step, done, failure = 0.25, 0.0, None
    while done < 1.0:
        step = min(step, 1.0 - done)
        saved = statics.save()
        statics.offset[:] = (1.0 - done - step) * statics.fading_forces if done + step < 1.0 else 0.0
        outcome = newton(statics)
        if outcome.status == SOLVED:
            done = 1.0 if step == 1.0 - done else done + step
            step *= 2.0
        else:
            statics.restore_saved(saved)
            step *= 0.25
            if step < SMALLEST_STEP:
                failure = outcome
                break
    statics.fading_forces = of_start
    statics.offset[:] = 0.0
    return failure
