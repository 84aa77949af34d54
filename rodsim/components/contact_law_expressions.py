"""Read contact laws written as text: the force as a polynomial of the penetration depth, of degree 3 at most.

    1e4*depth + 2e6*depth**3

The text is parsed like stored energies (`rodsim.expressions`) and never executed. Any text that is not such
a polynomial raises ModelError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from numpy.polynomial import Polynomial

from discretization.space.laws.writing import Node
from rigid.checks import shown
from rigid.errors import ModelError
from rodsim.expressions import canonical, parameters_of, tree_of

DEPTH = "depth"
DEGREE = 3
_LARGEST = 64  # largest degree of a part of the text
_CURE = (
    f"give numbers times {DEPTH}, {DEPTH}**2 and {DEPTH}**3, as '1e4*depth + 2e6*depth**3'; other powers are law='power' with "
    "exponent=, what lets nothing through is law='barrier' with reach="
)


def law_text(owner: str, text: Any, words: Sequence[str]) -> str:
    """Return the text in canonical Python notation, checked by `coefficients_of`.

    `words`: names of the built-in laws, for the message if `text` is not a text that contains the depth.
    """
    if not isinstance(text, str) or DEPTH not in text:
        raise ModelError(
            f"{owner}: law = {shown(text)} is not known; choose one of {', '.join(words)}, or write the force as a polynomial of "
            f"{DEPTH}, as '1e4*depth + 2e6*depth**3'"
        )
    canonical_text = canonical(owner, text, (DEPTH,))
    coefficients_of(owner, canonical_text)
    return canonical_text


@cache
def coefficients_of(owner: str, text: str) -> tuple[float, float, float]:
    """Return the coefficients c1, c2, c3 of the force c1 depth + c2 depth^2 + c3 depth^3.

    Raises ModelError if the text is no such polynomial, or if the force pulls or falls at some depth. At a depth above 0 the
    slope c1 + 2 c2 depth + 3 c3 depth^2 is nowhere negative if c1, c3 >= 0 and c2 >= -sqrt(3 c1 c3).
    """
    names = parameters_of(text, (DEPTH,))
    if names:
        raise ModelError(f"{owner}: law = {shown(text)} has {', '.join(names)}; write numbers for it")
    polynomial = _polynomial(f"{owner}: law = {shown(text)}", tree_of(text, (DEPTH,))).trim()
    degree = len(polynomial.coef) - 1
    if degree > DEGREE:
        raise ModelError(f"{owner}: law = {shown(text)} is of degree {degree}, above {DEGREE}; {_CURE}")
    constant, *coefficients = (float(c) for c in (*polynomial.coef, *(0.0,) * (DEGREE - degree)))
    if constant != 0.0:
        raise ModelError(
            f"{owner}: law = {shown(text)} has a force of {constant:g} at depth 0, which would jump there; remove that term"
        )
    c1, c2, c3 = coefficients
    if min(c1, c3) < 0.0 or c2 < -math.sqrt(3.0 * c1) * math.sqrt(c3):
        raise ModelError(
            f"{owner}: law = {shown(text)} falls at some depth, where surfaces would give way; give {DEPTH} and {DEPTH}**3 "
            f"factors that are not negative, and {DEPTH}**2 one not below -sqrt(3 c1 c3) of these two"
        )
    if max(coefficients) == 0.0:
        raise ModelError(
            f"{owner}: law = {shown(text)} is zero at all depths; write a force, or remove the contact"
        )
    return c1, c2, c3


def _polynomial(owner: str, node: Node) -> Polynomial:
    """Return the polynomial of an expression tree whose only variable is the depth; `owner`: start of the messages."""
    word, *operands = node
    if word == "num":
        return Polynomial([operands[0]])
    if word == "strain":
        return Polynomial([0.0, 1.0])
    parts = (
        [_polynomial(owner, operand) for operand in operands]
        if word in ("neg", "add", "sub", "mul", "div", "pow")
        else []
    )
    power = float(parts[1].coef[0]) if word == "pow" and len(parts[1].coef) == 1 else math.nan
    fits = {
        "pow": power.is_integer() and power >= 0.0,
        "div": word == "div" and len(parts[1].coef) == 1 and parts[1].coef[0] != 0.0,
    }
    if not parts or not fits.get(word, True):
        raise ModelError(f"{owner} is not a polynomial of {DEPTH}; {_CURE}")
    most = (
        sum(len(operand.coef) - 1 for operand in parts) if word != "pow" else (len(parts[0].coef) - 1) * power
    )
    if most > _LARGEST:
        raise ModelError(f"{owner} has parts of degree {most:g}; {_CURE}")
    if word == "pow":
        result = parts[0] ** int(power)
    elif word == "neg":
        result = -parts[0]
    elif word == "div":
        result = parts[0] / float(parts[1].coef[0])
    else:
        result = {"add": parts[0].__add__, "sub": parts[0].__sub__, "mul": parts[0].__mul__}[word](parts[1])
    if not all(math.isfinite(c) for c in result.coef):
        raise ModelError(f"{owner} has a factor that is not a finite number; use a smaller one")
    return result


def check_text(owner: str, values: dict[str, Any], mixed: bool) -> bool:
    """Return True if the law given as text is linear.

    Raises ModelError if stiffness, exponent or reach is given as well. `mixed`: True if the contact has both pairs whose force is
    per length and pairs whose force is not, which raises ModelError, too.
    """
    text = shown(values["law"])
    for what, default in (("stiffness", None), ("exponent", 1.0), ("reach", None)):
        if values[what] != default:
            raise ModelError(
                f"{owner}: {what} = {values[what]:g} besides the law {text}, which contains its numbers; remove it"
            )
    if mixed:
        raise ModelError(
            f"{owner}: the law {text} is per length for some of its pairs, but not for others; make two contacts"
        )
    return coefficients_of(owner, values["law"])[1:] == (0.0, 0.0)
