"""Scenes are read by libyaml and by Python alike, whatever nests in them."""

import pytest
import yaml

from rodsim.scenes import reading
from rodsim.scenes.errors import SceneError
from rodsim.scenes.reading import MOST_COLUMNS, parse
from tests.support.fuzz_scenes import SCENES


@pytest.mark.parametrize("scene", SCENES, ids=lambda path: path.stem)
def test_both_readers_find_the_same_data_on_the_same_lines(scene, monkeypatch):
    text = scene.read_text()
    quick = parse(text, scene.name)
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    slow = parse(text, scene.name)
    assert quick.data == slow.data
    assert quick.lines == slow.lines


@pytest.mark.parametrize(
    "text", ["a: [1, 2", "a: {b", "a: b: c", "\ta: 1", "a: 'x", "- a\nb: 1", "a: *b", "a: \x01"]
)
def test_what_is_wrong_is_said_in_the_same_words(text, monkeypatch):
    def said():
        with pytest.raises(SceneError) as error:
            parse(text, "scene.yaml")
        return str(error.value)

    quick = said()
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert quick == said()


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 20_000 + "]" * 20_000,
        "a: " + "{b: " * 20_000,
        "- " * 20_000,
        "\n".join("[" * 100 for _ in range(1000)),
        "\n".join(" " * k + "a:" for k in range(3000)),
    ],
    ids=["brackets", "braces", "dashes", "brackets on lines", "indents"],
)
def test_what_nests_without_an_end_is_refused(text):
    """libyaml would write past its stack."""
    with pytest.raises(SceneError, match=r"not valid YAML|too deeply nested"):
        parse(text, "scene.yaml")


def test_what_libyaml_is_given_fits_on_its_stack():
    deepest = MOST_COLUMNS // 2
    for text in ("[" * deepest + "]" * deepest, "- " * deepest):
        with pytest.raises(SceneError, match=r"deeply nested|is a mapping"):
            parse(text, "scene.yaml")
    loader, node = reading._composed("a: 1")
    assert isinstance(loader, yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader)
    assert isinstance(node, yaml.MappingNode)
