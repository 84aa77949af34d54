"""Boxes that meet boxes and spheres: what is kept, comes back, rests, stands."""

from __future__ import annotations

import numpy as np
import pytest

from rigid import quaternions
from rigid.errors import ConvergenceError, ModelError
from rigid.interactions.contact.edge_crossings import energy_of, mean_slopes
from rodsim import Model, Sphere, audit, simulate
from tests.support.solids import BALL, MEETINGS, A, G, K, R, about, add_box, change, run

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")


def meeting(name, law="power", start=None):
    """start: places, orientations, velocities of both, instead."""
    one, at, other, place, v = MEETINGS[name]
    model = Model("pair", gravity=(0, 0, 0))
    start = start or ((at, one, (0, 0, 0), (0.3, -0.2, 0.1)), (place, other, v))
    a, b = add_box(model, "a", *start[0]), add_box(model, "b", *start[1], mass=2.0)
    barrier = law == "barrier"
    model.add_contact("c", a, b, 1e4 if barrier else 4e5, law=law, reach=0.01 if barrier else None)
    return model


@pytest.mark.parametrize("law", ["power", "barrier"])
@pytest.mark.parametrize("name", MEETINGS)
def test_boxes_that_collide_keep_energy_and_momenta(name, law):
    result = run(meeting(name, law), 0.06, 5e-4)
    stored = result.contact("c").energy
    assert stored.max() > 0.02 * result.energy["total"][0]
    assert stored == pytest.approx(result.energy["total"] - result.energy["kinetic"], abs=1e-13)
    assert (result.contact("c").gap < 0.0).any() == (law == "power")
    assert result.contact("c").force[:, 2].min() < -1.0
    assert change(result.energy["total"]) < 1e-12 * result.energy["total"][0]
    assert change(result.body("a").v + 2.0 * result.body("b").v) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    assert audit(result).ok


@pytest.mark.parametrize("name", ["corner first", "edge on edge"])
def test_a_reversed_collision_of_boxes_comes_back(name):
    there = run(meeting(name), 0.03, 5e-4)
    ends = [
        (own.r[-1], own.quat[-1], -own.v[-1], -quaternions.rotate(own.quat[-1], own.Omega[-1]))
        for own in map(there.body, "ab")
    ]
    back = run(meeting(name, start=ends), 0.03, 5e-4)
    for each in "ab":
        own, first = back.body(each), there.body(each)
        assert np.abs(own.r[-1] - first.r[0]).max() < 1e-9
        assert np.abs(own.v[-1] + first.v[0]).max() < 1e-7
    assert np.abs(there.body("a").v[-1]).max() > 0.1


def test_boxes_face_to_face_exchange_their_velocities():
    """In a row of three, with gaps, flat: none of them turns."""
    model = Model("row", gravity=(0, 0, 0))
    each = [add_box(model, f"it {k}", (0.11 * k, 0, 0), v=(1.0 * (k == 0), 0, 0)) for k in range(3)]
    model.add_contact("c", each, stiffness=K)
    result = run(model, 0.08, 5e-4)
    speeds = [result.body(f"it {k}").v[-1, 0] for k in range(3)]
    assert speeds == pytest.approx([0, 0, 1.0], abs=1e-11)
    assert max(np.abs(result.body(f"it {k}").Omega).max() for k in range(3)) < 1e-10


# --- spheres


MEETS = {  # place of a sphere of the same centre line, on the way to a box about the origin: plane, or centre of a sphere
    "face": ((0.02, -0.01, 0.09), (0, 0, -1.0)),
    "corner": (0.09 / 3**0.5 * np.ones(3) + 0.015, -1.0 / 3**0.5 * np.ones(3)),
}


