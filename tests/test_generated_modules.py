"""Generated modules: what is run is what was generated, whatever lies in the cache folder."""

import importlib.util
import marshal
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from rigid.compilation import generated_modules
from rigid.errors import ModelError
from rigid.symbolic.systems import symbolic_system

SOURCE = "value = 1\n"
PLANTED = "value = 666\n"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own, and no module left in the process."""
    monkeypatch.setattr(generated_modules.platformdirs, "user_cache_dir", lambda name: str(tmp_path / name))
    known = set(sys.modules)
    yield tmp_path / "rodsim" / "systems"
    for name in set(sys.modules) - known:
        if name.startswith("rodsim_system_"):
            del sys.modules[name]


def load(source=SOURCE):
    """The module and its file, as a new process finds them."""
    module = generated_modules.load_module(source)
    del sys.modules[module.__name__]
    return module, Path(module.__file__)


@pytest.mark.parametrize("text", [PLANTED, SOURCE[:-3], "", SOURCE + PLANTED, "\xff"])
def test_a_file_of_another_text_is_rewritten_and_not_run(cache, text):
    _, path = load()
    path.write_text(text, encoding="latin-1")
    module, again = load()
    assert module.value == 1
    assert again == path
    assert path.read_text() == SOURCE


def test_a_file_of_the_same_text_is_kept_for_numba(cache):
    _, path = load()
    before = path.stat()
    _, again = load()
    assert (again.stat().st_ino, again.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_link_in_place_of_the_file_is_replaced_and_its_target_left_alone(cache, tmp_path):
    _, path = load()
    target = tmp_path / "target.py"
    target.write_text(PLANTED)
    path.unlink()
    path.symlink_to(target)
    assert load()[0].value == 1
    assert not path.is_symlink()
    assert target.read_text() == PLANTED


def test_compiled_code_left_beside_the_file_is_not_run(cache):
    """Python would take it for that of the source: same time, same size."""
    _, path = load()
    planted = path.with_name("planted.py")
    planted.write_text(PLANTED)
    made = Path(importlib.util.cache_from_source(str(path)))
    made.parent.mkdir(exist_ok=True)
    header = (
        importlib.util.MAGIC_NUMBER
        + bytes(4)
        + int(path.stat().st_mtime).to_bytes(4, "little")
        + len(SOURCE).to_bytes(4, "little")
    )
    made.write_bytes(header + marshal.dumps(compile(PLANTED, str(path), "exec")))
    assert load()[0].value == 1


def test_a_file_that_cannot_be_written_whole_leaves_nothing(cache, monkeypatch):
    _, path = load()
    path.write_text(PLANTED)

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        generated_modules.load_module(SOURCE)
    assert [x.name for x in cache.iterdir() if x.is_file()] == [path.name]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes of POSIX")
@pytest.mark.parametrize("of_home", [False, True])
@pytest.mark.parametrize("mode", [0o770, 0o702, 0o1777])
def test_a_folder_that_others_can_write_is_refused_with_the_cure(cache, of_home, mode):
    _, path = load()
    shared = cache.parent if of_home else cache
    shared.chmod(mode)
    with pytest.raises(
        ModelError, match=rf"{shared}' can be written by others \(mode {mode:o}\).*chmod go-w"
    ):
        generated_modules.load_module(SOURCE)
    shared.chmod(0o755)
    assert load()[1] == path


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners of POSIX")
@pytest.mark.parametrize("of_home", [False, True])
def test_a_folder_of_another_user_is_refused_with_the_cure(cache, monkeypatch, of_home):
    load()
    owner = os.getuid()
    foreign = cache.parent if of_home else cache
    if owner == 0:
        os.chown(foreign, 12345, -1)
        shown = f"{foreign}' belongs to user 12345"
    else:  # nobody but root gives folders away: be someone else
        monkeypatch.setattr(os, "getuid", lambda: owner + 1)
        shown = f"belongs to user {owner}, not to you"
    with pytest.raises(ModelError, match=f"{shown}.*XDG_CACHE_HOME"):
        generated_modules.load_module(SOURCE)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes of POSIX")
def test_folders_are_made_for_their_owner_alone_whatever_the_mask(cache):
    mask = os.umask(0)
    try:
        _, path = load()
    finally:
        os.umask(mask)
    assert [x.stat().st_mode & 0o777 for x in (cache.parent, cache, path)] == [0o700, 0o700, 0o600]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes of POSIX")
def test_the_cache_of_kernels_is_made_for_its_owner_alone_and_refused_where_others_can_write(tmp_path):
    """numba loads what it finds there; a folder that a user names in NUMBA_CACHE_DIR is the user's affair."""
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    environment["XDG_CACHE_HOME"] = str(tmp_path)
    command = [
        sys.executable,
        "-c",
        "import os; os.umask(0); import rigid.compilation.decorators as c; print(c.CACHE_DIRECTORY)",
    ]

    def imported():
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, cwd=Path(__file__).parents[1]
        )

    folder = Path(imported().stdout.strip())
    assert folder.parent == tmp_path / "rodsim"
    assert [x.stat().st_mode & 0o777 for x in (folder.parent, folder)] == [0o700, 0o700]
    folder.chmod(0o777)
    refused = imported()
    assert refused.returncode != 0
    assert f"ModelError: cache folder '{folder}' can be written by others" in refused.stderr
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "chosen")
    assert imported().returncode == 0


def test_a_module_that_fails_is_not_kept(cache):
    source = "raise OSError('disk')"
    for _ in range(2):
        with pytest.raises(OSError, match="disk"):
            generated_modules.load_module(source)
    assert list(cache.glob("*.py")) == []


def test_only_the_newest_generated_modules_are_kept(cache, monkeypatch, tmp_path):
    monkeypatch.setattr(generated_modules, "_KEPT_FILES", 3)
    monkeypatch.setattr(generated_modules.compilation, "CACHE_DIRECTORY", str(tmp_path / "numba"))
    others = tmp_path / "numba" / "systems_1"
    others.mkdir(parents=True)
    cache.mkdir(parents=True)
    for k in range(6):
        source = cache / f"rodsim_system_{k}.py"
        source.touch()
        (others / f"rodsim_system_{k}.mass-5.py311.nbi").touch()
        os.utime(source, (k, k))
    (cache / "notes.py").touch()
    (others / "other.mass.nbi").touch()
    new = Path(generated_modules.load_module(f"# {tmp_path}").__file__)
    assert {x.name for x in cache.glob("*.py")} == {
        "notes.py",
        "rodsim_system_4.py",
        "rodsim_system_5.py",
        new.name,
    }
    assert {x.name.split(".")[0] for x in others.iterdir()} == {"other", "rodsim_system_4", "rodsim_system_5"}


def test_without_a_cache_folder_one_temporary_folder_serves_all_systems(cache, tmp_path):
    (tmp_path / "rodsim").write_text("a file, no folder")
    folders, x = set(), sp.Symbol("x")
    for k in range(2):
        system = symbolic_system("s", x, [1.0], [0.0], M=[[1]], V=(k + 0.1234) * x**4)
        assert system.potential(np.ones(1)) == pytest.approx(k + 0.1234)
        folders.add(generated_modules._writable_folder())
    assert len(folders) == 1
    files = [
        Path(module.__file__) for name, module in sys.modules.items() if name.startswith("rodsim_system_")
    ]
    assert sum(file.parent in folders for file in files) == 2
