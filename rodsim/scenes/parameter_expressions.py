"""Evaluate numbers of a scene given as expressions of its parameters, text that begins with `=`, such as `=L/2 + 0.01`.

Expressions use the notation of Python: numbers, names under `parameters`, pi, + - * / ** and the functions of `FUNCTIONS`. They
are parsed with Python's parser and evaluated node by node. Nodes that are not in these tables are rejected; no text is executed.
"""

from __future__ import annotations

import ast
import difflib
import keyword
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from rigid.checks import shown
from rodsim.scenes.errors import Path, SceneError, SceneProblem
from rodsim.scenes.reading import Source

SIGN, PARAMETERS = "=", "parameters"
LONGEST, DEEPEST = 1000, 40  # characters of an expression; nesting of data that is not from a file
FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "atan2": math.atan2,
    "radians": math.radians,
    "degrees": math.degrees,
    "abs": abs,
    "min": min,
    "max": max,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
}
CONSTANTS = {"pi": math.pi}
_WHOLE = 10**6  # powers of integers up to this are integers; powers of larger ones are floats
_SIGNS: Mapping[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_NOT_WORKED_OUT = (ArithmeticError, TypeError, ValueError)


def _power(a: float, b: float) -> Any:
    """Return a**b; integers of limited size give an integer, other numbers a float, so that the result stays small."""
    whole = isinstance(a, int) and isinstance(b, int) and abs(a) <= _WHOLE and 0 <= b <= 64
    return a**b if whole else float(a) ** float(b)


_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}


def name_fault(name: str) -> str | None:
    """Return the reason why a parameter cannot have this name; None if it can."""
    if not name.isidentifier() or keyword.iskeyword(name):
        return "is no word that can stand in an expression; use letters, digits and _, as arm_length"
    if name in FUNCTIONS or name in CONSTANTS:
        return "means something else in expressions; choose another name"
    return None


def is_expression(value: Any) -> bool:
    """Return True if a value of a scene is an expression."""
    return isinstance(value, str) and value.startswith(SIGN)


def evaluated(source: Source) -> Source:
    """Return the source with expressions replaced by numbers; SceneError names line, text and remedy."""
    if not isinstance(source.data, dict):
        return source
    values = _Values(source.data.get(PARAMETERS))
    problems: list[SceneProblem] = []
    data = _replaced(source.data, (), values, problems)
    if problems:
        lines = sorted({(source.line(problem.path), str(problem)) for problem in problems})
        raise SceneError([(source.file, line, text) for line, text in lines[:10]])
    return Source(source.file, data, source.lines, source.text, source.what)


def _replaced(value: Any, path: Path, values: _Values, problems: list[SceneProblem]) -> Any:
    """Return the data with expressions replaced by numbers; append an entry to `problems` for each that fails."""
    if isinstance(value, dict) and len(path) <= DEEPEST:
        return {key: _replaced(x, (*path, key), values, problems) for key, x in value.items()}
    if isinstance(value, list) and len(path) <= DEEPEST:
        return [_replaced(x, (*path, k), values, problems) for k, x in enumerate(value)]
    if not is_expression(value):
        return value
    try:
        if len(path) == 2 and path[0] == PARAMETERS:
            return values[str(path[1])]
        return worked_out(value[len(SIGN) :], values)
    except ValueError as error:
        where = ".".join(str(part) for part in path)
        problems.append(SceneProblem(path, f"{where} = {shown(value)}: {error}"))
        return value


class _Values(Mapping[str, float]):
    """Parameters by name, evaluated on first access."""

    def __init__(self, given: Any) -> None:
        self._given = given if isinstance(given, dict) else {}
        self._known: dict[str, float] = {}
        self._under_way: list[str] = []

    def __getitem__(self, name: str) -> float:
        if name in self._known:
            return self._known[name]
        value = self._given[name]
        if is_expression(value):
            if name in self._under_way:
                way = [*self._under_way[self._under_way.index(name) :], name]
                raise ValueError(f"parameters go round in a circle, {' -> '.join(way)}; give one a number")
            self._under_way.append(name)
            try:
                value = self._known[name] = worked_out(value[len(SIGN) :], self)
                return value
            finally:
                self._under_way.pop()
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"parameter '{name}' = {shown(value)} is no number; give one")
        return value

    def __iter__(self) -> Any:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


def worked_out(text: str, values: Mapping[str, float]) -> float:
    """Evaluate an expression (text without the leading `=`) and return the number; ValueError if it has none."""
    if len(text) > LONGEST:
        raise ValueError(f"is longer than {LONGEST} characters; give parts of it as parameters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError("cannot be read; write it as in Python, a**2 for a square") from None
    found = _value(tree, values)
    if isinstance(found, complex) or not _finite(found):
        raise ValueError("is no finite real number; look at its powers and parameters")
    return found


def _finite(x: float) -> bool:
    """Return True if a number is finite as a float."""
    try:
        return math.isfinite(x)
    except OverflowError:  # an integer beyond the range of floats
        return False


def _value(at: ast.expr, values: Mapping[str, float]) -> Any:
    """Evaluate a node of the parsed expression; raise _ExpressionError for any node that is not allowed."""
    if isinstance(at, ast.Constant) and type(at.value) in (int, float):
        return at.value
    if isinstance(at, ast.Name):
        return _named(at.id, values)
    try:
        if isinstance(at, ast.UnaryOp) and type(at.op) in _SIGNS:
            return _SIGNS[type(at.op)](_value(at.operand, values))
        if isinstance(at, ast.BinOp) and type(at.op) in _OPERATORS:
            return _OPERATORS[type(at.op)](_value(at.left, values), _value(at.right, values))
        if isinstance(at, ast.Call) and isinstance(at.func, ast.Name) and not at.keywords:
            function = FUNCTIONS.get(at.func.id)
            if function is not None and not any(isinstance(x, ast.Starred) for x in at.args):
                return function(*(_value(x, values) for x in at.args))
    except _ExpressionError:
        raise
    except _NOT_WORKED_OUT as error:
        raise _ExpressionError(f"{shown(ast.unparse(at))} cannot be worked out: {error}") from None
    raise _ExpressionError(
        f"{shown(ast.unparse(at))} cannot stand in an expression; use numbers, parameters, pi, + - * / ** and "
        f"{', '.join(FUNCTIONS)}"
    )


class _ExpressionError(ValueError):
    """Raised for an error in an expression; the text names error and remedy."""


def _named(name: str, values: Mapping[str, float]) -> float:
    """Return the value of a constant or parameter; raise _ExpressionError with the closest name if there is none."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    if name in values:
        try:
            return values[name]
        except _ExpressionError:
            raise
        except ValueError as error:
            raise _ExpressionError(str(error)) from None
    near = difflib.get_close_matches(name, values, 1)
    if near:
        cure = f"did you mean {near[0]!r}?"
    else:
        known = ", ".join(values)
        cure = f"there are {known}" if known else f"the scene has none; give them under '{PARAMETERS}'"
    raise _ExpressionError(f"there is no parameter {name!r}; {cure}")
