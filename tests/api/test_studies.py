"""Studies in this process: cases, tables, plots, journals; errors are raised before anything runs."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from rodsim import Model, Result, Sphere
from rodsim.cli.main import main
from rodsim.studies import StudyError, sweep
from rodsim.studies.cases import Outcome
from rodsim.studies.refinement import cheapest, series
from rodsim.studies.study_results import StudyFolder
from tests.support.studies import SCENE, coloured, written


@pytest.fixture
def scene_file(tmp_path):
    return written(tmp_path)


def sweep_in_process(base, parameters, *measures, **options):
    """Run the study in this process."""
    return sweep(base, parameters, *measures, workers=0, progress=False, **options)


# --- cases


def test_failed_case_is_reported_and_others_continue():
    def f(x):
        if x == 2:
            raise ValueError(f"x is {x}")
        return {"y": 1.0 / x if x else np.nan}

    study = sweep_in_process(f, {"x": [0, 1, 2, 3]})
    assert list(study.frame.error) == ["", "", "ValueError: x is 2", ""]
    assert study.failed == {2: "ValueError: x is 2"}
    assert np.array_equal(study.frame.y, [np.nan, 1.0, np.nan, 1 / 3], equal_nan=True)


def test_study_case_with_invalid_value_fails_with_file_line_and_remedy(scene_file):
    """In the middle of the list: the ends are validated before anything runs."""
    study = sweep_in_process(scene_file, {"rods.cord.n_elements": [1, 2.5, 4]}, ["final energy.total"])
    assert list(study.failed) == [1]
    assert "scene.yaml:7: rod 'cord': n_elements = 2.5" in study.failed[1]


def test_study_saves_selected_results(scene_file, tmp_path):
    measures = {"E": "final energy.total"}
    study = sweep_in_process(
        scene_file, {"sections.thin.EI": [5, 10]}, measures, folder=tmp_path / "out", keep=[1]
    )
    assert study.result_file(0) is None
    assert Result.load(study.result_file(1)).energy["total"][-1] == study.frame.E[1]


def test_mesh_is_sent_with_its_case(tmp_path):
    meshio = pytest.importorskip("meshio")
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
    faces = {"triangle": np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])}
    file, scene = tmp_path / "shapes" / "t.stl", tmp_path / "scene.yaml"
    file.parent.mkdir()
    meshio.write_points_cells(file, points, faces)
    scene.write_text(
        "bodies: [{name: stone, shape: {type: mesh, file: shapes/t.stl, density: 6}, velocity: [1, 0, 0]}]\n"
        "run: {t_end: 0.02, dt: 0.01}\n"
    )

    def without_file(result):  # from here on as on another machine
        file.unlink(missing_ok=True)
        return result.energy["kinetic"][-1]

    study = sweep_in_process(scene, {"bodies.stone.shape.scale": [1.0, 2.0]}, {"E": without_file})
    assert not file.exists()
    assert study.failed == {}
    assert list(study.frame.E) == pytest.approx([0.5, 4.0])  # 6 kg/m^3 in a sixth of a cube


@pytest.mark.parametrize(
    ("base", "parameters"),
    [(Model, {"t_end": [0.05]}), (lambda g: ball(), {"g": [1.0], "t_end": [0.05]})],
    ids=["model", "function"],
)
def test_study_of_a_model_or_function_varies_run_settings(base, parameters):
    study = sweep_in_process(
        ball() if base is Model else base, parameters, {"end": lambda r: r.t[-1]}, dt=0.01
    )
    assert list(study.frame.end) == pytest.approx([0.05])


def ball():
    model = Model("ball", gravity=(0, 0, -1))
    model.add_body("ball", Sphere(0.1, mass=1.0))
    return model


def test_run_parameter_overrides_the_study_setting(scene_file):
    measures = {"steps": lambda r: r.step[-1], "end": lambda r: r.t[-1]}
    study = sweep_in_process(scene_file, {"run.dt": [0.05]}, measures, dt=0.01, t_end=0.1)
    assert study.failed == {}
    assert (study.frame.steps[0], study.frame.end[0]) == (2, pytest.approx(0.1))


def test_a_function_receives_the_seed_of_its_case():
    study = sweep_in_process(lambda x, seed: {"y": 10 * x + seed}, {"x": [1, 2]}, seeds=[3, 5])
    assert list(study.frame.y) == [13, 23, 15, 25]
    with pytest.raises(StudyError, match="it needs 'seed'; give that parameter"):
        sweep_in_process(lambda x, seed: {"y": x}, {"x": [1]})


# --- tables, plots


@pytest.fixture(scope="module")
def grid_study():
    """z = x + 10 y and its negative on a grid, with one failed case."""

    def f(x, y):
        assert (x, y) != (10.0, 2.0), "no"
        return {"z": x + 10 * y, "below": -x}

    x = {"low": 1.0, "high": 1000.0, "n": 4, "scale": "log", "unit": "m"}
    return sweep_in_process(f, {"x": x, "y": [0.0, 1.0, 2.0]})


def test_study_table_round_trips_bitwise(grid_study, tmp_path):
    pd = pytest.importorskip("pandas")
    grid_study.write(tmp_path)
    parquet = pd.read_parquet(tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(parquet, grid_study.frame, check_exact=True)
    words = pd.read_csv(tmp_path / "table.csv", dtype=str, keep_default_na=False)
    for name in ("x", "y", "z"):
        read = [float(word) if word else np.nan for word in words[name]]
        assert np.array_equal(read, grid_study.frame[name].to_numpy(), equal_nan=True)
    assert list(words["error"]) == list(grid_study.frame["error"])
    assert list(grid_study.frame.columns) == ["case", "x", "y", "z", "below", "error"]
    assert list(grid_study.failed) == [5]


def test_grid_dataset_has_one_axis_for_each_parameter(grid_study):
    data = grid_study.dataset
    assert data["z"].dims == ("x", "y")
    assert float(data["z"].sel(x=1000.0, y=2.0)) == pytest.approx(1020.0)
    assert np.isnan(data["z"].values[1, 2])
    assert data["x"].attrs["units"] == "m"


def test_grid_dataset_with_seeds_is_labelled_correctly():
    """Cases traverse the grid once for each seed, and axes keep the order of the given values."""
    data = sweep_in_process(lambda x, seed: {"z": 10 * x + seed}, {"x": [2, -1, 1]}, seeds=[5, 3]).dataset
    assert data["z"].dims == ("x", "seed")
    assert data["x"].values.tolist() == [2, -1, 1]
    assert np.array_equal(10 * data["x"] + data["seed"], data["z"])


def test_sample_dataset_has_parameters_as_coordinates():
    data = sweep_in_process(
        lambda x, y: {"z": x + 10 * y}, {"x": [1, 2, 4], "y": [3, 1, 2]}, design="list"
    ).dataset
    assert data["z"].dims == ("case",)
    assert np.array_equal(data["x"].values + 10 * data["y"].values, data["z"].values)


@pytest.mark.parametrize("columns", [("x", "z"), ("x", "y", "z"), ("z", "x"), ("z", "x", "y")])
def test_study_plots_of_two_and_three_columns_are_not_empty(grid_study, columns, tmp_path):
    path = grid_study.plot(*columns, path=tmp_path / "a.png", log=["x"])
    assert coloured(path) > 150


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (("x", "w"), {}, "there are case, x, y, z"),
        (("x",), {}, "give two"),
        (("x", "z"), {"kind": "heat"}, "no 'heat' of 2"),
        (("x", "z"), {"path": "a.word"}, "no format"),
        # with the advice to remove it
        (("y", "x", "z"), {"log": ["y"]}, "'y' goes down to .*remove it from log"),
        (("x", "y", "below"), {"log": ["below"]}, "'below' goes down to .*remove it from log"),
        (("x", "below"), {"log": ["below"], "kind": "scatter"}, "'below' goes down to .*remove it from log"),
    ],
)
def test_impossible_study_plots_are_rejected_with_remedy(grid_study, columns, options, message, tmp_path):
    with pytest.raises(StudyError, match=message):
        grid_study.plot(*columns, path=tmp_path / options.pop("path", "a.png"), **options)
    assert list(tmp_path.iterdir()) == []


def test_logarithmic_plot_omits_negative_values(tmp_path):
    study = sweep_in_process(lambda x: {"m": x}, {"x": [-1.0, 1.0, 10.0]})
    assert study.plot("x", "m", path=tmp_path / "some.png", kind="scatter", log=["m"]).stat().st_size > 5000


# --- the journal


def case_with_odd_values(x):
    """Numbers that need all their digits, infinities and NaN, and values that are not numbers."""
    if x == 2:
        raise ValueError("failed: é")
    return {"y": 0.1 + 0.2, "large": float("inf"), "small": float("-inf"), "none": float("nan")}


def test_study_journal_is_exact_and_torn_lines_are_rerun(tmp_path):
    pd = pytest.importorskip("pandas")
    journal = tmp_path / "cases.jsonl"
    first = sweep_in_process(case_with_odd_values, {"x": [1, 2]}, folder=tmp_path).frame
    complete = journal.read_bytes()
    journal.write_bytes(complete[:-20])
    for _ in range(2):  # on a separate line, and only once
        pd.testing.assert_frame_equal(
            sweep_in_process(case_with_odd_values, {"x": [1, 2]}, folder=tmp_path).frame,
            first,
            check_exact=True,
        )
        one, torn, other = journal.read_bytes().splitlines()
        assert [one, torn] == complete[:-20].splitlines()
        assert json.loads(other)["error"] == "ValueError: failed: é"


def test_study_journal_is_valid_json_and_old_nan_lines_are_read(tmp_path):
    """By the grammar of JSON, which has no NaN and no Infinity."""

    def reject_word(word):
        raise AssertionError(word)

    def run_study_again():
        return str(sweep_in_process(case_with_odd_values, {"x": [float("inf"), 1]}, folder=tmp_path).frame)

    file = tmp_path / "cases.jsonl"
    values = run_study_again()
    text = file.read_text()
    for line in text.splitlines():
        json.loads(line, parse_constant=reject_word)
    file.write_text(text.replace('"nan"', "NaN"))
    assert run_study_again() == values
    assert file.read_text() == text.replace('"nan"', "NaN") != text  # no case was repeated


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_full_disk_is_reported_and_the_folder_is_unlocked(tmp_path):
    home = StudyFolder(tmp_path)
    home._file = open("/dev/full", "a", encoding="utf-8")  # noqa: SIM115
    message = r"No space left on device: '.*cases.jsonl'"
    with pytest.raises(OSError, match=message):
        home.add(Outcome(0, "one", {"y": 1.0}), {"x": 1})
    with pytest.raises(OSError, match=message):
        home.close()
    StudyFolder(tmp_path).close()


def test_study_folder_accepts_one_writer(tmp_path):
    home = StudyFolder(tmp_path)
    with pytest.raises(BlockingIOError, match="is being written"):
        sweep_in_process(lambda x: {"y": 1.0}, {"x": [0]}, folder=tmp_path)
    home.close()
    assert sweep_in_process(lambda x: {"y": 1.0}, {"x": [0]}, folder=tmp_path).failed == {}


# --- rejected studies


STUDY = """name: s
scene: scene.yaml
parameters:
  EI: {path: sections.thin.EI, values: [5, 10]}
