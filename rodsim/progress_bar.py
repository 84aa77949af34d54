"""Show a progress bar on stderr."""

from __future__ import annotations

import sys
from typing import Any


def progress_bar(show: bool | None, **options: Any) -> Any:
    """Return a bar of tqdm with these options, None if it is not shown; `show` None: if stderr is a terminal."""
    if not (sys.stderr.isatty() if show is None else show):
        return None
    from tqdm import tqdm  # here, because scripts that show no bar load nothing of it

    return tqdm(dynamic_ncols=True, **options)
