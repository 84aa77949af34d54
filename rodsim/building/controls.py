"""Build the tables of sensors, controllers and the loads that follow their outputs."""

from __future__ import annotations

import zlib
from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np

from discretization.controls import MEASURES, NO_CONTROLS, QUANTITY, RATE, STATE, VALUE, Controls
from discretization.interaction_table import InteractionTable, history_variable_counts, rows_of
from rigid.errors import ModelError
from rigid.interactions.constraints import rows_of as rows_of_constraints
from rigid.system import Constraints, Floats, Ints
from rodsim.building.load_arrays import EntryInput, LineLoad
from rodsim.building.placement import Placement
from rodsim.components.control_laws import External, law_parameters
from rodsim.components.controllers import Output, Sensor, input_of, output_numbers, outputs_in
from rodsim.components.events import ModelEvent, switches_of
from rodsim.components.model_data import ModelData
from rodsim.components.sensed_quantities import state_offset
from rodsim.components.user_interactions import BoundMeasure
from rodsim.interactions.measures import Quantity

_SAME = 1e-9  # relative difference of a period from a multiple of the step that counts as rounding


def controls_of(
    model: ModelData,
    placement: Placement,
    lines: list[LineLoad],
    inputs: Sequence[EntryInput],
    interactions: InteractionTable,
    names: Sequence[str],
    constraints: Constraints,
) -> Controls:
    """Return the table of sensors, controllers, driven loads and events of a model.

    inputs: external values of other entries; interactions, names: table of all interactions, and the name of each. Raises
    ModelError if a load names an unknown output.
    """
    driven = _driven_loads(model, lines, inputs)
    if not model.sensors and not model.controllers and not model.events:
        return NO_CONTROLS
    words, frames, numbers = [], [], []
    for sensor in model.sensors.values():
        measure = sensor.measure
        if isinstance(measure, Quantity):
            is_state = measure.word == STATE
            words.append(STATE if is_state else QUANTITY)
            frames.append([0, 0])
            numbers.append(
                np.array([_state_index(sensor, model, interactions, names)] if is_state else [], float)
            )
            continue
        assert sensor.a is not None
        assert sensor.b is not None
        bound = BoundMeasure(sensor.name, measure.word, 0, 1, measure.directions, measure.length)
        anchors = (sensor.a, sensor.b)
        words.append(measure.word)
        frames.append([placement.place(anchor).frame for anchor in anchors])
        numbers.append(bound.numbers(placement, anchors))
    place = {name: k for k, name in enumerate(model.sensors)}
    read = [input_of(name) for controller in model.controllers.values() for name in controller.inputs]
    controllers = list(model.controllers.values())
    parameters = [law_parameters(controller.law) for controller in controllers]
    loads, outputs, directions = zip(*driven, strict=True) if driven else ((), (), ())
    return Controls(
        measure=_counts(map(MEASURES.index, words)),
        frames=np.array(frames, np.int64).reshape(-1, 2),
        first=_offsets(numbers),
        numbers=np.concatenate([np.zeros(0), *numbers]),
        period=np.array([controller.period or 0.0 for controller in controllers]),
        inputs=_offsets([controller.inputs for controller in controllers]),
        sensor=_counts((place[x.sensor], RATE if x.is_rate else VALUE) for x in read).reshape(-1, 2),
        memory=_counts(len(controller.memory) for controller in controllers),
        initial=np.concatenate([np.zeros(0), *(controller.memory for controller in controllers)]),
        outputs=_counts(len(controller.outputs) for controller in controllers),
        parameters=_offsets(parameters),
        values=np.concatenate([np.zeros(0), *parameters]),
        load=_counts(loads),
        output=_counts(outputs),
        direction=np.array(directions, float).reshape(-1, 3),
        noise=np.array([[*(sensor.noise or ()), 0.0, 0.0][:2] for sensor in model.sensors.values()]).reshape(
            -1, 2
        ),
        key=_counts(
            (sensor.seed, zlib.crc32(name.encode())) for name, sensor in model.sensors.items()
        ).reshape(-1, 2),
        slots=_counts(_slots(model, sensor) for sensor in model.sensors.values()),
        **_event_columns(model, interactions, constraints),
    )


def _event_columns(
    model: ModelData, interactions: InteractionTable, constraints: Constraints
) -> dict[str, Ints]:
    """Return the columns of switches and events."""
    switches = switches_of(model.events)
    columns = {
        "on": _counts(switches.values()),
        "means": _counts(_reads_means(model, event) for event in model.events.values()),
    }
    if not switches:
        return columns
    numbers = [*model.joints, *model.drives]  # the numbers of `Constraints.joint`; gears come after them
    number_of = {numbers.index(name): k for k, name in enumerate(switches)}
    switch = np.array([number_of.get(joint, -1) for joint in constraints.joint.tolist()], np.int64)
    always = np.full(int(rows_of(interactions).sum()), -1)
    return columns | {"switch": np.concatenate([np.repeat(switch, rows_of_constraints(constraints)), always])}


def _reads_means(model: ModelData, event: ModelEvent) -> bool:
    """Return whether the condition of an event contains a force that is a mean over a step."""
    measured = [model.sensors[name].measure for name in event.when.inputs if name in model.sensors]
    return any(isinstance(x, Quantity) and x.word in ("joint_force", "contact_force") for x in measured)


def _state_index(
    sensor: Sensor, model: ModelData, interactions: InteractionTable, names: Sequence[str]
) -> int:
    """Return the index in the block "settled" of the state that a sensor measures."""
    assert isinstance(sensor.measure, Quantity)
    interaction = model.others[str(sensor.measure.of)]
    offset = state_offset(f"sensor '{sensor.name}'", interaction, sensor.measure)
    row = names.index(f"{interaction.kind} '{interaction.name}'")
    return int(history_variable_counts(interactions)[:row].sum()) + offset


