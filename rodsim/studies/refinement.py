"""Errors and orders of a sequence of runs, each with half the mesh size or step of the one before; the cheapest choice.

With q_k what level k found and d_k = max|q_{k+1} - q_k|, the order seen is p_k = log2(d_k/d_{k+1}), the limit (Richardson)
q = q_L + (q_L - q_{L-1})/(2^p - 1), the error of a level max|q_k - q|. The largest of distances: rows are points.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from rigid.system import Floats

EXACT = 1e-12  # of the scale: differences below are rounding
LOWEST_ORDER, HIGHEST_ORDER = 0.5, 16.0  # seen outside of these, a sequence does not converge (yet)
TRUSTED_ORDER = 2.0  # more is not counted on where an error is told from one refinement


@dataclass(frozen=True)
class Series:
    """One measure over the levels of one refinement."""

    name: str
    x: Floats  # (L,) numbers of elements, or steps in s
    errors: Floats  # (L,) relative
    orders: Floats  # (L,) nan for the first two
    limit: Floats  # what the sequence goes to
    exact: bool  # all levels give the same
    trusted: bool  # whether orders are such that the limit is one

    @property
    def order(self) -> float:
        """Seen on the finest three levels."""
        return float(self.orders[-1])

    def error_at(self, factor: float) -> float:
        """Relative error where the mesh or the steps are finer by `factor` than at the first level."""
        if self.exact:
            return 0.0
        return float(self.errors[-1] * (2.0 ** (len(self.x) - 1) / factor) ** self.order)

    def through(self, factor: float, error: float) -> Series:
        """The same order, with another error at `factor`."""
        expected = self.error_at(factor)
        return self if expected == 0.0 else replace(self, errors=self.errors * (error / expected))

    def error_of(self, change: float) -> float:
        """Error of what one more refinement changes by so much: change/(1 - 2^-p), p no more than 2; of order 1 where none
        was seen."""
        order = 1.0 if self.exact else min(self.order, TRUSTED_ORDER)
        return change / (1.0 - 2.0**-order)


def distance(a: Floats, b: Floats) -> float:
    """The largest of the distances of points (..., 3), or of numbers (..., 1)."""
    return float(np.linalg.norm(a - b, axis=-1).max())


def series(name: str, x: Floats, levels: list[Floats], scale: float) -> Series:
    """Errors and orders of the values found on each level, points as rows."""
    differences = np.array([distance(a, b) for a, b in itertools.pairwise(levels)]) / scale
    orders = np.full(len(levels), np.nan)
    if differences.max(initial=0.0) <= EXACT:
        return Series(name, x, np.zeros(len(levels)), orders, levels[-1], True, True)
    with np.errstate(divide="ignore", invalid="ignore"):
        orders[2:] = np.log2(differences[:-1] / differences[1:])
    order = orders[-1]
    trusted = bool(LOWEST_ORDER < order < HIGHEST_ORDER)
    rest = 2.0**order - 1.0 if trusted else 1.0
    limit = levels[-1] + (levels[-1] - levels[-2]) / rest
    errors = np.array([distance(level, limit) for level in levels]) / scale
    return Series(name, x, errors, orders, limit, False, trusted)


def cheapest(mesh: Series | None, step: Series | None, error: float) -> tuple[float, float]:
    """Factors (mesh, steps) on the first level with the least product for which both errors sum up to `error`.

    The cost is (elements) x (steps). With errors a m^-p and b s^-q the product m s is least where p a m^-p = q b s^-q: the
    mesh may have the part q/(p + q) of the error, the step p/(p + q).
    """
    if mesh is None or mesh.exact:
        return 1.0, 1.0 if step is None or step.exact else _factor(step, error)
    if step is None or step.exact:
        return _factor(mesh, error), 1.0
    p, q = mesh.order, step.order
    return _factor(mesh, error * q / (p + q)), _factor(step, error * p / (p + q))


def _factor(found: Series, error: float) -> float:
    """How much finer than the first level the error is `error`."""
    return float((found.error_at(1.0) / error) ** (1.0 / found.order))
