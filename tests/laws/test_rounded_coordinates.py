"""Values that are zero up to round-off decide nothing: models off by about 1e-16 behave like exact ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from discretization.characteristic_length import extent
from discretization.linearisation.saddle_point import SaddlePointSolver
from rodsim import Box, Model, equilibrium, modes

OFF = (2e-16, -1e-16, 3e-16)


@pytest.mark.parametrize("off", [(0.0, 0.0, 0.0), OFF])
def test_body_at_the_origin_up_to_round_off_has_equilibrium_and_modes(off) -> None:
    model = Model("vane")
    vane = model.add_body("vane", Box(0.3, 0.2, 0.1, mass=2.0), position=off)
    model.add_joint("rail", "prismatic", model.ground, vane, at=(0, 0, 0), axis=(1, 0, 0))
    model.add_spring("spring", model.ground.at((-1, 0, 0)), vane.at((0, 0, 0)), 40.0)
    model.add_force("push", vane.at((0, 0, 0)), (4.0, 0, 0))
    static_solution = equilibrium(model)
    assert static_solution.joint("rail").displacement[-1] == pytest.approx(0.1, rel=1e-12)
    del model.loads["push"]
    assert modes(model, 1).frequency[0] == pytest.approx(np.sqrt(20.0) / (2 * np.pi), rel=1e-9)


def test_coincident_points_up_to_round_off_have_no_extent() -> None:
    r = np.array([[0.0, 0.0, 0.0], OFF])
    assert extent(r) == 1.0
    assert extent(r, 0.3) == 0.3
    assert extent(1e3 + r, 0.3) == 0.3
    assert extent(1e-6 * np.eye(3)) == 1e-6


def test_round_off_diagonal_entries_do_not_scale_joint_rows() -> None:
    """Two springs in series between a joint and a load; two degrees of freedom that only joints involve."""
    solutions = []
    for rounding in (0.0, 1e-27):
        A = csr_matrix(np.diag([100.0, 1e5, rounding, rounding]))
        G = csr_matrix(np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, -2.0]]))
        b = np.array([1.0, 2.0, 3.0, 4.0])
        solutions.append(SaddlePointSolver(A, G).solve(b))
    assert solutions[0] == pytest.approx([-0.02, 4e-5, 0.02, 2e-5], rel=1e-12)
    assert solutions[1] == pytest.approx(solutions[0], rel=1e-12)
