"""Synonyms in models and scenes, and messages in scene terms.

Words of other programs are accepted, and messages on the command line give advice for scenes.
"""

import ast
import re
from pathlib import Path

import pytest

from rodsim import Material, Model, Section, Sphere
from rodsim.cli.main import main
from rodsim.cli.scene_advice import in_scene_terms
from rodsim.components.base import COMPONENT_TYPES
from rodsim.scenes.components import schema_of
from rodsim.scenes.model_from_scene import loaded_from
from rodsim.scenes.reading import parse

ROOT = Path(__file__).parents[2]
WITH_SYNONYMS = [
    (kind, field, word, choice)
    for kind in COMPONENT_TYPES.values()
    for field, description in kind.fields().items()
    for word, choice in description.value_type.synonyms.items()
]

SCENE = """
materials: {{rubber: {{E: 1.0e6, nu: 0.45, density: 1000}}}}
sections: {{round: {{type: circular, radius: 0.01, material: rubber}}}}
rods:
  - {{name: arm, curve: [[0, 0, 0], [0.5, 0, 0]], section: round, n_elements: 4}}
bodies:
  - {{name: bob, shape: {{type: sphere, radius: 0.05, mass: 1}}, position: [0.5, 0, 0]}}
  - {{name: box, shape: {{type: sphere, radius: 0.05, mass: 1}}, position: [0.5, 0, 0]}}
  - {{name: end, shape: {{type: sphere, radius: 0.05, mass: 1}}, position: [1, 0, 0]}}
joints:
  - {{name: wall, kind: {clamp}, a: {{rod: arm, s: 0}}}}
  - {{name: tip, kind: {weld}, a: {{rod: arm, s: 1}}, b: bob}}
  - {{name: pin, kind: {revolute}, a: bob, b: box, at: [0.5, 0, 0], axis: [0, 1, 0]}}
  - {{name: socket, kind: {spherical}, a: box, b: end, at: [1, 0, 0]}}
loads:
  - {{name: turn, kind: {moment}, on: {{rod: arm, s: 1}}, value: [0, 0.01, 0]}}
distributed_loads:
  - {{name: twist, on: arm, kind: {moment}, value: [0.01, 0, 0]}}
run: {{t_end: 1, dt: 0.1}}
"""
CANONICAL = {word: word for word in ("clamp", "weld", "revolute", "spherical", "moment")}
FOREIGN = {"clamp": "fixed", "weld": "fixed", "revolute": "hinge", "spherical": "ball", "moment": "torque"}


def loaded(text):
    return loaded_from(parse(text, "scene"), ROOT).model


def test_scene_with_synonyms_equals_the_canonical_scene():
    canonical, other = (loaded(SCENE.format(**words)).build().layout for words in (CANONICAL, FOREIGN))
    assert [(x.name, x.kind) for x in other.joints] == [(x.name, x.kind) for x in canonical.joints]
    for key in ("joints", "loads"):
        assert other.description[key] == canonical.description[key]


@pytest.mark.parametrize(("kind", "field", "word", "choice"), WITH_SYNONYMS)
def test_published_schema_accepts_synonyms(kind, field, word, choice):
    description = kind.fields()[field]
    assert choice in description.value_type.choices
    assert word not in description.value_type.choices
    listed = schema_of(kind).model_json_schema()["properties"][description.key]["enum"]
    assert {word, choice} <= set(listed)
    assert kind.canonical({field: word, "kind": word, "b": "ground"})[field] == choice


def test_synonyms_in_python_give_the_canonical_kind():
    model = Model("arm")
    rod = model.add_rod("arm", [(0, 0, 0), (1, 0, 0)], Section.circular(0.01, Material(1e6, 0.4, 1e3)), 4)
    ball = model.add_body("ball", Sphere(0.1, mass=1.0), (1, 0, 0))
    assert model.add_joint("a", "fixed", rod.start).kind == "clamp"
    assert model.add_joint("b", "fixed", rod.end, ball).kind == "weld"
    assert model.add_joint("c", "hinge", ball, model.ground, at=(1, 0, 0), axis=(0, 0, 1)).kind == "revolute"
    assert model.add_joint("d", "ball", ball, model.ground.at((1, 0, 0))).kind == "spherical"
    assert model.add_torque("e", rod.end, (0, 1, 0)).kind == model.add_moment("f", rod.end, (0, 1, 0)).kind
    load = model.add_distributed_load("g", rod, (0, 0, 1), kind="torque")
    assert load.described()["kind"] == "moment"


INVALID = {
    "no axis": ("axis: [0, 1, 0]", "length: 1", "give `axis:`"),
    "an axis too much": ("at: [1, 0, 0]}", "at: [1, 0, 0], axis: [0, 1, 0]}", "remove `axis:`"),
    "no place": (", at: [1, 0, 0]}", "}", "give `at:`"),
}


@pytest.mark.parametrize("case", INVALID)
def test_command_line_messages_advise_in_scene_terms(case, tmp_path, capsys):
    old, new, advice = INVALID[case]
    text = SCENE.format(**CANONICAL)
    assert old in text
    file = tmp_path / "scene.yaml"
    file.write_text(text.replace(old, new))
    assert main(["check", str(file)]) == 2
    message = capsys.readouterr().err
    assert f"{file}:" in message
    assert advice in message


PYTHON = re.compile(
    r"`\w+=|(?<![\w-])\w+=(?!=)|\b(?:model|body|rod|SpringLaw)\.\w+\(|\badd_\w+|\bcallable\b|in Python `"
)
NOT_FROM_SCENES = ("is not a Section, a list of (end, Section) or a callable", "Material(E=...")


def templates():
    """Texts of all f-strings of the folders from which scenes are built, with 1 for each placeholder."""
    for folder in ("components", "building", "statics", "small_motions"):
        for file in sorted((ROOT / "rodsim" / folder).glob("*.py")):
            if file.name.endswith("_html.py"):
                continue
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.JoinedStr):
                    parts = [x.value if isinstance(x, ast.Constant) else "1" for x in node.values]
                    text = "".join(parts)
                    if " " in text and not any(word in text for word in NOT_FROM_SCENES):
                        yield f"{file.name}:{node.lineno}", text


def test_no_model_message_advises_python_on_the_command_line():
    messages = list(templates())
    assert sum(bool(PYTHON.search(text)) for _, text in messages) > 20  # the templates contain Python advice
    left = [(where, in_scene_terms(text)) for where, text in messages if PYTHON.search(in_scene_terms(text))]
    assert left == []


IN_SCENES = [
    ("Give SpringLaw.table(...) or another", "Give {type: table, x: [...], force: [...]} or another"),
    # names of the user are unchanged
    ("joint 'a=1 add_force': remove `axis=`", "joint 'a=1 add_force': remove `axis:`"),
    ("give --t-end=5 and method='arc-length'", "give --t-end=5 and `method: arc-length`"),
    # objects become the adjacent keys of scenes
    ("give method=ArcLength(branch=1) instead", "give `method: arc-length, branch: 1` instead"),
    ("give method=Newton(first_step=0.1)", "give `method: newton, first_step: 0.1`"),
    ("dt = 0.01 s or less, or Adaptive steps", "dt = 0.01 s or less, or steps chosen by `error:`"),
    ("give dt, or Adaptive(error)", "give dt, or `error:`"),
]


@pytest.mark.parametrize(("python", "scene"), IN_SCENES)
def test_python_advice_is_translated_to_scene_terms(python, scene):
    assert in_scene_terms(python) == scene
