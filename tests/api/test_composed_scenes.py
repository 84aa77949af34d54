"""Scenes with included files, repeated entries, formulas, tables of time and command-line values."""

import json

import numpy as np
import pytest

from rodsim import Box, Model, signals, simulate
from rodsim.cli.main import main
from rodsim.scenes import SceneError
from rodsim.studies import sweep

BALL = "shape: {type: sphere, radius: 0.1, mass: 1}"
RUN = "run: {t_end: 0.1, dt: 0.01}\n"


@pytest.fixture
def write_files(tmp_path):
    """Write files to a folder and return the path of the first."""

    def write(**files):
        for name, text in files.items():
            path = tmp_path / f"{name}{'' if name.endswith('_csv') else '.yaml'}".replace(
                "_csv", ".csv"
            ).replace("__", "/")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return tmp_path / f"{next(iter(files))}.yaml"

    return write


def first_problem(path):
    """The first problem of a scene: name of the file, line, text."""
    with pytest.raises(SceneError) as caught:
        Model.load(path)
    file, line, text = caught.value.problems[0]
    return file.rpartition("/")[2], line, text


def loads_of(model):
    return model.build().layout.description["loads"]


# --- formulas of time

LOADED = f"parameters: {{f: 3, F: 50}}\nbodies: [{{name: b, {BALL}}}]\nloads: [{{name: l, kind: force, on: b, value: VALUE}}]\n"


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ('[0, 0, "50*sin(2*pi*3*t)"]', lambda t: [0, 0, 50 * np.sin(6 * np.pi * t)]),
        ('[0, 0, "=F*sin(2*pi*f*t)"]', lambda t: [0, 0, 50 * np.sin(6 * np.pi * t)]),
        ('[1, "F*t", "max(0, t - 0.5)*-f"]', lambda t: [1, 50 * t, -3 * max(0, t - 0.5)]),
        ('{function: expression, text: F*exp(-t/f), direction: [0, 2, 0]}', lambda t: [0, 100 * np.exp(-t / 3), 0]),
    ],
)  # fmt: skip
def test_load_may_be_a_formula_of_time_and_parameters(value, at, write_files):
    model = Model.load(write_files(scene=LOADED.replace("VALUE", value) + RUN))
    for t in (0.0, 0.3, 0.77):
        assert np.allclose(model.loads["l"].function(np.array([t]))[0], at(t), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('[0, 0, "50*sin(2*pi*g*t)"]', "there is no parameter 'g'; did you mean|there is no parameter 'g'; there are"),
        ('[0, 0, "50*sine(t)"]', "cannot stand in an expression"),
        ('[0, 0, "1/t"]', "cannot be evaluated|not a finite number"),
        ('[0, 0, "t*"]', "cannot be read"),
        ('{function: expression, text: t}', "'direction' is missing"),
    ],
)  # fmt: skip
def test_invalid_formula_is_reported_with_its_line(value, words, write_files):
    file, line, text = first_problem(write_files(scene=LOADED.replace("VALUE", value) + RUN))
    assert (file, line) == ("scene.yaml", 3)
    assert any(part in text for part in words.split("|")), text


def test_time_is_accepted_only_in_functions_of_time(write_files):
    path = write_files(scene=f"bodies: [{{name: b, {BALL}, position: [0, 0, =2*t]}}]\n{RUN}")
    assert "there is no parameter 't'" in first_problem(path)[2]


def test_formulas_of_drives_and_driven_frames_have_exact_rates(write_files):
    text = f"""parameters: {{A: 0.1, w: 7}}
bodies: [{{name: b, {BALL}}}]
driven: [{{name: hand, position: [2, 0, 0], displacement: [0, A*sin(w*t), 0], turn: w*t**2, axis: [0, 0, 1]}}]
joints: [{{name: pin, kind: revolute, a: ground, b: b, at: [0, 0, 0], axis: [0, 0, 1]}}]
drives: [{{name: motor, joint: pin, value: A*sin(w*t)}}]
{RUN}"""
    model = Model.load(write_files(scene=text))
    t = np.array([0.0, 0.3])
    assert np.allclose(model.drives["motor"].motion.rate(t), 0.7 * np.cos(7 * t), rtol=1e-15)
    r, _, v, _ = model.driven["hand"].motion(t)
    assert np.allclose(r[:, 1], 0.1 * np.sin(7 * t), rtol=1e-15)
    assert np.allclose(v[:, 1], 0.7 * np.cos(7 * t), rtol=1e-15)
    reloaded = Model.load(model.save(write_files(other="")))
    assert reloaded.build().layout.description == model.build().layout.description


