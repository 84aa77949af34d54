"""The public interface is what tests/api/public_interface.txt lists, and nothing of tests/api/features.txt has gone.

A change of the interface is a change of the list: `python -m tests.support.public_interface`, `python -m
tests.support.features`, and look at the differences.
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
    """The file holds some of each: a part that no longer yields anything would not be missed otherwise."""
    known = set(listed(features.FILE))
    assert len(known & set(part())) > 10


def test_old_names_are_not_part_of_the_interface():
    names = {line.split("(")[0] for line in public_interface.lines()}
    assert "rodsim.Result.load" in names
    assert names.isdisjoint({"rodsim.Result.open", "rodsim.integrate", "rodsim.sweep"})
