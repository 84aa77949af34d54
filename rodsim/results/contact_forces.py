"""Compute contact forces in stored states: forces on frames, and their sums over patches, with friction and dissipation.

The normal forces are those of the interactions of the step (`discretization.contact.interactions` and `System.others`), evaluated
at one state. A patch has one normal and one bristle (`rigid.interactions.contact.friction`): it is an interaction with a plane,
or otherwise a part (a sphere, an element of a rod, a solid) with a window of its partner. Friction and dissipation are
those of `rigid.interactions.contact.friction` at one state and its rates, instead of over a step:

    normal       force of the law, times 1 + phi, where phi depends on the rate at which the contact closes
    tangential   force of the bristle in the state and of its parallel damper at the rate of slip, k zeta + d slip, at most mu N

Forces of sliding are therefore those at the end of the last step; the force of a stop or a reversal lies between two outputs.
Arrays have leading axes of states, or none.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.contact.contact_patches import find_patches
from discretization.contact.core_parameters import core_numbers
from discretization.contact.interactions import interactions_of
from discretization.contact.neighbour_search import Candidates, candidates
from discretization.contact.pair_gaps import gaps
from discretization.contact.table import (
    CORNERS,
    LOSS,
    MESH,
    ROD,
    ROUND_AXIS,
    WITH_CORES,
    points_of,
)
from discretization.integrator_memory import MemoryLayout
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import InteractionTable, groups_of
from discretization.internal_variables import first_history_variable, part
from discretization.system import System
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.contact.circles import AXIS, PLANE_CIRCLE, RADIUS
from rigid.interactions.contact.contact_sums import N, P
from rigid.interactions.contact.friction import (
    BACKWARD,
    CREEP,
    DRILL,
    FORWARD,
    KINETIC,
    N_INTERNAL,
    REST,
    ROLL,
    SIDEWAYS,
    SLOWEST,
    STATIC,
    STIFFNESS,
    B,
    C,
)
from rigid.interactions.contact.gaps import RHO
from rigid.interactions.contact.planes import CENTRE, PLANE_ROD
from rigid.interactions.contact.sphere_rod_dissipation import PLANE_DISSIPATIONS
from rigid.interactions.kinds import Group
from rigid.kinematics import cores
from rigid.system import Floats, Ints, State

TINY = 1e-200  # N, forces below this are never used as divisors
CHUNK_ROWS = 100_000  # largest number of interactions, over all states, that are computed together
_CACHED_LISTS = 4  # number of lists of pairs that are cached
_ENERGIES, _LOSSES = (
    [INTERACTIONS.index(kind) for kind in kinds] for kinds in zip(*PLANE_DISSIPATIONS.items(), strict=True)
)
# function of a state, the normals n (..., w, 3) of patches, and the mean heights along n (..., w) of the frames of their parts
# and of their partners, weighted with their forces, m, that returns the heights (..., w) of the contact points along n, m
Heights = Callable[[State, Floats, tuple[Floats, Floats]], Floats]


class ContactLaws(NamedTuple):
    """m interactions of contact laws, and their w patches."""

    groups: list[Group]  # the interactions; their rows are numbers from 0 to m - 1
    frames: Ints  # (m, a) frames of each interaction; frame 0 where it has fewer than a
    side: Ints  # (m, a) 1: a frame of the part, -1: a frame of its partner, 0: none
    patch: Ints  # (m,) patch of each interaction
    sign: Floats  # (w,) -1: the contact is subtracted, such as corners next to corners; else 1
    loss: Floats  # (w, 11) numbers of friction and dissipation, see `Contacts.loss`
    first: Ints  # (w,) frame in whose axes the bristle is
    part: Ints  # (w, 2) frames of the part: both nodes of an element, else twice the same
    heights: Heights

    @property
    def states_at_once(self) -> int:
        """Number of states that are computed together."""
        return max(1, CHUNK_ROWS // max(1, self.frames.size))


class BristleParameters(NamedTuple):
    """Bristles of w patches in states (...)."""

    stiffness: Floats  # (..., w) N/m
    zeta: Floats  # (..., w, 3) m, in the axes of the frame `ContactLaws.first`
    sliding: Floats  # (..., w) 1: the patch slides


class PatchForces(NamedTuple):
    """Contact forces with friction and dissipation."""

    on_frames: Floats  # (..., m, a, 3) N, on the frames of each interaction
    acts: NDArray[np.bool_]  # (..., m) True: the interaction has a force
    on_part: Floats  # (..., w, 3) N, on the part of each patch; its partner gets the opposite
    energy: Floats  # (..., w) J, of the law and of the bristles
    normal: Floats  # (..., w) N, negative for subtracted contacts
    tangential: Floats  # (..., w, 3) N, friction in the direction of the slip; the part gets its opposite
    slip: Floats  # (..., w, 3) m/s, slip velocity of the part
    place: Floats  # (..., w, 3) m, contact point; zero without contact
    lost: Floats  # (..., w) W, dissipated power
    slides: NDArray[np.bool_]  # (..., w) True: the patch slides


def compute_patch_forces(laws: ContactLaws, bristles: BristleParameters, state: State) -> PatchForces:
    """Return the contact forces, with friction and dissipation, in a state, or in many."""
    of, w = laws.patch, len(laws.loss)
    V, f = _forces_of_laws(laws, state)
    force, torque = f[..., :3], f[..., 3:]
    r, v = state.r[..., laws.frames, :], state.v[..., laws.frames, :]
    omega = quaternions.rotate(state.quat[..., laws.frames, :], state.Omega[..., laws.frames, :])
    is_part = (laws.side > 0)[..., None]
    F = _sum_over_patches(np.sum(is_part * force, axis=-2), of, w, 1)
    size = np.linalg.norm(F, axis=-1)
    touches = size > TINY
    per_Q = laws.sign * np.where(touches, 1.0 / np.where(touches, size, 1.0), 0.0)
    n = per_Q[..., None] * F
    weights = np.sum(force * n[..., of, None, :], axis=-1) * per_Q[..., of, None]  # sum of the part: 1
    # line of action of the force on the part: its point nearest to the first frame of the part
    start = state.r[..., laws.part[:, 0], :]
    moment = torque + np.cross(r - start[..., of, None, :], force)
    on_line = start + per_Q[..., None] * np.cross(
        n, _sum_over_patches(np.sum(is_part * moment, axis=-2), of, w, 1)
    )
    # weighted mean positions of the frames of both sides; the weights of a partner sum to -1
    one, other = (
        _sum_over_patches(
            np.sum(np.where(laws.side == side, side * weights, 0.0)[..., None] * r, axis=-2), of, w, 1
        )
        for side in (1, -1)
    )
    height = laws.heights(state, n, (np.sum(n * one, axis=-1), np.sum(n * other, axis=-1)))
    contact_point = touches[..., None] * (on_line + (height - np.sum(n * on_line, axis=-1))[..., None] * n)
    # restitution and damping along the normal
    power = _sum_over_patches(-np.sum(force * v + torque * omega, axis=(-2, -1)), of, w)
    b, c, rest_speed = (laws.loss[:, i] for i in (B, C, REST))
    rate = per_Q * power
    speed = np.sqrt(rate**2 + rest_speed**2)
    phi = np.maximum(b * rate / np.where(speed > 0.0, speed, 1.0) + c * rate, -1.0)
    normal = laws.sign * size * (1.0 + phi) * touches
    # friction, rolling and drilling
    # each side carries the contact point by one lever arm, from the mean position of its frames
    arms = np.where(
        is_part, (contact_point - one)[..., of, None, :], (contact_point - other)[..., of, None, :]
    )
    moves = v + np.cross(omega, arms)
    slip = _perpendicular_part(_sum_over_patches(np.sum(weights[..., None] * moves, axis=-2), of, w, 1), n)
    spin = _sum_over_patches(np.sum(weights[..., None] * omega, axis=-2), of, w, 1)
    T, stored = _bristle_force(laws, bristles, state, n, normal, slip)
    lost = phi * power + np.sum((T - stored) * slip, axis=-1)
    about = np.sum(spin * n, axis=-1)
    for rolled, length in ((about**2, DRILL), (np.sum(spin**2, axis=-1) - about**2, ROLL)):
        rolled = np.maximum(rolled, 0.0)
        lost = lost + normal * laws.loss[:, length] * rolled / np.sqrt(rolled + SLOWEST**2)
    energy = _sum_over_patches(V, of, w) + 0.5 * bristles.stiffness * np.sum(bristles.zeta**2, axis=-1)
    on_frames = (1.0 + phi)[..., of, None, None] * force - weights[..., None] * T[..., of, None, :]
    acts = np.any(force, axis=(-2, -1))
    on_part = (1.0 + phi)[..., None] * F - T
    slides = (bristles.sliding > 0.5) & (normal > 0.0)
    return PatchForces(on_frames, acts, on_part, energy, normal, T, slip, contact_point, lost, slides)


def _forces_of_laws(laws: ContactLaws, state: State) -> tuple[Floats, Floats]:
    """Return the energies (..., m), J, and the forces and torques on the frames (..., m, a, 6), N and N m."""
    V = np.zeros((*state.r.shape[:-2], len(laws.frames)))
    f = np.zeros((*V.shape, laws.frames.shape[1], 6))
    for group in laws.groups:
        interactions = [group._replace(row=np.arange(len(group.row)))]
        V[..., group.row] = evaluation.values(interactions, state.r, state.quat)
        f[..., group.row, : group.kind.arity, :] = -evaluation.gradients(interactions, state.r, state.quat)
    return V, f


def _bristle_force(
    laws: ContactLaws, bristles: BristleParameters, state: State, n: Floats, normal: Floats, slip: Floats
) -> tuple[Floats, Floats]:
    """Return the force T (..., w, 3) of the bristles and their dampers, N, and the part of it whose work the bristles store."""
    u = _perpendicular_part(quaternions.rotate(state.quat[..., laws.first, :], bristles.zeta), n)
    length, projected_length = (np.linalg.norm(x, axis=-1) for x in (bristles.zeta, u))
    u = (length / np.where(projected_length > 0.0, projected_length, 1.0))[..., None] * u
    directions = _friction_directions(laws, state, n)
    of_bristle = bristles.stiffness[..., None] * _scale_by_power(u, directions, u, -0.5)
    rest_speed = CREEP * laws.loss[:, REST]
    d = (
        np.where(rest_speed > 0.0, laws.loss[:, STATIC] / np.where(rest_speed > 0.0, rest_speed, 1.0), 0.0)
        * normal
    )
    P = of_bristle + d[..., None] * slip
    size, slid = np.linalg.norm(P, axis=-1), bristles.sliding > 0.5
    limit = normal * np.where(slid, laws.loss[:, KINETIC], laws.loss[:, STATIC])
    fraction = np.minimum(1.0, limit / np.where(size > 0.0, size, 1.0))
    stored = np.where(
        (slid | (fraction < 1.0))[..., None], 0.0, _scale_by_power(of_bristle, directions, u, 1.0)
    )
    return _scale_by_power(fraction[..., None] * P, directions, P, 1.0), stored


def _friction_directions(laws: ContactLaws, state: State, n: Floats) -> tuple[Floats, Floats]:
    """Return the directions of rod elements, projected across n, and the factors of friction.

    Directions (..., w, 3) are unit vectors, zero if the part is not a rod element. Factors (..., w, 3) are those of sliding
    forwards, backwards and sideways.
    """
    along = state.r[..., laws.part[:, 1], :] - state.r[..., laws.part[:, 0], :]
    e = _perpendicular_part(along, n)
    length, projected_length = np.linalg.norm(along, axis=-1), np.linalg.norm(e, axis=-1)
    tangential_part = (projected_length / np.where(length > 0.0, length, 1.0))[..., None] ** 2
    factors = np.where(length[..., None] > 0.0, laws.loss[:, (FORWARD, BACKWARD, SIDEWAYS)], 1.0)
    side = factors[..., 2:]
    return e / np.where(projected_length > 0.0, projected_length, 1.0)[..., None], side + tangential_part * (
        factors - side
    )


def _scale_by_power(x: Floats, directions: tuple[Floats, Floats], of: Floats, power: float) -> Floats:
    """Return F^power x, with the matrix F of the factors of friction for the direction of sliding of the vectors `of`."""
    e, factors = directions
    forth, back, side = np.moveaxis(factors**power, -1, 0)
    p = np.where(np.sum(of * e, axis=-1) > 0.0, forth, back)
    return side[..., None] * x + ((p - side) * np.sum(x * e, axis=-1))[..., None] * e


def _perpendicular_part(x: Floats, n: Floats) -> Floats:
    """Return x without its component along n."""
    return x - np.sum(x * n, axis=-1, keepdims=True) * n


def _sum_over_patches(values: Floats, of: Ints, w: int, trailing: int = 0) -> Floats:
    """Sum values of rows over each of w patches; `of`: patch of each row; `trailing`: number of axes after that of the rows."""
    axis = values.ndim - 1 - trailing
    sums = np.zeros((*values.shape[:axis], w, *values.shape[axis + 1 :]))
    np.add.at(np.moveaxis(sums, axis, 0), of, np.moveaxis(values, axis, 0))
    return sums


def _groups(table: InteractionTable, use: Ints) -> list[Group]:
    """Return the groups of the interactions `use`, increasing, of a table; rows are numbers from 0 on."""
    return [group._replace(row=np.searchsorted(use, group.row)) for group in groups_of(table, use)]


def plane_rows(system: System) -> Ints:
    """Return the indices of all energies with planes in `System.others`."""
    return np.flatnonzero(np.isin(system.others.kind, _ENERGIES))


class PlaneContacts:
    """Contacts with planes: the energies with indices `use` in `System.others`, one patch for each."""

    def __init__(self, system: System, use: Ints) -> None:
        table, w = system.others, len(use)
        arity = np.array([kind.arity for kind in INTERACTIONS])[table.kind[use]]
        frames = table.frames[use, : arity.max(initial=2)]
        has_frame = np.arange(frames.shape[1]) < arity[:, None]
        side = np.where(has_frame, 1, 0)
        side[:, 0] = -1
        self._X = table.numbers[table.first[use][:, None] + np.arange(P + 3)]
        loss = np.zeros((w, LOSS))
        loss[:, [FORWARD, BACKWARD, SIDEWAYS]] = 1.0
        # indices of the internal variables in `State.internal`; -1: none
        self._variable_indices = np.full((w, N_INTERNAL), -1)
        # the dissipation of an energy, if it has one, is the next one in the table
        next_row = np.minimum(use + 1, len(table.kind) - 1)
        has_loss = np.isin(table.kind[next_row], _LOSSES)
        ends = table.first[next_row[has_loss] + 1][:, None]
        loss[has_loss] = table.numbers[ends - N_INTERNAL - LOSS + np.arange(LOSS)]
        self._variable_indices[has_loss] = first_history_variable(system)[next_row[has_loss]][
            :, None
        ] + np.arange(N_INTERNAL)
        self._groups, self._plane = _groups(table, use), frames[:, 0]
        part = np.stack([frames[:, 1], frames[np.arange(w), arity - 1]], axis=1)
        self.laws = ContactLaws(
            self._groups,
            np.where(has_frame, frames, 0),
            side,
            np.arange(w),
            np.ones(w),
            loss,
            self._plane,
            part,
            self._heights,
        )

    def bristles(self, state: State) -> BristleParameters:
        """Return the bristles in a state, or in many."""
        none = np.zeros((*state.internal.shape[:-1], 1))
        variables = np.concatenate([state.internal, none], axis=-1)[..., self._variable_indices]
        loss = self.laws.loss
        return BristleParameters(
            np.where(loss[:, STATIC] > 0.0, loss[:, STIFFNESS], 0.0), variables[..., :3], variables[..., 3]
        )

    def _pose(self, state: State) -> tuple[Floats, Floats]:
        """Return the normals and a point of each plane (..., w, 3) in a state, or in many."""
        quat = state.quat[..., self._plane, :]
        point = state.r[..., self._plane, :] + quaternions.rotate(quat, self._X[:, P : P + 3])
        return quaternions.rotate(quat, self._X[:, N : N + 3]), point

    def _heights(self, state: State, n: Floats, means: tuple[Floats, Floats]) -> Floats:
        """Return the heights of the planes along their normals: contact points lie on the planes."""
        return np.sum(n * self._pose(state)[1], axis=-1)

    @staticmethod
    def count(acts: NDArray[np.bool_]) -> Floats:
        """Return the number (T,) of interactions that act."""
        return acts.sum(axis=-1).astype(float)

    def gap(self, state: State) -> Floats:
        """Return the least gap (...), m, to one of the planes; infinite without a plane."""
        n, point = self._pose(state)
        least = np.full(state.r.shape[:-2], np.inf)
        for group in self._groups:
            up, foot = n[..., group.row, None, :], point[..., group.row, None, :]
            x, quat = state.r[..., group.frames[:, 1:], :], state.quat[..., group.frames[:, 1:], :]
            if group.kind is not PLANE_ROD:
                x = x + quaternions.rotate(quat, group.numbers[:, None, CENTRE : CENTRE + 3])
            g = np.sum(up * (x - foot), axis=-1) - group.numbers[:, RHO, None]
            if group.kind is PLANE_CIRCLE:
                axis = quaternions.rotate(quat, group.numbers[:, None, AXIS : AXIS + 3])
                g = g - group.numbers[:, RADIUS, None] * np.linalg.norm(np.cross(axis, up), axis=-1)
            least = np.minimum(least, g.min(axis=(-2, -1), initial=np.inf))
        return least


@dataclass(frozen=True, eq=False)
class PairContacts:
    """Contacts of one list of pairs of parts, with c pairs and w patches."""

    system: System
    listed: Candidates
    patch: Ints  # (c,) patch of each pair of parts
    pair: Ints  # (w,) pair of surfaces of each patch
    side: Ints  # (w,) 0: the part is on the first surface of the pair
    number: Ints  # (w,) number of the window among those with losses, from 1 on; 0: without losses
    part: Ints  # (w, 2) end points of the part

    @classmethod
    def at(cls, system: System, listed: Candidates) -> PairContacts:
        """Return the contacts of a list; a patch is a window, also without losses."""
        contacts, ints = system.contacts, np.int64
        windows = find_patches(contacts._replace(loss=np.ones_like(contacts.loss)), listed)
        lossy_patches = find_patches(contacts, listed)
        window_numbers, pairs_with_loss = (
            iter(range(1, 1 + len(lossy_patches))),
            {patch.pair for patch in lossy_patches},
        )
        patch_of_ends = {}
        for k, patch in enumerate(windows):
            row = patch.row if len(patch.row) > 1 else 2 * patch.row
            for ends in pairwise(row):
                patch_of_ends[patch.pair, patch.side, patch.part[0], *ends] = k
        keys = np.column_stack([listed.pair, listed.side, listed.ends[:, [0, 2, 3]]]).tolist()
        return cls(
            system,
            listed,
            np.array([patch_of_ends[tuple(key)] for key in keys], ints),
            np.array([patch.pair for patch in windows], ints),
            np.array([patch.side for patch in windows], ints),
            np.array(
                [next(window_numbers) if patch.pair in pairs_with_loss else 0 for patch in windows], ints
            ),
            np.array([(patch.part[0], patch.part[-1]) for patch in windows], ints).reshape(-1, 2),
        )

    def of(self, pairs: slice) -> PairContacts:
        """Return the list without the parts and patches of other pairs of surfaces."""
        selected = (self.pair >= pairs.start) & (self.pair < pairs.stop)
        use, listed = np.flatnonzero(selected[self.patch]), self.listed
        faces = [listed.faces[slice(*listed.first[k : k + 2])] for k in use.tolist()]
        some = Candidates(
            listed.pair[use],
            listed.side[use],
            listed.ends[use],
            listed.minus[use],
            np.cumsum([0, *map(len, faces)]),
            np.concatenate([np.zeros(0, np.int64), *faces]),
        )
        patch = (np.cumsum(selected) - 1)[self.patch[use]]
        patch_columns = (self.pair[selected], self.side[selected], self.number[selected], self.part[selected])
        return PairContacts(self.system, some, patch, *patch_columns)

    @cached_property
    def laws(self) -> ContactLaws:
        """Interactions of the list, and their patches."""
        contacts, listed, w = self.system.contacts, self.listed, len(self.pair)
        table, use = interactions_of(contacts, listed), np.arange(len(listed.pair))
        groups = _groups(table, use)
        frames = table.frames[:, : max((group.kind.arity for group in groups), default=2)]
        is_part = (frames[:, :, None] == contacts.frames[listed.ends[:, None, :2]]).any(axis=2)
        loss = contacts.loss[self.pair].copy()
        loss[:, [FORWARD, BACKWARD, SIDEWAYS]] += loss[:, [FORWARD, BACKWARD, SIDEWAYS]] == 0.0
        sign, first = np.ones(w), contacts.frames[self.part[:, 0]]
        sign[self.patch[(contacts.kind[self._surfaces] == CORNERS).all(axis=1)]] = -1.0
        # the bristle is in the axes of the first frame of an interaction, which may be that of the partner
        first[self.patch] = frames[:, 0]
        side = np.where(frames < 0, 0, np.where(is_part, 1, -1))
        part = contacts.frames[self.part]
        return ContactLaws(
            groups, np.maximum(frames, 0), side, self.patch, sign, loss, first, part, self._heights
        )

    def bristles(self, state: State) -> BristleParameters:
        """Return the bristles in a state, or in many."""
        rows, w = part(self.system, state, "bristle"), len(self.pair)
        bristles, stiffness = np.zeros((*rows.shape[:-2], w, N_INTERNAL)), np.zeros((*rows.shape[:-2], w))
        for *state_index, k in np.argwhere(rows[..., 0] > 0.0).tolist():
            row, one = rows[(*state_index, k)], tuple(state_index)
            at = np.flatnonzero(self.number == int(row[0]))
            bristles[one][at], stiffness[one][at] = row[1 : 1 + N_INTERNAL], row[1 + N_INTERNAL]
        return BristleParameters(stiffness, bristles[..., :3], bristles[..., 3])

    def count(self, acts: NDArray[np.bool_]) -> Floats:
        """Return the number (T,) of pairs of parts in contact, from the interactions that act (T, c)."""
        keys = np.sort(self.listed.ends[:, [0, 2]], axis=1) @ (len(self.system.contacts.frames), 1)
        return np.array([len(np.unique(keys[active])) for active in acts], float)

    @property
    def _surfaces(self) -> Ints:
        """(c, 2) surfaces of the part and of its partner."""
        side = np.stack([self.listed.side, 1 - self.listed.side], axis=1)
        return np.take_along_axis(self.system.contacts.pairs[self.listed.pair], side, 1)

    def _heights(self, state: State, n: Floats, means: tuple[Floats, Floats]) -> Floats:
        """Return the heights of the contact points, which divide the distance of part and partner as their radii do.

        They are measured from the surface of a partner with a core, otherwise from the axes or centres of both. If the
        partner is a mesh, its distance from the part is computed.
        """
        contacts = self.system.contacts
        row = np.zeros(len(self.pair), np.int64)  # an interaction of each patch
        row[self.patch] = np.arange(len(self.patch))
        surfaces, ends = self._surfaces[row], self.listed.ends[row]
        radii, kinds = contacts.radius[surfaces], contacts.kind[surfaces]
        heights = []
        for side, sign in ((0, -1.0), (1, 1.0)):  # the part is above its partner
            points = ends[:, 2 * side : 2 * side + 2]
            quat = state.quat[..., contacts.frames[points], :]
            x = state.r[..., contacts.frames[points], :] + quaternions.rotate(quat, contacts.X[points])
            height = sign * np.max(sign * np.sum(n[..., None, :] * x, axis=-1), axis=-1)
            for k in np.flatnonzero(np.isin(kinds[:, side], WITH_CORES)).tolist():
                R, core = (
                    quaternions.to_matrix(quat[..., k, 0, :]),
                    core_numbers(contacts, int(surfaces[k, side])),
                )
                height[..., k] += sign * _support(core, sign * np.einsum("...ji,...j->...i", R, n[..., k, :]))
            heights.append(np.where(kinds[:, side] == ROD, means[side], height))
        above, below = heights
        if (kinds[:, 1] == MESH).any():
            below = np.where(kinds[:, 1] == MESH, above - self._distances(state), below)
        rho, cored = radii.sum(axis=1), np.isin(kinds[:, 1], WITH_CORES)
        fraction = radii[:, 0] / rho
        return np.where(cored, below + (1.0 - fraction) * rho, (1.0 - fraction) * above + fraction * below)

    def _distances(self, state: State) -> Floats:
        """Return the distances (..., w) of the parts of all patches from their partners, m, without radii."""
        contacts = self.system.contacts
        points = points_of(contacts, state.r, state.quat)
        flat = np.ascontiguousarray(points.reshape(-1, *points.shape[-2:]))
        radii = contacts.radius[self._surfaces].sum(axis=1)
        distances = np.array([gaps(contacts, self.listed, tracked) + radii for tracked in flat])
        least = np.full((len(self.pair), len(flat)), np.inf)
        np.minimum.at(least, self.patch, distances.T)
        return least.T.reshape(*points.shape[:-2], len(self.pair))


def _support(core: Floats, n: Floats) -> Floats:
    """Return the support function (...) of a core, m: its extent from its centre along the directions n (..., 3), frame axes.

    `core`: block of numbers of the core, with the centre before it.
    """
    if core[cores.SORT] == cores.ROUND:
        corners = core[cores.PROFILE : cores.PROFILE + 2 * int(core[cores.CORNERS])].reshape(-1, 2)
        z = n @ np.array(ROUND_AXIS)
        across = np.sqrt(np.maximum(np.sum(n * n, axis=-1) - z * z, 0.0))
        return (across[..., None] * corners[:, 0] + z[..., None] * corners[:, 1]).max(axis=-1)
    vertices = core[cores.VERTICES : cores.VERTICES + 3 * int(core[cores.COUNTS])].reshape(-1, 3)
    return (n @ vertices.T).max(axis=-1)


class PairLists:
    """Lists of pairs of states; the last `_CACHED_LISTS` ones are cached."""

    def __init__(self, system: System, memory: MemoryLayout) -> None:
        self._system, self._memory = system, memory
        self._cache: OrderedDict[bytes, PairContacts] = OrderedDict()

    def of(self, state: State) -> PairContacts:
        """Return the list of a state.

        It is the list stored in the state, to whose windows the bristles of the state belong. If the state stores none, it is
        a list of the parts that are near enough to act.
        """
        contacts, key = self._system.contacts, b""
        if self._memory.points and state.memory.shape == (self._memory.size,):
            parts = self._memory.parts(state.memory)
            points, skin = parts["reference"], float(parts["skin"][0])
            key = points.tobytes() + parts["skin"].tobytes() if skin > 0.0 else b""
        if key in self._cache:
            return self._cache[key]
        if not key:
            points, skin = points_of(contacts, state.r, state.quat), 0.0
        pair_contacts = PairContacts.at(
            self._system, candidates(contacts, np.ascontiguousarray(points), skin)
        )
        if key:
            self._cache[key] = pair_contacts
            if len(self._cache) > _CACHED_LISTS:
                self._cache.popitem(last=False)
        return pair_contacts

    def runs(self, states: State) -> Iterator[tuple[slice, PairContacts]]:
        """Yield slices of consecutive states that have the same list, and the list."""
        begin, listed = 0, None
        for k in range(len(states.r)):
            contacts = self.of(State(*(array[k] for array in states)))
            if listed is not None and contacts is not listed:
                yield slice(begin, k), listed
                begin = k
            listed = contacts
        if listed is not None:
            yield slice(begin, len(states.r)), listed


class ContactForces:
    """Contact forces of a system, or of some of its contacts, in many states."""

    def __init__(
        self, system: System, memory: MemoryLayout, planes: Ints | None = None, pairs: slice | None = None
    ) -> None:
        """Prepare the forces; `planes`: energies with planes in `System.others`, `pairs`: pairs of surfaces; by default all."""
        use = plane_rows(system) if planes is None else planes
        self.planes = PlaneContacts(system, use) if len(use) else None
        self._pairs = slice(0, len(system.contacts.pairs)) if pairs is None else pairs
        self._lists = PairLists(system, memory)
        self._all_pairs = pairs is None
        self._frames = len(system.frames.mass)

    def of(self, states: State) -> Iterator[tuple[slice, PlaneContacts | PairContacts, PatchForces]]:
        """Yield slices of states (T, ...), with contacts and their forces there: first those with planes, then lists of pairs."""
        parts: list[tuple[slice, PlaneContacts | PairContacts]] = []
        if self.planes is not None:
            parts.append((slice(0, len(states.r)), self.planes))
        if self._pairs.stop > self._pairs.start:
            runs = self._lists.runs(states)
            parts += [
                (at, contacts if self._all_pairs else contacts.of(self._pairs)) for at, contacts in runs
            ]
        for batch, contacts in parts:
            for k in range(batch.start, batch.stop, contacts.laws.states_at_once):
                at = slice(k, min(k + contacts.laws.states_at_once, batch.stop))
                some = State(*(array[at] for array in states))
                yield at, contacts, compute_patch_forces(contacts.laws, contacts.bristles(some), some)

    def on_frames(self, state: State) -> Floats:
        """Return the contact forces on all frames (..., n, 3), N, inertial axes, in one state or in many."""
        lead = state.r.shape[:-2]
        count = int(np.prod(lead))
        many = State(*(array.reshape(count, *array.shape[len(lead) :]) for array in state))
        total = np.zeros((len(many.r), self._frames, 3))
        for at, contacts, forces in self.of(many):
            force = forces.on_frames.reshape(len(forces.on_frames), -1, 3)
            np.add.at(np.moveaxis(total[at], 1, 0), contacts.laws.frames.ravel(), np.moveaxis(force, 1, 0))
        return total.reshape(*lead, self._frames, 3)
