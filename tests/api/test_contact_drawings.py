"""Contact surfaces in pictures and exported files.

Planes as grids or rectangles, spheres without a shape, and contact pressure as colours.
"""

from __future__ import annotations

import numpy as np
import pytest

from rigid import quaternions
from rigid.system import State
from rodsim import Box, MassProperties, Material, Model, Result, Section, Sphere, audit, simulate
from rodsim.results import ResultError, color_fields
from rodsim.results.contact_surfaces import BAR, COLORS, MARGIN, meshes, shapes
from rodsim.results.drawing import Drawing
from rodsim.results.export import export
from tests.support.contact_models import ball_on_floor
from tests.support.posed_shapes import triangles_of

G, R = 9.81, 0.01
PLANE, BALL = range(2)
SIZE = 2.0
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")  # of long steps
RUBBER = Section.circular(R, Material(E=1e6, nu=0.45, density=1000))


def resting_model() -> Model:
    """A rod on a floor, a ball whose shape is its contact sphere, a block on a sphere without a shape."""
    model = Model("lying", gravity=(0, 0, -G))
    depth = RUBBER.mass_per_length * G / 1e4
    rod = model.add_rod("rod", [(0, 0, R - depth), (0.3, 0, R - depth)], RUBBER, 3)
    ball = model.add_body("ball", Sphere(0.03, density=500), (0, 0.2, 0.1))
    block = model.add_body("block", Box(0.1, 0.1, 0.1, density=500), (0, 0.4, 0.1))
    spheres = [model.add_sphere("ball", ball, 0.03), model.add_sphere("foot", block.at((0, 0, -0.05)), 0.02)]
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("rest", rod, floor, stiffness=1e4)
    model.add_contact("fall", spheres, floor, stiffness=1e4)
    return model


def test_file_has_planes_and_contact_spheres_without_shape(tmp_path) -> None:
    layout, state = (built := resting_model().build()).layout, built.state
    surfaces = {name: (frame, vertices, faces) for name, frame, vertices, faces in meshes(layout)}
    assert list(surfaces) == ["foot", "floor"]
    frame, vertices, faces = surfaces["foot"]
    assert frame == layout.bodies[1].frame
    assert np.linalg.norm(vertices - [0, 0, -0.05], axis=1) == pytest.approx(np.full(len(vertices), 0.02))
    frame, vertices, faces = surfaces["floor"]
    assert frame == 0
    assert faces.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert vertices[:, 2] == pytest.approx(np.zeros(4))
    points = Drawing(layout).points(state)
    assert np.all(vertices.min(axis=0)[:2] < points.min(axis=0)[:2])
    assert np.all(vertices.max(axis=0)[:2] > points.max(axis=0)[:2])
    plain, with_surfaces = Drawing(layout), Drawing(layout, surfaces=True)
    assert plain.names == ["rod", "ball", "block"]
    assert with_surfaces.names == [*plain.names, "foot", "floor"]
    assert with_surfaces.n_points == plain.n_points + 4 + len(surfaces["foot"][1])
    assert with_surfaces.triangles.max() == with_surfaces.n_points - 1
    own_floor = with_surfaces.cells["object"] == 4
    assert own_floor.sum() == 2
    assert not with_surfaces.cells["is_rod"][own_floor].any()


def test_plane_on_a_body_moves_with_it() -> None:
    model, n = Model("tilted"), np.array([0.6, 0.0, 0.8])
    body = model.add_body("tray", Box(0.2, 0.2, 0.2, density=100), (1, 2, 3), (0.9, 0.1, -0.3, 0.3))
    ball = model.add_body("ball", Sphere(0.1, density=100), (1.6, 2, 3.8))
    tray = model.add_plane("tray", body.at((0, 0, 0)), tuple(n))
    model.add_contact("on", model.add_sphere("ball", ball, 0.1), tray, stiffness=1e3)
    built = model.build()
    drawing = Drawing(built.layout, surfaces=True)
    corners = drawing.points(built.state)[-4:]
    assert (corners - [1, 2, 3]) @ n == pytest.approx(np.zeros(4), abs=1e-13)
    assert np.ptp(corners, axis=0).max() > 0.5


