"""VTK's own reader finds in the file what was written: all times, points, cells and arrays."""

import numpy as np
import pytest
from vtkmodules.util.numpy_support import vtk_to_numpy

from rigid.inertia import Capsule, Cone, Cylinder, Sphere
from rigid.quaternions import rotate, to_matrix
from rigid.system import State
from rodsim.results import ResultWriter
from rodsim.results.drawing import CELL_ARRAYS, OF_RODS, POINT_ARRAYS, STATIC_POINT_ARRAYS, Drawing
from rodsim.results.layout import BodyLayout, Layout
from tests.support.results_sample import BOX_FACES, N_OPEN, N_RING, sample_layout, sample_output
from tests.support.results_vtkhdf import vtk_steps


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    layout, path = sample_layout(), tmp_path_factory.mktemp("vtk") / "a.vtkhdf"
    with ResultWriter.create(path, layout, 9) as writer:
        for i in range(6):
            writer.append(*sample_output(layout, i))
    return layout, vtk_steps(path)


def test_vtk_reads_every_time(written):
    layout, steps = written
    assert [t for t, _ in steps] == [sample_output(layout, i)[0] for i in range(6)]


def test_vtk_reads_every_point_and_array(written):
    layout, steps = written
    drawing = Drawing(layout)
    for i, (_, data) in enumerate(steps):
        _, _, state, strains, stresses, _ = sample_output(layout, i)
        points, arrays = drawing.arrays(state, strains, stresses)
        assert np.array_equal(vtk_to_numpy(data.GetPoints().GetData()), points.astype(np.float32))
        found = data.GetPointData()
        assert {found.GetArrayName(k) for k in range(found.GetNumberOfArrays())} == {
            *POINT_ARRAYS,
            *STATIC_POINT_ARRAYS,
        }
        for name, values in {**arrays, **drawing.static_points}.items():
            assert np.array_equal(vtk_to_numpy(found.GetArray(name)), values), name


def test_vtk_reads_rods_as_lines_and_bodies_as_polygons(written):
    for _, data in written[1]:
        assert (data.GetNumberOfLines(), data.GetNumberOfPolys(), data.GetNumberOfVerts()) == (2, 12, 0)
        lines = vtk_to_numpy(data.GetLines().GetConnectivityArray())
        ring = N_OPEN + np.arange(N_RING)
        assert np.array_equal(lines, [*range(N_OPEN), *ring, ring[0]])
        faces = vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3)
        assert np.array_equal(faces, np.array(BOX_FACES) + N_OPEN + N_RING)


def test_vtk_reads_cell_arrays_and_names(written):
    for _, data in written[1]:
        cells = data.GetCellData()
        assert {cells.GetArrayName(k) for k in range(cells.GetNumberOfArrays())} == set(CELL_ARRAYS)
        assert np.array_equal(vtk_to_numpy(cells.GetArray("object")), [0, 1] + 12 * [2])
        assert np.array_equal(vtk_to_numpy(cells.GetArray("is_rod")), [1, 1] + 12 * [0])
        names = data.GetFieldData().GetAbstractArray("object_names")
        assert [names.GetValue(k) for k in range(names.GetNumberOfValues())] == ["whip", "ring", "box"]


def test_single_output_is_read(tmp_path):
    layout = sample_layout()
    with ResultWriter.create(tmp_path / "a.vtkhdf", layout, 3) as writer:
        writer.append(*sample_output(layout, 0))
    ((_, data),) = vtk_steps(tmp_path / "a.vtkhdf")
    points = Drawing(layout).points(sample_output(layout, 0)[2])
    assert np.array_equal(vtk_to_numpy(data.GetPoints().GetData()), points.astype(np.float32))


@pytest.mark.parametrize(
    "shape", [Sphere(1, mass=1), Cylinder(1, 2, mass=1), Cone(1, 2, mass=1), Capsule(1, 2, mass=1)]
)
@pytest.mark.parametrize("with_rods", [True, False])
def test_a_round_body_costs_at_most_8_kB_an_output(tmp_path, shape, with_rods):
    """The file with n more bodies, against that with none; each body has its frame, too."""
    n, sizes = 50, []
    layout = sample_layout()
    for count in (0, n):
        frames = layout.n_frames + np.arange(count)
        bodies = [BodyLayout(f"b{i}", i, np.zeros(3), shape.vertices, shape.faces) for i in frames]
        crowd = Layout(
            "crowd",
            layout.rods if with_rods else [],
            [*layout.bodies, *bodies],
            [],
            n_frames=layout.n_frames + count,
            n_elements=layout.n_elements if with_rods else 0,
        )
        path = tmp_path / f"{count}.vtkhdf"
        with ResultWriter.create(path, crowd, 4) as writer:
            for i in range(4):
                t, step, _, strains, stresses, audit = sample_output(layout, i)
                state = crowd_state(crowd)
                of_elements = slice(None) if with_rods else slice(0)
                writer.append(t, step, state, strains[of_elements], stresses[of_elements], audit)
        sizes.append(path.stat().st_size)
    assert (sizes[1] - sizes[0]) / n / 4 < 8000


