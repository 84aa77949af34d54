"""Which cases a study has, and where in a scene their parameters go."""

import numpy as np
import pytest

from rodsim.studies.designs import made_parameter, rows
from rodsim.studies.errors import StudyError
from rodsim.studies.paths import assign, locate
from rodsim.studies.study_schema import DesignEntry, ParameterEntry
from tests.support.studies import base_of, written


@pytest.fixture(scope="module")
def scene_file(tmp_path_factory):
    return written(tmp_path_factory.mktemp("studies"))


def design(parameters, type="grid", **more):
    entries = {name: ParameterEntry(**entry) for name, entry in parameters.items()}
    return rows(
        [made_parameter(name, entry) for name, entry in entries.items()], DesignEntry(type=type, **more)
    )


def test_a_grid_has_all_combinations_and_the_last_parameter_changes_first():
    found = design({"a": {"values": [1, 2]}, "b": {"low": 1.0, "high": 100.0, "n": 3, "scale": "log"}})
    assert [row["a"] for row in found] == [1, 1, 1, 2, 2, 2]
    assert [row["b"] for row in found] == pytest.approx([1, 10, 100] * 2)


def test_a_list_takes_the_values_of_all_together():
    found = design({"a": {"values": [1, 2, 5]}, "b": {"low": 0.0, "high": 1.0, "n": 3}}, "list")
    assert found == [{"a": 1, "b": 0.0}, {"a": 2, "b": 0.5}, {"a": 5, "b": 1.0}]


def test_a_latin_hypercube_has_one_sample_in_each_slice_of_each_parameter():
    n = 16
    found = design(
        {"a": {"low": 2.0, "high": 4.0}, "b": {"low": 1.0, "high": 1e4, "scale": "log"}},
        "latin_hypercube",
        n=n,
    )
    for u in ([(row["a"] - 2) / 2 for row in found], [np.log10(row["b"]) / 4 for row in found]):
        assert sorted(np.floor(np.array(u) * n).astype(int)) == list(range(n))


def test_sobol_points_are_balanced_in_all_halves_of_pairs_of_parameters():
    found = design({"a": {"low": 0.0, "high": 1.0}, "b": {"low": 0.0, "high": 1.0}}, "sobol", n=16)
    cells = [(row["a"] < 0.5, row["b"] < 0.5) for row in found]
    assert all(cells.count(cell) == 4 for cell in set(cells))
    assert len(set(cells)) == 4


@pytest.mark.parametrize(("scale", "middle"), [("linear", 17.0), ("log", 8.0)])
def test_samples_go_from_low_to_high(scale, middle):
    parameter = made_parameter("a", ParameterEntry(low=2.0, high=32.0, scale=scale))
    assert [parameter.scaled(u) for u in (0.0, 0.5, 1.0)] == pytest.approx([2.0, middle, 32.0], rel=1e-15)


def test_the_unit_of_a_parameter_is_that_of_its_place_unless_it_is_given():
    assert made_parameter("softness", ParameterEntry(path="sections.thin.EI", values=[1])).unit == "N m^2"
    assert made_parameter("sections.thin.EI", ParameterEntry(values=[1])).unit == "N m^2"
    assert made_parameter("EI", ParameterEntry(values=[1], unit="kN m^2")).unit == "kN m^2"


def test_seeds_repeat_a_grid_with_other_random_values_the_same_for_all_of_a_seed():
    spec = {"a": {"values": [1, 2]}, "flaw": {"normal": [5.0, 0.1]}, "shift": {"uniform": [0.0, 1.0]}}
    found = design(spec, seeds=[3, 7])
    assert [(row["a"], row["seed"]) for row in found] == [(1, 3), (2, 3), (1, 7), (2, 7)]
    assert found[0]["flaw"] == found[1]["flaw"] != found[2]["flaw"]
    assert design(spec, seeds=[3, 7]) == found
    assert design({"flaw": spec["flaw"]}, seeds=[7])[0]["flaw"] == found[2]["flaw"]  # whatever else is varied
    twins = design({"one": spec["flaw"], "two": spec["flaw"]}, seeds=[3])[0]
    assert twins["one"] != twins["two"]  # drawn apart
    many = [row["flaw"] for row in design({"flaw": spec["flaw"]}, seeds=2000)]
    assert np.mean(many) == pytest.approx(5.0, abs=4 * 0.1 / np.sqrt(2000))
    assert np.std(many) == pytest.approx(0.1, rel=0.1)
    assert all(0 < row["shift"] < 1 for row in found)


def test_seeds_draw_other_samples():
    spec = {"a": {"low": 0.0, "high": 1.0}}
    one, two = (design(spec, "latin_hypercube", n=4, seeds=[seed]) for seed in (1, 2))
    assert [row["a"] for row in one] != [row["a"] for row in two]
    assert design(spec, "latin_hypercube", n=4, seeds=2)[:4] == design(
        spec, "latin_hypercube", n=4, seeds=[0]
    )


