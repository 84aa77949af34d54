"""Define section laws beyond the linear one: a stored energy per length in one strain invariant, added to that of the stiffness.

    W(e) = e . C e/2 + phi(x(e)),   e = (Gamma, K) less the stress-free strains                                        (1)

    AXIAL     x = Gamma_1
    BENDING   x = (C_55 K_2^2 + C_66 K_3^2)/2, the energy of linear bending
    GENERAL   no invariant: W is a function of all six strains and replaces (1); it is written as an expression: `expressions`

A law is a file with `energy`, which is phi(x), and `quotient`, its divided difference without cancellation,

    phi[x0, x1] = (phi(x1) - phi(x0))/(x1 - x0),   phi'(x) where both are the same                                     (2)

so that the stress of a step, phi[x0, x1] times the mean gradient of x, does exactly the work that is stored: invariants are
linear or quadratic in the strains. Both functions accept complex arguments. They read the numbers X of an element
(`rod_gauss_points`) from the offset `at` of the point, where C begins; the parameters of the law follow at `at + PARAMETERS`.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

AXIAL, BENDING, GENERAL = 0, 1, 2


class Law(NamedTuple):
    """A section law, as named in models and files."""

    word: str
    module: str
    parameters: tuple[str, ...]  # names of the user's parameters, all positive
    invariant: int

    def kernels(self) -> Any:
        """Return the module of the law; it is imported and compiled on first use."""
        return importlib.import_module(f"discretization.space.laws.{self.module}")


# the position of a law is its number in models and files: only ever add at the end
LAWS = (
    Law("stiffening", "stiffening", ("strain",), AXIAL),
    Law("thinning", "thinning", (), AXIAL),
    Law("softening", "softening", ("moment",), BENDING),
    Law("slack", "slack", (), AXIAL),
)
MOST_PARAMETERS = 12  # largest number of parameters of one law
EXPRESSIONS = 1000  # law numbers from here on are expressions, in the order of `Spans.expressions`
