"""Read whole numeric datasets with the low-level interface of h5py.

A file has about 150 of them, and the low-level interface takes half the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import h5py


def read_array(group: h5py.Group, name: str) -> NDArray[Any]:
    """Return `group[name][...]`, all values of a dataset; raise KeyError if there is none."""
    import h5py

    return dataset_values(h5py.h5d.open(group.id, name.encode()))


def dataset_values(dataset: h5py.h5d.DatasetID) -> NDArray[Any]:
    """Return all values of a dataset."""
    import h5py

    values = np.zeros(dataset.shape, dataset.dtype)
    if values.size:
        dataset.read(h5py.h5s.ALL, h5py.h5s.ALL, values)
    return values
