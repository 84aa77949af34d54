"""Sample sensors and controllers at the start of a step, inside the compiled time loop.

    y = (r, d1, d2, d3),   m(y + i e dy/dt) = m + i e dm/dt                                              (1)

gives the value m and the rate of a measure by one complex step. A controller that is due is called through a pointer: a compiled
law, or a function of Python, which takes the interpreter's lock meanwhile. Its outputs are held in the state until it is due
again, so that neither substeps nor the halves of a step sample a second time (`discretization.controls`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import types

from discretization.controls import MEASURES, RATE, VALUE, Controls
from discretization.time.newton import CONVERGED
from discretization.time.stepper_base import Failure
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
from rigid.system import Floats, Ints
from rigid.tuple_references import by_reference

NOT_SAMPLED = 101  # status of a march in which a controller failed
LAW = types.int64(types.float64, types.float64, F1, F1, F1, F1)  # t, h, measured, parameters, memory, outputs
CALL = types.int64(types.float64, types.float64)  # a function of Python, which has its arrays
law_at, call_at = function_at(LAW), function_at(CALL)

_DISTANCE, _STRAIN, _DISPLACEMENT, _COSINE = (
    MEASURES.index(word) for word in ("distance", "strain", "displacement", "cosine")
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
    addresses: Ints  # (c,) addresses of the laws
    python: Ints  # (c,) 1: a function of Python
    due: Ints  # (c,) indices in `State.internal` of the time of the next sample, of memory and of outputs
    memory: Ints
    held: Ints
    counted: (
        Ints  # (s,) index in `State.internal` of the last angle of a sensor; -1: it counts no revolutions
    )
    output_place: Ints  # (u,) index in `State.internal` of each output
    readings: Floats  # (s, 2) scratch: value and rate of each sensor
    measured: Floats  # (i,) scratch: inputs of all controllers
    buffers: Floats  # scratch: memory and outputs of functions of Python, controller by controller
    buffer: Ints  # (c,) first index of each
    poses: Any  # (2, 4, 3) complex scratch
    failed: Ints  # (1,) number of the controller that failed
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
def read_sensors(sampling, state, every):
    """Read the sensors, those that count revolutions alone unless `every` is true; store their angles in the state."""
    for s in range(sampling.measure.shape[0]):
        if every or sampling.counted[s] >= 0:
            value = measure_sensor(sampling, state, s)
            sampling.readings[s, VALUE], sampling.readings[s, RATE] = value.real, value.imag / COMPLEX_STEP
            if sampling.counted[s] >= 0:
                state.internal[sampling.counted[s]] = value.real


@internal_kernel
def _is_due(sampling, state, c, t):
    """Return whether controller c takes a sample at time t."""
    return t >= state.internal[sampling.due[c]] - _EARLY * sampling.period[c]


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
    due = False
    for c in range(sampling.period.shape[0]):
        due = due or _is_due(sampling, state, c, t)
    read_sensors(sampling, state, due)
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
    """Write value and rate of every sensor at a state to out (s, 2)."""
    for s in range(out.shape[0]):
        value = measure_sensor(sampling, state, s)
        out[s, 0], out[s, 1] = value.real, value.imag / COMPLEX_STEP


Law = Callable[
    ..., Any
]  # (t, h, measured, memory, outputs), or a function of `compiled` with the signature LAW


class Sampler:
    """Sensors and controllers of one run: arrays for compiled code, and the functions of Python that it calls.

    Attributes
    ----------
    arrays : SamplingArrays
    error : BaseException or None
        Exception that a function of Python has raised.
    """

    def __init__(self, controls: Controls, laws: Mapping[str, Law], first: int) -> None:
        """Prepare for a run.

        laws: functions of the controllers by name, in the order of `controls`; first: index in `State.internal` of the block
        "sampled".
        """
        self.controls, self.names = controls, list(laws)
        self.error: BaseException | None = None
        due, memory, outputs_at = (first + offsets for offsets in controls.offsets())
        counted = np.full(len(controls.measure), -1, np.int64)
        counted[controls.counted] = first + np.arange(len(controls.counted))
        width = controls.memory + controls.outputs
        buffer = np.cumsum(width) - width
        self._measured, self._buffers = np.zeros(len(controls.sensor)), np.zeros(int(width.sum()))
        functions = list(laws.values())
        self._callbacks = [self._callback(c, law, buffer[c]) for c, law in enumerate(functions)]
        addresses = [_address(law, call) for law, call in zip(functions, self._callbacks, strict=True)]
        outputs = [np.arange(at, at + n) for at, n in zip(outputs_at, controls.outputs, strict=True)]
        table = {
            name: values for name, values in controls._asdict().items() if name in SamplingArrays._fields
        }
        self.arrays = SamplingArrays(
            **table
            | {
                "numbers": controls.numbers.copy(),
                "addresses": np.array(addresses, np.int64),
                "python": np.array([call is not None for call in self._callbacks], np.int64),
                "due": due,
                "memory": memory,
                "held": outputs_at,
                "counted": counted,
                "output_place": np.concatenate([np.zeros(0, np.int64), *outputs]),
                "readings": np.zeros((len(controls.measure), 2)),
                "measured": self._measured,
                "buffers": self._buffers,
                "buffer": buffer,
                "poses": np.zeros((2, 4, 3), complex),
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
        measured = self._measured[controls.inputs[c] : controls.inputs[c + 1]]
        owner = f"controller '{self.names[c]}' at t = {t:.6g} s with inputs [{', '.join(f'{x:.6g}' for x in measured)}]"
        error, self.error = self.error, None
        if error is not None:
            reason = f"{owner} raised {type(error).__name__}: {error}"
            return Failure(reason, "correct the function", cause=error, final=True)
        return Failure(f"{owner} returned a number that is not finite", "correct the function", final=True)


_C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, ctypes.c_double)


def _address(law: Law, callback: Any) -> int:
    """Return the address of a compiled law, or of the C function of a law of Python."""
    return address_of(law) if callback is None else int(ctypes.cast(callback, ctypes.c_void_p).value or 0)
