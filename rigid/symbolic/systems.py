"""Make mechanical systems of sympy expressions: differentiate them, generate kernels, compile these.

    theta = sympy.symbols("theta")
    system = symbolic_system("pendulum", [theta], T=..., V=..., q0=[1.0], v0=[0.0])

A class with methods `T(q, v)` or `M(q)`, `V(q)`, `g(q)`, `forces(q, t)` written with sympy functions is traced with
symbols: `system_from_object(obj, ...)`. Generated kernels are stored, with numba's cache of them, in the user's cache folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rigid.compilation.generated_modules import load_module
from rigid.errors import ModelError
from rigid.lazy_modules import LazyModule
from rigid.mechanics.mechanical_system import Data, Functions, MechanicalSystem, Symmetry
from rigid.mechanics.null_functions import NOTHING
from rigid.symbolic.potential_terms import PotentialTerm
from rigid.system import Floats

if TYPE_CHECKING:
    import sympy as sp

    from rigid.symbolic import expressions as of_expressions
    from rigid.symbolic import kernels
else:
    sp = LazyModule("sympy")
    of_expressions, kernels = LazyModule("rigid.symbolic.expressions"), LazyModule("rigid.symbolic.kernels")


def symbolic_system(
    name: str,
    q: sp.Symbol | Sequence[sp.Symbol],
    q0: ArrayLike,
    v0: ArrayLike,
    *,
    T: sp.Expr | None = None,
    M: Any = None,
    V: sp.Expr | float | Sequence[PotentialTerm] = 0,
    g: Sequence[sp.Expr] = (),
    forces: Sequence[sp.Expr] | None = None,
    v: sp.Symbol | Sequence[sp.Symbol] | None = None,
    t: sp.Symbol | None = None,
    symmetries: Mapping[str, Any] | None = None,
) -> MechanicalSystem:
    """Make a mechanical system of sympy expressions.

    Parameters
    ----------
    name : str
        Name of the system, for messages.
    q : symbol or sequence of symbols
        Coordinates.
    q0, v0 : array_like, shape (n,)
        Initial coordinates and velocities.
    T : expression, optional
        Kinetic energy in q and the velocity symbols `v`. Give either `T` or `M`.
    M : matrix of expressions, shape (n, n), optional
        Mass matrix M(q).
    V : expression or sequence of Part, default 0
        Potential, or a sequence of its terms in quadratic invariants.
    g : sequence of expressions, default ()
        Constraints g(q) = 0.
    forces : sequence of expressions, optional
        Generalised forces in q and t.
    v : symbol or sequence of symbols, optional
        Velocities in `T`.
    t : symbol, optional
        Time in `forces`.
    symmetries : mapping, optional
        Name -> Xi (n, n), or (Xi, tau), of the momentum map p . (Xi q + tau).

    Returns
    -------
    MechanicalSystem
        The system, for `integrate`.

    Raises
    ------
    ModelError
        If an expression is not analytic, has unknown symbols or is not real at q0, if T is not quadratic in v, or if shapes do
        not fit.

    Examples
    --------
    >>> import sympy as sp
    >>> from rodsim.mechanics import symbolic_system
    >>> x = sp.Symbol("x")
    >>> symbolic_system("spring", x, [1.0], [0.0], M=[[2]], V=8 * x**2).n
    1
    """
    symbols = _symbols(name, "q", q)
    n = len(symbols)
    starts = {"q0": _state(name, "q0", q0, n), "v0": _state(name, "v0", v0, n)}
    velocities = _symbols(name, "v", v) if v is not None else []
    _check_distinct(name, symbols, velocities, t)
    matrix = _mass_matrix(name, symbols, T, M, velocities)
    parts = _parts(name, V, symbols)
    constraints = of_expressions.expressions_of(name, "g", g)
    loads = of_expressions.expressions_of(name, "forces", forces) if forces is not None else None
    if loads is not None and len(loads) != n:
        raise ModelError(f"system '{name}': {len(loads)} forces for {n} coordinates; give {n} forces")
    potential = (
        sum((part.V.subs(part.s, part.pi) for part in parts), sp.Integer(0))
        if isinstance(V, list | tuple)
        else of_expressions.expression_of(name, "V", V)
    )
    real = {"M": list(matrix), "V": [potential], "g": constraints, "forces": loads or []}
    _check_symbols(name, symbols, real, t)
    at_start = of_expressions.values_at_start(name, symbols, starts["q0"], real, t)
    # rename symbols, as the user's names could coincide with generated ones
    coordinates = [sp.Symbol(f"q{i}") for i in range(n)]
    renamed = dict(zip(symbols, coordinates, strict=True)) | ({t: kernels.TIME} if t is not None else {})
    writer = kernels.Writer(coordinates)
    flags = kernels.write_kernels(
        writer,
        coordinates,
        matrix.xreplace(renamed),
        potential.xreplace(renamed),
        [
            PotentialTerm(
                part.V.xreplace({part.s: kernels.INVARIANT}), kernels.INVARIANT, part.pi.xreplace(renamed)
            )
            for part in parts
        ],
        [x.xreplace(renamed) for x in constraints],
        [x.xreplace(renamed) for x in loads] if loads is not None else None,
        np.array(at_start["M"]).reshape(n, n),
    )
    module = load_module("\n".join(writer.lines))
    compiled = {field: getattr(module, field) for field in writer.written}
    functions: Functions = NOTHING._replace(**compiled)
    system = MechanicalSystem(
        name,
        functions,
        Data(n, len(constraints), flags),
        starts["q0"],
        starts["v0"],
        names=tuple(str(x) for x in symbols),
        symmetries=_symmetries(name, symmetries, n),
    )
    for what, values in (("V", system.gradient(system.q0)), ("g", system.jacobian(system.q0))):
        if not np.all(np.isfinite(values)):
            raise ModelError(
                f"system '{name}': the derivative of {what} is not finite at q0 = {system.q0}; start elsewhere"
            )
    if loads is not None and t is not None:
        system.signal = lambda time: np.array([time])
    return system


def system_from_object(thing: Any, n: int, q0: ArrayLike, v0: ArrayLike, name: str = "") -> MechanicalSystem:
    """Make a mechanical system of an object with methods T(q, v) or M(q), V(q), g(q) and forces(q, t).

    Either T or M is required. The methods are called once, with sympy symbols, and must use sympy's functions.

    Parameters
    ----------
    thing : object
        Object with the methods; an attribute `symmetries` is used as in `symbolic_system`.
    n : int
        Number of coordinates.
    q0, v0 : array_like, shape (n,)
        Initial coordinates and velocities.
    name : str, optional
        Name of the system. Default: name of the object's class.

    Returns
    -------
    MechanicalSystem
        The system, for `integrate`.

    Raises
    ------
    ModelError
        In the cases of `symbolic_system`, if T and M are missing, or if a method fails with sympy symbols.

    Examples
    --------
    >>> from rodsim.mechanics import system_of
    >>> class Spring:
    ...     def M(self, q):
    ...         return [[2]]
    ...
    ...     def V(self, q):
    ...         return 8 * q[0] ** 2
    >>> system_of(Spring(), 1, [1.0], [0.0]).name
    'Spring'
    """
    name = name or type(thing).__name__
    if not isinstance(n, int | np.integer) or n < 1:
        raise ModelError(f"system '{name}': n = {n!r}; give the number of coordinates")
    q, v, t = list(sp.symbols(f"q1:{n + 1}")), list(sp.symbols(f"v1:{n + 1}")), sp.Symbol("t")
    arguments = {"T": (q, v), "M": (q,), "V": (q,), "g": (q,), "forces": (q, t)}
    methods = [key for key in arguments if hasattr(thing, key)]
    if "T" not in methods and "M" not in methods:
        raise ModelError(f"system '{name}': give a method T(q, v) or M(q)")
    if "T" in methods and "M" in methods:
        methods.remove("M")
    expressions: dict[str, Any] = {}
    for key in methods:
        try:
            expressions[key] = getattr(thing, key)(*arguments[key])
        except Exception as error:
            names = "q, v" if key == "T" else "q, t" if key == "forces" else "q"
            raise ModelError(
                f"system '{name}': {key}({names}) failed with sympy symbols ({type(error).__name__}: {error}); write it "
                f"as a method {key}(self, {names}) of sympy's functions, not numpy's"
            ) from error
    return symbolic_system(
        name, q, q0, v0, **expressions, v=v, t=t, symmetries=getattr(thing, "symmetries", None)
    )


def _symbols(name: str, what: str, value: Any) -> list[sp.Symbol]:
    """Return `value` as a list of symbols; a single symbol becomes a list of one."""
    try:
        symbols = [value] if isinstance(value, sp.Symbol) else list(value)
    except TypeError:
        symbols = [value]
    if isinstance(value, str) or not symbols or not all(isinstance(x, sp.Symbol) for x in symbols):
        raise ModelError(
            f"system '{name}': {what} = {value!r}; give a list of sympy symbols, such as sympy.symbols('x y')"
        )
    return symbols


def _check_distinct(name: str, q: list[sp.Symbol], v: list[sp.Symbol], t: Any) -> None:
    """Raise ModelError unless all coordinates, velocities and time are different symbols and names in q and in v are unique."""
    for what, symbols in (("q", q), ("v", v)):
        names = [str(x) for x in symbols]
        repeated = sorted({x for x in names if names.count(x) > 1})
        if repeated:
            raise ModelError(
                f"system '{name}': {what} contains {repeated} more than once; give each symbol once"
            )
    if t is not None and not isinstance(t, sp.Symbol):
        raise ModelError(f"system '{name}': t = {t!r}; give the sympy symbol that stands for time")
    shared = sorted(str(x) for x in set(q) & {*v, t} | set(v) & {t})
    if shared:
        raise ModelError(f"system '{name}': {shared} in more than one of q, v and t; give different symbols")


def _state(name: str, what: str, entries: Any, n: int) -> Floats:
    """Return initial coordinates or velocities as an array (n,); raise ModelError if they are invalid."""
    try:
        value = np.array(entries, float)
    except (TypeError, ValueError):
        value = np.zeros(0)
    if value.shape != (n,) or not np.all(np.isfinite(value)):
        raise ModelError(f"system '{name}': {what} = {entries!r}; give a list of {n} finite numbers")
    return value


def _mass_matrix(name: str, q: list[sp.Symbol], T: Any, M: Any, v: list[sp.Symbol]) -> sp.Matrix:
    """Return the mass matrix (n, n), checked, from M or as the Hessian of T with respect to v."""
    n = len(q)
    if (T is None) == (M is None):
        raise ModelError(f"system '{name}': give T or M, one of them")
    if T is None:
        try:
            entries = sp.Matrix(M)
        except (TypeError, ValueError, sp.SympifyError):
            entries = sp.zeros(0, 0)
        if entries.shape == (n, n):
            matrix = sp.Matrix(n, n, [of_expressions.expression_of(name, "M", x) for x in entries])
            if all(of_expressions.are_equal(matrix[i, j], matrix[j, i]) for i in range(n) for j in range(i)):
                return matrix
        raise ModelError(f"system '{name}': M is not a symmetric {n} x {n} matrix, but {M!r}")
    if len(v) != n:
        raise ModelError(f"system '{name}': T needs the velocity symbols; give v=, {n} of them")
    energy = of_expressions.expression_of(name, "T", T)
    matrix = sp.hessian(energy, v)
    if matrix.has(*v):
        matrix = sp.simplify(matrix)
    at_rest = dict.fromkeys(v, 0)
    lower_terms = [energy.subs(at_rest), *(sp.diff(energy, x).subs(at_rest) for x in v)]
    if matrix.has(*v) or any(sp.simplify(x) != 0 for x in lower_terms):
        raise ModelError(f"system '{name}': T = {T} is not a quadratic form of the velocities {v}")
    return sp.simplify(matrix).applyfunc(lambda x: of_expressions.expression_of(name, "T", x))


def _parts(name: str, V: Any, q: list[sp.Symbol]) -> list[PotentialTerm]:
    """Return the checked terms of a potential; an empty list if V is a single expression."""
    if not isinstance(V, list | tuple):
        return []
    parts: list[PotentialTerm] = []
    for term in V:
        if not isinstance(term, list | tuple) or len(term) != 3 or not isinstance(term[1], sp.Symbol):
            raise ModelError(
                f"system '{name}': V contains {term!r}; give an expression, or a list of Part(V, s, pi), s a symbol"
            )
        part = PotentialTerm(
            of_expressions.expression_of(name, "V", term[0]),
            term[1],
            of_expressions.expression_of(name, "V", term[2]),
        )
        if not kernels.degree_at_most(part.pi, q, 2):
            raise ModelError(f"system '{name}': the invariant {part.pi} is not quadratic in the coordinates")
        if part.V.free_symbols - {part.s}:
            raise ModelError(
                f"system '{name}': the part {of_expressions.shown(part.V)} of V depends on more than its invariant {part.s}; "
                "give an expression, not parts, as V"
            )
        parts.append(part)
    return parts


def _check_symbols(
    name: str, q: list[sp.Symbol], expressions: Mapping[str, Sequence[sp.Expr]], t: sp.Symbol | None
) -> None:
    """Raise ModelError if expressions contain symbols other than q, or t in forces."""
    for what, entries in expressions.items():
        known = {*q, t} if what == "forces" else {*q}
        unknown = sorted({str(x) for entry in entries for x in entry.free_symbols - known})
        if not unknown:
            continue
        advice = "substitute numbers for them"
        if set(unknown) & {str(x) for x in q}:
            advice = "these are other symbols than those of q, with the same name but other assumptions; use those of q"
        elif what == "forces" and t is None:
            advice += ", or give t= for the time"
        raise ModelError(f"system '{name}': {what} contains {unknown}; {advice}")


def _symmetries(name: str, symmetries: Any, n: int) -> tuple[Symmetry, ...]:
    """Return the momentum maps of a mapping name -> Xi, or name -> (Xi, tau)."""
    if symmetries is not None and not isinstance(symmetries, Mapping):
        raise ModelError(
            f"system '{name}': symmetries = {symmetries!r}; give a dictionary name -> Xi, or (Xi, tau)"
        )
    return tuple(_symmetry(name, key, value, n) for key, value in (symmetries or {}).items())


def _symmetry(name: str, key: str, value: Any, n: int) -> Symmetry:
    """Return the momentum map `key` of Xi, or of (Xi, tau)."""
    try:
        Xi, tau = value if isinstance(value, tuple) else (value, np.zeros(n))
        Xi, tau = np.array(Xi, float), np.array(tau, float)
    except (TypeError, ValueError):
        Xi = tau = np.zeros(0)
    if Xi.shape != (n, n) or tau.shape != (n,):
        raise ModelError(f"system '{name}', symmetry {key}: give Xi ({n}, {n}), or (Xi, tau) with tau ({n},)")
    return Symmetry(key, Xi, tau)
