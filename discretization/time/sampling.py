"""Sample sensors and controllers at the start of a step, inside the compiled time loop.

    y = (r, d1, d2, d3),   m(y + i e dy/dt) = m + i e dm/dt                                              (1)

gives the value m and the rate of a measure by one complex step. Quantities of the whole state, such as forces of joints and
energies, are evaluated by one function of Python. It is called through a pointer if a controller is due that reads one of them.
Multipliers in the state are those of the step that has ended. A controller that is due is called through a pointer, too: a
compiled law, or a function of Python, which takes the interpreter's lock meanwhile. Its outputs are held in the state until it is
due again, so that neither substeps nor the halves of a step sample a second time (`discretization.controls`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numba import types

from discretization.controls import MEASURES, QUANTITY, RATE, STATE, VALUE
from discretization.internal_variables import internal_variables
from discretization.state_shapes import Shapes
from discretization.system import System
from discretization.time.newton import CONVERGED
from discretization.time.random_numbers import normal_pair
from discretization.time.state_copy import copy_state
from discretization.time.stepper_base import Failure
from discretization.time.thread_turns import turn_resumed
from rigid.compilation.decorators import (
    address_of,
    allocating_internal_kernel,
    allocating_kernel,
    function_at,
    internal_kernel,
)
from rigid.errors import ModelError
from rigid.interactions import measures
from rigid.interactions.kinds import COMPLEX_STEP, F1
from rigid.kinematics.rotations import load4, rotation_matrix
from rigid.linear_algebra import apply, cross, load3
from rigid.system import Floats, Ints, State
from rigid.tuple_references import by_reference

NOT_SAMPLED = 101  # status of a march in which a controller failed
LAW = types.int64(types.float64, types.float64, F1, F1, F1, F1)  # t, h, measured, parameters, memory, outputs
CALL = types.int64(types.float64, types.float64)  # a function of Python, which has its arrays
law_at, call_at = function_at(LAW), function_at(CALL)

_DISTANCE, _STRAIN, _DISPLACEMENT, _COSINE, _STATE, _QUANTITY = (
    MEASURES.index(word) for word in ("distance", "strain", "displacement", "cosine", STATE, QUANTITY)
)
_CHECKED = (
    3  # first calls of a function of Python that are made twice, to find memory that the state does not have
)
_EARLY = 1e-9  # part of a period by which a sample may come early, because times are rounded


@by_reference
class SamplingArrays(NamedTuple):
    """The numbers of `Controls` for compiled code, and scratch arrays."""

    measure: Ints
    frames: Ints
    first: Ints
    numbers: Floats
    period: Floats
    inputs: Ints
    sensor: Ints
    outputs: Ints
    parameters: Ints
    values: Floats
    load: Ints
    output: Ints
    direction: Floats
    noise: Floats
    key: Ints
    slots: Ints
    addresses: Ints  # (c,) addresses of the laws
    python: Ints  # (c,) 1: a function of Python
    due: Ints  # (c,) indices in `State.internal` of the time of the next sample, of memory and of outputs
    memory: Ints
    held: Ints
    counted: (
        Ints  # (s,) index in `State.internal` of the last angle of a sensor; -1: it counts no revolutions
    )
    rings: Ints  # (s,) index in `State.internal` at which the readings of a sensor begin
    evaluate: Ints  # (1,) address of the function that evaluates the quantities at `scratch` and writes them to `readings`
    output_place: Ints  # (u,) index in `State.internal` of each output
    wanted: Ints  # (s,) scratch: 1 if a controller is due that reads the sensor
    readings: Floats  # (s, 2) scratch: value and rate of each sensor
    measured: Floats  # (i,) scratch: inputs of all controllers
    buffers: Floats  # scratch: memory and outputs of functions of Python, controller by controller
    buffer: Ints  # (c,) first index of each
    poses: Any  # (2, 4, 3) complex scratch
    scratch: State
    failed: Ints  # (1,) number of the controller that failed; -1: the function that evaluates the quantities
    failed_at: Floats  # (1,) time at which it failed, s


@internal_kernel
def _put_pose(state, f, origin, y, k):
    """Write the pose of frame f with its rate as imaginary part to y[k]; positions are relative to `origin`."""
    R, omega, e = rotation_matrix(load4(state.quat[f])), load3(state.Omega[f]), COMPLEX_STEP * 1j
    spin = apply(R, omega)
    for i in range(3):
        y[k, 0, i] = state.r[f, i] - origin[i] + e * state.v[f, i]
    for j in range(3):
        d = (R[j], R[3 + j], R[6 + j])
        rate = cross(spin, d)
        for i in range(3):
            y[k, 1 + j, i] = d[i] + e * rate[i]


@internal_kernel
def measure_sensor(sampling, state, s):
    """Return the value of sensor s, as real part, and its rate times `COMPLEX_STEP`, as imaginary part."""
    y, word, X, at = sampling.poses, sampling.measure[s], sampling.numbers, sampling.first[s]
    if word == _STATE:
        return state.internal[int(X[at])] + 0.0j
    origin = load3(state.r[sampling.frames[s, 0]])
    for k in range(2):
        _put_pose(state, sampling.frames[s, k], origin, y, k)
    if word == _DISTANCE:
        return measures.distance(y, 0, 1, X, at)
    if word == _STRAIN:
        return measures.strain(y, 0, 1, X, at)
    if word == _DISPLACEMENT:
        return measures.displacement(y, 0, 1, X, at)
    if word == _COSINE:
        return measures.cosine(y, 0, 1, X, at)
    X[at + 9] = state.internal[sampling.counted[s]]  # the angle nearest to the last one
    return measures.angle(y, 0, 1, X, at)


@internal_kernel
def _is_due(sampling, state, c, t):
    """Return whether controller c takes a sample at time t."""
    return t >= state.internal[sampling.due[c]] - _EARLY * sampling.period[c]


@internal_kernel
def _mark_wanted(sampling, state, t):
    """Mark the sensors that controllers read which are due at time t; return whether one of them is a quantity."""
    evaluates = False
    for s in range(sampling.wanted.shape[0]):
        sampling.wanted[s] = 0
    for c in range(sampling.period.shape[0]):
        if _is_due(sampling, state, c, t):
            for i in range(sampling.inputs[c], sampling.inputs[c + 1]):
                s = sampling.sensor[i, 0]
                sampling.wanted[s] = 1
                evaluates = evaluates or sampling.measure[s] == _QUANTITY
    return evaluates


@internal_kernel
def _read_sensors(sampling, state):
    """Read the sensors that are wanted or count revolutions; store the angles of the latter in the state."""
    for s in range(sampling.measure.shape[0]):
        counts = sampling.counted[s] >= 0
        if (sampling.wanted[s] != 0 or counts) and sampling.measure[s] != _QUANTITY:
            value = measure_sensor(sampling, state, s)
            sampling.readings[s, VALUE], sampling.readings[s, RATE] = value.real, value.imag / COMPLEX_STEP
            if counts:
                state.internal[sampling.counted[s]] = value.real
        if sampling.wanted[s] != 0 and sampling.slots[s] > 0:
            _pass_through_ring(sampling, state.internal, s)


@internal_kernel
def _pass_through_ring(sampling, internal, s):
    """Add noise to the reading of sensor s, store it in its ring, and replace it by the oldest one there."""
    at, slots = sampling.rings[s], sampling.slots[s]
    count = int(internal[at])
    first, last = count % slots, count % slots
    if count == 0:  # before its first reading a sensor with a delay gives that one
        first, last = 0, slots - 1
    g = normal_pair(sampling.key[s], count)
    for i in range(2):
        reading = sampling.readings[s, i] + sampling.noise[s, i] * g[i]
        for k in range(first, last + 1):
            internal[at + 1 + 2 * k + i] = reading
        sampling.readings[s, i] = internal[at + 1 + 2 * ((count + 1) % slots) + i]
    internal[at] = count + 1.0


@allocating_internal_kernel
def _call(sampling, state, c, t, h):
    """Call controller c at time t with what it measures; return a status."""
    internal, first, last = state.internal, sampling.inputs[c], sampling.inputs[c + 1]
    for i in range(first, last):
        sampling.measured[i] = sampling.readings[sampling.sensor[i, 0], sampling.sensor[i, 1]]
    memory, outputs = sampling.memory[c], sampling.held[c]
    end, at = outputs + sampling.outputs[c], sampling.buffer[c]
    if sampling.python[c] != 0:
        for k in range(memory, end):
            sampling.buffers[at + k - memory] = internal[k]
        status = call_at(sampling.addresses[c])(t, h)
        for k in range(memory, end):
            internal[k] = sampling.buffers[at + k - memory]
    else:
        parameters = sampling.values[sampling.parameters[c] : sampling.parameters[c + 1]]
        law = law_at(sampling.addresses[c])
        status = law(
            t, h, sampling.measured[first:last], parameters, internal[memory:outputs], internal[outputs:end]
        )
    if status != 0:
        return NOT_SAMPLED
    for k in range(memory, end):
        if not np.isfinite(internal[k]):
            return NOT_SAMPLED
    return CONVERGED


@allocating_internal_kernel
def sample(sampling, state, t, h, values):
    """Take the samples that are due at time t, the start of a step of nominal length h; write the loads that follow outputs.

    values: (n, l, 3) values of the loads in the substeps of the step. Return a status.
    """
    if _mark_wanted(sampling, state, t):
        copy_state(state, sampling.scratch)
        if call_at(sampling.evaluate[0])(t, 0.0) != 0:
            sampling.failed[0], sampling.failed_at[0] = -1, t
            return NOT_SAMPLED
    _read_sensors(sampling, state)
    for c in range(sampling.period.shape[0]):
        if not _is_due(sampling, state, c, t):
            continue
        period = sampling.period[c]
        status = _call(sampling, state, c, t, period if period > 0.0 else h)
        if status != CONVERGED:
            sampling.failed[0], sampling.failed_at[0] = c, t
            return status
        state.internal[sampling.due[c]] += period
    _write_outputs(sampling, state, values)
    return CONVERGED


@internal_kernel
def _write_outputs(sampling, state, values):
    """Write the outputs to the loads that follow them; components of a load that follow none are left as they are."""
    for k in range(values.shape[0]):
        for a in range(sampling.load.shape[0]):
            for i in range(3):
                if sampling.direction[a, i] != 0.0:
                    values[k, sampling.load[a], i] = 0.0
        for a in range(sampling.load.shape[0]):
            output = state.internal[sampling.output_place[sampling.output[a]]]
            for i in range(3):
                values[k, sampling.load[a], i] += output * sampling.direction[a, i]


@internal_kernel
def is_sampling(sampling):
    """Return whether the model has sensors or controllers."""
    return sampling is not None


@allocating_internal_kernel
def sample_if_any(sampling, state, t, h, values):
    """Sample as `sample` does; sampling is None for models without controllers."""
    if sampling is None:
        return CONVERGED
    return sample(sampling, state, t, h, values)


@allocating_kernel
def sample_state(sampling, state, t, h, values):
    """Sample as `sample` does, for time loops of Python."""
    return sample(sampling, state, t, h, values)


@allocating_kernel
def measure_all(sampling, state, out):
    """Write value and rate of every sensor that compiled code evaluates, at a state, to out (s, 2)."""
    for s in range(out.shape[0]):
        if sampling.measure[s] != _QUANTITY:
            value = measure_sensor(sampling, state, s)
            out[s, 0], out[s, 1] = value.real, value.imag / COMPLEX_STEP


Law = Callable[
    ..., Any
]  # (t, h, measured, memory, outputs), or a function of `compiled` with the signature LAW
# numbers of q sensors, states (k, ...) -> values (k, q)
Quantities = Callable[[Ints, State], Floats]


class ControlFunctions(NamedTuple):
    """The functions that a run with sensors and controllers calls."""

    laws: Mapping[str, Law] = MappingProxyType({})  # of the controllers by name, in the order of `Controls`
    quantities: Quantities | None = None  # evaluates the sensors that are quantities


NO_FUNCTIONS = ControlFunctions()


class Sampler:
    """Sensors and controllers of one run: arrays for compiled code, and the functions of Python that it calls.

    Attributes
    ----------
    arrays : SamplingArrays
    error : BaseException or None
        Exception that a function of Python has raised.
    whole : callable
        Converts states (k, ...) of the stepper to those of the system for which quantities are evaluated; by default they are.
    """

    def __init__(
        self,
        system: System,
        shapes: Shapes,
        functions: ControlFunctions = NO_FUNCTIONS,
        sensor: int | None = None,
    ) -> None:
        """Prepare for a run of a system; shapes: those of its states. sensor: number of the only sensor to be measured."""
        controls, blocks, before = system.controls, internal_variables(system), 0
        if sensor is not None:
            controls, before = controls.only_sensor(sensor)
        first = blocks.first("sampled") + before
        numbers = controls.numbers.copy()
        numbers[controls.first[:-1][controls.measure == _STATE]] += blocks.first("settled")
        self.controls, self.names = controls, list(functions.laws)
        self.whole: Callable[[State], State] = lambda states: states
        self.error: BaseException | None = None
        due, memory, outputs_at = (first + offsets for offsets in controls.offsets())
        counted = np.full(len(controls.measure), -1, np.int64)
        counted[controls.counted] = first + np.arange(len(controls.counted))
        width = controls.memory + controls.outputs
        buffer = np.cumsum(width) - width
        self._measured, self._buffers = np.zeros(len(controls.sensor)), np.zeros(int(width.sum()))
        laws = list(functions.laws.values())
        self._callbacks = [self._callback(c, law, buffer[c]) for c, law in enumerate(laws)]
        addresses = [_address(law, call) for law, call in zip(laws, self._callbacks, strict=True)]
        read = np.unique(controls.sensor[:, 0])
        evaluated = read[controls.measure[read] == _QUANTITY]
        readings = np.zeros((len(controls.measure), 2))
        scratch = State(
            *(np.zeros(shapes[name] if len(evaluated) else [0] * len(shapes[name])) for name in State._fields)
        )
        self._evaluate = _C_FUNCTION(self._evaluation(functions.quantities, evaluated, scratch, readings))
        outputs = [np.arange(at, at + n) for at, n in zip(outputs_at, controls.outputs, strict=True)]
        table = {
            name: values for name, values in controls._asdict().items() if name in SamplingArrays._fields
        }
        self.arrays = SamplingArrays(
            **table
            | {
                "numbers": numbers,
                "addresses": np.array(addresses, np.int64),
                "python": np.array([call is not None for call in self._callbacks], np.int64),
                "due": due,
                "memory": memory,
                "held": outputs_at,
                "counted": counted,
                "rings": first + controls.rings(),
                "evaluate": np.array([_address(None, self._evaluate)], np.int64),
                "output_place": np.concatenate([np.zeros(0, np.int64), *outputs]),
                "wanted": np.zeros(len(controls.measure), np.int64),
                "readings": readings,
                "measured": self._measured,
                "buffers": self._buffers,
                "buffer": buffer,
                "poses": np.zeros((2, 4, 3), complex),
                "scratch": scratch,
                "failed": np.zeros(1, np.int64),
                "failed_at": np.zeros(1),
            }
        )

    def _callback(self, c: int, law: Law, at: int) -> Any:
        """Return the C function that calls the law of Python of controller c; None for a compiled law."""
        if hasattr(law, "address"):
            return None
        controls = self.controls
        end = at + controls.memory[c]
        measured = self._measured[controls.inputs[c] : controls.inputs[c + 1]]
        memory, outputs = self._buffers[at:end], self._buffers[end : end + controls.outputs[c]]
        measured.flags.writeable = False
        checks = iter(range(_CHECKED))

        def call(t: float, h: float) -> int:
            try:
                if next(checks, None) is not None:
                    self._check_repeats(c, partial(law, t, h, measured), memory, outputs)
                law(t, h, measured, memory, outputs)
            except BaseException as error:
                self.error = error
                return 1
            return 0

        return _C_FUNCTION(call)

    def _evaluation(
        self, quantities: Quantities | None, numbers: Ints, scratch: State, readings: Floats
    ) -> Callable[[float, float], int]:
        """Return the function that writes the sensors `numbers` at the state `scratch` to `readings`."""

        def evaluate(t: float, h: float) -> int:
            try:
                assert quantities is not None
                with turn_resumed():
                    states = self.whole(State(*(array[None].copy() for array in scratch)))
                    readings[numbers, VALUE] = quantities(numbers, states)[0]
            except BaseException as error:
                self.error = error
                return 1
            return 0

        return evaluate

    def _check_repeats(self, c: int, law: Law, memory: Floats, outputs: Floats) -> None:
        """Raise ModelError unless a law of Python gives the same when it is called twice with the same numbers."""
        begun, results = (memory.copy(), outputs.copy()), []
        for _ in range(2):
            law(memory, outputs)
            results.append((memory.copy(), outputs.copy()))
            memory[:], outputs[:] = begun
        if not all(np.array_equal(x, y, equal_nan=True) for x, y in zip(*results, strict=True)):
            raise ModelError(
                f"controller '{self.names[c]}': its law gives other numbers when it is called again with the same ones. "
                "Keep what it remembers in `memory`, so that steps can be repeated and runs resumed"
            )

    def failure(self) -> Failure:
        """Return the failure of the last sample, and forget the exception of a function of Python."""
        c, t = int(self.arrays.failed[0]), float(self.arrays.failed_at[0])
        controls = self.controls
        if c < 0:
            error, self.error = self.error, None
            reason = f"the sensors at t = {t:.6g} s raised {type(error).__name__}: {error}"
            return Failure(reason, "remove the sensor", cause=error, final=True)
        measured = self._measured[controls.inputs[c] : controls.inputs[c + 1]]
        owner = f"controller '{self.names[c]}' at t = {t:.6g} s with inputs [{', '.join(f'{x:.6g}' for x in measured)}]"
        error, self.error = self.error, None
        if error is not None:
            reason = f"{owner} raised {type(error).__name__}: {error}"
            return Failure(reason, "correct the function", cause=error, final=True)
        return Failure(f"{owner} returned a number that is not finite", "correct the function", final=True)


_C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, ctypes.c_double)


def _address(law: Law | None, callback: Any) -> int:
    """Return the address of a compiled law, or of the C function of a law of Python."""
    return address_of(law) if callback is None else int(ctypes.cast(callback, ctypes.c_void_p).value or 0)
