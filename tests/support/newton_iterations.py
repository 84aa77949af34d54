"""A Newton iteration of `em` in the middle of a step: the input of tests of linear solvers."""

import numpy as np

from discretization.assembly.load_forces import write_load_values
from discretization.assembly.step_equations import begin_step, move
from discretization.assembly.velocity_constraints import (
    begin_velocity_constraints,
    velocity_constraint_arrays,
)
from discretization.assembly.workspace import workspace
from discretization.time.newton import equations_of
from rigid.compilation.decorators import kernel

BEGIN, MOVE, ADD = 1, 2, 4  # parts of an iteration


@kernel
def _iterate(equations, system, numbering, hidden, state, work, h, load_values, tangent, parts):
    if parts & BEGIN:
        write_load_values(work, load_values)
        begin_step(system, numbering, state, work, h)
        if hidden is not None:
            begin_velocity_constraints(system, numbering, hidden, state, work, h)
    if parts & MOVE:
        move(system, state, work)
    return equations(system, numbering, hidden, state, work, h, tangent) if parts & ADD else 0


def done(parts, system, numbering, state, work, h, loads=None, tangent=True, hidden=None, which=None):
    """Run these parts of an iteration at the increments in `work` of a step from `state`, with the compiled equations of the
    march, or those of `which`. Return whether an element folds.
    """
    loads = np.zeros((len(work.generic_groups.signals), 3)) if loads is None else loads
    equations = equations_of(system, numbering, hidden, state, work, which)
    return _iterate(equations, system, numbering, hidden, state, work, h, loads, tangent, parts)


def iterate(system, numbering, state, work, h, loads=None, tangent=True, hidden=None):
    """Residual and matrix."""
    assert done(BEGIN | MOVE | ADD, system, numbering, state, work, h, loads, tangent, hidden) == 0


def assembled_workspace(built, numbering, h, rng, spread, hidden=False):
    """Workspace with the assembled matrix; frames are displaced and rotated by normal numbers of size `spread`."""
    system, state = built.system, built.state
    work = workspace(system, numbering)
    unknowns = velocity_constraint_arrays(system, work) if hidden else None
    for array in (work.dr, work.psi):
        array[1:] = spread * rng.normal(size=(len(array) - 1, 3))
    iterate(system, numbering, state, work, h, hidden=unknowns)
    return work
