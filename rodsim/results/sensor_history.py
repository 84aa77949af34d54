"""Histories of sensors and controllers at the outputs of a result."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from discretization.internal_variables import internal_variables
from rigid.errors import ModelError
from rigid.system import Floats, State
from rodsim.components.controllers import output_names
from rodsim.results import stored_states


class SensorHistory:
    """Values and rates of one sensor.

    Parameters
    ----------
    source : Source
        The stored arrays.
    name : str
        Name of the sensor.
    """

    def __init__(self, source: Any, name: str) -> None:
        self._source, self.name = source, name
        self._number = list(source.layout.description["sensors"]).index(name)

    @functools.cached_property
    def _values(self) -> Floats:
        """Return value and rate (T, 2)."""
        from discretization.time.sampling import Sampler, measure_all  # imported on demand: compiled code

        system = self._source.layout.system
        controls, before = system.controls.only_sensor(self._number)
        sampler = Sampler(controls, {}, internal_variables(system).first("sampled") + before)
        rows = np.zeros((self._source.n_outputs, 2))
        for k, states in stored_states.state_batches(self._source):
            for i in range(len(states.r)):
                measure_all(sampler.arrays, State(*(array[i] for array in states)), rows[k + i : k + i + 1])
        return rows

    @property
    def value(self) -> Floats:
        """(T,) value at each output; an angle is counted through revolutions."""
        return self._values[:, 0]

    @property
    def rate(self) -> Floats:
        """(T,) rate of the value at each output."""
        return self._values[:, 1]


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
