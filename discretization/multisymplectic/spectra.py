"""Which ends are well posed: the rank of the linearised step, its null vectors, and the eigenvalues of what it does to states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.multisymplectic.one_step import OneStep, Taken, carry
from rigid.system import Floats

NOTHING = 1e-11  # of the largest singular value, rows and columns of size 1


class Rank(NamedTuple):
    """Of the matrix of a step, rows and columns scaled to size 1."""

    size: int
    deficiency: int  # singular values below `NOTHING` of the largest
    least: float  # smallest singular value over the largest
    null: Floats  # (deficiency, size): unknowns that the equations do not see, of size 1


def rank_of(scheme: OneStep, step: Taken, h: float) -> Rank:
    """Rank of dr/dx at a step that was taken, or at any x and old."""
    A = scheme.matrix(step.x, step.old, h).toarray()
    A = A / np.abs(A).max(axis=1, keepdims=True)
    scale = np.abs(A).max(axis=0)
    _, values, right = np.linalg.svd(A / scale)
    small = values < NOTHING * values[0]
    null = right[small] / scale
    return Rank(
        len(A),
        int(small.sum()),
        float(values[-1] / values[0]),
        null / np.abs(null).max(axis=1, keepdims=True),
    )


class Spectrum(NamedTuple):
    """Of the linear map of states over a step."""

    largest: float  # spectral radius
    turned: int  # dimension of what only changes its sign: eigenvectors of -1
    growing: int  # Jordan blocks of -1: what changes its sign and grows linearly


def spectrum_of(scheme: OneStep, step: Taken, h: float, tolerance: float = 1e-7) -> Spectrum:
    """The linearised step as a map of all variations of the state, at a step that was taken."""
    _, columns = carry(scheme, step, h, np.eye(step.old.size))
    A = columns.T
    turned = A + np.eye(len(A))

    def nullity(B: Floats) -> int:
        values = np.linalg.svd(B, compute_uv=False)
        return int((values < tolerance * values[0]).sum())

    first = nullity(turned)
    return Spectrum(float(np.abs(np.linalg.eigvals(A)).max()), first, nullity(turned @ turned) - first)
