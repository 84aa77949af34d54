"""Solids on planes: what rests, slides, tips, falls and rolls as closed forms have it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ellipk

from rigid import quaternions
from rigid.errors import ModelError
from rigid.inertia import MassProperties
from rigid.solids import Cuboid, Revolved
from rodsim import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Friction,
    Mesh,
    Model,
    Sphere,
    audit,
    equilibrium,
    modes,
    signals,
    simulate,
)
from rodsim.building.build import Placement
from rodsim.building.contact_doubts import coarse, depths

G, K = 9.81, 1e5
UP, LYING = (1.0, 0.0, 0.0, 0.0), (0.5**0.5, 0.0, 0.5**0.5, 0.0)  # the z axis upright, along x
PRISM = np.array([(x, y, z) for z in (-0.1, 0.1) for x, y in ((0, 0), (0.2, 0), (0, 0.2))], float)
PRISM_FACES = [(0, 2, 1), (3, 4, 5), (0, 1, 4), (0, 4, 3), (1, 2, 5), (1, 5, 4), (2, 0, 3), (2, 3, 5)]
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")


def about(axis, angle):
    """Quaternion."""
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis, float)])


def on_floor(
    shape,
    place,
    quat=UP,
    tilt: float = 0.0,
    k: float = K,
    radius: float = 0.0,
    moving=(None, None),
    **contact,
):
    """A body on a floor, gravity turned by `tilt` towards x."""
    model = Model("floor", gravity=(G * np.sin(tilt), 0.0, -G * np.cos(tilt)))
    body = model.add_body("it", shape, place, quat, *moving)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("on", model.add_solid("it", body, radius=radius), floor, k, **contact)
    return model


def run(model, t_end, h=1e-3, every=1, **more):
    return simulate(model, t_end, h, output_every=every, progress=False, **more)


def axis(result, k=2):
    """(T, 3) of the body."""
    return quaternions.to_matrix(result.body("it").quat)[:, :, k]


def balance(result) -> float:
    total = result.energy["total"] + result.dissipation - result.work
    return float(np.abs(total - total[0]).max())


FLAT = {  # shape, orientation, height of its reference, rounding, share of the stiffness that acts
    "box": (Box(0.2, 0.1, 0.15, mass=2.0), UP, 0.075, 0.0, 1.0),
    "rounded box": (Box(0.2, 0.1, 0.15, mass=2.0), UP, 0.075, 0.02, 1.0),
    "standing cylinder": (Cylinder(0.1, 0.15, mass=2.0), UP, 0.075, 0.0, 1.0),
    "lying cylinder": (Cylinder(0.1, 0.3, mass=2.0), LYING, 0.1, 0.0, 1.0),
    "rounded lying cylinder": (Cylinder(0.1, 0.3, mass=2.0), LYING, 0.1, 0.03, 1.0),
    "lying capsule": (Capsule(0.1, 0.3, mass=2.0), LYING, 0.1, 0.0, 1.0),
    "ball": (Sphere(0.1, mass=2.0), UP, 0.1, 0.0, 1.0),
    "cone on its base": (Cone(0.1, 0.2, mass=2.0), (0.0, 1.0, 0.0, 0.0), 0.2, 0.0, 1.0),
}


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("name", FLAT)
def test_what_is_laid_flat_rests(name, friction):
    """At the depth m g/k of a face, however many points hold it, for 1e4 steps, with at most one iteration each."""
    shape, quat, height, radius, share = FLAT[name]
    z = height - shape.mass * G / (share * K)
    result = run(on_floor(shape, (0.3, 0.2, z), quat, radius=radius, friction=friction), 10.0, every=1000)
    assert result.newton_iterations.max() <= 1.0
    assert np.abs(result.body("it").r - (0.3, 0.2, z)).max() < 1e-11
    assert max(np.abs(np.diff(axis(result, k), axis=0)).max() for k in range(3)) < 1e-10
    assert result.contact("on").normal_force == pytest.approx(shape.mass * G, rel=1e-9)
    assert result.distance("it", "floor") == pytest.approx(-shape.mass * G / (share * K), rel=1e-9)


@pytest.mark.parametrize("name", ["box", "standing cylinder", "lying capsule", "ball"])
def test_it_settles_in_an_equilibrium(name):
    shape, quat, height, radius, share = FLAT[name]
    model = on_floor(shape, (0, 0, height), quat, radius=radius)
    model.add_bushing("guide", model.ground, model.bodies["it"], [1.0, 1.0, 0, 0, 0, 1.0], at=(0, 0, height))
    result = equilibrium(model)
    assert result.body("it").r[-1, 2] == pytest.approx(height - shape.mass * G / (share * K), abs=1e-12)


@pytest.mark.parametrize(("mu", "slides"), [(0.52, False), (0.48, True)])
def test_a_box_on_an_incline_sticks_or_slides(mu, slides):
    """tan(alpha) = 0.5, low and wide: at rest below mu, g (sin - mu cos) above it."""
    tilt, box = np.arctan(0.5), Box(0.4, 0.4, 0.1, mass=1.0)
    z = 0.05 - G * np.cos(tilt) / K
    result = run(on_floor(box, (0, 0, z), tilt=tilt, friction=mu, damping=10.0), 1.0)
    x = result.body("it").r[:, 0]
    if slides:
        rate = np.polyfit(result.t[300:], x[300:], 2)[0] * 2.0
        assert rate == pytest.approx(G * (np.sin(tilt) - mu * np.cos(tilt)), rel=2e-3)
    else:
        assert np.ptp(x[500:]) < 1e-6
    assert balance(result) < 1e-12
    assert np.diff(result.dissipation).min() > -1e-15


@pytest.mark.parametrize(("ratio", "tips"), [(1.06, False), (0.94, True)])
def test_a_box_on_an_incline_tips_where_its_weight_leaves_its_foot(ratio, tips):
    """tan(alpha) = 0.4, the part of the weight aside, against width over height."""
    box = Box(0.4 * ratio * 0.2, 0.1, 0.2, mass=1.0)
    model = on_floor(box, (0, 0, 0.1 - G / K), friction=2.0, damping=10.0)
    model.add_force(
        "aside", model.bodies["it"].at((0, 0, 0)), signals.SmoothStep(0.4 * G, 0.0, 0.4).along((1, 0, 0))
    )
    result = run(model, 1.0)
    assert (axis(result)[-1, 2] < 0.9) == tips
    if not tips:
        assert axis(result)[-1, 2] > 1.0 - 1e-5
    assert balance(result) < 1e-12


def test_what_sticks_is_held_by_the_stiffness_of_the_contact_not_of_each_corner():
    """F/k_t, besides the tilt, some 4e-5 m."""
    model = on_floor(
        FLAT["box"][0], (0, 0, 0.075 - 2.0 * G / K), friction=Friction(0.8, tangential_stiffness=1e3)
    )
    body, force = model.bodies["it"], 0.4 * 2.0 * G
    model.add_force("pulls", body.at((0, 0, 0)), signals.SmoothStep(force, 0.0, 0.3).along((1, 0, 0)))
    result = run(model, 2.0, 1e-3, every=100)
    assert result.body("it").r[-1, 0] == pytest.approx(force / 1e3, rel=0.01)


def toppling(k: float, h: float):
    """A block of 0.1 x 0.1 x 0.3 on its edge, 0.1 rad beyond its balance."""
    b, c, m = 0.1, 0.3, 1.0
    arm, balance_at = np.hypot(b, c) / 2, np.arctan(b / c)
    start = balance_at + 0.1
    turn = about((0, 1, 0), start)
    place = arm * np.array([np.sin(0.1), 0, np.cos(0.1)]) - (0, 0, m * G / (0.5 * k))
    model = on_floor(Box(b, 0.1, c, mass=m), place, turn, k=k, friction=Friction(5.0, tangential_stiffness=k))
    J = m * (b**2 + c**2) / 12 + m * arm**2
    result = run(model, 0.5, h)
    lean = np.arctan2(axis(result)[:, 0], axis(result)[:, 2]) - balance_at
    exact = quad(
        lambda x: 1.0 / np.sqrt(2 * m * G * arm / J * (np.cos(0.1) - np.cos(0.1 + x * x))) * 2 * x,
        0,
        0.5**0.5,
    )[0]
    return float(np.interp(0.6, lean, result.t)), exact, result


def test_a_block_falls_over_its_edge_in_the_time_of_a_pendulum():
    found, exact, result = toppling(1e7, 2e-4)
    assert found == pytest.approx(exact, rel=1e-4)
    assert balance(result) < 1e-12


def test_a_block_that_rocks_keeps_its_energy():
    """From edge to edge without losses, over 1e4 steps."""
    b, c = 0.1, 0.3
    turn, arm = 0.1, np.hypot(b, c) / 2
    at = arm * np.array([-np.sin(np.arctan(b / c) - turn), 0, np.cos(np.arctan(b / c) - turn)])
    model = on_floor(Box(b, 0.1, c, mass=1.0), at, about((0, 1, 0), turn), friction=0.0)
    result = run(model, 5.0, 5e-4, every=10)
    lean = axis(result)[:, 0]
    assert np.sum(np.diff(np.sign(lean)) != 0) > 4
    assert balance(result) < 1e-12


def test_a_cylinder_rolls_down_an_incline():
    """2/3 g sin(alpha), R less the depth being the radius on which it rolls."""
    tilt, cylinder = 0.2, Cylinder(0.05, 0.2, mass=1.0)
    z = 0.05 - G * np.cos(tilt) / K
    exact = 0.5 * G * np.sin(tilt) / (1.0 + 0.5 * (0.05 / z) ** 2)
    upon = about((1, 0, 0), np.pi / 2)  # its axis along y
    result = run(
        on_floor(cylinder, (0, 0, z), upon, tilt=tilt, friction=Friction(0.5, tangential_stiffness=1e6)), 1.0
    )
    x = result.body("it").r[:, 0]
    assert x[-1] == pytest.approx(exact, rel=1e-4)
    assert exact == pytest.approx(G * np.sin(tilt) / 3.0, rel=2e-3)
    assert balance(result) < 1e-12


def cone_on_its_side(tilt: float, swing: float, rate: float):
    """Of 0.1 m at half of a right angle's third, its line on the floor turned by `swing` from x, apex at the origin."""
    height, half = 0.1, np.pi / 6
    cone = Cone(height * np.tan(half), height, mass=1.0)
    line = np.array([np.cos(swing), np.sin(swing), 0.0])
    quat = quaternions.multiply(about((0, 0, 1), swing), about((0, 1, 0), np.pi / 2 - half))
    omega = -rate / np.tan(half) * line
    model = on_floor(
        cone, (0, 0, -1e-5), quat, tilt, k=1e6, friction=Friction(2.0, tangential_stiffness=1e7),
        moving=((0.0, 0.0, 0.0), omega), damping=20.0,
    )  # fmt: skip
    return model, height, half


