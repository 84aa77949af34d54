"""VTK's reader finds all times, points, cells and arrays written to the file."""

import numpy as np
import pytest
from vtkmodules.util.numpy_support import vtk_to_numpy

from rigid.inertia import Capsule, Cone, Cylinder, Sphere
from rigid.quaternions import rotate, to_matrix
from rigid.system import State
from rodsim import Box, Material, Model, Section, simulate
from rodsim.results import ResultWriter
from rodsim.results.drawing import ROD_ARRAYS, Drawing
from rodsim.results.layout import BodyLayout, Layout
from rodsim.signals import Sine
from tests.support.results_sample import BOX_FACES, N_OPEN, N_RING, sample_layout, sample_output
from tests.support.results_vtkhdf import vtk_steps


@pytest.fixture(scope="module")
def written_steps(tmp_path_factory):
    layout, path = sample_layout(), tmp_path_factory.mktemp("vtk") / "a.vtkhdf"
    with ResultWriter.create(path, layout, 9) as writer:
        for i in range(6):
            writer.append(*sample_output(layout, i))
    return layout, vtk_steps(path)


def test_vtk_reads_every_time(written_steps):
    layout, steps = written_steps
    assert [t for t, _ in steps] == [sample_output(layout, i)[0] for i in range(6)]


def arrays_of(data):
    """Point arrays of a block by name."""
    point_data = data.GetPointData()
    names = [point_data.GetArrayName(k) for k in range(point_data.GetNumberOfArrays())]
    return {name: vtk_to_numpy(point_data.GetArray(name)) for name in names}


def parts_of(values):
    """Split an array on all points of the sample among its blocks."""
    return dict(zip(("whip", "ring", "box"), np.split(values, [N_OPEN, N_OPEN + N_RING]), strict=True))


def test_vtk_reads_every_point_and_array_of_every_part(written_steps):
    layout, steps = written_steps
    drawing = Drawing(layout)
    start = parts_of(drawing.points(sample_output(layout, 0)[2]))
    for i, (_, blocks) in enumerate(steps):
        assert list(blocks) == ["whip", "ring", "box"]
        _, _, state, strains, stresses, _ = sample_output(layout, i)
        points, arrays = drawing.arrays(state, strains, stresses)
        for name, place in parts_of(points).items():
            assert np.array_equal(vtk_to_numpy(blocks[name].GetPoints().GetData()), place.astype(np.float32))
            stored = arrays_of(blocks[name])
            expected = {array: parts_of(values)[name] for array, values in arrays.items()}
            static = {array: parts_of(values)[name] for array, values in drawing.static_points.items()}
            if name == "box":
                expected = {array: x for array, x in expected.items() if array not in ROD_ARRAYS}
                static = {"object": static["object"]}
            assert set(stored) == {*expected, *static, "displacement"}
            for array, values in (expected | static).items():
                assert np.array_equal(stored[array], values), array
            moved = place - start[name]
            np.testing.assert_allclose(stored["displacement"], moved, rtol=1e-6, atol=1e-7)


def test_vtk_reads_rods_as_lines_and_bodies_as_polygons(written_steps):
    for _, blocks in written_steps[1]:
        counts = {
            k: (x.GetNumberOfLines(), x.GetNumberOfPolys(), x.GetNumberOfVerts()) for k, x in blocks.items()
        }
        assert counts == {"whip": (1, 0, 0), "ring": (1, 0, 0), "box": (0, 12, 0)}
        lines = {k: vtk_to_numpy(blocks[k].GetLines().GetConnectivityArray()) for k in ("whip", "ring")}
        assert np.array_equal(lines["whip"], range(N_OPEN))
        assert np.array_equal(lines["ring"], [*range(N_RING), 0])
        faces = vtk_to_numpy(blocks["box"].GetPolys().GetConnectivityArray()).reshape(-1, 3)
        assert np.array_equal(faces, BOX_FACES)


def test_single_output_is_read(tmp_path):
    layout = sample_layout()
    with ResultWriter.create(tmp_path / "a.vtkhdf", layout, 3) as writer:
        writer.append(*sample_output(layout, 0))
    ((_, blocks),) = vtk_steps(tmp_path / "a.vtkhdf")
    points = parts_of(Drawing(layout).points(sample_output(layout, 0)[2]))
    for name, place in points.items():
        assert np.array_equal(vtk_to_numpy(blocks[name].GetPoints().GetData()), place.astype(np.float32))


PUSH = Sine(5.0, 0.5)


def pendulum():
    """A bar on a driven frame, with a follower force at its end and a hinge away from its centre."""
    model = Model("pendulum", gravity=(0, 0, -9.81))
    bar = model.add_body("bar/1", Box(1.0, 0.1, 0.1, mass=2.0), position=(0.5, 0, 0))
    model.add_body("Steps", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 3, 0))
    model.add_body("bar|1", Box(0.1, 0.1, 0.1, mass=1.0), position=(0, 5, 0))
    model.add_joint("hinge", "revolute", model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0))
    model.add_force("push", bar.at((0.5, 0, 0)), PUSH.along((0, 0, 1)))
    model.add_force("unknown", bar, lambda t: (0, 0, 1e-6 * t))  # a function, which a file does not store
    model.add_force("jet", bar.at((0.2, 0, 0)), (0, 0, 3.0), following=True)
    model.add_moment("twist", bar, (0, 1.0, 0))
    return model


