"""A rod on a grid of equal elements: its end conditions, and u = (phi, q) at the nodes, shape (n_nodes, 7)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discretization.continuum.material import Material
from discretization.continuum.quaternions import Array, inner
from rigid.errors import ModelError
from rigid.system import Floats

FREE, PINNED, CLAMPED, HELD, PERIODIC = "free", "pinned", "clamped", "held", "periodic"
ENDS = (FREE, PINNED, CLAMPED, HELD, PERIODIC)


class Grid(NamedTuple):
    """Rod, elements, end conditions and initial state of a scheme.

    Ends are free: nothing is held; pinned: phi is held; clamped: phi and the orientation are held, not |q|; held: phi and all of
    q are held (equivalent to clamped if |q| = 1 is imposed at the nodes). Periodic rods have u_n = u_0, continued by `shift` and
    the factor `sign` of q.
    """

    rod: Material
    d: float  # element length, m
    n: int  # number of elements
    ends: tuple[str, str]
    u: Floats  # (nodes, 7) at t = 0; held entries keep these values
    u_t: Floats  # (nodes, 7) at t = 0
    shift: Floats  # phi_n - phi_0 (3,), m
    sign: float  # 1 or -1: q_n = sign q_0

    @property
    def periodic(self) -> bool:
        """Return whether the last node is the first one."""
        return self.ends[0] == PERIODIC

    @property
    def nodes(self) -> int:
        """Return the number of nodes with unknowns."""
        return self.n if self.periodic else self.n + 1

    def wrapped(self, u: Array) -> Array:
        """Return the values (..., n + 1, 7) of u at all ends of elements from those at the nodes (..., nodes, 7)."""
        if not self.periodic:
            return u
        last = np.concatenate([u[..., :1, :3] + self.shift, self.sign * u[..., :1, 3:]], axis=-1)
        return np.concatenate([u, last], axis=-2)

    def wrapped_rate(self, x: Array) -> Array:
        """Return differences, stresses or variations (..., n + 1, 7), which have no shift, at all ends of elements."""
        if not self.periodic:
            return x
        last = np.concatenate([x[..., :1, :3], self.sign * x[..., :1, 3:]], axis=-1)
        return np.concatenate([x, last], axis=-2)

    def gathered(self, start: Array, end: Array) -> Array:
        """Return the sum at the nodes (..., nodes, 7) of contributions of elements (..., n, 7) to their start and end."""
        out = np.zeros((*start.shape[:-2], self.n + 1, 7), start.dtype)
        out[..., :-1, :] += start
        out[..., 1:, :] += end
        if self.periodic:
            out[..., 0, :3] += out[..., -1, :3]
            out[..., 0, 3:] += self.sign * out[..., -1, 3:]
            out = out[..., :-1, :]
        return out

    def weights(self) -> Floats:
        """Return the lengths of rod that the nodes carry (nodes,), m: d, half of it at ends."""
        w = np.full(self.nodes, self.d)
        if not self.periodic:
            w[[0, -1]] /= 2
        return w

    def fixed(self) -> Floats:
        """Return a mask of the entries of u that are held, (nodes, 7)."""
        out = np.zeros((self.nodes, 7), bool)
        for node, end in ((0, self.ends[0]), (-1, self.ends[1])):
            out[node, :3] |= end in (PINNED, CLAMPED, HELD)
            out[node, 3:] |= end in (CLAMPED, HELD)
        return out


def grid(
    rod: Material,
    length: float,
    phi: ArrayLike,
    q: ArrayLike,
    phi_t: ArrayLike,
    q_t: ArrayLike,
    ends: tuple[str, str] = (FREE, FREE),
) -> Grid:
    """Return a rod of stress-free length `length`, m, with states at n_elements + 1 nodes.

    phi, phi_t (n + 1, 3), m and m/s; q, q_t (n + 1, 4), 1 and 1/s. Raises ModelError for unknown ends, states with wrong shapes,
    or q that are not unit quaternions.
    """
    unknown = [end for end in ends if end not in ENDS]
    if unknown or (PERIODIC in ends and ends != (PERIODIC, PERIODIC)):
        raise ModelError(f"rod: ends {ends}; give two of {', '.join(ENDS)}, periodic for both or none")
    u, u_t = (
        np.concatenate([np.asarray(a, float), np.asarray(b, float)], axis=-1)
        for a, b in ((phi, q), (phi_t, q_t))
    )
    if u.ndim != 2 or u.shape != u_t.shape or u.shape[1] != 7 or len(u) < 3:
        raise ModelError(
            f"rod: states of shapes {u.shape}, {u_t.shape}; give (n + 1, 7), at least two elements"
        )
    if np.abs(inner(u[:, 3:], u[:, 3:]) - 1).max() > 1e-12:
        raise ModelError(
            f"rod: |q|^2 - 1 up to {np.abs(inner(u[:, 3:], u[:, 3:]) - 1).max():.1e}; give unit q"
        )
    n, shift, sign = len(u) - 1, np.zeros(3), 1.0
    if ends[0] == PERIODIC:
        shift, sign = u[-1, :3] - u[0, :3], float(np.sign(u[-1, 3:] @ u[0, 3:]))
        gap = np.abs(u[-1, 3:] - sign * u[0, 3:]).max()
        if gap > 1e-12:
            raise ModelError(f"rod: q at the periodic ends differ by {gap:.1e}; give equal ones, or opposite")
        u, u_t = u[:-1], u_t[:-1]
    return Grid(rod, length / n, n, ends, u, u_t, shift, sign)
