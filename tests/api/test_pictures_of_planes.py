"""Pictures of planar motions.

Default cameras along the normal of the plane, markers of bodies without surface, captions of equilibria.
"""

import numpy as np
import pytest

from rigid import quaternions
from rigid.system import State
from rodsim import render, render_movie
from rodsim.results import COLUMNS, Layout, MemoryWriter, labels
from rodsim.results.camera import plane_of_motion, upward, view_direction
from rodsim.results.equilibrium_text import OutputLabels
from rodsim.results.layout import BodyLayout
from rodsim.results.view_setup import ViewSetup

Z = np.array([0.0, 0.0, 1.0])
NONE = np.zeros((0, 3))
AXES = {
    "x": np.array([1.0, 0, 0]),
    "y": np.array([0, 1.0, 0]),
    "z": Z,
    "inclined": np.array([1.0, 0, 1.0]) / np.sqrt(2),
    "askew": np.array([1.0, 2.0, 0.5]) / np.sqrt(5.25),
}


def swinging_poses(axis, thick=0.1, through=0.0):
    """Poses of two frames that swing about an axis in parallel planes, at 7 times; points of bars of this
    thickness.
    """
    side = np.cross(axis, [0.3, 0.5, -0.7])
    side /= np.linalg.norm(side)
    angles = np.linspace(0.0, 1.0, 7)
    quat = quaternions.from_rotation_vector(angles[:, None, None] * axis * np.ones((1, 2, 1)))
    arms = np.array([side, 2.0 * side + through * axis])
    r = quaternions.rotate(quat, arms)
    points = np.concatenate([(r + sign * thick * axis).reshape(-1, 3) for sign in (-1.0, 1.0)])
    return r, quat, points


@pytest.mark.parametrize("name", AXES)
@pytest.mark.parametrize("through", [0.0, 0.3])
def test_normal_of_a_planar_motion_is_its_rotation_axis(name, through):
    r, quat, _ = swinging_poses(AXES[name], through=through)
    assert abs(plane_of_motion(r, quat) @ AXES[name]) == pytest.approx(1.0, abs=1e-12)


def test_spatial_linear_and_zero_motions_have_no_plane():
    r, quat, _ = swinging_poses(AXES["y"])
    assert plane_of_motion(r[:1], quat[:1]) is None
    assert plane_of_motion(r[[0, 0]], quat[[0, 0]]) is None
    out = r.copy()
    out[-1, 0] += 0.1 * AXES["y"]
    assert plane_of_motion(out, quat) is None
    rotated = quat.copy()
    rotated[-1, 1] = quaternions.from_rotation_vector([0.3, 0.0, 0.0])
    assert plane_of_motion(r, rotated) is None
    still = np.tile(quat[0], (7, 1, 1))
    assert plane_of_motion(np.linspace(0, 1, 7)[:, None, None] * np.ones((1, 2, 3)), still) is None
    # translation along a circle: plane from displacements alone; rotation about a fixed point: from its axis alone
    assert abs(plane_of_motion(r, still) @ AXES["y"]) == pytest.approx(1.0)
    assert abs(plane_of_motion(0.0 * r, quat) @ AXES["y"]) == pytest.approx(1.0)


@pytest.mark.parametrize("name", AXES)
def test_camera_looks_along_the_normal_of_a_planar_mechanism(name):
    axis = AXES[name]
    r, quat, points = swinging_poses(axis, thick=0.35)
    direction, up = view_direction(points, upward(None), plane_of_motion(r, quat))
    assert abs(direction @ axis) > 0.9
    assert abs(direction @ up) < 0.99
    assert np.linalg.norm(np.cross(up, direction)) > 0.1
    assert direction @ Z > -1e-9  # from above


def test_camera_is_unchanged_for_a_model_thicker_than_its_plane():
    r, quat, points = swinging_poses(Z, thick=3.0)  # a door
    assert np.array_equal(
        view_direction(points, Z, plane_of_motion(r, quat))[0], view_direction(points, Z)[0]
    )


