"""Read files of format 1, which store the internal variables of a state in four arrays by name instead of in `own`.

Files of versions without `history` store other data of the predictor of bodies on joints. They are ignored: such runs are
predicted from the last step alone.

Files of versions before `along_rods` have, for drawing, at a node the mean of two elements, and at an end of a rod the value of
one element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discretization import internal_variables
from discretization.integrator_memory import WIDTH
from rodsim.results.layout import Layout, LegacyTables
from rodsim.results.storage import Series

if TYPE_CHECKING:
    import h5py

FORMAT = 1
INTERPOLATION_MARK = "lines_along_rods"  # name of the attribute set by `mark_interpolation`
# widths of the blocks of internal variables and of the rows that `em-d` stores
WIDTHS = {**internal_variables.WIDTHS, "memory": WIDTH}


def is_legacy(root: h5py.Group) -> bool:
    """Return True if the `rodsim` group has format 1."""
    return bool(root.attrs["format"] == FORMAT)


def internal_series(prefix: str, layout: Layout) -> list[Series]:
    """Return the series of the blocks of internal variables; blocks without rows have none, except angles."""
    return [
        Series(f"{prefix}/{name}", (rows,) if width == 1 else (rows, width), np.float64)
        for (name, width), rows in zip(WIDTHS.items(), (*layout.internal, layout.n_memory), strict=True)
        if rows or name == "angle"
    ]


def read_internal_variables(root: h5py.Group, outputs: Any) -> NDArray[np.float64]:
    """Return the array `own` (..., size) of some outputs, an int or a slice.

    Blocks are stored one after another, row by row; the rows that `em-d` stores are the last.
    """
    parts = [np.asarray(root[name][outputs]) for name in WIDTHS if name in root]
    lead = parts[0].shape[:-1]  # leading axes of the outputs: angles have one axis more
    return np.concatenate([values.reshape(*lead, -1) for values in parts], axis=-1)


def predictor_arrays(attributes: Any) -> LegacyTables:
    """Return names and shapes of the arrays that predictors of older versions stored, from the attributes of a file's layout."""
    return tuple(
        (name, tuple(int(attributes[attribute]) if size == QUANTITY_COUNT else size for size in shape))
        for attribute, arrays in _PREDICTORS.items()
        if attribute in attributes
        for name, shape in arrays.items()
    )


def write_predictor_count(arrays: LegacyTables, attributes: Any) -> None:
    """Write the attribute from which `predictor_arrays` returns these arrays."""
    for attribute, known in _PREDICTORS.items():
        (name, (rows, _)), *_ = known.items()
        count = next((shape[1] for array, shape in arrays if array == name and shape[0] == rows), 0)
        if count:
            attributes[attribute] = count


def predictor_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a run that tell what its predictor stored, if an older version began it."""
    return {name: settings[name] for name in ("differences", "means") if name in settings}


QUANTITY_COUNT = -1  # stands for the number of quantities in the shapes of the arrays
# arrays of predictors of older versions, by the attribute with the number of their quantities
_PREDICTORS: dict[str, dict[str, tuple[int, ...]]] = {
    "n_earlier": {"differences": (3, QUANTITY_COUNT), "nodes": (8,)},
    "n_foretold": {"differences": (5, QUANTITY_COUNT), "nodes": (12,)},
    "n_means": {"means": (8, QUANTITY_COUNT), "substep": (5,)},
}


def mark_interpolation(root: h5py.Group, drawn: bool = True) -> None:
    """Mark a file: values drawn along rods are interpolated by `along_rods`. `drawn`: False removes the mark.

    Files without the mark have means of two elements.
    """
    if drawn and INTERPOLATION_MARK not in root.attrs:
        root.attrs[INTERPOLATION_MARK] = 1
    elif not drawn:
        root.attrs.pop(INTERPOLATION_MARK, None)


def has_interpolation_mark(root: h5py.Group) -> bool:
    """Return True if the file has the mark set by `mark_interpolation`."""
    return INTERPOLATION_MARK in root.attrs
