"""Check and rewrite the sympy expressions of a system: analytic functions, real for real arguments, with finite values.

Functions that are not in `_ANALYTIC` are rewritten in terms of those that are. A logarithm keeps its domain, which its
derivative would lose. Other expressions raise ModelError.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sympy as sp

from rigid.errors import ModelError
from rigid.symbolic.kernels import number_of
from rigid.system import Floats

_ANALYTIC = (
    *("sin", "cos", "tan", "exp", "log", "sinh", "cosh", "tanh", "asin", "acos", "atan"),
    "asinh",
)
_USE = f"use {', '.join(_ANALYTIC)} or sqrt"
_NOT_ANALYTIC = (
    *("Abs", "Piecewise", "sign", "Max", "Min", "Heaviside", "DiracDelta", "floor", "ceiling", "frac", "Mod"),
    *("re", "im", "arg", "conjugate", "atan2", "SingularityFunction"),
)


class _Positive(sp.Function):
    """Function that equals u if u is positive and is not real otherwise.

    It marks the argument of a logarithm, whose derivative 1/u then keeps the domain.
    """

    nargs = (1,)

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """Return the derivative 1."""
        return sp.Integer(1)


def _log(u: sp.Expr) -> sp.Expr:
    """Return log(u) with u marked by `_Positive`, unless u is a number or already marked."""
    return sp.log(u if u.is_number or isinstance(u, _Positive) else _Positive(u))


_REWRITTEN: dict[str, Callable[[sp.Expr], sp.Expr]] = {
    "log": _log,
    "cot": lambda u: sp.cos(u) / sp.sin(u),
    "sec": lambda u: 1 / sp.cos(u),
    "csc": lambda u: 1 / sp.sin(u),
    "coth": lambda u: sp.cosh(u) / sp.sinh(u),
    "sech": lambda u: 1 / sp.cosh(u),
    "csch": lambda u: 1 / sp.sinh(u),
    "acot": lambda u: sp.atan(1 / u),
    "asec": lambda u: sp.acos(1 / u),
    "acsc": lambda u: sp.asin(1 / u),
    "acosh": lambda u: _log(u + sp.sqrt(u - 1) * sp.sqrt(u + 1)),
    "atanh": lambda u: (_log(1 + u) - _log(1 - u)) / 2,
    "acoth": lambda u: (_log(1 + 1 / u) - _log(1 - 1 / u)) / 2,
    "asech": lambda u: _log(1 / u + sp.sqrt(1 / u - 1) * sp.sqrt(1 / u + 1)),
    "acsch": lambda u: sp.asinh(1 / u),
}


def expressions_of(name: str, what: str, value: Any) -> list[sp.Expr]:
    """Return the checked expressions in the list `value`; `what` and `name` (of the system) are for messages."""
    if isinstance(value, str | sp.Expr | Mapping) or not isinstance(value, Iterable):
        raise ModelError(
            f"system '{name}': {what} = {value!r}; give a list of expressions, [{value}] if it is one"
        )
    return [expression_of(name, what, x) for x in value]


def expression_of(name: str, what: str, value: Any) -> sp.Expr:
    """Return `value` as a sympy expression of analytic functions that kernels can evaluate, real for real arguments.

    Raises ModelError if that is not possible.
    """
    try:
        expression = sp.sympify(value, strict=True)
    except (sp.SympifyError, TypeError, ValueError):
        expression = None
    if not isinstance(expression, sp.Expr):
        raise ModelError(f"system '{name}': {what} = {value!r} is not an expression; write it with sympy")
    return _rewritten(name, what, expression, {})


def _rewritten(name: str, what: str, node: sp.Expr, done: dict[sp.Expr, sp.Expr]) -> sp.Expr:
    """Return the expression in sums, products, powers and functions of `_ANALYTIC`; raise ModelError for all others.

    `done`: cache of rewritten subexpressions.
    """
    if node in done:
        return done[node]
    kind = type(node).__name__
    if isinstance(node, sp.Symbol | sp.Number | sp.NumberSymbol):
        result = node
    elif isinstance(node, sp.Add | sp.Mul | sp.Pow | _Positive) or kind in _ANALYTIC or kind in _REWRITTEN:
        arguments = [_rewritten(name, what, x, done) for x in node.args]
        result = _REWRITTEN[kind](*arguments) if kind in _REWRITTEN and len(arguments) == 1 else node
        if result is node and list(node.args) != arguments:
            result = node.func(*arguments)
    elif kind in _NOT_ANALYTIC:
        raise ModelError(f"system '{name}': {what} contains {node}, which is not analytic; {_USE}")
    elif node.has(sp.I, sp.nan, sp.zoo, sp.oo, -sp.oo) and node.is_Atom:
        result = sp.nan
    else:
        raise ModelError(f"system '{name}': {what} contains {node}, which is not supported; {_USE}")
    if result.is_number and number_of(result) is None:
        raise ModelError(f"system '{name}': {what} contains {shown(node)}, which is not a finite real number")
    done[node] = result
    return result


def shown(expression: sp.Expr) -> str:
    """Return the expression as the user wrote it, as text without `_Positive`."""
    return str(expression.replace(_Positive, lambda u: u))


def are_equal(x: sp.Expr, y: sp.Expr) -> bool:
    """Return True if two expressions are equal; numbers are compared up to round-off."""
    if x.is_number and y.is_number:
        return math.isclose(number_of(x) or 0.0, number_of(y) or 0.0, rel_tol=1e-13)
    return bool(x == y or sp.simplify(x - y) == 0)


def values_at_start(
    name: str,
    q: list[sp.Symbol],
    q0: Floats,
    expressions: Mapping[str, Sequence[sp.Expr]],
    t: sp.Symbol | None,
) -> dict[str, list[float]]:
    """Return the values of all expressions at q0; those that depend on time are nan.

    Raises ModelError if a value is not real and finite.
    """
    values: dict[sp.Expr, float] = dict(zip(q, q0.tolist(), strict=True))
    if t is not None:
        values[t] = math.nan
    try:
        return {what: [_value(x, values) for x in entries] for what, entries in expressions.items()}
    except _OutsideDomain as outside:
        node = outside.args[0]
        what = next(key for key, entries in expressions.items() if any(x.has(node) for x in entries))
        node = sp.log(node) if isinstance(node, _Positive) else node
        raise ModelError(
            f"system '{name}': {what} contains {shown(node)}, which is not real and finite at q0 = {q0}; start where it is"
        ) from None


class _OutsideDomain(Exception):
    """Raised with the first subexpression that is not real and finite."""


def _value(node: sp.Expr, values: dict[sp.Expr, float]) -> float:
    """Return the real value of an expression; `values`: cache of values, initially those of the symbols."""
    if node not in values:
        if node.is_number:
            values[node] = number_of(node) or 0.0
            return values[node]
        arguments = [_value(x, values) for x in node.args]
        try:
            if isinstance(node, sp.Add):
                value = sum(arguments)
            elif isinstance(node, sp.Mul):
                value = math.prod(arguments)
            elif isinstance(node, sp.Pow):
                value = math.pow(*arguments)
            elif isinstance(node, _Positive):
                value = arguments[0]
                if value <= 0.0:
                    raise ValueError
            else:
                value = getattr(math, type(node).__name__)(arguments[0])
        except (ValueError, OverflowError):
            raise _OutsideDomain(node) from None
        if math.isinf(value):
            raise _OutsideDomain(node)
        values[node] = value
    return values[node]
