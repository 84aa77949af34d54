"""`Result.to_xarray`.

Bit-identical numbers of the result, with units, coordinates and attributes that describe the run.
"""

import json
import re

import numpy as np
import pytest
import xarray as xr

from rodsim import Box, Model, Result, equilibrium, signals, simulate, templates
from rodsim.results import COLUMNS
from rodsim.scenes import read_scene
from tests.support.results_sample import N_OPEN, sample_layout, write
from tests.support.statics_models import cantilever, square

ROD = {"r": "xyz", "quat": "wxyz", "v": "xyz", "Omega": "axis", "omega": "xyz"}
ELEMENT = dict.fromkeys(("Gamma", "K", "N", "M"), "axis")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Made-up numbers: an open rod, a ring, a box and a joint, in a file."""
    file = tmp_path_factory.mktemp("arrays") / "sample.vtkhdf"
    write(file, sample_layout(), range(7))
    return Result.load(file)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The mechanism of `rodsim new`: joints with an angle, a displacement, a drive."""
    file = tmp_path_factory.mktemp("arrays") / "mechanism.yaml"
    file.write_text(templates.scene("mechanism", "mechanism", "a", "b"))
    return simulate(Model.load(file), 0.1, read_scene(file)["run"]["dt"], output_every=4)


def same(array, values):
    """True if two arrays are bit-identical, including the signs of zeros."""
    return array.dtype == values.dtype and array.values.tobytes() == np.ascontiguousarray(values).tobytes()


def test_dataset_has_all_rod_and_body_histories_bitwise(sample):
    data = sample.to_xarray()
    assert same(data.t, sample.t)
    assert same(data.step, sample.step)
    for name in sample.rods:
        rod = sample.rod(name)
        assert same(data[f"{name}.s"], rod.arclength)
        for fields, along in ((ROD, f"{name}.s"), (ELEMENT, f"{name}.s_element")):
            for field, last in fields.items():
                assert data[f"{name}.{field}"].dims == ("t", along, last)
                assert same(data[f"{name}.{field}"], getattr(rod, field))
    body = sample.body("box")
    for field in ("r", "center_of_mass", "quat", "v", "Omega", "omega"):
        assert same(data[f"body_{field}"].sel(body="box"), getattr(body, field))


def test_dataset_has_energies_momenta_and_residuals(sample):
    data = sample.to_xarray()
    for name in sample.energy.dtype.names:
        assert same(data[f"energy_{name}"], sample.energy[name])
    for name in (
        "work", "dissipation", "linear_momentum", "angular_momentum", "constraint_residual", "velocity_residual",
        "quat_norm_error", "newton_iterations", "halvings",
    ):  # fmt: skip
        assert same(data[name], getattr(sample, name)), name
    # no column of the file is missing
    stored = [sample.audit_column(name) for name in COLUMNS]
    columns = [data[x].values for x in data.data_vars if data[x].dims == ("t",)]
    columns += [data[x].values[:, i] for x in ("linear_momentum", "angular_momentum") for i in range(3)]
    assert all(any(np.array_equal(column, x) for x in columns) for column in stored)


def test_dataset_has_joint_forces_and_coordinates_by_name(run):
    data = run.to_xarray()
    assert list(data.joint.values) == run.joints
    for name in run.joints:
        joint = run.joint(name)
        assert same(data.joint_force.sel(joint=name), joint.force)
        assert same(data.joint_moment.sel(joint=name), joint.moment)
        assert bool(data.joint_determined.sel(joint=name)) == joint.determined
    assert same(data["bearing.angle"], run.joint("bearing").angle)
    assert same(data["bearing.angle_rate"], run.joint("bearing").angle_rate)
    assert same(data["rails.displacement"], run.joint("rails").displacement)
    assert data["rails.displacement_rate"].units == "m/s"
    assert data["bearing.angle"].units == "rad"
    assert data["bearing.angle_rate"].units == "rad/s"
    # a spherical joint has no coordinate
    assert not [x for x in data.data_vars if x.startswith("gudgeon pin.")]
    assert same(data.drive_work.sel(drive="motor"), run.drive_work("motor"))


