"""An XDMF time series whose points move and whose cells are lines and triangles, on top of meshio's writer.

meshio's own series keeps the points of the first output, refuses lines beside triangles and puts the `.h5`
into the working folder; those three things are replaced here. Its reader reads the result; it takes the
points from the first output, those of later ones are there plus `displacement`.
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
from rodsim.results.patient_file import PatientFile

POLYLINE, TRIANGLE = 2, 4  # XDMF's numbers of cell types


class MovingMeshWriter(meshio.xdmf.TimeSeriesWriter):
    """Writes `path`, and `numbers_file` that will be called `numbers` when it is complete."""

    def __init__(self, path: Path, numbers: Path, numbers_file: Path) -> None:
        super().__init__(path)
        self.h5_filename = numbers
        self._numbers_file = numbers_file

    def __enter__(self) -> MovingMeshWriter:
        self._numbers = PatientFile(self._numbers_file)
        self.h5_file = h5py.File(self._numbers, "w")
        return self

    def __exit__(self, *exception: Any) -> None:
        try:
            super().__exit__(*exception)
        finally:
            self.h5_file.close()  # before what it writes to; the text may have failed first
            self._numbers.close()

    def cells(self, cells: Sequence[tuple[str, NDArray[np.int64]]], grid: ElementTree.Element) -> None:
        """Mixed topology: (2, 2, a, b) for a line, (4, a, b, c) for a triangle."""
        heads = {"line": [POLYLINE, 2], "triangle": [TRIANGLE]}
        rows = [
            np.concatenate([np.tile(heads[kind], (len(nodes), 1)), nodes], axis=1).ravel()
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
        """One output at time t (s): its own points, the cells of `write_points_cells`."""
        grid = ElementTree.SubElement(self.collection, "Grid", Name=f"t = {t!r}", GridType="Uniform")
        same = f'xpointer(//Grid[@Name="{self.mesh_name}"]/*[self::Topology])'
        ElementTree.SubElement(grid, "{http://www.w3.org/2003/XInclude}include", xpointer=same)
        self.points(grid, points)
        ElementTree.SubElement(grid, "Time", Value=repr(t))
        self.point_data(point_data, grid)
        self.cell_data(cell_data, grid)
        self._numbers.check()
