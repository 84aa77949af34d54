"""Sensors and controllers of a result as columns: datasets, plots, reports, comparisons, studies and `rodsim info`."""

import json

import numpy as np
import pytest

from rodsim import Box, Model, compare, controllers, measures, plot, report, simulate
from rodsim.cli.main import main
from rodsim.results.errors import ResultError
from rodsim.studies.errors import StudyError
from rodsim.studies.measures import check_words, measure, parse


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    model = Model("arm", gravity=(0, -9.81, 0))
    arm = model.add_body("arm", Box(1.0, 0.1, 0.1, mass=2.0), position=(0.5, 0, 0))
    model.add_joint("shoulder", "revolute", "ground", arm, at=(0, 0, 0), axis=(0, 0, 1))
    phi = model.add_sensor("phi", measures.angle("ground", arm, (0, 0, 1)), noise=(1e-3, 1e-2), delay=0.02)
    model.add_sensor("pull", measures.joint_force("shoulder", "force", (0, 1, 0)))
    pid = model.add_controller("pid", controllers.PID(20.0, kd=2.0), [phi, phi.rate], period=0.01)
    model.add_moment("motor", arm, pid.output().along((0, 0, 1)))
    file = tmp_path_factory.mktemp("run") / "arm.vtkhdf"
    return simulate(model, 0.2, 0.005, output=file, output_every=2, progress=False)


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


def test_studies_measure_sensors_and_controllers(result):
    texts = [
        "final sensors.phi.value",
        "max sensors.phi.reading",
        "min sensors.pull.value",
        "rms controllers.pid.u",
    ]
    found = measure(result, {text: text for text in texts})
    phi, u = result.sensor("phi"), result.controller("pid").output()
    assert found[texts[0]] == phi.value[-1]
    assert found[texts[1]] == phi.reading.max()
    assert found[texts[2]] == result.sensor("pull").value.min()
    assert found[texts[3]] == pytest.approx(np.sqrt(np.trapezoid(u**2, result.t) / result.t[-1]), rel=1e-12)
    for text, unit in zip(texts, ("rad", "rad", "N", ""), strict=True):
        check_words(text)
        assert parse(text, result.layout).unit == unit
    for text, message in (
        ("final sensors.psi.value", "there is no sensor 'psi'"),
        ("final sensors.phi.angle", "there is no 'angle'"),
        ("final controllers.pid.v", "there is no 'v'"),
    ):
        with pytest.raises(StudyError, match=message):
            measure(result, {text: text})


def test_info_lists_sensors_and_controllers(result, capsys):
    assert main(["info", str(result.path)]) == 0
    text = capsys.readouterr().out
    assert "2 sensors: phi, pull" in text
    assert "1 controllers: pid" in text
    assert main(["info", "--json", str(result.path)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["sensors"] == {"phi": "angle", "pull": "joint_force"}
    assert data["controllers"] == {"pid": ["u"]}
