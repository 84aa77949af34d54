"""The package as a library: representations of its objects, accepted scenes and results, type information."""

import importlib.util
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import yaml

from rodsim import Box, Material, Model, Result, Section, audit, compare, signals, simulate
from rodsim.comparing.operands import comparison_results
from rodsim.results import ResultError
from rodsim.results.writer import MemoryWriter
from rodsim.scenes import SceneError, read_scene
from rodsim.scenes.scene_input import scene_of
from rodsim.studies import sweep
from tests.support.html_reader import Reader

SCENES = Path(__file__).parents[2] / "examples" / "scenes"
LONGEST = 300  # characters: three lines of a terminal
RUBBER = Material(E=2e6, nu=0.45, density=1100)


def large_model(n=40):
    """Many bodies on a string, with one of every joint, interaction and load."""
    model = Model("large", gravity=(0, 0, -9.81))
    rod = model.add_rod("cord", [(0, 0, 0), (1, 0, 0)], Section.circular(0.01, RUBBER), n_elements=4)
    objects = [rod, rod.end, rod.at(0.5, (0, 0.01, 0)), model.ground, model.ground.at((1, 2, 3)), rod.initial]
    objects.append(model.add_joint("pin", "clamp", rod.start))
    for k in range(n):
        body = model.add_body(f"block {k}", Box(0.1, 0.1, 0.1, density=500), position=(k, 0.05, 3.0))
        objects += [body, body.at((0, 0, 0.05)), body.properties]
        objects.append(model.add_joint(f"hinge {k}", "revolute", model.ground, body, (k, 0, 3), (0, 1, 0)))
    last = model.bodies["block 0"]
    objects += [
        model.add_spring("string", model.ground.at((1, 0, 1)), last.at((0, 0, 0)), stiffness=10.0),
        model.add_spring("coil", model.ground, last, 5.0, along="rotation", axis=(0, 1, 0)),
        model.add_force("push", last.at((0, 0, 0)), (0.0, 1.0, 0.0)),
        model.add_drive("motor", "hinge 1", signals.Sine(0.3, 1.0)),
        model.add_driven("cam", (0, 9, 0), displacement=signals.Sine(0.3, 1.0).along((1, 0, 0))),
        rod.section,
        RUBBER,
        model,
    ]
    return model, objects


def test_parts_of_a_model_have_one_line_representations():
    model, objects = large_model()
    shown = [repr(item) for item in objects]
    assert [words for words in shown if len(words) > LONGEST or "\n" in words or " at 0x" in words] == []
    assert repr(model).startswith("<Model 'large': rods cord; bodies block 0, block 1,")
    assert "and 28 more" in repr(model)
    assert repr(model.rods["cord"]) == "<Rod 'cord': 1 m, 4 se3 elements>"
    assert repr(model.rods["cord"].end) == "<Anchor: rod 'cord', s = 1>"
    assert repr(model.bodies["block 3"]) == "<Body 'block 3': 0.5 kg at [3, 0.05, 3]>"
    assert repr(model.bodies["block 3"].at((0, 0, 1))) == "<Anchor: body 'block 3' at [0, 0, 1]>"
    assert repr(model.joints["pin"]) == "<clamp joint 'pin' from rod 'cord', s = 0 to the ground>"
    assert repr(Model("empty")) == "<Model 'empty': empty>"
    assert repr(model.rods["cord"].section) == (
        "<Section: radius 0.01 m, 0.34558 kg/m, EA 628.32 N, GJ 0.010833, EI 0.015708 N m^2>"
    )


def test_rod_body_and_joint_have_html_tables():
    model, _ = large_model(2)
    rod, body, joint = (
        Reader(part._repr_html_())
        for part in (model.rods["cord"], model.bodies["block 1"], model.joints["hinge 1"])
    )
    assert rod.rows[1][:3] == ["cord", "1", "4 se3"]
    assert ["mass", "0.5", "kg"] in body.rows
    assert ["a", "the ground"] in joint.rows
    assert ["axis", "[0, 1, 0]"] in joint.rows
    assert "revolute" in joint.words


