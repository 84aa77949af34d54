"""Store the states at the ends of the steps of a mechanical system and compute their invariants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from discretization.time.scheme import Scheme
from rigid.charts.internal_variables import stored_energies
from rigid.mechanics import mechanical_rows, mechanical_system
from rigid.mechanics.mechanical_system import MechanicalSystem, Symmetry
from rigid.system import Floats, Ints


class Start(NamedTuple):
    """A state from which `integrate` begins or continues.

    Parameters
    ----------
    t : float
        Time, s.
    q, p, v : array, shape (n,)
        Coordinates, momenta and velocities.
    lam, gam : array, shape (m,)
        Multipliers of the step before.
    totals : array, default two zeros
        Work and dissipation since the start, then the other entries of `MechanicalSystem.books`.

    Examples
    --------
    >>> import sympy as sp
    >>> from rodsim.mechanics import integrate, symbolic_system
    >>> x = sp.Symbol("x")
    >>> system = symbolic_system("spring", x, [1.0], [0.0], M=[[2]], V=8 * x**2)
    >>> integrate(system, "EML", 0.1, 0.2).at(-1).t
    0.2
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
    """States at the ends of the steps of `integrate`.

    Parameters
    ----------
    system : MechanicalSystem
        System that was integrated.
    scheme : Scheme
        Integrator of the run.
    h : float
        Step, s.
    t : array, shape (N + 1,)
        Times, s.
    q, p, v : array, shape (N + 1, n)
        Coordinates, momenta and velocities.
    lam, gam : array, shape (N + 1, m)
        Multipliers; row k belongs to the step that ends at t[k].
    totals : array, shape (N + 1, :)
        Work of loads and drives, dissipation, and the work of each drive since the start, then condensed internal variables.
    iterations : array, shape (N + 1,)
        Iterations of Newton's method.

    Examples
    --------
    >>> import sympy as sp
    >>> from rodsim.mechanics import integrate, symbolic_system
    >>> x = sp.Symbol("x")
    >>> system = symbolic_system("spring", x, [1.0], [0.0], M=[[2]], V=8 * x**2)
    >>> run = integrate(system, "EML", 0.1, 0.2)
    >>> run.q.shape
    (3, 1)
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
        """Return the kinetic energies T(q, v).

        Returns
        -------
        array, shape (N + 1,)
            J.
        """
        return mechanical_rows.kinetic_energies(self.system, self.q, self.v)

    def potential(self) -> Floats:
        """Return the potentials V(q), with the energies stored by condensed internal variables.

        Returns
        -------
        array, shape (N + 1,)
            J.
        """
        return mechanical_rows.potentials(self.system, self.q) + self._stored_energy()

    def _stored_energy(self) -> Floats:
        """Return the energies that condensed internal variables store (N + 1,), J."""
        return stored_energies(self.system, self.totals, self.q)

    def generalised_energy(self) -> Floats:
        """Return the generalised energies p . v - T(q, v) + V(q), 000 (74).

        Returns
        -------
        array, shape (N + 1,)
            J.
        """
        return np.einsum("ij,ij->i", self.p, self.v) - self.kinetic() + self.potential()

    def total_energy(self) -> Floats:
        """Return the total energies T(q, v) + V(q), 000 (80).

        Returns
        -------
        array, shape (N + 1,)
            J.
        """
        return self.kinetic() + self.potential()

    def hamiltonian(self) -> Floats:
        """Return the Hamiltonians T*(q, p) + V(q); the mass must be regular.

        Returns
        -------
        array, shape (N + 1,)
            J.
        """
        return mechanical_rows.hamiltonians(self.system, self.q, self.p) + self._stored_energy()

    def energy(self) -> Floats:
        """Return the energies that the scheme conserves, if it conserves any.

        Generalised energies for Livens' schemes, T* + V for the others.

        Returns
        -------
        array, shape (N + 1,)
            J.
        """
        if self.system.has(mechanical_system.LAGRANGE_TOP):
            mass = self.system.mass(self.q[0])[0, 0]
            return np.einsum("ij,ij->i", self.p, self.p) / (2.0 * mass) + self.potential()
        if "generalised energy" in self.scheme.invariants or self.system.has(mechanical_system.SINGULAR_MASS):
            return self.generalised_energy()
        return self.hamiltonian()

    def momentum(self, symmetry: Symmetry) -> Floats:
        """Return the momentum map of a symmetry.

        Parameters
        ----------
        symmetry : Symmetry
            One of `system.symmetries`, or another.

        Returns
        -------
        array, shape (N + 1,)
        """
        return symmetry(self.q, self.p)

    def position_residual(self) -> Floats:
        """Return max |g(q)| at each step.

        Returns
        -------
        array, shape (N + 1,)
        """
        driven = self.system.driven_at(self.t)
        return np.abs(mechanical_rows.constraints(self.system, self.q, driven)).max(axis=1, initial=0.0)

    def velocity_residual(self) -> Floats:
        """Return max |G(q) W(q) p| at each step; max |G(q) v| if the mass is singular.

        The rates of driven constraints are part of it.

        Returns
        -------
        array, shape (N + 1,)
        """
        singular = self.system.has(mechanical_system.SINGULAR_MASS)
        velocities = self.v if singular else mechanical_rows.velocities(self.system, self.q, self.p)
        driven = self.system.driven_at(self.t)
        return np.abs(mechanical_rows.rates(self.system, self.q, velocities, driven)).max(axis=1, initial=0.0)

    def at(self, k: int) -> Start:
        """Return the state of a step, as `start` of `integrate`; continuing from it is bit-identical to one longer run.

        Parameters
        ----------
        k : int
            Number of the step; -1: the last step.

        Returns
        -------
        Start
        """
        return Start(
            float(self.t[k]),
            *(rows[k].copy() for rows in (self.q, self.p, self.v, self.lam, self.gam, self.totals)),
        )

    def part(self, last: int) -> Trajectory:
        """Return the trajectory of the first steps only.

        Parameters
        ----------
        last : int
            Number of steps.

        Returns
        -------
        Trajectory
        """
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
