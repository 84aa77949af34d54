"""BG(k): the global Bubnov-Galerkin method of 001 sec. 3.2, for initial and for boundary values.

z = (q, p) and its test functions are continuous and piecewise polynomial of degree k over all N elements; so are
the multipliers (continuous), or they are of degree k - 1 and discontinuous. All elements are solved at once:

    sum over elements, Gauss points:  N_I (p' + h (H_q + G^T gamma + Psi_q^T mu)) = 0   test delta q_I      (1)
                                      N_I (q' - h (H_p + Psi_p^T mu)) = 0               test delta p_I      (2)
                                      h M_J g(q) = 0,   h M_J Psi(q, p) = 0             tests of multipliers (3), (4)

Where q or p of a node is prescribed its test function vanishes, and the prescribed value takes the place of the
equation. With continuous multipliers g is then fulfilled at that node already: its equation is replaced by d^2 g/dt^2 = 0
there, which fixes gamma, and where p is prescribed that of Psi by mu = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from scipy import sparse
from scipy.sparse.linalg import splu

from discretization.time.dense import multiply, multiply_transposed
from discretization.time.discrete_derivatives import form_gradient, velocity_of
from discretization.time.galerkin import hidden_rate, interpolate, shape_table, sum_multipliers, weak_forms
from discretization.time.integrate import Trajectory, check_fit, integrate
from discretization.time.quadrature import gauss
from discretization.time.scheme import ROWS, WORK, Scheme, Work
from rigid.compilation import explicit_kernel, small_kernel
from rigid.errors import ConvergenceError, ModelError
from rigid.mechanical import C1, C2, DATA, F1, F2, FUNCTIONS, MechanicalSystem
from rigid.system import Floats, Ints

_EPS = 1e-60
_LEAST_DAMPING = 1e-3
_NEAR = 1e-5  # corrections below which round-off may decide which one is smaller


@small_kernel
def element_residual(fn, D, W, h, k, tests, options, signals, x, r):
    """(1)-(4) of one element; x: (q, p) at its k + 1 nodes, then gamma and mu of its multiplier functions."""
    n, m = D.n, D.m
    points = int(options[1])
    q, dq, p, dp = W.vector[10, :n], W.vector[11, :n], W.vector[12, :n], W.vector[13, :n]
    gam, mu, e_q, e_p = W.vector[14, :m], W.vector[15, :m], W.vector[26, :n], W.vector[27, :n]
    g, psi, v = W.vector[24, :m], W.vector[25, :m], W.vector[28, :n]
    for i in range(r.size):
        r[i] = 0.0
    multipliers = 2 * n * (k + 1)
    stride = 3 + 2 * k + tests
    for point in range(points):
        at = 2 + point * stride
        weight = options[at]
        interpolate(k, options, at + 1, x[:n], x, 2 * n, 2 * n, q, dq)
        interpolate(k, options, at + 1, x[n : 2 * n], x, 3 * n, 2 * n, p, dp)
        M = at + 3 + 2 * k
        sum_multipliers(options, M, tests, x, multipliers, m, gam)
        sum_multipliers(options, M, tests, x, multipliers + tests * m, m, mu)
        weak_forms(fn, D, W, h, signals[point], q, dq, p, dp, gam, mu, e_q, e_p)
        velocity_of(fn, D, q, p, W, v)
        fn.constraints(q, D, g)
        multiply(W.jacobian, v, psi)
        for I in range(k + 1):
            factor = weight * options[at + 1 + I]
            for i in range(n):
                r[2 * n * I + i] += factor * e_p[i]  # (1)
                r[2 * n * I + n + i] += factor * e_q[i]  # (2)
        for J in range(tests):
            factor = weight * h * options[M + J]
            for c in range(m):
                r[multipliers + J * m + c] += factor * g[c]  # (3)
                r[multipliers + (tests + J) * m + c] += factor * psi[c]  # (4)


@explicit_kernel(
    types.void(FUNCTIONS, DATA, WORK, types.float64, types.int64, types.int64, F1, types.float64[:, :, ::1],
               C2, C1, F2, types.float64[:, :, ::1])
)  # fmt: skip
def evaluate_elements(fn, D, W, h, k, tests, options, signals, x, r, residuals, matrices):
    """Residuals (N, l) and their complex-step derivatives (N, l, l) at the unknowns x (N, l) of all elements."""
    for e in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[e, j] += 1j * _EPS
            element_residual(fn, D, W, h, k, tests, options, signals[e], x[e], r)
            x[e, j] = x[e, j].real
            for i in range(r.size):
                matrices[e, i, j] = r[i].imag / _EPS
        for i in range(r.size):
            residuals[e, i] = r[i].real


@explicit_kernel(types.void(FUNCTIONS, DATA, WORK, F1, C1, C1, C1, C1))
def acceleration_constraint(fn, D, W, signal, q, p, gam, out):
    """out = d^2 g/dt^2 = Psi_q H_p - Psi_p (H_q - F + G^T gamma)."""
    n = D.n
    dq, dp, V_q, F, pull = (
        W.vector[10, :n],
        W.vector[11, :n],
        W.vector[12, :n],
        W.vector[13, :n],
        W.vector[14, :n],
    )
    velocity_of(fn, D, q, p, W, dq)
    form_gradient(fn, D, False, q, p, p, W, dp)
    fn.gradient(q, D, V_q)
    fn.force(q, signal, D, F)
    fn.jacobian(q, D, W.jacobian)
    multiply_transposed(W.jacobian, gam, pull)
    for i in range(n):
        dp[i] = F[i] - 0.5 * dp[i] - V_q[i] - pull[i]
    hidden_rate(fn, D, W, q, dq, p, dp, out)


@dataclass
class GlobalSolution(Trajectory):
    """Values at all nodes; lam, gam there too (continuous), or (N k, m) by element (discontinuous).

    condition: 2-norm condition number of the last Newton matrix, where it was asked for.
    """

    condition: float | None = None


def solve_global(
    system: MechanicalSystem,
    h: float,
    t_end: float,
    k: int = 1,
    points: int | None = None,
    multipliers: str = "continuous",
    q_end: Floats | None = None,
    guess: tuple[Floats, Floats] | None = None,
    condition: bool = False,
    limit: int = 50,
) -> GlobalSolution:
    """Solve the motion on [0, t_end] with BG(k) and elements of length h.

    Parameters
    ----------
    multipliers: "continuous" or "discontinuous".
    q_end: (n,) coordinates at t_end: the boundary value problem with q given at both ends; else p is given at t = 0.
    guess: q, p at the nodes (N k + 1, n); by default the march of mG(1), or for boundary values the straight line.

    Raises ModelError for a system or arguments that do not fit, ConvergenceError where Newton fails.
    """
    problem = _Problem(system, h, t_end, k, points, multipliers, q_end)
    x = problem.initial(guess)
    last, damping = np.inf, 1.0
    residual, matrix = problem.assemble(x)
    for iteration in range(1, limit + 1):
        try:
            factors = splu(matrix)
        except RuntimeError:  # what SuperLU raises for a singular matrix
            break
        change = factors.solve(residual)
        if not np.all(np.isfinite(change)):
            break
        size = problem.scaled(change, x)
        if size < 1e-9 or (size < 1e-6 and size > 0.1 * last):
            number = float(np.linalg.cond(matrix.toarray())) if condition else None
            return problem.solution(x - change, iteration, number)
        # the natural monotonicity test (Deuflhard 2011, sec. 3.3): the next correction, with the same matrix, is smaller
        damping = min(1.0, 4.0 * damping)
        while True:
            residual, matrix = problem.assemble(x - damping * change)
            following = (
                problem.scaled(factors.solve(residual), x) if np.all(np.isfinite(residual)) else np.inf
            )
            if following <= (1.0 - 0.5 * damping) * size or size < _NEAR:
                break
            damping *= 0.5
            if damping < _LEAST_DAMPING:
                break
        if damping < _LEAST_DAMPING:
            break
        x = x - damping * change
        last = size
    raise ConvergenceError(
        0.0,
        h,
        iteration,
        float(np.linalg.norm(residual)),
        f"BG({k}) on '{system.name}' over [0, {t_end:g}]: Newton's iteration did not converge; give a better `guess`, "
        "a shorter time or smaller elements",
    )


class _Problem:
    """Numbering, assembly and prescribed values of one global problem."""

    def __init__(
        self,
        system: MechanicalSystem,
        h: float,
        t_end: float,
        k: int,
        points: int | None,
        multipliers: str,
        q_end: Floats | None,
    ):
        n_elements = round(t_end / h)
        if n_elements < 1 or abs(n_elements * h - t_end) > 1e-9 * t_end:
            raise ModelError(f"BG({k}): t_end = {t_end} is not a multiple of h = {h}")
        if multipliers not in ("continuous", "discontinuous"):
            raise ModelError(
                f"BG({k}): multipliers = '{multipliers}'; choose 'continuous' or 'discontinuous'"
            )
        self.continuous = multipliers == "continuous"
        if q_end is not None and not self.continuous:
            raise ModelError(
                f"BG({k}): with q given at both ends discontinuous multipliers are one too many; use 'continuous'"
            )
        self.system, self.h, self.k, self.n_elements = system, float(h), k, n_elements
        self.q_end = None if q_end is None else np.asarray(q_end, float)
        self.tests = k + 1 if self.continuous else k
        points = 2 * k if points is None else points
        self.options = shape_table(k, points, self.tests - 1)
        order = k + k % 2  # measured: 2, 2, 4
        self.scheme = Scheme(f"BG({k})", "001 (24)", None, None, (), order, nodes=tuple(gauss(points)[0]))
        check_fit(self.scheme, system)
        self._number()
        times = h * (np.arange(n_elements)[:, None] + np.array(self.scheme.nodes))
        size = system.signal_size
        values = [np.atleast_1d(system.signal(float(t))) for t in times.ravel()]
        self.signals = np.array(values, float).reshape(*times.shape, size)
        n, m = system.n, system.m
        width = max(n, m, 1)
        self.work = Work(
            np.zeros((ROWS, width), complex),
            np.zeros((m, n), complex),
            np.zeros((m, n), complex),
            np.zeros((n, n), complex),
        )

    def _number(self) -> None:
        """Global numbers of the unknowns of every element, and of what is prescribed."""
        n, m, k = self.system.n, self.system.m, self.k
        self.n_nodes = k * self.n_elements + 1
        self.first_multiplier = 2 * n * self.n_nodes
        groups = self.n_nodes if self.continuous else k * self.n_elements
        self.size = self.first_multiplier + 2 * m * groups
        nodes = k * np.arange(self.n_elements)[:, None] + np.arange(k + 1)  # (N, k + 1)
        states = (2 * n * nodes[:, :, None] + np.arange(2 * n)).reshape(self.n_elements, -1)
        own = nodes if self.continuous else k * np.arange(self.n_elements)[:, None] + np.arange(k)
        gam = self.first_multiplier + 2 * m * own[:, :, None] + np.arange(m)
        mu = gam + m
        multipliers = np.concatenate([gam.reshape(len(own), -1), mu.reshape(len(own), -1)], axis=1)
        self.unknowns: Ints = np.concatenate([states, multipliers], axis=1)
        last = self.n_nodes - 1
        self.fixed_nodes = [0] if self.q_end is None else [0, last]
        prescribed = [2 * n * node + np.arange(n) for node in self.fixed_nodes]
        values = [self.system.q0] if self.q_end is None else [self.system.q0, self.q_end]
        if self.q_end is None:
            prescribed.append(n + np.arange(n))
            values.append(self._p0())
        self.prescribed, self.values = np.concatenate(prescribed), np.concatenate(values)
        # rows of multipliers at nodes where q is prescribed
        rows = [self.first_multiplier + 2 * m * node + np.arange(m) for node in self.fixed_nodes]
        self.acceleration = rows if self.continuous else []
        still = self.first_multiplier + m + np.arange(m)
        self.zero = still if self.continuous and self.q_end is None else np.zeros(0, np.int64)

    def _p0(self) -> Floats:
        system = self.system
        return system.momentum(system.q0, system.v0) if system.p0 is None else system.p0

    def initial(self, guess: tuple[Floats, Floats] | None) -> Floats:
        """First iterate."""
        system = self.system
        x = np.zeros(self.size)
        if guess is not None:
            q, p = (np.asarray(value, float) for value in guess)
        elif self.q_end is None:
            marched = integrate(system, "mG", self.h / self.k, self.n_elements * self.h, k=1)
            q, p = marched.q, marched.p
        else:
            s = np.linspace(0.0, 1.0, self.n_nodes)[:, None]
            q = (1 - s) * system.q0 + s * self.q_end
            v = (self.q_end - system.q0) / (self.n_elements * self.h)
            p = np.array([system.momentum(row, v) for row in q])
        x[: self.first_multiplier] = np.concatenate([q, p], axis=1).ravel()
        x[self.prescribed] = self.values
        if system.m and (guess is not None or self.q_end is None):
            # states near a motion: without its gamma the first correction would leave it
            self._guess_multipliers(x)
        return x

    def _guess_multipliers(self, x: Floats) -> None:
        """gamma of d^2 g/dt^2 = 0, which is linear in it, at the nodes; mu = 0."""
        n, m, k = self.system.n, self.system.m, self.k
        gam = np.empty((self.n_nodes, m))
        for node in range(self.n_nodes):
            value, slopes = self._acceleration_at(x[2 * n * node :][: 2 * n], np.zeros(m), node)
            gam[node] = -np.linalg.solve(slopes[:, 2 * n :], value)
        if not self.continuous:
            inside = np.arange(self.n_elements)[:, None] + np.linspace(0.0, 1.0, k) * (k > 1) + 0.5 * (k == 1)
            nodes = np.arange(self.n_nodes) / k
            gam = np.stack([np.interp(inside.ravel(), nodes, row) for row in gam.T], axis=1)
        x[self.first_multiplier :].reshape(-1, 2, m)[:, 0] = gam

    def assemble(self, x: Floats) -> tuple[Floats, Any]:
        """Residual and sparse matrix."""
        system = self.system
        local = np.ascontiguousarray(x[self.unknowns], complex)
        count = local.shape[1]
        residuals = np.zeros(local.shape)
        matrices = np.zeros((*local.shape, count))
        evaluate_elements(
            system.functions,
            system.data,
            self.work,
            self.h,
            self.k,
            self.tests,
            self.options,
            self.signals,
            local,
            np.zeros(count, complex),
            residuals,
            matrices,
        )
        residual = np.zeros(self.size)
        np.add.at(residual, self.unknowns, residuals)
        rows = np.broadcast_to(self.unknowns[:, :, None], matrices.shape).ravel()
        columns = np.broadcast_to(self.unknowns[:, None, :], matrices.shape).ravel()
        replaced = np.concatenate([self.prescribed, self.zero, *self.acceleration]).astype(np.int64)
        keep = ~np.isin(rows, replaced)
        entries = [(rows[keep], columns[keep], matrices.ravel()[keep])]
        ones = np.concatenate([self.prescribed, self.zero])
        entries.append((ones, ones, np.ones(len(ones))))
        residual[self.prescribed] = x[self.prescribed] - self.values
        residual[self.zero] = x[self.zero]
        for node, own in zip(self.fixed_nodes, self.acceleration, strict=False):
            value, slopes, touched = self._acceleration(x, node)
            residual[own] = value
            entries.append((np.repeat(own, len(touched)), np.tile(touched, len(own)), slopes.ravel()))
        i, j, values = (np.concatenate(part) for part in zip(*entries, strict=True))
        return residual, sparse.csc_matrix((values, (i, j)), shape=(self.size, self.size))

    def _acceleration(self, x: Floats, node: int) -> tuple[Floats, Floats, Ints]:
        """d^2 g/dt^2 at a node, its derivatives (m, 2n + m) and the unknowns they belong to."""
        n, m = self.system.n, self.system.m
        states = 2 * n * node + np.arange(2 * n)
        touched = np.concatenate([states, self.first_multiplier + 2 * m * node + np.arange(m)])
        return *self._acceleration_at(x[states], x[touched[2 * n :]], node), touched

    def _acceleration_at(self, state: Floats, gam: Floats, node: int) -> tuple[Floats, Floats]:
        """d^2 g/dt^2 at (q, p), gamma and the time of a node, and its derivatives (m, 2n + m)."""
        system, n, m = self.system, self.system.n, self.system.m
        z = np.concatenate([state, gam]).astype(complex)
        signal = np.atleast_1d(np.asarray(system.signal(node * self.h / self.k), float))
        slopes, out = np.zeros((m, len(z))), np.zeros(m, complex)

        def value() -> Floats:
            q, p, gam = (np.ascontiguousarray(part) for part in (z[:n], z[n : 2 * n], z[2 * n :]))
            acceleration_constraint(system.functions, system.data, self.work, signal, q, p, gam, out)
            return out.copy()

        for j in range(len(z)):
            z[j] += 1j * _EPS
            slopes[:, j] = value().imag / _EPS
            z[j] = z[j].real
        return value().real, slopes

    def scaled(self, change: Floats, x: Floats) -> float:
        """Largest correction of q and of p in units of their sizes."""
        n = self.system.n
        states = x[: self.first_multiplier].reshape(-1, 2, n)
        steps = change[: self.first_multiplier].reshape(-1, 2, n)
        return float(
            max(np.abs(steps[:, i]).max() / max(np.abs(states[:, i]).max(), 1e-300) for i in range(2))
        )

    def solution(self, x: Floats, iterations: int, condition: float | None) -> GlobalSolution:
        """Nodes, states and multipliers."""
        system, n, m = self.system, self.system.n, self.system.m
        states = x[: self.first_multiplier].reshape(-1, 2, n)
        q, p = states[:, 0].copy(), states[:, 1].copy()
        v = np.array([system.inverse_mass(a) @ b for a, b in zip(q, p, strict=True)])
        lam, gam = np.moveaxis(x[self.first_multiplier :].reshape(-1, 2, m), 1, 0)
        step = self.h / self.k
        t = step * np.arange(self.n_nodes)
        counts = np.full(self.n_nodes, iterations, np.int64)
        return GlobalSolution(
            system, self.scheme, step, t, q, p, v, lam.copy(), gam.copy(), counts, condition=condition
        )
