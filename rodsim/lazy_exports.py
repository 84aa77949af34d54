"""Import the public names of a module when they are first used, so that importing the module itself stays quick.

A module lists its names twice: as imports under `TYPE_CHECKING`, which type checkers read, and in the table that it passes
to `lazy_names`. tests/api/test_public_names.py compares the two.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence

from rodsim._compat import old_attribute

MODULE = ""  # attribute of a table entry whose name is the whole module


def lazy_names(
    module: str, table: Mapping[str, str], hidden: Sequence[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Make `__getattr__`, `__dir__` and `__all__` of a module.

    Parameters
    ----------
    module : str
        The `__name__` of the module.
    table : mapping of str to str
        Module to import -> its names, separated by spaces; "name =" stands for the module itself, under this name.
    hidden : sequence of str, optional
        Names that can be imported but are not in `__all__`.
    """
    sources: dict[str, tuple[str, str]] = {}
    for place, written in table.items():
        if written.endswith("="):
            sources[written.removesuffix("=").strip()] = (place, MODULE)
        else:
            sources |= {name: (place, name) for name in written.split()}
    exported = sorted(sources.keys() - set(hidden))

    def get(name: str) -> object:
        if name not in sources:
            return old_attribute(module, name)
        place, attribute = sources[name]
        value: object = importlib.import_module(place)
        if attribute != MODULE:
            value = getattr(value, attribute)
        setattr(sys.modules[module], name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *sources})

    return get, list_names, exported
