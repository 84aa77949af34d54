"""`add_spring` is the only method for springs: the entry that it adds for each coordinate, law and damping."""

import numpy as np
import pytest

from rodsim import Box, Model, SpringLaw, simulate
from rodsim.components.forces import NonlinearSpring
from rodsim.components.model_data import Spring, TorsionSpring

LAW = SpringLaw.polynomial((0.0, 50.0, 0.0, 200.0))
AXIS = {"axis": (0, 0, 1)}


def model_of_two():
    model = Model("m")
    model.add_body("a", Box(0.1, 0.1, 0.1, mass=1.0))
    model.add_body("b", Box(0.1, 0.1, 0.1, mass=2.0), position=(0.3, 0, 0.5))
    return model


K, C, TURN = {"stiffness": 3.0}, {"damping": 0.5}, {"along": "rotation", **AXIS}
LINEAR = {**K, **C, "length": 0.2}


@pytest.mark.parametrize(
    ("arguments", "kind", "fields"),
    [
        (K, Spring, {**K, "length": None, "damping": 0.0}),
        (LINEAR, Spring, LINEAR),
        (C, Spring, {**C, "stiffness": 0.0}),
        ({**K, **TURN}, TorsionSpring, {**K, "damping": 0.0, "angle": 0.0}),
        ({**K, **C, "angle": 0.1, **TURN}, TorsionSpring, {**K, **C, "angle": 0.1}),
        ({"law": LAW}, NonlinearSpring, {"law": LAW, "damping": None, "of": "length", "axis": None}),
        ({"damping": LAW}, NonlinearSpring, {"law": None, "damping": LAW, "of": "length"}),
        (
            {"law": LAW, "damping": LAW, "along": "axis", **AXIS},
            NonlinearSpring,
            {"damping": LAW, "of": "displacement"},
        ),
        ({"law": LAW, **TURN}, NonlinearSpring, {"law": LAW, "of": "angle"}),
    ],
)
def test_spring_kind_follows_from_its_arguments(arguments, kind, fields):
    model = model_of_two()
    spring = model.add_spring("s", "a", "b", **arguments)
    assert type(spring) is kind
    assert {field: getattr(spring, field) for field in fields} == fields
    assert getattr(model, kind.table)["s"] is spring


@pytest.mark.parametrize(("length", "rest_length"), [(None, 0.5), (0.2, 0.2)])
def test_linear_axial_spring_has_a_linear_law(length, rest_length):
    spring = model_of_two().add_spring("s", "a", "b", 30.0, length, 0.5, along="axis", **AXIS)
    assert spring.of == "displacement"
    x = np.array([-20.0, -1.0, 0.0, 0.2, 0.7, 15.0])
    assert spring.law(x) == pytest.approx(30.0 * (x - rest_length), abs=1e-12)
    assert spring.damping(x) == pytest.approx(0.5 * x, abs=1e-13)


def test_axial_spring_oscillates_at_its_frequency():
    model = Model("m")
    block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=2.0), position=(0, 0, 0.5), velocity=(0, 0, 1.0))
    model.add_joint("rail", "prismatic", model.ground, block, at=(0, 0, 0.5), axis=(0, 0, 1))
    model.add_spring("s", "ground@0,0,0", block, stiffness=8.0, length=0.5, along="axis", axis=(0, 0, 1))
    result = simulate(model, 1.0, 0.001, progress=False)
    assert result.body("block").r[-1, 2] == pytest.approx(0.5 + np.sin(2.0) / 2.0, abs=1e-6)
