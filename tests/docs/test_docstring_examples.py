"""Docstrings of the public interface.

They are complete in numpydoc form, and their examples print the stated output.
"""

import doctest
import os
import signal

import pytest
from numpydoc import validate

from rodsim import Box, Material, Model, Result, Section, results, simulate
from rodsim.many_runs import ManyResults
from rodsim.prepared import Prepared
from rodsim.results import ResultWriter, SteadyRotation
from rodsim.running.runner import Runner
from tests.support.public_callables import named, public

# returned by public functions, but not in a public module
OTHER_OBJECTS = {
    **{name: getattr(results, name) for name in ("Result", "RodHistory", "BodyHistory", "JointHistory", "ContactHistory")},
    "Prepared": Prepared,
    **{f"Prepared.{name}": getattr(Prepared, name) for name in ("changeable", "model", "settings", "run", "equilibrium")},
    "Prepared.runner": Prepared.runner,
    "Runner": Runner,
    **{f"Runner.{name}": getattr(Runner, name) for name in ("advance", "output", "reset", "restore", "sensor")},
    "SteadyRotation": SteadyRotation,
    "ManyResults": ManyResults,
    "ManyResults.stack": ManyResults.stack,
}  # fmt: skip
OBJECTS = {name: named(name) for name, _ in public() if ">>>" in (named(name).__doc__ or "")} | OTHER_OBJECTS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the result and the model used by the examples."""
    folder = tmp_path_factory.mktemp("examples")
    model = Model("pendulum", gravity=(0, 0, -9.81))
    section = Section.circular(0.01, Material(E=2e6, nu=0.45, density=1100))
    cord = model.add_rod("cord", [(0, 0, 0), (1, 0, 0)], section, n_elements=4)
    block = model.add_body("block", Box(0.1, 0.1, 0.1, density=50), position=(1.05, 0, 0))
    model.add_joint("pin", "spherical", model.ground, cord.start)
    model.add_joint("glue", "weld", cord.end, block)
    ball = model.add_sphere("ball", block, 0.05)
    floor = model.add_plane("floor", model.ground.at((0, 0, -2)), (0, 0, 1))
    model.add_contact("floor", ball, floor, stiffness=1e4)
    simulate(model, 0.05, 0.01, output=folder / "run.vtkhdf")
    child = os.fork()
    if child == 0:  # a run that is killed before it creates its file
        ResultWriter.close = lambda self: os.kill(os.getpid(), signal.SIGKILL)
        simulate(model, 0.05, 0.01, output=folder / "killed.vtkhdf")
    os.waitpid(child, 0)
    model.save(folder / "pendulum.yaml")
    return folder


@pytest.mark.parametrize("name", OBJECTS)
def test_docstring_examples_print_their_output(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    known = {
        "result": Result.load("run.vtkhdf"),
        "model": Model.load("pendulum.yaml"),
        "Model": Model,
        "simulate": simulate,
    }
    examples = doctest.DocTestParser().get_doctest(OBJECTS[name].__doc__, known, name, None, 0)
    assert examples.examples
    reports = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=reports.append)
    assert reports == []


def incomplete():
    """Map public callables with incomplete docstrings to what is missing."""
    failures = {}
    for name, codes in public():
        errors = [f"{code} {text}" for code, text in validate.validate(name)["errors"] if code in codes]
        if errors:
            failures[name] = errors
    return failures


def test_docstrings_of_the_public_interface_are_complete():
    assert len(list(public())) > 200
    assert incomplete() == {}
