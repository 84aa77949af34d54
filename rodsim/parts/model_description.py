"""A model in words and numbers, fit for JSON: what a result file says of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from discretization.system import System, fingerprint
from rodsim.parts.entries import Contents
from rodsim.parts.model_parts import Body
from rodsim.parts.surface_entries import SURFACES_ON_PARTS


class Section(NamedTuple):
    """Things of one sort that act, by name."""

    word: str  # of one
    of_model: str  # its dictionary in a model
    table: str = ""  # field of `System` in which they stand alone
    always: bool = True  # False: older files do not have it, and it is left out where the model has none


# by the key in the description of a result; who tells what changed loops over it
ACTING: dict[str, Section] = {
    "springs": Section("spring", "springs", "springs"),
    "torsion_springs": Section("torsion spring", "torsions", "torsions"),
    "others": Section("interaction", "others", "others", always=False),
    "line_loads": Section("line load", "line_loads", always=False),
    "drives": Section("drive", "drives", always=False),
    "gears": Section("gear", "gears", "others", always=False),
    **{own.key: Section(own.word, own.table, always=False) for own in SURFACES_ON_PARTS},
    "contacts": Section("contact", "contacts", "others", always=False),
    "driven": Section("driven", "driven", always=False),
    "loads": Section("load", "loads"),
}


def _each(things: dict[str, Any]) -> dict[str, Any]:
    return {name: thing.described() for name, thing in things.items()}


def _rod_of(body: Body) -> dict[str, Any]:
    """The rod that a body stands for: places on it keep their names."""
    if body.stands_for is None:
        return {}
    fractions, r, quat = (values.tolist() for values in body.stands_for)
    return {"rod": {"s": fractions, "r": r, "quat": quat}}


def description(model: Contents, system: System) -> dict[str, Any]:
    """The model in words and numbers, fit for JSON."""
    return {
        "name": model.name,
        "fingerprint": fingerprint(system),
        "gravity": model.gravity.tolist(),
        **({"rigid_twin": model.left_out} if model.left_out else {}),
        "bodies": {
            name: {
                "mass": body.properties.mass,
                "inertia": body.properties.inertia.tolist(),
                "position": body.position.tolist(),
                "orientation": body.orientation.tolist(),
            }
            | _rod_of(body)
            for name, body in model.bodies.items()
        },
        "rods": {
            name: {
                "length": rod.stress_free.length,
                "n_elements": rod.n_elements,
                "element": rod.element,
                "closed": rod.closed,
                "initial": rod.initial.described(),
                "stress_free": rod.stress_free.described(),
            }
            for name, rod in model.rods.items()
        },
        "joints": _each(model.joints),
        **acting_described(model, ACTING),
    }


def acting_described(model: Contents, keys: Iterable[str]) -> dict[str, Any]:
    """What acts, of these keys of `ACTING`."""
    return {
        key: _each(found)
        for key in keys
        if (found := getattr(model, ACTING[key].of_model)) or ACTING[key].always
    }
