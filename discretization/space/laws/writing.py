"""Generate the source of a law's energy and of its discrete derivative from the syntax tree of its expression.

The rules of differentiation hold for differences over a step: with bars for averages of both ends and f[ , ] for divided
differences (`slopes`),

    d(a + b) = da + db      d(a b) = abar db + bbar da      d(a/b) = (da - avg(a/b) db)/bbar      d f(a) = f[a0, a1] da        (1)

exactly, so that W1 - W0 = stress . (e1 - e0) for any expression. Both ends count alike; if they are equal the result is
the gradient; nothing is subtracted. The rules are applied backwards (reverse mode): `w` of a node is dW over the change of that
node.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

from discretization.space.laws import slopes

# node of a syntax tree:
# ("num", x), ("par", k), ("strain", k), ("neg", a), ("add" | "sub" | "mul" | "div" | "pow", a, b), (function, a)
Node = tuple[Any, ...]
_ENDS = ("e", "f")  # names of the strains at the start and the end of the step


def source_of(text: str, tree: Node) -> str:
    """Return the source of the module with the functions `density` and `stress` of an expression.

    `text`: the expression, which becomes a comment of the module; `tree`: its syntax tree.
    """
    lines = [
        f"# {text!r}",
        f"# {helpers()}",
        "from discretization.space.laws import slopes",
        "from discretization.space.laws.functions import PARAMETERS, density_function, stress_function",
        "from rigid.compilation import real_functions as real",
        "",
        "",
        *functions_of(tree, "density_function", "stress_function"),
    ]
    return "\n".join(lines)


def functions_of(tree: Node, decorator: str, stress_decorator: str) -> list[str]:
    """Return the source lines of the functions `density` and `stress`, with these decorators."""
    lines = [f"@{decorator}", *value_function(tree, "density")]
    writer = _Writer()
    writer.value(tree, 0)
    writer.value(tree, 1)
    on_strains = writer.backwards(tree)
    return [
        *lines,
        f"@{stress_decorator}",
        "def stress(e, f, X, at):",
        *writer.lines,
        f"    return {', '.join(on_strains)}",
        "",
    ]


def value_function(tree: Node, name: str) -> list[str]:
    """Return the source lines of the function `name` (e, X, at) of the value of an expression."""
    writer = _Writer()
    result = writer.value(tree, 0)
    return [f"def {name}(e, X, at):", *writer.lines, f"    return complex({result})", "", ""]


@functools.cache
def helpers() -> str:
    """Return a checksum of `slopes`, which becomes part of the source: numba's cache does not track changes of that module."""
    return hashlib.sha256(Path(slopes.__file__).read_bytes()).hexdigest()


def depends(node: Node) -> bool:
    """Return True if a tree contains a strain."""
    return node[0] == "strain" or any(depends(x) for x in node[1:] if isinstance(x, tuple))


