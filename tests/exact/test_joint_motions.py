"""Joints: closed forms of the motions they transmit, order with joints of every kind, rejected input."""

from functools import cache

import numpy as np
import pytest

from discretization.consistent_velocities import project_velocities
from discretization.time.stepper import Stepper
from rigid import quaternions
from rodsim import Box, Model, ModelError, SceneError, simulate
from rodsim.scenes.model_from_scene import load

AXES = {"axis": (0.2, 1, 0.3)}
PAIRS = {
    "universal, screw": (
        ("universal", AXES | {"second_axis": (1, -0.2, 0)}),
        ("screw", AXES | {"pitch": 0.7}),
    ),
    "constant velocity, cylindrical": (
        ("constant_velocity", AXES | {"second_axis": (0.5, 1, 0.3)}),
        ("cylindrical", AXES),
    ),
    "planar, point on plane": (("planar", AXES), ("point_on_plane", AXES)),
    "generic, point on line": (("generic", {"locked": ("x", "y", "rz")}), ("point_on_line", AXES)),
}


@cache
def chain(name):
    """Three tumbling bodies with two joints off their axes and gravity."""
    model = Model(name, gravity=(1, -2, -9))
    turned = quaternions.normalize(np.array([0.95, 0.1, 0.2, 0.1]))
    a = model.add_body("a", Box(1, 0.3, 0.2, density=100), (0.5, 0, 0), angular_velocity=(1, 0.5, 2))
    b = model.add_body(
        "b", Box(0.8, 0.2, 0.4, density=120), (1.4, 0.1, 0.1), turned, (0.3, -0.5, 0.3), (-1, 1.5, 1)
    )
    c = model.add_body("c", Box(0.6, 0.5, 0.2, density=80), (2, 0.4, 0.3), angular_velocity=(2, -0.5, 1))
    (first, settings), (second, second_settings) = PAIRS[name]
    model.add_joint("one", first, a, b, at=(1, 0.1, 0.1), **settings)
    model.add_joint("two", second, b, c, at=(1.8, 0.3, 0.1), **second_settings)
    built = model.build()
    return built.system, project_velocities(built.system, built.state)[0]


@cache
def end_of(name, order, n, hidden):
    system, state = chain(name)
    end, _ = Stepper(system, 0.4 / n, order, hidden=hidden).advance(state, 0, n)
    return np.hstack([end.r, end.quat])


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(
    ("order", "hidden", "steps"), [(2, False, (16, 32)), (2, True, (16, 32)), (4, True, (10, 20))]
)
def test_chains_of_every_joint_have_the_order_of_their_scheme(name, order, hidden, steps):
    exact = end_of(name, 6, 40, True)
    errors = [np.abs(end_of(name, order, n, hidden) - exact).max() for n in steps]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)


def shafts(kind, bend, t_end=2.0):
    """Angles of two shafts about their own axes, `bend` rad between these: the first on bearings and driven."""
    model = Model("shafts")
    ways = np.array([0.0, 0, 1]), np.array([np.sin(bend), 0, np.cos(bend)])
    middles = -ways[0], ways[1]
    bars = [
        model.add_body(
            f"shaft {k}",
            Box(0.3, 0.1, 1, mass=1 + k),
            middles[k],
            quaternions.from_rotation_vector((0, bend * k, 0)),
        )
        for k in (0, 1)
    ]
    model.add_joint("bearing", "revolute", model.ground, bars[0], at=middles[0], axis=ways[0])
    # with the joint at the other end this bearing is sufficient
    model.add_joint("far bearing", "point_on_line", model.ground, bars[1], at=2 * ways[1], axis=ways[1])
    axis, second = ((1, 0, 0), (0, 1, 0)) if kind == "universal" else ways
    model.add_joint("joint", kind, *bars, at=(0, 0, 0), axis=axis, second_axis=second)
    model.add_moment("drive", bars[0].at((0, 0, 0)), (0, 0, 0.1))
    result = simulate(model, t_end, 0.01)
    R = quaternions.to_matrix(result.body("shaft 1").quat)
    across = np.array([np.cos(bend), 0, -np.sin(bend)])
    driven = np.unwrap(np.arctan2(R[:, 1, 0], R[:, :, 0] @ across))
    return result, result.joint("bearing").angle, driven


@pytest.mark.parametrize("bend", [0.3, 1.0])
def test_universal_joint_has_the_exact_transmission(bend):
    """tan of the driven angle = tan of the driving one/cos(bend); the cross begins in the plane of the shafts."""
    result, driving, driven = shafts("universal", bend)
    assert driving[-1] > 2 * np.pi
    lobes = np.unwrap(np.arctan2(np.sin(driving), np.cos(bend) * np.cos(driving)))
    assert driven == pytest.approx(lobes, abs=1e-11)
    # of the cross: by the angle between the shafts to both sides; of the second shaft from one side, its zero, to the other
    first, second = result.joint("joint").angles.T
    assert np.abs(second).max() == pytest.approx(2 * bend, abs=0.02)
    assert np.abs(first).max() == pytest.approx(bend, abs=0.02)


