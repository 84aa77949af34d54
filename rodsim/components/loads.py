"""Load entries: forces and moments at points, and along rods."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rigid import quaternions
from rigid.checks import number, shown, word
from rigid.errors import ModelError
from rigid.signals import VectorFunction, corners_of, vector_function
from rigid.system import FORCE, MOMENT, Floats
from rodsim.components.base import (
    FLAG,
    PAIR,
    POINT,
    ROD,
    VARYING,
    CheckContext,
    Component,
    ParameterType,
    component,
    parameter,
)
from rodsim.components.model_parts import Anchor, Driven, Ground, Rod

KINDS = {"force": FORCE, "moment": MOMENT}
KIND = ParameterType(  # stored as FORCE or MOMENT
    "choice",
    lambda context, what, value: KINDS[word(context.owner, what, value, KINDS)],
    lambda value: next(name for name, number in KINDS.items() if number == value),
    tuple(KINDS),
    {"torque": "moment"},
)


@component
class Load(Component):
    """A force or moment: a constant vector, or a function of time along a direction."""

    key, word, list_description = "loads", "load", "forces and moments at points"
    table, tables_without_namesakes = "loads", ("line_loads", "joint_forces")
    kind: int = parameter(KIND, "force or moment")
    on: Anchor = parameter(POINT, "point of a body or a rod")
    value: Any = parameter(VARYING, "constant vector, or a function of time along a direction [N or N m]")
    following: bool = parameter(FLAG, "components in the axes of the moving part, not inertial", False)
    function: VectorFunction  # times (k,), s -> values (k, 3), N or N m

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        part = values["on"].part
        if isinstance(part, Ground | Driven):
            raise ModelError(f"{context.owner}: acts on {part}, which no force moves; give a body or a rod")
        values["function"] = vector_function(context.owner, values["value"])

    def with_rigid_rods(self, changed: dict[str, Any], section: Callable[[Anchor], Floats]) -> Any:
        """Return a copy for a model with rigid rods; components in section axes are rotated to the axes of the body."""
        if self.following and "on" in changed:
            quat, function = section(self.on), self.function
            turned = lambda times: quaternions.rotate(quat, function(times))  # noqa: E731
            turned.corners = corners_of(f"load '{self.name}'", function)  # type: ignore[attr-defined]
            changed |= {"value": turned, "function": turned}
        return super().with_rigid_rods(changed, section)

    def __repr__(self) -> str:
        return f"<{'force' if self.kind == FORCE else 'moment'} '{self.name}' on {self.on}>"


@component
class DistributedLoad(Component):
    """A force or moment per length of a rod."""

    key, word, list_description = "distributed_loads", "distributed load", "forces and moments along rods"
    table, tables_without_namesakes = "line_loads", ("loads", "joint_forces")
    plural = "loads along rods"
    on: Rod = parameter(ROD, "name of a rod", result_key="rod")
    kind: int = parameter(KIND, "force or moment", "force")
    value: Any = parameter(
        VARYING,
        "per length of the stress-free rod: constant vector, or a function of time along a direction [N/m or N]",
    )
    following: bool = parameter(FLAG, "components in section axes, not inertial", False)
    between: tuple[float, float] = parameter(
        PAIR, "fractions of the length at which it begins and ends [1]", (0.0, 1.0)
    )

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        a, b = (number(context.owner, f"between[{k}]", x) for k, x in enumerate(values["between"]))
        if not 0.0 <= a < b <= 1.0:
            raise ModelError(
                f"{context.owner}: between = {shown(context.arguments['between'])}; give two fractions "
                "of the length, 0 <= a < b <= 1"
            )
        values["between"] = (a, b)

    def required_nodes(self, rod: Rod) -> Iterable[float]:
        return self.between if rod is self.on else ()
