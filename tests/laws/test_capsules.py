"""Capsules that meet capsules, spheres and rods: what is kept, comes back, rests."""

from __future__ import annotations

import numpy as np
import pytest

from rigid import quaternions
from rigid.errors import ModelError
from rodsim import Capsule, Material, Model, Section, audit
from tests.support.solids import change, run

G, K, R, L = 9.81, 1e5, 0.05, 0.4
ALONG_X, ALONG_Y, UP = (0.5**0.5, 0.0, 0.5**0.5, 0.0), (0.5**0.5, -(0.5**0.5), 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
BAR = Section.circular(0.02, Material(E=2e11, nu=0.3, density=7800))
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")


def add_capsule(model, name, place, quat, v=(0.0, 0.0, 0.0), omega=None, mass=1.0):
    body = model.add_body(name, Capsule(R, L, mass=mass), place, quat, v, omega)
    return model.add_solid(name, body)


ASKEW = quaternions.multiply(np.array([np.cos(0.4), 0.0, 0.0, np.sin(0.4)]), np.array(ALONG_X))
NEARLY = quaternions.multiply(np.array([np.cos(0.01), 0.0, 0.0, np.sin(0.01)]), np.array(ALONG_X))
MEETINGS = {  # orientation and place of the second, velocity of the first
    "crosswise": (ALONG_Y, (0.03, 0.02, 0.11), (0.1, 0.0, 1.0)),
    "end to end": (ALONG_X, (0.51, 0.01, 0.0), (1.0, 0.0, 0.0)),
    "parallel": (ALONG_X, (0.1, 0.0, 0.11), (0.1, 0.0, 1.0)),
    "nearly parallel": (NEARLY, (0.1, 0.0, 0.11), (0.1, 0.0, 1.0)),
    "askew": (ASKEW, (0.15, 0.02, 0.11), (0.0, 0.1, 1.0)),
    "on its end": (UP, (0.1, 0.01, 0.31), (0.0, 0.0, 1.0)),
}


def meeting(name, law="power", start=None, **losses):
    """start: places, orientations, velocities of both, instead."""
    quat, place, v = MEETINGS[name]
    model = Model("pair", gravity=(0, 0, 0))
    start = start or (((0, 0, 0), ALONG_X, v, (0.3, -0.2, 0.1)), (place, quat))
    one = add_capsule(model, "a", *start[0])
    other = add_capsule(model, "b", *start[1], mass=2.0)
    model.add_contact(
        "c",
        one,
        other,
        K if law == "power" else 1e4,
        law=law,
        reach=None if law == "power" else 0.02,
        **losses,
    )
    return model


@pytest.mark.parametrize("law", ["power", "barrier"])
@pytest.mark.parametrize("name", MEETINGS)
def test_capsules_that_collide_keep_energy_and_momenta(name, law):
    result = run(meeting(name, law), 0.15)
    stored = result.contact("c").energy
    assert stored.max() > 0.01 * result.energy["total"][0]
    assert stored == pytest.approx(result.energy["total"] - result.energy["kinetic"], abs=1e-13)
    assert (result.contact("c").gap < 0.0).any() == (law == "power")
    assert change(result.energy["total"]) < 1e-12 * result.energy["total"][0]
    assert change(result.body("a").v + 2.0 * result.body("b").v) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    assert audit(result).ok


@pytest.mark.parametrize("name", MEETINGS)
def test_a_reversed_collision_comes_back(name):
    there = run(meeting(name), 0.1)
    ends = [
        (own.r[-1], own.quat[-1], -own.v[-1], -quaternions.rotate(own.quat[-1], own.Omega[-1]))
        for own in map(there.body, "ab")
    ]
    back = run(meeting(name, start=ends), 0.1)
    for each in "ab":
        own, first = back.body(each), there.body(each)
        assert np.abs(own.r[-1] - first.r[0]).max() < 1e-9
        assert np.abs(own.v[-1] + first.v[0]).max() < 1e-8
    assert np.abs(there.body("b").v[-1]).max() > 0.1


def test_parallel_capsules_exchange_their_velocities():
    """Side by side, none of them turns."""
    model = Model("pair", gravity=(0, 0, 0))
    one = add_capsule(model, "a", (0, 0, 0), ALONG_X, (0.0, 0.0, 1.0))
    other = add_capsule(model, "b", (0.0, 0.0, 0.11), ALONG_X)
    model.add_contact("c", one, other, K)
    result = run(model, 0.1)
    assert result.body("a").v[-1] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert result.body("b").v[-1] == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    assert np.abs(result.body("b").Omega).max() < 1e-11


@pytest.mark.parametrize("name", MEETINGS)
def test_capsules_that_rub_and_bounce_keep_momenta_and_lose_what_is_told(name):
    result = run(meeting(name, friction=(0.4, 0.3), restitution=0.6), 0.15)
    energy, lost = result.energy["total"], result.dissipation
    assert lost[-1] > 0.2 * energy[0]
    assert np.diff(lost).min() > -1e-15
    assert change(energy + lost) < 1e-12 * energy[0]
    assert change(result.linear_momentum) < 1e-13
    assert change(result.angular_momentum) < 1e-13


@pytest.mark.parametrize("other", ["capsule", "sphere", "rod"])
def test_a_capsule_comes_back_with_its_restitution(other):
    """Straight across the middle; a rod that is held keeps a little in vibrations."""
    e, model = 0.7, Model("bounce", gravity=(0, 0, 0))
    it = add_capsule(model, "it", (0, 0, 0.1), ALONG_X, (0, 0, -1.0))
    if other == "capsule":
        below = model.add_solid("below", model.ground.at((0, 0, 0)), [(0, -0.2, 0), (0, 0.2, 0)], 0.02)
    elif other == "sphere":
        below = model.add_sphere("below", model.ground.at((0, 0, 0)), 0.02)
    else:
        below = model.add_rod("below", [(0, -0.05, 0), (0, 0.05, 0)], BAR, 2)
        for end in (0.0, 1.0):
            model.add_joint(f"end {end:g}", "clamp", below.at(end))
    model.add_contact("c", it, below, 1e6 if other == "rod" else K, restitution=e)
    result = run(model, 0.08, 2.5e-4, every=4)
    assert result.body("it").v[-1, 2] == pytest.approx(e, rel=0.01)
    assert change(result.energy["total"] + result.dissipation) < 1e-12


@pytest.mark.parametrize("part", [0.96, 1.04])
def test_a_capsule_in_a_groove_of_two_sticks_below_the_angle_of_friction_and_slides_above(part):
    """Each of both walls, under 45 degrees, presses with 1/sqrt 2 of the weight."""
    mu = 0.3
    tilt = part * np.arctan(mu * 2**0.5)
    model, k = Model("groove", gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt))), 1e5
    half = (R + 0.02) / 2**0.5
    walls = [
        model.add_solid(f"wall {k}", model.ground.at((0, y, 0)), [(-1, 0, 0), (2, 0, 0)], 0.02)
        for k, y in enumerate((-half, half))
    ]
    sunk = G * np.cos(tilt) / k
    it = add_capsule(model, "it", (0, 0, half - sunk), ALONG_X)
    model.add_contact("c", it, walls, k, friction=mu, damping=10.0)
    own = run(model, 0.3, every=10).body("it")
    assert (abs(own.r[-1, 0] - own.r[10, 0]) < 1e-4) == (part < 1.0)
    if part > 1.0:
        gained = own.v[-1, 0] - own.v[10, 0]
        assert gained == pytest.approx(G * (np.sin(tilt) - mu * 2**0.5 * np.cos(tilt)) * 0.2, rel=0.05)


