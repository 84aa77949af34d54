"""The VTKHDF side of a result file: a PolyData that moves, as ParaView 5.12 and later open it.

Format: VTK's file format documentation, "VTKHDF File Format", PolyData with temporal data (version 2). The
topology is stored once; the offsets of every step into it are zero, those into points and point arrays
advance by n_points. Offsets are known in advance for all outputs there is room for; only `Steps/Values` and the attribute
`NSteps` grow with the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rodsim.results.drawing import Drawing
from rodsim.results.storage import Series, create_growing

if TYPE_CHECKING:
    import h5py

ROOT = "VTKHDF"
VALUES = f"{ROOT}/Steps/Values"
VERSION = (2, 0)
BLOCK = 2**16  # rows


def series(drawing: Drawing) -> list[Series]:
    """The datasets that grow by one output."""
    n = drawing.n_points
    arrays = [
        Series(f"{ROOT}/PointData/{name}", (n, components), np.float32, flat=True)
        for name, components in drawing.point_arrays.items()
    ]
    # for the eye, as the arrays are: exact positions are in the `rodsim` group
    return [Series(f"{ROOT}/Points", (n, 3), np.float32, flat=True), *arrays]


def create_counter(file: h5py.File, capacity: int, mark: int) -> None:
    """The two places that count the outputs; NSteps is `mark`, Values has one item."""
    steps = file.create_group(f"{ROOT}/Steps")
    steps.attrs.create("NSteps", mark, dtype="<i8")
    create_growing(steps, "Values", capacity)


def create(file: h5py.File, drawing: Drawing, capacity: int) -> None:
    """What does not grow: topology, static arrays, offsets of all steps to come. After `create_counter`."""
    import h5py

    root = file[ROOT]
    root.attrs["Version"] = np.array(VERSION, dtype=np.int64)
    # readers compare a fixed-length ASCII string
    root.attrs.create("Type", b"PolyData", dtype=h5py.string_dtype("ascii", len("PolyData")))
    root["NumberOfPoints"] = np.array([drawing.n_points], dtype=np.int64)
    none = np.zeros(0, np.int64)
    _cells(root, "Vertices", [], none)
    _cells(root, "Lines", [len(line) for line in drawing.lines], np.concatenate([none, *drawing.lines]))
    _cells(root, "Polygons", [3] * len(drawing.triangles), drawing.triangles.ravel())
    _cells(root, "Strips", [], none)
    point_data, cell_data, field_data = (
        root.require_group(n) for n in ("PointData", "CellData", "FieldData")
    )
    for name, values in drawing.static_points.items():
        point_data[name] = values
    for name, numbers in drawing.cells.items():
        cell_data[name] = numbers
    if drawing.names:
        # VTK reads strings of variable length in ASCII only
        names = [name.encode("ascii", "backslashreplace").decode() for name in drawing.names]
        field_data.create_dataset("object_names", data=names, dtype=h5py.string_dtype("ascii"))
    _steps(root["Steps"], drawing, capacity)


def _cells(root: h5py.Group, kind: str, sizes: list[int], points: NDArray[np.int64]) -> None:
    group = root.create_group(kind)
    group["NumberOfCells"] = np.array([len(sizes)], dtype=np.int64)
    group["NumberOfConnectivityIds"] = np.array([len(points)], dtype=np.int64)
    # half the room of 64 bits; VTK takes both
    group["Offsets"] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    group["Connectivity"] = points.astype(np.int32)


def _steps(steps: h5py.Group, drawing: Drawing, capacity: int) -> None:
    _numbers(steps, "PointOffsets", capacity, slope=drawing.n_points)
    _numbers(steps, "PartOffsets", capacity)
    _numbers(steps, "NumberOfParts", capacity, 1)
    _numbers(steps, "CellOffsets", capacity, (0, 0, 0, 0))  # vertices, lines, polygons, strips
    # the same numbers again and again: a second name for the dataset instead of a second dataset
    steps["ConnectivityIdOffsets"] = steps["CellOffsets"]
    of_points, of_cells = steps.create_group("PointDataOffsets"), steps.create_group("CellDataOffsets")
    for name in drawing.point_arrays:
        of_points[name] = steps["PointOffsets"]
    for name in drawing.static_points:
        of_points[name] = steps["PartOffsets"]
    for name in drawing.cells:
        of_cells[name] = steps["PartOffsets"]
    if drawing.names:
        steps.create_group("FieldDataOffsets")["object_names"] = steps["PartOffsets"]
        _numbers(steps.create_group("FieldDataSizes"), "object_names", capacity, (1, len(drawing.names)))


def _numbers(group: h5py.Group, name: str, capacity: int, row: ArrayLike = 0, slope: int = 0) -> None:
    """A dataset of int64 with `row` + k `slope` in row k, written a block at a time."""
    row = np.asarray(row, dtype=np.int64)
    dataset = group.create_dataset(name, (capacity, *row.shape), dtype=np.int64)
    for start in range(0, capacity, BLOCK):
        k = np.arange(start, min(start + BLOCK, capacity), dtype=np.int64)
        dataset[start : start + len(k)] = row + slope * k.reshape(-1, *row.ndim * [1])
