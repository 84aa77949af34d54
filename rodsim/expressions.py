"""Read formulas that users write as text: numbers of scenes, functions of time, energies and contact laws.

Formulas use the notation of Python: numbers, names, pi, + - * / ** and the functions of `FUNCTIONS`. Python's parser reads
them and this module evaluates them node by node. Nodes that are not in these tables are rejected; no text is executed. Energies
and contact laws become compiled code or polynomials; `canonical`, `parameters_of` and `tree_of` read these.
"""

from __future__ import annotations

import ast
import difflib
import functools
import keyword
import math
import operator
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discretization.space.laws import expressions as laws
from rigid.checks import shown

# texts of which compiled code or a polynomial is made
canonical, parameters_of, tree_of, LAW_FUNCTIONS = (
    laws.canonical,
    laws.parameters_of,
    laws.tree_of,
    laws.FUNCTIONS,
)

LONGEST = 1000  # characters of a formula
FUNCTIONS: Mapping[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan")},
    **{name: getattr(math, name) for name in ("atan2", "radians", "degrees")},
    **{"abs": abs, "min": min, "max": max, "floor": math.floor, "ceil": math.ceil, "round": round},
}  # fmt: skip
# functions of arrays by the same names; those in KINKED have no derivative everywhere
ARRAY_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("sqrt", "exp", "sin", "cos", "tan", "floor", "ceil", "abs")},
    "log": lambda x, *base: np.log(x) / np.log(base[0]) if base else np.log(x),
    **{"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "round": np.round},
    **{"radians": lambda x: x * (math.pi / 180), "degrees": lambda x: x * (180 / math.pi)},
    **{"min": lambda *x: np.min(np.broadcast_arrays(*x), 0), "max": lambda *x: np.max(np.broadcast_arrays(*x), 0)},
}  # fmt: skip
KINKED = ("abs", "atan2", "ceil", "floor", "max", "min", "round")
CONSTANTS = {"pi": math.pi}
_WHOLE = 10**6  # powers of integers up to this are integers; powers of larger ones are floats
_SIGNS: Mapping[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_NOT_EVALUATED = (ArithmeticError, TypeError, ValueError)


def _power(a: Any, b: Any) -> Any:
    """Return a**b; integers of limited size give an integer, other numbers a float, so that the result stays small."""
    if not (isinstance(a, int | float) and isinstance(b, int | float)):
        return a**b
    is_integer = isinstance(a, int) and isinstance(b, int) and abs(a) <= _WHOLE and 0 <= b <= 64
    return a**b if is_integer else float(a) ** float(b)


_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}


class ExpressionError(ValueError):
    """Raised for an error in a formula; the text names error and remedy."""


def name_fault(name: str) -> str | None:
    """Return the reason why a parameter cannot have this name; None if it can."""
    if not name.isidentifier() or keyword.iskeyword(name):
        return "is not a name that can be used in an expression; use letters, digits and _, as arm_length"
    if name in FUNCTIONS or name in CONSTANTS:
        return "means something else in expressions; choose another name"
    return None


def parsed(text: str) -> ast.expr:
    """Return the syntax tree of a formula; raise ExpressionError if it cannot be read or is too long."""
    if len(text) > LONGEST:
        raise ExpressionError(f"is longer than {LONGEST} characters; give parts of it as parameters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError("cannot be read; write it as in Python, a**2 for a square") from None


def names_in(tree: ast.expr) -> set[str]:
    """Return the names in a formula apart from those of the functions that it calls."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}


def number_of(text: str, values: Mapping[str, float]) -> float:
    """Evaluate a formula of named numbers; raise ExpressionError if it has no finite real value."""
    value = evaluated(parsed(text), values, FUNCTIONS)
    if isinstance(value, complex) or not _is_finite(value):
        raise ExpressionError("is not a finite real number; check its powers and parameters")
    return float(value) if isinstance(value, np.generic) else value


def bound(tree: ast.expr, values: Mapping[str, float], free: Iterable[str]) -> ast.expr:
    """Return a formula with numbers in place of all names but those in `free`; ExpressionError for an unknown name."""
    known = ChainMap(dict.fromkeys(free, 0.0), values)  # type: ignore[arg-type]  # both are only read

    class Binder(ast.NodeTransformer):
        """Replace names by numbers; names of functions stay."""

        def visit_Call(self, node: ast.Call) -> ast.Call:
            return ast.Call(node.func, [self.visit(x) for x in node.args], node.keywords)

        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id in CONSTANTS or node.id in known.maps[0]:
                return node
            value = _named(node.id, known)
            number = ast.Constant(abs(value))  # a negative constant would be written without brackets
            return ast.UnaryOp(ast.USub(), number) if value < 0 else number

    made: ast.expr = Binder().visit(tree)
    return made


def evaluated(at: ast.expr, values: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> Any:
    """Evaluate a syntax tree; raise ExpressionError for any node that is not allowed, and for undefined results."""
    return function_of(at, functions)(values)


def function_of(
    at: ast.expr, functions: Mapping[str, Callable[..., Any]]
) -> Callable[[Mapping[str, Any]], Any]:
    """Return the function of named values that a syntax tree describes; raise ExpressionError for any node that is not allowed.

    The function raises ExpressionError for undefined results.
    """
    if isinstance(at, ast.Constant) and type(at.value) in (int, float):
        value = at.value
        return lambda _: value
    if isinstance(at, ast.Name):
        return functools.partial(_named, at.id)
    function: Callable[..., Any] | None = None
    operands: list[ast.expr] = []
    if isinstance(at, ast.UnaryOp):
        function, operands = _SIGNS.get(type(at.op)), [at.operand]
    elif isinstance(at, ast.BinOp):
        function, operands = _OPERATORS.get(type(at.op)), [at.left, at.right]
    elif isinstance(at, ast.Call) and isinstance(at.func, ast.Name) and not at.keywords:
        function, operands = functions.get(at.func.id), at.args
        function = None if any(isinstance(x, ast.Starred) for x in operands) else function
    if function is None:
        raise ExpressionError(
            f"{shown(ast.unparse(at))} cannot stand in an expression; use numbers, parameters, pi, + - * / ** and "
            f"{', '.join(FUNCTIONS)}"
        )
    return _applied(at, function, [function_of(x, functions) for x in operands])


def _applied(at: ast.expr, function: Callable[..., Any], operands: Sequence[Any]) -> Callable[[Any], Any]:
    """Return the function that applies `function` to the values of `operands`, functions themselves; `at`: for messages."""

    def apply(values: Mapping[str, Any]) -> Any:
        arguments = [operand(values) for operand in operands]
        try:
            return function(*arguments)
        except ExpressionError:
            raise
        except _NOT_EVALUATED as error:
            raise ExpressionError(f"{shown(ast.unparse(at))} cannot be evaluated: {error}") from None

    return apply


def _is_finite(x: float) -> bool:
    """Return True if a number is finite as a float."""
    try:
        return math.isfinite(x)
    except OverflowError:  # an integer beyond the range of floats
        return False


def _named(name: str, values: Mapping[str, Any]) -> Any:
    """Return the value of a constant or parameter; raise ExpressionError with the closest name if there is none."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    if name in values:
        try:
            return values[name]
        except ExpressionError:
            raise
        except ValueError as error:
            raise ExpressionError(str(error)) from None
    near = difflib.get_close_matches(name, values, 1)
    if near:
        cure = f"did you mean {near[0]!r}?"
    else:
        known = ", ".join(values)
        cure = f"there are {known}" if known else "the scene has none; give them under 'parameters'"
    raise ExpressionError(f"there is no parameter {name!r}; {cure}")
