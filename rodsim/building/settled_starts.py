"""What settles (`rigid.interactions.kinds.Condensed.settle`), where a run goes on from a stored state with another model."""

from __future__ import annotations

from typing import Any

import numpy as np

from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import InteractionTable, settled_of, settled_values
from discretization.system import System
from rigid.system import Floats


def settled_at_start(system: System, old: System | None, stored: Floats) -> tuple[Floats, bool]:
    """Values (k,) as they were where the same kind acted between the same frames, else as among the numbers; whether some are
    new.
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
    """Kind and frames of what has variables that settle."""
    use = np.flatnonzero(settled_of(own))
    kinds = [INTERACTIONS[k] for k in own.kind[use]]
    return [
        (kind.name, tuple(frames[: kind.arity].tolist()))
        for kind, frames in zip(kinds, own.frames[use], strict=True)
    ]


def _per_item(own: InteractionTable, values: Floats) -> list[Floats]:
    """Views of these (k,), interaction by interaction."""
    count = settled_of(own)
    return np.split(values, np.cumsum(count[count > 0])[:-1]) if count.any() else []
