"""Round-off of the stresses of rod elements, which Newton's method takes as solved.

A stress C (e - strain0) has the round-off of C, since strains are differences of turns and places over the length; a viscous one
D (e1 - e0)/h has twice that of D/h. The largest entries count.
"""

from __future__ import annotations

import numpy as np

from rigid.compilation.decorators import small_kernel
from rigid.system import Floats

EPS = 2.220446049250313e-16


def largest_entries(stiffness: Floats, damping: Floats) -> Floats:
    """(m, 4) of matrices (m, 6, 6) the largest stiffness of force and of moment, N and N m2, and viscosity, N s and N m2 s."""
    rows = np.empty((len(stiffness), 2, 6, 6))
    np.abs(stiffness, out=rows[:, 0])
    np.abs(damping, out=rows[:, 1])
    found: Floats = rows.reshape(-1, 2, 2, 18).max(axis=3, initial=0.0)
    return found.reshape(-1, 4)


@small_kernel
def stress_rounding(scale, L, h):
    """Round-off of h times force and moment of an element of the length L; scale: one of `largest_entries`."""
    force = EPS * (abs(h) * scale[0] + 2.0 * scale[2])
    return force, force * L + EPS * (abs(h) * scale[1] + 2.0 * scale[3]) / L
