"""What a user should know of their model goes to stderr as a line of its own."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rigid.errors import InitialVelocityWarning, RedundantJointsWarning

_TOLD = (InitialVelocityWarning, RedundantJointsWarning)


@contextmanager
def warnings_told() -> Iterator[None]:
    """Our warnings, each once; others as Python shows them."""
    with warnings.catch_warnings():
        before, told = warnings.showwarning, set()

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, _TOLD):
                before(message, category, *where, **more)
            elif str(message) not in told:
                told.add(str(message))
                print(f"rodsim: {message}", file=sys.stderr)

        warnings.showwarning = show
        for category in _TOLD:
            warnings.simplefilter("always", category)
        yield
