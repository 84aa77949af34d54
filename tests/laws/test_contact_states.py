"""Transfer of bristles from one contact list to the next: which bristle continues in which window, and with which force.

test_contact_runs.py asserts that a new list causes no slip.
"""

from __future__ import annotations

import numpy as np
import pytest

from discretization.contact.contact_patches import ContactPatch, transfer_bristles
from discretization.contact.contact_patches import match_patches as carried_on


def test_bristle_continues_in_the_window_at_its_position() -> None:
    points = np.array([[0.0, 0, 1], [0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [4, 0, 0]])
    old = [ContactPatch(0, 0, (0,), (1, 2, 3, 4)), ContactPatch(1, 0, (0,), (1, 2))]
    assert carried_on(points, old, [ContactPatch(0, 0, (0,), (1, 2, 3))]).tolist() == [0, -1]
    apart = [
        ContactPatch(0, 0, (0,), (4, 5)),
        ContactPatch(0, 0, (0,), (1, 2)),
        ContactPatch(1, 1, (0,), (1, 2)),
    ]
    assert carried_on(points, old, apart).tolist() == [1, -1]
    halves = [
        ContactPatch(0, 0, (0,), (1, 2)),
        ContactPatch(0, 0, (0,), (2, 3, 4)),
    ]  # the nearest node is the same for both
    assert carried_on(points + [[2.0, 0, 0]] * (np.arange(6) == 0)[:, None], halves, halves).tolist() == [
        0,
        1,
    ]


def test_merged_bristles_carry_their_sum_and_gain_no_energy() -> None:
    bristles = np.random.default_rng(3).normal(size=(7, 4))
    bristles[:, 3] = 0, 1, 1, 1, 0, 1, 1
    bristles[3, :3] = -0.5 * bristles[2, :3]
    transferred = transfer_bristles(bristles, np.array([2, 0, 1, 1, 3, 3, -1]), 5)
    assert np.array_equal(transferred[[2, 0]], bristles[[0, 1]])
    assert transferred[1, :3] == pytest.approx(0.5 * bristles[2, :3], rel=1e-14)
    assert transferred[:, 3].tolist() == [1, 1, 0, 0, 0]  # one sticking bristle makes the merged one stick
    assert not transferred[4].any()
    bristles[5, :3] = 2.0 * bristles[4, :3]  # the energy of their sum would be 9/5 of the energy of both
    transferred = transfer_bristles(bristles, np.array([2, 0, 1, 1, 3, 3, -1]), 5)
    assert transferred[3, :3] == pytest.approx(np.sqrt(5.0) * bristles[4, :3], rel=1e-14)
