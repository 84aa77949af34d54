"""Quantities that the audit recomputes from the states, and the reported places at which a file disagrees."""

import json
import shutil

import h5py
import numpy as np
import pytest

from rodsim import Box, Material, Model, Result, Section, simulate
from rodsim.cli.main import main
from rodsim.results import audit_recomputation
from rodsim.results.audit import audit
from rodsim.results.audit_columns import COLUMNS
from rodsim.results.drawing import POINT_ARRAYS
from tests.support.results_sample import without_digests


def moving_model():
    """A rod and a box in flight joined by a spring, a hinge between two boxes, a torsion spring."""
    model = Model("all", gravity=(0, 0, -9.81))
    section = Section.circular(0.01, Material(E=1e7, nu=0.3, density=1000.0))
    rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 4, velocity=lambda s: (0, s, 0))
    a = model.add_body("a", Box(0.1, 0.2, 0.3, mass=1), position=(1, 0, 0.5), velocity=(1, 0, 0))
    b = model.add_body("b", Box(0.3, 0.2, 0.1, mass=2), position=(2, 0, 0.5), velocity=(1, 0, 0))
    model.add_joint("hinge", "revolute", a, b, at=(1.5, 0, 0.5), axis=(0, 1, 0))
    model.add_spring("spring", rod.end, a.at((0, 0, 0)), 10.0, length=0.3)
    model.add_spring("twist", a, b, 1.0, along="rotation", axis=(0, 1, 0), angle=0.5)
    return model


@pytest.fixture(scope="module")
def sound_file(tmp_path_factory):
    """An unchanged result file of 11 outputs."""
    path = tmp_path_factory.mktemp("audit") / "sound.vtkhdf"
    simulate(moving_model(), 0.1, 0.01, output=path)
    assert audit(Result.load(path)).ok
    return path


@pytest.fixture
def tampered_file(sound_file, tmp_path):
    """A copy of the file with one changed array."""

    def write_changed(name, change):
        path = tmp_path / "tampered.vtkhdf"
        shutil.copy(sound_file, path)
        with h5py.File(path, "r+") as file:
            array = file[name][...]
            change(array)
            file[name][...] = array
        return path

    return write_changed


def at_output_4(frame, axis, value):
    def change(array):
        array[4, frame, axis] += value

    return change


def times_ten(array):
    array *= 10


def set_zero(array):
    array[...] = 0


def add_1e_6(array):
    array[4] += 1e-6


TAMPERED = {
    "r of a rod": ("rodsim/r", at_output_4(4, 1, 1e-6), "table", "elastic", 4),
    "r of a rod, strains": ("rodsim/r", at_output_4(4, 1, 1e-6), "elements", "strains", 4),
    "r of a body": ("rodsim/r", at_output_4(1, 1, 1e-6), "drawing", "points", 4),
    "r, joints": ("rodsim/r", at_output_4(1, 1, 1e-6), "table", "constraint", 4),
    "quat": ("rodsim/quat", at_output_4(1, 1, 1e-6), "table", "quat_norm", 4),
    "v": ("rodsim/v", at_output_4(2, 0, 1e-6), "table", "kinetic", 4),
    "v, joints": ("rodsim/v", at_output_4(2, 0, 1e-6), "table", "velocity_constraint", 4),
    "v times ten": ("rodsim/v", times_ten, "table", "Px", 0),
    "Omega": ("rodsim/Omega", at_output_4(1, 2, 1e-6), "table", "Lz", 4),
    "no positions": ("rodsim/r", set_zero, "table", "gravity", 0),
    "angle": ("rodsim/own", add_1e_6, "table", "spring", 4),
    "totals": ("rodsim/totals", add_1e_6, "table", "dissipation", 4),
    "table": ("rodsim/audit", lambda array: array[:, 0].__iadd__(1e-6), "table", "kinetic", 0),
    "strains": ("rodsim/strains", at_output_4(1, 3, 1e-6), "elements", "strains", 4),
    "stresses": ("rodsim/stresses", at_output_4(1, 3, 1e-6), "elements", "stresses", 4),
    "points": ("VTKHDF/rod/Points", add_1e_6, "drawing", "points", 0),
    "drawn velocity": ("VTKHDF/rod/PointData/velocity", times_ten, "drawing", "velocity", 0),
    "drawn quaternions": ("VTKHDF/a/PointData/quaternion", set_zero, "drawing", "quaternion", 0),
    "times": ("VTKHDF/Steps/Values", add_1e_6, "drawing", "times", 4),
}


