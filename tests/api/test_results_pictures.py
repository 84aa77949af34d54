"""Pictures by VTK and by matplotlib show the model; movies move; plots are drawn."""

import re

import imageio.v3 as iio
import numpy as np
import pytest

from rodsim import Box, Cylinder, Material, Model, Section, Sphere, plot, render, render_movie
from rodsim.results import COLUMNS, MemoryWriter, opengl
from rodsim.results.camera import named_view, upward
from tests.support.results_sample import in_memory, sample_layout, sample_output

SMALL = (160, 100)
OPENGL = pytest.mark.skipif(opengl.missing() is not None, reason="no OpenGL")
ENGINES = [pytest.param("opengl", marks=OPENGL), "matplotlib"]
RUBBER = Material(E=1e6, nu=0.4, density=1000.0)


@pytest.fixture(scope="module")
def result():
    return in_memory(6)


def of_model(model, *outputs):
    """A result of the outputs (t, changes of the initial state, strains and stresses); by default the initial
    state.
    """
    built = model.build()
    writer = MemoryWriter(built.layout)
    for i, (t, changes, along) in enumerate(outputs or [(0.0, {}, 0.0)]):
        strains, stresses = np.split(np.broadcast_to(along, (built.layout.n_elements, 12)), 2, axis=1)
        state = built.state._replace(**changes)
        writer.append(t, i, state, strains, stresses, dict.fromkeys(COLUMNS, 0.0))
    return writer.result()


def boxes(*bodies):
    """Boxes of (size, position, speed)."""
    model = Model("boxes")
    for k, (size, position, speed) in enumerate(bodies):
        model.add_body(f"box {k}", Box(*size, mass=1), position, velocity=(0, 0, speed))
    return of_model(model)


def strip_model(section=None, n=4, speed=0.0):
    """A straight rod of 1 m along x with d2 = y and d3 = z; its speed grows along it."""
    model = Model("strip")
    section = section or Section.rectangle(0.2, 0.04, RUBBER)
    model.add_rod("strip", [(0, 0, 0), (1, 0, 0)], section, n, velocity=lambda s: (0, 0, speed * s))
    return model


def drawn(result, **options):
    """A small picture without labels, unless requested."""
    return render(result, **{"size": SMALL, "labels": False, **options})


def mask(picture, level=245):
    return picture.min(axis=2) < level


def inked(picture):
    """Fraction of the picture that is not white."""
    return np.mean(mask(picture))


def differ(a, b, by=20):
    """Fraction of two pictures that differs."""
    return np.mean(np.abs(a.astype(int) - b).max(axis=2) > by)


# --- visible content


@pytest.mark.parametrize("engine", ENGINES)
def test_picture_is_filled_by_the_whole_model(result, engine, tmp_path):
    picture = drawn(result, path=tmp_path / "a.png", times=0.1, engine=engine)
    assert picture.shape == (100, 160, 3)
    assert 0.02 < inked(picture) < 0.6
    assert (tmp_path / "a.png").stat().st_size > 0
    every = drawn(result, engine=engine)
    border = np.concatenate([every[0], every[-1], every[:, 0], every[:, -1]])
    assert border.min() > 245
    rows, columns = (np.flatnonzero(mask(every).any(axis=k)) for k in (1, 0))
    assert max(np.ptp(rows) / 100, np.ptp(columns) / 160) > 0.7


@OPENGL
def test_both_engines_draw_the_same_silhouette(result):
    a, b = (drawn(result, times=0.2, size=(320, 200), engine=e) for e in ("opengl", "matplotlib"))
    assert np.mean(mask(a, 200) != mask(b, 200)) < 0.01  # except for the pixels of outlines


def test_later_times_ground_and_labels_add_ink(result):
    plain = drawn(result, times=0.25)
    assert inked(drawn(result, times=[0.0, 0.1, 0.25])) > inked(plain)
    assert inked(drawn(result, times=0.25, labels=True)) > inked(plain)
    assert not np.array_equal(drawn(result, times=0.25, ground=True), plain)


