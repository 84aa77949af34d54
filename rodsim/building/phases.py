"""Phases of a run with events: a model whose joints and drives act only in part, see `discretization.acting_systems`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discretization.acting_systems import ActingSystem, acting_drives, acting_system
from discretization.controls import EventNumbers
from discretization.drives import driven_rows
from discretization.internal_variables import part
from rigid.errors import ModelError
from rigid.interactions.constraints import first_rows
from rigid.system import State
from rodsim.building.build import Built


@dataclass(frozen=True, eq=False)
class Phase(ActingSystem):
    """A model with the joints and drives that act.

    Attributes
    ----------
    built : Built
        The arrays; its `state` is not used.
    """

    built: Built


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
    system, values = built.system, built.drive_values
    acts = acting_system(system, state)
    if acts.system is system:
        return Phase(system, acts.rows, acts.internal, built)
    if values is not None:
        numbers, driven, keep = (
            event_numbers(built, state),
            driven_rows(system.constraints),
            acting_drives(system, state),
        )
        start = values.start.copy()
        no_switch = np.zeros(0, np.int64)
        switch = system.controls.switch[first_rows(system.constraints)[driven]] if len(driven) else no_switch
        start[switch >= 0] = numbers.begin[switch[switch >= 0]]
        names = [name for name, is_kept in zip(values.rows, keep, strict=False) if is_kept]
        acting_rows = {name: values.rows[name] for name in names}
        values = replace(values, rows=acting_rows, start=start[keep[: len(driven)]])
        values = values if acting_rows or values.driven else None
    phase_built = built._replace(system=acts.system, drive_values=values)
    return Phase(acts.system, acts.rows, acts.internal, phase_built)
