"""Keys of study cases: any change of code, data or program that affects the numbers gives another key."""

import ast
import functools
import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rodsim import Box, Model, __version__
from rodsim.studies import case_keys, sweep

ROOT = Path(__file__).parents[2]


def journal_length(folder, base, parameters=None, **options):
    """Return the number of journal lines after a study of one case; it does not grow if the case was
    completed before.
    """
    study = sweep(base, parameters or {"x": [1]}, folder=folder, workers=0, progress=False, **options)
    assert study.failed == {}
    return len((folder / "cases.jsonl").read_text().splitlines())


# --- user code: return value of `case`, its module, other files; in one of them 1.0 is replaced by 2.0
CODE_CHANGES = {
    "a method of a class": ("Law().f()", "class Law:\n    def f(self): return 1.0", {}),
    "an attribute of a class": ("Law.k", "class Law:\n    k = 1.0", {}),
    "a base of a class": ("B.k", "class A:\n    k = 1.0\nclass B(A): pass", {}),
    "a static method": ("A.f()", "class A:\n    @staticmethod\n    def f(): return 1.0", {}),
    "a class method": ("A.f()", "class A:\n    @classmethod\n    def f(cls): return 1.0", {}),
    "a property": ("A().f", "class A:\n    @property\n    def f(self): return 1.0", {}),
    "a default of a dataclass": (
        "A().k", "from dataclasses import dataclass\n@dataclass\nclass A:\n    k: float = 1.0", {}
    ),
    "an imported file": ("helps.f()", "import helps", {"helps": "def f(): return 1.0"}),
    "a file that the imported one imports": (
        "helps.f()", "import helps", {"helps": "from below import K\ndef f(): return K", "below": "K = 1.0"}
    ),
    "a module of a package": (
        "helps.f()", "from parts import helps",
        {"parts/__init__": "", "parts/helps": "from .below import K\ndef f(): return K", "parts/below": "K = 1.0"},
    ),
    "a function that is remembered": (
        "f()", "from functools import lru_cache\n@lru_cache\ndef f(): return 1.0", {}
    ),
    "a compiled function": ("f()", "from numba import njit\n@njit\ndef f(): return 1.0", {}),
    "a function of a function": ("f()", "def g(): return 1.0\ndef f(): return g()", {}),
    "functions that share others": (  # each is hashed once: 40 functions that call the two before have 2^27 paths
        "0.0 if x else f39()",
        "def f0(): return f39()\ndef f1(): return 1.0\n"
        + "".join(f"def f{k}(): return f{k - 1}() + f{k - 2}()\n" for k in range(2, 40)), {},
    ),
    # `case` written in another way
    "an import inside the function": (
        None, "def case(x):\n    from helps import f\n    return {'y': f()}", {"helps": "def f(): return 1.0"}
    ),
    "an import that is never reached": (
        None, "def case(x):\n    if x > 1:\n        import fails\n    return {'y': 0}",
        {"fails": "raise RuntimeError(1.0)"},
    ),
    "a bound method": (None, "class A:\n    def f(self, x): return {'y': 1.0}\ncase = A().f", {}),
    "what a bound method is bound to": (
        None,
        "class A:\n    def __init__(self, k): self.k = k\n    def f(self, x): return {'y': self.k}\ncase = A(1.0).f", {},
    ),
    "a callable object": (None, "class A:\n    def __call__(self, x): return {'y': 1.0}\ncase = A()", {}),
    "what a callable object holds in slots": (
        None,
        "class A:\n    __slots__ = ('k',)\n    def __init__(self, k): self.k = k\n"
        "class B(A):\n    __slots__ = ()\n    def __call__(self, x): return {'y': self.k}\ncase = B(1.0)", {},
    ),
    "which error is caught": (
        None,
        "def case(x):\n    try: return {'y': 1 / x}\n    except ZeroDivisionError: return {'y': 0.0}", {},
    ),
}  # fmt: skip


