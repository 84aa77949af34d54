"""Which of Newton's corrections of bodies on joints is the last one, and which may have the tangents of the one before.

Newton's method converges quadratically: with corrections c_k as turns in rad, c_k^3/c_{k-1}^2 is what the next one would be. The
iteration ends where that is nothing.
"""

from discretization.assembly.workspace import EPS
from rigid.compilation.decorators import small_kernel

NOTHING = 2e-17  # rad, of a correction that need not be made
# by so much times the square of a turn the next correction is expected: of 5 bars on hinges 0.3, of 100 2.5 and more
_CURVED, _BY_BODY, _MOST_CURVED = 0.7, 0.03, 4.0
_STALLED, _SAFE = (
    0.3,
    1e-7,
)  # contraction that counts as none, and corrections that may then be left: round-off


@small_kernel
def is_last(size, before, iteration, solved, again, nothing):
    """Whether a correction of this size needs none after it; before: size of the one before, 0: there is none; again: whether
    both have the same tangents; nothing: NOTHING or less, rad.
    """
    shrunk = size / before if before > 0.0 else 0.0
    if iteration > 3 and shrunk > _STALLED and size <= _SAFE:
        return True
    if again:  # as the tangents have changed since, by half of the turn before at least
        return size * max(0.5 * before, shrunk) <= nothing
    # as from the last to this one, but not better than a turn's square: the one before may have been far from the solution
    left = size * max(shrunk * shrunk, size)
    return left <= (nothing if before == 0.0 else max(nothing, 0.1 * solved * EPS))


@small_kernel
def may_go_again(size, before, nothing, bodies):
    """Whether the correction after one of this size may be made with the same tangents, and be the last; bodies: how many; as of
    `is_last`.
    """
    foreseen = min(_CURVED + _BY_BODY * bodies, _MOST_CURVED) * size
    shrunk = size / before if before > 0.0 else 0.0
    return foreseen * size * max(shrunk * shrunk, foreseen) <= nothing
