"""Driven constraints g(q, t) = 0 in a step, and the work of their drives.

Where a scheme holds g at the end of a step and its discrete derivative in between, with numbers X0, X1 at both ends and
Xbar = (X0 + X1)/2 (`rigid.interactions.driven`),

    D g(Xbar) . (q1 - q0) = -(g(q0; dX) + g(q1; dX))/2,   dX = X1 - X0                                    (1)

so that the impulses of the constraints do the work lam . (g(q0; dX) + g(q1; dX))/2: that of the drives, which closes the
balance of energy where the scheme keeps it. Where G v = 0 is held as well, it is G v + g(q; dX/dt) = 0, and along the motion
A = gam . G W p with Xbar changes by gam . (g_v(1; Xbar) - g_v(0; Xbar)), which is work of the drives with the opposite sign (2).

A driven frame is one with mass and coordinates, held by six driven constraints. What these do besides to move that mass is
no work on the model: T of the frame, p . v - v . M v/2, is left out of the books (3).

The rows of `Step.signal` behind the nodes of a scheme are those of `Scheme.driven`, start and end by default; the last is always
the end.
"""

from typing import NamedTuple

from discretization.time.scheme import drives
from discretization.time.scratch import PerCoordinate, scratch
from rigid.charts.drives import add_driven_pull, add_values, add_works, place, place_rates, place_sum
from rigid.compilation.decorators import inner_kernel


class Inertia(NamedTuple):
    """Scratch of kinetic energies."""

    Mv: PerCoordinate


inertia = scratch(Inertia)


@inner_kernel
def start_of(S):
    """Row of the signals at the start, of schemes that have the two ends alone."""
    return S.signal.shape[0] - 2


@inner_kernel
def end_of(S):
    """Row of the signals at the end."""
    return S.signal.shape[0] - 1


@inner_kernel
def place_mean(D, S):
    """Xbar."""
    if D.driven.rows.size > 0:
        place_sum(D, 0.5, S.signal[start_of(S)], 0.5, S.signal[end_of(S)], 0)


@inner_kernel
def place_start(D, S):
    """X0."""
    if D.driven.rows.size > 0:
        place(D, S.signal[start_of(S)])


@inner_kernel
def place_end(D, S):
    """X1."""
    if D.driven.rows.size > 0:
        place(D, S.signal[end_of(S)])


@inner_kernel
def place_node(D, S, node):
    """X at a row of the signals."""
    if D.driven.rows.size > 0:
        place(D, S.signal[node])


@inner_kernel
def end_constraints(fn, D, S, q1, out):
    """out = g(q1; X1)."""
    place_end(D, S)
    fn.constraints(q1, D, out)


@inner_kernel
def add_explicit(D, S, node, q, out):
    """out (m,) += g(q; dX/dt), with dX/dt in row `node` of the signals; its X is in place then."""
    if D.driven.rows.size > 0:
        place_rates(D, S.signal[node])
        add_values(D, q, 1.0, out)
        place(D, S.signal[node])


@inner_kernel
def add_explicit_at_end(D, S, q1, out):
    """out (m,) += g(q1; dX1/dt)."""
    add_explicit(D, S, end_of(S), q1, out)


@inner_kernel
def add_explicit_pull(D, S, node, q, factor, gam, out):
    """out (n,) += factor times the gradient of gam . g(q; dX/dt), with dX/dt in row `node` of the signals."""
    if D.driven.rows.size > 0:
        place_rates(D, S.signal[node])
        add_driven_pull(D, q, factor, gam, out)
        place(D, S.signal[node])


@inner_kernel
def add_works_between(D, S, q1, lam, works):
    """works += (1)."""
    place_sum(D, -1.0, S.signal[start_of(S)], 1.0, S.signal[end_of(S)], 0)
    add_works(D, S.q0, 0.5, lam, works)
    add_works(D, q1, 0.5, lam, works)


@drives
def drives_between(fn, D, S, W, x, q1, p1, lam, gam, works):
    """(1)."""
    add_works_between(D, S, q1, lam, works)


@inner_kernel
def add_hidden_works(D, sign, gam, rate, works):
    """works += sign gam . g_v of the driven rows, of (2) with Xbar."""
    for k in range(D.driven.rows.size):
        own = D.driven.rows[k]
        works[own.drive] += sign * gam[own.row] * rate[own.row]


@inner_kernel
def add_kinetic(fn, D, W, sign, q, p, v, works):
    """(3): works += sign times T of the driven frames."""
    if D.driven.frames.size == 0:
        return
    Mv = inertia(W, D).Mv
    fn.mass_product(q, v, D, Mv)
    for k in range(D.driven.frames.size):
        own, T = D.driven.frames[k], 0j
        for i in range(own.first, own.last):
            T += p[i] * v[i] - 0.5 * v[i] * Mv[i]
        works[own.drive] += sign * T
