"""States at the ends of the steps of a mechanical system, and what is conserved of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from discretization.time.scheme import Scheme
from rigid.charts.condensed import kept_energies
from rigid.mechanics import mechanical, mechanical_rows
from rigid.mechanics.mechanical import MechanicalSystem, Symmetry
from rigid.system import Floats, Ints


class Start(NamedTuple):
    """Where a run begins or goes on: time, coordinates, momenta, velocities, multipliers of the step before, and the books
    up to there (`MechanicalSystem.books`): work, dissipation and more.
    """

    t: float
    q: Floats
    p: Floats
    v: Floats
    lam: Floats
    gam: Floats
    totals: Floats = np.zeros(2)


@dataclass
class Trajectory:
    """States at the ends of the steps.

    Attributes: system, scheme, h; t (N + 1,); q, p, v (N + 1, n); lam, gam (N + 1, m), row k belongs to the step that
    ends there; totals (N + 1, :): work of loads and drives, dissipation, and the work of every drive up to there, as
    the scheme does them, then condensed own variables; iterations (N + 1,) of Newton's method.
    """

    system: MechanicalSystem
    scheme: Scheme
    h: float
    t: Floats
    q: Floats
    p: Floats
    v: Floats
    lam: Floats
    gam: Floats
    totals: Floats
    iterations: Ints

    work = property(lambda self: self.totals[:, 0], doc="(N + 1,) J, done by the loads up to there.")
    dissipation = property(lambda self: self.totals[:, 1], doc="(N + 1,) J, lost in dampers up to there.")

    def kinetic(self) -> Floats:
        """T(q, v) (N + 1,)."""
        return mechanical_rows.kinetic_energies(self.system, self.q, self.v)

    def potential(self) -> Floats:
        """V(q) and what condensed own variables keep (N + 1,)."""
        return mechanical_rows.potentials(self.system, self.q) + self._kept()

    def _kept(self) -> Floats:
        return kept_energies(self.system, self.totals, self.q)

    def generalised_energy(self) -> Floats:
        """p . v - T(q, v) + V(q): 000 (74)."""
        return np.einsum("ij,ij->i", self.p, self.v) - self.kinetic() + self.potential()

    def total_energy(self) -> Floats:
        """T(q, v) + V(q): 000 (80)."""
        return self.kinetic() + self.potential()

    def hamiltonian(self) -> Floats:
        """T*(q, p) + V(q); needs a regular mass."""
        return mechanical_rows.hamiltonians(self.system, self.q, self.p) + self._kept()

    def energy(self) -> Floats:
        """The energy the scheme is about: generalised for Livens' schemes, T* + V for the others."""
        if self.system.has(mechanical.LAGRANGE_TOP):
            mass = self.system.mass(self.q[0])[0, 0]
            return np.einsum("ij,ij->i", self.p, self.p) / (2.0 * mass) + self.potential()
        if "generalised energy" in self.scheme.promises or self.system.has(mechanical.SINGULAR_MASS):
            return self.generalised_energy()
        return self.hamiltonian()

    def momentum(self, symmetry: Symmetry) -> Floats:
        """The momentum map of a symmetry (N + 1,)."""
        return symmetry(self.q, self.p)

    def position_residual(self) -> Floats:
        """max |g(q)| (N + 1,)."""
        driven = self.system.driven_at(self.t)
        return np.abs(mechanical_rows.constraints(self.system, self.q, driven)).max(axis=1, initial=0.0)

    def velocity_residual(self) -> Floats:
        """max |G(q) W(q) p| (N + 1,), or of G(q) v where the mass is singular; of driven constraints with their own rates."""
        singular = self.system.has(mechanical.SINGULAR_MASS)
        velocities = self.v if singular else mechanical_rows.velocities(self.system, self.q, self.p)
        driven = self.system.driven_at(self.t)
        return np.abs(mechanical_rows.rates(self.system, self.q, velocities, driven)).max(axis=1, initial=0.0)

    def at(self, k: int) -> Start:
        """Step k, to go on from: `integrate(..., start=run.at(-1))` gives the same bits as one longer run."""
        return Start(
            float(self.t[k]),
            *(rows[k].copy() for rows in (self.q, self.p, self.v, self.lam, self.gam, self.totals)),
        )

    def part(self, last: int) -> Trajectory:
        """The first `last` steps."""
        cut = slice(last + 1)
        return replace(
            self,
            t=self.t[cut],
            q=self.q[cut],
            p=self.p[cut],
            v=self.v[cut],
            lam=self.lam[cut],
            gam=self.gam[cut],
            totals=self.totals[cut],
            iterations=self.iterations[cut],
        )