@pytest.mark.parametrize("engine", ENGINES)
def test_nearer_surfaces_hide_farther_ones_in_any_order(engine):
    near, far = ((0.3, 0.1, 0.3), (0, -0.5, 0), 1.0), ((1.0, 0.1, 1.0), (0, 0.5, 0), 0.0)
    orders = (near, far), (far, near)
    seen = [drawn(boxes(*order), view="front", engine=engine, color="speed") for order in orders]
    assert differ(*seen) < 0.01
    of_near, of_far = seen[0][50, 80].astype(int), seen[0][50, 45].astype(int)
    assert np.abs(of_near - of_far).max() > 60


@OPENGL
def test_the_first_of_two_faces_in_one_plane_is_seen():
    """Bars of a chain in one plane overlap at their joints: no hatching."""
    large, within = ((0.8, 0.1, 0.8), (0, 0, 0), 0.0), ((0.7, 0.1, 0.7), (0, 0, 0), 1.0)
    one, both, other = (
        drawn(boxes(*parts), size=(320, 200), view="20/15", color="speed")
        for parts in ([large], [large, within], [(*large[:2], 1.0)])
    )
    assert differ(one, both) < 0.01 < differ(one, other)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("color", "least", "most"), [(None, 1.4, 9.0), ("speed", 1.1, 1.3)])
def test_faces_towards_the_light_are_brighter(engine, color, least, most):
    """The brighter light comes from above."""
    box = boxes(((1, 1, 1), (0, 0, 0), 0.0))
    picture = drawn(box, view="iso", engine=engine, color=color).astype(int)
    top, left = picture[30, 80].sum(), picture[60, 60].sum()
    assert least < top / left < most


@pytest.mark.parametrize("engine", ENGINES)
def test_500_thin_bars_are_drawn_as_one_line(engine):
    """Each is 0.02 pixels thick; no column of the picture between the ends of the chain is empty."""
    chain = boxes(*(((0.1, 1e-3, 1e-3), (0.1 * k, 0, 0), 0.0) for k in range(500)))
    picture = drawn(chain, size=(800, 500), view="front", engine=engine)
    columns = np.flatnonzero(picture.min(axis=(0, 2)) < 200)
    assert len(columns) > 0.8 * 800
    assert np.array_equal(columns, np.arange(columns[0], columns[-1] + 1))
    assert np.all(np.sum(mask(picture, 200)[:, columns], axis=0) >= 2)


@pytest.mark.parametrize(("view", "shown"), [("top", 0.2), ("front", 0.04)])
def test_strip_shows_its_sides_in_named_views(view, shown):
    seen = mask(render(of_model(strip_model()), size=(400, 250), view=view, labels=False), 200)
    long, thick = seen.any(axis=0).sum(), seen[:, 200].sum()
    assert thick / long == pytest.approx(shown, rel=0.15)


@pytest.mark.parametrize(
    ("section", "shape", "orientation"),
    [
        (Section.rectangle(0.2, 0.04, RUBBER), Box(1.0, 0.2, 0.04, mass=1), (1, 0, 0, 0)),
        (Section.circular(0.05, RUBBER), Cylinder(0.05, 1.0, mass=1), (np.sqrt(0.5), 0, np.sqrt(0.5), 0)),
    ],
    ids=["box", "cylinder"],
)
@pytest.mark.parametrize("view", ["iso", "front", "side"])
def test_straight_rod_is_drawn_like_a_body_of_its_shape(section, shape, orientation, view):
    """Flat sides with sharp edges, or round ones."""
    body = Model("body")
    body.add_body("body", shape, (0.5, 0, 0), orientation)
    models = strip_model(section), body
    pictures = [drawn(of_model(model), size=(320, 200), view=view, color="speed") for model in models]
    assert differ(*pictures) < 0.02 < inked(pictures[0])


