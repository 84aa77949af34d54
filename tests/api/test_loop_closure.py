"""Inconsistent joints: the loop that does not close is named with the gap, or the axes, and the remedy."""

import warnings

import numpy as np
import pytest

from rigid import quaternions
from rodsim import Box, ConvergenceError, Model, ModelError, simulate
from rodsim.building.joint_loops import AxisMisalignment, Link, find_misalignment, loop_closed_by
from rodsim.components.model_data import JointComponent
from rodsim.warnings import RedundantJointsWarning

Z = np.array([0.0, 0.0, 1.0])
NAMES = "crank", "coupler", "rocker"
CORNERS = np.array([(0, 0, 0), (0, 1, 0), (1.2, 1, 0), (1.5, 0, 0)])


def four_bar(gap=(0.0, 0.0, 0.0), axes=(Z, Z, Z, Z), kind="revolute", open_at=None):
    """Three bars joined at named points, the last one to the ground with a distance `gap` from the foot of
    the rocker.
    """
    model = Model("four-bar", gravity=(1.0, -9.0, 0.0))
    parts = [model.ground]
    ends = [model.ground.at(CORNERS[0])]
    for k, name in enumerate(NAMES):
        start, end = CORNERS[k : k + 2]
        bar = model.add_body(name, Box(1.0, 0.1, 0.1, mass=1.0), (start + end) / 2)
        parts.append(bar)
        ends += [bar.at_world(start), bar.at_world(end)]
    ends.append(model.ground.at(CORNERS[3] + gap))
    for k, name in enumerate("ABCD"):
        if name != open_at:
            joint = kind if name == "D" else "revolute"
            axis = None if joint == "spherical" else axes[k]
            model.add_joint(name, joint, ends[2 * k], ends[2 * k + 1], axis=axis)
    return model


