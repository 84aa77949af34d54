"""A model in words and numbers, fit for JSON: what a result file says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from discretization.system import System, fingerprint
from rigid.signals import Signal, VectorSignal
from rodsim.parts.entries import Contents, SpringEntry, TorsionEntry
from rodsim.parts.model_parts import Body


def _in_time(value: Any) -> Any:
    """A constant, a signal with its numbers, or "callable"."""
    if isinstance(value, VectorSignal):
        return _in_time(value.scalar) | {"direction": value.direction.tolist()}
    if isinstance(value, Signal):
        numbers = {name: np.asarray(own).tolist() for name, own in vars(value).items()}
        return {"signal": type(value).__name__, **numbers}
    if callable(value) or (isinstance(value, tuple) and callable(value[0])):  # alone, or with its rate
        return "callable"
    return np.asarray(value, dtype=float).tolist()


def _linear(entries: Mapping[str, SpringEntry | TorsionEntry]) -> dict[str, Any]:
    """Springs, or torsion springs."""
    return {
        name: {"a": str(entry.a), "b": str(entry.b), "stiffness": entry.stiffness}
        for name, entry in entries.items()
    }


class Section(NamedTuple):
    """Things of one sort that act, by name."""

    word: str  # of one
    each: Callable[[Contents], dict[str, Any]]
    table: str = ""  # field of `System` in which they stand alone
    always: bool = True  # False: older files do not have it, and it is left out where the model has none


# by the key in the description of a result; who tells what changed loops over it
ACTING: dict[str, Section] = {
    "springs": Section(
        "spring",
        lambda model: _linear(model.springs),
        "springs",
    ),
    "torsion_springs": Section(
        "torsion spring",
        lambda model: _linear(model.torsions),
        "torsions",
    ),
    "others": Section(
        "interaction",
        lambda model: {name: entry.described() for name, entry in model.others.items()},
        "others",
        always=False,
    ),
    "line_loads": Section(
        "line load",
        lambda model: {
            name: {
                "kind": "moment" if entry.kind else "force",
                "rod": entry.rod.name,
                "following": entry.following,
                "between": list(entry.between),
                "value": _in_time(entry.value),
            }
            for name, entry in model.line_loads.items()
        },
        always=False,
    ),
    "drives": Section(
        "drive",
        lambda model: {
            name: {"joint": entry.joint.name, "of": entry.of, "value": _in_time(entry.motion.given)}
            for name, entry in model.drives.items()
        },
        always=False,
    ),
    "gears": Section(
        "gear",
        lambda model: {
            name: [{"joint": own.joint.name, "of": own.of, "ratio": own.ratio} for own in entry.each]
            for name, entry in model.gears.items()
        },
        always=False,
    ),
    "driven": Section(
        "driven",
        lambda model: {
            name: {"position": part.position.tolist(), "orientation": part.orientation.tolist()}
            for name, part in model.driven.items()
        },
        always=False,
    ),
    "loads": Section(
        "load",
        lambda model: {
            name: {
                "kind": "moment" if entry.kind else "force",
                "on": str(entry.anchor),
                "following": entry.following,
                "value": _in_time(entry.described),
            }
            for name, entry in model.loads.items()
        },
    ),
}


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
        "joints": {
            name: {"kind": entry.kind, "a": str(entry.a), "b": str(entry.b)}
            | ({} if entry.length is None else {"length": entry.length})
            for name, entry in model.joints.items()
        },
        **{key: found for key, own in ACTING.items() if (found := own.each(model)) or own.always},
    }
