"""The public interface equals tests/api/surface.txt, and no feature of tests/api/features.txt was removed.

A change of the interface is a change of the list: run `python -m tests.support.public_interface` and `python
-m tests.support.features`, and review the differences.
"""

import pytest

from tests.support import features, public_interface

pytestmark = pytest.mark.filterwarnings("ignore::rodsim.ModelWarning")


def listed(file):
    return file.read_text(encoding="utf-8").splitlines()


def test_public_interface_equals_the_list():
    exported, known = public_interface.lines(), listed(public_interface.FILE)
    assert sorted(set(exported) - set(known)) == [], (
        "new: run `python -m tests.support.public_interface`, if that is meant"
    )
    assert sorted(set(known) - set(exported)) == [], (
        "gone: keep it as an old name (rodsim/_compat.py), then run the same"
    )
    assert exported == known


def test_no_feature_was_removed():
    assert sorted(set(listed(features.FILE)) - set(features.lines())) == []


@pytest.mark.parametrize(
    "part", [features.interactions, features.integrators, features.scene_keys, features.commands, features.rows_of_readme]
)  # fmt: skip
def test_every_part_of_the_interface_is_in_the_file(part):
    """The file contains entries of each part; otherwise a part that yields nothing would not be noticed."""
    known = set(listed(features.FILE))
    assert len(known & set(part())) > 10


def test_old_names_are_not_part_of_the_interface():
    names = {line.split("(")[0] for line in public_interface.lines()}
    assert "rodsim.Result.load" in names
    assert names.isdisjoint({"rodsim.Result.open", "rodsim.integrate", "rodsim.sweep"})
