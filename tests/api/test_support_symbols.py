"""Symbols in pictures: supports, driven frames, axes and a scale bar."""

import numpy as np
import pytest

from rigid import quaternions
from rodsim import Box, Material, Model, Section, equilibrium, render, signals, simulate
from rodsim.results import labels, support_symbols
from rodsim.results.camera import Camera
from rodsim.results.canvases import FlatCanvas
from rodsim.results.view_setup import ViewSetup
from tests.support.posed_shapes import triangles_of

SIZE = (320, 200)
UP = np.array([0.0, 0.0, 1.0])
ROUND = Section.circular(0.01, Material(E=1e7, nu=0.4, density=1000))
SUPPORT, X, Y, Z = range(4)  # owner numbers, after those of the parts


def model():
    """A rod clamped at the origin and driven at its other end by a rotating frame."""
    new_model = Model("m")
    rod = new_model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], ROUND, 4)
    way = signals.Steady(1.0).along((0, 1, 0))
    hand = new_model.add_driven("hand", (1, 0, 0.2), displacement=way, turn=signals.Steady(0.5), axis=UP)
    block = new_model.add_body("block", Box(0.1, 0.1, 0.1, mass=1), (0.5, 0, -0.5))
    new_model.add_joint("root", "clamp", rod.start)
    new_model.add_joint("slide", "prismatic", new_model.ground.at((0.5, 0, -0.5)), block, axis=(1, 0, 0))
    new_model.add_spring("pull", rod.end, hand.at((0, 0, 0)), 1.0)
    return new_model


def volume(triangles):
    a, b, c = triangles.transpose(1, 0, 2)
    return np.einsum("ni,ni->", a, np.cross(b, c)) / 6


def test_support_symbol_is_a_closed_solid_at_the_joint():
    built = model().build()
    triangles = triangles_of(support_symbols.supports(built.layout, 2.0, UP, 0), built.state, SUPPORT)
    block, cone = triangles[:12], triangles[12:]
    side = 2.0 * support_symbols.SIZE + 2 * 0.01  # the rod's radius: the block protrudes from it
    assert volume(block) == pytest.approx(side**3, rel=1e-12)
    corners = block.reshape(-1, 3)
    assert np.allclose(corners.min(axis=0), [-side, -side / 2, -side / 2])
    assert np.allclose(corners.max(axis=0), [0, side / 2, side / 2])
    side = 2.0 * support_symbols.SIZE + 1.5 * 0.05  # half of the box
    area = 0.5 * support_symbols.SIDES * (0.5 * side) ** 2 * np.sin(2 * np.pi / support_symbols.SIDES)
    assert volume(cone) == pytest.approx(area * side / 3, rel=1e-12)
    assert np.allclose(cone.reshape(-1, 3).max(axis=0)[2], -0.5)  # the apex at the joint, the rest below
    assert np.allclose(cone.reshape(-1, 3).min(axis=0)[2], -0.5 - side)


def test_axes_symbol_moves_with_a_driven_frame():
    result = simulate(model(), 0.4, 0.02)
    drawn = list(support_symbols.supports(result.layout, 1.0, UP, 0))
    for i in (0, result.n_outputs - 1):
        t = float(result.t[i])
        rotation = quaternions.to_matrix(quaternions.from_rotation_vector(0.5 * t * UP))
        for k in (X, Y, Z):
            corners = triangles_of(drawn, result.state(i), k).reshape(-1, 3)
            local = (corners - [1.0, t, 0.2]) @ rotation
            size = np.full(3, support_symbols.THIN)
            size[k - X] = support_symbols.LENGTH + support_symbols.THIN / 2
            assert np.allclose(np.ptp(local, axis=0), size, rtol=0, atol=1e-9)
            assert local[:, k - X].max() == pytest.approx(support_symbols.LENGTH, abs=1e-9)


def test_support_symbol_moves_with_an_equilibrium():
    rod_model = Model("m")
    rod = rod_model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], ROUND, 4)
    rod_model.add_joint("root", "clamp", rod.start)
    statics = equilibrium(
        rod_model, motions={"root": {"displacement": (0, 0.3, 0.1), "rotation": (0, 0, np.pi / 2)}}
    )
    triangles = triangles_of(support_symbols.supports(statics.layout, 1.0, UP, 0), statics.state(-1), SUPPORT)
    # the root is also rotated about z by a right angle: the block is in front of it, along its section
    side = support_symbols.SIZE + 2 * 0.01
    assert np.allclose(triangles.reshape(-1, 3).mean(axis=0), (0, 0.3 - side / 2, 0.1), rtol=0, atol=1e-9)


@pytest.mark.parametrize("color", [None, "strain"])
def test_support_symbols_do_not_change_part_colours(color):
    result = simulate(model(), 0.1, 0.02)
    stage = ViewSetup(result, SIZE, None, None, False, color)
    stage.camera(range(result.n_outputs))
    owner = stage.shape.owner
    for overlaid, age in ((False, 0.0), (True, 1.0)):
        colors = stage.colors(0.0, age, overlaid)
        of_supports = owner >= 2
        assert np.array_equal(colors[of_supports], support_symbols.COLORS[owner[of_supports] - 2])
        assert len(np.unique(owner[~of_supports])) == 2


# --- axes and a scale bar


def pixels_of(picture, color):
    """Pixels (x, y) of a colour, (n, 2)."""
    near = np.abs(picture.astype(int) - np.round(255 * color)).max(axis=2) < 12
    return np.argwhere(near)[:, ::-1]


