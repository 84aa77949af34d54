"""Scenes are read identically by libyaml and by Python, for any nesting."""

import pytest
import yaml

from rodsim.scenes import SceneError
from rodsim.scenes.reading import parse
from tests.support.fuzz_scenes import SCENES


@pytest.mark.parametrize("scene", SCENES, ids=lambda path: path.stem)
def test_both_yaml_readers_return_the_same_data_and_lines(scene, monkeypatch):
    text = scene.read_text()
    quick = parse(text, scene.name)
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    slow = parse(text, scene.name)
    assert quick.data == slow.data
    assert quick.lines == slow.lines


@pytest.mark.parametrize(
    "text", ["a: [1, 2", "a: {b", "a: b: c", "\ta: 1", "a: 'x", "- a\nb: 1", "a: *b", "a: \x01"]
)
def test_both_yaml_readers_have_the_same_messages(text, monkeypatch):
    def read_messages():
        with pytest.raises(SceneError) as error:
            parse(text, "scene.yaml")
        return str(error.value)

    quick = read_messages()
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert quick == read_messages()


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 20_000 + "]" * 20_000,
        "a: " + "{b: " * 20_000,
        "- " * 20_000,
        "[" * 1000 + "]" * 1000,  # the depth that is given to libyaml: it fits on its stack
        "- " * 1000,
        "\n".join("[" * 100 for _ in range(1000)),
        "\n".join(" " * k + "a:" for k in range(3000)),
    ],
    ids=["brackets", "braces", "dashes", "fewer brackets", "fewer dashes", "brackets on lines", "indents"],
)
def test_endless_nesting_is_rejected(text):
    """libyaml would overflow its stack."""
    with pytest.raises(SceneError, match=r"not valid YAML|deeply nested|is a mapping"):
        parse(text, "scene.yaml")
