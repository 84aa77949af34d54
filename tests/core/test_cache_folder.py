"""Compiled code is cached in a private folder named by a hash of the sources; without a folder everything
still runs.
"""

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

# a kernel and a generated module, compiled and called
USE = """
import sys, resource
if "full" in sys.argv:
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # the disk takes no more of any file
from numba.core import event
from rigid.compilation import cache_folder
from rigid.compilation.compile_notices import announce
from rigid.compilation.generated_modules import load_module
from rigid.linear_algebra import dot
announce()
text = "from rigid.compilation.decorators import kernel\\n@kernel\\ndef doubled(x):\\n    return 2.0 * x\\n"
with event.install_recorder("numba:compile") as compiled:
    print(dot((1.0, 2.0, 3.0), (1.0, 2.0, 3.0)), load_module(text).doubled(0.7))
print(len(compiled.buffer) // 2, cache_folder.CACHE_DIRECTORY)
"""
VALUES = "14.0 1.4"


class Use:
    """Run code in a process: its values, number of compiled kernels, cache folder and lines on stderr."""

    def __init__(self, *arguments, code=USE, root=ROOT, **environment):
        # a full disk must not cut off Python's own files in this folder
        home = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(root),
            "PYTHONDONTWRITEBYTECODE": "1",
        } | environment
        process = subprocess.run(
            [sys.executable, "-c", code, *arguments], env=home, cwd=root, capture_output=True, text=True
        )
        assert process.returncode == 0, process.stderr
        self.values, summary = process.stdout.splitlines()
        compiled, self.folder = summary.split(" ", 1)
        self.compiled = int(compiled)
        self.stderr_lines = process.stderr.strip().split("\n") if process.stderr else []


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A cache that contains the kernels of `USE`."""
    folder = tmp_path_factory.mktemp("warm")
    assert Use(XDG_CACHE_HOME=str(folder)).compiled > 0
    return folder


def test_compiled_code_is_cached_silently(warm):
    second = Use(XDG_CACHE_HOME=str(warm))
    assert (second.values, second.compiled, second.stderr_lines) == (VALUES, 0, [])


def check_report(used, *parts):
    """Check that one message reports that nothing can be cached: folder, reason and remedy."""
    reports = [line for line in used.stderr_lines if "cannot be kept" in line]
    assert len(reports) == 1
    for part in (*parts, "NUMBA_CACHE_DIR"):
        assert str(part) in reports[0]


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "HOME"])
def test_missing_cache_folder_warns_once(tmp_path, variable):
    file = tmp_path / "file"
    file.touch()
    used = Use(**{variable: str(file)})
    assert used.values == VALUES
    assert used.compiled > 0
    assert used.folder == ""
    check_report(used, file, "Not a directory")
    assert not any("once for this version" in line for line in used.stderr_lines)


def test_missing_home_writes_nothing_to_the_working_folder(tmp_path):
    code = "import os, platformdirs; os.chdir(os.environ['THERE'])\n"
    code += "platformdirs.user_cache_dir = lambda name: os.path.join('~/.cache', name)  # as before 4.5\n"
    used = Use(code=code + USE, THERE=str(tmp_path))
    assert (used.values, used.folder) == (VALUES, "")
    check_report(used, "~/.cache/rodsim", "home")
    assert not list(tmp_path.iterdir())


def test_full_disk_warns_once(tmp_path):
    used = Use("full", XDG_CACHE_HOME=str(tmp_path))
    assert used.values == VALUES
    check_report(used, tmp_path, "File too large")
    assert not list(tmp_path.rglob("*.tmp*"))
    later = Use(XDG_CACHE_HOME=str(tmp_path))  # the incomplete files do no harm
    assert (later.values, later.stderr_lines[1:]) == (VALUES, [])


@pytest.mark.skipif(os.getuid() == 0, reason="root can write everywhere")
@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_read_only_cache_folder_is_read(warm, mode):
    folders = [folder for folder in (warm, *warm.rglob("*")) if folder.is_dir()]
    try:
        for folder in reversed(folders):
            folder.chmod(mode)
        readable = os.access(warm, os.R_OK | os.X_OK, effective_ids=True)
        used = Use(XDG_CACHE_HOME=str(warm))
    finally:
        for folder in folders:
            folder.chmod(0o700)
    assert used.values == VALUES
    assert readable or not mode
    if readable:
        assert (used.compiled, used.stderr_lines) == (0, [])
    else:
        check_report(used, warm, "Permission denied")


@pytest.mark.parametrize(("mode", "place"), [(0o702, "."), (0o720, ".."), (0o1777, "systems")])
def test_code_in_a_folder_writable_by_others_is_not_run(warm, mode, place):
    """Neither kernels nor generated modules are loaded from it."""
    folder = (next((warm / "rodsim").iterdir()) / place).resolve()
    folder.chmod(mode)
    try:
        used = Use(XDG_CACHE_HOME=str(warm))
    finally:
        folder.chmod(0o700)
    assert used.values == VALUES
    assert used.compiled > 0
    check_report(used, folder, f"mode {mode:o}")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_code_in_a_folder_of_another_user_is_not_run(warm):
    folder = next((warm / "rodsim").iterdir())
    os.chown(folder, 65534, -1)
    try:
        used = Use(XDG_CACHE_HOME=str(warm))
    finally:
        os.chown(folder, 0, -1)
    assert used.values == VALUES
    assert used.compiled > 0
    check_report(used, folder, "belongs to user 65534")


def test_cache_folders_are_private_under_every_umask(tmp_path):
    folder = Path(Use(code="import os; os.umask(0)\n" + USE, XDG_CACHE_HOME=str(tmp_path)).folder)
    assert folder.parent == tmp_path / "rodsim"
    folders = [folder.parent, folder, folder / "systems"]
    assert [path.stat().st_mode & 0o777 for path in folders] == [0o700] * 3
    assert [path.stat().st_mode & 0o777 for path in folders[-1].glob("*.py")] == [0o600]


SOURCES = """
from rigid.compilation import cache_folder
print("no values")
print(0, cache_folder.CACHE_DIRECTORY)
"""


def test_changed_kernel_sources_use_another_folder(tmp_path):
    """numba tracks the file of a kernel, not the helpers it calls: after an update it would run stale machine code."""
    root = tmp_path / "clone"
    for package in ("rigid", "discretization", "rodsim"):
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))

    def folder():
        path = Use(code=SOURCES, root=root, NUMBA_CACHE_DIR=str(tmp_path / "cache")).folder
        assert path.startswith(str(tmp_path / "cache"))
        return path

    first = folder()
    assert folder() == first
    folders = {first}
    for file in (
        "rigid/linear_algebra.py",  # helpers
        "discretization/integrator_memory.py",
        "rodsim/interactions/helpers.py",
    ):
        with open(root / file, "a") as source:
            source.write("# changed\n")
        folders.add(folder())
    assert len(folders) == 4
    checked = Use(
        code=SOURCES, root=root, NUMBA_CACHE_DIR=str(tmp_path / "cache"), NUMBA_BOUNDSCHECK="1"
    ).folder
    assert checked not in folders  # kernels that check each index
    with open(root / "rodsim/cli/main.py", "a") as source:  # no kernels
        source.write("# changed\n")
    assert folder() in folders


HOUR, DAY = 3600.0, 86400.0
STAMP = "used"
OTHER = "0123456789abcde"  # and a digit


def make_unused_folder(folder, unused, stamp=True):
    """Make a folder with a file in it that was last used this long ago, s."""
    (folder / "rigid").mkdir(parents=True)
    (folder / "rigid" / "code.nbc").touch()
    if stamp:
        (folder / STAMP).touch()
    last_use = time.time() - unused
    os.utime(folder / STAMP if stamp else folder, (last_use, last_use))
    return folder


@pytest.fixture
def version_folder(tmp_path):
    """The cache folder of this version in the cache of a user."""
    folder = Path(Use(code=SOURCES, XDG_CACHE_HOME=str(tmp_path)).folder)
    assert folder.parent == tmp_path / "rodsim"
    return folder


def reopen(cache, unused=2 * DAY):
    """Open the folder of this version this long (s) after its last use; None: never used before."""
    if unused is None:
        (cache / STAMP).unlink()
    else:
        last_use = time.time() - unused
        os.utime(cache / STAMP, (last_use, last_use))
    used = Use(code=SOURCES, XDG_CACHE_HOME=str(cache.parents[1]))
    assert (used.folder, used.stderr_lines) == (str(cache), [])


def age(folder):
    return time.time() - (folder / STAMP).stat().st_mtime


@pytest.mark.parametrize("stamp", [True, False])
def test_cache_folders_of_other_versions_expire_after_thirty_days(version_folder, stamp):
    """Without a stamp, which older versions did not write, the time of the folder is used."""
    recent = make_unused_folder(version_folder.parent / f"{OTHER}1", 30 * DAY - HOUR, stamp)
    removed = make_unused_folder(version_folder.parent / f"{OTHER}2", 30 * DAY + HOUR, stamp)
    reopen(version_folder)
    assert recent.is_dir()
    assert not removed.exists()
    assert version_folder.is_dir()
    assert age(version_folder) < HOUR


def test_last_use_is_the_time_of_the_stamp_file(version_folder):
    folder = make_unused_folder(version_folder.parent / f"{OTHER}1", HOUR)
    os.utime(folder, (0.0, 0.0))
    reopen(version_folder)
    assert folder.is_dir()


def test_cleanup_removes_only_cache_folders(version_folder, tmp_path):
    """Cleanup removes folders only, no links, whose names have the pattern and which are next to the current folder."""
    old = 400 * DAY
    elsewhere = make_unused_folder(tmp_path / "elsewhere" / f"{OTHER}1", old)
    names = (OTHER, f"{OTHER}12", f"{OTHER}g", f"{OTHER}A", "systems", f"systems/{OTHER}1")
    retained = [elsewhere, *(make_unused_folder(version_folder.parent / name, old) for name in names)]
    link = version_folder.parent / f"{OTHER}3"
    link.symlink_to(elsewhere, target_is_directory=True)
    file = version_folder.parent / f"{OTHER}4"
    file.touch()
    os.utime(file, (0.0, 0.0))
    removed = make_unused_folder(version_folder.parent / f"{OTHER}5", old)
    reopen(version_folder)
    assert not removed.exists()
    assert link.is_symlink()
    assert file.exists()
    assert all((folder / "rigid" / "code.nbc").exists() for folder in retained)


@pytest.mark.parametrize(
    ("unused", "removes"), [(DAY - HOUR, False), (DAY + HOUR, True), (None, True), (-HOUR, True)]
)
def test_cache_cleanup_runs_once_a_day(version_folder, unused, removes):
    """A last use in the future, by a wrong clock, is ignored."""
    old = make_unused_folder(version_folder.parent / f"{OTHER}1", 31 * DAY)
    reopen(version_folder, unused)
    assert old.exists() != removes
    assert (abs(age(version_folder)) < HOUR / 2) == removes


def test_cleanup_skips_a_folder_named_by_the_user(tmp_path):
    environment = {"NUMBA_CACHE_DIR": str(tmp_path)}
    cache = Path(Use(code=SOURCES, **environment).folder)
    retained = make_unused_folder(cache.parent / f"{OTHER}1", 31 * DAY)
    Use(code=SOURCES, **environment)
    assert retained.is_dir()
    assert not (cache / STAMP).exists()


def test_concurrent_processes_may_remove_the_same_folders(version_folder):
    removed = [make_unused_folder(version_folder.parent / f"{OTHER}{k}", 31 * DAY) for k in range(10)]
    for folder in removed:
        for k in range(200):
            (folder / "rigid" / f"{k}.nbc").touch()
    os.utime(version_folder / STAMP, (0.0, 0.0))
    with ThreadPoolExecutor(3) as pool:
        used = [
            *pool.map(lambda _: Use(code=SOURCES, XDG_CACHE_HOME=str(version_folder.parents[1])), range(3))
        ]
    assert [process.folder for process in used] == [str(version_folder)] * 3
    assert [process.stderr_lines for process in used] == [[]] * 3
    assert [*version_folder.parent.iterdir()] == [version_folder]


@pytest.mark.skipif(os.getuid() == 0, reason="root can write everywhere")
def test_cleanup_ignores_folders_without_permission(version_folder):
    retained = make_unused_folder(version_folder.parent / f"{OTHER}1", 31 * DAY)
    os.utime(version_folder / STAMP, (0.0, 0.0))
    folders = (retained / "rigid", version_folder / STAMP, version_folder, version_folder.parent)
    try:
        for path in folders:
            path.chmod(0o500)
        used = Use(code=SOURCES, XDG_CACHE_HOME=str(version_folder.parents[1]))
    finally:
        for path in reversed(folders):
            path.chmod(0o700)
    assert (used.folder, used.stderr_lines) == (str(version_folder), [])
    assert (retained / "rigid" / "code.nbc").exists()


def test_updated_helper_is_recompiled_in_a_folder_named_by_the_user(tmp_path):
    root = tmp_path / "clone"
    for package in ("rigid", "discretization"):
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "rigid/helper.py").write_text(HELPER.format(1))
    (root / "rigid/caller.py").write_text(CALLER)
    code = "from rigid.caller import caller; print(caller(2.0)); print(0, '')"
    before = Use(code=code, root=root, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    (root / "rigid/helper.py").write_text(HELPER.format(10))
    after = Use(code=code, root=root, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert (before.values, after.values) == ("2.0", "20.0")


HELPER = """
from rigid.compilation.decorators import kernel
@kernel
def helper(x):
    return {} * x
"""
CALLER = """
from rigid.compilation.decorators import kernel
from rigid.helper import helper
@kernel
def caller(x):
    return helper(x)
"""