def crowd_state(layout):
    shapes = layout.state_shapes()
    state = State(**{name: np.zeros(shape) for name, shape in shapes.items()})
    state.quat[:, 0] = 1
    return state


def test_arrays_of_rods_are_left_out_where_there_are_none(tmp_path):
    layout = Layout("lone", [], sample_layout().bodies, [], n_frames=2)
    with ResultWriter.create(tmp_path / "a.vtkhdf", layout, 1) as writer:
        none = np.zeros((0, 6))
        writer.append(0.0, 0, crowd_state(layout), none, none, sample_output(sample_layout(), 0)[5])
    ((_, data),) = vtk_steps(tmp_path / "a.vtkhdf")
    found = data.GetPointData()
    names = {found.GetArrayName(k) for k in range(found.GetNumberOfArrays())}
    assert names == {*POINT_ARRAYS, *STATIC_POINT_ARRAYS} - set(OF_RODS)


def test_body_points_move_as_a_rigid_body():
    layout = sample_layout()
    _, _, state, strains, stresses, _ = sample_output(layout, 3)
    points, arrays = Drawing(layout).arrays(state, strains, stresses)
    box = layout.bodies[0]
    on_box = points[N_OPEN + N_RING :]
    np.testing.assert_allclose(on_box, state.r[1] + rotate(state.quat[1], box.vertices), atol=1e-15)
    omega = rotate(state.quat[1], state.Omega[1])
    velocity = state.v[1] + np.cross(omega, on_box - state.r[1])
    np.testing.assert_allclose(arrays["velocity"][N_OPEN + N_RING :], velocity, rtol=1e-6, atol=1e-6)


def test_node_stress_is_on_lines_through_the_middles_of_elements():
    layout = sample_layout()
    _, _, state, strains, stresses, _ = sample_output(layout, 1)
    _, arrays = Drawing(layout).arrays(state, strains, stresses)
    whip, ring = layout.rods
    N = stresses[whip.elements, :3]
    ends = 1.5 * N[[0, -1]] - 0.5 * N[[1, -2]]
    expected = np.concatenate([ends[:1], (N[1:] + N[:-1]) / 2, ends[1:]])
    np.testing.assert_allclose(arrays["N"][:N_OPEN], expected, rtol=1e-6)
    M = stresses[ring.elements, 3:]
    expected = (M + np.roll(M, 1, axis=0)) / 2  # element i joins nodes i and i + 1
    np.testing.assert_allclose(arrays["M"][N_OPEN : N_OPEN + N_RING], expected, rtol=1e-5, atol=1e-7)
    R = to_matrix(state.quat[ring.frames])
    np.testing.assert_allclose(
        arrays["moment_m"][N_OPEN : N_OPEN + N_RING],
        np.einsum("nij,nj->ni", R, expected),
        rtol=1e-5,
        atol=1e-6,
    )


def test_the_tube_filter_makes_the_surface_of_rods_as_the_how_to_says(tmp_path):
    """Of the array `radius`, taken as it is: the distance of every vertex from its rod; bodies are left out."""
    from vtkmodules.vtkFiltersCore import vtkTubeFilter

    from rodsim import Box, Material, Model, Section, simulate

    model = Model("m")
    rubber = Material(E=1e7, nu=0.4, density=1000)
    model.add_rod("thin", [(0, 0, 0), (1, 0, 0)], Section.circular(0.01, rubber), 4)
    model.add_rod("thick", [(0, 1, 0), (1, 1, 0)], lambda s: Section.circular(0.05 * (1.0 + s), rubber), 40)
    model.add_body("box", Box(0.1, 0.1, 0.1, mass=1), (0, 0, 1))
    simulate(model, 0.01, 0.01, output=tmp_path / "a.vtkhdf")
    (_, data), *_ = vtk_steps(tmp_path / "a.vtkhdf")
    tubes = vtkTubeFilter()
    tubes.SetInputData(data)
    tubes.SetInputArrayToProcess(0, 0, 0, 0, "radius")
    tubes.SetVaryRadiusToVaryRadiusByAbsoluteScalar()
    tubes.SetNumberOfSides(16)
    tubes.Update()
    found = vtk_to_numpy(tubes.GetOutput().GetPoints().GetData())
    assert found[:, 2].max() < 0.2  # not the box
    for y, radius in ((0.0, lambda x: 0.01 + 0 * x), (1.0, lambda x: 0.05 * (1.0 + x))):
        own = found[np.abs(found[:, 1] - y) < 0.3]
        away = np.hypot(own[:, 1] - y, own[:, 2])
        # in a file a node has the larger radius of its elements, which have those of their middles
        assert np.abs(away - radius(own[:, 0])).max() < 1e-3
