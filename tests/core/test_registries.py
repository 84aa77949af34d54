"""Schemes, joints, elements of rods and kinds are listed once: whoever needs to know something of them finds it at each of them,
where the next one declares it, too.
"""

from __future__ import annotations

import ast
import functools
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

from discretization.interaction_groups import registered_kinds
from discretization.space.rod_elements import WORDS
from discretization.system import ROWS, System
from discretization.time.em_family import EM_FAMILY
from discretization.time.families import FAMILIES
from rigid.interactions.kinds import Kind
from rigid.joints import JOINTS

ROOT = Path(__file__).parents[2]


REGISTRIES = {"integrators": {*EM_FAMILY, *FAMILIES}, "joints": {*JOINTS}, "rod elements": {*WORDS}}
ALLOWED_NAMES = {  # files that name several members of a registry, and why
    "discretization/time/families.py": "the registry of integrators, and what the schemes of a family share",
    "rodsim/components/argument_types.py": "Literal types must be written out; tests/api/test_argument_types.py compares",
}
ALLOWED_KINDS = {  # the same of kinds of interactions
    "rigid/interactions/constraints.py": "the registry of constraints",
    "discretization/interaction_kinds.py": "the registry of all others",
    "discretization/contact/fixed_planes.py": "a circle has no point of a surface",
    "discretization/planar/joint_rows.py": "which drives have a plane form",
    "rodsim/building/point_masses.py": "which numbers of a spring are points",
}


@functools.cache
def sources() -> dict[str, str]:
    """All of them, by path."""
    paths = [path for top in ("rigid", "discretization", "rodsim") for path in ROOT.glob(f"{top}/**/*.py")]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted(paths)}


@functools.cache
def parsed(path: str) -> ast.Module:
    """A source; asked for only where what is looked for can be in its text."""
    return ast.parse(sources()[path])


def has_two(text: str, names: set[str]) -> bool:
    return sum(name in text for name in names) > 1


@functools.cache
def listed_by_file() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What each file lists in one tuple, list, set, dict or `Literal`: members of a registry, and kinds by their variables."""
    assert registered_kinds()  # all are imported
    ours = [module for name, module in sys.modules.items() if name.startswith(("rigid.", "discretization."))]
    kinds = {name for module in ours for name, value in vars(module).items() if isinstance(value, Kind)}
    names: dict[str, list[str]] = {}
    variables: dict[str, list[str]] = {}
    for path, text in sources().items():
        if "/papers/" in path:  # which schemes a paper compares
            continue
        if not (has_two(text, kinds) or any(has_two(text, value) for value in REGISTRIES.values())):
            continue
        for node in ast.walk(parsed(path)):
            entries = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", None)
            if not entries:
                continue
            texts = {
                value.value
                for value in entries
                if isinstance(value, ast.Constant) and isinstance(value.value, str)
            }
            for registry in REGISTRIES.values():
                if len(matches := sorted(texts & registry)) > 1:
                    names[path] = matches
            if (
                len(
                    matches := sorted(
                        value.id for value in entries if isinstance(value, ast.Name) and value.id in kinds
                    )
                )
                > 1
            ):
                variables[path] = matches
    return names, variables


def test_every_table_of_a_system_has_a_row_field() -> None:
    tables = {name for name, annotation in get_type_hints(System).items() if hasattr(annotation, "_fields")}
    assert ROWS.keys() == tables - {"frames"}
    assert all(column in get_type_hints(System)[name]._fields for name, column in ROWS.items())


@pytest.mark.parametrize(
    ("lists", "allowed"), [(0, ALLOWED_NAMES), (1, ALLOWED_KINDS)], ids=["names", "kinds"]
)
def test_no_manual_list_repeats_a_registry(lists, allowed):
    """A fact of some of them is declared at each; a list of names forgets the next."""
    assert listed_by_file()[lists].keys() == allowed.keys(), listed_by_file()[lists]
