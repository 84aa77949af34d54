"""Mechanical systems from sympy expressions: differentiated, written out as kernels, compiled.

    theta = sympy.symbols("theta")
    system = symbolic_system("pendulum", [theta], T=..., V=..., q0=[1.0], v0=[0.0])

A class with methods `T(q, v)` or `M(q)`, `V(q)`, `g(q)`, `forces(q, t)` written with sympy functions is traced with
symbols: `system_of(obj, ...)`. Generated kernels are kept, with numba's cache of them, in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
import platformdirs
import sympy as sp
from numpy.typing import ArrayLike
from sympy.printing.pycode import PythonCodePrinter

from rigid import mechanical
from rigid.errors import ModelError
from rigid.mechanical import NOTHING, Data, Functions, MechanicalSystem, Symmetry
from rigid.system import Floats

_ANALYTIC = ("sin", "cos", "tan", "exp", "log", "sinh", "cosh", "tanh", "asin", "acos", "atan")


class Part(NamedTuple):
    """A part V(s) of a potential in a quadratic invariant s = pi(q): its discrete derivative is exact in pi,
    hence keeps the symmetries of pi (002 (126))."""

    V: sp.Expr
    s: sp.Symbol
    pi: sp.Expr


def symbolic_system(
    name: str,
    q: Sequence[sp.Symbol],
    q0: ArrayLike,
    v0: ArrayLike,
    T: sp.Expr | None = None,
    M: Any = None,
    V: sp.Expr | float | Sequence[Part] = 0,
    g: Sequence[sp.Expr] = (),
    forces: Sequence[sp.Expr] | None = None,
    v: Sequence[sp.Symbol] | None = None,
    t: sp.Symbol | None = None,
    symmetries: Mapping[str, Any] | None = None,
) -> MechanicalSystem:
    """The mechanical system of sympy expressions.

    Parameters
    ----------
    q: symbols of the coordinates. T: kinetic energy in q and the velocity symbols `v`; or M: its matrix M(q).
    V: potential, or parts in quadratic invariants. g: constraints g(q) = 0. forces: generalised forces in q and t.
    symmetries: name -> Xi (n, n), or (Xi, tau), for the momentum map p . (Xi q + tau).

    Raises ModelError where an expression is not analytic, has unknown symbols, or T is not quadratic in v.
    """
    symbols = list(q)
    n = len(symbols)
    matrix = _mass_matrix(name, symbols, T, M, v)
    parts = _parts(name, V, symbols)
    potential = (
        sum((part.V.subs(part.s, part.pi) for part in parts), sp.Integer(0)) if parts else sp.sympify(V)
    )
    constraints = [sp.sympify(x) for x in g]
    loads = [sp.sympify(x) for x in forces] if forces is not None else None
    _check_symbols(name, symbols, {"M": list(matrix), "V": [potential], "g": constraints}, ())
    if loads is not None:
        _check_symbols(name, symbols, {"forces": loads}, (t,) if t is not None else ())
        if len(loads) != n:
            raise ModelError(f"system '{name}': {len(loads)} forces for {n} coordinates; give one for each")
    writer = _Writer(name, symbols, t)
    flags = _write(writer, symbols, matrix, potential, parts, constraints, loads, np.asarray(q0, float))
    module = writer.module()
    compiled = {field: getattr(module, field) for field in writer.written}
    functions: Functions = NOTHING._replace(**compiled)
    maps = [_symmetry(name, key, value, n) for key, value in (symmetries or {}).items()]
    system = MechanicalSystem(
        name,
        functions,
        Data(n, len(constraints), flags, np.zeros(1), np.zeros(1, np.int64)),
        np.asarray(q0, float),
        np.asarray(v0, float),
        names=tuple(str(x) for x in symbols),
        symmetries=tuple(maps),
    )
    if loads is not None and t is not None:
        system.signal = lambda time: np.array([time])
    return system


def system_of(thing: Any, n: int, q0: ArrayLike, v0: ArrayLike, name: str = "") -> MechanicalSystem:
    """The mechanical system of an object with methods T(q, v) or M(q), V(q), g(q), forces(q, t), of which T or M is
    needed; they are called once, with sympy symbols, and must use sympy's functions.
    """
    q, v, t = list(sp.symbols(f"q1:{n + 1}")), list(sp.symbols(f"v1:{n + 1}")), sp.Symbol("t")
    own: dict[str, Callable[..., Any]] = {
        key: getattr(thing, key) for key in ("T", "M", "V", "g", "forces") if hasattr(thing, key)
    }
    if "T" not in own and "M" not in own:
        raise ModelError(f"system '{name or type(thing).__name__}': give a method T(q, v) or M(q)")
    return symbolic_system(
        name or type(thing).__name__,
        q,
        q0,
        v0,
        T=own["T"](q, v) if "T" in own else None,
        M=own["M"](q) if "T" not in own else None,
        V=own["V"](q) if "V" in own else 0,
        g=own["g"](q) if "g" in own else (),
        forces=own["forces"](q, t) if "forces" in own else None,
        v=v,
        t=t,
        symmetries=getattr(thing, "symmetries", None),
    )


def _writable_folder() -> Path:
    """The user's cache folder, or a temporary one where that cannot be written."""
    folder = Path(platformdirs.user_cache_dir("rodsim")) / "systems"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="rodsim-"))
    return folder if os.access(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="rodsim-"))


