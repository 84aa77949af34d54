"""The order with which errors fall."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def observed_order(steps: ArrayLike, errors: ArrayLike) -> float:
    """Slope of log(error) over log(step), by least squares."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
