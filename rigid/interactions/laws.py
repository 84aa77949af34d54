"""Force laws of one scalar as data: piecewise polynomials, with their potential and divided difference.

A law F(x), force (N, N m) against a length, displacement or angle x, or against its rate, is cubic between knots and continues in
straight lines beyond them. Its potential V is a quartic of u = x - origin on every piece. Over a step, exactly,

    V(x1) - V(x0) = Q(x0, x1) (x1 - x0),   Q(x0, x1) = sum over pieces of their part of the change           (1)

where Q of one piece is the divided difference of a polynomial, written without a difference of values: no digits are
lost however short the step is, and Q(x, x) = F(x). The numbers of a law, from the offset `at` on: the number of knots, the knots,
and for each of the pieces, one more than knots, the five coefficients of V. The origin of the first piece is the first knot, that
of every other piece is the knot before it.
"""

from __future__ import annotations

import numpy as np
import scipy  # its submodules are loaded on first use

from rigid.compilation.decorators import inline_kernel
from rigid.errors import ModelError
from rigid.interactions.kinds import whole
from rigid.system import Floats

DEGREE = 4  # degree of V


@inline_kernel
def piece_of(X, at, x):
    """Return the number of the piece that contains x."""
    low, high = 0, whole(X[at])
    while low < high:
        middle = (low + high) // 2
        if x.real < X[at + 1 + middle].real:
            high = middle
        else:
            low = middle + 1
    return low


@inline_kernel
def _of_piece(X, at, piece):
    """Return the origin of a piece, and the offset of its coefficients."""
    return X[at + max(piece, 1)], at + 1 + whole(X[at]) + 5 * piece


@inline_kernel
def law_value(X, at, x):
    """Return the potential V(x)."""
    origin, c = _of_piece(X, at, piece_of(X, at, x))
    u = x - origin
    return X[c] + u * (X[c + 1] + u * (X[c + 2] + u * (X[c + 3] + u * X[c + 4])))


@inline_kernel
def law_force(X, at, x):
    """Return the force F(x)."""
    origin, c = _of_piece(X, at, piece_of(X, at, x))
    u = x - origin
    return X[c + 1] + u * (2.0 * X[c + 2] + u * (3.0 * X[c + 3] + u * 4.0 * X[c + 4]))


@inline_kernel
def _slope(X, at, piece, x0, x1):
    """Return the divided difference of V on one piece: sum of a_k (u0^(k-1) + u0^(k-2) u1 + ... + u1^(k-1))."""
    origin, c = _of_piece(X, at, piece)
    u0, u1 = x0 - origin, x1 - origin
    second = u0 + u1
    third = u0 * second + u1 * u1
    return X[c + 1] + X[c + 2] * second + X[c + 3] * third + X[c + 4] * (u0 * third + u1 * u1 * u1)


@inline_kernel
def law_quotient(X, at, x0, x1):
    """Return the divided difference Q(x0, x1) of (1)."""
    first, last = piece_of(X, at, x0), piece_of(X, at, x1)
    if first == last:
        return _slope(X, at, first, x0, x1)
    low, high = (x0, x1) if first < last else (x1, x0)
    first, last = min(first, last), max(first, last)
    knot = X[at + 1 + first]
    total = _slope(X, at, first, low, knot + 0j) * (knot - low)
    for piece in range(first + 1, last):
        end = X[at + 1 + piece]
        total += _slope(X, at, piece, knot + 0j, end + 0j) * (end - knot)
        knot = end
    total += _slope(X, at, last, knot + 0j, high) * (high - knot)
    return total / (high - low)


def law_numbers(owner: str, force: scipy.interpolate.PPoly) -> Floats:
    """Return the numbers of F, which is at most cubic between its knots and is continued in straight lines.

    V is zero where it is least among the knots and the equilibrium positions. Raises ModelError if F jumps, or if a piece is of a
    higher degree.
    """
    degree = force.c.shape[0] - 1
    if degree > DEGREE - 1:
        raise ModelError(f"{owner}: its law has pieces of degree {degree}; give at most cubic ones")
    knots, n = np.asarray(force.x, float), len(force.x)
    c = np.zeros((4, n - 1))
    c[: degree + 1] = force.c[::-1]  # c[k]: coefficient of u^k
    length = np.diff(knots)
    ends = np.array([np.polyval(c[::-1, i], length[i]) for i in range(n - 1)])
    size = float(np.abs(c[0]).max(initial=0.0) + np.abs(ends).max(initial=0.0))
    jump = np.abs(ends[:-1] - c[0, 1:])
    if np.any(jump > 1e-9 * size):
        index = int(np.argmax(jump))
        raise ModelError(
            f"{owner}: its law jumps by {jump[index]:.3g} at {knots[index + 1]:.6g}; give a law without jumps"
        )
    V = np.zeros((n + 1, 5))
    last_slope = c[1, -1] + length[-1] * (2.0 * c[2, -1] + 3.0 * length[-1] * c[3, -1])
    V[0, 1:3] = c[0, 0], 0.5 * c[1, 0]
    for k in range(4):
        V[1:n, k + 1] = c[k] / (k + 1)
    for i in range(2, n + 1):
        V[i, 0] = np.polyval(V[i - 1, ::-1], length[i - 2])
    V[n, 1:3] = ends[-1], 0.5 * last_slope
    numbers = np.concatenate([[float(n)], knots, V.ravel()])
    at_rest = [x for x in force.roots(extrapolate=False) if np.isfinite(x)] if size else []
    numbers[1 + n :: 5] -= scipy.interpolate.PPoly(V[1:n, ::-1].T, knots)([*knots, *at_rest]).min()
    return numbers


def with_constant(X: Floats, at: int, force: Floats) -> Floats:
    """Return numbers (k, w) of laws with a constant force (k,) added: V grows by force times x.

    All laws must have the same number of knots; `at`: offset of the law.
    """
    n = int(X[0, at])
    knots, V = X[:, at + 1 : at + 1 + n], X[:, at + 1 + n :].reshape(len(X), n + 1, 5)
    increment = np.zeros_like(V)
    increment[:, :, 0] = force[:, None] * np.column_stack([knots[:, 0], knots])
    increment[:, :, 1] = force[:, None]
    return np.column_stack([X[:, : at + 1 + n], (V + increment).reshape(len(X), -1)])


def steepest(numbers: Floats) -> float:
    """Return the largest |dF/dx| at the knots and in the middle of the pieces, which scales the rounding error of F."""
    n = int(numbers[0])
    knots, V = numbers[1 : 1 + n], numbers[1 + n :].reshape(n + 1, 5)
    largest = max(abs(2.0 * V[0, 2]), abs(2.0 * V[n, 2]))
    for i in range(1, n):
        u = (knots[i] - knots[i - 1]) * np.array([0.0, 0.5, 1.0])
        largest = max(largest, np.abs(2.0 * V[i, 2] + 6.0 * V[i, 3] * u + 12.0 * V[i, 4] * u * u).max())
    return float(largest)
