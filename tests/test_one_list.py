"""What acts is listed once: a function that names three tables of `System` is a place that will forget the next one.

Assembly, whose layout the tables are, names them; so do the few listed here, each with the reason. Everyone else asks
`discretization.groups.groups_of`.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLES = {"elements", "spans", "constraints", "loads", "others"}
ASSEMBLY = {  # what lays the tables out, adds them up or places their blocks
    "assembly",
    "groups",
    "system",
}
NAMED = {
    "discretization/statics/rest.py:resting": "tables that statics changes",
    "discretization/time/mechanical_stepper.py:system_in_chart": "what a chart reads by itself",
    "discretization/state_measures.py:energies": "the energies' columns are those of tables",
    "rodsim/results/recomputed.py:noise_power": "rounding, of which kinds do not tell yet",
    "rodsim/results/layout.py:_take_from": "counts",
    "discretization/trees/shape.py:tree_of": "which tables a tree may have",
    "discretization/planar/plane.py:_beyond": "which tables a planar model may have",
    "discretization/planar/plane.py:_across": "vectors of those that it may have",
    "discretization/planar/tables.py:tables_of": "those that it may have, in the plane",
}


@functools.cache
def tables_by_function() -> dict[str, set[str]]:
    """Tables of something called `system`, or of `self.system`, that each function names."""
    found: dict[str, set[str]] = {}
    for path in sorted([*ROOT.glob("rodsim/**/*.py"), *ROOT.glob("discretization/**/*.py")]):
        if ASSEMBLY & {path.stem, path.parent.name}:
            continue
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            named = {
                node.attr
                for node in ast.walk(function)
                if isinstance(node, ast.Attribute) and node.attr in TABLES and _is_system(node.value)
            }
            if len(named) > 2:
                found[f"{path.relative_to(ROOT).as_posix()}:{function.name}"] = named
    return found


def _is_system(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in ("system", "plain", "_plain")


def test_no_function_outside_assembly_lists_the_tables_by_hand() -> None:
    found = tables_by_function()
    assert {name: tables for name, tables in found.items() if name not in NAMED} == {}


def test_what_is_listed_as_naming_tables_still_does() -> None:
    assert NAMED.keys() - tables_by_function().keys() == set()
