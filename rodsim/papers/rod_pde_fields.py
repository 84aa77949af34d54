"""Sample a random motion of a rod at random points, and check an identity of 003 on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discretization.continuum import balances, hamiltonian, kinematics, lagrangian
from discretization.continuum.quaternions import Array
from rigid.system import Floats
from rodsim.papers.claims import Study
from rodsim.papers.smooth_fields import Jet, derivative, random_material, random_motion, random_points

ROD = random_material()
ROUND_OFF = 1e-12  # relative; the figures are of size 1 to 30


class Sample:
    """Fields of a random motion, what follows from them, and a free multiplier, at random points (S, T) of a rod."""

    def __init__(self, seed: int = 1):
        self.motion = random_motion(seed)
        self.S, self.T = random_points(seed)
        self.phi, self.q = phi, q = self.motion.phi(self.S, self.T), self.motion.q(self.S, self.T)
        self.other = random_motion(seed + 1).q(self.S, self.T).value
        self.p_phi, self.p = lagrangian.momenta(ROD, q.value, phi.t, q.t)
        self.lam: Floats = np.random.default_rng(seed).standard_normal(self.S.size)
        # spatial angular velocity, curvature, strain, stiffnesses and stress resultant
        self.w, self.omega = kinematics.omega(q.value, q.t), kinematics.omega(q.value, q.S)
        self.gamma = kinematics.gamma(q.value, phi.S)
        self.D_N, self.D_M = (kinematics.rotated(q.value, C) for C in (ROD.C_N, ROD.C_M))
        self.n = balances.force(ROD, q.value, phi.S)
        # what the motion leaves of the balances (9) and (10), which it does not satisfy
        self.linear_balance = balances.linear_balance(ROD, q.value, phi.S, q.S, phi.SS, phi.tt)
        self.angular_balance = balances.angular_balance(ROD, q.value, phi.S, q.S, q.SS, q.t, q.tt)

    def lagrangian(self, **change: Array) -> Array:
        """Return the Lagrangian (24), with some of q, phi_t, q_t, phi_S, q_S, lam replaced by `change`."""
        q, phi = self.q, self.phi
        x = {"q": q.value, "phi_t": phi.t, "q_t": q.t, "phi_S": phi.S, "q_S": q.S, "lam": self.lam, **change}
        return lagrangian.lagrangian(ROD, *x.values())

    def density(self, **change: Array) -> Array:
        """Return the Hamiltonian density (31), with some of q, p_phi, p, phi_S, q_S, lam replaced by `change`."""
        q, phi = self.q, self.phi
        x = {
            "q": q.value,
            "p_phi": self.p_phi,
            "p": self.p,
            "phi_S": phi.S,
            "q_S": q.S,
            "lam": self.lam,
            **change,
        }
        return hamiltonian.density(ROD, *x.values())

    def derivative(self, of: Callable[[Jet, Jet], Array], axis: str) -> Floats:
        """Return the derivative of a function of q and phi along "S" or "t" at the points."""
        motion = self.motion
        return derivative(lambda s, t: of(motion.q(s, t), motion.phi(s, t)), self.S, self.T, axis)


def identity(result: Study, text: str, *pairs: tuple[Array, Array], reason: str = "", note: str = "") -> None:
    """Add a claim that the sides of each pair are equal.

    The largest difference is measured relative to the larger of 1 and the size of the second side.
    """
    gaps = [float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) for a, b in pairs]
    points = len(pairs[0][0])
    measured = f"largest relative difference at {points} points {max(gaps):.1e}{note}"
    result.claim(text, measured, max(gaps) < ROUND_OFF, reason)
