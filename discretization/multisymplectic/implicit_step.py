"""Take a step defined by a residual r(x, old) = 0 and new = update(x, old) by Newton's method, and propagate tangent vectors.

    dx = -(dr/dx)^-1 (dr/dold) dold,    dnew = (dupdate/dx) dx + (dupdate/dold) dold                        (1)

Derivatives are complex steps: element by element for the matrix, of the whole residual for directions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import coo_array, csc_array
from scipy.sparse.linalg import splu

from discretization.continuum.quaternions import Array
from rigid.errors import ConvergenceError
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.system import Floats, Ints

MOST_ITERATIONS = 25
SMALL = 1e-9  # relative size of the final update; the next would be its square


class ImplicitScheme(Protocol):
    """Protocol of a scheme; x, old and new are flat, real or complex."""

    def guess(self, old: Floats, h: float) -> Floats:
        """Return the initial guess of x."""

    def residual(self, x: Array, old: Array, h: float) -> Array:
        """Return r(x, old)."""

    def matrix(self, x: Floats, old: Floats, h: float) -> csc_array:
        """Return dr/dx."""

    def update(self, x: Array, old: Array, h: float) -> Array:
        """Return the state at the end of the step."""

    def constraints(self, state: Array) -> Array:
        """Return the functions of the states that are zero at the ends of steps."""


class CompletedStep(NamedTuple):
    """A completed step."""

    old: Floats
    x: Floats
    new: Floats
    iterations: int


def take_step(scheme: ImplicitScheme, old: Floats, h: float, t: float = 0.0) -> CompletedStep:
    """Take one step of length h, s, from `old` at time t.

    Raises ConvergenceError if Newton's method does not converge or the matrix is singular.
    """
    x = scheme.guess(old, h)
    size = np.inf
    with np.errstate(all="ignore"):  # divergence is reported below
        for iteration in range(1, MOST_ITERATIONS + 1):
            r = scheme.residual(x, old, h)
            if not np.all(np.isfinite(r)):
                break
            change = _solve(scheme.matrix(x, old, h), -r)
            if change is None:
                break
            x = x + change
            size = float(np.max(np.abs(change) / (1 + np.abs(x))))
            if size < SMALL:
                return CompletedStep(old, x, scheme.update(x, old, h), iteration)
    raise ConvergenceError(
        t,
        h,
        iteration,
        size,
        f"{type(scheme).__name__}: no solution of the step from t = {t:.6g} s with h = {h:.3g} s after {iteration} "
        f"iterations (last relative correction {size:.1e}); take a smaller step, or ends that `spectra` finds well posed",
    )


def propagate_variations(
    scheme: ImplicitScheme, step: CompletedStep, h: float, dold: Floats
) -> tuple[Floats, Floats]:
    """Return dx and dnew (k, ...) for variations dold (k, ...) of the state before a step, by (1)."""
    factors = splu(scheme.matrix(step.x, step.old, h))
    out = []
    for direction in dold:
        old = step.old + 1j * COMPLEX_STEP * direction
        dx = -factors.solve(scheme.residual(step.x.astype(complex), old, h).imag / COMPLEX_STEP)
        new = scheme.update(step.x + 1j * COMPLEX_STEP * dx, old, h)
        out.append((dx, new.imag / COMPLEX_STEP))
    dx, new = (np.array(part) for part in zip(*out, strict=True))
    return dx, new


def element_matrices(of: Callable[[Array], Array], local: Floats) -> Floats:
    """Return the derivatives (n, rows, m) of of(local) (..., n, rows) in the unknowns local (n, m) of each element."""
    m = local.shape[-1]
    moved = local + 1j * COMPLEX_STEP * np.eye(m)[:, None, :]
    return np.moveaxis(of(moved).imag / COMPLEX_STEP, 0, -1)


def sparse(blocks: list[tuple[Ints, Ints, Floats]], size: int) -> csc_array:
    """Return the sum of blocks: rows (n, a), columns (n, b), values (n, a, b); negative rows and columns are omitted."""
    I: list[Any] = []
    J: list[Any] = []
    V: list[Any] = []
    for rows, columns, values in blocks:
        i, j = np.broadcast_arrays(rows[:, :, None], columns[:, None, :])
        keep = (i >= 0) & (j >= 0)
        I.append(i[keep])
        J.append(j[keep])
        V.append(np.broadcast_to(values, i.shape)[keep])
    entries = np.concatenate(V), (np.concatenate(I), np.concatenate(J))
    return csc_array(coo_array(entries, shape=(size, size)))


def _solve(A: csc_array, b: Floats) -> Floats | None:
    """Return A^-1 b, or None if A is singular."""
    try:
        x = splu(A).solve(b)
    except RuntimeError:  # exactly singular
        return None
    return x if np.all(np.isfinite(x)) else None
