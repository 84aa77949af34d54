"""Boxes, capsules, hulls, cylinders and cones that meet triangle meshes: what is kept, rests, rubs, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from discretization.contact.mesh_search import core_from_triangles, with_ridges
from discretization.contact.table import Hull
from rigid.errors import ConvergenceError, ModelError
from rodsim import Model, audit, simulate
from tests.support.contacts import SIGNS, core_block, ground, mesh_numbers
from tests.support.solids import ALONG_X, ALONG_Y, UP, A, G, R, about, add, change, cube, run

PEAK = (
    np.array([(0, 0, 0.05), (0.1, 0.1, 0), (-0.1, 0.1, 0), (-0.1, -0.1, 0), (0.1, -0.1, 0)]),
    np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 1)]),
)
ROOF = (
    np.array(
        [(0.3, 0, 0.05), (-0.3, 0, 0.05), (0.3, 0.1, 0), (-0.3, 0.1, 0), (0.3, -0.1, 0), (-0.3, -0.1, 0)]
    ),
    np.array([(0, 2, 1), (1, 2, 3), (0, 1, 4), (1, 5, 4)]),
)
PLATE = (
    np.array([(-0.3, -0.3, 0), (0.02, -0.3, 0), (0.02, 0.3, 0), (-0.3, 0.3, 0)]),
    np.array([(0, 1, 2), (0, 2, 3)]),
)
HILLS = ground(12, lambda x, y: 0.04 * np.sin(9 * x + 1) * np.cos(11 * y), 0.4)
MESHES = {"peak": PEAK, "roof": ROOF, "plate": PLATE, "hills": HILLS}
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")

MEETINGS = {  # mesh, shape, its orientation and place
    "face of a box on a peak": ("peak", "box", about((1, 0.2, 0), 0.02), (0.01, 0, 0.1005)),
    "edge of a box across a roof": ("roof", "box", about((0, 1, 0), np.pi / 4), (0, 0.01, 0.1191)),
    "face of a box on a roof": ("roof", "box", UP, (0, 0.01, 0.1005)),
    "box over the border of a plate": ("plate", "box", about((0, 1, 0), 0.3), (0.04, 0.01, 0.0484)),
    "box on hills": ("hills", "box", about((1, 0.3, 0), 0.5), (0.02, 0.03, 0.1099)),
    "capsule across a roof": ("roof", "capsule", about((1, 0, 0), np.pi / 2 - 0.05), (0, 0.01, 0.0701)),
    "capsule on hills": ("hills", "capsule", ALONG_X, (0.02, 0.03, 0.0567)),
    "hexagon on a peak": ("peak", "hexagon", about((1, 0.2, 0), 0.1), (0.01, 0, 0.1058)),
    "cylinder across a roof": ("roof", "cylinder", ALONG_Y, (0, 0.01, 0.1005)),
    "cylinder on hills": ("hills", "cylinder", ALONG_X, (0.02, 0.03, 0.087)),
    "cone on hills": ("hills", "cone", about((1, 0, 0), 0.3), (0.02, 0.03, 0.027)),
}


def add_mesh(model, on, mesh, **more):
    return model.add_mesh("mesh", on, vertices=mesh[0], triangles=mesh[1], **more)


@pytest.mark.parametrize(
    ("name", "loses"),
    [*((name, True) for name in MEETINGS), *((name, False) for name in list(MEETINGS)[::3])],
)
def test_solids_that_hit_a_mesh_on_a_free_body_keep_energy_and_momenta(name, loses):
    losses = {"friction": (0.4, 0.3), "restitution": 0.6} if loses else {}
    mesh, shape, quat, place = MEETINGS[name]
    model = Model("hit", gravity=(0, 0, 0))
    add(model, "box", "below", (0, 0, 0), UP, omega=(0.3, -0.2, 0.1))
    below = add_mesh(model, model.bodies["below"], MESHES[mesh])
    it = add(model, shape, "it", place, quat, (0.1, 0, -1.0))
    model.add_contact("c", it, below, 4e5, **losses)
    result = run(model, 0.015, 5e-4, every=2)
    energy, lost = result.energy["total"], result.dissipation
    assert result.contact("c").energy.max() > 0.01 * energy[0]
    assert result.contact("c").gap.min() == pytest.approx(-result.contact("c").depth.max(), abs=1e-12)
    assert result.distance("it", "mesh") == pytest.approx(result.contact("c").gap, abs=1e-9)
    assert np.diff(lost).min() > -1e-15
    assert (lost[-1] > 0.02 * energy[0]) == loses
    assert change(energy + lost) < 1e-12 * energy[0]
    assert change(result.linear_momentum) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    assert loses or audit(result).ok


@pytest.mark.parametrize(
    ("shape", "quat", "height"),
    [("box", UP, A / 2), ("capsule", ALONG_X, 0.02), ("cylinder", ALONG_Y, A / 2)],
)
def test_solids_slide_across_edges_of_flat_triangles_as_on_a_plane(shape, quat, height):
    found, k = [], 1e5
    for on_mesh in (True, False):
        model = Model("slides", gravity=(0, 0, -G))
        it = add(model, shape, "it", (0.013, 0.021, height - G / k), quat, (0.3, 0.7, 0))
        at = model.ground.at((0, 0, 0))
        floor = add_mesh(model, at, ground(8, half=0.4)) if on_mesh else model.add_plane("p", at, (0, 0, 1))
        model.add_contact("c", it, floor, k)
        found.append(run(model, 0.1, 2e-3, every=10))
    one, plane = (own.body("it") for own in found)
    assert found[0].newton_iterations.max() < 1.1
    assert np.abs(one.r - plane.r).max() < 1e-12
    assert np.abs(one.quat - plane.quat).max() < 1e-12
    assert found[0].contact("c").normal_force == pytest.approx(G, rel=1e-9)


@pytest.mark.parametrize("part", [0.96, 1.04])
def test_a_prism_on_triangles_sticks_below_the_angle_of_friction_and_slides_above(part):
    mu, k = 0.4, 1e5
    tilt = part * np.arctan(mu)
    model = Model("incline", gravity=(0, G * np.sin(tilt), -G * np.cos(tilt)))
    it = add(model, "hexagon", "it", (0, -0.2, A / 2 + R - G * np.cos(tilt) / k))
    floor = add_mesh(model, model.ground.at((0, 0, 0)), ground(8, half=0.8))
    model.add_contact("c", it, floor, k, friction=mu, damping=10.0)
    own = run(model, 0.3, 1e-3, every=10).body("it")
    way, gained = own.r[-1, 1] - own.r[10, 1], own.v[-1, 1] - own.v[10, 1]
    assert (abs(way) < 1e-4) == (part < 1.0)
    if part > 1.0:
        assert gained == pytest.approx(G * (np.sin(tilt) - mu * np.cos(tilt)) * 0.2, rel=0.05)


def roof(bend):
    """Along x, bent by this angle."""
    y, z = np.cos(0.5 * bend), -np.sin(0.5 * bend)
    corners = [(0.5, 0, 0), (-0.5, 0, 0), (0.5, y, z), (-0.5, y, z), (0.5, -y, z), (-0.5, -y, z)]
    return np.array(corners), ROOF[1]


@pytest.mark.parametrize(
    ("mesh", "top", "part"),
    [(PEAK, 0.05, 0.25), (roof(1.0), 0.0, 0.5), (roof(0.1), 0.0, 0.5 * 4 * np.sin(0.05))],
    ids=["peak", "roof", "gentle roof"],
)
def test_a_face_is_pressed_by_peaks_and_ridges_as_sharp_as_they_are(mesh, top, part):
    """A vertex, or both crossings of a ridge with edges of the face, have a quarter of the stiffness each."""
    k, depth, model = 1e5, 2e-4, Model("lies", gravity=(0, 0, 0))
    below = add_mesh(model, model.ground.at((0, 0, 0)), mesh)
    model.add_contact("c", add(model, "box", "it", (0, 0, top + A / 2 - depth)), below, k)
    contact = run(model, 1e-5, 1e-5).contact("c")
    assert contact.normal_force[0] == pytest.approx(part * k * depth, rel=1e-9)
    assert contact.force[0] == pytest.approx([0.0, 0.0, part * k * depth], abs=1e-9)
    assert contact.point[0] == pytest.approx([0.0, 0.0, top], abs=1e-9)


@pytest.mark.parametrize(("mesh", "top"), [(PEAK, 0.05), (roof(1.0), 0.0), (ground(2), 0.0)])
def test_friction_acts_on_a_solid_at_the_height_of_the_mesh(mesh, top):
    """Which has no radius: what turns the box is half of its height times what brakes it."""
    model = Model("lever", gravity=(0, 0, 0))
    below = add_mesh(model, model.ground.at((0, 0, 0)), mesh)
    it = add(model, "box", "it", (0, 0, top + A / 2 - 2e-4), UP, (0.5, 0, 0))
    model.add_contact("c", it, below, 1e5, friction=0.5)
    own = run(model, 1e-4, 2e-5).body("it")
    braked, turned = 0.5 - own.v[-1, 0], own.Omega[-1, 1]
    assert braked > 1e-5
    assert A**2 / 6.0 * turned / braked == pytest.approx(A / 2, rel=0.02)


def test_a_prism_rubs_on_triangles_as_on_a_box():
    """Which has one bristle for all of it, too, at the height where both touch."""
    found, k = [], 1e5
    for on_mesh in (True, False):
        model = Model("rubs", gravity=(0, 0, -G))
        it = add(model, "hexagon", "it", (0, 0, A / 2 + R - G / k), UP, (0.1, 0.5, 0))
        if on_mesh:
            below = add_mesh(model, model.ground.at((0, 0, 0)), ground(8, half=0.8))
        else:
            below = model.add_solid("base", model.ground.at((0, 0, -0.1)), SIGNS * (0.8, 0.8, 0.1))
        model.add_contact("c", it, below, k, friction=0.3, damping=5.0)
        found.append(run(model, 0.1, 1e-3, every=20))
    one, other = (own.body("it") for own in found)
    assert np.abs(one.r - one.r[0]).max() > 0.01
    assert np.abs(one.r - other.r).max() < 1e-12
    assert np.abs(one.quat - other.quat).max() < 1e-12
    assert found[0].dissipation[-1] == pytest.approx(found[1].dissipation[-1], rel=1e-9)


@pytest.mark.parametrize("bend", [0.0, 0.1, 0.4, 2.0])
def test_edges_and_vertices_are_felt_by_how_far_triangles_are_bent(bend):
    """4 sin(theta/2), at most 1; flat ones are not felt at all, borders are."""
    c, s = np.cos(bend), np.sin(bend)
    vertices = [(0, 0, 0), (1, 0, 0), (0.3, -1, 0), (0.6, c, -s)]
    found = with_ridges(mesh_numbers(vertices, [(0, 1, 2), (1, 0, 3)]))
    assert found[0] == 5 + 4
    inner = min(1.0, 4.0 * np.sin(0.5 * bend))
    assert np.sort(found[1:6]) == pytest.approx(np.sort([inner, 1, 1, 1, 1]), abs=1e-12)
    middle = with_ridges(mesh_numbers(*ground(2)))
    assert middle[0] == 16 + 9
    assert np.sort(middle[1:17]).tolist() == 8 * [0.0] + 8 * [1.0]
    assert np.sort(middle[17:26]).tolist() == [0.0] + 8 * [1.0]


def test_a_core_is_as_far_from_triangles_as_its_nearest_feature():
    """Of a cube: above a corner of it, beside an edge, a triangle with a corner inside, one that cuts it between its corners."""
    core, out = core_block(Hull(0, SIGNS, 0.0)), np.zeros(4)
    points = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    triangles = np.array(
        [
            [(0, 0, 1.5), (5, 1, 3), (5, -1, 3)],
            [(2, -5, 0.0), (2, 5, 0.0), (5, 0, 5)],
            [(0, 0, 0.7), (5, 1, 3), (5, -1, 3)],
            [(-5, -0.01, 0), (5, 0, 0), (-5, 0.01, 0)],
        ],
        float,
    )
    core_from_triangles(points, core, triangles, out)
    assert out == pytest.approx([0.5, 1.0, -0.3, 0.0], abs=1e-15)


def test_solids_that_begin_in_a_mesh_or_on_its_other_side_are_refused():
    model = Model("no", gravity=(0, 0, 0))
    floor = add_mesh(model, model.ground.at((0, 0, 0)), PLATE)
    model.add_contact("c", add(model, "box", "it", (-0.1, 0, 0.047)), floor, 1e5)
    with pytest.raises(ModelError, match=r"solid 'it' is 0.003 m inside of mesh 'mesh' at t = 0"):
        run(model, 0.01)
    with pytest.raises(
        ModelError, match=r"solid 'sharp' and mesh 'mesh' have no radius, .* give one of them a"
    ):
        model.add_contact("sharp", model.add_solid("sharp", model.bodies["it"]), floor, 1e5)
    vertices, triangles = cube()
    for side, begins in (("inside", 0.0), ("outside", 0.8), ("outside", 0.3)):
        model = Model("sides", gravity=(0, 0, 0))
        on = model.ground.at((0, 0, 0))
        box = add_mesh(model, on, (10.0 * np.asarray(vertices), triangles), side=side)
        model.add_contact("c", add(model, "hexagon", "it", (0, 0, begins)), box, 1e5)
        if begins != 0.3:
            run(model, 1e-3)
    with pytest.raises(ModelError, match=r"solid 'it' is not outside of mesh 'mesh' at t = 0"):
        run(model, 1e-3)


@pytest.mark.parametrize("name", ["face of a box on a peak", "cylinder across a roof", "box on hills"])
def test_nothing_goes_through_a_mesh_that_does_not_move(name):
    mesh, shape, quat, place = MEETINGS[name]
    model = Model("hard", gravity=(0, 0, 0))
    it = add(model, shape, "it", place, quat, (0, 0, -20.0))
    model.add_contact("c", it, add_mesh(model, model.ground.at((0, 0, 0)), MESHES[mesh]), 1e4)
    with pytest.raises(ConvergenceError, match=r"what touches a mesh is pressed through it"):
        simulate(model, 0.02, 1e-4, progress=False)


@pytest.mark.parametrize("shape", ["capsule", "box"])
def test_a_fine_and_gently_bent_mesh_carries_what_lies_on_it(shape):
    """However many vertices are next to one of the solid: pressed deeper it pushes more."""
    dome = ground(60, lambda x, y: (1.0 - x**2 - y**2) ** 0.5 - 1.0, 0.07)
    forces, depths = [], (1e-4, 3e-4, 7e-4) if shape == "capsule" else (1e-4, 2e-4, 4e-4)
    for depth in depths:
        model = Model("carries", gravity=(0, 0, 0))
        end = 1.0 - (1.0 - 0.05**2) ** 0.5 if shape == "capsule" else 0.0
        height = 0.02 - end if shape == "capsule" else A / 2
        it = add(model, shape, "it", (0, 0, height - depth), ALONG_X if shape == "capsule" else UP)
        model.add_contact("c", it, add_mesh(model, model.ground.at((0, 0, 0)), dome), 1e4)
        forces.append(run(model, 1e-5, 1e-5).contact("c").force[0, 2])
    assert forces[0] > 0.0
    assert np.diff(forces).min() > 0.0