@pytest.mark.parametrize("bend", [0.0, 0.3, 1.0])
def test_constant_velocity_joint_rotates_both_shafts_equally(bend):
    _, driving, driven = shafts("constant_velocity", bend)
    assert driving[-1] > 2 * np.pi
    assert driven == pytest.approx(driving, abs=1e-11)


@pytest.mark.parametrize(("integrator", "bound"), [("em", 2e-2), ("em-ggl", 2e-2), ("em4-ggl", 1e-3)])
@pytest.mark.parametrize("pitch", [0.4, -1.5])
def test_a_nut_runs_down_its_screw(integrator, bound, pitch):
    """z = -g t^2/2/(1 + J/(m p^2)), p = pitch/2 pi: constant acceleration, through several revolutions."""
    model = Model("screw", gravity=(0, 0, -9.81))
    shape = Box(0.2, 0.3, 0.1, mass=2.0)
    nut = model.add_body("nut", shape, (0.0, 0.0, 0.0))
    model.add_joint("thread", "screw", model.ground, nut, at=(0, 0, 0), axis=(0, 0, 1), pitch=pitch)
    result = simulate(model, 1.0, 0.01, integrator)
    p, J = pitch / (2 * np.pi), shape.inertia[2, 2]
    z = -0.5 * 9.81 * result.t**2 / (1 + J / (2.0 * p * p))
    joint = result.joint("thread")
    assert np.abs(z[-1] / pitch) > 2
    assert joint.displacement == pytest.approx(z, abs=bound * np.abs(z[-1]))
    assert joint.angle * p == pytest.approx(joint.displacement, abs=1e-13)
    if integrator != "em":
        assert joint.angle_rate * p == pytest.approx(joint.displacement_rate, abs=1e-11)


def test_body_on_a_planar_joint_follows_a_parabola():
    """A parabola along the plane, a uniform rotation about its normal."""
    n = np.array([1.0, 2, 2]) / 3
    g, v, t_end = np.array([0, 0, -9.0]), np.cross(n, (1, 0, 0)), 0.6
    model = Model("planar", gravity=g)
    puck = model.add_body("puck", Box(0.3, 0.4, 0.5, mass=2), (1, 2, 3), velocity=v, angular_velocity=4 * n)
    model.add_joint("table", "planar", model.ground, puck, at=(1, 2, 3), axis=n)
    result = simulate(model, t_end, 0.01, "em4")
    along = g - (g @ n) * n
    assert result.body("puck").r[-1] == pytest.approx(
        np.array([1, 2, 3]) + v * t_end + along * t_end**2 / 2, abs=1e-12
    )
    assert result.joint("table").angle == pytest.approx(4 * result.t, abs=1e-7)


def test_coordinates_of_a_joint_are_those_of_its_parts():
    """A cylinder that rotates and slides uniformly, its first part moving: angle and displacement, rates,
    named axes.
    """
    axis = np.array([2.0, -1, 2]) / 3
    spin, slide, drift = 5.0, 0.7, np.array([0.3, 0.2, -0.4])
    model = Model("piston")
    a = model.add_body("a", Box(1, 1, 1, mass=1e9), (0, 0, 0), velocity=drift)
    b = model.add_body(
        "b",
        Box(0.2, 0.2, 0.2, mass=1),
        0.5 * axis,
        velocity=drift + slide * axis,
        angular_velocity=spin * axis,
    )
    model.add_joint("guide", "cylindrical", a, b, at=0.3 * axis, axis=axis)
    result = simulate(model, 4.0, 0.01, "em6-ggl", output_every=50)
    joint = result.joint("guide")
    assert joint.angle == pytest.approx(spin * result.t, abs=1e-6)
    assert joint.angle[-1] > 6 * np.pi  # with half a turn nearly between outputs
    assert joint.displacement == pytest.approx(slide * result.t, abs=1e-7)
    assert joint.angle_rate == pytest.approx(spin, abs=1e-7)
    assert joint.rate == pytest.approx(spin, abs=1e-7)
    assert joint.displacement_rate == pytest.approx(slide, abs=1e-7)
    assert joint.axes[:, :, 2] == pytest.approx(np.tile(axis, (len(result.t), 1)), abs=1e-7)
    assert set(joint.table()) >= {
        "angle",
        "angle_rate",
        "displacement",
        "displacement_rate",
        "force_x",
        "moment_z",
    }


