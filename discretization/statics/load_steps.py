"""Load steps: move from one load factor to another by equilibria, with steps as long as Newton's method allows.

The first step is the whole way. If Newton's method fails, the step is cut to a quarter; if it succeeds, the next step is
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

SMALLEST_STEP = 1e-5  # fraction of the way; a shorter step would not help
LONG_STEP = 0.02  # fraction of the way; a step below this is not cut if it rotates far
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
    rest: EquilibriumSystem,
    start: float,
    end: float,
    first: float,
    found: Callable[[PathPoint], None],
) -> LoadStepOutcome:
    """Move `rest` from the equilibrium at factor `start` to `end`; call `found` at every equilibrium.

    first: longest first step, as a fraction of the way; moved ground points make every step shorter. On failure `rest` is at
    the last equilibrium.
    """
    way = end - start
    longest = min(1.0, rest.loading.longest_step(rest.length) / abs(way))
    step, done = min(longest, first), 0.0
    iterations = 0
    while done < 1.0:
        step = min(step, 1.0 - done)
        if 1.0 - done - step < 1e-9:
            step = 1.0 - done
        kept = rest.keep()
        to = end if step == 1.0 - done else start + way * (done + step)
        rest.load_at(to)
        found_one = newton(rest)
        if found_one.status == SOLVED and found_one.iterations == 0 and loads_below_roundoff(rest):
            rest.restore_saved(kept)
            rest.assemble(False)
            before = rest.residual.copy()
            rest.load_at(to)
            found_one = solve_by_load_direction(rest, before)
        iterations += found_one.iterations
        if found_one.status != SOLVED:
            rest.restore_saved(kept)
            step *= 0.25
            if step < SMALLEST_STEP:
                return LoadStepOutcome(rest.factor, found_one)
            continue
        if rest.turned > rest.most_turn and step > LONG_STEP:
            rest.restore_saved(kept)  # angles are counted from one equilibrium to the next
            step *= 0.5
            continue
        done = 1.0 if step == 1.0 - done else done + step
        found(PathPoint(rest.factor, iterations, found_one.iterations))
        iterations = 0
        step = min(longest, step * min(GROWTH, max(0.5, 2.0 ** ((WANTED - found_one.iterations) / 2.0))))
    return LoadStepOutcome(rest.factor, None)


def find_equilibrium(rest: EquilibriumSystem) -> NewtonOutcome | None:
    """Move `rest` from any state to the equilibrium at its load factor; return None, or the failure.

    The forces that hold the initial state, minus its residual, are removed in small steps if necessary: prestress and constant
    loads then act as the loads of a `follow_load_steps`.
    """
    level = rest.assemble(False)
    if level < 0.0:
        return newton(rest)
    kept, held = rest.keep(), rest.residual.copy()
    found = newton(rest) if level > rest.convergence_level() else NewtonOutcome(SOLVED, 0, level)
    if found.status == SOLVED and found.iterations == 0 and rest.held is None and loads_below_roundoff(rest):
        rest.restore_saved(kept)
        rest.values[:], rest.system.gravity[:] = 0.0, 0.0
        rest.assemble(False)
        before = rest.residual.copy()
        rest.load_at(kept[1])
        found = solve_by_load_direction(rest, before)
    if found.status == SOLVED:
        return None
    rest.restore_saved(kept)
    of_start, rest.held = rest.held, held
    step, done, failure = 0.25, 0.0, None
    while done < 1.0:
        step = min(step, 1.0 - done)
        kept = rest.keep()
        rest.offset[:] = (1.0 - done - step) * rest.held if done + step < 1.0 else 0.0
        found = newton(rest)
        if found.status == SOLVED:
            done = 1.0 if step == 1.0 - done else done + step
            step *= 2.0
        else:
            rest.restore_saved(kept)
            step *= 0.25
            if step < SMALLEST_STEP:
                failure = found
                break
    rest.held = of_start
    rest.offset[:] = 0.0
    return failure
