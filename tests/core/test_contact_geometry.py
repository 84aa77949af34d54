"""Distances, facets and features behind contact of shapes, against brute force and closed forms.

These functions have no public name: distances of segments and cores from boxes, hulls, bodies of revolution
and triangles; the facets that approximate a rim; the corners and ridges of a mesh.
Their use is asserted in tests/laws/test_contact_*.py.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from discretization.contact.core_distances import between_cores, from_cores
from discretization.contact.core_parameters import RIM_POINTS, as_faceted_hull
from discretization.contact.feature_edges import find_mesh_features
from discretization.contact.mesh_search import core_from_triangles, from_triangles, with_ridges
from discretization.contact.neighbour_search import candidates, prepare_search
from discretization.contact.pair_gaps import from_boxes
from discretization.contact.table import Hull, Mesh, Pair, Round, Sphere, contacts_of
from rigid.hull_faces import shares_of
from rigid.kinematics.cores import POLYTOPE
from rigid.solids import Cuboid, Revolved
from rodsim import Box, Model, simulate
from rodsim import Mesh as MeshShape
from rodsim.results.contact_surfaces import meshes
from tests.support.contact_dissipation import LOSSES, loss
from tests.support.contacts import (
    BOXES,
    CONE,
    CYLINDER,
    HULLS,
    LINEAR,
    PRISM,
    ROUND_HULLS,
    ROUND_ROD,
    SIGNS,
    SPHERE_ROUND,
    core_block,
    dual,
    ground,
    mesh_numbers,
    touch,
    turned,
    value,
)
from tests.support.solids import FACES, MESHES, WEDGE, add

SHORT = 1.0 - np.cos(np.pi / RIM_POINTS)  # fraction of the radius that a rim lacks between two of its points
ORIGIN = np.concatenate([np.zeros((1, 3)), np.eye(3)])  # a pose


# --- distances


def test_the_distance_of_a_segment_from_a_box_is_that_of_its_nearest_point():
    rng = np.random.default_rng(1)
    half, fine = np.array([0.3, 0.2, 0.1]), np.linspace(0.0, 1.0, 401)[:, None]
    signs = set()
    for _ in range(200):
        a, b = 0.6 * rng.normal(size=(2, 3))
        rotation, out, x = turned(rng, rng.uniform(0.0, 3.0)), np.zeros(1), a + fine * (b - a)
        points = np.concatenate([[a, b, np.zeros(3)], np.diag(half)]) @ rotation + 0.3
        from_boxes(np.ascontiguousarray(points), np.array([[0, 1, 2, 2]]), np.array([[False, True]]), out)
        least = np.linalg.norm(np.maximum(np.abs(x) - half, 0.0), axis=1).min()
        signs.add(bool(out[0] > 0.0))
        if least > 0.0:
            assert out[0] == pytest.approx(least, abs=2e-3)
        else:  # out of the core by at least the depth of its deepest point below a face
            assert out[0] <= -(half - np.abs(x)).min(axis=1).max() + 1e-12
    assert signs == {True, False}


def test_the_distance_of_a_segment_from_a_prism_or_cone_is_that_of_its_nearest_point():
    """Compare the prism with its planes, the cone with rings of points on it."""
    rng, fine = np.random.default_rng(2), np.linspace(0.0, 1.0, 101)[:, None]
    turns = np.linspace(0.0, 2.0 * np.pi, 181)[:, None, None]
    sides = [p + fine * (q - p) for p, q in pairwise(CONE[1:])]
    profile = np.concatenate([*sides, [[0, -0.2]] + fine * [[0.3, 0.0]]])
    round_about = np.concatenate([np.cos(turns), np.sin(turns), 0 * turns], axis=-1)
    shell = profile[None, :, :1] * round_about + profile[None, :, 1:] * (0, 0, 1.0)
    shell = shell.reshape(-1, 3)[::7]
    signs = set()
    for _ in range(4):
        a, b = 0.5 * rng.normal(size=(2, 3))
        rotation, out, x = turned(rng, rng.uniform(0.0, 3.0)), np.zeros(1), a + fine * (b - a)
        for is_cone in (False, True):
            core = core_block(Round(0, np.zeros(3), CONE, 0.0) if is_cone else Hull(0, PRISM, 0.0))
            points = np.concatenate([[a, b], core[:3] + ORIGIN]) @ rotation + 0.3
            from_cores(points, np.array([[0, 1, 2, 2]]), core, np.array([0]), out)
            signs.add((is_cone, bool(out[0] > 0.0)))
            if is_cone and out[0] > 0.0:
                assert out[0] == pytest.approx(np.linalg.norm(x[:, None] - shell, axis=-1).min(), abs=1e-2)
            elif not is_cone:
                planes = core[8 + 4 * 6 + 2 * 9 :].reshape(5, 4)
                beyond = ((x - core[:3]) @ planes[:, :3].T - planes[:, 3]).max(axis=1).min()
                assert out[0] >= beyond - 1e-9 if beyond > 0.0 else out[0] == pytest.approx(beyond, abs=3e-3)
    assert len(signs) == 4


def test_the_distance_of_a_cube_from_a_triangle_is_that_of_its_nearest_feature():
    core, out = core_block(Hull(0, SIGNS, 0.0)), np.zeros(4)
    triangles = np.array(
        [
            [(0, 0, 1.5), (5, 1, 3), (5, -1, 3)],  # a corner above the cube
            [(2, -5, 0.0), (2, 5, 0.0), (5, 0, 5)],  # an edge next to it
            [(0, 0, 0.7), (5, 1, 3), (5, -1, 3)],  # a corner inside
            [(-5, -0.01, 0), (5, 0, 0), (-5, 0.01, 0)],  # cuts it between its corners
        ],
        float,
    )
    core_from_triangles(ORIGIN, core, triangles, out)
    assert out == pytest.approx([0.5, 1.0, -0.3, 0.0], abs=1e-15)


def test_candidate_list_of_100000_triangles_is_complete_and_minimal():
    rng = np.random.default_rng(5)
    vertices, triangles = ground(224, lambda x, y: 0.1 * np.sin(5 * x) * np.cos(4 * y))
    assert len(triangles) > 1e5
    balls = [Sphere(1 + k, (0, 0, 0), 0.02) for k in range(50)]
    pairs = [Pair(k, 50, (0.0, 1e3, 1.0, 0.0)) for k in range(50)]
    contacts = contacts_of([*balls, Mesh(0, vertices, triangles, 0.0)], pairs)
    points = np.column_stack([rng.uniform(-1, 1, (50, 2)), rng.uniform(-0.1, 0.15, 50)])
    candidate_list = candidates(
        contacts, np.concatenate([points, contacts.X[50:]]), 0.01, prepare_search(contacts)
    )
    corners, n_faces = vertices[triangles], 0
    for k in range(50):
        near = np.flatnonzero(np.linalg.norm(corners.mean(axis=1) - points[k], axis=1) < 0.05)
        distances = np.empty(len(near))
        from_triangles(points[[k, k]], np.ascontiguousarray(corners[near]), distances)
        row = np.flatnonzero(candidate_list.ends[:, 0] == k)
        faces = (
            candidate_list.faces[slice(*candidate_list.first[row[0] : row[0] + 2])]
            if len(row)
            else np.zeros(0)
        )
        assert np.array_equal(faces, near[distances < 0.03])
        n_faces += len(faces)
    assert n_faces > 100


# --- facets of cylinders and cones


def test_facets_lie_inside_a_cylinder_by_less_than_the_sagitta():
    """Measured by a tetrahedron of nearly zero size, in all directions."""
    rng, size = np.random.default_rng(3), 1e-6
    core = core_block(Round(0, np.zeros(3), CYLINDER, 0.0))
    point = core_block(Hull(0, size * SIGNS[[0, 3, 5, 6]], 0.0))
    X, exact, distance, largest = (
        np.concatenate([point, as_faceted_hull(core)]),
        np.zeros(1),
        np.zeros(1),
        0.0,
    )
    for _ in range(100):
        x = rng.normal(size=3)
        x *= rng.uniform(0.5, 1.0) / np.linalg.norm(x)
        points = np.concatenate([x + ORIGIN @ turned(rng, 1.0), ORIGIN @ turned(rng, rng.uniform(0.0, 3.0))])
        between_cores(points, np.array([[0, 0, 4, 4]]), X, np.array([[0, len(point)]]), distance)
        from_cores(points, np.array([[0, 0, 4, 4]]), core, np.array([0]), exact)
        assert -2.0 * size < distance[0] - exact[0] < SHORT * CYLINDER[1, 0] + 2.0 * size
        largest = max(largest, distance[0] - exact[0])
    assert largest > 0.5 * SHORT * CYLINDER[1, 0]


def test_distance_of_parallel_cylinders_is_too_large_by_at_most_two_sagittas():
    """In all directions across their axes, for any rotation of either cylinder."""
    rng, distance = np.random.default_rng(4), np.zeros(1)
    core = core_block(Round(0, np.zeros(3), CYLINDER, 0.0))
    first = as_faceted_hull(core, POLYTOPE)
    X, largest, r = np.concatenate([first, as_faceted_hull(core)]), 0.0, CYLINDER[1, 0]
    for _ in range(50):
        direction, angle = rng.uniform(0.0, 2.0 * np.pi, 2)
        c, s = np.cos(angle), np.sin(angle)
        one = ORIGIN @ np.array([(c, s, 0), (-s, c, 0), (0, 0, 1)])
        points = np.concatenate([one, 0.8 * np.array([np.cos(direction), np.sin(direction), 0.0]) + ORIGIN])
        between_cores(points, np.array([[0, 0, 4, 4]]), X, np.array([[0, len(first)]]), distance)
        assert -1e-12 < distance[0] - (0.8 - 2.0 * r) < 2.0 * SHORT * r + 1e-12
        largest = max(largest, distance[0] - (0.8 - 2.0 * r))
    assert largest > SHORT * r


@pytest.mark.parametrize(
    ("kind", "frame", "angle"),
    [(SPHERE_ROUND, 1, 2.0), (ROUND_ROD, 0, 2.0), (ROUND_HULLS, 1, 0.3), (ROUND_HULLS, 1, 2.0)],
    ids=lambda axis: getattr(axis, "name", str(axis)),
)
def test_the_force_on_a_body_of_revolution_does_not_depend_on_its_rotation_about_its_axis(kind, frame, angle):
    """For any rotation in a step: facets do not rotate with the body, and no moment acts about the axis."""
    t, forces = touch(kind), []
    for rotation in (0.0, angle):
        c, s = np.cos(rotation), np.sin(rotation)
        y1 = t.y1.copy()
        y1[frame, 1:] = np.array([(c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0)]) @ y1[frame, 1:]
        y1[frame, 0] += np.array([0.1, -0.05]) @ (t.y1[frame, 1:3] - y1[frame, 1:3])  # about its own axis
        forces.append(dual(kind, t.y0, y1, t.X).real)
    largest = np.abs(forces[0]).max()
    assert largest > 1.0
    assert (
        np.abs(forces[1][:, 0] - forces[0][:, 0]).max() < (1e-12 if kind is ROUND_HULLS else 1e-13) * largest
    )
    if kind is ROUND_HULLS:
        assert np.abs(forces[1][0] - forces[0][0]).max() < 1e-12 * largest


# --- edges, corners and stiffness fractions


def test_hulls_of_box_corners_have_the_energy_and_forces_of_boxes():
    """With crossing edges and a corner nearby; all stiffness fractions are a quarter."""
    for seed in range(4):
        box, hull = (touch(kind, seed=seed) for kind in (BOXES, HULLS))
        energy, expected = (value(pair.kind, pair.y0, pair.X).real for pair in (hull, box))
        assert energy == pytest.approx(expected, rel=1e-13)
        force, expected = (dual(pair.kind, pair.y0, pair.y0, pair.X).real for pair in (hull, box))
        assert np.abs(force - expected).max() < 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("flat", [True, False])
def test_friction_of_boxes_acts_where_their_surfaces_touch(flat, fraction):
    """The radius of the first box is this fraction of the sum: the distance of the contact from its core, for
    corners and crossings.
    """
    half, other, rho, depth = np.array([0.2, 0.3, 0.1]), np.array([0.15, 0.1, 0.25]), 0.05, 0.002
    if not flat:  # laid across each other
        half, other = np.array([0.3, 0.1, 0.1]), np.array([0.1, 0.3, 0.25])
    D = rho - depth
    y0 = np.array([ORIGIN, ORIGIN])
    y0[1, 0] = 0.02, 0.01, half[2] + other[2] + D
    y1 = y0.copy()
    y1[1, 0, :2] += (1e-3, 2e-3)
    friction = loss(mu=(0.5, 0.5), kt=1e4, rest=0.0)
    X = np.concatenate([LINEAR, [rho], np.zeros(3), half, np.zeros(3), other, [fraction * rho], friction])
    f = dual(LOSSES["boxes"], y0, y1, X, 100.0).real
    N = LINEAR[1] * depth
    assert np.linalg.norm(f[1, 0, :2]) == pytest.approx(0.5 * N, rel=1e-9)
    assert f[1, 0, :2] @ (1e-3, 2e-3) > 0.0  # against the slip: duals are minus the forces
    for k, height in ((0, half[2] + fraction * D), (1, -other[2] - (1.0 - fraction) * D)):
        moment = np.cross(y0[k, 1:], f[k, 1:]).sum(axis=0)
        assert moment[:2] == pytest.approx(np.cross((0, 0, height), f[k, 0])[:2], rel=1e-9)


def test_corner_stiffness_fraction_is_averaged_over_faces_by_area():
    """One over the number of corners of a flat face: of a sheet, of bent triangles, of a disc."""
    sheet, hills = (find_mesh_features(*MESHES[name]) for name in ("sheet", "hills"))
    assert len(sheet.corners) == 4
    assert sheet.share == pytest.approx(0.25, abs=1e-12)
    assert hills.share == pytest.approx(1 / 3, rel=0.01)
    turns = 2 * np.pi * np.arange(6) / 6
    ring = np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=1)
    disc = find_mesh_features(
        np.concatenate([ring, [(0, 0, 0)]]), np.array([(k, (k + 1) % 6, 6) for k in range(6)])
    )
    assert len(disc.corners) == len(disc.ridges) == 6
    assert disc.share == pytest.approx(1 / 6, abs=1e-12)


@pytest.mark.parametrize("bend", [0.0, 0.1, 0.4, 2.0])
def test_edge_weights_grow_with_the_bending_angle(bend):
    """The weight is 4 sin(theta/2), at most 1; flat edges have none, borders have 1."""
    c, s = np.cos(bend), np.sin(bend)
    vertices = [(0, 0, 0), (1, 0, 0), (0.3, -1, 0), (0.6, c, -s)]
    edges = with_ridges(mesh_numbers(vertices, [(0, 1, 2), (1, 0, 3)]))
    assert edges[0] == 5 + 4
    inner = min(1.0, 4.0 * np.sin(0.5 * bend))
    assert np.sort(edges[1:6]) == pytest.approx(np.sort([inner, 1, 1, 1, 1]), abs=1e-12)
    middle = with_ridges(mesh_numbers(*ground(2)))
    assert middle[0] == 16 + 9
    assert np.sort(middle[1:17]).tolist() == 8 * [0.0] + 8 * [1.0]
    assert np.sort(middle[17:26]).tolist() == [0.0] + 8 * [1.0]


def test_mesh_vertices_have_the_stiffness_fractions_of_their_faces():
    """A third for each vertex of a triangle, a quarter for one of a rectangle; averaged by area if faces meet."""
    features = MeshShape((WEDGE, FACES), mass=1.0).solid.features("it", 0.0)
    assert len(features.points) == 6
    assert np.all((features.shares > 0.25) & (features.shares < 1 / 3))
    box = Box(1, 2, 3, mass=1)
    features = MeshShape((box.vertices, box.faces), mass=1.0).solid.features("it", 0.0)
    assert features.shares == pytest.approx(np.full(8, 0.25))
    assert features.half == pytest.approx(0.5)
    assert shares_of(ConvexHull(SIGNS)) == pytest.approx(np.full(8, 0.25))


def test_a_rounded_shape_keeps_its_size():
    """The lowest point is as low as that of the sharp shape if a face is down."""
    box = Cuboid(np.array([1.0, 2.0, 3.0])).features("it", 0.1)
    assert np.abs(box.points).max(axis=0) + 0.1 == pytest.approx([0.5, 1.0, 1.5])
    cone = Revolved(np.array([0.0, 3.0, 0.0]), np.array([0.0, 4.0, 4.0])).features("it", 0.5)
    # inside of the lines of the cone by 0.5: the apex by 0.5/sin(half) along the axis
    assert cone.points == pytest.approx(np.array([[0.0, 0.0, 0.5 * 5 / 3]]))
    side = np.array([4.0, -3.0]) / 5
    assert cone.circles[0, [6, 2]] @ side == pytest.approx(-0.5)
    assert cone.circles[0, 2] == pytest.approx(3.5)


def test_a_result_has_all_triangles_of_a_mesh():
    model = Model("hills")
    vertices, triangles = ground(24, lambda x, y: 0.03 * np.sin(9 * x) * np.cos(7 * y))
    hills = model.add_mesh("hills", model.ground.at((0, 0, 0)), vertices=vertices, triangles=triangles)
    model.add_contact("c", add(model, "sphere", "ball", (0, 0, 1.0)), hills, 1e4)
    result = simulate(model, 1e-3, 1e-3, progress=False)
    surfaces = {name: geometry for name, *geometry in meshes(result.layout)}
    frame, vertices, triangles = surfaces["hills"]
    assert (frame, len(vertices), len(triangles)) == (0, 625, 1152)
