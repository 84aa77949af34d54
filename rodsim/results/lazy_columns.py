"""Compute strains, stresses and the audit table of a run in memory on first access.

A run in memory stores only its states. Computing the derived columns takes as long as about a hundred steps of a small model, and
they are often not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.system import System
from rigid.system import Floats
from rodsim.results import native_format, stored_states
from rodsim.results.constraint_history import ConstraintHistory
from rodsim.results.layout import Layout
from rodsim.results.outputs import Outputs
from rodsim.results.tabulate import tabulate

NAMES = ("strains", "stresses", native_format.AUDIT)


class LazyColumns(NamedTuple):
    """Derived columns of a run of `system` with steps of `dt`.

    `constraint_history`: constraints at all outputs of the result, passed to `tabulate`; None if the constraints are those of
    the system.
    """

    system: System
    dt: float
    constraint_history: ConstraintHistory | None = None
    at_once: int = 2**31  # number of outputs per evaluation; with `constraint_history` all outputs in one

    def compute(
        self, layout: Layout, arrays: Mapping[str, NDArray[Any]], newton: Floats
    ) -> dict[str, NDArray[Any]]:
        """Return the arrays `NAMES` for T outputs: "strains" and "stresses" (T, m, 6), and the audit table (T, columns).

        `arrays`: states, times and step numbers of the outputs by name. `newton`: (T, 3), made by `newton_columns`.
        """
        tables: list[Outputs] = []
        for first in range(0, len(newton), self.at_once):
            rows = slice(first, min(first + self.at_once, len(newton)))
            states = stored_states.joined(
                layout, {name: arrays[name][rows] for name in stored_states.shapes(layout)}
            )
            steps = arrays[native_format.STEP][rows]
            tables.append(
                tabulate(self.system, self.dt, steps, states, newton[rows], self.constraint_history)
            )
        return {name: np.concatenate([getattr(outputs, name) for outputs in tables]) for name in NAMES}
