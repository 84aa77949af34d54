"""Advance a system with contacts, using neighbour lists of the pairs of surfaces that are near each other.

A list is made from the positions of the points of all surfaces at some time. It contains all pairs nearer than their reach plus a
skin (Verlet list). It is valid until a point has moved by more than half the skin: no other pair can act before. In between, any
stepper computes the steps of the system with these pairs among its interactions. Before a step is accepted, two conditions are
checked:

    STALE    a point has left its half of the skin: a new list is made at the start of the step, and the step is repeated; if
             the list was already made there, a new one does not help, and the step is halved
    PASSED   a listed pair could have passed through itself, or slid further than it is apart while in contact: halved

The states alone determine where and when lists are made. The points of the last list and its skin are stored with the state
(`discretization.integrator_memory`), so that a run resumed from any state has the same list and numbering, and its results are
bit-identical. Several steps are tried in one call; those after the first that is not accepted are discarded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discretization.contact.closest_points import DEEP, distances, mark_crossings
from discretization.contact.contact_patches import (
    LOSSY_KINDS,
    ContactPatch,
    find_patches,
    loss_interactions,
    match_patches,
    transfer_bristles,
)
from discretization.contact.fixed_planes import are_inactive, bristle_energy, fixed_planes
from discretization.contact.interactions import interactions_of
from discretization.contact.neighbour_search import Candidates, candidates, prepare_search
from discretization.contact.pair_gaps import gaps, surface_distances
from discretization.contact.table import (
    BOX,
    HULL,
    MESH,
    OF_MESHES,
    ROUND,
    WITH_CORES,
    bounding_values,
    contacts_of,
    median_search_distance,
    points_of,
    with_feature_points,
)
from discretization.interaction_table import chosen, history_variable_counts, joined
from discretization.internal_variables import first_history_variable, internal_variables
from discretization.memoization import unshared
from discretization.state_checks import OF_SYSTEMS, check_arrays
from discretization.state_shapes import state_shapes
from discretization.system import System
from discretization.time.accepted_steps import AcceptedSteps, AcceptingStepper, last_of
from discretization.time.stepper_base import Failure, Report, StepperBase, copy_state
from rigid import quaternions
from rigid.errors import ModelError
from rigid.interactions.contact.friction import N_INTERNAL
from rigid.system import Floats, Ints, State

MAX_CACHED_LISTS = 4  # number of lists whose steppers are cached
MAX_STEPS = 32  # largest number of steps that are tried in one call
STEPS = 20  # number of steps for which a list should be valid
FEW, LONGER = (
    64,
    8.0,
)  # number of points; factor on MAX_STEPS and STEPS for few surfaces, whose steps cost less than a list
LEAST, MOST = 0.1, 1.0  # smallest and largest skin, as multiples of the usual reach
# the largest skin is at least this multiple of the distance that the fastest point moves in a step
FASTEST = 6.0

_SKIN = Failure("a surface moved further than half the skin of its contacts", "give a smaller dt")
_PASSED = Failure("surfaces in contact could have passed through each other", "give a smaller dt")
# fraction of the rounding radius: a core as near as this counts as penetrated, also if something else failed
_PRESSED = 0.3
# multiple of the radii: a surface as near to a mesh as this may be why a step has no finite forces
_NEAR_MESH = 1.5
_WORDS = {BOX: "box", HULL: "hull", ROUND: "cylinder or cone"}


class PairList(NamedTuple):
    """Neighbour list of pairs, and the stepper that takes steps with it."""

    stepper: StepperBase
    patches: list[ContactPatch]
    stiffness: Floats  # (w,) N/m, stiffness of the bristles of windows
    internal_indices: (
        Ints  # (k,) indices in `State.internal` of the internal variables before those of the windows
    )
    far: NDArray[np.bool_]  # (e,) True for interactions that the list leaves out: planes that are far away
    # (c, 4) end points of pairs of parts, each once, as in `discretization.contact.closest_points`; without meshes
    ends: Ints
    reach: Floats  # (c,) reach of these pairs, m
    pairs: Candidates


class ContactStepper(AcceptingStepper):
    """Advance states of a system with contacts.

    make: creates a stepper of a system whose `others` contain the contact interactions of one list.
    """

    def __init__(self, system: System, h: float, make: Callable[[System], StepperBase]):
        self.system, self.h, self._make = system, h, make
        self.contacts = system.contacts
        self._free = make(system._replace(contacts=contacts_of()))
        if np.any(self.contacts.loss[:, LOSSY_KINDS] != 0.0):
            self._free.check_contact_losses()  # energy losses are among the interactions only if a list has a pair
        self._inner = self._free.sizes.memory.size
        memory = self._free.sizes.memory._replace(points=self.contacts.tracked)
        self.sizes = self._free.sizes._replace(memory=memory, internal=internal_variables(system))
        self._before_bristles = self.sizes.internal.first("bristle")
        self.shapes = state_shapes(self.sizes)
        self._search = prepare_search(self.contacts)
        self._planes = fixed_planes(self.contacts, system.others, system.frames.fixed == 1)
        self._reach = median_search_distance(self._search.reach)
        longer = min(LONGER, max(1.0, FEW / max(len(self.contacts.frames), 1)))
        if len(self.contacts.meshed):
            longer = 1.0  # with a fine mesh a wide skin contains many triangles, which cost more in each step
        self._max_steps, self._list_steps = int(longer * MAX_STEPS), longer * STEPS
        self._lists: OrderedDict[bytes, PairList] = OrderedDict()
        self._last: tuple[bytes, PairList] | None = None  # (memory of the list, list) used last

    @property
    def threads(self) -> int:
        """Return the number of threads of the stepper of the current list."""
        return (self._free if self._last is None else self._last[1].stepper).threads

    @property
    def load_points(self) -> tuple[Floats, Floats]:
        """Return the points in a step at which loads are evaluated, and their weights, as `StepperBase` does."""
        return self._free.load_points

    @property
    def chart(self) -> str | None:
        """Return the chart of an integrator of mechanical systems; None for other integrators."""
        return getattr(self._free, "chart", None)

    def start(self, state: State) -> State:
        """Return the state with the memory of this integrator; make a list at this state unless the memory contains one."""
        check_arrays(state, self.shapes, *OF_SYSTEMS)
        has_memory = np.shape(state.memory) == (self.sizes.memory.size,)
        memory = state.memory[: self._inner] if has_memory else state.memory
        inner = self._free.start(
            state._replace(memory=memory, internal=state.internal[: self._before_bristles].copy())
        )
        list_memory = (
            state.memory[self._inner :] if has_memory else np.zeros(self.sizes.memory.size - self._inner)
        )
        bristles = (
            state.internal if list_memory.any() else self.sizes.internal.joined()
        )  # bristles belong to a list
        after = np.concatenate([inner.internal, bristles[self._before_bristles :]])
        started = inner._replace(memory=np.concatenate([inner.memory, list_memory]), internal=after)
        return check_arrays(started if list_memory.any() else self._with_new_list(started), self.shapes)

    @property
    def substeps_per_step(self) -> int:
        """Return how many substeps a step is made of, as `StepperBase` does."""
        return self._free.substeps_per_step

    def end_of_first_substep(self, state: State, t: float, h: float) -> State | None:
        """Return the end of the first substep, as `StepperBase` does; None also if the step would not be accepted."""
        state = copy_state(check_arrays(state, self.shapes))
        if self._excess_motion(state.memory, self._points(state)) > 0.0:
            state = self._with_new_list(state)
        while True:
            pair_list, list_memory = self._list_of(state), state.memory[self._inner :]
            variables = self._internal_variables(state, pair_list)
            inner = state._replace(memory=state.memory[: self._inner].copy(), internal=variables)
            end = pair_list.stepper.end_of_first_substep(inner, t, h)
            if end is None:
                return None
            ends = State(*(array[None] for array in end))
            n_accepted, problem = self._accepted(state, ends, pair_list)
            if n_accepted:
                return last_of(self._as_system_states(ends, list_memory, pair_list))
            if problem is not _SKIN or np.array_equal(self._reference(state), self._points(state)):
                return None
            state = self._with_new_list(state)

    def _steps(self, state: State, h: float, starts: Floats) -> Iterator[AcceptedSteps]:
        """Yield the steps in order, up to the first that cannot be taken; the report of a step includes the cost of lists made
        before it.
        """
        done, report = 0, Report()
        # the state was changed after the list was made
        if self._excess_motion(state.memory, self._points(state)) > 0.0:
            state, report = self._with_new_list(state), Report(list_rebuilds=1)
        while done < len(starts):
            pair_list, list_memory = self._list_of(state), state.memory[self._inner :]
            variables = self._internal_variables(state, pair_list)
            inner = state._replace(memory=state.memory[: self._inner].copy(), internal=variables)
            n_tried = min(len(starts) - done, self._steps_until_stale(state, h))
            ends, reports, failure = pair_list.stepper.ends(inner, h, starts[done : done + n_tried])
            n_accepted, problem = self._accepted(state, ends, pair_list)
            if n_accepted:
                states = self._as_system_states(
                    State(*(array[:n_accepted] for array in ends)), list_memory, pair_list
                )
                yield AcceptedSteps(states, [report.plus(reports[0]), *reports[1:n_accepted]])
                state, report = last_of(states), Report()
            done += n_accepted
            if n_accepted == len(ends.r) and failure is None:
                continue
            cost = report.plus(reports[n_accepted])  # cost including the step that failed
            if problem is _SKIN and not np.array_equal(self._reference(state), self._points(state)):
                state, report = self._with_new_list(state), cost.plus(Report(list_rebuilds=1))
                continue
            if problem is _PASSED:
                cost, problem = (
                    cost.plus(Report(tunnelling_steps=1)),
                    self._tunnelling_failure(state, pair_list),
                )
            of_mesh = None if failure is None else self._mesh_failure(state, pair_list, failure)
            failure = problem or self._penetration_failure(state, pair_list) or of_mesh or failure
            yield AcceptedSteps(State(*(array[:0] for array in ends)), [cost], failure)
            return

    def _tunnelling_failure(self, state: State, pair_list: PairList) -> Failure:
        """Return why surfaces pass through each other: the step is too long, or the contact between them is too soft."""
        pair_distances = np.empty(len(pair_list.ends))
        distances(self._points(state), pair_list.ends, pair_distances)
        deepest = int(np.argmin(pair_distances / pair_list.reach))
        if pair_distances[deepest] > DEEP * pair_list.reach[deepest]:
            return _PASSED
        return Failure(
            f"surfaces in contact pass through each other: their axes are {pair_distances[deepest]:.2g} m apart, and touch at "
            f"{pair_list.reach[deepest]:.2g} m",
            "give the contact more `stations` (a rod is not detected between them), or more stiffness",
        )

    def _penetration_failure(self, state: State, pair_list: PairList) -> Failure | None:
        """Return a failure if cores are so near each other that the step probably failed because a surface entered a core; else
        None.
        """
        contacts, points = self.contacts, self._points(state)
        surface = np.searchsorted(contacts.first, pair_list.ends, side="right") - 1
        kind = contacts.kind[surface]
        turned = (kind[:, 0] > kind[:, 2])[:, None]  # put the core second
        ends, surface = (
            np.where(turned, columns[:, [2, 3, 0, 1]], columns) for columns in (pair_list.ends, surface)
        )
        use = np.flatnonzero(np.isin(contacts.kind[surface[:, 2]], WITH_CORES))
        surface = surface[use][:, [0, 2]]
        rounding = contacts.radius[surface].sum(axis=1)
        gap_left = surface_distances(
            contacts, np.ascontiguousarray(points), np.ascontiguousarray(ends[use]), surface
        )
        nearest = int(np.argmin(gap_left / rounding)) if len(use) else 0
        if not len(use) or gap_left[nearest] > _PRESSED * rounding[nearest]:
            return None
        word = _WORDS[int(contacts.kind[surface[nearest, 1]])]
        return Failure(
            f"a {word} in contact is pressed through its rounding: {gap_left[nearest]:.2g} m are left of "
            f"{rounding[nearest]:.2g} m",
            "give the contact more `stiffness`, or its solids a greater `radius`",
        )

    def _mesh_failure(self, state: State, pair_list: PairList, failure: Failure) -> Failure | None:
        """Return a failure if a step has no finite forces because a surface passed through a mesh, or touches it all around; else
        None.
        """
        kinds = self.contacts.kind[self.contacts.pairs[pair_list.pairs.pair]]
        of_meshes = np.isin(kinds, (MESH, *OF_MESHES)).any(axis=1)
        if not of_meshes.any() or "finite" not in failure.reason:
            return None
        rho = self.contacts.radius[self.contacts.pairs[pair_list.pairs.pair]].sum(axis=1)
        gap_left = 1.0 + gaps(self.contacts, pair_list.pairs, np.ascontiguousarray(self._points(state))) / rho
        smallest = float(np.min(gap_left[of_meshes]))
        if smallest > _NEAR_MESH:
            return None
        return Failure(
            "a surface that touches a mesh is pressed through it, or is touched on all sides; "
            f"{smallest:.2g} of its radius are left",
            "give a smaller dt, the contact more `stiffness`, or round parts of the mesh fewer and larger triangles",
        )

    def _accepted(self, state: State, ends: State, pair_list: PairList) -> tuple[int, Failure | None]:
        """Return how many of the first steps to these ends are accepted, and what is wrong with the next one."""
        points = np.concatenate([self._points(state)[None], self._points(ends)])
        stale = self._excess_motion(state.memory, points[1:]) > 0.0
        passed = np.zeros(len(stale), np.uint8)
        mark_crossings(points, pair_list.ends, pair_list.reach, passed)
        rejected = np.flatnonzero(stale | (passed > 0))
        if not len(rejected):
            return len(stale), None
        return int(rejected[0]), _SKIN if stale[rejected[0]] else _PASSED

    def _steps_until_stale(self, state: State, h: float) -> int:
        """Return the number of steps until the list may be stale if no velocity increases; this number does not influence the
        results.
        """
        margin = -float(self._excess_motion(state.memory, self._points(state)))
        steps = 1.0 + margin / max(self._fastest(state) * h, 1e-300)
        return max(1, int(min(steps, self._max_steps)))

    def _points(self, states: State) -> Floats:
        return points_of(self.contacts, states.r, states.quat)

    def _reference(self, state: State) -> Floats:
        """Return the points (k, 3), m, at which the list was made."""
        return self.sizes.memory.parts(state.memory)["reference"]

    def _excess_motion(self, memory: Floats, points: Floats) -> Floats:
        """Return by how much the points (..., k, 3) have left their half of the skin (...), m; negative: they have not left
        it.
        """
        parts = self.sizes.memory.parts(memory)
        far = np.linalg.norm(bounding_values(self.contacts, points - parts["reference"]), axis=-1).max(
            axis=-1
        )
        return np.asarray(far - 0.5 * parts["skin"][0])

    def _fastest(self, state: State) -> float:
        """Return the largest speed of all points, m/s."""
        tracked = self.contacts.tracked
        frames, X = self.contacts.frames[:tracked], self.contacts.X[:tracked]
        v = state.v[frames] + quaternions.rotate(state.quat[frames], np.cross(state.Omega[frames], X))
        return float(np.linalg.norm(bounding_values(self.contacts, v), axis=1).max())

    def _internal_variables(self, state: State, pair_list: PairList) -> Floats:
        """Return the internal variables of the system of a list: the bristles follow all others, window by window."""
        bristles = np.zeros((len(pair_list.patches), N_INTERNAL))
        rows = self.sizes.internal.part(state.internal, "bristle")
        rows = rows[rows[:, 0] > 0.0]
        bristles[rows[:, 0].astype(np.int64) - 1] = rows[:, 1 : 1 + N_INTERNAL]
        return np.concatenate([state.internal[pair_list.internal_indices], bristles.ravel()])

    def _as_system_states(self, inner: State, list_memory: Floats, pair_list: PairList) -> State:
        """Return states (k, ...) of the system of a list as states of the whole system, with its internal variables and its
        memory.
        """
        count = len(inner.internal)
        variables = np.zeros((count, self.sizes.internal.size))
        variables[:, pair_list.internal_indices] = inner.internal[:, : len(pair_list.internal_indices)]
        bristles = inner.internal[:, len(pair_list.internal_indices) :].reshape(count, -1, N_INTERNAL)
        self._store_bristles(variables, bristles, pair_list.stiffness)
        memory = np.concatenate(
            [inner.memory, np.broadcast_to(list_memory, (count, len(list_memory)))], axis=1
        )
        return inner._replace(memory=memory, internal=variables)

    def _store_bristles(self, variables: Floats, bristles: Floats, stiffness: Floats) -> None:
        """Write the bristles (k, w, OWN) of windows into the internal variables (k, ...) of as many states."""
        used, capacity = bristles.any(axis=2), self.sizes.internal.bristle
        n_used = int(used.sum(axis=1).max(initial=0))
        if n_used > capacity:
            raise ModelError(
                f"friction acts in {n_used} contact patches at once, but a state stores at most {capacity}; use larger elements, "
                "or fewer surfaces"
            )
        k, w = np.nonzero(used)
        place = np.cumsum(used, axis=1)[k, w] - 1
        rows = self.sizes.internal.part(variables, "bristle")
        rows[k, place] = np.column_stack([w + 1.0, bristles[k, w], stiffness[w]])

    def _with_new_list(self, state: State) -> State:
        """Return the state with a list made at its positions; energy in bristles that no new window continues is counted as
        lost.
        """
        points = self._points(state)
        skin = self._skin(points, self._fastest(state) * self.h)
        list_memory = np.append(points.ravel(), skin)
        new = self._without_distant_bristles(
            state._replace(memory=np.concatenate([state.memory[: self._inner], list_memory]))
        )
        state = state._replace(internal=new.internal, totals=new.totals)
        rows = self.sizes.internal.part(state.internal, "bristle")
        rows = rows[rows[:, 0] > 0.0]
        if not len(rows):
            return new
        old, pair_list = self._list_of(state), self._list_of(new)
        use = [old.patches[int(number) - 1] for number in rows[:, 0]]
        to = match_patches(with_feature_points(self.contacts, points), use, pair_list.patches)
        variables, totals = state.internal.copy(), state.totals.copy()
        self.sizes.internal.part(variables, "bristle")[...] = 0.0
        bristles = transfer_bristles(rows[:, 1 : 1 + N_INTERNAL], to, len(pair_list.patches))
        self._store_bristles(variables[None], bristles[None], pair_list.stiffness)
        # if all bristles are continued, the energy is conserved up to rounding
        if len(np.unique(to[to >= 0])) < len(to):
            totals[1] += max(0.0, self._bristle_energy(state.internal) - self._bristle_energy(variables))
        return new._replace(internal=variables, totals=totals)

    def _skin(self, points: Floats, step: float) -> float:
        """Return the skin of a list made at these points, m; `step` is the distance that the fastest point moves in a step."""
        desired = max(2.0 * self._list_steps * step, LEAST * self._reach)
        max_skin = max(MOST * self._reach, FASTEST * step)
        if desired <= max_skin:
            return desired
        few_surfaces = (
            self._list_steps > STEPS
        )  # few surfaces: a second search costs little, and so do many steps if nothing is near
        return (
            desired
            if few_surfaces and not len(candidates(self.contacts, points, desired, self._search).pair)
            else max_skin
        )

    def _bristle_energy(self, variables: Floats) -> float:
        """Return the energy stored in bristles between surfaces, J."""
        rows = self.sizes.internal.part(variables, "bristle")
        return 0.5 * float(rows[:, 1 + N_INTERNAL] @ np.sum(rows[:, 1:4] ** 2, axis=1))

    def _without_distant_bristles(self, state: State) -> State:
        """Set the bristles at planes that the list leaves out to zero and count their energy as lost: they opened in the step
        before.
        """
        counts = history_variable_counts(self.system.others)
        if not counts.any():
            return state
        far, first = self._list_of(state).far, first_history_variable(self.system)
        energy = bristle_energy(self.system.others, far, state.internal, first)
        if energy == 0.0:
            return state
        variables, totals = state.internal.copy(), state.totals.copy()
        opened = far & (counts > 0)
        variables[first[opened][:, None] + np.arange(N_INTERNAL)] = 0.0
        totals[1] += energy
        return state._replace(internal=variables, totals=totals)

    def _indices_without(self, far: NDArray[np.bool_]) -> Ints:
        """Return the indices (k,) in `State.internal` of the variables before the windows, without those of `far`."""
        counts = history_variable_counts(self.system.others)
        opened = far & (counts > 0)
        indices = first_history_variable(self.system)[opened][:, None] + np.arange(N_INTERNAL)
        return np.delete(np.arange(self._before_bristles), indices.ravel())

    def _list_of(self, state: State) -> PairList:
        """Return the list that belongs to the memory of the state; make it if it is not cached."""
        list_memory = state.memory[self._inner :]
        memory_key = list_memory.tobytes()
        if self._last is not None and self._last[0] == memory_key:
            return self._last[1]
        points, contacts = list_memory[:-1].reshape(-1, 3).copy(), self.contacts
        pairs = candidates(contacts, points, float(list_memory[-1]), self._search)
        generic = self.system.others
        far = are_inactive(self._planes, len(generic.kind), state, points, float(list_memory[-1]))
        key = b"".join(column.tobytes() for column in (*pairs, far))
        pair_list = self._lists.pop(key, None)
        if pair_list is None:
            windows = find_patches(contacts, pairs)
            losses, stiffness = loss_interactions(contacts, windows)
            near = chosen(generic, ~far) if far.any() else generic
            acting = joined(joined(near, interactions_of(contacts, pairs)), losses)
            stepper = self._make(unshared(self.system._replace(others=acting, contacts=contacts_of())))
            # a pair of rods is listed once for the contact points of each rod
            turned = (pairs.ends[:, 0] > pairs.ends[:, 2])[:, None]
            ordered = np.where(turned, pairs.ends[:, [2, 3, 0, 1]], pairs.ends)
            # no step passes through a mesh, nor a ridge through a ridge: their discrete gradients would not be finite
            of_meshes = np.isin(contacts.kind[contacts.pairs[pairs.pair]], OF_MESHES).any(axis=1)
            lines = np.flatnonzero(~pairs.meshed & ~of_meshes)
            ends, first = np.unique(ordered[lines], axis=0, return_index=True)
            pair_list = PairList(
                stepper,
                windows,
                stiffness,
                self._indices_without(far),
                far,
                np.ascontiguousarray(ends),
                self._search.reach[pairs.pair[lines[first]]],
                pairs,
            )
        self._lists[key] = pair_list
        if len(self._lists) > MAX_CACHED_LISTS:
            self._lists.popitem(last=False)
        self._last = memory_key, pair_list
        if pair_list.stepper.sampler is not None:
            to_whole = partial(self._as_system_states, list_memory=list_memory.copy(), pair_list=pair_list)
            pair_list.stepper.sampler.whole = to_whole
        return pair_list
