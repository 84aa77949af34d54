"""What boxes lose on each other and on spheres: friction, restitution, and what is kept all the same."""

from __future__ import annotations

import numpy as np
import pytest

from rigid.interactions.contact.box_losses import BOXES_LOSS
from rodsim import Friction, Model, Sphere, audit
from tests.support.contact_losses import loss
from tests.support.contacts import LINEAR, dual
from tests.support.solids import MEETINGS, ON_CORNER, UP, A, G, R, add_box, change, run

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")


@pytest.mark.parametrize("name", MEETINGS)
def test_boxes_that_lose_keep_the_balance_and_momenta(name):
    """Rubbing and bouncing: energy and what is lost keep their sum, and no step gains."""
    one, at, other, place, v = MEETINGS[name]
    model = Model("pair", gravity=(0, 0, 0))
    a = add_box(model, "a", at, one, (0, 0, 0), (0.3, -0.2, 0.1))
    b = add_box(model, "b", place, other, v, mass=2.0)
    model.add_contact(
        "c", a, b, 4e5, friction=Friction(0.3, static=0.4, rolling=1e-3, drilling=1e-3), restitution=0.6
    )
    result = run(model, 0.06, 5e-4)
    energy = result.energy["total"]
    assert result.dissipation[-1] > 0.1 * energy[0]
    assert np.diff(result.dissipation).min() > -1e-15
    assert change(energy + result.dissipation) < 1e-13 * energy[0]
    assert change(result.body("a").v + 2.0 * result.body("b").v) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    assert audit(result).ok


def test_a_box_that_slides_on_a_plank_carries_it_along():
    """On a smooth floor: both get the common velocity, after the way and with the heat of Coulomb's law."""
    mu, v, m, M, k = 0.3, 1.0, 1.0, 3.0, 1e5
    model = Model("carried", gravity=(0, 0, -G))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    low = (m + M) * G / k
    plank = add_box(model, "plank", (0, 0, 0.05 - low), size=(2.0, 0.4, 0.1), mass=M)
    box = add_box(model, "box", (-0.3, 0, 0.1 - low + 0.02 - m * G / k), v=(v, 0, 0), size=(A, A, 0.04))
    model.add_contact("floor", plank, floor, k)
    model.add_contact("rub", box, plank, k, friction=mu, rest_speed=1e-3)
    result = run(model, 0.4, 1e-3)
    common, ends = m * v / (m + M), v / (mu * G * (1.0 + m / M))
    slid = result.body("box").r[:, 0] - result.body("plank").r[:, 0] + 0.3
    momentum = m * result.body("box").v[:, 0] + M * result.body("plank").v[:, 0]
    assert change(momentum) < 1e-13
    assert result.body("plank").v[-1, 0] == pytest.approx(common, rel=1e-3)
    assert slid[-1] == pytest.approx(0.5 * v * ends, rel=2e-3)
    assert result.dissipation[-1] == pytest.approx(mu * m * G * slid[-1], rel=2e-3)
    assert change(result.energy["total"] + result.dissipation) < 1e-14
    half = int(0.5 * ends / 1e-3)
    found = result.contact("rub")
    assert found.tangential_force[half] == pytest.approx(mu * m * G, rel=2e-2)
    rates = [result.body(each).v[half, 0] for each in ("box", "plank")]
    assert found.slip_rate[half] == pytest.approx(rates[0] - rates[1], rel=2e-2)
    assert found.loss_rate[half] == pytest.approx(mu * m * G * (rates[0] - rates[1]), rel=4e-2)


def on_incline(alpha, n, mu=0.3, k=1e6):
    """Flat boxes on each other and on a plane that is tilted."""
    model = Model("stack", gravity=(G * np.sin(alpha), 0, -G * np.cos(alpha)))
    floor, z, each = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1)), 0.0, []
    for i in range(n):
        z += 0.02 - (n - i) * G * np.cos(alpha) / k
        each.append(add_box(model, f"it {i}", (0, 0, z), size=(A, A, 0.04)))
        z += 0.02
    model.add_contact("floor", each, floor, k, friction=mu)
    model.add_contact("stack", each, stiffness=k, friction=mu)
    return model


