"""Compute the change of stiffness due to the linear response to a load: K' of stresses C de in an unchanged shape.

    K' = K(C, s + C de) - K(C, s) + K(lam') + K(F'),    de = de/dy u                                        (1)

with u the linear response, e the strains of each energy, s its stress and C its tangent stiffness in that shape, lam' the
increase of the multipliers and F' the growing loads. K is linear in stresses, multipliers and loads. The change of C with the
strains, if a law is nonlinear, is not included. An energy declares its strains (`StrainEnergy`); rods have strains at points.

For a user-defined kind only its dual is known, and so the change of its force and stiffness along a displacement,

    K' = dK/dy P u,   df = df/dy P u                                                                          (2)

P projects u onto the range of the stiffness of that interaction: the part that the interaction resists. If it has no stress, a
rotation that it follows changes neither, and (2) equals (1) except for the change of strains due to strains: for a spring
between two points both are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # submodules are loaded on first access

from discretization.interaction_groups import Role, constraints_of, groups_of, rods_of
from discretization.linearisation import load_stiffness, tangents
from discretization.linearisation.equations import Linearised, fill_zero_diagonal, multipliers
from discretization.linearisation.perturbed_state import perturb_state
from discretization.linearisation.tangents import StiffnessBlocks, joined
from discretization.space.spans import Spans, with_laws
from discretization.state_measures import element_states
from discretization.system import System
from rigid.interactions import evaluation
from rigid.interactions.kinds import Group, StrainEnergy
from rigid.system import Floats, State

# central difference of order 4 for a derivative: weights, offsets
CENTRAL = (8 / 12, 1), (-8 / 12, -1), (-1 / 12, 2), (1 / 12, -2)
STRAIN = 1e-6  # strain increment of the differences for the tangent of a rod's law


RESISTANCE_TOLERANCE = 1e-9  # stiffness taken as zero, relative to the interaction's largest


class PrestressedEnergies(NamedTuple):
    """Energies of a system in a shape, with their stiffness in it, before and after stress is added."""

    before: list[Group]
    after: list[Group]
    silent: list[Group]  # energies that do not declare their strains; not in the other lists


def prestressed_energies(system: System, state: State, direction: Floats, f: float) -> PrestressedEnergies:
    """Return the energies in the shape `state` before and after the stresses of a displacement `direction` (n, 6) are added.

    Strains are computed by differences at +-f and +-2f times the direction.
    """
    nearby, silent = _nearby_states(system, state, direction, f), []
    before, after = (rods_of(of) for of in _rods(system, state, nearby))
    for interaction in groups_of(system, state, Role.ENERGY):
        if interaction.table in ("spans", "elements"):
            continue
        if interaction.group.kind.strain_energy is None:
            silent.append(interaction.group)
            continue
        before.append(interaction.group)
        after.append(_prestressed(interaction.group, interaction.group.kind.strain_energy, state, nearby))
    return PrestressedEnergies(before, after, silent)


def change(
    lin: Linearised, increments: tuple[Floats, Floats], direction: Floats, f: float
) -> scipy.sparse.csr_matrix:
    """Return K' of (1), (size, size), about the state of `lin`.

    `increments`: loads (l, 3), and forces and torques of loads and weight (n, 6), both at factor one less at factor zero.
    """
    system, state = lin.system, lin.state
    loads, forces = increments
    both = prestressed_energies(system, state, direction, f)
    none = np.zeros(0)
    after, before = (tangents.groups_at_state(groups, state) for groups in (both.after, both.before))
    along, pulled = _along(lin, both.silent, direction, f)
    # change of the multipliers of the joints
    imbalance = after.forces(none) - before.forces(none) + pulled - forces
    lam = multipliers(fill_zero_diagonal(lin.M), lin.G, imbalance[lin.frames].ravel(), lin.repeated)
    K, K0 = after.stiffness(none), before.stiffness(none)
    parts = [
        *along,
        K,
        StiffnessBlocks(K0.rows, K0.columns, -K0.values),
        tangents.stiffness(constraints_of(system, state), state, lam[: len(state.lam)]),
        load_stiffness.stiffness(system, state, loads),
    ]
    matrix = scipy.sparse.csr_matrix(joined(parts).matrix(lin.place))
    return scipy.sparse.csr_matrix(0.5 * (matrix + matrix.T))


NearbyStates = Sequence[tuple[float, State]]  # weights of a difference, and perturbed states


def _nearby_states(system: System, state: State, direction: Floats, f: float) -> NearbyStates:
    """Return weights, divided by f, and states of the central difference along `direction` (n, 6)."""
    return [(s / f, perturb_state(system, state, t * f * direction)) for s, t in CENTRAL]


def _along(
    lin: Linearised, groups: list[Group], direction: Floats, f: float
) -> tuple[list[StiffnessBlocks], Floats]:
    """Return the stiffness changes of (2) for `groups`, as blocks, and the sum of their force changes (n, 6)."""
    system, state, none = lin.system, lin.state, np.zeros(0)
    blocks, forces = [], np.zeros_like(direction)
    reach = float(np.ptp(state.r, axis=0).max()) or 1.0  # length that scales rotations, m
    for group in groups:
        for k in range(len(group.frames)):
            one = [group._replace(frames=group.frames[[k]], numbers=group.numbers[[k]], row=group.row[[k]])]
            moving, place = group.frames[k][lin.place[group.frames[k]] >= 0], np.full(len(lin.place), -1)
            place[moving] = np.arange(len(moving))
            scale = np.tile(np.repeat([1.0, 1.0 / reach], 3), len(moving))
            K = scale[:, None] * tangents.stiffness(one, state, none).full(place) * scale
            sizes, shapes = np.linalg.eigh(K + K.T)
            resisted = shapes[:, np.abs(sizes) > RESISTANCE_TOLERANCE * np.abs(sizes).max(initial=0.0)]
            part = np.zeros_like(direction)
            x = resisted @ (resisted.T @ (direction[moving].ravel() / scale))
            part[moving] = (scale * x).reshape(-1, 6)
            for weight, shifted in _nearby_states(system, state, part, f):
                slopes = tangents.stiffness(one, shifted, none)
                blocks.append(slopes._replace(values=weight * slopes.values))
                forces += weight * tangents.forces(one, shifted, none)
    return blocks, forces


def _rods(system: System, state: State, nearby: NearbyStates) -> tuple[System, System]:
    """Return two systems with rods linearised in `state`: without change, and with rest strains reduced by de."""
    strain, rods = (
        np.sum([weight * element_states(system, shifted)[0] for weight, shifted in nearby], axis=0),
        system.rods,
    )
    if not rods.linear.all():
        spans = _without_laws(rods.spans, element_states(system, state)[0][rods.first :])
        rods = rods._replace(spans=spans)
    return system.with_rods(rods), system.with_rods(rods.strained(strain))


def _prestressed(group: Group, strain_energy: StrainEnergy, state: State, nearby: NearbyStates) -> Group:
    """Return the group with the stresses of its strain changes de added, with unchanged stiffness."""
    kind = group.kind._replace(value=strain_energy.strains, rows=strain_energy.count, strain_energy=None)
    strains = group._replace(kind=kind, row=strain_energy.count * np.arange(len(group.frames)))

    def measured(shifted: State) -> Floats:
        return evaluation.values([strains], shifted.r, shifted.quat).reshape(-1, strain_energy.count)

    de = np.sum([weight * measured(shifted) for weight, shifted in nearby], axis=0)
    return group._replace(numbers=strain_energy.prestressed(group.numbers, measured(state), de))


def _without_laws(spans: Spans, strain: Floats) -> Spans:
    """Return the spans with laws replaced by their tangents (g, 6, 6) at these strains.

    The stress in the state differs from that of the laws, which cancels in all differences.
    """

    def stress(e: Floats) -> Floats:
        return with_laws(spans, e, np.sum(spans.stiffness * e[:, None, :], axis=-1))

    stiffness = np.empty_like(spans.stiffness)
    scale = STRAIN / spans.length.max()
    for j in range(6):
        step = np.zeros(6)
        step[j] = STRAIN if j < 3 else scale
        stiffness[:, :, j] = (stress(strain + step) - stress(strain - step)) / (2 * step[j])
    return spans._replace(
        stiffness=0.5 * (stiffness + stiffness.swapaxes(1, 2)), law=np.full_like(spans.law, -1)
    )
