"""Define terms of a potential in quadratic invariants (`PotentialTerm`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sympy as sp


class PotentialTerm(NamedTuple):
    """Term V(s) of a potential in a quadratic invariant s = pi(q).

    The discrete derivative of the term is exact in pi and so conserves the symmetries of pi. Source: 002 (126).

    Parameters
    ----------
    V : sympy expression
        Energy as a function of `s`.
    s : sympy symbol
        Symbol of the invariant.
    pi : sympy expression
        Quadratic function of the coordinates.

    Examples
    --------
    >>> import sympy as sp
    >>> from rodsim.mechanics import Part
    >>> x, y, s = sp.symbols("x y s")
    >>> Part(4 * (sp.sqrt(s) - 1) ** 2, s, x**2 + y**2).pi
    x**2 + y**2
    """

    V: sp.Expr
    s: sp.Symbol
    pi: sp.Expr
