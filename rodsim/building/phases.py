"""Systems between two events: a model whose joints and drives act only in part.

The states of a run with events have the arrays of the whole model. The integrator takes its steps with a `Phase`: the same frames
and interactions, and those rows of constraints that act. States are converted by the indices of these rows; the multipliers of
the others are zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discretization.controls import EventNumbers
from discretization.drives import driven_rows
from discretization.internal_variables import WIDTHS, internal_variables, part
from discretization.redundancy import redundancy, with_redundancy_marked
from rigid.errors import ModelError
from rigid.interactions.constraints import first_rows
from rigid.system import Ints, State
from rodsim.building.build import Built

_NO_MARKS = np.zeros(0, np.uint8)


@dataclass(frozen=True, eq=False)
class Phase:
    """A model with the joints and drives that act.

    Attributes
    ----------
    built : Built
        The arrays; its `state` is not used.
    rows : (p,) array of int
        Its multipliers among the m of the whole model.
    internal : (q,) array of int
        Its internal variables among those of the whole model.
    """

    built: Built
    rows: Ints
    internal: Ints

    def state_of(self, state: State) -> State:
        """Return a state of the whole model as a state of the phase."""
        return state._replace(lam=state.lam[..., self.rows], internal=state.internal[..., self.internal])

    def whole(self, states: State, before: State) -> State:
        """Return states (k, ...) of the phase as states of the whole model; `before` has the numbers that the phase lacks."""
        lam = np.zeros((len(states.r), len(before.lam)))
        lam[:, self.rows] = states.lam
        internal = np.tile(before.internal, (len(states.r), 1))
        # without the bristles of contacts, which come last, in the states of a list of contacts
        internal[:, self.internal[: states.internal.shape[1]]] = states.internal
        return states._replace(lam=lam, internal=internal)


def event_numbers(built: Built, state: State) -> EventNumbers:
    """Return views of what events and switches remember in one state or many."""
    return built.system.controls.events_of(part(built.system, state, "sampled"))


def refuse_released(owner: str, built: Built, state: State | None = None) -> None:
    """Raise ModelError if an event has released a joint or a drive, or engages one later; state: by default the initial one."""
    if not len(built.system.controls.on):
        return
    off = np.flatnonzero(event_numbers(built, built.state if state is None else state).on == 0.0)
    if len(off):
        events = built.layout.description["events"].values()
        names = dict.fromkeys(
            name for x in events for key in ("release", "engage") for name in x.get(key) or ()
        )
        name = list(names)[int(off[0])]
        raise ModelError(
            f"{owner}: '{name}', which events of model '{built.layout.name}' switch, does not act here. Use a model without it "
            "and without these events; a run that starts from this result finds parts and joints by name"
        )


def phase_of(built: Built, state: State) -> Phase:
    """Return the phase of a state: the model with the joints and drives that act in it."""
    system = built.system
    controls, constraints, blocks = system.controls, system.constraints, internal_variables(system)
    if not len(controls.switch):
        rows, internal = np.arange(len(state.lam)), np.arange(blocks.size)
        return Phase(built, rows, internal)
    numbers, drive = event_numbers(built, state), np.arange(blocks.drive)
    acting = controls.acting(part(system, state, "sampled")) > 0.0
    mask = acting[first_rows(constraints)] if len(constraints.kind) else np.zeros(0, bool)
    driven = driven_rows(constraints)
    keep = np.ones(blocks.drive, bool)
    keep[: len(driven)] = mask[driven]
    chosen = constraints.chosen(mask)._replace(repeats=_NO_MARKS)
    interactions = system.others._replace(repeats=_NO_MARKS)
    part_of_system = system._replace(
        constraints=chosen, others=interactions, controls=controls._replace(switch=np.zeros(0, np.int64))
    )
    positions = []
    for name, width in WIDTHS.items():
        numbers_of_rows = drive[keep] if name == "drive" else np.arange(getattr(blocks, name))
        positions.append((blocks.first(name) + width * numbers_of_rows[:, None] + np.arange(width)).ravel())
    phase = Phase(built, np.flatnonzero(acting), np.concatenate(positions))
    redundant = redundancy(part_of_system, phase.state_of(state))
    if redundant is not None:
        part_of_system = with_redundancy_marked(part_of_system, redundant)
    values = built.drive_values
    if values is not None:
        start = values.start.copy()
        switch = controls.switch[first_rows(constraints)[driven]] if len(driven) else np.zeros(0, np.int64)
        start[switch >= 0] = numbers.begin[switch[switch >= 0]]
        names = [name for name, acts in zip(values.rows, keep, strict=False) if acts]
        acting_rows = {name: values.rows[name] for name in names}
        values = replace(values, rows=acting_rows, start=start[keep[: len(driven)]])
        values = values if acting_rows or values.driven else None
    return replace(phase, built=built._replace(system=part_of_system, drive_values=values))
