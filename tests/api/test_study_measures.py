"""Cases of a study, keys of a scene that its parameters change, and measures of a result."""

import numpy as np
import pytest

from rodsim import Model, Section, simulate
from rodsim.results import MemoryWriter
from rodsim.studies import StudyError, sweep
from rodsim.studies.measures import MotionSamples
from tests.support.results_sample import sample_layout, sample_output
from tests.support.studies import base_of, written


@pytest.fixture(scope="module")
def scene_file(tmp_path_factory):
    return written(tmp_path_factory.mktemp("studies"))


@pytest.fixture(scope="module")
def result(scene_file):
    return base_of(scene_file).result({}, None)


def measured(result, measures):
    """The row of a study of one case with this result."""
    study = sweep(lambda x: result, {"x": [0]}, measures, workers=0, progress=False)
    assert study.failed == {}
    return study.frame.iloc[0].to_dict()


def test_measures_equal_values_of_the_result(result):
    rod, ball = result.rod("cord"), result.body("ball")
    values = measured(
        result,
        {
            "z": "final rods.cord.end.r.z",
            "far": "max bodies.ball.displacement.norm",
            "v": "initial bodies.ball.v[1]",
            "K": "max rods.cord.largest.K",
            "M": "final rods.cord@0.3.M.y",
            "at": "at 0.025 energy.total",
            "hip": "largest joints.hip.force.norm",
            "angle": "final joints.hip.angle",
            "point": "final bodies.ball@0.1,0,-0.2.r.z",
            "named": "mean rods.cord.5.start.v.x",
            "own": lambda run: run.n_outputs,
        },
    )
    energy = result.energy["total"]
    assert values["z"] == rod.r[-1, -1, 2]
    assert values["far"] == np.linalg.norm(ball.r - ball.r[0], axis=1).max()
    assert values["v"] == 2.0
    ends = np.linalg.norm(rod.along("K", (0.0, 1.0)), axis=2)
    assert values["K"] == max(np.linalg.norm(rod.K, axis=2).max(), ends.max())
    assert values["M"] == pytest.approx(0.3 * rod.M[-1, 0, 1] + 0.7 * rod.M[-1, 1, 1], rel=1e-12)
    assert values["at"] == pytest.approx(0.5 * (energy[2] + energy[3]), rel=1e-14)
    assert values["hip"] == np.linalg.norm(result.joint("hip").force, axis=1).max()
    assert values["angle"] == result.joint("hip").angle[-1]
    assert values["point"] == pytest.approx(ball.r[-1, 2] - 0.2, abs=1e-12)  # it does not rotate
    assert values["own"] == 6.0


def test_drift_measures_equal_the_change_of_invariants(result):
    values = measured(result, {"E": "max drift.energy", "P": "max drift.linear_momentum"})
    energy = result.energy["total"]
    left = np.abs(energy - energy[0] - result.work + result.dissipation).max()
    assert values["E"] == pytest.approx(left, abs=1e-14)
    assert left < 1e-12
    momentum = result.linear_momentum
    assert result.work[2] == result.work[-1] != result.work[1]  # the load has ended at output 2
    drift = np.linalg.norm(momentum[2:] - momentum[2], axis=1).max()
    assert values["P"] == drift > 0  # the hip supports the cord


def test_measures_at_a_position_are_interpolated_linearly(result):
    rod = result.rod("cord")
    positions = {"r": 0.5, "v": 0.375, "M": 1}
    values = measured(result, {field: f"final rods.cord@{s}.{field}.z" for field, s in positions.items()})
    assert values["r"] == rod.r[-1, 2, 2]
    assert values["v"] == pytest.approx(0.5 * (rod.v[-1, 1, 2] + rod.v[-1, 2, 2]), rel=1e-14)
    assert values["M"] == pytest.approx(1.5 * rod.M[-1, 3, 2] - 0.5 * rod.M[-1, 2, 2], rel=1e-12)


def history(t, x):
    """An artificial result whose total energy has the values x at the times t."""
    layout = sample_layout()
    writer = MemoryWriter(layout)
    _, _, *arrays, audit = sample_output(layout, 0)
    for i, (time, value) in enumerate(zip(t, x, strict=True)):
        writer.append(time, i, *arrays, {**audit, "total": value})
    return writer.result()


def reduced(t, x, words):
    row = measured(history(t, x), {word: f"{word} energy.total" for word in words})
    return {word: row[word] for word in words}


def test_reductions_of_a_known_history_are_exact():
    expected = {
        "initial": 1.0,
        "final": 2.0,
        "max": 2.0,
        "min": -4.0,
        "mean": pytest.approx((-1.5 - 2.0) / 3),
        "range": 6.0,
        "largest": 4.0,
        "rms": pytest.approx(np.sqrt((8.5 + 20.0) / 3)),
        "time-of-max": 3.0,
        "time-of-min": 1.0,
    }
    assert reduced([0.0, 1.0, 3.0], [1.0, -4.0, 2.0], expected) == expected
    assert reduced([2.0], [3.0], ["mean", "rms"]) == {"mean": 3.0, "rms": 3.0}


