"""Docstrings begin with a verb or with the noun of the field, not with a genitive or a reference to the one before."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPENINGS = re.compile(
    r"(The same|As (of|in|for|`)|Of |What |Those|That of|It |They |Its |Their |Whose|Which|Where )"
)


def docstrings(package):
    """Yield the place and the docstring of each function and class of a package."""
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and (text := ast.get_docstring(node)):
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", text


@pytest.mark.parametrize("package", ["rigid", "discretization", "rodsim"])
def test_docstrings_say_what_a_thing_is_or_does(package):
    found = list(docstrings(package))
    assert len(found) > 1000
    assert not [f"{place}: {text[:40]}" for place, text in found if OPENINGS.match(text)]


@pytest.mark.parametrize(
    ("text", "refused"), [("The same of rods.", True), ("As of `em`.", True), ("Assemble rods.", False)]
)
def test_the_rule_tells_openings_apart(text, refused):
    assert bool(OPENINGS.match(text)) is refused