def test_a_cone_rolls_on_its_side_in_a_circle():
    """Its line turns at a steady rate, and comes back when the axis has gone round."""
    rate = 2.0
    model, _, _ = cone_on_its_side(0.0, 0.0, rate)
    result = run(model, 2.0 * np.pi / rate, 2.0 * np.pi / rate / 4000, every=40)
    turned = np.unwrap(np.arctan2(axis(result)[:, 1], axis(result)[:, 0]))
    assert turned[-1] == pytest.approx(2.0 * np.pi, rel=1e-3)
    assert np.abs(turned - rate * result.t).max() < 0.01
    assert np.abs(result.body("it").r[:, :2]).max() < 1e-3


def test_a_cone_swings_on_an_incline_like_a_pendulum():
    """phi'' = -5 g cos(beta) sin(alpha)/(h (1 + 5 cos(beta)^2)) sin(phi), beta half of its angle.

    Source: L. D. Landau, E. M. Lifshitz, Mechanics, section 32, problem 7.
    """
    swing = 0.5
    model, h, beta = cone_on_its_side(0.3, swing, 0.0)
    square = 5.0 * G * np.cos(beta) * np.sin(0.3) / (h * (1.0 + 5.0 * np.cos(beta) ** 2))
    period = 4.0 * ellipk(np.sin(swing / 2) ** 2) / np.sqrt(square)
    result = run(model, period, period / 4000, every=20)
    turned = np.arctan2(axis(result)[:, 1], axis(result)[:, 0])
    down = np.flatnonzero(np.diff(np.sign(turned)) != 0)
    zero = [
        result.t[k] - turned[k] * (result.t[k + 1] - result.t[k]) / (turned[k + 1] - turned[k]) for k in down
    ]
    assert zero[1] - zero[0] == pytest.approx(period / 2, rel=1e-4)


