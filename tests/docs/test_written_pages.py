"""Pages that are written from data stand in the repository as the data are; names that pages give are there."""

import re
import sys

import pytest

from tests.support.pages import DOCS

sys.path.append(str(DOCS / "extensions"))
import gallery
import written
from marks import between

from rodsim.results.drawing import POINT_ARRAYS, STATIC_POINT_ARRAYS
from rodsim.scenes.schema import Scene


def test_written_pages_are_those_of_the_data():
    """After a change of the schema of scenes or of the gallery: `python docs/extensions/written.py`."""
    stale = [path.name for path, text in written.pages().items() if path.read_text("utf-8") != text]
    assert stale == []


def test_the_reference_in_the_repository_has_every_key_and_every_target():
    page = (DOCS / "reference" / "scene_reference.md").read_text("utf-8")
    targets = set(re.findall(r'<a id="([\w-]+)"></a>', page))
    assert set(re.findall(r"\]\(#([\w-]+)\)", page)) <= targets
    assert len(targets) == len(Scene.model_json_schema()["$defs"])
    rows = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert set(Scene.model_fields) <= rows
    assert "{.scene}" not in page  # which only the site reads
    assert ")=" not in page


def test_the_gallery_in_the_repository_leads_to_its_files():
    page = (DOCS / "gallery.md").read_text("utf-8")
    ways = re.findall(r"\]\(([^)#]+)\)", page)
    assert len(ways) == 3 * len(gallery.entries())  # picture, and its code twice
    assert [way for way in ways if not (DOCS / way).exists()] == []


@pytest.mark.parametrize("page", ["", "<!-- a -->", "<!-- end of a -->\n<!-- a -->\n<!-- a -->"])
def test_a_page_without_its_marks_is_refused(page):
    with pytest.raises(ValueError, match="needs one line '<!-- a -->'"):
        between(page, "a", "text")


def test_text_between_marks_is_replaced_literally():
    assert between("x\n<!-- a -->\nold\n<!-- end of a -->\ny", "a", r"\1 new") == (
        "x\n<!-- a -->\n\n\\1 new\n\n<!-- end of a -->\ny"
    )


def test_first_steps_names_arrays_that_results_have():
    text = (DOCS / "tutorials" / "first_steps.md").read_text("utf-8")
    said = set(re.findall(r"`(\w+)`", text.split("## Look at it in ParaView")[1].split("## ")[0]))
    assert {"velocity", "Gamma", "K", "N", "M", "force_n", "moment_m", "radius"} <= said
    assert said <= {*POINT_ARRAYS, *STATIC_POINT_ARRAYS}
