"""Measure symplecticity: transport tangent vectors of the constraint manifold by the derivative of the step.

A step solves r(x, z0) = 0 and gives z1 = u(x, z0). Along a tangent vector dz0,

    dx = -(dr/dx)^-1 (dr/dz) dz0,    dz1 = (du/dx) dx + (du/dz) dz0,

with all derivatives by complex steps. The two-form omega(a, b) = dq_a . dp_b - dq_b . dp_a is compared before and after.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from discretization.time import implicit, implicit_march
from discretization.time.integrate import check_compatibility, compiled_method, signals_at, solver_for
from discretization.time.scheme import RESIDUAL, STEP, WORK, Scheme, Step, Work
from rigid.compilation.decorators import explicit_kernel
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.mechanics.mechanical_system import C1, DATA, F2, FUNCTIONS, MechanicalSystem, call
from rigid.system import Floats


@explicit_kernel(types.void(RESIDUAL, FUNCTIONS, DATA, STEP, WORK, C1, C1, F2))
def all_columns(residual, fn, D, S, W, x, r, matrix):
    """Compute matrix = dr/dx by complex steps, column by column, regardless of its sparsity pattern."""
    for j in range(x.size):
        x[j] += 1j * COMPLEX_STEP
        residual(fn, D, S, W, x, r)
        x[j] = x[j].real
        for i in range(r.size):
            matrix[i, j] = r[i].imag / COMPLEX_STEP


def tangent_vectors(system: MechanicalSystem, count: int, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Return random dq, dp, dv (count, n) at the initial state, tangent to g = 0, dg/dt = 0, p = M v."""
    rng = np.random.default_rng(seed)
    n, m = system.n, system.m
    q, v = system.q0, system.v0
    system.drive_to(system.drives)
    G = system.jacobian(q)
    onto = np.eye(n) - np.linalg.pinv(G) @ G if m else np.eye(n)
    dq = rng.standard_normal((count, n)) @ onto.T
    dv, dp = np.zeros((count, n)), np.zeros((count, n))
    for k in range(count):
        z = q + 1j * COMPLEX_STEP * dq[k]
        free = onto @ rng.standard_normal(n)
        if m:
            bent = _complex(system, "jacobian", (m, n), z).imag / COMPLEX_STEP @ v
            # the explicit rate in dg/dt, the part without motion, varies with q as well
            if len(system.drives):
                rows = system.data.driven.rows.row
                system.drive_to(system.drives[:, 4:])
                bent[rows] += _complex(system, "constraints", (m,), z).imag[rows] / COMPLEX_STEP
                system.drive_to(system.drives)
            free -= np.linalg.pinv(G) @ bent
        dv[k] = free
        dp[k] = (_complex(system, "mass", (n, n), z).imag / COMPLEX_STEP) @ v + system.mass(q) @ free
    return dq, dp, dv


def two_form(dq: Floats, dp: Floats) -> Floats:
    """Return omega(a, b) of all pairs of tangent vectors, (count, count)."""
    return dq @ dp.T - dp @ dq.T


def symplectic_defect(
    system: MechanicalSystem, scheme: Scheme, h: float, steps: int = 3, count: int = 4
) -> float:
    """Return the largest change of the two-form over `steps` steps, relative to its largest value."""
    check_compatibility(scheme, system)
    scheme, marched = scheme.fitted(system)
    dq, dp, dv = tangent_vectors(system, count)
    before = two_form(dq, dp)
    q, v = system.q0.copy(), system.v0.copy()
    p = system.momentum(q, v)
    t, arrays = 0.0, solver_for(scheme, marched)
    for _ in range(steps):
        for fraction, signal in zip(
            scheme.fractions, signals_at(marched, scheme, np.array([t]), h)[0], strict=True
        ):
            single_step = OneStep(marched, scheme, fraction * h, signal, arrays)
            q, p, v, dq, dp, dv = _carry(single_step, (q, p, v), (dq, dp, dv))
        t += h
    system.drive_to(system.drives)
    return float(np.abs(two_form(dq, dp) - before).max() / np.abs(before).max())


def newton_matrix(system: MechanicalSystem, scheme: Scheme, h: float) -> Floats:
    """Return Newton's matrix dr/dx at the solution of the first step."""
    scheme, marched = scheme.fitted(system)
    q, v = system.q0, system.v0
    single_step = OneStep(marched, scheme, h, signals_at(marched, scheme, np.zeros(1), h)[0, 0])
    x = single_step.solve(q, system.momentum(q, v), v)
    return single_step.derivative(x, (q, system.momentum(q, v), v))


