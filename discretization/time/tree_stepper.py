"""Python front end of the compiled step of trees: validates input, allocates arrays, collects statistics."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from discretization.assembly.numbering import Numbering
from discretization.assembly.workspace import Workspace, with_parameters
from discretization.drives import count_drives
from discretization.integrator_memory import WIDTH
from discretization.memoization import memoized, per_structure, per_tables
from discretization.system import System
from discretization.time.stepper import DriveValues, LoadValues
from discretization.time.structured_stepper import StructuredStepper
from discretization.time.tree_march import StepContext, has_other_elements, tree_kernels
from discretization.trees.batch_arrays import batch_key, stack_runs
from discretization.trees.body_lanes import BodyLanes, body_lanes, with_joint_data
from discretization.trees.data_layout import (
    TreeArrays,
    numbering_of,
    simd_body_groups,
    tree_arrays,
    with_geometry,
    workspace_of,
)
from discretization.trees.loop_arrays import LoopArrays, allocate_loops, loops_with_geometry
from discretization.trees.spanning_tree import Tree, has_closed_form
from rigid.bound_arguments import bind_tuple, type_key
from rigid.system import State

Made = tuple[Numbering, Workspace, TreeArrays, LoopArrays, BodyLanes]


@memoized(per_tables, copies=True)
def _march_arrays(system: System, tree: Tree, tolerance: float) -> tuple[Made, Any]:
    """Return the arrays for the march of a tree, and the keys that determine the types of the tables and of these arrays."""
    numbering, work, arrays, loops, groups = _structure_arrays(system, tree)
    arrays = with_geometry(arrays, system, tree)
    arrays_of_march = (
        numbering,
        with_parameters(work, system, numbering, True, tolerance),
        arrays,
        loops_with_geometry(loops, system, tree),
        with_joint_data(groups, arrays),
    )
    return arrays_of_march, (
        type_key(tuple(table for table in system if isinstance(table, tuple))),
        type_key(arrays_of_march),
    )


@memoized(per_structure, copies=True)
def _structure_arrays(system: System, tree: Tree) -> Made:
    """Return the arrays that depend only on the structure of the system."""
    numbering = numbering_of(system, tree)
    grouped, alone = simd_body_groups(system, tree)
    work = workspace_of(system, tree, numbering, 0.0, alone)
    arrays = tree_arrays(system, tree, alone)
    rods = len(system.elements.length) > 0
    return numbering, work, arrays, allocate_loops(system, tree, arrays), body_lanes(arrays, grouped, rods)


class TreeStepper(StructuredStepper):
    """Advance states of a tree as `Stepper` does with `em` and its compositions: the states agree to round-off, the memory is the
    same.
    """

    def __init__(
        self,
        system: System,
        tree: Tree,
        h: float,
        order: int = 2,
        load_values: LoadValues | None = None,
        tolerance: float = 0.0,
        halves: bool | None = None,
        earlier: bool = True,
        drive_values: DriveValues | None = None,
    ):
        """Prepare the stepper.

        earlier: True if the predictor of Newton's method may use steps before the last one, as it does for bodies on joints
        whose forces follow from the motion.
        """
        # joint forces that are iterates are not predicted: a motion that is predicted better would end the iteration too early
        forces_follow = not len(tree.closing.frame) and bool(np.all(has_closed_form(tree)))
        uses = earlier and forces_follow and not system.rods.n_points
        history = WIDTH * len(system.frames.mass) if uses else 0
        super().__init__(system, h, order, load_values, halves, history, drive_values)
        self.tree = tree
        made, self._type_keys = _march_arrays(system, tree, tolerance)
        self.numbering, self.work, self.arrays, self.loops, self.lanes = made
        self._bound_context: Any = None
        self.solver, self.solver_settings = str(tree), self.remembered()

    pace = 0.2  # microseconds a step and frame: 5 to 100 bodies on hinges

    def _batch_key(self) -> tuple[Any, ...]:
        return batch_key(self)

    @staticmethod
    def stack_runs(steppers: Sequence[Any]) -> Any:
        """Return the arrays of up to eight steppers for `batch_march_kernel`, as `Stepper` does."""
        return stack_runs(steppers)

    def batch_march_kernel(self) -> Any:
        """Return the compiled march of eight runs, as `Stepper` does."""
        from discretization.time.tree_batch_march import march_tree_batch, march_tree_batch_with_loops

        return march_tree_batch_with_loops if len(self.loops.place) else march_tree_batch

    def _models(self, state: State) -> tuple[Any, Any, Any]:
        """Return the model of the tree; its kernel arguments are unpacked once and reused as long as the models are the same
        objects.
        """
        models = self.system, self.numbering, self.arrays, self.loops, self.lanes, self.weights, self.work
        known = self._bound_context
        if known is None or any(map(operator.is_not, known[0], models)):
            system, numbering, tree, loops, *_, work = models
            of_tables, of_made = self._type_keys
            keys = of_tables, *map(type_key, (system.gravity, self.weights)), of_made
            kernels = tree_kernels(system, numbering, tree, loops, state, work, (*keys, type_key(state)))
            has_others = has_other_elements(system, tree)
            plain = not len(system.others.kind) and not len(loops.place) and bool(tree.plain.all())
            uses_forces = count_drives(system) > 0 or system.rods.n_points > 0 or bool(np.any(tree.rows))
            facts = has_others, uses_forces, plain
            context = StepContext(*kernels, *facts, *models)
            known = self._bound_context = (
                models,
                bind_tuple(context, (*kernels, *map(type_key, facts), *keys)),
            )
        return None, known[1], None
