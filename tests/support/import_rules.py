"""Rules for imports of tests behind the public interface: the allowed seams, and the remaining older imports.

    python -m tests.support.import_rules           # list the imports that are not allowed; exit code 1 if there are some
    python -m tests.support.import_rules --shrink  # remove from internals.txt what no test imports any more

A test that imports an internal module breaks when that module changes, even if nothing that a user sees changes. Tests
therefore
import public modules (`PUBLIC`) and the few modules in `SEAMS`, whose names and signatures are maintained as carefully as the
public ones. Other imports of older tests are listed in `internals.txt`; that list may shrink, and nothing may be added to it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
LIST = Path(__file__).with_name("internals.txt")
PACKAGES = ("rigid", "discretization", "rodsim")

PUBLIC = (
    "rodsim",
    "rodsim.actuators",
    "rodsim.controllers",
    "rodsim.curves",
    "rodsim.fluids",
    "rodsim.interactions",
    "rodsim.learning",
    "rodsim.linear",
    "rodsim.measures",
    "rodsim.mechanics",
    "rodsim.results",
    "rodsim.scenes",
    "rodsim.signals",
    "rodsim.studies",
    "rodsim.warnings",
)
# module -> what tests take from it
SEAMS = {
    "rigid.errors": "errors that users meet",
    "rigid.system": "State, the arrays of a state",
    "rigid.quaternions": "quaternions as references of tests",
    "rigid.joints": "registry of joints",
    "rigid.linear_algebra": "vectors and matrices of kernels, on every type of numbers",
    "rigid.structural_zero": "the structural zero",
    "discretization.system": "System, the arrays of a model",
    "discretization.interaction_groups": "all interactions of a system, by kind",
    "discretization.interaction_kinds": "registry of interactions",
    "discretization.state_measures": "energies, momenta and residuals of states",
    "discretization.space.rod_elements": "registry of rod elements",
    "discretization.time.random_numbers": "random numbers by key and counter",
    "discretization.time.stepper": "Stepper, steps of a system without a model",
    "discretization.time.integrators": "registry of integrators",
    "rodsim.running.runner": "Runner, what Prepared.runner returns",
    "rodsim.building.build": "Built, what Model.build returns",
    "rodsim.cli.main": "the command line, in this process",
    "rodsim.compiling.ahead_of_time": "compilation before the tests, and its outcomes",
    "rodsim._compat": "table of the old names of the interface",
    "rodsim.results.writer": "ResultWriter, for damage and restarts",
    "rodsim.scenes.schema": "the schema of scenes",
}


def imported(file: Path) -> Iterator[str]:
    """Modules of the packages that a file imports, also inside of functions."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            names = [name for name in names if name == node.module or _is_module(name)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        modules = [name for name in names if name.split(".")[0] in PACKAGES]
        yield from modules[1:] or modules  # `from rigid import signals` imports rigid.signals alone


def _is_module(name: str) -> bool:
    path = TESTS.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def crossings() -> Iterator[tuple[str, str]]:
    """(file, module) of test files that import another test file; shared helpers belong in tests/support."""
    for file in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            inside = module.startswith("tests") and not module.startswith("tests.support")
            if inside or module.split(".")[-1].startswith("test_"):
                yield file.relative_to(TESTS).as_posix(), module


def reaches() -> dict[str, set[str]]:
    """Internal modules that each test file imports, other than the seams."""
    allowed = {*PUBLIC, *SEAMS}
    reached = {
        file.relative_to(TESTS).as_posix(): set(imported(file)) - allowed
        for file in sorted(TESTS.rglob("*.py"))
    }
    return {name: modules for name, modules in reached.items() if modules}


def read() -> dict[str, set[str]]:
    """The list of older imports, by file."""
    rows = (line.split(": ") for line in LIST.read_text().splitlines() if line)
    return {name: set(modules.split()) for name, modules in rows}


def write(rows: dict[str, set[str]]) -> None:
    """Write the list."""
    LIST.write_text("".join(f"{name}: {' '.join(sorted(rows[name]))}\n" for name in sorted(rows)))


def main(arguments: list[str]) -> int:
    """The command."""
    now, known = reaches(), read() if LIST.exists() else {}
    if "--shrink" in arguments:
        remaining = {name: modules & now.get(name, set()) for name, modules in known.items()}
        write({name: modules for name, modules in remaining.items() if modules})
        return 0
    added = {name: modules - known.get(name, set()) for name, modules in now.items()}
    for name, modules in added.items():
        for module in sorted(modules):
            print(
                f"tests/{name}: imports {module}, which is not a seam. Use public names, or a module of SEAMS."
            )
    crossed = list(crossings())
    for name, module in crossed:
        print(f"tests/{name}: imports {module}, another test file. Move what both need to tests/support.")
    unused = {name: modules - now.get(name, set()) for name, modules in known.items()}
    for name, modules in unused.items():
        for module in sorted(modules):
            print(f"{LIST.name}: tests/{name} does not import {module} any more. Run with --shrink.")
    return int(bool(crossed) or any(added.values()) or any(unused.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