class _Writer:
    """Collect the source lines of one function; each node is written once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._known: dict[Any, str] = {}
        self._order: list[Node] = []  # nodes that depend on the strains, each after its operands

    def value(self, node: Node, end: int) -> str:
        """Return the name of the value of a node at an end (0: start, 1: end), and write its lines on first use.

        A node without strains has a float as value, the same at both ends.
        """
        moves = depends(node)
        key = (node, end if moves else 0)
        if key in self._known:
            return self._known[key]
        text = self._text(node, end, moves)
        name = text
        if node[0] not in ("num", "strain"):
            name = f"x{len(self._known)}"
            self.lines.append(f"    {name} = {text}")
        self._known[key] = name
        if moves and end == 0:
            self._order.append(node)
        return name

    def _text(self, node: Node, end: int, moves: bool) -> str:
        """Return the expression of the value of a node; `moves`: True if the node depends on the strains."""
        word = node[0]
        if word == "num":
            return f"({node[1]!r})"
        if word == "par":
            return f"X[at + PARAMETERS + {node[1]}]"
        if word == "strain":
            return f"{_ENDS[end]}[{node[1]}]"
        if word == "pow":
            return self._power(node, end, moves)
        values = [self.value(x, end) for x in node[1:]]
        if word == "neg":
            return f"-{values[0]}"
        if word in ("add", "sub", "mul", "div"):
            sign = {"add": "+", "sub": "-", "mul": "*", "div": "/"}[word]
            return f"{values[0]} {sign} {values[1]}"
        return f"real.{word}({values[0]})" if moves else f"real.made_of(real.{word}(complex({values[0]})), X)"

    def _power(self, node: Node, end: int, moves: bool) -> str:
        """Return the expression of a power; whole and half exponents are written without a logarithm."""
        base = self.value(node[1], end)
        base = base if moves else f"complex({base})"
        n, half, inverse = _exponent(node[2])
        if n is None:
            text = f"real.power({base}, complex({self.value(node[2], 0)}))"
        else:
            text = f"real.whole_power({f'real.sqrt({base})' if half else base}, {n})"
            text = f"real.reciprocal({text})" if inverse else text
        return text if moves else f"real.made_of({text}, X)"

    def backwards(self, tree: Node) -> list[str]:
        """Apply (1) from the root to the strains and return the expressions of the six stresses."""
        shares: dict[Node, list[str]] = {tree: ["1.0"]}
        stresses = ["0j"] * 6
        for node in reversed(self._order):
            if node not in shares:
                continue
            w = " + ".join(shares[node])
            if node[0] == "strain":
                stresses[node[1]] = f"complex({w})"
                continue
            name = f"w{len(self.lines)}"
            self.lines.append(f"    {name} = {w}")
            for child, factor in self._shares(node, name):
                if depends(child):
                    shares.setdefault(child, []).append(factor)
        return stresses

    def _mean(self, node: Node) -> str:
        """Return the expression of the average of a node over both ends."""
        a, b = self.value(node, 0), self.value(node, 1)
        return f"0.5*({a} + {b})" if a != b else a

    def _shares(self, node: Node, w: str) -> list[tuple[Node, str]]:
        """Return (child, expression) for each child of a node: its part of w by (1)."""
        word, a = node[0], node[1]
        if word == "neg":
            return [(a, f"-{w}")]
        if word == "pow":
            return [(a, f"{w}*{self._power_slope(node)}")]
        if word not in ("add", "sub", "mul", "div"):
            return [(a, f"{w}*slopes.{word}({self.value(a, 0)}, {self.value(a, 1)})")]
        b = node[2]
        if word == "mul":
            return [(a, f"{w}*({self._mean(b)})"), (b, f"{w}*({self._mean(a)})")]
        if word == "div":
            below = self._mean(b)
            return [(a, f"{w}/({below})"), (b, f"-{w}*({self._mean(node)})/({below})")]
        return [(a, w), (b, w if word == "add" else f"-{w}")]

    def _power_slope(self, node: Node) -> str:
        """Return the expression of the divided difference of a power to its base."""
        a, b = self.value(node[1], 0), self.value(node[1], 1)
        n, half, inverse = _exponent(node[2])
        if n is None:
            return f"slopes.power({a}, {b}, {self.value(node[2], 0)})"
        if n == 0:
            return "0.0"
        text = f"slopes.{'half' if half else 'whole'}_power({a}, {b}, {n})"
        # 1/y1 - 1/y0 = -(y1 - y0)/(y0 y1)
        return f"(-{text}*{self.value(node, 0)}*{self.value(node, 1)})" if inverse else text


def _exponent(node: Node) -> tuple[int | None, bool, bool]:
    """Return n of an exponent n or n/2, True if it is halved, and True if it is negative; n is None for other exponents."""
    if node[0] != "num" or not float(2.0 * node[1]).is_integer():
        return None, False, False
    twice = int(2.0 * node[1])
    half = twice % 2 != 0
    return abs(twice) if half else abs(twice) // 2, half, twice < 0
