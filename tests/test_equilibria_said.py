"""What is said of an equilibrium: that it is unstable, that rounding hides its loads, and what cannot be asked for."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from rodsim import (
    Box,
    Model,
    ModelError,
    RoundedForcesWarning,
    Section,
    UnstableEquilibriumWarning,
    equilibrium,
    simulate,
)
from tests.statics_models import cantilever, section


@pytest.mark.parametrize("constant", [(), ("gravity",)])
@pytest.mark.parametrize("EA", [1e14, 1e17])
def test_a_load_below_the_rounding_of_the_stiffness_bends_as_it_should(EA: float, constant: tuple[str]) -> None:
    """A quarter of EI is bent by q L^4/(8 EI) = 4.3e-8 of its length; eps EA is a fifth of the load."""
    EI = EA * 2.9e-8
    model, _, _ = cantilever(section(EA=EA, GA=EA, GJ=EI, EI=EI), 1.0, 12)
    model.gravity[:] = (0.0, 0.0, -1e-14 * EA)  # 1 kg/m
    with pytest.warns(RoundedForcesWarning, match="N are left unbalanced"):
        result = equilibrium(model, constant=constant)
    whole = 1e-14 / 2.9e-8
    # 12 elements with their mass at the nodes and as much shear as compression
    assert result.state().r[-1, 2] == pytest.approx(-whole * (1 / 8 + 2.9e-8 / 2), rel=1e-2)
    assert result.newton_iterations.sum() > 0
    assert result.statics["unbalanced"] > 1e-6


def test_loads_that_are_seen_are_not_warned_of() -> None:
    model, _, end = cantilever(section(EA=2e7, GA=8e6, GJ=150.0, EI=170.0), 1.0, 10)
    model.add_force("push", end, (0.0, 0.0, -1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = equilibrium(model)
    assert not {"unbalanced", "unstable"} & set(result.statics)


def twisted(turns: float, **more: object):  # type: ignore[no-untyped-def]
    """A rod between clamps, one turned about it: it stays straight, and leaves its line from M L/EI = 8.987 on."""
    model = Model("twisted")
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section(EA=1e4, GA=5e3, GJ=1.0, EI=1.0), 16)
    model.add_joint("left", "clamp", rod.start)
    model.add_joint("right", "clamp", rod.end)
    return equilibrium(model, motions={"right": {"rotation": (2 * np.pi * turns, 0, 0)}}, **more)
