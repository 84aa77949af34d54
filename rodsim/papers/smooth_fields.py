"""Random smooth motions of a rod with exact derivatives, on which identities between formulas are checked.

phi(S, t) and a(S, t) in R^4 are sums of cosines, q = a/|a|; none of them solves the equations. S and t may be complex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.continuum import lagrangian, multisymplectic
from discretization.continuum.material import Material, material
from discretization.continuum.quaternions import Array, inner
from rigid.interactions.kinds import COMPLEX_STEP
from rigid.system import Floats


class Jet(NamedTuple):
    """A field (..., n) and its derivatives at points (...)."""

    value: Array
    S: Array
    t: Array
    SS: Array
    St: Array
    tt: Array


class Motion(NamedTuple):
    """Coefficients of the cosines: amplitudes, wave numbers, frequencies and phases, each (waves, 7)."""

    amplitude: Floats
    k: Floats
    w: Floats
    phase: Floats

    def phi(self, S: Array, t: Array) -> Jet:
        """Return the line of centroids (..., 3), stretched along e1, with its derivatives."""
        waves = self._waves(S, t, slice(0, 3))
        along = np.array([1.0, 0.0, 0.0])
        straight = np.multiply.outer(S, along)
        return waves._replace(value=waves.value + straight, S=waves.S + along)

    def q(self, S: Array, t: Array) -> Jet:
        """Return the unit quaternion (..., 4) with its derivatives."""
        a = self._waves(S, t, slice(3, 7))
        n = np.sqrt(inner(a.value, a.value))[..., None]
        q = a.value / n
        n_S, n_t = inner(q, a.S)[..., None], inner(q, a.t)[..., None]
        q_S, q_t = (a.S - q * n_S) / n, (a.t - q * n_t) / n

        def second(a_xy: Array, a_x: Array, q_x: Array, q_y: Array, n_x: Array, n_y: Array) -> Array:
            """Return a second derivative of a/|a|."""
            n_xy = (inner(q_y, a_x) + inner(q, a_xy))[..., None]
            return (a_xy - q_y * n_x - q * n_xy - q_x * n_y) / n

        return Jet(
            q,
            q_S,
            q_t,
            second(a.SS, a.S, q_S, q_S, n_S, n_S),
            second(a.St, a.S, q_S, q_t, n_S, n_t),
            second(a.tt, a.t, q_t, q_t, n_t, n_t),
        )

    def _waves(self, S: Array, t: Array, columns: slice) -> Jet:
        """Return the sums of cosines of some columns with their derivatives."""
        A, k, w, phase = (x[:, columns] for x in (self.amplitude, self.k, self.w, self.phase))
        S, t = np.broadcast_arrays(S, t)
        angle = S[..., None, None] * k + t[..., None, None] * w + phase
        c, s = A * np.cos(angle), A * np.sin(angle)
        terms = (c, -k * s, -w * s, -k * k * c, -k * w * c, -w * w * c)
        return Jet(*(term.sum(axis=-2) for term in terms))


def random_motion(seed: int = 0, waves: int = 3) -> Motion:
    """Return a motion that bends and rotates by large angles; the last wave is constant and keeps |a| away from zero."""
    rng = np.random.default_rng(seed)
    shape = (waves + 1, 7)
    amplitude = rng.uniform(0.1, 0.35, shape)
    k, w = rng.uniform(0.3, 2.0, shape), rng.uniform(0.3, 2.0, shape)
    phase = rng.uniform(-np.pi, np.pi, shape)
    k[-1] = w[-1] = 0.0
    amplitude[-1], phase[-1] = rng.uniform(0.7, 1.0, 7), 0.0
    return Motion(amplitude, k, w, phase)


def random_points(seed: int = 0, count: int = 40) -> tuple[Floats, Floats]:
    """Return random positions S along the rod and times t (count,)."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.0, 3.0, count), rng.uniform(0.0, 3.0, count)


def random_material(seed: int = 0, alpha: float = 0.7) -> Material:
    """Return a section with full matrices, so that nothing vanishes by symmetry; alpha is not 1."""
    rng = np.random.default_rng(seed)

    def definite(low: float) -> Floats:
        """Return a random symmetric positive definite matrix (3, 3)."""
        A = rng.uniform(-0.4, 0.4, (3, 3))
        return A @ A.T + np.diag(rng.uniform(low, 2 * low, 3))

    return material(1.3, definite(0.8), definite(2.0), definite(1.1), alpha, 1.4 * alpha)


def derivative(of, S: Array, t: Array, axis: str, step: float = COMPLEX_STEP) -> Floats:
    """Return d of(S, t)/dS (`axis` "S") or /dt by a complex step, to round-off."""
    S, t = np.asarray(S, complex), np.asarray(t, complex)
    moved = of(S + 1j * step, t) if axis == "S" else of(S, t + 1j * step)
    return np.asarray(moved.imag / step)


def gradient(of, x: Array, step: float = COMPLEX_STEP) -> Floats:
    """Return the gradient of of(x) in the last axis of x (..., n), by complex steps."""
    moved = x[..., None, :] + 1j * step * np.eye(x.shape[-1])
    return np.asarray(np.stack([of(moved[..., k, :]).imag for k in range(x.shape[-1])], -1) / step)


def z_of(rod: Material, motion: Motion, S: Array, t: Array) -> Array:
    """Return z (..., 22) of a motion, by the Legendre transforms (28), (29), (48), (49), with the multiplier (75)."""
    phi, q = motion.phi(S, t), motion.q(S, t)
    p_phi, p = lagrangian.momenta(rod, q.value, phi.t, q.t)
    v_phi, v = lagrangian.stresses(rod, q.value, phi.S, q.S)
    z = multisymplectic.join(
        multisymplectic.Parts(phi.value, q.value, p_phi, p, v_phi, v, 0 * q.value[..., 0])
    )
    z[..., multisymplectic.LAM] = multisymplectic.multiplier(rod, z)
    return z


class Waves:
    """z(S, t) made of cosines, not a solution of the equations, with exact derivatives."""

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        self.A, self.k, self.w, self.b = rng.uniform(0.3, 1.5, (4, multisymplectic.SIZE))

    def z(self, s: Array, t: Array) -> Array:
        """Return z (..., 22)."""
        return self.A * np.cos(self._angle(s, t))

    def z_S(self, s: Array, t: Array) -> Array:
        """Return dz/dS (..., 22)."""
        return -self.k * self.A * np.sin(self._angle(s, t))

    def z_t(self, s: Array, t: Array) -> Array:
        """Return dz/dt (..., 22)."""
        return -self.w * self.A * np.sin(self._angle(s, t))

    def _angle(self, s: Array, t: Array) -> Array:
        return s[..., None] * self.k + t[..., None] * self.w + self.b
