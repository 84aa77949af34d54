"""Shapes that act like simpler ones, and impacts with a known outcome.

A hull of the corners of a box acts like the box, an end of a capsule like a sphere, a flat face or flat
triangles like a plane, a rounded corner like a sphere. Equal bodies in a row exchange their velocities.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipk

from rodsim import Capsule, Friction, Model, audit
from tests.support.contacts import ground
from tests.support.solids import (
    ALONG_X,
    ALONG_Y,
    BALL,
    GROUND_POINT,
    RUBBER,
    SIGNS,
    STEEL,
    UP,
    A,
    G,
    K,
    R,
    about,
    add,
    change,
    run,
    tube,
    twist,
)

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")


# --- flat faces act like planes


def flat_floor(model, kind, n=8, half=0.8):
    """A surface whose top is at height 0."""
    if kind == "plane":
        return add(model, "plane", "floor")
    if kind == "box":
        return add(model, "box", "floor", (0, 0, -0.05), size=(1.0, 0.6, 0.1), radius=0.0, held=True)
    if kind == "hull":
        return model.add_solid("floor", model.ground.at((0, 0, -0.1)), SIGNS * (half, half, 0.1))
    vertices, triangles = ground(n, half=half)
    return model.add_mesh("floor", model.ground.at(GROUND_POINT), vertices=vertices, triangles=triangles)


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("law", [{"stiffness": 5e3}, {"stiffness": 1e5, "exponent": 1.5}], ids=str)
def test_ball_rolls_over_flat_triangles_as_on_a_plane(friction, law):
    """Each step covers a fifth of a triangle; the first starts above a vertex."""
    results = []
    rubs = Friction(friction, tangential_stiffness=5e3, rolling=0.001)
    options = {"friction": rubs} if friction else {}
    for kind in ("mesh", "plane"):
        model = Model("rolls", gravity=(0, 0, -G))
        state = {"place": (-0.4, 0.2, 0.0492), "v": (2.0, 0.7, 0)}
        ball = add(model, "sphere", "ball", **state, mass=0.5, size=(0.05,))
        model.add_contact("c", ball, flat_floor(model, kind, 40, 1.0), **law, **options)
        results.append(run(model, 0.2, 5e-3, every=4))
    one, plane = (result.body("ball") for result in results)
    force, expected = (result.contact("c").normal_force for result in results)
    assert np.abs(one.r - plane.r).max() < 1e-12
    assert np.abs(one.Omega - plane.Omega).max() < 1e-9
    assert force == pytest.approx(expected, rel=1e-9)
    assert results[0].distance("ball", "floor") == pytest.approx(
        results[1].distance("ball", "floor"), abs=1e-12
    )


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_rod_slides_on_a_box_face_as_on_a_plane(friction):
    """Friction stops the rod along its axis; sideways it starts to roll with 2/3 of its speed."""
    k, results = 2e4, []
    z = 0.01 - RUBBER.mass_per_length * G / k
    for kind in ("box", "plane"):
        model = Model("slides", gravity=(0, 0, -G))
        rod = add(model, "rod", "rod", [(x, 0.01, z) for x in (-0.1, 0.1)], v=(0.3, 0.1, 0), elements=2)
        model.add_contact("c", rod, flat_floor(model, kind), k, friction=friction, stations=8)
        results.append(run(model, 0.15, every=10))
    one, plane = (result.rod("rod") for result in results)
    rubs, expected = (result.contact("c").tangential_force for result in results)
    assert np.abs(one.r - plane.r).max() < 1e-9
    assert rubs == pytest.approx(expected, abs=1e-6)
    along, aside = np.abs(one.v[-1, :, 0]).max(), one.v[-1, :, 1]
    assert (along < 0.05) == (friction > 0.0)
    assert aside == pytest.approx(0.1 * (2.0 / 3.0 if friction else 1.0), rel=0.03)


@pytest.mark.parametrize(
    ("shape", "quat", "height", "floors", "friction"),
    [
        ("box", UP, A / 2, ("mesh", "plane"), 0.0),
        ("capsule", ALONG_X, 0.02, ("mesh", "plane"), 0.0),
        ("cylinder", ALONG_Y, A / 2, ("mesh", "plane"), 0.0),
        ("hexagon", UP, A / 2 + R, ("mesh", "hull"), 0.3),  # both have one bristle in total
    ],
    ids=["box", "capsule", "cylinder", "hexagon"],
)
def test_solid_slides_over_flat_triangles_as_on_a_face(shape, quat, height, floors, friction):
    results = []
    for kind in floors:
        model = Model("slides", gravity=(0, 0, -G))
        surface = add(model, shape, "it", (0.013, 0.021, height - G / K), quat, (0.3, 0.7, 0))
        options = {"friction": friction, "damping": 5.0} if friction else {}
        model.add_contact("c", surface, flat_floor(model, kind), K, **options)
        results.append(run(model, 0.1, 1e-3 if friction else 2e-3, every=10))
    one, other = (result.body("it") for result in results)
    assert np.abs(one.r - one.r[0]).max() > 0.01
    assert np.abs(one.r - other.r).max() < 1e-12
    assert np.abs(one.quat - other.quat).max() < 1e-12
    if friction:
        assert results[0].dissipation[-1] > 0.0
        assert results[0].dissipation[-1] == pytest.approx(results[1].dissipation[-1], rel=1e-9)
    else:
        assert results[0].newton_iterations.max() < 1.1
        assert results[0].contact("c").normal_force == pytest.approx(G, rel=1e-9)


# --- other equivalences


@pytest.mark.parametrize(
    ("shape", "quat", "radius", "place", "v", "alike"),
    [
        ("box", UP, R, (0.02, -0.01, 0.09), (0, 0, -1.0), "plane"),
        ("box", UP, R, 0.09 / 3**0.5 * np.ones(3) + 0.015, -1.0 / 3**0.5 * np.ones(3), "corner"),
        ("cylinder", ALONG_Y, 0.0, (0.02, 0.0, 0.09), (0.1, 0, -1.0), "ball"),
        ("cylinder", UP, 0.0, (0.0, 0.0, 0.09), (0, 0, -1.0), "plane"),
    ],
    ids=["face of a box", "corner of a box", "side of a cylinder", "end of a cylinder"],
)
def test_sphere_contact_with_faces_and_corners_equals_planes_and_spheres(
    shape, quat, radius, place, v, alike
):
    """The side of a cylinder acts like a ball in the plane across the axis."""
    results = []
    for of_shape in (True, False):
        model = Model("ball", gravity=GROUND_POINT)
        ball = add(model, "sphere", "ball", place, v=v, mass=0.5)
        if of_shape:
            other = add(model, shape, "it", GROUND_POINT, quat, radius=radius, held=True)
        elif alike == "plane":
            other = add(model, "plane", "it", (0, 0, A / 2))
        else:
            middle, size = ((A / 2 - R) * np.ones(3), R) if alike == "corner" else (GROUND_POINT, A / 2)
            other = add(model, "sphere", "it", middle, size=(size,), on_ground=True)
        model.add_contact("c", ball, other, K)
        result = run(model, 0.04, 5e-4)
        assert change(result.energy["total"]) < 1e-14
        results.append(result)
    one, twin = (result.contact("c") for result in results)
    tolerance = 1e-11 if shape == "cylinder" else 1e-10
    assert one.depth.max() > 1e-3
    assert one.depth == pytest.approx(twin.depth, abs=tolerance)
    assert np.abs(results[0].body("ball").r - results[1].body("ball").r).max() < tolerance
    touched = one.normal_force > 0.0
    assert np.abs(one.point - twin.point)[touched].max() < 2.0 * one.depth.max()


@pytest.mark.parametrize("other", ["sphere", "rod"])
def test_hull_of_box_corners_acts_like_the_box(other):
    """Agreement is to round-off on a face only: where the nearest points move from a face to an edge the forces differ."""
    results = []
    for shape in ("box", "hull cube"):
        model = Model("same", gravity=(0, 0, -G))
        surface = add(model, shape, "it", held=True)
        place = [(-0.03, -0.02, 0.0605), (0.02, 0.03, 0.062)] if other == "rod" else (0.03, 0, 0.081)
        falling = add(model, other, "falls", place, v=(0.5, 0.1, -0.3), mass=0.5, elements=2)
        model.add_contact(
            "c", falling, surface, K, friction=0.3, **({"stations": 8} if other == "rod" else {})
        )
        results.append(run(model, 0.02, 5e-4).contact("c"))
    box, hull = results
    most = box.normal_force.max()
    assert most > 1.0
    assert hull.normal_force == pytest.approx(box.normal_force, abs=1e-8 * most)
    assert hull.tangential_force == pytest.approx(box.tangential_force, abs=1e-8 * most)
    assert np.abs(hull.point - box.point)[box.normal_force > 0.0].max() < 1e-8
    assert hull.gap == pytest.approx(box.gap, abs=1e-9)


def test_capsules_end_to_end_act_like_two_spheres():
    """The axes may be displaced from each other."""
    results = []
    for spheres in (False, True):
        model = Model("pair", gravity=GROUND_POINT)
        solids = [
            add(model, "long capsule", "a", GROUND_POINT, ALONG_X, (1.0, 0.0, 0.0)),
            add(model, "long capsule", "b", (0.52, 0.03, 0.05), twist(0.02, ALONG_X)),
        ]
        if spheres:
            solids = [
                model.add_sphere(f"end of {body}", model.bodies[body].at((0, 0, z)), 0.05)
                for body, z in (("a", 0.2), ("b", -0.2))
            ]
        model.add_contact("c", *solids, K)
        results.append(run(model, 0.1).body("b"))
    assert np.abs(results[0].v).max() > 0.1
    assert np.abs(results[0].r - results[1].r).max() < 1e-11


def test_hull_of_two_vertices_is_bitwise_a_capsule():
    results = []
    for options in ({}, {"vertices": [(0, 0, -0.15), (0, 0, 0.15)], "radius": 0.1}):
        model = Model("it", gravity=(0, 0, -G))
        quat = about((0.6, 0, 0.8), 1.0)
        body = model.add_body("it", Capsule(0.1, 0.3, mass=2.0), (0, 0, 0.3), quat, GROUND_POINT, (1, 2, 3))
        model.add_contact("c", model.add_solid("it", body, **options), add(model, "plane", "floor"), K)
        results.append(run(model, 0.3).body("it").r)
    assert np.array_equal(*results)


# --- impacts with a known outcome


@pytest.mark.parametrize(
    ("shape", "quat", "apart", "n", "k", "t_end", "h"),
    [
        ("box", UP, (0.11, 0, 0), 3, K, 0.08, 5e-4),
        ("long capsule", ALONG_X, (0.52, 0, 0), 5, 1e6, 0.12, 1e-3),
        ("long capsule", ALONG_X, (0, 0, 0.11), 2, K, 0.1, 1e-3),
    ],
    ids=["boxes, face to face", "capsules, end to end", "capsules, side by side"],
)
def test_last_of_equal_bodies_in_a_row_takes_the_velocity(shape, quat, apart, n, k, t_end, h):
    """The impacts occur in sequence because of gaps between the bodies; nothing rotates."""
    model, distances = Model("row", gravity=GROUND_POINT), np.array(apart) / np.linalg.norm(apart)
    row = [
        add(model, shape, f"it {i}", i * np.array(apart), quat, distances if i == 0 else GROUND_POINT)
        for i in range(n)
    ]
    model.add_contact("c", row, stiffness=k)
    result = run(model, t_end, h)
    tolerance = 1e-12 if n == 2 else 1e-11
    for i in range(n):
        assert result.body(f"it {i}").v[-1] == pytest.approx(distances * (i == n - 1), abs=tolerance)
        assert np.abs(result.body(f"it {i}").Omega).max() < 10.0 * tolerance


@pytest.mark.parametrize("of_rods", [False, True], ids=["bars", "clamped rods"])
def test_capsule_rebounds_from_two_bars_at_its_speed(of_rods):
    """The rods keep a thousandth of the energy in vibrations."""
    model, bars, speed = Model("bridge", gravity=GROUND_POINT), [], 0.1 if of_rods else 1.0
    for k, x in enumerate((-0.1, 0.1)):
        if of_rods:
            bars.append(model.add_rod(f"bar {k}", [(x, -0.2, 0), (x, 0.2, 0)], STEEL, 4))
            for end in (0.0, 1.0):
                model.add_joint(f"end {end:g} of {k}", "clamp", bars[k].at(end))
        else:
            bars.append(add(model, "bar", f"bar {k}", (x, 0, 0), on_ground=True))
    surface = add(model, "long capsule", "it", (0, 0, 0.0705 if of_rods else 0.08), ALONG_X, (0, 0, -speed))
    model.add_contact("c", surface, bars, 1e7 if of_rods else K)
    result = run(model, 0.03, 1e-4) if of_rods else run(model, 0.1)
    v, energy = result.body("it").v[-1], result.contact("c").energy
    assert energy.max() > 1e-4
    assert energy[-1] == 0.0
    assert change(result.energy["total"]) < 1e-12 * result.energy["total"][0]
    assert v[2] == pytest.approx(speed, rel=2e-3 if of_rods else 1e-12)
    assert np.abs(v[:2]).max() < (1e-10 if of_rods else 1e-12)
    assert of_rods or np.abs(result.body("it").Omega).max() < 1e-10
    assert audit(result).ok


@pytest.mark.parametrize(("shape", "top", "t_end"), [("box", A / 2, 0.5), ("prism", 0.04 + R, 0.3)])
def test_ball_leaves_a_rounded_edge_where_it_would_leave_a_circle(shape, top, t_end):
    """Along a face and over the edge: it leaves the circle of radius r about the edge where g cos(a) = v^2/r.

    The edge of the box has an angle of 90 degrees, that of the prism one of 60.
    """
    speed, radius = 0.1, BALL + R
    model = Model("edge", gravity=(0, 0, -G))
    place = (0.03, 0, top + BALL - 0.5 * G / K)
    ball = add(model, "sphere", "ball", place, v=(speed, 0, 0), mass=0.5)
    model.add_contact("c", ball, add(model, shape, "it", held=True), K)
    result = run(model, t_end, every=2)
    ball, force = result.body("ball"), result.contact("c").normal_force
    assert change(result.energy["total"]) < 1e-13
    assert force[-1] == 0.0
    assert ball.r[-1, 2] < 0.0 or shape == "prism"
    assert np.abs(np.diff(force)).max() < 0.1 * force[0]  # no jumps
    left = np.flatnonzero(force > 0.0)[-1]
    cosine = (radius + speed**2 / (2 * G)) / (1.5 * radius)
    assert (ball.r[left, 2] - (top - R)) / radius == pytest.approx(cosine, abs=0.03)


def test_ball_in_a_tube_swings_as_a_pendulum():
    """The tube has 192 sides, of which the ball passes half."""
    inner, r, angle = 0.5, 0.1, 0.8
    model = Model("swing", gravity=(0, 0, -G))
    vertices, triangles = tube(inner, 0.6, 192)
    pipe = model.add_mesh("pipe", model.ground.at((-0.3, 0, 0)), vertices=vertices, triangles=triangles)
    mass = 4.0 / 3.0 * np.pi * r**3 * 1000
    out = inner - r + mass * G * np.cos(angle) / K
    place = (0.0, out * np.sin(angle), -out * np.cos(angle))
    model.add_contact("c", add(model, "sphere", "ball", place, mass=mass, size=(r,)), pipe, K)
    result = run(model, 1.4, every=5)
    y = result.body("ball").r[:, 1]
    cross = np.flatnonzero(np.diff(np.sign(y)))
    times = [result.t[i] - y[i] * (result.t[i + 1] - result.t[i]) / (y[i + 1] - y[i]) for i in cross]
    half = 2 * np.sqrt((inner - r) / G) * ellipk(np.sin(angle / 2) ** 2)
    assert len(times) > 1
    assert np.diff(times) == pytest.approx(half, rel=2e-3)
    assert change(result.energy["total"]) < 1e-12
    assert np.hypot(*result.body("ball").r[:, 1:].T).max() < inner - r + 1e-3
