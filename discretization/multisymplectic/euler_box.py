"""Euler box scheme for M z_t + K z_S = grad S(z): u forward, its conjugates backward (Moore, Reich 2003), at node j and time k

    -(p_k - p_{k-1})/h - (v_j - v_{j-1})/d = dS/du (z_jk)                                                   (1)
    (u_{k+1} - u_k)/h = dS/dp (z_jk)         (u_{j+1} - u_j)/d = dS/dv (z_jk)                               (2)
    |q_{j,k+1}|^2 = 1                                                                                       (3)

v follows from (2) explicitly, p_k and lam_k node by node from (1), (3): explicit in space, order 1, stable for h below d over
the speed of the fastest wave. Strains use the orientation at the start of an element, which causes a shear error of K d/2.
Ends carry half a box of mass: symplectic Euler for the Hamiltonian sum of w_j T* + sum of d U(q_j, du/d).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array

from discretization.continuum import lagrangian, multisymplectic
from discretization.continuum.multisymplectic import CONFIGURATION, MOMENTUM
from discretization.continuum.quaternions import Array, inner
from discretization.multisymplectic.grid import Grid
from discretization.multisymplectic.implicit_step import CompletedStep, element_matrices, sparse
from discretization.multisymplectic.time_integration import Run, Tangent, momenta
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.system import Floats


class EulerBox:
    """The scheme (1)-(3). State: u_k (nodes, 7) and p_{k-1} (nodes, 7), flat; x: p_k and lam_k (nodes, 8)."""

    def __init__(self, grid: Grid):
        self.grid = grid
        self.size = 8 * grid.nodes
        self._rows = np.arange(self.size).reshape(-1, 8)
        self._fixed = grid.fixed()

    def start(self) -> Floats:
        """Return the initial state of the grid; p_{-1} is set to p(0), an error of first order like that of the scheme."""
        g = self.grid
        p = np.concatenate(lagrangian.momenta(g.rod, g.u[:, 3:], g.u_t[:, :3], g.u_t[:, 3:]), axis=-1)
        return np.concatenate([g.u.ravel(), np.where(self._fixed, 0.0, p).ravel()])

    def parts(self, state: Array) -> tuple[Array, Array]:
        """Split a state into u and p, (nodes, 7) each."""
        return state[: 7 * self.grid.nodes].reshape(-1, 7), state[7 * self.grid.nodes :].reshape(-1, 7)

    def stresses(self, u: Array) -> Array:
        """Return v (n, 7) of the boxes, by (2)."""
        g = self.grid
        full = g.wrapped(u)
        u_S = (full[1:] - full[:-1]) / g.d
        return np.concatenate(lagrangian.stresses(g.rod, full[:-1, 3:], u_S[:, :3], u_S[:, 3:]), axis=-1)

    def guess(self, old: Floats, h: float) -> Floats:
        """Return the initial guess of x: p of the last step, lam = 0."""
        _, p = self.parts(old)
        return np.concatenate([p, np.zeros((len(p), 1))], axis=-1).ravel()

    def residual(self, x: Array, old: Array, h: float) -> Array:
        """Return the residuals of (1), and of (3) over h, node by node, flat."""
        u, p0 = self.parts(old)
        return self._nodes(x.reshape(-1, 8), u, p0, self._elastic(u), h).ravel()

    def matrix(self, x: Floats, old: Floats, h: float) -> csc_array:
        """Return dr/dx: diagonal blocks of size 8."""
        u, p0 = self.parts(old)
        elastic = self._elastic(u)
        values = element_matrices(lambda y: self._nodes(y, u, p0, elastic, h), x.reshape(-1, 8))
        return sparse([(self._rows, self._rows, values)], self.size)

    def update(self, x: Array, old: Array, h: float) -> Array:
        """Return the state u_{k+1}, by (2), and p_k."""
        u, _ = self.parts(old)
        p = x.reshape(-1, 8)[:, :7]
        rate = self._grad(u, p, 0 * p, 0 * p[:, 0])[:, MOMENTUM]
        return np.concatenate([(u + h * np.where(self._fixed, 0.0, rate)).ravel(), p.ravel()])

    def _grad(self, u: Array, p: Array, v: Array, lam: Array) -> Array:
        """Return the gradient of S at z = (u, p, v, lam), (..., 22)."""
        z = np.concatenate([*np.broadcast_arrays(u, p, v), lam[..., None]], axis=-1)
        return multisymplectic.grad_S(self.grid.rod, z)

    def _elastic(self, u: Array) -> Array:
        """Return the elastic terms of (1) per length, (nodes, 7): (v_j - v_{j-1} + d times the part of dS/du due to v)/w_j."""
        g = self.grid
        v = self.stresses(u)
        full = g.wrapped(u)
        none = np.zeros_like(v)
        strain_part = self._grad(full[:-1], none, v, none[:, 0])[:, CONFIGURATION]
        return g.gathered(v + g.d * strain_part, -v) / g.weights()[:, None]

    def _nodes(self, x: Array, u: Array, p0: Array, elastic: Array, h: float) -> Array:
        """Return the residual rows of (1) and (3), (..., nodes, 8)."""
        p, lam = x[..., :7], x[..., 7]
        grad = self._grad(u, p, np.zeros_like(p), lam)
        force = (p - p0) / h + grad[..., CONFIGURATION] + elastic
        force = np.where(self._fixed, p, force)
        q = u[:, 3:] + h * grad[..., MOMENTUM][..., 3:]
        norm = np.where(self._fixed[:, 3], lam, (inner(q, q) - 1) / h)
        return np.concatenate([force, norm[..., None]], axis=-1)

    # --- conservation ---

    def constraints(self, state: Array) -> Array:
        """Return |q|^2 - 1 at the nodes, and the deviations of held entries."""
        u, p = self.parts(state)
        deviations = np.concatenate([(u - self.grid.u)[self._fixed], p[self._fixed]])
        return np.concatenate([inner(u[:, 3:], u[:, 3:]) - 1, deviations])

    def two_form_residual(self, run: Run, tangent: Tangent, h: float) -> Floats:
        """Return the residuals (steps, inner nodes) of the two-form law of (1), (2).

        The forms pair values a step or an element apart,

        (w_{k+1/2} - w_{k-1/2})/h + (kappa_{j+1/2} - kappa_{j-1/2})/d = 0,
        w_{k+1/2} = U_p(k) . V_u(k+1) - V_p(k) . U_u(k+1),     kappa_{j+1/2} = U_v(j) . V_u(j+1) - V_v(j) . U_u(j+1).
        """
        return np.array(
            [
                self._two_form(h, step, *pair)
                for step, *pair in zip(run.steps, tangent.states[:-1], tangent.states[1:], strict=True)
            ]
        )

    def _two_form(self, h: float, step: CompletedStep, dold: Floats, dnew: Floats) -> Floats:
        """Return the residuals of the two-form law in one step, for the variations `dold` and `dnew` (2, ...)."""
        g = self.grid
        old, new = ([self.parts(y) for y in z] for z in (dold, dnew))
        u, _ = self.parts(step.old)
        dv = [self.stresses(u + 1j * COMPLEX_STEP * du).imag / COMPLEX_STEP for du, _ in old]
        du = [g.wrapped_rate(y[0]) for y in old]
        before = inner(old[0][1], old[1][0]) - inner(old[1][1], old[0][0])
        after = inner(new[0][1], new[1][0]) - inner(new[1][1], new[0][0])
        space = inner(dv[0], du[1][1:]) - inner(dv[1], du[0][1:])
        jump = space - np.roll(space, 1) if g.periodic else np.diff(space)
        rate = (after - before) / h
        return np.asarray((rate if g.periodic else rate[1:-1]) + jump / g.d)

    def totals(self, state: Floats) -> Floats:
        """Return total linear and angular momentum (6,), from u_k and p_{k-1}."""
        w = self.grid.weights()[:, None]
        return np.concatenate([(w * x).sum(0) for x in momenta(*self.parts(state))])
