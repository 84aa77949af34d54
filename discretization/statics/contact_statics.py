"""Statics with contact between surfaces: `EquilibriumSystem` with the pairs of a neighbour list among its interactions.

A list is made at the positions of the points of all surfaces. It contains all pairs nearer than their reach and a skin; until a
point has moved by half the skin no other pair can act. If a point has moved by a quarter of it, a new list is made before forces
are computed. A correction or a load step counts as failed in three cases: it ends beyond half the skin of its list; a pair
could have passed through itself (`discretization.contact.closest_points`); or it presses a pair together until its axes almost
meet. There are equilibria in which surfaces are through each other though the axes have not met. Lists change the numbering,
not the state. There is no friction between surfaces at rest: sticking contacts are released.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from discretization.assembly.numbering import BAND_LIMIT
from discretization.contact.closest_points import DEEP, distances, mark_crossings
from discretization.contact.interactions import interactions_of
from discretization.contact.neighbour_search import candidates
from discretization.contact.table import (
    CAPSULE,
    OF_MESHES,
    ROD,
    contacts_of,
    median_search_distance,
    points_of,
    search_distances,
)
from discretization.interaction_table import at_rest, joined
from discretization.internal_variables import part
from discretization.memoization import unshared
from discretization.relaxed_system import relaxed_system
from discretization.state_shapes import sizes_of, state_shapes
from discretization.statics.equilibrium_system import EquilibriumSystem
from discretization.statics.forces import SOLVED
from discretization.statics.iteration import FORCES, NEWTON, NOT_CONVERGED, TANGENT
from discretization.statics.loading import Loading
from discretization.statics.resting_friction import RestingFriction
from discretization.system import System
from rigid.system import Floats, State

# skin as a fraction of the model's length; it is at most REACHES times and at least twice the reach
SKIN, REACHES = 0.1, 5.0


class DeepestPenetration(NamedTuple):
    """Pair of axes with the deepest penetration."""

    frames: tuple[int, int]  # one frame per axis, next to the contact
    pair: int  # index of the pair in `Contacts`
    apart: float  # m, distance of the axes
    reach: float  # m, distance at which they begin to touch


def equilibrium_system_of(
    system: System,
    state: State,
    loading: Loading,
    band_limit: int = BAND_LIMIT,
    idle: Mapping[int, Floats] | None = None,
    friction: bool = False,
) -> EquilibriumSystem:
    """Return the `EquilibriumSystem` of a system, with contacts between surfaces or without.

    friction: True if contacts with planes have friction, with the bristles of the state.
    """
    resting = RestingFriction(system, state, idle or ()) if friction else None
    if resting is not None and not len(resting.use):
        resting = None
    if len(system.contacts.pairs):
        return ContactEquilibriumSystem(system, state, loading, band_limit, idle, resting)
    return EquilibriumSystem(system, state, loading, band_limit, idle, friction=resting)


class ContactEquilibriumSystem(EquilibriumSystem):
    """Model at rest with contacts; its `system` contains the pairs of the present neighbour list."""

    def __init__(
        self,
        system: System,
        state: State,
        loading: Loading,
        band_limit: int = BAND_LIMIT,
        idle: Mapping[int, Floats] | None = None,
        friction: RestingFriction | None = None,
    ):
        self._model_friction = friction
        self._model_system, self._model_loading, self._band_limit = system, loading, band_limit
        sizes = sizes_of(system)
        self._model_shapes = state_shapes(sizes)
        internal = state.internal.copy()
        # bristles are released, as other bristles at rest
        part(system, state._replace(internal=internal), "bristle")[...] = 0.0
        # the history of an integrator is not needed
        start = state._replace(internal=internal, memory=np.zeros(sizes.memory.size))
        self._build_list(start, idle)

    def _build_list(self, state: State, idle: Mapping[int, Floats] | None) -> None:
        """Make a neighbour list at this state, and set up everything that depends on it."""
        system, contacts = self._model_system, self._model_system.contacts
        self._reference = points_of(contacts, state.r, state.quat)
        length = float(np.ptp(state.r, axis=0).max(initial=0.0))
        reach = median_search_distance(search_distances(contacts))
        self._skin = max(min(SKIN * length, REACHES * reach), 2.0 * reach)
        pairs = candidates(contacts, np.ascontiguousarray(self._reference), self._skin)
        of_meshes = np.isin(contacts.kind[contacts.pairs[pairs.pair]], OF_MESHES).any(axis=1)
        self._ends = np.ascontiguousarray(np.unique(pairs.ends[~pairs.meshed & ~of_meshes], axis=0))
        lines = np.isin(contacts.kind[contacts.pairs[pairs.pair]], (ROD, CAPSULE)).all(axis=1)
        self._lines = np.ascontiguousarray(pairs.ends[lines])
        self._pairs = pairs.pair[lines]
        self._reaches = search_distances(contacts)[self._pairs]
        interactions = joined(system.others, interactions_of(contacts, pairs))
        with_contacts = unshared(system._replace(others=interactions, contacts=contacts_of()))
        super().__init__(
            with_contacts,
            state,
            self._model_loading,
            self._band_limit,
            idle,
            self._model_shapes,
            self._model_friction,
        )
        self.max_shift = 0.25 * self._skin

    def _rebuild_list(self) -> None:
        """Make a new list at the present state; loads, holding forces and settings are unchanged."""
        held_forces, offset = self._by_frame(self.fading_forces), self._by_frame(self.offset)
        values, gravity, factor = self.values.copy(), self.system.gravity.copy(), self.factor
        most_turn, n_before = self.max_rotation, self.n_factorisations
        self._forget()
        self._build_list(self.state, self.idle)
        self.max_rotation, self.n_factorisations = most_turn, n_before + self.n_factorisations
        self.load_at(factor)
        self.values[:], self.system.gravity[:] = values, gravity
        super()._execute(FORCES)  # the rows have their scale from there
        self.fading_forces = self._in_order(held_forces)
        self.offset[:] = self._in_order(offset)

    def _by_frame(self, vector: Floats | None) -> tuple[Floats, Floats] | None:
        """Return forces on the moving frames, and residuals of the joints in the order of the multipliers."""
        if vector is None:
            return None
        rows, scale = self._rows()
        return vector[self.unknowns], vector[rows] / scale

    def _in_order(self, stored: tuple[Floats, Floats] | None) -> Floats | None:
        """Return the vector (N + 6,) of `_by_frame` in the order of the present numbering."""
        if stored is None:
            return None
        rows, scale = self._rows()
        out = np.zeros_like(self.residual)
        out[self.unknowns], out[rows] = stored[0], stored[1] * scale
        return out

    def _rows(self) -> tuple[np.ndarray, Floats]:
        """Return the unknowns of the multipliers in their order, and the scale of their rows."""
        numbering = self.numbering
        total = int(numbering.rows.sum())
        row, scale = np.zeros(total, np.int64), np.ones(total)
        for c in range(len(numbering.row)):
            indices = numbering.lam[c] + np.arange(numbering.rows[c])
            row[indices] = numbering.row[c] + np.arange(numbering.rows[c])
            scale[indices] = self.work.scale[c]
        return row, scale

    def _points(self) -> Floats:
        return points_of(self._model_system.contacts, self.state.r, self.state.quat)

    def _moved(self, points: Floats) -> float:
        """Return the largest displacement of a point since the list was made, as a fraction of the skin."""
        far = np.linalg.norm(points - self._reference, axis=1).max(initial=0.0)
        return float(far) / self._skin

    def _followed(self, start: Floats) -> bool:
        """Return True if the list covers the motion from the points `start` to the present ones.

        No other pair could act, none could pass through itself, and no axes were pressed together until they almost meet.
        """
        end = self._points()
        has_passed = np.zeros(1, np.uint8)
        mark_crossings(np.stack([start, end]), self._ends, np.zeros(len(self._ends)), has_passed)
        return self._moved(end) <= 0.5 and not has_passed[0] and not self._pressed(start, end)

    def _pressed(self, start: Floats, end: Floats) -> bool:
        """Return True if two axes that have come nearer to each other almost meet."""
        before, after = np.empty((2, len(self._lines)))
        distances(start, self._lines, before)
        distances(end, self._lines, after)
        return bool(np.any((after < DEEP * self._reaches) & (after < before)))

    def deepest(self) -> DeepestPenetration | None:
        """Return the pair of axes with the deepest penetration relative to its reach; None if there are no such pairs."""
        if not len(self._lines):
            return None
        points, apart = self._points(), np.empty(len(self._lines))
        distances(points, self._lines, apart)
        worst = int(np.argmin(apart / self._reaches))
        frames = self._model_system.contacts.frames[self._lines[worst]].reshape(2, 2)
        ends = points[self._lines[worst]].reshape(2, 2, 3)
        middle = ends.mean(axis=(0, 1))
        one, other = (int(np.argmin(np.linalg.norm(end_points - middle, axis=1))) for end_points in ends)
        both = int(frames[0, one]), int(frames[1, other])
        return DeepestPenetration(
            both, int(self._pairs[worst]), float(apart[worst]), float(self._reaches[worst])
        )

    def _execute(self, task: int, factor: float = 1.0) -> float:
        if task in (FORCES, TANGENT, NEWTON) and self._moved(self._points()) > 0.25:
            self._rebuild_list()
        return super()._execute(task, factor)

    def newton(self) -> tuple[int, int, float]:
        """Solve by Newton's method as `EquilibriumSystem.newton`; NOT_CONVERGED if the list does not cover the motion on the
        way.
        """
        start = self._points()
        status, iterations, level = super().newton()
        if status == SOLVED and not self._followed(start):
            status = NOT_CONVERGED
        return status, iterations, level

    def correct(self, x: Floats) -> int:
        """Correct the state by x as `EquilibriumSystem.correct`; the state is unchanged if the list does not cover the motion on
        the way.
        """
        start, saved = self._points(), self._all.copy()
        status = super().correct(x)
        if status == SOLVED and not self._followed(start):
            self._all[:] = saved
            return NOT_CONVERGED
        return status

    @property
    def system_for_linearisation(self) -> System:
        """Return the system with the contacts of the model in place of those of a list."""
        full = relaxed_system(self._model_system)
        return self.system._replace(others=at_rest(full.others), contacts=full.contacts)
