"""Forces along and moments about the axes of joints, between the two parts that a joint connects."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rigid.checks import number, shown
from rigid.errors import ModelError
from rigid.joints import JOINTS
from rigid.signals import Constant, Signal, VectorSignal
from rigid.system import Floats
from rodsim.components.base import (
    JOINT,
    CheckContext,
    Component,
    ParameterType,
    component,
    describe_time_function,
    parameter,
)
from rodsim.components.joints import COORDINATES, JointComponent, chosen_coordinate
from rodsim.components.time_expressions import scalar_signal


def _scalar(context: CheckContext, what: str, value: Any, **limits: Any) -> Any:
    """Check a scalar that may vary with time: a number within `limits`, a formula, a signal, or a function of time."""
    value = scalar_signal(f"{context.owner}: {what}", value)
    if isinstance(value, VectorSignal):
        raise ModelError(
            f"{context.owner}: {what} = {shown(value)} has a direction, but is a scalar. Give the signal without it"
        )
    if isinstance(value, Constant):
        number(context.owner, what, value.value, **limits)
    varies = isinstance(value, Signal) or callable(value)
    return value if varies else number(context.owner, what, value, **limits)


def scalar_function(owner: str, value: Any) -> Callable[[Floats], Floats]:
    """Return a function of times (k,), s, that gives the values (k,) of a scalar that `SCALAR` has checked."""
    if isinstance(value, Signal):
        return value
    if callable(value):
        return lambda times: np.array([number(owner, f"value at t = {t:g}", value(t)) for t in times])
    return lambda times: np.full(len(times), value)


SCALAR = ParameterType("varying scalar", _scalar, describe_time_function)
NOT_NEGATIVE_SCALAR = ParameterType(
    "varying, not negative", partial(_scalar, at_least=0.0), describe_time_function
)


@component
class JointForce(Component):
    """A moment about, or a force along, the axis of a joint: on `b`, and its reaction on `a`."""

    key, word, list_description = (
        "joint_forces",
        "joint force",
        "forces along and moments about axes of joints",
    )
    table, tables_without_namesakes = "joint_forces", ("loads", "line_loads")
    joint: JointComponent = parameter(JOINT, "name of a joint with one axis")
    value: Any = parameter(SCALAR, "moment or force on b, or a function of time [N m or N]")
    of: str | None = parameter(
        ParameterType("choice", choices=COORDINATES), "the coordinate it acts on, if the joint has two", None
    )

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        coordinates = lambda kind: [x for x in COORDINATES if x in JOINTS[kind].driven]  # noqa: E731
        values["of"] = chosen_coordinate(context.owner, values["joint"], values["of"], "act on", coordinates)

    @property
    def function(self) -> Callable[[Floats], Floats]:
        """Return a function of times (k,), s, that gives the values (k,), N m or N."""
        return scalar_function(f"joint force '{self.name}'", self.value)

    def __repr__(self) -> str:
        kind = "moment about" if self.of == "angle" else "force along"
        return f"<{kind} the axis of joint '{self.joint.name}' '{self.name}'>"
