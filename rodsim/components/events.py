"""Events: conditions on the time and on sensors, and what happens when one becomes true.

A condition is a text in the notation of Python: comparisons of formulas of the time t, of sensors and of their rates
("phi.rate"), joined by "and" and "or". Its margin m is positive if it holds,

    a > b, a >= b:  m = a - b    a < b, a <= b:  m = b - a    p and q:  m = min(m_p, m_q)    p or q:  m = max(m_p, m_q)    (1)

and continuous in time if the sensors are, so that the time at which it becomes true is a root of m.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rigid import checks
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.system import Floats
from rodsim.components.base import FLAG, CheckContext, Component, ParameterType, component, parameter
from rodsim.components.control_laws import External
from rodsim.components.controllers import RATE, input_of
from rodsim.components.joints import DISTANCE, Drive, JointComponent
from rodsim.expressions import ARRAY_FUNCTIONS, LONGEST, ExpressionError, evaluated
from rodsim.interactions.measures import Quantity

TIME = "t"
_ORDER: Mapping[type, tuple[float, bool]] = {  # sign of a - b in (1), and whether equality is enough
    ast.Gt: (1.0, False), ast.GtE: (1.0, True), ast.Lt: (-1.0, False), ast.LtE: (-1.0, True)
}  # fmt: skip
_NO_CONDITION = "Give comparisons such as 't >= 0.5', 'phi > 1.2' or 'phi > 1 and phi.rate < 0'"


class Margin(NamedTuple):
    """Margin (1) of a condition at several instants, and whether it holds there, (k,)."""

    value: Floats
    holds: NDArray[np.bool_]


class Condition:
    """A condition on the time and on sensors.

    Parameters
    ----------
    owner : str
        Start of the messages.
    text : str
        The condition.

    Attributes
    ----------
    text : str
        The condition, as Python writes it.
    inputs : tuple of str
        Names of the sensors, or "sensor.rate", that it contains.

    Raises
    ------
    ModelError
        If the text is not a condition.
    """

    def __init__(self, owner: str, text: object) -> None:
        if not isinstance(text, str) or len(text) > LONGEST:
            raise ModelError(f"{owner}: when = {shown(text)} is not a condition. {_NO_CONDITION}")
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ModelError(f"{owner}: when = {shown(text)} cannot be read. {_NO_CONDITION}") from None
        self._tree = _RateNames().visit(tree)
        self.text = ast.unparse(tree)
        self._owner = f"{owner}: when = {shown(text)}"
        names = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}
        called = {
            node.func.id
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        self.inputs = tuple(sorted(names - called - {TIME, "pi"}))
        self.margin({name: np.zeros(1) for name in (TIME, *self.inputs)})  # finds nodes that are not allowed

    def margin(self, values: Mapping[str, Floats]) -> Margin:
        """Return the margin (k,) for the values (k,) of the time and of the inputs, by name; undefined margins do not hold."""
        with np.errstate(all="ignore"):
            return self._margin(self._tree, values)

    def _margin(self, node: ast.expr, values: Mapping[str, Floats]) -> Margin:
        """Return the margin of a part of the condition."""
        if isinstance(node, ast.BoolOp):
            is_and = isinstance(node.op, ast.And)
            values_of_parts, holds_of_parts = zip(
                *(self._margin(part, values) for part in node.values), strict=True
            )
            least, every = (np.minimum, np.logical_and) if is_and else (np.maximum, np.logical_or)
            return Margin(least.reduce(values_of_parts), np.asarray(every.reduce(holds_of_parts)))
        if not isinstance(node, ast.Compare) or not all(type(x) in _ORDER for x in node.ops):
            raise ModelError(
                f"{self._owner} is not a condition: {shown(ast.unparse(node))} is not a comparison by <, <=, > or >="
            )
        sides = [self._number(side, values) for side in (node.left, *node.comparators)]
        value, holds = np.full(len(values[TIME]), np.inf), np.ones(len(values[TIME]), bool)
        for a, b, op in zip(sides, sides[1:], node.ops, strict=False):
            sign, equal = _ORDER[type(op)]
            m = np.nan_to_num(sign * (a - b), nan=-np.inf)
            value, holds = np.minimum(value, m), holds & ((m >= 0.0) if equal else (m > 0.0))
        return Margin(value, holds)

    def _number(self, node: ast.expr, values: Mapping[str, Floats]) -> Floats:
        """Return the values (k,) of a formula."""
        try:
            result: Floats = np.broadcast_to(
                evaluated(node, values, ARRAY_FUNCTIONS), np.shape(values[TIME])
            ).astype(float)
        except ExpressionError as error:
            raise ModelError(f"{self._owner}: {error}") from None
        return result


class _RateNames(ast.NodeTransformer):
    """Replace attributes by names with a dot: "phi.rate" is the name of an input."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Name(ast.unparse(node), ast.Load())


