"""Malformed scenes end with exit code 2 and a message that names file, line and object; nothing is written, no traceback."""

import copy
import re
import time
from collections import Counter
from functools import cache

import pytest
import yaml

from rodsim.cli.main import main, parser
from rodsim.scenes import read_scene
from tests.support.fuzz_scenes import SCENES, fuzz, places, plain_data

WRONG_VALUES = [
    "nonsense",
    -1.0,
    float("nan"),
    float("inf"),
    [],
    {},
    None,
    [1, 2],
    "!!python/object:os.system",
]
MAX_OF_A_KIND = 2
PYDANTIC_WORDS = re.compile(
    r"Input should|after validation|valid (list|number|dictionary|string|integer|boolean)|Field required|not permitted"
    r"|Unable to extract|should have at"
)
TEXTS = {
    "empty": "",
    "only a comment": "# nothing\n",
    "a list": "- 1\n- 2\n",
    "a number": "42\n",
    "broken flow": "rods: [1, 2\nrun: {t_end: 1}\n",
    "tab": "rods:\n\t- name: a\n",
    "duplicate key": "name: a\nname: b\nrun: {t_end: 1, dt: 0.1}\n",
    "python tag": "name: !!python/object/apply:os.system ['true']\nrun: {t_end: 1, dt: 0.1}\n",
    "unknown alias": "name: *nobody\n",
    "alias in itself": "bodies: &a [*a]\nrun: {t_end: 1, dt: 0.1}\n",
    "bomb": "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    + "".join(
        f"{c}: &{c} [{','.join(['*' + b] * 10)}]\n" for b, c in zip("abcdefgh", "bcdefghi", strict=True)
    ),
    "deep": "a: " + "[" * 200 + "]" * 200 + "\n",
    "two documents": "name: a\n---\nname: b\n",
    "no run": "bodies: [{name: a, shape: {type: sphere, radius: 1, mass: 1}}]\n",
    "nothing moves": "run: {t_end: 1, dt: 0.1}\n",
    "control character": "name: \x01\n",
    "key is a list": "? [a, b]\n: 1\n",
}


def with_value(data, path, value):
    """Copy the data along the path and set the value at its end; KeyError removes it."""
    if not path:
        return value
    out = copy.copy(data)
    if value is KeyError and len(path) == 1:
        del out[path[0]]
    else:
        out[path[0]] = with_value(data[path[0]], path[1:], value)
    return out


def dump(data):
    """Same as `yaml.safe_dump`, by libyaml in a third of the time."""
    return yaml.dump(data, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False)


def mutations():
    """Scene texts with one error each. Paths that differ only in list indices are of one kind: over all
    scenes, each kind gets two wrong values, one value of another type, and one misspelling.
    """
    yield from TEXTS.items()
    seen = Counter()
    for file in SCENES:
        data = plain_data(file)
        for path in places(data):
            sort = tuple("*" if isinstance(key, int) else key for key in path)
            seen[sort] += 1
            if seen[sort] > MAX_OF_A_KIND:
                continue
            label = f"{file.stem}: {'.'.join(map(str, path))}"
            wrong = WRONG_VALUES[(len(seen) + 2 * seen[sort]) % len(WRONG_VALUES)]
            if path[-1] != "name" and path[0] != "name" and path[-1] not in ("integrator",):
                yield f"{label} = {wrong}", dump(with_value(data, path, wrong))
            if isinstance(path[-1], str) and seen[sort] == 1:
                misspelt = with_value(data, path, KeyError)
                parent = misspelt
                for key in path[:-1]:
                    parent = parent[key]
                parent[path[-1] + "x"] = 1.0
                yield f"{label} misspelt", dump(misspelt)


