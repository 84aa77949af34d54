"""Characteristic length of a model: the scale of lengths and rotations."""

from __future__ import annotations

import numpy as np

from rigid.system import Floats

_ROUNDING = 1e-12  # relative to positions and levers: frames closer to each other than this coincide


def extent(r: Floats, otherwise: float = 1.0) -> float:
    """Return the largest extension of the positions r (n, 3), m, or `otherwise` if all coincide but for rounding."""
    if not len(r):
        return otherwise
    spread = float(np.ptp(r, axis=0).max())
    return spread if spread > _ROUNDING * (otherwise + float(np.abs(r).max())) else otherwise