T = np.linspace(0.0, 10.0, 501)
TREND = 5.0 + 0.3 * T  # also without any other content
UNEVEN = np.linspace(0.0, 1.0, 801) ** 1.5 * 10.0


def two_sines(f):
    return TREND + np.sin(2 * np.pi * f * T + 0.4) + 0.3 * np.sin(2 * np.pi * 2.3 * f * T)


@pytest.mark.parametrize(
    ("t", "x", "frequency"),
    [
        *((T, two_sines(f), pytest.approx(f, abs=0.005)) for f in (0.731, 3.0, 7.77)),  # 1/T is 0.1 Hz
        (T, TREND, pytest.approx(np.nan, nan_ok=True)),
        (T[:7], two_sines(3.0)[:7], pytest.approx(np.nan, nan_ok=True)),  # too short to decide
        (UNEVEN, np.sin(2 * np.pi * 1.3 * UNEVEN), pytest.approx(1.3, abs=0.01)),
    ],
    ids=["slow", "middle", "fast", "a slope alone", "short", "outputs not evenly spaced"],
)
def test_frequency_measure_interpolates_between_spectral_lines(t, x, frequency):
    assert reduced(t, x, ["frequency"]) == {"frequency": frequency}


UNITS = {
    "final energy.total": "J",
    "time-of-max energy.total": "s",
    "time-of-min rods.cord.end.r.z": "s",
    "frequency rods.cord.end.r.z": "Hz",
    "at 0.02 rods.cord.end.v.norm": "m/s",
}


def test_measures_have_units(scene_file):
    study = sweep(scene_file, {"run.dt": [0.01]}, list(UNITS), workers=0, progress=False)
    assert {text: study.frame.attrs["units"][text] for text in UNITS} == UNITS


def test_component_measures_equal_array_components(result):
    quat, lam = result.body("ball").quat[-1], result.joint("hip").multipliers[-1]
    texts = [f"final bodies.ball.quat.{c}" for c in "wxyz"]
    texts += [f"final joints.hip.multipliers[{k}]" for k in range(len(lam))]
    values = measured(result, texts)
    assert [values[text] for text in texts] == [*quat, *lam]


def test_motion_measure_is_the_largest_displacement_and_sampled_positions(result):
    way, *last = MotionSamples(None)(result)
    rods = [result.rod(name) for name in ("cord.5", "cord")]
    ways = [np.linalg.norm(r - r[0], axis=-1).max() for r in (rods[0].r, rods[1].r, result.body("ball").r)]
    assert way == pytest.approx(max(ways), rel=1e-12)
    assert result.body("ball").r[-1] in np.reshape(last, (-1, 3))
    assert len(last) == 3 * 7
    two = list(MotionSamples((0.02, 0.05))(result))
    assert len(two) == 1 + 2 * len(last)
    with pytest.raises(StudyError, match=r"no output at t = 0\.025 s"):
        MotionSamples((0.025,))(result)


def test_velocity_measures_on_a_closed_rod_are_periodic():
    """The second of four nodes is at a quarter of the length."""
    model = Model("ring")
    angle = np.linspace(0.0, 2.0 * np.pi, 41)[:-1]
    points = np.stack([np.cos(angle), np.sin(angle), np.zeros(40)], axis=-1)
    section = Section.from_stiffness(
        EA=1e3, GA=1e3, GJ=10.0, EI=10.0, mass_per_length=1.0, inertia_per_length=(0.1, 0.05, 0.05)
    )
    model.add_rod("ring", points, section, 4, closed=True, velocity=lambda s: (s, 0.0, 0.0))
    result = simulate(model, 0.01, 0.01, progress=False)
    v = result.rod("ring").v[0, :, 0]
    texts = [f"initial rods.ring@{s}.v.x" for s in (0.25, 0.5, 0.875, 1)]
    values = measured(result, texts)
    assert [values[text] for text in texts] == pytest.approx(
        [v[1], v[2], 0.5 * (v[3] + v[0]), v[0]], rel=1e-9
    )


# --- cases, and the keys changed by their parameters


def study(parameters, design="grid", **options):
    """The table of a study of a function that accepts any parameters."""
    table = sweep(lambda **_: {"y": 0.0}, parameters, design=design, workers=0, progress=False, **options)
    return table.frame.drop(columns=["case", "y", "error"])


def cases(parameters, design="grid", **options):
    return study(parameters, design, **options).to_dict("records")


def test_grid_design_has_all_combinations_in_row_major_order():
    table = study({"a": [1, 2], "b": {"low": 1.0, "high": 100.0, "n": 3, "scale": "log"}})
    assert list(table.a) == [1, 1, 1, 2, 2, 2]
    assert list(table.b) == pytest.approx([1, 10, 100] * 2)


def test_list_design_pairs_the_values():
    rows = cases({"a": [1, 2, 5], "b": {"low": 0.0, "high": 1.0, "n": 3}}, "list")
    assert rows == [{"a": 1, "b": 0.0}, {"a": 2, "b": 0.5}, {"a": 5, "b": 1.0}]


