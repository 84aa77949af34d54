"""The examples in the docstrings of what states a model run and print what they say."""

import doctest
import importlib

import pytest

from rodsim import Box, Model, simulate

MODULES = [
    "rigid.inertia",
    "rigid.surface",
    "rodsim.model",
    "rodsim.orientations",
    "rodsim.parts.friction",
    "rodsim.parts.materials",
    "rodsim.parts.sections",
    "rodsim.parts.spring_laws",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name, tmp_path, monkeypatch):
    model = Model("pendulum")
    model.add_body("block", Box(1, 1, 1, mass=1))
    monkeypatch.chdir(tmp_path)
    model.save("pendulum.yaml")
    known = {"Model": Model, "model": model, "simulate": simulate}
    failed, tried = doctest.testmod(
        importlib.import_module(name), extraglobs=known, optionflags=doctest.ELLIPSIS
    )
    assert tried > 0
    assert failed == 0