@pytest.fixture
def import_case(tmp_path, monkeypatch):
    """Import the function `case` of the module `uses` again from changed files."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    modules = set()

    def imported(files):
        for file, text in files.items():
            path = tmp_path / f"{file}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            modules.add(file.removesuffix("/__init__").replace("/", "."))
        for module in modules:
            sys.modules.pop(module, None)
        importlib.invalidate_caches()
        return importlib.import_module("uses").case

    yield imported
    for module in modules:
        sys.modules.pop(module, None)


@pytest.mark.parametrize("way", CODE_CHANGES)
def test_case_key_follows_changes_of_used_code_but_not_of_comments(way, import_case, tmp_path):
    value, text, other_files = CODE_CHANGES[way]
    text += f"\ndef case(x): return {{'y': {value}}}\n" if value else "\n"
    files = {"uses": text, **other_files}
    changed = {
        file: text.replace("1.0", "2.0").replace("ZeroDivisionError", "ValueError")
        for file, text in files.items()
    }
    assert changed != files
    written = []
    for version in (files, {**files, "uses": "# words\n" + text}, changed, files):
        written.append(journal_length(tmp_path / "out", import_case(version)))
    assert written == [1, 1, 2, 2]
    assert "fails" not in sys.modules  # no module is imported for the search


# --- closures, models, installed packages


def closure_over(content, scale=1.0):
    return lambda x: {"y": scale * x if content is None else x}


def falling(mass):
    model = Model("m")
    model.add_body("block", Box(1, 1, 1, mass=mass))
    return model


def of_script(value):
    def f(x):
        return {"y": value}

    f.__module__ = "__main__"
    return f


CLOSURES = {
    "numbers": (closure_over({"a": 1}), closure_over({"a": 1.5})),
    "types": (closure_over([1, b"1"]), closure_over([1, "1"])),
    "arrays": (closure_over(np.array([1.0, 2.0])), closure_over(np.array([1.0, 3.0]))),
    "sets": (closure_over([1, {"b"}]), closure_over([1, {"c"}])),
    "arguments of a partial function": (functools.partial(pow, exp=2), functools.partial(pow, exp=3)),
    "functions of numpy": (np.linalg.norm, np.linalg.det),
    "what a function of a script holds": (of_script(1.0), of_script(2.0)),
    "enclosed numbers": (closure_over(None, 2.0), closure_over(None, 3.0)),
}


@pytest.mark.parametrize("kind", CLOSURES)
def test_case_keys_depend_on_closure_contents(kind):
    one, other = CLOSURES[kind]
    assert case_keys.key(one) != case_keys.key(other)


def test_installed_code_is_keyed_by_its_version(monkeypatch):
    before = case_keys.key(np.linalg.norm)
    monkeypatch.setattr(np, "__version__", "0.1")
    assert case_keys.key(np.linalg.norm) != before


def test_case_keys_do_not_depend_on_order_or_identity(tmp_path):
    for content in ({"a": 1, "b": [2.0]}, {"b": [2.0], "a": 1}):
        assert journal_length(tmp_path, closure_over(content)) == 1


def test_case_key_of_a_model_depends_on_its_parts(tmp_path):
    options = {"parameters": {"t_end": [0.1]}, "measures": ["final energy.total"], "dt": 0.1}
    written = [journal_length(tmp_path, falling(mass), **options) for mass in (1.0, 1.0, 2.0)]
    assert written == [1, 1, 2]


def test_cases_of_one_structure_differ_in_numbers_only():
    """Cases with equal structure keys run the same compiled code."""
    values = {"a": [1.0, 2.0], "b": ["em", "em-ggl"]}
    cases = sweep(lambda a, b: {"y": a}, values, workers=0, progress=False).study.cases
    structures = {(case.values["a"], case.values["b"]): case.structure for case in cases}
    assert structures[1.0, "em"] == structures[2.0, "em"] != structures[2.0, "em-ggl"]


# --- the program


def test_case_key_covers_all_imported_sources():
    """Otherwise a case would count as completed after a change of the code that computed it. Excluded: texts
    of errors and the keys themselves.
    """
    known = {".".join([package, *place.with_suffix("").parts]) for package, place, _ in case_keys.sources()}
    known |= {f"rodsim.studies.{name}" for name in ("errors", "case_keys")}
    for package, place, file in case_keys.sources():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and place.name not in ("__init__.py", "__main__.py"):
                name = node.module or ""
                in_package = name.split(".")[0] in ("rodsim", "rigid", "discretization")
                assert not in_package or name in known or f"{name}.__init__" in known, (package, place, name)


PROGRAMS = """
import sys
from pathlib import Path
from rodsim.studies.case_keys import program
print(program.__wrapped__())
for file in map(Path, sys.argv[1:]):
    source = file.read_bytes()
    file.write_bytes(source + b"\\n# changed\\n")
    print(program.__wrapped__())
    file.write_bytes(source)
"""


def test_case_key_follows_changes_of_measures_but_not_of_labels(tmp_path):
    """`comparing.material_points` selects the points whose motion is measured; commands and reports compute
    no number.
    """
    decides = {
        "rodsim/cli/main.py": False,
        "rodsim/reporting/page.py": False,
        "rodsim/doctor/probes.py": False,
        "rodsim/comparing/comparison_plot.py": False,
        "rodsim/studies/study_plots.py": False,
        "rodsim/studies/measures.py": True,
        "rodsim/comparing/material_points.py": True,
        "rodsim/results/histories.py": True,
        "discretization/time/em.py": True,
    }
    for package in ("rodsim", "rigid", "discretization"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-c", PROGRAMS, *decides]
    completed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    before, *changed = completed.stdout.split()
    assert re.fullmatch(re.escape(__version__) + r"\+[0-9a-f]{12}", before)
    assert {file: key != before for file, key in zip(decides, changed, strict=True)} == decides
