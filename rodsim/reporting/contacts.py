"""What contacts do: largest forces, depths, what is stored and lost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rigid.system import Floats, Ints
from rodsim.reporting.joints import SomeOutputs
from rodsim.results.contact_history import ContactHistory
from rodsim.results.result import Result


class Pressed(NamedTuple):
    """Of one contact, at the outputs that were looked at."""

    name: str
    normal: Floats  # (T,) N
    tangential: Floats  # (T,) N
    depth: Floats  # (T,) m
    touching: Ints  # (T,)
    energy: Floats  # (T,) J
    loss_rate: Floats  # (T,) W


def pressed(result: Result, outputs: Ints) -> list[Pressed]:
    """Of all contacts; none where a file does not have the system they are of."""
    source, found = result._source, []
    if source.layout.system is None:
        return []
    with source.held(), np.errstate(all="ignore"):
        some = SomeOutputs(source, outputs)
        for name in result.contacts:
            own = ContactHistory(some, name)  # type: ignore[arg-type]
            columns = (
                own.normal_force,
                own.tangential_force,
                own.depth,
                own.touching,
                own.energy,
                own.loss_rate,
            )
            found.append(Pressed(name, *columns))
    return found
