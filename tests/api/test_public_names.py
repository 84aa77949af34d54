"""Exported names of modules.

The imports for type checkers and the table of lazy imports agree; no name is exported by accident.
"""

import ast
import importlib
import inspect
import subprocess
import sys
import types

import pytest

import rodsim
from tests.support.public_interface import MODULES, public_names

LAZY = [name for name in MODULES if "lazy_names(" in inspect.getsource(importlib.import_module(name))]


def seen_by_type_checkers(module):
    """Map each name to the module that it is imported from, for the imports under TYPE_CHECKING."""
    tree = ast.parse(inspect.getsource(module))
    (guarded,) = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in guarded.body if isinstance(node, ast.ImportFrom)]
    assert all(a.asname == a.name for node in imports for a in node.names), "write `import X as X`"
    return {alias.name: node.module for node in imports for alias in node.names}


@pytest.mark.parametrize("name", LAZY)
def test_type_checkers_see_all_lazy_exports(name):
    module = importlib.import_module(name)
    seen = seen_by_type_checkers(module)
    hidden = {"warnings"} if module is rodsim else set()
    if name == "rodsim.results":
        hidden = set(seen) - set(module.__all__)
    assert set(seen) - hidden == set(module.__all__)
    for public_name, place in seen.items():
        exported = getattr(module, public_name)
        defining = importlib.import_module(place)
        if not isinstance(exported, types.ModuleType):
            assert exported is getattr(defining, public_name)


@pytest.mark.parametrize("name", MODULES)
def test_public_modules_export_exactly_their_list(name):
    module = importlib.import_module(name)
    assert list(module.__all__) == sorted(set(module.__all__))
    assert set(module.__all__) <= set(dir(module))


def test_signals_export_only_signals():
    accidents = [
        name
        for name, value in vars(rodsim.signals).items()
        if not name.startswith("_") and name not in rodsim.signals.__all__
    ]
    assert accidents == []


def test_exported_names_are_defined_in_the_package():
    """No numpy, no typing: names of other packages are accidents."""
    outside = [
        name
        for name, exported in public_names()
        if getattr(exported, "__module__", "rodsim").split(".")[0]
        not in ("rodsim", "rigid", "discretization")
    ]
    assert outside == []


def test_unknown_name_raises_attribute_error_of_its_module():
    with pytest.raises(AttributeError, match="module 'rodsim' has no attribute 'simulat'"):
        _ = rodsim.simulat
    with pytest.raises(ImportError, match="simulat"):
        exec("from rodsim.linear import simulat")


def test_star_import_does_not_replace_the_warnings_module():
    """`warnings` is also a module of Python."""
    script = "import warnings; own = warnings; from rodsim import *; print(warnings is own, Model.__name__)"
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert completed.stdout.split() == ["True", "Model"]
