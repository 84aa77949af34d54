"""Export a result to other formats: `.pvd` with a `.vtp` or `.vtu` file for every output, and XDMF.

These formats are for ParaView before 5.12 and for programs that cannot read VTKHDF. The arrays are those of
`rodsim.results.drawing`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from rigid.checks import count, shown
from rigid.system import Floats, Ints
from rodsim.results.atomic_write import atomic_file, atomic_folder, check_target
from rodsim.results.drawing import Drawing
from rodsim.results.errors import ResultError, check_path
from rodsim.results.result import Result, ResultLike, opened

if TYPE_CHECKING:
    import pyvista


FORMATS = {
    "pvd": "a .pvd file and a .vtp (poly-data) for every output",
    "vtu": "a .pvd file and a .vtu (unstructured grid) for every output",
    "xdmf": "one .xdmf file with an .h5 beside it",
}


def export(
    result: ResultLike,
    path: Path | str,
    format: str | None = None,
    every: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Write outputs of a result in another format.

    Parameters
    ----------
    result : Result, Path or str
        A result, or the path of a result file.
    path : Path or str
        The .pvd or .xdmf file. Files of single outputs are written to a folder next to it, with the same name.
    format : {"pvd", "vtu", "xdmf"}, optional
        By default the suffix of `path`.
    every : int, default 1
        Write every `every`-th output, and the last.
    progress : callable, optional
        Called with (outputs written, total number of outputs).

    Returns
    -------
    list of Path
        The files written, `path` first.

    Raises
    ------
    ModelError, ResultError
        If the format is unknown, the result is empty, or there is nothing to draw.
    FileNotFoundError
        If the folder of `path` does not exist.

    Examples
    --------
    >>> from rodsim import export
    >>> len(export("run.vtkhdf", "run.pvd", every=5))
    3
    """
    result = opened("export", result)
    path = check_path("export", path)
    format = format or path.suffix.lstrip(".").lower()
    if not isinstance(format, str) or format not in FORMATS:
        known = "; ".join(f"'{name}': {what}" for name, what in FORMATS.items())
        raise ResultError(f"export to '{path}': no format {shown(format)}. Use one of {known}")
    every = count(f"export to '{path}'", "every", every)
    check_target(path.with_suffix(".xdmf" if format == "xdmf" else ".pvd"), result.path)
    drawing = Drawing(result.layout, surfaces=True)
    if drawing.n_points == 0:
        raise ResultError(f"export to '{path}': model '{result.layout.name}' has no rods and no surfaces")
    chosen = chosen_outputs(result.n_outputs, every)
    if format == "xdmf":
        return _xdmf(result, drawing, path.with_suffix(".xdmf"), chosen, progress)
    suffix = "vtu" if format == "vtu" else "vtp"
    return _series(result, drawing, path.with_suffix(".pvd"), suffix, chosen, progress)


def chosen_outputs(n_outputs: int, every: int) -> list[int]:
    """Return the indices of every `every`-th output, from the first on, and of the last."""
    return sorted({*range(0, n_outputs, every), n_outputs - 1})


def polydata(result: Result, drawing: Drawing, index: int) -> pyvista.PolyData:
    """Return one output as poly-data with all arrays, static arrays included."""
    import pyvista

    data = pyvista.PolyData()
    data.points, arrays = _arrays(result, drawing, index)
    lines = [np.concatenate([[len(line)], line]) for line in drawing.lines]
    data.lines = np.concatenate([np.zeros(0, np.int64), *lines])
    data.faces = np.insert(drawing.triangles, 0, 3, axis=1).ravel()
    _add_arrays(data, arrays, drawing.cells, drawing.names, result.t[index])
    return data


def unstructured_grid(result: Result, drawing: Drawing, index: int) -> pyvista.UnstructuredGrid:
    """Return one output as an unstructured grid that all readers of `.vtu` accept.

    meshio supports only lines of two points and no arrays of strings. A rod is therefore written as its segments, and the names
    of the objects as one array of UTF-8 bytes, with a newline after each name.
    """
    import pyvista

    points, arrays = _arrays(result, drawing, index)
    cells, cell_index = _blocks(drawing)
    data = pyvista.UnstructuredGrid({_VTK[kind]: nodes for kind, nodes in cells}, points)
    cell_data = {name: numbers[np.concatenate(cell_index)] for name, numbers in drawing.cells.items()}
    names = "".join(f"{name}\n" for name in drawing.names).encode()
    _add_arrays(data, arrays, cell_data, np.frombuffer(names, np.uint8), result.t[index])
    return data


