"""Rolling and sliding in Exudyn's test models, with the parameters of their files."""

import numpy as np
import pytest

from rigid import quaternions
from rodsim import Box, Cylinder, Model, Sphere, audit, simulate

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.ModelCheckWarning")

# --- EX/rollingCoinTest


def test_exudyn_coin_rolling_by_friction_follows_its_rolling_joint():
    """A disc of 1 cm, a degree off the vertical, set on a plane at five turns a second about it.

    The contact point after 0.5 s is that of its own test, 2.0041 mm, in the limit of a hard plane, which is
    0.07 percent further.
    """
    radius, lean, k = 0.01, np.radians(1.0), 1e7
    model = Model("coin", gravity=(0, 0, -9.81))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    angle, omega = 0.5 * (lean + np.pi / 2), np.array([0.0, 0.0, 10.0 * np.pi])
    place = radius * np.array([np.sin(lean), 0.0, np.cos(lean)])
    quat, disc = (np.cos(angle), 0, np.sin(angle), 0), Cylinder(radius, 1e-7, mass=1.0)
    body = model.add_body("coin", disc, place, quat, np.cross(omega, place), omega)
    coin = model.add_solid("coin", body)
    model.add_contact("rolls", coin, floor, k, friction=1.0, rest_speed=1e-3, damping=100.0)
    result = simulate(model, 0.5, 1e-4, output_every=100, progress=False)
    assert audit(result).ok
    motion = result.body("coin")
    axis = quaternions.rotate(motion.quat[-1], np.array([0.0, 0.0, 1.0]))
    down = axis * axis[2] - (0, 0, 1)
    touched = motion.r[-1] + radius * down / np.linalg.norm(down)
    assert touched[0] == pytest.approx(2.0041e-3, rel=1e-3)
    assert result.dissipation[-1] < 1e-4 * 9.81 * radius  # it does not slide


# --- EX/generalContactFrictionTests; its sphere is in `test_peer_parameters_of_contact`


def test_exudyn_ball_rolls_over_the_edge_of_its_stairs_and_down():
    """Three steps, with boxes in place of its triangles: 5 rad/s on the highest, over its edge without
    losses.

    Then from step to step to the floor.
    """
    wide, high, radius, mass, k, g = 0.075, 0.025, 0.025, 0.025, 1e3, 10.0
    model, steps = Model("stairs", gravity=(0, 0, -g)), []
    for i in range(3):
        place = (0.5 - wide * (3 - i), 0.5 - wide, (i + 0.5) * high)
        step = model.add_body(f"step {i}", Box(wide, wide, high, mass=1.0), place)
        model.add_joint(f"held {i}", "clamp", step.at((0, 0, 0)))
        steps.append(model.add_solid(f"step {i}", step))
    steps.append(model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1)))
    omega = np.array([-0.05, -5.0, 0.0])
    place = (0.5 - 1.45 * wide, 0.5 - 1.2 * wide, 3 * high + radius - 2 * mass * g / k)
    v = -np.cross((0, 0, radius), omega)
    body = model.add_body("ball", Sphere(radius, mass=mass), place, velocity=v, angular_velocity=omega)
    ball = model.add_sphere("ball", body, radius)
    model.add_contact("rolls", ball, steps, stiffness=k / 2, friction=0.8, rest_speed=1e-3, damping=2.0)
    result = simulate(model, 0.8, 1e-3, progress=False)
    assert audit(result).ok
    motion, stored = result.body("ball"), result.contact("rolls").energy
    leans = np.arctan2(0.5 - 1.5 * wide - motion.r[:, 0], motion.r[:, 2] - 3 * high)
    for angle in (
        0.4,
        0.6,
        0.8,
    ):  # rolling about the edge: 7/10 m v^2 of the released potential and elastic energy
        i = int(np.argmax(leans > angle))
        fallen = g * (motion.r[0, 2] - motion.r[i, 2]) + (stored[0] - stored[i]) / mass
        square = motion.v[i] @ motion.v[i]
        assert square == pytest.approx(v @ v + 10.0 / 7.0 * fallen, rel=1e-2)
        assert -motion.omega[i, 1] * radius == pytest.approx(square**0.5, rel=2e-2)
        assert result.dissipation[i] < 5e-4 * mass * g * radius
    assert motion.r[-1, 2] == pytest.approx(radius, abs=2e-3)  # on the floor
    assert motion.v[-1, 0] < -0.3


def test_exudyn_cube_slides_by_friction_of_its_normal_force():
    """150 x 100 x 50 mm, rounded by the spheres of its mesh, with the springs of the nine under its face.

    It falls by 19 mm at 2 m/s, bounces, and is slowed as the sum of all normal forces predicts.
    """
    r, mass, k, g, mu = 0.05, 0.025, 1e3, 10.0, 0.2  # of both materials
    around = 0.25 * r
    model = Model("cube", gravity=(0, 0, -g))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    wall = model.add_plane("wall", model.ground.at((-0.4875, 0, 0)), (1, 0, 0))
    place = (0.4, 0.25, 0.5 * r + 1.5 * around)
    body = model.add_body("cube", Box(3 * r, 2 * r, r, mass=mass), place, velocity=(-2.0, 0, 0))
    cube = model.add_solid("cube", body, radius=around)
    model.add_contact("rubs", cube, [floor, wall], 9 * k / 2, friction=mu, rest_speed=1e-3, damping=0.5)
    result = simulate(model, 0.8, 1e-3, progress=False)
    assert audit(result).ok
    motion = result.body("cube")
    wall_at = int(np.argmax(motion.r[:, 0] < -0.4))
    slower = mu * (g * result.t + motion.v[:, 2])
    assert (2.0 + motion.v[:, 0])[:wall_at] == pytest.approx(slower[:wall_at], abs=5e-3)
    assert 0.1 < motion.v[-1, 0] < -motion.v[wall_at, 0]  # thrown back by it
