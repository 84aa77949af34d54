"""What a case is known by, and pictures of tables on logarithmic scales."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rodsim.studies.errors import StudyError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The sources, to be changed."""
    place = tmp_path_factory.mktemp("copy")
    for package in ("rodsim", "rigid", "discretization"):
        shutil.copytree(ROOT / package, place / package, ignore=shutil.ignore_patterns("__pycache__"))
    return place


PROGRAMS = """
import sys
from pathlib import Path
from rodsim.studies.keys import program
print(program.__wrapped__())
for file in map(Path, sys.argv[1:]):
    source = file.read_bytes()
    file.write_bytes(source + b"\\n# changed\\n")
    print(program.__wrapped__())
    file.write_bytes(source)
"""


def programs(place, files):
    """As it is, and with each of the files changed."""
    command = [sys.executable, "-c", PROGRAMS, *files]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=True).stdout.split()


def test_a_case_is_done_again_when_what_measures_it_changes_and_not_for_words(copy):
    """`comparing.points` finds the places whose motion is measured; commands and reports find no number."""
    decides = {
        "rodsim/cli/main.py": False,
        "rodsim/reporting/page.py": False,
        "rodsim/doctor/probes.py": False,
        "rodsim/comparing/picture.py": False,
        "rodsim/studies/pictures.py": False,
        "rodsim/studies/quantities.py": True,
        "rodsim/comparing/points.py": True,
        "rodsim/results/histories.py": True,
        "discretization/time/em.py": True,
    }
    before, *changed = programs(copy, decides)
    assert {file: each != before for file, each in zip(decides, changed, strict=True)} == decides


@pytest.mark.parametrize(
    ("columns", "log", "kind"),
    [
        (("a", "b", "m"), "a", None),
        (("a", "b", "below"), "below", None),
        (("a", "below"), "below", "scatter"),
    ],
)
def test_logarithmic_scales_of_what_is_not_above_zero_are_refused_with_the_cure(columns, log, kind, tmp_path):
    pandas = pytest.importorskip("pandas")
    from rodsim.studies.pictures import draw

    a, b = (x.ravel() for x in np.meshgrid([0.0, 1.0, 2.0], [1.0, 2.0]))
    table = pandas.DataFrame({"case": range(6), "a": a, "b": b, "m": a - b, "below": -a, "error": [""] * 6})
    with pytest.raises(StudyError, match=f"'{log}' goes down to .*leave it out of log"):
        draw(table, ["a", "b"], columns, tmp_path / "no.png", kind, [log])
    assert list(tmp_path.iterdir()) == []
    assert draw(table, ["a", "b"], columns, tmp_path / "yes.png", kind).stat().st_size > 5000
    assert draw(table, ["a", "b"], ("b", "m"), tmp_path / "some.png", "scatter", ["m"]).exists()
