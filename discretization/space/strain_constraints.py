"""Constraints of an SE(3) rod element that does not stretch, does not shear, or does neither.

    g = L (Gamma - Gamma_0)     one, two or three components                                                         (1)

with the strains of `discretization.space.se3_dual` and the stress-free ones Gamma_0. The multiplier of a row is the component of
the normal or shear force N: its work over a step, N . (g_1 - g_0), is that of a stress that is constant in the step.

An element without these strains is a part of a helix whose tangent is d1 (the rod of Kirchhoff).
"""

from __future__ import annotations

import math
from typing import Any

from discretization.space.se3_dual import ends_of, spread, strains_of
from discretization.space.se3_element import AtStart, forces_between, tangent_over_step
from discretization.space.strain_functions import strain_function_differences
from rigid.compilation.decorators import inline_kernel
from rigid.interactions.kinds import Kind, dual_function, no_bend, tangent_function, value_function, vector
from rigid.linear_algebra import (
    apply_transposed,
    dot,
    minus,
    plus,
    times,
    trace,
    transposed_product,
    twice_axial,
)

LENGTH, STRAIN0 = 0, 1  # offsets among the numbers: L, Gamma_0 (3)
STRETCH, SHEAR = "stretch", "shear"
COMPONENTS = {
    (STRETCH,): (0, 1),
    (SHEAR,): (1, 2),
    (STRETCH, SHEAR): (0, 3),
}  # first component of Gamma, and their number


@inline_kernel
def _real_pose(y, k):
    """Return the position of frame k and the rotation matrix with its directors as columns."""
    return (y[k, 0, 0].real, y[k, 0, 1].real, y[k, 0, 2].real), (
        y[k, 1, 0].real, y[k, 2, 0].real, y[k, 3, 0].real,
        y[k, 1, 1].real, y[k, 2, 1].real, y[k, 3, 1].real,
        y[k, 1, 2].real, y[k, 2, 2].real, y[k, 3, 2].real,
    )  # fmt: skip


@inline_kernel
def _configuration(y, L):
    """Return the rotation matrices of both frames with e = r_b - r_a, and (1) of `se3_element` with cos(theta/2)."""
    (ra, A), (rb, B) = _real_pose(y, 0), _real_pose(y, 1)
    e, C = minus(rb, ra), transposed_product(A, B)
    T = 1.0 + trace(C)
    k = times(2.0 / T, twice_axial(C))
    at = times(0.5 / L, plus(apply_transposed(A, e), apply_transposed(B, e)))
    return (A, B, e), (at, k, dot(k, at), 0.25 * dot(k, k), 0.5 * math.sqrt(T))


@inline_kernel
def _write_tangent(y0, y1, L, N, K):
    """Write the derivatives of forces and torques of the constant stress N to the end of the step into K, as `Kind.tangent`."""
    none = (0.0, 0.0, 0.0)
    blocks = (*none, *none, *none)
    C = blocks, blocks, blocks, blocks
    poses0, (y, k, s, u, half) = _configuration(y0, L)
    (A, B, e), at_end = _configuration(y1, L)
    poses1 = A, B, none, none, e
    functions = strain_function_differences(u, at_end[3])
    start = AtStart(y, k, s, u, half, N, none)
    _, _, _, averages = forces_between(poses0, poses1, start, at_end, functions, L, C, True)
    ne, na, nb, te, ta, tb, ue, ua, ub = tangent_over_step(poses1, averages, L, C, True)
    for i in range(3):
        for j in range(3):
            at = 3 * i + j
            K[j, i], K[6 + j, i] = ne[at], -ne[at]
            K[j, 6 + i], K[6 + j, 6 + i] = -ne[at], ne[at]
            K[3 + j, i], K[9 + j, i] = -na[at], -nb[at]
            K[3 + j, 6 + i], K[9 + j, 6 + i] = na[at], nb[at]
            K[j, 3 + i], K[6 + j, 3 + i], K[3 + j, 3 + i], K[9 + j, 3 + i] = -te[at], te[at], ta[at], tb[at]
            K[j, 9 + i], K[6 + j, 9 + i], K[3 + j, 9 + i], K[9 + j, 9 + i] = -ue[at], ue[at], ua[at], ub[at]


@inline_kernel
def _strain(y, X):
    """Return Gamma of the poses y, less Gamma_0."""
    L = X[LENGTH]
    at, _, functions = ends_of(y, y, L)
    Gamma, _, _, _ = strains_of(at, at, functions, L)
    rest = vector(X, STRAIN0)
    return Gamma[0] - rest[0], Gamma[1] - rest[1], Gamma[2] - rest[2]


def _kind(name: str, first: int, count: int) -> Kind:
    """Return the kind that keeps `count` components of Gamma from `first` on."""

    @value_function
    def value(y, X, out):
        """Write the rows (1)."""
        strain = _strain(y, X)
        for i in range(count):
            out[i] = X[LENGTH] * strain[first + i]

    @dual_function
    def dual(y0, y1, X, lam, out):
        """Write the discrete derivative of lam . g."""
        L, none = X[LENGTH], 0.0 * lam[0]
        start, end, functions = ends_of(y0, y1, L)
        N = (
            lam[0] if first == 0 else none,
            lam[1 - first] if first + count > 1 else none,
            lam[2 - first] if first + count > 1 else none,
        )
        spread(y0, y1, start, end, functions, L, N, (none, none, none), out)

    @tangent_function
    def tangent(y0, y1, X, lam, out, K):
        """Write the derivatives of the forces of the multipliers lam."""
        N = (
            lam[0].real if first == 0 else 0.0,
            lam[1 - first].real if first + count > 1 else 0.0,
            lam[2 - first].real if first + count > 1 else 0.0,
        )
        _write_tangent(y0, y1, X[LENGTH], N, K)

    return Kind(name, 2, count, value, dual, no_bend, steep=True, tangent=tangent)


STRAIN_CONSTRAINTS: dict[tuple[Any, ...], Kind] = {
    which: _kind(f"rod element without {' and '.join(which)}", *components)
    for which, components in COMPONENTS.items()
}
