"""Determine which end conditions are well posed: rank and null vectors of the linearised step, eigenvalues of its state map."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.multisymplectic.implicit_step import CompletedStep, ImplicitScheme, propagate_variations
from rigid.system import Floats

NOTHING = 1e-11  # relative to the largest singular value, with rows and columns of size 1


class Rank(NamedTuple):
    """Rank of the matrix of a step, rows and columns scaled to size 1."""

    size: int
    deficiency: int  # number of singular values below `NOTHING` times the largest
    least: float  # smallest singular value over the largest
    null: Floats  # (deficiency, size): null vectors, largest entry 1


def matrix_rank(scheme: ImplicitScheme, step: CompletedStep, h: float) -> Rank:
    """Return the rank of dr/dx at a completed step, or at any x and old."""
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
    """Spectrum of the linear map of states over a step."""

    largest: float  # spectral radius
    turned: int  # dimension of the eigenspace of -1: modes that only change their sign
    growing: int  # Jordan blocks of -1: modes that change their sign and grow linearly


def step_spectrum(scheme: ImplicitScheme, step: CompletedStep, h: float, tolerance: float = 1e-7) -> Spectrum:
    """Return the spectrum of the linearised step, a map of all variations of the state, at a completed step."""
    _, columns = propagate_variations(scheme, step, h, np.eye(step.old.size))
    A = columns.T
    turned = A + np.eye(len(A))

    def nullity(B: Floats) -> int:
        """Return the number of singular values of B below `tolerance` times the largest."""
        values = np.linalg.svd(B, compute_uv=False)
        return int((values < tolerance * values[0]).sum())

    first = nullity(turned)
    return Spectrum(float(np.abs(np.linalg.eigvals(A)).max()), first, nullity(turned @ turned) - first)
