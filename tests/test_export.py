"""Exported files, read back by other libraries, hold what the result holds."""

import meshio
import numpy as np
import pytest
import pyvista
from results_sample import N_OPEN, N_RING, sample_layout, sample_output

from rodsim.results import MemoryWriter
from rodsim.results.drawing import POINT_ARRAYS, Drawing
from rodsim.results.export import export
from rodsim.results.layout import Layout


@pytest.fixture(scope="module")
def result():
    writer = MemoryWriter(sample_layout())
    for i in range(5):
        writer.append(*sample_output(writer.layout, i))
    return writer.result()


def drawn(result, i):
    return Drawing(result.layout).arrays(result.state(i), result.strains(i), result.stresses(i))


@pytest.mark.parametrize("format", ["pvd", "vtu"])
def test_pvd_series_holds_every_output(tmp_path, result, format):
    export(result, tmp_path / "a b.pvd", format=format)
    reader = pyvista.get_reader(tmp_path / "a b.pvd")
    assert reader.time_values == list(result.t)
    for i, t in enumerate(result.t):
        reader.set_active_time_value(t)
        data = reader.read()[0]
        points, arrays = drawn(result, i)
        assert np.array_equal(data.points, points)
        assert data.n_cells == 2 + 12
        for name in POINT_ARRAYS:
            assert np.array_equal(data.point_data[name], arrays[name]), name
        assert list(data.field_data["object_names"]) == ["whip", "ring", "box"]


def test_xdmf_series_holds_every_output(tmp_path, result):
    files = export(result, tmp_path / "a.xdmf")
    assert [file.name for file in files] == ["a.xdmf", "a.h5"]
    with meshio.xdmf.TimeSeriesReader(tmp_path / "a.xdmf") as reader:
        start, cells = reader.read_points_cells()
        assert reader.num_steps == 5
        assert [(block.type, len(block.data)) for block in cells] == [
            ("line", N_OPEN - 1 + N_RING),
            ("triangle", 12),
        ]
        for i in range(5):
            t, point_data, cell_data = reader.read_data(i)
            points, arrays = drawn(result, i)
            assert t == result.t[i]
            np.testing.assert_allclose(start + point_data["displacement"], points, atol=1e-6)
            for name in set(POINT_ARRAYS) - {"quaternion"}:
                assert np.array_equal(point_data[name], arrays[name]), name
            assert np.array_equal(cell_data["object"][0], [0] * (N_OPEN - 1) + [1] * N_RING)
            assert np.array_equal(cell_data["object"][1], 12 * [2])


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
def test_export_errors_name_the_cure(tmp_path, result, path, options, error, message):
    with pytest.raises(error, match=message):
        export(result, tmp_path / path, **options)


def test_nothing_to_export_is_said(tmp_path):
    with pytest.raises(ValueError, match="holds no output"):
        export(MemoryWriter(sample_layout()).result(), tmp_path / "a.pvd")
    writer = MemoryWriter(Layout("bare", [], [], [], n_frames=2))
    _, _, state, _, _, audit = sample_output(sample_layout(), 0)
    state = state._replace(**{name: np.zeros(shape) for name, shape in writer.layout.state_shapes().items()})
    writer.append(0.0, 0, state, np.zeros((0, 6)), np.zeros((0, 6)), audit)
    with pytest.raises(ValueError, match="'bare' has no rods"):
        export(writer.result(), tmp_path / "a.pvd")