def test_components_are_selected_by_name(sample):
    data, r, quat = sample.to_xarray(), sample.rod("whip").r, sample.rod("whip").quat
    for i, axis in enumerate("xyz"):
        assert np.array_equal(data["whip.r"].sel(xyz=axis), r[:, :, i])
    for i, component in enumerate("wxyz"):
        assert np.array_equal(data["whip.quat"].sel(wxyz=component), quat[:, :, i])
    assert np.array_equal(data["whip.K"].sel(axis=2), sample.rod("whip").K[:, :, 1])
    place = data["whip.r"].sel({"whip.s": 1.01}, method="nearest").sel(t=0.1, method="nearest")
    assert np.array_equal(place, r[2, (N_OPEN - 1) // 2])


def test_element_arc_lengths_lie_between_those_of_nodes(sample):
    data = sample.to_xarray()
    s = data["whip.s"].values
    assert np.allclose(data["whip.s_element"], (s[1:] + s[:-1]) / 2, rtol=1e-15)
    s, middles = data["ring.s"].values, data["ring.s_element"].values
    assert len(middles) == len(s)
    assert np.allclose(middles, (np.arange(len(s)) + 0.5) * 3.0 / len(s), rtol=1e-14)


UNITS = {
    "t": "s", "energy_total": "J", "work": "J", "linear_momentum": "kg m/s", "angular_momentum": "kg m^2/s", "whip.s": "m",
    "whip.r": "m", "whip.quat": "1", "whip.v": "m/s", "whip.Omega": "rad/s", "whip.Gamma": "1", "whip.K": "1/m", "whip.N": "N",
    "whip.M": "N m", "body_r": "m", "body_v": "m/s", "body_Omega": "rad/s", "joint_force": "N", "joint_moment": "N m",
}  # fmt: skip


def test_dataset_variables_have_units_and_descriptions(sample):
    data = sample.to_xarray()
    for name, units in UNITS.items():
        assert data[name].attrs["units"] == units
    for name in [*data.data_vars, *(x for x in data.coords if x not in ("xyz", "wxyz", "axis"))]:
        assert data[name].attrs["long_name"]
        assert data[name].dtype.kind not in "f" or data[name].attrs["units"], name


def test_dataset_attributes_describe_the_run(sample, run):
    attributes = run.to_xarray().attrs
    assert json.loads(attributes["run"])["integrator"] == "em"
    assert attributes["fingerprint"] == run.description["fingerprint"]
    assert json.loads(attributes["description"]) == json.loads(json.dumps(run.description))
    assert sample.to_xarray().attrs["file"] == str(sample.path)
    assert sample.to_xarray().attrs["title"] == "sample"


@pytest.mark.parametrize("result", ["sample", "run"])
def test_netcdf_round_trip_is_exact(result, request, tmp_path):
    """By scipy, which is there in any case: netCDF 3."""
    data = request.getfixturevalue(result).to_xarray()
    data.to_netcdf(tmp_path / "a.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "a.nc", engine="scipy") as back:
        assert back.identical(data)


def test_dataset_can_be_limited_to_named_parts(sample):
    data = sample.to_xarray(parts=["ring"])
    assert not [x for x in data.variables if x.startswith(("whip", "body", "joint"))]
    assert same(data["ring.r"], sample.rod("ring").r)
    assert "energy_total" in data


def test_a_name_with_a_slash_survives_netcdf(tmp_path):
    layout = sample_layout()
    layout.rods[0].name = "a/b"
    write(tmp_path / "a.vtkhdf", layout, range(2))
    data = Result.load(tmp_path / "a.vtkhdf").to_xarray()
    data.to_netcdf(tmp_path / "a.nc", engine="scipy")
    assert "a|b.r" in data
    assert "'a/b'" in data["a|b.s"].long_name


def test_dataset_of_equilibria_has_the_load_factor_as_coordinate():
    model, _, end = cantilever(square(0.02), 1.0, 4)
    model.add_force("pull", end, (0, 0, -1e-2))
    equilibria = equilibrium(model, monitors={"tip": (end, (0, 0, 1))})
    data = equilibria.to_xarray()
    assert data.t.long_name == "load factor"
    assert np.array_equal(data.load_factor, equilibria.load_factor)
    assert np.array_equal(data["tip.monitor"], equilibria.monitor("tip"))
    assert re.search(f"load factor 0 to 1|{equilibria.n_outputs} equilibria", equilibria._repr_html_())


def test_a_model_of_bodies_alone_has_no_dimension_of_rods():
    model = Model("flying")
    model.add_body("box", Box(0.1, 0.2, 0.3, density=100), velocity=(1, 0, 0))
    model.add_force("push", model.bodies["box"].at((0, 0, 0)), signals.Sine(1.0, 1.0).along((0, 0, 1)))
    data = simulate(model, 0.02, 0.01).to_xarray()
    assert set(data.sizes) == {"t", "xyz", "wxyz", "axis", "body"}
