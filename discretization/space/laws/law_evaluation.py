"""Evaluate an expression law at given strains from Python, for checks and tests."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from discretization.space.laws.functions import density_at, stress_at
from rigid.compilation.decorators import address_of, allocating_kernel
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.system import Floats


@allocating_kernel
def _between(density, stress, e0, e1, X, out):
    """Write into out (8, 6) the stresses, their derivatives to the strains at the end (rows: strains), and W0, W1."""
    energy, law = density_at(density), stress_at(stress)
    a = (e0[0] + 0j, e0[1] + 0j, e0[2] + 0j, e0[3] + 0j, e0[4] + 0j, e0[5] + 0j)
    end = np.empty(6, np.complex128)
    for j in range(-1, 6):
        for i in range(6):
            end[i] = e1[i]
        if j >= 0:
            end[j] += COMPLEX_STEP * 1j
        b = (end[0], end[1], end[2], end[3], end[4], end[5])
        s = law(a, b, X, 0)
        for i in range(6):
            out[1 + j, i] = s[i].real if j < 0 else s[i].imag / COMPLEX_STEP
    b = (e1[0] + 0j, e1[1] + 0j, e1[2] + 0j, e1[3] + 0j, e1[4] + 0j, e1[5] + 0j)
    out[7, 0], out[7, 1] = energy(a, X, 0).real, energy(b, X, 0).real


def between(law: ModuleType, e0: Floats, e1: Floats, X: Floats) -> tuple[Floats, Floats, Floats]:
    """Return stresses (6,) between two strains (6,), their derivatives (6, 6) to those at the end, and W at both ends (2,)."""
    out = np.zeros((8, 6))
    _between(address_of(law.density), address_of(law.stress), e0, e1, X, out)
    return out[0], out[1:7].T, out[7, :2]


def energy_and_stress(law: ModuleType, e: Floats, X: Floats) -> tuple[float, Floats, Floats]:
    """Return the energy W at the strains e (6,), its first (6,) and its second derivatives (6, 6)."""
    stress, half, W = between(law, e, e, X)
    # both ends count alike, so the derivative to one end is half of the second derivative
    return float(W[0]), stress, 2.0 * half
