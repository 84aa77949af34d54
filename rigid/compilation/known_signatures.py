"""Make signatures of functions of plain arguments quickly: numba requests that of each kernel twice, most of a
decorator's cost.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from inspect import CO_VARARGS, CO_VARKEYWORDS, Parameter, Signature
from typing import Any


@functools.cache
def _plain(name: str) -> Parameter:
    """Return a positional or keyword parameter without default."""
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD)


def signature_of(function: Any) -> Signature | None:
    """Return the signature as `inspect.signature` does, but without annotations; None if there are arguments that are
    not plain.
    """
    code = function.__code__
    if code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) or code.co_kwonlyargcount or code.co_posonlyargcount:
        return None
    parameters = [_plain(name) for name in code.co_varnames[: code.co_argcount]]
    defaults = function.__defaults__ or ()
    first = len(parameters) - len(defaults)
    for k, value in enumerate(defaults):
        parameters[first + k] = parameters[first + k].replace(default=value)
    return Signature(parameters)


@contextlib.contextmanager
def known_signature(function: Callable[..., Any]) -> Iterator[None]:
    """Attach a quickly made signature to the function while the context is active, for all who look it up."""
    quick = None if hasattr(function, "__wrapped__") else signature_of(function)
    if quick is None or "__signature__" in vars(function):
        yield
        return
    function.__signature__ = quick  # type: ignore[attr-defined]
    try:
        yield
    finally:
        vars(function).pop("__signature__", None)
