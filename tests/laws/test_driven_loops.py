"""Driven frames in loops of joints: accepted if redundant constraints remain consistent, rejected otherwise."""

import numpy as np
import pytest

from rodsim import Box, ConvergenceError, Model, ModelError, signals, simulate

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")

TURNED = (0.5**0.5, 0, 0, 0.5**0.5)


def linkage(kind="revolute", **motion):
    """Two bars in the plane of x and y, one foot on the ground, the other on a driven frame. With parallel hinges one
    constraint out of the plane and two of rotations are redundant.
    """
    model = Model("linkage", gravity=(0, -9.81, 0))
    a = model.add_body("a", Box(1, 0.05, 0.05, mass=1), (0.5, 0, 0))
    b = model.add_body("b", Box(1, 0.05, 0.05, mass=1), (1.0, -0.5, 0), orientation=TURNED)
    foot = model.add_driven("foot", (1, -1, 0), **motion)
    axis = (0, 0, 1)
    model.add_joint("1", "revolute", model.ground, a, at=(0, 0, 0), axis=axis)
    model.add_joint("2", "revolute", a, b, at=(1, 0, 0), axis=axis)
    model.add_joint("3", kind, foot, b, at=(1, -1, 0), axis=axis if kind == "revolute" else None)
    return model


STEP = signals.SmoothStep(0.1, 0, 1)


@pytest.mark.parametrize(
    "motion",
    [
        {"displacement": STEP.along((1, 0.5, 0))},
        {"displacement": signals.Sine(0.01, 2.0).along((0, 1, 0)), "turn": STEP, "axis": (0, 0, 1)},
        {"displacement": lambda t: (0.1 * np.sqrt(1 + t), 0, 0)},
    ],
)
def test_driven_planar_linkage_moves_as_without_redundant_constraints(motion):
    one, other = (simulate(linkage(kind, **motion), 0.1, 0.01) for kind in ("revolute", "spherical"))
    for name in ("a", "b"):
        assert one.body(name).r == pytest.approx(other.body(name).r, abs=1e-10)
    assert np.ptp(one.body("b").r, axis=0).max() > 1e-4


def displacement_out_of_plane(signal):
    return {"displacement": signal.along((0, 0, 1))}


STEP_AT_LATER_TIME = {"displacement": [STEP.along((1, 0, 0)), signals.SmoothStep(0.1, 7, 8).along((0, 0, 1))]}
OUT_OF_PLANE = [  # and its duration
    (displacement_out_of_plane(signals.Steady(0.1)), 0, 0),
    ({"turn": STEP, "axis": (1, 0, 0)}, 0, 1),
    (STEP_AT_LATER_TIME, 7, 8),
    (displacement_out_of_plane(signals.SmoothStep(0.1, 7.5, 7.505)), 7.5, 7.51),  # between corners
    (displacement_out_of_plane(signals.SmoothTable([0, 5, 5.001, 5.002, 9], [0, 0, 1e-4, 0, 0])), 0, 9),
]


@pytest.mark.parametrize(("motion", "low", "high"), OUT_OF_PLANE)
def test_driven_foot_leaving_the_plane_is_rejected_with_the_time(motion, low, high):
    with pytest.raises(
        ModelError, match=r"driven 'foot' prescribes what joints fix already, at t = (.*) s;"
    ) as error:
        linkage(**motion).build()
    time = float(str(error.value).split("at t = ")[1].split(" s;")[0])
    assert low <= time <= high


def bar_on_driven_frames(first, second):
    """A bar welded to two driven frames."""
    model = Model("carried")
    bar = model.add_body("bar", Box(1, 0.1, 0.1, mass=2), (0.5, 0, 0))
    for name, x, speed in (("left", 0, first), ("right", 1, second)):
        frame = model.add_driven(name, (x, 0, 0), displacement=signals.Steady(speed).along((0, 1, 0)))
        model.add_joint(f"weld {name}", "weld", frame, bar, at=(x, 0, 0))
    return model


def test_bar_on_two_rigidly_driven_frames_is_carried_along():
    result = simulate(bar_on_driven_frames(0.3, 0.3), 0.1, 0.01)
    assert result.body("bar").r[:, 1] == pytest.approx(0.3 * result.t, abs=1e-12)


def test_driven_frames_diverging_against_a_bar_are_rejected():
    with pytest.raises(ModelError, match="'left' and driven 'right' drive against each other"):
        bar_on_driven_frames(0.3, 0.4).build()


def test_inconsistent_constraints_during_a_run_are_named():
    """The function deviates only between the times that are checked in advance."""

    def late(t):
        return (0, 0, 0.01 * max(0.0, t - 0.05) ** 2 * max(0.0, 0.07 - t) ** 2 * 1e8)

    with pytest.raises(ConvergenceError, match=r"is redundant with .* and inconsistent with them"):
        simulate(linkage(displacement=late), 0.1, 0.01)
