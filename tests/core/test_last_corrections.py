"""Newton's corrections as turns: the last two tell what the next one would be, where tangents are new and where they are not."""

import numpy as np
import pytest

from discretization.time.last_correction import NOTHING, is_last, may_go_again

SOLVED = 4.0  # residual/noise that counts as solved: less than NOTHING


def after(size, shrunk):
    """The correction before one of this size that shrank so."""
    return size / shrunk


@pytest.mark.parametrize("iteration", [1, 2, 9])
def test_the_first_correction_of_a_step_is_the_last_where_its_square_is_nothing(iteration):
    assert is_last(4e-9, 0.0, iteration, SOLVED, False, NOTHING)
    assert not is_last(5e-9, 0.0, iteration, SOLVED, False, NOTHING)


def test_with_old_tangents_half_of_the_turn_since_is_left_of_a_correction_however_little_it_seems():
    for size, before in ((1e-12, 1e-4), (1e-11, 1e-5)):  # it shrank to less
        assert not is_last(size, before, 2, SOLVED, True, NOTHING)
        assert is_last(0.3 * size, before, 2, SOLVED, True, NOTHING)
    assert not is_last(1e-12, after(1e-12, 1e-3), 2, SOLVED, True, NOTHING)  # it shrank to more


def test_tangents_are_kept_where_what_that_leaves_of_the_next_correction_is_nothing():
    """The next one is expected to be the square of this one times what chains of so many bodies are curved, and to shrink by the
    square of what this one did, but not to less than so much times its turn.
    """
    size, ten = 1e-6, 10  # curved by 1
    for expected, kept in ((1.5e-5, True), (3e-5, False)):  # their product with size^2
        assert may_go_again(size, after(size, np.sqrt(expected)), NOTHING, ten) == kept
    for bodies, size, kept in (
        (10, 2.6e-6, True),
        (10, 2.8e-6, False),
        (100, 1.1e-6, True),
        (100, 1.2e-6, False),
    ):
        assert may_go_again(size, 0.0, NOTHING, bodies) == kept
        assert may_go_again(size, after(size, 1e-7), NOTHING, bodies) == kept
    assert may_go_again(1.05e-6, 0.0, NOTHING, 10_000)


def test_an_iteration_ends_that_stands_still_in_round_off_but_not_before_its_fourth_nor_far_from_it():
    def stalls(size, shrunk, iteration=4):
        return is_last(size, after(size, shrunk), iteration, SOLVED, False, NOTHING)

    assert stalls(0.9e-7, 0.35)
    assert stalls(1e-9, 2.0)
    assert not stalls(0.9e-7, 0.35, iteration=3)
    assert not stalls(0.9e-7, 0.25)
    assert not stalls(1.1e-7, 0.35)