def _mass_matrix(
    name: str, q: list[sp.Symbol], T: sp.Expr | None, M: Any, v: Sequence[sp.Symbol] | None
) -> sp.Matrix:
    if (T is None) == (M is None):
        raise ModelError(f"system '{name}': give T or M, one of them")
    if T is None:
        matrix = sp.Matrix(M)
        if matrix.shape != (len(q), len(q)) or sp.simplify(matrix - matrix.T) != sp.zeros(*matrix.shape):
            raise ModelError(f"system '{name}': M is not a symmetric {len(q)} x {len(q)} matrix")
        return matrix
    if v is None or len(v) != len(q):
        raise ModelError(f"system '{name}': T needs the velocity symbols; give v=")
    matrix = sp.hessian(T, list(v))
    rest = sp.simplify(T - (sp.Matrix([list(v)]) * matrix * sp.Matrix(list(v)))[0] / 2)
    if any(matrix.has(x) for x in v) or rest != 0:
        raise ModelError(f"system '{name}': T is not a quadratic form of the velocities {list(v)}")
    return sp.simplify(matrix)


def _parts(name: str, V: Any, q: list[sp.Symbol]) -> list[Part]:
    if not isinstance(V, list | tuple):
        return []
    parts = [Part(*map(sp.sympify, part)) for part in V]
    for part in parts:
        if not _degree_at_most(part.pi, q, 2):
            raise ModelError(f"system '{name}': the invariant {part.pi} is not quadratic in the coordinates")
    return parts


def _degree_at_most(expression: sp.Expr, q: list[sp.Symbol], degree: int) -> bool:
    """Whether an expression is a polynomial of at most this degree in q."""
    try:
        return sp.Poly(expression, *q).total_degree() <= degree
    except sp.PolynomialError:
        return False


def _check_symbols(
    name: str, q: list[sp.Symbol], expressions: Mapping[str, Sequence[sp.Expr]], more: Sequence[sp.Symbol]
) -> None:
    known = {*q, *more}
    for what, entries in expressions.items():
        for entry in entries:
            unknown = entry.free_symbols - known
            if unknown:
                raise ModelError(
                    f"system '{name}': {what} contains {sorted(map(str, unknown))}; substitute numbers for them"
                )
            for function in entry.atoms(sp.Function) | entry.atoms(sp.Piecewise):
                if type(function).__name__ not in _ANALYTIC:
                    raise ModelError(
                        f"system '{name}': {what} contains {function}, which is not analytic; use {', '.join(_ANALYTIC)} or sqrt"
                    )


def _symmetry(name: str, key: str, value: Any, n: int) -> Symmetry:
    Xi, tau = value if isinstance(value, tuple) else (value, np.zeros(n))
    Xi, tau = np.array(Xi, float), np.array(tau, float)
    if Xi.shape != (n, n) or tau.shape != (n,):
        raise ModelError(f"system '{name}', symmetry {key}: give Xi ({n}, {n}), or (Xi, tau) with tau ({n},)")
    return Symmetry(key, Xi, tau)