def _add_arrays(
    data: Any, point_data: dict[str, Any], cell_data: dict[str, Any], names: Any, t: float
) -> None:
    """Add the arrays on points and cells, the names of the objects and the time, s, to a data set."""
    data.point_data.update(point_data)
    data.cell_data.update(cell_data)
    data.field_data.update({"object_names": names, "TimeValue": np.array([t])})


_VTK = {"line": 3, "triangle": 5}  # VTK numbers of cell types


def _arrays(result: Result, drawing: Drawing, index: int) -> tuple[Floats, dict[str, NDArray[Any]]]:
    """Return the points (n_points, 3), m, and all arrays on points of one output."""
    points, arrays = drawing.arrays(result.state(index), result.strains(index), result.stresses(index))
    return points, {**drawing.static_points, **arrays}


def _blocks(drawing: Drawing) -> tuple[list[tuple[str, Ints]], list[Ints]]:
    """Return the blocks of cells (segments of rods and tendons, triangles), and the cells of `drawing` they belong to."""
    segments = [np.stack([line[:-1], line[1:]], axis=1) for line in drawing.lines]
    n_lines = len(segments)
    cells, cell_index = [], []
    if segments:
        cells.append(("line", np.concatenate(segments)))
        cell_index.append(np.repeat(np.arange(n_lines), [len(s) for s in segments]))
    if len(drawing.triangles):
        cells.append(("triangle", drawing.triangles))
        cell_index.append(n_lines + np.arange(len(drawing.triangles)))
    return cells, cell_index


def _series(
    result: Result,
    drawing: Drawing,
    path: Path,
    suffix: str,
    chosen: list[int],
    progress: Callable[[int, int], None] | None,
) -> list[Path]:
    """Write a .pvd file and one file for each chosen output; return their paths."""
    folder = path.with_suffix("")
    times = result.t
    digits = len(str(result.n_outputs - 1))
    written = []
    with atomic_file(path, result.path) as file, atomic_folder(folder) as working:
        for done, i in enumerate(chosen, start=1):
            data = (unstructured_grid if suffix == "vtu" else polydata)(result, drawing, i)
            name = f"{path.stem}_{i:0{digits}d}.{suffix}"
            _save(data, working / name)
            written.append(folder / name)
            if progress is not None:
                progress(done, len(chosen))
        names = [quoteattr(file.relative_to(path.parent).as_posix()) for file in written]
        entries = "".join(
            f'    <DataSet timestep="{float(times[i])!r}" part="0" file={name}/>\n'
            for i, name in zip(chosen, names, strict=True)
        )
        file.write_text(
            '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">\n'
            f"  <Collection>\n{entries}  </Collection>\n</VTKFile>\n",
            encoding="utf-8",
        )
    return [path, *written]


def _xdmf(
    result: Result,
    drawing: Drawing,
    path: Path,
    chosen: list[int],
    progress: Callable[[int, int], None] | None,
) -> list[Path]:
    """Write an .xdmf file and its .h5 file; return their paths."""
    from rodsim.results.xdmf import MovingMeshWriter

    times = result.t
    # XDMF readers accept only lines of two points: a rod is written as its segments
    cells, cell_index = _blocks(drawing)
    cell_data = {
        name: [values[cell_rows] for cell_rows in cell_index] for name, values in drawing.cells.items()
    }
    start = drawing.points(result.state(0))
    numbers = path.with_suffix(".h5")
    with (
        atomic_file(path, result.path) as file,
        atomic_file(numbers, result.path) as numbers_file,
        MovingMeshWriter(file, numbers, numbers_file) as writer,
    ):
        writer.write_points_cells(start, cells)
        for done, i in enumerate(chosen, start=1):
            points, arrays = drawing.arrays(result.state(i), result.strains(i), result.stresses(i))
            del arrays["quaternion"]  # XDMF has no vectors of four; the directors are equivalent
            arrays["displacement"] = (points - start).astype(np.float32)
            writer.write_output(float(times[i]), points, {**drawing.static_points, **arrays}, cell_data)
            if progress is not None:
                progress(done, len(chosen))
    return [path, numbers]


def _save(data: pyvista.DataSet, path: Path) -> None:
    """Save `data` to a file, as `data.save` does, but write the file from Python.

    If the disk is full, VTK reports no error or ends the process.
    """
    from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter, vtkXMLUnstructuredGridWriter

    writer = vtkXMLUnstructuredGridWriter() if path.suffix == ".vtu" else vtkXMLPolyDataWriter()
    writer.SetInputData(data)
    writer.SetDataModeToBinary()
    writer.WriteToOutputStringOn()
    writer.Write()
    path.write_text(writer.GetOutputString(), encoding="utf-8")
