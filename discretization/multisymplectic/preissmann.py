"""Box scheme of Preissmann for M z_t + K z_S = grad S(z): four corners, z bar their mean (Bridges, Reich 2001),

    M (z1 - z0)/h + K (z_b - z_a)/d = grad S(z bar),   z1, z0: means in space at both times, z_a, z_b: means in time.   (1)

Only means appear: p in space, v in time, lam in both. So the unknowns of a step are

    u at the nodes, v at the nodes in the middle of the step, p of the elements at its end, one lam per element,        (2)

22 n + 14 of them in 22 n equations (1); 7 conditions at each end close the step:

    free  v = 0      pinned  phi held, v_q = 0      clamped  phi and orientation held, <q, v> = 0      held  phi and q held  (3)

constraint="middle" is (1) unchanged: |q bar| = 1 in the middle of the box. The remaining error of |q| changes its sign with
every step, as does the part of p along q. This is a double root -1: the error grows linearly until Newton's method fails.

constraint="levels" avoids this: |q| = 1 for the mean over the element at the ends of the step, by impulses along it,

    p0 in (1) becomes p0 - 2 h lam q0,   |q1| = 1,   then p1 - mu q1 with <q1, p1> = 0                                   (4)

each a gradient of a function that stays constant, so that they do not change the two-form; strains use q bar/|q bar|. With
either constraint linear and angular momentum, linear and bilinear in z, are exact in every box, as is the two-form.

With an even number of elements on a periodic rod, or `held` at both ends, |q| has n - 1 equations for n constraints: singular.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array

from discretization.continuum import lagrangian, multisymplectic
from discretization.continuum.material import E1, Material
from discretization.continuum.multisymplectic import LAM, MOMENTUM, V_PHI, Q, turned_back
from discretization.continuum.quaternions import Array, E, apply, conjugate, inner, product
from discretization.multisymplectic.grid import CLAMPED, FREE, HELD, PINNED, Grid
from discretization.multisymplectic.implicit_step import element_matrices, sparse
from discretization.multisymplectic.time_integration import Run, Tangent, momenta
from rigid.errors import ModelError
from rigid.system import Floats, Ints

MIDDLE, LEVELS = "middle", "levels"
STRIDE = 22  # number of unknowns u, v of a node and p, lam of the element after it


class Unknowns(NamedTuple):
    """The unknowns (2) of a step, each (..., count, size)."""

    u: Array  # at the nodes, end of the step
    v: Array  # at the nodes, middle
    p: Array  # in the elements, end
    lam: Array  # in the elements, middle


class PreissmannBox:
    """The scheme (1)-(4). State: u (nodes, 7) and p (n, 7), flat.

    Raises ModelError if the step is singular; `singular=True` allows it, for analysis.
    """

    def __init__(self, grid: Grid, constraint: str = LEVELS, singular: bool = False):
        if constraint not in (MIDDLE, LEVELS):
            raise ModelError(f"PreissmannBox: constraint '{constraint}'; give '{LEVELS}' or '{MIDDLE}'")
        if not singular and grid.periodic and grid.n % 2 == 0:
            raise ModelError(f"PreissmannBox: {grid.n} elements on a periodic rod; give an odd number")
        if not singular and grid.ends == (HELD, HELD):
            raise ModelError("PreissmannBox: both ends held; clamp one, which leaves its |q| free")
        self.grid, self.middle = grid, constraint == MIDDLE
        self.size = STRIDE * grid.n + (0 if grid.periodic else 14)
        node = STRIDE * np.arange(grid.n + 1)
        if grid.periodic:
            node[-1] = 0
        fourteen, eight = np.arange(14), np.arange(8)
        self._columns: Ints = np.concatenate(
            [
                node[:-1, None] + fourteen,
                STRIDE * np.arange(grid.n)[:, None] + 14 + eight,
                node[1:, None] + fourteen,
            ],
            axis=1,
        )
        # rows of the elements; the 7 rows of the left end come first
        self._rows: Ints = (0 if grid.periodic else 7) + STRIDE * np.arange(grid.n)[:, None] + np.arange(22)

    # --- states ---

    def start(self) -> Floats:
        """Return the initial state of the grid, with lengths |q_j| such that the mean over each element has length 1."""
        g = self.grid
        u = g.u.copy()
        u[:, 3:] *= _lengths(g)[:, None]
        mean, mean_t = _mean(g.wrapped(u)), _mean(g.wrapped_rate(g.u_t))
        q, q_t = mean[:, 3:], mean_t[:, 3:]
        q_t = q_t - inner(q, q_t)[:, None] * q
        p = np.concatenate(lagrangian.momenta(g.rod, q, mean_t[:, :3], q_t), axis=-1)
        return np.concatenate([u.ravel(), p.ravel()])

    def parts(self, state: Array) -> tuple[Array, Array]:
        """Split a state into u (nodes, 7) and p (n, 7)."""
        cut = 7 * self.grid.nodes
        return state[:cut].reshape(-1, 7), state[cut:].reshape(-1, 7)

    def unknowns(self, x: Array) -> Unknowns:
        """Split x into its parts."""
        n = self.grid.n
        if self.grid.periodic:
            node = part = x.reshape(n, STRIDE)
        else:
            part = x[:-14].reshape(n, STRIDE)
            node = np.concatenate([part[:, :14], x[None, -14:]])
        return Unknowns(node[:, :7], node[:, 7:14], part[:, 14:21], part[:, 21])

    # --- the step ---

    def guess(self, old: Floats, h: float) -> Floats:
        """Return the initial guess of x: u extrapolated with its velocity, p of the last step, v by (48), (49), lam = 0."""
        g = self.grid
        u, p = self.parts(old)
        full = g.wrapped(u)
        mean, u_S = 0.5 * (full[1:] + full[:-1]), np.diff(full, axis=0) / g.d
        z = np.zeros((g.n, 22))
        z[:, :7], z[:, MOMENTUM] = mean, p
        u_t = multisymplectic.grad_S(g.rod, z)[:, MOMENTUM]
        stress = np.concatenate(lagrangian.stresses(g.rod, mean[:, 3:], u_S[:, :3], u_S[:, 3:]), axis=-1)
        weight = np.minimum(1.0, g.d / g.weights())[:, None] / 2
        x = np.zeros(self.size)
        rate, v = (g.gathered(y, y) * weight for y in (u_t, stress))
        self._fill(x, u + h * rate, v, p)
        return x

    def _fill(self, x: Floats, u: Floats, v: Floats, p: Floats) -> None:
        """Write u, v and p into x; lam is unchanged (0)."""
        n = self.grid.n
        part = x[: STRIDE * n].reshape(n, STRIDE)
        part[:, :7], part[:, 7:14], part[:, 14:21] = u[:n], v[:n], p
        if not self.grid.periodic:
            x[-14:-7], x[-7:] = u[n], v[n]

    def residual(self, x: Array, old: Array, h: float) -> Array:
        """Return the residuals of (1) for the elements and of (3) for the ends."""
        local = self._local(x)
        r = np.zeros(self.size, np.result_type(x, old))
        r[self._rows] = self._boxes(local, *self._old(old), h)
        if not self.grid.periodic:
            y = self.unknowns(x)
            r[:7], r[-7:] = (self._end(k, y.u[k], y.v[k]) for k in (0, -1))
        return r

    def matrix(self, x: Floats, old: Floats, h: float) -> csc_array:
        """Return dr/dx."""
        before = self._old(old)
        values = element_matrices(lambda y: self._boxes(y, *before, h), self._local(x))
        if self.grid.periodic:
            values[-1, :, 25:29] *= self.grid.sign  # the last corner has q and v_q of the first node
            values[-1, :, 32:36] *= self.grid.sign
            return sparse([(self._rows, self._columns, values)], self.size)
        blocks = [(self._rows, self._columns, values)]
        y = self.unknowns(x)
        for k, rows, columns in ((0, np.arange(7), np.arange(14)), (-1, np.arange(-7, 0), np.arange(-14, 0))):
            end = np.concatenate([y.u[k], y.v[k]])[None]
            values = element_matrices(lambda w, k=k: self._end(k, w[..., :7], w[..., 7:]), end)  # type: ignore[misc]
            blocks.append(((rows % self.size)[None], (columns % self.size)[None], values))
        return sparse(blocks, self.size)

    def update(self, x: Array, old: Array, h: float) -> Array:
        """Return u and p at the end of the step; with (4) the part of p along q is removed."""
        y = self.unknowns(x)
        p = y.p
        if not self.middle:
            full = self.grid.wrapped(y.u)[:, 3:]
            q = 0.5 * (full[1:] + full[:-1])
            along = inner(q, p[:, 3:]) / inner(q, q)
            p = np.concatenate([p[:, :3], p[:, 3:] - along[:, None] * q], axis=-1)
        return np.concatenate([y.u.ravel(), p.ravel()])

    def _local(self, x: Array) -> Array:
        """Return the unknowns (n, 36) of the elements: u, v at the start; p, lam; u, v at the end."""
        local = x[self._columns]
        if self.grid.periodic:
            last = local[-1]
            last[22:25] += self.grid.shift
            last[25:29] *= self.grid.sign
            last[32:36] *= self.grid.sign
        return local

    def _old(self, old: Array) -> tuple[Array, Array, Array]:
        """Return u at the starts and the ends of the elements, and p, before the step."""
        u, p = self.parts(old)
        full = self.grid.wrapped(u)
        return full[:-1], full[1:], p

    def _boxes(self, x: Array, a0: Array, b0: Array, p0: Array, h: float) -> Array:
        """Return the residual rows of (1), (..., n, 22)."""
        a1, va, p1, lam, b1, vb = (
            x[..., 0:7],
            x[..., 7:14],
            x[..., 14:21],
            x[..., 21],
            x[..., 22:29],
            x[..., 29:36],
        )
        d = self.grid.d
        if not self.middle:
            impulse = h * lam[..., None] * (a0 + b0)[..., 3:]
            p0 = p0 - np.concatenate([0 * impulse[..., :3], impulse], axis=-1)
        z = np.concatenate(
            [0.25 * (a0 + b0 + a1 + b1), 0.5 * (p0 + p1), 0.5 * (va + vb), lam[..., None]], axis=-1
        )
        left = np.zeros_like(z)
        left[..., :7] = -(p1 - p0) / h - (vb - va) / d
        left[..., 7:14] = 0.5 * (a1 + b1 - a0 - b0) / h
        left[..., 14:21] = 0.5 * (b1 + b0 - a1 - a0) / d
        if self.middle:
            return left - multisymplectic.grad_S(self.grid.rod, z)
        z[..., LAM] = 0.0
        left = left - _grad_S(self.grid.rod, z)
        q1 = 0.5 * (a1 + b1)[..., 3:]
        left[..., LAM] = inner(q1, q1) - 1
        return left

    def _end(self, k: int, u: Array, v: Array) -> Array:
        """Return the residual rows (3) of the first (k = 0) or last (k = -1) node, (..., 7)."""
        kind, prescribed = self.grid.ends[k], self.grid.u[k]
        if kind == FREE:
            return v
        moved = u[..., :3] - prescribed[:3]
        if kind == PINNED:
            return np.concatenate([moved, v[..., 3:]], axis=-1)
        q0 = np.broadcast_to(prescribed[3:], u[..., 3:].shape)
        if kind == CLAMPED:
            turned = product(conjugate(q0), u[..., 3:])[..., 1:]
            return np.concatenate([moved, turned, inner(q0, v[..., 3:])[..., None]], axis=-1)
        return np.concatenate([moved, u[..., 3:] - q0 * self._held_length(k)], axis=-1)

    def _held_length(self, k: int) -> float:
        """Return the length of q at a held end node."""
        return float(_lengths(self.grid)[k])

    # --- conservation ---

    def constraints(self, state: Array) -> Array:
        """Return |q|^2 - 1 and <q, p> of the means over the elements.

        The result is empty with "middle", which imposes no constraints at the ends of a step.
        """
        u, p = self.parts(state)
        q = _mean(self.grid.wrapped(u))[:, 3:]
        values = np.concatenate([inner(q, q) - 1, inner(q, p[:, 3:])])
        return values[:0] if self.middle else values

    def two_form_residual(self, run: Run, tangent: Tangent, h: float) -> Floats:
        """Return the residuals (steps, n) of <U, M V>_t + <U, K V>_S in the boxes, U and V the two variations.

        <U, M V> of means in space at both times, <U, K V> of means in time at both ends of an element.
        """
        return np.array(
            [self._two_form(h, *step) for step in zip(tangent.states[:-1], tangent.x, strict=True)]
        )

    def _two_form(self, h: float, dold: Floats, dx: Floats) -> Floats:
        """Return the residuals of the two-form law in one step, for variations `dold` of its state and `dx` of its unknowns."""
        g = self.grid
        old, new = [self.parts(y) for y in dold], [self.unknowns(y) for y in dx]
        u0, u1 = [g.wrapped_rate(y[0]) for y in old], [g.wrapped_rate(y.u) for y in new]
        v = [g.wrapped_rate(y.v) for y in new]
        before = _pairing([y[1] for y in old], [_mean(u) for u in u0])
        after = _pairing([y.p for y in new], [_mean(u) for u in u1])
        space = _pairing(v, [0.5 * (a + b) for a, b in zip(u0, u1, strict=True)])
        return np.asarray((after - before) / h + np.diff(space) / g.d)

    def momentum_residual(self, run: Run, h: float) -> Floats:
        """Return the residuals (steps, n, 6) of the laws of linear and angular momentum in the boxes: zero to rounding."""
        g, out = self.grid, []
        for step in run.steps:
            y = self.unknowns(step.x)
            (u0, p0), (u1, p1) = self.parts(step.old), self.parts(step.new)
            u0, u1, v = g.wrapped(u0), g.wrapped(u1), g.wrapped_rate(y.v)
            before, after = momenta(_mean(u0), p0), momenta(_mean(u1), p1)
            flux = momenta(0.5 * (u0 + u1), v)
            out.append(
                [(b - a) / h + np.diff(f, axis=0) / g.d for a, b, f in zip(before, after, flux, strict=True)]
            )
        return np.concatenate(np.moveaxis(np.array(out), 1, 0), axis=-1)

    def totals(self, state: Floats) -> Floats:
        """Return total linear and angular momentum (6,)."""
        u, p = self.parts(state)
        return self.grid.d * np.concatenate([x.sum(0) for x in momenta(_mean(self.grid.wrapped(u)), p)])


def _mean(u: Array) -> Array:
    """Return the means over the elements."""
    return 0.5 * (u[1:] + u[:-1])


def _pairing(a: list[Array], b: list[Array]) -> Array:
    """Return the two-form of two variations given as pairs: a_0 . b_1 - a_1 . b_0."""
    return inner(a[0], b[1]) - inner(a[1], b[0])


def _grad_S(rod: Material, z: Array) -> Array:
    """Return the gradient of S with E(q/|q|) in place of E(q): invariant under rotations for every length of q."""
    q, v_phi = z[..., Q], z[..., V_PHI]
    norm = np.sqrt(inner(q, q))[..., None]
    unit = q / norm
    A = E(unit)
    strain = apply(np.linalg.inv(rod.C_N), apply(A.swapaxes(-1, -2), v_phi)) - E1
    rotation = turned_back(unit, v_phi, strain)
    remaining = z.copy()
    remaining[..., V_PHI] = 0.0
    grad = multisymplectic.grad_S(rod, remaining)
    grad[..., Q] -= (rotation - inner(rotation, unit)[..., None] * unit) / norm
    grad[..., V_PHI] = -apply(A, strain)
    return grad


def _lengths(g: Grid) -> Floats:
    """Return the lengths of q at the nodes (nodes,) closest to 1 such that |q_a + q_b|/2 = 1 in every element."""
    full = g.wrapped(g.u)[:, 3:]
    c = inner(full[1:], full[:-1])
    s = np.ones(g.nodes)
    a = np.arange(g.n)
    b = (a + 1) % g.nodes
    for _ in range(8):
        r = (s[a] ** 2 + s[b] ** 2 + 2 * c * s[a] * s[b]) / 4 - 1
        G = np.zeros((g.n, g.nodes))
        G[a, a] += (s[a] + c * s[b]) / 2
        G[a, b] += (s[b] + c * s[a]) / 2
        s -= np.linalg.lstsq(G, r, rcond=1e-10)[0]
    return s
