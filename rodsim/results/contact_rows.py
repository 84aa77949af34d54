"""Build the rows and patches of `rodsim.results.contact_forces` for stored states.

There are two sources: the interactions with planes of the system, and the list of pairs stored in the state.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.contact.interactions import interactions_of
from discretization.contact.search import Candidates, candidates
from discretization.contact.table import (
    BOTH,
    CAPSULE,
    CORNERS,
    LOSS,
    MESH,
    RIDGES,
    ROD,
    SPHERE,
    WITH_CORES,
    Contacts,
    points_of,
    weakened,
)
from discretization.contact.windows import windows_of
from discretization.interaction_kinds import INTERACTIONS
from discretization.memory import Memory
from discretization.own_variables import first_settled, part
from discretization.system import System
from rigid.interactions.contact.circles import AXIS, PLANE_CIRCLE, RADIUS
from rigid.interactions.contact.friction import BACK, FORTH, OWN, SIDE, STATIC, STIFFNESS
from rigid.interactions.contact.losses import WITH_PLANES
from rigid.interactions.contact.planes import OF_NODES, PLANE_ROD
from rigid.system import Floats, Ints, State
from rodsim.results.contact_forces import ENDS, MIDDLE, Patches, Rows, states_at_once, touching

_CIRCLE, _ROD = INTERACTIONS.index(PLANE_CIRCLE), INTERACTIONS.index(PLANE_ROD)
_ENERGIES, _LOSSES = (
    [INTERACTIONS.index(kind) for kind in each] for each in zip(*WITH_PLANES.items(), strict=True)
)
_RHO, _N, _P, _X = (
    4,
    slice(5, 8),
    slice(8, 11),
    slice(11, 14),
)  # offsets of numbers, `rigid.interactions.contact`
_M, _L = 11, 12
_LISTS = 4  # number of lists that are cached


class WithPlanes(NamedTuple):
    """Rows and patches of some interactions with planes in `System.others`."""

    rows: Rows
    loss: Floats  # (w, 11) numbers of friction and dissipation
    places: Ints  # (w, 4) indices of the internal variables in `State.own`; -1: none

    def patches(self, state: State) -> Patches:
        """Return the patches in a state, or in many."""
        none = np.zeros((*state.own.shape[:-1], 1))
        own = np.concatenate([state.own, none], axis=-1)[..., self.places]
        stiffness = np.where(self.loss[:, STATIC] > 0.0, self.loss[:, STIFFNESS], 0.0)
        w = len(self.loss)  # the rows after these are the second rows of their patches
        first, of_part = self.rows.frames[:w, 2], self.rows.frames[:w, :2]
        return Patches(self.loss, stiffness, own[..., :3], own[..., 3], first, of_part)


def plane_rows(system: System) -> Ints:
    """Return the indices of all energies with planes in `System.others`."""
    return np.flatnonzero(np.isin(system.others.kind, _ENERGIES))


def with_planes(system: System, use: Ints) -> WithPlanes:
    """Return the rows and patches of the energies with indices `use`, one patch for each.

    The dissipative interaction of an energy, if it has one, is the next one in the table. A circle has two rows.
    """
    own, m = system.others, len(use)
    circular, sphere = own.kind[use] == _CIRCLE, own.kind[use] != _ROD
    X = own.numbers[own.first[use][:, None] + np.arange(_L + 1)]
    centre, loss, places = np.zeros((m, 4, 3)), _lossless(m), np.full((m, OWN), -1)
    centres = own.numbers[own.first[use[sphere]][:, None] + np.arange(_X.start, _X.stop)]
    centre[sphere, :2], centre[:, 2:] = centres[:, None], X[:, None, _P]
    behind = np.minimum(use + 1, len(own.kind) - 1)
    loses = np.isin(own.kind[behind], _LOSSES)
    ends = own.first[behind[loses] + 1][:, None]
    loss[loses] = own.numbers[ends - OWN - LOSS + np.arange(LOSS)]
    places[loses] = first_settled(system)[behind[loses]][:, None] + np.arange(OWN)
    second = np.where(sphere, 1, 2)[:, None]
    frames = own.frames[use]
    frames = np.column_stack(
        [frames[:, 1], np.take_along_axis(frames, second, 1), frames[:, 0], frames[:, 0]]
    )
    stations = np.where(sphere, 0, X[:, _M]).astype(np.int64)
    length = np.where(sphere, 0.0, X[:, _L])
    ones, circle, of_nodes = np.ones(m), np.zeros((m, 4)), np.full((m, 2), 0.5)
    parted = ~sphere & (np.diff(own.first)[use] > OF_NODES)
    at = own.first[use[parted]][:, None] + OF_NODES + np.arange(2)
    of_nodes[parted] = own.numbers[at] / length[parted, None]
    at = own.first[use[circular]][:, None]
    circle[circular] = own.numbers[at + np.append(AXIS + np.arange(3), RADIUS)]
    rows = Rows(
        frames,
        centre,
        X[:, _N],
        X[:, :4],
        X[:, _RHO],
        ones,
        stations,
        length,
        of_nodes,
        0.0 * ones,
        np.arange(m),
        circle,
        np.zeros(m, np.int64),
        *_without_boxes(m),
    )
    again = np.concatenate([np.arange(m), np.flatnonzero(circular)])
    rows = Rows(*(column[again] for column in rows))
    rows.circle[m:, 3] *= -1.0
    return WithPlanes(rows, loss, places)


def _without_boxes(m: int) -> tuple[Ints, Floats, NDArray[np.object_]]:
    """Return the columns `boxed`, `numbers` and `meshed` of m rows without cores and meshes."""
    return np.zeros(m, np.int64), np.zeros((m, 0)), np.full(m, None, object)


def _lossless(w: int) -> Floats:
    """Return the numbers (w, 11) of w patches without friction and dissipation."""
    loss = np.zeros((w, LOSS))
    loss[:, [FORTH, BACK, SIDE]] = 1.0
    return loss


class Listed(NamedTuple):
    """Rows and patches of one list of pairs."""

    rows: Rows
    pair: Ints  # (m,) pair of each row, an index of `Contacts.pairs`
    side: Ints  # (m,) 0: the part with the stations is on the first surface of the pair
    ends: Ints  # (m, 4) end points of the part, then of its partner
    patch_pair: Ints  # (w,) pair of each patch
    number: Ints  # (w,) number of the window among those with losses, from 1 on; 0: without losses
    first: Ints  # (w,) frame in whose axes the bristle is
    part: Ints  # (w, 2) frames of the part with the stations

    def patches(self, system: System, state: State) -> Patches:
        """Return the patches in a state, or in many."""
        rows, w = part(system, state, "bristle"), len(self.patch_pair)
        bristles, stiffness = np.zeros((*rows.shape[:-2], w, OWN)), np.zeros((*rows.shape[:-2], w))
        for *which, k in np.argwhere(rows[..., 0] > 0.0).tolist():
            row, one = rows[(*which, k)], tuple(which)
            at = np.flatnonzero(self.number == int(row[0]))
            bristles[one][at], stiffness[one][at] = row[1 : 1 + OWN], row[1 + OWN]
        loss = system.contacts.loss[self.patch_pair].copy()
        loss[:, [FORTH, BACK, SIDE]] += loss[:, [FORTH, BACK, SIDE]] == 0.0
        return Patches(loss, stiffness, bristles[..., :3], bristles[..., 3], self.first, self.part)

    def of(self, pairs: slice) -> Listed:
        """Return the list without the rows of other pairs; their patches remain, but have no bristles."""
        own = (self.patch_pair >= pairs.start) & (self.patch_pair < pairs.stop)
        use = (self.pair >= pairs.start) & (self.pair < pairs.stop)
        rows = Rows(*(column[use] for column in self.rows))
        number = np.where(own, self.number, 0)
        return self._replace(
            rows=rows, pair=self.pair[use], side=self.side[use], ends=self.ends[use], number=number
        )


class Lists:
    """Lists of pairs of states; the last `_LISTS` ones are cached."""

    def __init__(self, system: System, memory: Memory) -> None:
        self._system, self._memory = system, memory
        self._known: OrderedDict[bytes, Listed] = OrderedDict()

    def of(self, state: State) -> Listed:
        """Return the list of a state.

        It is the list stored in the state, to whose windows the bristles of the state belong. If the state stores none, it is
        a list of the parts that are near enough to act.
        """
        contacts, made = self._system.contacts, b""
        if self._memory.points and state.memory.shape == (self._memory.size,):
            parts = self._memory.parts(state.memory)
            points, skin = parts["reference"], float(parts["skin"][0])
            made = points.tobytes() + parts["skin"].tobytes() if skin > 0.0 else b""
        if made in self._known:
            return self._known[made]
        if not made:
            points, skin = points_of(contacts, state.r, state.quat), 0.0
        found = _listed(contacts, candidates(contacts, np.ascontiguousarray(points), skin))
        if made:
            self._known[made] = found
            if len(self._known) > _LISTS:
                self._known.popitem(last=False)
        return found

    def runs(self, states: State) -> Iterator[tuple[slice, Listed]]:
        """Yield slices of consecutive states that have the same list, and the list.

        A slice has at most as many states as are computed together (`states_at_once`).
        """
        begin, listed = 0, None
        for k in range(len(states.r)):
            found = self.of(State(*(array[k] for array in states)))
            if listed is not None and (found is not listed or k - begin == states_at_once(listed.rows)):
                yield slice(begin, k), listed
                begin = k
            listed = found
        if listed is not None:
            yield slice(begin, len(states.r)), listed


def _listed(contacts: Contacts, listed: Candidates) -> Listed:
    """Return the rows and patches of a list of pairs of parts."""
    surfaces = np.take_along_axis(
        contacts.pairs[listed.pair], np.stack([listed.side, 1 - listed.side], axis=1), 1
    )
    radii = contacts.radius[surfaces]
    one, other = contacts.kind[surfaces].T
    twice = (contacts.side[listed.pair] == BOTH) | (surfaces[:, 0] == surfaces[:, 1])
    share = np.where((one == ROD) & (other == ROD) & twice, 0.5, 1.0)
    law = weakened(contacts.law[listed.pair], share)  # weakened as in `discretization.contact.interactions`
    patch, patch_pair, number, of_part = _windows(contacts, listed)
    rho, crossing = radii.sum(axis=1), (one == CAPSULE) & (other == CAPSULE)
    # both ends of a capsule are stations, each with half of the weight
    stations = np.where(one == ROD, contacts.stations[listed.pair], np.where(crossing, 1, 0))
    rows = Rows(
        contacts.frames[listed.ends],
        contacts.X[listed.ends],
        np.zeros((len(rho), 3)),
        law,
        rho,
        radii[:, 0] / rho,
        stations,
        np.where(one == ROD, contacts.length[listed.ends[:, 0]], np.where(crossing, 1.0, 0.0)),
        np.full((len(rho), 2), 0.5),
        listed.minus.astype(float),
        patch,
        np.zeros((len(rho), 4)),
        np.where(crossing, ENDS, 0),
        *_without_boxes(len(rho)),
    )
    acts = interactions_of(contacts, listed)
    boxes, width = np.flatnonzero(np.isin(other, (*WITH_CORES, RIDGES))), np.diff(acts.first)
    place = np.arange(width[boxes].max(initial=0))
    held = place < width[boxes, None]
    rows = rows._replace(numbers=np.zeros((len(rho), len(place))))
    rows.boxed[boxes] = acts.kind[boxes]
    rows.numbers[boxes] = np.where(
        held, acts.numbers[np.where(held, acts.first[boxes, None] + place, 0)], 0.0
    )
    for k in np.flatnonzero(other == MESH):
        rows.boxed[k], rows.meshed[k] = acts.kind[k], acts.numbers[slice(*acts.first[k : k + 2])]
    again = np.concatenate([np.arange(len(rho)), np.flatnonzero(crossing)])
    rows = Rows(*(column[again] for column in rows))
    rows.crossing[len(rho) :], rows.stations[len(rho) :] = MIDDLE, 0
    frames = contacts.frames[of_part]
    first, turned = (
        frames[:, 0].copy(),
        ((one == ROD) & np.isin(other, (CAPSULE, *WITH_CORES)))
        | (np.isin(one, (SPHERE, CORNERS), invert=True) & (other == MESH)),
    )  # the bristle is in the axes of the core or mesh
    first[patch[turned]] = contacts.frames[listed.ends[turned, 2]]
    return Listed(
        rows,
        listed.pair[again],
        listed.side[again],
        listed.ends[again],
        patch_pair,
        number,
        first,
        frames,
    )


def _windows(contacts: Contacts, listed: Candidates) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the window of each pair of parts in a list, and for each window three arrays.

    These are the pair of surfaces of the window, its number among the windows with losses (from 1 on, 0: without losses), and
    both end points (w, 2) of its part with the stations.
    """
    windows = windows_of(contacts._replace(loss=np.ones_like(contacts.loss)), listed)
    rubbing = windows_of(contacts, listed)
    losing, loses = iter(range(1, 1 + len(rubbing))), {own.pair for own in rubbing}
    number = [next(losing) if own.pair in loses else 0 for own in windows]
    place = {}
    for k, own in enumerate(windows):
        row = own.row if len(own.row) > 1 else 2 * own.row
        for i in range(len(row) - 1):
            place[own.pair, own.side, own.part[0], row[i], row[i + 1]] = k
    keys = np.column_stack([listed.pair, listed.side, listed.ends[:, [0, 2, 3]]]).tolist()
    ints = np.int64
    return (
        np.array([place[tuple(key)] for key in keys], ints),
        np.array([own.pair for own in windows], ints),
        np.array(number, ints),
        np.array([(own.part[0], own.part[-1]) for own in windows], ints).reshape(-1, 2),
    )


