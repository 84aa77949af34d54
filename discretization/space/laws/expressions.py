"""Read section laws that a user writes as text, the stored energy per length W of the six strains, and compile their functions.

    (EA*Gamma1**2 + GJ*K1**2)/2 + EI*k0**2*(sqrt(1 + (K2**2 + K3**2)/k0**2) - 1)

A text may hold numbers, the strains, parameters by any other name, + - * / **, and the functions of `FUNCTIONS`. Python's parser
alone reads it, node by node; it is never run. `writing` generates the compiled code from the syntax tree.
"""

from __future__ import annotations

import ast
import functools
import math
from types import ModuleType
from typing import Any

from discretization.space.laws import MOST_PARAMETERS
from discretization.space.laws.writing import Node, depends, source_of
from rigid.checks import shown
from rigid.compilation.generated_modules import load_module
from rigid.errors import ModelError

STRAINS = ("Gamma1", "Gamma2", "Gamma3", "K1", "K2", "K3")
FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan")
LONGEST, MOST_NODES = 4000, 600  # largest number of characters of a text, and of nodes of its tree
MOST_POWER = 64  # largest whole or half exponent
_OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow"}


def canonical(owner: str, text: str, variables: tuple[str, ...] = STRAINS) -> str:
    """Return the text as Python writes it.

    `variables`: up to six names of the arguments of the function; all other names are parameters. Raises ModelError if the text
    is not an expression of this kind.
    """
    tree = _parsed(owner, text)
    _tree(owner, tree, variables)
    return ast.unparse(tree)


def parameters_of(text: str, variables: tuple[str, ...] = STRAINS) -> tuple[str, ...]:
    """Return the names of the parameters of a canonical text, in the order in which they are numbered."""
    return _names(_parsed("law", text), variables)


def tree_of(text: str, variables: tuple[str, ...] = STRAINS) -> Node:
    """Return the syntax tree of a canonical text; its variables are the strains of `writing`, numbered by their position."""
    return _tree("law", _parsed("law", text), variables)


@functools.cache
def law_of(text: str) -> ModuleType:
    """Return the module with the compiled functions `density` and `stress` of a canonical text."""
    return load_module(source_of(text, tree_of(text)))


def _parsed(owner: str, text: str) -> ast.expr:
    """Return Python's syntax tree of a text; raise ModelError if it cannot be read or is too long."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ModelError(f"{owner}: expression = {shown(text)} is not a text of up to {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ModelError(
            f"{owner}: expression = {shown(text)} cannot be read; write it as in Python, a**2 for a square"
        ) from None
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        raise ModelError(f"{owner}: expression = {shown(text)} is too long; use at most {MOST_NODES} parts")
    return tree


def _names(tree: ast.expr, variables: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sorted names of the parameters: all names that are not functions, variables or pi."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}
    return tuple(sorted(names - {*variables, "pi"}))


def _tree(owner: str, tree: ast.expr, variables: tuple[str, ...]) -> Node:
    """Return the tree of an expression; raise ModelError if it has more than `MOST_PARAMETERS` parameters."""
    names = _names(tree, variables)
    if len(names) > MOST_PARAMETERS:
        raise ModelError(
            f"{owner}: the expression has {len(names)} parameters, {', '.join(names)}; write numbers for all but "
            f"{MOST_PARAMETERS}"
        )
    return _node(owner, tree, (names, variables))


def _node(owner: str, at: ast.expr, known: tuple[tuple[str, ...], tuple[str, ...]]) -> Node:
    """Return the tree of an expression with constants folded; known: names of its parameters, and of its variables."""
    names, variables = known
    if isinstance(at, ast.Constant) and type(at.value) in (int, float):
        return _number(owner, at, float(ast.unparse(at)))
    if isinstance(at, ast.Name):
        if at.id in variables:
            return ("strain", variables.index(at.id))
        return ("num", math.pi) if at.id == "pi" else ("par", names.index(at.id))
    if isinstance(at, ast.UnaryOp) and isinstance(at.op, ast.USub | ast.UAdd):
        inside = _node(owner, at.operand, known)
        if isinstance(at.op, ast.UAdd):
            return inside
        return ("num", -inside[1]) if inside[0] == "num" else ("neg", inside)
    if isinstance(at, ast.BinOp) and type(at.op) in _OPERATORS:
        a, b = _node(owner, at.left, known), _node(owner, at.right, known)
        return _combined(owner, at, _OPERATORS[type(at.op)], a, b)
    if isinstance(at, ast.Call) and isinstance(at.func, ast.Name) and not at.keywords:
        if at.func.id in FUNCTIONS and len(at.args) == 1:
            return (at.func.id, _node(owner, at.args[0], known))
        raise ModelError(
            f"{owner}: '{ast.unparse(at)}' is not known in an expression; use {', '.join(FUNCTIONS)} of one argument"
        )
    raise ModelError(
        f"{owner}: {shown(ast.unparse(at))} cannot stand in an expression; use numbers, names, + - * / ** and "
        f"{', '.join(FUNCTIONS)}"
    )


def _number(owner: str, at: ast.expr, value: Any) -> Node:
    """Return the node of a number; raise ModelError if it is not finite and real."""
    if isinstance(value, complex) or not math.isfinite(value):
        raise ModelError(f"{owner}: {shown(ast.unparse(at))} is not a finite real number")
    return ("num", value)


def _combined(owner: str, at: ast.BinOp, word: str, a: Node, b: Node) -> Node:
    """Return the node of a binary operation; fold two numbers, and write a power whose exponent has strains by exp and log."""
    if a[0] == b[0] == "num":
        x, y = a[1], b[1]
        try:
            value = {
                "add": x.__add__,
                "sub": x.__sub__,
                "mul": x.__mul__,
                "div": x.__truediv__,
                "pow": x.__pow__,
            }[word](y)
        except (OverflowError, ZeroDivisionError):
            value = math.nan
        return _number(owner, at, value)
    if word != "pow":
        return (word, a, b)
    if depends(b):
        return ("exp", ("mul", b, ("log", a)))
    if b[0] == "num" and float(2 * b[1]).is_integer() and abs(b[1]) > MOST_POWER:
        raise ModelError(
            f"{owner}: the power {b[1]:g} in an expression is larger than {MOST_POWER}; write it with exp"
        )
    return ("pow", a, b)
