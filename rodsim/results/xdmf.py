"""Write an XDMF time series with moving points and cells that are lines and triangles, based on meshio's writer.

meshio's own time series has the points of the first output only, does not accept lines together with triangles, and writes
the `.h5` file to the working folder. These three things are replaced here. meshio's reader can read the result: it takes the
points from the first output, to which `displacement` is added for later outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import h5py
import meshio
import numpy as np
from numpy.typing import NDArray

from rigid.system import Floats
from rodsim.results.deferred_error_file import DeferredErrorFile

POLYLINE, TRIANGLE = 2, 4  # XDMF cell type numbers


class MovingMeshWriter(meshio.xdmf.TimeSeriesWriter):
    """Write the XDMF text to `path` and its arrays to `numbers_file`, which is later renamed to `numbers`."""

    def __init__(self, path: Path, numbers: Path, numbers_file: Path) -> None:
        super().__init__(path)
        self.h5_filename = numbers
        self._numbers_file = numbers_file

    def __enter__(self) -> MovingMeshWriter:
        self._numbers = DeferredErrorFile(self._numbers_file)
        self.h5_file = h5py.File(self._numbers, "w")
        return self

    def __exit__(self, *exception: Any) -> None:
        try:
            super().__exit__(*exception)
        finally:
            self.h5_file.close()  # before the file it writes to; writing the text may have failed
            self._numbers.close()

    def cells(self, cells: Sequence[tuple[str, NDArray[np.int64]]], grid: ElementTree.Element) -> None:
        """Write a mixed topology: (2, 2, a, b) for a line, (4, a, b, c) for a triangle."""
        cell_headers = {"line": [POLYLINE, 2], "triangle": [TRIANGLE]}
        rows = [
            np.concatenate([np.tile(cell_headers[kind], (len(nodes), 1)), nodes], axis=1).ravel()
            for kind, nodes in cells
        ]
        n_cells = sum(len(nodes) for _, nodes in cells)
        topology = ElementTree.SubElement(
            grid, "Topology", TopologyType="Mixed", NumberOfElements=str(n_cells)
        )
        data = np.concatenate([np.zeros(0, np.int64), *rows])
        item = ElementTree.SubElement(
            topology, "DataItem", DataType="Int", Dimensions=str(len(data)), Format="HDF", Precision="8"
        )
        item.text = self.numpy_to_xml_string(data)

    def write_output(
        self,
        t: float,
        points: Floats,
        point_data: Mapping[str, NDArray[Any]],
        cell_data: Mapping[str, list[NDArray[Any]]],
    ) -> None:
        """Write one output at time t (s): its points, with the cells of `write_points_cells`."""
        grid = ElementTree.SubElement(self.collection, "Grid", Name=f"t = {t!r}", GridType="Uniform")
        same = f'xpointer(//Grid[@Name="{self.mesh_name}"]/*[self::Topology])'
        ElementTree.SubElement(grid, "{http://www.w3.org/2003/XInclude}include", xpointer=same)
        self.points(grid, points)
        ElementTree.SubElement(grid, "Time", Value=repr(t))
        self.point_data(point_data, grid)
        self.cell_data(cell_data, grid)
        self._numbers.check()
