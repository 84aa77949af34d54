"""Solids on planes: sliding, tipping, falling and rolling, compared with closed forms.

test_resting_shapes.py tests shapes at rest, test_contact_errors.py invalid input.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ellipk

from rodsim import Box, Capsule, Cone, Cylinder, Friction, Model, Sphere, audit, modes, signals, simulate
from rodsim.results import ResultError
from tests.support.solids import ALONG_X, UP, G, K, about, rotation, run, twist

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")
BLOCK = Box(0.2, 0.1, 0.15, mass=2.0)


def on_floor(shape, place, quat=UP, tilt=0.0, k=K, moving=(None, None), **contact):
    """A body on a floor, with gravity rotated by `tilt` towards x."""
    model = Model("floor", gravity=(G * np.sin(tilt), 0.0, -G * np.cos(tilt)))
    body = model.add_body("it", shape, place, quat, *moving)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("on", model.add_solid("it", body), floor, k, **contact)
    return model


def axis(result, k=2):
    """Axis (T, 3) of the body."""
    return rotation(result.body("it").quat).as_matrix()[:, :, k]


def balance(result) -> float:
    total = result.energy["total"] + result.dissipation - result.work
    return float(np.abs(total - total[0]).max())


@pytest.mark.parametrize(("ratio", "tips"), [(1.06, False), (0.94, True)])
def test_box_on_an_incline_tips_at_the_critical_angle(ratio, tips):
    """tan(alpha) = 0.4, the ratio of width and height."""
    box = Box(0.4 * ratio * 0.2, 0.1, 0.2, mass=1.0)
    model = on_floor(box, (0, 0, 0.1 - G / K), friction=2.0, damping=10.0)
    force = signals.SmoothStep(0.4 * G, 0.0, 0.4).along((1, 0, 0))
    model.add_force("aside", model.bodies["it"].at((0, 0, 0)), force)
    result = run(model, 1.0)
    assert (axis(result)[-1, 2] < 0.9) == tips
    if not tips:
        assert axis(result)[-1, 2] > 1.0 - 1e-5
    assert balance(result) < 1e-12


def test_sticking_stiffness_is_that_of_the_contact_not_of_each_corner():
    """F/k_t, in addition to the tilt of about 4e-5 m."""
    model = on_floor(BLOCK, (0, 0, 0.075 - 2.0 * G / K), friction=Friction(0.8, tangential_stiffness=1e3))
    body, force = model.bodies["it"], 0.4 * 2.0 * G
    model.add_force("pulls", body.at((0, 0, 0)), signals.SmoothStep(force, 0.0, 0.3).along((1, 0, 0)))
    result = run(model, 2.0, 1e-3, every=100)
    assert result.body("it").r[-1, 0] == pytest.approx(force / 1e3, rel=0.01)


def test_block_falls_over_its_edge_as_a_pendulum():
    """The block of 0.1 x 0.1 x 0.3 starts 0.1 rad beyond its balance and falls by 0.5 rad."""
    b, c, m, k = 0.1, 0.3, 1.0, 1e7
    arm, balance_at = np.hypot(b, c) / 2, np.arctan(b / c)
    place = arm * np.array([np.sin(0.1), 0, np.cos(0.1)]) - (0, 0, m * G / (0.5 * k))
    rubs = Friction(5.0, tangential_stiffness=k)
    model = on_floor(Box(b, 0.1, c, mass=m), place, about((0, 1, 0), balance_at + 0.1), k=k, friction=rubs)
    J = m * (b**2 + c**2) / 12 + m * arm**2
    result = run(model, 0.5, 2e-4)
    lean = np.arctan2(axis(result)[:, 0], axis(result)[:, 2]) - balance_at

    def slowness(x):
        return 2 * x / np.sqrt(2 * m * G * arm / J * (np.cos(0.1) - np.cos(0.1 + x * x)))

    assert np.interp(0.6, lean, result.t) == pytest.approx(quad(slowness, 0, 0.5**0.5)[0], rel=1e-4)
    assert balance(result) < 1e-12


def test_rocking_block_conserves_energy():
    """The block rocks from edge to edge without dissipation, over 1e4 steps."""
    b, c = 0.1, 0.3
    angle, arm = 0.1, np.hypot(b, c) / 2
    at = arm * np.array([-np.sin(np.arctan(b / c) - angle), 0, np.cos(np.arctan(b / c) - angle)])
    model = on_floor(Box(b, 0.1, c, mass=1.0), at, about((0, 1, 0), angle), friction=0.0)
    result = run(model, 5.0, 5e-4, every=10)
    lean = axis(result)[:, 0]
    assert np.sum(np.diff(np.sign(lean)) != 0) > 4
    assert balance(result) < 1e-12


def cone_on_its_side(tilt: float, swing: float, rate: float):
    """A cone of 0.1 m and a half angle of 30 degrees, its line on the floor rotated by `swing` from x, apex at the origin."""
    height, half = 0.1, np.pi / 6
    quat = twist(swing, about((0, 1, 0), np.pi / 2 - half))
    omega = -rate / np.tan(half) * np.array([np.cos(swing), np.sin(swing), 0.0])
    rubs = {"friction": Friction(2.0, tangential_stiffness=1e7), "damping": 20.0}
    cone, moving = Cone(height * np.tan(half), height, mass=1.0), ((0.0, 0.0, 0.0), omega)
    return on_floor(cone, (0, 0, -1e-5), quat, tilt, 1e6, moving, **rubs), height, half


def test_cone_rolls_on_its_side_in_a_circle():
    """The contact line rotates at a constant rate, and returns after a full turn of the axis."""
    rate = 2.0
    model, _, _ = cone_on_its_side(0.0, 0.0, rate)
    result = run(model, 2.0 * np.pi / rate, 2.0 * np.pi / rate / 4000, every=40)
    turned = np.unwrap(np.arctan2(axis(result)[:, 1], axis(result)[:, 0]))
    assert turned[-1] == pytest.approx(2.0 * np.pi, rel=1e-3)
    assert np.abs(turned - rate * result.t).max() < 0.01
    assert np.abs(result.body("it").r[:, :2]).max() < 1e-3


def test_cone_on_an_incline_swings_as_a_pendulum():
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
    zero = result.t[down] - turned[down] * np.diff(result.t)[down] / np.diff(turned)[down]
    assert zero[1] - zero[0] == pytest.approx(period / 2, rel=1e-4)


def test_top_on_a_smooth_table_precesses_about_its_centre():
    """(J3 w3 - J1 W cos(theta)) W = m g l, J1 about the centre of mass: there is no lateral support."""
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
def test_tumbling_body_on_the_floor_conserves_energy(method):
    """A cylinder that tumbles from rim to rim; the recomputed values of the audit agree."""
    moving = ((0.5, 0.2, -1.0), (3.0, 2.0, 1.0))
    model = on_floor(Cylinder(0.05, 0.1, mass=1.0), (0, 0, 0.1), about((0.6, 0.8, 0), 0.7), moving=moving)
    result = run(model, 0.6, 1e-3, integrator=method)
    assert result.contact("on").depth.max() > 1e-4
    assert balance(result) < 1e-12 * result.energy["total"][0] + 1e-13
    assert audit(result).ok


def test_box_on_a_plane_has_its_heave_and_tilt_frequencies():
    """sqrt(k/m) vertically, sqrt(k a^2/J) about each side, a half of the other side."""
    box = Box(0.3, 0.2, 0.1, mass=2.0)
    model = on_floor(box, (0, 0, 0.05 - 2.0 * G / K))
    model.add_bushing("guide", model.ground, model.bodies["it"], [1e-3, 1e-3, 0, 0, 0, 1e-3], at=(0, 0, 0.05))
    frequencies = np.sort(modes(model, 6).frequency)[-3:] * 2.0 * np.pi
    J, arms = box.inertia[[0, 1], [0, 1]], np.array([0.1, 0.15])
    low = 0.05 - 2.0 * G / K  # of the centre above the floor, which lowers on the side to which it leans
    by_hand = np.append(np.sqrt((K * arms**2 - 2.0 * G * low) / J), np.sqrt(K / 2.0))
    assert frequencies == pytest.approx(np.sort(by_hand), rel=1e-5)


def test_prepared_model_uses_the_given_contact_shape():
    prepared = on_floor(BLOCK, (0, 0, 0.075)).prepare(t_end=0.05, dt=1e-3)
    lower = Box(0.2, 0.1, 0.14, mass=2.0)
    positions = prepared.run({"bodies.it.shape": lower}).body("it").r
    assert np.abs(positions - simulate(on_floor(lower, (0, 0, 0.075)), 0.05, 1e-3).body("it").r).max() < 1e-13
    assert positions[:, 2].min() < 0.07 < prepared.run().body("it").r[:, 2].min()


def test_inertia_of_a_capsule():
    """Compare with a cylinder and a ball in two limits, and with its own points."""
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
    pill = model.add_body("pill", Capsule(0.1, 0.4, mass=1.0), (1, 0, 1.0), ALONG_X)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    solids = [model.add_solid(shape.name, shape) for shape in (can, pill)]
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
    z = np.sin(0.5) + np.cos(0.5)  # of the ball's centre along the axis of the can; the distance is sqrt(2)
    to_rim = np.hypot(z - 0.2, np.sqrt(2.0 - z * z) - 0.1)
    assert result.distance("can", "ball")[0] == pytest.approx(to_rim - 0.2)
    assert result.distance("can", "cube")[0] == pytest.approx(result.distance("cube", "can")[0])
    assert 2.5 < result.distance("can", "cube")[0] < 3.0
    with pytest.raises(
        ResultError, match="solid 'plate' has a distance only to planes; give a plane for sphere"
    ):
        result.distance("plate", "ball")
