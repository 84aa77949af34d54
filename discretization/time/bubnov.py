"""Solve a motion globally in time by BG(k), the Bubnov-Galerkin method of 001 sec. 3.2, for initial or boundary values.

z = (q, p) and its test functions are continuous and piecewise polynomial of degree k over all N elements. The multipliers
are of the same kind (continuous), or they are of degree k - 1 and discontinuous. All elements are solved at once:

    sum over elements, Gauss points:  N_I (p' + h (H_q + G^T gamma + Psi_q^T mu)) = 0   test delta q_I      (1)
                                      N_I (q' - h (H_p + Psi_p^T mu)) = 0               test delta p_I      (2)
                                      h M_J g(q) = 0,   h M_J Psi(q, p) = 0             tests of multipliers (3), (4)

If q or p of a node is prescribed, its test function vanishes, and the equation is replaced by the prescribed value.
With continuous multipliers g is then fulfilled at that node already: its equation is replaced by d^2 g/dt^2 = 0
there, which determines gamma; if p is prescribed, the equation of Psi is replaced by mu = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its subpackages are loaded on first access

from discretization.linear.sparse import sparse_lu
from discretization.time.bubnov_elements import (
    Elements,
    account_elements,
    evaluate_accelerations,
    evaluate_elements,
)
from discretization.time.galerkin import shape_table
from discretization.time.integrate import check_compatibility, integrate, number_of_steps
from discretization.time.quadrature import gauss
from discretization.time.scheme import Scheme
from discretization.time.scratch_vectors import new_work
from discretization.time.trajectory import Trajectory
from rigid.errors import ConvergenceError, ModelError
from rigid.mechanics.mechanical_system import PRODUCTS, MechanicalSystem
from rigid.system import Floats, Ints

_LEAST_DAMPING = 1e-3
_NEAR = 1e-5  # correction size below which round-off may decide which of two corrections is smaller
_MOST_BYTES = 8 * 2**30


@dataclass
class GlobalSolution(Trajectory):
    """Trajectory of a global solution, with values at all nodes.

    lam = gamma and gam = mu are given at the nodes too (continuous), or as (N k, m) arrays by element (discontinuous).
    Work and dissipation are given at the ends of the elements and are nan at nodes inside.

    condition: 2-norm condition number of the last Newton matrix if it was requested; as h -> 0 it grows as h^-2
    (continuous) or h^-3 (discontinuous).
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
    system : MechanicalSystem
    h : float
        Length of an element, s.
    t_end : float
        End time, s.
    k : int, default 1
        Polynomial degree of an element.
    points : int, optional
        Number of Gauss points of an element, at least k. By default 2k.
    multipliers : {"continuous", "discontinuous"}
    q_end : (n,) array, optional
        Coordinates at t_end: the boundary value problem with q given at both ends. By default p is given at t = 0.
    guess : pair of (N k + 1, n) arrays, optional
        q and p at the nodes. By default the solution of mG(1), or for boundary values the straight line.
    condition : bool, default False
        True to compute the condition number of the last Newton matrix.
    limit : int, default 50
        Largest number of iterations of Newton's method.

    Raises
    ------
    ModelError
        If the system or an argument cannot be used.
    ConvergenceError
        If Newton's method, or the integration of the guess by mG(1), fails.
    """
    problem = _Problem(system, h, t_end, k, points, multipliers, q_end)
    limit = _checked_integer("limit", limit, 1)
    x = problem.initial(guess)
    last, damping = np.inf, 1.0
    residual, matrix = problem.assemble(x)
    reason, singular = f"it takes more than limit = {limit} iterations", False
    for iteration in range(1, limit + 1):
        try:
            factors = sparse_lu(matrix)
        except RuntimeError:  # SuperLU raises this for a singular matrix
            reason, singular = "its matrix is singular", True
            break
        change = factors.solve(residual)
        if not np.all(np.isfinite(change)):
            reason = "a residual or a correction is not finite"
            break
        size = problem.scaled(change, x)
        if size < 1e-9 or (size < 1e-6 and size > 0.1 * last):
            number = float(np.linalg.cond(matrix.toarray())) if condition else None
            return problem.solution(x - change, iteration, number)
        # natural monotonicity test (Deuflhard 2011, sec. 3.3): the next correction, with the same matrix, is smaller
        damping = min(1.0, 4.0 * damping)
        while damping >= _LEAST_DAMPING:
            residual, matrix = problem.assemble(x - damping * change)
            finite = np.all(np.isfinite(residual))
            following = problem.scaled(factors.solve(residual), x) if finite else np.inf
            if following <= (1.0 - 0.5 * damping) * size or (finite and size < _NEAR):
                break
            damping *= 0.5
        else:
            reason = "not even a small part of the correction makes the next one smaller"
            break
        x = x - damping * change
        last = size
    raise ConvergenceError(
        0.0,
        problem.h,
        iteration,
        float(np.linalg.norm(residual)),
        f"{problem.label}: Newton's iteration fails, {reason} (|r| = {np.linalg.norm(residual):.3g} after {iteration} "
        "iterations); give a better `guess`, a shorter time or smaller elements",
        singular=singular,
    )


def _checked_integer(name: str, value: Any, minimum: int) -> int:
    """Return `value` as an int of at least `minimum`; 2.0 counts as a whole number. Raise ModelError otherwise."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or not np.isfinite(value) or value != round(value) or value < minimum:
        raise ModelError(f"BG: {name} = {value!r}; give a whole number of at least {minimum}")
    return int(value)


