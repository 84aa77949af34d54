"""Contacts without planes as a model builds them.

Radii, stations, exclusions by joints, initial positions on a drum.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from rigid.errors import ModelError
from rodsim import Cylinder, Material, Model, Result, Section, Sphere, simulate
from rodsim.results import ResultError

RUBBER = Material(E=1e6, nu=0.3, density=1000)
THIN, THICK = Section.circular(0.01, RUBBER), Section.circular(0.02, RUBBER)
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")


def crossing(gap: float = 0.005, **contact) -> Model:
    """A rod falls on another, across it."""
    model = Model("crossing")
    low = model.add_rod("low", [(0, 0, 0), (0.3, 0, 0)], THIN, 3)
    z = 0.02 + gap
    high = model.add_rod("high", [(0.12, -0.1, z), (0.15, 0.1, z)], THIN, 3, velocity=(0, 0, -0.5))
    model.add_contact("hit", low, high, **contact)
    return model


def balls(gap: float = 0.01, **contact) -> Model:
    """One of two equal balls moves towards the other."""
    model = Model("balls")
    for k, name in enumerate(("one", "two")):
        place, v = ((0.1 + gap) * k, 0, 0), (1.0 - k, 0, 0)
        body = model.add_body(name, Sphere(0.05, density=1000), place, velocity=v)
        model.add_sphere(name, body, 0.05)
    model.add_contact("hit", model.spheres["two"], model.spheres["one"], **{"stiffness": 1e5, **contact})
    return model


def first_step(model: Model) -> Result:
    """One short step."""
    return simulate(model, 1e-5, 1e-5, output_every=1, progress=False)


def test_contact_radius_overrides_that_of_the_rod():
    model = crossing(gap=0.1)
    rods = list(model.rods.values())
    model.add_contact("coil", rods[0], radius=0.02)
    del model.contacts["hit"]
    model.add_contact("hit", *rods, radius=0.05)
    assert first_step(model).contact("hit").gap[0] == pytest.approx(0.12 - 0.1)
    tapered = lambda s: Section.circular(0.01 + 0.01 * s, RUBBER)  # noqa: E731
    cone = model.add_rod("cone", [(0, 0, 1), (1, 0, 1)], tapered, 4)
    model.add_contact("cone", cone, rods[0])
    words = r"rod 'cone': its radius varies from 0.0112 to 0.0188 m along it, .*give radius="
    with pytest.raises(ModelError, match=words):
        model.build()


def test_number_of_contact_stations_is_as_specified_or_follows_from_the_width():
    """Ten stations along the width of the contact, but at most 32."""
    for options, stations in (({"stations": 5}, 5), ({"stiffness": 1e4}, 30), ({"stiffness": 1e6}, 32)):
        assert crossing(**options).build().system.contacts.stations.tolist() == [stations]


def test_joined_rods_have_no_contact_near_their_common_node():
    """Within pi times the radius, 0.0628 m, of the joint at a quarter of the first rod."""
    model = Model("cross")
    a = model.add_rod("a", [(0, 0, 0), (0.4, 0, 0)], THICK, 8)
    b = model.add_rod("b", [(0.1, 0, 0), (0.1, 0.4, 0)], THICK, 8)
    model.add_joint("pin", "spherical", a.at(0.25), b.start)
    model.add_contact("both", a, b, ignore=None)
    assert first_step(model).contact("both").energy[0] == 0.0
    del model.joints["pin"]
    with pytest.raises(ModelError, match=r"rod 'b' is 0.04 m inside of rod 'a' at t = 0, more than 0.002 m"):
        model.build()


def test_ball_on_a_rod_end_has_contact_with_the_remaining_rod():
    model = Model("chain")
    rod = model.add_rod("rod", [(0, 0, 0), (0.4, 0, 0)], THIN, 4)
    body = model.add_body("ball", Sphere(0.03, density=1000), (0.4, 0, 0))
    model.add_joint("weld", "weld", rod.end, body, at=(0.4, 0, 0))
    model.add_contact("it", rod, model.add_sphere("ball", body, 0.03), 1e4)
    contact = first_step(model).contact("it")
    assert contact.energy[0] == 0.0
    assert contact.gap[0] == pytest.approx(0.1 - 0.04)  # to the element before the last


def test_spheres_of_joined_bodies_need_an_explicit_pair():
    model = balls()
    model.add_joint("bar", "distance", model.bodies["one"].at((0, 0, 0)), model.bodies["two"].at((0, 0, 0)))
    assert first_step(model).contact("hit").gap[0] == pytest.approx(0.01)
    third = model.add_body("three", Sphere(0.05, density=1000), (0, 1, 0))
    del model.contacts["hit"]
    spheres = [*model.spheres.values(), model.add_sphere("three", third, 0.05)]
    model.add_contact("all", spheres, stiffness=1e4)
    assert first_step(model).contact("all").gap[0] == pytest.approx(0.9)


def wound(n, law="power", distance=0.0, radius=0.01):
    """A rope once around a drum of radius 0.25 m, its nodes at the distance `distance` from it."""
    ring = 0.25 + radius + distance
    model = Model("drum")
    drum = model.add_body("drum", Cylinder(0.25, 0.2, mass=3.0), (0.0, 0.0, 0.0))
    curve = [(ring * np.cos(a), ring * np.sin(a), 0.0) for a in np.linspace(0.0, 1.5 * np.pi, 601)]
    options = {"reach": 1e-3} if law == "barrier" else {}
    rope = model.add_rod("rope", curve, THIN, n)
    solid = model.add_solid("drum", drum)
    model.add_contact("c", rope, solid, stiffness=1e5, radius=radius, law=law, **options)
    return model


WOUND = [("power", 0.0), ("power", 5e-4), ("power", -5e-4), ("barrier", 5e-4)]


@pytest.mark.parametrize(("law", "distance"), WOUND)
def test_chords_cutting_a_drum_are_reported_with_a_sufficient_number_of_elements(law, distance):
    for n in (6, 20):
        with pytest.raises(ModelError, match="only chords between nodes of rod 'rope'") as error:
            wound(n, law, distance).build()
        enough = int(re.search(rf"give it n_elements = (\d+) instead of {n}", str(error.value))[1])
        wound(enough, law, distance).build()
        with pytest.raises(ModelError, match="only chords"):  # and not many more than needed
            wound(int(0.85 * enough), law, distance).build()


def test_nodes_inside_a_drum_are_reported_without_a_number_of_elements():
    with pytest.raises(ModelError, match="move one of them by that"):
        wound(20, distance=-0.002).build()


def test_self_contact_of_a_list_has_no_sides():
    model = Model("m")
    rods = [model.add_rod(f"{k}", [(0, k, 0), (1, k, 0)], THIN, 2) for k in range(3)]
    model.add_contact("all", rods)
    contact = simulate(model, 0.01, 0.01, progress=False).contact("all")
    assert list(contact.table()) == ["gap", "normal_force", "energy", "touching"]
    assert contact.gap == pytest.approx(0.98)
    with pytest.raises(ResultError, match="contact 'all': its surfaces have no two sides"):
        _ = contact.force
