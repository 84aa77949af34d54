"""What a case is known by, of code that a user writes: every change of it that decides about numbers is another case."""

import importlib
import sys

import pytest

from rodsim.studies import keys
from rodsim.studies.user_code import installed, sources_of

# how a function is reached: files, what is asked for, and the change
WAYS = {
    "a method of a class": (
        {"uses": "class Law:\n    def f(self):\n        return 1.0\n\ndef case(x):\n    return Law().f()\n"},
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "an attribute of a class": (
        {"uses": "class Law:\n    k = 1.0\n\ndef case(x):\n    return Law.k\n"},
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "a base of a class": (
        {"uses": "class A:\n    k = 1.0\nclass B(A):\n    pass\n\ndef case(x):\n    return B.k\n"},
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "a static method": (
        {
            "uses": "class A:\n    @staticmethod\n    def f():\n        return 1.0\n\ndef case(x):\n    return A.f()\n"
        },
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "a class method": (
        {
            "uses": "class A:\n    @classmethod\n    def f(cls):\n        return 1.0\n\ndef case(x):\n    return A.f()\n"
        },
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "a property": (
        {
            "uses": "class A:\n    @property\n    def f(self):\n        return 1.0\n\ndef case(x):\n    return A().f\n"
        },
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "a default of a dataclass": (
        {
            "uses": "from dataclasses import dataclass\n\n@dataclass\nclass A:\n    k: float = 1.0\n\n"
            "def case(x):\n    return A().k\n"
        },
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "an imported file": (
        {
            "uses": "import helps\n\ndef case(x):\n    return helps.f()\n",
            "helps": "def f():\n    return 1.0\n",
        },
        "case",
        ("helps", "1.0", "2.0"),
    ),
    "a file that the imported one imports": (
        {
            "uses": "import helps\n\ndef case(x):\n    return helps.f()\n",
            "helps": "from below import K\n\ndef f():\n    return K\n",
            "below": "K = 1.0\n",
        },
        "case",
        ("below", "1.0", "2.0"),
    ),
    "an import inside the function": (
        {
            "uses": "def case(x):\n    from helps import f\n    return f()\n",
            "helps": "def f():\n    return 1.0\n",
        },
        "case",
        ("helps", "1.0", "2.0"),
    ),
    "a module of a package": (
        {
            "uses": "from parts import helps\n\ndef case(x):\n    return helps.f()\n",
            "parts/__init__": "",
            "parts/helps": "from .below import K\n\ndef f():\n    return K\n",
            "parts/below": "K = 1.0\n",
        },
        "case",
        ("parts/below", "1.0", "2.0"),
    ),
    "a bound method": (
        {"uses": "class A:\n    def f(self, x):\n        return 1.0\n\ncase = A().f\n"},
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "what a bound method is bound to": (
        {
            "uses": "class A:\n    def __init__(self, k):\n        self.k = k\n"
            "    def f(self, x):\n        return self.k\n\ncase = A(1.0).f\n"
        },
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "a callable object": (
        {"uses": "class A:\n    def __call__(self, x):\n        return 1.0\n\ncase = A()\n"},
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "what a callable object holds in slots": (
        {
            "uses": "class A:\n    __slots__ = ('k',)\n    def __init__(self, k):\n        self.k = k\n"
            "class B(A):\n    __slots__ = ()\n    def __call__(self, x):\n        return self.k\n\ncase = B(1.0)\n"
        },
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "a function that is remembered": (
        {
            "uses": "from functools import lru_cache\n\n@lru_cache\ndef f():\n    return 1.0\n\ndef case(x):\n    return f()\n"
        },
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "a compiled function": (
        {
            "uses": "from numba import njit\n\n@njit\ndef f():\n    return 1.0\n\ndef case(x):\n    return f()\n"
        },
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "a function of a function": (
        {"uses": "def g():\n    return 1.0\n\ndef f():\n    return g()\n\ndef case(x):\n    return f()\n"},
        "case",
        ("uses", "1.0", "2.0"),
    ),
    "which error is caught": (
        {
            "uses": "def case(x):\n    try:\n        return 1 / x\n    except ZeroDivisionError:\n        return 0.0\n"
        },
        "case",
        ("uses", "ZeroDivisionError", "ValueError"),
    ),
}


@pytest.fixture
def key_of(tmp_path, monkeypatch):
    """Key of what the module `uses` calls `name`, of files that are imported anew."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = set()

    def found(files, name):
        for file, text in files.items():
            path = tmp_path / f"{file}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            made.add(file.removesuffix("/__init__").replace("/", "."))
        for module in made:
            sys.modules.pop(module, None)
        importlib.invalidate_caches()
        return keys.key(getattr(importlib.import_module("uses"), name))

    yield found
    for module in made:
        sys.modules.pop(module, None)


@pytest.mark.parametrize("way", WAYS)
def test_a_change_of_what_a_function_uses_is_another_case(key_of, way):
    files, name, (file, old, new) = WAYS[way]
    before = key_of(files, name)
    assert key_of(files, name) == before
    changed = files[file].replace(old, new)
    assert changed != files[file]
    assert key_of({**files, file: changed}, name) != before
    assert key_of(files, name) == before


def test_a_comment_in_a_function_is_no_other_case(key_of):
    text = "class A:\n    def f(self):\n        return 1.0\n\ndef case(x):\n    return A().f()\n"
    assert key_of({"uses": text}, "case") == key_of({"uses": "# words\n" + text}, "case")


def test_to_find_what_a_module_imports_nothing_is_imported(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "first_of_two.py").write_text("def f():\n    from second_of_two import g\n    return g()\n")
    (tmp_path / "second_of_two.py").write_text("raise RuntimeError('imported')\n")
    assert [name for name, _ in sources_of("first_of_two")] == ["first_of_two", "second_of_two"]
    assert "second_of_two" not in sys.modules


def test_what_is_installed_is_known_by_its_version_and_the_rest_is_the_users(tmp_path, monkeypatch):
    import numpy

    assert installed("numpy.linalg") == numpy.__version__
    assert installed("json") == installed("sys") == ""
    assert installed("__main__") is None
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine_alone.py").write_text("")
    assert installed("mine_alone") is None
    assert keys.key(numpy.linalg.norm) != keys.key(numpy.linalg.det)


def test_functions_that_call_each_other_and_share_others_have_a_key_soon(key_of):
    """Each function is written out once: of 40 that call the two before there are 2^27 ways."""
    text = "def f0():\n    return f39()\n\ndef f1():\n    return 1.0\n"
    text += "".join(f"\ndef f{k}():\n    return f{k - 1}() + f{k - 2}()\n" for k in range(2, 40))
    before = key_of({"uses": text}, "f39")
    assert key_of({"uses": text.replace("1.0", "2.0")}, "f39") != before