def test_a_top_on_a_smooth_table_precesses_about_its_centre():
    """(J3 w3 - J1 W cos(theta)) W = m g l, J1 about the centre of mass: nothing holds it sideways."""
    cone = Cone(0.05, 0.1, mass=0.5)
    theta, spin, arm = 0.4, 200.0, 0.075
    J1, J3 = cone.inertia[0, 0], cone.inertia[2, 2]
    c = np.cos(theta)
    W = (J3 * spin - np.sqrt((J3 * spin) ** 2 - 4.0 * J1 * c * 0.5 * G * arm)) / (2.0 * J1 * c)
    n = np.array([np.sin(theta), 0.0, c])
    omega = W * np.array([0.0, 0.0, 1.0]) + (spin - W * c) * n
    quat = about((0, 1, 0), theta)
    depth = 0.5 * G / (0.5 * 1e6)
    model = on_floor(cone, (0, 0, -depth), quat, k=1e6, moving=(np.cross(omega, -arm * n), omega))
    result = run(model, 0.5, 1e-4, every=50)
    turned = np.unwrap(np.arctan2(axis(result)[:, 1], axis(result)[:, 0]))
    assert turned[-1] == pytest.approx(W * 0.5, rel=1e-4)
    assert np.abs(axis(result)[:, 2] - c).max() < 1e-4
    assert balance(result) < 1e-12