def test_capsules_end_to_end_are_two_spheres():
    """Also where their axes are not on one line."""
    found = []
    for spheres in (False, True):
        model = Model("pair", gravity=(0, 0, 0))
        solids = [
            add_capsule(model, "a", (0, 0, 0), ALONG_X, (1.0, 0.0, 0.0)),
            add_capsule(model, "b", (0.52, 0.03, 0.05), NEARLY),
        ]
        if spheres:
            ends = [(0, 0, 0.2), (0, 0, -0.2)]
            solids = [
                model.add_sphere(f"end of {own}", model.bodies[own].at(place), R)
                for own, place in zip("ab", ends, strict=True)
            ]
        model.add_contact("c", *solids, K)
        found.append(run(model, 0.1))
    assert np.abs(found[0].body("b").v).max() > 0.1
    assert np.abs(found[0].body("b").r - found[1].body("b").r).max() < 1e-11


Z = 0.07 - 0.5 * G / K  # at rest on two of the stiffness K
Z_ON_RODS = 0.0699


def bridge(of_rods, z=None, v=0.0):
    """A capsule along x across two bars along y, at rest or above them."""
    model = Model("bridge", gravity=(0, 0, -G if z is None else 0.0))
    bars = []
    for k, x in enumerate((-0.1, 0.1)):
        if of_rods:
            rod = model.add_rod(f"bar {k}", [(x, -0.2, 0), (x, 0.2, 0)], BAR, 4)
            for end in (0.0, 1.0):
                model.add_joint(f"end {end:g} of {k}", "clamp", rod.at(end))
            bars.append(rod)
        else:
            bars.append(
                model.add_solid(f"bar {k}", model.ground.at((x, 0, 0)), [(0, -0.2, 0), (0, 0.2, 0)], 0.02)
            )
    one = add_capsule(
        model, "it", (0, 0, (Z_ON_RODS if of_rods else Z) if z is None else z), ALONG_X, (0, 0, v)
    )
    model.add_contact("c", one, bars, 1e7 if of_rods else K)
    return model


