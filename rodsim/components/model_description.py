"""Describe a model in words and numbers that JSON can hold, for result files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from discretization.system import System, fingerprint
from rodsim.components.model_data import ModelData
from rodsim.components.model_parts import Body
from rodsim.components.surfaces import SURFACES_ON_PARTS


class Section(NamedTuple):
    """One section of the description: entries or driven frames of one kind, by name."""

    word: str  # name of one, in messages
    of_model: str  # dictionary of the model that stores them
    table: str = ""  # field of `System` that holds them and nothing else
    always: bool = True  # False: left out if the model has none, as in older files


# by key in the description of a result; comparisons of descriptions loop over it
ACTING: dict[str, Section] = {
    "springs": Section("spring", "springs", "springs"),
    "torsion_springs": Section("torsion spring", "torsions", "torsions"),
    "others": Section("interaction", "others", "others", always=False),
    "line_loads": Section("line load", "line_loads", always=False),
    "drives": Section("drive", "drives", always=False),
    "gears": Section("gear", "gears", "others", always=False),
    **{surface.key: Section(surface.word, surface.table, always=False) for surface in SURFACES_ON_PARTS},
    "contacts": Section("contact", "contacts", "others", always=False),
    "driven": Section("driven", "driven", always=False),
    "loads": Section("load", "loads"),
    "joint_forces": Section("joint force", "joint_forces", always=False),
    "sensors": Section("sensor", "sensors", always=False),
    "controllers": Section("controller", "controllers", always=False),
    "events": Section("event", "events", always=False),
}


def _describe_each(things: dict[str, Any]) -> dict[str, Any]:
    return {name: part.described() for name, part in things.items()}


def _rod_of(body: Body) -> dict[str, Any]:
    """Return the sections of the rod that a rigid body replaces, so that names of points on it stay valid; else an empty dict."""
    if body.replaced_rod is None:
        return {}
    fractions, r, quat = (values.tolist() for values in body.replaced_rod)
    return {"rod": {"s": fractions, "r": r, "quat": quat}}


def description(model: ModelData, system: System) -> dict[str, Any]:
    """Return the description of a model and its system as words and numbers that JSON can hold."""
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
                **({} if rod.nodes is None else {"nodes": list(rod.nodes)}),
                "closed": rod.closed,
                "initial": rod.initial.described(),
                "stress_free": rod.stress_free.described(),
            }
            for name, rod in model.rods.items()
        },
        "joints": _describe_each(model.joints),
        **describe_components(model, ACTING),
    }


def describe_components(model: ModelData, keys: Iterable[str]) -> dict[str, Any]:
    """Return the descriptions of the entries under these keys of `ACTING`."""
    return {
        key: _describe_each(entries)
        for key in keys
        if (entries := getattr(model, ACTING[key].of_model)) or ACTING[key].always
    }