@pytest.mark.parametrize(
    ("parameters", "type", "more", "told"),
    [
        ({"a": {"low": 0.0, "high": 1.0}}, "grid", {}, "without n"),
        ({"a": {"values": [1]}, "b": {"values": [1, 2]}}, "list", {}, "as many values"),
        ({"a": {"values": [1]}}, "sobol", {"n": 4}, "give both"),
        ({"a": {"low": 0.0, "high": 1.0}}, "sobol", {}, "give n"),
        ({"a": {"low": 0.0, "high": 1.0}}, "sobol", {"n": 100}, "use 64 or 128"),
        ({"a": {"values": [1]}}, "grid", {"n": 4}, "give it to the parameters"),
        ({"a": {"normal": [0.0, 1.0]}}, "grid", {}, "seeds: 10"),
        (
            {"a": {"values": list(range(2000))}, "b": {"values": list(range(2000))}},
            "grid",
            {},
            "fewer values",
        ),
        ({"seed": {"values": [1]}}, "grid", {}, "another name"),
    ],
)
def test_designs_that_make_no_cases_say_what_to_give(parameters, type, more, told):
    with pytest.raises(StudyError, match=told):
        design(parameters, type, **more)


def test_places_are_found_by_name_number_and_through_sections(scene_file):
    whole = base_of(scene_file).whole
    assert locate(whole, "rods.cord.n_elements") == ("rods", 1, "n_elements")
    assert locate(whole, "rods.cord.5.n_elements") == ("rods", 0, "n_elements")
    assert locate(whole, "rods[1].curve[0][2]") == ("rods", 1, "curve", 0, 2)
    assert locate(whole, "rods[-2].curve[0][-1]") == ("rods", 0, "curve", 0, 2)  # from the end
    assert locate(whole, "gravity[2]") == ("gravity", 2)
    assert locate(whole, "rods.cord.section.EI") == ("rods", 1, "section", "EI")
    assert locate(whole, "loads.push.value.t_end") == ("loads", 0, "value", "t_end")
    assert locate(whole, "run.tolerance") == ("run", "tolerance")


def test_what_is_put_at_a_place_is_there_and_nothing_else_changes(scene_file):
    base = base_of(scene_file, EI="rods.cord.section.EI", g="gravity[2]", tolerance="run.tolerance")
    case = base.case({"EI": 77.0, "g": -9.81, "tolerance": 1e-8})
    assert case["rods"][1]["section"]["EI"] == 77.0  # its own section now
    assert case["rods"][0]["section"] == "thin"
    assert case["sections"]["thin"]["EI"] == 10
    assert case["gravity"] == [0.0, 0.0, -9.81]
    assert case["run"] == {"t_end": 0.05, "dt": 0.01, "tolerance": 1e-8}
    assert base.case({"EI": 78.0, "g": 0.0, "tolerance": 0.0})["rods"][1]["section"]["GJ"] == 10
    assert base.data["rods"][1]["section"] == "thin"


def test_a_shared_section_is_changed_before_a_part_gets_its_own(scene_file):
    base = base_of(scene_file, EI="rods.cord.section.EI", GJ="sections.thin.GJ")
    case = base.case({"EI": 77.0, "GJ": 5.0})
    assert (case["rods"][1]["section"]["GJ"], case["sections"]["thin"]["GJ"]) == (5.0, 5.0)


def test_factors_scale_a_parameter_at_each_place_and_counts_stay_whole(scene_file):
    base = base_of(
        scene_file,
        T={"loads.push.value.t_end": 1.0, "loads.push.value.t_peak": 0.5},
        n={"rods.cord.n_elements": 2},
    )
    case = base.case({"T": 0.04, "n": 3})
    assert (case["loads"][0]["value"]["t_end"], case["loads"][0]["value"]["t_peak"]) == (0.04, 0.02)
    assert case["rods"][1]["n_elements"] == 6
    assert isinstance(case["rods"][1]["n_elements"], int)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("rods.kord.n_elements", "no 'kord' in rods; did you mean 'cord'"),
        ("rods.cord.n_element", "did you mean 'n_elements'"),
        ("rods.cord.section.EJ", "no 'EJ' in rods.cord.section"),
        ("gravity[3]", r"give \[0\] to \[2\]"),
        ("gravity.z", "has no parts"),
        ("equilibrium.load_time", "gives no equilibrium"),
        ("rods.cord.stress_free[1]", "gives no rods.cord.stress_free; give it there"),
        ("run[1]", "is no list"),
        ("rots.cord", "did you mean 'rods'"),
    ],
)
def test_places_that_are_not_there_are_named_with_those_near(scene_file, path, told):
    with pytest.raises(StudyError, match=told):
        locate(base_of(scene_file).whole, path)


def test_assigning_leaves_the_whole_scene_as_it_is(scene_file):
    base = base_of(scene_file)
    data = {"run": {"t_end": 1, "dt": 1}}
    assign(data, base.whole, ("gravity", 1), 5.0)
    assert data["gravity"][1] == 5.0
    assert base.whole["gravity"] == [0.0, 0.0, 0.0]