def test_a_capsule_comes_back_from_two_others_at_its_speed():
    result = run(bridge(False, 0.08, -1.0), 0.1)
    assert result.body("it").v[-1] == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    assert np.abs(result.body("it").Omega).max() < 1e-10


def test_a_capsule_across_two_others_rests():
    """For 1e3 steps, with at most one iteration each, at half of its weight on each."""
    result = run(bridge(False), 1.0, every=100)
    assert result.newton_iterations.max() <= 1.0
    assert np.abs(result.body("it").r - (0, 0, Z)).max() < 1e-14
    assert result.contact("c").normal_force == pytest.approx(G, rel=1e-10)
    assert result.contact("c").force[:, 2] == pytest.approx(G, rel=1e-10)
    assert result.contact("c").touching.tolist() == [2] * 11
    assert result.distance("it", "bar 0") == pytest.approx(Z - 0.07, rel=1e-10)


def test_a_capsule_that_falls_on_clamped_rods_comes_back_at_its_speed():
    """Less what the rods keep in vibrations: a thousandth."""
    result = run(bridge(True, 0.0705, -0.1), 0.03, 1e-4)
    history = result.contact("c")
    assert history.energy.max() > 1e-4
    assert history.energy[-1] == 0.0
    assert change(result.energy["total"]) < 1e-12 * result.energy["total"][0]
    assert result.body("it").v[-1, 2] == pytest.approx(0.1, rel=2e-3)
    assert np.abs(result.body("it").v[-1, :2]).max() < 1e-10
    assert audit(result).ok


def test_what_capsules_cannot_do_is_said():
    model = Model("no", gravity=(0, 0, 0))
    one = add_capsule(model, "a", (0, 0, 0), UP)
    near = add_capsule(model, "near", (0.05, 0, 0), UP)
    model.add_contact("c", one, near, K)
    with pytest.raises(ModelError, match=r"solid 'near' is 0.05 m inside of solid 'a' at t = 0"):
        run(model, 0.01)


def test_the_last_of_five_capsules_in_a_row_takes_over_the_speed():
    """One collision after the other, since there are gaps between them."""
    model = Model("row", gravity=(0, 0, 0))
    each = [
        add_capsule(model, f"it {k}", (0.52 * k, 0, 0), ALONG_X, (1.0 * (k == 0), 0, 0)) for k in range(5)
    ]
    model.add_contact("c", each, stiffness=1e6)
    result = run(model, 0.12)
    speeds = [result.body(f"it {k}").v[-1, 0] for k in range(5)]
    assert speeds == pytest.approx([0, 0, 0, 0, 1.0], abs=1e-11)


def apart(x, a, b):
    """Distance of a point from a segment."""
    t = np.clip(np.dot(x - a, b - a) / np.dot(b - a, b - a), 0.0, 1.0)
    return np.linalg.norm(x - a - t * (b - a))


@pytest.mark.parametrize("square", [0.0, 0.5e-10, 1.5e-10, 4e-10, 1e-8, 1e-4, 0.01])
def test_the_energy_of_nearly_parallel_capsules_is_that_of_the_formula(square):
    """V = w U(D) + (1 - w) sum U(D_i)/2, w = (1 + kappa) y/(y + kappa), y = sin^2 - 1e-10, but not below 0; U = k depth^2/2.

    One is tilted in the plane of both, so that D is that of its lower end. What parts of w are seen: those above 1e-12 V.
    """
    sine, kappa = np.sqrt(square), 0.01
    tilt = np.arcsin(sine)
    height = 2.0 * R - 0.004 + 0.5 * L * sine
    model = Model("pair", gravity=(0, 0, 0))
    one = add_capsule(model, "a", (0, 0, 0), ALONG_X)
    turned = quaternions.multiply(
        np.array([np.cos(tilt / 2), 0.0, -np.sin(tilt / 2), 0.0]), np.array(ALONG_X)
    )
    other = add_capsule(model, "b", (0, 0, height), turned)
    model.add_contact("c", one, other, K, exponent=1.0)
    result = run(model, 1e-6, 1e-6)

    axis = 0.5 * L * np.array([np.cos(tilt), 0.0, np.sin(tilt)])
    a, b = np.array([[-0.5 * L, 0, 0], [0.5 * L, 0, 0]]), np.array([0, 0, height]) + np.array([-axis, axis])
    ends = [apart(x, *b) for x in a] + [apart(x, *a) for x in b]
    energy = [0.5 * K * max(2.0 * R - D, 0.0) ** 2 for D in (min(ends), *ends)]
    y = max(square - 1e-10, 0.0)
    w = (1.0 + kappa) * y / (y + kappa)
    expected = w * energy[0] + (1.0 - w) * 0.5 * sum(energy[1:])
    for found in (result.energy["total"][0], result.contact("c").energy[0]):
        assert found == pytest.approx(expected, rel=2e-13)
