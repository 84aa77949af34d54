"""Mass properties: closed forms, the divergence theorem on meshes, rejected input."""

from functools import partial

import meshio
import numpy as np
import pytest

from rigid.quaternions import rotate
from rodsim import Box, Cone, Cylinder, MassProperties, Mesh, ModelError, Sphere
from rodsim.scenes.model_from_scene import load


def test_closed_forms():
    assert Box(1, 2, 3, density=2.0).mass == pytest.approx(12)
    assert np.diag(Box(1, 2, 3, mass=12).inertia) == pytest.approx([13, 10, 5])
    assert np.diag(Sphere(2, mass=5).inertia) == pytest.approx([8, 8, 8])
    assert np.diag(Cylinder(1, 2, mass=12).inertia) == pytest.approx([7, 7, 6])
    top = Cone(0.05, 0.1, density=2700)  # the heavy top of the Livens paper
    assert top.mass == pytest.approx(0.70685834705770348, rel=1e-14)
    assert np.diag(top.inertia) == pytest.approx([0.00053014376029327761] * 3, rel=1e-12)
    assert top.center == pytest.approx([0, 0, 0.075])


def test_mesh_of_a_box_is_the_box():
    box = Box(1, 2, 3, density=5)
    mesh = Mesh((np.add(box.vertices, (4, 5, 6)), box.faces), density=5)
    assert mesh.mass == pytest.approx(box.mass, rel=1e-14)
    assert mesh.center == pytest.approx([4, 5, 6], rel=1e-14)
    assert np.abs(mesh.inertia - box.inertia).max() < 1e-12


def test_inertia_of_a_mesh_does_not_lose_digits_far_from_the_origin():
    """Coordinates of a site plan: at 1e5 m the vertices themselves are rounded to 1e-11 m."""
    box = Box(1, 2, 3, density=5)
    mesh = Mesh((box.vertices + 1e5, box.faces), density=5)
    assert np.abs(mesh.inertia - box.inertia).max() < 1e-9 * box.inertia.max()


@pytest.mark.parametrize(("surface", "tolerance"), [("coarse", 0.15), ("fine", 0.01)])
@pytest.mark.parametrize("make", [Sphere, partial(Cylinder, height=2), partial(Cone, height=2)])
def test_surfaces_of_round_shapes_are_closed_and_of_nearly_equal_mass(make, surface, tolerance):
    shape = make(1, density=1, surface=surface)
    mesh = Mesh((shape.vertices, shape.faces), density=1)
    assert mesh.mass == pytest.approx(shape.mass, rel=tolerance)
    assert np.abs(mesh.center - shape.center).max() < 1e-2
    assert np.abs(mesh.inertia - shape.inertia).max() < 2 * tolerance * shape.inertia.max()


@pytest.mark.parametrize("surface", ["coarse", "fine"])
def test_vertices_of_a_sphere_lie_on_it_and_its_faces_look_outward(surface):
    sphere = Sphere(2, mass=1, surface=surface)
    np.testing.assert_allclose(np.linalg.norm(sphere.vertices, axis=1), 2, rtol=1e-14)
    a, b, c = (sphere.vertices[sphere.faces[:, k]] for k in range(3))
    assert np.all(np.sum(np.cross(b - a, c - a) * (a + b + c), axis=1) > 0)


def test_an_stl_file_inside_out_and_in_millimetres_is_read(tmp_path):
    box = Box(1, 2, 3, density=5)
    file = tmp_path / "box.stl"
    meshio.write_points_cells(file, 1000 * box.vertices, [("triangle", box.faces[:, ::-1])])
    mesh = Mesh(file, density=5, scale=0.001)
    assert mesh.mass == pytest.approx(box.mass, rel=1e-6)
    assert np.abs(mesh.inertia - box.inertia).max() < 1e-5 * box.inertia.max()


AWAY = {"at the origin": (0.0, 0.0, 0.0), "off it": (0.37, -1.21, 5.83), "far from it": (100.0, -20.0, 7.0)}


