"""Studies in this process: keys, cases, tables, pictures, journals; errors come before anything runs."""

import ast
import functools
import json
from pathlib import Path

import numpy as np
import pytest

from rigid.errors import ModelError
from rodsim import Model, Result, Section, simulate
from rodsim.cli.main import main
from rodsim.scenes.errors import SceneError
from rodsim.studies import keys, sweep, table
from rodsim.studies.bases import FunctionBase, scene_base
from rodsim.studies.cases import Case, Outcome, Recipe, run_batch
from rodsim.studies.designs import made_parameter
from rodsim.studies.errors import StudyError
from rodsim.studies.folder import Folder
from rodsim.studies.pictures import draw
from rodsim.studies.refinement import cheapest, series
from rodsim.studies.study import Study
from rodsim.studies.study_file import read_study
from rodsim.studies.study_results import Sweep
from rodsim.studies.study_schema import DesignEntry, ParameterEntry
from tests.support.studies import SCENE, base_of, coloured, written


@pytest.fixture(scope="module")
def scene_file(tmp_path_factory):
    return written(tmp_path_factory.mktemp("studies"))


# --- keys


def helper(x):
    return 2.0 * x


def uses_helper(x):
    return {"y": helper(x)}


def test_keys_tell_contents_apart_and_nothing_else():
    assert keys.key({"a": 1, "b": [2.0]}) == keys.key({"b": [2.0], "a": 1})
    different = [
        {"a": 1},
        {"a": 1.5},
        {"a": np.array([1.0, 2.0])},
        {"a": np.array([1.0, 3.0])},
        {"a": b"1"},
        {"a": [1, {"b"}]},
    ]
    assert len({keys.key(x) for x in different}) == len(different)


def test_keys_of_functions_follow_what_they_do():
    def made(k, c=1.0):
        return lambda x: k * x + c

    assert keys.key(made(2.0)) == keys.key(made(2.0))
    assert keys.key(made(2.0)) != keys.key(made(3.0))
    assert keys.key(functools.partial(helper, x=1)) != keys.key(functools.partial(helper, x=2))
    before = keys.key(uses_helper)
    old = globals()["helper"]
    try:
        globals()["helper"] = lambda x: 3.0 * x
        assert keys.key(uses_helper) != before
    finally:
        globals()["helper"] = old
    assert keys.key(uses_helper) == before


def test_keys_of_models_follow_their_parts():
    def model(EI):
        made = Model("m")
        section = Section.from_stiffness(
            EA=1e4, GA=1e4, GJ=EI, EI=EI, mass_per_length=1.0, inertia_per_length=(1, 1, 1)
        )
        made.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 2)
        return made

    assert keys.key(model(1.0)) == keys.key(model(1.0))
    assert keys.key(model(1.0)) != keys.key(model(2.0))


def test_structures_are_blind_to_numbers_only(scene_file):
    base = base_of(scene_file, EI="sections.thin.EI", integrator="run.integrator")
    content = [
        base.content({"EI": EI, "integrator": name})
        for EI, name in ((1.0, "em"), (2.0, "em"), (1.0, "em-ggl"))
    ]
    structures = [keys.structure(x) for x in content]
    assert structures[0] == structures[1] != structures[2]


def test_the_program_is_known_by_its_version_and_sources():
    from rodsim import __version__

    version, _, digest = keys.program().partition("+")
    assert version == __version__
    assert len(digest) == 12


def test_what_decides_about_a_case_imports_nothing_that_its_key_does_not_follow():
    """Else a case would count as done after a change of what measured it. Left out: words of errors, the keys themselves."""
    known = {".".join([package, *place.with_suffix("").parts]) for package, place, _ in keys.sources()}
    known |= {f"rodsim.studies.{name}" for name in ("errors", "keys", "limits", "scratch")}
    for package, place, file in keys.sources():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and place.name not in ("__init__.py", "__main__.py"):
                name = node.module or ""
                ours = name.split(".")[0] in ("rodsim", "rigid", "discretization")
                assert not ours or name in known or f"{name}.__init__" in known, (package, place, name)


# --- cases


def recipe(base, **measures):
    return Recipe(base, measures, keys.program())


def test_a_failed_case_is_told_and_the_others_go_on():
    def f(x):
        if x == 2:
            raise ValueError(f"x is {x}")
        return {"y": 1.0 / x if x else np.nan}

    cases = [Case(k, f"key{k}", "", {"x": k}) for k in range(4)]
    found = run_batch(recipe(FunctionBase(f, {})), cases)
    assert [outcome.error for outcome in found] == ["", "", "ValueError: x is 2", ""]
    assert found[1].measures == {"y": 1.0}
    assert np.isnan(found[0].measures["y"])


