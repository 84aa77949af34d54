"""Choose the kind of entry of a spring: linear in a distance, linear in a rotation, or with laws."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rigid import checks
from rigid.checks import direction, number, shown, word
from rigid.errors import ModelError
from rodsim.components.argument_types import ScalarLike
from rodsim.components.base import CheckContext, anchor
from rodsim.components.controllers import Output
from rodsim.components.forces import NonlinearSpring
from rodsim.components.joint_forces import SCALAR, scalar_function
from rodsim.components.model_data import Spring, TorsionSpring
from rodsim.components.part_lookup import find_part_or_point
from rodsim.components.spring_laws import SpringLaw

SpringCoordinate = Literal["distance", "axis", "rotation"]

# coordinate -> its name in `NonlinearSpring`
COORDINATES: dict[str, str] = {"distance": "length", "axis": "displacement", "rotation": "angle"}


class SpringArguments(NamedTuple):
    """Unchecked arguments of `Model.add_spring`."""

    a: Any
    b: Any
    stiffness: ScalarLike | None
    length: ScalarLike | None
    damping: float | SpringLaw
    law: SpringLaw | None
    along: str
    axis: ArrayLike | None
    angle: ScalarLike | None


def choose_spring_type(
    model: Any, name: str, arguments: SpringArguments
) -> tuple[type[Spring | TorsionSpring | NonlinearSpring], dict[str, Any]]:
    """Return the kind of entry of a spring and its fields; ModelError if the arguments do not fit together."""
    checks.name("name of the spring", name)
    owner = f"spring '{name}'"
    a, b, stiffness, length, damping, law, along, axis, angle = arguments
    varying: dict[str, Any] = {}
    word(owner, "along", along, COORDINATES)
    _check(owner, arguments)
    ends = {"a": a, "b": b}
    if law is None and not isinstance(damping, SpringLaw) and along != "axis":
        linear = {**ends, "stiffness": 0.0 if stiffness is None else stiffness, "damping": damping}
        if along == "distance":
            return Spring, {**linear, "length": length}
        return TorsionSpring, {**linear, "axis": axis, "angle": 0.0 if angle is None else angle}
    if law is None and stiffness is not None:  # along an axis, for which there is no linear entry
        k = number(owner, "stiffness", stiffness, at_least=0.0)
        free = (
            None
            if length is None
            else SCALAR.check(CheckContext(model, owner, NonlinearSpring, {}), "length", length)
        )
        if free is None or isinstance(free, Output):
            x0 = _displacement(model, owner, a, b, axis)
        else:
            x0 = float(scalar_function(owner, free)(np.zeros(1))[0])
        law = SpringLaw.polynomial((-k * x0, k))
        varying = {"length": free} if callable(free) else {}
    of, damper = COORDINATES[along], _damper(owner, damping)
    return NonlinearSpring, {**ends, "law": law, "damping": damper, "of": of, "axis": axis, **varying}


def _check(owner: str, arguments: SpringArguments) -> None:
    """Raise ModelError if the arguments of a spring do not fit together."""
    _, _, stiffness, length, damping, law, along, axis, angle = arguments

    def fault(text: str) -> ModelError:
        return ModelError(f"{owner}: {text}")

    if along == "distance" and axis is not None:
        raise fault("a distance has no axis. Remove it, or give along='axis' or along='rotation'.")
    if along == "axis" and (isinstance(stiffness, str) or callable(stiffness)):
        raise fault("its stiffness cannot vary along an axis. Give a number; its length may vary.")
    if along != "distance" and axis is None:
        raise fault(f"along='{along}' has no axis. Give axis=(x, y, z).")
    if along != "rotation" and angle is not None:
        raise fault(f"angle = {shown(angle)} belongs to along='rotation'. Give length= instead.")
    if along == "rotation" and length is not None:
        raise fault(f"length = {shown(length)} does not belong to along='rotation'. Give angle= instead.")
    if law is not None:
        if stiffness is not None:
            raise fault("has both a stiffness and a law. Give one of them.")
        if length is not None or angle is not None:
            raise fault("a law is a function of the coordinate itself. Remove length= and angle=.")
    elif isinstance(damping, SpringLaw):
        if stiffness is not None:
            raise fault(
                "damping as a law needs a law. Give law=SpringLaw.polynomial((0, k)) in place of stiffness=k."
            )
    elif stiffness is None and not (isinstance(damping, float | int | np.number) and damping != 0):
        raise fault("has no stiffness, law or damping. Give stiffness= or law=.")


def _damper(owner: str, damping: float | SpringLaw) -> SpringLaw | None:
    """Return the damping as a law; None for a coefficient of 0."""
    if isinstance(damping, SpringLaw):
        return damping
    c = number(owner, "damping", damping, at_least=0.0)
    return SpringLaw.polynomial((0.0, c)) if c > 0.0 else None


def _displacement(model: Any, owner: str, a: Any, b: Any, axis: ArrayLike | None) -> float:
    """Return the displacement of b from a along the axis at t = 0, m."""
    context = CheckContext(model, owner, NonlinearSpring, {})
    ends = [find_part_or_point(owner, model, x) if isinstance(x, str) else x for x in (a, b)]
    start, end = (anchor(context, "", x).position for x in ends)
    assert axis is not None
    return float((end - start) @ direction(owner, "axis", axis))