@pytest.mark.parametrize("place", AWAY)
@pytest.mark.parametrize(
    ("ending", "how"),
    [("stl", {"binary": True}), ("stl", {"binary": False}), ("ply", {"binary": True}), ("vtk", {})],
)
def test_single_precision_file_has_the_exact_moments_of_its_vertices(ending, how, place, tmp_path):
    """A box, rotated so that no inertia is zero: the surface in the file is integrated in double precision."""
    box, rotation = Box(0.1, 0.2, 0.15, density=700), np.array([0.6, 0.36, -0.48, 0.528])
    rotation = rotation / np.linalg.norm(rotation)
    vertices = (rotate(rotation, box.vertices) + AWAY[place]).astype(np.float32)
    file = tmp_path / f"box.{ending}"
    meshio.Mesh(vertices, [("triangle", box.faces.astype(np.int32))]).write(file, **how)
    mesh, exact = Mesh(file, density=700), Mesh((vertices.astype(float), box.faces), density=700)
    assert mesh.mass == pytest.approx(exact.mass, rel=1e-13)
    assert mesh.center == pytest.approx(exact.center, rel=1e-13)
    assert np.abs(mesh.inertia - exact.inertia).max() < 1e-12 * exact.inertia.max()
    assert np.array_equal(mesh.inertia, mesh.inertia.T)
    assert mesh.vertices.dtype == np.float64
    rounding = np.finfo(np.float32).eps * (1.0 + np.abs(AWAY[place]).max()) / 0.1
    assert (
        np.abs(np.sort(mesh.principal_moments) - np.sort(box.principal_moments)).max()
        < 10 * rounding * box.inertia.max()
    )


def test_binary_files_of_any_size_and_place_are_accepted(tmp_path):
    """With moments in single precision 38 of 40 were rejected as not symmetric."""
    rng = np.random.default_rng(5)
    for k in range(40):
        size, place = rng.uniform(0.01, 2.0, 3), rng.uniform(-5.0, 5.0, 3)
        box = Box(*size, density=1000)
        file = tmp_path / ("box.stl", "box.ply")[k % 2]
        meshio.Mesh(
            (box.vertices + place).astype(np.float32), [("triangle", box.faces.astype(np.int32))]
        ).write(file, binary=True)
        mesh = Mesh(file, density=1000)
        assert mesh.mass == pytest.approx(box.mass, rel=1e-3)
        assert mesh.center == pytest.approx(place, abs=1e-5)


def test_principal_axes_diagonalise_the_inertia():
    rng = np.random.default_rng(0)
    R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    body = MassProperties(2.0, R @ np.diag([2.0, 3.0, 4.0]) @ R.T)
    axes = body.principal_axes
    assert np.abs(axes.T @ body.inertia @ axes - np.diag([2, 3, 4])).max() < 1e-12
    assert np.linalg.det(axes) == pytest.approx(1)


BOX = Box(1, 1, 1, mass=1)
REFUSED = {
    "surface = 'rough'; give 'coarse' or 'fine'": lambda: Sphere(1, mass=1, surface="rough"),
    "not closed": lambda: Mesh((BOX.vertices, BOX.faces[1:]), mass=1),
    "orient": lambda: Mesh((BOX.vertices, np.concatenate([BOX.faces[:1, ::-1], BOX.faces[1:]])), mass=1),
    "encloses": lambda: Mesh(([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 1)]), mass=1),
    "vertex numbers from 3 to 10": lambda: Mesh((BOX.vertices, BOX.faces + 3), mass=1),
    "whole numbers": lambda: Mesh((BOX.vertices, BOX.faces + 0.5), mass=1),
    r"faces\[0, 0\] = nan is not finite": lambda: Mesh((BOX.vertices, BOX.faces * np.nan), mass=1),
    r"vertices\[0, 0\] = nan is not finite": lambda: Mesh((BOX.vertices * np.nan, BOX.faces), mass=1),
    "0 triangles": lambda: Mesh((BOX.vertices, np.zeros((0, 3))), mass=1),
    r"faces has shape \(12, 2\); give n x 3 numbers": lambda: Mesh((BOX.vertices, BOX.faces[:, :2]), mass=1),
    "no such file": lambda: Mesh("missing.stl", mass=1),
    "either density or mass": lambda: Mesh((BOX.vertices, BOX.faces)),
    "triangle inequality": lambda: MassProperties(1.0, (1, 1, 3)),
    "not all positive": lambda: MassProperties(1.0, (1, 1, -1)),
    "mass = 0": lambda: MassProperties(0.0, (1, 1, 1)),
}


@pytest.mark.parametrize("words", REFUSED)
def test_impossible_bodies_are_rejected_with_advice(words):
    with pytest.raises(ModelError, match=words):
        REFUSED[words]()


@pytest.mark.parametrize(
    ("words", "vertices"), [("", 42), (", surface: coarse", 42), (", surface: fine", 642)]
)
def test_scene_sets_the_drawing_resolution_of_a_sphere(tmp_path, words, vertices):
    scene = tmp_path / "a.yaml"
    shape = f"{{type: sphere, radius: 1, mass: 1{words}}}"
    scene.write_text(f"bodies: [{{name: a, shape: {shape}}}]\nrun: {{t_end: 1, dt: 1}}\n")
    (body,) = load(str(scene)).model.build().layout.bodies
    assert len(body.vertices) == vertices
