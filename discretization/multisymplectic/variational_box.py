"""Variational box scheme: a discrete Lagrangian on the four corners of a box (Marsden, Patrick, Shkoller 1998),

    A_box = h d [ (T(u_a bar, du_a/h) + T(u_b bar, du_b/h))/2 - U(u bar, (u_b bar - u_a bar)/d) ],              (1)

u_a bar, u_b bar means in time at its two nodes, u bar the mean of all corners; |q| = 1 at the nodes. A step solves

    p_k + d/du_k (sum of A) - lam grad |q_k|^2 = 0,      |q_{k+1}|^2 = 1,      p_{k+1} = d/du_{k+1} (sum of A).    (2)

Strains use q bar/|q bar|, so that a common rotation of the corners leaves (1) unchanged: momenta are conserved (Noether), the
two-form by construction. Implicit, order 2. p is per node (times a length), kg m.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.sparse import csc_array

from discretization.continuum import lagrangian
from discretization.continuum.kinematics import Gamma
from discretization.continuum.multisymplectic import turned_back
from discretization.continuum.quaternions import Array, E, L, apply, conjugate, inner, product
from discretization.multisymplectic.grid import Grid
from discretization.multisymplectic.implicit_step import CompletedStep, element_matrices, sparse
from discretization.multisymplectic.time_integration import Run, Tangent, momenta
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.system import Floats


class VariationalBox:
    """The scheme (1), (2). State: u and p (nodes, 7), flat; x: u at the end and lam at the start (nodes, 8)."""

    def __init__(self, grid: Grid):
        self.grid = grid
        self.size = 8 * grid.nodes
        self._fixed = grid.fixed()
        node = np.arange(grid.n + 1)
        if grid.periodic:
            node[-1] = 0
        seven = np.arange(7)
        self._both = np.concatenate([8 * node[:-1, None] + seven, 8 * node[1:, None] + seven], axis=1)
        self._held = np.flatnonzero(np.concatenate([self._fixed, self._fixed[:, 3:4]], axis=1))

    def start(self) -> Floats:
        """Return the initial state of the grid, momenta weighted with the lengths of rod at the nodes."""
        g = self.grid
        p = np.concatenate(lagrangian.momenta(g.rod, g.u[:, 3:], g.u_t[:, :3], g.u_t[:, 3:]), axis=-1)
        return np.concatenate([g.u.ravel(), (g.weights()[:, None] * p).ravel()])

    def parts(self, state: Array) -> tuple[Array, Array]:
        """Split a state into u and p, (nodes, 7) each."""
        return state[: 7 * self.grid.nodes].reshape(-1, 7), state[7 * self.grid.nodes :].reshape(-1, 7)

    def guess(self, old: Floats, h: float) -> Floats:
        """Return the initial guess of x: u extrapolated with its velocity, lam = 0."""
        g = self.grid
        u, p = self.parts(old)
        p = p / g.weights()[:, None]
        rate = apply(np.linalg.inv(g.rod.J4), product(conjugate(u[:, 3:]), p[:, 3:]))
        q_t = apply(L(u[:, 3:]), rate) / 4
        u_t = np.where(self._fixed, 0.0, np.concatenate([p[:, :3] / g.rod.rho_A, q_t], axis=-1))
        return np.concatenate([u + h * u_t, np.zeros((len(u), 1))], axis=-1).ravel()

    def residual(self, x: Array, old: Array, h: float) -> Array:
        """Return the residuals of (2), momentum rows over h; rows of held entries are replaced by their conditions."""
        g = self.grid
        y = x.reshape(-1, 8)
        u0, p0 = self.parts(old)
        left, right, _, _ = self._corners(y[:, :7], u0, h)
        r = np.zeros(y.shape, np.result_type(x, old))
        r[:, :7] = (p0 + g.gathered(left, right)) / h
        r[:, 3:7] -= 2 * y[:, 7:] * u0[:, 3:]
        r[:, 7] = inner(y[:, 3:7], y[:, 3:7]) - 1
        r = r.ravel()
        conditions = np.concatenate([y[:, :7] - u0, y[:, 7:]], axis=1).ravel()
        r[self._held] = conditions[self._held]
        return r

    def matrix(self, x: Floats, old: Floats, h: float) -> csc_array:
        """Return dr/dx."""
        y = x.reshape(-1, 8)
        u0, _ = self.parts(old)
        full0 = self.grid.wrapped(u0)
        full1 = self.grid.wrapped(y[:, :7])
        start = np.concatenate([full0[:-1], full0[1:]], axis=-1)
        end = np.concatenate([full1[:-1], full1[1:]], axis=-1)
        values = element_matrices(lambda w: self._gradients(start, w, h)[0], end) / h
        if self.grid.periodic:
            values[-1, 10:] *= self.grid.sign
            values[-1, :, 10:] *= self.grid.sign
        rows = self._both.copy()
        rows[np.isin(rows, self._held)] = -1
        node = 8 * np.arange(self.grid.nodes)[:, None]
        q, lam = node + np.arange(3, 7), node + 7
        free = np.where(np.isin(q, self._held), -1, q)
        norm = np.where(np.isin(lam, self._held), -1, lam)
        rows_held = self._held[:, None]
        blocks = [
            (rows, self._both, values),
            (free, lam, -2 * u0[:, 3:, None]),
            (norm, q, 2 * y[:, None, 3:7]),
            (rows_held, rows_held, np.ones((len(rows_held), 1, 1))),
        ]
        return sparse(blocks, self.size)

    def update(self, x: Array, old: Array, h: float) -> Array:
        """Return the state u_{k+1}, p_{k+1}."""
        u0, _ = self.parts(old)
        u = x.reshape(-1, 8)[:, :7]
        _, _, left, right = self._corners(u, u0, h)
        return np.concatenate([u.ravel(), self.grid.gathered(left, right).ravel()])

    # --- the discrete Lagrangian ---

    def _corners(self, u1: Array, u0: Array, h: float) -> tuple[Array, Array, Array, Array]:
        """Return the derivatives of (1) in its corners, (n, 7) each: start of the step left and right, end left and right."""
        full0, full1 = self.grid.wrapped(u0), self.grid.wrapped(u1)
        before, after = self._gradients(
            np.concatenate([full0[:-1], full0[1:]], axis=-1),
            np.concatenate([full1[:-1], full1[1:]], axis=-1),
            h,
        )
        return before[..., :7], before[..., 7:], after[..., :7], after[..., 7:]

    def action(self, start: Array, end: Array, h: float) -> Array:
        """Return A of the boxes (1); start, end (..., n, 14): both nodes at both times."""
        rod, d = self.grid.rod, self.grid.d
        bar, rate, mean, u_S = self._middles(start, end, h)
        T = [
            lagrangian.kinetic_density(rod, y[..., 3:], w[..., :3], w[..., 3:])
            for y, w in zip(bar, rate, strict=True)
        ]
        stretch = Gamma(_unit(mean[..., 3:]), u_S[..., :3])
        bend = product(conjugate(mean[..., 3:]), u_S[..., 3:])
        U = 0.5 * (inner(stretch, apply(rod.C_N, stretch)) + 4 * inner(bend, apply(rod.C4, bend)))
        return h * d * (0.5 * (T[0] + T[1]) - U)

    def _middles(self, start: Array, end: Array, h: float) -> tuple[list[Array], list[Array], Array, Array]:
        """Return means in time and rates of u at both nodes, the mean of all corners, and the difference quotient in S."""
        bar, rate = 0.5 * (start + end), (end - start) / h
        a, b = bar[..., :7], bar[..., 7:]
        return [a, b], [rate[..., :7], rate[..., 7:]], 0.5 * (a + b), (b - a) / self.grid.d

    def _gradients(self, start: Array, end: Array, h: float) -> tuple[Array, Array]:
        """Return dA/dstart and dA/dend (..., n, 14)."""
        d = self.grid.d
        bars, rates, mean, u_S = self._middles(start, end, h)
        dmean, du_S = self._elastic(mean, u_S)
        before, after = [], []
        for side, bar, rate in zip((-1.0, 1.0), bars, rates, strict=True):
            dbar, drate = self._kinetic(bar, rate)
            place = h * d * (0.25 * dbar - 0.25 * dmean - side / (2 * d) * du_S)
            speed = 0.5 * d * drate
            before.append(place - speed)
            after.append(place + speed)
        return np.concatenate(before, axis=-1), np.concatenate(after, axis=-1)

    def _kinetic(self, u: Array, u_t: Array) -> tuple[Array, Array]:
        """Return dT/du and dT/du_t (..., 7)."""
        rod = self.grid.rod
        spin = apply(rod.J4, product(conjugate(u[..., 3:]), u_t[..., 3:]))
        du = np.concatenate([np.zeros_like(u[..., :3]), 4 * product(u_t[..., 3:], conjugate(spin))], axis=-1)
        return du, np.concatenate([rod.rho_A * u_t[..., :3], 4 * product(u[..., 3:], spin)], axis=-1)

    def _elastic(self, u: Array, u_S: Array) -> tuple[Array, Array]:
        """Return dU/du and dU/du_S (..., 7)."""
        rod, q = self.grid.rod, u[..., 3:]
        unit = _unit(q)
        N = apply(rod.C_N, Gamma(unit, u_S[..., :3]))
        moment = apply(rod.C4, product(conjugate(q), u_S[..., 3:]))
        rotation = turned_back(unit, u_S[..., :3], N)
        rotation = (rotation - inner(rotation, unit)[..., None] * unit) / np.sqrt(inner(q, q))[..., None]
        dq = rotation + 4 * product(u_S[..., 3:], conjugate(moment))
        du = np.concatenate([np.zeros_like(u[..., :3]), dq], axis=-1)
        return du, np.concatenate([apply(E(unit), N), 4 * product(q, moment)], axis=-1)

    # --- conservation ---

    def constraints(self, state: Array) -> Array:
        """Return |q|^2 - 1 at the nodes, and the deviations of held entries of u.

        The part of p along q is free, since lam eliminates it.
        """
        u, _ = self.parts(state)
        return np.concatenate([inner(u[:, 3:], u[:, 3:]) - 1, (u - self.grid.u)[self._fixed]])

    def two_form_residual(self, run: Run, tangent: Tangent, h: float) -> Floats:
        """Return the residuals (steps - 1, inner nodes) of the multisymplectic form formula (MPS 1998) on four boxes at a node.

        It is the sum over their other corners of Omega(U, V) = U_i . (dA_i)(V) - V_i . (dA_i)(U), (dA_i)(V) the variation of the
        derivative of A in corner i, per volume h d.
        """
        g = self.grid
        du = np.array([[self.parts(y)[0] for y in at] for at in tangent.states])
        forms = [self._forms(step, du[k], du[k + 1], h) for k, step in enumerate(run.steps)]
        # the node is the end of the earlier boxes and the start of the later ones
        sums = [self._sum_at_nodes(a, 2) + self._sum_at_nodes(b, 0) for a, b in pairwise(forms)]
        out = np.array(sums) / (h * g.d)
        return np.asarray(out if g.periodic else out[:, 1:-1])

    def _forms(self, step: CompletedStep, du0: Floats, du1: Floats, h: float) -> list[Floats]:
        """Return Omega(U, V) of the corners of the boxes of a step, (n,) each."""
        u0, u1 = self.parts(step.old)[0], self.parts(step.new)[0]
        d = [
            [
                corner.imag / COMPLEX_STEP
                for corner in self._corners(u1 + 1j * COMPLEX_STEP * b, u0 + 1j * COMPLEX_STEP * a, h)
            ]
            for a, b in zip(du0, du1, strict=True)
        ]
        value = [
            _ends(self.grid.wrapped_rate(a)) + _ends(self.grid.wrapped_rate(b))
            for a, b in zip(du0, du1, strict=True)
        ]
        return [inner(value[0][i], d[1][i]) - inner(value[1][i], d[0][i]) for i in range(4)]

    def totals(self, state: Floats) -> Floats:
        """Return total linear and angular momentum (6,)."""
        return np.concatenate([x.sum(0) for x in momenta(*self.parts(state))])

    def _sum_at_nodes(self, form: list[Floats], centre: int) -> Floats:
        """Return at every node the sum, over the boxes to its right and left, of the forms of all corners but the node's own."""
        total = np.sum(form, axis=0)
        right, left = total - form[centre], total - form[centre + 1]
        out = np.zeros(self.grid.n + 1)
        out[:-1] += right
        out[1:] += left
        if self.grid.periodic:
            out[0] += out[-1]
            out = out[:-1]
        return out


def _unit(q: Array) -> Array:
    """Return q/|q|."""
    return q / np.sqrt(inner(q, q))[..., None]


def _ends(u: Array) -> list[Array]:
    """Return the values at the starts and ends of the elements."""
    return [u[:-1], u[1:]]
