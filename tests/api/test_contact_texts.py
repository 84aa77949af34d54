"""Laws of contact as texts, from a scene or a script to the result."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from scipy.integrate import quad
from scipy.optimize import brentq

from rodsim import Friction, Material, Model, Result, Section, Sphere, audit, simulate
from rodsim.building.build import Placement
from rodsim.building.contact_doubts import coarse, depths, expected
from rodsim.building.contact_surfaces import law_of
from rodsim.scenes.model_from_scene import load

TEXT, C1, C2, C3 = "1e4*depth + 2e9*depth**3 - 2e6*depth**2", 1e4, -2e6, 2e9
SPEED = 1.5


def ball(speed: float = SPEED, g: float = 0.0, **contact) -> Model:
    """That flies at a floor half a millimetre below it."""
    model = Model("ball", gravity=(0, 0, -g))
    body = model.add_body("ball", Sphere(0.04, density=1100), (0, 0, 0.0405), velocity=(0, 0, -speed))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("bounce", model.add_sphere("ball", body, 0.04), floor, **contact)
    return model


def energy(x: float) -> float:
    """J, of the law at a depth."""
    return C1 * x**2 / 2 + C2 * x**3 / 3 + C3 * x**4 / 4


def by_hand(m: float) -> tuple[float, float]:
    """Greatest depth, and how long a bounce takes: 2 integral dx/sqrt(v^2 - 2 V/m), with x = depth sin(a)."""
    all_of_it = m * SPEED**2 / 2
    deepest = brentq(lambda x: energy(x) - all_of_it, 0, 0.1, xtol=1e-15)

    def slowness(a: float) -> float:
        x = deepest * np.sin(a)
        return deepest * np.cos(a) / np.sqrt(2 * (all_of_it - energy(x)) / m)

    return deepest, 2 * quad(slowness, 0, np.pi / 2 * (1 - 1e-9))[0]


def test_a_ball_on_a_text_comes_as_deep_and_bounces_as_long_as_its_energy_has_it(tmp_path):
    """Second order in the step; the file tells it again, and audits."""
    model, file = ball(law=TEXT), tmp_path / "ball.vtkhdf"
    m = model.bodies["ball"].properties.mass
    deepest, lasts = by_hand(m)
    dt = lasts / 200
    result = simulate(model, t_end=260 * dt, dt=dt, output_every=1, output=file)
    found = result.contact("bounce")
    assert found.depth.max() == pytest.approx(deepest, rel=2e-4)
    body = result.body("ball")
    assert body.v[-1, 2] == pytest.approx(SPEED, rel=1e-12)
    # on both ways beside the floor with the speed: a bounce takes what is left of the time
    way = 0.0005 + body.r[-1, 2] - 0.04
    assert result.t[-1] - way / SPEED == pytest.approx(lasts, rel=1e-4)
    assert np.ptp(result.energy["total"]) < 1e-13
    assert found.energy == pytest.approx(energy(np.maximum(found.depth, 0)), rel=1e-10, abs=1e-15)
    again = Result.load(file)
    assert np.array_equal(again.contact("bounce").normal_force, found.normal_force)
    assert audit(again).ok


def test_what_is_told_before_a_run_is_what_comes():
    model = ball(g=9.81, law=TEXT)
    placed, m = Placement(model), model.bodies["ball"].properties.mass
    (own,) = expected(model, placed)
    assert own.by_speed == pytest.approx(by_hand(m)[0], rel=1e-9)
    x = own.by_weight
    assert C1 * x + C2 * x**2 + C3 * x**3 == pytest.approx(m * 9.81, rel=1e-9)
    slope = C1 + 2 * C2 * own.depth + 3 * C3 * own.depth**2
    assert own.lasts == pytest.approx(np.pi * np.sqrt(m / slope), rel=1e-9)
    assert coarse(model, placed, own.lasts)
    soft = ball(g=9.81, law="depth + depth**2")
    assert "give a greater stiffness than depth + depth ** 2" in next(depths(soft, Placement(soft)))


def test_a_scene_has_the_text_and_a_result_remembers_it(tmp_path):
    scene = {
        "name": "ball",
        "bodies": [
            {
                "name": "ball",
                "shape": {"type": "sphere", "radius": 0.04, "density": 1100},
                "position": [0, 0, 1],
            }
        ],
        "spheres": [{"name": "ball", "on": "ball", "radius": 0.04}],
        "planes": [{"name": "floor", "on": {"ground": [0, 0, 0]}, "normal": [0, 0, 1]}],
        "contacts": [{"name": "bounce", "a": "ball", "b": "floor", "law": TEXT}],
        "run": {"t_end": 1, "dt": 0.1},
    }
    file = tmp_path / "ball.yaml"
    file.write_text(yaml.safe_dump(scene))
    (own,) = load(file).model.contacts.values()
    assert law_of(own, own.pairs[0]).tolist() == [2, C1, C2, C3]
    assert own.described()["law"] == "10000.0 * depth + 2000000000.0 * depth ** 3 - 2000000.0 * depth ** 2"


def crossing(**law) -> Result:
    """Two rods that cross and rub, each with half of the stations."""
    model = Model("cross", gravity=(0, 0, -9.81))
    section = Section.circular(0.01, Material(E=1e6, nu=0.45, density=1000))
    low = model.add_rod("low", [(-0.1, 0, 0), (0.1, 0, 0)], section, 2)
    model.add_joint("left", "clamp", low.start)
    high = model.add_rod("high", [(0, -0.1, 0.0199), (0, 0.1, 0.0199)], section, 2, velocity=(0.1, 0, -0.5))
    given = {"friction": Friction(0.3, tangential_stiffness=1e4), "restitution": 0.5, "stations": 4}
    model.add_contact("rub", low, high, **law, **given)
    return simulate(model, t_end=0.01, dt=5e-4, output_every=1)


@pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")
def test_a_text_of_one_term_runs_as_the_power():
    text, power = crossing(law="4e8*depth**2"), crossing(stiffness=4e8, exponent=2)
    assert text.contact("rub").normal_force.max() > 0.1
    assert text.dissipation[-1] > 1e-6
    for name in ("low", "high"):
        assert text.rod(name).r == pytest.approx(power.rod(name).r, abs=1e-12)
    for what in ("normal_force", "energy", "force"):
        one, other = (getattr(own.contact("rub"), what) for own in (text, power))
        assert one == pytest.approx(other, rel=1e-8, abs=1e-8)