@pytest.mark.parametrize("part", [0.96, 1.04])
def test_a_stack_on_an_incline_holds_below_the_angle_of_friction_and_slides_above(part):
    alpha, t = np.arctan(0.3) * part, 0.3
    result = run(on_incline(alpha, 3), t, 1e-3, every=20)
    top = result.body("it 2").r - result.body("it 2").r[0]
    assert change(result.energy["total"] + result.dissipation) < 1e-13
    if part < 1.0:
        assert np.abs(top).max() < 2e-3  # it rocks back on its springs, and stays
        assert result.contact("stack").sliding[-1] == 0
    else:
        down = G * (np.sin(alpha) - 0.3 * np.cos(alpha)) * t**2 / 2
        assert result.body("it 0").r[-1, 0] == pytest.approx(down, rel=0.1)


@pytest.mark.parametrize("e", [0.3, 0.8])
@pytest.mark.parametrize(("quat", "height"), [(UP, 0.5 * A), (ON_CORNER, (A / 2 - R) * 3**0.5 + R)])
def test_boxes_that_meet_face_to_face_and_corner_to_face_part_with_the_restitution_they_are_given(
    quat, height, e
):
    model = Model("bounce", gravity=(0, 0, 0))
    one = add_box(model, "a", (0, 0, 0), size=(1.5 * A, 1.5 * A, A))
    other = add_box(model, "b", (0, 0, A / 2 + height + 1e-3), quat, v=(0, 0, -1.0), mass=2.0)
    model.add_contact("c", one, other, 4e5, restitution=e, rest_speed=1e-3)
    result = run(model, 0.03, 2.5e-4)
    assert result.body("b").v[-1, 2] - result.body("a").v[-1, 2] == pytest.approx(e, rel=0.01)


def test_a_ball_that_slides_on_a_box_comes_to_roll():
    """Its velocity is then 5/7 of what it was, about the point that it touches: a radius below its middle."""
    radius, k, v = 0.03, 1e5, 0.5
    model = Model("roll", gravity=(0, 0, -G))
    box = add_box(model, "box", (0, 0, 0), size=(1.0, 0.4, A))
    model.add_joint("held", "clamp", model.bodies["box"].at((0, 0, 0)))
    body = model.add_body(
        "ball", Sphere(radius, mass=0.5), (-0.3, 0, A / 2 + radius - 0.5 * G / k), velocity=(v, 0, 0)
    )
    model.add_contact("c", model.add_sphere("ball", body, radius), box, k, friction=0.4)
    result = run(model, 0.1, 1e-3)
    ball = result.body("ball")
    assert ball.v[-1, 0] == pytest.approx(5.0 * v / 7.0, rel=2e-3)
    assert ball.Omega[-1] == pytest.approx([0, ball.v[-1, 0] / radius, 0], abs=5e-3 * v / radius)
    assert change(result.energy["total"] + result.dissipation) < 1e-14


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("flat", [True, False])
def test_friction_of_boxes_acts_where_their_surfaces_touch(flat, share):
    """The radius of the first is that part of the sum: so far from its core, whether corners or edges that cross carry it."""
    half, other, rho, depth = np.array([0.2, 0.3, 0.1]), np.array([0.15, 0.1, 0.25]), 0.05, 0.002
    if not flat:  # laid across each other
        half, other = np.array([0.3, 0.1, 0.1]), np.array([0.1, 0.3, 0.25])
    place, D = np.array([0.02, 0.01, 0.0]), rho - depth
    place[2] = half[2] + other[2] + D
    y0 = np.array([np.vstack([(0, 0, 0), np.eye(3)]), np.vstack([place, np.eye(3)])])
    y1 = y0.copy()
    y1[1, 0, :2] += (1e-3, 2e-3)
    own = loss(mu=(0.5, 0.5), kt=1e4, rest=0.0)
    X = np.concatenate([LINEAR, [rho], np.zeros(3), half, np.zeros(3), other, [share * rho], own])
    f = dual(BOXES_LOSS, y0, y1, X, 100.0).real
    N = LINEAR[1] * depth
    assert np.linalg.norm(f[1, 0, :2]) == pytest.approx(0.5 * N, rel=1e-9)
    assert f[1, 0, :2] @ (1e-3, 2e-3) > 0.0  # against the slip: duals are minus the forces
    for k, height in ((0, half[2] + share * D), (1, -other[2] - (1.0 - share) * D)):
        moment = np.cross(y0[k, 1:], f[k, 1:]).sum(axis=0)
        assert moment[:2] == pytest.approx(np.cross((0, 0, height), f[k, 0])[:2], rel=1e-9)