def ring_model():
    """Twelve elements: the arcs rise 3.4 % of the radius above their chords."""
    model = Model("ring")
    angle = 2 * np.pi * np.arange(48) / 48
    points = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    model.add_rod("ring", points, Section.circular(0.01, RUBBER), 12, closed=True)
    return model


def ball_model():
    model = Model("ball")
    model.add_body("ball", Sphere(0.5, mass=1))  # the coarse surface lacks 13 % of the volume
    return model


@pytest.mark.parametrize("make", [ring_model, ball_model])
def test_round_shapes_are_drawn_round(make):
    """Rods follow an arc between their nodes; smooth bodies are drawn with a refined surface."""
    seen = mask(drawn(of_model(make()), size=(400, 400), view="top"), 200)
    rows, columns = np.nonzero(seen)
    edge = []
    for angle in np.linspace(0, np.pi, 40):
        along = (rows - rows.mean()) * np.sin(angle) + (columns - columns.mean()) * np.cos(angle)
        edge.append(np.ptp(along) / 2)
    assert np.ptp(edge) < 0.01 * np.mean(edge)


def test_flat_motion_is_seen_from_the_front_with_x_to_the_right():
    flat = boxes(((0.4, 0.1, 0.1), (-1, 0, 0), 0.0), ((0.1, 0.1, 0.2), (1, 0, 0.5), 0.0))
    pictures = [render(flat, size=SMALL, labels=False, **view) for view in ({}, {"view": "front"})]
    assert differ(*pictures) < 0.1
    left, right = (mask(pictures[0])[:, half].any(axis=0).sum() for half in (slice(80), slice(80, None)))
    assert left > right + 5 > 5


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
def test_named_views_have_their_direction(name, gravity, expected, right):
    direction, up = named_view(name, upward(np.array(gravity, float)))
    np.testing.assert_allclose(direction, expected, atol=1e-8)
    np.testing.assert_allclose(np.cross(up, direction), right, atol=1e-8)


def test_missing_opengl_is_reported_with_remedy(result, monkeypatch):
    monkeypatch.setattr(opengl, "missing", lambda: opengl.REMEDY)
    with pytest.raises(RuntimeError, match="apt-get install libegl1"):
        render(result, size=SMALL, engine="opengl")
    assert inked(render(result, size=SMALL)) > 0.02  # drawn instead


# --- colours

LENGTHS = {"Gamma": "strain", "K": "curvature", "N": "force", "M": "moment"}
COMPONENTS = [f"{array}{k}" for array in LENGTHS for k in (1, 2, 3)]


def coloured(model, name, *outputs):
    """The strip from above, in the colours of a quantity."""
    return drawn(of_model(model, *outputs), size=(400, 250), view="top", color=name)[125].astype(int)


@pytest.mark.parametrize("name", COMPONENTS)
def test_component_colours_follow_its_values(name):
    """The component grows along the rod from -1 to 1/2: the scale is symmetric about 0, which is white;
    another component is zero.
    """
    k, ramp, model = COMPONENTS.index(name), np.zeros((40, 12)), strip_model(n=40)
    ramp[:, k] = np.linspace(-1, 0.5, 40)
    row = coloured(model, name, (0.0, {}, ramp))
    low, zero, high = row[60], row[253], row[340]
    assert zero.min() > 200 > max(low.min(), high.min())
    assert np.abs(low - high).max() > 60
    length = LENGTHS[name[:-1]]
    row = coloured(model, length, (0.0, {}, ramp))
    assert np.abs(row[60] - row[253]).max() > 60 < np.abs(row[60] - row[340]).max()
    red, _, blue = coloured(model, length, (0.0, {}, -np.eye(12)[k]))[200]
    assert red > 200 > 100 > blue  # the scale of a norm begins at 0
    for other in (*COMPONENTS, *LENGTHS.values()):
        if other not in (name, length):
            assert np.ptp(coloured(model, other, (0.0, {}, ramp))[40:360], axis=0).max() < 10, other


