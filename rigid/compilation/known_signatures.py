"""Signatures of functions of plain arguments, made quickly: numba asks twice for that of each kernel, most of what one costs."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from inspect import CO_VARARGS, CO_VARKEYWORDS, Parameter, Signature
from typing import Any


@functools.cache
def _plain(name: str) -> Parameter:
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD)


def signature_of(function: Any) -> Signature | None:
    """As `inspect.signature`, but without annotations; None where there are other arguments than plain ones."""
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
    """Whoever asks meanwhile for the signature of the function finds it there."""
    quick = None if hasattr(function, "__wrapped__") else signature_of(function)
    if quick is None or "__signature__" in vars(function):
        yield
        return
    function.__signature__ = quick  # type: ignore[attr-defined]
    try:
        yield
    finally:
        vars(function).pop("__signature__", None)
