"""A result in other formats: `.pvd` with a `.vtp` or `.vtu` for every output, and XDMF.

For ParaView before 5.12 and for programs that do not know VTKHDF. Arrays are those of
`rodsim.results.drawing`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np

from rigid.checks import count, shown
from rodsim.results.drawing import Drawing
from rodsim.results.errors import ResultError, check_result, checked_path
from rodsim.results.whole_file import check_target, whole_file, whole_folder

if TYPE_CHECKING:
    import pyvista

    from rodsim.results.result import Result

FORMATS = {
    "pvd": "a .pvd file and a .vtp (poly-data) for every output",
    "vtu": "a .pvd file and a .vtu (unstructured grid) for every output",
    "xdmf": "one .xdmf file with an .h5 beside it",
}


def export(
    result: Result,
    path: Path | str,
    format: str | None = None,
    every: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Write every `every`-th output of `result`, and its last, in another format.

    Parameters
    ----------
    path : the `.pvd` or `.xdmf` file; files of single outputs go into a folder of that name beside it
    format : 'pvd', 'vtu' or 'xdmf'; default: after the ending of `path`
    progress : called with (outputs done, outputs in all)

    Returns
    -------
    The files written, `path` first.

    Raises
    ------
    ModelError, ResultError: unknown format, an empty result, nothing to draw.
    FileNotFoundError: the folder of `path` does not exist.
    """
    check_result("export", result)
    path = checked_path("export", path)
    format = format or path.suffix.lstrip(".").lower()
    if not isinstance(format, str) or format not in FORMATS:
        known = "; ".join(f"'{name}': {what}" for name, what in FORMATS.items())
        raise ResultError(f"export to '{path}': no format {shown(format)}; give one of {known}")
    every = count(f"export to '{path}'", "every", every)
    check_target(path.with_suffix(".xdmf" if format == "xdmf" else ".pvd"), result.path)
    drawing = Drawing(result.layout)
    if drawing.n_points == 0:
        raise ResultError(f"export to '{path}': model '{result.layout.name}' has no rods and no surfaces")
    chosen = chosen_outputs(result.n_outputs, every)
    if format == "xdmf":
        return _xdmf(result, drawing, path.with_suffix(".xdmf"), chosen, progress)
    suffix = "vtu" if format == "vtu" else "vtp"
    return _series(result, drawing, path.with_suffix(".pvd"), suffix, chosen, progress)


def chosen_outputs(n_outputs: int, every: int) -> list[int]:
    """Every `every`-th output from the first on, and the last."""
    return sorted({*range(0, n_outputs, every), n_outputs - 1})


def polydata(result: Result, drawing: Drawing, index: int) -> pyvista.PolyData:
    """One output as poly-data with all arrays; static ones too."""
    import pyvista

    points, arrays = drawing.arrays(result.state(index), result.strains(index), result.stresses(index))
    lines = [np.concatenate([[len(line)], line]) for line in drawing.lines]
    faces = np.insert(drawing.triangles, 0, 3, axis=1)
    data = pyvista.PolyData()
    data.points = points
    data.lines = np.concatenate([np.zeros(0, np.int64), *lines])
    data.faces = faces.ravel()
    for name, values in {**drawing.static_points, **arrays}.items():
        data.point_data[name] = values
    for name, numbers in drawing.cells.items():
        data.cell_data[name] = numbers
    data.field_data["object_names"] = drawing.names
    data.field_data["TimeValue"] = np.array([result.t[index]])
    return data


def _series(
    result: Result,
    drawing: Drawing,
    path: Path,
    suffix: str,
    chosen: list[int],
    progress: Callable[[int, int], None] | None,
) -> list[Path]:
    folder = path.with_suffix("")
    times = result.t
    digits = len(str(result.n_outputs - 1))
    written = []
    with whole_file(path, result.path) as file, whole_folder(folder) as working:
        for done, i in enumerate(chosen, start=1):
            data = polydata(result, drawing, i)
            name = f"{path.stem}_{i:0{digits}d}.{suffix}"
            _save(data.cast_to_unstructured_grid() if suffix == "vtu" else data, working / name)
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
    from rodsim.results.xdmf import MovingMeshWriter

    times = result.t
    # XDMF readers take lines of two points only: a rod becomes its segments
    segments = [np.stack([line[:-1], line[1:]], axis=1) for line in drawing.lines]
    of_rod = np.repeat(np.arange(len(segments)), [len(s) for s in segments])
    cells = [("line", np.concatenate(segments))] if segments else []
    n_rods = len(segments)
    cell_data = {name: [values[of_rod]] if segments else [] for name, values in drawing.cells.items()}
    if len(drawing.triangles):
        cells.append(("triangle", drawing.triangles))
        for name, values in drawing.cells.items():
            cell_data[name].append(values[n_rods:])
    start = drawing.points(result.state(0))
    numbers = path.with_suffix(".h5")
    with (
        whole_file(path, result.path) as file,
        whole_file(numbers, result.path) as numbers_file,
        MovingMeshWriter(file, numbers, numbers_file) as writer,
    ):
        writer.write_points_cells(start, cells)
        for done, i in enumerate(chosen, start=1):
            points, arrays = drawing.arrays(result.state(i), result.strains(i), result.stresses(i))
            del arrays["quaternion"]  # XDMF has no vectors of four; the directors say the same
            arrays["displacement"] = (points - start).astype(np.float32)
            writer.write_output(float(times[i]), points, {**drawing.static_points, **arrays}, cell_data)
            if progress is not None:
                progress(done, len(chosen))
    return [path, numbers]


def _save(data: pyvista.DataSet, path: Path) -> None:
    """As `data.save`, but for the writing: where the disk is full VTK reports no error, or ends the process."""
    from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter, vtkXMLUnstructuredGridWriter

    writer = vtkXMLUnstructuredGridWriter() if path.suffix == ".vtu" else vtkXMLPolyDataWriter()
    writer.SetInputData(data)
    writer.SetDataModeToBinary()
    writer.WriteToOutputStringOn()
    writer.Write()
    path.write_text(writer.GetOutputString(), encoding="utf-8")
