"""Choose the solver of the `em` family: the fastest that supports a model. All solve the same equations to round-off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discretization.planar.symmetry_input import Symmetry
from discretization.system import System
from discretization.time.em_family import EmIntegrator
from discretization.time.sampling import NO_FUNCTIONS, ControlFunctions, Sampler
from discretization.time.stepper import DriveValues, LoadValues, Stepper
from discretization.time.stepper_base import GENERAL


def select_stepper(
    system: System,
    h: float,
    order: int = 2,
    load_values: LoadValues | None = None,
    hidden: bool = False,
    tolerance: float = 0.0,
    drive_values: DriveValues | None = None,
    *,
    rho: float | None = None,
    fractions: Sequence[float] = (),
    equations: Any = None,
    shortcut: bool = True,
    earlier: bool = True,
    halves: bool | None = None,
    symmetry: Symmetry | None = None,
    beside: Stepper | None = None,
    control_functions: ControlFunctions = NO_FUNCTIONS,
    **arguments: Any,
) -> Stepper:
    """Return the stepper of the `em` family that is fastest for this system; other arguments are those of `Stepper`.

    `shortcut`: False selects the general solver for any system.
    `earlier`: True if steps before the last one may be used by the predictor of Newton's method
    (`discretization.assembly.predictor`).
    `symmetry`: used to test whether the system moves in a plane; None: no test.
    `beside`: stepper of a run that differs only in gravity and loads. Data that depends on neither is taken from it, including
    work arrays, so that both can be integrated side by side (`discretization.time.batched_runs`).
    `control_functions`: what sensors and controllers of the system call.
    """
    stepper = _select(
        system, h, order, load_values, hidden, tolerance, drive_values, rho=rho, fractions=fractions,
        equations=equations, shortcut=shortcut, earlier=earlier, halves=halves, symmetry=symmetry, beside=beside, **arguments
    )  # fmt: skip
    if system.controls.size:
        stepper.sampler = Sampler(system, stepper.shapes, control_functions)
    return stepper


def _select(
    system: System,
    h: float,
    order: int,
    load_values: LoadValues | None,
    hidden: bool,
    tolerance: float,
    drive_values: DriveValues | None,
    *,
    rho: float | None,
    fractions: Sequence[float],
    equations: Any,
    shortcut: bool,
    earlier: bool,
    halves: bool | None,
    symmetry: Symmetry | None,
    beside: Stepper | None,
    **arguments: Any,
) -> Stepper:
    """Return the stepper of `select_stepper`, without controllers."""
    if shortcut and EmIntegrator(order, hidden, rho, fractions=tuple(fractions), equations=equations).plain:
        # imported on demand: their kernels take time to load
        from discretization.time.planar_stepper import PlanarStepper, planar_model
        from discretization.time.tree_stepper import TreeStepper
        from discretization.trees.spanning_tree import Tree, find_kinematic_tree

        planar = "" if symmetry is None else planar_model(system, symmetry, tolerance)
        if not isinstance(planar, str):
            return PlanarStepper(system, planar, h, order, load_values, halves, earlier, drive_values)
        tree = find_kinematic_tree(system)
        if isinstance(tree, Tree):
            if isinstance(beside, TreeStepper):
                return beside.with_loads(system, load_values)
            return TreeStepper(system, tree, h, order, load_values, tolerance, halves, earlier, drive_values)
    if beside is not None and beside.solver == GENERAL:
        return beside.with_loads(system, load_values)
    options: dict[str, Any] = {"hidden": hidden, "rho": rho, "fractions": fractions, "equations": equations}
    options |= {"tolerance": tolerance, "drive_values": drive_values, "halves": halves}
    return Stepper(system, h, order, load_values, **options, **arguments)