@pytest.mark.parametrize("method", ["em", "em-ggl"])
def test_a_body_thrown_on_the_floor_keeps_its_energy(method):
    """A cylinder that tumbles from rim to rim; what the audit recomputes agrees."""
    moving = ((0.5, 0.2, -1.0), (3.0, 2.0, 1.0))
    model = on_floor(Cylinder(0.05, 0.1, mass=1.0), (0, 0, 0.1), about((0.6, 0.8, 0), 0.7), moving=moving)
    result = run(model, 0.6, 1e-3, integrator=method)
    assert result.contact("on").depth.max() > 1e-4
    assert balance(result) < 1e-12 * result.energy["total"][0] + 1e-13
    assert audit(result).ok


@pytest.mark.parametrize("shape", [Cylinder(0.05, 0.1, mass=1.0), Box(0.1, 0.05, 0.08, mass=1.0)])
def test_the_history_of_a_contact_is_what_acted(shape):
    """Its energy is what is missing elsewhere; its force, with friction, changes the momentum, by the trapezoidal rule."""
    moving = ((0.5, 0.2, -1.0), (3.0, 2.0, 1.0))
    given = {"k": 2e4, "moving": moving}
    model = on_floor(shape, (0, 0, 0.1), about((0.6, 0.8, 0), 0.7), **given)
    result = run(model, 0.12, 2e-4)
    elsewhere = result.energy["kinetic"] + G * (result.body("it").r[:, 2])
    assert result.contact("on").energy.max() > 0.1
    assert result.contact("on").energy + elsewhere == pytest.approx(elsewhere[0], abs=1e-12)
    model = on_floor(shape, (0, 0, 0.1), about((0.6, 0.8, 0), 0.7), friction=0.3, damping=0.5, **given)
    result = run(model, 0.12, 2e-4)
    push = result.contact("on").force
    impulse = np.trapezoid(push, result.t, axis=0) - (0, 0, G * result.t[-1])
    change = result.body("it").v[-1] - result.body("it").v[0]
    assert np.abs(change[:2]).max() > 0.02
    assert np.abs(np.abs(impulse) - np.abs(change)).max() < 0.02 * np.abs(change).max()


