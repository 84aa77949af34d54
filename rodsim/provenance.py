"""Record the provenance of a result: versions of the software, and the scene."""

from __future__ import annotations

import functools
import platform
from typing import Any


def versions() -> dict[str, str]:
    """Return the versions of rodsim and of the software on which its numbers depend."""
    return dict(_versions())


@functools.cache
def _versions() -> dict[str, str]:
    """Return the versions of `versions`, cached."""
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
    """Return the provenance for the description of a result; `scene`: text of the scene file, None if there was none."""
    return {"versions": versions(), **({} if scene is None else {"scene": scene})}
