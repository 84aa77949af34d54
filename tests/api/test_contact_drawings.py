"""Planes and spheres in files for other programs, and the pressure of contacts in colours."""

from __future__ import annotations

import numpy as np
import pytest

from rodsim import Box, Material, Model, Result, Section, Sphere, audit, simulate
from rodsim.results import ResultError, fields
from rodsim.results.contact_surfaces import meshes
from rodsim.results.drawing import Drawing

G, R = 9.81, 0.01
pytestmark = pytest.mark.filterwarnings("ignore::rodsim.warnings.DoubtfulModelWarning")  # of long steps
RUBBER = Section.circular(R, Material(E=1e6, nu=0.45, density=1000))


def lying() -> Model:
    """A rod on a floor, a ball whose shape is its sphere, a block on a sphere that no shape shows."""
    model = Model("lying", gravity=(0, 0, -G))
    depth = RUBBER.mass_per_length * G / 1e4
    rod = model.add_rod("rod", [(0, 0, R - depth), (0.3, 0, R - depth)], RUBBER, 3)
    ball = model.add_body("ball", Sphere(0.03, density=500), (0, 0.2, 0.1))
    block = model.add_body("block", Box(0.1, 0.1, 0.1, density=500), (0, 0.4, 0.1))
    spheres = [model.add_sphere("ball", ball, 0.03), model.add_sphere("foot", block.at((0, 0, -0.05)), 0.02)]
    tilted = model.ground.at((0, 0, 0))
    floor = model.add_plane("floor", tilted, (0, 0, 1))
    model.add_contact("rest", rod, floor, stiffness=1e4)
    model.add_contact("fall", spheres, floor, stiffness=1e4)
    return model


def test_files_have_planes_as_rectangles_and_spheres_that_no_shape_shows(tmp_path) -> None:
    layout, state = (own := lying().build()).layout, own.state
    found = {name: (frame, vertices, faces) for name, frame, vertices, faces in meshes(layout)}
    assert list(found) == ["foot", "floor"]
    frame, vertices, faces = found["foot"]
    assert frame == layout.bodies[1].frame
    assert np.linalg.norm(vertices - [0, 0, -0.05], axis=1) == pytest.approx(np.full(len(vertices), 0.02))
    frame, vertices, faces = found["floor"]
    assert frame == 0
    assert faces.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert vertices[:, 2] == pytest.approx(np.zeros(4))
    points = Drawing(layout).points(state)
    assert np.all(vertices.min(axis=0)[:2] < points.min(axis=0)[:2])
    assert np.all(vertices.max(axis=0)[:2] > points.max(axis=0)[:2])
    plain, whole = Drawing(layout), Drawing(layout, surfaces=True)
    assert plain.names == ["rod", "ball", "block"]
    assert whole.names == [*plain.names, "foot", "floor"]
    assert whole.n_points == plain.n_points + 4 + len(found["foot"][1])
    assert whole.triangles.max() == whole.n_points - 1
    own_floor = whole.cells["object"] == 4
    assert own_floor.sum() == 2
    assert not whole.cells["is_rod"][own_floor].any()


def test_a_tilted_plane_on_a_body_goes_with_it() -> None:
    model, n = Model("tilted"), np.array([0.6, 0.0, 0.8])
    body = model.add_body(
        "tray", Box(0.2, 0.2, 0.2, density=100), (1, 2, 3), orientation=(0.9, 0.1, -0.3, 0.3)
    )
    ball = model.add_body("ball", Sphere(0.1, density=100), (1.6, 2, 3.8))
    tray = model.add_plane("tray", body.at((0, 0, 0)), tuple(n))
    model.add_contact("on", model.add_sphere("ball", ball, 0.1), tray, stiffness=1e3)
    built = model.build()
    whole = Drawing(built.layout, surfaces=True)
    corners = whole.points(built.state)[-4:]
    assert (corners - [1, 2, 3]) @ n == pytest.approx(np.zeros(4), abs=1e-13)
    assert np.ptp(corners, axis=0).max() > 0.5


def test_a_file_with_surfaces_is_read_exported_and_audited(tmp_path) -> None:
    from rodsim.results.export import export

    path = tmp_path / "lying.vtkhdf"
    simulate(lying(), 4e-3, 1e-3, output=path, output_every=2, progress=False)
    result = Result.load(path)
    assert audit(result).ok, audit(result).text()
    went_on = simulate(lying(), 6e-3, 1e-3, output=path, output_every=2, resume=True, progress=False)
    assert went_on.n_outputs == 4
    export(result, tmp_path / "lying.xdmf")
    assert (tmp_path / "lying.xdmf").exists()


def test_pressure_is_the_force_over_the_length_of_a_node() -> None:
    result = simulate(lying(), 1e-3, 1e-3, progress=False)
    drawing, none = Drawing(result.layout), np.zeros((result.layout.n_elements, 6))
    shown = fields.values(fields.field_of("pressure", drawing), drawing, result.state(0), none, none)
    assert shown[:4] == pytest.approx(np.full(4, RUBBER.mass_per_length * G), rel=1e-5)
    assert np.isnan(shown[4:]).all()
    assert shown[:4] == pytest.approx(
        np.linalg.norm(result.contact("rest").along("rod")[0], axis=1), rel=1e-5
    )
    assert "pressure" in fields.names(result.layout)
    model = Model("ball")
    body = model.add_body("ball", Sphere(0.03, density=500), (0, 0, 0.1))
    floor = model.add_plane("floor", model.ground.at((0, 0, 0)), (0, 0, 1))
    model.add_contact("on", model.add_sphere("ball", body, 0.03), floor, stiffness=1e3)
    layout = model.build().layout
    assert fields.names(layout) == ["speed", "contact"]
    with pytest.raises(ResultError, match="'pressure' is a quantity of rods"):
        fields.field_of("pressure", Drawing(layout))