def with_axes(axes, pixel, size):
    """A picture of axes and scale bar."""
    with FlatCanvas(Camera(np.zeros(3), axes, 1.0), *size) as canvas:
        labels.write_axes(canvas, axes, pixel)
        return canvas.picture()


def test_coordinate_axes_follow_the_camera():
    # x to the right, z up, y away from the viewer; then x up, y to the left, z towards the viewer
    for axes, right, up in (
        (np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]), 0, 2),
        (np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]), None, 0),
    ):
        picture = with_axes(axes, 0.01, (1600, 1200))
        middle = pixels_of(picture, support_symbols.AXES[up])[:, 0].mean()
        low = pixels_of(picture, support_symbols.AXES[up])[:, 1].max()
        if right is not None:
            assert pixels_of(picture, support_symbols.AXES[right])[:, 0].mean() > middle + 5
            assert pixels_of(picture, support_symbols.AXES[right])[:, 1].mean() > low - 30
        else:
            assert pixels_of(picture, support_symbols.AXES[1])[:, 0].mean() < middle - 5
        assert picture[400:].min() == picture[:, :1200].min() == 255  # nowhere else


@pytest.mark.parametrize("pixel", [1e-6, 0.0013, 0.01, 0.04, 3.0])
def test_scale_bar_has_its_length(pixel):
    picture = with_axes(np.eye(3), pixel, (900, 600))
    dark = np.abs(picture.astype(int) - 255 * labels.INK).max(axis=2) < 60
    longest = max(int(np.ptp(np.flatnonzero(row))) + 1 if row.any() else 0 for row in dark)
    length = labels.nice_length(0.12 * 900 * pixel)
    assert abs(longest - length / pixel) <= 3
    assert 0.4 <= length / (0.12 * 900 * pixel) <= 1.0


@pytest.mark.parametrize(
    ("most", "length", "words"),
    [(1.0, 1.0, "1 m"), (0.99, 0.5, "0.5 m"), (4.9, 2.0, "2 m"), (0.012, 0.01, "0.01 m"), (0.0099, 0.005, "5 mm"),
     (999.0, 500.0, "500 m"), (1999.0, 1000.0, "1 km"), (2.5e-5, 2e-5, "0.02 mm")],
)  # fmt: skip
def test_scale_bar_lengths_are_1_2_5(most, length, words):
    assert labels.nice_length(most) == pytest.approx(length, rel=1e-12)
    assert labels.in_metres(labels.nice_length(most)) == words


def test_axes_and_scale_are_drawn_unless_labels_are_disabled():
    result = simulate(model(), 0.1, 0.02)
    size = (1200, 800)
    bare, labelled = (render(result, times=0.0, size=size, labels=labels) for labels in (False, True))
    for axis in support_symbols.AXES:
        assert len(pixels_of(labelled, axis)) > len(pixels_of(bare, axis)) + 10
    assert pixels_of(labelled, labels.INK).size > pixels_of(bare, labels.INK).size


@pytest.mark.parametrize("where", range(4))
def test_axes_and_scale_are_placed_in_a_free_corner(where):
    """A body in the middle and one far out: none of their points is covered."""
    boxes_model = Model("m")
    far = [(3, 0, 2), (3, 0, -0.1), (3, 0, -2), (-3, 0, 2)][where]
    for k, place in enumerate([(0, 0, 0), far, (-3, 0, -2)]):
        boxes_model.add_body(f"box {k}", Box(0.3, 0.3, 0.3, mass=1), place)
    result = simulate(boxes_model, 0.1, 0.1)
    stage = ViewSetup(result, (800, 500), "front", None, False, None)
    camera = stage.camera([0])
    pixels, _ = camera.project(stage.shape.place(result.state(0)), 800, 500)
    x, y, w, h = labels.axes_box(500, 800, camera.pixel(500), stage._corner)
    assert 0 <= x <= 800 - w
    assert 0 <= y <= 500 - h
    assert not np.any(np.all((pixels > (x, y)) & (pixels < (x + w, y + h)), axis=1))
    assert (stage._corner == "upper right") == (where >= 2)


def test_report_page_shows_supports_at_their_position():
    from rodsim.reporting.motion import motion, motion_data
    from rodsim.reporting.thinning import thinning

    driven_model = model()
    other = driven_model.add_body("other", Box(0.1, 0.1, 0.1, mass=1), (0.5, 0.1, -0.5))
    driven_model.add_joint("pin", "spherical", driven_model.bodies["block"], other, at=(0.5, 0.05, -0.5))
    result = simulate(driven_model, 0.2, 0.02)
    thin = thinning(result.layout, result.n_outputs)
    motion_arrays = motion(result, thin)
    data = motion_data(result, thin, motion_arrays, [""] * len(motion_arrays.t))
    assert data["joint_trace"]["text"] == ["spherical joint 'pin'"]
    assert [mesh["trace"]["name"] for mesh in data["meshes"]][3:] == ["supports", *["driven frames"] * 3]
    shape, size = motion_arrays.shape, motion_arrays.size
    for k, i in enumerate(thin.outputs):
        state = result.state(int(i))._replace(r=motion_arrays.r[k], quat=motion_arrays.quat[k])
        vertices, t = shape.place(state), motion_arrays.t[k]
        rotation = quaternions.to_matrix(quaternions.from_rotation_vector(0.5 * t * UP))
        for axis in range(3):  # owners: a rod, two bodies, supports
            local = (vertices[shape.owner == 4 + axis] - [1.0, t, 0.2]) @ rotation
            assert local[:, axis].max() == pytest.approx(support_symbols.LENGTH * size, rel=0.05)
            assert np.abs(np.delete(local, axis, axis=1)).max() < 0.01 * size
