"""Generate the kernels of a symbolic system as Python source with complex arguments.

The expressions have been checked by `symbolic.systems` and depend on the coordinates q0, q1, ... and `TIME`. A potential V(s)
with s = pi(q) quadratic has the discrete gradient (V(s1) - V(s0))/(s1 - s0) dpi(qbar): 002 (126), Gonzalez 1996.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from rigid.mechanics import mechanical_system
from rigid.symbolic.potential_terms import PotentialTerm
from rigid.system import Floats

TIME, INVARIANT = sp.Symbol("t"), sp.Symbol("s")


def number_of(constant: sp.Expr) -> float | None:
    """Return the value of an expression without symbols, or None if it is not real and finite."""
    try:
        value = complex(sp.N(constant, 20))
    except (TypeError, ValueError, OverflowError):
        return None
    return value.real if value.imag == 0.0 and math.isfinite(value.real) else None


def degree_at_most(expression: sp.Expr, q: list[sp.Symbol], degree: int) -> bool:
    """Return True if an expression is a polynomial of at most this degree in q."""
    try:
        return sp.Poly(expression, *q).total_degree() <= degree
    except sp.PolynomialError:
        return False


def write_kernels(
    writer: Writer,
    q: list[sp.Symbol],
    M: sp.Matrix,
    V: sp.Expr,
    parts: list[PotentialTerm],
    g: list[sp.Expr],
    forces: list[sp.Expr] | None,
    at_start: Floats,
) -> int:
    """Write all kernels of a system and return its flags.

    `parts`: terms of V in quadratic invariants, may be empty; `at_start`: M(q0) (n, n).
    """
    n, flags = len(q), 0
    constant = not any(M.has(x) for x in q)
    if np.linalg.matrix_rank(at_start, tol=1e-12 * max(np.abs(at_start).max(), 1e-300)) < n:
        flags |= mechanical_system.SINGULAR_MASS
    a, b, lam = sp.symbols(f"a0:{n}"), sp.symbols(f"b0:{n}"), sp.symbols(f"l0:{len(g)}")
    writer.function("mass", "q, D, out", M)
    if constant:
        flags |= mechanical_system.CONSTANT_MASS
        if not flags & mechanical_system.SINGULAR_MASS:
            flags |= mechanical_system.INVERSE_MASS
            writer.function("inverse_mass", "q, D, out", sp.Matrix(np.linalg.inv(at_start)))
    else:
        form = (sp.Matrix([a]) * M * sp.Matrix(b))[0]
        writer.function("mass_gradient", "q, a, b, D, out", gradient_of(form, q), {"a": a, "b": b})
    writer.function("potential", "q, D, out", sp.Matrix([V]))
    writer.function("gradient", "q, D, out", gradient_of(V, q))
    mid = list(sp.symbols(f"e0:{n}"))
    half = {x: (x + y) / 2 for x, y in zip(q, mid, strict=True)}
    if parts or degree_at_most(V, q, 2):
        flags |= mechanical_system.DISCRETE_POTENTIAL
        writer.discrete_gradient(parts, V, q, mid, half)
    if g:
        G = sp.Matrix(g).jacobian(q)
        writer.function("constraints", "q, D, out", sp.Matrix(g))
        writer.function("jacobian", "q, D, out", G)
        pull = (sp.Matrix([lam]) * G * sp.Matrix(a))[0]
        writer.function("curvature", "q, a, lam, D, out", gradient_of(pull, q), {"a": a, "lam": lam})
        if all(degree_at_most(x, q, 2) for x in g):
            flags |= mechanical_system.DISCRETE_CONSTRAINTS
            middle = G.subs(half, simultaneous=True)
            writer.function("discrete_jacobian", "q, q1, D, out", middle, {"q1": mid})
    else:
        flags |= mechanical_system.DISCRETE_CONSTRAINTS
    if forces is not None:
        writer.function("force", "q, signal, D, out", sp.Matrix(forces))
    return flags


def gradient_of(f: sp.Expr, q: list[sp.Symbol]) -> sp.Matrix:
    """Return the gradient (n, 1) of f with respect to q."""
    return sp.Matrix([sp.diff(f, x) for x in q])


def python_of(node: sp.Expr, sources: Mapping[sp.Symbol, str]) -> str:
    """Return Python source that evaluates the expression at complex arguments with the functions of `real_functions`.

    `sources`: source text of each symbol. Parentheses are added where they are needed.
    """
    if node in sources:
        return sources[node]
    if node.is_number:
        value = number_of(node)
        return f"({value!r})" if value is not None else "math.nan"
    texts = [python_of(x, sources) for x in node.args]
    if isinstance(node, sp.Add):
        return f"({' + '.join(texts)})"
    if isinstance(node, sp.Mul):
        return f"(-{'*'.join(texts[1:])})" if node.args[0] == -1 else f"({'*'.join(texts)})"
    if not isinstance(node, sp.Pow):
        return f"real.{type(node).__name__.removeprefix('_').lower()}({texts[0]})"
    base, power = texts[0], node.exp
    if not (power.is_Rational and power.q <= 2):
        return f"real.power({base}, {texts[1]})"
    text, count = base if power.q == 1 else f"real.sqrt({base})", abs(int(power.p))
    if count > 3:
        text = f"real.whole_power({text}, {count})"
    elif count > 1:
        text = f"({'*'.join([text] * count)})"
    return text if power > 0 else f"real.reciprocal({text})"


class Writer:
    """Source code of the kernels of one system: its `lines`, and the names of the kernels `written`."""

    def __init__(self, q: list[sp.Symbol]):
        self.sources = {x: f"q[{i}]" for i, x in enumerate(q)} | {TIME: "signal[0]"}
        self.lines = [
            "import math",
            "from rigid.compilation import real_functions as real",
            "from rigid.mechanics.mechanical_system import system_function",
            "",
        ]
        self.written: list[str] = []

    def function(
        self,
        name: str,
        arguments: str,
        values: sp.Matrix,
        vectors: Mapping[str, Sequence[sp.Symbol]] | None = None,
    ) -> None:
        """Write the compiled function `name` that fills `out` with the values; common subexpressions are eliminated.

        `vectors`: symbols of each vector argument besides q.
        """
        sources = dict(self.sources)
        for vector, symbols in (vectors or {}).items():
            sources |= {x: f"{vector}[{i}]" for i, x in enumerate(symbols)}
        common, (reduced,) = sp.cse([values], symbols=sp.numbered_symbols("common"))
        sources |= {symbol: str(symbol) for symbol, _ in common}
        body = [f"    {symbol} = {python_of(value, sources)}" for symbol, value in common]
        shape = reduced.shape
        vector_like = shape[1] == 1 and name not in ("mass", "inverse_mass", "jacobian", "discrete_jacobian")
        for i in range(shape[0]):
            for j in range(shape[1]):
                target = f"out[{i}]" if vector_like else f"out[{i}, {j}]"
                body.append(f"    {target} = {python_of(reduced[i, j], sources)}")
        self._add(name, arguments, body)

    def _add(self, name: str, arguments: str, body: list[str]) -> None:
        """Append the kernel `name` with these lines to the source."""
        self.lines += ["", f'@system_function("{name}")', f"def {name}({arguments}):", *body, ""]
        self.written.append(name)

    def discrete_gradient(
        self,
        parts: list[PotentialTerm],
        V: sp.Expr,
        q: list[sp.Symbol],
        mid: list[sp.Symbol],
        half: Mapping[sp.Symbol, sp.Expr],
    ) -> None:
        """Write the discrete gradient: the sum of divided differences of V(s) times the midpoint gradients of pi.

        Without parts V is quadratic, and its midpoint gradient is written.
        """
        if not parts:
            middle = gradient_of(V, q).subs(half, simultaneous=True)
            self.function("discrete_gradient", "q, q1, D, out", middle, {"q1": mid})
            return
        sources = self.sources | {x: f"q1[{i}]" for i, x in enumerate(mid)}
        body: list[str] = []
        total = sp.zeros(len(q), 1)
        end = dict(zip(q, mid, strict=True))
        for k, part in enumerate(parts):
            a, b, slope = sp.symbols(f"start{k} end{k} slope{k}")
            sources |= {x: str(x) for x in (a, b, slope)}
            body.append(f"    {a} = {python_of(part.pi, sources)}")
            body.append(f"    {b} = {python_of(part.pi.subs(end, simultaneous=True), sources)}")
            body += self._divided_difference(sources, part, a, b, slope)
            total += slope * gradient_of(part.pi, q).subs(half, simultaneous=True)
        body += [f"    out[{i}] = {python_of(total[i], sources)}" for i in range(len(q))]
        self._add("discrete_gradient", "q, q1, D, out", body)

    @staticmethod
    def _divided_difference(
        sources: Mapping[sp.Symbol, str], part: PotentialTerm, a: sp.Symbol, b: sp.Symbol, slope: sp.Symbol
    ) -> list[str]:
        """Return source lines for (V(b) - V(a))/(b - a): a polynomial if V is one, else with a series for a near b."""
        V, s = part.V, part.s
        if V.is_polynomial(s):
            quotient = sp.cancel(sp.expand(V.subs(s, b) - V.subs(s, a)) / (b - a))
            return [f"    {slope} = {python_of(quotient, sources)}"]
        middle, gap = (a + b) / 2, b - a
        series = sp.diff(V, s).subs(s, middle) + gap**2 / 24 * sp.diff(V, s, 3).subs(s, middle)
        plain = (V.subs(s, b) - V.subs(s, a)) / gap
        return [
            f"    {slope} = {python_of(series, sources)}",
            f"    if abs(({python_of(gap, sources)}).real) > 1e-4 * abs(({python_of(middle, sources)}).real):",
            f"        {slope} = {python_of(plain, sources)}",
        ]
