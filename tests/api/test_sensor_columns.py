"""Sensors and controllers of a result as columns: datasets, plots, reports, comparisons, studies and `rodsim info`."""

import json

import numpy as np
import pytest

from rodsim import Box, Model, compare, controllers, measures, plot, report, simulate
from rodsim.cli.main import main
from rodsim.results import ResultError
from rodsim.studies import StudyError, sweep


def arm_model():
    """Return a bar on a hinge with two sensors and a controller."""
    model = Model("arm", gravity=(0, -9.81, 0))
    arm = model.add_body("arm", Box(1.0, 0.1, 0.1, mass=2.0), position=(0.5, 0, 0))
    model.add_joint("shoulder", "revolute", "ground", arm, at=(0, 0, 0), axis=(0, 0, 1))
    phi = model.add_sensor("phi", measures.angle("ground", arm, (0, 0, 1)), noise=(1e-3, 1e-2), delay=0.02)
    model.add_sensor("pull", measures.joint_force("shoulder", "force", (0, 1, 0)))
    pid = model.add_controller("pid", controllers.PID(20.0, kd=2.0), [phi, phi.rate], period=0.01)
    model.add_moment("motor", arm, pid.output().along((0, 0, 1)))
    return model


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    file = tmp_path_factory.mktemp("run") / "arm.vtkhdf"
    return simulate(arm_model(), 0.2, 0.005, output=file, output_every=2, progress=False)


def test_dataset_has_columns_with_units(result):
    pytest.importorskip("xarray")
    data = result.to_xarray()
    sensor = result.sensor("phi")
    for column, unit in (("value", "rad"), ("rate", "rad/s"), ("reading", "rad"), ("rate_reading", "rad/s")):
        assert np.array_equal(data[f"phi.{column}"], getattr(sensor, column))
        assert data[f"phi.{column}"].units == unit
    assert data["pull.value"].units == "N"
    assert "pull.rate" not in data
    assert np.array_equal(data["pid.u"], result.controller("pid").output())
    few = result.to_xarray(["pull"])
    assert "pull.value" in few
    assert "phi.value" not in few
    assert "pid.u" not in few


def test_tables_have_what_exists(result):
    assert list(result.sensor("phi").table()) == ["value", "rate", "reading", "rate_reading"]
    assert list(result.sensor("pull").table()) == ["value"]
    assert list(result.controller("pid").table()) == ["u"]


def test_plots_draw_sensors_and_controllers(result):
    lines = plot(result, "sensors").axes[0].lines
    assert [line.get_label() for line in lines] == ["phi (rad)", "phi (rad), as read", "pull (N)"]
    assert np.array_equal(lines[1].get_ydata(), result.sensor("phi").reading)
    (line,) = plot(result, "controllers").axes[0].lines
    assert line.get_label() == "pid.u"
    assert np.array_equal(line.get_ydata(), result.controller("pid").output())
    model = Model("plain")
    model.add_body("ball", Box(0.1, 0.1, 0.1, mass=1.0))
    for kind in ("sensors", "controllers"):
        with pytest.raises(ResultError, match=f"plot: model 'plain' has no {kind}"):
            plot(simulate(model, 0.01, 0.01, progress=False), kind)


def test_report_has_a_section_and_tables(result, tmp_path):
    page = report(result, tmp_path / "arm.html").read_text("utf-8")
    assert "Sensors and controllers" in page
    for text in (
        "phi (rad), as read",
        "pid.u",
        "joint force",
        "noise (0.001, 0.01)",
        "phi, phi.rate",
        "2 sensors",
    ):
        assert text in page, text


def test_compare_has_rows_of_sensors_and_controllers(result):
    rows = {(row.kind, row.quantity): row for row in compare(result, result).rows}
    for kind, name, unit in (("sensor", "phi", "rad"), ("sensor", "pull", "N"), ("controller", "pid.u", "")):
        assert rows[kind, name].unit == unit
        assert rows[kind, name].largest == 0.0
        assert rows[kind, name].scale > 0.0


def studied(result, measures):
    """Return the study of one case with this result."""
    return sweep(lambda x: result, {"x": [0]}, measures, workers=0, progress=False)


UNITS = {
    "final sensors.phi.value": "rad",
    "max sensors.phi.reading": "rad",
    "min sensors.pull.value": "N",
    "rms controllers.pid.u": "",
}


def test_studies_of_scenes_know_units_of_sensors(tmp_path):
    arm_model().save(tmp_path / "arm.yaml")
    text = (tmp_path / "arm.yaml").read_text("utf-8").partition("\nrun:")[0]
    (tmp_path / "arm.yaml").write_text(text + "\nrun: {t_end: 0.05, dt: 0.005}\n", "utf-8")
    study = sweep(tmp_path / "arm.yaml", {"run.dt": [0.005]}, list(UNITS), workers=0, progress=False)
    assert {text: study.frame.attrs["units"].get(text, "") for text in UNITS} == UNITS


def test_studies_measure_sensors_and_controllers(result):
    study = studied(result, list(UNITS))
    assert study.failed == {}
    phi, u = result.sensor("phi"), result.controller("pid").output()
    rms = np.sqrt(np.trapezoid(u**2, result.t) / result.t[-1])
    expected = [phi.value[-1], phi.reading.max(), result.sensor("pull").value.min(), rms]
    assert [study.frame[text][0] for text in UNITS] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("final sensors.psi.value", "there is no sensor 'psi'"),
        ("final controllers.pid.v", "there is no 'v'"),
    ],
)
def test_studies_name_unknown_sensors_and_outputs(result, text, message):
    assert message in str(studied(result, [text]).failed)


def test_studies_refuse_unknown_columns_of_sensors(result):
    with pytest.raises(StudyError, match="there is no 'angle'; did you mean 'value'"):
        studied(result, ["final sensors.phi.angle"])


def test_info_lists_sensors_and_controllers(result, capsys):
    assert main(["info", str(result.path)]) == 0
    text = capsys.readouterr().out
    assert "2 sensors: phi, pull" in text
    assert "1 controllers: pid" in text
    assert main(["info", "--json", str(result.path)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["sensors"] == {"phi": "angle", "pull": "joint_force"}
    assert data["controllers"] == {"pid": ["u"]}
