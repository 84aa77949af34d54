"""A cable that is lifted from a frictionless floor: the catenary that begins where it leaves the floor.

With the horizontal tension H, the weight w per length and a = H/w, from where it begins to rise: x = a
asinh(s/a) and
z = (a^2 + s^2)^(1/2) - a of the arc s, the tension H + w z. Bending stiffness smooths the touch-down over
lengths
(EI/H)^(1/2) and, on a floor of stiffness k per length, (4 EI/k)^(1/4): both get shorter with the elements, so
that the error
is of second order.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from rodsim import Model, Newton, Section, equilibrium

H, W = 1.0, 1.0  # N, N/m
LENGTH, LIFTED = 2.0, 1.0  # m
A = H / W


def end(s: float) -> np.ndarray:
    """Position (3,) of the end of the cable with the arc s above the floor, under the horizontal tension H, m."""
    return np.array([LENGTH - s + A * np.arcsinh(s / A), 0.0, np.hypot(A, s) - A])


class LiftedCable(NamedTuple):
    H: float  # N, at the anchor
    tension: float  # N, at the support
    lying: float  # m, load on the floor over w
    begins: float  # m, mean of where catenaries through the nodes above the floor begin, and their spread
    spread: float


@cache
def lifted(n: int) -> LiftedCable:
    """Lift the cable in load steps from the floor, on which it lies straight."""
    EI, k = 0.4 / n**2, 4e2 * n**2 / 64
    model = Model("cable", gravity=(0, 0, -10.0))
    section = Section.from_stiffness(
        EA=1e7, GA=1e7, GJ=EI, EI=EI, mass_per_length=W / 10.0, inertia_per_length=1e-7
    )
    rod = model.add_rod("cable", [(0, 0, -W / k), (LENGTH, 0, -W / k)], section, n)
    model.add_joint("anchor", "clamp", rod.start)
    model.add_joint("lift", "spherical", model.ground, rod.end)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("lie", rod, floor, stiffness=k, stations=4)
    path = {"displacement": lambda factor: end(LIFTED * factor) - [LENGTH, 0, 0]}
    method = Newton(relaxation=False, first_step=0.05)
    statics = equilibrium(model, method=method, constant=["gravity"], motions={"lift": path})
    anchor, force = (statics.joint(name).force[-1] for name in ("anchor", "lift"))
    lying = statics.contact("lie").normal_force[-1] - anchor[2]  # next to the anchor it has no contact
    z = statics.rod("cable").r[-1, :, 2] + W / k
    above = z > 0.05
    begins = np.linspace(0, LENGTH, n + 1)[above] - np.sqrt((z[above] + A) ** 2 - A**2)
    return LiftedCable(anchor[0], np.linalg.norm(force), lying / W, begins.mean(), np.ptp(begins))


def errors(n: int) -> np.ndarray:
    solution = lifted(n)
    tension, lying = H + W * end(LIFTED)[2], LENGTH - LIFTED
    return np.array(
        [solution.H - H, solution.tension - tension, solution.lying - lying, solution.begins - lying]
    )


def test_a_cable_lifted_from_a_floor_is_a_catenary():
    assert np.abs(errors(40)).max() < 4e-3
    assert lifted(40).spread < 1e-3


@pytest.mark.parametrize("quantity", range(4), ids=["H", "tension", "lying", "begins"])
def test_the_catenary_is_of_second_order(quantity):
    order = np.log2(np.abs(errors(40)[quantity] / errors(80)[quantity]))
    assert order == pytest.approx(2.0, abs=0.15)
