"""Friction of contacts with planes along a path of equilibria: bristles from one equilibrium to the next.

The law is that of `rigid.interactions.contact.resting_friction`. Between two equilibria the numbers of these interactions are
constant: poses and bristles of the last equilibrium. `RestingFriction.settle` replaces them where the next one was found, so
that a load step that fails changes nothing. The bristles are also those of the state, in the layout of a motion.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from discretization.assembly.workspace import Workspace
from discretization.characteristic_length import extent
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import groups_of
from discretization.internal_variables import first_history_variable
from discretization.system import System
from rigid import quaternions
from rigid.interactions import evaluation
from rigid.interactions.contact.friction import SIZE, STATIC
from rigid.interactions.contact.gaps import RHO
from rigid.interactions.contact.resting_friction import AT_REST
from rigid.system import Floats, State

_NEAR_RADIUS, _NEAR = (
    1e-3,
    1e-6,
)  # largest gap of what is laid down, over its radius, plus over the model's size
_STICKS = 1e9  # coefficient of friction without a limit


class RestingFriction:
    """Friction of the contacts of a system with planes, which begins at a state.

    idle: frames that have axes about which nothing can act; friction acts at their origins.
    """

    def __init__(self, system: System, state: State, idle: Iterable[int] = ()):
        table = system.others
        self._kinds = {INTERACTIONS.index(kind): at_rest for kind, (at_rest, _) in AT_REST.items()}
        losses = np.flatnonzero(np.isin(table.kind, list(self._kinds)))
        self.use = losses[table.numbers[table.first[losses + 1] - SIZE + STATIC] > 0.0]
        self._bristle = first_history_variable(system)[self.use][:, None] + np.arange(3)
        self._arity = np.array([INTERACTIONS[k].arity for k in table.kind[self.use]], np.int64)
        self._frames = table.frames[self.use]
        self._touched = np.zeros(len(self.use), bool)
        self._scale = 1.0 + np.isin(self._frames[:, 1:], list(idle)).any(axis=1)
        self._mu = table.numbers[table.first[self.use + 1] - SIZE + STATIC]
        self._system, self.acts, self.slides = system, True, True  # False: friction is left out, has no limit
        self._anchor(state)
        self._touched = self._touched | self._touches(state)

    def _touches(self, state: State) -> Any:
        """Return whether each contact touches at the poses of a state, or nearly so: without weight nothing presses."""
        near = self.on(self._system)
        radius = near.others.first[:-1][self.use] + RHO
        numbers = near.others.numbers
        numbers[radius] += _NEAR_RADIUS * numbers[radius] + _NEAR * extent(state.r)
        return self._evaluate(near, state)[1]

    def _anchor(self, state: State) -> None:
        """Take the poses and bristles of a state as those of the last equilibrium."""
        self._zeta = state.internal[self._bristle]
        self._r, self._quat = state.r.copy(), state.quat.copy()
        self._touched = self._touched | self._zeta.any(axis=1)

    def on(self, system: System) -> System:
        """Return the system with friction at rest in place of its losses; interactions of a list may follow."""
        table = system.others
        parts = np.split(table.numbers, table.first[1:-1])
        for row, poses, mine in zip(self.use.tolist(), self._poses(), self._mine(), strict=True):
            numbers = parts[row].copy()
            numbers[-len(mine) :] = mine
            parts[row] = np.concatenate([numbers, poses])
        kind, size = table.kind.copy(), table.size.copy()
        for number, at_rest in self._kinds.items():
            members = self.use[table.kind[self.use] == number]
            kind[members] = INTERACTIONS.index(INTERACTIONS.register(at_rest)) if len(members) else 0
        size[self.use] = table.size[self.use - 1]  # round-off as that of the force along the normal
        first = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
        return system._replace(
            others=table._replace(kind=kind, size=size, first=first, numbers=np.concatenate(parts))
        )

    def _poses(self) -> list[Floats]:
        """Return the numbers of the poses in the last equilibrium, relative to the first frame of each interaction."""
        R = quaternions.to_matrix(self._quat).transpose(0, 2, 1)  # rows: directors
        out = []
        for frames, arity in zip(self._frames, self._arity.tolist(), strict=True):
            r = self._r[frames[:arity]] - self._r[frames[0]]
            out.append(np.concatenate([r[:, None], R[frames[:arity]]], axis=1).ravel())
        return out

    def _mine(self) -> Floats:
        """Return bristles and flags (k, 4)."""
        return np.column_stack([self._zeta, self._scale * (self._touched & self.acts)])

    def _evaluate(self, system: System, state: State) -> tuple[Floats, Any]:
        """Return the bristles (k, 3) at the poses of a state, and whether each contact touches (k,)."""
        zeta, acts = np.zeros((len(self.use), 3)), np.zeros(len(self.use), bool)
        duals = {at_rest.name: dual for at_rest, dual in AT_REST.values()}
        for group in groups_of(system.others, self.use):
            position = np.searchsorted(self.use, group.row)
            kind = group.kind._replace(dual=duals[group.kind.name])
            rows = group._replace(kind=kind, row=np.arange(len(position)))
            duals_of_frames = evaluation.gradients([rows], state.r, state.quat)
            zeta[position], acts[position] = duals_of_frames[:, 0, :3], duals_of_frames[:, 1, 0] > 0.5
        return zeta, acts

    def settle(self, work: Workspace, resting: System, state: State) -> None:
        """Take the state, an equilibrium, as the last one: store its bristles in it, and anchor the contacts there.

        resting: the system of statics, whose arrays `work` holds.
        """
        if not len(self.use):
            return
        zeta, _ = self._evaluate(self.on(self._system), state)
        self._touched = self._touches(state)
        state.internal[self._bristle] = zeta
        self._anchor(state)
        self.write(work, resting)

    def begin_at(self, work: Workspace, resting: System, state: State) -> None:
        """Take a state with its bristles as the last equilibrium; `resting` as in `settle`."""
        if len(self.use):
            self._anchor(state)
            self.write(work, resting)

    def write(self, work: Workspace, resting: System) -> None:
        """Write poses and bristles of the last equilibrium to the numbers that compiled code reads."""
        table, generic = resting.others, work.generic_groups
        numbers_at_rest = [INTERACTIONS.index(INTERACTIONS.register(kind)) for kind in self._kinds.values()]
        rows = np.flatnonzero(np.isin(table.kind, numbers_at_rest))
        order = np.lexsort((np.diff(table.first), table.kind))  # sorted by kind, as `groups_of` returns them
        place = np.empty(len(order), np.int64)
        place[order] = len(generic.interacting.entries) - len(order) + np.arange(len(order))
        last = generic.interacting.entries.last[place[rows]]
        limit = self._mu if self.slides else np.full(len(self._mu), _STICKS)
        for end, mine, poses, mu in zip(
            last.tolist(), self._mine(), self._poses(), limit.tolist(), strict=True
        ):
            for numbers in (generic.interacting.numbers, generic.at_end):
                numbers[end - len(poses) - SIZE + STATIC] = mu
                numbers[end - len(poses) : end] = poses
                numbers[end - len(poses) - len(mine) : end - len(poses)] = mine

    def store(self, state: State) -> None:
        """Store the bristles of the last equilibrium in a state."""
        state.internal[self._bristle] = self._zeta
