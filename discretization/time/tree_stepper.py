"""The Python face of the compiled march of trees: validates, allocates, counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from discretization.state_checks import checked
from discretization.state_shapes import sizes_of, state_shapes
from discretization.system import System
from discretization.time.advance import copy_of
from discretization.time.composition import fractions_of
from discretization.time.em import N_COUNTS
from discretization.time.newton import CURES
from discretization.time.reversing import reverses
from discretization.time.stepper import MAX_ITERATIONS, LoadValues, Stepper, check_conservative, check_step
from discretization.time.tree_march import Advancing, march_trees_and_keep, more_of
from discretization.trees.places import arrays_of, numbering_of, workspace_of
from discretization.trees.shape import Tree
from rigid.system import Floats, State


class TreeStepper(Stepper):
    """Advances states of a tree as `Stepper` does with `em`, `em4` and `em6`: the same states to round-off, the same memory."""

    def __init__(
        self,
        system: System,
        tree: Tree,
        h: float,
        order: int = 2,
        load_values: LoadValues | None = None,
        tolerance: float = 0.0,
        halves: bool | None = None,
    ):
        check_step(h)
        if order > 2:
            check_conservative(system, order, "")
        self.system, self.h, self.order, self.tree = system, h, order, tree
        self.fractions = fractions_of(order, reversing=reverses(system) if halves is None else halves)
        self.numbering = numbering_of(system, tree)
        self.work = workspace_of(system, tree, self.numbering, tolerance)
        self._arrays = arrays_of(system, tree)
        self._hidden, self._load_values, self._drive_values = None, load_values, None
        self.sizes = sizes_of(system)
        self.shapes = state_shapes(self.sizes)
        self._more: Any = None
        self.solver = str(tree)

    def _cure(self, status: int) -> str:
        return CURES[status]

    def _run(self, state: State, h: float, starts: Floats, parts: int) -> tuple[int, np.ndarray, State]:
        checked(state, self.shapes, in_place=True)
        kept = State(*(np.empty((parts, *array.shape)) for array in state))
        counts = np.zeros((parts, N_COUNTS), dtype=np.int64)
        if self._more is None:
            self._more = more_of(self.system, self.numbering, self._arrays, state, self.work)
        advancing = Advancing(self.system, self.numbering, self._arrays, state, self.work)
        before = copy_of(state) if len(self.fractions) > 1 else state
        status = march_trees_and_keep(
            self._more,
            advancing,
            before,
            h * self.fractions,
            self._values(starts, h),
            MAX_ITERATIONS,
            kept,
            counts,
        )
        return status, counts, kept