@pytest.mark.parametrize("name", MEETS)
def test_a_sphere_meets_a_face_as_a_plane_and_a_corner_as_a_sphere(name):
    """The box is held: what is round about its corner is a ball with the radius of its rounding."""
    found = []
    for of_box in (True, False):
        model = Model("ball", gravity=(0, 0, 0))
        place, v = MEETS[name]
        ball = model.add_sphere(
            "ball", model.add_body("ball", Sphere(BALL, mass=0.5), place, velocity=v), BALL
        )
        if of_box:
            other = add_box(model, "box", (0, 0, 0))
            model.add_joint("held", "clamp", model.bodies["box"].at((0, 0, 0)))
        elif name == "face":
            other = model.add_plane("plane", model.ground.at((0, 0, A / 2)), (0, 0, 1))
        else:
            other = model.add_sphere("corner", model.ground.at((A / 2 - R) * np.ones(3)), R)
        model.add_contact("c", ball, other, K)
        result = run(model, 0.04, 5e-4)
        assert change(result.energy["total"]) < 1e-14
        found.append(result)
    assert found[0].contact("c").depth.max() > 1e-3
    assert found[0].contact("c").depth == pytest.approx(found[1].contact("c").depth, abs=1e-10)
    assert np.abs(found[0].body("ball").r - found[1].body("ball").r).max() < 1e-10
    touched = found[0].contact("c").normal_force > 0.0
    assert touched.any()
    between = found[0].contact("c").point - found[1].contact("c").point
    assert np.abs(between[touched]).max() < 2.0 * found[0].contact("c").depth.max()


def test_a_ball_slides_over_the_edge_of_a_box_with_its_energy():
    """Along a face, over the rounded edge, and down: the square of its speed grows with the height it has lost."""
    model = Model("edge", gravity=(0, 0, -G))
    add = model.add_body(
        "ball", Sphere(BALL, mass=0.5), (0.03, 0, A / 2 + BALL - 0.5 * G / K), velocity=(0.1, 0, 0)
    )
    box = add_box(model, "box", (0, 0, 0))
    model.add_joint("held", "clamp", model.bodies["box"].at((0, 0, 0)))
    model.add_contact("c", model.add_sphere("ball", add, BALL), box, K)
    result = run(model, 0.5, 1e-3, every=4)
    ball = result.body("ball")
    assert change(result.energy["total"]) < 1e-13
    assert ball.r[-1, 2] < 0.0
    assert result.contact("c").normal_force[-1] == 0.0
    # alone it would leave the circle about the edge, of radius BALL + R, where g cos(a) = v^2/radius
    radius, left = BALL + R, int(np.flatnonzero(result.contact("c").normal_force > 0.0)[-1])
    cosine = (radius + 0.1**2 / (2 * G)) / (1.5 * radius)
    assert (ball.r[left, 2] - (A / 2 - R)) / radius == pytest.approx(cosine, abs=0.03)


# --- at rest


def stack(n, shift=0.0, turn=0.0):
    """On a box that is held, each as deep in the next as it lies at rest: of the k-th the weight of all above."""
    model = Model("stack", gravity=(0, 0, -G))
    each, z = [add_box(model, "base", (0, 0, -0.05), size=(0.4, 0.4, 0.1))], 0.0
    model.add_joint("held", "clamp", model.bodies["base"].at((0, 0, 0)))
    for k in range(n):
        z += 0.05 - (n - k) * G / 1e6
        each.append(add_box(model, f"it {k}", (shift * k, 0, z), about((0, 0, 1), turn * k)))
        z += 0.05
    model.add_contact("c", each, stiffness=1e6)
    return model


@pytest.mark.parametrize("n", [1, 3, 10])
def test_a_stack_of_boxes_rests(n):
    """With one iteration a step, and without a tilt."""
    result = run(stack(n), 0.1, every=50)
    assert result.newton_iterations.max() < 1.1  # rounding may ask for another, now and then
    for k in range(n):
        own = result.body(f"it {k}")
        assert np.abs(own.r - own.r[0]).max() < 1e-13
        assert np.abs(own.quat[:, 1:]).max() < 1e-9
    assert result.contact("c").touching.tolist() == [n] * 3
    assert result.contact("c").normal_force == pytest.approx(G * n * (n + 1) / 2, rel=1e-9)
    assert change(result.energy["total"]) < 1e-13