def test_at_least_200_malformed_scenes_are_rejected_with_place_and_remedy(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("rodsim.cli.main.parser", cache(parser))  # a third of the time
    refused, bad = 0, []
    out, file = tmp_path / "out.vtkhdf", tmp_path / "scene.yaml"
    for label, text in mutations():
        file.write_text(text)
        code = main(["check", str(file)])
        message = capsys.readouterr().err
        # a wrong value that is valid there: an empty list of joints, no closing spring
        if code == 0 and not label.endswith("misspelt"):
            continue
        refused += 1
        named = re.search(rf"{re.escape(str(file))}:\d+: \S", message)
        if code != 2 or not named or "Traceback" in message or PYDANTIC_WORDS.search(message):
            bad.append(f"{label}: exit {code}: {message[:300]}")
    assert bad == []
    assert refused >= 200
    assert not out.exists()


def test_aliases_within_bounds_are_followed(tmp_path):
    text = "a: &a [1, 2]\nb: &b {c: *a, d: *a}\ne: [*b, *b]\n"
    file = tmp_path / "scene.yaml"
    file.write_text(text)
    assert read_scene(file)["e"] == [{"c": [1, 2], "d": [1, 2]}] * 2


LINE = "rods: [{name: r, curve: [[0, 0, 0], [1, 0, 0]], section: c}]\n"
SECTION = "sections: {c: {type: circular, radius: 0.01, material: {E: 1e6, nu: 0.4, density: 1000}}}\n"
RUN = "run: {t_end: 1, dt: 0.1}\n"
NESTED = "a: &a {b: [1, *a]}\n"
SPHERE = "bodies: [{name: b, shape: {type: sphere, radius: 1, mass: 1}}]\n"


def beam(old, new):
    return example("falling_cantilever", old, new)


def rod(old, new):
    return LINE.replace(old, new) + SECTION + RUN


def example(scene, old, new):
    """An example scene with a replaced text."""
    text = next(f for f in SCENES if f.stem == scene).read_text()
    assert old in text
    return text.replace(old, new)


REJECTED = {
    "unknown material": (beam("material: silicone", "material: silicon"), 9, "rod 'arm'|material 'silicon'.*silicone"),
    "negative elements": (beam("n_elements: 20", "n_elements: -3"), 10, r"rod 'arm': n_elements = -3"),
    "unknown kind": (beam("kind: clamp", "kind: clmp"), 12, "joint 'wall': kind = 'clmp'"),
    "outside": (beam("s: 0}", "s: 1.5}"), 12, "joint 'wall': a.s = 1.5"),
    "unknown rod": (beam("a: {rod: arm", "a: {rod: arn"), 12, "no rod 'arn'; did you mean 'arm'"),
    "bad density": (beam("density: 1000", "density: -1"), 5, "material 'silicone': density = -1"),
    "misspelt key": (beam("radius: 0.01", "radios: 0.01"), 9, "radios"),
    "wrong degree": (beam("dt: 0.005", "dt: 0.005, integrator: mG(0)"), 13, r"run: integrator = 'mG\(0\)': mG: k = 0; give"),
    "wrong dt": (beam("dt: 0.005", "dt: fast"), 13, "run: dt = 'fast'"),
    "wrong length": (
        example("swing", "length: 2}\nrun", "length: 1.9}\nrun"),
        8,
        "distance joint 'right rope': length = 1.9 m, but .* are 2 m apart",
    ),
    "ground without a point": (
        example("swing", "{ground: [0.25, 0, 0]}", "ground"),
        8,
        "joint 'right rope': 'ground' alone is not a point; give {ground",
    ),
    "unknown kind without mass": (
        example("swing", "kind: distance, a: {ground: [0.25", "kind: distant, a: {ground: [0.25"),
        8,
        "joint 'right rope': kind",
    ),
    "timestamp": (SPHERE + RUN + "name: !!timestamp 20\n", 3, "'20' cannot be read as !!timestamp"),
    "truth value": (SPHERE + RUN + "name: !!bool foo\n", 3, "'foo' cannot be read as !!bool"),
    "whole number": (SPHERE + "gravity:\n- 0\n- !!int ''\n- 0\n" + RUN, 4, "'' cannot be read as !!int"),
    "NUL": (SPHERE + RUN + 'name: "a\\0b"\n', 3, r"value = 'a\\x00b': it contains a control character"),
    "NUL in a body": (RUN + SPHERE.replace("b,", '"a\\0b",'), 2, "body 1: name"),
    "a name that YAML reads as true": (SPHERE + RUN + "name: on\n", 3, "value = True is not a text; put it in quotes, as YAML"),
    "a number as a name": (SPHERE + RUN + "name: 1\n", 3, r"value = 1 is not a text; put it in quotes\n"),
    "surrogate": (SPHERE + RUN + 'name: "\\ud800"\n', 3, "unable to parse raw data as a unicode string"),
    "quoted number": (SPHERE + 'run:\n  t_end: 1\n  dt: "0.1"\n', 4, "run: dt = '0.1' is not a number"),
    "true as a number": (SPHERE.replace("mass: 1", "mass: true") + RUN, 1, "body 'b': shape"),
    "broken count": (SPHERE + "run: {t_end: 1, dt: 0.1, output_every: 2.0}\n", 2, "output_every = 2.0"),
    "many elements": (rod("}]", ", n_elements: 1000000000}]"), 1, "n_elements = 1000000000"),
    "far circle": (
        rod("[[0, 0, 0], [1, 0, 0]]", "{type: circle, radius: 1, center: [9.0e+18, 0, 0]}"),
        1,
        "rod 'r': the curve extends over",
    ),
    "wound helix": (
        rod("[[0, 0, 0], [1, 0, 0]]", "{type: helix, radius: 1, pitch: 1, turns: 1.0e+7}"),
        1,
        "rod 'r': the curve winds too finely",
    ),
    "tiny axis": (SPHERE.replace("}}]", "}, orientation: {axis: [0, 0, 0], angle_deg: 9}}]") + RUN, 1, "orientation.axis"),
    **{f"key {word}": (f"{word}: []\n" + RUN, 1, f"the key '{word}' is not known here; did you mean '{ours}'?")
       for word, ours in (("beams", "rods"), ("links", "bodies"), ("torques", "loads"), ("motors", "drives"))},
    **{f"axes {order}": (SPHERE.replace("}}]", f"}}, orientation: {{euler: {order}, angles_deg: [1, 2, 3]}}}}]") + RUN, 1,
                         r"body 'b': orientation\.euler.*not an order of axes") for order in ("xy", "xYz", "xxy", "abc")},
    "aliases of aliases": (TEXTS["bomb"], 6, "too many or too deeply nested values"),
    "alias in itself": (NESTED, 1, "too many or too deeply nested values"),
    "alias in itself below": ("b: 1\nc: [2]\n" + NESTED, 3, "too many or too deeply nested values"),
    "a model called as a body": (
        SPHERE
        + """name: b
joints:
  - {name: left, kind: weld, a: b, b: {ground: [1, 0, 0]}}
  - {name: right, kind: spherical, a: {body: b, at: [0, 0, 0]}, b: {ground: [-1, 0, 0]}}
"""
        + RUN,
        5,
        "move one of them",
    ),
    "a joint called as a rod": (
        rod("[[0, 0, 0], [1, 0, 0]]", "{type: helix, radius: 1, pitch: 0.1, turns: 3}, n_elements: 3")
        + "joints:\n  - {name: r, kind: clamp, a: {rod: r, s: 0}}\n",
        1,
        "give more elements",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REJECTED)
def test_invalid_scene_is_rejected_with_file_line_object_and_value(case, tmp_path, capsys):
    text, line, words = REJECTED[case]
    file = tmp_path / "scene.yaml"
    file.write_text(text)
    began = time.perf_counter()
    assert main(["run", str(file)]) == 2
    assert time.perf_counter() - began < 20
    message = capsys.readouterr().err
    assert message.removeprefix("rodsim: ").startswith(f"{file}:{line}: ")
    assert re.search(words, message)
    assert list(tmp_path.iterdir()) == [file]


def test_numbers_without_a_decimal_point_are_accepted(tmp_path, capsys):
    """YAML 1.1 reads 1e6 as a string; people and other programs do not."""
    file = tmp_path / "scene.yaml"
    file.write_text(LINE + SECTION + "run: {t_end: 1e-1, dt: 1E-2}\n")
    assert main(["check", str(file)]) == 0
    assert "dt = 0.01 s to t = 0.1 s" in capsys.readouterr().out


def test_mutated_scenes_run_or_are_rejected_without_crash(tmp_path):
    """Run `python -m tests.support.fuzz_scenes 12 --seed 5`."""
    ends = [(name, how, message) for name, how, message, _, _ in fuzz(12, 5, tmp_path, limit=60.0)]
    assert [end for end in ends if end[1] in ("crash", "slow")] == []
    count = [how for _, how, _ in ends].count
    assert count("ok") >= 15
    assert count("refused") >= 40
