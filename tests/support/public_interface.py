"""The public interface as a list of lines: modules, their names, members of classes, arguments of functions.

`python -m tests.support.public_interface` writes it to tests/api/surface.txt.
"""

import functools
import importlib
import inspect
from pathlib import Path

FILE = Path(__file__).parents[1] / "api" / "surface.txt"
MODULES = (
    "rodsim",
    "rodsim.actuators",
    "rodsim.controllers",
    "rodsim.interactions",
    "rodsim.interactions.measures",
    "rodsim.learning",
    "rodsim.linear",
    "rodsim.mechanics",
    "rodsim.results",
    "rodsim.scenes",
    "rodsim.signals",
    "rodsim.studies",
    "rodsim.warnings",
)


def public_names(modules=MODULES):
    """(module.name, object) of everything that public modules export, without modules."""
    for module in modules:
        imported = importlib.import_module(module)
        for name in imported.__all__:
            member = getattr(imported, name)
            if not inspect.ismodule(member):
                yield f"{module}.{name}", member


def members(cls, listed=()):
    """(name, function, property or other value) of a class, including members inherited from unlisted classes of the package;
    without deprecated names.
    """
    members_found = {}
    for base in reversed(cls.__mro__):
        inherited = base in listed and base is not cls
        if base.__module__.split(".")[0] in ("rodsim", "rigid", "discretization") and not inherited:
            members_found |= {
                name: value
                for name, value in vars(base).items()
                if not name.startswith("_") and not is_old(value)
            }
    for field in getattr(cls, "_fields", ()) or getattr(cls, "__dataclass_fields__", ()):
        if not field.startswith("_"):
            members_found.setdefault(field, None)
    return members_found


def is_old(value):
    """Whether this member of a class exists for scripts of before 1.0 (`rodsim._compat`)."""
    return str(getattr(value, "__doc__", "")).startswith("Old name of ")


def arguments(function):
    """The names of its arguments, with / and * at their positions."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of classes that Python itself makes
        return ""
    words, named = [], False
    for name, parameter in signature.parameters.items():
        if name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not named:
            words.append("*")
        named = named or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        prefix = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        words.append(prefix + name)
    return f"({', '.join(words)})"


def lines():
    """The list, sorted."""
    rows = []
    for module in MODULES:
        imported = importlib.import_module(module)
        rows += [f"{module}.{name}" for name in imported.__all__ if inspect.ismodule(getattr(imported, name))]
    seen = {}
    listed = [thing for _, thing in public_names() if inspect.isclass(thing)]
    for name, thing in public_names():
        if not inspect.isclass(thing):
            rows.append(name + (arguments(thing) if callable(thing) else ""))
            continue
        rows.append(name + arguments(thing))
        if seen.setdefault(thing, name) != name:  # its members are listed once
            continue
        for member, value in members(thing, listed).items():
            plain = inspect.unwrap(getattr(value, "__func__", value)) if value is not None else None
            routine = inspect.isfunction(plain) and not isinstance(
                value, property | functools.cached_property
            )
            rows.append(f"{name}.{member}" + (arguments(plain) if routine else ""))
    return sorted(rows)


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n")
    print(f"wrote {FILE}")