def test_a_scene_that_does_not_fit_its_values_fails_with_file_line_and_cure(scene_file):
    base = base_of(scene_file, n="rods.cord.n_elements")
    (found,) = run_batch(recipe(base, far="final energy.total"), [Case(0, "key", "", {"n": -1})])
    assert "scene.yaml:7: rod 'cord': n_elements = -1" in found.error


def test_results_come_back_as_files_where_they_are_kept(scene_file, tmp_path):
    (found,) = run_batch(
        recipe(base_of(scene_file), E="final energy.total"), [Case(3, "key", "", {})], frozenset([3])
    )
    file = tmp_path / "kept.vtkhdf"
    file.write_bytes(found.file)
    assert Result.load(file).energy["total"][-1] == found.measures["E"]


def test_a_worker_with_another_program_refuses():
    with pytest.raises(ModelError, match="install the same"):
        run_batch(Recipe(FunctionBase(helper, {}), {}, "0.0.0+other"), [])


def test_a_mesh_travels_with_its_case(tmp_path):
    meshio = pytest.importorskip("meshio")
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
    (tmp_path / "shapes").mkdir()
    meshio.write_points_cells(
        tmp_path / "shapes" / "t.stl",
        points,
        {"triangle": np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])},
    )
    text = (
        "bodies: [{name: stone, shape: {type: mesh, file: shapes/t.stl, density: 6}, velocity: [1, 0, 0]}]\n"
    )
    text += "run: {t_end: 0.02, dt: 0.01}\n"
    (tmp_path / "scene.yaml").write_text(text)
    base = base_of(tmp_path / "scene.yaml", scale="bodies.stone.shape.scale")
    (tmp_path / "shapes" / "t.stl").unlink()  # as on another machine
    found = run_batch(recipe(base, E="final energy.kinetic"), [Case(0, "key", "", {"scale": 1.0})])[0]
    assert found.error == ""
    assert found.measures["E"] == pytest.approx(0.5)  # 6 kg/m^3 in a sixth of a cube


# --- studies, tables, pictures


def ready(n_x=4, n_y=3, fail=()):
    """A study that is done: z = x + 10 y."""
    parameters = {
        "x": made_parameter("x", ParameterEntry(low=1.0, high=1000.0, n=n_x, scale="log", unit="m")),
        "y": made_parameter("y", ParameterEntry(values=[float(k) for k in range(n_y)])),
    }
    study = Study("ready", FunctionBase(lambda x, y: {"z": x + 10 * y}, {}), parameters, DesignEntry(), {})
    outcomes = [
        Outcome(c.number, c.key, {}, "no")
        if c.number in fail
        else Outcome(c.number, c.key, {"z": c.values["x"] + 10 * c.values["y"]})
        for c in study.cases
    ]
    return Sweep(study, outcomes)


