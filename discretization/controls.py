"""Tables of sensors, sampled controllers, the loads that follow their outputs, and events: `Controls`.

A sensor is a scalar measure of two frames (`rigid.interactions.measures`), by its value and its rate, an internal variable of an
interaction, or a quantity of the state that a function of Python evaluates, both by value alone. At the start of a step a
controller that is due maps the measured numbers to outputs, which it holds until it is due again:

    outputs, memory <- law(t, h, measured, parameters, memory),    t, t + T, t + 2 T ...                    (1)

with its period T. A controller reads a sensor with noise or a delay through a ring of its last readings:

    reading_k = value(t_k) + s g_k,    measured(t_k) = reading_(k - m),    reading_(-1), reading_(-2) ... = reading_0      (2)

with the standard deviation s, normal numbers g_k, functions of a seed and of k (`discretization.time.random_numbers`),
and a delay of m periods. A load takes the value u d of an output u and a direction d in the whole step. The numbers needed
again are internal variables of the state, block "sampled" (`discretization.internal_variables`):

    sensors     the last value of each sensor of an angle, by which revolutions are counted
    readings    for each sensor with noise or a delay: k of the next reading; m + 1 readings by value and rate, k modulo m + 1
    controllers one after another: time of the next sample, s; memory; outputs
    events      (`rodsim.running.event_stepper`), if there are any: whether the run has stopped; whether each switch is on; the
                coordinate of each switched drive minus its motion, rad or m; numbers of each event in the order of `EVENT`

A switch is a joint or a drive that events release and engage. While it is off, its constraints do not act: their multipliers are
zero, and so are the residuals g and dg/dt that `discretization.state_measures` returns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rigid.interactions.measures import WIDTHS
from rigid.system import Floats, Ints

STATE = "state"  # word of a measure: an internal variable of an interaction
QUANTITY = "quantity"  # word of a measure: what a function of Python evaluates
NUMBERS = {**WIDTHS, STATE: 1, QUANTITY: 0}  # how many numbers each measure has
MEASURES = tuple(NUMBERS)  # words of the measures; the position is the number of the measure in tables
ANGLE = MEASURES.index("angle")
VALUE, RATE = range(2)  # what of a sensor a controller reads
# numbers of an event: whether its condition held at the last evaluation; how often and when (s) it last happened; energy lost
# (J); the margin of its condition in the middle of the last step, and the length of that step (s), 0: none
EVENT = HELD, COUNT, TIME, LOSS, MARGIN, LENGTH = tuple(range(6))


class EventNumbers(NamedTuple):
    """Internal variables of events and switches, as views of a block."""

    stopped: Floats  # (..., 1) 1: an event has stopped the run
    on: Floats  # (..., k) 1: a switch is on
    begin: Floats  # (..., k) coordinate of a drive minus its motion since t = 0, rad or m
    table: Floats  # (..., e, 6) numbers of each event, in the order of `EVENT`


class Controls(NamedTuple):
    """Table of s sensors, c controllers with i inputs, and a loads that follow outputs."""

    measure: Ints = np.zeros(0, np.int64)  # (s,) index in MEASURES
    frames: Ints = np.zeros((0, 2), np.int64)  # (s, 2) frames of both points
    first: Ints = np.zeros(1, np.int64)  # (s + 1,) numbers of sensor k are first[k] .. first[k + 1] - 1
    # numbers of the measures, see `rigid.interactions.measures`; of a state its index in the block "settled"
    numbers: Floats = np.zeros(0)
    period: Floats = np.zeros(0)  # (c,) time between samples, s; 0: one sample in each step
    inputs: Ints = np.zeros(1, np.int64)  # (c + 1,) inputs of controller k are inputs[k] .. inputs[k + 1] - 1
    sensor: Ints = np.zeros((0, 2), np.int64)  # (i, 2) sensor of each input, and VALUE or RATE
    memory: Ints = np.zeros(0, np.int64)  # (c,) count of numbers that a controller remembers
    initial: Floats = np.zeros(0)  # their initial values, controller by controller
    outputs: Ints = np.zeros(0, np.int64)  # (c,) count of outputs
    # (c + 1,) parameters of controller k are values[parameters[k]] ...
    parameters: Ints = np.zeros(1, np.int64)
    values: Floats = np.zeros(0)  # values of the parameters
    # (a,) load that follows an output, by its number in `System.signals`; outputs of one load are added
    load: Ints = np.zeros(0, np.int64)
    output: Ints = np.zeros(0, np.int64)  # (a,) the output, by its number among those of all controllers
    direction: Floats = np.zeros((0, 3))  # (a, 3) value of the load for the output 1
    noise: Floats = np.zeros((0, 2))  # (s, 2) standard deviations of value and rate
    key: Ints = np.zeros((0, 2), np.int64)  # (s, 2) key of the random numbers
    slots: Ints = np.zeros(0, np.int64)  # (s,) m + 1 of (2); 0: neither noise nor delay
    on: Ints = np.zeros(0, np.int64)  # (k,) 1: a switch is on at t = 0
    # (m,) switch of each scalar constraint; -1: it always acts. Empty if there are no switches
    switch: Ints = np.zeros(0, np.int64)
    means: Ints = np.zeros(
        0, np.int64
    )  # (e,) 1: the condition of an event contains forces, which are means of steps

    @property
    def counted(self) -> Ints:
        """Return the sensors that count revolutions."""
        return np.flatnonzero(self.measure == ANGLE)

    @property
    def size(self) -> int:
        """Return the number of internal variables."""
        return (
            int(len(self.counted) + np.sum(self._widths) + np.sum(1 + self.memory + self.outputs))
            + self._event_width
        )

    @property
    def _event_width(self) -> int:
        """Return the number of internal variables of events and switches."""
        events = len(self.means)
        return 1 + 2 * len(self.on) + len(EVENT) * events if events else 0

    @property
    def _widths(self) -> Ints:
        """Return the number of internal variables (s,) of the readings of each sensor."""
        widths: Ints = np.where(self.slots > 0, 1 + 2 * self.slots, 0)
        return widths

    @property
    def empty(self) -> bool:
        """Return whether there are neither sensors nor controllers nor events."""
        return not len(self.measure) and not len(self.period) and not len(self.means)

    def rings(self) -> Ints:
        """Return the indices (s,) in the block at which the readings of each sensor begin."""
        begins: Ints = len(self.counted) + np.cumsum(self._widths) - self._widths
        return begins

    def offsets(self) -> tuple[Ints, Ints, Ints]:
        """Return the indices (c,) in the block at which the time of the next sample, memory and outputs of each begin."""
        width = 1 + self.memory + self.outputs
        due = len(self.counted) + int(np.sum(self._widths)) + np.cumsum(width) - width
        return due, due + 1, due + 1 + self.memory

    def start(self) -> Floats:
        """Return the block at t = 0: no revolutions, samples due now, initial memory, outputs zero."""
        block = np.zeros(self.size)
        _, memory, _ = self.offsets()
        last = np.cumsum(self.memory)
        for at, end, count in zip(memory.tolist(), last.tolist(), self.memory.tolist(), strict=True):
            block[at : at + count] = self.initial[end - count : end]
        if len(self.means):
            self.events_of(block).on[:] = self.on
        return block

    def events_of(self, block: Floats) -> EventNumbers:
        """Return views of what events and switches remember in a block (..., n), if there are events."""
        k, tail = len(self.on), block[..., block.shape[-1] - self._event_width :]
        table = tail[..., 1 + 2 * k :].reshape(*block.shape[:-1], len(self.means), len(EVENT))
        return EventNumbers(tail[..., :1], tail[..., 1 : 1 + k], tail[..., 1 + k : 1 + 2 * k], table)

    def acting(self, block: Floats) -> Floats:
        """Return 1 for each scalar constraint that acts, else 0, (..., m), from a block (..., n), if there are switches."""
        on = self.events_of(block).on
        always = np.ones((*on.shape[:-1], 1))
        acts: Floats = np.concatenate([on, always], axis=-1)[..., self.switch]  # switch -1 is the last one
        return acts

    def same_layout(self, other: Controls | None) -> bool:
        """Return whether both remember the same numbers: the same measures, readings, memory and outputs."""
        columns = ("measure", "slots", "memory", "outputs", "on", "means")
        return other is not None and all(np.array_equal(getattr(self, x), getattr(other, x)) for x in columns)

    def only_sensor(self, s: int) -> tuple[Controls, int]:
        """Return a table of sensor s alone, and the number of internal variables before its own."""
        numbers = self.numbers[self.first[s] : self.first[s + 1]]
        first, before = np.array([0, len(numbers)]), int(np.sum(self.measure[:s] == ANGLE))
        slots = np.zeros(1, np.int64)
        return Controls(self.measure[s : s + 1], self.frames[s : s + 1], first, numbers, slots=slots), before

    def last_readings(self, s: int, block: Floats) -> Floats:
        """Return the last reading (..., 2) of sensor s, value and rate, from a block (..., k); 0 before the first."""
        at, slots = int(self.rings()[s]), int(self.slots[s])
        oldest = block[..., at].astype(np.int64) % slots  # the next reading replaces it
        places = at + 1 + 2 * oldest[..., None] + np.arange(2)
        readings: Floats = np.take_along_axis(block, places, axis=-1)
        return readings

    def held(self, block: Floats) -> Floats:
        """Return the outputs (..., u) of all controllers that a block (..., k) holds."""
        _, _, first = self.offsets()
        columns = [np.arange(at, at + n) for at, n in zip(first.tolist(), self.outputs.tolist(), strict=True)]
        return block[..., np.concatenate([np.zeros(0, np.int64), *columns])]

    def load_values(self, block: Floats, values: Floats) -> Floats:
        """Return values (..., l, 3) of all loads with those that follow outputs of a block (..., k)."""
        if not len(self.load):
            return values
        values, held = values.copy(), self.held(block)
        for load, direction in zip(self.load.tolist(), self.direction, strict=True):
            values[..., load, direction != 0.0] = 0.0
        for load, output, direction in zip(
            self.load.tolist(), self.output.tolist(), self.direction, strict=True
        ):
            values[..., load, :] += held[..., output, None] * direction
        return values


NO_CONTROLS = Controls()
