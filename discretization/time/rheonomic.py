"""Evaluate driven (rheonomic) constraints g(q, t) = 0 in a step, and the work of their drives.

If a scheme enforces g at the end of a step and its discrete derivative in between, with parameters X0, X1 at both ends and
Xbar = (X0 + X1)/2 (`rigid.interactions.driven_constraints`),

    D g(Xbar) . (q1 - q0) = -(g(q0; dX) + g(q1; dX))/2,   dX = X1 - X0                                    (1)

so that the impulses of the constraints do the work lam . (g(q0; dX) + g(q1; dX))/2. This is the work of the drives, which
closes the balance of energy if the scheme conserves it. If G v = 0 is enforced as well, it becomes G v + g(q; dX/dt) = 0, and
along the motion A = gam . G W p with Xbar changes by gam . (g_v(1; Xbar) - g_v(0; Xbar)), which is work of the drives with the
opposite sign (2).

A driven frame has mass and coordinates, and is held by six driven constraints. The work that these do to move that mass is
not work on the model: T of the frame, p . v - v . M v/2, is excluded from the energy balance (3).

The rows of `Step.signal` after those of the nodes of a scheme belong to `Scheme.driven`, by default start and end of the
step; the last one is always the end.
"""

from typing import NamedTuple

from discretization.time.scheme import drives
from discretization.time.scratch_vectors import PerCoordinate, scratch
from rigid.charts.driven_constraints import (
    add_driven_pull,
    add_values,
    add_works,
    place,
    place_rates,
    place_sum,
)
from rigid.compilation.decorators import internal_kernel


class Inertia(NamedTuple):
    """Scratch vector of kinetic energies."""

    Mv: PerCoordinate


inertia = scratch(Inertia)


@internal_kernel
def start_of(S):
    """Return the row of the signals at the start, for schemes that use the two ends only."""
    return S.signal.shape[0] - 2


@internal_kernel
def end_of(S):
    """Return the row of the signals at the end."""
    return S.signal.shape[0] - 1


@internal_kernel
def set_mean_parameters(D, S):
    """Set the parameters of the driven constraints to Xbar."""
    if D.driven.rows.size > 0:
        place_sum(D, 0.5, S.signal[start_of(S)], 0.5, S.signal[end_of(S)], 0)


@internal_kernel
def set_start_parameters(D, S):
    """Set the parameters of the driven constraints to X0."""
    if D.driven.rows.size > 0:
        place(D, S.signal[start_of(S)])


@internal_kernel
def set_end_parameters(D, S):
    """Set the parameters of the driven constraints to X1."""
    if D.driven.rows.size > 0:
        place(D, S.signal[end_of(S)])


@internal_kernel
def set_node_parameters(D, S, node):
    """Set the parameters of the driven constraints to X at row `node` of the signals."""
    if D.driven.rows.size > 0:
        place(D, S.signal[node])


@internal_kernel
def end_constraints(fn, D, S, q1, out):
    """Compute out (m,) = g(q1; X1)."""
    set_end_parameters(D, S)
    fn.constraints(q1, D, out)


@internal_kernel
def add_explicit(D, S, node, q, out):
    """Add g(q; dX/dt) to out (m,), with dX/dt in row `node` of the signals; the parameters are left at X of that row."""
    if D.driven.rows.size > 0:
        place_rates(D, S.signal[node])
        add_values(D, q, 1.0, out)
        place(D, S.signal[node])


@internal_kernel
def add_explicit_at_end(D, S, q1, out):
    """Add g(q1; dX1/dt) to out (m,); the parameters are left at X1."""
    add_explicit(D, S, end_of(S), q1, out)


@internal_kernel
def add_explicit_pull(D, S, node, q, factor, gam, out):
    """Add factor times the gradient of gam . g(q; dX/dt) to out (n,), with dX/dt in row `node` of the signals.

    The parameters are left at X of that row.
    """
    if D.driven.rows.size > 0:
        place_rates(D, S.signal[node])
        add_driven_pull(D, q, factor, gam, out)
        place(D, S.signal[node])


@internal_kernel
def add_works_between(D, S, q1, lam, works):
    """Add the work (1) to works (drives,)."""
    place_sum(D, -1.0, S.signal[start_of(S)], 1.0, S.signal[end_of(S)], 0)
    add_works(D, S.q0, 0.5, lam, works)
    add_works(D, q1, 0.5, lam, works)


@drives
def drives_between(fn, D, S, W, x, q1, p1, lam, gam, works):
    """Add the work (1) to works (drives,)."""
    add_works_between(D, S, q1, lam, works)


@internal_kernel
def add_hidden_works(D, sign, gam, rate, works):
    """Add sign gam . g_v of the driven rows to works (drives,), a term of (2) with Xbar."""
    for k in range(D.driven.rows.size):
        row = D.driven.rows[k]
        works[row.drive] += sign * gam[row.row] * rate[row.row]


@internal_kernel
def add_kinetic(fn, D, W, sign, q, p, v, works):
    """Add sign times the kinetic energy T of the driven frames, (3), to works (drives,)."""
    if D.driven.frames.size == 0:
        return
    Mv = inertia(W, D).Mv
    fn.mass_product(q, v, D, Mv)
    for k in range(D.driven.frames.size):
        frame, T = D.driven.frames[k], 0j
        for i in range(frame.first, frame.last):
            T += p[i] * v[i] - 0.5 * v[i] * Mv[i]
        works[frame.drive] += sign * T
