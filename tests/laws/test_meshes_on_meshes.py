"""Triangle meshes that meet planes and each other: what is kept, rests, rubs, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from discretization.contact.mesh_corners import features_of
from rigid.errors import ConvergenceError, ModelError
from rigid.interactions.contact.edges import EDGES
from rigid.interactions.contact.edges import A as FIRST
from rigid.interactions.contact.gaps import RHO
from rodsim import Box, Model, Sphere, audit
from rodsim.warnings import DoubtfulModelWarning
from tests.support.contacts import dual, ground, touch
from tests.support.solids import ACROSS, ON_CORNER, ON_EDGE, UP, A, G, K, R, about, change, cube, run

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")
OUTLINE = 0.03 * np.array([(-2, 0), (2, 0), (2, 2), (1, 2), (1, 1), (-1, 1), (-1, 2), (-2, 2)], float)
FLOOR = [(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4), (0, 5, 6), (0, 6, 7)]  # its triangles


def trough(half=0.05):
    """Along y, with a groove from above: no hull of its vertices."""
    n = len(OUTLINE)
    ends = [np.insert(OUTLINE, 1, y, axis=1) for y in (-half, half)]
    k = np.arange(n)
    sides = [(k, (k + 1) % n, (k + 1) % n + n), (k, (k + 1) % n + n, k + n)]
    faces = [np.array(FLOOR), n + np.array(FLOOR), *(np.stack(own, axis=1) for own in sides)]
    return np.concatenate(ends), np.concatenate(faces)


def fine_cube(n):
    """Of n x n squares a side."""
    flat, triangles = ground(n)
    sides = [np.roll(flat + np.array([0, 0, z]), axis, axis=1) for axis in range(3) for z in (-1.0, 1.0)]
    faces = np.concatenate([triangles + k * len(flat) for k in range(6)])
    return np.concatenate(sides) * (0.5 * A - R), faces


SHAPES = {
    "cube": cube(0.5 * A - R),
    "fine cube": fine_cube(3),
    "trough": trough(),
    "peak": (
        0.05 * np.array([(0, 0, 1), (2, 2, 0), (-2, 2, 0), (-2, -2, 0), (2, -2, 0)]),
        [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 1)],
    ),
    "plate": ground(3, half=0.2),
    "hills": ground(12, lambda x, y: 0.04 * np.sin(9 * x + 1) * np.cos(11 * y), 0.4),
}


def add(model, shape, name, place, quat=UP, v=(0, 0, 0), omega=(0, 0, 0), mass=1.0):
    body = model.add_body(name, Box(A, A, A, mass=mass), place, quat, v, omega)
    return add_mesh(model, name, body, shape)


def add_mesh(model, name, on, shape, radius=R):
    vertices, triangles = SHAPES[shape]
    return model.add_mesh(name, on, vertices=vertices, triangles=triangles, radius=radius)


MEETINGS = {  # shape and orientation of the first, of the second, and its place
    "corner on a face": ("cube", UP, "cube", ON_CORNER, (0.01, 0.02, 0.145)),
    "edge on edge": ("cube", ON_EDGE, "cube", ACROSS, (0.005, 0.01, 0.147)),
    "face on a finer face": ("fine cube", UP, "cube", about((1, 0.3, 0), 0.01), (0.02, 0.03, 0.107)),
    "edge across a trough": ("trough", UP, "cube", ON_EDGE, (0.01, 0.01, 0.1345)),
    "across a trough": ("trough", UP, "fine cube", about((0, 0.1, 1), 0.5), (0.01, 0.01, 0.121)),
    "two troughs": ("trough", about((1, 0, 0), np.pi), "trough", about((0, 0, 1), 1.2), (0.01, 0.0, 0.012)),
    "face on a peak": ("peak", UP, "cube", about((1, 0.2, 0), 0.02), (0.01, 0, 0.1115)),
    "over a border": ("plate", UP, "cube", about((0, 1, 0), 0.3), (0.2, 0.01, 0.0579)),
    "on hills": ("hills", UP, "cube", about((1, 0.3, 0), 0.5), (0.02, 0.03, 0.1149)),
}


@pytest.mark.parametrize(
    ("name", "loses"),
    [*((name, True) for name in MEETINGS), *((name, False) for name in list(MEETINGS)[::3])],
)
def test_meshes_that_collide_keep_energy_and_momenta(name, loses):
    losses = {"friction": (0.4, 0.3), "restitution": 0.6} if loses else {}
    one, quat, other, turned, place = MEETINGS[name]
    model = Model("pair", gravity=(0, 0, 0))
    a = add(model, one, "a", (0, 0, 0), quat, (0, 0, 0), (0.3, -0.2, 0.1))
    b = add(model, other, "b", place, turned, (0.1, 0, -1.0), mass=2.0)
    model.add_contact("c", a, b, 4e5, **losses)
    result = run(model, 0.02, 5e-4, every=2)
    energy, lost = result.energy["total"], result.dissipation
    assert result.contact("c").energy.max() > 0.01 * energy[0]
    near = result.contact("c").gap < 0.0  # a list knows no more
    assert result.distance("b", "a")[near] == pytest.approx(result.contact("c").gap[near], abs=1e-9)
    assert np.diff(lost).min() > -1e-15
    assert (lost[-1] > 0.01 * energy[0]) == loses
    assert change(energy + lost) < 1e-12 * energy[0]
    assert change(result.linear_momentum) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    assert loses or audit(result).ok


@pytest.mark.parametrize(
    ("one", "other", "height", "part"),
    [
        ("cube", "plane", A / 2, 1.0),
        ("trough", "plane", R, 1.0),
        ("cube", "cube", A, 1.0),
        ("cube", "fine cube", A, 1.0),
        ("fine cube", "plate", A / 2 + R, 1.0),
        ("cube", "trough", A / 2 + 0.06 + R, 2.0),
    ],
)
def test_what_is_laid_flat_rests_with_the_stiffness_of_the_law(one, other, height, part):
    """On four corners, each with a quarter; across a groove on four crossings besides."""
    model = Model("lies", gravity=(0, 0, -G))
    it = add(model, one, "it", (0, 0, height - G / (part * K)))
    if other == "plane":
        below = model.add_plane("p", model.ground.at((0, 0, 0)), (0, 0, 1))
    else:
        below = add_mesh(model, "below", model.ground.at((0, 0, 0)), other)
    model.add_contact("c", it, below, K)
    result = run(model, 1.0, 1e-3, every=50)
    own = result.body("it")
    assert result.contact("c").normal_force == pytest.approx(G, rel=1e-9)
    assert result.newton_iterations.max() <= 1.0
    assert np.abs(own.r - own.r[0]).max() < 1e-12
    assert np.abs(own.quat[:, 1:]).max() < 1e-12


@pytest.mark.parametrize("aside", [0.0, 0.001, 0.004, 0.03])
def test_a_face_is_pressed_straight_up_by_an_equal_one_below(aside):
    """Corners next to corners count once: nothing pushes equal faces off each other."""
    depth, model = 2e-4, Model("lies", gravity=(0, 0, 0))
    it = add(model, "cube", "it", (aside, 0, A - depth))
    model.add_contact("c", it, add_mesh(model, "below", model.ground.at((0, 0, 0)), "cube"), K)
    contact = run(model, 1e-5, 1e-5).contact("c")
    assert contact.force[0] == pytest.approx([0, 0, K * depth], abs=1e-9)
    assert contact.normal_force[0] == pytest.approx(K * depth, rel=1e-9)
    assert contact.point[0] == pytest.approx([0.5 * aside, 0, 0.5 * (A - depth)], abs=1e-5)


@pytest.mark.parametrize("part", [0.96, 1.04])
def test_a_cube_of_triangles_sticks_below_the_angle_of_friction_and_slides_above(part):
    mu = 0.4
    tilt = part * np.arctan(mu)
    model = Model("incline", gravity=(0, G * np.sin(tilt), -G * np.cos(tilt)))
    it = add(model, "fine cube", "it", (0, -0.1, A / 2 + R - G * np.cos(tilt) / K))
    floor = add_mesh(model, "below", model.ground.at((0, 0, 0)), "plate")
    model.add_contact("c", it, floor, K, friction=mu, damping=10.0)
    own = run(model, 0.3, 1e-3, every=10).body("it")
    way, gained = own.r[-1, 1] - own.r[10, 1], own.v[-1, 1] - own.v[10, 1]
    assert (abs(way) < 1e-4) == (part < 1.0)
    if part > 1.0:
        assert gained == pytest.approx(G * (np.sin(tilt) - mu * np.cos(tilt)) * 0.2, rel=0.05)


def test_corners_stick_with_the_tangential_stiffness_of_the_law_together():
    """A quarter each: the foot of what is pushed aside gives way by the force over it."""
    push, model = 1.0, Model("sticks", gravity=(1.0, 0, -G))
    it = add(model, "cube", "it", (0, 0, A / 2 + R - G / K))
    floor = add_mesh(model, "below", model.ground.at((0, 0, 0)), "plate")
    model.add_contact("c", it, floor, K, friction=0.5, damping=10.0)
    foot = run(model, 0.1, 5e-4).body("it").point((0, 0, -A / 2))[:, 0]
    assert foot[100:].mean() == pytest.approx(push / K, rel=0.1)


def test_a_cube_that_turns_on_a_sheet_is_braked_at_its_corners():
    """Each rubs with a quarter of the weight, at half of the diagonal."""
    mu, model = 0.3, Model("turns", gravity=(0, 0, -G))
    it = add(model, "cube", "it", (0.01, 0, A / 2 + R - G / K), UP, (0, 0, 0), (0, 0, 5.0))
    floor = add_mesh(model, "below", model.ground.at((0, 0, 0)), "plate")
    model.add_contact("c", it, floor, K, friction=mu)
    rate = run(model, 0.02, 1e-3).body("it").Omega[:, 2]
    braked = mu * G * (0.5 * A - R) * 2**0.5 / (A**2 / 6.0)
    assert (rate[5] - rate[-1]) / 0.015 == pytest.approx(braked, rel=0.02)


@pytest.mark.parametrize("n", [1, 4])
def test_a_cube_has_eight_corners_and_twelve_ridges_however_it_is_divided(n):
    vertices, triangles = fine_cube(n)
    model = Model("merges")
    made = model.add_mesh("m", model.ground.at((0, 0, 0)), vertices=vertices, triangles=triangles)
    vertices, triangles = made.corners
    found = features_of(vertices, triangles)
    assert len(found.corners) == 8
    assert len(found.ridges) == 12
    assert found.share == pytest.approx(0.25, abs=1e-12)
    lengths = np.linalg.norm(np.diff(vertices[found.ridges], axis=1)[:, 0], axis=1)
    assert lengths == pytest.approx(A - 2 * R, abs=1e-12)


def test_parts_of_the_stiffness_follow_from_flat_parts_by_their_area():
    """One over the number of corners of a flat part: of a sheet, of bent triangles, of a disc."""
    sheet, hills = (features_of(*SHAPES[name]) for name in ("plate", "hills"))
    assert len(sheet.corners) == 4
    assert sheet.share == pytest.approx(0.25, abs=1e-12)
    assert hills.share == pytest.approx(1 / 3, rel=0.01)
    turns = 2 * np.pi * np.arange(6) / 6
    ring = np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=1)
    fan = np.concatenate([ring, [(0, 0, 0)]]), np.array([(k, (k + 1) % 6, 6) for k in range(6)])
    disc = features_of(*fan)
    assert len(disc.corners) == len(disc.ridges) == 6
    assert disc.share == pytest.approx(1 / 6, abs=1e-12)


def test_meshes_that_begin_in_each_other_are_refused_where_no_corner_is_near():
    model = Model("no", gravity=(0, 0, 0))
    spear = model.add_body("spear", Box(0.02, 0.02, 0.5, mass=1.0), (0.013, 0.021, 0.1))
    vertices, triangles = cube(1.0)
    pike = model.add_mesh(
        "spear", spear, vertices=vertices * (0.01, 0.01, 0.25), triangles=triangles, radius=R
    )
    model.add_contact("c", pike, add_mesh(model, "plate", model.ground.at((0, 0, 0)), "plate"), 1e5)
    with pytest.raises(ModelError, match=r"mesh 'plate' is 0.01 m inside of mesh 'spear' at t = 0"):
        run(model, 1e-3)


def test_meshes_without_a_radius_are_refused():
    model = Model("no", gravity=(0, 0, 0))
    body = model.add_body("it", Box(A, A, A, mass=1.0), (0, 0, 1))
    it = add_mesh(model, "it", body, "cube", radius=0.0)
    with pytest.raises(ModelError, match=r"mesh 'below' and mesh 'it' have no radius"):
        model.add_contact(
            "c", it, add_mesh(model, "below", model.ground.at((0, 0, 0)), "plate", radius=0.0), 1e5
        )
    plane = model.add_plane("p", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("floor", it, plane, 1e5)
    result = run(model, 1e-3, 1e-3)
    assert result.distance("it", "p")[0] == pytest.approx(1.0 - (A / 2 - R), abs=1e-12)


@pytest.mark.parametrize("name", ["corner on a face", "edge on edge", "face on a peak"])
def test_no_mesh_goes_through_another(name):
    one, quat, other, turned, place = MEETINGS[name]
    model = Model("hard", gravity=(0, 0, 0))
    below = add_mesh(model, "below", model.ground.at((0, 0, 0)), one)
    if quat is not UP:
        below = add(model, one, "held", (0, 0, 0), quat, mass=1e6)
    model.add_contact("c", add(model, other, "it", place, turned, (0, 0, -20.0)), below, 1e4)
    with pytest.raises(ConvergenceError, match=r"what touches a mesh is pressed through it"):
        run(model, 0.02, 1e-4)


def test_a_mesh_that_is_much_finer_than_its_body_is_doubted():
    vertices, triangles = ground(60, half=0.1)
    model = Model("fine", gravity=(0, 0, -G))
    ball = model.add_sphere("ball", model.add_body("ball", Sphere(A, mass=1.0), (0, 0, 0.0999)), A)
    floor = model.add_mesh("floor", model.ground.at((0, 0, 0)), vertices=vertices, triangles=triangles)
    model.add_contact("c", ball, floor, K)
    with pytest.warns(
        DoubtfulModelWarning, match=r"some 5.7e\+03 triangles are .* larger triangles, some 0.02 m wide"
    ):
        model.build()


def test_an_edge_that_goes_through_another_in_a_step_has_no_forces():
    """So that the step fails; one that comes as near on its side has."""
    X = touch(EDGES).X.copy()
    X[FIRST : FIRST + 12] = (-1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1, 0)
    start = np.zeros((2, 4, 3))
    start[:, 1:] = np.eye(3)
    near, beyond = start.copy(), start.copy()
    start[1, 0, 2], near[1, 0, 2], beyond[1, 0, 2] = 0.6 * X[RHO], 0.3 * X[RHO], -0.3 * X[RHO]
    assert np.abs(dual(EDGES, start, near, X)).max() > 0.0
    assert np.isnan(dual(EDGES, start, beyond, X)).any()
