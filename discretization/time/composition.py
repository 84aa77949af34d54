"""Compute the substep fractions of symmetric compositions of a symmetric step; the fractions sum to 1.

From order p to p + 2: Suzuki 1990, five substeps, 1/(4 - 4^(1/(p + 1))) twice, the negative one, twice again.
From order 2 to 6 and to 8: Kahan and Li 1997, nine and seventeen substeps, (3.11) and the next in Hairer, Lubich, Wanner,
Geometric Numerical Integration, V.3.2. Those of order 6 were measured against Yoshida's seven with as many substeps
altogether: they are as accurate on joined bodies and four to seven times more accurate on rods, because the longest substep is
0.8 h, not 1.3 h.

The order conditions hold for steps that tend to the identity with h. They do not hold for a step that reflects something even
with h = 0. Two equal halves in place of every substep satisfy this condition: `halve_substeps`.
"""

from __future__ import annotations

import numpy as np

from rigid.system import Floats

# first half of the symmetric fractions; the middle one is 1 minus the sum of all others
_KAHAN_LI = {
    6: (0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.08221359629355080023),
    8: (
        0.13020248308889008087881763,
        0.56116298177510838456196441,
        -0.38947496264484728640807860,
        0.15884190655515560089621075,
        -0.39590389413323757733623154,
        0.18453964097831570709183254,
        0.25837438768632204729397911,
        0.29501172360931029887096624,
    ),
}


def suzuki(order: int) -> Floats:
    """Return the fractions (5,) that raise the order of a symmetric step of this order by 2."""
    w = 1.0 / (4.0 - 4.0 ** (1.0 / (order + 1)))
    return np.array([w, w, 1.0 - 4.0 * w, w, w])


def _kahan_li(order: int) -> Floats:
    """Return the fractions of Kahan and Li that compose a step of order 2 to this order."""
    first = _KAHAN_LI[order]
    return np.array([*first, 1.0 - 2.0 * sum(first), *first[::-1]])


# substep fractions for each order, composed from a step of order 2
FRACTIONS: dict[int, Floats] = {2: np.array([1.0]), 4: suzuki(2), 6: _kahan_li(6), 8: _kahan_li(8)}


def halve_substeps(fractions: Floats) -> Floats:
    """Split every substep into two equal halves, for steps that reflect something: the second half restores what the first
    reflects.
    """
    return np.repeat(fractions / 2.0, 2)


def substep_fractions(order: int, reflects_velocities: bool) -> Floats:
    """Return the fractions of the substeps of one step, composed from a step of order 2; `order` is one of `FRACTIONS`.

    reflects_velocities: True if the step reflects velocities or states even with h = 0. A composition then takes halves; order 2
    is the step itself.
    """
    if order not in FRACTIONS:
        raise ValueError(f"composition of order {order} is not known; choose one of {sorted(FRACTIONS)}")
    return halve_substeps(FRACTIONS[order]) if reflects_velocities and order > 2 else FRACTIONS[order]


def midpoints(fractions: Floats) -> Floats:
    """Return the midpoints of the substeps as fractions of the step, from 0 to 1."""
    return np.cumsum(fractions) - 0.5 * fractions
