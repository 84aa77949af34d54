"""What is said of contacts before a run: steps that see a touch, stations that see a crossing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import beta

from rodsim import Material, Model, Section, simulate
from rodsim.building.build import Placement
from rodsim.building.contact_doubts import DoubtfulModelWarning, coarse, expected, rough

K, RHO, L, V = 1e6, 0.02, 0.4, 1.0
SECTION = Section.circular(0.01, Material(E=1e7, nu=0.4, density=1000))
M = 1000 * np.pi * 0.01**2 * L


def meeting(angle: float, n: int = 2, **contact) -> Model:
    """Two rods, of which one comes to the other at 1 m/s; they cross at this angle, degrees."""
    model, a = Model("meeting"), np.radians(angle)
    half = L / 2 * np.array([np.cos(a), np.sin(a), 0.0])
    middle = np.array([0, 0, 0.0201])
    one = model.add_rod("one", [(-L / 2, 0, 0), (L / 2, 0, 0)], SECTION, n)
    other = model.add_rod(
        "other", [tuple(middle - half), tuple(middle + half)], SECTION, n, velocity=(0, 0, -V)
    )
    model.add_contact("hit", one, other, stiffness=K, **contact)
    return model


def said(model: Model) -> float:
    """The step that is advised."""
    (line,) = coarse(model, Placement(model), 1.0)
    return float(line.split("take dt = ")[1].split(" s")[0])


@pytest.mark.parametrize("exponent", [1.0, 1.5])
@pytest.mark.parametrize("angle", [90.0, 30.0])
def test_rods_that_cross_press_along_the_shape_of_their_crossing(angle: float, exponent: float) -> None:
    """The gap at s from the crossing is depth - s^2 sin^2/(2 rho): its force by quadrature."""
    model = meeting(angle, exponent=exponent)
    (own,) = expected(model, Placement(model))
    s = np.linspace(-0.5, 0.5, 200_001) * own.width
    depth = np.maximum(own.depth - (s * np.sin(np.radians(angle))) ** 2 / (2 * RHO), 0.0)
    assert depth[0] == pytest.approx(0.0, abs=1e-12)
    force = K * np.sum(depth**exponent) * (s[1] - s[0])
    q = exponent + 0.5
    assert force * own.depth / (q + 1) == pytest.approx(0.25 * M * V**2, rel=1e-6)
    assert force == pytest.approx(
        K * np.sqrt(2 * RHO) * beta(0.5, q + 0.5) * own.depth**q / np.sin(np.radians(angle)), rel=1e-6
    )


@pytest.mark.parametrize("angle", [0.0, 1.0])
def test_rods_side_by_side_press_along_their_length(angle: float) -> None:
    model = meeting(angle)
    (own,) = expected(model, Placement(model))
    assert own.width == np.inf
    assert own.lasts == pytest.approx(np.pi * np.sqrt(M / 2 / (K * L)))
    assert own.by_speed == pytest.approx(V * np.sqrt(M / 2 / (K * L)))


@pytest.mark.parametrize("angle", [0.0, 90.0])
def test_the_step_that_is_said_sees_the_touch(angle: float) -> None:
    model = meeting(angle, stations=51 if angle else None)
    dt = said(model)
    result = simulate(model, 30 * dt, dt, output_every=1, progress=False)
    depth = result.contact("hit").depth
    assert (depth > 0.0).sum() >= 10
    assert result.halvings.sum() == 0
    if angle == 0.0:  # as deep as the oscillator: ten steps see it to a hundredth
        (own,) = expected(model, Placement(model))
        assert depth.max() == pytest.approx(own.depth, rel=1e-2)


def test_stations_that_do_not_see_a_crossing_are_told_with_as_many_as_do() -> None:
    model = meeting(90.0, stations=8)
    (own,) = expected(model, Placement(model))
    (line,) = rough(model, Placement(model))
    assert line.startswith(
        "contact 'hit': rod 'one' and rod 'other' touch over 0.02 m at the depth to expect, their stations"
    )
    need = int(line.split("stations=")[1].split(",")[0])
    assert L / 2 / need <= own.width / 5 < L / 2 / (need - 1)
    assert rough(meeting(90.0, stations=need), Placement(meeting(90.0, stations=need))) == []
    assert rough(meeting(0.0, stations=1), Placement(meeting(0.0, stations=1))) == []
    with pytest.warns(DoubtfulModelWarning, match=f"take stations={need}"):
        simulate(model, 1e-4, 1e-4, progress=False)
