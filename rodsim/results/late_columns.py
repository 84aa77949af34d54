"""What follows from the states of a run: strains, stresses and the audit table, found where they are first read.

A run in memory keeps its states; the rest takes as long to find as a hundred steps of a small model, and is often not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.system import System
from rigid.system import Floats
from rodsim.results import native, stored_states
from rodsim.results.layout import Layout
from rodsim.results.outputs import Outputs
from rodsim.results.standing import Standing
from rodsim.results.tabulate import tabulate

NAMES = ("strains", "stresses", native.AUDIT)


class LateColumns(NamedTuple):
    """Of a run of `system` with steps of dt; standing: as of `tabulate`."""

    system: System
    dt: float
    standing: Standing | None = None
    at_once: int = 2**31  # outputs; with `standing` all of them

    def found(
        self, layout: Layout, arrays: Mapping[str, NDArray[Any]], newton: Floats
    ) -> dict[str, NDArray[Any]]:
        """The arrays `NAMES` of outputs whose states, times and steps are in `arrays`; newton: (T, 3) of `newton_columns`."""
        each: list[Outputs] = []
        for first in range(0, len(newton), self.at_once):
            rows = slice(first, min(first + self.at_once, len(newton)))
            states = stored_states.joined(
                layout, {name: arrays[name][rows] for name in stored_states.shapes(layout)}
            )
            steps = arrays[native.STEP][rows]
            each.append(tabulate(self.system, self.dt, steps, states, newton[rows], self.standing))
        return {name: np.concatenate([getattr(outputs, name) for outputs in each]) for name in NAMES}
