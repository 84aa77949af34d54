"""The integrators of mechanical systems by name: `scheme(name)` with its facts and its compiled functions.

| name | parameters |
|---|---|
| EML, REML, Null-EML, EML-kappa, MPL | |
| MPH, IMS, EMH, EMS, EM-G | |
| VI-S, VI-A, VI-B, GGL-EM | theta (VI-A, VI-B), vartheta (VI-B) |
| mG | k, gauss |
| GL-SPARK, Lobatto-IIIA-B | s |
| BS99 | |

`compose` raises the order of a symmetric one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from discretization.time import composition
from discretization.time.families import FAMILIES
from discretization.time.scheme import Scheme
from rigid.errors import ModelError


def unknown(name: str, choices: Iterable[str]) -> ModelError:
    """The error for a name that is none of the choices."""
    choices = tuple(choices)
    return ModelError(
        f"integrator '{name}' is not known; choose one of {', '.join(choices)}", choices=choices
    )


def scheme(name: str, order: int | None = None, **parameters: Any) -> Scheme:
    """The integrator `name` with its parameters; with an `order` above its own it is composed.

    Raises ModelError for an unknown name, parameter or composition.
    """
    known = {key.lower(): key for key in FAMILIES}
    if name.lower() not in known:
        raise unknown(name, FAMILIES)
    name = known[name.lower()]
    allowed = _POSITIONAL.get(name, ())
    for key, value in (parameters | {"order": order}).items():
        if key != "order" and key not in allowed:
            raise ModelError(
                f"integrator {name}: no parameter {key}; it has {', '.join((*allowed, 'order'))}"
            )
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float | np.number)):
            raise ModelError(f"integrator {name}: {key} = {value!r}; give a number")
        if key in _WHOLE and value is not None:
            if value != int(value):
                raise ModelError(f"integrator {name}: {key} = {value}; give a whole number")
            parameters[key] = int(value)
    order = parameters.pop("order", None)
    made = FAMILIES[name](name, **parameters)
    return made if order is None or order == made.order else compose(made, order)


# Positional parameters in a name such as "VI-B(1, 0.5)".
_POSITIONAL = {"mG": ("k", "gauss"), "VI-A": ("theta",), "VI-B": ("theta", "vartheta")}
_POSITIONAL |= dict.fromkeys(("GL-SPARK", "Lobatto-IIIA-B"), ("s",))
_WHOLE = {"k", "gauss", "s", "order"}
_PATTERN = re.compile(r"\s*([A-Za-z0-9-]*[A-Za-z0-9])\s*(?:\(([^()]*)\))?\s*")


def parse(text: str, **more: Any) -> Scheme:
    """The scheme written as a name with parameters: "EML", "mG(3)", "VI-B(1, 0.5)", "EML(order=4)"; `more` adds some.

    Raises ModelError with what could not be read.
    """
    match = _PATTERN.fullmatch(text)
    known = {key.lower(): key for key in FAMILIES}
    if not match or match[1].lower() not in known:
        raise unknown(text, FAMILIES)
    name = known[match[1].lower()]
    parameters: dict[str, Any] = {}
    entries = [part.strip() for part in match[2].split(",")] if (match[2] or "").strip() else []
    for place, entry in enumerate(entries):
        key, _, value = entry.rpartition("=")
        names = _POSITIONAL.get(name, ())
        key = key.strip() or (names[place] if place < len(names) and place == len(parameters) else "")
        twice = key in parameters or key in more
        try:
            parameters[key] = int(value) if key in _WHOLE else float(value)
        except ValueError:
            key = ""
        if not key or twice:
            what = ", ".join((*names, "order"))
            why = "is given twice" if twice else "cannot be read"
            raise ModelError(f"integrator '{text}': '{entry}' {why}; parameters of {name} are {what}")
    return scheme(name, **(parameters | more))


def compose(made: Scheme, order: int) -> Scheme:
    """Symmetric composition of a symmetric scheme: from order 2 to 4, 6 and 8, from any order by 2."""
    if not made.symmetric:
        raise ModelError(
            f"integrator {made.name} of order {made.order} is not symmetric and cannot be composed"
        )
    if made.order == 2 and order in composition.FRACTIONS:
        fractions = composition.FRACTIONS[order]
    elif order == made.order + 2:
        fractions = composition.suzuki(made.order)
    else:
        choice = "4, 6 or 8" if made.order == 2 else str(made.order + 2)
        raise ModelError(
            f"integrator {made.name} of order {made.order} cannot be composed to {order}; choose {choice}"
        )
    if made.reversing:
        # the order conditions hold for maps near the identity, which two halves are and one step is not
        fractions = composition.halved(fractions)
    return replace(made, name=f"{made.name}, order {order}", order=order, fractions=tuple(fractions))