def test_a_box_on_a_plane_heaves_and_tilts_as_its_corners_let_it():
    """sqrt(k/m) upwards, sqrt(k a^2/J) about each side, a half of the other."""
    box = Box(0.3, 0.2, 0.1, mass=2.0)
    model = on_floor(box, (0, 0, 0.05 - 2.0 * G / K))
    model.add_bushing("guide", model.ground, model.bodies["it"], [1e-3, 1e-3, 0, 0, 0, 1e-3], at=(0, 0, 0.05))
    found = np.sort(modes(model, 6).frequency)[-3:] * 2.0 * np.pi
    J, arms = box.inertia[[0, 1], [0, 1]], np.array([0.1, 0.15])
    low = 0.05 - 2.0 * G / K  # of the centre above the floor, which falls to the side on which it leans
    by_hand = np.append(np.sqrt((K * arms**2 - 2.0 * G * low) / J), np.sqrt(K / 2.0))
    assert found == pytest.approx(np.sort(by_hand), rel=1e-5)


def test_a_plane_on_a_body_is_pushed_as_much():
    """Two free bodies, one with a plane, that meet: both momenta are kept, and energy."""
    model = Model("free")
    raft = model.add_body("raft", Box(1.0, 1.0, 0.1, mass=3.0), angular_velocity=(0.3, -0.2, 0.5))
    can = model.add_body(
        "can",
        Cylinder(0.1, 0.3, mass=1.0),
        (0.1, 0.2, 0.3),
        about((0.6, 0.8, 0), 0.6),
        velocity=(0.2, 0.1, -1.0),
    )
    deck = model.add_plane("deck", raft.at((0, 0, 0.05)), (0, 0, 1))
    model.add_contact("on", model.add_solid("can", can), deck, 1e4, friction=0.4)
    result = run(model, 0.3, 5e-4)
    assert result.contact("on").depth.max() > 1e-3
    assert np.ptp(result.linear_momentum, axis=0).max() < 1e-13
    assert np.ptp(result.angular_momentum, axis=0).max() < 1e-13
    assert balance(result) < 1e-12
    assert np.diff(result.dissipation).min() > -1e-15


def test_shares_of_a_flat_face_add_up():
    """Of a prism's triangles a third each, of its sides a quarter; by area where they meet."""
    shape = Mesh((PRISM, PRISM_FACES), mass=1.0)
    found = shape.solid.features("it", 0.0)
    assert len(found.points) == 6
    assert np.all((found.shares > 0.25) & (found.shares < 1 / 3))
    cube = Mesh((Box(1, 2, 3, mass=1).vertices, Box(1, 2, 3, mass=1).faces), mass=1.0).solid.features(
        "it", 0.0
    )
    assert cube.shares == pytest.approx(np.full(8, 0.25))
    assert cube.half == pytest.approx(0.5)


def test_a_rounded_shape_keeps_its_size():
    """Its lowest point is as low as that of the sharp one where a face is down."""
    box = Cuboid(np.array([1.0, 2.0, 3.0])).features("it", 0.1)
    assert np.abs(box.points).max(axis=0) + 0.1 == pytest.approx([0.5, 1.0, 1.5])
    cone = Revolved(np.array([0.0, 3.0, 0.0]), np.array([0.0, 4.0, 4.0])).features("it", 0.5)
    # inside of the lines of the cone by 0.5: the apex by 0.5/sin(half) along the axis
    assert cone.points == pytest.approx(np.array([[0.0, 0.0, 0.5 * 5 / 3]]))
    side = np.array([4.0, -3.0]) / 5
    assert cone.circles[0, [6, 2]] @ side == pytest.approx(-0.5)
    assert cone.circles[0, 2] == pytest.approx(3.5)


