"""The gallery: every example is listed, has a picture, and its stated number is reproduced."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pages import DOCS, ROOT

sys.path.append(str(DOCS / "extensions"))
from gallery import computed, entries, picture

ENTRIES = entries()
RUN = [entry for entry in ENTRIES if not entry.get("interpreted")]


def examples():
    """Example files, without the modules that they import."""
    serving = ("__init__.py", "demo.py", "converging.py")
    files = [*(ROOT / "examples").rglob("*.py"), *(ROOT / "examples" / "scenes").glob("*.yaml")]
    return {path.relative_to(ROOT).as_posix() for path in files if path.name not in serving}


def test_every_example_is_in_the_gallery():
    assert {entry["source"] for entry in ENTRIES} == examples()


def test_every_entry_has_a_small_picture():
    sizes = {entry["title"]: picture(entry).stat().st_size for entry in ENTRIES}
    assert {title for title, size in sizes.items() if not 2_000 < size < 200_000} == set()


@pytest.mark.parametrize("entry", RUN, ids=lambda entry: Path(entry["source"]).stem)
@pytest.mark.filterwarnings("ignore::rodsim.warnings.RedundantJointsWarning")
def test_gallery_numbers_are_reproduced(entry):
    assert computed(entry)[0] == pytest.approx(entry["expected"], rel=0, abs=entry["within"])


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry not in RUN], ids=lambda entry: entry["title"]
)
def test_interpreted_gallery_numbers_are_reproduced(entry):
    """Examples whose compiled code would be used once."""
    code = f"import sys; sys.path.append('docs/extensions'); import gallery; e = gallery.entries()[{ENTRIES.index(entry)}]"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}; print(gallery.computed(e)[0])"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) == pytest.approx(entry["expected"], rel=0, abs=entry["within"])
