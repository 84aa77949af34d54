"""Newton's method for an equilibrium at one load factor, with a tangent of predicted stresses.

    x = -J^-1 r(y),   J: the tangent at y with the stresses that x of the iteration before foresaw           (1)

see `discretization.statics.strains`. Whether a step led nearer is said by the next correction, not by the residual: a
slender rod that is turned by a finite step is stretched at first, with forces EA/EI L^2 times those of its bending, and yet
nearer to the solution. A correction is taken whole unless it turns a frame by more than LARGEST_TURN; where they grow the
iteration gives up, and the load step is cut.
"""

from __future__ import annotations

from typing import NamedTuple

from discretization.statics.forces import FOLDED, NOT_FINITE, SINGULAR, SOLVED
from discretization.statics.rest import Rest
from rigid.system import Floats

MOST = 25  # iterations
SAFE = 1e5  # residual over round-off that will do where no correction changes anything any more
LARGEST_TURN = 0.7  # rad that one correction may turn a frame by
STALLED = 1e-9  # a correction of this size, of the model's, that helped no more is rounding
SMALLEST = 0.05  # share of a correction that goes no further before an element is folded
WORSE = 3  # corrections in a row that may be no smaller than those before

NOT_CONVERGED = 4


class Solved(NamedTuple):
    """How Newton's method ended."""

    status: int  # SOLVED, or why not: `discretization.statics.rest.REASONS`, or NOT_CONVERGED
    iterations: int
    level: float  # largest residual over its round-off


def newton(rest: Rest, most: int = MOST) -> Solved:
    """Move `rest` to the equilibrium at its load factor. Where it fails the state is anywhere: go back to one kept."""
    level = rest.assemble(True)
    before, smallest, worse = float("inf"), float("inf"), 0
    for iteration in range(most):
        if level < 0.0:
            return Solved(FOLDED if level == -2.0 else NOT_FINITE, iteration, level)
        if level <= rest.solved_at():
            return Solved(SOLVED, iteration, level)
        if not rest.factorise():
            return Solved(SINGULAR, iteration, level)
        x = rest.solve(rest.residual)
        size = rest.norm(x)
        if not size < 1e6:
            return Solved(SINGULAR, iteration, level)
        if level <= SAFE and iteration > 2 and ((size < STALLED and level > 0.3 * before) or size < 1e-13):
            return Solved(SOLVED, iteration, level)
        worse = worse + 1 if size > 0.9 * smallest else 0
        if worse > WORSE:
            return Solved(NOT_CONVERGED, iteration, level)
        before, smallest = level, min(size, smallest)
        status, excess = take(rest, x)
        if status != SOLVED:
            return Solved(status, iteration, level)
        level = rest.assemble(False)
        if level > rest.solved_at():
            rest.tangent_with(excess)
    return Solved(NOT_CONVERGED, most, level)


def take(rest: Rest, x: Floats) -> tuple[int, Floats | None]:
    """Correct the state by x, or by as much of it as turns no frame too far: SOLVED or why not, and by how much the
    strains exceed their linear prediction (None: there are no rods).
    """
    turn = rest.largest_turn(x)
    share = min(1.0, LARGEST_TURN / turn) if turn > 0.0 else 1.0
    strains, state = rest.strains, rest.state
    if not strains.count:
        return rest.advance(x, share), None
    linear, start = strains.change(state, x), strains.along(state, x, 0.0)
    status = FOLDED
    while share >= SMALLEST and status != SOLVED:
        status = rest.advance(x, share)
        if status == SOLVED:
            return SOLVED, strains.along(state, x, 0.0) - start - share * linear
        share *= 0.5
    return status, None
