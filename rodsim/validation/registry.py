"""All validation cases by name; each family of cases is one module."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import import_module

from rigid.errors import ModelError
from rodsim.validation.case import Case

# modules, in the order of the table
FAMILIES = (
    "rods_at_rest",
    "cantilevers",
    "buckling_loads",
    "frequencies",
    "tops",
    "pendulums",
    "loops",
    "squeezer",
    "mechanisms",
    "driven_models",
    "contacts",
    "exact_rods",
    "actuated_rods",
    "rods",
    "published_runs",
)
CASES: dict[str, Case] = {
    case.name: case for family in FAMILIES for case in import_module(f"rodsim.validation.{family}").CASES
}


def select_cases(names: Iterable[str]) -> list[Case]:
    """Return the cases called `names`, or all if there are no names; raise `ModelError` for an unknown name."""
    selected = list(names)
    for name in selected:
        if name not in CASES:
            near = difflib.get_close_matches(name, CASES, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"choose among {', '.join(CASES)}"
            raise ModelError(f"case '{name}' is not known; {hint}")
    return [CASES[name] for name in selected] if selected else list(CASES.values())