class OneStep:
    """One step as a function of the unknowns and of the state before it."""

    def __init__(
        self,
        system: MechanicalSystem,
        scheme: Scheme,
        h: float,
        signal: Floats,
        arrays: tuple[implicit.Solver, Work] | None = None,
    ):
        """Create the step; arrays: result of `solver_for`, if several steps share it."""
        self.system, self.scheme, self.h = system, scheme, h
        self.signal = np.ascontiguousarray(signal, float)
        self.solver, self.work = arrays or solver_for(scheme, system)

    def solve(self, q: Floats, p: Floats, v: Floats) -> Floats:
        """Return the unknowns of the step from a state, solved by the time loop itself."""
        system, n, m = self.system, self.system.n, self.system.m
        sizes = n, n, n, m, m, len(system.books)
        q_row, p_row, v_row, lam, gam, totals = (np.zeros((2, k)) for k in sizes)
        rows = implicit_march.Rows(q_row, p_row, v_row, lam, gam, totals, np.zeros(2, np.int64))
        rows.q[0], rows.p[0], rows.v[0], rows.totals[0] = q, p, v, system.books
        substeps = implicit_march.Substeps(np.array([self.h]), self.signal[None, None], 0, implicit.ATTEMPTS)
        progress = implicit_march.march(
            compiled_method(self.scheme),
            system.functions,
            system.data,
            self.work,
            self.solver,
            substeps,
            rows,
            implicit_march.ends_for(system),
        )
        assert progress.status == implicit.SOLVED
        return self.solver.x.real.copy()

    def residual(self, x: Any, state: tuple[Any, ...]) -> Any:
        """Return the residual r at complex unknowns and state."""
        out = np.zeros(len(x), complex)
        self._call(self.scheme.residual, x, state, (out,))
        return out

    def update(self, x: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return (q1, p1, v1) at complex unknowns and state."""
        n, m = self.system.n, self.system.m
        out = tuple(np.zeros(k, complex) for k in (n, n, n, m, m))
        self._call(self.scheme.update, x, state, out)
        return out[:3]

    def _call(self, function: Any, x: Any, state: tuple[Any, ...], out: tuple[Any, ...]) -> None:
        system = self.system
        known = (system.functions, system.data, self._step(state), self.work)
        call(function, (*known, np.ascontiguousarray(x, complex), *out))

    def _step(self, state: tuple[Any, ...]) -> Step:
        q, p, v = (np.ascontiguousarray(part, complex) for part in state)
        return Step(self.h, q, p, v, self.signal, self.scheme.options)

    def derivative(self, x: Floats, state: tuple[Floats, ...]) -> Floats:
        """Return dr/dx, Newton's matrix."""
        system, matrix = self.system, np.zeros((len(x), len(x)))
        known = (system.functions, system.data, self._step(state), self.work)
        all_columns(self.scheme.residual, *known, x.astype(complex), np.zeros(len(x), complex), matrix)
        return matrix


def _carry(
    single_step: OneStep, state: tuple[Floats, Floats, Floats], tangents: tuple[Floats, Floats, Floats]
) -> tuple[Floats, ...]:
    """Return state and tangent vectors after one step."""
    x = single_step.solve(*state)
    inverse = np.linalg.inv(single_step.derivative(x, state))
    new_state = tuple(part.real for part in single_step.update(x, state))
    carried: tuple[list[Floats], ...] = ([], [], [])
    for d in zip(*tangents, strict=True):
        moved = tuple(part + 1j * COMPLEX_STEP * change for part, change in zip(state, d, strict=True))
        dx = -inverse @ (single_step.residual(x, moved).imag / COMPLEX_STEP)
        for rows, part in zip(carried, single_step.update(x + 1j * COMPLEX_STEP * dx, moved), strict=True):
            rows.append(part.imag / COMPLEX_STEP)
    return (*new_state, *(np.array(rows) for rows in carried))


def _complex(system: MechanicalSystem, name: str, shape: tuple[int, ...], q: Floats) -> Floats:
    out = np.zeros(shape, complex)
    call(getattr(system.functions, name), (np.ascontiguousarray(q, complex), system.data, out))
    return out
