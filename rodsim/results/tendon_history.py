"""Histories of tendons, belts and chambers: their lengths and tensions, volumes and pressures at the outputs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import at_states, is_reeved
from discretization.multipliers import multipliers_of
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.chambers import CHAMBERS, GAS
from rigid.interactions.kinds import Kind
from rigid.interactions.reeved_tendons import PER_STOP, REEVED_LENGTHS, count_of_stops
from rigid.interactions.tendon_length import PER_FRAME, TENDONS
from rigid.system import Floats
from rodsim.results import native_format
from rodsim.results.array_sources import Source
from rodsim.results.errors import ResultError
from rodsim.results.node_loads import node_loads, values_at

TENDON, BELT, CHAMBER = "tendon", "belt", "chamber"  # kinds in descriptions of result files


class _RopeHistory:
    """Base of the histories of tendons and belts."""

    def __init__(self, source: Source, name: str) -> None:
        assert source.layout.system is not None
        self._source, self.name, self._system = source, name, source.layout.system
        self._described: dict[str, Any] = source.layout.description["others"][name]

    @property
    def _rows(self) -> range:
        """Return the rows of the tendon in the table of interactions, without its friction."""
        first: int = self._described["first_interaction"]
        return range(first, first + self._described["interactions"])

    def _wraps(self, e: int) -> Floats:
        """Return `wrap` of the circles of interaction e."""
        X = self._numbers(e)
        stops = count_of_stops(X)
        kind = REEVED_LENGTHS[stops]
        angles: Floats = self._evaluated(e, kind._replace(value=kind.count, rows=kind.n_internal))
        circles = np.flatnonzero(X[: PER_STOP * stops].reshape(-1, PER_STOP)[:, 9])
        at_start = X[len(X) - kind.n_internal :][: len(circles)]
        is_drum = (circles == 0) | (circles == stops - 1)
        return angles[:, : len(circles)] - np.where(is_drum, at_start, 0.0)

    def _numbers(self, e: int) -> Floats:
        """Return the numbers of interaction e."""
        table = self._system.others
        return table.numbers[table.first[e] : table.first[e + 1]]

    def _is_reeved(self, e: int) -> bool:
        """Return whether interaction e passes pulleys or drums."""
        return is_reeved(INTERACTIONS[self._system.others.kind[e]])

    def _evaluated(self, e: int, kind: Kind) -> Floats:
        """Return the values (T, rows) of a kind for the stops of interaction e, with no length to subtract."""
        source, table = self._source, self._system.others
        arrays, n = source.read_all(("r", "quat")), len(self._system.frames.mass)
        counted = source.layout.internal.part(source.read(native_format.INTERNAL), "angle")
        members = at_states(table, counted, n, np.array([e]), np.zeros(len(table.kind), np.int64), kind.rows)
        members = [group._replace(kind=kind, numbers=group.numbers.copy()) for group in members]
        for group in members:
            group.numbers[:, PER_STOP * kind.arity] = 0.0
        r, quat = (arrays[name].reshape(-1, width) for name, width in (("r", 3), ("quat", 4)))
        return evaluation.values(members, r, quat).reshape(len(counted), kind.rows)

    @cached_property
    def _length(self) -> Floats:
        """(T,) m, length along all points; of what is wound on drums only the change since t = 0."""
        table, arrays = self._system.others, self._source.read_all(("r", "quat"))
        total = np.full(len(arrays["r"]), float(self._described["fixed_length"]))
        for e in self._rows:
            if self._is_reeved(e):
                total += self._evaluated(e, REEVED_LENGTHS[count_of_stops(self._numbers(e))])[:, 0]
                continue
            X, frames = table.numbers[table.first[e] : table.first[e + 1]], table.frames[e]
            if INTERACTIONS[table.kind[e]].loop in (TENDONS, CHAMBERS):
                count = len(X) // PER_FRAME
                ends = X[3 : PER_FRAME * count - 3].reshape(-1, 2, 3)
            else:
                count, ends = 2, X[:6].reshape(-1, 2, 3)
            for j, (Xa, Xb) in enumerate(ends[: count - 1]):
                a, b = (
                    arrays["r"][:, f]
                    + quaternions.rotate(arrays["quat"][:, f], np.broadcast_to(X, (len(total), 3)))
                    for f, X in zip(frames[j : j + 2].tolist(), (Xa, Xb), strict=True)
                )
                total += np.linalg.norm(b - a, axis=1)
        return total

    def _multiplier(self, e: int) -> Floats | None:
        """Return the tension (T,), N, of an inextensible tendon; None if interaction e is not one."""
        multipliers = multipliers_of(self._system)
        if e not in multipliers.other:
            return None
        item = len(multipliers.first) - len(multipliers.other) + multipliers.other.tolist().index(e)
        row = int(multipliers.first[item])
        of_constraint: Floats = self._source.multipliers(slice(row, row + 1))[:, 0]
        return of_constraint

    def _input(self, e: int) -> Floats:
        """Return the sum of the external values (T,) of interaction e at the outputs."""
        layout, t = self._source.layout, self._source.read(native_format.TIME)
        number = self._system.signals.tolist().index(e)
        statics = layout.description.get("statics", {})
        if "loads" in statics:
            constant, varying = (
                np.array(statics["loads"][key], float).reshape(-1, 3) for key in ("constant", "varying")
            )
            of_factor: Floats = (
                constant[number].sum() + np.array(statics["load_factor"]) * varying[number].sum()
            )
            return of_factor
        loads, controls = node_loads(layout), self._system.controls
        values = values_at(loads, t)
        if number in controls.load:
            values = controls.load_values(
                layout.internal.part(self._source.read(native_format.INTERNAL), "sampled"), values
            )
        elif loads[number].value is None:
            raise ResultError(
                f"{self._described['kind']} '{self.name}': follows a function of Python, which a result does not store. "
                "Use a formula or a signal"
            )
        total: Floats = values[:, number].sum(axis=1)
        return total


class TendonHistory(_RopeHistory):
    """Hold the length and the tension of a tendon at the outputs; `Result.tendon` returns it.

    Examples
    --------
    >>> rope = result.tendon("rope")
    >>> rope.length.shape, rope.tension.shape
    ((6,), (6,))
    """

    @property
    def length(self) -> Floats:
        """(T,) m, length along all points; of what is wound on drums only the change since t = 0."""
        return self._length

    @cached_property
    def wrap(self) -> Floats:
        """(T, m) rad, angle of wrap on each of its m pulleys and drums, in their order.

        Negative on a pulley that the tendon has come off. Of a drum: the angle by which the tendon was wound on since t = 0.
        """
        reeved = [self._wraps(e) for e in self._rows if self._is_reeved(e)]
        return np.concatenate([np.zeros((len(self._source.read(native_format.TIME)), 0)), *reeved], axis=1)

    @cached_property
    def tension(self) -> Floats:
        """(T,) N, tension between the first two points; that of an inextensible tendon is evaluated as the forces of joints.

        Raises ResultError if it follows a function of Python, whose values a file does not store.
        """
        table, e = self._system.others, self._rows[0]
        X = table.numbers[table.first[e] : table.first[e + 1]]
        of_constraint = self._multiplier(e)
        if of_constraint is not None:
            return of_constraint
        is_reeved = self._is_reeved(e)
        at = PER_STOP * count_of_stops(X) if is_reeved else PER_FRAME * (len(X) // PER_FRAME)
        if INTERACTIONS[table.kind[e]].loop != TENDONS and not (is_reeved and X[at + 1] > 0.0):
            return -self._input(e)
        varies = INTERACTIONS[table.kind[e]].signal >= 0
        free = X[at] + self._described["fixed_length"] + (self._input(e) if varies else 0.0)
        stretch: Floats = np.maximum(self.length - free, 0.0)
        return X[at + 1] * stretch


class BeltHistory(_RopeHistory):
    """Hold the elongations and tensions of the spans of a belt at the outputs; `Result.belt` returns it.

    Span k is the one from drum k to the next.

    Examples
    --------
    >>> belt = result.belt("belt")
    >>> belt.tension.shape
    (6, 2)
    """

    @cached_property
    def elongation(self) -> Floats:
        """(T, m) m, elongation of each of the m spans from the length without tension; negative: the span is slack."""
        lengths = np.stack([self._evaluated(e, REEVED_LENGTHS[2])[:, 0] for e in self._rows], axis=1)
        return lengths - [self._numbers(e)[2 * PER_STOP] for e in self._rows]

    @cached_property
    def tension(self) -> Floats:
        """(T, m) N, tension of each of the m spans."""
        stiffness = np.array([self._numbers(e)[2 * PER_STOP + 1] for e in self._rows])
        return stiffness * np.maximum(self.elongation, 0.0)


class ChamberHistory(_RopeHistory):
    """Hold the volume and the pressure of a chamber at the outputs; `Result.chamber` returns it.

    Examples
    --------
    >>> chamber = result.chamber("bellows")
    >>> chamber.volume.shape, chamber.pressure.shape
    ((6,), (6,))
    """

    @cached_property
    def volume(self) -> Floats:
        """(T,) m^3, volume of the chamber with its dead volume."""
        return self._described["area"] * self._length + self._described["dead_volume"]

    @cached_property
    def pressure(self) -> Floats:
        """(T,) Pa, pressure above that of the surroundings; of a liquid that is not compressible evaluated as the forces of
        joints.

        Raises ResultError if it follows a function of Python, whose values a file does not store.
        """
        e, area = self._rows[0], self._described["area"]
        of_constraint = self._multiplier(e)
        if of_constraint is not None:
            return -of_constraint / area
        kind, X = INTERACTIONS[self._system.others.kind[e]], self._numbers(e)
        if kind.loop != CHAMBERS:
            return self._input(e) / area
        at, free = PER_FRAME * kind.arity, self._length - self._described["fixed_length"]
        if len(X) - at == GAS:
            c, G, n, F_a = X[at:]
            return (G * (free + c) ** -n - F_a) / area
        length = X[at] + (self._input(e) if kind.signal >= 0 else 0.0)
        return X[at + 1] * (length - free) / area
