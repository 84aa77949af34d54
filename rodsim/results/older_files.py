"""Read files of format 1, which store the internal variables of a state in four arrays by name instead of in `own`.

Files of versions before `along_rods` have, for drawing, at a node the mean of two elements, and at an end of a rod the value of
one element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discretization import own_variables
from discretization.memory import WIDTH
from rodsim.results.layout import Layout
from rodsim.results.storage import Series

if TYPE_CHECKING:
    import h5py

FORMAT = 1
LINES = "lines_along_rods"  # name of the attribute set by `mark_lines`
# widths of the blocks of internal variables and of the rows that `em-d` stores
WIDTHS = {**own_variables.WIDTHS, "memory": WIDTH}


def is_older(root: h5py.Group) -> bool:
    """Return True if the `rodsim` group has format 1."""
    return bool(root.attrs["format"] == FORMAT)


def own_series(prefix: str, layout: Layout) -> list[Series]:
    """Return the series of the blocks of internal variables; blocks without rows have none, except angles."""
    return [
        Series(f"{prefix}/{name}", (rows,) if width == 1 else (rows, width), np.float64)
        for (name, width), rows in zip(WIDTHS.items(), (*layout.own, layout.n_memory), strict=True)
        if rows or name == "angle"
    ]


def read_own(root: h5py.Group, outputs: Any) -> NDArray[np.float64]:
    """Return the array `own` (..., size) of some outputs, an int or a slice.

    Blocks are stored one after another, row by row; the rows that `em-d` stores are the last.
    """
    parts = [np.asarray(root[name][outputs]) for name in WIDTHS if name in root]
    lead = parts[0].shape[:-1]  # leading axes of the outputs: angles have one axis more
    return np.concatenate([values.reshape(*lead, -1) for values in parts], axis=-1)


def mark_lines(root: h5py.Group, drawn: bool = True) -> None:
    """Mark a file: values drawn along rods are interpolated by `along_rods`. `drawn`: False removes the mark.

    Files without the mark have means of two elements.
    """
    if drawn and LINES not in root.attrs:
        root.attrs[LINES] = 1
    elif not drawn:
        root.attrs.pop(LINES, None)


def has_lines(root: h5py.Group) -> bool:
    """Return True if the file has the mark set by `mark_lines`."""
    return LINES in root.attrs
