"""Newton's corrections as rotations: the last two predict the next one, for new and reused tangents."""

import numpy as np
import pytest

from discretization.time.newton_stopping import NEGLIGIBLE_CORRECTION, can_reuse_tangent, is_converged_after

SOLVED = 4.0  # residual/noise below which the equations are solved: smaller than any estimate


def previous_size(size, shrunk):
    """Size of the previous correction, given the present size and its contraction."""
    return size / shrunk


@pytest.mark.parametrize("iteration", [1, 2, 9])
def test_newton_stops_after_the_first_correction_if_its_square_is_negligible(iteration):
    assert is_converged_after(4e-9, 0.0, iteration, SOLVED, False, NEGLIGIBLE_CORRECTION)
    assert not is_converged_after(5e-9, 0.0, iteration, SOLVED, False, NEGLIGIBLE_CORRECTION)


def test_newton_with_an_old_jacobian_assumes_an_error_of_half_the_rotation():
    for size, previous in ((1e-12, 1e-4), (1e-11, 1e-5)):  # it shrank to less
        assert not is_converged_after(size, previous, 2, SOLVED, True, NEGLIGIBLE_CORRECTION)
        assert is_converged_after(0.3 * size, previous, 2, SOLVED, True, NEGLIGIBLE_CORRECTION)
    assert not is_converged_after(
        1e-12, previous_size(1e-12, 1e-3), 2, SOLVED, True, NEGLIGIBLE_CORRECTION
    )  # it shrank to more


def test_newton_reuses_the_jacobian_if_the_next_correction_is_negligible():
    """The next correction is estimated as c size^2, with c the curvature of chains of so many bodies.

    With reused tangents it errs by max(contraction^2, c size) of itself, contraction being that of the
    present one.
    """
    size, ten = 1e-6, 10  # curved by 1
    for expected, reuses in ((1.5e-5, True), (3e-5, False)):  # their product with size^2
        assert (
            can_reuse_tangent(size, previous_size(size, np.sqrt(expected)), NEGLIGIBLE_CORRECTION, ten)
            == reuses
        )
    for bodies, size, reuses in (
        (10, 2.6e-6, True),
        (10, 2.8e-6, False),
        (100, 1.1e-6, True),
        (100, 1.2e-6, False),
    ):
        assert can_reuse_tangent(size, 0.0, NEGLIGIBLE_CORRECTION, bodies) == reuses
        assert can_reuse_tangent(size, previous_size(size, 1e-7), NEGLIGIBLE_CORRECTION, bodies) == reuses
    assert can_reuse_tangent(1.05e-6, 0.0, NEGLIGIBLE_CORRECTION, 10_000)


def test_newton_stops_on_stagnation_at_round_off():
    def stalls(size, shrunk, iteration=4):
        return is_converged_after(
            size, previous_size(size, shrunk), iteration, SOLVED, False, NEGLIGIBLE_CORRECTION
        )

    assert stalls(0.9e-7, 0.35)
    assert stalls(1e-9, 2.0)
    assert not stalls(0.9e-7, 0.35, iteration=3)
    assert not stalls(0.9e-7, 0.25)
    assert not stalls(1.1e-7, 0.35)
