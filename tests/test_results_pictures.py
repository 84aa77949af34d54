"""Pictures show what is there, in OpenGL and in software; movies move; plots are drawn."""

import numpy as np
import pytest
from results_sample import sample_layout, sample_output

from rigid.quaternions import rotate
from rodsim.results import MemoryWriter, opengl
from rodsim.results.camera import fit, upward, view_direction
from rodsim.results.drawing import Drawing
from rodsim.results.plot import KINDS, plot
from rodsim.results.render import States, render, render_movie
from rodsim.results.scene import SceneBuilder, Sweep

SMALL = (160, 100)
ENGINES = [
    pytest.param("opengl", marks=pytest.mark.skipif(opengl.missing() is not None, reason="no OpenGL")),
    "painter",
]


@pytest.fixture(scope="module")
def result():
    writer = MemoryWriter(sample_layout())
    for i in range(6):
        writer.append(*sample_output(writer.layout, i))
    return writer.result()


def inked(picture):
    """Part of the picture that is not white."""
    return np.mean(picture.min(axis=2) < 245)


@pytest.mark.parametrize("engine", ENGINES)
def test_picture_shows_the_model(result, engine, tmp_path):
    picture = render(result, tmp_path / "a.png", times=0.1, size=SMALL, engine=engine, labels=False)
    assert picture.shape == (100, 160, 3)
    assert 0.02 < inked(picture) < 0.6
    assert (tmp_path / "a.png").stat().st_size > 0


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_cut_off_at_the_border(result, engine):
    picture = render(result, size=SMALL, engine=engine, labels=False)
    border = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    assert border.min() > 245


@pytest.mark.skipif(opengl.missing() is not None, reason="no OpenGL")
def test_both_engines_draw_the_same_silhouette(result):
    a, b = (render(result, times=0.2, size=(320, 200), engine=e, labels=False) for e in ("opengl", "painter"))
    differ = np.mean((a.min(axis=2) < 200) != (b.min(axis=2) < 200))
    assert differ < 0.01  # but for the pixels of outlines


def test_later_times_are_drawn_over_earlier_ones(result):
    one = render(result, times=0.25, size=SMALL, engine="painter", labels=False)
    several = render(result, times=[0.0, 0.1, 0.25], size=SMALL, engine="painter", labels=False)
    assert inked(several) > inked(one)


def test_ground_and_labels_add_ink(result):
    plain = render(result, size=SMALL, engine="painter", labels=False)
    assert inked(render(result, size=SMALL, engine="painter")) > inked(plain)
    assert not np.array_equal(render(result, size=SMALL, engine="painter", labels=False, ground=True), plain)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_movie_moves(result, engine, suffix, tmp_path):
    import imageio.v3 as iio

    path = tmp_path / f"a{suffix}"
    n = render_movie(result, path, speed=0.25, fps=5, size=(160, 96), engine=engine, labels=False)
    assert n == 6  # 0.25 s at a quarter of the speed, five frames a second, and the first
    frames = iio.imread(path)
    assert frames.shape[:3] == (n, 96, 160)
    assert np.abs(frames[0].astype(int) - frames[-1]).max() > 50


def test_state_between_outputs_is_on_the_way(result):
    t = result.t
    states = States(result, Drawing(result.layout), None)
    np.testing.assert_array_equal(states.between(t[2]).r, result.state(2).r)
    middle = states.between((t[2] + t[3]) / 2)
    np.testing.assert_allclose(np.linalg.norm(middle.quat, axis=1), 1, atol=1e-15)


def test_camera_sees_every_point():
    points = np.random.default_rng(1).normal(size=(500, 3)) * [5, 1, 2]
    for up in (upward(None), upward(np.array([0, -9.81, 0]))):
        direction, above = view_direction(points, up)
        camera = fit(points, direction, above, aspect=1.6)
        pixels, depth = camera.project(points, 160, 100)
        assert depth.min() > 0
        assert pixels.min() > 0
        assert np.all(pixels < [160, 100])
        # and not from too far
        assert np.max((pixels.max(axis=0) - pixels.min(axis=0)) / [160, 100]) > 0.75


def test_flat_motion_is_seen_from_the_front_with_x_to_the_right():
    points = np.random.default_rng(2).normal(size=(100, 3)) * [3, 0, 2]
    direction, up = view_direction(points, upward(None))
    assert abs(direction[1]) > 0.9
    assert np.cross(up, direction)[0] > 0


def test_tube_follows_an_arc_between_nodes():
    """Hermite curves through the nodes of a circle leave it by less than 0.1 % of the height of an arc."""
    layout = sample_layout()
    state = sample_output(layout, 0)[2]
    ring = layout.rods[1]
    curve, _ = Sweep([(0, ring, 0)], False, 1.0, 0.0).center_line(state)
    radius = np.linalg.norm(curve - [1, -1, 0], axis=1)
    height = 0.5 * (1 - np.cos(np.pi / len(ring.frames)))
    assert np.abs(radius - 0.5).max() < 1e-3 * height


def test_surface_normals_point_outward():
    layout = sample_layout()
    state = sample_output(layout, 2)[2]
    surface = SceneBuilder(layout, 1.0).surface(state)
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    assert np.all(np.sum(np.cross(b - a, c - a) * surface.normals[surface.faces].mean(axis=1), axis=1) > 0)
    box = surface.owner == 2
    outward = surface.vertices[box] - state.r[1]
    assert np.all(np.sum(outward * surface.normals[box], axis=1) > 0)
    corners = Drawing(layout).points(state)[-8:]
    assert {tuple(p) for p in surface.vertices[box].round(9)} == {tuple(p) for p in corners.round(9)}
    np.testing.assert_allclose(
        np.abs(rotate(state.quat[1] * [1, -1, -1, -1], surface.normals[box])).max(1), 1
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"engine": "crayon"}, ValueError, "no engine 'crayon'"),
        ({"path": "no/such/folder/a.png", "engine": "painter"}, FileNotFoundError, "no folder"),
        ({"view": (0, 0, 1), "engine": "painter"}, ValueError, "looks along 'up'"),
    ],
)
def test_render_errors_name_the_cure(result, options, error, message):
    with pytest.raises(error, match=message):
        render(result, size=SMALL, **options)


def test_missing_opengl_is_said_with_its_cure(result, monkeypatch):
    monkeypatch.setattr(opengl, "missing", lambda: opengl.CURE)
    with pytest.raises(RuntimeError, match="apt-get install libegl1"):
        render(result, size=SMALL, engine="opengl")
    assert inked(render(result, size=SMALL)) > 0.02  # painted instead


@pytest.mark.parametrize("kind", ["overview", *KINDS, "path"])
def test_every_kind_of_plot_is_drawn(result, kind, tmp_path):
    figure = plot(result, kind, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 0
    assert all(ax.lines for ax in figure.axes)


def test_plot_errors_name_what_there_is(result):
    with pytest.raises(ValueError, match="give one of 'overview'"):
        plot(result, "pie")
    with pytest.raises(KeyError, match="there are 'whip', 'ring', 'box'"):
        plot(result, "path", points=["rope"])
    with pytest.raises(ValueError, match="nodes 0 to 8"):
        plot(result, "path", points=["whip:9"])
