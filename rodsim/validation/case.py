"""What a case is: numbers known from elsewhere, and a function that finds them by this program on two meshes.

A value of a method of order p misses by about what it changes from half as fine a mesh, divided by 2^p - 1. So no
tolerance is chosen by hand: it is SAFETY times that, with the digits of the reference and round-off,

    tolerance = SAFETY |fine - coarse|/(2^p - 1) + accuracy + ROUNDING size                                  (1)

where the change is the largest of the quantities of this kind up to this one (errors of a history pass through zero),
and a case fails where the program converges to something else. `limit` says how small the error must be besides: on a
mesh too coarse to say anything (1) would let everything pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats

SAFETY = 2.0  # the estimate is asymptotic, and a difference of two errors that need not point the same way
ROUNDING = 1e-11  # of thousands of steps, each solved to a few eps
COARSE, FINE = 0, 1  # levels

Values = Mapping[str, Any]  # numbers or arrays by quantity


class Known(NamedTuple):
    """A number, or several, as they are known."""

    value: ArrayLike
    accuracy: float  # absolute, of the digits given
    scale: float  # what errors are divided by: the size of the thing


@dataclass(frozen=True)
class Case:
    """One row or several of the table: all quantities of one example."""

    name: str
    title: str
    source: str  # where the numbers are from
    known: Mapping[str, Known]
    run: Callable[[int], Values]  # at a level: COARSE, FINE
    meshes: tuple[str, str]  # both levels in words
    order: int | None  # None: the same steps as in the source, nothing to refine
    limit: float = 1e-2  # largest relative error that passes whatever (1) says
    slow: bool = False


class Outcome(NamedTuple):
    """What was found for one quantity; errors and tolerances are relative to the scale."""

    case: str
    quantity: str
    reference: Floats
    source: str
    value: Floats
    error: float
    tolerance: float
    why: str
    seconds: float  # of the whole case

    @property
    def ok(self) -> bool:
        """Whether the error is within the tolerance; what is no number is not."""
        return bool(self.error <= self.tolerance)


def outcomes(case: Case) -> list[Outcome]:
    """Run a case."""
    began = time.perf_counter()
    levels = (FINE,) if case.order is None else (COARSE, FINE)
    found = [case.run(level) for level in levels]
    seconds = time.perf_counter() - began
    rows, largest = [], dict[str, float]()
    for quantity, known in case.known.items():
        values = [np.atleast_1d(np.asarray(level[quantity], float)) for level in found]
        reference, value = np.atleast_1d(np.asarray(known.value, float)), values[-1]
        error = float(np.linalg.norm(value - reference)) / known.scale
        accuracy = known.accuracy / known.scale
        if case.order is None:
            tolerance, why = accuracy, f"{case.meshes[1]}; digits of the source"
        else:
            kind, _, _ = quantity.partition("(")
            change = float(np.linalg.norm(value - values[0])) / known.scale
            largest[kind] = max(largest.get(kind, 0.0), change)
            expected = largest[kind] / (2**case.order - 1)
            tolerance = min(SAFETY * expected + accuracy + ROUNDING, case.limit)
            why = f"{case.meshes[1]}: expected {expected:.1e} by the change from {case.meshes[0]}, order {case.order}"
        rows.append(
            Outcome(case.name, quantity, reference, case.source, value, error, tolerance, why, seconds)
        )
    return rows


def failed(case: Case, error: Exception) -> list[Outcome]:
    """The outcomes of a case that could not be run."""
    nan = np.array([np.nan])
    return [
        Outcome(
            case.name, quantity, np.atleast_1d(known.value), case.source, nan, np.nan, 0.0, str(error), 0.0
        )
        for quantity, known in case.known.items()
    ]
