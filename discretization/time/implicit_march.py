"""March implicit one-step schemes of mechanical systems from a state over many steps; compiled once for all schemes."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from discretization.time.implicit import NOT_FINITE, SOLVED, SOLVER, damped_newton, guess, newton
from discretization.time.rheonomic import add_kinetic
from discretization.time.scheme import ACCOUNT, DRIVES, RESIDUAL, UPDATE, WORK, Step
from rigid.charts.internal_variables import begin_internal_steps
from rigid.compilation.decorators import explicit_kernel, internal_kernel
from rigid.mechanics.mechanical_system import C1, CONDENSED, DATA, F1, F2, FUNCTIONS, I1, MechanicalSystem
from rigid.tuple_references import Reference, by_reference, reference_to


@by_reference
class Method(NamedTuple):
    """Compiled functions of a scheme, and its parameters."""

    residual: Any
    update: Any
    account: Any
    drives: Any
    options: Any  # (k,)


@by_reference
class Substeps(NamedTuple):
    """Lengths of the substeps of every step, and the time signals in them."""

    lengths: Any  # (substeps,) s
    signals: Any  # (steps, substeps, nodes, s)
    accounts: int  # 1: there is work or dissipation to account for
    attempts: int  # number of damped restarts if Newton's method fails


@by_reference
class Rows(NamedTuple):
    """States at the ends of the steps, as in `trajectory.Trajectory`; row 0 is the state at the start of the march."""

    q: Any  # (N + 1, n)
    p: Any
    v: Any
    lam: Any  # (N + 1, m)
    gam: Any
    totals: Any  # (N + 1, :) work, dissipation and the rest of `MechanicalSystem.books`
    iterations: Any  # (N + 1,)


@by_reference
class SubstepEnds(NamedTuple):
    """Start and end of a substep."""

    q0: Any  # (n,) complex
    p0: Any
    v0: Any
    q1: Any
    p1: Any
    v1: Any
    lam: Any  # (m,) multipliers of the substep before, then of this one
    gam: Any
    totals: Any  # one row of `Rows.totals`
    works: Any  # (drives,) work of the drives in one substep, J


class Outcome(NamedTuple):
    """Result of a march."""

    status: int
    steps: int  # number of completed whole steps
    norm: float  # |r| in the substep that failed
    iterations: int  # iterations in that substep without damping
    damped: int  # iterations in that substep with damping


METHOD = Reference(types.NamedTuple([RESIDUAL, UPDATE, ACCOUNT, DRIVES, F1], Method))
SUBSTEPS = Reference(types.NamedTuple([F1, types.float64[:, :, :, ::1], types.int64, types.int64], Substeps))
ROWS = Reference(types.NamedTuple([F2, F2, F2, F2, F2, F2, I1], Rows))
ENDS = Reference(types.NamedUniTuple(C1, 10, SubstepEnds))
OUTCOME = types.NamedTuple([types.int64, types.int64, types.float64, types.int64, types.int64], Outcome)


def ends_for(system: MechanicalSystem) -> SubstepEnds:
    """Allocate the arrays for a march."""
    n, m = system.n, system.m
    sizes = n, n, n, n, n, n, m, m, len(system.books), system.n_drives
    return SubstepEnds(*(np.zeros(size, complex) for size in sizes))


@internal_kernel
def solve_step(method, fn, D, S, W, solver, lam, known, attempts):
    """Solve a substep, with the unknowns in the solver; return status, iterations without and with damping, and |r|."""
    guess(D, S, solver, lam, float(solver.advanced))
    status, count, norm = newton(method.residual, fn, D, S, W, solver, known)
    damped = 0
    for attempt in range(attempts):
        if status == SOLVED:
            break
        # large steps: damped Newton from the start, halfway to the advanced guess, from that guess and beyond it
        guess(D, S, solver, lam, 0.5 * attempt)
        status, iterations, norm = damped_newton(method.residual, fn, D, S, W, solver)
        damped += iterations
    return status, count, damped, norm


@internal_kernel
def load_row(rows, step, ends):
    """Read the start of a step from its row."""
    for i in range(ends.q0.size):
        ends.q0[i], ends.p0[i], ends.v0[i] = rows.q[step, i], rows.p[step, i], rows.v[step, i]
    for k in range(ends.lam.size):
        ends.lam[k], ends.gam[k] = rows.lam[step, k], rows.gam[step, k]
    for k in range(ends.totals.size):
        ends.totals[k] = rows.totals[step, k]


@internal_kernel
def store_row(ends, rows, step):
    """Write the end of the last substep to the row of a step."""
    for i in range(ends.q0.size):
        rows.q[step, i], rows.p[step, i] = ends.q0[i].real, ends.p0[i].real
        rows.v[step, i] = ends.v0[i].real
    for k in range(ends.lam.size):
        rows.lam[step, k], rows.gam[step, k] = ends.lam[k].real, ends.gam[k].real
    for k in range(ends.totals.size):
        rows.totals[step, k] = ends.totals[k].real


@internal_kernel
def account_drives(method, fn, D, S, W, x, ends):
    """Compute the work of the drives in a substep; add it to the work of each drive and to the work of the model."""
    for k in range(ends.works.size):
        ends.works[k] = 0.0
    add_kinetic(fn, D, W, 1.0, ends.q0, ends.p0, ends.v0, ends.works)
    method.drives(fn, D, S, W, x, ends.q1, ends.p1, ends.lam, ends.gam, ends.works)
    add_kinetic(fn, D, W, -1.0, ends.q1, ends.p1, ends.v1, ends.works)
    for k in range(ends.works.size):
        ends.totals[0] += ends.works[k]
        ends.totals[2 + k] += ends.works[k]


@internal_kernel
def are_finite(ends):
    """Return whether all numbers at the end of a substep are finite: functions that raised an exception leave NaN there."""
    total = 0.0
    for i in range(ends.q1.size):
        total += abs(ends.q1[i].real) + abs(ends.p1[i].real) + abs(ends.v1[i].real)
    for k in range(ends.lam.size):
        total += abs(ends.lam[k].real) + abs(ends.gam[k].real)
    for k in range(ends.totals.size):
        total += abs(ends.totals[k].real)
    return total < np.inf


@explicit_kernel(OUTCOME(METHOD, FUNCTIONS, DATA, WORK, SOLVER, SUBSTEPS, ROWS, ENDS))
def march(method, fn, D, W, solver, substeps, rows, ends):
    """Take all steps after row 0 and write them to the rows 1, 2 ...; `ends` is scratch."""
    last_h = 0.0
    for step in range(rows.q.shape[0] - 1):
        load_row(rows, step, ends)
        for part in range(substeps.lengths.size):
            h = substeps.lengths[part]
            S = reference_to(Step(h, ends.q0, ends.p0, ends.v0, substeps.signals[step, part], method.options))
            if D.flags & CONDENSED:
                begin_internal_steps(D, h, ends.totals)
            status, count, damped, norm = solve_step(
                method, fn, D, S, W, solver, ends.lam, h == last_h, substeps.attempts
            )
            last_h = h
            rows.iterations[step + 1] += count + damped
            if status != SOLVED:
                return Outcome(status, step, norm, count, damped)
            method.update(fn, D, S, W, solver.x, ends.q1, ends.p1, ends.v1, ends.lam, ends.gam)
            if substeps.accounts:
                method.account(fn, D, S, W, solver.x, ends.q1, ends.v1, ends.totals)
                if D.driven.drives > 0:
                    account_drives(method, fn, D, S, W, solver.x, ends)
            if not are_finite(ends):
                return Outcome(NOT_FINITE, step, norm, count, damped)
            for i in range(D.n):
                ends.q0[i], ends.p0[i], ends.v0[i] = ends.q1[i].real, ends.p1[i].real, ends.v1[i].real
        store_row(ends, rows, step + 1)
    return Outcome(SOLVED, rows.q.shape[0] - 1, 0.0, 0, 0)