def _write(
    writer: _Writer,
    q: list[sp.Symbol],
    M: sp.Matrix,
    V: sp.Expr,
    parts: list[Part],
    g: list[sp.Expr],
    forces: list[sp.Expr] | None,
    q0: Floats,
) -> int:
    """Write all functions; returns the flags of the system."""
    n, flags = len(q), 0
    constant = not any(M.has(x) for x in q)
    at_start = np.array(M.subs(dict(zip(q, q0, strict=True))).evalf(), float)
    if np.linalg.matrix_rank(at_start, tol=1e-12 * max(np.abs(at_start).max(), 1e-300)) < n:
        flags |= mechanical.SINGULAR_MASS
    a, b, lam = sp.symbols(f"a1:{n + 1}"), sp.symbols(f"b1:{n + 1}"), sp.symbols(f"l1:{max(len(g), 1) + 1}")
    writer.function("mass", "q, D, out", M)
    if constant:
        flags |= mechanical.CONSTANT_MASS
        if not flags & mechanical.SINGULAR_MASS:
            flags |= mechanical.INVERSE_MASS
            writer.function("inverse_mass", "q, D, out", sp.Matrix(np.linalg.inv(at_start)))
    else:
        form = (sp.Matrix([a]) * M * sp.Matrix(b))[0]
        writer.function("mass_gradient", "q, a, b, D, out", _gradient(form, q), {"a": a, "b": b})
    writer.function("potential", "q, D, out", sp.Matrix([V]))
    writer.function("gradient", "q, D, out", _gradient(V, q))
    mid = [sp.Symbol(f"{x}_end") for x in q]
    half = {x: (x + y) / 2 for x, y in zip(q, mid, strict=True)}
    if parts or _degree_at_most(V, q, 2):
        flags |= mechanical.DISCRETE_POTENTIAL
        writer.discrete_gradient(parts, V, q, mid, half)
    if g:
        G = sp.Matrix(g).jacobian(q)
        writer.function("constraints", "q, D, out", sp.Matrix(g))
        writer.function("jacobian", "q, D, out", G)
        pull = (sp.Matrix([lam]) * G * sp.Matrix(a))[0]
        writer.function("curvature", "q, a, lam, D, out", _gradient(pull, q), {"a": a, "lam": lam})
        if all(_degree_at_most(x, q, 2) for x in g):
            flags |= mechanical.DISCRETE_CONSTRAINTS
            middle = G.subs(half, simultaneous=True)
            writer.function("discrete_jacobian", "q, q1, D, out", middle, {"q1": mid})
    else:
        flags |= mechanical.DISCRETE_CONSTRAINTS
    if forces is not None:
        writer.function("force", "q, signal, D, out", sp.Matrix(forces))
    return flags


def _gradient(f: sp.Expr, q: list[sp.Symbol]) -> sp.Matrix:
    return sp.Matrix([sp.diff(f, x) for x in q])


class _Printer(PythonCodePrinter):
    """Python of complex arguments: no powers but products, roots and quotients, which have no cuts near real values."""

    def __init__(self, places: Mapping[sp.Symbol, str]):
        super().__init__({"fully_qualified_modules": True})
        self.places = places

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        return self.places.get(expr, expr.name)

    def _print_Pow(self, expr: sp.Pow, rational: bool = False) -> str:
        base, power = expr.args
        text = f"({self._print(base)})"
        if power.is_Integer:
            count = abs(int(power))
            product = "*".join([text] * count)
            return f"({product})" if power > 0 else f"(1.0/({product}))"
        if power.is_Rational and power.q == 2:
            root = f"cmath.sqrt{text}"
            product = "*".join([root] * abs(int(power.p)))
            return f"({product})" if power > 0 else f"(1.0/({product}))"
        return f"cmath.exp({self._print(power)}*cmath.log{text})"

    def _print_Function(self, expr: Any) -> str:
        return f"cmath.{type(expr).__name__}({self._print(expr.args[0])})"

    def _print_Integer(self, expr: sp.Integer) -> str:
        return f"{int(expr)}.0"

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"({int(expr.p)}.0/{int(expr.q)}.0)"

    def _print_Float(self, expr: sp.Float) -> str:
        return repr(float(expr))

    def _print_Pi(self, expr: Any) -> str:
        return repr(float(sp.pi))


for _name in _ANALYTIC:
    setattr(_Printer, f"_print_{_name}", _Printer._print_Function)


