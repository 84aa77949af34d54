"""History of a contact: gap, forces, slip and energy in the stored states."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rigid.system import Floats, Ints, State
from rodsim.results import native, stored_states
from rodsim.results.along_rods import node_lengths
from rodsim.results.contact_forces import ON_A, ON_B, Patches, Touching, touching
from rodsim.results.contact_gaps import CONTACTS, PAIRS, WITH_PLANES, Gaps
from rodsim.results.contact_rows import Lists, add_on_frames
from rodsim.results.errors import ResultError, UnknownName
from rodsim.results.sources import Source

OF_A = "planes_of_a"  # key: number of first interactions with planes whose plane is on side `a`


class _Each(NamedTuple):
    """Contact forces of a contact at some outputs, to be summed."""

    outputs: slice
    found: Touching  # forces
    patches: Patches
    frames: Ints  # (m, 4) frames of the rows
    # (m,) 0: the part with the stations is on side `a`, 1: its partner is, -1: both are
    side: Ints
    touches: Floats  # (T,) number of pairs of parts in contact


class _Own(NamedTuple):
    """Sums over all rows and patches of a contact, at the outputs."""

    force: Floats  # (T, 3) N, force on side `a`
    normal: Floats  # (T,) N, sum of the magnitudes of the normal forces
    tangential: Floats  # (T,) N, sum of the magnitudes of the friction forces
    slip: Floats  # (T,) N m/s, slip rates weighted with the normal forces
    place: Floats  # (T, 3) N m, contact points weighted with the normal forces
    energy: Floats  # (T,) J, stored in the law and in bristles
    lost: Floats  # (T,) W, dissipated power
    touching: Floats  # (T,) number of pairs of parts in contact
    sliding: Floats  # (T,) number of sliding patches


class ContactHistory:
    """Hold the history of a contact at the outputs: forces between its surfaces, and the gap between them.

    `Result.contact` returns it. During a run the forces of a step are means over the step. Here they are computed from the
    stored states and their rates: the force of the law with restitution and damping, and the force of the bristle in that
    state. Sliding surfaces have the friction at the end of the last step. Moments of rolling and drilling are not included.

    Examples
    --------
    >>> touch = result.contact("floor")
    >>> touch.gap.shape, touch.first_touch is None
    ((6,), True)
    """

    def __init__(self, source: Source, name: str) -> None:
        self._source = source
        self.name = name
        self._gaps = Gaps(source.layout, name)

    @property
    def force(self) -> Floats:
        """(T, 3) N, total force (normal and tangential) on the surfaces of side `a`, inertial axes; `b` receives the opposite.

        Raises ResultError if the contact has no sides `a` and `b`.
        """
        if "b" not in self._told:
            raise ResultError(
                f"contact '{self.name}': its surfaces have no two sides on which a force would act; use `.normal_force`, or "
                "make a contact of each side"
            )
        return self._own.force

    @property
    def normal_force(self) -> Floats:
        """(T,) N, sum of the magnitudes of the normal forces of all contact patches."""
        return self._own.normal

    @property
    def tangential_force(self) -> Floats:
        """(T,) N, sum of the magnitudes of the friction forces."""
        return self._own.tangential

    @property
    def slip_rate(self) -> Floats:
        """(T,) m/s, slip rate: mean over the contact patches, weighted with the normal forces; 0 without contact."""
        return self._own.slip / np.where(self._own.normal > 0.0, self._own.normal, 1.0)

    @property
    def touching(self) -> Ints:
        """(T,) number of pairs of parts (spheres, rod elements, planes) in contact."""
        return self._own.touching.astype(np.int64)

    @property
    def sliding(self) -> Ints:
        """(T,) number of sliding contact patches; the other patches in contact stick."""
        return self._own.sliding.astype(np.int64)

    @property
    def point(self) -> Floats:
        """(T, 3) m, contact point: mean over the contact patches, weighted with the normal forces; nan without contact."""
        normal = self._own.normal[:, None]
        return np.where(normal > 0.0, self._own.place / np.where(normal > 0.0, normal, 1.0), np.nan)

    @property
    def energy(self) -> Floats:
        """(T,) J, energy stored in the contact law and in bristles."""
        return self._own.energy

    @property
    def loss_rate(self) -> Floats:
        """(T,) W, power dissipated along the normal, and by sliding, rolling and drilling."""
        return self._own.lost

    @cached_property
    def gap(self) -> Floats:
        """(T,) m, least distance of two surfaces; below 0: minus the maximum penetration. To planes it is that of nodes."""
        T = self._source.n_outputs
        if self._source.layout.system is None:
            return np.full(T, np.inf)
        least, batch = np.empty(T), self._gaps.batch if self._told[WITH_PLANES] else max(T, 1)
        for k in range(0, T, batch):
            states = stored_states.read(self._source, slice(k, min(k + batch, T)))
            least[k : k + batch] = self._gaps.of_planes(states)
        if self._told[PAIRS]:
            for k, states in stored_states.some_at_once(self._source):
                own = slice(k, k + len(states.r))
                least[own] = np.minimum(least[own], self._gaps.of_pairs(states))
        return least

    @property
    def first_touch(self) -> float | None:
        """Time at which the contact first acts, s, by linear interpolation of the gap between two outputs; None: never."""
        gap = self.gap - float(self._told.get("reach") or 0.0)
        acts = np.flatnonzero(gap < 0.0)
        if not len(acts):
            return None
        t, k = self._source.read(native.TIME), int(acts[0])
        return float(t[k] if k == 0 else t[k - 1] + (t[k] - t[k - 1]) * gap[k - 1] / (gap[k - 1] - gap[k]))

    @property
    def depth(self) -> Floats:
        """(T,) m, maximum penetration, 0 without contact."""
        return np.maximum(-self.gap, 0.0)

    def along(self, rod: str) -> Floats:
        """Return the contact force per length (T, n_nodes, 3) on a rod, N/m, inertial axes.

        It is the force on each node over the tributary length of the node, half of both adjacent intervals. Multiplied by these
        lengths and summed, it gives the force on the rod. Spheres on the rod press on the nodes to which they belong.

        Parameters
        ----------
        rod : str
            Name of the rod.

        Returns
        -------
        (T, n_nodes, 3) array
            Force per length, N/m.

        Raises
        ------
        UnknownName
            If there is no such rod.
        """
        layouts = {own.name: own for own in self._source.layout.rods}
        if rod not in layouts:
            raise UnknownName(
                f"contact '{self.name}': no rod '{rod}'; there are {', '.join(layouts) or 'none'}"
            )
        own = layouts[rod]
        whole = np.zeros((self._source.n_outputs, self._source.layout.n_frames, 3))
        for each in self._each():
            add_on_frames(whole[each.outputs], each.frames, each.found.force)
        return whole[:, own.frames] / node_lengths(self._source.layout, own)[:, None]

    def table(self) -> dict[str, Floats]:
        """Return columns (T,) by name; with columns of friction and of the force only if the contact has friction, or sides."""
        columns = {
            "gap": self.gap,
            "normal_force": self.normal_force,
            "energy": self.energy,
            "touching": self._own.touching,
        }
        if self._told["friction"][0] > 0.0:
            rubs = {
                "tangential_force": self.tangential_force,
                "slip_rate": self.slip_rate,
                "sliding": self._own.sliding,
            }
            columns |= rubs
        if "b" not in self._told:
            return columns
        return columns | {f"force_{axis}": self.force[:, i] for i, axis in enumerate("xyz")}

    @property
    def _told(self) -> dict[str, Any]:
        return self._gaps.told

    def _each(self) -> Iterator[_Each]:
        """Yield the contact forces of batches of outputs: first those with planes, then those of pairs."""
        system, T = self._source.layout.system, self._source.n_outputs
        if system is None:
            return
        if self._told[WITH_PLANES]:
            use, first, own = self._gaps.plane_use, self._gaps.first_plane, self._gaps.planes
            side = np.where(use < first + self._told.get(OF_A, 0), 1, 0)
            batch = self._gaps.batch
            for k in range(0, T, batch):
                outputs = slice(k, min(k + batch, T))
                state = stored_states.read(self._source, outputs)
                patches = own.patches(state)
                found = touching(own.rows, patches, state)
                touches = np.any(found.force[..., 0:2, :], axis=(-1, -2)).sum(axis=-1)
                yield _Each(outputs, found, patches, own.rows.frames, side[own.rows.patch], touches)
        if self._told[PAIRS]:
            lists = Lists(system, self._source.layout.memory)
            itself = system.contacts.pairs[:, 0] == system.contacts.pairs[:, 1]
            for k, states in stored_states.some_at_once(self._source):
                for at, every in lists.runs(states):
                    state, listed = State(*(array[at] for array in states)), every.of(self._gaps.pairs)
                    patches = listed.patches(system, state)
                    found = touching(listed.rows, patches, state)
                    acts = np.any(found.force[..., ON_A, :], axis=(-1, -2))
                    both = np.sort(listed.ends[:, [0, 2]], axis=1) @ (len(system.contacts.frames), 1)
                    touches = np.array([len(np.unique(both[own])) for own in acts], float)
                    side = np.where(itself[listed.pair], -1, listed.side)
                    outputs = slice(k + at.start, k + at.stop)
                    yield _Each(outputs, found, patches, listed.rows.frames, side, touches)

    @cached_property
    def _own(self) -> _Own:
        """Sums of the contact forces over all rows and patches."""
        T = self._source.n_outputs
        sums = _Own(
            *(np.zeros((T, 3)) if name in ("force", "place") else np.zeros(T) for name in _Own._fields)
        )
        for each in self._each():
            at, own = each.outputs, each.found
            for side, of in ((0, ON_A), (1, ON_B)):
                sums.force[at] += own.force[:, each.side == side, of].sum(axis=(1, 2))
            sums.normal[at] += own.normal.sum(axis=1)
            sums.tangential[at] += np.linalg.norm(own.tangential, axis=-1).sum(axis=1)
            sums.slip[at] += np.sum(own.normal * np.linalg.norm(own.slip, axis=-1), axis=1)
            sums.place[at] += np.sum(own.normal[..., None] * own.place, axis=1)
            sums.energy[at] += own.energy.sum(axis=1)
            sums.lost[at] += own.lost.sum(axis=1)
            sums.touching[at] += each.touches
            sums.sliding[at] += np.sum((each.patches.sliding > 0.5) & (own.normal > 0.0), axis=1)
        return sums


def contact_names(source: Source) -> list[str]:
    """Return the names of the contacts of a result."""
    return list(source.layout.description.get(CONTACTS, {}))
