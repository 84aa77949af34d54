"""Files of format 1: own variables of a state stood in four arrays, by name, where there is `own` today.

Files before `along_rods` have drawn the mean of two elements at a node, at the ends of a rod the value of one.
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
LINES = "lines_along_rods"  # attribute
WIDTHS = {**own_variables.WIDTHS, "memory": WIDTH}  # with what `em-d` remembers


def is_older(root: h5py.Group) -> bool:
    """Whether the `rodsim` group is of that format."""
    return bool(root.attrs["format"] == FORMAT)


def own_series(prefix: str, layout: Layout) -> list[Series]:
    """The datasets of the blocks; one without rows had none, but for angles."""
    return [
        Series(f"{prefix}/{name}", (rows,) if width == 1 else (rows, width), np.float64)
        for (name, width), rows in zip(WIDTHS.items(), (*layout.own, layout.n_memory), strict=True)
        if rows or name == "angle"
    ]


def read_own(root: h5py.Group, outputs: Any) -> NDArray[np.float64]:
    """`own` of some outputs, an int or a slice: block behind block, row behind row."""
    parts = [np.asarray(root[name][outputs]) for name in WIDTHS if name in root]
    lead = parts[0].shape[:-1]  # of the angles, which have one more axis
    return np.concatenate([values.reshape(*lead, -1) for values in parts], axis=-1)


def mark_lines(root: h5py.Group, drawn: bool = True) -> None:
    """Say that what is drawn of rods lies on the lines of `along_rods`; files without the mark have means of two elements."""
    if drawn and LINES not in root.attrs:
        root.attrs[LINES] = 1
    elif not drawn:
        root.attrs.pop(LINES, None)


def has_lines(root: h5py.Group) -> bool:
    """Whether `mark_lines` was said."""
    return LINES in root.attrs
