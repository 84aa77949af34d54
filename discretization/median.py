"""The median of a few numbers: that of NumPy looks at much before."""

from __future__ import annotations

import numpy as np

from rigid.system import Floats


def median(x: Floats) -> float:
    """Of x (k,); of none 0."""
    ordered = np.sort(x)
    return 0.0 if not len(x) else float(0.5 * (ordered[(len(x) - 1) // 2] + ordered[len(x) // 2]))
