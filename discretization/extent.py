"""How large a model is: what lengths and turns are compared by."""

from __future__ import annotations

import numpy as np

from rigid.system import Floats

_ROUNDING = 1e-12  # of places and levers: frames that are no further apart are in one place


def extent(r: Floats, otherwise: float = 1.0) -> float:
    """Largest extension of the places r (n, 3), m; of a model whose frames are in one place, but for rounding, `otherwise`."""
    if not len(r):
        return otherwise
    spread = float(np.ptp(r, axis=0).max())
    return spread if spread > _ROUNDING * (otherwise + float(np.abs(r).max())) else otherwise