def test_joints_and_loads_are_points_with_their_forces(tmp_path):
    path = tmp_path / "a.vtkhdf"
    result = simulate(pendulum(), 0.2, 0.01, output=path)
    hinge, bar = result.joint("hinge"), result.body("bar/1")
    axes = to_matrix(bar.quat)
    for k, (t, blocks) in enumerate(vtk_steps(path)):
        assert list(blocks) == ["bar|1", "Steps (2)", "bar|1 (2)", "joints", "loads"]
        joints, loads = arrays_of(blocks["joints"]), arrays_of(blocks["loads"])
        assert blocks["joints"].GetNumberOfVerts() == 1
        np.testing.assert_allclose(joints["force"], hinge.force[k : k + 1], rtol=1e-6)
        np.testing.assert_allclose(joints["moment"], hinge.moment[k : k + 1], rtol=1e-6, atol=1e-6)
        at = vtk_to_numpy(blocks["joints"].GetPoints().GetData())
        np.testing.assert_allclose(at, [bar.r[k] - 0.5 * axes[k, :, 0]], atol=1e-6)
        np.testing.assert_allclose(
            loads["force"], [(0, 0, float(PUSH(np.array([t]))[0])), 3 * axes[k, :, 2], (0, 0, 0)], atol=1e-6
        )
        np.testing.assert_allclose(loads["moment"], [(0, 0, 0), (0, 0, 0), (0, 1, 0)], atol=1e-6)
        at = vtk_to_numpy(blocks["loads"].GetPoints().GetData())
        on_bar = [bar.r[k] + x * axes[k, :, 0] for x in (0.5, 0.2, 0.0)]
        np.testing.assert_allclose(at, on_bar, atol=1e-6)


def test_many_parts_are_stored_in_two_blocks(tmp_path):
    model = Model("crowd")
    for k in range(60):
        model.add_body(f"b{k}", Box(0.1, 0.1, 0.1, mass=1.0), position=(k, 0, 0))
    simulate(model, 0.01, 0.01, output=tmp_path / "a.vtkhdf")
    for _, blocks in vtk_steps(tmp_path / "a.vtkhdf"):
        assert list(blocks) == ["bodies"]
        data = blocks["bodies"]
        assert (data.GetNumberOfPolys(), data.GetNumberOfPoints()) == (60 * 12, 60 * 8)
        points = vtk_to_numpy(data.GetPoints().GetData()).reshape(60, 8, 3)
        np.testing.assert_allclose(points.mean(axis=1)[:, 0], range(60), atol=1e-6)
        assert np.array_equal(arrays_of(data)["object"], np.repeat(range(60), 8))


@pytest.mark.parametrize(
    "shape", [Sphere(1, mass=1), Cylinder(1, 2, mass=1), Cone(1, 2, mass=1), Capsule(1, 2, mass=1)]
)
@pytest.mark.parametrize("with_rods", [True, False])
def test_a_round_body_costs_at_most_8_kB_an_output(tmp_path, shape, with_rods):
    """Size of the file with n more bodies, compared with none; each body also has its frame."""
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


def test_node_stresses_are_interpolated_from_element_midpoints():
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


def test_documented_tube_filter_gives_the_rod_surface(tmp_path):
    """With the array `radius` as absolute radius: the distance of every vertex from its rod."""
    from vtkmodules.vtkFiltersCore import vtkAppendPolyData, vtkTubeFilter

    model = Model("m")
    rubber = Material(E=1e7, nu=0.4, density=1000)
    model.add_rod("thin", [(0, 0, 0), (1, 0, 0)], Section.circular(0.01, rubber), 4)
    model.add_rod("thick", [(0, 1, 0), (1, 1, 0)], lambda s: Section.circular(0.05 * (1.0 + s), rubber), 40)
    model.add_body("box", Box(0.1, 0.1, 0.1, mass=1), (0, 0, 1))
    simulate(model, 0.01, 0.01, output=tmp_path / "a.vtkhdf")
    (_, blocks), *_ = vtk_steps(tmp_path / "a.vtkhdf")
    both = vtkAppendPolyData()
    for name in ("thin", "thick"):
        both.AddInputData(blocks[name])
    tubes = vtkTubeFilter()
    tubes.SetInputConnection(both.GetOutputPort())
    tubes.SetInputArrayToProcess(0, 0, 0, 0, "radius")
    tubes.SetVaryRadiusToVaryRadiusByAbsoluteScalar()
    tubes.SetNumberOfSides(16)
    tubes.Update()
    points = vtk_to_numpy(tubes.GetOutput().GetPoints().GetData())
    for y, radius in ((0.0, lambda x: 0.01 + 0 * x), (1.0, lambda x: 0.05 * (1.0 + x))):
        of_rod = points[np.abs(points[:, 1] - y) < 0.3]
        distance = np.hypot(of_rod[:, 1] - y, of_rod[:, 2])
        # in a file a node has the larger radius of its elements, which have that of their midpoints
        assert np.abs(distance - radius(of_rod[:, 0])).max() < 1e-3
