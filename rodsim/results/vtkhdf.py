"""Write the VTKHDF part of a result file: moving blocks, one for each part, which ParaView 5.13 and later can open.

Format: VTK's file format documentation, "VTKHDF File Format", MultiBlockDataSet of PolyData with temporal data (version 2.1).
The topology of a block is stored once. The offsets of every step into the topology are zero; the offsets into points and point
arrays advance by the number of points.

Rods and bodies are blocks with their names; models with more than `MOST_BLOCKS` of them have the blocks "rods" and "bodies". The
block "joints" has the points of the joints with the force and moment on part b, the block "loads" the points at which known
loads act with their force and moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rigid.system import Ints
from rodsim.results.drawing import ROD_ARRAYS, Drawing, Part
from rodsim.results.storage import Series

if TYPE_CHECKING:
    import h5py

ROOT = "VTKHDF"
VERSION = (2, 1)
MOST_BLOCKS = 50
VECTOR_BLOCKS = JOINTS, LOADS = "joints", "loads"
VECTORS = {"force": 3, "moment": 3}  # arrays of the blocks of joints and loads, N and N m, inertial axes
DISPLACEMENT = "displacement"  # m, since the first output
VALUES = f"{ROOT}/Steps/Values"
_RESERVED = ("Steps", "Assembly", JOINTS, LOADS)


class Block(NamedTuple):
    """A block of the picture: n points, with the numbers of those that its cells join."""

    name: str
    points: Ints  # (n,) numbers of its points in the drawing; empty for blocks of vectors
    lines: list[Ints]
    triangles: Ints  # (t, 3)
    arrays: dict[str, int]  # arrays on points that change, with the number of their components
    static: dict[str, NDArray[Any]]  # arrays on points that do not change
    n: int

    def path(self, *names: str) -> str:
        """Return the path of a group or dataset of the block in the file."""
        return "/".join((ROOT, self.name, *names))

    @property
    def series(self) -> list[Series]:
        """Datasets to which every output adds rows, in single precision: exact numbers are in the `rodsim` group."""
        points = Series(self.path("Points"), (self.n, 3), np.float32, flat=True)
        return [
            points,
            *(
                Series(self.path("PointData", name), (self.n, size), np.float32, flat=True)
                for name, size in self.arrays.items()
            ),
        ]


def vectors_at(name: str, n: int) -> Block:
    """Return a block of n points with a force and a moment each."""
    none = np.zeros(0, np.int64)
    return Block(name, none, [], none.reshape(0, 3), VECTORS, {}, n)


def blocks_of(drawing: Drawing) -> list[Block]:
    """Return the blocks of a drawing: one for each part, or of many parts one for all rods and one for all bodies."""
    n_rods = len(drawing.layout.rods)
    rods, bodies = drawing.parts[:n_rods], drawing.parts[n_rods:]
    if len(drawing.parts) > MOST_BLOCKS:
        groups = [("rods", rods), ("bodies", bodies)]
    else:
        groups = [(part.name, [part]) for part in drawing.parts]
    groups = [(name, parts) for name, parts in groups if parts]
    names = unique_names([name for name, _ in groups])
    return [_block(name, parts, drawing) for name, (_, parts) in zip(names, groups, strict=True)]


def unique_names(names: list[str]) -> list[str]:
    """Return names that HDF5 and VTK accept and that differ: ASCII, without slashes and dots."""
    accepted: list[str] = []
    for name in names:
        plain = (
            name.encode("ascii", "backslashreplace").decode().replace("/", "|").replace(".", "_").strip()
            or "part"
        )
        candidate, k = plain, 2
        while candidate in accepted or candidate in _RESERVED:
            candidate, k = f"{plain} ({k})", k + 1
        accepted.append(candidate)
    return accepted


def _block(name: str, parts: list[Part], drawing: Drawing) -> Block:
    """Return the block of some parts, all of them rods or none."""
    points = np.concatenate([part.first + np.arange(part.n) for part in parts])
    starts = np.cumsum([0, *(part.n for part in parts)])
    lines = [part.line + start for part, start in zip(parts, starts, strict=False) if len(part.line)]
    triangles = [part.triangles + start for part, start in zip(parts, starts, strict=False)]
    is_rod = parts[0].first < drawing.n_rod_points
    arrays = {k: size for k, size in drawing.point_arrays.items() if is_rod or k not in ROD_ARRAYS}
    static = {k: values[points] for k, values in drawing.static_points.items() if is_rod or k == "object"}
    return Block(
        name, points, lines, np.concatenate(triangles), {**arrays, DISPLACEMENT: 3}, static, len(points)
    )


def create(file: h5py.File, blocks: list[Block], times: NDArray[Any]) -> None:
    """Write everything but the datasets of `Block.series`: topology, constant arrays, offsets of the steps."""
    import h5py

    root = file.create_group(ROOT, track_order=True)
    root.attrs["Version"] = np.array(VERSION, dtype=np.int64)
    _kind(root, b"MultiBlockDataSet")
    steps = root.create_group("Steps")
    steps.attrs["NSteps"] = np.int64(len(times))
    steps["Values"] = times
    for i, block in enumerate(blocks):
        group = root.create_group(block.name)
        group.attrs["Index"] = np.int64(i)
        group.attrs["Version"] = np.array(VERSION, dtype=np.int64)
        _kind(group, b"PolyData")
        group["NumberOfPoints"] = np.array([block.n], dtype=np.int64)
        vertices = [] if len(block.points) else [np.array([k]) for k in range(block.n)]
        for kind, cells in (
            ("Vertices", vertices),
            ("Lines", block.lines),
            ("Polygons", list(block.triangles)),
            ("Strips", []),
        ):
            _cells(group, kind, cells)
        data = group.create_group("PointData")
        for name, values in block.static.items():
            data[name] = values
        group.create_group("CellData")
        group.create_group("FieldData")
        _steps(group.create_group("Steps"), block, steps["Values"])
    assembly = root.create_group("Assembly", track_order=True)
    for block in blocks:
        assembly[block.name] = h5py.SoftLink(f"/{ROOT}/{block.name}")


def _kind(group: h5py.Group, kind: bytes) -> None:
    """Write the kind of data of a group; readers compare a fixed-length ASCII string."""
    import h5py

    group.attrs.create("Type", kind, dtype=h5py.string_dtype("ascii", len(kind)))


def _cells(root: h5py.Group, kind: str, cells: list[Ints]) -> None:
    """Write cells of one kind, each given by the numbers of its points."""
    group = root.create_group(kind)
    points = np.concatenate([np.zeros(0, np.int64), *cells])
    group["NumberOfCells"] = np.array([len(cells)], dtype=np.int64)
    group["NumberOfConnectivityIds"] = np.array([len(points)], dtype=np.int64)
    # 32 bits need half the space of 64; VTK accepts both
    group["Offsets"] = np.cumsum([0, *map(len, cells)]).astype(np.int32)
    group["Connectivity"] = points.astype(np.int32)


def _steps(steps: h5py.Group, block: Block, times: h5py.Dataset) -> None:
    """Write the offsets of the steps into points, cells and arrays of a block."""
    n = len(times)
    steps.attrs["NSteps"] = np.int64(n)
    steps["Values"] = times  # a hard link: equal numbers share one dataset
    steps["PointOffsets"] = block.n * np.arange(n, dtype=np.int64)
    steps["PartOffsets"] = np.zeros(n, np.int64)
    steps["NumberOfParts"] = np.ones(n, np.int64)
    steps["CellOffsets"] = np.zeros((n, 4), np.int64)  # vertices, lines, polygons, strips
    steps["ConnectivityIdOffsets"] = steps["CellOffsets"]
    offsets = steps.create_group("PointDataOffsets")
    for name in block.arrays:
        offsets[name] = steps["PointOffsets"]
    for name in block.static:
        offsets[name] = steps["PartOffsets"]
    steps.create_group("CellDataOffsets")
