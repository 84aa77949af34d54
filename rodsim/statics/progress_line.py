"""Show the progress of `equilibrium` on stderr."""

from __future__ import annotations

from typing import Any

from rigid import checks
from rodsim.progress_bar import progress_bar


class ProgressLine:
    """A line with the number of equilibria, the load factor reached and the iterations of Newton's method.

    It is cleared at the end, so that messages begin on a new line.
    """

    def __init__(self, show: bool | None) -> None:
        """Prepare the line; `show`: whether to show it, None: if stderr is a terminal."""
        if show is not None:
            checks.flag("equilibrium", "progress", show)
        self._show = show
        self._count = 0
        self._bar: Any = None

    def reached(self, factor: float, iterations: int) -> None:
        """Count one more equilibrium; the line appears with the first."""
        self._count += 1
        if self._bar is None:
            self._bar = progress_bar(self._show, unit=" equilibria", leave=False, initial=self._count - 1)
        if self._bar is None:
            return
        self._bar.set_postfix_str(f"load factor {factor:.6g}, Newton {iterations}", refresh=False)
        self._bar.update(1)

    def close(self) -> None:
        """Clear the line; another equilibrium would show it again."""
        if self._bar is not None:
            self._bar.refresh()  # the last updates may have come faster than the line is drawn
            self._bar.close()
            self._bar = None
