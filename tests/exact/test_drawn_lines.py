"""Mooring lines with bending stiffness, drawn in shapes that are far from the one in which they hang."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, root

from rodsim import Model, Section, equilibrium

LENGTH, SPAN, DEPTH, EA, WEIGHT, RADIUS = 800.0, 750.0, 200.0, 7.5e8, 1000.0, 0.1
STRAIGHT = float(np.hypot(SPAN, DEPTH))


def bulged(amplitude: float):
    return lambda s: np.array([SPAN * s, 0.0, RADIUS + DEPTH * s + amplitude * np.sin(np.pi * s)])


def drawn_length(curve) -> float:
    points = np.array([curve(s) for s in np.linspace(0.0, 1.0, 2001)])
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def start(name: str):
    """The drawn curve, and the length of the line."""
    if name in ("straight", "short"):
        return [(0, 0, RADIUS), (SPAN, 0, DEPTH + RADIUS)], LENGTH if name == "straight" else 1.05 * STRAIGHT
    if name == "long":
        return bulged(brentq(lambda a: drawn_length(bulged(a)) - 1.05 * LENGTH, 1.0, 400.0)), LENGTH
    power = {"parabola": 2, "cubic": 3}[name]
    return lambda s: np.array([SPAN * s, 0.0, RADIUS + DEPTH * s**power]), LENGTH


def line(name: str, stiffness: float) -> tuple[Model, float]:
    curve, length = start(name)
    model = Model("mooring line", gravity=(0, 0, -9.81))
    chain = Section.from_stiffness(
        EA=EA, GA=1e8, GJ=1e4, EI=1e4, mass_per_length=WEIGHT / 9.81, inertia_per_length=1.0, radius=RADIUS
    )
    rod = model.add_rod("line", curve, chain, 160, stress_free=[(0, 0, 0), (length, 0, 0)])
    model.add_joint("anchor", "spherical", model.ground, rod.start)
    model.add_joint("fairlead", "spherical", model.ground, rod.end)
    bed = model.add_plane("seabed", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("lies", rod, bed, stiffness=stiffness)
    return model, length


def tension_at_the_fairlead(length: float) -> np.ndarray:
    """Elastic catenary, in part on a bed without friction: horizontal and vertical force, N."""

    def misfit(forces):
        H, V = forces
        c = H / WEIGHT
        x = length - V / WEIGHT + c * np.arcsinh(V / H) + H * length / EA
        return x - SPAN, c * (np.hypot(1.0, V / H) - 1) + V**2 / (2 * EA * WEIGHT) - DEPTH

    return root(misfit, (6e5, 5e5), tol=1e-12).x


@pytest.mark.filterwarnings("ignore:.*(depth|stretch)")
@pytest.mark.parametrize("stiffness", [1e5, 1e7])
@pytest.mark.parametrize("name", ["straight", "short", "parabola", "cubic", "long"])
def test_the_default_equilibrium_hangs(name, stiffness, recwarn):
    model, length = line(name, stiffness)
    result = equilibrium(model)
    force = result.reactions["fairlead"].force
    assert np.allclose(force[[0, 2]], tension_at_the_fairlead(length), rtol=2e-3)
    assert "unstable" not in result.statics
    assert not [w for w in recwarn if "unstable" in str(w.message)]


def test_a_column_whose_elements_resist_stays_straight():
    """A rod is crumpled only if its elements would buckle by themselves; else load steps follow its shape."""
    model = Model("column")
    section = Section.from_stiffness(
        EA=1e4, GA=1e4, GJ=1.0, EI=1.0, mass_per_length=1.0, inertia_per_length=1.0
    )
    rod = model.add_rod("rod", [(0, 0, 0), (1.0, 0, 0)], section, 8, stress_free=[(0, 0, 0), (1.006, 0, 0)])
    model.add_joint("left", "clamp", rod.start)
    model.add_joint("right", "clamp", rod.end)
    with pytest.warns(UserWarning, match="unstable"):
        result = equilibrium(model)
    assert np.abs(result.rod("rod").r[-1][:, 1:]).max() < 1e-12
    assert "relaxation" not in result.statics
