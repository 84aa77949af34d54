"""Rod equilibria by shooting: an independent solution without rodsim, for reference values.

    r' = R (e1 + C_N^-1 R^T n),   R' = R [k0 + C_M^-1 R^T m]x,   n' = 0,   m' = -r' x n                        (1)

from one end to the other, by the Runge-Kutta method of order 8 of Dormand and Prince with a fixed number of steps. The unknown
values at the ends are found by Newton's method; its matrix is exact, by complex steps, with all columns integrated at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.integrate._ivp import dop853_coefficients as dop

STAGES = 12
SMALL = 1e-30  # of the complex steps
E1 = np.array([1.0, 0.0, 0.0])

Arrays = np.ndarray
Residual = Callable[[Arrays], Arrays]  # unknowns (k, columns) -> residuals (k, columns)


class Span(NamedTuple):
    """A rod of uniform section: stiffnesses (EA, GA2, GA3), (GJ, EI2, EI3), stress-free curvature (3,) in its axes."""

    length: float
    force: tuple[float, float, float]
    moment: tuple[float, float, float]
    curvature: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Place(NamedTuple):
    """Section state: r (3, c), R (3, 3, c), force n and moment m (3, c) that the part beyond exerts; c columns."""

    r: Arrays
    R: Arrays
    n: Arrays
    m: Arrays


def start(columns: int, R: Arrays | None = None) -> Place:
    """State at the origin with axes R, without force and moment."""
    zero = np.zeros((3, columns), complex)
    axes = np.eye(3) if R is None else R
    return Place(zero, np.repeat(axes[:, :, None], columns, axis=2).astype(complex), zero, zero)


def times(R: Arrays, x: Arrays) -> Arrays:
    """R x, column by column."""
    return (R * x).sum(axis=1)


def back(R: Arrays, x: Arrays) -> Arrays:
    """R^T x, column by column."""
    return (R * x[:, None]).sum(axis=0)


def cross(a: Arrays, b: Arrays) -> Arrays:
    """a x b, column by column."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def along(span: Span, at: Place, steps: int = 20, part: float = 1.0) -> Place:
    """Integrate (1) from the start of a span to `part` of its length."""
    soft, limp = 1 / np.array(span.force)[:, None], 1 / np.array(span.moment)[:, None]
    bent = np.array(span.curvature)[:, None]

    def rates(y: Place) -> tuple[Arrays, Arrays, Arrays]:
        dr = times(y.R, E1[:, None] + soft * back(y.R, y.n))
        K = bent + limp * back(y.R, y.m)
        dR = np.stack([cross(row, K) for row in y.R])  # row i of R [K]x is row x K
        return dr, dR, cross(y.n, dr)

    h = part * span.length / steps
    for _ in range(steps):
        stages: list[tuple[Arrays, Arrays, Arrays]] = []
        for i in range(STAGES):
            stages.append(rates(_moved(at, h, dop.A[i], stages)))
        at = _moved(at, h, dop.B, stages)
    return at


def _moved(at: Place, h: float, weights: Arrays, stages: list[tuple[Arrays, Arrays, Arrays]]) -> Place:
    used = [(h * a, k) for a, k in zip(weights, stages, strict=False) if a]
    r, R, m = (start + sum(a * k[j] for a, k in used) for j, start in enumerate((at.r, at.R, at.m)))
    return Place(r, R, at.n, m)


def linearised(residual: Residual, x: Arrays) -> tuple[Arrays, Arrays]:
    """Residual (k,) and its derivatives (k, k)."""
    k = len(x)
    columns = np.repeat(x[:, None], k, axis=1).astype(complex)
    columns[range(k), range(k)] += SMALL * 1j
    residuals = residual(columns)
    return residuals[:, 0].real, residuals.imag / SMALL


def solved(residual: Residual, guess: Arrays, tolerance: float = 1e-11) -> Arrays:
    """Newton's method: return unknowns (k,) with zero residual; raise ArithmeticError if there are none."""
    x = np.array(guess, float)
    with np.errstate(all="ignore"):
        for _ in range(12):
            r, J = linearised(residual, x)
            if not np.isfinite(J).all():
                break
            change = np.linalg.solve(J, -r)
            x = x + change
            if np.abs(change).max() <= tolerance * max(1e-3, np.abs(x).max()):
                return x
    raise ArithmeticError(f"no equilibrium found from {guess}")


def continued(
    at: Callable[[float], Residual], guess: Arrays, first: float, last: float, step: float
) -> Arrays:
    """Unknowns at load `last`, continued from `guess` at load `first` in steps that are halved if they are too long."""
    load, x = first, solved(at(first), guess)
    before: tuple[float, Arrays] | None = None
    while load < last:
        to = min(load + step, last)
        ahead = x if before is None else x + (x - before[1]) * (to - load) / (load - before[0])
        try:
            solution = solved(at(to), ahead)
        except ArithmeticError:
            step *= 0.5
            if step < 1e-6 * abs(last - first):
                raise
            continue
        before, load, x = (load, x), to, solution
    return x