def _condition(context: CheckContext, what: str, value: Any) -> Condition:
    """Check a condition, and that the model has its sensors."""
    condition, sensors = Condition(context.owner, value), context.model.sensors
    for name in condition.inputs:
        sensor = sensors.get(name) or sensors.get(input_of(name).sensor)
        if sensor is None:
            known = ", ".join(f"'{x}'" for x in sensors) or "none"
            raise ModelError(
                f"{context.owner}: when = {shown(value)}: '{name}' is neither t nor a sensor of this model, nor the rate of one "
                f"('sensor{RATE}'). Its sensors are: {known}",
                choices=[TIME, *sensors],
            )
        if name not in sensors and isinstance(sensor.measure, Quantity):
            sensor.check_rate(context.owner)
    return condition


def _switched(context: CheckContext, what: str, value: Any) -> tuple[str, ...]:
    """Return the names of joints and drives that events can release and engage."""
    model, names = context.model, []
    for item in value if isinstance(value, list | tuple) else [value]:
        name = item.name if isinstance(item, JointComponent | Drive) else item
        if not isinstance(name, str) or (name not in model.joints and name not in model.drives):
            known = ", ".join(f"'{x}'" for x in (*model.joints, *model.drives)) or "none"
            raise ModelError(
                f"{context.owner}: {what} = {shown(item)} is neither a joint nor a drive of this model. It has: {known}",
                choices=[*model.joints, *model.drives],
            )
        drives = [drive for drive in model.drives.values() if name in (drive.name, drive.joint.name)]
        if any(drive.of == DISTANCE for drive in drives):
            raise ModelError(
                f"{context.owner}: {what} = '{name}': a driven distance takes the place of its joint, so that neither can be "
                "released or engaged. Use a distance joint without a drive"
            )
        names.append(name)
    if len(set(names)) < len(names) or not names:
        raise ModelError(
            f"{context.owner}: {what} = {shown(value)} must be one or several distinct joints or drives"
        )
    return tuple(names)


def _settings(context: CheckContext, what: str, value: Any) -> dict[str, float]:
    """Return the values of external outputs that an event sets, by name."""
    controllers = context.model.controllers
    known = [
        f"{name}.{x}" for name, c in controllers.items() if isinstance(c.law, External) for x in c.outputs
    ]
    if not isinstance(value, Mapping) or not value:
        raise ModelError(
            f"{context.owner}: {what} = {shown(value)}: expected values by name, such as {{'motor.u': 0.0}}"
        )
    for name in value:
        if name not in known:
            raise ModelError(
                f"{context.owner}: {what} = {shown(name)} is not an output of a controller with the law External(). "
                f"There are: {', '.join(known) or 'none'}",
                choices=known,
            )
    return {name: checks.number(context.owner, f"{what} '{name}'", x) for name, x in value.items()}


CONDITION = ParameterType("condition", _condition, lambda condition: condition.text)
SWITCHED = ParameterType("joints or drives", _switched)
SETTINGS = ParameterType("settings", _settings, dict)


@component
class ModelEvent(Component):
    """An action that follows when a condition on the time and on sensors becomes true."""

    key, word, list_description, table = (
        "events",
        "event",
        "what happens when conditions become true",
        "events",
    )
    schema = "ModelEventScene"  # `EventScene` is that of the events of a run
    when: Condition = parameter(
        CONDITION, "comparisons of the time t, sensors and rates 'sensor.rate', with and, or"
    )
    stop: bool = parameter(FLAG, "whether the run ends", False)
    release: tuple[str, ...] | None = parameter(SWITCHED, "names of joints and drives that let go", None)
    engage: tuple[str, ...] | None = parameter(SWITCHED, "names of joints and drives that begin to act", None)
    set: dict[str, float] | None = parameter(
        SETTINGS, "values of outputs of controllers with the law external", None
    )

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        release, engage = (values[x] or () for x in ("release", "engage"))
        if not (values["stop"] or release or engage or values["set"]):
            raise ModelError(f"{context.owner}: does nothing. Give stop=True, release=, engage= or set=")
        if both := [name for name in release if name in engage]:
            raise ModelError(f"{context.owner}: releases and engages '{both[0]}' at once. Remove one of them")

    @property
    def switched(self) -> Iterator[tuple[str, bool]]:
        """Iterate over the joints and drives that it switches, and whether they act afterwards."""
        yield from ((name, False) for name in self.release or ())
        yield from ((name, True) for name in self.engage or ())

    def what_it_lacks(self, model: Any) -> str:
        """Return what it refers to and a model does not have, in words; an empty string if there is none."""
        for name in self.when.inputs:
            if name not in model.sensors and input_of(name).sensor not in model.sensors:
                return f"reads sensor '{input_of(name).sensor}', which is left out"
        for name, _ in self.switched:
            if name not in model.joints and name not in model.drives:
                return f"switches '{name}', which is left out"
        for name in self.set or ():
            if name.rpartition(".")[0] not in model.controllers:
                return f"sets output '{name}', which is left out"
        return ""

    def __repr__(self) -> str:
        return f"<event '{self.name}': {self.when.text}>"


def switches_of(events: Mapping[str, ModelEvent]) -> dict[str, bool]:
    """Return the joints and drives that events switch, and whether each acts at t = 0.

    A part that the first of its events engages does not act before; a part that is released first does.
    """
    initial: dict[str, bool] = {}
    for event in events.values():
        for name, acts in event.switched:
            initial.setdefault(name, not acts)
    return initial
