"""Markers of all joints equal those computed by quaternions one by one; bodies of one shape share drawing arrays."""

import numpy as np

from rigid import quaternions
from rodsim import Box, Model
from rodsim.building.joint_markers import markers


def test_markers_are_bitwise_points_and_axes_in_body_frames():
    rng = np.random.default_rng(3)
    r, quat = rng.standard_normal((4, 3)), quaternions.normalize(rng.standard_normal((4, 4)))
    frames, points = np.array([2, 0, 3, 3, 1]), rng.standard_normal((5, 3))
    triads = quaternions.to_matrix(quaternions.normalize(rng.standard_normal((5, 4))))
    X, axes = np.empty((5, 3)), np.empty((5, 3, 3))
    markers(frames, points, triads, (r, quat), X, axes)
    inverse = quaternions.conjugate(quat[frames])
    assert np.array_equal(X, quaternions.rotate(inverse, points - r[frames]))
    turned = quaternions.rotate(inverse[:, None], triads.transpose(0, 2, 1)).transpose(0, 2, 1)
    assert np.array_equal(axes, turned)


def test_rotation_of_no_vectors_is_empty():
    none = quaternions.rotate(np.zeros((0, 4)), np.zeros((0, 3)))
    assert none.shape == (0, 3)


def test_bodies_of_one_shape_share_drawing_arrays():
    model = Model("boxes")
    shape, other = Box(1, 0.2, 0.3, density=10), Box(1, 0.2, 0.4, density=10)
    for k, body_shape in enumerate((shape, other, shape)):
        model.add_body(f"body {k}", body_shape, (2.0 * k, 0, 0))
    a, b, c = model.build().layout.bodies
    assert [(part.name, part.frame) for part in (a, b, c)] == [("body 0", 1), ("body 1", 2), ("body 2", 3)]
    assert a.vertices is c.vertices
    assert np.array_equal(a.vertices, shape.vertices - shape.center)
    assert not np.array_equal(a.vertices, b.vertices)
