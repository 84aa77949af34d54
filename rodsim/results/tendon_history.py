"""History of a tendon: its length and its tension at the outputs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.multipliers import multipliers_of
from rigid import quaternions
from rigid.interactions.tendon_length import PER_FRAME, TENDONS
from rigid.system import Floats
from rodsim.results import native_format
from rodsim.results.array_sources import Source
from rodsim.results.errors import ResultError
from rodsim.results.node_loads import node_loads, values_at

TENDON = "tendon"  # kind in descriptions of result files


class TendonHistory:
    """Hold the length and the tension of a tendon at the outputs; `Result.tendon` returns it.

    Examples
    --------
    >>> rope = result.tendon("rope")
    >>> rope.length.shape, rope.tension.shape
    ((6,), (6,))
    """

    def __init__(self, source: Source, name: str) -> None:
        assert source.layout.system is not None
        self._source, self.name, self._system = source, name, source.layout.system
        self._described: dict[str, Any] = source.layout.description["others"][name]

    @property
    def _rows(self) -> range:
        """Return the rows of the tendon in the table of interactions, without its friction."""
        first: int = self._described["first_interaction"]
        return range(first, first + self._described["interactions"])

    @cached_property
    def length(self) -> Floats:
        """(T,) m, length along all points."""
        table, arrays = self._system.others, self._source.read_all(("r", "quat"))
        total = np.full(len(arrays["r"]), float(self._described["fixed_length"]))
        for e in self._rows:
            X, frames = table.numbers[table.first[e] : table.first[e + 1]], table.frames[e]
            if INTERACTIONS[table.kind[e]].loop == TENDONS:
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

    @cached_property
    def tension(self) -> Floats:
        """(T,) N, tension between the first two points; that of an inextensible tendon is evaluated as the forces of joints.

        Raises ResultError if it follows a function of Python, whose values a file does not store.
        """
        table, multipliers, e = self._system.others, multipliers_of(self._system), self._rows[0]
        X = table.numbers[table.first[e] : table.first[e + 1]]
        if e in multipliers.other:
            item = len(multipliers.first) - len(multipliers.other) + multipliers.other.tolist().index(e)
            row = int(multipliers.first[item])
            of_constraint: Floats = self._source.multipliers(slice(row, row + 1))[:, 0]
            return of_constraint
        if INTERACTIONS[table.kind[e]].loop != TENDONS:
            return -self._input(e)
        at = PER_FRAME * (len(X) // PER_FRAME)
        varies = INTERACTIONS[table.kind[e]].signal >= 0
        free = X[at] + self._described["fixed_length"] + (self._input(e) if varies else 0.0)
        stretch: Floats = np.maximum(self.length - free, 0.0)
        return X[at + 1] * stretch

    def _input(self, e: int) -> Floats:
        """Return the sum of the external values (T,) of interaction e at the outputs."""
        layout, t = self._source.layout, self._source.read(native_format.TIME)
        number = self._system.signals.tolist().index(e)
        loads, controls = node_loads(layout), self._system.controls
        values = values_at(loads, t)
        if number in controls.load:
            values = controls.load_values(layout.internal.part(self._source.read("own"), "sampled"), values)
        elif loads[number].value is None:
            raise ResultError(
                f"tendon '{self.name}': follows a function of Python, which a result does not store. Use a formula or a signal"
            )
        total: Floats = values[:, number].sum(axis=1)
        return total