@pytest.mark.parametrize("change_name", TAMPERED)
def test_audit_names_inconsistent_fields(change_name, tampered_file, capsys):
    name, change, part, number, output = TAMPERED[change_name]
    assert main(["audit", str(tampered_file(name, change)), "--json"]) == 4
    printed = json.loads(capsys.readouterr().out)
    of_number = [d for d in printed["differences"] if (d["part"], d["what"]) == (part, number)]
    assert [d["output"] for d in of_number] == [output], printed["differences"]
    assert any(v["kept"] is False and f"at output {output} " in v["measured"] for v in printed["verdicts"])


@pytest.mark.parametrize("name", POINT_ARRAYS)
def test_drawn_arrays_are_audited_to_single_precision(name, tampered_file):
    """One number of output 4 is off by 1e-4 of the largest; single precision is 1e-7 of it."""

    def change(array):
        of_output = array.reshape(11, -1)
        of_output[4, 2] += 1e-4 * np.abs(of_output[4]).max()

    path = tampered_file(f"VTKHDF/rod/PointData/{name}", change)
    differences = [(d.part, d.what, d.output, d.outputs) for d in audit(Result.load(path)).differences]
    assert differences == [("drawing", name, 4, 1)]


@pytest.mark.parametrize("twist", [False, True])
def test_spring_energies_are_audited_to_round_off(twist):
    """An error of 1e-10 is detected: the energies are known to some 1e-14."""
    model = moving_model()
    if twist:
        del model.springs["spring"]
    result = simulate(model, 0.05, 0.01)
    assert audit(result).ok
    column = COLUMNS.index("spring")
    stored = result._source._arrays["audit"][3]
    stored[column] *= 1.0 + 1e-10
    differences = audit(result).differences
    assert [(d.part, d.what, d.output) for d in differences] == [("table", "spring", 3)]


@pytest.mark.parametrize("block", [1, audit_recomputation.BLOCK])
def test_audit_recomputes_results_in_memory(block, monkeypatch):
    monkeypatch.setattr(audit_recomputation, "BLOCK", block)
    result = simulate(moving_model(), 0.05, 0.01)
    assert audit(result).ok
    assert audit(result).recomputed
    result._source._arrays["v"][3] *= 10
    assert {d.output for d in audit(result).differences} == {3}


def test_audit_does_not_depend_on_the_block_size(sound_file, monkeypatch):
    expected = audit(Result.load(sound_file))
    monkeypatch.setattr(audit_recomputation, "BLOCK", 1)
    parts = audit(Result.load(sound_file))
    for field, value in vars(expected).items():
        close = pytest.approx(value, rel=1e-6, abs=1e-15) if isinstance(value, float) else value
        assert getattr(parts, field) == close, field


def write_as_older_version(path):
    """Rewrite the file as older versions did: without the system, with its constraints."""
    with h5py.File(path, "r+") as file:
        without_digests(file)
        layout = file["rodsim/layout"]
        for field, values in layout["system/constraints"].items():
            layout[f"constraints/{field}"] = values[...]
        del layout["system"]


def test_older_file_is_audited_as_far_as_possible(sound_file, tmp_path):
    path = tmp_path / "older.vtkhdf"
    shutil.copy(sound_file, path)
    write_as_older_version(path)
    audited = audit(Result.load(path))
    assert audited.ok
    assert not audited.recomputed
    assert "not recomputed" in audited.text()
    assert audited.energy_balance == pytest.approx(audit(Result.load(sound_file)).energy_balance, abs=1e-15)
    with h5py.File(path, "r+") as file:
        file["rodsim/r"][4, 1] += 1e-6
    assert {d.what for d in audit(Result.load(path)).differences} == {"constraint", "points", "displacement"}
