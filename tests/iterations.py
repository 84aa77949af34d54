"""A Newton iteration of `em` at some place in the middle of a step: what tests of linear solvers solve."""

import numpy as np

from discretization.assembly.hidden_rows import add_hidden, begin_hidden_step, hidden_workspace
from discretization.assembly.step_equations import assemble, begin_step, move
from discretization.assembly.workspace import workspace


def iterating(built, numbering, h, rng, spread, hidden=False):
    """Workspace with the assembled matrix; frames are moved and turned by normal numbers of size `spread`."""
    system, state = built.system, built.state
    work = workspace(system, numbering)
    begin_step(system, numbering, state, work, h)
    unknowns = hidden_workspace(system, work) if hidden else None
    if hidden:
        begin_hidden_step(system, numbering, unknowns, state, work, h)
    for array in (work.dr, work.psi):
        array[1:] = spread * rng.normal(size=(len(array) - 1, 3))
    move(system, state, work)
    assert assemble(system, numbering, state, work, h, np.zeros((0, 3)), True) == 0
    if hidden:
        add_hidden(system, numbering, unknowns, state, work, h, True)
    return work
