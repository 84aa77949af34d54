"""Issue warnings at the line of the user's code, however deep in the package the cause is detected."""

from __future__ import annotations

import sys
import warnings

_OWN = ("rigid", "discretization", "rodsim")


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning that names the line that called the package.

    Parameters
    ----------
    message : str
    category : type of Warning
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OWN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
