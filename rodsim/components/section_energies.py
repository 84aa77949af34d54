"""Read user-defined stored energies of a section, check them at rest, and compute their stiffness there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discretization.space.laws import expressions
from discretization.space.laws.functions import PARAMETERS
from discretization.space.laws.law_evaluation import energy_and_stress
from rigid.checks import number, shown
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.expressions import LAW_FUNCTIONS, canonical, parameters_of

OWNER = "Section.with_energy"
STRETCH, SHEAR = "stretch", "shear"
RIGID_STRAINS = {STRETCH: (0,), SHEAR: (1, 2)}  # indices of the strains that may be rigid
STIFFNESSES = ("EA", "GA2", "GA3", "GJ", "EI2", "EI3")
_AT_REST = 1e-10  # stress at rest that counts as zero, relative to the stress at a strain of 1


def energy_law(
    linear: Floats, W: Any, parameters: Mapping[str, float]
) -> tuple[str, tuple[float, ...], Floats]:
    """Return the canonical text, the parameter values and the stiffness (6, 6) at rest of the energy W.

    `linear`: stiffness (6, 6) of the section, which gives the values of the names EA, GA2, GA3, GJ, EI2 and EI3.
    """
    text = canonical(OWNER, W if isinstance(W, str) else text_of(W))
    names = parameters_of(text)
    known = dict(zip(STIFFNESSES, np.diag(linear).tolist(), strict=True)) | dict(parameters)
    for name in names:
        if name not in known:
            strains = ", ".join(expressions.STRAINS)
            raise ModelError(
                f"{OWNER}: W contains '{name}', which is not a strain ({strains}), a stiffness ({', '.join(STIFFNESSES)}) or a "
                f"parameter; give {name}="
            )
    unused = sorted(set(parameters) - set(names))
    if unused:
        raise ModelError(f"{OWNER}: W does not contain the parameter '{unused[0]}'; remove it")
    values = tuple(number(OWNER, name, known[name]) for name in names)
    return text, values, _stiffness_at_rest(text, values)


def _stiffness_at_rest(text: str, values: tuple[float, ...]) -> Floats:
    """Return the stiffness (6, 6) of an energy at rest; ModelError unless it is smooth, without stress and convex there."""
    X = np.zeros(PARAMETERS + len(values))
    X[PARAMETERS:] = values
    W, stress, C = energy_and_stress(expressions.law_of(text), np.zeros(6), X)
    if not (np.isfinite(W) and np.all(np.isfinite(stress)) and np.all(np.isfinite(C))):
        raise ModelError(
            f"{OWNER}: W = {shown(text)} is not real and twice differentiable at rest, where all strains are zero; write one "
            "that is"
        )
    size = np.abs(C).max()
    if np.abs(stress).max() > _AT_REST * max(size, np.abs(stress).max()):
        worst = int(np.argmax(np.abs(stress)))
        raise ModelError(
            f"{OWNER}: W has the stress dW/d{expressions.STRAINS[worst]} = {stress[worst]:.3g} at rest; strains are those from "
            "the stress-free shape: subtract its linear part"
        )
    lowest = np.linalg.eigvalsh(0.5 * (C + C.T))[0]
    if lowest <= 1e-14 * size:
        raise ModelError(
            f"{OWNER}: W is not convex at rest: its second derivatives have the eigenvalue {lowest:.3g}; let it depend on all "
            "six strains, and grow with each"
        )
    return 0.5 * (C + C.T)


def text_of(W: Any, owner: str = OWNER) -> str:
    """Return a sympy expression as text in the notation of `expressions`, every number with all its digits."""
    import sympy as sp

    if not isinstance(W, sp.Expr):
        raise ModelError(f"{owner}: W = {shown(W)} is not an expression; give a text or a sympy expression")

    def written(node: Any) -> str:
        if isinstance(node, sp.Symbol):
            return str(node.name)
        if isinstance(node, sp.Integer):
            return f"({int(node)})"
        if isinstance(node, sp.Rational):
            return f"({int(node.p)}/{int(node.q)})"
        if node.is_number and not node.is_Function and node.is_real and node.is_Atom:
            return f"({float(node)!r})"
        parts = [written(x) for x in node.args]
        if isinstance(node, sp.Add | sp.Mul):
            return f"({(' + ' if isinstance(node, sp.Add) else '*').join(parts)})"
        if isinstance(node, sp.Pow):
            return f"({parts[0]}**{parts[1]})"
        if type(node).__name__ in LAW_FUNCTIONS and len(parts) == 1:
            return f"{type(node).__name__}({parts[0]})"
        raise ModelError(f"{owner}: W contains {shown(node)}; use {', '.join(LAW_FUNCTIONS)}")

    return written(W)
