"""Choose outputs for pictures and pages."""

from __future__ import annotations

import numpy as np

from rigid.system import Ints


def evenly_spaced(n: int, most: int) -> Ints:
    """Return at most `most` of the numbers 0 to n - 1, evenly spaced, with the first and the last."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.round(np.linspace(0, n - 1, most)).astype(np.int64))
