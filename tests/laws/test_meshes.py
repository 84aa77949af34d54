"""Triangle meshes that spheres and rods touch: what is kept, what they are like on planes and in tubes, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipk

from discretization.contact.mesh_search import from_triangles
from discretization.contact.search import candidates, searched
from discretization.contact.table import Mesh, Pair, Sphere, contacts_of
from rigid.errors import ConvergenceError
from rodsim import Box, Friction, Material, Model, ModelError, Section, audit, simulate
from rodsim import Sphere as Ball
from rodsim.results.contact_surfaces import meshes
from tests.support.contacts import ground
from tests.support.solids import about, change, cube, run

RUBBER = Section.circular(0.01, Material(E=1e6, nu=0.45, density=1000))
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")
RUBBING = {"friction": 0.4, "restitution": 0.6}


def tube(radius, length, around=48, along=4, angle=0.0, bend=1.0):
    """A tube along x, or one whose axis is an arc of a radius `bend` by an angle in the plane of x and z."""
    s, turn = np.linspace(0.0, 1.0, along + 1), 2 * np.pi * np.arange(around) / around
    up = np.stack([0 * turn, np.cos(turn), np.sin(turn)], axis=1) * radius
    phi = angle * s
    middle = np.stack([length * s, 0 * s, 0 * s], axis=1)
    if angle:
        middle = bend * np.stack([np.sin(phi), 0 * s, 1.0 - np.cos(phi)], axis=1)
    across = np.stack([-np.sin(phi), 0 * s, np.cos(phi)], axis=1)
    places = middle[:, None] + up[None, :, 1:2] * (0, 1, 0) + up[None, :, 2:] * across[:, None]
    i, j = (own.ravel() for own in np.indices((along, around)))
    a, b = i * around + j, i * around + (j + 1) % around
    faces = np.concatenate([np.stack([a, b, b + around], 1), np.stack([a, b + around, a + around], 1)])
    return places.reshape(-1, 3), faces


def add_ball(model, name, radius=0.05, **state):
    return model.add_sphere(name, model.add_body(name, Ball(radius, density=1000), **state), radius)


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize(
    "law", [{"stiffness": 5e3}, {"stiffness": 1e5, "exponent": 1.5}], ids=["linear", "Hertz"]
)
def test_a_ball_rolls_across_edges_and_vertices_of_flat_triangles_as_on_a_plane(friction, law):
    """In steps of a fifth of a triangle, the first of them from above a vertex."""
    found = []
    rubs = Friction(friction, tangential_stiffness=5e3, rolling=0.001)
    more = {"friction": rubs} if friction else {}
    for on_mesh in (True, False):
        model = Model("rolls", gravity=(0, 0, -9.81))
        state = {"position": (-0.4, 0.2, 0.0492), "velocity": (2.0, 0.7, 0)}
        ball, at = add_ball(model, "ball", **state), model.ground.at((0, 0, 0))
        vertices, triangles = ground(40)
        if on_mesh:
            floor = model.add_mesh("floor", at, vertices=vertices, triangles=triangles)
        else:
            floor = model.add_plane("floor", at, (0, 0, 1))
        model.add_contact("c", ball, floor, **law, **more)
        found.append(run(model, 0.2, 5e-3, every=4))
    one, plane = (own.body("ball") for own in found)
    assert np.abs(one.r - plane.r).max() < 1e-12
    assert np.abs(one.Omega - plane.Omega).max() < 1e-9
    assert found[0].contact("c").normal_force == pytest.approx(found[1].contact("c").normal_force, rel=1e-9)
    assert found[0].distance("ball", "floor") == pytest.approx(found[1].distance("ball", "floor"), abs=1e-12)


MEETINGS = {  # orientation of the cube, place of the ball above it
    "face": ((1.0, 0, 0, 0), (0.02, 0.013, 0.102)),
    "edge": (about((1, 0, 0), np.pi / 4), (0.01, 0.003, 0.124)),
    "corner": (about((1, -1, 0), np.arctan(2**0.5)), (0.003, 0.002, 0.14)),
}


@pytest.mark.parametrize("losses", [{}, RUBBING], ids=["kept", "lost"])
@pytest.mark.parametrize("name", [*MEETINGS, "rod"])
def test_what_hits_a_mesh_on_a_free_body_keeps_energy_and_momenta(name, losses):
    quat, place = MEETINGS.get(name, MEETINGS["edge"])
    model = Model("hit", gravity=(0, 0, 0))
    body = model.add_body(
        "cube", Box(0.1, 0.1, 0.1, mass=1.0), orientation=quat, angular_velocity=(0.3, -0.2, 0.1)
    )
    vertices, triangles = cube()
    mesh = model.add_mesh("cube", body, vertices=vertices, triangles=triangles, side="outside")
    if name == "rod":
        ends = [(0.01, -0.1, 0.083), (0.02, 0.1, 0.084)]
        rod = model.add_rod("rod", ends, RUBBER, 4, velocity=(0.2, 0.1, -1.0))
        model.add_contact("c", rod, mesh, 4e5, stations=16, **losses)
    else:
        ball = add_ball(model, "ball", position=place, velocity=(0.2, 0.1, -1.0), angular_velocity=(2, 3, 1))
        model.add_contact("c", ball, mesh, 1e5, **losses)
    result = run(model, 0.02, 2.5e-4)
    energy, lost = result.energy["total"], result.dissipation
    assert result.contact("c").normal_force.max() > 1.0
    assert np.diff(lost).min() > -1e-15
    assert (lost[-1] > 1e-3 * energy[0]) == bool(losses)
    assert change(energy + lost) < 1e-12 * energy[0]
    assert change(result.linear_momentum) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    assert audit(result).ok


def test_a_ball_in_a_tube_swings_as_a_pendulum_of_the_length_between_both_radii():
    """On 192 sides, half of them on its way."""
    R, r, g, k = 0.5, 0.1, 9.81, 1e5
    model = Model("swing", gravity=(0, 0, -g))
    vertices, triangles = tube(R, 0.6, around=192, along=2)
    pipe = model.add_mesh("pipe", model.ground.at((-0.3, 0, 0)), vertices=vertices, triangles=triangles)
    angle = 0.8
    out = R - r + 4.19 * g * np.cos(angle) / k
    ball = add_ball(model, "ball", r, position=(0.0, out * np.sin(angle), -out * np.cos(angle)))
    model.add_contact("c", ball, pipe, k)
    result = run(model, 1.4, 1e-3, every=5)
    y = result.body("ball").r[:, 1]
    cross = np.flatnonzero(np.diff(np.sign(y)))
    times = [result.t[i] - y[i] * (result.t[i + 1] - result.t[i]) / (y[i + 1] - y[i]) for i in cross]
    half = 2 * np.sqrt((R - r) / g) * ellipk(np.sin(angle / 2) ** 2)
    assert np.diff(times) == pytest.approx(half, rel=2e-3)
    assert change(result.energy["total"]) < 1e-12
    assert np.hypot(*result.body("ball").r[:, 1:].T).max() < R - r + 1e-3


def on_hills(**more):
    model = Model("hills", gravity=(0, 0, -9.81))
    vertices, triangles = ground(24, lambda x, y: 0.03 * np.sin(9 * x) * np.cos(7 * y))
    hills = model.add_mesh("hills", model.ground.at((0, 0, 0)), vertices=vertices, triangles=triangles)
    ball = add_ball(
        model, "ball", position=(-0.3, 0.2, 0.09), velocity=(1.0, 0.2, 0), angular_velocity=(1, 0, 3)
    )
    rod = model.add_rod("rod", [(0.0, -0.3, 0.06), (0.3, -0.3, 0.06)], RUBBER, 4, velocity=(0, 0.4, 0))
    model.add_contact("ball", ball, hills, 2e4, **more)
    model.add_contact("rod", rod, hills, 2e4, stations=8, **more)
    return model


def test_runs_on_hills_go_on_to_the_bit_and_lose_what_they_lose(tmp_path):
    """Whatever the outputs; stopped and resumed; energy and what is lost are in balance."""
    whole = simulate(
        on_hills(**RUBBING), t_end=0.12, dt=1e-3, output=tmp_path / "whole.vtkhdf", output_every=10
    )
    other = simulate(on_hills(**RUBBING), t_end=0.12, dt=1e-3, output_every=40)
    for own in ("r", "v", "Omega"):
        assert np.array_equal(getattr(whole.body("ball"), own)[::4], getattr(other.body("ball"), own))
    stopped = tmp_path / "stopped.vtkhdf"
    simulate(on_hills(**RUBBING), t_end=0.06, dt=1e-3, output=stopped, output_every=10)
    again = simulate(on_hills(**RUBBING), t_end=0.12, dt=1e-3, output=stopped, output_every=10, resume=True)
    assert np.array_equal(again.rod("rod").r, whole.rod("rod").r)
    assert np.array_equal(again.body("ball").r, whole.body("ball").r)
    assert np.diff(whole.dissipation).min() >= 0.0
    assert whole.dissipation[-1] > 0.01
    assert change(whole.energy["total"] + whole.dissipation) < 1e-12
    assert audit(whole).ok
    ((name, frame, vertices, faces),) = meshes(whole.layout)
    assert (name, frame, len(vertices), len(faces)) == ("hills", 0, 625, 1152)
    gap = whole.contact("ball").gap
    near = np.isfinite(gap)
    assert near.any()
    assert whole.distance("ball", "hills")[near] == pytest.approx(gap[near], abs=1e-12)


def test_lists_of_a_hundred_thousand_triangles_have_what_is_near_and_no_other():
    rng = np.random.default_rng(5)
    vertices, triangles = ground(224, lambda x, y: 0.1 * np.sin(5 * x) * np.cos(4 * y))
    assert len(triangles) > 1e5
    balls = [Sphere(1 + k, (0, 0, 0), 0.02) for k in range(50)]
    pairs = [Pair(k, 50, (0.0, 1e3, 1.0, 0.0)) for k in range(50)]
    contacts = contacts_of([*balls, Mesh(0, vertices, triangles, 0.0)], pairs)
    places = np.column_stack([rng.uniform(-1, 1, (50, 2)), rng.uniform(-0.1, 0.15, 50)])
    points = np.concatenate([places, contacts.X[50:]])
    listed = candidates(contacts, points, 0.01, searched(contacts))
    corners, seen = vertices[triangles], 0
    for k in range(50):
        near = np.flatnonzero(np.linalg.norm(corners.mean(axis=1) - places[k], axis=1) < 0.05)
        apart, place = np.empty(len(near)), places[[k, k]]
        from_triangles(place, np.ascontiguousarray(corners[near]), apart)
        row = np.flatnonzero(listed.ends[:, 0] == k)
        found = listed.faces[slice(*listed.first[row[0] : row[0] + 2])] if len(row) else np.zeros(0)
        assert np.array_equal(found, near[apart < 0.03])
        seen += len(found)
    assert seen > 100


def on_hole(sides, speed):
    """A ball falls into a hole that is narrower than itself."""
    model = Model("hole", gravity=(0, 0, -9.81))
    turn, a = 2 * np.pi * np.arange(sides) / sides, np.arange(sides)
    b = (a + 1) % sides
    ring = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    faces = np.concatenate([np.stack([a, b, a + sides], 1), np.stack([b, b + sides, a + sides], 1)])
    vertices = np.concatenate([0.04 * ring, 0.2 * ring])
    plate = model.add_mesh("plate", model.ground.at((0, 0, 0)), vertices=vertices, triangles=faces)
    ball = add_ball(model, "ball", position=(0, 0, 0.036), velocity=(0, 0, -speed))
    model.add_contact("c", ball, plate, 1e4, damping=5.0)
    return run(model, 0.2, 1e-3)


def test_a_ball_rests_in_a_hole_of_few_sides_and_a_run_ends_where_it_is_touched_all_around():
    assert on_hole(8, 0.1).body("ball").r[-1, 2] == pytest.approx(0.0336, abs=3e-4)
    with pytest.raises(ConvergenceError, match="pressed through it, or is touched all around"):
        on_hole(64, 0.1)


def refused(**given):
    model = Model("bad")
    at = model.ground.at((0, 0, 0))
    with pytest.raises(ModelError) as problem:
        model.add_mesh("floor", at, **given)
    return str(problem.value)


def test_meshes_that_cannot_be_are_refused_with_a_cure(tmp_path):
    vertices, triangles = cube()
    turned = [triangles[0][::-1], *triangles[1:]]
    assert "either a file, or vertices" in refused(vertices=vertices)
    assert "either a file, or vertices" in refused(file="a.stl", vertices=vertices, triangles=triangles)
    assert "no such file" in refused(file=str(tmp_path / "none.stl"))
    assert "0 triangles" in refused(vertices=vertices, triangles=np.zeros((0, 3), int))
    assert "vertex numbers from 0 to 9" in refused(vertices=vertices, triangles=[(0, 1, 9)])
    assert "1 triangles have no area" in refused(vertices=vertices, triangles=[(0, 1, 1), (0, 1, 2)])
    assert "more than once" in refused(vertices=vertices, triangles=[*triangles, triangles[3]])
    assert "more than two triangles" in refused(
        vertices=vertices, triangles=[(0, 1, 2), (0, 1, 4), (0, 1, 6)]
    )
    assert "run through twice in the same direction" in refused(
        vertices=vertices, triangles=turned, side="inside"
    )
    assert "close the holes, or leave side out" in refused(
        vertices=vertices, triangles=triangles[1:], side="inside"
    )


def test_starts_inside_a_mesh_or_on_its_other_side_are_refused():
    vertices, triangles = cube(0.1)
    for side, place, said in (
        ("inside", (0, 0, 0), ""),
        ("outside", (0, 0, 0), "'ball' is not outside of mesh 'cube'"),
        ("inside", (0, 0, 0.3), "'ball' is not inside of mesh 'cube'"),
        ("both", (0, 0.01, 0.098), "sphere 'ball' is 0.048 m inside of mesh 'cube' at t = 0"),
    ):
        model = Model("starts")
        mesh = model.add_mesh(
            "cube", model.ground.at((0, 0, 0)), vertices=vertices, triangles=triangles, side=side
        )
        model.add_contact("c", add_ball(model, "ball", position=place), mesh, 1e4)
        if said:
            with pytest.raises(ModelError, match=said):
                model.build()
        else:
            model.build()
    model = Model("narrow")
    vertices, triangles = tube(0.008, 0.4)
    pipe = model.add_mesh("pipe", model.ground.at((0, 0, 0)), vertices=vertices, triangles=triangles)
    model.add_contact("c", model.add_rod("rod", [(0.1, 0, 0), (0.3, 0, 0)], RUBBER, 4), pipe, 1e4)
    with pytest.raises(ModelError, match=r"rod 'rod' is 0.002\d* m inside of mesh 'pipe' at t = 0"):
        model.build()


def test_nothing_goes_through_a_mesh_that_gives_way():
    """A ball too fast for the stiffness: its centre would come to the other side."""
    model = Model("soft", gravity=(0, 0, 0))
    vertices, triangles = ground(2)
    floor = model.add_mesh("floor", model.ground.at((0, 0, 0)), vertices=vertices, triangles=triangles)
    model.add_contact(
        "c", add_ball(model, "ball", position=(0.1, 0.2, 0.06), velocity=(0, 0, -3.0)), floor, 100.0
    )
    with pytest.raises(ConvergenceError, match="pressed through it"):
        run(model, 0.1, 1e-3)
