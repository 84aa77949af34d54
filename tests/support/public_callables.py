"""All public functions, classes and their public methods, from `rodsim.__all__` and that of its modules."""

import inspect
import sys

import rodsim
from rodsim._compat import OLD_NAMES

# no docstring; no summary, or one of several lines; arguments that are missing, unknown, without a type or a meaning;
# no description of the returned value; no example
CODES = {"GL08", "SS01", "SS06", "PR01", "PR02", "PR04", "PR07", "RT01", "EX01"}
WITHOUT_EXAMPLES = CODES - {"EX01"}  # methods: the class has examples


def public():
    """(name, codes that count) of all public functions, classes and their public methods."""
    things = [getattr(rodsim, name) for name in rodsim.__all__]
    modules = [rodsim, *(member for member in things if inspect.ismodule(member))]
    for module in modules:
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.ismodule(member) or (inspect.isclass(member) and issubclass(member, Exception)):
                continue
            if not callable(member):
                continue
            yield f"{module.__name__}.{name}", CODES
            if inspect.isclass(member):
                old = {row.old for row in OLD_NAMES if row.where == member.__name__}
                for method, value in vars(member).items():
                    if (
                        method not in old
                        and not method.startswith("_")
                        and (callable(value) or isinstance(value, classmethod | staticmethod))
                    ):
                        yield f"{module.__name__}.{name}.{method}", WITHOUT_EXAMPLES


def named(name):
    """Return the object of a dotted name of `public`."""
    parts = name.split(".")
    place = next(k for k in range(len(parts) - 1, 0, -1) if ".".join(parts[:k]) in sys.modules)
    member = sys.modules[".".join(parts[:place])]
    for part in parts[place:]:
        member = getattr(member, part)
    return member
