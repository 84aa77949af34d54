"""Rods that meet boxes: what is kept, what it is like on a plane, what rubs."""

from __future__ import annotations

import numpy as np
import pytest

from rodsim import Material, Model, Section, audit
from tests.test_boxes import ON_EDGE, UP, about, add_box
from tests.test_capsules import change, run

RUBBER = Section.circular(0.01, Material(E=1e6, nu=0.45, density=1000))
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.DoubtfulModelWarning")
MEETINGS = {  # orientation of the box, ends of the rod above it
    "flat": (UP, [(-0.1, 0.01, 0.062), (0.1, 0.02, 0.062)]),
    "across an edge": (ON_EDGE, [(0.01, -0.1, 0.083), (0.02, 0.1, 0.084)]),
    "on its end": (UP, [(0.01, 0.02, 0.062), (0.03, 0.01, 0.25)]),
    "at a corner": (about((1, -1, 0), np.arctan(2**0.5)), [(-0.1, 0.0, 0.098), (0.1, 0.01, 0.099)]),
}


@pytest.mark.parametrize("losses", [{}, {"friction": 0.4, "restitution": 0.6}], ids=["kept", "lost"])
@pytest.mark.parametrize("name", MEETINGS)
def test_a_rod_that_falls_on_a_box_keeps_energy_and_momenta(name, losses):
    quat, ends = MEETINGS[name]
    model = Model("fall", gravity=(0, 0, 0))
    box = add_box(model, "box", (0, 0, 0), quat, omega=(0.3, -0.2, 0.1))
    rod = model.add_rod("rod", ends, RUBBER, 4, velocity=(0.2, 0.1, -1.0))
    model.add_contact("c", rod, box, 4e5, stations=16, **losses)
    result = run(model, 0.02, 2.5e-4)
    energy, lost = result.energy["total"], result.dissipation
    assert result.contact("c").normal_force.max() > 1.0
    assert np.diff(lost).min() > -1e-15
    assert (lost[-1] > 1e-3 * energy[0]) == bool(losses)
    assert change(energy + lost) < 1e-12 * energy[0]
    assert change(result.linear_momentum) < 1e-13
    assert change(result.angular_momentum) < 1e-13
    assert audit(result).ok
