"""Histories of parts in fluids: forces of the fluid, and angles of attack, at the outputs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from discretization.interaction_groups import InteractionGroup, groups_of
from discretization.interaction_kinds import INTERACTIONS
from discretization.interaction_table import groups_of as table_groups
from discretization.internal_variables import first_history_variable
from rigid import quaternions
from rigid.interactions.added_mass import ADDED_MASSES
from rigid.interactions.airfoil import AIRFOIL, angle_of_attack
from rigid.interactions.fluid_drag import BODY_DRAG, DISPLACED, DISPLACED_BY_BODY, LINE_DRAG, MATRIX, NORMAL
from rigid.interactions.loads import BUOYANCY
from rigid.system import Floats, Ints
from rodsim.results import native_format, stored_states
from rodsim.results.array_sources import Source
from rodsim.results.errors import ResultError
from rodsim.results.node_forces import load_wrenches
from rodsim.results.node_loads import node_loads, values_at

# numbers of the drag alone
_RESISTANCES = {LINE_DRAG: slice(NORMAL, DISPLACED), BODY_DRAG: slice(MATRIX, DISPLACED_BY_BODY)}
IN_FLUIDS = ("submerged rod", "submerged body", "airfoil")  # kinds in descriptions of result files


class FluidHistory:
    """Hold the forces of a fluid on a rod or a body at the outputs; `Result.in_fluid` returns it.

    Examples
    --------
    >>> wet = result.in_fluid("wet line")
    >>> wet.drag.shape, wet.buoyancy.shape
    ((21, 11, 3), (21, 11, 3))
    """

    def __init__(self, source: Source, name: str) -> None:
        assert source.layout.system is not None
        self._source, self.name, self._system = source, name, source.layout.system
        described: dict[str, Any] = source.layout.description["others"][name]
        first: int = described["first_interaction"]
        self._rows = np.arange(first, first + described["interactions"])
        self._frames = self._frames_of_part(described)

    def _frames_of_part(self, described: dict[str, Any]) -> Ints:
        """Return the frames of the rod, or that of the body."""
        layout = self._source.layout
        if "rod" in described:
            return next(rod for rod in layout.rods if rod.name == described["rod"]).frames
        table = self._system.others
        return table.frames[self._rows[:1], 0 if INTERACTIONS[table.kind[self._rows[0]]].arity == 1 else 1]

    @cached_property
    def drag(self) -> Floats:
        """(T, n, 3) N, forces on the nodes of a rod against the motion relative to the fluid; for a body (T, 3).

        They include those of the accelerated fluid, `inertia`. Those of `added_mass` are not included. Those of an airfoil are
        lift and drag of its strips.
        """
        return self._sum(LINE_DRAG, BODY_DRAG, AIRFOIL)

    @cached_property
    def inertia(self) -> Floats:
        """(T, n, 3) N, forces of the accelerated fluid on the displaced volume (Froude-Krylov); they are a part of `drag`.

        For a body (T, 3).
        """
        return self._sum(LINE_DRAG, BODY_DRAG, resists=False)

    @cached_property
    def added_momentum(self) -> Floats:
        """(T, n, 3) N s, momenta of the added masses, relative to the fluid; for a body (T, 3)."""
        system, total = self._system, np.zeros((self._source.n_outputs, len(self._frames), 3))
        columns = {frame: k for k, frame in enumerate(self._frames.tolist())}
        first_variable = first_history_variable(system)
        for kind in ADDED_MASSES.values():
            for group in table_groups(
                system.others, self._rows[system.others.kind[self._rows] == INTERACTIONS.index(kind)]
            ):
                size, nodes = kind.n_internal, group.frames[:, -1]
                M = group.numbers[:, : size * size].reshape(-1, size, size)[:, :3]
                use = first_variable[group.row][:, None] + np.arange(size)
                at = [columns[frame] for frame in nodes.tolist()]
                for first, states in stored_states.state_batches(self._source):
                    local = np.einsum("kij,tkj->tki", M, states.internal[:, use])
                    total[first : first + len(local), at] += quaternions.rotate(states.quat[:, nodes], local)
        return total if len(self._frames) > 1 else total[:, 0]

    @cached_property
    def added_mass(self) -> Floats:
        """(T, n, 3) N, forces of the added masses, against the acceleration relative to the fluid; for a body (T, 3).

        They are minus the rate of `added_momentum`, by differences of neighbouring outputs, of second order in their spacing. The
        impulse between two outputs is exactly the change of the momentum. nan if there is one output.
        """
        momentum, t = self.added_momentum, self._source.read(native_format.TIME)
        return -np.gradient(momentum, t, axis=0) if len(t) > 1 else np.full_like(momentum, np.nan)

    @cached_property
    def buoyancy(self) -> Floats:
        """(T, n, 3) N, buoyancies of the nodes of a rod; for a body (T, 3)."""
        return self._sum(BUOYANCY)

    @cached_property
    def angle(self) -> Floats:
        """(T, n) degrees, angles of attack at the nodes of an airfoil; nan at nodes without a strip."""
        angles = np.full((self._source.n_outputs, len(self._frames)), np.nan)
        columns = {frame: k for k, frame in enumerate(self._frames.tolist())}
        for group, wrenches, first in self._wrenches((AIRFOIL,), angle_of_attack):
            for j, frame in enumerate(group.frames[:, 1].tolist()):
                angles[first : first + len(wrenches), columns[frame]] = np.degrees(wrenches[:, j, 0, 0])
        return angles

    def _sum(self, *kinds: Any, resists: bool = True) -> Floats:
        """Return the sum of the forces of interactions of these kinds on each frame; resists: False to leave out the drag."""
        total = np.zeros((self._source.n_outputs, len(self._frames), 3))
        columns = {frame: k for k, frame in enumerate(self._frames.tolist())}
        for group, wrenches, first in self._wrenches(kinds, resists=resists):
            for k in range(group.kind.arity):
                for j, frame in enumerate(group.frames[:, k].tolist()):
                    if frame in columns:
                        total[first : first + len(wrenches), columns[frame]] -= wrenches[:, j, k, :3]
        return total if len(self._frames) > 1 else total[:, 0]

    def _wrenches(self, kinds: tuple[Any, ...], rate_dual: Any = None, resists: bool = True) -> Any:
        """Yield groups of this entry, their resistances or gradients (T', k, f, 6), and the number of the first output."""
        source, system = self._source, self._system
        loads, t = node_loads(source.layout), source.read(native_format.TIME)
        rows = set(self._rows.tolist())
        for acting in groups_of(system):
            use = np.array([row in rows for row in acting.use.tolist()], bool)
            if acting.table != "others" or acting.group.kind not in kinds or not use.any():
                continue
            numbers = np.searchsorted(system.signals, acting.use[use])
            if any(loads[k].value is None for k in numbers):
                raise ResultError(
                    f"'{self.name}': its fluid follows a function of time that a result does not store. Use a constant factor, "
                    "or no waves"
                )
            group = acting.group._replace(
                frames=acting.group.frames[use],
                numbers=acting.group.numbers[use],
                row=np.arange(use.sum()),
            )
            if not resists:
                group.numbers[:, _RESISTANCES[group.kind]] = 0.0
            if rate_dual is not None:
                group = group._replace(kind=group.kind._replace(bend=rate_dual))
            chosen = InteractionGroup(group, acting.role, acting.table, acting.use[use])
            every = group.frames.ravel()
            for first, states in stored_states.state_batches(source):
                at = slice(first, first + len(states.r))
                yield group, load_wrenches(system, chosen, every, values_at(loads, t[at]), states), first