def pendulums(statics=None, faces=False):
    """A result of two bodies without surfaces that swing in the plane yz."""
    r, quat, _ = swinging_poses(AXES["x"])
    triangle = (
        (np.array([(0, 0, 0), (0.3, 0.2, 0), (0, 0, 0.3)]), np.array([(0, 1, 2)])) if faces else (NONE, NONE)
    )
    bodies = [BodyLayout(name, k + 1, np.zeros(3), *triangle) for k, name in enumerate(("inner", "outer"))]
    layout = Layout("pendulums", [], bodies, [], n_frames=3, gravity=np.array([0, 0, -9.81]))
    if statics is not None:
        layout.description["statics"] = {"method": "newton", "load_factor": statics}
    writer = MemoryWriter(layout)
    shapes = layout.state_shapes()
    for i in range(len(r)):
        arrays = {name: np.zeros(shape) for name, shape in shapes.items()}
        arrays["r"][1:], arrays["quat"][:] = r[i], (1.0, 0, 0, 0)
        arrays["quat"][1:] = quat[i]
        writer.append(0.1 * i, i, State(**arrays), *np.zeros((2, 0, 6)), dict.fromkeys(COLUMNS, 0.0))
    writer.close()
    return writer.result()


def test_bodies_without_a_surface_are_drawn_at_their_centres_of_mass_in_their_colours():
    result = pendulums()
    stage = ViewSetup(result, (320, 200), None, None, False, None, [0, 6])
    camera = stage.camera([0, 6])
    vertices, owner = stage.shape.place(result.state(6)), stage.shape.owner
    colors = stage.colors(0.6, 0.0, overlaid=False)
    for k, (_, color) in enumerate(stage.legend):
        of_body = owner == k
        centre = vertices[of_body].mean(axis=0)
        np.testing.assert_allclose(centre, result.state(6).r[k + 1], atol=1e-12)
        np.testing.assert_allclose(colors[of_body], np.tile(color, (of_body.sum(), 1)))
    pixels, _ = camera.project(vertices, 320, 200)
    assert pixels.min() > 0
    assert np.all(pixels < [320, 200])
    picture = render(result, times=[0.0, 0.6], size=(320, 200), labels=False)
    for x, y in np.round(camera.project(result.state(6).r[1:], 320, 200)[0]).astype(int):
        assert picture[y - 2 : y + 3, x - 2 : x + 3].min() < 200


def test_body_markers_rotate_with_their_body():
    result = pendulums()
    stage = ViewSetup(result, (320, 200), None, None, False, None)
    first, last = (stage.shape.place(result.state(i)) for i in (0, 6))
    quat = result.state(6).quat[1:2]
    of_body = stage.shape.owner == 0
    arms = first[of_body] - result.state(0).r[1]
    expected = result.state(6).r[1] + quaternions.rotate(quat, arms)
    np.testing.assert_allclose(last[of_body], expected, atol=1e-12)


def test_bodies_with_a_surface_have_no_marker():
    result = pendulums(faces=True)
    stage = ViewSetup(result, (320, 200), None, None, False, None)
    assert len(stage.shape.faces) == 2


def test_default_render_camera_looks_along_the_normal():
    stage = ViewSetup(pendulums(), (320, 200), None, None, False, None)
    assert abs(stage.camera([0, 3, 6]).axes[0, 2]) > 0.95
    assert abs(stage.camera([3]).axes[0, 2]) > 0.95  # also with one output


def test_pictures_of_equilibria_show_the_load_factor(monkeypatch, tmp_path):
    captions = []
    for name in ("write_text", "write_bar"):
        real = getattr(labels, name)
        monkeypatch.setattr(
            labels, name, lambda canvas, *words, real=real: captions.append(words[-1]) or real(canvas, *words)
        )
    factors = [0.0, 0.5, 1.0, 1.5, 1.3, 0.7, 0.21]
    equilibria, run = pendulums(factors), pendulums()
    render(equilibria, times=0.3, size=(160, 100))
    render(equilibria, size=(160, 100))
    render_movie(equilibria, tmp_path / "a.gif", speed=1.0, fps=5, size=(160, 100))
    assert captions[0] == "load factor = 1.5"
    assert captions[1] == ("load factor = 0.00", "0.21")
    assert captions[2:] == [f"load factor = {x}" for x in ("0.0", "1.0", "1.3", "0.2")]
    captions.clear()
    render(run, times=0.3, size=(160, 100))
    render(run, size=(160, 100))
    assert captions == ["t = 0.3 s", ("t = 0.00 s", "0.60 s")]


def test_label_values_between_outputs_are_interpolated_linearly():
    clock = OutputLabels(np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 1.0]), "load factor", "")
    assert clock.words(2.0, 2) == "load factor = 1.50"
    assert clock.span(0.0, 3.0, 1) == "load factor = 0.0 to 1.0"
