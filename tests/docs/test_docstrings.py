"""Docstrings of the public interface are complete in the form of numpydoc: every argument with its type, results, examples.

`docstrings_to_do.txt` lists what is not yet; a docstring that is complete leaves the list, and none comes to it.
"""

import inspect
from pathlib import Path

from numpydoc import validate

import rodsim
from rodsim.old_names import OLD_NAMES

TO_DO = Path(__file__).with_name("docstrings_to_do.txt")
# no docstring; no summary, or one of several lines; arguments that are missing, unknown, without a type or a meaning;
# nothing about what is returned; no example
CODES = {"GL08", "SS01", "SS06", "PR01", "PR02", "PR04", "PR07", "RT01", "EX01"}
WITHOUT_EXAMPLES = CODES - {"EX01"}  # methods: the class has examples


def public():
    """(name, codes that count) of all public functions, classes and their public methods."""
    things = [getattr(rodsim, name) for name in rodsim.__all__]
    modules = [rodsim, *(thing for thing in things if inspect.ismodule(thing))]
    for module in modules:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing) or (inspect.isclass(thing) and issubclass(thing, Exception)):
                continue
            if not callable(thing):
                continue
            yield f"{module.__name__}.{name}", CODES
            if inspect.isclass(thing):
                old = {row.old for row in OLD_NAMES if row.where == thing.__name__}
                for method, value in vars(thing).items():
                    if (
                        method not in old
                        and not method.startswith("_")
                        and (callable(value) or isinstance(value, classmethod | staticmethod))
                    ):
                        yield f"{module.__name__}.{name}.{method}", WITHOUT_EXAMPLES


def incomplete():
    """Names of public callables whose docstrings lack something -> what."""
    found = {}
    for name, codes in public():
        errors = [f"{code} {text}" for code, text in validate.validate(name)["errors"] if code in codes]
        if errors:
            found[name] = errors
    return found


def test_docstrings_of_the_public_interface_are_complete_or_listed_as_not_yet():
    found, listed = incomplete(), set(TO_DO.read_text().split())
    assert not {name: errors for name, errors in found.items() if name not in listed}
    assert sorted(listed - set(found)) == []  # complete now: take them off the list


if __name__ == "__main__":
    TO_DO.write_text("".join(f"{name}\n" for name in sorted(incomplete())))
