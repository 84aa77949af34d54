"""What acts is listed once: a function that names two tables of `System` is a place that will forget the next one.

Assembly, whose layout the tables are, names them; so do the few listed here, each with the reason. Everyone else asks
`discretization.groups.groups_of`, `discretization.space.rods` of rods, `discretization.multipliers` of what holds. So are
schemes, joints and elements of rods: whoever needs to know something of them finds it at each of them, where the next one
declares it, too.
"""

from __future__ import annotations

import ast
import functools
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

from discretization.groups import registered
from discretization.space.rod_elements import WORDS
from discretization.system import ROWS, System
from discretization.time.em_names import KIN
from discretization.time.families import FAMILIES
from rigid.interactions.kinds import Kind
from rigid.joints import JOINTS

ROOT = Path(__file__).parents[2]
TABLES = {*ROWS}
ASSEMBLY = {  # what lays the tables out, adds them up or places their blocks
    "assembly",
    "groups",
    "system",
}
NAMED = {
    "discretization/multipliers.py:multipliers_of": "the list of what holds",
    "discretization/multipliers.py:with_repeats": "the same, marked",
    "discretization/multipliers.py:count_multipliers": "the same, counted",
    "discretization/own_variables.py:own_variables": "the list of own variables",
    "discretization/own_variables.py:condensed_places": "the same of those that are condensed",
    "discretization/statics/rest.py:_moving": "numbers that statics changes",
    "discretization/statics/rest.py:_levers": "points of joints and springs, where a model has no other size",
    "discretization/statics/forces.py:_passed_pi": "compiled, over elements, then over spans",
    "discretization/statics/strains.py:prediction": "the same",
    "discretization/statics/strains.py:strains_along": "the same",
    "discretization/statics/touching.py:_list": "what touches becomes interactions of a step",
    "discretization/time/contact_stepper.py:__init__": "what touches, and planes, which are among the others",
    "discretization/trees/shape.py:_edges": "facts of those that a tree may have; others are refused by `System.filled`",
    "discretization/planar/plane.py:_beyond": "the same of a planar model",
    "discretization/planar/plane.py:_across": "vectors of those that it may have",
    "discretization/planar/plane.py:_candidates": "the same",
    "discretization/planar/layout.py:_layout": "the same",
    "discretization/planar/tables.py:tables_of": "those that it may have, in the plane",
    "rodsim/results/native.py:create": "names of kinds, by the tables of a file",
}


REGISTRIES = {"integrators": {*KIN, *FAMILIES}, "joints": {*JOINTS}, "rod elements": {*WORDS}}
SAID = {  # files that name several members of a registry, and why
    "discretization/time/families.py": "the registry of integrators, and what the schemes of a family share",
    "rodsim/parts/argument_types.py": "Literal types must be written out; tests/api/test_argument_types.py compares",
}
KINDS_SAID = {  # the same of kinds of interactions
    "rigid/interactions/constraints.py": "the registry of constraints",
    "discretization/interaction_kinds.py": "the registry of all others",
    "discretization/contact/fixed_planes.py": "a circle has no point of a surface",
    "discretization/planar/joint_rows.py": "which drives have a plane form",
    "rodsim/building/point_masses.py": "which numbers of a spring are points",
    "rodsim/results/mesh_contacts.py": "which numbers begin with the core of a body",
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
def said_by_file() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What each file lists in one tuple, list, set, dict or `Literal`: members of a registry, and kinds by their variables."""
    assert registered()  # all are imported
    ours = [module for name, module in sys.modules.items() if name.startswith(("rigid.", "discretization."))]
    kinds = {name for module in ours for name, own in vars(module).items() if isinstance(own, Kind)}
    names: dict[str, list[str]] = {}
    variables: dict[str, list[str]] = {}
    for path, text in sources().items():
        if "/papers/" in path:  # which schemes a paper compares
            continue
        if not (has_two(text, kinds) or any(has_two(text, own) for own in REGISTRIES.values())):
            continue
        for node in ast.walk(parsed(path)):
            each = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", None)
            if not each:
                continue
            texts = {
                own.value for own in each if isinstance(own, ast.Constant) and isinstance(own.value, str)
            }
            for registry in REGISTRIES.values():
                if len(found := sorted(texts & registry)) > 1:
                    names[path] = found
            if (
                len(found := sorted(own.id for own in each if isinstance(own, ast.Name) and own.id in kinds))
                > 1
            ):
                variables[path] = found
    return names, variables


@functools.cache
def tables_by_function() -> dict[str, set[str]]:
    """Tables of something called `system`, or of `self.system`, that each function names."""
    found: dict[str, set[str]] = {}
    for path, text in sources().items():
        if path.startswith("rigid/") or ASSEMBLY & {Path(path).stem, Path(path).parent.name}:
            continue
        if not has_two(text, {f".{table}" for table in TABLES}):
            continue
        for function in ast.walk(parsed(path)):
            if not isinstance(function, ast.FunctionDef):
                continue
            named = {
                node.attr
                for node in ast.walk(function)
                if isinstance(node, ast.Attribute)
                and node.attr in TABLES
                and _is_system(node.value, _systems(function))
            }
            if len(named) > 1:
                found[f"{path}:{function.name}"] = named
    return found


def _systems(function: ast.FunctionDef) -> set[str]:
    """Names of its arguments that are systems."""
    arguments = (*function.args.args, *function.args.kwonlyargs)
    said = {
        own.arg for own in arguments if own.annotation and ast.unparse(own.annotation).startswith("System")
    }
    return said | {"system", "plain"}


def _is_system(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("system", "_system", "_plain", "_of_model")
    return getattr(node, "id", "") in names


def test_every_table_of_a_system_has_rows_by_which_it_is_known_to_be_filled() -> None:
    tables = {name for name, own in get_type_hints(System).items() if hasattr(own, "_fields")}
    assert ROWS.keys() == tables - {"frames"}
    assert all(column in get_type_hints(System)[name]._fields for name, column in ROWS.items())


def test_no_function_outside_assembly_lists_the_tables_by_hand() -> None:
    found = tables_by_function()
    assert {name: tables for name, tables in found.items() if name not in NAMED} == {}


def test_what_is_listed_as_naming_tables_still_does() -> None:
    assert NAMED.keys() - tables_by_function().keys() == set()


@pytest.mark.parametrize(("found", "allowed"), [(0, SAID), (1, KINDS_SAID)], ids=["names", "kinds"])
def test_no_list_by_hand_of_what_a_registry_has(found, allowed):
    """A fact of some of them is declared at each; a list of names forgets the next."""
    assert said_by_file()[found].keys() == allowed.keys(), said_by_file()[found]