def test_a_capsule_of_two_vertices_is_one_of_a_shape():
    shape = Capsule(0.1, 0.3, mass=2.0)
    results = []
    for given in ({}, {"vertices": [(0, 0, -0.15), (0, 0, 0.15)], "radius": 0.1}):
        model = Model("it", gravity=(0, 0, -G))
        body = model.add_body("it", shape, (0, 0, 0.3), about((0.6, 0, 0.8), 1.0), angular_velocity=(1, 2, 3))
        floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
        model.add_contact("on", model.add_solid("it", body, **given), floor, K)
        results.append(run(model, 0.3).body("it").r)
    assert np.array_equal(*results)


def test_a_prepared_model_touches_with_the_shape_that_it_is_given():
    prepared = on_floor(FLAT["box"][0], (0, 0, 0.075)).prepare(t_end=0.05, dt=1e-3)
    lower = Box(0.2, 0.1, 0.14, mass=2.0)
    found = prepared.run({"bodies.it.shape": lower}).body("it").r
    assert np.abs(found - simulate(on_floor(lower, (0, 0, 0.075)), 0.05, 1e-3).body("it").r).max() < 1e-13
    assert found[:, 2].min() < 0.07 < prepared.run().body("it").r[:, 2].min()


def test_inertia_of_a_capsule():
    """Of a cylinder and a ball in two limits, and of its own points."""
    long, short = Capsule(0.01, 10.0, mass=2.0), Capsule(1.0, 1e-9, mass=2.0)
    assert long.inertia[0, 0] == pytest.approx(Cylinder(0.01, 10.0, mass=2.0).inertia[0, 0], rel=5e-3)
    assert short.inertia == pytest.approx(Sphere(1.0, mass=2.0).inertia, rel=1e-8)
    r, h = 0.3, 0.5
    z, dz = np.linspace(-h / 2 - r, h / 2 + r, 200_001, retstep=True)
    R2 = r**2 - np.maximum(np.abs(z) - h / 2, 0.0) ** 2
    exact = Capsule(r, h, density=1.0)
    assert exact.mass == pytest.approx(np.pi * R2.sum() * dz, rel=1e-6)
    assert exact.inertia[2, 2] == pytest.approx(np.pi / 2 * (R2**2).sum() * dz, rel=1e-6)
    assert exact.inertia[0, 0] == pytest.approx(np.pi * (R2**2 / 4 + R2 * z**2).sum() * dz, rel=1e-6)


def test_distances_of_solids():
    model = Model("it")
    can = model.add_body("can", Cylinder(0.1, 0.4, mass=1.0), (0, 0, 1.0), about((0, 1, 0), 0.5))
    pill = model.add_body("pill", Capsule(0.1, 0.4, mass=1.0), (1, 0, 1.0), LYING)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    solids = [model.add_solid(own.name, own) for own in (can, pill)]
    ball = model.add_sphere("ball", model.ground.at((1, 0, 2)), 0.2)
    cube = model.add_body("cube", Box(0.2, 0.2, 0.2, mass=1.0), (3, 0, 1.0))
    model.add_solid("cube", cube)
    model.add_solid("plate", cube.at((0, 0, 0)), [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)])
    model.add_contact("on", solids, floor, K)
    model.add_contact("ball", ball, model.add_sphere("dot", pill.at((0, 0, 0)), 0.01), K)
    result = run(model, 1e-3)
    assert result.distance("can", "floor")[0] == pytest.approx(1.0 - 0.2 * np.cos(0.5) - 0.1 * np.sin(0.5))
    assert result.distance("pill", "floor")[0] == pytest.approx(0.9)
    assert result.distance("pill", "ball")[0] == pytest.approx(0.7)
    z, square = (
        np.sin(0.5) + np.cos(0.5),
        2.0,
    )  # of the ball's centre, along the axis of the can and away from it
    assert result.distance("can", "ball")[0] == pytest.approx(
        np.hypot(z - 0.2, np.sqrt(square - z * z) - 0.1) - 0.2
    )
    assert result.distance("can", "cube")[0] == pytest.approx(result.distance("cube", "can")[0])
    assert 2.5 < result.distance("can", "cube")[0] < 3.0
    with pytest.raises(
        Exception, match="solid 'plate' has one to planes alone; give a plane for sphere 'ball'"
    ):
        result.distance("plate", "ball")