def _slots(model: ModelData, sensor: Sensor) -> int:
    """Return the number of readings that a sensor stores; ModelError if its delay is not a multiple of one period."""
    periods = {
        name: controller.period
        for name, controller in model.controllers.items()
        if any(input_of(item).sensor == sensor.name for item in controller.inputs)
    }
    if not periods or (sensor.noise is None and sensor.delay is None):
        return 0
    if sensor.delay is None:
        return 1
    owner, (first, period) = (
        f"sensor '{sensor.name}': delay = {sensor.delay:g} s",
        next(iter(periods.items())),
    )
    for name, other in periods.items():
        if other is None or period is None:
            raise ModelError(
                f"{owner} needs readings at a fixed period, and controller '{name}' reads it in each step. Give the "
                "controller a period="
            )
        if abs(other - period) > _SAME * period:
            raise ModelError(
                f"{owner} needs readings at one period, and controllers '{first}' and '{name}' read it at periods of "
                f"{period:g} and {other:g} s. Add a sensor for each"
            )
    assert period is not None
    count = sensor.delay / period
    if abs(count - round(count)) > _SAME * count:
        raise ModelError(
            f"{owner} is not a multiple of the period = {period:g} s of controller '{first}' that reads it "
            f"({count:.6g} periods). Use delay = {max(1, round(count)) * period:.10g}, or another period"
        )
    return round(count) + 1


def _counts(items: Iterable[Any]) -> Ints:
    """Return whole numbers as an array."""
    return np.array(list(items), np.int64)


def check_periods(model: ModelData, dt: float, adaptive: bool) -> None:
    """Raise ModelError if a period of a controller is not a multiple of the step, or adaptive steps have no period to end at."""
    for name, controller in model.controllers.items():
        if controller.period is None:
            if adaptive and not isinstance(controller.law, External):
                raise ModelError(
                    f"controller '{name}': is sampled in each step, so that its outputs depend on the steps, which are adaptive "
                    "here. Give it a period=, or a constant dt"
                )
            continue
        steps = controller.period / dt
        if not adaptive and (steps < 0.5 or abs(steps - round(steps)) > _SAME * steps):
            fitting = controller.period / max(1, np.ceil(steps))
            raise ModelError(
                f"controller '{name}': period = {controller.period:g} s is not a multiple of the step dt = {dt:.10g} s "
                f"({steps:.6g} steps). Use dt = {fitting:.10g}, or another period"
            )


def sample_times(model: ModelData, t_end: float) -> Floats:
    """Return the times, s, at which a controller takes a sample before t_end; each ends an adaptive step."""
    periods = {
        controller.period for controller in model.controllers.values() if controller.period is not None
    }
    times = [period * np.arange(1, np.ceil(t_end / period)) for period in periods]
    return np.unique(np.concatenate([np.zeros(0), *times]))


def with_corners(settings: dict[str, Any], times: Sequence[float] | Floats) -> dict[str, Any]:
    """Return the settings of a run with more times at which a step ends."""
    if not len(times):
        return settings
    return settings | {"corners": sorted({*settings.get("corners", ()), *map(float, times)})}


def refuse_controllers(owner: str, built: Any, replaced: Container[str] = ()) -> None:
    """Raise ModelError if a load of a built model follows a controller, whose output is known in a run only.

    replaced: names of loads that have another value.
    """
    driven, first = set(built.system.controls.load.tolist()), 0
    for load in built.load_values.functions if driven else ():
        follows = not driven.isdisjoint(range(first, first + load.n_loads))
        first += load.n_loads
        if follows and load.name not in replaced:
            raise ModelError(
                f"{owner}: load '{load.name}' follows a controller, whose output is known in a run only. Use a model with "
                "a constant load in its place"
            )


def _offsets(items: Any) -> Ints:
    """Return the indices (n + 1,) at which n sequences begin in their concatenation."""
    return np.concatenate([[0], np.cumsum([len(item) for item in items])]).astype(np.int64)


def _driven_loads(
    model: ModelData, lines: list[LineLoad], inputs: Sequence[EntryInput]
) -> list[tuple[int, int, Floats]]:
    """Return for each load that follows an output: its number, that of the output, and its value for the output 1."""
    driven, numbers = [], output_numbers(model.controllers)
    for k, (name, load) in enumerate(model.loads.items()):
        outputs = outputs_in(load.value)
        if not outputs:
            continue
        if len(outputs) > 1 or not isinstance(load.value.scalar, Output):
            raise ModelError(
                f"load '{name}': one component follows a controller and others do not. Add one load for each"
            )
        driven.append((k, _number_of(f"load '{name}'", outputs[0], numbers), load.value.direction))
    first = len(model.loads)
    for line in lines:
        for output in outputs_in(line.user_value):
            number = _number_of(f"load '{line.entry.name}'", output, numbers)
            assert line.of_one is not None
            for k, value in enumerate(line.of_one()):
                driven.append((first + k, number, value))
        first += len(line.frames)
    for entry, values in inputs:
        for row, output, direction in values.followed:
            number = _number_of(f"{entry.kind} '{entry.name}'", output, numbers)
            driven.append((first + row, number, direction))
        first += values.interactions
    return driven


def _number_of(owner: str, output: Output, numbers: dict[tuple[str, str], int]) -> int:
    """Return the number of an output; ModelError if the model has no such controller or output."""
    try:
        return numbers[output.controller, output.output]
    except KeyError:
        known = ", ".join(f"{name}.{output_name}" for name, output_name in numbers) or "none"
        raise ModelError(
            f"{owner}: follows output '{output.output}' of controller '{output.controller}', which this model does not have. "
            f"Its outputs are: {known}"
        ) from None
