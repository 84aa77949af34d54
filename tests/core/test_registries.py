"""Schemes, joints, rod elements and kinds are registered once.

Facts about them are declared at each registered entry, so that a new entry has to declare them, too.
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
ALLOWED_NAMES = {  # files allowed to list several members of a registry, and why
    "discretization/time/families.py": "the registry of integrators, and what the schemes of a family share",
    "rodsim/components/argument_types.py": "Literal types must be written out; tests/api/test_argument_types.py compares",
}
ALLOWED_KINDS = {  # the same for kinds of interactions
    "rigid/interactions/constraints.py": "the registry of constraints",
    "discretization/interaction_kinds.py": "the registry of all others",
    "discretization/contact/fixed_planes.py": "a circle has no point of a surface",
    "discretization/planar/joint_rows.py": "which drives have a plane form",
    "discretization/planar/joints.py": "closed forms of the sorts of planar rows; other constraints have none, see joint_rows",
    "rigid/interactions/contact/resting_friction.py": "friction at rest of fixed planes; equilibria warn of all other friction",
    "rodsim/results/fluid_history.py": "which numbers of these kinds are those of the drag",
}


@functools.cache
def sources() -> dict[str, str]:
    """Text of all sources, by path."""
    paths = [path for top in ("rigid", "discretization", "rodsim") for path in ROOT.glob(f"{top}/**/*.py")]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted(paths)}


@functools.cache
def parsed(path: str) -> ast.Module:
    """Syntax tree of a source; called only if its text can contain a match."""
    return ast.parse(sources()[path])


def has_two(text: str, names: set[str]) -> bool:
    return sum(name in text for name in names) > 1


@functools.cache
def listed_by_file() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Registry members and kinds that each file lists in one tuple, list, set, dict or `Literal`."""
    assert registered_kinds()  # all are imported
    ours = [module for name, module in sys.modules.items() if name.startswith(("rigid.", "discretization."))]
    kinds = {name for module in ours for name, value in vars(module).items() if isinstance(value, Kind)}
    names: dict[str, list[str]] = {}
    variables: dict[str, list[str]] = {}
    for path, text in sources().items():
        if "/papers/" in path:  # lists of schemes that a paper compares
            continue
        if not (has_two(text, kinds) or any(has_two(text, value) for value in REGISTRIES.values())):
            continue
        for node in ast.walk(parsed(path)):
            entries = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", None)
            if not entries:
                continue
            texts = {
                entry.value
                for entry in entries
                if isinstance(entry, ast.Constant) and isinstance(entry.value, str)
            }
            for registry in REGISTRIES.values():
                if len(matches := sorted(texts & registry)) > 1:
                    names[path] = matches
            if (
                len(
                    matches := sorted(
                        entry.id for entry in entries if isinstance(entry, ast.Name) and entry.id in kinds
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
    """Facts are declared at each entry of a registry; a list of names would omit the next entry."""
    assert listed_by_file()[lists].keys() == allowed.keys(), listed_by_file()[lists]
