"""Write the VTKHDF part of a result file: a moving PolyData that ParaView 5.12 and later can open.

Format: VTK's file format documentation, "VTKHDF File Format", PolyData with temporal data (version 2). The
topology is stored once. The offsets of every step into the topology are zero; the offsets into points and point arrays
advance by n_points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rodsim.results.drawing import Drawing
from rodsim.results.storage import Series

if TYPE_CHECKING:
    import h5py

ROOT = "VTKHDF"
VALUES = f"{ROOT}/Steps/Values"
VERSION = (2, 0)


def series(drawing: Drawing) -> list[Series]:
    """Return the datasets to which every output adds rows."""
    n = drawing.n_points
    arrays = [
        Series(f"{ROOT}/PointData/{name}", (n, components), np.float32, flat=True)
        for name, components in drawing.point_arrays.items()
    ]
    # single precision suffices for drawing: exact positions are in the `rodsim` group
    points = Series(f"{ROOT}/Points", (n, 3), np.float32, flat=True)
    return [points, *arrays, Series(VALUES, (), np.float64)]


def create(file: h5py.File, drawing: Drawing, n: int) -> None:
    """Write everything but the datasets of `series`, for n outputs: topology, arrays that stay, offsets of the steps."""
    import h5py

    root = file.create_group(ROOT)
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
    _steps(root.create_group("Steps"), drawing, n)


def _cells(root: h5py.Group, kind: str, sizes: list[int], points: NDArray[np.int64]) -> None:
    """Write cells of one kind: `sizes`, numbers of points of the cells; `points`, their point indices one after another."""
    group = root.create_group(kind)
    group["NumberOfCells"] = np.array([len(sizes)], dtype=np.int64)
    group["NumberOfConnectivityIds"] = np.array([len(points)], dtype=np.int64)
    # 32 bits need half the space of 64; VTK accepts both
    group["Offsets"] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    group["Connectivity"] = points.astype(np.int32)


def _steps(steps: h5py.Group, drawing: Drawing, n: int) -> None:
    """Write the offsets of n steps into points, cells and arrays."""
    steps.attrs["NSteps"] = np.int64(n)
    none = np.zeros(n, np.int64)
    steps["PointOffsets"] = drawing.n_points * np.arange(n, dtype=np.int64)
    steps["PartOffsets"], steps["NumberOfParts"] = none, none + 1
    steps["CellOffsets"] = np.zeros((n, 4), np.int64)  # vertices, lines, polygons, strips
    # equal numbers share one dataset: hard links instead of copies
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
        steps.create_group("FieldDataSizes")["object_names"] = np.tile([1, len(drawing.names)], (n, 1))
