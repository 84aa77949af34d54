"""Targets of equilibria: lists of load factors, joints that have moved since the start, targets that cannot
be reached.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rodsim import Model, ModelError, audit, equilibrium, simulate
from tests.support.moved_joints import FORCE, MOMENT, STRONG
from tests.support.moved_joints import cantilever as loaded
from tests.support.statics_models import cantilever, section

AXIS = np.array([0.0, 0.0, 1.0])


def rotated_equilibrium(degrees: Any, **settings: Any):  # type: ignore[no-untyped-def]
    """The loaded cantilever with its clamp rotated about e3 by an angle in degrees, or by a function of the
    load factor.
    """
    rotation = (lambda f: np.radians(degrees(f)) * AXIS) if callable(degrees) else np.radians(degrees) * AXIS
    return equilibrium(loaded(), motions={"clamp": {"rotation": rotation}}, **settings)


def built_at(degrees: float) -> Model:
    """The cantilever built rotated by the angle, under loads that do not rotate."""
    model, a = Model("cantilever"), np.radians(degrees)
    start = np.array([0.3, 0.1, 0.0])
    rod = model.add_rod("rod", [start, start + np.array([np.cos(a), np.sin(a), 0])], section(**STRONG), 4)
    model.add_joint("clamp", "clamp", rod.start)
    model.add_force("force", rod.end, FORCE)
    model.add_moment("moment", rod.end, MOMENT)
    return model


def test_equilibrium_at_60_degrees_continues_from_30() -> None:
    """By 30 degrees more, and along a path from 30 to 60 degrees relative to the joint at 0 in the model."""
    at_30, expected = rotated_equilibrium(30), rotated_equilibrium(60).state().r
    assert rotated_equilibrium(30, start=at_30).state().r == pytest.approx(expected, abs=1e-10)
    full_path = rotated_equilibrium(lambda f: 30 + 30 * f, start=at_30)
    assert full_path.state().r == pytest.approx(expected, abs=1e-10)
    assert full_path.constraint_residual.max() < 1e-12
    assert audit(full_path).ok
    # and on from there by a full turn
    assert rotated_equilibrium(lambda f: 60 + 360 * f, start=full_path).state().r == pytest.approx(
        expected, abs=1e-9
    )


def test_path_continues_with_displacements_and_another_axis() -> None:
    first, second = (
        np.array(v) for v in (((0.2, -0.1, 0.3), (0.3, 0.4, -0.2)), ((0.1, 0.2, 0), (-0.1, 0.5, 0.6)))
    )

    def to(place: Any) -> dict[str, Any]:
        return {"clamp": {"displacement": place[0], "rotation": place[1], "about": (0, 1, 0)}}

    first_result = equilibrium(loaded(), motions=to(first))
    path = [lambda f, k=k: first[k] + f * (second - first)[k] for k in range(2)]
    result = equilibrium(loaded(), motions=to(path), start=first_result)
    expected = equilibrium(loaded(), motions=to(second))
    assert result.state().r == pytest.approx(expected.state().r, abs=1e-10)
    assert audit(result).ok


def test_path_that_does_not_start_at_the_joint_is_rejected() -> None:
    with pytest.raises(
        ModelError, match=r"motion of joint 'clamp': .*rotation\(0\) .* where the result given as `start`"
    ):
        rotated_equilibrium(lambda f: 40 + 20 * f, start=rotated_equilibrium(30))


def test_moved_joints_are_closed_with_the_load_factor() -> None:
    result = equilibrium(built_at(60), start=equilibrium(built_at(30)))
    assert result.state().r == pytest.approx(equilibrium(built_at(60)).state().r, abs=1e-9)
    assert result.constraint_residual[0] == pytest.approx(0.5, abs=1e-9)  # sin 30
    assert result.constraint_residual[-1] < 1e-12
    assert audit(result).ok
    with pytest.raises(ModelError, match=r"clamp joint 'clamp': its axes are 110 degrees apart .*motions"):
        equilibrium(built_at(110), start=equilibrium(built_at(0)))
    with pytest.raises(ModelError, match="its axes are 30 degrees apart at the stored state"):
        simulate(built_at(60), 0.1, 0.01, start=equilibrium(built_at(30)), progress=False)


def test_a_list_of_load_factors_has_an_equilibrium_at_each() -> None:
    result = rotated_equilibrium(90, factors=[1 / 3, 2 / 3, 0.9])
    assert {1 / 3, 2 / 3, 0.9} <= set(result.t)
    assert result.t[-1] == 0.9
    at = list(result.t).index(2 / 3)
    joint = result.joint("clamp")
    assert joint.axes[at][:, 0] == pytest.approx([0.5, np.sqrt(0.75), 0], abs=1e-12)
    assert joint.force[at] == pytest.approx(2 / 3 * FORCE, abs=1e-6)


@pytest.mark.parametrize("factors", [[], [0.0, 1.0], [0.5, 0.2], [0.5, 1.5], [0.5, 0.5], [[0.5]], "half"])
def test_invalid_load_factor_lists_are_rejected(factors: Any) -> None:
    with pytest.raises(ModelError, match="factors"):
        rotated_equilibrium(30, factors=factors)


def column(**settings: Any):  # type: ignore[no-untyped-def]
    """A column that passes bifurcations at 2.467 and 4.934 N of 6 N."""
    model, _, end = cantilever(section(EA=1e6, GA=1e6, GJ=1.0, EI=[1.0, 2.0]), 1.0, 8)
    model.add_force("press", end, (-6.0, 0.0, 0.0))
    return equilibrium(model, method="arc-length", monitors={"down": (end, (-1, 0, 0))}, **settings)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"branch": 7}, r"branch = 7, but the path has 2 bifurcations up to load factor 1, .*at most 2"),
        (
            {"branch": -1, "stop": {"load_factor": (-1.0, 0.3)}},
            r"branch = -1, but the path has no bifurcation .*stop of load_factor",
        ),
        ({"branch": True}, "branch = True"),
        *(
            ({"stop": {"load_factor": stop}}, r"stop of load_factor = .*give the lowest value first")
            for stop in ((1.0, -1.0), (0.5, 0.5))
        ),
        *(
            ({"stop": {name: (0.5, 1.0)}}, rf"the path begins at {name} = .*beyond its stop \(0.5, 1\)")
            for name in ("load_factor", "down")
        ),
    ],
)
def test_unreached_load_factor_is_rejected_without_a_file(
    settings: dict[str, Any], words: str, tmp_path: Any
) -> None:
    with pytest.raises(ModelError, match=words):
        column(**settings, output=tmp_path / "file.vtkhdf")
    assert not list(tmp_path.iterdir())


def test_bifurcation_in_the_step_of_a_stop_is_followed() -> None:
    """The bifurcation lies in the step in which the stop is reached."""
    stop = {"load_factor": (-1.0, 0.415), "down": (-1.0, 0.1)}  # the first is at 0.412
    assert column(branch=1, stop=stop).monitor("down")[-1] > 1e-3


@pytest.mark.parametrize("at", [99.0, -0.1, 1.001])
def test_start_at_a_time_without_output_is_rejected(at: float) -> None:
    model, _, _ = cantilever(section(EA=1e3, GA=1e3, GJ=1.0, EI=1.0), 1.0, 4)
    before = equilibrium(model)
    words = f"start_time = {at:g} is not within the times of 'cantilever', 0 to 1"
    with pytest.raises(ModelError, match=words):
        simulate(model, 0.1, 0.01, start=before, start_time=at, progress=False)
    with pytest.raises(ModelError, match=words):
        equilibrium(model, start=before, start_time=at)
    assert (
        equilibrium(model, start=before, start_time=1.0).description["start"]["output"]
        == before.n_outputs - 1
    )
