"""Compiled parameters of planar models equal those of NumPy, vector by vector; first checks of the mirror symmetry."""

import numpy as np
import pytest

from discretization.planar.arrays import ANGLE, COINCIDENT, DISTANCE
from discretization.planar.mirror_symmetry import NO_AXIS, UNDECIDED, common_normal, model_extents
from discretization.planar.parameter_arrays import (
    aligned,
    frame_parameters,
    hinge_levers,
    row_parameters,
)
from discretization.planar.symmetry_input import Symmetry
from discretization.planar.symmetry_plane import find_symmetry_plane
from rigid import quaternions
from rodsim import Box, Model

CLOSE = {"rtol": 1e-14, "atol": 1e-15}


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def across(rng):
    """Rotations of four positions."""
    return quaternions.to_matrix(quaternions.normalize(rng.standard_normal((4, 4))))


def test_rows_have_the_components_and_lengths_of_their_vectors(rng, across):
    joined, constraint = np.array([[0, 3], [2, 1], [1, 0]]), np.array([4, 0, 2])
    row_kinds = np.array([COINCIDENT, DISTANCE, ANGLE])
    Xa, Xb, Ua, Ub = (rng.standard_normal((n, 3)) for n in (5, 5, 3, 3))
    Xa[2] = Xb[2] = 0.0  # points in the origins of their frames
    values = np.array([1.0, 2.0, 3.0, 4.0, -2.0])
    X, lengths = np.empty((4, 3, 2)), np.empty((3, 3))
    row_parameters((constraint, row_kinds, joined), (Xa, Xb), (Ua, Ub), values, across, X, lengths)
    for row, vectors, side in zip(X, (Xa[constraint], Xb[constraint], Ua, Ub), (0, 1, 0, 1), strict=True):
        expected = np.einsum("jab,jb->ja", across[joined[:, side], :2], vectors)
        np.testing.assert_allclose(row, expected, **CLOSE)
    reach = np.linalg.norm(Xa[constraint], axis=1) + np.linalg.norm(Xb[constraint], axis=1)
    np.testing.assert_allclose(lengths[0], np.maximum(reach, 1e-9), **CLOSE)
    np.testing.assert_allclose(lengths[1], reach + np.array([0.0, 1.0, 1.0]), **CLOSE)
    np.testing.assert_allclose(lengths[2], [1.0, np.sqrt(2.0), 1.0], **CLOSE)


def test_planar_bodies_have_the_masses_and_inertias_of_their_frames(rng, across):
    frame, mass = np.array([2, 5, 1, 0]), rng.uniform(1, 2, 6)  # the last row is the ground's
    root = rng.standard_normal((6, 3, 3))
    inertia = root @ root.transpose(0, 2, 1)
    parameters = np.empty((3, 3))
    frame_parameters(frame, mass, inertia, across, *parameters)
    frames, normal = frame[:3], across[:3, 2]
    about = np.einsum("ni,nij,nj->n", normal, inertia[frames], normal)
    gyration = np.sqrt(np.trace(inertia[frames], axis1=1, axis2=2) / mass[frames])
    np.testing.assert_allclose(parameters, [mass[frames], about, gyration], **CLOSE)


def test_levers_are_ordered_by_frame(rng):
    X = rng.standard_normal((4, 3, 2))
    sign, lever = np.full(4, 7.0), np.full((4, 4), 7.0)
    hinge_levers((np.array([0, 3]), np.array([2, 1]), np.array([True, False])), X, sign, lever)
    assert sign.tolist() == [1.0, 1.0, 1.0, -1.0]
    a, b = X[:2]
    expected = [[*b[2], *a[2]], [0] * 4, [0] * 4, [*a[1], *b[1]]]
    np.testing.assert_array_equal(lever, expected)


@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("number", [0.5, -2.0, np.nextafter(1.0, 2.0)])
def test_single_number_other_than_a_sign_prevents_alignment(index, number):
    numbers = [-np.eye(3), np.zeros((2, 8)), np.ones((2, 3, 3)), np.ones((1, 3))]
    assert aligned(*numbers)
    numbers[index].flat[-1] = number
    assert not aligned(*numbers)


def test_common_normal_is_found_only_if_vectors_determine_it(rng):
    for axis in range(3):
        perpendicular = np.delete(np.eye(3), axis, axis=0)
        gram = np.zeros((3, 3))
        assert common_normal(np.zeros((2, 3)), gram) == UNDECIDED
        line = np.outer([1.0, -2.0], perpendicular[0] + 0.3 * perpendicular[1])
        assert common_normal(line, gram) == UNDECIDED
        assert common_normal(1e-9 * line, gram) == UNDECIDED
        assert common_normal(perpendicular[1:], gram) == axis  # with the previous vectors
        assert common_normal(np.eye(3)[axis : axis + 1], gram) == NO_AXIS
    assert common_normal(rng.standard_normal((3, 3)), np.zeros((3, 3))) == NO_AXIS