def redundancy_warnings(model):
    """Warnings about redundant joints."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.build()
    return [str(w.message) for w in caught if w.category is RedundantJointsWarning]


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_open_loop_is_reported_with_its_gap(kind):
    gap = np.array([3e-4, -4e-4, 0.0])
    with pytest.raises(ModelError) as caught:
        four_bar(gap, kind=kind).build()
    message = str(caught.value)
    assert message.startswith(
        f"{kind} joint 'D': |g| = 0.0005 m at t = 0 between body 'rocker' and the ground"
    )
    assert "joints 'A', 'B', 'C', 'D' (ground - crank - coupler - rocker - ground) does not close" in message
    assert "from the one point to the other (0.0003, -0.0004, 0) m are missing" in message
    assert "size the parts between so that they meet" in message
    assert redundancy_warnings(
        four_bar(gap - (0.0003, -0.0004, 0.0), kind=kind)
    )  # the advice of the warning is the remedy


def test_gap_in_an_open_chain_is_not_reported_as_a_loop():
    with pytest.raises(ModelError) as caught:
        four_bar((0.1, 0, 0), open_at="B").build()
    assert "loop" not in str(caught.value)
    assert "'D': |g| = 0.1 m" in str(caught.value)


def test_wrong_joint_position_is_not_reported_as_a_loop():
    model = four_bar(open_at="D")
    rocker = model.bodies["rocker"]
    model.add_joint("D", "revolute", rocker.at_world(CORNERS[3]), model.ground, at=CORNERS[3] + 0.1, axis=Z)
    with pytest.raises(ModelError, match=r"between at and body 'rocker'; move one of them or name one point"):
        model.build()


def test_missing_loop_length_is_reported_with_the_loop():
    model = four_bar(open_at="D")
    rocker = model.bodies["rocker"]
    model.add_joint("D", "distance", rocker.at_world(CORNERS[3]), model.ground.at((1.5, -1, 0)), length=1.1)
    with pytest.raises(ModelError, match=r"= 1.1 m.* 1 m apart.*rocker - ground\) does not close; move"):
        model.build()


def links(text):
    return [Link(*words.split()) for words in text.split(", ")]


def test_reported_loop_is_the_shortest_cycle():
    graph = links("a 0 1, b 1 2, c 2 3, d 3 0, across 1 3, tail 3 4, far 4 5")
    loop = loop_closed_by(graph, "d")
    assert loop.joints == ("a", "across", "d")
    assert loop.parts == ("0", "1", "3", "0")
    assert loop_closed_by(graph, "b").parts == ("2", "3", "1", "2")
    two_ways = links("e 0 4, f 4 3, a 0 1, b 1 2, c 2 3, d 3 0")
    assert loop_closed_by(two_ways, "d").joints == ("e", "f", "d")
    assert loop_closed_by(graph, "tail") is None
    assert loop_closed_by(graph, "unknown") is None
    assert loop_closed_by(links("a 0 1, b 1 0"), "a").parts == ("1", "0", "1")
    assert str(loop_closed_by(links("ring r r, a 0 r"), "ring")) == "the loop of joint 'ring' (r with itself)"
    long = links(", ".join(f"j{k} {k} {k + 1}" for k in range(40)) + ", last 40 0")
    assert "'j0', 'j1', 'j2', 'j3', 'j4', 'j5', ..., 'j35'" in str(loop_closed_by(long, "last"))
    assert "(0 - 1 - 2 - 3 - 4 - 5 - ... - 36 - 37 - 38 - 39 - 40 - 0)" in str(loop_closed_by(long, "last"))


def tilted_axis(angle):
    return np.array([np.sin(angle), 0.0, np.cos(angle)])


@pytest.mark.parametrize("angle", [1e-9, 1e-6, 1e-3])
def test_slightly_misaligned_axes_of_a_loop_are_reported_at_build(angle):
    (message,) = redundancy_warnings(four_bar(axes=(Z, Z, tilted_axis(angle), tilted_axis(angle / 2))))
    assert f"the axes of 'A' and 'C' are {np.degrees(angle):.3g} degrees off parallel" in message
    assert "make them so, or give one of the joints of this loop more motion" in message


@pytest.mark.parametrize(
    "axes", [(Z, Z, Z, Z), (Z, Z, -Z, Z), (Z, Z, tilted_axis(1e-14), Z), (Z, Z, tilted_axis(0.1), Z)]
)
def test_aligned_and_intentionally_skew_axes_are_not_reported(axes):
    (message,) = redundancy_warnings(four_bar(axes=axes))
    assert "degrees" not in message


def test_axes_of_universal_joints_are_not_checked():
    def pair_of_joints(kind):
        return [
            JointComponent(name=name, kind=kind, a=None, b=None, axis=tilted_axis(x))
            for name, x in (("a", 0.0), ("b", 1e-3))
        ]

    assert find_misalignment(pair_of_joints("cylindrical")).joints == ("a", "b")
    assert find_misalignment(pair_of_joints("universal")) is None


def test_slide_not_perpendicular_to_the_hinges_is_reported():
    def crank(slide):
        model = four_bar(open_at="D")
        model.add_joint("D", "prismatic", model.bodies["rocker"], model.ground, at=CORNERS[3], axis=slide)
        return redundancy_warnings(model)[0]

    assert "degrees" not in crank((1.0, 0.0, 0.0))
    assert "the axes of 'A' and 'D' are 0.0573 degrees off a right" in crank((np.cos(1e-3), 0, np.sin(1e-3)))
    assert (
        str(AxisMisalignment(("A", "B"), 1e-3, False))
        == "the axes of 'A' and 'B' are 0.0573 degrees off parallel"
    )


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
def test_failing_load_path_reports_its_loop_and_misaligned_axes():
    with pytest.raises(ConvergenceError) as caught:
        simulate(four_bar(axes=(Z, Z, tilted_axis(1e-6), Z)), 0.5, 0.01)
    message = str(caught.value)
    assert "inconsistent with them" in message
    for part in ("ground", "crank", "coupler", "rocker"):
        assert part in message.split("left over in the loop of joints")[1]
    assert "are 5.73e-05 degrees off parallel" in message


def hinged_door(angle=0.0, shift=0.0):
    """A body on two collinear hinges, rotated about x and shifted along y from its reference position, with
    the joints created there.
    """
    model = Model("door")
    pose = quaternions.from_rotation_vector([angle, 0.0, 0.0])
    leaf = model.add_body("leaf", Box(1.0, 0.1, 1.0, mass=1.0), (0.5, shift, 0.0), pose)
    for name, z in (("low", 0.0), ("high", 0.5)):
        model.add_joint(name, "revolute", model.ground, leaf, at=(0.0, 0.0, z), axis=Z)
    return model


@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
@pytest.mark.parametrize(
    ("other", "gap"),
    [
        (
            hinged_door(angle=0.01),
            r"its axes are 0.573 degrees apart at the stored state, .*leave its place and its axes as they were",
        ),
        (
            hinged_door(shift=0.02),
            r"\|g\| = 0.02 at the stored state, .*leave its place and its axes as they were",
        ),
    ],
    ids=["axes", "places"],
)
def test_joints_inconsistent_with_a_stored_state_are_reported_with_the_loop(other, gap):
    stored = simulate(hinged_door(), 0.01, 0.01)
    with pytest.raises(ModelError, match=gap) as caught:
        simulate(other, 0.01, 0.01, start=stored)
    assert "the loop of joints" in str(caught.value)
    assert "(ground - leaf - ground) does not close" in str(caught.value).replace(
        "leaf - ground - leaf", "ground - leaf - ground"
    )