WRONG = [
    (Box(1, 2, 3, mass=1), {"radius": -0.1}, r"radius = -0.1 is below 0"),
    (Box(1, 2, 3, mass=1), {"radius": 0.5}, r"rounded with 0.5 m, more than the shape has; give less than the 0.5 m"),
    (Cylinder(1, 3, mass=1), {"radius": 1.0}, r"give less than the 1 m of half its least extent"),
    (Cylinder(2, 1, mass=1), {"radius": 0.6}, r"give less than the 0.5 m"),
    (Cone(1, 1, mass=1), {"radius": 0.45}, r"less where it is pointed"),
    (Sphere(1, mass=1), {"radius": 0.1}, r"radius = 0.1, but its shape is round; leave it out"),
    (Capsule(1, 1, mass=1), {"radius": 0.1}, r"but its shape is round"),
    (Mesh((PRISM, PRISM_FACES), mass=1), {"radius": 0.1}, r"on a mesh, which has no rounding; leave it out, or give vertices="),
    (MassProperties(1.0, np.ones(3)), {}, r"body 'it' has no shape that could touch, .*; give vertices= \(n, 3\)"),
    (Box(1, 2, 3, mass=1), {"vertices": []}, r"vertices"),
    (Box(1, 2, 3, mass=1), {"vertices": [(0, 0, np.nan)]}, r"vertices"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "given", "words"), WRONG)
def test_what_no_solid_can_be_is_refused(shape, given, words):
    model = Model("it")
    body = model.add_body("it", shape)
    with pytest.raises(ModelError, match=rf"solid 'it': .*{words}"):
        model.add_solid("it", body, **given)


def test_what_is_too_soft_or_too_stiff_for_its_step_is_told():
    """Of a solid the depth in parts of half of its least extent."""
    soft, stiff = (
        on_floor(Box(1, 1, 0.2, mass=1), (0, 0, 0.1), k=k, moving=((0, 0, -1), None)) for k in (300.0, 1e6)
    )
    told = " ".join(depths(soft, Placement(soft)))
    assert (
        "plane 'floor' and solid 'it' come to a depth of some 0.058 m, 0.58 of half of its least extent"
        in told
    )
    assert (
        "touch for some 0.0031 s, 3.1 steps of dt = 0.001 s; take dt = 0.0003 s"
        in coarse(stiff, Placement(stiff), 1e-3)[0]
    )


def test_a_point_of_a_body_is_not_its_shape():
    model = Model("it")
    body = model.add_body("it", Box(1, 2, 3, mass=1))
    with pytest.raises(
        ModelError, match=r"solid 'it': .*give body 'it' itself and no point of it, or vertices="
    ):
        model.add_solid("it", body.at((0.1, 0, 0)))
    with pytest.raises(ModelError, match=r"solid 'it': the ground has no shape that could touch"):
        model.add_solid("it", model.ground.at((0, 0, 0)))


@pytest.mark.parametrize(
    ("shape", "quat", "depth"), [(Box(1, 1, 1, mass=1), UP, 0.2), (Cylinder(0.5, 1, mass=1), LYING, 0.2)]
)
def test_what_begins_inside_of_a_plane_is_refused(shape, quat, depth):
    with pytest.raises(
        ModelError, match=r"solid 'it' is 0.2 m inside of plane 'floor' at t = 0, more than 0.05 m"
    ):
        on_floor(shape, (0, 0, 0.5 - depth), quat).build()
