"""Files given to commands: scenes and results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rodsim.results.result import Result


def is_scene(path: str) -> bool:
    """Return whether the ending of `path` is that of a scene."""
    return Path(path).suffix.lower() in (".yaml", ".yml")


def open_result(path: str) -> Result:
    """Open the result in a file; raise ModelError if the file is a scene."""
    from rigid.errors import ModelError
    from rodsim.results.result import Result

    if is_scene(path):
        raise ModelError(f"'{path}' is a scene, not a result; run it first: rodsim run {path}")
    return Result.load(path)
