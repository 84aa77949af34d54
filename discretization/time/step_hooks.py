"""Handle drives, counted angles, work and dissipation in a step of `em`, `em-ggl` and `em-d`.

`discretization.time.em.general_step` receives the compiled function as a pointer. It is compiled once for all models with the
same types, and not at all if a model has none of these.
"""

from __future__ import annotations

import functools
from typing import Any

from numba import typeof, types

from discretization.assembly.actuated_elements import work_of_actuations
from discretization.assembly.generic_assembly import load_counted_variables, store_counted_variables
from discretization.assembly.prescribed_motions import begin_drives, end_drives
from discretization.assembly.workspace import Workspace
from discretization.drives import count_drives
from discretization.relative_rotations import passed_rotation_limit
from discretization.system import System
from discretization.time.em import (
    BEGIN,
    account,
    apply_final_correction_to_ends,
    has_drives,
    remove_final_correction,
)
from discretization.time.newton import CONVERGED, FOLDED, argument_fingerprints, equations_of
from rigid.compilation.decorators import compiled, internal_kernel
from rigid.system import State


def _rest(part, system, numbering, hidden, state, work, h, values):
    """Process drives, counted angles and the energy account at the beginning or the end of a step, as `part` says.

    values: values of loads (l, 3) in this step, followed by the values of drives at its end. Return CONVERGED or FOLDED; the
    compiled function (`compiled`) returns RAISED if an exception was raised.
    """
    if part == BEGIN:
        if has_drives(work):
            begin_drives(system, hidden, state, work, h, values)
        load_counted_variables(numbering, state, work)
        return CONVERGED
    if passed_rotation_limit(state, work):
        return FOLDED
    if work.accounts:
        _account(system, numbering, hidden, state, work, h)
    store_counted_variables(state, work)
    if has_drives(work):
        end_drives(system, state, work, values)
    return CONVERGED


@internal_kernel
def _account(system, numbering, hidden, state, work, h):
    """Add work and dissipation of the step to the totals; if there are losses, with the last correction (not in `em-d`)."""
    corrects = work.loses and work.dissipation.law.size == 0
    if corrects:
        apply_final_correction_to_ends(system, numbering, state, work)
    account(system, numbering, hidden, state, work, h)
    state.totals[0] += work_of_actuations(work)
    if corrects:
        remove_final_correction(work)


def _nothing(part, system, numbering, hidden, state, work, h, values):
    """Do nothing: for models of rods without losses, bodies and joints."""
    return CONVERGED


def step_kernels(
    system: System, numbering: Any, hidden: Any, state: State, work: Workspace, equations: Any = None
) -> tuple[Any, Any]:
    """Return the compiled equations and the compiled remaining part of the step for the march of such a model.

    equations: those of a scheme that replaces those of `em` (`equations_of`), or None.
    """
    plain = not (len(system.others.kind) or count_drives(system) or work.accounts)
    models, which = (system, numbering, hidden, state, work), _nothing if plain else _rest
    prints = argument_fingerprints(*models)
    known = which, *prints
    if known not in _known:
        _known[known] = _compiled(which, *map(typeof, models))
    return equations_of(*models, equations, prints), _known[known]


_known: dict[Any, Any] = {}


@functools.cache
def _compiled(function: Any, *models: Any) -> Any:
    array_type = types.Array(types.float64, 2, "C")
    return compiled(types.int64(types.int64, *models, types.float64, array_type))(function)
