"""Material of a rod section: mass, inertia and stiffness per length, 003 (5), (11), and their extension to R^4 (22)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.continuum.quaternions import Array
from rigid.errors import ModelError
from rigid.system import Floats

E1 = np.array([1.0, 0.0, 0.0])  # the normal of a section in its own axes


class Material(NamedTuple):
    """Material of a straight, uniform rod without initial stress.

    Attributes
    ----------
    rho_A : float
        Mass per length, kg/m.
    J_rho : (3, 3) array
        Inertia per length, kg m.
    C_N : (3, 3) array
        Stiffness against stretch and shear, N.
    C_M : (3, 3) array
        Stiffness against twist and bending, N m^2.
    alpha, alpha_M : float
        Free entries of the extensions of J_rho (kg m) and C_M (N m^2), without effect if |q| = 1. 003 writes one alpha for
        both.
    """

    rho_A: float
    J_rho: Floats
    C_N: Floats
    C_M: Floats
    alpha: float = 1.0
    alpha_M: float = 1.0

    @property
    def J4(self) -> Floats:
        """Return J_rho extended by alpha (25), (4, 4)."""
        return extended(self.J_rho, self.alpha)

    @property
    def C4(self) -> Floats:
        """Return C_M extended by alpha_M (25), (4, 4)."""
        return extended(self.C_M, self.alpha_M)


def material(
    rho_A: float,
    J_rho: ArrayLike,
    C_N: ArrayLike,
    C_M: ArrayLike,
    alpha: float = 1.0,
    alpha_M: float | None = None,
) -> Material:
    """Return a checked `Material`; matrices are (3, 3), or their diagonals (3,).

    `alpha_M`: by default `alpha`. Raises ModelError if a matrix is not symmetric and positive definite, or if rho_A, alpha or
    alpha_M is not positive.
    """
    free = (("rho_A", rho_A), ("alpha", alpha), ("alpha_M", alpha if alpha_M is None else alpha_M))
    for name, value in free:
        if not value > 0:
            raise ModelError(f"rod material: {name} is {value}; give a positive number")
    J, N, M = (_full(name, A) for name, A in (("J_rho", J_rho), ("C_N", C_N), ("C_M", C_M)))
    return Material(float(rho_A), J, N, M, float(alpha), float(free[2][1]))


def _full(name: str, value: ArrayLike) -> Floats:
    """Return the (3, 3) matrix of an argument and check that it is symmetric and positive definite."""
    A = np.asarray(value, float)
    A = np.diag(A) if A.shape == (3,) else A
    if A.shape != (3, 3):
        raise ModelError(f"rod material: {name} has shape {A.shape}; give (3, 3), or (3,) for a diagonal")
    scale = np.abs(A).max()
    if not np.isfinite(scale) or np.abs(A - A.T).max() > 1e-12 * scale or np.linalg.eigvalsh(A)[0] <= 0:
        raise ModelError(f"rod material: {name} is {A.tolist()}; give a symmetric positive definite matrix")
    return A


def extended(A: Array, alpha: float) -> Array:
    """Return diag(alpha, A): (..., 3, 3) to (..., 4, 4) (22)."""
    out = np.zeros((*A.shape[:-2], 4, 4), A.dtype)
    out[..., 0, 0] = alpha
    out[..., 1:, 1:] = A
    return out
