"""Cache what small models were built into, so that a model with the same contents is not built again.

The cache key is made of everything in a model: numbers (bitwise), arrays with their shapes, strings, and parts and functions of
this package by their contents. A model with a function of the user, or with an object of a class from elsewhere, is built each
time, since its values may change. A model with contacts is built each time too, and so is a model that gave a warning, so that
the warning is repeated.
"""

from __future__ import annotations

import functools
import sys
from collections import OrderedDict
from collections.abc import Mapping
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from discretization.known_facts import SMALL, copied, unchanging
from rodsim.building.build import Built
from rodsim.parts.entries import Contents
from rodsim.parts.no_model import no_model
from rodsim.parts.space_curves import Curve

MOST = 8  # largest number of cached models

_OURS_ARE = ("rodsim", "rigid", "discretization")
_OF_PIECES = ("c", "x", "extrapolate", "axis")
_SKIPPED = frozenset(("given",))  # attributes of entries that follow from their fields

Key = tuple[Any, ...]

_kept: OrderedDict[Key, Built] = OrderedDict()


class _UnknownError(Exception):
    """Signal an object whose contents are not known."""


def contents_of(model: Contents) -> Key | None:
    """Return the cache key of a model; None if it contains something whose values only the user knows."""
    if not model.told_by_contents or not _is_ours(type(model)):  # type: ignore[arg-type]  # classes are hashable
        return None
    try:
        return tuple(_words_of(model))
    except _UnknownError:
        return None


def _words_of(model: Contents) -> list[Any]:
    """Return a flat list of everything in a model; an object that occurs again refers to its first occurrence by a number."""
    words: list[Any] = [type(model)]
    waiting: list[Any] = [vars(model)]
    seen: dict[int, int] = {}
    while waiting:
        thing = waiting.pop()
        kind = type(thing)
        words.append(kind)
        sort = _sorts[kind]
        if sort == _ARRAY:
            if thing.dtype.hasobject:
                raise _UnknownError
            words += thing.shape, thing.dtype, thing.tobytes()
        elif sort == _FLOAT:
            words.append(thing.hex())  # distinguishes -0.0 from 0.0; nan equals nan
        elif sort == _PLAIN:
            words.append(thing)
        elif sort == _DICT:
            words += len(thing), *thing
            waiting += thing.values()
        elif sort == _LIST:
            words.append(len(thing))
            waiting += thing
        elif sort == _NUMBER:
            words.append(thing.tobytes())
        elif id(thing) in seen:
            words.append(seen[id(thing)])
        else:
            seen[id(thing)] = len(seen)
            if kind is Curve and thing.told:
                words.append(thing.told)
                continue
            own = _parts_of(thing) if sort == _OURS else _contents_of_object(thing, kind)
            words += len(own), *own
            waiting += own.values()
    return words


_ARRAY, _FLOAT, _PLAIN, _DICT, _LIST, _NUMBER, _OURS, _OTHER = range(8)
_EXACT = {np.ndarray: _ARRAY, float: _FLOAT, dict: _DICT}


class _Sorts(dict[type[Any], int]):
    """Cache how instances of a class are listed; each class is examined once."""

    def __missing__(self, kind: type[Any]) -> int:
        self[kind] = _sort_of(kind)
        return self[kind]


def _sort_of(kind: type[Any]) -> int:
    """Return how instances of a class are listed: plain, list, number, object of this package, or other."""
    if kind in (int, str, bool, type(None), bytes):
        return _PLAIN
    if issubclass(kind, tuple | list):
        return _LIST
    if issubclass(kind, np.generic):
        return _NUMBER
    return _OURS if _is_ours(kind) else _OTHER  # type: ignore[arg-type]  # classes are hashable


_sorts = _Sorts(_EXACT)


def _parts_of(thing: Any) -> Mapping[Any, Any]:
    """Return the attributes of an object of this package, without those that follow from others."""
    own: dict[Any, Any] | None = getattr(thing, "__dict__", None)
    if own is None:
        raise _UnknownError
    if not _SKIPPED.isdisjoint(own):
        return {name: own[name] for name in own if name not in _SKIPPED}
    return own


def _contents_of_object(thing: Any, kind: type[Any]) -> Mapping[Any, Any]:
    """Return the contents of a spline, of a function of this package or of a bound method; else raise _UnknownError."""
    interpolating = sys.modules.get("scipy.interpolate")  # not loaded: no spline can be in the model
    if interpolating is not None and isinstance(thing, interpolating.PPoly):
        return {name: getattr(thing, name) for name in _OF_PIECES}
    if kind is FunctionType and thing.__module__.partition(".")[0] in _OURS_ARE:
        # a function of this package, such as that of a constant load: its closure may hold a function of the user
        cells = tuple(cell.cell_contents for cell in thing.__closure__ or ())
        return {thing.__code__: cells, "defaults": thing.__defaults__, "named": thing.__kwdefaults__}
    if kind is MethodType:
        return {"of": thing.__self__, "function": thing.__func__}
    raise _UnknownError


@functools.cache
def _is_ours(kind: type[Any]) -> bool:
    """Return True if a class belongs to one of the packages of this project."""
    return kind.__module__.partition(".")[0] in _OURS_ARE


def built_of(model: Contents) -> Built:
    """Build a model, or return the cached, bit-identical result for a model with the same contents.

    The system is shared and must not be written to; state, layout and `held` are copies that belong to the caller.
    """
    key = contents_of(model)
    if key is not None and (known := _kept.get(key)) is not None:
        return _own(known)
    built: Built = model.build()  # type: ignore[attr-defined]
    small = len(built.system.frames.mass) <= SMALL
    if key is not None and small and not built.doubted and not len(built.system.contacts.pairs):
        unchanging(built.system)
        _kept[key] = _own(built)
        while len(_kept) > MOST:
            _kept.popitem(last=False)
    return built


def built_from(owner: str, model: object) -> Built:
    """Build a model as `built_of` does, or return `model` itself if it is a `Built`; ModelError for anything else."""
    if isinstance(model, Built):
        return model
    if not isinstance(model, Contents):
        raise no_model(owner, model)
    return built_of(model)


def _own(built: Built) -> Built:
    """Return `built` with copies of state, layout and `held`."""
    return built._replace(state=copied(built.state), layout=built.layout.copied(), held=copied(built.held))