def _array(name: str, value: Any, shape: tuple[int, ...]) -> Floats:
    """Return `value` as an array of finite numbers of this shape. Raise ModelError otherwise."""
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        raise ModelError(
            f"BG: {name} is not an array of numbers; give finite numbers of shape {shape}"
        ) from None
    not_finite = array[~np.isfinite(array)]
    if array.shape != shape or len(not_finite):
        problem = f"contains {not_finite[0]}" if array.shape == shape else f"has the shape {array.shape}"
        raise ModelError(f"BG: {name} {problem}; give finite numbers of shape {shape}")
    return array


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
        k = _checked_integer("k", k, 1)
        points = 2 * k if points is None else _checked_integer("points", points, k)
        order = k + k % 2  # measured: 2, 2, 4, 4 for k = 1, 2, 3, 4
        nodes = tuple(gauss(points)[0])
        self.scheme = Scheme(f"BG({k})", "001 (24)", None, None, (), order, nodes=nodes, dissipates=True)
        check_compatibility(self.scheme, system)
        if len(system.drives):
            raise ModelError(
                f"BG({k}): '{system.name}' has prescribed motion, which BG does not support; use 'mG({k})', or springs"
            )
        n_elements = number_of_steps(f"BG({k})", "h", h, t_end)
        if multipliers not in ("continuous", "discontinuous"):
            raise ModelError(
                f"BG({k}): multipliers = {multipliers!r}; choose 'continuous' or 'discontinuous'"
            )
        self.continuous = multipliers == "continuous"
        if q_end is not None and system.m and not self.continuous:
            raise ModelError(
                f"BG({k}): with q given at both ends discontinuous multipliers are one too many; use 'continuous'"
            )
        self.system, self.h, self.k, self.n_elements = system, float(h), k, n_elements
        self.label = f"BG({k}) on '{system.name}' over [0, {t_end:g}]"
        self.q_end = None if q_end is None else _array("q_end", q_end, (system.n,))
        self._check_constraints("q0", system.q0)
        if self.q_end is not None:
            self._check_constraints("q_end", self.q_end)
        self.tests = k + 1 if self.continuous else k
        self._check_size()
        self._number()
        times = h * (np.arange(n_elements)[:, None] + np.array(self.scheme.nodes))
        signals = system.signals(times.ravel()).reshape(*times.shape, system.signal_size)
        options = shape_table(k, points, self.tests - 1)
        self.elements = Elements(self.h, k, self.tests, options, signals)
        self.work = new_work(system.n, system.m, matrices=not system.has(PRODUCTS))
        self.mass = float(np.trace(system.mass(system.q0))) / system.n

    def _check_constraints(self, name: str, q: Floats) -> None:
        """Raise ModelError if q violates g = 0, or if constraints are redundant there."""
        system = self.system
        g = np.abs(system.constraints(q))
        if g.max(initial=0.0) > 1e-8 * (1.0 + np.abs(q).max()):
            worst = int(np.argmax(g))
            raise ModelError(
                f"{self.label}: |g{worst + 1}({name})| = {g[worst]:.3g} at {name} = {q}; give coordinates with g = 0"
            )
        rank = int(np.linalg.matrix_rank(system.jacobian(q))) if system.m else 0
        if rank < system.m:
            raise ModelError(
                f"{self.label}: {system.m} constraints of rank {rank} at {name}, so that multipliers are not unique; "
                f"remove the {system.m - rank} redundant ones"
            )

    def _check_size(self) -> None:
        """Raise ModelError if Newton's matrix, its indices and its copy do not fit into memory."""
        width = 2 * self.system.n * (self.k + 1) + 2 * self.system.m * self.tests
        size = 40.0 * self.n_elements * width**2
        if size > _MOST_BYTES:
            raise ModelError(
                f"{self.label}: {self.n_elements} elements take {size / 2**30:.3g} GiB; use a shorter time or larger h"
            )

    def _number(self) -> None:
        """Number the unknowns of every element and the prescribed values globally."""
        n, m, k = self.system.n, self.system.m, self.k
        self.n_nodes = k * self.n_elements + 1
        self.first_multiplier = 2 * n * self.n_nodes
        self.groups = self.n_nodes if self.continuous else k * self.n_elements
        self.size = self.first_multiplier + 2 * m * self.groups
        nodes = k * np.arange(self.n_elements)[:, None] + np.arange(k + 1)  # (N, k + 1)
        states = (2 * n * nodes[:, :, None] + np.arange(2 * n)).reshape(self.n_elements, -1)
        test_nodes = nodes[:, : self.tests]
        gam = self.first_multiplier + 2 * m * test_nodes[:, :, None] + np.arange(m)
        mu = gam + m
        multipliers = np.concatenate([part.reshape(self.n_elements, -1) for part in (gam, mu)], axis=1)
        self.unknowns: Ints = np.concatenate([states, multipliers], axis=1)
        self.fixed_nodes = [0] if self.q_end is None else [0, self.n_nodes - 1]
        prescribed = [2 * n * node + np.arange(n) for node in self.fixed_nodes]
        values = [self.system.q0] if self.q_end is None else [self.system.q0, self.q_end]
        if self.q_end is None:
            prescribed.append(n + np.arange(n))
            p0 = self.system.p0
            values.append(self.system.momentum(self.system.q0, self.system.v0) if p0 is None else p0)
        self.prescribed, self.values = np.concatenate(prescribed), np.concatenate(values)
        # rows of multipliers at nodes with prescribed q
        rows = [self.first_multiplier + 2 * m * node + np.arange(m) for node in self.fixed_nodes]
        self.acceleration = rows if self.continuous else []
        multipliers_at_start = self.first_multiplier + m + np.arange(m)
        self.zero = multipliers_at_start if self.continuous and self.q_end is None else np.zeros(0, np.int64)

    def initial(self, guess: tuple[Floats, Floats] | None) -> Floats:
        """Return the first iterate of Newton's method (size,), with the prescribed values in place."""
        system, x = self.system, np.zeros(self.size)
        if guess is not None:
            if not isinstance(guess, tuple | list) or len(guess) != 2:
                raise ModelError("BG: guess is not a pair; give (q, p) at the nodes")
            shape = (self.n_nodes, system.n)
            q, p = _array("q of guess", guess[0], shape), _array("p of guess", guess[1], shape)
        elif self.q_end is None:
            marched = self._march()
            q, p = marched.q, marched.p
        else:
            s = np.linspace(0.0, 1.0, self.n_nodes)[:, None]
            q = (1 - s) * system.q0 + s * self.q_end
            v = (self.q_end - system.q0) / (self.n_elements * self.h)
            p = np.array([system.momentum(row, v) for row in q])
        x[: self.first_multiplier] = np.concatenate([q, p], axis=1).ravel()
        x[self.prescribed] = self.values
        if system.m and (guess is not None or self.q_end is None):
            # the states are near a motion: without its gamma the first correction would leave it
            self._guess_multipliers(x)
        return x

    def _march(self) -> Trajectory:
        """Integrate the motion by mG(1) through all nodes, as the first iterate."""
        step, t_end = self.h / self.k, self.n_elements * self.h
        try:
            return integrate(self.system, "mG", step, t_end, k=1)
        except ConvergenceError as failure:
            raise ConvergenceError(
                failure.t,
                self.h,
                failure.iterations,
                failure.residual,
                f"{self.label}: no guess of the motion, the march of mG(1) with steps of {step:.3g} ends at "
                f"t = {failure.t:.6g}; give q and p at the nodes as `guess`, or use smaller elements",
                singular=failure.singular,
            ) from failure

    def _guess_multipliers(self, x: Floats) -> None:
        """Set gamma at the nodes from d^2 g/dt^2 = 0, which is linear in it, and leave mu = 0."""
        n, m, k = self.system.n, self.system.m, self.k
        gam = np.zeros((self.n_nodes, m))
        states = x[: 2 * n * self.n_nodes].reshape(self.n_nodes, 2 * n)
        values, slopes = self._accelerations(np.concatenate([states, gam], axis=1), np.arange(self.n_nodes))
        for node, (value, slope) in enumerate(zip(values, slopes, strict=True)):
            if np.all(np.isfinite(slope)) and np.all(np.isfinite(value)):
                # constraints may be dependent at a configuration on the way: the smallest gamma is sufficient
                gam[node] = np.linalg.lstsq(slope[:, 2 * n :], -value, rcond=None)[0]
        if not self.continuous:
            inside = np.arange(self.n_elements)[:, None] + np.linspace(0.0, 1.0, k) * (k > 1) + 0.5 * (k == 1)
            nodes = np.arange(self.n_nodes) / k
            gam = np.stack([np.interp(inside.ravel(), nodes, row) for row in gam.T], axis=1)
        x[self.first_multiplier :].reshape(-1, 2, m)[:, 0] = gam

    def assemble(self, x: Floats) -> tuple[Floats, Any]:
        """Return the residual (size,) and Newton's sparse matrix (size, size) at the unknowns x."""
        system = self.system
        local = np.ascontiguousarray(x[self.unknowns], complex)
        count = local.shape[1]
        residuals, matrices = np.zeros(local.shape), np.zeros((*local.shape, count))
        acting = system.functions, system.data, self.work, self.elements
        evaluate_elements(*acting, local, np.zeros(count, complex), residuals, matrices)
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
        n = system.n
        for node, rows_of_node in zip(self.fixed_nodes, self.acceleration, strict=False):
            touched = np.concatenate([2 * n * node + np.arange(2 * n), rows_of_node])
            z = np.concatenate([x[touched[: 2 * n]], x[rows_of_node]])
            (residual[rows_of_node],), (slopes,) = self._accelerations(z[None], np.array([node]))
            entries.append(
                (np.repeat(rows_of_node, len(touched)), np.tile(touched, len(rows_of_node)), slopes.ravel())
            )
        i, j, values = (np.concatenate(part) for part in zip(*entries, strict=True))
        return residual, scipy.sparse.csc_matrix((values, (i, j)), shape=(self.size, self.size))

    def _accelerations(self, z: Floats, nodes: Ints) -> tuple[Floats, Floats]:
        """Return d^2 g/dt^2 (N, m) at z = (q, p, gamma) (N, 2n + m) of these nodes, and its derivatives (N, m, 2n + m)."""
        system, m = self.system, self.system.m
        signals = system.signals(nodes * self.h / self.k)
        values, slopes = np.zeros((len(z), m)), np.zeros((len(z), m, z.shape[1]))
        evaluate_accelerations(
            system.functions,
            system.data,
            self.work,
            signals,
            np.ascontiguousarray(z, complex),
            np.zeros(m, complex),
            values,
            slopes,
        )
        return values, slopes

    def scaled(self, change: Floats, x: Floats) -> float:
        """Return the largest correction of q and of p in units of their sizes.

        The size of p is at least M q/t_end, for states of rest.
        """
        shape = (self.n_nodes, 2, self.system.n)
        q, p = np.abs(x[: self.first_multiplier].reshape(shape)).max(axis=(0, 2))
        p = max(p, self.mass * q / (self.n_elements * self.h))
        steps = np.abs(change[: self.first_multiplier].reshape(shape)).max(axis=(0, 2))
        return float(np.max(steps / np.maximum([q, p], 1e-150)))  # nan if an entry is nan

    def solution(self, x: Floats, iterations: int, condition: float | None) -> GlobalSolution:
        """Return the solution with its nodes, states and multipliers."""
        system, n, m = self.system, self.system.n, self.system.m
        states = x[: self.first_multiplier].reshape(-1, 2, n)
        q, p = states[:, 0].copy(), states[:, 1].copy()
        v = np.array([system.inverse_mass(a) @ b for a, b in zip(q, p, strict=True)])
        lam, gam = np.moveaxis(x[self.first_multiplier :].reshape(self.groups, 2, m), 1, 0)
        step = self.h / self.k
        t = step * np.arange(self.n_nodes)
        counts = np.full(self.n_nodes, iterations, np.int64)
        return GlobalSolution(
            system, self.scheme, step, t, q, p, v, lam.copy(), gam.copy(), self._totals(x), counts, condition
        )

    def _totals(self, x: Floats) -> Floats:
        """Return work and dissipation (nodes, 2), J, accumulated from the start."""
        system = self.system
        local = np.ascontiguousarray(x[self.unknowns], complex)
        of_elements = np.zeros((self.n_elements, 2), complex)
        account_elements(system.functions, system.data, self.work, self.elements, local, of_elements)
        totals = np.full((self.n_nodes, 2), np.nan)
        totals[0], totals[self.k :: self.k] = 0.0, np.cumsum(of_elements.real, axis=0)
        return totals
