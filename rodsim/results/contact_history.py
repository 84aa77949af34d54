"""The history of a contact: gap, force and energy of the stored states."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from discretization.contact.interactions import touching
from discretization.contact.nearest import distances
from discretization.contact.search import candidates
from discretization.contact.table import Contacts, points_of
from discretization.others import groups_of
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.contact.planes import PLANE_ROD, PLANE_SPHERE
from rigid.interactions.kinds import Group
from rigid.system import Floats, Ints, State
from rodsim.results import stored_states
from rodsim.results.errors import ResultError
from rodsim.results.sources import Source

CONTACTS, WITH_PLANES, PAIRS = "contacts", "interactions", "pairs"  # keys of the description
_RHO, _N, _P, _X = (
    4,
    slice(5, 8),
    slice(8, 11),
    slice(11, 14),
)  # places of numbers, see `rigid.interactions.contact`
_WIDER = 4.0  # how much further one looks for what is near


class _Own(NamedTuple):
    """What a contact does at the outputs."""

    force: Floats  # (T, 3) N
    normal: Floats  # (T,) N
    energy: Floats  # (T,) J


class ContactHistory:
    """What surfaces do to each other, and how near they are.

    Forces are those of the law at the stored states, without what a restitution, damping and friction add: of a step they are
    means, which states do not tell.
    """

    def __init__(self, source: Source, name: str) -> None:
        self._source = source
        self.name = name

    @property
    def force(self) -> Floats:
        """(T, 3) N, on the surfaces `a` together, inertial axes; on `b` it is the opposite

        ResultError where surfaces meet each other without such sides, or there are planes and others on one side.
        """
        told = self._told
        planes = self._source.layout.description.get("planes", {})
        of_planes = {own in planes for own in told["a"]}
        if "b" not in told or len(of_planes) > 1:
            raise ResultError(
                f"contact '{self.name}': its surfaces have no two sides on which a force would act; use `.normal_force`, or "
                "make a contact of each side"
            )
        return self._own.force

    @property
    def normal_force(self) -> Floats:
        """(T,) N, the sizes of the forces of all pairs of elements, spheres and planes, added up"""
        return self._own.normal

    @property
    def energy(self) -> Floats:
        """(T,) J, stored"""
        return self._own.energy

    @cached_property
    def gap(self) -> Floats:
        """(T,) m, the least distance of two surfaces, below 0: minus the greatest depth; to planes that of nodes"""
        least = np.full(self._source.n_outputs, np.inf)
        for own, r, quat in self._compact():
            plane, *met = own.frames.T
            n = quaternions.rotate(quat[:, plane], own.numbers[:, _N])
            p = r[:, plane] + quaternions.rotate(quat[:, plane], own.numbers[:, _P])
            places = [r[:, f] for f in met]
            if own.kind is PLANE_SPHERE:
                places = [places[0] + quaternions.rotate(quat[:, met[0]], own.numbers[:, _X])]
            for x in places:
                gaps = np.sum(n * (x - p), axis=-1) - own.numbers[:, _RHO]
                least = np.minimum(least, gaps.min(axis=1))
        for k, state in self._states():
            least[k] = min(least[k], _least_gap(self._table, state))
        return least

    @property
    def depth(self) -> Floats:
        """(T,) m, the greatest one, 0 where nothing touches"""
        return np.maximum(-self.gap, 0.0)

    def table(self) -> dict[str, Floats]:
        """Columns (T,) by name; of the force where it has sides."""
        columns = {"gap": self.gap, "normal_force": self.normal_force, "energy": self.energy}
        if "b" not in self._told:
            return columns
        return columns | {f"force_{axis}": self.force[:, i] for i, axis in enumerate("xyz")}

    @property
    def _told(self) -> dict[str, Any]:
        told: dict[str, Any] = self._source.layout.description[CONTACTS][self.name]
        return told

    def _before(self, what: str) -> int:
        """How many rows of a table the contacts before this one have."""
        every = self._source.layout.description[CONTACTS]
        names = list(every)
        return sum(int(every[name][what]) for name in names[: names.index(self.name)])

    @cached_property
    def _groups(self) -> list[Group]:
        """The energies with planes, by kind."""
        system, every = self._source.layout.system, self._source.layout.description[CONTACTS]
        if system is None or not self._told[WITH_PLANES]:
            return []
        # those with planes are the last of all
        first = len(system.others.kind) - sum(int(own[WITH_PLANES]) for own in every.values())
        rows = first + self._before(WITH_PLANES) + np.arange(self._told[WITH_PLANES])
        energies = [own for own in groups_of(system.others, rows) if own.kind in (PLANE_SPHERE, PLANE_ROD)]
        return [own._replace(row=np.arange(len(own.row))) for own in energies]

    @cached_property
    def _table(self) -> Contacts:
        """Its pairs alone, without planes."""
        system = self._source.layout.system
        assert system is not None
        own, first = system.contacts, self._before(PAIRS)
        use = slice(first, first + self._told[PAIRS])
        each = {name: getattr(own, name)[use] for name in ("pairs", "law", "loss", "stations", "side")}
        return own._replace(**each)

    def _states(self) -> Iterator[tuple[int, State]]:
        """All outputs, where there are pairs without planes."""
        if self._told[PAIRS] and self._source.layout.system is not None:
            for k in range(self._source.n_outputs):
                yield k, stored_states.read(self._source, k)

    @cached_property
    def _own(self) -> _Own:
        T = self._source.n_outputs
        found = _Own(np.zeros((T, 3)), np.zeros(T), np.zeros(T))
        planes = self._source.layout.description.get("planes", {})
        sign = -1.0 if self._told["a"][0] in planes else 1.0
        for own, r, quat in self._compact():
            # the gradient towards the place of the plane is the force on what meets it
            on_other = evaluation.gradients([own], r, quat)[:, :, 0, :3]
            found.force[:] += sign * on_other.sum(axis=1)
            found.normal[:] += np.linalg.norm(on_other, axis=-1).sum(axis=1)
            found.energy[:] += evaluation.values([own], r, quat).sum(axis=1)
        for k, state in self._states():
            for own in touching(self._table, state):
                group = own._replace(row=np.arange(len(own.row)))
                on_each = -evaluation.gradients([group], state.r, state.quat)[:, :, :3]
                of_first = _of_first(self._table, group.frames)
                found.force[k] += on_each[of_first].sum(axis=0)
                sides = on_each[:, : group.kind.arity // 2].sum(axis=1)
                found.normal[k] += np.linalg.norm(sides, axis=-1).sum()
                found.energy[k] += evaluation.values([group], state.r, state.quat).sum()
        return found

    def _compact(self) -> Iterator[tuple[Group, Floats, Floats]]:
        """The groups with planes, with frames counted among those that they have, and the poses of these."""
        for own in self._groups:
            each, back = np.unique(own.frames, return_inverse=True)
            r, quat = (self._source.read(name, (slice(None), each)) for name in ("r", "quat"))
            yield own._replace(frames=np.ascontiguousarray(back.reshape(own.frames.shape))), r, quat


def _of_first(contacts: Contacts, frames: Ints) -> Any:
    """(m, arity) whether frames are of the first surfaces of the pairs."""
    surface = np.repeat(np.arange(len(contacts.kind)), np.diff(contacts.first))
    return np.isin(frames, contacts.frames[np.isin(surface, contacts.pairs[:, 0])])


def _least_gap(contacts: Contacts, state: State) -> float:
    """m, of all pairs: one looks further until something is found."""
    points = np.ascontiguousarray(points_of(contacts, state.r, state.quat))
    whole = float(np.linalg.norm(np.ptp(points, axis=0)))
    skin = 1e-3 * whole
    while True:
        listed = candidates(contacts, points, skin)
        if len(listed.pair) or skin > whole:
            break
        skin *= _WIDER
    apart = np.empty(len(listed.pair))
    distances(points, listed.ends, apart)
    return float(np.min(apart - contacts.radius[contacts.pairs[listed.pair]].sum(axis=1), initial=np.inf))


def contact_names(source: Source) -> list[str]:
    """Of the contacts of a result."""
    return list(source.layout.description.get(CONTACTS, {}))