def test_joint_forces_are_reported_in_joint_axes():
    """A hinge with a tilted axis carries a weight: m g along its own e3 and across it, moments only across."""
    axis, mass = np.array([0.6, 0, 0.8]), 3.0
    model = Model("gate", gravity=(3.0, 0, -10.0))
    leaf = model.add_body("leaf", Box(1, 0.2, 0.3, mass=mass), (0.5, 0, 0))
    model.add_joint("hinge", "revolute", model.ground, leaf, at=(0, 0, 0), axis=axis)
    joint = simulate(model, 0.02, 0.001).joint("hinge")
    force, moment = joint.force_in("joint"), joint.moment_in("joint")
    assert np.linalg.norm(force, axis=1) == pytest.approx(np.linalg.norm(joint.force, axis=1))
    assert force[:, 2] == pytest.approx(joint.force @ axis)
    assert force[1:, 2] == pytest.approx(
        mass * (10.0 * 0.8 - 3.0 * 0.6), rel=1e-3
    )  # nothing accelerates along the axis
    assert np.abs(moment[:, 2]).max() < 1e-9 * np.abs(moment).max()
    with pytest.raises(ValueError, match="axes = 'world'; choose 'inertial' or 'joint'"):
        joint.force_in("world")
    with pytest.raises(ValueError, match="revolute joint 'hinge': has no displacement; it has angle"):
        _ = joint.displacement


def test_result_file_stores_joint_axes(tmp_path):
    model = Model("door", gravity=(0, -9.81, 0))
    leaf = model.add_body("leaf", Box(1, 0.2, 0.3, mass=1), (0.5, 0, 0))
    model.add_joint("hinge", "revolute", model.ground, leaf, at=(0, 0, 0), axis=(0, 0, 1))
    from_file, in_memory = (
        simulate(model, 0.1, 0.01, output=out) for out in (tmp_path / "door.vtkhdf", None)
    )
    for name, column in from_file.joint("hinge").table().items():
        assert np.array_equal(column, in_memory.joint("hinge").table()[name])
    assert from_file.joint("hinge").angle[-1] < -0.01


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("universal", AXES, "rotates about two axes; give `second_axis=`"),
        (
            "universal",
            AXES | {"second_axis": (1, 1, 0)},
            r"axis and second_axis are at .* degrees; expected 90",
        ),
        ("universal", {}, "needs a direction; give `axis=`"),
        ("revolute", AXES | {"second_axis": (1, 0, 0)}, "has no second axis; remove `second_axis=`"),
        ("constant_velocity", AXES | {"second_axis": (-0.2, -1, -0.3)}, "is opposite to axis"),
        ("screw", AXES, "has no pitch; give `pitch=`"),
        ("screw", AXES | {"pitch": 0.0}, "give `pitch=`, m per turn, not 0"),
        ("screw", AXES | {"pitch": float("nan")}, "pitch"),
        ("revolute", AXES | {"pitch": 0.1}, "has no pitch; remove `pitch=`"),
        ("generic", {}, r"locked = None. Name the locked coordinates"),
        (
            "generic",
            {"locked": "x"},
            r"locked = 'x'. Name the locked coordinates, each once: some of x, y, z, rx, ry, rz",
        ),
        ("generic", {"locked": ("x", "w")}, r"locked = 'w'"),
        ("generic", {"locked": ("x", "x")}, "each once"),
        ("planar", AXES | {"locked": ("x",)}, "has no locked"),
    ],
)
def test_invalid_joint_arguments_are_rejected_with_advice(kind, settings, message):
    model = Model("refused")
    body = model.add_body("body", Box(1, 1, 1, mass=1))
    with pytest.raises(ModelError, match=rf"{kind} joint 'it': .*{message}|{kind} joint 'it'.*{message}"):
        model.add_joint("it", kind, model.ground, body, at=(0, 0, 0), **settings)


SCENE = """
bodies:
  - {name: shaft, shape: {type: box, size: [1, 0.1, 0.1], mass: 1}, position: [0.5, 0, 0]}
  - {name: nut, shape: {type: box, size: [0.2, 0.3, 0.3], mass: 1}, position: [1.5, 0, 0]}
  - {name: tool, shape: {type: box, size: [0.2, 0.3, 0.3], mass: 1}, position: [2, 0, 0]}
joints:
  - {name: cross, kind: universal, a: ground, b: shaft, at: [0, 0, 0], axis: [0, 1, 0], second_axis: [0, 0, 1]}
  - {name: thread, kind: screw, a: shaft, b: nut, at: [1, 0, 0], axis: [1, 0, 0], pitch: 0.2}
  - {name: grip, kind: generic, a: nut, b: tool, at: [1.8, 0, 0], locked: [x, y, z, rx]}
run: {t_end: 0.02, dt: 0.01}
"""


def test_scenes_accept_all_joint_options(tmp_path):
    path = tmp_path / "tool.yaml"
    path.write_text(SCENE)
    joints = load(path).model.joints
    assert joints["cross"].second_axis == pytest.approx([0, 0, 1])
    assert joints["thread"].pitch == 0.2
    assert joints["grip"].locked == ("x", "y", "z", "rx")
    path.write_text(SCENE.replace("[x, y, z, rx]", "[x, y, up]"))
    with pytest.raises(
        SceneError, match=r"joint 'grip': locked.2 = 'up' is not known; choose one of 'x', 'y'"
    ):
        load(path)
