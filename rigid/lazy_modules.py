"""Load large modules that few sessions need on first access to one of their attributes."""

from __future__ import annotations

import importlib
from typing import Any


class LazyModule:
    """Stand-in for the module of a name, with all of its attributes."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the module, which is imported now if it is not loaded yet."""
        if name.startswith("__"):  # special attributes of this object, as `copy` requests them
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)
