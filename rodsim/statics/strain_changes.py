"""Derivatives of the strains of rods along displacements, by complex steps: exact to round-off.

A step h i along a displacement (dr, eta) moves a pose (r, d_k) by i h (dr, eta x d_k); the imaginary part of the strains over
h is their derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rigid import quaternions
from rigid.compilation.decorators import address_of, allocating_kernel
from rigid.interactions.kinds import COMPLEX_STEP, Group, value_at
from rigid.system import Floats, State


@allocating_kernel
def _values(address, Y, X, out):
    """Evaluate the rows of a kind (k, rows) at poses (k, frames, 4, 3) with numbers (k, :)."""
    function = value_at(address)
    for k in range(len(Y)):
        function(Y[k], X[k], out[k])


def strain_changes(groups: Sequence[Group], state: State, x: Floats) -> Floats:
    """Return the derivatives (rows,) of the values of groups along displacements and rotations x (n, 6) of all frames."""
    rows = max((int(group.row.max()) + group.kind.rows for group in groups), default=0)
    out = np.zeros(rows)
    directors = np.swapaxes(quaternions.to_matrix(state.quat), 1, 2)  # d1, d2, d3 of each frame
    poses: Any = np.zeros((len(state.r), 4, 3), complex)
    poses[:, 1:] = directors + 1j * COMPLEX_STEP * np.cross(x[:, None, 3:], directors)
    for group in groups:
        Y = poses[group.frames].copy()
        r = state.r[group.frames]
        Y[:, :, 0] = r - r[:, :1] + 1j * COMPLEX_STEP * x[group.frames, :3]
        values = np.zeros((len(group.row), group.kind.rows), complex)
        numbers = np.ascontiguousarray(group.numbers, float)
        _values(address_of(group.kind.value), np.ascontiguousarray(Y), numbers, values)
        out[(group.row[:, None] + np.arange(group.kind.rows)).ravel()] = values.imag.ravel() / COMPLEX_STEP
    return out
