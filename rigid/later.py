"""Modules that are loaded when something of them is first asked for: large ones that few sessions need."""

from __future__ import annotations

import importlib
from typing import Any


class Later:
    """A module by its name, with all that is in it."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Of the module, loaded now where it is not yet there."""
        if name.startswith("__"):  # questions about this object, as copies and documentation put them
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)
