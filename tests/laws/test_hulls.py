"""Hulls, cylinders and cones that meet spheres and rods: what is kept, what they are like, what rubs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from discretization.contact.core_gaps import from_cores
from discretization.contact.table import Hull, Round
from rigid.errors import ConvergenceError, ModelError
from rigid.interactions.contact.boxes import BOXES
from rigid.interactions.contact.hulls import HULLS
from rodsim import Box, Cone, Cylinder, Model, Sphere, audit, simulate
from tests.support.contacts import (
    CONE,
    PRISM,
    ROUND_ROD,
    SPHERE_ROUND,
    core_block,
    dual,
    touch,
    turned,
    value,
)
from tests.support.solids import BALL, CORNERS, RUBBER, UP, A, G, K, R, about, change, run

LYING = (0.5**0.5, 0.5**0.5, 0.0, 0.0)  # the z axis along -y
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")


def add_solid(model, shape, quat=UP, radius=R, omega=(0.0, 0.0, 0.0), size=(A, A, A), held=False):
    """At the origin: a box, a hull of its corners, a prism, a cylinder as wide and high as the box, a cone on its tip."""
    bodies = {"cylinder": Cylinder(A / 2, A, mass=1.0), "cone": Cone(A / 2, A, mass=1.0)}
    body = model.add_body("it", bodies.get(shape, Box(*size, mass=1.0)), (0, 0, 0), quat, (0, 0, 0), omega)
    if held:
        model.add_joint("held", "clamp", body.at((0, 0, 0)))
    if shape in ("hull", "prism"):
        places = CORNERS * (0.5 * np.array(size) - radius) if shape == "hull" else 0.2 * PRISM
        return model.add_solid("it", body.at((0, 0, 0)), places, radius)
    return model.add_solid("it", body, radius=radius)


MEETINGS = {  # shape, orientation, where what meets it comes from
    "prism, face": ("prism", UP, (0.0, 0.005, 0.08)),
    "prism, edge": ("prism", LYING, (0.025, 0.0, 0.098)),
    "cylinder, rim": ("cylinder", UP, (0.046, 0.01, 0.085)),
    "cylinder, side": ("cylinder", LYING, (0.02, 0.01, 0.083)),
    "cone, side": ("cone", about((0, 1, 0), 1.0), (0.05, 0.01, 0.13)),
    "cone, tip": ("cone", about((1, 0, 0), np.pi), (0.002, 0.001, 0.028)),
}


@pytest.mark.parametrize(
    ("name", "of_rod", "loses"),
    [
        *((name, k % 2 == 0, True) for k, name in enumerate(MEETINGS)),
        *((name, k % 2 == 1, k < 4) for k, name in enumerate(MEETINGS)),
    ],
)
def test_what_falls_on_a_hull_keeps_energy_and_momenta(name, of_rod, loses):
    losses = {"friction": 0.4, "restitution": 0.6} if loses else {}
    shape, quat, place = MEETINGS[name]
    model = Model("fall", gravity=(0, 0, 0))
    it = add_solid(model, shape, quat, omega=(0.3, -0.2, 0.1))
    if of_rod:
        x, y, z = place
        ends = [(x - 0.1, y, z - 0.018), (x + 0.1, y + 0.01, z - 0.018)]
        other = model.add_rod("rod", ends, RUBBER, 2, velocity=(0.2, 0.1, -1.0))
    else:
        ball = model.add_body("ball", Sphere(BALL, mass=0.5), place, velocity=(0.2, 0.1, -1.0))
        other = model.add_sphere("ball", ball, BALL)
    model.add_contact("c", other, it, 4e5, **(losses | ({"stations": 16} if of_rod else {})))
    result = run(model, 0.015, 2.5e-4, every=4)
    energy, lost = result.energy["total"], result.dissipation
    assert result.contact("c").normal_force.max() > 1.0
    apart, gap = result.distance("it", "rod" if of_rod else "ball"), result.contact("c").gap
    assert (apart <= gap + 1e-9).all()  # what touches is listed, not all that is near
    assert np.minimum(apart, 0.0) == pytest.approx(np.minimum(gap, 0.0), abs=1e-9)
    assert result.contact("c").gap.min() == pytest.approx(-result.contact("c").depth.max())
    assert np.diff(lost).min() > -1e-15
    assert (lost[-1] > 1e-3 * energy[0]) == loses
    assert change(energy + lost) < 1e-12 * energy[0]
    assert change(result.linear_momentum) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    assert loses or audit(result).ok


@pytest.mark.parametrize("of_rod", [False, True], ids=["sphere", "rod"])
def test_the_hull_of_the_corners_of_a_box_is_that_box(of_rod):
    """On a face, to round-off: where nearest points go from a face to an edge in a step both have exact forces of their own."""
    found = []
    for shape in ("box", "hull"):
        model = Model("same", gravity=(0, 0, -G))
        it = add_solid(model, shape, held=True)
        if of_rod:
            ends = [(-0.03, -0.02, 0.0605), (0.02, 0.03, 0.062)]
            other = model.add_rod("rod", ends, RUBBER, 2, velocity=(0.5, 0.1, -0.3))
        else:
            ball = model.add_body(
                "ball", Sphere(BALL, mass=0.5), (0.03, 0.0, 0.081), velocity=(0.5, 0.1, -0.3)
            )
            other = model.add_sphere("ball", ball, BALL)
        model.add_contact("c", other, it, K, friction=0.3, **({"stations": 8} if of_rod else {}))
        found.append(run(model, 0.02, 5e-4))
    one, same = (own.contact("c") for own in found)
    assert one.normal_force.max() > 1.0
    assert same.normal_force == pytest.approx(one.normal_force, abs=1e-8 * one.normal_force.max())
    assert same.tangential_force == pytest.approx(one.tangential_force, abs=1e-8 * one.normal_force.max())
    assert np.abs(same.point - one.point)[one.normal_force > 0.0].max() < 1e-8
    assert same.gap == pytest.approx(one.gap, abs=1e-9)


def test_a_ball_slides_over_the_edge_of_a_hull_with_its_energy():
    """It leaves the rounded edge, of an angle of 60 degrees, where it would leave a circle; the force has no jump."""
    model = Model("edge", gravity=(0, 0, -G))
    ball = model.add_body(
        "ball", Sphere(BALL, mass=0.5), (0.03, 0, 0.04 + R + BALL - 0.5 * G / K), velocity=(0.1, 0, 0)
    )
    it = add_solid(model, "prism", held=True)
    model.add_contact("c", model.add_sphere("ball", ball, BALL), it, K)
    result = run(model, 0.3, 1e-3, every=3)
    own, force = result.body("ball"), result.contact("c").normal_force
    assert change(result.energy["total"]) < 1e-13
    left = int(np.flatnonzero(force > 0.0)[-1])
    assert force[-1] == 0.0
    assert np.abs(np.diff(force)).max() < 0.1 * force[0]
    edge, radius = own.r[left] - (np.nan, np.nan, 0.04), BALL + R
    cosine = (radius + 0.1**2 / (2 * G)) / (1.5 * radius)
    assert edge[2] / radius == pytest.approx(cosine, abs=0.03)


@pytest.mark.parametrize("side", [True, False])
def test_a_sphere_meets_the_side_of_a_cylinder_as_a_ball_and_its_end_as_a_plane(side):
    """In the plane across the axis; and on the axis of its end."""
    found = []
    for of_solid in (True, False):
        model = Model("ball", gravity=(0, 0, 0))
        place, v = ((0.02, 0.0, 0.09), (0.1, 0, -1.0)) if side else ((0.0, 0.0, 0.09), (0, 0, -1.0))
        ball = model.add_body("ball", Sphere(BALL, mass=0.5), place, velocity=v)
        if of_solid:
            other = add_solid(model, "cylinder", LYING if side else UP, radius=0.0, held=True)
        elif side:
            other = model.add_sphere("round", model.ground.at((0, 0, 0)), A / 2)
        else:
            other = model.add_plane("plane", model.ground.at((0, 0, A / 2)), (0, 0, 1))
        model.add_contact("c", model.add_sphere("ball", ball, BALL), other, K)
        found.append(run(model, 0.04, 5e-4))
    assert found[0].contact("c").depth.max() > 1e-3
    assert found[0].contact("c").depth == pytest.approx(found[1].contact("c").depth, abs=1e-11)
    assert np.abs(found[0].body("ball").r - found[1].body("ball").r).max() < 1e-11


def test_hulls_of_the_corners_of_boxes_have_their_energy_and_forces():
    """At poses where an edge is across an edge and a corner near; all parts of the stiffness are a quarter."""
    for seed in range(4):
        one, same = (touch(kind, seed=seed) for kind in (BOXES, HULLS))
        assert value(same.kind, same.y0, same.X).real == pytest.approx(
            value(one.kind, one.y0, one.X).real, rel=1e-13
        )
        force, again = (dual(own.kind, own.y0, own.y0, own.X).real for own in (one, same))
        assert np.abs(again - force).max() < 1e-12 * np.abs(force).max()


@pytest.mark.parametrize("kind", [SPHERE_ROUND, ROUND_ROD], ids=lambda kind: kind.name)
def test_a_body_of_revolution_may_turn_about_its_axis(kind):
    """However far in a step: forces stay to the bit but for rounding, and no moment acts about the axis."""
    t, k = touch(kind), 1 if kind is SPHERE_ROUND else 0
    found = []
    for angle in (0.0, 2.0):
        c, s = np.cos(angle), np.sin(angle)
        y1 = t.y1.copy()
        y1[k, 1:] = np.array([(c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0)]) @ y1[k, 1:]
        y1[k, 0] += np.array([0.1, -0.05]) @ (t.y1[k, 1:3] - y1[k, 1:3])  # about its own axis
        found.append(dual(kind, t.y0, y1, t.X).real)
    assert np.abs(found[0]).max() > 1.0
    assert np.abs(found[1][:, 0] - found[0][:, 0]).max() < 1e-13 * np.abs(found[0]).max()


def test_segments_are_as_far_from_cores_as_their_nearest_points():
    """Of a prism against its planes, of a cone against rings of points on it."""
    rng, fine = np.random.default_rng(2), np.linspace(0.0, 1.0, 101)[:, None]
    turns = np.linspace(0.0, 2.0 * np.pi, 181)[:, None, None]
    profile = np.concatenate(
        [p + fine * (q - p) for p, q in pairwise(CONE[1:])] + [[[0, -0.2]] + fine * [[0.3, 0.0]]]
    )
    shell = profile[None, :, :1] * np.concatenate(
        [np.cos(turns), np.sin(turns), 0 * turns], axis=-1
    ) + profile[None, :, 1:] * (0, 0, 1.0)
    shell = shell.reshape(-1, 3)[::7]
    signs = set()
    for _ in range(4):
        a, b = 0.5 * rng.normal(size=(2, 3))
        Q, out, x = turned(rng, rng.uniform(0.0, 3.0)), np.zeros(1), a + fine * (b - a)
        for round_one in (False, True):
            core = core_block(Round(0, np.zeros(3), CONE, 0.0) if round_one else Hull(0, PRISM, 0.0))
            points = (
                np.concatenate([[a, b], core[:3] + np.concatenate([np.zeros((1, 3)), np.eye(3)])]) @ Q + 0.3
            )
            from_cores(points, np.array([[0, 1, 2, 2]]), core, np.array([0]), out)
            signs.add((round_one, bool(out[0] > 0.0)))
            if round_one and out[0] > 0.0:
                assert out[0] == pytest.approx(np.linalg.norm(x[:, None] - shell, axis=-1).min(), abs=1e-2)
            elif not round_one:
                planes = core[8 + 4 * 6 + 2 * 9 :].reshape(5, 4)
                beyond = ((x - core[:3]) @ planes[:, :3].T - planes[:, 3]).max(axis=1).min()
                assert out[0] >= beyond - 1e-9 if beyond > 0.0 else out[0] == pytest.approx(beyond, abs=3e-3)
    assert len(signs) == 4


def test_what_hulls_cannot_do_is_said():
    model = Model("no", gravity=(0, 0, 0))
    ball = model.add_sphere("ball", model.add_body("ball", Sphere(BALL, mass=1.0), (0, 0, 0.08)), BALL)
    body = model.add_body("it", Box(A, A, A, mass=1.0))
    flat = model.add_solid("flat", body.at((0, 0, 0)), CORNERS[::2] * 0.1, 0.01)
    with pytest.raises(ModelError, match=r"solid 'flat': .* balls and flat hulls touch planes alone"):
        model.add_contact("c", ball, flat, K)
    turns = np.linspace(0.0, 2 * np.pi, 70, endpoint=False)
    ring = [(np.cos(t), np.sin(t), z) for t in turns for z in (-1.0, 1.0)]
    many = model.add_solid("many", body.at((0, 0, 0)), 0.1 * np.array(ring))
    model.add_contact("c", ball, many, K)
    with pytest.raises(ModelError, match=r"solid 'many': its hull has 140 vertices, and may have 128"):
        run(model, 0.01)
    model = Model("deep", gravity=(0, 0, 0))
    ball = model.add_sphere("ball", model.add_body("ball", Sphere(BALL, mass=1.0), (0, 0, 0.08)), BALL)
    model.add_contact("c", ball, add_solid(model, "cylinder"), K)
    model.bodies["ball"].position[2] = 0.07
    with pytest.raises(ModelError, match=r"solid 'it' is 0.01 m inside of sphere 'ball' at t = 0"):
        run(model, 0.01)


def test_a_ball_pressed_into_a_cylinder_stops_the_run():
    model = Model("hard", gravity=(0, 0, 0))
    body = model.add_body("ball", Sphere(0.005, mass=1.0), (0.01, 0, 0.0551), velocity=(0, 0, -30.0))
    model.add_contact("c", model.add_sphere("ball", body, 0.005), add_solid(model, "cylinder"), K)
    with pytest.raises(
        ConvergenceError, match=r"a cylinder or cone in contact is pressed through .* of 0.01 m"
    ):
        simulate(model, 0.01, 1e-4, progress=False)
