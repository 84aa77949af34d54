"""Estimate the round-off of the stresses of rod elements, below which Newton's method accepts the residual as solved.

A stress C (e - strain0) has the round-off of C, since strains are differences of rotations and positions divided by the length.
A viscous stress D (e1 - e0)/h has twice the round-off of D/h. The largest entries of C and D determine the estimate.
"""

from __future__ import annotations

import numpy as np

from rigid.compilation.decorators import inline_kernel
from rigid.system import Floats

EPS = 2.220446049250313e-16


def largest_entries(stiffness: Floats, damping: Floats) -> Floats:
    """Return the largest entries (m, 4) of stiffness and damping matrices (m, 6, 6).

    The columns are stiffness of force and of moment, N and N m2, then viscosity of force and of moment, N s and N m2 s.
    """
    rows = np.empty((len(stiffness), 2, 6, 6))
    np.abs(stiffness, out=rows[:, 0])
    np.abs(damping, out=rows[:, 1])
    largest: Floats = rows.reshape(-1, 2, 2, 18).max(axis=3, initial=0.0)
    return largest.reshape(-1, 4)


@inline_kernel
def stress_rounding(scale, L, h):
    """Return the round-off of h times force (N s) and moment (N m s) of an element of length L.

    `scale`: one row of `largest_entries`.
    """
    force = EPS * (abs(h) * scale[0] + 2.0 * scale[2])
    return force, force * L + EPS * (abs(h) * scale[1] + 2.0 * scale[3]) / L
