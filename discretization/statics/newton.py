"""Newton's method for an equilibrium at one load factor, with a tangent of predicted stresses.

    x = -J^-1 r(y),   J: the tangent at y with the stresses that x of the iteration before foresaw           (1)

see `discretization.statics.strains`. Whether a step led nearer is said by the next correction, not by the residual: a
slender rod that is turned by a finite step is stretched at first, with forces EA/EI L^2 times those of its bending, and yet
nearer to the solution. A correction is taken whole unless it turns a frame by more than LARGEST_TURN; where they grow the
iteration gives up, and the load step is cut.
"""

from __future__ import annotations

from typing import NamedTuple

from discretization.statics.iteration import MOST, NOT_CONVERGED, SAFE, STALLED, WORSE
from discretization.statics.rest import Rest
from rigid.system import Floats

__all__ = ["MOST", "NOT_CONVERGED", "SAFE", "STALLED", "WORSE", "Solved", "newton", "take"]


class Solved(NamedTuple):
    """How Newton's method ended."""

    status: int  # SOLVED, or why not: `discretization.statics.rest.REASONS`, or NOT_CONVERGED
    iterations: int
    level: float  # largest residual over its round-off


def newton(rest: Rest) -> Solved:
    """Move `rest` to the equilibrium at its load factor. Where it fails the state is anywhere: go back to one kept."""
    return Solved(*rest.newton())


def take(rest: Rest, x: Floats) -> int:
    """Correct the state by x, or by as much of it as turns no frame too far: SOLVED or why not. The next tangent is that of
    the stresses that x foresaw.
    """
    return rest.take(x)