class _Writer:
    """The source of the kernels of one system."""

    def __init__(self, name: str, q: list[sp.Symbol], t: sp.Symbol | None):
        self.name = name
        self.places = {x: f"q[{i}]" for i, x in enumerate(q)}
        if t is not None:
            self.places[t] = "signal[0]"
        self.lines = ["import cmath", "from rigid.mechanical import system_function", ""]
        self.written: list[str] = []

    def function(
        self,
        name: str,
        arguments: str,
        values: sp.Matrix,
        vectors: Mapping[str, Sequence[sp.Symbol]] | None = None,
    ) -> None:
        """The compiled function `name` that fills `out` with the values, common subexpressions taken out."""
        places = dict(self.places)
        for vector, symbols in (vectors or {}).items():
            places |= {x: f"{vector}[{i}]" for i, x in enumerate(symbols)}
        printer = _Printer(places)
        names = sp.numbered_symbols("common")
        common, (reduced,) = sp.cse([values], symbols=names)
        body = [f"    {symbol} = {printer.doprint(value)}" for symbol, value in common]
        shape = reduced.shape
        vector_like = shape[1] == 1 and name not in ("mass", "inverse_mass", "jacobian", "discrete_jacobian")
        for i in range(shape[0]):
            for j in range(shape[1]):
                place = f"out[{i}]" if vector_like else f"out[{i}, {j}]"
                body.append(f"    {place} = {printer.doprint(reduced[i, j])}")
        self._add(name, arguments, body)

    def _add(self, name: str, arguments: str, body: list[str]) -> None:
        self.lines += ["", f'@system_function("{name}")', f"def {name}({arguments}):", *body, ""]
        self.written.append(name)

    def discrete_gradient(
        self,
        parts: list[Part],
        V: sp.Expr,
        q: list[sp.Symbol],
        mid: list[sp.Symbol],
        half: Mapping[sp.Symbol, sp.Expr],
    ) -> None:
        """Sum of divided differences of V(s) times the midpoint gradient of pi; the midpoint gradient of quadratics."""
        if not parts:
            middle = _gradient(V, q).subs(half, simultaneous=True)
            self.function("discrete_gradient", "q, q1, D, out", middle, {"q1": mid})
            return
        places = dict(self.places) | {x: f"q1[{i}]" for i, x in enumerate(mid)}
        printer = _Printer(places)
        body: list[str] = []
        total = sp.zeros(len(q), 1)
        end = dict(zip(q, mid, strict=True))
        for k, part in enumerate(parts):
            a, b, slope = sp.symbols(f"start{k} end{k} slope{k}")
            body.append(f"    {a} = {printer.doprint(part.pi)}")
            body.append(f"    {b} = {printer.doprint(part.pi.subs(end, simultaneous=True))}")
            body += self._divided_difference(printer, part, a, b, slope)
            total += slope * _gradient(part.pi, q).subs(half, simultaneous=True)
        body += [f"    out[{i}] = {printer.doprint(total[i])}" for i in range(len(q))]
        self._add("discrete_gradient", "q, q1, D, out", body)

    @staticmethod
    def _divided_difference(
        printer: _Printer, part: Part, a: sp.Symbol, b: sp.Symbol, slope: sp.Symbol
    ) -> list[str]:
        """(V(b) - V(a))/(b - a): as a polynomial where V is one; else by series for a near b."""
        V, s = part.V, part.s
        if V.is_polynomial(s):
            quotient = sp.cancel(sp.expand(V.subs(s, b) - V.subs(s, a)) / (b - a))
            return [f"    {slope} = {printer.doprint(quotient)}"]
        middle, gap = (a + b) / 2, b - a
        series = sp.diff(V, s).subs(s, middle) + gap**2 / 24 * sp.diff(V, s, 3).subs(s, middle)
        plain = (V.subs(s, b) - V.subs(s, a)) / gap
        return [
            f"    {slope} = {printer.doprint(series)}",
            f"    if abs(({printer.doprint(gap)}).real) > 1e-4 * abs(({printer.doprint(middle)}).real):",
            f"        {slope} = {printer.doprint(plain)}",
        ]

    def module(self) -> ModuleType:
        """The generated module, imported from a file so that numba can cache what it compiles."""
        source = "\n".join(self.lines)
        key = hashlib.sha256(f"{numba.__version__}{source}".encode()).hexdigest()[:16]
        name = f"rodsim_system_{key}"
        if name in sys.modules:
            return sys.modules[name]
        folder = _writable_folder()
        path = folder / f"{name}.py"
        if not path.exists():
            partial = path.with_suffix(f".{id(self)}.tmp")
            partial.write_text(source)
            partial.replace(path)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module
