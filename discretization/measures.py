"""What a state is measured by: energies, momenta, strains and stresses, constraint residuals.

Every function takes one state or many at once: leading axes of the state's arrays are those of what it returns,
and each state of many is measured to the same bits as alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization.space.se3_element import element_strains
from discretization.system import System
from rigid import quaternions
from rigid.system import ALONG, COINCIDENT, DISTANCE, PERPENDICULAR, Constraints, Floats, Ints, State, rows_of


class Energies(NamedTuple):
    """Parts of the total energy, J; floats, or arrays (...) of many states."""

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
    n, m = state.r.shape[-2], len(elements.length)
    r, quat = (np.ascontiguousarray(a).reshape(-1, a.shape[-1]) for a in (state.r, state.quat))
    count = len(r) // n
    # many states of one model are one state of many copies of it
    frames = (n * np.arange(count)[:, None, None] + elements.frames.reshape(-1, 2)).reshape(-1, 2)
    strain = np.empty((count * m, 6))
    element_strains(frames, np.tile(elements.length, count), r, quat, strain)
    strain = strain.reshape(*state.r.shape[:-2], m, 6) - elements.strain0
    return strain, np.sum(elements.stiffness * strain[..., None, :], axis=-1)


def energies(system: System, state: State, of_elements: tuple[Floats, Floats] | None = None) -> Energies:
    """Energy by part; that of gravity is zero for a frame at the origin. `of_elements`: `element_states`, if known."""
    frames, moving = system.frames, system.frames.fixed == 0
    v, Omega = state.v[..., moving, :], state.Omega[..., moving, :]
    mass, inertia = frames.mass[moving], frames.inertia[moving]
    spin = np.sum(inertia * Omega[..., None, :], axis=-1)
    kinetic = 0.5 * _sum(mass, np.sum(v * v, axis=-1)) + 0.5 * _sum(np.sum(Omega * spin, axis=-1))
    if np.any(system.elements.coupling):
        kinetic = kinetic - 0.5 * _sum(system.elements.coupling, np.sum(_spread(system, state) ** 2, axis=-1))
    strain, stress = element_states(system, state) if of_elements is None else of_elements
    elastic = 0.5 * _sum(system.elements.length, np.sum(strain * stress, axis=-1))
    gravity = -_sum(mass, np.sum(state.r[..., moving, :] * system.gravity, axis=-1))
    springs, torsions = system.springs, system.torsions
    stretch = np.linalg.norm(point_distance(system.springs, state), axis=-1) - springs.length0
    turn = state.angle - torsions.angle0
    spring = 0.5 * _sum(springs.stiffness, stretch**2) + 0.5 * _sum(torsions.stiffness, turn**2)
    return Energies(*(float(e) if np.ndim(e) == 0 else e for e in (kinetic, elastic, gravity, spring)))


def _sum(*factors: Floats) -> Floats:
    """Sum of products over the last axis. Not a matrix product: its order depends on the number of states."""
    product = factors[0] if len(factors) == 1 else factors[0] * factors[1]
    return np.sum(np.ascontiguousarray(product), axis=-1)


def momenta(system: System, state: State) -> tuple[Floats, Floats]:
    """Linear momentum (..., 3) in N s and angular momentum (..., 3) about the origin in N m s of all moving
    frames.
    """
    moving = system.frames.fixed == 0
    p = translational_momenta(system, state)[..., moving, :]
    spin = np.sum(system.frames.inertia[moving] * state.Omega[..., moving, None, :], axis=-1)
    moment = np.cross(state.r[..., moving, :], p) + quaternions.rotate(state.quat[..., moving, :], spin)
    return p.sum(axis=-2), moment.sum(axis=-2)


def translational_momenta(system: System, state: State) -> Floats:
    """Momentum (..., n, 3) of every frame, N s: its own and what a consistent mass shares with its neighbours."""
    p = system.frames.mass[:, None] * state.v
    if not np.any(system.elements.coupling):
        return p
    shared = system.elements.coupling[:, None] * _spread(system, state)
    a, b = system.elements.frames.reshape(-1, 2).T
    of_frames, of_elements = np.moveaxis(p, -2, 0), np.moveaxis(shared, -2, 0)
    np.add.at(of_frames, a, of_elements)
    np.subtract.at(of_frames, b, of_elements)
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
    return _rows(constraints.kind, scalar - constraints.value, d)


def velocity_residual(system: System, state: State) -> Floats:
    """dg/dt (..., m) of all scalar constraints."""
    return rate_of(system.constraints, state)


def rate_of(constraints: Constraints, state: State) -> Floats:
    """dg/dt (..., m) of `constraints`."""
    a, b = constraints.frames.reshape(-1, 2).T
    quat_a, quat_b = state.quat[..., a, :], state.quat[..., b, :]
    omega_a = quaternions.rotate(quat_a, state.Omega[..., a, :])
    omega_b = quaternions.rotate(quat_b, state.Omega[..., b, :])
    xa, xb = quaternions.rotate(quat_a, constraints.Xa), quaternions.rotate(quat_b, constraints.Xb)
    ua, ub = quaternions.rotate(quat_a, constraints.Ua), quaternions.rotate(quat_b, constraints.Ub)
    d = state.r[..., b, :] + xb - state.r[..., a, :] - xa
    rate = state.v[..., b, :] + np.cross(omega_b, xb) - state.v[..., a, :] - np.cross(omega_a, xa)
    dua, dub = np.cross(omega_a, ua), np.cross(omega_b, ub)
    scalar = np.select(
        [constraints.kind == PERPENDICULAR, constraints.kind == ALONG, constraints.kind == DISTANCE],
        [
            np.sum(dua * ub + ua * dub, axis=-1),
            np.sum(dua * d + ua * rate, axis=-1),
            np.sum(d * rate, axis=-1),
        ],
    )
    return _rows(constraints.kind, scalar, rate)


def _rows(kind: Ints, scalar: Floats, vector: Floats) -> Floats:
    """One number of `scalar` (..., c) for every constraint, three of `vector` (..., c, 3) for coincident points."""
    rows = rows_of(kind)
    out = np.repeat(scalar, rows, axis=-1)
    first = np.cumsum(rows) - rows
    coincident = kind == COINCIDENT
    out[..., first[coincident][:, None] + np.arange(3)] = vector[..., coincident, :]
    return out
