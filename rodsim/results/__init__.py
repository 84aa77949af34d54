"""Results: what a run leaves behind, on disk or in memory, and the pictures and files made of it.

Names are imported when they are used: h5py, vtk, pyvista and matplotlib are slow to load.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rodsim.results.audited import Audit
    from rodsim.results.columns import COLUMNS
    from rodsim.results.layout import BodyLayout, JointLayout, Layout, RodLayout
    from rodsim.results.result import Result
    from rodsim.results.writer import MemoryWriter, ResultWriter

_HOMES = {
    "Audit": "audited",
    "BodyLayout": "layout",
    "COLUMNS": "columns",
    "JointLayout": "layout",
    "Layout": "layout",
    "MemoryWriter": "writer",
    "Result": "result",
    "ResultWriter": "writer",
    "RodLayout": "layout",
}

__all__ = [
    "COLUMNS",
    "Audit",
    "BodyLayout",
    "JointLayout",
    "Layout",
    "MemoryWriter",
    "Result",
    "ResultWriter",
    "RodLayout",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'rodsim.results' has no attribute '{name}'")
    return getattr(import_module(f"rodsim.results.{home}"), name)
