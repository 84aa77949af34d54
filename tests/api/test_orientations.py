"""Orientations may be quaternions, rotation matrices or rotations of scipy; in scenes Euler's angles and two directions, too."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rigid import quaternions
from rodsim import Box, Model, align

QUAT = np.array([0.5, -0.1, 0.7, 0.2]) / np.linalg.norm([0.5, -0.1, 0.7, 0.2])
FORMS = {
    "quaternion": QUAT,
    "list": QUAT.tolist(),
    "matrix": quaternions.to_matrix(QUAT),
    "rows": quaternions.to_matrix(QUAT).tolist(),
    "rotation": Rotation.from_quat(np.roll(QUAT, -1)),
}


def same_rotation(p, q):
    return min(np.abs(p - q).max(), np.abs(p + q).max()) < 1e-14


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_orientation(form):
    model = Model("m")
    body = model.add_body("a", Box(1, 1, 1, mass=1), orientation=FORMS[form])
    cart = model.add_driven("b", orientation=FORMS[form])
    assert same_rotation(body.orientation, QUAT)
    assert same_rotation(cart.orientation, QUAT)


@pytest.mark.parametrize("form", FORMS)
def test_an_attitude_may_return_every_form(form):
    turned = {"quaternion": np.asarray, "list": np.ndarray.tolist, "matrix": quaternions.to_matrix}
    turned |= {"rows": lambda q: quaternions.to_matrix(q).tolist()}
    turned |= {"rotation": lambda q: Rotation.from_quat(np.roll(q, -1))}

    def quaternion(t):
        return quaternions.from_axis_angle((0.0, 0.6, 0.8), 0.3 + 2.0 * t)

    one, other = (
        Model("m").add_driven("b", attitude=attitude).motion(np.linspace(0.0, 1.0, 5))
        for attitude in (quaternion, lambda t: turned[form](quaternion(t)))
    )
    for a, b in zip(one, other, strict=True):
        assert np.abs(a - b).max() < 1e-12


DIRECTIONS = [
    (1, 0, 0),
    (0, 1, 0),
    (0, 0, -2),
    (1, 2, 3),
    (-1, -2, -3),
    (1, 2, 3 + 1e-9),
    (-1, -2, -3 + 1e-7),
]


@pytest.mark.parametrize("a", DIRECTIONS)
@pytest.mark.parametrize("b", DIRECTIONS)
def test_the_aligning_rotation_takes_one_direction_to_the_other_by_the_angle_between_them(a, b):
    q = align(a, b)
    u, v = (np.array(x) / np.linalg.norm(x) for x in (a, b))
    assert quaternions.rotate(q, u) == pytest.approx(v, abs=1e-8)
    angle = np.linalg.norm(quaternions.to_rotation_vector(q))
    assert angle == pytest.approx(2.0 * np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v)), abs=1e-8)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)


SCENE = """
bodies: [{{name: block, shape: {{type: box, size: [1, 1, 1], mass: 1}}, orientation: {orientation}}}]
run: {{t_end: 0.1, dt: 0.01}}
"""


@pytest.fixture
def orientation(tmp_path):
    """Of the body of a scene that says it in these words."""

    def loaded(text):
        (tmp_path / "scene.yaml").write_text(SCENE.format(orientation=text))
        return Model.load(tmp_path / "scene.yaml").bodies["block"].orientation

    return loaded


def test_scenes_have_angles_of_euler_and_directions(orientation):
    found = orientation("{align: [0, 0, 1], with: [1, 0, 2]}")
    assert np.array_equal(found, align((0, 0, 1), (1, 0, 2)))
    x, y = (quaternions.from_axis_angle(axis, np.radians(30)) for axis in ((1, 0, 0), (0, 1, 0)))
    assert same_rotation(orientation("{euler: xyz, angles_deg: [30, 30, 0]}"), quaternions.multiply(y, x))
    assert same_rotation(orientation("{euler: XYZ, angles_deg: [30, 30, 0]}"), quaternions.multiply(x, y))
