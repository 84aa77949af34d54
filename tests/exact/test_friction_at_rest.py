"""What contact has no equilibrium for: friction, which follows from the way."""

from __future__ import annotations

import pytest

from rodsim import Material, Model, Section, equilibrium
from rodsim.warnings import DoubtfulModelWarning


def test_friction_at_rest_is_told_to_be_let_go() -> None:
    section = Section.circular(0.002, Material(E=2e8, nu=0.3, density=4000))
    model = Model("cable", gravity=(0, 0, -9.81))
    z = 0.002 - section.mass_per_length * 9.81 / 1e4
    rod = model.add_rod("cable", [(0, 0, z), (2, 0, z)], section, 4)
    model.add_joint("held", "clamp", rod.start)
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("lies", rod, floor, stiffness=1e4, friction=0.4)
    with pytest.warns(DoubtfulModelWarning, match="contact 'lies' has friction, .*run `simulate`"):
        equilibrium(model)
