"""What the joints are for: closed forms of the motions they transmit, order with joints of every kind, bad input."""

from functools import cache

import numpy as np
import pytest

from discretization.consistent import project_velocities
from discretization.time.stepper import Stepper
from rigid import quaternions
from rodsim import Box, Model, simulate

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
    (first, given), (second, also) = PAIRS[name]
    model.add_joint("one", first, a, b, at=(1, 0.1, 0.1), **given)
    model.add_joint("two", second, b, c, at=(1.8, 0.3, 0.1), **also)
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


def shafts(kind, bend, t_end):
    """Angles of two shafts on the ground about their own axes, `bend` rad between these, joined; the first is spun."""
    model = Model("shafts")
    directions = [np.array([0.0, 0, 1]), np.array([np.sin(bend), 0, np.cos(bend)])]
    bars = []
    for k, (way, middle) in enumerate(zip(directions, (-directions[0], directions[1]), strict=True)):
        turned = quaternions.from_rotation_vector((0, bend * k, 0))
        bars.append(model.add_body(f"shaft {k}", Box(0.1, 0.1, 1, mass=1 + k), middle, turned))
        if k == 0:
            model.add_joint(f"bearing {k}", "revolute", model.ground, bars[k], at=middle, axis=way)
    bars[0] = model.bodies["shaft 0"]
    model.add_joint("far bearing", "cylindrical", model.ground, bars[1], at=directions[1], axis=directions[1])
    second = {"second_axis": (0, 1, 0)} if kind == "universal" else {"second_axis": directions[1]}
    model.add_joint(
        "joint", kind, *bars, at=(0, 0, 0), axis=(1, 0, 0) if kind == "universal" else (0, 0, 1), **second
    )
    model.add_moment("drive", bars[0].at((0, 0, 0)), (0, 0, 0.02))
    return simulate(model, t_end, 0.02, "em-ggl")
