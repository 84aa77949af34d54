"""What made a result: versions of what computed it, and the scene it was computed from."""

from __future__ import annotations

import functools
import platform
from typing import Any


def versions() -> dict[str, str]:
    """Of this program and of what its numbers depend on."""
    return dict(_versions())


@functools.cache
def _versions() -> dict[str, str]:
    import numba
    import numpy

    from rodsim import __version__

    return {
        "rodsim": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
    }


def provenance(scene: str | None) -> dict[str, Any]:
    """For the description of a result; scene: the text of the scene file, if there was one."""
    return {"versions": versions(), **({} if scene is None else {"scene": scene})}
