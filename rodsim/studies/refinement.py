"""Errors and orders of a sequence of runs, each with half the mesh size or step of the previous run; the cheapest choice.

With the values q_k of level k and d_k = max|q_{k+1} - q_k|, the observed order is p_k = log2(d_k/d_{k+1}), the limit (Richardson
extrapolation) q = q_L + (q_L - q_{L-1})/(2^p - 1), the error of a level max|q_k - q|. The maximum is over the rows, which are
points.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from rigid.system import Floats

EXACT = 1e-12  # relative to the scale: smaller differences are round-off
LOWEST_ORDER, HIGHEST_ORDER = 0.5, 16.0  # observed orders outside: the sequence does not converge (yet)
TRUSTED_ORDER = 2.0  # upper limit of the order if an error is estimated from one refinement


@dataclass(frozen=True)
class Series:
    """Errors of one measure over the levels of one refinement."""

    name: str
    x: Floats  # (L,) numbers of elements, or steps in s
    errors: Floats  # (L,) relative errors
    orders: Floats  # (L,) observed orders, nan for the first two
    limit: Floats  # extrapolated limit of the values
    exact: bool  # True: all levels agree to round-off
    trusted: bool  # True: the observed order is plausible, so that the limit can be used

    @property
    def order(self) -> float:
        """Return the order observed on the three finest levels."""
        return float(self.orders[-1])

    def error_at(self, factor: float) -> float:
        """Return the relative error if mesh or steps are finer by `factor` than on the first level."""
        if self.exact:
            return 0.0
        return float(self.errors[-1] * (2.0 ** (len(self.x) - 1) / factor) ** self.order)

    def through(self, factor: float, error: float) -> Series:
        """Return the series scaled to the given error at `factor`, with unchanged order."""
        expected = self.error_at(factor)
        return self if expected == 0.0 else replace(self, errors=self.errors * (error / expected))

    def error_of(self, change: float) -> float:
        """Return the error of a value that one more refinement changes by `change`: change/(1 - 2^-p).

        p is the observed order but at most 2, and 1 if the series is exact.
        """
        order = 1.0 if self.exact else min(self.order, TRUSTED_ORDER)
        return change / (1.0 - 2.0**-order)


def distance(a: Floats, b: Floats) -> float:
    """Return the largest distance of points (..., 3) or of numbers (..., 1)."""
    return float(np.linalg.norm(a - b, axis=-1).max())


def series(name: str, x: Floats, levels: list[Floats], scale: float) -> Series:
    """Return errors and orders of the values of each level, points as rows; `scale`: reference value of relative errors."""
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
    """Return the factors (mesh, steps) over the first level with the least product for which both errors sum up to `error`.

    The cost is (elements) x (steps). With errors a m^-p and b s^-q the product m s is least where p a m^-p = q b s^-q: the
    mesh may have the fraction q/(p + q) of the error, the step p/(p + q).
    """
    if mesh is None or mesh.exact:
        return 1.0, 1.0 if step is None or step.exact else _factor(step, error)
    if step is None or step.exact:
        return _factor(mesh, error), 1.0
    p, q = mesh.order, step.order
    return _factor(mesh, error * q / (p + q)), _factor(step, error * p / (p + q))


def _factor(found: Series, error: float) -> float:
    """Return the factor by which mesh or steps must be finer than on the first level for this error."""
    return float((found.error_at(1.0) / error) ** (1.0 / found.order))