def test_a_table_survives_its_files_to_the_bit(tmp_path):
    pd = pytest.importorskip("pandas")
    found = ready(fail=[5])
    found.write(tmp_path)
    parquet = pd.read_parquet(tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(parquet, found.frame, check_exact=True)
    words = pd.read_csv(tmp_path / "table.csv", dtype=str, keep_default_na=False)
    for name in ("x", "y", "z"):
        read = [float(word) if word else np.nan for word in words[name]]
        assert np.array_equal(read, found.frame[name].to_numpy(), equal_nan=True)
    assert list(words["error"]) == list(found.frame["error"])
    assert list(found.frame.columns) == ["case", "x", "y", "z", "error"]
    assert found.failed == {5: "no"}


def test_the_dataset_of_a_grid_has_an_axis_for_each_parameter_and_units():
    data = ready(fail=[5]).dataset
    assert data["z"].dims == ("x", "y")
    assert float(data["z"].sel(x=1000.0, y=2.0)) == pytest.approx(1020.0)
    assert np.isnan(data["z"].values[1, 2])
    assert data["x"].attrs["units"] == "m"


def test_the_dataset_of_samples_has_the_parameters_as_coordinates():
    found = ready()
    data = table.dataset(found.frame, ["x", "y"], ["z"], grid=False)
    assert data["z"].dims == ("case",)
    assert np.array_equal(data["x"].values + 10 * data["y"].values, data["z"].values)


@pytest.mark.parametrize("columns", [("x", "z"), ("x", "y", "z"), ("z", "x"), ("z", "x", "y")])
def test_pictures_of_two_and_three_columns_show_something(columns, tmp_path):
    path = ready(fail=[5]).plot(*columns, path=tmp_path / "a.png", log=["x"])
    assert coloured(path) > 150


def test_pictures_of_columns_that_are_not_there_say_which_are(tmp_path):
    found = ready().frame
    for columns, kind, told in (
        (("x", "w"), None, "there are case, x, y, z"),
        (("x",), None, "give two"),
        (("x", "z"), "heat", "no 'heat' of 2"),
    ):
        with pytest.raises(StudyError, match=told):
            draw(found, ["x", "y"], columns, tmp_path / "a.png", kind)
    with pytest.raises(StudyError, match="no format"):
        draw(found, ["x", "y"], ("x", "z"), tmp_path / "a.word")


def test_a_journal_keeps_outcomes_to_the_bit_and_leaves_torn_lines_out(tmp_path):
    home = Folder(tmp_path / "out")
    first = Outcome(0, "one", {"y": 0.1 + 0.2, "z": float("inf")}, "", False, 0.5, ("note",))
    second = Outcome(1, "two", {}, "failed: é", False, 0.25)
    home.add(first, {"x": 1})
    home.add(second, {"x": 2})
    home.close()
    file = tmp_path / "out" / "cases.jsonl"
    text = file.read_bytes()
    assert Folder(tmp_path / "out").done() == {"one": first, "two": second}
    file.write_bytes(text[:-20])
    home = Folder(tmp_path / "out")
    assert home.done() == {"one": first}
    home.add(second, {"x": 2})  # on a line of its own
    home.close()
    assert Folder(tmp_path / "out").done() == {"one": first, "two": second}


def test_every_line_of_a_journal_is_json_and_gives_back_what_is_no_number(tmp_path):
    """As JSON's own grammar has it, which knows no NaN and no Infinity."""

    def refused(word):
        raise AssertionError(word)

    home = Folder(tmp_path)
    numbers = {"none": float("nan"), "large": float("inf"), "small": float("-inf"), "one": 1.0}
    home.add(
        Outcome(0, "k", numbers, samples=(float("nan"), 2.0)), {"x": float("inf"), "y": [float("nan"), 1]}
    )
    home.close()
    for line in (tmp_path / "cases.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=refused)
    found = Folder(tmp_path).done()["k"]
    assert str(found.measures) == str(numbers)
    assert str(found.samples) == "(nan, 2.0)"


def test_journals_that_were_written_with_nan_are_read(tmp_path):
    home = Folder(tmp_path)
    home.add(Outcome(0, "k", {"y": float("nan")}, samples=(1.0,)), {})
    home.close()
    file = tmp_path / "cases.jsonl"
    file.write_text(file.read_text().replace('"nan"', "NaN"))
    assert np.isnan(Folder(tmp_path).done()["k"].measures["y"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_full_disk_is_told_with_the_name_of_the_journal_and_gives_the_folder_free(tmp_path):
    home = Folder(tmp_path)
    home._file = open("/dev/full", "a", encoding="utf-8")  # noqa: SIM115
    told = r"No space left on device: '.*cases.jsonl'"
    with pytest.raises(OSError, match=told):
        home.add(Outcome(0, "one", {"y": 1.0}), {"x": 1})
    with pytest.raises(OSError, match=told):
        home.close()
    Folder(tmp_path).close()


def test_two_writers_do_not_share_a_folder(tmp_path):
    home = Folder(tmp_path)
    with pytest.raises(BlockingIOError, match="is being written"):
        Folder(tmp_path)
    home.close()
    Folder(tmp_path).close()


STUDY = """name: s
scene: scene.yaml
parameters:
  EI: {path: sections.thin.EI, values: [5, 10]}
measures:
  far: final bodies.ball.displacement.norm
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "values: [5, 10]",
            "valves: [5, 10]",
            ":4: parameters: the key 'valves' is not known here; did you mean 'values'",
        ),
        ("sections.thin.EI", "sections.thick.EI", ":4: parameter 'EI': .*did you mean 'thin'"),
        ("bodies.ball", "bodies.bell", ":6: measure .*did you mean 'ball'"),
        ("[5, 10]", "[5, -10]", r"(?s):4: parameter 'EI' = -10: .*section 'thin'.*is not positive"),
        ("name: s", "design: {type: sobol, n: 4}", ":4: parameter 'EI': samples lie between low and high"),
        ("name: s", "design: {seeds: 3}", ":1: design: seeds repeat the same cases"),
        ("name: s", "plots: [{x: EI, y: near}]", "there is no column 'near'"),
        ("name: s", "keep: {largest: near}", "there is no measure 'near'"),
        ("far:", "EI:", "choose another name"),
        ("scene.yaml", "none.yaml", "no such file"),
        ("values: [5, 10]", "low: 5", "give both low and high"),
        ("values: [5, 10]", "values: [5], low: 3, high: 4", "values and low"),
        ("values: [5, 10]", "values: [stiff]", ":1: case 0, EI = 'stiff': .*scene.yaml:4: section 'thin'"),
        (
            "{path: sections.thin.EI, values: [5, 10]}",
            "[5, 10]",
            ":4: .*EI = .*is not a mapping; give one, as {key: value}",
        ),
        (
            "parameters:",
            "t_end: 1.0e+20\nparameters:",
            ":1: case 0.* t_end = 1e[+]20 s takes 1e[+]22 steps of dt = 0.01",
        ),
        ("final", "at 0.06", ":6: measure .*the run goes from 0 to 0.05 s"),
        ("name: s", "plots: [{x: EI, y: far, kind: heat}]", ":1: plots: .*give color"),
        ("name: s", "plots: [{x: EI, y: far, color: far, kind: curves}]", ":1: plots: .*leave color out"),
        ("name: s", "plots: [{x: EI, y: far, log: [near]}]", ":1: plots: .*'near' is none of its columns"),
        ("name: s", "plots: [{x: EI, y: far, file: a.xyz}]", ":1: plots: .*ends in .png"),
        ("name: s", "plots: [{x: EI, y: far, file: a/b.png}]", ":1: plots: .*without folders"),
        ("name: s", "keep: {cases: all}", ":1: keep: cases = 'all' is not a list"),
        ("scene: scene.yaml", "", ":1: study: 'scene' is missing"),
    ],
)
def test_a_study_that_cannot_be_is_refused_with_file_line_and_cure(scene_file, old, new, told):
    file = scene_file.parent / "study.yaml"
    file.write_text(STUDY)
    assert len(read_study(file).cases) == 2
    file.write_text(STUDY.replace(old, new, 1))
    with pytest.raises((SceneError, StudyError), match=told):
        read_study(file)
    assert main(["sweep", str(file), "--quiet"]) == 2


def test_units_are_those_of_numbers():
    assert made_parameter("m", ParameterEntry(path="bodies.ball.shape.mass", values=[1.0])).unit == "kg"
    assert made_parameter("m", ParameterEntry(path="rods.cord.mass", values=["lumped"])).unit == ""


def test_an_empty_study_says_what_a_study_needs(tmp_path):
    (tmp_path / "study.yaml").write_text("")
    with pytest.raises(
        SceneError, match="the study is empty; give at least `scene`, `parameters` and `measures`"
    ):
        read_study(tmp_path / "study.yaml")


def test_a_parameter_of_the_run_goes_before_the_setting_of_the_study(scene_file):
    from rodsim.scenes.reading import read

    source = read(scene_file)
    places = {"run.dt": {"run.dt": None}}
    base = scene_base(source.file, source.data, source.lines, None, places, {"dt": 0.01, "t_end": 0.1})
    assert base.case({"run.dt": 0.05})["run"] == {"t_end": 0.1, "dt": 0.05}
    assert base.end({"run.dt": 0.05}) == 0.1


def test_only_cases_of_the_design_are_looked_at_before_anything_runs(scene_file):
    """Of a list radii that go together: the largest hole with the smallest tube is no case."""
    file = scene_file.parent / "tubes.yaml"
    file.write_text(
        STUDY.replace("sections.thin.EI, values: [5, 10]}", "rods.cord.section.outer_radius, values: [1, 3]}")
        .replace("\nmeasures", "\n  in: {path: rods.cord.section.inner_radius, values: [0.5, 2]}\nmeasures")
        .replace("name: s", "design: {type: list}")
        .replace("scene.yaml", "tube.yaml")
    )
    tube = "section: {type: tube, outer_radius: 1, inner_radius: 0.5, material: {E: 1, nu: 0, density: 1}}"
    (scene_file.parent / "tube.yaml").write_text(
        SCENE.replace("[1, 1, 0]], section: thin", f"[1, 1, 0]], {tube}")
    )
    assert [case.values for case in read_study(file).cases] == [{"EI": 1, "in": 0.5}, {"EI": 3, "in": 2}]
    file.write_text(file.read_text().replace("[0.5, 2]", "[0.5, 4]"))
    with pytest.raises(SceneError, match="case 1, EI = 3, in = 4: "):
        read_study(file)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"base": helper, "parameters": {"y": [1]}}, "takes no 'y'"),
        ({"base": lambda x, w: 0, "parameters": {"x": [1]}}, "it needs 'w'"),
        ({"base": Model("m"), "parameters": {"EI": [1]}}, "parts of a model are made"),
        ({"base": 3, "parameters": {"x": [1]}}, "no scene, model or function"),
        ({"base": helper, "parameters": {}}, "at least one"),
        ({"base": helper, "parameters": {"x": "ab"}}, "give a list"),
        ({"base": helper, "parameters": {"x": {"low": 1}}}, "both low and high"),
        ({"base": helper, "parameters": {"x": [1]}, "design": "gird"}, "design"),
        ({"base": helper, "parameters": {"x": [1]}, "measures": {"y": 3}}, "give words"),
        ({"base": helper, "parameters": {"x": [1]}, "t_ent": 3}, "did you mean 't_end'"),
        ({"base": helper, "parameters": {"x": [1]}, "keep": "all"}, "give one"),
        ({"base": helper, "parameters": {"x": [1]}, "keep": "some"}, "none, all"),
        (
            {"base": helper, "parameters": {"x": [1]}, "scheduler": "tcp://a:1", "workers": 2},
            "leave one of both out",
        ),
    ],
)
def test_sweeps_that_cannot_be_are_refused_before_anything_runs(given, told):
    with pytest.raises(StudyError, match=told):
        sweep(**given)


def test_a_model_is_varied_in_the_settings_of_its_run_and_a_function_in_both():
    from rodsim.studies.bases import ModelBase

    model = Model("ball", gravity=(0, 0, -1))
    from rodsim import Sphere

    model.add_body("ball", Sphere(0.1, mass=1.0))
    found = ModelBase(model, {"dt": 0.01}).result({"t_end": 0.05}, None)
    assert found.t[-1] == pytest.approx(0.05)
    of_function = FunctionBase(lambda g: model, {"dt": 0.01})
    of_function.check(["g", "t_end"])
    assert of_function.result({"g": 1.0, "t_end": 0.03}, None).t[-1] == pytest.approx(0.03)
    assert simulate(model, 0.01, 0.01).n_outputs == 2


# --- refinement


def levels_of(order, a=1.0, limit=3.0, n=4):
    return [np.array([limit + a * 2.0 ** (-order * k), 5.0]) for k in range(n)]


def test_the_order_and_error_of_a_sequence_that_converges_are_its_own():
    found = series("x", np.array([1.0, 2, 4, 8]), levels_of(3.0, a=0.5), scale=2.0)
    assert found.order == pytest.approx(3.0, abs=1e-9)
    assert found.limit == pytest.approx([3.0, 5.0], abs=1e-12)
    assert found.errors == pytest.approx(0.25 * 8.0 ** -np.arange(4), rel=1e-9)
    assert found.error_at(3.0) == pytest.approx(0.25 / 27, rel=1e-9)


def test_a_sequence_that_does_not_converge_is_not_trusted_and_one_that_is_exact_is():
    assert not series("x", np.arange(4.0), [np.array([x]) for x in (1.0, 2.0, 1.0, 2.0)], 1.0).trusted
    assert series("x", np.arange(4.0), [np.array([1.0])] * 4, 1.0).exact


@pytest.mark.parametrize(("p", "q"), [(2.0, 2.0), (4.0, 2.0), (2.0, 6.0)])
def test_the_cheapest_choice_keeps_to_the_error_and_no_other_is_cheaper(p, q):
    mesh, step = (
        series(n, 2.0 ** np.arange(4), levels_of(o, a), 1.0) for n, o, a in (("m", p, 2.0), ("s", q, 0.1))
    )
    m, s = cheapest(mesh, step, 1e-4)
    assert mesh.error_at(m) + step.error_at(s) == pytest.approx(1e-4, rel=1e-6)
    for other in m * np.geomspace(0.5, 2.0, 41):
        rest = 1e-4 - mesh.error_at(other)
        if rest > 0 and other != m:
            assert other * (step.error_at(1.0) / rest) ** (1 / q) >= m * s * (1 - 1e-9)
    assert cheapest(mesh, None, 1e-4) == (pytest.approx((mesh.error_at(1.0) / 1e-4) ** (1 / p)), 1.0)
