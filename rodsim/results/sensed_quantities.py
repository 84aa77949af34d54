"""Evaluate the quantities that sensors measure, at the outputs of a result and, with the same functions, during a run.

Joint forces are those of the multipliers stored in a state: means over the step, or substep, that ends there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discretization.state_measures import element_states, energies
from discretization.time.sampling import Quantities
from rigid.system import Floats, Ints, State
from rodsim.results import native_format, stored_states
from rodsim.results.array_sources import MemorySource, Source
from rodsim.results.contact_history import ContactHistory
from rodsim.results.histories import RodHistory
from rodsim.results.joint_history import JOINT, JointHistory
from rodsim.results.layout import Layout
from rodsim.results.part_energies import part_energies

QUANTITIES = ("section_force", "joint_force", "contact_force", "energy")
SECTION_FORCE = QUANTITIES[0]


class _LastStep(JointHistory):
    """History of a joint by its multipliers of the step that ends at each output."""

    @property
    def multipliers(self) -> Floats:
        return self.step_multipliers


def quantity_values(source: Source, described: Mapping[str, Any]) -> Floats:
    """Return a quantity (T,) at all outputs of a source from its description in a result."""
    of, layout = described["of"], source.layout
    if of == SECTION_FORCE:
        rod = next(rod for rod in layout.rods if rod.name == described["rod"])
        field, number = described["component"]
        return RodHistory(source, rod).along(field, described["s"])[:, 0, int(number) - 1]
    axis = np.array(described["axis"]) if "axis" in described else None
    if of == "joint_force":
        joint = _LastStep(source, next(x for x in layout.joints if x.name == described["joint"]))
        if axis is None:
            in_axes = {"force": joint.force_in, "moment": joint.moment_in}[described["component"]]
            return in_axes(JOINT)[:, 2]
        force: Floats = {"force": joint.force, "moment": joint.moment}[described["component"]] @ axis
        return force
    if of == "contact_force":
        contact = ContactHistory(source, described["contact"])
        return contact.normal_force if axis is None else contact.force @ axis
    batches = [_energy(layout, described, states) for _, states in stored_states.state_batches(source)]
    return np.concatenate([np.zeros(0), *batches])


def _energy(layout: Layout, described: Mapping[str, Any], states: State) -> Floats:
    """Return an energy (T,) of the model or of a part at states (T, ...), J."""
    assert layout.system is not None
    part = described.get("part")
    of: Any = part_energies(layout, states, part)[part] if part else energies(layout.system, states)
    energy: Floats = getattr(of, described["kind"])
    return energy


def quantities_of(layout: Layout) -> Quantities:
    """Return the function that evaluates sensors of a model at states, for `discretization.time.sampling.ControlFunctions`."""

    def quantities(numbers: Ints, states: State) -> Floats:
        described = [entry["measure"] for entry in layout.description["sensors"].values()]
        chosen = [described[number] for number in numbers.tolist()]
        source = _source(layout, states, any(entry["of"] == SECTION_FORCE for entry in chosen))
        return np.stack([quantity_values(source, entry) for entry in chosen], axis=1)

    return quantities


def _source(layout: Layout, states: State, stresses: bool) -> MemorySource:
    """Return states (T, ...) of a run as a source, with stresses of rods if they are needed."""
    memory = np.zeros((len(states.r), layout.memory.size))
    memory[:, : states.memory.shape[1]] = (
        states.memory
    )  # data of the step size control come last, not known here
    arrays = stored_states.parts(layout, states._replace(memory=memory))
    arrays[native_format.TIME] = np.zeros(len(states.r))
    if stresses:
        assert layout.system is not None
        arrays["strains"], arrays["stresses"] = element_states(layout.system, states)
    return MemorySource(layout, arrays)
