"""Docstrings of the public interface are complete in the form of numpydoc: every argument with its type, results, examples.

`docstrings_to_do.txt` lists what is not yet; a docstring that is complete leaves the list, and none comes to it.
"""

from pathlib import Path

from numpydoc import validate

from tests.support.public_callables import public

TO_DO = Path(__file__).with_name("docstrings_to_do.txt")


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
