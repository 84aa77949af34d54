"""Every name of before 1.0 works, warns with the new one, and cannot be given together with it.

A row of `OLD_NAMES` needs an example here, by what it belongs to:

- ARGUMENTS, of a function or method: a function of the keyword arguments that returns what can be compared, and the value of
  the old and of the new argument;
- MEMBERS, of a class: a function that makes an instance, and the arguments of the method (none for a property);
- SCENES, of the key of a scene: a scene as text with the old and with the new word;
- COMMANDS, of an option or command: command lines with the old and with the new word.
"""

import importlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from rodsim import Box, Model, ModelError, Result, simulate
from rodsim.old_names import OLD_NAMES, accept_old_arguments


class Argument(NamedTuple):
    call: Callable[..., Any]
    old: Any
    new: Any


class Member(NamedTuple):
    make: Callable[[], Any]
    arguments: Callable[[Path], tuple[Any, ...]] = lambda folder: ()


class Words(NamedTuple):
    run: Callable[[str], Any]
    old: str
    new: str


def result_file(folder):
    """Of a run of two steps, written to this folder."""
    model = Model("m")
    model.add_body("block", Box(1, 1, 1, mass=1), velocity=(1, 0, 0))
    simulate(model, 0.02, 0.01, output=folder / "run.vtkhdf", overwrite=True)
    return folder / "run.vtkhdf"


ARGUMENTS: dict[tuple[str, str], Argument] = {}
MEMBERS: dict[tuple[str, str], Member] = {
    ("Result", "open"): Member(lambda: Result, lambda folder: (result_file(folder),)),
}
SCENES: dict[str, Words] = {}
COMMANDS: dict[str, Words] = {}


def kind_of(row):
    if row.where == "scene":
        return "scene"
    if row.where == "command line":
        return "command"
    if row.where.startswith("rodsim"):
        return "module"
    return "member" if row.where[0].isupper() and "." not in row.where else "argument"


def rows(kind):
    return [pytest.param(row, id=f"{row.where}-{row.old}") for row in OLD_NAMES if kind_of(row) == kind] or [
        pytest.param(None, marks=pytest.mark.skip(reason="no such row"))
    ]


def example(table, key):
    assert key in table, f"add an example of {key} to tests/api/test_old_names.py"
    return table[key]


def alike(a, b):
    if isinstance(a, Result):
        return isinstance(b, Result) and a.path == b.path and np.array_equal(a.t, b.t)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=True)
    return a == b


def silently(function, *args, **kwargs):
    """What a function returns that must not warn of old names."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        return function(*args, **kwargs)


def test_a_name_has_one_row():
    names = [(row.where, row.old) for row in OLD_NAMES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("row", rows("module"))
def test_an_old_attribute_is_the_new_one(row):
    place, name = row.new.rsplit(".", 1)
    new = silently(getattr, importlib.import_module(place), name)
    with pytest.warns(DeprecationWarning, match=row.new.replace(".", r"\.")) as caught:
        old = getattr(importlib.import_module(row.where), row.old)
    assert old is new
    assert {warning.filename for warning in caught} == {__file__}
    assert row.old not in importlib.import_module(row.where).__all__


@pytest.mark.parametrize("row", rows("argument"))
def test_an_old_argument_does_what_the_new_one_does(row):
    given = example(ARGUMENTS, (row.where, row.old))
    new = silently(given.call, **{row.new: given.new})
    with pytest.warns(DeprecationWarning, match=f"{row.new}=") as caught:
        old = given.call(**{row.old: given.old})
    assert alike(old, new)
    assert any(warning.filename == __file__ for warning in caught)
    with pytest.raises(ModelError, match=rf"both {row.old}= and {row.new}= are given"):
        given.call(**{row.old: given.old, row.new: given.new})


@pytest.mark.parametrize("row", rows("member"))
def test_an_old_method_or_property_does_what_the_new_one_does(row, tmp_path):
    given = example(MEMBERS, (row.where, row.old))
    arguments = given.arguments(tmp_path)

    def value(name):
        found = getattr(given.make(), name)
        return found(*arguments) if callable(found) else found

    new = silently(value, row.new)
    with pytest.warns(DeprecationWarning, match=row.new) as caught:
        old = value(row.old)
    assert {warning.filename for warning in caught} == {__file__}
    assert alike(old, new)


@pytest.mark.parametrize("row", rows("scene"))
def test_an_old_word_of_a_scene_does_what_the_new_one_does(row):
    given = example(SCENES, row.old)
    new = silently(given.run, given.new)
    with pytest.warns(DeprecationWarning, match=row.new):
        assert alike(given.run(given.old), new)


@pytest.mark.parametrize("row", rows("command"))
def test_an_old_word_of_the_command_line_does_what_the_new_one_does(row):
    given = example(COMMANDS, row.old)
    new = silently(given.run, given.new)
    with pytest.warns(DeprecationWarning, match=row.new):
        assert alike(given.run(given.old), new)


def test_no_example_is_of_a_row_that_is_gone():
    names = {(row.where, row.old) for row in OLD_NAMES}
    assert {
        *ARGUMENTS,
        *MEMBERS,
        *(("scene", x) for x in SCENES),
        *(("command line", x) for x in COMMANDS),
    } <= names


def test_a_function_without_old_arguments_is_not_decorated():
    with pytest.raises(ValueError, match="no argument has an old name"):

        @accept_old_arguments
        def function():
            pass
