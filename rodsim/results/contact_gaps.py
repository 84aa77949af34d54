"""Which rows of a system a contact has, and how near its surfaces are in any state."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from discretization.contact.listed_gaps import gaps
from discretization.contact.nearest import distances
from discretization.contact.search import Candidates, Searched, candidates, searched
from discretization.contact.table import MESH, Contacts, completed, points_of
from discretization.system import System
from rigid.system import Floats, Ints, State
from rodsim.results.contact_forces import pushed, states_at_once
from rodsim.results.contact_rows import WithPlanes, plane_rows, with_planes
from rodsim.results.layout import Layout

CONTACTS, WITH_PLANES, PAIRS = "contacts", "interactions", "pairs"  # keys of the description
_WIDER = 4.0  # how much further one looks for what is near
_FEW, _ALL = 100, 1e150  # parts: of so many all pairs are looked at; m, further than anything is


class Gaps:
    """Of the contact called `name`."""

    def __init__(self, layout: Layout, name: str) -> None:
        self._layout, self.name = layout, name
        self._reference: tuple[Floats, float] | None = None  # points, and the gap there
        self._all: Candidates | None = None  # pairs of parts, where there are few
        self._wider = 0  # how often one looked further the last time

    @property
    def told(self) -> dict[str, Any]:
        """What the description says of it."""
        told: dict[str, Any] = self._layout.description[CONTACTS][self.name]
        return told

    def _before(self, what: str) -> int:
        """How many rows of a table the contacts before this one have."""
        every = self._layout.description[CONTACTS]
        names = list(every)
        return sum(int(every[name][what]) for name in names[: names.index(self.name)])

    @cached_property
    def pairs(self) -> slice:
        """Of `Contacts`, its own."""
        first = self._before(PAIRS)
        return slice(first, first + int(self.told[PAIRS]))

    @cached_property
    def first_plane(self) -> int:
        """Number of the first of its interactions with planes."""
        every = self._layout.description[CONTACTS]  # those with planes are the last of all
        first = len(self._system.others.kind) - sum(int(own[WITH_PLANES]) for own in every.values())
        return first + self._before(WITH_PLANES)

    @cached_property
    def plane_use(self) -> Ints:
        """Numbers of its energies with planes among the interactions."""
        first, use = self.first_plane, plane_rows(self._system)
        return use[(use >= first) & (use < first + self.told[WITH_PLANES])]

    @cached_property
    def planes(self) -> WithPlanes:
        """Its rows with planes."""
        return with_planes(self._system, self.plane_use)

    @property
    def batch(self) -> int:
        """States of its rows with planes that are worked out together."""
        return states_at_once(self.planes.rows)

    @property
    def _system(self) -> System:
        system = self._layout.system
        assert system is not None
        return system

    @cached_property
    def _table(self) -> Contacts:
        """Its pairs alone, without planes."""
        contacts, names = self._system.contacts, ("pairs", "law", "loss", "stations", "side")
        return contacts._replace(**{name: getattr(contacts, name)[self.pairs] for name in names})

    @cached_property
    def _searched(self) -> Searched:
        return searched(self._table)

    def of_planes(self, states: State) -> Floats:
        """(k,) m, the least gap to a plane in k states, infinite without one."""
        found = np.full(len(states.r), np.inf)
        if self.told[WITH_PLANES]:
            for k in range(0, len(found), self.batch):
                part = slice(k, k + self.batch)
                some = State(*(array[part] for array in states))
                found[part] = pushed(self.planes.rows, some).gap.min(axis=1, initial=np.inf)
        return found

    def of_pairs(self, states: State) -> Floats:
        """(k,) m, the least gap of what meets without planes in k states, infinite where nothing does."""
        if not self.told[PAIRS]:
            return np.full(len(states.r), np.inf)
        return np.array([self._least(np.ascontiguousarray(points)) for points in self._points(states)])

    def _points(self, state: State) -> Floats:
        return points_of(self._table, state.r, state.quat)

    def beyond(self, states: State) -> Floats:
        """(k,) m, below 0 where it acts in a state, else at most how far it is from that."""
        found = self.of_planes(states)
        if self.told[PAIRS]:
            for k, points in enumerate(self._points(states)):
                found[k] = min(found[k], self._at_least(points))
        return found - float(self.told.get("reach") or 0.0)

    def _at_least(self, points: Floats) -> float:
        """m, of pairs: by how far points have moved since the gap was looked for, where that will do."""
        reach = float(self.told.get("reach") or 0.0)
        if self._reference is not None:
            before, gap = self._reference
            left = gap - 2.0 * float(np.linalg.norm(points - before, axis=-1).max())
            if left > reach:
                return left
        self._reference = points.copy(), self._least(np.ascontiguousarray(points))
        return self._reference[1]

    def _least(self, points: Floats) -> float:
        """m, of all pairs: of those that are found first where one looks further and further."""
        whole = float(np.linalg.norm(np.ptp(points, axis=0)))
        skin, looks = 1e-3 * whole, 0
        listed = self._found(points, skin, whole)
        if listed.meshed.any():  # a list has of meshes what is near alone
            return float(np.min(gaps(self._table, listed, points)))
        apart = np.empty(len(listed.pair))
        distances(np.ascontiguousarray(completed(self._table, points)), listed.ends, apart)
        beyond = self._searched.reach[listed.pair]
        while not (near := apart < beyond + skin).any() and skin <= whole:
            skin, looks = skin * _WIDER, looks + 1
        self._wider = looks
        listed = listed._replace(
            pair=listed.pair[near],
            side=listed.side[near],
            ends=listed.ends[near],
            minus=listed.minus[near],
            first=np.zeros(np.sum(near) + 1, np.int64),
        )
        return float(np.min(gaps(self._table, listed, points), initial=np.inf))

    @cached_property
    def _meshed(self) -> bool:
        """Whether a mesh is among what meets."""
        return bool(np.any(self._table.kind[self._table.pairs] == MESH))

    def _found(self, points: Floats, skin: float, whole: float) -> Candidates:
        """Some pairs, with all of those that are found first: few are looked at one and all, of many one begins where one
        ended the last time.
        """
        if self._all is None and len(self._searched.parts.surface) <= _FEW and not self._meshed:
            self._all = candidates(self._table, points, _ALL, self._searched)
        if self._all is not None:
            return self._all
        skin *= _WIDER**self._wider
        while not len((listed := candidates(self._table, points, skin, self._searched)).pair):
            if skin > whole:
                break
            skin *= _WIDER
        return listed
