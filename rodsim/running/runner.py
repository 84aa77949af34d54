"""Advance a model step by step from a loop of Python: `Runner`.

The steps are those of `simulate`, bit by bit. With `em` and its variants the arguments of the compiled time loop are bound once
(`discretization.time.bound_march`); other steppers are called as `simulate` calls them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from math import isfinite
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from discretization.controls import MEASURES, QUANTITY
from discretization.internal_variables import internal_variables
from discretization.state_checks import check_arrays
from discretization.time.newton import CONVERGED
from discretization.time.step_splitting import steps_before_corner
from rigid import checks
from rigid.bound_arguments import bind_tuple, specialized
from rigid.errors import ConvergenceError, ModelError
from rigid.signals import Signal, VectorSignal
from rigid.system import Floats, Ints, State
from rodsim.adaptive_steps import Adaptive
from rodsim.building.build import Built
from rodsim.building.load_arrays import is_varying
from rodsim.building.starting_states import StartLike
from rodsim.components.control_laws import External
from rodsim.components.controllers import input_of, output_numbers, outputs_in
from rodsim.interactions.measures import Quantity
from rodsim.model import Model
from rodsim.results.sensed_quantities import quantities_of
from rodsim.running.plan import Arguments, plan_run
from rodsim.running.run import Run

AHEAD = 64  # steps for which signals are evaluated together
_SAME = (
    1e-9  # difference of a time from the end of a step, as a fraction of the step, that counts as rounding
)
_OF_RUNS = {
    "output": "a Runner stores no outputs",
    "resume": "call `restore`",
    "events": "test the state in the loop",
}


class Runner:
    """A model that is advanced step by step from a loop of Python.

    `Prepared.runner` returns it. The steps are bit-identical to those of `simulate`. Outputs of controllers with the law
    `controllers.External` are set by `advance` and held until they are set again.

    Attributes
    ----------
    dt : float
        Step, s.
    step : int
        Number of steps since t = 0.
    t : float
        Time, s.
    state : State
        Copy of the present state.
    controls : tuple of str
        Names of the outputs that `advance` sets, "controller.output".
    sensors : array, shape (sensors, 2)
        Value and rate of each sensor of the model in the present state.

    Examples
    --------
    >>> from rodsim import Box, Model, controllers, measures
    >>> model = Model("cart")
    >>> cart = model.add_body("cart", Box(0.4, 0.2, 0.2, mass=2.0))
    >>> rail = model.add_joint("rail", "prismatic", "ground", cart, at=(0, 0, 0), axis=(1, 0, 0))
    >>> x = model.add_sensor("x", measures.coordinate(cart, axis=(1, 0, 0)))
    >>> hand = model.add_controller("hand", controllers.External(), outputs="force")
    >>> push = model.add_joint_force("push", "rail", hand.output())
    >>> runner = model.prepare(dt=0.01).runner()
    >>> for _ in range(100):
    ...     runner.advance(controls={"hand.force": 1.0 - runner.sensor("x")})
    >>> round(runner.t, 6), runner.sensor("x") > 0.2
    (1.0, True)
    """

    def __init__(self, model: Model, arguments: Arguments) -> None:
        """Prepare the first step; `arguments` are those of `simulate`."""
        if isinstance(arguments.dt, Adaptive):
            raise ModelError("runner: dt = Adaptive(...) chooses its own steps. Give a step in seconds")
        for name, cure in _OF_RUNS.items():
            if getattr(arguments, name):
                raise ModelError(
                    f"runner: {name} = {checks.shown(getattr(arguments, name))} has no meaning; {cure}"
                )
        stops = [name for name, event in model.events.items() if event.stop]
        if stops:
            raise ModelError(
                f"runner: event '{stops[0]}' stops the run, which the caller of a Runner does. Remove it, and test "
                "`runner.sensor(...)` in the loop"
            )
        self._model, self._arguments = model, arguments
        externals = [name for name, x in model.controllers.items() if isinstance(x.law, External)]
        self.controls = tuple(f"{name}.{x}" for name in externals for x in model.controllers[name].outputs)
        self._begin(arguments)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Runner cannot be pickled or copied. Store `runner.state` and `runner.t`, and call `restore`"
        )

    def _begin(self, arguments: Arguments) -> None:
        """Make the stepper and the state of a run that begins as the arguments say."""
        run = Run(self._model, plan_run(self._model, arguments))
        system, values = run.built.system, run.built.load_values
        self.dt, self._stepper = run.plan.dt, run.stepper
        self._split = _steps_with_corners(run.stepper.corners, self.dt)
        self._state = State._make([np.array(array) for array in run.state])
        self._copies = [array.copy for array in self._state]
        self._place_controls(system)
        self._started = self.state
        functions = [
            x.user_value
            for x in values.functions
            if is_varying(x.user_value) and not outputs_in(x.user_value)
        ]
        plain = all(isinstance(value, Signal | VectorSignal) for value in functions)
        varies = bool(functions) or run.built.drive_values is not None
        self._march = run.stepper.bound_march(self._state, varies * (AHEAD if plain else 1))
        self._read_sensors = self._sensor_reader(run.built)

    def _place_controls(self, system: Any) -> None:
        """Find the numbers that `advance` sets, and set them to their initial values unless the start has values."""
        block, first = system.controls, internal_variables(system).first("sampled")
        _, memory, outputs = (first + x for x in block.offsets())
        places = [
            np.arange(at, at + n) for at, n in zip(outputs.tolist(), block.outputs.tolist(), strict=True)
        ]
        controllers = list(self._model.controllers.values())
        index: list[int] = []
        for k, controller in enumerate(controllers):
            if isinstance(controller.law, External):
                index += places[k].tolist()
                if not self._state.internal[memory[k]]:
                    self._state.internal[places[k]] = controller.law.initial
                    self._state.internal[memory[k]] = 1.0
        self._control_index: Ints = np.array(index, np.int64)
        self._control_places = dict(zip(self.controls, index, strict=True))
        names = [f"{name}.{output}" for name, output in output_numbers(self._model.controllers)]
        all_places = np.concatenate([np.zeros(0, np.int64), *places]).tolist()
        self._output_places = dict(zip(names, all_places, strict=True))

    def _sensor_reader(self, built: Built) -> Any:
        """Return a function without arguments that writes and returns value and rate of all sensors (s, 2)."""
        from discretization.time.sampling import Sampler, measure_all  # imported on demand: compiled code

        values = np.zeros((len(self._model.sensors), 2))
        if not len(values):
            return lambda: values
        sampler = Sampler(built.system, self._stepper.shapes)
        arguments = bind_tuple(sampler.arrays), bind_tuple(self._state), values
        measure = specialized(measure_all, *arguments)
        quantities = np.flatnonzero(built.system.controls.measure == MEASURES.index(QUANTITY))
        evaluate = quantities_of(built.layout)

        def read() -> Floats:
            measure(*arguments)
            if len(quantities):
                states = State._make([array[None] for array in self._state])
                values[quantities, 0] = evaluate(quantities, states)[0]
            return values

        return read

    @property
    def step(self) -> int:
        """Number of steps since t = 0."""
        return self._march.step

    @property
    def t(self) -> float:
        """Time, s."""
        return self.dt * self.step

    @property
    def state(self) -> State:
        """Copy of the present state."""
        return State._make([copy() for copy in self._copies])

    @property
    def sensors(self) -> Floats:
        """Value and rate of each sensor in the present state, (sensors, 2), without noise and delay.

        Angles are counted through revolutions; rates that do not exist are 0.
        """
        values: Floats = self._read_sensors().copy()
        return values

    def sensor(self, name: str) -> float:
        """Return what a sensor measures in the present state.

        Parameters
        ----------
        name : str
            Name of the sensor, or "name.rate" for its rate.

        Returns
        -------
        float
            In the unit of the measure, or per second.

        Raises
        ------
        ModelError
            If the model has no such sensor, or it has no rate.

        Examples
        --------
        >>> from rodsim import Box, Model, measures
        >>> model = Model(gravity=(0, 0, -10))
        >>> block = model.add_body("block", Box(1, 1, 1, mass=1.0))
        >>> z = model.add_sensor("z", measures.coordinate(block, axis=(0, 0, 1)))
        >>> runner = model.prepare(dt=0.1).runner()
        >>> runner.advance(10)
        >>> round(runner.sensor("z.rate"), 6)
        -10.0
        """
        wanted = input_of(name)
        known = list(self._model.sensors)
        if wanted.sensor not in self._model.sensors:
            raise ModelError(
                f"runner: there is no sensor '{name}'. The sensors are {', '.join(known) or 'none'}",
                choices=known,
            )
        sensor = self._model.sensors[wanted.sensor]
        if wanted.is_rate and isinstance(sensor.measure, Quantity):
            sensor.check_rate("runner")
        return float(self._read_sensors()[known.index(wanted.sensor), int(wanted.is_rate)])

    def output(self, name: str) -> float:
        """Return the output of a controller that is held now.

        Parameters
        ----------
        name : str
            "controller.output".

        Returns
        -------
        float

        Raises
        ------
        ModelError
            If there is no such output.

        Examples
        --------
        >>> from rodsim import Box, Model, controllers
        >>> model = Model()
        >>> block = model.add_body("block", Box(1, 1, 1, mass=1.0))
        >>> hand = model.add_controller("hand", controllers.External())
        >>> push = model.add_force("push", block, hand.output().along((1, 0, 0)))
        >>> runner = model.prepare(dt=0.1).runner()
        >>> runner.advance(1, {"hand.u": 2.0})
        >>> runner.output("hand.u")
        2.0
        """
        if name not in self._output_places:
            known = list(self._output_places)
            raise ModelError(
                f"runner: there is no output '{name}'. The outputs are {', '.join(known) or 'none'}",
                choices=known,
            )
        return float(self._state.internal[self._output_places[name]])

    def advance(self, n: int = 1, controls: Mapping[str, float] | ArrayLike | None = None) -> None:
        """Take n steps.

        Parameters
        ----------
        n : int, default 1
            Number of steps.
        controls : mapping or array_like, optional
            Values that are held during these steps and until they are set again: by name, or one for each name in
            `runner.controls`. Names that are left out keep their values.

        Raises
        ------
        ModelError
            If n or a control is invalid. Nothing has changed then.
        ConvergenceError
            If a step failed even after it was halved, or a controller failed. The runner is at the end of the last good step.

        Examples
        --------
        >>> from rodsim import Box, Model, controllers
        >>> model = Model()
        >>> block = model.add_body("block", Box(1, 1, 1, mass=1.0))
        >>> hand = model.add_controller("hand", controllers.External())
        >>> push = model.add_force("push", block, hand.output().along((1, 0, 0)))
        >>> runner = model.prepare(dt=0.1).runner()
        >>> runner.advance(10, {"hand.u": 2.0})
        >>> runner.advance(10, [0.0])
        >>> round(float(runner.state.v[1, 0]), 6), round(runner.t, 6)
        (2.0, 2.0)
        """
        if type(n) is not int or n < 1:
            n = checks.count("runner", "n", n)
        if controls is not None:
            self._set_controls(controls)
        march = self._march
        end = march.step + n
        while march.step < end:
            status = march.take(self._steps_before_corner(end) if self._split else end - march.step)
            if status != CONVERGED or march.step < end:
                self._step_by_stepper(status, end)

    def reset(self, start: StartLike | None = None, start_time: float | None = None) -> None:
        """Begin again at t = 0.

        Parameters
        ----------
        start : Result, Equilibrium, State, SteadyRotation, str or Path, optional
            Initial state, as in `simulate`. By default the one with which the runner last began, in a microsecond; another one
            takes about a millisecond.
        start_time : float, optional
            Time of the state in `start`, s; by default the last.

        Raises
        ------
        ModelError
            If `start` does not fit the model. Nothing has changed then.

        Examples
        --------
        >>> from rodsim import Box, Model, controllers
        >>> model = Model()
        >>> block = model.add_body("block", Box(1, 1, 1, mass=1.0))
        >>> hand = model.add_controller("hand", controllers.External())
        >>> push = model.add_force("push", block, hand.output().along((1, 0, 0)))
        >>> runner = model.prepare(dt=0.1).runner()
        >>> runner.advance(10, {"hand.u": 2.0})
        >>> runner.reset()
        >>> runner.t, runner.output("hand.u")
        (0.0, 0.0)
        """
        if start is None and start_time is None:
            self._set(self._started, 0)
        else:
            self._begin(self._arguments._replace(start=start, start_time=start_time))

    def restore(self, state: State, t: float) -> None:
        """Go back to a state that this runner had; later steps are bit-identical to those after that time.

        Parameters
        ----------
        state : State
            What `runner.state` returned, unchanged.
        t : float
            Its time, s.

        Raises
        ------
        ModelError
            If the state has other arrays than those of this runner, or t is not the end of a step.

        Examples
        --------
        >>> from rodsim import Box, Model, controllers
        >>> model = Model()
        >>> block = model.add_body("block", Box(1, 1, 1, mass=1.0))
        >>> hand = model.add_controller("hand", controllers.External())
        >>> push = model.add_force("push", block, hand.output().along((1, 0, 0)))
        >>> runner = model.prepare(dt=0.1).runner()
        >>> runner.advance(10)
        >>> state, t = runner.state, runner.t
        >>> runner.advance(10, {"hand.u": 2.0})
        >>> runner.restore(state, t)
        >>> runner.t, runner.output("hand.u")
        (1.0, 0.0)
        """
        steps = checks.number("runner", "t", t, at_least=0.0) / self.dt
        if abs(steps - round(steps)) > _SAME * max(steps, 1.0):
            raise ModelError(
                f"runner: t = {t:g} s is not the end of a step of {self.dt:g} s. Give the value of `runner.t`"
            )
        check_arrays(state, self._stepper.shapes)
        if not all(np.isfinite(array).all() for array in state):
            raise ModelError("runner: the state is not finite. Give what `runner.state` returned")
        self._set(state, round(steps))

    def _set(self, state: State, step: int) -> None:
        """Set state and step."""
        for target, source in zip(self._state, state, strict=True):
            target[...] = source
        self._march.step = step

    def _set_controls(self, controls: Mapping[str, float] | ArrayLike) -> None:
        """Set the external outputs; raise ModelError before any is set if a name or a value is invalid."""
        internal = self._state.internal
        if isinstance(controls, Mapping):
            places = self._control_places
            for name, value in controls.items():
                if name not in places:
                    known = (
                        ", ".join(self.controls)
                        or "none; add a controller with the law controllers.External()"
                    )
                    raise ModelError(
                        f"runner: there is no control '{name}'. The controls are {known}",
                        choices=self.controls,
                    )
                if type(value) is not float or not isfinite(value):
                    checks.number("runner", f"control '{name}'", value)
            for name, value in controls.items():
                internal[places[name]] = value
            return
        values = controls
        if (
            not isinstance(values, np.ndarray)
            or values.dtype != float
            or values.shape != self._control_index.shape
        ):
            values = checks.vector("runner", "controls", controls, len(self.controls))
        elif not all(map(isfinite, values.tolist())):
            checks.vector("runner", "controls", controls, len(self.controls))
        internal[self._control_index] = values

    def _steps_before_corner(self, end: int) -> int:
        """Return the number of steps up to `end` before the next one that contains a corner."""
        step, following = self._march.step, bisect_left(self._split, self._march.step)
        return min(end, self._split[following]) - step if following < len(self._split) else end - step

    def _step_by_stepper(self, status: int, end: int) -> None:
        """Take the next step with the stepper, which splits or halves it; or all steps up to `end` if none is bound."""
        march = self._march
        if status != CONVERGED:
            self._stepper.raise_if_final(status, march.step, march.state)
        n = 1 if march.is_bound else end - march.step  # many steps in one call could not be interrupted
        try:
            state, _ = self._stepper.advance(march.state, march.step, n)
        except ConvergenceError as error:
            if error.reached is not None:
                self._set(error.reached.state, error.reached.step)
            raise
        self._set(state, march.step + n)


def _steps_with_corners(corners: Floats, h: float) -> list[int]:
    """Return the numbers of the steps of length h that begin there and contain a corner, increasing."""
    near = np.unique(np.floor(corners / h)).tolist()
    return [int(k) for k in near if not steps_before_corner(corners, h, h * np.array([k]))]