@pytest.mark.parametrize("engine", ENGINES)
def test_coloured_picture_has_a_colour_bar_over_the_full_range(engine):
    """Speed grows along the strip from 0 to 1 m/s."""
    strip = of_model(strip_model(n=40, speed=1.0))
    plain, picture = (
        render(strip, size=(800, 500), view="top", engine=engine, color=name) for name in (None, "speed")
    )
    row = picture[250].astype(int)
    seen = np.flatnonzero(mask(plain)[250])
    bar = picture[400:, 500:].reshape(-1, 3).astype(int)
    for pixel in row[np.linspace(seen[0] + 10, seen[-1] - 10, 5).astype(int)]:
        shade = pixel / np.linalg.norm(pixel)  # faces are a little lighter or darker than the bar
        shades = bar[bar.min(axis=1) < 245]
        near = np.linalg.norm(shades / np.linalg.norm(shades, axis=1, keepdims=True) - shade, axis=1)
        assert near.min() < 0.05
    assert np.abs(row[seen[0] + 10] - row[seen[-1] - 10]).max() > 60


# --- movies


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_movie_interpolates_between_outputs_and_releases_frames(engine, suffix, tmp_path):
    """A ball moves from left to right next to a bar in one second, with outputs only at both ends."""
    model = ball_model()
    model.add_body("bar", Box(6.0, 0.01, 0.01, mass=1), (0, 0, -1.0))
    outputs = []
    for t, x in ((0.0, -2.5), (1.0, 2.5)):
        state = model.build().state
        r, v = state.r.copy(), state.v.copy()
        r[1, 0], v[1, 0] = x, 5.0
        outputs.append((t, {"r": r, "v": v}, 0.0))
    moving = of_model(model, *outputs)
    path = tmp_path / f"a{suffix}"
    n = render_movie(moving, path, speed=1, fps=4, size=(160, 96), engine=engine, labels=False, view="front")
    frames = iio.imread(path)
    assert (n, frames.shape[:3]) == (5, (5, 96, 160))
    at = [np.nonzero(mask(frame, 128)[:56])[1] for frame in frames]
    assert np.diff([x.mean() for x in at]) == pytest.approx(0.25 * (at[-1].mean() - at[0].mean()), abs=3)
    assert max(np.ptp(x) for x in at) < 50 < at[-1].mean() - at[0].mean()


def test_coloured_movie_interpolates_colours(tmp_path):
    strip = of_model(strip_model(), (0.0, {}, 0.0), (1.0, {}, 1.0))
    render_movie(
        strip, tmp_path / "a.gif", speed=1, fps=2, size=SMALL, color="force", view="top", labels=False
    )
    first, middle, last = (frame[50, 80].astype(int) for frame in iio.imread(tmp_path / "a.gif"))
    assert np.abs(first - middle).max() > 30 < np.abs(middle - last).max()


# --- plots


def kinds_of_plots(result):
    with pytest.raises(ValueError, match="Use one of 'overview'") as error:
        plot(result, "pie")
    return re.findall(r"'(\w[\w-]*)'", str(error.value).partition("Use one of")[2])


def test_every_kind_of_plot_is_drawn(result, tmp_path):
    kinds = kinds_of_plots(result)
    assert len(kinds) > 5
    for kind in kinds:
        if kind not in ("load", "contacts", "distance", "sensors", "controllers"):  # there are no velocities
            figure = plot(result, kind, tmp_path / f"{kind}.png")
            assert (tmp_path / f"{kind}.png").stat().st_size > 0
            assert all(ax.lines for ax in figure.axes), kind


@pytest.mark.parametrize("kind", ["residuals", "overview"])
def test_residual_plots_show_complete_curves(kind):
    """The velocity residual (G v) is often much larger than the position residual (g), which is drawn first."""
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
