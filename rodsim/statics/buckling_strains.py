"""Warn of buckling factors at which rods are strained beyond what solids bear, or are in tension.

A rod in tension has a shear instability near GA, which is a property of the rod model: a section that rotates gains more
energy from the tension than shear resists. A solid yields or breaks long before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discretization.linearisation.equations import Linearised
from discretization.linearisation.moving import moved
from discretization.state_measures import element_strains
from rigid.system import Floats
from rodsim.building.build import Built
from rodsim.building.plausibility import linear_rods, strains, surface_strains
from rodsim.parts.model_warnings import warn_doubtful
from rodsim.results.layout import RodLayout
from rodsim.statics.critical_points import BIFURCATION, LIMIT, Critical

LARGE = 0.1  # strain at a factor above which the factor is doubtful
STEP = 1e-4  # displacements of the finite differences for strains, relative to the linear ones at a factor
COMPRESSED = 1e-6  # relative to the largest stretch of a rod: smaller compression is round-off


def warn_of_strains(built: Built, lin: Linearised, direction: Floats, points: Sequence[Critical]) -> None:
    """Warn if a factor strains rods with a linear law by more than 10 %, or if the loads mainly stretch the rods.

    lin : linear equations about the equilibrium at factor zero; direction (n, 6): linear displacements for factor one
    """
    rods = linear_rods(built.layout, built.system)
    if not rods:
        return
    step = STEP * max(point.factor for point in points)
    ends = [element_strains(lin.system, moved(lin.system, lin.state, f * direction)) for f in (step, -step)]
    rate, start = (ends[0] - ends[1]) / (2.0 * step), element_strains(lin.system, lin.state)
    pulled = _are_pulled(rods, rate)
    for point in points:
        is_linear = point.kind not in (BIFURCATION, LIMIT)
        strain = start + point.factor * rate if is_linear else element_strains(lin.system, point.state)
        cure = "yield or another failure comes first: check the loads, and the units of E, GA and sizes"
        found = list(strains(rods, strain, f"at the factor {point.factor:.6g}", cure, LARGE))
        if pulled:
            found.insert(
                0,
                f"the loads stretch its rods: the factor {point.factor:.6g} is that of the shear instability of a rod "
                "in tension, near GA, which solids do not reach; reverse the loads, or let a load that presses grow",
            )
        if found:
            return warn_doubtful(built.layout.name, found)


def _are_pulled(rods: Sequence[RodLayout], rate: Floats) -> bool:
    """Return whether loads compress no rod, and stretch rods more than they bend, twist or shear them.

    `rate`: strains per unit of the load factor.
    """
    stretch = np.concatenate([rate[rod.elements, 0] for rod in rods])
    other = max(
        max(np.abs(rate[rod.elements, 1:3]).max(), surface_strains(rod, rate[rod.elements, 3:]).max())
        for rod in rods
    )
    most = stretch.max()
    return bool(most > other and stretch.min() >= -COMPRESSED * most)