def test_second_direction_is_detected_in_any_unit():
    for unit in (1e-6, 1.0, 1e6):
        for offset, expected in ((1e-4, 2), (1e-6, UNDECIDED)):
            vectors = unit * np.array([[1.0, 1.0, 0.0], [1.0, 1.0 + offset, 0.0]])
            assert common_normal(vectors, np.zeros((3, 3))) == expected


def test_model_extents_are_size_and_distance_from_the_origin():
    r = np.array([[90.0, 0, 0], [1.0, 2.0, -3.0], [0.0, 6.0, -3.0], [1.0, 2.0, -2.5]])
    assert model_extents(r, np.array([1, 2, 3])) == (4.0, 6.0)


@pytest.mark.parametrize(
    ("moved", "reason"),
    [
        ({"position": (2.0, 0.5, 0.0)}, "its parts do not lie in one plane"),
        ({"angular_velocity": (0.0, 0.0, 1.0)}, "gravity is not in the plane"),
        ({"velocity": (0.0, 1.0, 0.0)}, "gravity is not in the plane"),
    ],
)
def test_plane_detection_checks_positions_then_gravity_then_velocities(moved, reason):
    model = Model("flight", gravity=(0.0, 5.0, -9.81))
    model.add_body("a", Box(1, 0.2, 0.3, density=10), angular_velocity=(0, 3.0, 0))
    model.add_body("b", Box(1, 0.2, 0.3, density=10), **{"position": (2.0, 0.0, 1.0), **moved})
    built = model.build()
    candidate = Symmetry(built.state, built.load_directions, np.array([0.0, 1.0, 0.0]))
    assert find_symmetry_plane(built.system, candidate) == reason


def hinged(kind, **settings):
    """A bar in the plane y = 0 on the ground."""
    model = Model("hinged", gravity=(0.0, 0.0, -9.81))
    bar = model.add_body("bar", Box(1, 0.2, 0.3, density=10), (0.5, 0.0, 0.0))
    model.add_joint("joint", kind, bar, model.ground, at=(0.0, 0.0, 0.0), **settings)
    return model.build()


def find_plane(built, system=None):
    symmetry = Symmetry(built.state, built.load_directions, np.array([0.0, 1.0, 0.0]))
    return find_symmetry_plane(built.system if system is None else system, symmetry)


@pytest.mark.parametrize("other_axis", ["rx", "rz"])
def test_locked_rotation_about_the_normal_and_another_axis_is_one_angle_row(other_axis):
    """A joint that locks rotations about y, the normal, and about an axis in the plane has one angle row."""
    plane = find_plane(hinged("generic", locked=("x", "y", "z", "ry", other_axis)))
    assert [row.sort for row in plane.rows].count(ANGLE) == 1
    assert not any(row.sort == ANGLE for row in find_plane(hinged("revolute", axis=(0, 1, 0))).rows)


def test_hinge_oblique_to_the_plane_prevents_symmetry():
    built = hinged("revolute", axis=(0, 1, 0))
    value = np.where(built.system.constraints.kind == built.system.constraints.kind[-1], 0.1, 0.0)
    oblique = built.system._replace(constraints=built.system.constraints._replace(value=value))
    assert "at an angle to the plane" in find_plane(built, oblique)


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
def test_rows_of_one_joint_are_examined_individually():
    """A hinge and its stop, also treated as one joint: the rows of the hinge are dropped, one row of the stop
    remains.
    """
    model = Model("stopped", gravity=(0.0, 0.0, -9.81))
    bar = model.add_body("bar", Box(1, 0.2, 0.3, density=10), (0.5, 0.0, 0.0))
    model.add_joint("hinge", "revolute", bar, model.ground, at=(0.0, 0.0, 0.0), axis=(0, 1, 0))
    model.add_joint("stop", "generic", bar, model.ground, at=(0.0, 0.0, 0.0), locked=("rx", "ry"))
    built = model.build()
    constraints = built.system.constraints
    together = built.system._replace(constraints=constraints._replace(joint=np.zeros_like(constraints.joint)))
    for system in (built.system, together):
        assert [row.sort for row in find_plane(built, system).rows].count(ANGLE) == 1
