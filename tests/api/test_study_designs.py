"""Which cases a study has, and where in a scene their parameters go."""

import numpy as np
import pytest

from rodsim.studies import sweep
from tests.support.studies import base_of, written


@pytest.fixture(scope="module")
def scene_file(tmp_path_factory):
    return written(tmp_path_factory.mktemp("studies"))


def study(parameters, design="grid", **more):
    """The table of a study of a function that takes whatever there is."""
    found = sweep(lambda **_: {"y": 0.0}, parameters, design=design, workers=0, progress=False, **more)
    return found.frame.drop(columns=["case", "y", "error"])


def cases(parameters, design="grid", **more):
    return study(parameters, design, **more).to_dict("records")


def test_a_grid_has_all_combinations_and_the_last_parameter_changes_first():
    found = study({"a": [1, 2], "b": {"low": 1.0, "high": 100.0, "n": 3, "scale": "log"}})
    assert list(found.a) == [1, 1, 1, 2, 2, 2]
    assert list(found.b) == pytest.approx([1, 10, 100] * 2)


def test_a_list_takes_the_values_of_all_together():
    found = cases({"a": [1, 2, 5], "b": {"low": 0.0, "high": 1.0, "n": 3}}, "list")
    assert found == [{"a": 1, "b": 0.0}, {"a": 2, "b": 0.5}, {"a": 5, "b": 1.0}]


def test_a_latin_hypercube_has_one_sample_in_each_slice_of_each_parameter():
    n = 64
    scales = {"a": {"low": 2.0, "high": 4.0}, "b": {"low": 1.0, "high": 1e4, "scale": "log"}}
    found = study(scales, "latin_hypercube", n=n)
    for u in ((found.a - 2) / 2, np.log10(found.b) / 4):
        assert sorted(np.floor(u * n).astype(int)) == list(range(n))


def test_sobol_points_are_balanced_in_all_halves_of_pairs_of_parameters():
    found = cases({"a": {"low": 0.0, "high": 1.0}, "b": {"low": 0.0, "high": 1.0}}, "sobol", n=16)
    cells = [(row["a"] < 0.5, row["b"] < 0.5) for row in found]
    assert all(cells.count(cell) == 4 for cell in set(cells))
    assert len(set(cells)) == 4


def test_the_unit_of_a_parameter_is_that_of_its_place_unless_it_is_given():
    parameters = {
        "softness": {"path": "sections.thin.EI", "values": [1]},
        "sections.thin.EI": [1],
        "EI": {"values": [1], "unit": "kN m^2"},
        "m": {"path": "bodies.ball.shape.mass", "values": [1.0]},
        "rods.cord.mass": ["lumped"],  # no number
    }
    units = {"softness": "N m^2", "sections.thin.EI": "N m^2", "EI": "kN m^2", "m": "kg"}
    assert study(parameters).attrs["units"] == units


def test_seeds_repeat_a_grid_with_other_random_values_the_same_for_all_of_a_seed():
    spec = {"a": [1, 2], "flaw": {"normal": [5.0, 0.1]}, "shift": {"uniform": [0.0, 1.0]}}
    found = cases(spec, seeds=[3, 7])
    assert [(row["a"], row["seed"]) for row in found] == [(1, 3), (2, 3), (1, 7), (2, 7)]
    assert found[0]["flaw"] == found[1]["flaw"] != found[2]["flaw"]
    assert cases(spec, seeds=[3, 7]) == found
    assert cases({"flaw": spec["flaw"]}, seeds=[7])[0]["flaw"] == found[2]["flaw"]  # whatever else is varied
    twins = cases({"one": spec["flaw"], "two": spec["flaw"]}, seeds=[3])[0]
    assert twins["one"] != twins["two"]  # drawn apart
    many = study({"flaw": spec["flaw"]}, seeds=2000).flaw
    assert np.mean(many) == pytest.approx(5.0, abs=4 * 0.1 / np.sqrt(2000))
    assert np.std(many) == pytest.approx(0.1, rel=0.1)
    assert all(0 < row["shift"] < 1 for row in found)


def test_seeds_draw_other_samples():
    spec = {"a": {"low": 0.0, "high": 1.0}}
    one, two, both, first = (
        list(study(spec, "latin_hypercube", n=4, seeds=seeds).a) for seeds in ([1], [2], 2, [0])
    )
    assert one != two
    assert both[:4] == first


@pytest.mark.parametrize(
    ("path", "value", "there"),
    [
        ("rods.cord.n_elements", 7, ("rods", 1, "n_elements")),
        ("rods.cord.5.n_elements", 7, ("rods", 0, "n_elements")),
        ("rods[1].curve[0][2]", 0.1, ("rods", 1, "curve", 0, 2)),
        ("rods[-2].curve[0][-1]", 0.1, ("rods", 0, "curve", 0, 2)),  # from the end
        ("gravity[2]", -9.81, ("gravity", 2)),
        ("rods.cord.section.EI", 77.0, ("rods", 1, "section", "EI")),
        ("loads.push.value.t_end", 0.03, ("loads", 0, "value", "t_end")),
        ("run.tolerance", 1e-8, ("run", "tolerance")),
    ],
)
def test_a_value_is_put_at_the_place_that_its_path_names(scene_file, path, value, there):
    base = base_of(scene_file, x=path)
    before = base_of(scene_file)
    found = base.case({"x": value})
    for key in there:
        found = found[key]
    assert found == value
    assert (base.data, base.whole) == (before.data, before.whole)  # of other cases


def test_what_is_put_at_a_place_is_there_and_nothing_else_changes(scene_file):
    base = base_of(scene_file, EI="rods.cord.section.EI", g="gravity[2]", tolerance="run.tolerance")
    case = base.case({"EI": 77.0, "g": -9.81, "tolerance": 1e-8})
    assert case["rods"][1]["section"]["EI"] == 77.0  # its own section now
    assert case["rods"][0]["section"] == "thin"
    assert case["sections"]["thin"]["EI"] == 10
    assert case["gravity"] == [0.0, 0.0, -9.81]
    assert case["run"] == {"t_end": 0.05, "dt": 0.01, "tolerance": 1e-8}
    assert base.case({"EI": 78.0, "g": 0.0, "tolerance": 0.0})["rods"][1]["section"]["GJ"] == 10


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
