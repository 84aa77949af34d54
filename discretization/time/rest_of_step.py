"""Handle drives, counted angles, work and dissipation in a step of `em`, `em-ggl` and `em-d`.

`discretization.time.em.general_step` receives the compiled function as a pointer. It is compiled once for all models with the
same types, and not at all if a model has none of these.
"""

from __future__ import annotations

import functools
from typing import Any

from numba import typeof, types

from discretization.assembly.by_duals import begin_counted, end_counted
from discretization.assembly.given_motions import begin_drives, end_drives
from discretization.assembly.workspace import Workspace
from discretization.drives import count_drives
from discretization.system import System
from discretization.time.em import BEGIN, account, correct_ends, has_drives, uncorrect
from discretization.time.newton import CONVERGED, FOLDED, equations_of, prints_of
from discretization.turning import turned_over
from rigid.compilation.decorators import compiled, inner_kernel
from rigid.system import State


def _rest(part, system, numbering, hidden, state, work, h, given):
    """Process drives, counted angles and the energy account at the beginning or the end of a step, as `part` says.

    given: values of loads (l, 3) in this step, followed by the values of drives at its end. Return CONVERGED or FOLDED; the
    compiled function (`compiled`) returns RAISED if an exception was raised.
    """
    if part == BEGIN:
        if has_drives(work):
            begin_drives(system, hidden, state, work, h, given)
        begin_counted(numbering, state, work)
        return CONVERGED
    if turned_over(state, work):
        return FOLDED
    if work.accounts:
        _account(system, numbering, hidden, state, work, h)
    end_counted(state, work)
    if has_drives(work):
        end_drives(system, state, work, given)
    return CONVERGED


@inner_kernel
def _account(system, numbering, hidden, state, work, h):
    """Add work and dissipation of the step to the totals; if there are losses, with the last correction (not in `em-d`)."""
    corrects = work.loses and work.dissipation.law.size == 0
    if corrects:
        correct_ends(system, numbering, state, work)
    account(system, numbering, hidden, state, work, h)
    if corrects:
        uncorrect(work)


def _nothing(part, system, numbering, hidden, state, work, h, given):
    """Do nothing: for models of rods without losses, bodies and joints."""
    return CONVERGED


def kernels_of(
    system: System, numbering: Any, hidden: Any, state: State, work: Workspace, equations: Any = None
) -> tuple[Any, Any]:
    """Return the compiled equations and the compiled remaining part of the step for the march of such a model.

    equations: those of a scheme that replaces those of `em` (`equations_of`), or None.
    """
    plain = not (len(system.others.kind) or count_drives(system) or work.accounts)
    models, which = (system, numbering, hidden, state, work), _nothing if plain else _rest
    prints = prints_of(*models)
    known = which, *prints
    if known not in _known:
        _known[known] = _compiled(which, *map(typeof, models))
    return equations_of(*models, equations, prints), _known[known]


_known: dict[Any, Any] = {}


@functools.cache
def _compiled(rest: Any, *models: Any) -> Any:
    given = types.Array(types.float64, 2, "C")
    return compiled(types.int64(types.int64, *models, types.float64, given))(rest)
