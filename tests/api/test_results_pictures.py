"""Pictures show what is there, in OpenGL and in software; movies move; plots are drawn."""

import numpy as np
import pytest

from rigid.inertia import Box, Sphere
from rigid.quaternions import rotate
from rigid.system import State
from rodsim.results import MemoryWriter, fields, opengl
from rodsim.results.camera import fit, named_view, upward, view_direction
from rodsim.results.columns import COLUMNS
from rodsim.results.drawing import Drawing
from rodsim.results.fields import FIELDS
from rodsim.results.layout import BodyLayout, Layout, RodLayout
from rodsim.results.plot import KINDS, plot
from rodsim.results.render import render, render_movie
from rodsim.results.scene import SceneBuilder, Sweep
from rodsim.results.stage import States
from tests.support.results_sample import sample_layout, sample_output

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
        (
            {"view": "left"},
            ValueError,
            "view = 'left' is unknown; give front, side, top, iso, or azimuth/elevation",
        ),
        ({"view": "30/91"}, ValueError, "elevation from -90 to 90"),
        ({"view": "1/2/3"}, ValueError, "view = '1/2/3'"),
        ({"color": "beauty"}, ValueError, "no quantity 'beauty' to colour by; give one of speed, strain"),
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


@pytest.mark.parametrize(
    "kind", ["overview", *(kind for kind in KINDS if kind not in ("load", "contacts")), "path"]
)
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


def chain_of_bars(n, side):
    """A straight chain of n bars (0.1 m long, `side` thick) along x."""
    bar = Box(0.1, side, side, mass=1)
    bodies = [BodyLayout(f"bar {k + 1}", k + 1, np.zeros(3), bar.vertices, bar.faces) for k in range(n)]
    layout = Layout("chain", [], bodies, [], n_frames=n + 1)
    r = np.zeros((n + 1, 3))
    r[1:, 0] = 0.1 * (np.arange(n) + 0.5)
    return one_output(layout, r)


def one_output(layout, r, quat=None):
    """A result with one output: positions r, no turns unless given; frames move with v = (0, 0, x)."""
    writer = MemoryWriter(layout)
    state = State(**{name: np.zeros(shape) for name, shape in layout.state_shapes().items()})
    turned = np.tile([1.0, 0, 0, 0], (len(r), 1)) if quat is None else quat
    velocity = np.stack([0 * r[:, 0], 0 * r[:, 0], r[:, 0]], axis=1)
    m = layout.n_elements
    strains = np.linspace(-1, 1, m)[:, None] * np.ones(6)
    audit = dict.fromkeys(COLUMNS, 0.0)
    writer.append(0.0, 0, state._replace(r=r, quat=turned, v=velocity), strains, 5 * strains, audit)
    return writer.result()


@pytest.mark.parametrize("engine", ENGINES)
def test_500_thin_bars_are_seen_as_one_line(engine):
    """Each is 0.02 pixels thick; no column of the picture between the ends of the chain is empty."""
    picture = render(chain_of_bars(500, 1e-3), size=(800, 500), view="front", engine=engine, labels=False)
    columns = np.flatnonzero(picture.min(axis=(0, 2)) < 200)
    assert len(columns) > 0.8 * 800
    assert np.array_equal(columns, np.arange(columns[0], columns[-1] + 1))
    assert np.all(np.sum(picture.min(axis=2)[:, columns] < 200, axis=0) >= 2)


def strip(width, height, n=5):
    """A straight rod of 1 m along x with d2 = y and d3 = z, and its result."""
    rod = RodLayout(
        "strip", 1 + np.arange(n), np.arange(n - 1), np.linspace(0, 1, n), np.full(n, 0.05),
        sides=np.tile([width, height], (n, 1)),
    )  # fmt: skip
    layout = Layout("strip", [rod], [], [], n_frames=n + 1, n_elements=n - 1)
    r = np.zeros((n + 1, 3))
    r[1:, 0] = rod.arclength
    return one_output(layout, r)


