"""Pages generated from data are stored in the repository as generated; names given by pages exist."""

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


def test_generated_pages_equal_their_data():
    """After a change of the scene schema or the gallery run `python docs/extensions/written.py`."""
    stale = [path.name for path, text in written.pages().items() if path.read_text("utf-8") != text]
    assert stale == []


def test_stored_reference_has_every_key_and_target():
    page = (DOCS / "reference" / "scene_reference.md").read_text("utf-8")
    targets = set(re.findall(r'<a id="([\w-]+)"></a>', page))
    assert set(re.findall(r"\]\(#([\w-]+)\)", page)) <= targets
    assert len(targets) == len(Scene.model_json_schema()["$defs"])
    rows = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert set(Scene.model_fields) <= rows
    assert "{.scene}" not in page  # read by the site only
    assert ")=" not in page


def test_stored_gallery_links_to_existing_files():
    page = (DOCS / "gallery.md").read_text("utf-8")
    ways = re.findall(r"\]\(([^)#]+)\)", page)
    assert len(ways) == 3 * len(gallery.entries())  # picture, and its code twice
    assert [way for way in ways if not (DOCS / way).exists()] == []


@pytest.mark.parametrize("page", ["", "<!-- a -->", "<!-- end of a -->\n<!-- a -->\n<!-- a -->"])
def test_page_without_marks_is_rejected(page):
    with pytest.raises(ValueError, match="needs one line '<!-- a -->'"):
        between(page, "a", "text")


def test_text_between_marks_is_replaced_literally():
    assert between("x\n<!-- a -->\nold\n<!-- end of a -->\ny", "a", r"\1 new") == (
        "x\n<!-- a -->\n\n\\1 new\n\n<!-- end of a -->\ny"
    )


def test_first_steps_page_names_existing_arrays():
    text = (DOCS / "tutorials" / "first_steps.md").read_text("utf-8")
    named = set(re.findall(r"`(\w+)`", text.split("## Look at it in ParaView")[1].split("## ")[0]))
    assert {"velocity", "Gamma", "K", "N", "M", "force_n", "moment_m", "radius"} <= named
    assert named <= {*POINT_ARRAYS, *STATIC_POINT_ARRAYS}
