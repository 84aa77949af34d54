"""Rules for the sources of rigid and discretization that keep kernels readable."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(path for folder in ("rigid", "discretization") for path in (ROOT / folder).rglob("*.py"))
MOST = 10


def long_functions(source):
    """Names of functions with more than `MOST` positional parameters."""
    kinds = ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda
    return {
        getattr(node, "name", "lambda")
        for node in ast.walk(ast.parse(source))
        if isinstance(node, kinds) and len(node.args.posonlyargs) + len(node.args.args) > MOST
    }


def numbered_vectors(source):
    """Lines that address a scratch vector by its number: a subscript of an attribute `vector`."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "vector"
    ]


def test_functions_have_at_most_ten_positional_parameters():
    violations = {
        (str(path.relative_to(ROOT)), name) for path in FILES for name in long_functions(path.read_text())
    }
    assert not violations


def test_scratch_vectors_have_names():
    definitions = ROOT / "discretization/time/scratch_vectors.py"
    assert numbered_vectors(definitions.read_text())
    assert not {
        path: lines for path in FILES if path != definitions and (lines := numbered_vectors(path.read_text()))
    }


@pytest.mark.parametrize(("count", "long"), [(MOST, False), (MOST + 1, True)])
def test_keyword_only_parameters_are_not_counted(count, long):
    names = ", ".join(f"a{i}" for i in range(count))
    assert bool(long_functions(f"def f({names}, *more, b, c=1): pass")) == long
    assert bool(long_functions(f"f = lambda {names}: 0")) == long
    assert bool(long_functions(f"def f(a, /, {names[4:]}): pass")) == long