measures:
  far: final bodies.ball.displacement.norm
"""
REJECTED = [
    ("", "", None),  # the unchanged study runs
    ("values: [5, 10]", "valves: [5, 10]", ":4: parameters: the key 'valves' is not known here; did you mean 'values'"),
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
    ("{path: sections.thin.EI, values: [5, 10]}", "[5, 10]", ":4: .*EI = .*is not a mapping. Write it as {key: value}"),
    ("parameters:", "t_end: 1.0e+20\nparameters:", ":1: case 0.* t_end = 1e[+]20 s takes 1e[+]22 steps of dt = 0.01"),
    ("final", "at 0.06", ":6: measure .*the run goes from 0 to 0.05 s"),
    ("name: s", "plots: [{x: EI, y: far, kind: heat}]", ":1: plots: .*give color"),
    ("name: s", "plots: [{x: EI, y: far, color: far, kind: curves}]", ":1: plots: .*remove color"),
    ("name: s", "plots: [{x: EI, y: far, log: [near]}]", ":1: plots: .*'near' is not one of its columns"),
    ("name: s", "plots: [{x: EI, y: far, file: a.xyz}]", ":1: plots: .*ends in .png"),
    ("name: s", "plots: [{x: EI, y: far, file: a/b.png}]", ":1: plots: .*without folders"),
    ("name: s", "keep: {cases: all}", ":1: keep: cases = 'all' is not a list"),
    ("scene: scene.yaml", "", ":1: study: 'scene' is missing"),
    (STUDY, "", "the study is empty; give at least `scene`, `parameters` and `measures`"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "pattern"), REJECTED)
def test_invalid_study_is_rejected_with_file_line_and_remedy(scene_file, old, new, pattern, capsys):
    file = scene_file.parent / "study.yaml"
    file.write_text(STUDY.replace(old, new, 1))
    code = main(["sweep", str(file), "--quiet", "--workers", "0"])
    assert code == (0 if pattern is None else 2)
    if pattern is not None:
        message = capsys.readouterr().err
        assert re.search(pattern, message), message


def test_only_cases_of_the_design_are_checked_before_the_run(tmp_path):
    """A list pairs the radii: the largest hole with the smallest tube is not a case."""
    tube = "section: {type: tube, outer_radius: 1, inner_radius: 0.5, material: {E: 1, nu: 0, density: 1}}"
    scene = tmp_path / "tube.yaml"
    scene.write_text(SCENE.replace("[1, 1, 0]], section: thin", f"[1, 1, 0]], {tube}"))
    parameters = {
        "out": {"path": "rods.cord.section.outer_radius", "values": [1, 3]},
        "in": {"path": "rods.cord.section.inner_radius", "values": [0.5, 2]},
    }
    assert sweep_in_process(scene, parameters, design="list", t_end=0.01).failed == {}
    parameters["in"]["values"] = [0.5, 4]
    with pytest.raises(StudyError, match="case 1, out = 3, in = 4: "):
        sweep_in_process(scene, parameters, design="list")


# --- refinement


def levels_of(order, a=1.0, limit=3.0, n=4):
    return [np.array([limit + a * 2.0 ** (-order * k), 5.0]) for k in range(n)]


def test_divergent_sequence_is_rejected_and_exact_one_accepted():
    assert not series("x", np.arange(4.0), [np.array([x]) for x in (1.0, 2.0, 1.0, 2.0)], 1.0).trusted
    assert series("x", np.arange(4.0), [np.array([1.0])] * 4, 1.0).exact


@pytest.mark.parametrize(("p", "q"), [(2.0, 2.0), (4.0, 2.0), (2.0, 6.0)])
def test_cheapest_choice_is_within_the_error_and_minimal(p, q):
    mesh, step = (
        series(n, 2.0 ** np.arange(4), levels_of(o, a), 1.0) for n, o, a in (("m", p, 2.0), ("s", q, 0.1))
    )
    m, s = cheapest(mesh, step, 1e-4)
    assert mesh.error_at(m) + step.error_at(s) == pytest.approx(1e-4, rel=1e-6)
    for other in m * np.geomspace(0.5, 2.0, 41):
        remaining = 1e-4 - mesh.error_at(other)
        if remaining > 0 and other != m:
            assert other * (step.error_at(1.0) / remaining) ** (1 / q) >= m * s * (1 - 1e-9)
    assert cheapest(mesh, None, 1e-4) == (pytest.approx((mesh.error_at(1.0) / 1e-4) ** (1 / p)), 1.0)
