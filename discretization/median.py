"""Median of a few numbers; NumPy's function has a large overhead for them."""

from __future__ import annotations

import numpy as np

from rigid.system import Floats


def median(x: Floats) -> float:
    """Return the median of x (k,), or 0 if it is empty."""
    ordered = np.sort(x)
    return 0.0 if not len(x) else float(0.5 * (ordered[(len(x) - 1) // 2] + ordered[len(x) // 2]))
