"""Clamps that are moved far: states that load stepping does not reach are found by relaxation in parts of the way."""

import numpy as np
import pytest

from rodsim import Model, Section, audit, equilibrium


@pytest.mark.parametrize("stiffer", [0.0, 1e-15, -1e-15])
def test_far_moved_clamp_is_solved_by_relaxation(stiffer):
    """A beam is compressed to half its span while one end makes a full turn: load steps follow an unstable wave and end there.
    Beyond, the beam is found at rest, stable and symmetric, as the turn is whole. Round-off does not affect this.
    """
    section = Section.from_stiffness(
        EA=1e6 * (1.0 + stiffer),
        GA=1e6,
        GJ=2.0,
        EI=2.0 * (1.0 - stiffer),
        mass_per_length=1.0,
        inertia_per_length=1e-3,
    )
    model = Model("beam")
    beam = model.add_rod("beam", [(0, 0, 0), (1, 0, 0)], section, 24, element="se3")
    model.add_joint("left", "clamp", beam.start)
    model.add_joint("right", "clamp", beam.end)
    motion = {"displacement": lambda f: (-0.5 * f, 0, 0), "rotation": lambda f: (0, 2 * np.pi * f, 0)}
    result = equilibrium(model, motions={"right": motion})
    assert 0.0 < result.statics["relaxation"]["from"] < 1.0
    assert result.t[-1] == 1.0
    assert audit(result).ok
    r = result.rod("beam").r[-1]
    assert np.abs(r[-1] - (0.5, 0, 0)).max() < 1e-12
    assert np.abs(r - (r[::-1] * (-1, 1, 1) + (0.5, 0, 0))).max() < 1e-8