def test_rectangular_sections_are_drawn_as_boxes_with_width_along_d2_and_height_along_d3():
    result = strip(0.2, 0.04)
    surface = SceneBuilder(result.layout, 1.0).surface(result.state(0))
    x, y, z = surface.vertices.T
    np.testing.assert_allclose([x.min(), x.max()], [0, 1], atol=1e-12)
    middle = (y == 0) & (z == 0)  # of the two ends
    assert middle.sum() == 2
    np.testing.assert_allclose(np.abs(y[~middle]), 0.1)
    np.testing.assert_allclose(np.abs(z[~middle]), 0.02)
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    area = np.cross(b - a, c - a) / 2
    np.testing.assert_allclose(np.linalg.norm(area, axis=1).sum(), 2 * (0.2 + 0.04) + 2 * 0.2 * 0.04)
    # normals are those of the faces: flat sides, sharp edges
    unit = area / np.linalg.norm(area, axis=1, keepdims=True)
    np.testing.assert_allclose(
        surface.normals[surface.faces], np.repeat(unit[:, None], 3, axis=1), atol=1e-12
    )
    away = [1.0, 2.0, 3.0]  # from there all faces count
    volume = np.sum(area * ((a + b + c) / 3 + away)) / 3
    assert volume == pytest.approx(0.2 * 0.04)


def test_round_sections_are_drawn_with_their_radius():
    result = strip(0.0, 0.0)
    surface = SceneBuilder(result.layout, 1.0).surface(result.state(0))
    radius = np.hypot(surface.vertices[:, 1], surface.vertices[:, 2])
    np.testing.assert_allclose(radius[radius > 0], 0.05)


@pytest.mark.parametrize(("view", "shown"), [("top", 0.2), ("front", 0.04)])
def test_picture_of_a_strip_shows_its_broad_side_from_above_and_its_narrow_side_from_the_front(view, shown):
    picture = render(strip(0.2, 0.04), size=(400, 250), view=view, labels=False)
    seen = picture.min(axis=2) < 200
    long, thick = seen.any(axis=0).sum(), seen[:, 200].sum()
    assert thick / long == pytest.approx(shown, rel=0.15)


def test_smooth_bodies_are_drawn_rounder_than_their_surface():
    """The coarse sphere is 13 % short of its volume; drawn large it is not, and none of its edges are seen."""
    sphere = Sphere(0.5, mass=1)
    layout = Layout(
        "ball", [], [BodyLayout("ball", 1, np.zeros(3), sphere.vertices, sphere.faces)], [], n_frames=2
    )
    result = one_output(layout, np.zeros((2, 3)))
    surface = SceneBuilder(layout, 1.0, pixel=1 / 500).surface(result.state(0))
    distance = np.linalg.norm(surface.vertices, axis=1)
    assert distance.min() > 0.49
    assert distance.max() < 0.505
    assert np.sum(surface.vertices * surface.normals, axis=1).min() > 0.99 * distance.min()
    a, b, c = (surface.vertices[surface.faces[:, k]] for k in range(3))
    volume = np.sum(np.cross(a, b) * c) / 6
    assert volume == pytest.approx(np.pi / 6, rel=0.02)


@pytest.mark.parametrize(
    ("name", "gravity", "expected", "right"),
    [
        ("front", (0, 0, -9.81), (0, -1, 0), (1, 0, 0)),
        ("side", (0, 0, -9.81), (1, 0, 0), (0, 1, 0)),
        ("top", (0, 0, -9.81), (0, 0, 1), (1, 0, 0)),
        ("front", (0, -1, 0), (0, 0, 1), (1, 0, 0)),
        ("top", (0, -1, 0), (0, 1, 0), (1, 0, 0)),
        ("iso", (0, 0, -1), np.array([1, -1, 1]) / np.sqrt(3), np.array([1, 1, 0]) / np.sqrt(2)),
        ("180/0", (0, 0, -1), (0, 1, 0), (-1, 0, 0)),
        ("0/-90", (0, 0, -1), (0, 0, -1), (1, 0, 0)),
    ],
)
def test_named_views_look_from_where_they_say(name, gravity, expected, right):
    direction, up = named_view(name, upward(np.array(gravity, float)))
    np.testing.assert_allclose(direction, expected, atol=1e-8)
    np.testing.assert_allclose(np.cross(up, direction), right, atol=1e-8)


