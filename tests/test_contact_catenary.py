"""A cable that lies on a floor and is lifted at an end: the catenary from where it leaves, the same tension where it lies."""

from __future__ import annotations

import numpy as np
import pytest

from rodsim import DoubtfulModelWarning, Material, Model, Section, equilibrium

G, RADIUS, LENGTH = 9.81, 0.002, 2.0
SECTION = Section.circular(RADIUS, Material(E=2e8, nu=0.3, density=4000))
Q = SECTION.mass_per_length * G


def cable(n: int, H: float, lifted: float, friction: float = 0.0) -> Model:
    """Pinned at the left; at its right end acts (H, 0, q times the length that is to be lifted)."""
    model, k = Model("cable", gravity=(0, 0, -G)), 2e3
    z = RADIUS - Q / k
    rod = model.add_rod("cable", [(0, 0, z), (LENGTH, 0, z)], SECTION, n)
    model.add_joint("pin", "spherical", rod.start)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("lies", rod, floor, stiffness=k, friction=friction)
    model.add_force("pull", rod.end, (H, 0, Q * lifted))
    return model


def test_a_cable_on_a_floor_is_a_catenary_from_where_it_leaves() -> None:
    """Height sqrt(a^2 + s^2) - a, reach L - s + a asinh(s/a), a = H/q; lying length L - s, carried by the floor; tension H there.

    It bends over sqrt(EI/H) = 9 mm, stretches by 1e-4 and sinks by 2e-4 m.
    """
    s, a = 0.8, 0.6
    H = Q * a
    rod = equilibrium(cable(50, H, s)).rod("cable")
    r = rod.r[-1]
    assert r[-1, 2] - RADIUS == pytest.approx(np.sqrt(a**2 + s**2) - a, abs=2e-3)
    assert r[-1, 0] == pytest.approx(LENGTH - s + a * np.arcsinh(s / a), abs=2e-3)
    at = rod.s_element
    tension, free = rod.N[-1, :, 0], at - (LENGTH - s)
    assert tension[free < -0.1] == pytest.approx(np.full((free < -0.1).sum(), H), rel=1e-4)
    assert tension[free > 0.1] == pytest.approx(np.hypot(H, Q * free[free > 0.1]), rel=2e-3)


def test_friction_at_rest_is_told_to_be_let_go() -> None:
    with pytest.warns(DoubtfulModelWarning, match="contact 'lies' has friction, .*run `simulate`"):
        equilibrium(cable(4, Q * 0.6, 0.1, friction=0.4))
