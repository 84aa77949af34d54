"""Sample a random motion of a rod at random points, and check an identity of 003 on it."""

from __future__ import annotations

import numpy as np

from discretization.continuum import hamiltonian, lagrangian
from discretization.continuum.quaternions import Array
from rigid.system import Floats
from rodsim.papers.claims import Study
from rodsim.papers.smooth_fields import derivative, random_material, random_motion, random_points

ROD = random_material()
ROUND_OFF = 1e-12  # relative; the figures are of size 1 to 30


class Sample:
    """Fields, momenta and a free multiplier at random points."""

    def __init__(self, seed: int = 1):
        self.motion = random_motion(seed)
        self.S, self.T = random_points(seed)
        self.phi, self.q = self.motion.phi(self.S, self.T), self.motion.q(self.S, self.T)
        self.other = random_motion(seed + 1).q(self.S, self.T).value
        self.p_phi, self.p = lagrangian.momenta(ROD, self.q.value, self.phi.t, self.q.t)
        self.lam: Floats = np.random.default_rng(seed).standard_normal(self.S.size)

    def lagrangian(self, **change: Array) -> Array:
        """Return the Lagrangian (24), with some of q, phi_t, q_t, phi_S, q_S, lam replaced by `change`."""
        x = {
            "q": self.q.value,
            "phi_t": self.phi.t,
            "q_t": self.q.t,
            "phi_S": self.phi.S,
            "q_S": self.q.S,
            "lam": self.lam,
            **change,
        }
        return lagrangian.lagrangian(ROD, *x.values())

    def density(self, **change: Array) -> Array:
        """Return the Hamiltonian density (31), with some of q, p_phi, p, phi_S, q_S, lam replaced by `change`."""
        x = {
            "q": self.q.value,
            "p_phi": self.p_phi,
            "p": self.p,
            "phi_S": self.phi.S,
            "q_S": self.q.S,
            "lam": self.lam,
            **change,
        }
        return hamiltonian.density(ROD, *x.values())

    def momentum_rate(self) -> Floats:
        """Return p_t (..., 4), the time derivative of the momentum p."""

        def p(s: Array, t: Array) -> Array:
            q = self.motion.q(s, t)
            return lagrangian.momenta(ROD, q.value, self.motion.phi(s, t).t, q.t)[1]

        return derivative(p, self.S, self.T, "t")


def identity(
    result: Study,
    source: str,
    statement: str,
    *pairs: tuple[Array, Array],
    reason: str = "",
    note: str = "",
) -> None:
    """Add a claim that the sides of each pair are equal.

    The largest difference is measured relative to the larger of 1 and the size of the second side.
    """
    gaps = [float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) for a, b in pairs]
    points = len(pairs[0][0])
    result.claim(
        source,
        statement,
        f"largest relative difference at {points} points {max(gaps):.1e}{note}",
        max(gaps) < ROUND_OFF,
        reason,
    )
