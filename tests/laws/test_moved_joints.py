"""Joint forces after an equilibrium has moved the ground side of joints: static balance by hand, for every way to read the
result.
"""

import numpy as np
import pytest

from rigid import quaternions
from rodsim import Box, Model, Result, audit, compare, equilibrium, simulate
from rodsim.reporting.motion import motion
from rodsim.reporting.thinning import thinning
from tests.support.moved_joints import FORCE, MOMENT, cantilever


def rotated_cantilever(angle, axis=(0.6, 0.0, 0.8), displacement=(0.2, -0.1, 0.4)):
    """The cantilever with its clamp rotated about a point other than the clamp's, and shifted."""
    motions = {
        "rotation": np.radians(angle) * np.array(axis),
        "displacement": displacement,
        "about": (0, 1, 0),
    }
    return equilibrium(cantilever(), motions={"clamp": motions})


def assert_carried(result):
    """The clamp transfers to the ground, its part b, the load moments about it, at every load factor."""
    joint, rod, factor = result.joint("clamp"), result.rod("rod"), result.t[:, None]
    expected = factor * (MOMENT + np.cross(rod.r[:, -1] - rod.r[:, 0], FORCE))
    assert joint.force == pytest.approx(factor * FORCE, abs=1e-6)
    assert joint.moment == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("angle", [0, 30, 60, 90, 120])
def test_moved_clamp_carries_the_moment_of_the_loads(angle):
    result = rotated_cantilever(angle)
    assert_carried(result)
    assert np.linalg.norm(result.joint("clamp").moment[-1]) > 10.0
    # no part of it is relative to the ground: the clamp is closed, and its axes rotate with the ground
    joint, R = result.joint("clamp"), quaternions.to_matrix
    rotation = quaternions.from_rotation_vector(
        np.radians(angle) * result.t[:, None] * np.array([0.6, 0.0, 0.8])
    )
    assert joint.offset == pytest.approx(np.zeros((len(result.t), 3)), abs=1e-12)
    assert joint.axes == pytest.approx(R(rotation) @ joint.axes[0], abs=1e-12)
    assert result.constraint_residual.max() < 1e-12
    assert audit(result).ok


def test_file_dataset_and_comparison_have_the_same_forces(tmp_path):
    result = rotated_cantilever(60)
    motions = {"rotation": np.radians(60) * np.array([0.6, 0.0, 0.8]), "displacement": (0.2, -0.1, 0.4)}
    path = tmp_path / "moved.vtkhdf"
    equilibrium(cantilever(), motions={"clamp": {**motions, "about": (0, 1, 0)}}, output=path)
    stored = Result.load(path)
    assert_carried(stored)
    joint = result.joint("clamp")
    for name in ("force", "moment", "axes", "offset"):
        assert np.array_equal(getattr(stored.joint("clamp"), name), getattr(joint, name))
    assert np.array_equal(joint.table()["moment_y"], joint.moment[:, 1])
    assert np.array_equal(stored.constraint_residual, result.constraint_residual)
    assert audit(stored).ok
    assert max(row.largest for row in compare(result, stored).rows) == 0.0
    data = stored.to_xarray()
    assert np.array_equal(data["joint_moment"].sel(joint="clamp"), joint.moment)


D, TURN = np.array([0.3, 0.0, 0.1]), 5.0


def door(ground_first=True):
    """A door moves with the ground side of its hinge, which also rotates about the axis: a spring to the world keeps the door
    from rotating with it.
    """
    model = Model("door", gravity=(0, 0, -10.0))
    body = model.add_body("body", Box(1.0, 0.2, 0.4, density=100.0), (0.5, 0.0, 0.0))
    pivot = body.at((-0.5, 0.0, 0.0))
    sides = (model.ground, pivot) if ground_first else (pivot, model.ground)
    model.add_joint("hinge", "revolute", *sides, at=(0, 0, 0), axis=(0, 0, 1))
    model.add_spring("spring", model.ground, body, 200.0, along="rotation", axis=(0, 0, 1))
    return equilibrium(model, motions={"hinge": {"displacement": D, "rotation": (0, 0, TURN)}})


@pytest.mark.parametrize("ground_first", [True, False])
def test_either_side_of_a_hinge_may_be_the_ground(ground_first):
    """The weight of 80 N hangs half a metre from the hinge."""
    result = door(ground_first)
    joint, t, sign = result.joint("hinge"), result.t, 1.0 if ground_first else -1.0
    assert result.body("body").r - (0.5, 0, 0) == pytest.approx(t[:, None] * D, abs=1e-12)
    # gravity grows with the factor: the force of the hinge on its part b
    assert joint.force == pytest.approx(sign * t[:, None] * (0, 0, 80.0), abs=1e-9)
    assert joint.moment == pytest.approx(sign * t[:, None] * (0, -40.0, 0), abs=1e-9)
    assert joint.offset == pytest.approx(np.zeros((len(t), 3)), abs=1e-12)
    # counted through most of a turn
    assert joint.angle == pytest.approx(-sign * TURN * t, abs=1e-12)
    assert result.constraint_residual.max() < 1e-12


@pytest.mark.parametrize("ground_first", [True, False])
def test_report_markers_are_at_the_joint(ground_first):
    result = door(ground_first)
    marks = motion(result, thinning(result.layout, result.n_outputs)).joints
    assert marks[:, 0] == pytest.approx(result.t[:, None] * D, abs=1e-12)


def test_continued_runs_and_equilibria_keep_moved_joints():
    """From equilibrium to equilibrium to run: each moves the clamp on, or keeps its position."""
    first = rotated_cantilever(60)
    back = {"rotation": np.radians(-20) * np.array([0.0, 1.0, 0.0]), "displacement": (0.0, 0.1, 0.0)}
    second = equilibrium(cantilever(), start=first, motions={"clamp": back})
    assert second.joint("clamp").offset == pytest.approx(np.zeros((len(second.t), 3)), abs=1e-12)
    assert second.rod("rod").r[-1, 0] - first.rod("rod").r[-1, 0] == pytest.approx((0, 0.1, 0), abs=1e-12)
    third = equilibrium(cantilever(), start=second)
    run = simulate(cantilever(), 1e-5, 1e-5, start=third, progress=False)
    for result in (second, third, run):
        joint, rod = result.joint("clamp"), result.rod("rod")
        expected = MOMENT + np.cross(rod.r[-1, -1] - rod.r[-1, 0], FORCE)
        assert joint.force[-1] == pytest.approx(FORCE, abs=1e-4)
        assert joint.moment[-1] == pytest.approx(expected, abs=1e-4)
        assert joint.offset[-1] == pytest.approx(np.zeros(3), abs=1e-12)
        assert joint.axes[-1] == pytest.approx(second.joint("clamp").axes[-1], abs=1e-9)
        assert result.constraint_residual.max() < 1e-12
        assert audit(result).ok
    assert second.description["start"]["moved"] == run.description["start"]["moved"] == ["clamp"]
