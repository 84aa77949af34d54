"""What a section is made of: mass, inertia and stiffness a length, 003 (5), (11), and their extension to R^4 (22)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.continuum.quaternions import Array
from rigid.errors import ModelError
from rigid.system import Floats

E1 = np.array([1.0, 0.0, 0.0])  # the normal of a section in its own axes


class Material(NamedTuple):
    """A straight rod without initial stress; the same all along.

    rho_A: mass a length, kg/m; J_rho (3, 3): inertia a length, kg m; C_N (3, 3): stretch and shear, N; C_M (3, 3): twist and
    bending, N m^2; alpha, alpha_M: the free entries of the extensions of J_rho (kg m) and C_M (N m^2), of no
    effect where |q| = 1. 003 writes one alpha for both.
    """

    rho_A: float
    J_rho: Floats
    C_N: Floats
    C_M: Floats
    alpha: float = 1.0
    alpha_M: float = 1.0

    @property
    def J4(self) -> Floats:
        """J_rho extended by alpha (25), (4, 4)."""
        return extended(self.J_rho, self.alpha)

    @property
    def C4(self) -> Floats:
        """C_M extended by alpha_M (25), (4, 4)."""
        return extended(self.C_M, self.alpha_M)


def material(
    rho_A: float,
    J_rho: ArrayLike,
    C_N: ArrayLike,
    C_M: ArrayLike,
    alpha: float = 1.0,
    alpha_M: float | None = None,
) -> Material:
    """A `Material` of numbers that make sense; matrices (3, 3), or their diagonals (3,).

    Raises ModelError where a matrix is not symmetric and positive definite, or rho_A, alpha, alpha_M are not positive.
    """
    free = (("rho_A", rho_A), ("alpha", alpha), ("alpha_M", alpha if alpha_M is None else alpha_M))
    for name, value in free:
        if not value > 0:
            raise ModelError(f"rod material: {name} is {value}; give a positive number")
    J, N, M = (_full(name, A) for name, A in (("J_rho", J_rho), ("C_N", C_N), ("C_M", C_M)))
    return Material(float(rho_A), J, N, M, float(alpha), float(free[2][1]))


def _full(name: str, given: ArrayLike) -> Floats:
    A = np.asarray(given, float)
    A = np.diag(A) if A.shape == (3,) else A
    if A.shape != (3, 3):
        raise ModelError(f"rod material: {name} has shape {A.shape}; give (3, 3), or (3,) for a diagonal")
    scale = np.abs(A).max()
    if not np.isfinite(scale) or np.abs(A - A.T).max() > 1e-12 * scale or np.linalg.eigvalsh(A)[0] <= 0:
        raise ModelError(f"rod material: {name} is {A.tolist()}; give a symmetric positive definite matrix")
    return A


def extended(A: Array, alpha: float) -> Array:
    """diag(alpha, A): (..., 3, 3) to (..., 4, 4) (22)."""
    out = np.zeros((*A.shape[:-2], 4, 4), A.dtype)
    out[..., 0, 0] = alpha
    out[..., 1:, 1:] = A
    return out
