"""Symmetric compositions of a symmetric step: substep fractions that sum to 1.

From order p to p + 2: Suzuki 1990, five substeps, 1/(4 - 4^(1/(p + 1))) twice, the negative one, twice again.
From order 2 to 6: Yoshida 1990, seven substeps, solution A; w_1..w_3 solve the order conditions, refined here to full
precision by the sum condition. See Hairer, Lubich, Wanner, Geometric Numerical Integration, V.3.2.
"""

from __future__ import annotations

import numpy as np

from rigid.system import Floats

_YOSHIDA = (0.78451361047755726382, 0.23557321335935813368, -1.17767998417887100695)


def suzuki(order: int) -> Floats:
    """The fractions (5,) that raise a symmetric step of this order by 2."""
    w = 1.0 / (4.0 - 4.0 ** (1.0 / (order + 1)))
    return np.array([w, w, 1.0 - 4.0 * w, w, w])


# of a step of order 2
FRACTIONS: dict[int, Floats] = {
    2: np.array([1.0]),
    4: suzuki(2),
    6: np.array([*_YOSHIDA, 1.0 - 2.0 * sum(_YOSHIDA), *_YOSHIDA[::-1]]),
}


def substeps(order: int, h: float) -> Floats:
    """Lengths of the substeps of one step of length h; order is 2, 4 or 6."""
    if order not in FRACTIONS:
        raise ValueError(f"composition of order {order} is not known; choose one of {sorted(FRACTIONS)}")
    return FRACTIONS[order] * h


def midpoints(order: int, h: float) -> Floats:
    """Times of the middles of the substeps from the start of the step."""
    lengths = substeps(order, h)
    return np.cumsum(lengths) - 0.5 * lengths
