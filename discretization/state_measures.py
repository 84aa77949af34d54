"""Evaluate quantities of a state: energies, momenta, strains and stresses, constraint residuals.

Every function accepts one state or many at once: leading axes of the state's arrays are those of the result,
and the result for each of many states is bit-identical to that for the single state.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discretization import interaction_table
from discretization.constrained_strains import add_constraint_forces
from discretization.contact import interactions as contact
from discretization.drives import (
    at_states,
    driven_rows,
    explicit_rates,
    flatten_states,
    has_driven_parameters,
)
from discretization.internal_variables import internal_variables, part
from discretization.space import rods
from discretization.space.rods import summed
from discretization.state_checks import POSES, check_states
from discretization.system import System
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.constraints import first_rows, groups_of, residuals
from rigid.system import Constraints, Floats, Ints, State
from rigid.vectors import cross


class Energies(NamedTuple):
    """Parts of the total energy, J; floats, or arrays (...) of many states."""

    kinetic: Any
    elastic: Any  # rods
    gravity: Any
    spring: Any  # also bushings, limits, contacts, and energy stored in bristles

    @property
    def total(self) -> Any:
        """Return the sum of the parts, J."""
        return self.kinetic + self.elastic + self.gravity + self.spring


def element_states(system: System, state: State) -> tuple[Floats, Floats]:
    """Return the strains (Gamma, K) - strain0 and stresses (N, M) at all points of rods, both (..., g, 6), in section axes.

    A two-frame element has one point, a span as many as intervals: first all elements, then all spans. Stresses are
    elastic and include those of relaxing branches; of elements that do not stretch they are the constraint forces.
    """
    strain = element_strains(system, state)
    stress = rods.stresses(system.rods, strain, part(system, state, "branch"))
    return strain, add_constraint_forces(system, state.lam, stress)


def element_strains(system: System, state: State) -> Floats:
    """Return the strains (Gamma, K) - strain0 at all points of rods, (..., g, 6), in section axes."""
    check_states(system, state, *POSES, "internal")
    return rods.strains(system.rods, state.r, state.quat)


def elastic_densities(system: System, state: State, strain: Floats) -> Floats:
    """Return the stored energies per length (..., g), J/m, at all points of rods with the strains of `element_states`.

    They include the energy of the section, of its law and of its relaxing branch.
    """
    return rods.densities(system.rods, strain, part(system, state, "branch"))


def branch_losses(system: System, state: State) -> Floats:
    """Return the power per length (..., g), W/m, that relaxing branches lose: see `discretization.space.maxwell_branch`."""
    return rods.branch_losses(system.rods, part(system, state, "branch"))


def energies(system: System, state: State, of_elements: tuple[Floats, Floats] | None = None) -> Energies:
    """Return the energy by part; the gravity part is zero for a frame at the origin.

    `of_elements`: result of `element_states`, if known.
    """
    check_states(system, state, *POSES, "v", "Omega", "internal")
    frames, moving = system.frames, system.frames.fixed == 0
    v, Omega = state.v[..., moving, :], state.Omega[..., moving, :]
    mass, inertia = frames.mass[moving], frames.inertia[moving]
    spin = np.sum(inertia * Omega[..., None, :], axis=-1)
    kinetic = 0.5 * _sum(mass, np.sum(v * v, axis=-1)) + 0.5 * _sum(np.sum(Omega * spin, axis=-1))
    pairs, coupling = system.rods.shared_masses
    if np.any(coupling):
        kinetic = kinetic - 0.5 * _sum(coupling, np.sum(_spread(pairs, state) ** 2, axis=-1))
    strain, stress = element_states(system, state) if of_elements is None else of_elements
    branch = part(system, state, "branch")
    elastic = rods.elastic_energies(system.rods, state.r, state.quat, strain, stress, branch)
    gravity = -_sum(mass, np.sum(state.r[..., moving, :] * system.gravity, axis=-1))
    spring = _spring_energy(system, state) + _contact_energy(system, state)
    if internal_variables(system).settled:
        spring = spring + _sum(stored_energies(system, state))
    return Energies(*(float(e) if np.ndim(e) == 0 else e for e in (kinetic, elastic, gravity, spring)))


def _spring_energy(system: System, state: State) -> Floats:
    """Return the energy (...,) of all interactions in `System.others`, J."""
    if not len(system.others.kind):
        return np.zeros(state.r.shape[:-2])
    use, position, count = interaction_table.energy_rows(system.others)
    # torsion springs are evaluated at the angles stored in the state, not at its poses
    use = use[system.others.kind[use] != interaction_table.TORSIONS]
    torsions = interaction_table.torsions_of(system.others)
    twist = part(system, state, "angle")[..., : len(torsions.angle0)] - torsions.angle0
    energy: Floats = _sum(_of_others(system, state, use, position, count))
    return energy + 0.5 * _sum(torsions.stiffness, twist**2)


def _contact_energy(system: System, state: State) -> Floats:
    """Return the energy (...,) of surfaces in contact and of their bristles, J."""
    if not len(system.contacts.pairs):
        return np.zeros(state.r.shape[:-2])
    bristle = part(system, state, "bristle")
    bristle_energy = 0.5 * _sum(bristle[..., 5], np.sum(bristle[..., 1:4] ** 2, axis=-1))
    energy: Floats = contact.energies(system.contacts, state) + bristle_energy
    return energy


def stored_energies(system: System, state: State) -> Floats:
    """Return the energies (..., k) stored in the block "settled" by each interaction of `System.others` that has it, J."""
    variables, flat = part(system, state, "settled"), flatten_states(state)
    groups = interaction_table.stored_energy_groups(
        system.others, variables.reshape(-1, variables.shape[-1]), state.r.shape[-2]
    )
    stored = evaluation.values(groups, flat.r, flat.quat)
    return stored.reshape(*state.r.shape[:-2], -1)


def spring_energies(system: System, state: State) -> tuple[Floats, Floats]:
    """Return V (..., s) of all springs between points, J, and angles (..., t) of all torsion springs, rad."""
    table = system.others
    use = np.flatnonzero(table.kind == interaction_table.SPRINGS)
    springs = [group._replace(row=np.arange(len(use))) for group in interaction_table.groups_of(table, use)]
    angles = part(system, state, "angle")[..., : len(interaction_table.torsions_of(table).angle0)]
    return evaluation.values(springs, state.r, state.quat), angles


def _sum(*factors: Floats) -> Floats:
    """Return the sum of products over the last axis."""
    return summed(factors[0] if len(factors) == 1 else factors[0] * factors[1])


def momenta(system: System, state: State) -> tuple[Floats, Floats]:
    """Return linear momentum (..., 3) in N s and angular momentum (..., 3) about the origin in N m s of all moving frames."""
    check_states(system, state, *POSES, "v", "Omega")
    moving = system.frames.fixed == 0
    p = translational_momenta(system, state)[..., moving, :]
    spin = np.sum(system.frames.inertia[moving] * state.Omega[..., moving, None, :], axis=-1)
    moment = cross(state.r[..., moving, :], p) + quaternions.rotate(state.quat[..., moving, :], spin)
    return p.sum(axis=-2), moment.sum(axis=-2)


def translational_momenta(system: System, state: State) -> Floats:
    """Return the momentum (..., n, 3) of every frame, N s, including the coupling inertia of consistent rod masses."""
    p = system.frames.mass[:, None] * state.v
    pairs, coupling = system.rods.shared_masses
    if not np.any(coupling):
        return p
    shared = coupling[:, None] * _spread(pairs, state)
    a, b = pairs.T
    frame_momenta, shared_momenta = np.moveaxis(p, -2, 0), np.moveaxis(shared, -2, 0)
    np.add.at(frame_momenta, a, shared_momenta)
    np.subtract.at(frame_momenta, b, shared_momenta)
    return p


def _spread(pairs: Ints, state: State) -> Floats:
    """Return v_b - v_a (..., k, 3) of pairs (k, 2) of frames, m/s."""
    a, b = pairs.T
    return state.v[..., b, :] - state.v[..., a, :]


def constraint_residual(system: System, state: State) -> Floats:
    """Return g (..., m) of all scalar constraints, in the order of State.lam: metres, or cosines."""
    check_states(system, state, *POSES, "internal")
    return append_interaction_constraints(
        system, state, residual_of(system.constraints, state, part(system, state, "drive"))
    )


def residual_of(constraints: Constraints, state: State, drive: Floats) -> Floats:
    """Return g (..., m) of `constraints`; `drive`: the drive block of the states."""
    if has_driven_parameters(constraints):
        tiled, flat = at_states(constraints, state, drive)
        g = evaluation.values(groups_of(tiled), flat.r, flat.quat)
        return g.reshape(*state.r.shape[:-2], -1)
    return residuals(constraints, state.r, state.quat)


def velocity_residual(system: System, state: State) -> Floats:
    """Return dg/dt (..., m) of all scalar constraints."""
    check_states(system, state, *POSES, "v", "Omega", "internal")
    rates = rate_of(system.constraints, state, part(system, state, "drive"))
    return append_interaction_constraints(system, state, rates, rate=True)


def append_interaction_constraints(
    system: System, state: State, of_table: Floats, rate: bool = False
) -> Floats:
    """Append g, or dg/dt if `rate`, of constraints in `System.others` to `of_table` (..., m), that of the constraint table.

    The values of constraints that an event has released are zero.
    """
    use = interaction_table.constraint_indices(system.others)
    if len(use):
        rows = interaction_table.rows_of(system.others)
        values = _of_others(system, state, use, np.cumsum(rows) - rows, int(rows.sum()), rate)
        of_table = np.concatenate([of_table, values], axis=-1)
    if len(system.controls.switch):
        return of_table * system.controls.acting(part(system, state, "sampled"))
    return of_table


def _of_others(system: System, state: State, use: Ints, row: Ints, rows: int, rate: bool = False) -> Floats:
    """Return the values (..., rows), or rates if `rate`, of the interactions `use` of `System.others`.

    Counted internal variables are those of the states. `row` (e,): first row of each interaction.
    """
    table = system.others
    if not interaction_table.counted_variable_counts(table)[use].any():
        groups = [group._replace(row=row[group.row]) for group in interaction_table.groups_of(table, use)]
        return evaluation.rates(groups, state) if rate else evaluation.values(groups, state.r, state.quat)
    lead, n = state.r.shape[:-2], state.r.shape[-2]
    counted = part(system, state, "angle")
    groups = interaction_table.at_states(table, counted.reshape(-1, counted.shape[-1]), n, use, row, rows)
    flat = flatten_states(state)
    values = evaluation.rates(groups, flat) if rate else evaluation.values(groups, flat.r, flat.quat)
    return values.reshape(*lead, rows)


def rate_of(constraints: Constraints, state: State, drive: Floats) -> Floats:
    """Return dg/dt (..., m) of `constraints`; `drive`: the drive block of the states."""
    if has_driven_parameters(constraints):
        tiled, flat = at_states(constraints, state, drive)
        rates = evaluation.rates(groups_of(tiled), flat).reshape(*state.r.shape[:-2], -1)
        rows = driven_rows(constraints)
        if len(rows):
            rates[..., first_rows(constraints)[rows]] += explicit_rates(constraints, state, drive)
        return rates
    return evaluation.rates(groups_of(constraints), state)
