"""What a state is measured by: energies, momenta, strains and stresses, constraint residuals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discretization.space.se3_element import element_strains
from discretization.system import System
from rigid import quaternions
from rigid.system import ALONG, COINCIDENT, DISTANCE, PERPENDICULAR, Floats, State, rows_of


class Energies(NamedTuple):
    """Parts of the total energy, J."""

    kinetic: float
    elastic: float  # rods
    gravity: float
    spring: float

    @property
    def total(self) -> float:
        """Sum of the parts."""
        return self.kinetic + self.elastic + self.gravity + self.spring


def element_states(system: System, state: State) -> tuple[Floats, Floats]:
    """Strains (Gamma, K) - strain0 and stresses (N, M) of all rod elements, both (m, 6), in section axes."""
    elements = system.elements
    strain = np.empty((len(elements.length), 6))
    element_strains(elements.frames, elements.length, state.r, state.quat, strain)
    strain -= elements.strain0
    return strain, np.einsum("mij,mj->mi", elements.stiffness, strain)


def energies(system: System, state: State) -> Energies:
    """Energy by part; that of gravity is zero for a frame at the origin."""
    frames, moving = system.frames, system.frames.fixed == 0
    v, Omega = state.v[moving], state.Omega[moving]
    mass, inertia = frames.mass[moving], frames.inertia[moving]
    kinetic = 0.5 * mass @ np.sum(v * v, axis=1) + 0.5 * np.einsum(
        "ni,nij,nj", Omega, inertia, Omega, optimize=True
    )
    kinetic -= 0.5 * system.elements.coupling @ np.sum(_spread(system, state) ** 2, axis=1)
    strain, stress = element_states(system, state)
    elastic = 0.5 * system.elements.length @ np.sum(strain * stress, axis=1)
    gravity = -(mass @ (state.r[moving] @ system.gravity))
    springs, torsions = system.springs, system.torsions
    stretch = np.linalg.norm(point_distance(system.springs, state), axis=1) - springs.length0
    spring = (
        0.5 * springs.stiffness @ stretch**2 + 0.5 * torsions.stiffness @ (state.angle - torsions.angle0) ** 2
    )
    return Energies(float(kinetic), float(elastic), float(gravity), float(spring))


def momenta(system: System, state: State) -> tuple[Floats, Floats]:
    """Linear momentum (3,) in N s and angular momentum (3,) about the origin in N m s of all moving
    frames.
    """
    moving = system.frames.fixed == 0
    p = translational_momenta(system, state)[moving]
    spin = np.einsum("nij,nj->ni", system.frames.inertia[moving], state.Omega[moving])
    return p.sum(axis=0), (np.cross(state.r[moving], p) + quaternions.rotate(state.quat[moving], spin)).sum(
        axis=0
    )


def translational_momenta(system: System, state: State) -> Floats:
    """Momentum (n, 3) of every frame, N s: its own and what a consistent mass shares with its neighbours."""
    p = system.frames.mass[:, None] * state.v
    shared = system.elements.coupling[:, None] * _spread(system, state)
    np.add.at(p, system.elements.frames[:, 0], shared)
    np.subtract.at(p, system.elements.frames[:, 1], shared)
    return p


def _spread(system: System, state: State) -> Floats:
    """v_b - v_a (m, 3) of all elements."""
    a, b = system.elements.frames.reshape(-1, 2).T
    return state.v[b] - state.v[a]


def point_distance(pair, state: State) -> Floats:
    """d = p_b - p_a (k, 3) of the interactions `pair` with fields frames, Xa, Xb."""
    a, b = pair.frames.reshape(-1, 2).T
    pa = state.r[a] + quaternions.rotate(state.quat[a], pair.Xa)
    return state.r[b] + quaternions.rotate(state.quat[b], pair.Xb) - pa


def constraint_residual(system: System, state: State) -> Floats:
    """g (m,) of all scalar constraints, in the order of State.lam: metres, or cosines."""
    constraints = system.constraints
    a, b = constraints.frames.reshape(-1, 2).T
    d = point_distance(constraints, state)
    ua = quaternions.rotate(state.quat[a], constraints.Ua)
    ub = quaternions.rotate(state.quat[b], constraints.Ub)
    scalar = np.select(
        [constraints.kind == PERPENDICULAR, constraints.kind == ALONG, constraints.kind == DISTANCE],
        [np.sum(ua * ub, axis=1), np.sum(ua * d, axis=1), 0.5 * np.sum(d * d, axis=1)],
    )
    rows = rows_of(constraints.kind)
    g = np.repeat(scalar - constraints.value, rows)
    first = np.cumsum(rows) - rows
    coincident = constraints.kind == COINCIDENT
    g[first[coincident][:, None] + np.arange(3)] = d[coincident]
    return g


def velocity_residual(system: System, state: State) -> Floats:
    """dg/dt (m,) of all scalar constraints."""
    constraints = system.constraints
    a, b = constraints.frames.reshape(-1, 2).T
    omega = quaternions.rotate(state.quat, state.Omega)
    xa, xb = (
        quaternions.rotate(state.quat[a], constraints.Xa),
        quaternions.rotate(state.quat[b], constraints.Xb),
    )
    ua, ub = (
        quaternions.rotate(state.quat[a], constraints.Ua),
        quaternions.rotate(state.quat[b], constraints.Ub),
    )
    d = state.r[b] + xb - state.r[a] - xa
    rate = state.v[b] + np.cross(omega[b], xb) - state.v[a] - np.cross(omega[a], xa)
    dua, dub = np.cross(omega[a], ua), np.cross(omega[b], ub)
    scalar = np.select(
        [constraints.kind == PERPENDICULAR, constraints.kind == ALONG, constraints.kind == DISTANCE],
        [np.sum(dua * ub + ua * dub, axis=1), np.sum(dua * d + ua * rate, axis=1), np.sum(d * rate, axis=1)],
    )
    rows = rows_of(constraints.kind)
    out = np.repeat(scalar, rows)
    first = np.cumsum(rows) - rows
    coincident = constraints.kind == COINCIDENT
    out[first[coincident][:, None] + np.arange(3)] = rate[coincident]
    return out
