"""Forces in the sections of elements without stretch or shear: multipliers of the constraints that keep these strains.

Strings keep the distance of their frames: with g = (d . d - L^2)/2, d = r_b - r_a, the force on b is -lam d, and the normal
force is N = lam L. Other elements keep strains: `discretization.space.strain_constraints`, whose multipliers are the forces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.memoization import memoized, per_structure
from discretization.multipliers import multipliers_of
from discretization.space.strain_constraints import COMPONENTS, STRAIN_CONSTRAINTS
from discretization.system import System
from rigid.interactions.constraints import CONSTRAINTS
from rigid.interactions.distance import POINTS_AT_DISTANCE
from rigid.system import Floats, Ints

_DISTANCE = next(k for k, kind in enumerate(CONSTRAINTS) if kind is POINTS_AT_DISTANCE)


class _Tensions(NamedTuple):
    """Rows of k elements that do not stretch."""

    point: Ints  # (k,) number of their point among all points of rods
    row: Ints  # (k,) index of their multiplier in `State.lam`
    length: Floats  # (k,) m


def add_constraint_forces(system: System, lam: Floats, stress: Floats) -> Floats:
    """Return the stresses (..., g, 6) with the forces of elements that do not stretch or shear; lam: `State.lam` (..., m)."""
    spans = system.spans
    stress = _add_strain_forces(system, lam, stress)
    rigid = (
        np.flatnonzero(~np.any(spans.stiffness, axis=(1, 2))) if len(spans.kind) else np.zeros(0, np.int64)
    )
    if not len(rigid):
        return stress
    tensions = _tensions_of(system, rigid)
    stress[..., tensions.point, 0] += tensions.length * lam[..., tensions.row]
    return stress


def _add_strain_forces(system: System, lam: Floats, stress: Floats) -> Floats:
    """Add the multipliers of `STRAIN_CONSTRAINTS` to the stresses (..., g, 6)."""
    rows = rigid_points(system)
    if rows:
        multipliers, first = multipliers_of(system), len(system.constraints.kind)
        first_of = dict(zip(multipliers.other.tolist(), multipliers.first[first:].tolist(), strict=True))
        for row, (point, components) in rows.items():
            at = first_of[row]
            stress[..., point, components] += lam[..., at : at + components.stop - components.start]
    return stress


@memoized(per_structure)
def rigid_points(system: System) -> dict[int, tuple[int, slice]]:
    """Return the point of rods and the components of its strains that each interaction of `STRAIN_CONSTRAINTS` keeps."""
    kinds = {INTERACTIONS.index(kind): which for which, kind in STRAIN_CONSTRAINTS.items()}
    rows = np.flatnonzero(np.isin(system.others.kind, list(kinds))).tolist()
    if not rows:
        return {}
    pairs = [*map(tuple, system.elements.frames.tolist()), *map(tuple, system.spans.ends.tolist())]
    points = {pair: k for k, pair in enumerate(pairs)}
    made = {}
    for row in rows:
        first, count = COMPONENTS[kinds[int(system.others.kind[row])]]
        made[row] = points[tuple(system.others.frames[row, :2].tolist())], slice(first, first + count)
    return made


def _tensions_of(system: System, rigid: Ints) -> _Tensions:
    """Return the rows of the points `rigid` of spans."""
    constraints = system.constraints
    rows: dict[tuple[int, ...], Any] = {}
    first = multipliers_of(system).first
    for c in np.flatnonzero(constraints.kind == _DISTANCE).tolist():
        if not (np.any(constraints.Xa[c]) or np.any(constraints.Xb[c])):
            rows[tuple(constraints.frames[c].tolist())] = first[c], np.sqrt(2.0 * constraints.value[c])
    pairs = map(tuple, system.spans.ends[rigid].tolist())
    row, length = zip(*(rows[pair] for pair in pairs), strict=True)
    return _Tensions(system.rods.first + rigid, np.array(row, np.int64), np.array(length))