def add_on_frames(whole: Floats, frames: Ints, force: Floats) -> None:
    """Add the forces (T, m, 4, 3) on the frames (m, 4) of rows to the forces `whole` (T, n, 3) on all frames, N."""
    np.add.at(np.moveaxis(whole, 1, 0), frames.ravel(), np.moveaxis(force.reshape(len(force), -1, 3), 1, 0))


class OnFrames:
    """Contact forces on the frames of a system."""

    def __init__(self, system: System, memory: Memory) -> None:
        self._system, self._lists = system, Lists(system, memory)
        use = plane_rows(system)
        self._planes = with_planes(system, use) if len(use) else None

    def forces(self, state: State) -> Floats:
        """Return the contact forces on all frames (..., n, 3), N, inertial axes, in one state or in many."""
        lead, n = state.r.shape[:-2], len(self._system.frames.mass)
        count = int(np.prod(lead))
        many = State(*(array.reshape(count, *array.shape[len(lead) :]) for array in state))
        whole = np.zeros((len(many.r), n, 3))
        if self._planes is not None:
            rows = self._planes.rows
            add_on_frames(whole, rows.frames, touching(rows, self._planes.patches(many), many).force)
        if len(self._system.contacts.pairs):
            for at, listed in self._lists.runs(many):
                some = State(*(array[at] for array in many))
                found = touching(listed.rows, listed.patches(self._system, some), some)
                add_on_frames(whole[at], listed.rows.frames, found.force)
        return whole.reshape(*lead, n, 3)
