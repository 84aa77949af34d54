"""Arc-length on imperfect columns: the path bends at Euler's load, for any small imperfection.

Reference: the elastica at a shortening of half the length, extensible and shearable, by shooting (DOP853,
1e-10); EI = L = 1.
A cantilever carries P = 3.3296, a column on hinges 13.3185 at EA = GA = 1e7; at 1e3 3.3216 and 13.1922. The
side force changes
these by less than 2e-3. 16 elements of order 2 are within 0.4 %.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rigid import quaternions
from rodsim import ArcLength, ConvergenceError, Model, ModelError, equilibrium
from tests.support.statics_models import section

LOADS = {("clamped", 1e3): 3.3216, ("pinned", 1e3): 13.1922}
SLENDER = {"clamped": 3.3296, "pinned": 13.3184}
SHORTENED = {"down": (-0.1, 0.5), "load_factor": (-1.0, 1.0)}


def column(
    support: str, EA: float, load: float, side: float, n: int = 16, following: bool = False
) -> tuple[Model, Any]:
    """A column of length 1 along x with a side force at the tip, or between its hinges at half its length."""
    model = Model("column")
    cross_section = section(EA=EA, GA=EA, GJ=1.0, EI=1.0)
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], cross_section, n)
    if support == "clamped":
        model.add_joint("foot", "clamp", rod.start)
    else:
        model.add_joint("foot", "universal", rod.start, model.ground, axis=(0, 1, 0), second_axis=(0, 0, 1))
        model.add_joint("head", "point_on_line", model.ground, rod.end, axis=(1, 0, 0))
    value = np.array([-load, 0.0, 0.0])
    if following:
        value = quaternions.rotate(quaternions.conjugate(model.build().state.quat[-1]), value)
    model.add_force("press", rod.end, value, following)
    if side:
        model.add_force("side", rod.end if support == "clamped" else rod.at(0.5), (0.0, 0.0, side))
    return model, rod


@pytest.mark.parametrize(
    ("support", "EA", "load", "side"),
    [
        ("clamped", 1e3, 30.0, 1e-2),
        ("clamped", 1e4, 30.0, 1e-3),
        ("clamped", 1e7, 5.0, 1e-6),
        ("clamped", 1e8, 100.0, 1e-8),
        ("clamped", 1e3, 100.0, 1e-7),
        ("pinned", 1e3, 30.0, 1e-8),
        ("pinned", 1e4, 30.0, 1e-2),
        ("pinned", 1e7, 30.0, 1e-5),
        ("pinned", 1e7, 40.0, 1e-6),
        ("pinned", 1e8, 100.0, 1e-7),
        ("clamped", 1e8, 30.0, 1e-6),
        ("clamped", 1e7, 30.0, 1e-8),
        ("pinned", 1e8, 13.5, 1e-8),
    ],
)
def test_an_imperfect_column_follows_the_elastica(support: str, EA: float, load: float, side: float) -> None:
    """Without a bifurcation: only the perfect column has one."""
    model, rod = column(support, EA, load, side)
    monitors = {"down": (rod.end, (-1, 0, 0))}
    result = equilibrium(model, method=ArcLength(SHORTENED), monitors=monitors)
    assert result.statics["stopped"] == "down"
    exact = LOADS.get((support, EA), SLENDER[support])
    assert load * result.load_factor[-1] == pytest.approx(exact, rel=0.01)
    assert "unstable" not in result.statics
    assert result.events == []


def test_a_following_load_bends_a_pinned_column_to_the_elastica() -> None:
    """The component along the line of the hinges is P cos(slope); the slope at the head is nearly a right
    angle there.
    """
    model, rod = column("pinned", 1e4, 300.0, 1e-5, n=48, following=True)
    monitors = {"down": (rod.end, (-1, 0, 0))}
    result = equilibrium(model, method=ArcLength(SHORTENED), monitors=monitors)
    assert result.statics["stopped"] == "down"
    assert 300.0 * result.load_factor[-1] == pytest.approx(179.253, rel=0.01)


def test_a_perfect_column_has_its_bifurcations_and_stays_straight() -> None:
    """In any orientation: round-off does not act as an imperfection."""
    Q = quaternions.to_matrix(quaternions.from_rotation_vector([0.3, -1.1, 0.7]))
    model = Model("column")
    cross_section = section(EA=1e9, GA=1e9, GJ=1.0, EI=[1.0, 2.0])
    ends = [Q @ (0, 0, 0), Q @ (1, 0, 0)]
    rod = model.add_rod("rod", ends, cross_section, 32, element="relative(2)", up=Q @ (0, 0, 1))
    model.add_joint("foot", "clamp", rod.start)
    model.add_force("press", rod.end, Q @ (-20.0, 0, 0))
    result = equilibrium(model, method="arc-length")
    loads = [20.0 * event["load_factor"] for event in result.events]
    assert loads == pytest.approx([np.pi**2 / 4, np.pi**2 / 2], rel=5e-6)
    for load in loads:  # each is among the equilibria
        assert np.abs(20.0 * result.load_factor - load).min() < 1e-6 * load
    assert np.abs(result.rod("rod").r[-1] @ Q[:, 1:]).max() < 1e-12


def test_arc_length_rejects_a_model_with_pressure_alone(tmp_path) -> None:  # type: ignore[no-untyped-def]
    model = Model("ring")
    circle = lambda s: (np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0.0)  # noqa: E731
    rod = model.add_rod("ring", circle, section(EA=1e4, GA=1e4, GJ=1.0, EI=1.0), 8)
    model.add_joint("foot", "clamp", rod.start)
    model.add_pressure("water", rod, 1.0, (0, 0, 1))
    with pytest.raises(ModelError, match="nothing to grow"):
        equilibrium(model, method="arc-length", output=tmp_path / "ring.vtkhdf")
    assert not (tmp_path / "ring.vtkhdf").exists()


def test_unavoidable_jump_ends_the_path(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """The result so far is stored, and the error gives the reason."""
    monkeypatch.setattr("discretization.statics.continuation.SMALLEST_STEP", 0.02)
    monkeypatch.setattr("discretization.statics.continuation.LEAST_LOOSE", 0.02)
    model = column("clamped", 1e4, 30.0, 1e-6)[0]
    with pytest.raises(ConvergenceError, match="another path") as caught:
        equilibrium(model, method="arc-length")
    assert 30.0 * caught.value.result.load_factor[-1] < 2.6


@pytest.mark.parametrize("n", [8, 24])
def test_a_cantilever_under_a_following_push_has_no_other_equilibrium(n: int) -> None:
    """Beck's column: it flutters from 20 EI/L^2 on, but its stiffness never becomes singular."""
    model = column("clamped", 1e4, 60.0, 0.0, n, following=True)[0]
    result = equilibrium(model, method="arc-length")
    assert result.statics["stopped"] == "load_factor"
    assert result.events == []
    assert np.abs(result.rod("rod").r[-1][:, 1:]).max() < 1e-9


def test_path_ended_by_a_folded_element_is_not_reported_as_a_jump() -> None:
    """A cantilever of two elements under a moment: each rotates by pi before the moment is 2 pi EI/L."""
    model = Model("cantilever")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section(EA=1e4, GA=1e4, GJ=1.0, EI=1.0), 2)
    model.add_joint("foot", "clamp", rod.start)
    model.add_moment("bend", rod.end, (0.0, 0.0, 20.0))
    with pytest.raises(ConvergenceError, match=r"bent or twisted by 3\.14 rad") as caught:
        equilibrium(model, method="arc-length")
    assert "another path" not in str(caught.value)
    assert 20.0 * caught.value.result.load_factor[-1] == pytest.approx(2 * np.pi, rel=1e-3)
