"""Sensors and controllers: scalars that are measured, and functions that are sampled and drive loads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rigid import checks
from rigid.checks import shown
from rigid.errors import ModelError
from rigid.signals import Signal
from rigid.system import Floats
from rodsim.components.base import (
    POSITIVE,
    CheckContext,
    Component,
    ParameterType,
    add,
    anchor,
    component,
    parameter,
)
from rodsim.components.control_laws import (
    ControlLaw,
    StateFeedback,
    check_law,
    describe_law,
    initial_memory,
    is_law,
    text_of_law,
)
from rodsim.components.model_parts import Anchor, Ground
from rodsim.components.part_lookup import find_part_or_point
from rodsim.components.sensed_quantities import (
    check_quantity,
    describe_quantity,
    missing_part,
    quantity_by_name,
)
from rodsim.interactions.measures import Measure, Quantity

RATE = ".rate"  # suffix of an input that is the rate of a sensor


@dataclass(frozen=True)
class Output(Signal):
    """The output of a controller as a signal, for the value of a load.

    Between samples it is constant. As a function of time alone it is not known: a call returns zeros.

    Parameters
    ----------
    controller : str
        Name of the controller.
    output : str
        Name of its output.

    Examples
    --------
    >>> from rodsim import signals
    >>> signals.Output("pd", "torque").along((0, 0, 1)).scalar
    Output(controller='pd', output='torque')
    """

    controller: str
    output: str

    def __call__(self, t: ArrayLike) -> Floats:
        return np.zeros(np.shape(t))

    def rate(self, t: ArrayLike) -> Floats:
        """Raise ModelError: an output jumps at each sample, so that nothing can move with it.

        Parameters
        ----------
        t : array_like
            Times, s.

        Raises
        ------
        ModelError
            Always.
        """
        raise ModelError(
            f"it follows controller '{self.controller}', whose output jumps at each sample. Prescribe a function of time, or let "
            "the controller set a joint force or an input of an actuator"
        )


def _one_measure(context: CheckContext, what: str, value: Any) -> Measure | Quantity:
    """Check a measure and replace its points by anchors of the model."""
    return (
        check_quantity(context, value)
        if isinstance(value, Quantity)
        else _measure_of_points(context, what, value)
    )


def _measure_of_points(context: CheckContext, what: str, value: Any) -> Measure:
    """Check a measure of two points and replace them by anchors of the model."""
    if not isinstance(value, Measure):
        raise ModelError(
            f"{context.owner}: expected a measure such as measures.angle(a, b, axis), got {shown(value)}. See `rodsim.measures`"
        )
    ends = (context.model.ground if value.a is None else value.a, value.b)
    a, b = (_point(context, end) for end in ends)
    return replace(value, a=a, b=b)


def _point(context: CheckContext, end: Any) -> Anchor:
    """Return an end of a measure as an anchor of the model; the ground stands for its origin."""
    return anchor(context, "measure", end.at((0.0, 0.0, 0.0)) if isinstance(end, Ground) else end)


def _describe_measure(value: Measure | Quantity) -> dict[str, Any]:
    """Return a measure as words and numbers."""
    if isinstance(value, Quantity):
        return describe_quantity(value)
    return {"of": value.word, "a": str(value.a), "b": str(value.b)}


def _measure_by_name(owner: str, model: Any, value: Any) -> Any:
    """Replace names of points in a measure by points of the model."""
    if isinstance(value, Quantity):
        return quantity_by_name(owner, model, value)
    if not isinstance(value, Measure):
        return value
    a, b = (find_part_or_point(owner, model, x) if isinstance(x, str) else x for x in (value.a, value.b))
    return replace(value, a=a, b=b)


def _noise(context: CheckContext, what: str, value: Any) -> tuple[float, ...]:
    """Return the standard deviation of the value, and that of the rate if two numbers are given."""
    several = tuple(value) if isinstance(value, list | tuple | np.ndarray) else (value,)
    if len(several) > 2 or not several:
        raise ModelError(
            f"{context.owner}: noise = {shown(value)} is not one or two numbers. Give the standard deviation of the value, or "
            "(value, rate)"
        )
    return tuple(checks.number(context.owner, what, x, at_least=0.0) for x in several)


MEASURE = ParameterType("measure", _one_measure, _describe_measure, by_name=_measure_by_name)
MEASURE_OF_POINTS = ParameterType(
    "measure of points", _measure_of_points, _describe_measure, by_name=_measure_by_name
)
NOISE = ParameterType("noise", _noise)
SEED = ParameterType("seed", lambda asked, what, value: checks.count(asked.owner, what, value, 0, 2**32 - 1))


@component
class Sensor(Component):
    """A measured scalar: its value and its rate, which controllers read and results record."""

    key, word, list_description, table = "sensors", "sensor", "measured scalars", "sensors"
    measure: Measure | Quantity = parameter(MEASURE, "scalar of two points or parts, or another quantity")
    noise: tuple[float, ...] | None = parameter(
        NOISE,
        "standard deviation of noise of the value, or of value and rate [any]",
        None,
    )
    seed: int = parameter(SEED, "seed of the noise [1]", 0)
    delay: float | None = parameter(
        POSITIVE, "age of what controllers read: a multiple of their period [s]", None
    )
    a: Anchor | None = None  # its two points; None: it measures another quantity
    b: Anchor | None = None

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        measure, noise = values["measure"], values["noise"]
        if isinstance(measure, Measure):
            values["a"], values["b"] = measure.a, measure.b
        elif noise is not None and len(noise) > 1:
            raise ModelError(
                f"{context.owner}: noise = {shown(noise)} has a number for the rate, which it has not. Give one number"
            )

    @property
    def rate(self) -> str:
        """Name of the rate of the sensor, as an input of a controller."""
        self.check_rate(f"sensor '{self.name}'")
        return self.name + RATE

    def check_rate(self, owner: str) -> None:
        """Raise ModelError if controllers cannot read the rate of the sensor."""
        if isinstance(self.measure, Quantity):
            raise ModelError(
                f"{owner}: {self.measure.word.replace('_', ' ')} '{self.name}' is measured by value alone, '{self.name}{RATE}' "
                "does not exist. Read the value, and filter it in the law"
            )
        if self.noise is not None and len(self.noise) < 2:
            raise ModelError(
                f"{owner}: sensor '{self.name}' has noise = {self.noise[0]:g} of its value, and none is known of its rate. Give "
                "noise=(value, rate)"
            )

    def what_it_lacks(self, model: Any) -> str:
        """Return what it measures and a model does not have, in words; an empty string if there is none."""
        return missing_part(self.measure, model) if isinstance(self.measure, Quantity) else ""

    def __repr__(self) -> str:
        return f"<sensor '{self.name}': {repr(self.measure)[1:-1]}>"


class Input(NamedTuple):
    """Input of a controller: the value or the rate of a sensor."""

    sensor: str
    is_rate: bool


def _law(context: CheckContext, what: str, value: Any) -> ControlLaw:
    """Check that a value is a control law."""
    if is_law(value):
        return value
    raise ModelError(
        f"{context.owner}: law = {shown(value)} is not a control law. Give PID(...), StateFeedback(...), External(), or a "
        "function (t, h, measured, memory, outputs)"
    )


def _inputs(context: CheckContext, what: str, value: Any) -> tuple[str, ...]:
    """Return the names of the inputs; each is that of a sensor of the model, or "sensor.rate"."""
    names = []
    for item in value if isinstance(value, list | tuple) else [value]:
        name = item.name if isinstance(item, Sensor) else item
        sensor = input_of(name).sensor if isinstance(name, str) else None
        if sensor not in context.model.sensors:
            known = ", ".join(f"'{x}'" for x in context.model.sensors) or "none"
            raise ModelError(
                f"{context.owner}: input {shown(name)} is not a sensor of this model, nor the rate of one "
                f"('sensor{RATE}'). Its sensors are: {known}"
            )
        if input_of(str(name)).is_rate:
            context.model.sensors[sensor].check_rate(context.owner)
        names.append(str(name))
    return tuple(names)


def input_of(name: str) -> Input:
    """Return the sensor, and whether its rate is meant, of the name of an input."""
    return Input(name.removesuffix(RATE), name.endswith(RATE))


def _output_names(context: CheckContext, what: str, value: Any) -> tuple[str, ...]:
    """Return the names of outputs, which are distinct."""
    names = (value,) if isinstance(value, str) else tuple(value)
    for name in names:
        checks.name(f"{context.owner}: name of an output", name)
    if len(set(names)) < len(names) or not names:
        raise ModelError(f"{context.owner}: outputs = {names} must be one or several distinct names")
    return names


def _memory(context: CheckContext, what: str, value: Any) -> tuple[float, ...]:
    """Return initial values of the memory."""
    return tuple(checks.number(context.owner, f"memory[{k}]", x) for k, x in enumerate(np.atleast_1d(value)))


LAW = ParameterType("control law", _law, describe_law)
INPUTS = ParameterType("inputs", _inputs)
OUTPUTS = ParameterType("output names", _output_names)
MEMORY = ParameterType("values", _memory)
PERIOD = ParameterType(
    "positive", lambda asked, what, value: checks.number(asked.owner, what, value, positive=True)
)


@component
class Controller(Component):
    """A function of measured numbers and of its memory, which is sampled; its outputs are held between samples."""

    key, word, list_description, table = "controllers", "controller", "sampled controllers", "controllers"
    law: ControlLaw = parameter(LAW, "what maps the inputs to the outputs")
    inputs: tuple[str, ...] = parameter(INPUTS, "names of sensors; 'name.rate' for the rate", ())
    outputs: tuple[str, ...] = parameter(OUTPUTS, "names of the outputs", ("u",))
    memory: tuple[float, ...] = parameter(MEMORY, "initial values of what it remembers [any]", ())
    period: float | None = parameter(
        PERIOD, "time between samples; left out: one sample in each step [s]", None
    )

    @classmethod
    def complete(cls, context: CheckContext, values: dict[str, Any]) -> None:
        law: ControlLaw = values["law"]
        check_law(context.owner, law, values["inputs"], len(values["outputs"]))
        memory = initial_memory(law)
        if memory is not None:
            if values["memory"]:
                raise ModelError(f"{context.owner}: {text_of_law(law)} has its own memory. Remove memory=")
            values["memory"] = memory

    def output(self, name: str | None = None) -> Output:
        """Return an output as a signal, by default the only one.

        Parameters
        ----------
        name : str, optional
            Name of the output.

        Returns
        -------
        Output

        Raises
        ------
        ModelError
            If there is no output of this name, or several and no name is given.
        """
        if name is None and len(self.outputs) == 1:
            name = self.outputs[0]
        if name not in self.outputs:
            raise ModelError(
                f"controller '{self.name}' has no output {shown(name)}. Its outputs are {', '.join(self.outputs)}"
            )
        return Output(self.name, str(name))

    def what_it_lacks(self, model: Any) -> str:
        """Return a sensor that it reads and that a model does not have, in words; an empty string if there is none."""
        names = [name for name in self.inputs if input_of(name).sensor not in model.sensors]
        return f"reads sensor '{input_of(names[0]).sensor}', which is left out" if names else ""

    def __repr__(self) -> str:
        inputs = f" of {', '.join(self.inputs)}" if self.inputs else ""
        return f"<controller '{self.name}': {text_of_law(self.law)}{inputs}>"


@contextlib.contextmanager
def outputs_of_sensors(model: Any, owner: str, values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the values of inputs with each sensor replaced by the output of a controller that passes its value on.

    The controllers are added to the model, and removed if the body raises ModelError; they are sampled in each step. owner: name
    of the entry, with which their names begin.
    """
    followed, passing = dict(values), []
    try:
        for word, value in values.items():
            if isinstance(value, Sensor):
                law = StateFeedback([[-1.0]])  # u = K (0 - y) = y
                passing.append(add(model, Controller, f"{owner}.{word}", law=law, inputs=[value]))
                followed[word] = passing[-1].output()
        yield followed
    except ModelError:
        for controller in passing:
            del model.controllers[controller.name]
        raise


def outputs_in(value: Any) -> list[Output]:
    """Return the outputs of controllers that the value of a load contains."""
    scalars: Sequence[Any] = getattr(value, "components", None) or [getattr(value, "scalar", value)]
    return [scalar for scalar in scalars if isinstance(scalar, Output)]


def output_names(described: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the names of controller and output of all outputs, in their order, from the description of a result."""
    return [(name, output) for name, controller in described.items() for output in controller["outputs"]]


def output_numbers(controllers: Mapping[str, Controller]) -> dict[tuple[str, str], int]:
    """Return the number of each output among those of all controllers, by the names of controller and output."""
    names = [(name, output) for name, controller in controllers.items() for output in controller.outputs]
    return {both: k for k, both in enumerate(names)}
