"""Validation cases: numbers known from elsewhere, and a function that computes them by this program on two meshes.

The error of a value of a method of order p is about its change from a mesh half as fine, divided by 2^p - 1. So no
tolerance is chosen by hand: it is SAFETY times this estimate, plus the digits of the reference and round-off,

    tolerance = SAFETY |fine - coarse|/(2^p - 1) + accuracy + ROUNDING size                                  (1)

The change is the largest of all quantities of this kind up to the present one, since errors of a history pass through
zero. A case fails if the program converges to something else. In addition `limit` bounds the error: on a mesh that is too
coarse for the estimate, (1) would accept everything.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats
from rodsim.results.result import Result

SAFETY = 2.0  # the estimate is asymptotic, and a difference of two errors that may have different directions
ROUNDING = 1e-11  # round-off of thousands of steps, each solved to a few eps
COARSE, FINE = 0, 1  # mesh levels

Values = Mapping[str, Any]  # numbers or arrays by quantity
Table = Mapping[Any, Any]  # numbers or arrays by time or parameter


class ReferenceValue(NamedTuple):
    """A reference value: a number, or several."""

    value: ArrayLike
    accuracy: float  # absolute, from the digits of the reference
    scale: float  # size of the quantity, by which errors are divided


class Meshes(NamedTuple):
    """Descriptions of both levels of a case, and how their results converge."""

    coarse: str
    fine: str
    order: int | None = None  # of convergence; None: the steps are those of the source, without refinement
    limit: float = 1e-2  # upper bound of the tolerance, relative


@dataclass(frozen=True)
class Case:
    """One or several rows of the table: all quantities of one example."""

    name: str
    title: str
    source: str  # source of the numbers
    known: Mapping[str, ReferenceValue]
    run: Callable[[int], Values]  # computes the values at a level: COARSE, FINE
    meshes: Meshes
    slow: bool = False


class Outcome(NamedTuple):
    """The result for one quantity; errors and tolerances are relative to the scale."""

    case: str
    quantity: str
    reference: Floats
    source: str
    value: Floats
    error: float
    tolerance: float
    why: str
    seconds: float  # time of the whole case

    @property
    def ok(self) -> bool:
        """True if the error is within the tolerance; False if it is nan."""
        return bool(self.error <= self.tolerance)


def reference_values_at(what: str, table: Table, accuracy: float, scale: float) -> dict[str, ReferenceValue]:
    """Return the reference values "what(key)" of a table by time or parameter."""
    return {f"{what}({key:g})": ReferenceValue(value, accuracy, scale) for key, value in table.items()}


def column(table: Table, k: int) -> dict[float, Any]:
    """Return one column of a table of several quantities by time or parameter."""
    return {key: row[k] for key, row in table.items()}


def values_at(what: str, table: Table, run: Result, history: ArrayLike) -> dict[str, Floats]:
    """Return the values "what(t)" of a history (T, ...) of a run at the times of a table."""
    values = np.asarray(history)
    return {f"{what}({t:g})": values[run.index_at(t)] for t in table}


def outcomes(case: Case) -> list[Outcome]:
    """Run a case on its meshes; return one outcome per quantity."""
    began = time.perf_counter()
    mesh = case.meshes
    levels = (FINE,) if mesh.order is None else (COARSE, FINE)
    results = [case.run(level) for level in levels]
    seconds = time.perf_counter() - began
    rows, largest = [], dict[str, float]()
    for quantity, known in case.known.items():
        values = [np.atleast_1d(np.asarray(level[quantity], float)) for level in results]
        reference, value = np.atleast_1d(np.asarray(known.value, float)), values[-1]
        error = float(np.linalg.norm(value - reference)) / known.scale
        tolerance, reason = known.accuracy / known.scale, f"{mesh.fine}; digits of the source"
        if mesh.order is not None:
            kind, _, _ = quantity.partition("(")
            change = float(np.linalg.norm(value - values[0])) / known.scale
            largest[kind] = max(largest.get(kind, 0.0), change)
            expected = largest[kind] / (2**mesh.order - 1)
            tolerance = min(SAFETY * expected + tolerance + ROUNDING, mesh.limit)
            reason = (
                f"{mesh.fine}: expected {expected:.1e} by the change from {mesh.coarse}, order {mesh.order}"
            )
        rows.append(
            Outcome(case.name, quantity, reference, case.source, value, error, tolerance, reason, seconds)
        )
    return rows


def failed(case: Case, error: Exception) -> list[Outcome]:
    """Return the outcomes of a case that raised an error."""
    nan = np.array([np.nan])
    return [
        Outcome(
            case.name, quantity, np.atleast_1d(known.value), case.source, nan, np.nan, 0.0, str(error), 0.0
        )
        for quantity, known in case.known.items()
    ]
