"""Settings of Python that hold while a kernel of the program is compiled.

Python searches for cyclic garbage after every 700 new objects. The compiler makes millions of objects and leaves little such
garbage: the search took a tenth of a first compilation. Meanwhile it is made after many more objects, unless garbage collection
is off. Users cannot act on numba's warning that functions as values are experimental: it is suppressed.
"""

from __future__ import annotations

import gc
import warnings
from typing import Any

from numba import NumbaExperimentalFeatureWarning
from numba.core import event

OURS = "of_rodsim"  # attribute that marks the kernels of the program


class WhileCompiling(event.Listener):
    """Listener that changes the settings while the outermost of the kernels being compiled is compiled."""

    EVERY = 500_000  # objects; at 100,000 the search took 3 s of 57; same peak memory, 540 MB for `em`

    def __init__(self) -> None:
        self._depth = 0
        self._threshold = gc.get_threshold()
        self._filters: list[Any] = []

    def on_start(self, started: Any) -> None:
        """Change the settings if this is the outermost kernel."""
        if self._depth == 0:
            # This registers operators with numba. A cached kernel for its numbers imports it when it is loaded: in the middle of
            # a compilation that would change the types of operators between the typing and the lowering of a kernel.
            import rigid.structural_zero  # noqa: F401

            self._filters = _without_experimental() if hasattr(started.data["dispatcher"], OURS) else []
            self._threshold = gc.get_threshold()
            gc.set_threshold(self.EVERY if self._threshold[0] else 0, *self._threshold[1:])
        self._depth += 1

    def on_end(self, ended: Any) -> None:
        """Restore the settings after the outermost kernel."""
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._threshold)
            for warning_filter in self._filters:
                if warning_filter in warnings.filters:
                    warnings.filters.remove(warning_filter)  # type: ignore[attr-defined]


def _without_experimental() -> list[Any]:
    """Ignore numba's warning that functions as values are experimental; return the filters to remove."""
    warnings.filterwarnings("ignore", category=NumbaExperimentalFeatureWarning)
    return [warnings.filters[0]]
