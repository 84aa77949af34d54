"""Contact estimates and warnings before a run.

Expected depths and durations, steps that resolve a contact, stations that resolve a crossing.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import beta

from rodsim import Box, Material, Model, Section, simulate
from rodsim.building.build import Placement
from rodsim.building.contact_checks import check_stations, check_steps, estimate_contacts
from rodsim.warnings import ModelCheckWarning
from tests.support.contact_models import ball_on_floor
from tests.support.contacts import ground

K, RHO, L, V = 1e6, 0.02, 0.4, 1.0
SECTION = Section.circular(0.01, Material(E=1e7, nu=0.4, density=1000))
M = 1000 * np.pi * 0.01**2 * L


def crossing_rods(angle: float, n: int = 2, length: float = L, **contact) -> Model:
    """Two rods that cross at an angle in degrees; one of the given length approaches the other at 1 m/s."""
    model, a = Model("meeting"), np.radians(angle)
    half = length / 2 * np.array([np.cos(a), np.sin(a), 0.0])
    middle = np.array([0, 0, 0.0201])
    one = model.add_rod("one", [(-L / 2, 0, 0), (L / 2, 0, 0)], SECTION, n)
    ends = [tuple(middle - half), tuple(middle + half)]
    other = model.add_rod("other", ends, SECTION, n, velocity=(0, 0, -V))
    model.add_contact("hit", one, other, **{"stiffness": K, **contact})
    return model


def single_estimate(model: Model):
    (estimate,) = estimate_contacts(model, Placement(model))
    return estimate


# --- depths and durations


TEXT = "1e4*depth + 2e9*depth**3 - 2e6*depth**2"
LAWS = {  # a law of a ball, and its terms: factor by power
    "linear": ({}, {1.0: 1e4}),
    "Hertz": ({"exponent": 1.5}, {1.5: 1e4}),
    "text": ({"law": TEXT, "stiffness": None}, {1.0: 1e4, 2.0: -2e6, 3.0: 2e9}),
}


@pytest.mark.parametrize(("law", "terms"), LAWS.values(), ids=LAWS)
def test_contact_estimate_of_a_ball_is_that_of_a_mass_on_a_spring(law, terms) -> None:
    model, speed = ball_on_floor(v=(0, 0, -1.5), g=9.81, **law), 1.5
    estimate, m = single_estimate(model), model.bodies["ball"].properties.mass
    x, y = estimate.depth_by_weight, estimate.depth_by_speed
    assert sum(c * x**p for p, c in terms.items()) == pytest.approx(m * 9.81, rel=1e-9)
    energy = sum(c * y ** (p + 1) / (p + 1) for p, c in terms.items())
    assert energy == pytest.approx(m * speed**2 / 2, rel=1e-9)
    slope = sum(p * c * estimate.depth ** (p - 1) for p, c in terms.items())
    assert estimate.duration == pytest.approx(np.pi * np.sqrt(m / slope), rel=1e-9)


@pytest.mark.parametrize("law", [{"exponent": 1.0}, {"exponent": 1.5}, {"stiffness": None}], ids=str)
@pytest.mark.parametrize("angle", [90.0, 30.0])
def test_contact_estimate_of_crossing_rods_follows_their_geometry(angle: float, law) -> None:
    """The depth at s from the crossing is depth - s^2 sin^2/(2 rho): force by quadrature, rods of different
    masses. By default half of pi/4 E of the materials.
    """
    estimate, exponent = single_estimate(crossing_rods(angle, length=2 * L, **law)), law.get("exponent", 1.0)
    k = np.pi / 8 * 1e7 if "stiffness" in law else K
    s = np.linspace(-0.5, 0.5, 200_001) * estimate.width
    depth = np.maximum(estimate.depth - (s * np.sin(np.radians(angle))) ** 2 / (2 * RHO), 0.0)
    assert depth[0] == pytest.approx(0.0, abs=1e-12)
    force = k * np.sum(depth**exponent) * (s[1] - s[0])
    q, mass = exponent + 0.5, M * 2 * M / (3 * M)
    assert force * estimate.depth / (q + 1) == pytest.approx(0.5 * mass * V**2, rel=1e-6)
    exact = k * np.sqrt(2 * RHO) * beta(0.5, q + 0.5) * estimate.depth**q / np.sin(np.radians(angle))
    assert force == pytest.approx(exact, rel=1e-6)
    assert estimate.duration == pytest.approx(np.pi * np.sqrt(mass * estimate.depth / (q * force)), rel=1e-6)
    assert estimate.depth_by_weight == 0.0


@pytest.mark.parametrize("angle", [0.0, 1.0])
def test_contact_estimate_of_parallel_rods_uses_their_length(angle: float) -> None:
    estimate = single_estimate(crossing_rods(angle))
    assert estimate.width == np.inf
    assert estimate.duration == pytest.approx(np.pi * np.sqrt(M / 2 / (K * L)))
    assert estimate.depth_by_speed == pytest.approx(V * np.sqrt(M / 2 / (K * L)))


def test_contact_estimate_of_a_rod_on_a_plane_uses_its_weight_per_length() -> None:
    model = Model("rod", gravity=(0, 0, -9.81))
    rod = model.add_rod("rod", [(0, 0, 0.02), (1, 0, 0.02)], SECTION, 10)
    model.add_contact("rest", rod, model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1)))
    assert single_estimate(model).depth_by_weight == pytest.approx(M / L * 9.81 / (np.pi / 4 * 1e7), rel=1e-3)


# --- warnings


def box_on_floor(stiffness: float, v: float = -1.0) -> Model:
    model = Model("box", gravity=(0, 0, -9.81))
    body = model.add_body("it", Box(1, 1, 0.2, mass=1), (0, 0, 0.1), velocity=(0, 0, v))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("on", model.add_solid("it", body), floor, stiffness)
    return model


def with_a_ceiling() -> Model:
    model = ball_on_floor(v=(0, 0, 1))
    model.add_plane("ceiling", model.ground.at((0, 0, 2)), (0, 0, -1))
    return model


def on_a_fine_mesh() -> Model:
    vertices, triangles = ground(60, half=0.1)
    model = ball_on_floor(1.0)
    floor = model.add_mesh("mesh", model.ground.at((0, 0, 0)), vertices=vertices, triangles=triangles)
    ball = model.add_body("large", Box(1, 1, 1, mass=1.0), (0, 0, 0.0999))
    model.add_contact("c", model.add_sphere("large", ball, 0.1), floor, 1e5)
    return model


REPORTED = [
    (
        lambda: ball_on_floor(v=(0, 0, 1), stiffness=20.0),
        None,
        r"contact 'on': .* come to a depth of some 0.26 m, 5.1 of the radius; give a greater stiffness than 20",
    ),
    (
        lambda: ball_on_floor(stiffness=None, law="depth + depth**2"),
        None,
        r"give a greater stiffness than depth \+ depth \*\* 2",
    ),
    (
        lambda: box_on_floor(300.0),
        None,
        "plane 'floor' and solid 'it' come to a depth of some 0.058 m, 0.58 of half of its least extent",
    ),
    (
        lambda: ball_on_floor(v=(0, 0, 1)),
        0.01,
        "contact 'on': plane 'floor' and sphere 'ball' touch for some 0.023 s, 2.3 steps of dt = 0.01 s.*take dt = 0.002 s",
    ),
    (
        lambda: box_on_floor(1e6),
        1e-3,
        "touch for some 0.0031 s, 3.1 steps of dt = 0.001 s; take dt = 0.0003 s",
    ),
    (with_a_ceiling, None, "plane 'ceiling' collides with nothing; name it in add_contact"),
    (on_a_fine_mesh, None, r"some 5.7e\+03 triangles lie within .* larger triangles, some 0.02 m wide"),
]


@pytest.mark.parametrize(("model", "dt", "words"), REPORTED, ids=[words[:40] for *_, words in REPORTED])
def test_soft_coarse_or_missing_contacts_are_reported(model, dt, words) -> None:
    with pytest.warns(ModelCheckWarning, match=words):
        simulate(model(), dt, dt, progress=False) if dt else model().build()


def test_step_that_resolves_a_contact_gives_no_warning() -> None:
    with warnings.catch_warnings(action="error"):
        simulate(ball_on_floor(v=(0, 0, 1)), 0.002, 0.002, progress=False)


@pytest.mark.parametrize("angle", [0.0, 90.0])
def test_recommended_step_resolves_the_contact(angle: float) -> None:
    model = crossing_rods(angle, stations=51 if angle else None)
    (line,) = check_steps(estimate_contacts(model, Placement(model)), 1.0)
    dt = float(line.split("take dt = ")[1].split(" s")[0])
    result = simulate(model, 30 * dt, dt, output_every=1, progress=False)
    depth = result.contact("hit").depth
    assert (depth > 0.0).sum() >= 10
    assert result.halvings.sum() == 0
    if angle == 0.0:  # as deep as the oscillator: ten steps resolve it to a hundredth
        assert depth.max() == pytest.approx(single_estimate(model).depth, rel=1e-2)


def test_too_few_stations_are_reported_with_the_number_needed() -> None:
    model = crossing_rods(90.0, stations=8)
    (line,) = check_stations(estimate_contacts(model, Placement(model)), model, Placement(model))
    assert line.startswith(
        "contact 'hit': rod 'one' and rod 'other' touch over 0.02 m at the depth to expect"
    )
    need = int(line.split("stations=")[1].split(",")[0])
    assert L / 2 / need <= single_estimate(model).width / 5 < L / 2 / (need - 1)
    for enough in (crossing_rods(90.0, stations=need), crossing_rods(0.0, stations=1)):
        assert check_stations(estimate_contacts(enough, Placement(enough)), enough, Placement(enough)) == []
    with pytest.warns(ModelCheckWarning, match=f"take stations={need}"):
        simulate(model, 1e-4, 1e-4, progress=False)
