"""Carry internal variables over when a run is restarted from the state of another model.

These are the variables that are updated at the end of an accepted step (`rigid.interactions.kinds.Condensed.settle`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import InteractionTable, settled_of, settled_values
from discretization.system import System
from rigid.system import Floats


def settled_at_start(system: System, old: System | None, stored: Floats) -> tuple[Floats, bool]:
    """Return the internal variables (k,) at the start of a run, and True if some interactions are new.

    An interaction keeps its stored values if one of the same kind acted between the same frames in the old system. Otherwise it
    has the initial values among its parameters.
    """
    values, known = settled_values(system.others), dict[Any, list[Floats]]()
    if old is not None:
        for key, part in zip(_settling(old.others), _per_item(old.others, stored), strict=True):
            known.setdefault(key, []).append(part)
    new = False
    for key, part in zip(_settling(system.others), _per_item(system.others, values), strict=True):
        if found := known.get(key):
            part[:] = found.pop(0)
        else:
            new = True
    return values, new


def _settling(own: InteractionTable) -> list[tuple[str, tuple[int, ...]]]:
    """Return kind and frames of each interaction with such internal variables."""
    use = np.flatnonzero(settled_of(own))
    kinds = [INTERACTIONS[k] for k in own.kind[use]]
    return [
        (kind.name, tuple(frames[: kind.arity].tolist()))
        for kind, frames in zip(kinds, own.frames[use], strict=True)
    ]


def _per_item(own: InteractionTable, values: Floats) -> list[Floats]:
    """Split the values (k,) into views, one for each interaction."""
    count = settled_of(own)
    return np.split(values, np.cumsum(count[count > 0])[:-1]) if count.any() else []