def test_motions_that_are_not_smooth_are_rejected(write_files):
    text = f"bodies: [{{name: b, {BALL}}}]\ndriven: [{{name: d, turn: abs(t), axis: [0, 0, 1]}}]\n{RUN}"
    assert "has kinks or jumps" in first_problem(write_files(scene=text))[2]


def test_formulas_in_python_equal_functions():
    ends = []
    for value in ((0, 1, "50*sin(2*pi*3*t)"), lambda t: (0.0, 1.0, 50 * np.sin(6 * np.pi * t))):
        model = Model("m")
        model.add_force("f", model.add_body("b", Box(1, 1, 1, mass=1)), value)
        ends.append(simulate(model, 0.1, 0.01).body("b").r[-1])
    assert np.allclose(*ends, rtol=1e-13)
    with pytest.raises(rodsim_error(), match="there is no parameter 'x'"):
        signals.Expression("x*t")


def rodsim_error():
    from rodsim import ModelError

    return ModelError


# --- tables of time


@pytest.mark.parametrize(
    ("function", "kind"), [("table", signals.Table), ("smooth table", signals.SmoothTable)]
)
@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_tables_come_from_csv_files(function, kind, sign, write_files):
    value = f"{{function: {function}, file: sub/push.csv, time: t, value: F, direction: [0, 0, 1]}}"
    rows = [("t", "x", "F"), (0, 9, 0), (1, 9, 5), (2, 9, 3)]
    path = write_files(scene=LOADED.replace("VALUE", value) + RUN)
    path.with_name("sub").mkdir()
    path.with_name("sub").joinpath("push.csv").write_text(
        "\n".join(sign.join(map(str, row)) for row in rows) + "\n"
    )
    model = Model.load(path)
    assert model.loads["l"].function(np.array([0.5]))[0, 2] == kind([0, 1, 2], [0, 5, 3])(0.5)
    assert loads_of(model)["l"]["value"]["values"] == [0.0, 5.0, 3.0]
    assert "times: [0.0, 1.0, 2.0]" in model.scene  # results need no other file


@pytest.mark.parametrize(
    ("table", "file", "words"),
    [
        ("file: none.csv", "t,F\n0,1\n1,2\n", "there is no file"),
        (
            "file: push.csv, value: f",
            "t,F\n0,1\n1,2\n",
            "there is no column of 'push.csv' called 'f'; there are t, F",
        ),
        ("file: push.csv", "t,F\n0,1\n1,x\n", "line 3: 'x' is not a number"),
        ("file: push.csv", "t\n0\n1\n", "has 1 named columns"),
        ("file: push.csv", "t,F\n1,0\n0,2\n", "times must increase"),
        ("times: [0, 1]", "", "times or values are missing"),
    ],
)
def test_invalid_table_is_reported_with_its_line(table, file, words, write_files):
    value = f"{{function: table, {table}, direction: [0, 0, 1]}}"
    place = first_problem(write_files(scene=LOADED.replace("VALUE", value) + RUN, push_csv=file))
    assert place[:2] == ("scene.yaml", 3)
    assert words in place[2]


# --- include

PART = f"parameters: {{m: 2}}\nbodies:\n- {{name: inner, {BALL.replace('mass: 1', 'mass: =m')}}}\n"


def test_included_files_nest_and_their_files_are_relative_to_them(write_files):
    table = "loads: [{name: l, kind: force, on: inner, value: {function: table, file: push.csv, direction: [0, 0, 1]}}]\n"
    path = write_files(
        scene=f"name: outer\ninclude: sub/middle.yaml\nbodies:\n- {{name: own, {BALL}, position: [=m, 0, 0]}}\n{RUN}",
        sub__middle="name: middle\ninclude: [deep/part.yaml]\nrun: {t_end: 9, dt: 1}\n",
        sub__deep__part=PART + table,
        **{"sub__deep__push_csv": "t,F\n0,1\n1,2\n"},
    )
    model = Model.load(path)
    assert model.name == "outer"
    assert list(model.bodies) == ["inner", "own"]
    assert model.bodies["own"].position[0] == model.bodies["inner"].properties.mass == 2.0
    assert "t_end: 0.1" in model.save(path.with_name("saved.yaml")).read_text()
    assert "include" not in model.scene


