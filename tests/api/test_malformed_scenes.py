"""Malformed scenes end with exit code 2 and a message that names file, line and object; nothing is written, no traceback."""

import copy
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml

from rodsim.cli.main import main, parser
from rodsim.scenes import reading
from rodsim.scenes.errors import SceneError

SCENES = sorted((Path(__file__).parents[2] / "examples" / "scenes").glob("*.yaml"))
WRONG = ["nonsense", -1.0, float("nan"), float("inf"), [], {}, None, [1, 2], "!!python/object:os.system"]
MOST_OF_A_SORT = 2
OF_PYDANTIC = re.compile(
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


def places(data, path=()):
    """Paths to all values of a scene."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def changed(data, path, value):
    """A copy along the path, with this value at its end; KeyError: with none there."""
    if not path:
        return value
    out = copy.copy(data)
    if value is KeyError and len(path) == 1:
        del out[path[0]]
    else:
        out[path[0]] = changed(data[path[0]], path[1:], value)
    return out


def dumped(data):
    """As `yaml.safe_dump`, by libyaml, which takes a third of the time."""
    return yaml.dump(data, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False)


def mutations():
    """Texts of scenes, each with one thing wrong.

    Places that differ in the numbers of list items alone are of one sort: in all scenes together it takes two wrong
    values, another sort others, and is misspelt once.
    """
    yield from TEXTS.items()
    seen = Counter()
    for file in SCENES:
        text = file.read_text().replace(" on:", ' "on":')
        data = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        for path in places(data):
            sort = tuple("*" if isinstance(key, int) else key for key in path)
            seen[sort] += 1
            if seen[sort] > MOST_OF_A_SORT:
                continue
            label = f"{file.stem}: {'.'.join(map(str, path))}"
            wrong = WRONG[(len(seen) + 2 * seen[sort]) % len(WRONG)]
            if path[-1] != "name" and path[0] != "name" and path[-1] not in ("integrator",):
                yield f"{label} = {wrong}", dumped(changed(data, path, wrong))
            if isinstance(path[-1], str) and seen[sort] == 1:
                misspelt = changed(data, path, KeyError)
                parent = misspelt
                for key in path[:-1]:
                    parent = parent[key]
                parent[path[-1] + "x"] = 1.0
                yield f"{label} misspelt", dumped(misspelt)


def test_at_least_200_malformed_scenes_are_refused_with_place_and_cure(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("rodsim.cli.main.parser", cache(parser))  # a third of the time
    refused, bad = 0, []
    out, file = tmp_path / "out.vtkhdf", tmp_path / "scene.yaml"
    for label, text in mutations():
        file.write_text(text)
        code = main(["check", str(file)])
        said = capsys.readouterr().err
        # a wrong value that is right there: an empty list of joints, no closing spring
        if code == 0 and not label.endswith("misspelt"):
            continue
        refused += 1
        named = re.search(rf"{re.escape(str(file))}:\d+: \S", said)
        if code != 2 or not named or "Traceback" in said or OF_PYDANTIC.search(said):
            bad.append(f"{label}: exit {code}: {said[:300]}")
    assert bad == []
    assert refused >= 200
    assert not out.exists()


CASES = {
    "unknown material": (
        "material: silicone",
        "material: silicon",
        9,
        "rod 'arm'|material 'silicon'.*silicone",
    ),
    "negative elements": ("n_elements: 20", "n_elements: -3", 10, r"rod 'arm': n_elements = -3"),
    "unknown kind": ("kind: clamp", "kind: clmp", 12, "joint 'wall': kind = 'clmp'"),
    "outside": ("s: 0}", "s: 1.5}", 12, "joint 'wall': a.s = 1.5"),
    "unknown rod": ("a: {rod: arm", "a: {rod: arn", 12, "no rod 'arn'; did you mean 'arm'"),
    "bad density": ("density: 1000", "density: -1", 5, "material 'silicone': density = -1"),
    "misspelt key": ("radius: 0.01", "radios: 0.01", 9, "radios"),
    "wrong degree": (
        "dt: 0.005",
        "dt: 0.005, integrator: mG(0)",
        13,
        "run: integrator = 'mG\\(0\\)': mG: k = 0; give",
    ),
    "wrong dt": ("dt: 0.005", "dt: fast", 13, "run: dt = 'fast'"),
}


@pytest.mark.parametrize("case", CASES)
def test_message_names_line_object_and_value(case, tmp_path, capsys):
    old, new, line, words = CASES[case]
    text = next(f for f in SCENES if f.stem == "falling_cantilever").read_text()
    assert old in text
    file = tmp_path / "scene.yaml"
    file.write_text(text.replace(old, new))
    assert main(["run", str(file)]) == 2
    said = capsys.readouterr().err
    assert f"{file}:{line}: " in said
    assert re.search(words, said)
    assert list(tmp_path.iterdir()) == [file]


BOMB = TEXTS["bomb"]
NESTED = "a: &a {b: [1, *a]}\n"


@pytest.mark.parametrize(("text", "line"), [(BOMB, 6), (NESTED, 1), ("b: 1\nc: [2]\n" + NESTED, 3)])
def test_aliases_that_make_too_much_are_refused_where_they_do_before_anything_is_made(
    text, line, monkeypatch
):
    monkeypatch.setattr(reading._Plain, "convert", None)
    with pytest.raises(SceneError, match=rf"scene:{line}: too many or too deeply nested values"):
        reading.parse(text, "scene")


def test_aliases_within_bounds_are_followed():
    text = "a: &a [1, 2]\nb: &b {c: *a, d: *a}\ne: [*b, *b]\n"
    assert reading.parse(text, "scene").data["e"] == [{"c": [1, 2], "d": [1, 2]}] * 2


@pytest.mark.parametrize("what", ["missing", "folder", "binary"])
def test_files_that_are_no_scenes(what, tmp_path, capsys):
    file = tmp_path / "scene.yaml"
    if what == "folder":
        file.mkdir()
    if what == "binary":
        file.write_bytes(bytes(range(256)))
    assert main(["run", str(file)]) == 2
    assert str(file) in capsys.readouterr().err


NAMESAKES = {
    "a model called as a body": (
        """name: ball
bodies:
  - {name: ball, shape: {type: sphere, radius: 1, mass: 1}}
joints:
  - {name: left, kind: weld, a: ball, b: {ground: [1, 0, 0]}}
  - {name: right, kind: spherical, a: {body: ball, at: [0, 0, 0]}, b: {ground: [-1, 0, 0]}}
run: {t_end: 1, dt: 0.1}
""",
        (6,),
        "move one of them",
    ),
    "a joint called as a rod": (
        """sections: {thin: {type: stiffness, EA: 1, GA: 1, GJ: 1, EI: 1, mass_per_length: 1, inertia_per_length: [1, 1, 1]}}
rods:
  - {name: coil, curve: {type: helix, radius: 1, pitch: 0.1, turns: 3}, section: thin, n_elements: 3}
joints:
  - {name: coil, kind: clamp, a: {rod: coil, s: 0}}
run: {t_end: 1, dt: 0.1}
""",
        (3,),
        "give more elements",
    ),
}


@pytest.mark.parametrize("case", NAMESAKES)
def test_the_line_is_that_of_the_part_an_error_is_about_whatever_else_has_its_name(case, tmp_path, capsys):
    text, lines, words = NAMESAKES[case]
    file = tmp_path / "scene.yaml"
    file.write_text(text)
    assert main(["run", str(file)]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert any(said.removeprefix("rodsim: ").startswith(f"{file}:{line}: ") for line in lines), said
