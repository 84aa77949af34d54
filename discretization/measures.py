"""What a state is measured by: energies, momenta, strains and stresses, constraint residuals.

All functions take one state, or many at once: the arrays of `State` with axes for the outputs in front. Results have the
same axes in front.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.space.se3_element import element_strains
from discretization.system import System
from rigid import quaternions
from rigid.system import ALONG, COINCIDENT, DISTANCE, PERPENDICULAR, Constraints, Floats, State, rows_of


class Energies(NamedTuple):
    """Parts of the total energy, J: numbers, or an array each for many states."""

    kinetic: Any
    elastic: Any  # rods
    gravity: Any
    spring: Any

    @property
    def total(self) -> Any:
        """Sum of the parts."""
        return self.kinetic + self.elastic + self.gravity + self.spring


def element_states(system: System, state: State) -> tuple[Floats, Floats]:
    """Strains (Gamma, K) - strain0 and stresses (N, M) of all rod elements, both (..., m, 6), in section axes."""
    elements = system.elements
    *outputs, n, _ = state.r.shape
    frames, length = elements.frames, elements.length
    if outputs:  # one long row of frames and elements for the kernel
        count = int(np.prod(outputs))
        frames = (frames + n * np.arange(count)[:, None, None]).reshape(-1, 2)
        length = np.tile(length, count)
    strain = np.empty((len(length), 6))
    element_strains(frames, length, state.r.reshape(-1, 3), state.quat.reshape(-1, 4), strain)
    strain = strain.reshape(*outputs, len(elements.length), 6) - elements.strain0
    return strain, np.einsum("mij,...mj->...mi", elements.stiffness, strain)


def energies(system: System, state: State) -> Energies:
    """Energy by part; that of gravity is zero for a frame at the origin."""
    return energies_of(system, state, *element_states(system, state))


def energies_of(system: System, state: State, strain: Floats, stress: Floats) -> Energies:
    """`energies`, where the element states are known already."""
    frames, moving = system.frames, system.frames.fixed == 0
    v, Omega = state.v[..., moving, :], state.Omega[..., moving, :]
    mass, inertia = frames.mass[moving], frames.inertia[moving]
    spin = np.einsum("nij,...nj->...ni", inertia, Omega)
    kinetic = 0.5 * (np.sum(v * v, axis=-1) @ mass + np.sum(Omega * spin, axis=(-2, -1)))
    kinetic -= 0.5 * np.sum(_spread(system, state) ** 2, axis=-1) @ system.elements.coupling
    elastic = 0.5 * np.sum(strain * stress, axis=-1) @ system.elements.length
    gravity = -(state.r[..., moving, :] @ system.gravity) @ mass
    springs, torsions = system.springs, system.torsions
    stretch = np.linalg.norm(point_distance(springs, state), axis=-1) - springs.length0
    spring = 0.5 * (
        stretch**2 @ springs.stiffness + (state.angle - torsions.angle0) ** 2 @ torsions.stiffness
    )
    return Energies(kinetic, elastic, gravity, spring)


def momenta(system: System, state: State) -> tuple[Floats, Floats]:
    """Linear momentum (..., 3) in N s and angular momentum (..., 3) about the origin in N m s of all moving
    frames.
    """
    moving = system.frames.fixed == 0
    p = translational_momenta(system, state)[..., moving, :]
    spin = np.einsum("nij,...nj->...ni", system.frames.inertia[moving], state.Omega[..., moving, :])
    spin = quaternions.rotate(state.quat[..., moving, :], spin)
    return p.sum(axis=-2), (np.cross(state.r[..., moving, :], p) + spin).sum(axis=-2)


def translational_momenta(system: System, state: State) -> Floats:
    """Momentum (..., n, 3) of every frame, N s: its own and what a consistent mass shares with its neighbours."""
    p = system.frames.mass[:, None] * state.v
    shared = system.elements.coupling[:, None] * _spread(system, state)
    for side, sign in ((0, 1.0), (1, -1.0)):
        nodes: Any = (..., system.elements.frames[:, side], slice(None))
        np.add.at(p, nodes, sign * shared)
    return p


def _spread(system: System, state: State) -> Floats:
    """v_b - v_a (..., m, 3) of all elements."""
    a, b = system.elements.frames.reshape(-1, 2).T
    return state.v[..., b, :] - state.v[..., a, :]


def point_distance(pair: Any, state: State) -> Floats:
    """d = p_b - p_a (..., k, 3) of the interactions `pair` with fields frames, Xa, Xb."""
    a, b = pair.frames.reshape(-1, 2).T
    pa = state.r[..., a, :] + quaternions.rotate(state.quat[..., a, :], pair.Xa)
    return state.r[..., b, :] + quaternions.rotate(state.quat[..., b, :], pair.Xb) - pa


def constraint_residual(system: System, state: State) -> Floats:
    """g (..., m) of all scalar constraints, in the order of State.lam: metres, or cosines."""
    return residual_of(system.constraints, state)


def residual_of(constraints: Constraints, state: State) -> Floats:
    """g (..., m) of `constraints`."""
    a, b = constraints.frames.reshape(-1, 2).T
    d = point_distance(constraints, state)
    ua = quaternions.rotate(state.quat[..., a, :], constraints.Ua)
    ub = quaternions.rotate(state.quat[..., b, :], constraints.Ub)
    scalar = np.select(
        [constraints.kind == PERPENDICULAR, constraints.kind == ALONG, constraints.kind == DISTANCE],
        [np.sum(ua * ub, axis=-1), np.sum(ua * d, axis=-1), 0.5 * np.sum(d * d, axis=-1)],
    )
    return _in_rows(constraints, scalar - constraints.value, d)


def velocity_residual(system: System, state: State) -> Floats:
    """dg/dt (..., m) of all scalar constraints."""
    return rate_of(system.constraints, state)


def rate_of(constraints: Constraints, state: State) -> Floats:
    """dg/dt (..., m) of `constraints`."""
    a, b = constraints.frames.reshape(-1, 2).T
    qa, qb = state.quat[..., a, :], state.quat[..., b, :]
    va, vb = state.v[..., a, :], state.v[..., b, :]
    omega_a = quaternions.rotate(qa, state.Omega[..., a, :])
    omega_b = quaternions.rotate(qb, state.Omega[..., b, :])
    xa, xb = quaternions.rotate(qa, constraints.Xa), quaternions.rotate(qb, constraints.Xb)
    ua, ub = quaternions.rotate(qa, constraints.Ua), quaternions.rotate(qb, constraints.Ub)
    d = state.r[..., b, :] + xb - state.r[..., a, :] - xa
    rate = vb + np.cross(omega_b, xb) - va - np.cross(omega_a, xa)
    dua, dub = np.cross(omega_a, ua), np.cross(omega_b, ub)
    scalar = np.select(
        [constraints.kind == PERPENDICULAR, constraints.kind == ALONG, constraints.kind == DISTANCE],
        [
            np.sum(dua * ub + ua * dub, axis=-1),
            np.sum(dua * d + ua * rate, axis=-1),
            np.sum(d * rate, axis=-1),
        ],
    )
    return _in_rows(constraints, scalar, rate)


def _in_rows(constraints: Constraints, scalar: Floats, vector: Floats) -> Floats:
    """One row for `scalar` (..., k) of a constraint, three for `vector` (..., k, 3) of coincident points."""
    rows = rows_of(constraints.kind)
    first = np.cumsum(rows) - rows
    coincident = constraints.kind == COINCIDENT
    out = np.repeat(scalar, rows, axis=-1)
    out[..., first[coincident][:, None] + np.arange(3)] = vector[..., coincident, :]
    return out