def test_latin_hypercube_has_one_sample_in_each_stratum():
    n = 64
    scales = {"a": {"low": 2.0, "high": 4.0}, "b": {"low": 1.0, "high": 1e4, "scale": "log"}}
    table = study(scales, "latin_hypercube", n=n)
    for u in ((table.a - 2) / 2, np.log10(table.b) / 4):
        assert sorted(np.floor(u * n).astype(int)) == list(range(n))


def test_sobol_points_are_balanced():
    rows = cases({"a": {"low": 0.0, "high": 1.0}, "b": {"low": 0.0, "high": 1.0}}, "sobol", n=16)
    cells = [(row["a"] < 0.5, row["b"] < 0.5) for row in rows]
    assert all(cells.count(cell) == 4 for cell in set(cells))
    assert len(set(cells)) == 4


def test_parameter_unit_defaults_to_that_of_its_key():
    parameters = {
        "softness": {"path": "sections.thin.EI", "values": [1]},
        "sections.thin.EI": [1],
        "EI": {"values": [1], "unit": "kN m^2"},
        "m": {"path": "bodies.ball.shape.mass", "values": [1.0]},
        "rods.cord.mass": ["lumped"],  # no number
    }
    units = {"softness": "N m^2", "sections.thin.EI": "N m^2", "EI": "kN m^2", "m": "kg"}
    assert study(parameters).attrs["units"] == units


def test_grid_is_repeated_for_each_seed_with_common_random_values():
    spec = {"a": [1, 2], "flaw": {"normal": [5.0, 0.1]}, "shift": {"uniform": [0.0, 1.0]}}
    rows = cases(spec, seeds=[3, 7])
    assert [(row["a"], row["seed"]) for row in rows] == [(1, 3), (2, 3), (1, 7), (2, 7)]
    assert rows[0]["flaw"] == rows[1]["flaw"] != rows[2]["flaw"]
    assert cases(spec, seeds=[3, 7]) == rows
    assert (
        cases({"flaw": spec["flaw"]}, seeds=[7])[0]["flaw"] == rows[2]["flaw"]
    )  # independent of the other parameters
    twins = cases({"one": spec["flaw"], "two": spec["flaw"]}, seeds=[3])[0]
    assert twins["one"] != twins["two"]  # drawn apart
    many = study({"flaw": spec["flaw"]}, seeds=2000).flaw
    assert np.mean(many) == pytest.approx(5.0, abs=4 * 0.1 / np.sqrt(2000))
    assert np.std(many) == pytest.approx(0.1, rel=0.1)
    assert all(0 < row["shift"] < 1 for row in rows)


def test_samples_depend_on_the_seed():
    spec = {"a": {"low": 0.0, "high": 1.0}}
    one, two, both, first = (
        list(study(spec, "latin_hypercube", n=4, seeds=seeds).a) for seeds in ([1], [2], 2, [0])
    )
    assert one != two
    assert both[:4] == first


@pytest.mark.parametrize(
    ("path", "value", "keys"),
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
def test_parameter_path_sets_the_named_value(scene_file, path, value, keys):
    base = base_of(scene_file, x=path)
    before = base_of(scene_file)
    entry = base.case({"x": value})
    for key in keys:
        entry = entry[key]
    assert entry == value
    assert (base.data, base.whole) == (before.data, before.whole)  # other cases


def test_parameter_path_changes_nothing_else(scene_file):
    base = base_of(scene_file, EI="rods.cord.section.EI", g="gravity[2]", tolerance="run.tolerance")
    case = base.case({"EI": 77.0, "g": -9.81, "tolerance": 1e-8})
    assert case["rods"][1]["section"]["EI"] == 77.0  # a separate section now
    assert case["rods"][0]["section"] == "thin"
    assert case["sections"]["thin"]["EI"] == 10
    assert case["gravity"] == [0.0, 0.0, -9.81]
    assert case["run"] == {"t_end": 0.05, "dt": 0.01, "tolerance": 1e-8}
    assert base.case({"EI": 78.0, "g": 0.0, "tolerance": 0.0})["rods"][1]["section"]["GJ"] == 10


def test_shared_section_is_changed_before_it_is_copied(scene_file):
    base = base_of(scene_file, EI="rods.cord.section.EI", GJ="sections.thin.GJ")
    case = base.case({"EI": 77.0, "GJ": 5.0})
    assert (case["rods"][1]["section"]["GJ"], case["sections"]["thin"]["GJ"]) == (5.0, 5.0)


def test_factors_scale_all_values_and_counts_stay_integers(scene_file):
    base = base_of(
        scene_file,
        T={"loads.push.value.t_end": 1.0, "loads.push.value.t_peak": 0.5},
        n={"rods.cord.n_elements": 2},
    )
    case = base.case({"T": 0.04, "n": 3})
    assert (case["loads"][0]["value"]["t_end"], case["loads"][0]["value"]["t_peak"]) == (0.04, 0.02)
    assert case["rods"][1]["n_elements"] == 6
    assert isinstance(case["rods"][1]["n_elements"], int)
