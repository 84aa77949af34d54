"""Parts of a potential."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sympy as sp


class Part(NamedTuple):
    """A part V(s) of a potential in a quadratic invariant s = pi(q): its discrete derivative is exact in pi,
    hence keeps the symmetries of pi (002 (126))."""

    V: sp.Expr
    s: sp.Symbol
    pi: sp.Expr