def falling(mass=1.0, name="falling"):
    model = Model(name, gravity=(0, 0, -9.81))
    model.add_body("stone", Box(0.1, 0.1, 0.1, mass=mass), velocity=(1.0, 0, 0))
    return model


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A result in a file with a long name."""
    path = tmp_path_factory.mktemp("library") / f"{'a' * 200}.vtkhdf"
    return simulate(falling(), 0.2, 0.01, output=path, output_every=2)


def test_results_audits_and_comparisons_have_one_line_representations(run):
    comparison = compare(run, run)
    for shown in (comparison, audit(run), MemoryWriter(large_model()[0].build().layout).result()):
        assert len(repr(shown)) <= LONGEST
    assert "quantities, points apart by up to 0 of the way" in repr(comparison)
    assert repr(audit(run)) == "<Audit of 'falling': all laws that can be judged were kept>"


def test_model_is_compared_by_running_it_like_the_result(run):
    """With the same end time, step, integrator and outputs, on either side."""
    for comparison in (compare(falling(), run), compare(run, falling())):
        assert comparison.within(1e-12)
        assert len(comparison.points[0].t) == run.n_outputs == 11
    first, second = comparison_results(falling(name="other"), run)
    assert (first.layout.name, second) == ("other", run)
    assert comparison_results(run, falling())[0] is run
    assert np.array_equal(first.step, run.step)
    assert first.description["run"] == run.description["run"]
    other = Model("pushed", gravity=(0, 0, -1.62))
    other.add_body("stone", Box(0.1, 0.1, 0.1, mass=1.0), velocity=(1.0, 0, 0))
    with_other = compare(run, other)
    assert with_other.points[0].b[-1] == pytest.approx([0.2, 0.0, -0.5 * 1.62 * 0.2**2])
    assert "pushed" in with_other.b
    assert "dt = 0.01" in with_other.b


def test_restarted_run_cannot_define_the_settings_of_a_model(run):
    restarted = simulate(falling(), 0.02, 0.01, start=run)
    with pytest.raises(ResultError, match="it began with the state of another result"):
        compare(falling(), restarted)


LOADED = """
name: loaded
gravity: [0, 0, -9.81]
materials:
  rubber: {E: 5.0e7, nu: 0.45, density: 1.1e3}
rods:
  - {name: cord, curve: [[0, 0, 0], [1, 0, 0]], section: {type: circular, radius: 1e-2, material: rubber}, n_elements: 4}
joints:
  - {name: pin, kind: clamp, a: {rod: cord, s: 0}}
loads:
  - {name: push, kind: force, on: {rod: cord, s: 1}, value: {function: constant, value: 1E-3, direction: [0, 0, 1]}}
run: {t_end: 0.02, dt: 1e-2}
"""


def test_scene_read_by_pyyaml_equals_that_of_the_file(tmp_path):
    file = tmp_path / "scene.yaml"
    file.write_text(LOADED)
    by_yaml, data = yaml.safe_load(LOADED), read_scene(file)
    assert by_yaml["materials"]["rubber"]["E"] == "5.0e7"  # YAML 1.1
    assert True in by_yaml["loads"][0]
    assert scene_of(by_yaml) == scene_of(data) == data
    assert scene_of(yaml.safe_load(yaml.safe_dump(data))) == data
    assert data["materials"]["rubber"]["E"] == 5.0e7
    assert data["run"]["dt"] == 0.01
    assert by_yaml["materials"]["rubber"]["E"] == "5.0e7"  # the argument is not changed


def test_strings_are_not_converted_where_no_number_is_expected():
    data = yaml.safe_load(LOADED)
    data["rods"][0]["name"] = "1e5"
    data["joints"][0]["a"]["rod"] = data["joints"][0]["kind"] = "1e5"
    scene = scene_of(data)
    assert scene["joints"][0]["kind"] == "1e5"  # wrong, and reported as given
    assert scene["rods"][0]["name"] == scene["joints"][0]["a"]["rod"] == "1e5"
    with pytest.raises(SceneError, match="run: the key 7 is not a text"):
        scene_of({"run": {7: 1}})


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_study_accepts_pyyaml_data_and_shows_its_table():
    values, measures = {"materials.rubber.E": [1e7, 5e7]}, ["final rods.cord.end.r.z"]
    study = sweep(yaml.safe_load(LOADED), values, measures, workers=0, progress=False)
    assert study.failed == {}
    assert len(repr(study)) <= LONGEST
    table = Reader(study._repr_html_())
    assert table.rows[0][:2] == ["case", "materials.rubber.E"]
    assert len(table.rows) == 3


@pytest.mark.parametrize("package", ["rodsim", "rigid", "discretization"])
def test_package_is_marked_as_typed(package):
    """PEP 561."""
    assert (files(package) / "py.typed").is_file()
    assert importlib.util.find_spec(package) is not None


def test_search_of_an_output_ignores_times_that_are_nan(run):
    arrays = {name: run._source.read(name) for name in ("time",)}
    arrays["time"][3] = np.nan

    class Damaged(type(run._source)):
        def read(self, name, key=...):
            return arrays["time"][key] if name == "time" else super().read(name, key)

    assert Result(Damaged(run.path)).index_at(0.1) == 5
