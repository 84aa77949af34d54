"""Section laws beyond the linear one: a stored energy per length, added to that of the stiffness, in one invariant each.

    W(e) = e . C e/2 + phi(x(e)),   e = (Gamma, K) less the stress-free strains                                        (1)

    AXIAL     x = Gamma_1
    BENDING   x = (C_55 K_2^2 + C_66 K_3^2)/2, the energy of linear bending
    GENERAL   none: W of all six strains, in the place of (1), written as an expression: `expressions`

A law is a file with `energy` phi(x) and `quotient`, its divided difference without cancellation,

    phi[x0, x1] = (phi(x1) - phi(x0))/(x1 - x0),   phi'(x) where both are the same                                     (2)

so that the stress of a step, phi[x0, x1] times the mean gradient of x, does exactly the work that is stored: invariants are
linear or quadratic in the strains. Both take complex numbers, and the numbers X of an element (`rod_points`) with the place
`at` of the point, where C begins; its parameters follow at `at + PARAMETERS`.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

AXIAL, BENDING, GENERAL = 0, 1, 2


class Law(NamedTuple):
    """A law by its word."""

    word: str
    module: str
    parameters: tuple[str, ...]  # what the user gives, all positive
    invariant: int

    def kernels(self) -> Any:
        """The module, compiled when first asked for."""
        return importlib.import_module(f"discretization.space.laws.{self.module}")


# by the number that models and files know them by: only ever add at the end
LAWS = (
    Law("stiffening", "stiffening", ("strain",), AXIAL),
    Law("thinning", "thinning", (), AXIAL),
    Law("softening", "softening", ("moment",), BENDING),
)
MOST_PARAMETERS = 12  # of one law
EXPRESSIONS = 1000  # numbers from here on are expressions, in the order of `Spans.expressions`