@pytest.mark.parametrize(
    ("scene", "place", "words"),
    [
        (
            f"include: part.yaml\nbodies: [{{name: inner, {BALL}}}]\n{RUN}",
            ("scene.yaml", 2),
            "in '{}part.yaml', line 3",
        ),
        (
            f"include: part.yaml\nparameters: {{m: 3}}\n{RUN}",
            ("scene.yaml", 2),
            "m is also given in '{}part.yaml', line 1",
        ),
        (
            f"include: part.yaml\nrods: [{{name: inner, curve: x, section: y}}]\n{RUN}",
            ("scene.yaml", 2),
            "curve",
        ),
        (f"include: none.yaml\n{RUN}", ("scene.yaml", 1), "there is no file"),
        (f"include: 3\n{RUN}", ("scene.yaml", 1), "is not the name of a file"),
        (f"include: loop.yaml\n{RUN}", ("loop.yaml", 2), "scene.yaml -> {}loop.yaml -> {}scene.yaml"),
        (f"include: bad.yaml\n{RUN}", ("bad.yaml", 3), "mass = -1 is too small|mass = -1 is not positive"),
    ],
)
def test_errors_in_included_files_are_reported_with_both_places(scene, place, words, write_files):
    bad = f"\nbodies:\n- {{name: bad, {BALL.replace('mass: 1', 'mass: -1')}}}\n"
    path = write_files(scene=scene, part=PART, loop="name: x\ninclude: scene.yaml\n", bad=bad)
    reported = first_problem(path)
    assert reported[:2] == place
    assert any(part.replace("{}", f"{path.parent}/") in reported[2] for part in words.split("|")), reported[2]


# --- for

CHAIN = f"""parameters: {{n: 3, L: 0.5}}
bodies:
- for: {{i: 0 to n - 1}}
  name: link{{i}}
  shape: {{type: box, size: [=L, 0.1, 0.1], mass: =1 + i}}
  position: [=i*L, 0, 0]
- {{name: last, {BALL}, position: [=n*L, 0, 0]}}
joints:
- for: {{i: range(n - 1)}}
  name: hinge{{i}}
  kind: revolute
  a: link{{i}}
  b: link{{i + 1}}
  at: [=(i + 0.5)*L, 0, 0]
  axis: [0, 1, 0]
{RUN}"""


def test_entry_with_for_is_repeated(write_files):
    model = Model.load(write_files(scene=CHAIN))
    assert list(model.bodies) == ["link0", "link1", "link2", "last"]
    assert [x.properties.mass for x in model.bodies.values()] == [1, 2, 3, 1]
    assert [x.position[0] for x in model.bodies.values()] == [0, 0.5, 1, 1.5]
    assert [(x.a.name, x.b.name, x.at[0]) for x in model.joints.values()] == [
        ("link0", "link1", 0.25),
        ("link1", "link2", 0.75),
    ]
    assert "for:" in model.scene


