"""Check and describe the quantities that sensors measure besides measures of two points (`rodsim.measures.Quantity`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rigid.checks import shown
from rigid.errors import ModelError
from rigid.joints import JOINTS
from rodsim.components.base import CheckContext, InteractionComponent
from rodsim.components.joints import Drive
from rodsim.components.model_parts import Anchor, Body, Rod
from rodsim.components.part_lookup import find_part_or_point
from rodsim.interactions.measures import Quantity


def quantity_by_name(owner: str, model: Any, quantity: Quantity) -> Quantity:
    """Replace the name of a point of a rod, or of a part, by the point or part of the model."""
    if quantity.word in ("section_force", "energy") and isinstance(quantity.of, str):
        return replace(quantity, of=find_part_or_point(owner, model, quantity.of))
    return quantity


def check_quantity(context: CheckContext, quantity: Quantity) -> Quantity:
    """Check a quantity against the model; what it belongs to becomes a point of a rod, a name, or None."""
    owner, model, of = context.owner, context.model, quantity.of
    if quantity.word == "section_force":
        if not isinstance(of, Anchor) or not isinstance(of.part, Rod):
            raise ModelError(f"{owner}: {shown(of)} is not a point of a rod. Give a point such as 'cord@0.3'")
        context.check_is_in_model(of.part)
        return quantity
    if quantity.word == "energy":
        if of is not None and not isinstance(of, Body | Rod):
            raise ModelError(f"{owner}: {shown(of)} has no energy. Give a rod or a body, or leave out part=")
        if of is not None:
            context.check_is_in_model(of)
        return replace(quantity, of=None if of is None else of.name)
    table, what = {
        "joint_force": ({**model.joints, **model.drives}, "joints and drives"),
        "contact_force": (model.contacts, "contacts"),
        "state": (
            {name: x for name, x in model.others.items() if x.states},
            "interactions",
        ),
    }[quantity.word]
    entry = table.get(of) if isinstance(of, str) else of
    name = getattr(entry, "name", None)
    if entry is None or table.get(name) is not entry:
        known = ", ".join(f"'{x}'" for x in table) or "none"
        raise ModelError(
            f"{owner}: {shown(of)} is not among the {what} of this model: {known}. Give one of them"
        )
    if quantity.word == "joint_force" and quantity.axis is None:
        kind = (entry.joint if isinstance(entry, Drive) else entry).kind
        if not JOINTS[kind].axis:
            raise ModelError(
                f"{owner}: {kind} joint '{name}' has no axis. Give a direction of the world, axis=(x, y, z)"
            )
    if quantity.word == "contact_force" and quantity.axis is not None and entry.b is None:
        raise ModelError(
            f"{owner}: the surfaces of contact '{name}' have no two sides on which a force would act. Leave out axis= for "
            "its normal force, or make a contact of each side"
        )
    if quantity.word == "state":
        state_offset(owner, entry, quantity)
    return replace(quantity, of=name)


def state_offset(owner: str, interaction: InteractionComponent, quantity: Quantity) -> int:
    """Return the index of a state among all states of an interaction; ModelError if it has no such state."""
    offset = 0
    for name, width in interaction.states.items():
        if name == quantity.component:
            if quantity.index < max(width, 1):
                return offset + quantity.index
            raise ModelError(
                f"{owner}: state '{name}' of '{interaction.name}' has {max(width, 1)} numbers, got index = {quantity.index}. "
                f"Give an index from 0 to {max(width, 1) - 1}"
            )
        offset += max(width, 1)
    known = ", ".join(f"'{name}'" for name in interaction.states)
    raise ModelError(
        f"{owner}: '{interaction.name}' has no state {shown(quantity.component)}. Its states are: {known}"
    )


def describe_quantity(quantity: Quantity) -> dict[str, Any]:
    """Return a checked quantity as words and numbers that JSON can hold."""
    of, component = quantity.of, quantity.component
    if quantity.word == "section_force":
        assert isinstance(of, Anchor)
        return {"of": quantity.word, "rod": of.part.name, "s": of.s, "component": component}
    words: dict[str, Any] = {
        "joint_force": {"joint": of, "component": component},
        "contact_force": {"contact": of},
        "energy": {"kind": component} | ({} if of is None else {"part": of}),
        "state": {"interaction": of, "state": component, "index": quantity.index},
    }[quantity.word]
    axis = {} if quantity.axis is None else {"axis": quantity.axis.tolist()}
    return {"of": quantity.word, **words, **axis}


def missing_part(quantity: Quantity, model: Any) -> str:
    """Return what a quantity belongs to and a model does not have, in words; an empty string if it has it."""
    if quantity.word == "section_force":
        assert isinstance(quantity.of, Anchor)
        rod = quantity.of.part.name
        return "" if rod in model.rods else f"measures a section force of rod '{rod}', which is left out"
    name, bodies, rods = quantity.of, model.bodies, model.rods
    if quantity.word == "energy":
        lost = quantity.component == "elastic" and name is not None and name not in rods
        return (
            f"measures the elastic energy of '{name}', which is a body here"
            if lost and name in bodies
            else ""
        )
    tables = {
        "joint_force": {**model.joints, **model.drives},
        "contact_force": model.contacts,
        "state": model.others,
    }
    return "" if name in tables[quantity.word] else f"measures '{name}', which is left out"
