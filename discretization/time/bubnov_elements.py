"""Evaluate the integrals of BG(k) over its elements, 001 (24), and their complex-step derivatives, element by element.

    N_I (p' + h (H_q + G^T gamma + Psi_q^T mu)),   N_I (q' - h (H_p + Psi_p^T mu))                       (1), (2)
    h M_J g(q),   h M_J Psi(q, p)                                                                        (3), (4)

If q is prescribed at a node, (3) is replaced by d^2 g/dt^2 there: see `discretization.time.bubnov`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types

from discretization.time.discrete_derivatives import (
    constraint_rate,
    form_gradient,
    pull_back,
    velocity_of,
)
from discretization.time.forcing import forces_at
from discretization.time.galerkin import (
    Point,
    account_point,
    hidden_rate,
    interpolate,
    point,
    sum_multipliers,
    weak_forms,
)
from discretization.time.scheme import WORK
from discretization.time.scratch_vectors import PerConstraint, PerCoordinate, scratch
from rigid.compilation.decorators import explicit_kernel, internal_kernel
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.mechanics.mechanical_system import C1, C2, DATA, F1, F2, FUNCTIONS
from rigid.tuple_references import Reference, by_reference


@by_reference
class Elements(NamedTuple):
    """Length, degrees and shape functions of the elements, and the time signals at their Gauss points."""

    h: float
    k: int  # polynomial degree of q and p
    tests: int  # number of multiplier functions of an element
    options: Any  # table of shape functions of `shape_table`
    signals: Any  # (N, points, s) time signals


class Vectors(NamedTuple):
    """Scratch vectors of the elements and of d^2 g/dt^2."""

    v: PerCoordinate  # W p
    g: PerConstraint
    Psi: PerConstraint  # G v
    dp: PerCoordinate  # dp/dt
    V_q: PerCoordinate
    F: PerCoordinate
    pull: PerCoordinate  # G^T gam


vectors = scratch(Vectors, above=(Point,))
F3 = types.float64[:, :, ::1]
ELEMENTS = Reference(types.NamedTuple([types.float64, types.int64, types.int64, F1, F3], Elements))


@internal_kernel
def element_residual(fn, D, W, E, e, x, r):
    """Evaluate (1)-(4) of element e; x holds (q, p) at its k + 1 nodes, then gamma and mu of its multiplier functions."""
    n, m, z, w = D.n, D.m, point(W, D), vectors(W, D)
    k, tests, options = E.k, E.tests, E.options
    points = int(options[1])
    for i in range(r.size):
        r[i] = 0.0
    multipliers = 2 * n * (k + 1)
    stride = 3 + 2 * k + tests
    for place in range(points):
        at = 2 + place * stride
        weight = options[at]
        interpolate(k, options, at + 1, x[:n], x, 2 * n, 2 * n, z.q, z.dq)
        interpolate(k, options, at + 1, x[n : 2 * n], x, 3 * n, 2 * n, z.p, z.dp)
        M = at + 3 + 2 * k
        sum_multipliers(options, M, tests, x, multipliers, m, z.gam)
        sum_multipliers(options, M, tests, x, multipliers + tests * m, m, z.mu)
        weak_forms(fn, D, W, E.h, E.signals[e, place])
        velocity_of(fn, D, z.q, z.p, W, w.v)
        fn.constraints(z.q, D, w.g)
        constraint_rate(fn, D, z.q, w.v, W, w.Psi)
        for I in range(k + 1):
            factor = weight * options[at + 1 + I]
            for i in range(n):
                r[2 * n * I + i] += factor * z.e_p[i]  # (1)
                r[2 * n * I + n + i] += factor * z.e_q[i]  # (2)
        for J in range(tests):
            factor = weight * E.h * options[M + J]
            for c in range(m):
                r[multipliers + J * m + c] += factor * w.g[c]  # (3)
                r[multipliers + (tests + J) * m + c] += factor * w.Psi[c]  # (4)


@explicit_kernel(types.void(FUNCTIONS, DATA, WORK, ELEMENTS, C2, C1, F2, F3))
def evaluate_elements(fn, D, W, E, x, r, residuals, matrices):
    """Compute residuals (N, l) and their complex-step derivatives (N, l, l) at the unknowns x (N, l) of all elements."""
    for e in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[e, j] += 1j * COMPLEX_STEP
            element_residual(fn, D, W, E, e, x[e], r)
            x[e, j] = x[e, j].real
            for i in range(r.size):
                matrices[e, i, j] = r[i].imag / COMPLEX_STEP
        for i in range(r.size):
            residuals[e, i] = r[i].real


@internal_kernel
def acceleration_constraint(fn, D, W, signal, q, p, gam, out):
    """Compute out (m,) = d^2 g/dt^2 = Psi_q H_p - Psi_p (H_q - F + R + G^T gamma)."""
    w = vectors(W, D)
    velocity_of(fn, D, q, p, W, w.v)
    form_gradient(fn, D, False, q, p, p, W, w.dp)
    fn.gradient(q, D, w.V_q)
    forces_at(fn, D, q, w.v, signal, W, w.F)
    pull_back(fn, D, q, gam, W, w.pull)
    for i in range(D.n):
        w.dp[i] = w.F[i] - 0.5 * w.dp[i] - w.V_q[i] - w.pull[i]
    hidden_rate(fn, D, W, q, w.v, p, w.dp, out)


@explicit_kernel(types.void(FUNCTIONS, DATA, WORK, F2, C2, C1, F2, F3))
def evaluate_accelerations(fn, D, W, signals, z, out, values, slopes):
    """Compute d^2 g/dt^2 (N, m) at z = (q, p, gamma) (N, 2n + m) of some nodes, and its complex-step derivatives.

    `values` receives d^2 g/dt^2, `slopes` (N, m, 2n + m) the derivatives.
    """
    n = D.n
    for node in range(z.shape[0]):
        for j in range(z.shape[1]):
            z[node, j] += 1j * COMPLEX_STEP
            q, p, gam = z[node, :n], z[node, n : 2 * n], z[node, 2 * n :]
            acceleration_constraint(fn, D, W, signals[node], q, p, gam, out)
            z[node, j] = z[node, j].real
            for i in range(out.size):
                slopes[node, i, j] = out[i].imag / COMPLEX_STEP
        for i in range(out.size):
            values[node, i] = out[i].real


@explicit_kernel(types.void(FUNCTIONS, DATA, WORK, ELEMENTS, C2, C2))
def account_elements(fn, D, W, E, x, totals):
    """Add work and dissipation of all elements at the unknowns x (N, l) to totals (N, 2), J."""
    n, z, options = D.n, point(W, D), E.options
    points = int(options[1])
    stride = 3 + 2 * E.k + E.tests
    for e in range(x.shape[0]):
        for place in range(points):
            at = 2 + place * stride
            interpolate(E.k, options, at + 1, x[e, :n], x[e], 2 * n, 2 * n, z.q, z.dq)
            account_point(fn, D, W, E.h, options[at], E.signals[e, place], z.q, z.dq, totals[e])
