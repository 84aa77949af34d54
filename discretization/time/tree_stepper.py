"""Python front end of the compiled step of trees: validates input, allocates arrays, collects statistics."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from discretization.assembly.numbering import Numbering
from discretization.assembly.workspace import Workspace, with_numbers
from discretization.memo import memo, of_structure, of_tables
from discretization.memory import WIDTH
from discretization.system import System
from discretization.time.shape_stepper import ShapeStepper
from discretization.time.stepper import DriveValues, LoadValues
from discretization.time.tree_march import Advancing, has_others, more_of
from discretization.trees.body_lanes import BodyLanes, body_lanes, with_constants
from discretization.trees.loop_tables import Loops, loops_of, loops_with_geometry
from discretization.trees.places import (
    TreeArrays,
    arrays_of,
    numbering_of,
    side_by_side,
    with_geometry,
    workspace_of,
)
from discretization.trees.runs import key_of, lanes_of
from discretization.trees.shape import Tree, plain_joints
from rigid.settled import settled, told_by
from rigid.system import State

Made = tuple[Numbering, Workspace, TreeArrays, Loops, BodyLanes]


@memo(of_tables, copies=True)
def _made(system: System, tree: Tree, tolerance: float) -> tuple[Made, Any]:
    """Return the arrays for the march of a tree, and the keys that determine the types of the tables and of these arrays."""
    numbering, work, arrays, loops, groups = _room(system, tree)
    arrays = with_geometry(arrays, system, tree)
    made = (
        numbering,
        with_numbers(work, system, numbering, True, tolerance),
        arrays,
        loops_with_geometry(loops, system, tree),
        with_constants(groups, arrays),
    )
    return made, (told_by(tuple(table for table in system if isinstance(table, tuple))), told_by(made))


@memo(of_structure, copies=True)
def _room(system: System, tree: Tree) -> Made:
    """Return the arrays that depend only on the structure of the system."""
    numbering = numbering_of(system, tree)
    together, alone = side_by_side(system, tree)
    work = workspace_of(system, tree, numbering, 0.0, alone)
    arrays = arrays_of(system, tree, alone)
    rods = len(system.elements.length) > 0
    return numbering, work, arrays, loops_of(system, tree, arrays), body_lanes(arrays, together, rods)


class TreeStepper(ShapeStepper):
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
        forces_follow = not len(tree.closing.frame) and bool(np.all(plain_joints(tree)))
        uses = earlier and forces_follow and not len(system.elements.length)
        history = WIDTH * len(system.frames.mass) if uses else 0
        super().__init__(system, h, order, load_values, halves, history, drive_values)
        self.tree = tree
        made, self._told = _made(system, tree, tolerance)
        self.numbering, self.work, self.arrays, self.loops, self.lanes = made
        self._settled: Any = None
        self.solver, self.solver_settings = str(tree), self.remembered()

    pace = 0.2  # microseconds a step and frame: 5 to 100 bodies on hinges

    def _key_of_lanes(self) -> tuple[Any, ...]:
        return key_of(self)

    @staticmethod
    def lanes_of(steppers: Sequence[Any]) -> Any:
        """Return the arrays of up to eight steppers for `march_of_lanes`, as `Stepper` does."""
        return lanes_of(steppers)

    def march_of_lanes(self) -> Any:
        """Return the compiled march of eight runs, as `Stepper` does."""
        from discretization.time.tree_run_march import march_tree_runs, march_tree_runs_with_loops

        return march_tree_runs_with_loops if len(self.loops.place) else march_tree_runs

    def _models(self, state: State) -> tuple[Any, Any, Any]:
        """Return the model of the tree; its kernel arguments are unpacked once and reused as long as the models are the same
        objects.
        """
        models = self.system, self.numbering, self.arrays, self.loops, self.lanes, self.weights, self.work
        known = self._settled
        if known is None or any(map(operator.is_not, known[0], models)):
            system, numbering, tree, loops, *_, work = models
            of_tables, of_made = self._told
            told = of_tables, *map(told_by, (system.gravity, self.weights)), of_made
            more = more_of(system, numbering, tree, loops, state, work, (*told, told_by(state)))
            others = has_others(system, tree)
            plain = not len(system.others.kind) and not len(loops.place) and bool(tree.plain.all())
            facts = others, plain
            advancing = Advancing(*more, *facts, *models)
            known = self._settled = models, settled(advancing, (*more, *map(told_by, facts), *told))
        return None, known[1], None
