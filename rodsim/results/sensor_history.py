"""Histories of sensors and controllers at the outputs of a result."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from discretization.controls import STATE
from rigid.errors import ModelError
from rigid.system import Floats, State
from rodsim.components.controllers import output_names
from rodsim.results import stored_states
from rodsim.results.errors import ResultError
from rodsim.results.sensed_quantities import QUANTITIES, quantity_values

FIELDS = ("value", "rate", "reading", "rate_reading")  # columns of a sensor
# units of measures of two points, by their words
_UNITS = {"distance": "m", "strain": "", "displacement": "m", "cosine": "", "angle": "rad"}


def units_of(measured: Mapping[str, Any]) -> dict[str, str]:
    """Return the units of the columns of a sensor from the description of what it measures."""
    of, component = measured.get("of", STATE), measured.get("component", "N")
    force = "N m" if component[0] in "Mm" else "N"
    unit = {**_UNITS, "energy": "J", STATE: ""}.get(of, force)
    return dict(zip(FIELDS, (unit, f"{unit or '1'}/s") * 2, strict=True))


class SensorHistory:
    """Values, rates and readings of one sensor.

    Parameters
    ----------
    source : Source
        The stored arrays.
    name : str
        Name of the sensor.
    """

    def __init__(self, source: Any, name: str) -> None:
        self._source, self.name = source, name
        self._described = source.layout.description["sensors"][name]
        self._number = list(source.layout.description["sensors"]).index(name)

    @property
    def _measured(self) -> dict[str, Any]:
        """Description of what it measures."""
        measured: dict[str, Any] = self._described["measure"]
        return measured

    @property
    def units(self) -> dict[str, str]:
        """Units of the columns of `table`; empty for numbers without a unit, and for states of interactions."""
        return units_of(self._measured)

    @property
    def has_rate(self) -> bool:
        """Whether it has a rate: true for measures of two points."""
        return self._measured["of"] not in (*QUANTITIES, STATE)

    @functools.cached_property
    def _values(self) -> Floats:
        """Return value and rate (T, 2)."""
        from discretization.time.sampling import Sampler, measure_all  # imported on demand: compiled code

        layout, rows = self._source.layout, np.zeros((self._source.n_outputs, 2))
        if self._measured["of"] in QUANTITIES:
            rows[:, 0] = quantity_values(self._source, self._measured)
            return rows
        sampler = Sampler(layout.system, layout.state_shapes(), sensor=self._number)
        for k, states in stored_states.state_batches(self._source):
            for i in range(len(states.r)):
                measure_all(sampler.arrays, State(*(array[i] for array in states)), rows[k + i : k + i + 1])
        return rows

    @property
    def value(self) -> Floats:
        """(T,) value at each output, without noise and delay; an angle is counted through revolutions.

        A joint force is the mean over the step, or substep, that ends at the output.
        """
        return self._values[:, 0]

    @property
    def rate(self) -> Floats:
        """(T,) rate of the value at each output, without noise and delay.

        Raises ResultError if it measures by value alone.
        """
        if not self.has_rate:
            words = self._measured["of"].replace("_", " ")
            raise ResultError(f"sensor '{self.name}': a {words} has no rate. Use .value")
        return self._values[:, 1]

    @property
    def reading(self) -> Floats:
        """(T,) what controllers read at the last sample before each output, with noise and delay; 0 at t = 0.

        Raises ResultError if the sensor has neither noise nor delay, or no controller reads it.
        """
        return self._readings[:, 0]

    @property
    def rate_reading(self) -> Floats:
        """(T,) rate that controllers read at the last sample before each output, with noise and delay; 0 at t = 0.

        Raises ResultError if it measures by value alone, or as `reading` does.
        """
        if not self.has_rate:
            raise ResultError(f"sensor '{self.name}': has no rate. Use .reading")
        return self._readings[:, 1]

    @property
    def has_readings(self) -> bool:
        """Whether the result has its readings: true with noise or a delay, if a controller reads it."""
        return bool(self._source.layout.system.controls.slots[self._number])

    @property
    def _readings(self) -> Floats:
        """Return the readings of value and rate (T, 2)."""
        layout = self._source.layout
        if not self.has_readings:
            raise ResultError(
                f"sensor '{self.name}': has no readings other than its value; it has neither noise nor delay, or no controller "
                "reads it. Use .value"
            )
        block = layout.internal.part(self._source.read("own"), "sampled")
        readings: Floats = layout.system.controls.last_readings(self._number, block)
        return readings

    def table(self) -> dict[str, Floats]:
        """Return columns (T,) by name: "value", "rate" if it has one, and what controllers read with noise or a delay."""
        names = ["value"] + ["rate"] * self.has_rate + ["reading"] * self.has_readings
        names += ["rate_reading"] * (self.has_rate and self.has_readings)
        return {name: getattr(self, name) for name in names}


class ControllerHistory:
    """Outputs of one controller.

    Parameters
    ----------
    source : Source
        The stored arrays.
    name : str
        Name of the controller.
    """

    def __init__(self, source: Any, name: str) -> None:
        self._source, self.name = source, name
        self._described = source.layout.description["controllers"]

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return [output for name, output in output_names(self._described) if name == self.name]

    def output(self, name: str | None = None) -> Floats:
        """Return an output that was held in the step that ends at each output of the result, (T,); zero at t = 0.

        Parameters
        ----------
        name : str, optional
            Name of the output, by default the only one.

        Returns
        -------
        array, shape (T,)

        Raises
        ------
        ModelError
            If there is no output of this name, or several and no name is given.
        """
        name = self.outputs[0] if name is None and len(self.outputs) == 1 else name
        if name not in self.outputs:
            raise ModelError(
                f"controller '{self.name}' has no output '{name}'. Its outputs are {', '.join(self.outputs)}"
            )
        layout = self._source.layout
        block = layout.internal.part(self._source.read("own"), "sampled")
        outputs: Floats = layout.system.controls.held(block)
        return outputs[:, output_names(self._described).index((self.name, name))]

    def table(self) -> dict[str, Floats]:
        """Return columns (T,) by name: the outputs that were held in the step that ends at each output of the result."""
        return {name: self.output(name) for name in self.outputs}
