"""Generated modules: only generated code is run, for any content of the cache folder."""

import importlib.util
import marshal
import os
import sys
from pathlib import Path

import pytest

from rigid.compilation import cache_folder, generated_modules

SOURCE = "value = 1\n"
PLANTED = "value = 666\n"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder of the test, with no module left in the process."""
    monkeypatch.setattr(cache_folder, "CACHE_DIRECTORY", str(tmp_path / "rodsim"))
    known = set(sys.modules)
    yield tmp_path / "rodsim" / "systems"
    for name in set(sys.modules) - known:
        if name.startswith("rodsim_system_"):
            del sys.modules[name]


def load(source=SOURCE):
    """Load the module and its file as a new process does."""
    module = generated_modules.load_module(source)
    del sys.modules[module.__name__]
    return module, Path(module.__file__)


@pytest.mark.parametrize("text", [PLANTED, SOURCE[:-3], "", SOURCE + PLANTED, "\xff"])
def test_file_with_other_content_is_rewritten_and_not_run(cache, text):
    _, path = load()
    path.write_text(text, encoding="latin-1")
    module, rewritten = load()
    assert module.value == 1
    assert rewritten == path
    assert path.read_text() == SOURCE


def test_file_with_equal_content_is_not_rewritten(cache):
    _, path = load()
    before = path.stat()
    _, reloaded = load()
    assert (reloaded.stat().st_ino, reloaded.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_symbolic_link_is_replaced_and_its_target_unchanged(cache, tmp_path):
    _, path = load()
    target = tmp_path / "target.py"
    target.write_text(PLANTED)
    path.unlink()
    path.symlink_to(target)
    assert load()[0].value == 1
    assert not path.is_symlink()
    assert target.read_text() == PLANTED


def test_stale_bytecode_is_not_run(cache):
    """Python would take it for that of the source: same time, same size."""
    _, path = load()
    planted = path.with_name("planted.py")
    planted.write_text(PLANTED)
    bytecode = Path(importlib.util.cache_from_source(str(path)))
    bytecode.parent.mkdir(exist_ok=True)
    header = (
        importlib.util.MAGIC_NUMBER
        + bytes(4)
        + int(path.stat().st_mtime).to_bytes(4, "little")
        + len(SOURCE).to_bytes(4, "little")
    )
    bytecode.write_bytes(header + marshal.dumps(compile(PLANTED, str(path), "exec")))
    assert load()[0].value == 1


def test_incomplete_write_leaves_no_file_and_the_module_runs(cache, monkeypatch, capsys):
    _, path = load()
    path.write_text(PLANTED)

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    monkeypatch.setattr(cache_folder, "_reported", set())
    assert [load()[0].value for _ in range(2)] == [1, 1]
    assert [x.name for x in cache.iterdir() if x.is_file()] == [path.name]
    assert capsys.readouterr().err.count("No space left on device") == 1


def test_failing_module_is_not_saved(cache):
    source = "raise OSError('disk')"
    for _ in range(2):
        with pytest.raises(OSError, match="disk"):
            generated_modules.load_module(source)
    assert list(cache.glob("*.py")) == []


def test_only_the_newest_generated_modules_are_kept(cache, monkeypatch, tmp_path):
    monkeypatch.setattr(generated_modules, "_KEPT_FILES", 3)
    other_systems = cache.parent / "systems_1"
    other_systems.mkdir(parents=True)
    cache.mkdir(parents=True)
    for k in range(6):
        source = cache / f"rodsim_system_{k}.py"
        source.touch()
        (other_systems / f"rodsim_system_{k}.mass-5.py311.nbi").touch()
        os.utime(source, (k, k))
    (cache / "notes.py").touch()
    (other_systems / "other.mass.nbi").touch()
    new = Path(generated_modules.load_module(f"# {tmp_path}").__file__)
    assert {x.name for x in cache.glob("*.py")} == {
        "notes.py",
        "rodsim_system_4.py",
        "rodsim_system_5.py",
        new.name,
    }
    assert {x.name.split(".")[0] for x in other_systems.iterdir()} == {
        "other",
        "rodsim_system_4",
        "rodsim_system_5",
    }


def test_an_error_in_a_module_without_a_file_shows_its_line(cache, monkeypatch):
    monkeypatch.setattr(cache_folder, "CACHE_DIRECTORY", "")
    with pytest.raises(ZeroDivisionError) as error:
        generated_modules.load_module("x = 1\ny = x / 0\n")
    assert str(error.traceback[-1].statement) == "y = x / 0"