def test_a_file_with_surfaces_is_read_exported_and_audited(tmp_path) -> None:
    path = tmp_path / "lying.vtkhdf"
    simulate(resting_model(), 4e-3, 1e-3, output=path, output_every=2, progress=False)
    result = Result.load(path)
    assert audit(result).ok, audit(result).text()
    went_on = simulate(resting_model(), 6e-3, 1e-3, output=path, output_every=2, resume=True, progress=False)
    assert went_on.n_outputs == 4
    export(result, tmp_path / "lying.xdmf")
    assert (tmp_path / "lying.xdmf").exists()


def test_pressure_is_the_force_over_the_length_of_a_node() -> None:
    result = simulate(resting_model(), 1e-3, 1e-3, progress=False)
    drawing, none = Drawing(result.layout), np.zeros((result.layout.n_elements, 6))
    shown = color_fields.values(
        color_fields.field_of("pressure", drawing), drawing, result.state(0), none, none
    )
    assert shown[:4] == pytest.approx(np.full(4, RUBBER.mass_per_length * G), rel=1e-5)
    assert np.isnan(shown[4:]).all()
    along = result.contact("rest").along("rod")[0]
    assert shown[:4] == pytest.approx(np.linalg.norm(along, axis=1), rel=1e-5)
    assert "pressure" in color_fields.names(result.layout)
    layout = ball_on_floor().build().layout
    assert color_fields.names(layout) == ["speed", "contact"]
    with pytest.raises(ResultError, match="'pressure' is a quantity of rods"):
        color_fields.field_of("pressure", Drawing(layout))


# --- pictures


def tilted_model():
    """A ball, a box with a ball on a side and a rod with a knob above a floor; the floor belongs to a tilted
    deck.
    """
    model = Model("m")
    deck = model.add_body("deck", Box(1, 1, 0.1, density=1), (0, 0, -1), (np.cos(0.2), np.sin(0.2), 0, 0))
    ball = model.add_body("ball", Sphere(0.05, density=1), (1, 2, 3))
    block = model.add_body("block", Box(0.2, 0.2, 0.2, density=1), (0.4, 0, 1))
    rod = model.add_rod("rod", [(0, 0, 2), (1, 0, 2)], RUBBER, 4)
    spheres = [
        model.add_sphere("all", ball, 0.05),
        model.add_sphere("side", block.at((-0.1, 0, 0)), 0.02),
        model.add_sphere("inner", block, 0.1),
        model.add_sphere("knob", rod.end, 0.03),
        model.add_sphere("tip", rod.start, 0.01),
        model.add_sphere("point", rod.at(0.5), 0.0),
    ]
    floor = model.add_plane("floor", deck.at((0, 0, 0.05)), quaternions.rotate(deck.orientation, [0.0, 0, 1]))
    model.add_contact("it", spheres, floor, stiffness=1e4)
    model.add_contact("two", spheres[0], spheres[1], stiffness=1e4)
    model.add_contact("lie", rod, floor)
    return model


def draw_planes_and_spheres(built, states, at):
    """Triangles of the planes and of the spheres."""
    drawn = list(shapes(built.layout, SIZE, states, 7))
    return [triangles_of(drawn, at, 7 + k) for k in range(len(COLORS))]


def volume(triangles):
    a, b, c = triangles.transpose(1, 0, 2)
    return np.einsum("ni,ni->", a, np.cross(b, c)) / 6


def moved(state: State) -> State:
    """Rotate and translate all frames except the ball's."""
    rotation = quaternions.from_rotation_vector(np.array([0.3, -1.0, 0.5]))
    r = quaternions.rotate(rotation, state.r) + np.array([1.0, -2.0, 3.0])
    quat = quaternions.multiply(np.broadcast_to(rotation, state.quat.shape), state.quat)
    r[0], quat[0] = state.r[0], state.quat[0]
    return state._replace(r=r, quat=quat)


def test_plane_grid_covers_its_contacts_and_moves_with_the_plane():
    built = tilted_model().build()
    deck, ball = (body.frame for body in built.layout.bodies[:2])
    far = built.state._replace(r=built.state.r.copy())
    far.r[ball, 1] += 5.0
    for state in (built.state, moved(built.state)):
        net = draw_planes_and_spheres(built, [built.state, far], state)[PLANE].reshape(-1, 3)
        local = quaternions.rotate(quaternions.conjugate(state.quat[deck]), net - state.r[deck])
        assert np.abs(local[:, 2] - 0.05).max() == pytest.approx(0.5 * BAR * SIZE, abs=1e-12)
        positions = [
            quaternions.rotate(quaternions.conjugate(body.quat[deck]), body.r - body.r[deck])
            for body in (built.state, far)
        ]
        met = np.concatenate([body[1:][np.arange(1, len(body)) != deck] for body in positions])[:, :2]
        edge = MARGIN * SIZE
        for way, sign in ((np.min, -1.0), (np.max, 1.0)):
            beyond = sign * (way(local[:, :2], axis=0) - way(met, axis=0))
            assert np.all(beyond >= edge - 1e-12)
            assert np.all(beyond < edge + 0.25)  # radii, lever arms and half a bar


