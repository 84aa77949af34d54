"""Decide which Newton correction of bodies on joints is the last one, and which may reuse the tangents of the one before.

Newton's method converges quadratically. With the largest rotations of the corrections, c_k in rad, the next correction is about
c_k^3/c_{k-1}^2. The iteration ends when this is negligible.
"""

from discretization.assembly.workspace import EPS
from rigid.compilation.decorators import inline_kernel

NEGLIGIBLE_CORRECTION = 2e-17  # rad, size of a negligible correction
# expected size of the next correction over the square of the last rotation: 0.3 for 5 bars on hinges, 2.5 and more for 100
_CURVED, _BY_BODY, _MOST_CURVED = 0.7, 0.03, 4.0
_STALLED, _SAFE = (
    0.3,
    1e-7,
)  # contraction that counts as stagnation, and size of corrections, rad, that may then be left out: round-off


@inline_kernel
def is_converged_after(size, before, iteration, solved, reuse_factors, negligible):
    """Return whether no further correction is needed after one of this size.

    before: size of the correction before, 0: there is none; reuse_factors: True if both have the same tangents; solved:
    convergence tolerance in units of round-off; negligible: size of a negligible correction, NEGLIGIBLE_CORRECTION or less, rad.
    """
    shrunk = size / before if before > 0.0 else 0.0
    if iteration > 3 and shrunk > _STALLED and size <= _SAFE:
        return True
    if reuse_factors:  # the tangents have changed since, by at least half of the rotation before
        return size * max(0.5 * before, shrunk) <= negligible
    # contraction as in the last correction, but not better than quadratic: the one before may have been far from the
    # solution
    predicted = size * max(shrunk * shrunk, size)
    return predicted <= (negligible if before == 0.0 else max(negligible, 0.1 * solved * EPS))


@inline_kernel
def can_reuse_tangent(size, before, negligible, bodies):
    """Return whether the correction after one of this size may reuse its tangents and be the last.

    before, negligible: as in `is_converged_after`; bodies: number of bodies.
    """
    contraction = min(_CURVED + _BY_BODY * bodies, _MOST_CURVED) * size
    shrunk = size / before if before > 0.0 else 0.0
    return contraction * size * max(shrunk * shrunk, contraction) <= negligible
