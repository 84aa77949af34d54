"""Exported files, read by other libraries, contain the data of the result."""

from itertools import pairwise

import meshio
import numpy as np
import pytest
import pyvista

from rodsim.results import MemoryWriter
from rodsim.results.drawing import POINT_ARRAYS, Drawing
from rodsim.results.export import export
from rodsim.results.layout import Layout
from tests.support.results_sample import BOX_FACES, N_OPEN, N_RING, sample_layout, sample_output


@pytest.fixture(scope="module")
def result():
    writer = MemoryWriter(sample_layout())
    for i in range(5):
        writer.append(*sample_output(writer.layout, i))
    return writer.result()


def drawn(result, i):
    return Drawing(result.layout).arrays(result.state(i), result.strains(i), result.stresses(i))


SEGMENTS = N_OPEN - 1 + N_RING


@pytest.mark.parametrize(("format", "n_lines"), [("pvd", 2), ("vtu", SEGMENTS)])
def test_vtk_reads_every_output_of_a_pvd_series(tmp_path, result, format, n_lines):
    export(result, tmp_path / "a b.pvd", format=format)
    reader = pyvista.get_reader(tmp_path / "a b.pvd")
    assert reader.time_values == list(result.t)
    for i, t in enumerate(result.t):
        reader.set_active_time_value(t)
        data = reader.read()[0]
        points, arrays = drawn(result, i)
        assert np.array_equal(data.points, points)
        assert data.n_cells == n_lines + 12
        static = Drawing(result.layout).static_points
        assert set(data.point_data.keys()) == {*arrays, *static}
        for name, values in {**arrays, **static}.items():
            assert np.array_equal(data.point_data[name], values), name
        assert data.field_data["TimeValue"] == t
        assert names_in(data.field_data["object_names"]) == ["whip", "ring", "box"]


def names_in(array):
    """Names of an array, or of their UTF-8 bytes, each ended by a newline."""
    if array.dtype == np.uint8:
        return array.tobytes().decode().splitlines()
    return list(array)


def test_meshio_reads_every_output_of_a_vtu_series(tmp_path, result):
    _, *files = export(result, tmp_path / "a.pvd", format="vtu")
    assert len(files) == result.n_outputs
    drawing = Drawing(result.layout)
    for i, file in enumerate(files):
        mesh = meshio.read(file)
        points, arrays = drawn(result, i)
        assert np.array_equal(mesh.points, points)
        assert set(mesh.point_data) == {*arrays, *drawing.static_points}
        for name, values in {**arrays, **drawing.static_points}.items():
            assert np.array_equal(mesh.point_data[name], values), name
        assert_cells(mesh.cells, mesh.cell_data)
        assert mesh.field_data["TimeValue"] == result.t[i]
        assert names_in(mesh.field_data["object_names"]) == ["whip", "ring", "box"]


def assert_cells(cells, cell_data):
    """Check the segments of the two rods, then the triangles of the box."""
    assert [block.type for block in cells] == ["line", "triangle"]
    ring = N_OPEN + np.arange(N_RING)
    open_rod = np.arange(N_OPEN)
    expected = [*pairwise(open_rod), *pairwise([*ring, ring[0]])]
    assert np.array_equal(cells[0].data, expected)
    assert np.array_equal(cells[1].data, np.array(BOX_FACES) + N_OPEN + N_RING)
    assert np.array_equal(cell_data["object"][0], [0] * (N_OPEN - 1) + [1] * N_RING)
    assert np.array_equal(cell_data["object"][1], 12 * [2])
    assert np.array_equal(cell_data["is_rod"][0], SEGMENTS * [1])
    assert np.array_equal(cell_data["is_rod"][1], 12 * [0])


def test_vtk_reads_every_output_of_an_xdmf_series(tmp_path, result):
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline
    from vtkmodules.vtkIOXdmf2 import vtkXdmfReader

    export(result, tmp_path / "a.xdmf")
    reader = vtkXdmfReader()
    reader.SetFileName(str(tmp_path / "a.xdmf"))
    reader.UpdateInformation()
    assert list(reader.GetOutputInformation(0).Get(Pipeline.TIME_STEPS())) == list(result.t)
    for i, t in enumerate(result.t):
        reader.UpdateTimeStep(t)
        # next to the series VTK shows the grid that provides the cells of its outputs
        blocks = pyvista.wrap(reader.GetOutputDataObject(0))
        (data,) = (block for block in blocks if block.n_arrays)
        points, arrays = drawn(result, i)
        np.testing.assert_allclose(data.points, points, atol=1e-6)
        assert data.n_cells == SEGMENTS + 12
        for name in set(arrays) - {"quaternion"}:
            assert np.array_equal(data.point_data[name], arrays[name]), name
        assert np.array_equal(data.cell_data["object"], [0] * (N_OPEN - 1) + [1] * N_RING + 12 * [2])


def test_meshio_reads_every_output_of_an_xdmf_series(tmp_path, result):
    files = export(result, tmp_path / "a.xdmf")
    assert [file.name for file in files] == ["a.xdmf", "a.h5"]
    with meshio.xdmf.TimeSeriesReader(tmp_path / "a.xdmf") as reader:
        start, cells = reader.read_points_cells()
        assert reader.num_steps == 5
        for i in range(5):
            t, point_data, cell_data = reader.read_data(i)
            points, arrays = drawn(result, i)
            assert t == result.t[i]
            np.testing.assert_allclose(start + point_data["displacement"], points, atol=1e-6)
            for name in set(POINT_ARRAYS) - {"quaternion"}:
                assert np.array_equal(point_data[name], arrays[name]), name
            assert_cells(cells, cell_data)


def test_xdmf_points_move_with_the_model(tmp_path, result):
    from xml.etree import ElementTree

    import h5py

    export(result, tmp_path / "a.xdmf")
    grids = ElementTree.parse(tmp_path / "a.xdmf").findall("Domain/Grid[@GridType='Collection']/Grid")
    with h5py.File(tmp_path / "a.h5") as file:
        for i, grid in enumerate(grids):
            name = grid.find("Geometry/DataItem").text.partition(":")[2]
            assert np.array_equal(file[name], drawn(result, i)[0])


def test_every_nth_output_and_the_last_are_exported(tmp_path, result):
    export(result, tmp_path / "a.pvd", every=3)
    assert pyvista.get_reader(tmp_path / "a.pvd").time_values == [result.t[0], result.t[3], result.t[4]]


@pytest.mark.parametrize(
    ("path", "options", "error", "message"),
    [
        ("a.obj", {}, ValueError, "no format 'obj'"),
        ("a.pvd", {"every": 0}, ValueError, "every = 0"),
        ("no/a.pvd", {}, FileNotFoundError, "no folder"),
    ],
)
def test_export_errors_name_the_remedy(tmp_path, result, path, options, error, message):
    with pytest.raises(error, match=message):
        export(result, tmp_path / path, **options)


def test_export_of_an_empty_result_is_rejected(tmp_path):
    with pytest.raises(ValueError, match="holds no output"):
        export(MemoryWriter(sample_layout()).result(), tmp_path / "a.pvd")
    writer = MemoryWriter(Layout("bare", [], [], [], n_frames=2))
    _, _, state, _, _, audit = sample_output(sample_layout(), 0)
    state = state._replace(**{name: np.zeros(shape) for name, shape in writer.layout.state_shapes().items()})
    writer.append(0.0, 0, state, np.zeros((0, 6)), np.zeros((0, 6)), audit)
    with pytest.raises(ValueError, match="'bare' has no rods"):
        export(writer.result(), tmp_path / "a.pvd")
