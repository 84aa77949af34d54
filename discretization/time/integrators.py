"""Create the integrators of mechanical systems by name: `scheme(name)` returns one with its properties and compiled functions.

`FAMILIES` lists the names, with the parameters and the properties of each.

`compose` raises the order of a symmetric integrator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from discretization.time import composition
from discretization.time.families import FAMILIES, Family
from discretization.time.scheme import Scheme
from rigid.errors import ModelError


def unknown(name: str, choices: Iterable[str]) -> ModelError:
    """Return the error for a name that is not one of the choices."""
    choices = tuple(choices)
    return ModelError(
        f"integrator '{name}' is not known; choose one of {', '.join(choices)}", choices=choices
    )


def scheme(name: str, order: int | None = None, **parameters: Any) -> Scheme:
    """Return the integrator `name` with its parameters, composed if `order` is higher than its own order.

    Raises ModelError for an unknown name, parameter or composition.
    """
    name, family = _named(name, name)
    allowed = family.parameters
    for key, value in (parameters | {"order": order}).items():
        if key != "order" and key not in allowed:
            raise ModelError(
                f"integrator {name}: no parameter {key}; it has {', '.join((*allowed, 'order'))}"
            )
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float | np.number)):
            raise ModelError(f"integrator {name}: {key} = {value!r}; give a number")
        if allowed.get(key, key == "order") and value is not None:
            if value != int(value):
                raise ModelError(f"integrator {name}: {key} = {value}; give a whole number")
            parameters[key] = int(value)
    order = parameters.pop("order", None)
    base_scheme = family.make(name, **{key: value for key, value in parameters.items() if value is not None})
    return base_scheme if order is None or order == base_scheme.order else compose(base_scheme, order)


# a name and the text in its brackets
_PATTERN = re.compile(r"\s*([A-Za-z0-9-]*[A-Za-z0-9])\s*(?:\(([^()]*)\))?\s*")


def _named(name: str, text: str) -> tuple[str, Family]:
    """Return the name in its canonical spelling and its family; upper and lower case are not distinguished.

    text: the text of the request, for the error.
    """
    canonical = {key.lower(): key for key in FAMILIES}.get(name.lower())
    if canonical is None:
        raise unknown(text, FAMILIES)
    return canonical, FAMILIES[canonical]


def _read(text: str) -> tuple[str, Family, str]:
    """Return name, family and the text in brackets of a text such as "VI-B(1, 0.5)"."""
    match = _PATTERN.fullmatch(text)
    return (*_named(match[1] if match else "", text), (match[2] or "").strip() if match else "")


def solves_repeating(text: str) -> bool:
    """Return whether the scheme with this text was measured with redundant joints."""
    return _read(text)[1].handles_redundancy


def parse(text: str, **extra: Any) -> Scheme:
    """Return the scheme written as a name with parameters: "EML", "mG(3)", "VI-B(1, 0.5)", "EML(order=4)"; `extra` adds
    parameters.

    Raises ModelError that names the part that could not be read.
    """
    name, family, inside = _read(text)
    names = tuple(family.parameters)
    parameters: dict[str, Any] = {}
    entries = [part.strip() for part in inside.split(",")] if inside else []
    for place, entry in enumerate(entries):
        key, _, value = entry.rpartition("=")
        key = key.strip() or (names[place] if place < len(names) and place == len(parameters) else "")
        twice = key in parameters or key in extra
        try:
            parameters[key] = int(value) if family.parameters.get(key, key == "order") else float(value)
        except ValueError:
            key = ""
        if not key or twice:
            parameter_names = ", ".join((*names, "order"))
            why = "is given twice" if twice else "cannot be read"
            raise ModelError(
                f"integrator '{text}': '{entry}' {why}; parameters of {name} are {parameter_names}"
            )
    return scheme(name, **(parameters | extra))


def compose(base_scheme: Scheme, order: int) -> Scheme:
    """Compose a symmetric scheme symmetrically: from order 2 to 4, 6 and 8, from any order by 2."""
    if not base_scheme.symmetric:
        raise ModelError(
            f"integrator {base_scheme.name} of order {base_scheme.order} is not symmetric and cannot be composed"
        )
    if base_scheme.order == 2 and order in composition.FRACTIONS:
        fractions = composition.FRACTIONS[order]
    elif order == base_scheme.order + 2:
        fractions = composition.suzuki(base_scheme.order)
    else:
        choice = "4, 6 or 8" if base_scheme.order == 2 else str(base_scheme.order + 2)
        raise ModelError(
            f"integrator {base_scheme.name} of order {base_scheme.order} cannot be composed to {order}; choose {choice}"
        )
    if base_scheme.reflects_velocities:
        # the order conditions hold for maps near the identity: two halves are near it, one step is not
        fractions = composition.halve_substeps(fractions)
    return replace(
        base_scheme, name=f"{base_scheme.name}, order {order}", order=order, fractions=tuple(fractions)
    )
