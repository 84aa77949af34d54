"""Docstrings of the public interface are complete in the form of numpydoc: every argument with its type, results, examples."""

from numpydoc import validate

from tests.support.public_callables import public


def incomplete():
    """Names of public callables whose docstrings lack something -> what."""
    found = {}
    for name, codes in public():
        errors = [f"{code} {text}" for code, text in validate.validate(name)["errors"] if code in codes]
        if errors:
            found[name] = errors
    return found


def test_docstrings_of_the_public_interface_are_complete():
    assert len(list(public())) > 200
    assert incomplete() == {}
