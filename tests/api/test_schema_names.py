"""Names in the schema of scenes: English singulars of one form each; texts about types are grammatical."""

import re
from pathlib import Path

import pytest

import rodsim.model  # noqa: F401  # whose entries the schema has
from rodsim.components.base import COMPONENT_TYPES
from rodsim.scenes.components import schema_of, singular
from rodsim.scenes.schema import Scene

SCHEMA = Scene.model_json_schema()
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "scene_reference.md"
# suffixes of names by meaning; names without suffix are listed separately
ENDS = ("Scene", "Shape", "Section", "Law", "Signal", "Motion", "Curve", "Anchor")
ALONE = {"Aligned", "AngleInRadians", "AxisAngle", "EulerAngles", "OrientationOf", "Centers", "Relaxation"}


@pytest.mark.parametrize("name", sorted(SCHEMA["$defs"]))
def test_schema_names_are_singular_and_descriptive(name):
    words = re.findall(r"[A-Z][a-z0-9]*", name)
    assert "".join(words) == name
    if name in ALONE:
        return
    assert name.endswith(ENDS)
    assert [
        w for w in words if re.search(r"(ie|[^sui]s)$", w.lower()) and w not in ("Pieces", "Equations")
    ] == []


@pytest.mark.parametrize("key", sorted(COMPONENT_TYPES))
def test_entry_schema_is_named_by_its_singular_key(key):
    one = schema_of(COMPONENT_TYPES[key]).__name__.removesuffix("Scene").lower()
    kind = COMPONENT_TYPES[key]
    words = (key.replace("_", "").removesuffix("s"), kind.word.replace(" ", ""))
    assert one in (*words, kind.schema.removesuffix("Scene").lower())


@pytest.mark.parametrize(
    ("many", "one"),
    [("energies", "energy"), ("meshes", "mesh"), ("boxes", "box"), ("torsion_springs", "torsion_spring"), ("planes", "plane")],
)  # fmt: skip
def test_plurals_are_split_into_singulars(many, one):
    assert singular(many) == one


def test_reference_lists_use_plurals():
    rows = [line.split("|") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    lists = [
        noun for row in rows for noun in re.findall(r"lists? of (?:\d+ )?(?:or more )?(\w+ ?\w*)", row[2])
    ]
    assert len(lists) > 50
    assert {x for x in lists if not re.match(r"(whole )?numbers\b|texts\b|lists of$|or more$", x)} == set()