def test_colors_of_a_field_are_those_of_the_bar():
    """Speed grows along the strip from 0 to 1 m/s: so do the colours, from the first to the last of the bar."""
    result = strip(0.2, 0.04)
    drawing = Drawing(result.layout)
    field = fields.field_of("speed", drawing)
    found = fields.values(field, drawing, result.state(0), result.strains(0), result.stresses(0))
    np.testing.assert_allclose(found, np.linspace(0, 1, 5), atol=1e-7)
    assert fields.limits(field, found) == (0, 1)
    builder = SceneBuilder(result.layout, 1.0)
    at_vertices = builder.spread(found)
    np.testing.assert_allclose(at_vertices, builder.surface(result.state(0)).vertices[:, 0], atol=1e-7)
    shades = fields.color_map(field, 0, 1)
    rgb = fields.colors(at_vertices, 0, 1, shades)
    np.testing.assert_array_equal(rgb[np.argmin(at_vertices)], shades[0])
    np.testing.assert_array_equal(rgb[np.argmax(at_vertices)], shades[-1])


@pytest.mark.parametrize(
    "name", [name for name in FIELDS if name not in ("contact", "pressure")]
)  # there are none
def test_every_field_is_the_array_it_names(result, name):
    drawing = Drawing(result.layout)
    outputs = result.state(2), result.strains(2), result.stresses(2)
    array = drawing.arrays(*outputs)[1]
    found = fields.values(fields.field_of(name, drawing), drawing, *outputs)
    if name == "speed":
        expected = np.linalg.norm(array["velocity"], axis=1)
    else:
        source = {"strain": "Gamma", "curvature": "K", "force": "N", "moment": "M"}.get(
            name, name.rstrip("123")
        )
        values = array[source].astype(float)
        expected = values[:, int(name[-1]) - 1] if name[-1] in "123" else np.sqrt((values**2).sum(axis=1))
        expected[drawing.n_rod_points :] = np.nan
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_limits_of_a_component_are_as_far_to_both_sides_of_zero():
    field = FIELDS["N1"]
    assert fields.limits(field, np.array([-3.0, np.nan, 1.0])) == (-3, 3)
    assert fields.limits(field, np.array([2.0, 5.0])) == (2, 5)
    assert fields.limits(FIELDS["force"], np.array([2.0, 5.0])) == (0, 5)
    assert fields.limits(FIELDS["force"], np.array([0.0, 0.0])) == (0, 1)
    white = fields.color_map(field, -3, 3)[128]
    assert white.min() > 0.8


@pytest.mark.parametrize("engine", ENGINES)
def test_picture_in_colours_of_a_field_has_the_bar_and_its_colours(result, engine):
    picture = render(result, times=0.1, size=(320, 200), engine=engine, color="speed")
    plain = render(result, times=0.1, size=(320, 200), engine=engine)
    assert not np.array_equal(picture, plain)
    bar = picture[160:, 200:].reshape(-1, 3).astype(int)
    shades = (255 * fields.color_map(FIELDS["speed"], 0, 1)).round().astype(int)
    for shade in shades[[0, 128, 255]]:
        assert np.abs(bar - shade).sum(axis=1).min() < 12


def test_movie_in_colours_of_a_field_between_outputs(result, tmp_path):
    states = States(result, Drawing(result.layout), FIELDS["speed"])
    t = result.t
    a, b = states.at(1).values, states.at(2).values
    np.testing.assert_allclose(states.values_between(0.25 * t[1] + 0.75 * t[2]), 0.25 * a + 0.75 * b)
    n = render_movie(result, tmp_path / "a.gif", speed=0.25, fps=5, size=SMALL, color="speed", view="iso")
    assert n == 6


@pytest.mark.parametrize("kind", ["residuals", "overview"])
def test_residual_plots_cut_no_curve_off(kind):
    """|G v| is often much larger than |g|, which is drawn first."""
    layout = sample_layout()
    writer = MemoryWriter(layout)
    for i in range(4):
        *output, audit = sample_output(layout, i)
        audit.update(constraint=1e-14, velocity_constraint=1e-3, quat_norm=1e-16)
        writer.append(*output, audit)
    figure = plot(writer.result(), kind)
    (ax,) = (ax for ax in figure.axes if ax.get_ylabel() == "residuals")
    assert len(ax.lines) == 3
    low, high = ax.get_ylim()
    for line in ax.lines:
        assert low < line.get_ydata().min()
        assert line.get_ydata().max() < high
