"""Find the rows of a system that belong to a contact, and compute the gap between its surfaces in any state."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from discretization.contact.neighbour_search import candidates, prepare_search
from discretization.contact.pair_gaps import gaps
from discretization.contact.table import Contacts, points_of
from discretization.system import System
from rigid.system import Floats, Ints, State
from rodsim.results.contact_forces import PlaneContacts, plane_rows
from rodsim.results.layout import Layout

# keys of the description: all contacts; for each contact the number of its interactions with planes, and of its pairs
CONTACTS, PLANE_DISSIPATIONS, PAIRS = "contacts", "interactions", "pairs"
_SEARCH_GROWTH = 4.0  # factor by which the search distance grows until a pair is found


class MinimumGap:
    """Least gap of all pairs of surfaces of a contact table."""

    def __init__(self, contacts: Contacts) -> None:
        self._contacts, self._searched = contacts, prepare_search(contacts)
        self._rows_before = 0.0  # m, gap of the last search

    def points(self, state: State) -> Floats:
        """Return the tracked points (..., k, 3) in a state, or in many, m."""
        return points_of(self._contacts, state.r, state.quat)

    def of(self, state: State) -> Floats:
        """Return the least gap (...), m, in a state, or in many; infinite without pairs."""
        points = self.points(state)
        least = [self.least(tracked) for tracked in points.reshape(-1, *points.shape[-2:])]
        return np.reshape(least, points.shape[:-2])

    def least(self, points: Floats) -> float:
        """Return the least gap at tracked points (k, 3), m; inf without pairs.

        The search distance is enlarged until a pair is found, and to the gap of that pair: no other pair has a smaller one then.
        """
        points = np.ascontiguousarray(points)
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
        skin = max(1e-3 * size, min(2.0 * self._rows_before, size))
        while True:
            listed = candidates(self._contacts, points, skin, self._searched)
            least = float(np.min(gaps(self._contacts, listed, points), initial=np.inf))
            if least <= skin or skin > size:
                break
            skin = min(least, _SEARCH_GROWTH * skin)
        self._rows_before = least
        return least


class ContactGaps:
    """Gaps of the contact called `name`."""

    def __init__(self, layout: Layout, name: str) -> None:
        self._layout, self.name = layout, name
        self._reference: tuple[Floats, float] | None = None  # points at the last search, and the gap there

    @property
    def entry(self) -> dict[str, Any]:
        """Entry of this contact in the description."""
        entry: dict[str, Any] = self._layout.description[CONTACTS][self.name]
        return entry

    def _rows_before(self, what: str) -> int:
        """Return the number of rows of a table that belong to the contacts before this one; `what`: key of their counts."""
        every = self._layout.description[CONTACTS]
        names = list(every)
        return sum(int(every[name][what]) for name in names[: names.index(self.name)])

    @cached_property
    def pairs(self) -> slice:
        """Pairs of `Contacts` that belong to this contact."""
        first = self._rows_before(PAIRS)
        return slice(first, first + int(self.entry[PAIRS]))

    @cached_property
    def first_plane(self) -> int:
        """Index of the first interaction with a plane of this contact in `System.others`."""
        every = self._layout.description[CONTACTS]  # interactions with planes are the last of all
        first = len(self._system.others.kind) - sum(
            int(entry[PLANE_DISSIPATIONS]) for entry in every.values()
        )
        return first + self._rows_before(PLANE_DISSIPATIONS)

    @cached_property
    def plane_use(self) -> Ints:
        """Indices of the energies with planes of this contact in `System.others`."""
        first, use = self.first_plane, plane_rows(self._system)
        return use[(use >= first) & (use < first + self.entry[PLANE_DISSIPATIONS])]

    @cached_property
    def planes(self) -> PlaneContacts:
        """Contacts with planes of this contact."""
        return PlaneContacts(self._system, self.plane_use)

    @property
    def _system(self) -> System:
        system = self._layout.system
        assert system is not None
        return system

    @cached_property
    def _pairs(self) -> MinimumGap:
        """Least gap of the pairs of this contact only; planes are not among them."""
        contacts, names = self._system.contacts, ("pairs", "law", "loss", "stations", "side")
        return MinimumGap(contacts._replace(**{name: getattr(contacts, name)[self.pairs] for name in names}))

    def plane_gap(self, states: State) -> Floats:
        """Return the least gap to a plane (k,), m, in k states; infinite without a plane."""
        return self.planes.gap(states) if self.entry[PLANE_DISSIPATIONS] else np.full(len(states.r), np.inf)

    def pair_gap(self, states: State) -> Floats:
        """Return the least gap of the pairs (k,), m, without planes, in k states; infinite without pairs."""
        if not self.entry[PAIRS]:
            return np.full(len(states.r), np.inf)
        return self._pairs.of(states)

    def beyond(self, states: State) -> Floats:
        """Return a number (k,), m, for each of k states: below 0 if and only if the contact acts.

        A positive number is a lower bound of the distance by which the gap exceeds the activation distance of the law.
        """
        gap = self.plane_gap(states)
        if self.entry[PAIRS]:
            for k, points in enumerate(self._pairs.points(states)):
                gap[k] = min(gap[k], self._lower_bound(points))
        return gap - float(self.entry.get("reach") or 0.0)

    def _lower_bound(self, points: Floats) -> float:
        """Return a lower bound of the gap of the pairs, m.

        It is the gap of the last search less twice the largest displacement of a point since then. If that is not above the
        activation distance, the gap is computed again.
        """
        reach = float(self.entry.get("reach") or 0.0)
        if self._reference is not None:
            before, gap = self._reference
            bound = gap - 2.0 * float(np.linalg.norm(points - before, axis=-1).max())
            if bound > reach:
                return bound
        self._reference = points.copy(), self._pairs.least(points)
        return self._reference[1]
