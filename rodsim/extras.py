"""Import libraries of optional extras when they are first used."""

from __future__ import annotations

import importlib
from types import ModuleType

from rigid.errors import ModelError


class MissingExtra(ModelError, ImportError):
    """A library of an extra is not installed; the message says how to install it."""


def extra(module: str, extra: str, owner: str) -> ModuleType:
    """Return the imported module; raise MissingExtra, which says how to install it, if it cannot be imported."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{owner} needs {module.split('.')[0]}: pip install 'rodsim[{extra}]' ({error})"
        ) from None
