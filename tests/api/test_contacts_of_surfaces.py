"""Contacts without planes from a model to its result: the table that is built, what joints hold together, starts, runs."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rigid.errors import ModelError
from rodsim import Cylinder, Material, Model, Result, Section, Sphere, audit, simulate
from rodsim.building.build import Placement
from rodsim.building.contact_doubts import expected
from rodsim.results import ResultError

RUBBER = Material(E=1e6, nu=0.3, density=1000)
THIN, THICK = Section.circular(0.01, RUBBER), Section.circular(0.02, RUBBER)
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")


def crossing(gap: float = 0.005, **contact) -> Model:
    """A rod falls on another, across it."""
    model = Model("crossing")
    low = model.add_rod("low", [(0, 0, 0), (0.3, 0, 0)], THIN, 3)
    z = 0.02 + gap
    high = model.add_rod("high", [(0.12, -0.1, z), (0.15, 0.1, z)], THIN, 3, velocity=(0, 0, -0.5))
    model.add_contact("hit", low, high, **contact)
    return model


def balls(gap: float = 0.01, **contact) -> Model:
    """One of two equal balls is thrown at the other."""
    model = Model("balls")
    for k, name in enumerate(("one", "two")):
        body = model.add_body(
            name, Sphere(0.05, density=1000), ((0.1 + gap) * k, 0, 0), velocity=(1.0 - k, 0, 0)
        )
        model.add_sphere(name, body, 0.05)
    model.add_contact("hit", model.spheres["two"], model.spheres["one"], **{"stiffness": 1e5, **contact})
    return model


def begun(model: Model) -> Result:
    """One short step."""
    return simulate(model, 1e-5, 1e-5, output_every=1, progress=False)


def test_a_rod_has_the_radius_that_its_contact_is_given():
    model = crossing(gap=0.1)
    rods = list(model.rods.values())
    model.add_contact("coil", rods[0], radius=0.02)
    del model.contacts["hit"]
    model.add_contact("hit", *rods, radius=0.05)
    assert begun(model).contact("hit").gap[0] == pytest.approx(0.12 - 0.1)
    cone = model.add_rod(
        "cone", [(0, 0, 1), (1, 0, 1)], lambda s: Section.circular(0.01 + 0.01 * s, RUBBER), 4
    )
    model.add_contact("cone", cone, rods[0])
    words = r"rod 'cone': its radius goes from 0.0112 to 0.0188 m along it, .*give radius="
    with pytest.raises(ModelError, match=words):
        model.build()


@pytest.mark.parametrize(
    ("given", "stations"), [({"stations": 5}, 5), ({"stiffness": 1e4}, 30), ({"stiffness": 1e6}, 32)]
)
def test_rods_have_the_stations_that_are_given_or_ten_along_the_width_of_their_contact(given, stations):
    """But no more than 32."""
    assert crossing(**given).build().system.contacts.stations.tolist() == [stations]


def test_rods_joined_at_a_node_meet_elsewhere_only():
    """Within pi times the radius, 0.0628 m, of the joint, which stands at a quarter of the first."""
    model = Model("cross")
    a = model.add_rod("a", [(0, 0, 0), (0.4, 0, 0)], THICK, 8)
    b = model.add_rod("b", [(0.1, 0, 0), (0.1, 0.4, 0)], THICK, 8)
    model.add_joint("pin", "spherical", a.at(0.25), b.start)
    model.add_contact("both", a, b, ignore=None)
    assert begun(model).contact("both").energy[0] == 0.0
    del model.joints["pin"]
    with pytest.raises(ModelError, match=r"rod 'b' is 0.04 m inside of rod 'a' at t = 0, more than 0.002 m"):
        model.build()


def test_a_ball_on_the_end_of_a_rod_meets_the_rest_of_it():
    model = Model("chain")
    rod = model.add_rod("rod", [(0, 0, 0), (0.4, 0, 0)], THIN, 4)
    body = model.add_body("ball", Sphere(0.03, density=1000), (0.4, 0, 0))
    model.add_joint("weld", "weld", rod.end, body, at=(0.4, 0, 0))
    model.add_contact("it", rod, model.add_sphere("ball", body, 0.03), 1e4)
    found = begun(model).contact("it")
    assert found.energy[0] == 0.0
    assert found.gap[0] == pytest.approx(0.1 - 0.04)  # to the element before the last


def test_spheres_of_bodies_that_a_joint_joins_meet_only_as_a_pair_of_their_own():
    model = balls()
    model.add_joint("bar", "distance", model.bodies["one"].at((0, 0, 0)), model.bodies["two"].at((0, 0, 0)))
    assert begun(model).contact("hit").gap[0] == pytest.approx(0.01)
    third = model.add_body("three", Sphere(0.05, density=1000), (0, 1, 0))
    del model.contacts["hit"]
    spheres = [*model.spheres.values(), model.add_sphere("three", third, 0.05)]
    model.add_contact("all", spheres, stiffness=1e4)
    assert begun(model).contact("all").gap[0] == pytest.approx(0.9)


def test_the_depth_of_rods_that_cross_is_that_of_their_reduced_mass():
    """F = k integral of (depth - x^2 sin^2/(2 rho)) dx = 4/3 k sqrt(2 rho) depth^(3/2)/sin."""
    (own,) = expected(model := crossing(), Placement(model))
    low, high = (1000 * np.pi * 0.01**2 * x for x in (0.3, np.hypot(0.03, 0.2)))
    C = 4 / 3 * np.pi / 8 * 1e6 * np.sqrt(0.04) * np.hypot(0.03, 0.2) / 0.2
    m = low * high / (low + high)
    assert C * own.by_speed**2.5 / 2.5 == pytest.approx(0.5 * m * 0.5**2)
    assert own.lasts == pytest.approx(np.pi * np.sqrt(m / (1.5 * C * own.by_speed**0.5)))
    assert own.by_weight == 0.0


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda: crossing(gap=-0.002), r"contact 'hit': rod '\w+' is 0.002 m inside of rod '\w+' at t = 0, more than 0.001 m"),
        (lambda: balls(gap=-0.02), r"contact 'hit': sphere 'two' is 0.02 m inside of sphere 'one' at t = 0, more than 0.005 m"),
        (lambda: balls(gap=0, law="barrier", reach=0.01), r"which a barrier does not allow"),
    ],
)  # fmt: skip
def test_what_begins_inside_is_refused(model, words):
    with pytest.raises(ModelError, match=words) as error:
        model().build()
    assert error.value.about[0].kind == "contact"


def wound(n, law="power", away=0.0, radius=0.01):
    """A rope once round a drum of radius 0.25, its nodes at the distance `away` from it."""
    ring = 0.25 + radius + away
    model = Model("drum")
    drum = model.add_body("drum", Cylinder(0.25, 0.2, mass=3.0), (0.0, 0.0, 0.0))
    curve = [(ring * np.cos(a), ring * np.sin(a), 0.0) for a in np.linspace(0.0, 1.5 * np.pi, 601)]
    given = {"reach": 1e-3} if law == "barrier" else {}
    rope = model.add_rod("rope", curve, THIN, n)
    model.add_contact(
        "c", rope, model.add_solid("drum", drum), stiffness=1e5, radius=radius, law=law, **given
    )
    return model


@pytest.mark.parametrize(
    ("law", "away"), [("power", 0.0), ("power", 0.0005), ("power", -0.0005), ("barrier", 5e-4)]
)
def test_where_chords_cut_into_a_drum_the_number_of_elements_that_is_enough_is_told(law, away):
    for n in (6, 20):
        with pytest.raises(ModelError, match="only chords between nodes of rod 'rope'") as error:
            wound(n, law, away).build()
        enough = int(re.search(rf"give it n_elements = (\d+) instead of {n}", str(error.value))[1])
        wound(enough, law, away).build()
        with pytest.raises(ModelError, match="only chords"):  # and not many more than are needed
            wound(int(0.85 * enough), law, away).build()


def test_where_nodes_are_in_a_drum_no_number_of_elements_is_told():
    with pytest.raises(ModelError, match="move one of them by that"):
        wound(20, away=-0.002).build()


# --- runs


def test_balls_exchange_their_velocities():
    result = simulate(balls(), 0.04, 2e-4, output_every=1, progress=False)
    own = result.contact("hit")
    assert result.body("one").v[-1] == pytest.approx([0, 0, 0], abs=1e-3)
    assert result.body("two").v[-1] == pytest.approx([1, 0, 0], abs=1e-3)
    assert np.ptp(result.energy["total"]) < 1e-12
    assert own.gap == pytest.approx(result.body("two").r[:, 0] - result.body("one").r[:, 0] - 0.1, abs=1e-13)
    assert own.force[:, 0] == pytest.approx(1e5 * own.depth, abs=1e-8)  # on `a`, the ball that is hit
    assert own.normal_force == pytest.approx(own.force[:, 0], abs=1e-12)
    assert own.energy == pytest.approx(0.5e5 * own.depth**2, abs=1e-10)
    assert own.depth.max() > 1e-3
    assert audit(result).ok, audit(result).text()


def test_rods_that_cross_keep_energy_and_momenta(tmp_path):
    file = tmp_path / "rods.vtkhdf"
    result = simulate(crossing(stations=8), 0.06, 5e-4, output=file, output_every=4, progress=False)
    own = result.contact("hit")
    assert own.depth.max() > 1e-4
    assert own.energy == pytest.approx(result.energy["spring"], abs=1e-15)
    assert np.ptp(result.energy["total"]) < 1e-12 * result.energy["total"][0]
    assert np.ptp(result.linear_momentum, axis=0).max() < 1e-15
    assert np.ptp(result.angular_momentum, axis=0).max() < 1e-15
    assert own.force[own.depth > 0, 2].max() < 0.0  # `a` is the lower one
    assert own.normal_force == pytest.approx(np.linalg.norm(own.force, axis=1), rel=0.1)
    for name, column in Result.load(file).contact("hit").table().items():
        assert np.array_equal(own.table()[name], column)


def test_among_themselves_surfaces_have_no_sides():
    model = Model("m")
    rods = [model.add_rod(f"{k}", [(0, k, 0), (1, k, 0)], THIN, 2) for k in range(3)]
    model.add_contact("all", rods)
    own = simulate(model, 0.01, 0.01, progress=False).contact("all")
    assert list(own.table()) == ["gap", "normal_force", "energy", "touching"]
    assert own.gap == pytest.approx(0.98)
    with pytest.raises(ResultError, match="contact 'all': its surfaces have no two sides"):
        _ = own.force
