"""History of a contact: gap, forces, slip and energy in the stored states."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rigid.system import Floats, Ints
from rodsim._compat import accept_old_methods
from rodsim.results import native_format, stored_states
from rodsim.results.array_sources import Source
from rodsim.results.contact_forces import ContactForces, PairContacts, PlaneContacts
from rodsim.results.contact_gaps import CONTACTS, ContactGaps
from rodsim.results.errors import ResultError, UnknownName
from rodsim.results.rod_interpolation import node_lengths

PLANES_ON_A = "planes_of_a"  # key: number of first interactions with planes whose plane is on side `a`


class _PatchSums(NamedTuple):
    """Sums over all patches of a contact, at the outputs."""

    force: Floats  # (T, 3) N, force on side `a`
    normal: Floats  # (T,) N, sum of the magnitudes of the normal forces
    tangential: Floats  # (T,) N, sum of the magnitudes of the friction forces
    slip: Floats  # (T,) N m/s, slip rates weighted with the normal forces
    place: Floats  # (T, 3) N m, contact points weighted with the normal forces
    energy: Floats  # (T,) J, stored in the law and in bristles
    lost: Floats  # (T,) W, dissipated power
    touching: Floats  # (T,) number of pairs of parts in contact
    sliding: Floats  # (T,) number of sliding patches


@accept_old_methods
class ContactHistory:
    """Hold the history of a contact at the outputs: forces between its surfaces, and the gap between them.

    `Result.contact` returns it. During a run the forces of a step are means over the step. Here they are computed from the
    stored states and their rates: the force of the law with restitution and damping, and the force of the bristle in that
    state. Sliding surfaces have the friction at the end of the last step. Moments of rolling and drilling are not included.

    Examples
    --------
    >>> touch = result.contact("floor")
    >>> touch.gap.shape, touch.first_contact is None
    ((6,), True)
    """

    def __init__(self, source: Source, name: str) -> None:
        self._source = source
        self.name = name
        self._gaps = ContactGaps(source.layout, name)

    @property
    def force(self) -> Floats:
        """(T, 3) N, total force (normal and tangential) on the surfaces of side `a`, inertial axes; `b` receives the opposite.

        Raises ResultError if the contact has no sides `a` and `b`.
        """
        if "b" not in self._describe_contact:
            raise ResultError(
                f"contact '{self.name}': its surfaces have no two sides on which a force would act; use `.normal_force`, or "
                "make a contact of each side"
            )
        return self._sums.force

    @property
    def normal_force(self) -> Floats:
        """(T,) N, sum of the magnitudes of the normal forces of all contact patches."""
        return self._sums.normal

    @property
    def tangential_force(self) -> Floats:
        """(T,) N, sum of the magnitudes of the friction forces."""
        return self._sums.tangential

    @property
    def slip_rate(self) -> Floats:
        """(T,) m/s, slip rate: mean over the contact patches, weighted with the normal forces; 0 without contact."""
        return self._sums.slip / np.where(self._sums.normal > 0.0, self._sums.normal, 1.0)

    @property
    def touching(self) -> Ints:
        """(T,) number of pairs of parts (spheres, rod elements, planes) in contact."""
        return self._sums.touching.astype(np.int64)

    @property
    def sliding(self) -> Ints:
        """(T,) number of sliding contact patches; the other patches in contact stick."""
        return self._sums.sliding.astype(np.int64)

    @property
    def point(self) -> Floats:
        """(T, 3) m, contact point: mean over the contact patches, weighted with the normal forces; nan without contact."""
        normal = self._sums.normal[:, None]
        return np.where(normal > 0.0, self._sums.place / np.where(normal > 0.0, normal, 1.0), np.nan)

    @property
    def energy(self) -> Floats:
        """(T,) J, energy stored in the contact law and in bristles."""
        return self._sums.energy

    @property
    def loss_rate(self) -> Floats:
        """(T,) W, power dissipated along the normal, and by sliding, rolling and drilling."""
        return self._sums.lost

    @cached_property
    def gap(self) -> Floats:
        """(T,) m, least distance of two surfaces; below 0: minus the maximum penetration. To planes it is that of nodes."""
        least = np.full(self._source.n_outputs, np.inf)
        if self._source.layout.system is not None:
            for k, states in stored_states.state_batches(self._source):
                least[k : k + len(states.r)] = np.minimum(
                    self._gaps.plane_gap(states), self._gaps.pair_gap(states)
                )
        return least

    @property
    def first_contact(self) -> float | None:
        """Time at which the contact first acts, s, by linear interpolation of the gap between two outputs; None: never."""
        gap = self.gap - float(self._describe_contact.get("reach") or 0.0)
        acts = np.flatnonzero(gap < 0.0)
        if not len(acts):
            return None
        t, k = self._source.read(native_format.TIME), int(acts[0])
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
        layouts = {layout.name: layout for layout in self._source.layout.rods}
        if rod not in layouts:
            raise UnknownName(
                f"contact '{self.name}': no rod '{rod}'; there are {', '.join(layouts) or 'none'}"
            )
        layout = layouts[rod]
        if self._forces is None:
            return np.zeros((self._source.n_outputs, len(layout.frames), 3))
        parts = [
            self._forces.on_frames(states)[:, layout.frames]
            for _, states in stored_states.state_batches(self._source)
        ]
        forces = np.concatenate([np.zeros((0, len(layout.frames), 3)), *parts])
        return forces / node_lengths(self._source.layout, layout)[:, None]

    def table(self) -> dict[str, Floats]:
        """Return columns (T,) by name; with columns of friction and of the force only if the contact has friction, or sides."""
        columns = {
            "gap": self.gap,
            "normal_force": self.normal_force,
            "energy": self.energy,
            "touching": self._sums.touching,
        }
        if self._describe_contact["friction"][0] > 0.0:
            with_friction = {
                "tangential_force": self.tangential_force,
                "slip_rate": self.slip_rate,
                "sliding": self._sums.sliding,
            }
            columns |= with_friction
        if "b" not in self._describe_contact:
            return columns
        return columns | {f"force_{axis}": self.force[:, i] for i, axis in enumerate("xyz")}

    @property
    def _describe_contact(self) -> dict[str, Any]:
        return self._gaps.entry

    @cached_property
    def _forces(self) -> ContactForces | None:
        """Forces of this contact; None if an older file has no system."""
        layout, gaps = self._source.layout, self._gaps
        return layout.system and ContactForces(layout.system, layout.memory, gaps.plane_use, gaps.pairs)

    def _sides(self, contacts: PlaneContacts | PairContacts) -> Floats:
        """Return the part (w,) of the forces on the parts of the patches that acts on side `a`: 1, -1 on partners, else 0."""
        if isinstance(contacts, PlaneContacts):
            partner = self._gaps.plane_use < self._gaps.first_plane + self._describe_contact.get(
                PLANES_ON_A, 0
            )
        else:
            pairs = contacts.system.contacts.pairs[contacts.pair]
            return np.where(pairs[:, 0] == pairs[:, 1], 0.0, np.where(contacts.side == 0, 1.0, -1.0))
        return np.where(partner, -1.0, 1.0)

    @cached_property
    def _sums(self) -> _PatchSums:
        """Sums of the contact forces over all patches."""
        T = self._source.n_outputs
        sums = _PatchSums(
            *(np.zeros((T, 3)) if name in ("force", "place") else np.zeros(T) for name in _PatchSums._fields)
        )
        if self._forces is None:
            return sums
        for first, states in stored_states.state_batches(self._source):
            for outputs, contacts, forces in self._forces.of(states):
                at = slice(first + outputs.start, first + outputs.stop)
                sums.force[at] += np.einsum("w,twi->ti", self._sides(contacts), forces.on_part)
                sums.normal[at] += forces.normal.sum(axis=1)
                sums.tangential[at] += np.linalg.norm(forces.tangential, axis=-1).sum(axis=1)
                sums.slip[at] += np.sum(forces.normal * np.linalg.norm(forces.slip, axis=-1), axis=1)
                sums.place[at] += np.sum(forces.normal[..., None] * forces.place, axis=1)
                sums.energy[at] += forces.energy.sum(axis=1)
                sums.lost[at] += forces.lost.sum(axis=1)
                sums.touching[at] += contacts.count(forces.acts)
                sums.sliding[at] += forces.slides.sum(axis=1)
        return sums


def contact_names(source: Source) -> list[str]:
    """Return the names of the contacts of a result."""
    return list(source.layout.description.get(CONTACTS, {}))