def test_contact_spheres_without_shape_are_drawn():
    built = tilted_model().build()
    state = moved(built.state)
    _, balls = draw_planes_and_spheres(built, [built.state], state)
    n_vertices = len(balls) // 2
    assert n_vertices * 2 == len(balls)
    centres = (built.layout.bodies[2].frame, [-0.1, 0, 0]), (built.layout.rods[0].frames[-1], [0, 0, 0])
    for corners, radius, (frame, X) in zip(np.split(balls, 2), (0.02, 0.03), centres, strict=True):
        centre = state.r[frame] + quaternions.rotate(state.quat[frame], np.array(X))
        assert np.linalg.norm(corners - centre, axis=2) == pytest.approx(radius, abs=1e-14)
        assert 0.9 < volume(corners - centre) / (4 / 3 * np.pi * radius**3) < 1.0


def test_bars_are_closed_with_outward_faces():
    built = tilted_model().build()
    net, _ = draw_planes_and_spheres(built, [built.state], built.state)
    for bar in net.reshape(-1, 12, 3, 3):
        middle = bar.reshape(-1, 3).mean(axis=0)
        normals = np.cross(bar[:, 1] - bar[:, 0], bar[:, 2] - bar[:, 0])
        axes = (normals / np.linalg.norm(normals, axis=1, keepdims=True))[::4]
        sides = [np.ptp((bar.reshape(-1, 3) - middle) @ axis) for axis in axes]
        assert volume(bar - middle) == pytest.approx(np.prod(sides))
        assert sorted(sides)[:2] == pytest.approx([BAR * SIZE] * 2)
        assert np.all(np.einsum("ni,ni->n", bar.mean(axis=1) - middle, normals) > 0)


def test_model_without_contacts_has_no_drawn_surfaces():
    model = Model("m")
    model.add_body("ball", Sphere(0.05, density=1))
    built = model.build()
    assert list(shapes(built.layout, SIZE, [built.state], 0)) == []


def test_bodies_without_shape_are_drawn_by_their_contact_surfaces():
    """The side of a ring, a knob at its end and a sharp hull are drawn; coplanar points and bodies that have
    a shape add nothing.
    """
    model = Model("m")
    inertia = 1e-4 * np.eye(3)
    link = model.add_body("link", MassProperties(0.1, inertia), (0, 0, 1))
    die = model.add_body("die", MassProperties(0.1, inertia), (1, 0, 1))
    shaped = model.add_body("shaped", Box(0.1, 0.1, 0.1, density=1), (2, 0, 1))
    corners = 0.05 * np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    side = model.add_solid("side", link.at((0, 0, 0)), [(0, 0, 0), (0.1, 0, 0)], radius=0.02)
    knob = model.add_sphere("knob", link.at((0.1, 0, 0)), 0.03)
    sharp = model.add_solid("die", die.at((0, 0, 0)), corners)
    flat = model.add_solid("flat", shaped.at((0, 0, 0)), corners[:4])
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("fall", [side, knob, sharp, flat], floor, stiffness=1e4)
    inner = model.add_solid("inner", shaped.at((0, 0, 0)), 0.8 * corners, radius=0.005)
    model.add_contact("meet", inner, knob, stiffness=1e4)
    built = model.build()
    drawn_bodies = built.layout.bodies
    parts = [body.vertices[body.faces] for body in drawn_bodies]
    exact = np.pi * 0.02**2 * (0.1 + 4 / 3 * 0.02) + 4 / 3 * np.pi * 0.03**3
    assert 0.85 < volume(parts[0]) / exact < 1.0
    assert volume(parts[1]) == pytest.approx(1e-3, rel=1e-12)
    assert len(parts[2]) == 12
    assert np.allclose(drawn_bodies[0].vertices.max(axis=0), [0.13, 0.03, 0.03])
    assert not len(
        draw_planes_and_spheres(built, [built.state], built.state)[BALL]
    )  # each is hidden by what is drawn
