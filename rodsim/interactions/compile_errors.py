"""Explain in terms of a user's function why numba does not compile it."""

from __future__ import annotations

import re
from pathlib import Path

import rigid
import rodsim

# folders of this program: helpers, and callers of the user's functions
_OURS = tuple(str(Path(package.__file__ or "").resolve().parent) for package in (rigid, rodsim))
_TYPES = (
    (r"Literal\[\w+\]\(([^)]*)\)", r"\1"),
    (r"(?:Uni)?Tuple\((?:complex128|float64|int64) x (\d+)\)", r"tuple of \1 numbers"),
    (r"[Aa]rray\((?:complex128|float64), 1d?,[^)]*\)", "array with 1 index"),
    (r"[Aa]rray\((?:complex128|float64), (\d)d?,[^)]*\)", r"array with \1 indices"),
    (r"complex128|float64|int64", "number"),
)
_COMPARISONS = ("gt", "ge", "lt", "le")
_OPERATORS = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "mod": "%"},
    **{"iadd": "+", "isub": "-", "imul": "*", "itruediv": "/"},
    **{"gt": ">", "ge": ">=", "lt": "<", "le": "<=", "eq": "==", "ne": "!="},
}


def explain(error: Exception) -> str:
    """Return what is wrong, and in which line of the user's file if numba reports it."""
    text = str(error)
    place = _place(text)
    return f"{_reason(text)}{place}"


def _reason(text: str) -> str:
    """Return the cause of an error of numba in plain words."""
    if match := re.search(r"NameError: (name '\w+' is not defined)", text):
        return match[1]
    if match := re.search(r"Untyped global name '(\w+)'", text):
        return f"'{match[1]}' cannot be used in a compiled function"
    if match := re.search(r"Unknown attribute '(\w+)' of type (.*)", text):
        return f"{_plain(match[2])} has no '{match[1]}'"
    if match := re.search(r"Can't unify return type from the following types: (.*)", text):
        return f"it returns values of different types: {_plain(match[1])}"
    if match := re.search(r"Cannot unify (.*) and (.*) for '([\w$]+)[.\d]*'", text):
        name = "a value" if match[3].startswith("$") else f"'{match[3]}'"  # $: numba's name of an expression
        return f"{name} is {_plain(match[1])} in one place and {_plain(match[2])} in another"
    if match := re.search(r">>> setitem\(array\(complex128, 1d, C\), Literal\[int\]\(0\), (.*)\)", text):
        return f"it returns {_plain(match[1])}, not a number"
    if match := re.search(r">>> (\w+)\((.*)\)", text):
        return _impossible(match[1], match[2])
    if match := re.search(r"No definition for lowering <built-in function (\w+)>\((.*?)\) ->", text):
        return _impossible(match[1], match[2])
    lines = [line.strip() for line in text.splitlines()]
    return _plain(next((line for line in lines if line and not line.startswith("Failed in nopython")), text))


def _impossible(function: str, arguments: str) -> str:
    """Describe an operation that numba does not know for these arguments."""
    plain = _plain(arguments)
    if function in _COMPARISONS and plain == "number, number":
        return f"number {_OPERATORS[function]} number is not possible for complex numbers; compare `.real`"
    if function in _OPERATORS and plain.count(", ") == 1:
        return f"{plain.replace(', ', f' {_OPERATORS[function]} ')} is not possible"
    if function == "getitem" and plain.count(", ") == 1:
        return f"an index {plain.split(', ')[1]} of a {plain.split(', ')[0]} is not possible"
    return f"{function}({plain}) is not possible"


def _plain(types: str) -> str:
    """Replace names of numba's types by plain words."""
    for pattern, words in _TYPES:
        types = re.sub(pattern, words, types)
    return types.strip()


def _place(text: str) -> str:
    """Return line, file and source of the first location in the user's code; "" if there is none."""
    for match in re.finditer(r'File "([^"]+)", line (\d+):\s*\n((?:.*\n)*?)\s*\^', text):
        path = Path(match[1]).resolve()
        if not str(path).startswith(_OURS):
            source = match[3].strip().splitlines()[-1].strip()
            return f" (line {match[2]} of {path.name}: {source})"
    return ""