@pytest.mark.parametrize("shift", [(1e-4, 0.0), (1e-3, 0.0), (0.02, 0.0), (1e-4, 1e-4), (0.02, 0.01)])
def test_equal_faces_shifted_on_each_other_keep_their_stiffness(shift):
    """The part that both share has four corners, whoever has them: nothing pushes a stack apart. By how little
    both corners are asunder counts in fourth order, at most 0.3 percent more.
    """
    model = Model("shift", gravity=(0, 0, 0))
    depth = 1e-5
    one, other = add_box(model, "a", (0, 0, 0)), add_box(model, "b", (*shift, A - depth))
    model.add_contact("c", one, other, K)
    energy = run(model, 1e-4, 1e-4).contact("c").energy[0]
    assert energy == pytest.approx(0.5 * K * depth**2, rel=4e-3)


def test_planks_laid_across_each_other_are_held_where_their_edges_cross():
    """Four crossings have the stiffness of the whole: no corner is near. A tilt swings about the corners' spring."""
    b, L, m = 0.04, 0.3, 0.5
    for tilt in (0.0, 1e-4):
        model = Model("planks", gravity=(0, 0, -G))
        low = add_box(model, "low", (0, 0, 0), size=(L, b, b), radius=0.002)
        model.add_joint("held", "clamp", model.bodies["low"].at((0, 0, 0)))
        quat = about((1, 0, 0), tilt)
        high = add_box(model, "high", (0, 0, b - m * G / K), quat, size=(b, L, b), radius=0.002, mass=m)
        model.add_contact("c", low, high, K)
        result = run(model, 0.1, 5e-4)
        angle = 2.0 * result.body("high").quat[:, 1]
        if tilt == 0.0:
            assert np.abs(result.body("high").r - (0, 0, b - m * G / K)).max() < 1e-13
            assert np.abs(angle).max() < 1e-9
            assert result.newton_iterations.max() <= 1.0
        else:  # held: it swings about none, never further than it was
            assert angle.min() < -0.5 * tilt
            assert np.abs(angle).max() < 1.05 * tilt


def test_what_boxes_cannot_do_is_said():
    model = Model("no", gravity=(0, 0, 0))
    one, other = add_box(model, "a", (0, 0, 0)), add_box(model, "b", (0, 0, 0.099), radius=0.0)
    ball = model.add_solid("ball", model.add_body("ball", Sphere(0.01, mass=1.0), (0, 1, 0)))
    with pytest.raises(ModelError, match=r"balls and flat hulls touch planes alone"):
        model.add_contact("c", one, ball, K)
    sharp = add_box(model, "sharp", (0, 0, 0.2), radius=0.0)
    with pytest.raises(ModelError, match=r"solid 'b' and solid 'sharp' have no rounding, .* give radius="):
        model.add_contact("c", other, sharp, K)
    model.add_contact("c", one, other, K)
    with pytest.raises(ModelError, match=r"solid 'b' is 0.001 m inside of solid 'a' at t = 0"):
        run(model, 0.01)


def test_a_box_deep_inside_of_another_is_said_with_its_depth():
    model = Model("no", gravity=(0, 0, 0))
    model.add_contact("c", add_box(model, "a", (0, 0, 0)), add_box(model, "b", (0.06, 0, 0)), K)
    with pytest.raises(ModelError, match=r"solid 'b' is 0.04 m inside of solid 'a' at t = 0"):
        run(model, 0.01)


def test_boxes_pressed_deeper_than_their_rounding_stop_the_run():
    """Cores that overlap have no energy: the step fails, however short, and nothing goes on as if they were apart."""
    model = Model("hard", gravity=(0, 0, 0))
    one, other = add_box(model, "a", (0, 0, 0)), add_box(model, "b", (0, 0, 0.101), v=(0, 0, -30.0))
    model.add_contact("c", one, other, K)
    with pytest.raises(
        ConvergenceError, match=r"a box in contact is pressed through .* of 0.01 m, .* more `stiffness`"
    ):
        simulate(model, 0.01, 1e-4, progress=False)


def test_slopes_of_a_crossing_leave_no_energy_where_nothing_is_put_on():
    """Small changes, for which the rule alone must do: in a round-off of V."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        start = np.append(1.0, rng.uniform(0.0, 0.9, 4))
        end = start * (1.0 + 0.0025 * rng.uniform(-1.0, 1.0, 5))
        c = np.array(mean_slopes(tuple(start + 0j), tuple(end + 0j)))
        change = energy_of(tuple(end + 0j)) - energy_of(tuple(start + 0j))
        assert abs(c @ (end - start) - change) < 1e-15