@pytest.mark.parametrize(
    ("ranges", "names"),
    [
        ("{i: 2 to 4}", ["b2", "b3", "b4"]),
        ('{i: "range(1, 6, 2)"}', ["b1", "b3", "b5"]),
        ("{i: [left, right, 7]}", ["bleft", "bright", "b7"]),
        ("{i: 1 to n, j: 1 to i}", None),
        ("{i: [a, b], j: 1 to n}", ["ba1", "ba2", "bb1", "bb2"]),
        ("{i: 1 to 0}", []),
    ],
)
def test_values_of_variables(ranges, names, write_files):
    many = "{i}{j}" if "j:" in ranges else "{i}"
    text = f"parameters: {{n: 2}}\nbodies:\n- {{name: root, {BALL}}}\n- for: {ranges}\n  name: 'b{many}'\n  {BALL}\n{RUN}"
    path = write_files(scene=text)
    if names is None:
        assert "there is no parameter 'i'" in first_problem(path)[2]  # ranges do not depend on each other
    else:
        assert list(Model.load(path).bodies) == ["root", *names]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("{i: 0 to n - 1}", "{i: 3}", 3, "for: i = 3 has no values; write `0 to 9`"),
        ("{i: 0 to n - 1}", "{i: 0 to m}", 3, "there is no parameter 'm'; there are n, L"),
        ("{i: 0 to n - 1}", "{i: 0 to n/2}", 3, "give a whole number"),
        ("{i: 0 to n - 1}", "{i: range(1, 2)}", 3, "a range with commas is put in quotes"),
        ("{i: 0 to n - 1}", "{n: 0 to 2}", 3, "is a parameter too"),
        ("{i: 0 to n - 1}", "i", 3, "does not name a variable"),
        ("{i: 0 to n - 1}", "{i: 0 to 10000000}", 3, "give a whole number up to"),
        ("link{i}\n  shape", "link\n  shape", 4, "there is already a body 'link'"),
        ("=i*L", "=k*L", 6, "there is no parameter 'k'"),
        ("link{i + 1}", "link{i + 2}", 13, "there is no body 'link3'"),
        ("link{i + 1}", "link{k}", 13, "there is no parameter 'k'"),
    ],
)
def test_invalid_for_is_reported_with_the_line_of_the_entry(old, new, line, words, write_files):
    assert CHAIN.count(old) == 1
    reported = first_problem(write_files(scene=CHAIN.replace(old, new)))
    assert reported[1] == line
    assert words in reported[2]


def test_a_study_varies_the_number_of_repeated_parts(write_files):
    study = sweep(
        write_files(scene=CHAIN),
        {"parameters.n": [2, 4], "bodies.last.shape.mass": [1.0, 3.0]},
        design="list",
        measures={
            "n": lambda result: float(len(result.layout.bodies)),
            "x": lambda r: float(r.body("last").r[0, 0]),
        },
        workers=0,
    )
    assert [outcome.measures for outcome in study.outcomes] == [{"n": 3.0, "x": 1.0}, {"n": 5.0, "x": 2.0}]


# --- parts placed at each other

PLACED = f"""bodies:
- for: {{i: RANGE}}
  name: b{{i}}
  {BALL}
  position: {{at: {{body: "b{{i + 1}}"}}, plus: [1, 0, 0]}}
- {{name: b400, {BALL}}}
{RUN}"""


def test_repeated_parts_may_be_placed_at_each_other(write_files):
    model = Model.load(write_files(scene=PLACED.replace("RANGE", "0 to 399")))
    assert model.bodies["b0"].position[0] == 400.0
    assert next(iter(model.bodies)) == "b0"


# --- --set


def test_command_line_values_replace_those_of_the_scene(write_files, capsys):
    path = write_files(scene=CHAIN)
    sets = ["parameters.n=5", "parameters.L==0.2*2", "bodies.last.shape.mass=7", "run.dt=2e-3", "name=other"]
    assert (
        main(["info", str(path), "--json", *(x for assignment in sets for x in ("--set", assignment))]) == 0
    )
    scene = json.loads(capsys.readouterr().out)
    assert scene["name"] == "other"
    assert scene["run"]["dt"] == 0.002
    assert [body["position"][0] for body in scene["bodies"]] == pytest.approx([0.0, 0.4, 0.8, 1.2, 1.6, 2.0])
    assert scene["bodies"][5]["shape"]["mass"] == 7
    assert main(["check", str(path), "--set", "gravity[2]=-9.81"]) == 0
    assert main(["run", str(path), "--set", "run.t_end=0.02", "--set", "parameters.n=2", "--quiet"]) == 0


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("parameters.m=3", "there is no 'm' in parameters"),
        ("parameters.n", "is not PATH=VALUE"),
        ("parameters.L=-1", "is not positive"),
        ("parameters.L=[1", "not valid YAML"),
    ],
)
@pytest.mark.parametrize("command", ["check", "run", "equilibrium", "modes", "info", "converge"])
def test_invalid_command_line_values_are_rejected(command, assignment, words, write_files, capsys):
    assert main([command, str(write_files(scene=CHAIN)), "--set", assignment]) == 2
    assert words in capsys.readouterr().err


def test_the_published_schema_has_the_new_keys(capsys):
    assert main(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert "include" in schema["properties"]
    assert "for" in schema["$defs"]["BodyScene"]["properties"]
    assert {"file", "time", "value"} <= set(schema["$defs"]["TableSignal"]["properties"])
    assert schema["$defs"]["ExpressionMotion"]["properties"]["function"]["const"] == "expression"
