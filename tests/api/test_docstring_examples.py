"""The examples in the docstrings of what states a model run and print what they say."""

import doctest
import importlib

import pytest

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
def test_examples_print_what_they_say(name):
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert tried > 0
    assert failed == 0
