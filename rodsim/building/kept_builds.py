"""What a small model was built into is kept: one with the same contents, run again or made anew, is not built again.

Contents are told apart by all that stands in a model: numbers to the bit, arrays with their shapes, words, parts and functions of
ours by what they are made of. A model with a function of the user, or with an object of a class that is none of ours, is built
each time, as who knows what it gives today; so is one with contacts, and one that was warned of, so that its warnings come again.
"""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from scipy.interpolate import PPoly

from discretization.known_facts import SMALL, copied, unchanging
from rodsim.building.build import Built
from rodsim.parts.entries import Contents

MOST = 8  # models

_OURS = ("rodsim", "rigid", "discretization")
_PLAIN = (float, int, str, bool, type(None), bytes)
_OF_PIECES = ("c", "x", "extrapolate", "axis")
_SKIPPED = ("given",)  # of entries: their fields follow from it

Key = tuple[Any, ...]

_kept: OrderedDict[Key, Built] = OrderedDict()


class _UnknownError(Exception):
    """Something whose contents are not known."""


def contents_of(model: Contents) -> Key | None:
    """Of a model of ours, all through; None where something stands in it that only its user knows."""
    if not model.told_by_contents or not _is_ours(type(model)):
        return None
    words: list[Any] = [type(model)]
    try:
        _note(vars(model), words, {})
    except _UnknownError:
        return None
    return tuple(words)


def _note(thing: Any, words: list[Any], seen: dict[int, int]) -> None:
    """Put what a thing is made of behind the words; seen: numbers of objects that stand there, which refer to each other."""
    kind = type(thing)
    if kind in _PLAIN:
        words += kind, thing.hex() if kind is float else thing  # -0.0 is not 0.0, nan is itself
    elif kind is np.ndarray:
        if thing.dtype.hasobject:
            raise _UnknownError
        words += thing.shape, thing.dtype.str, thing.tobytes()
    elif kind is dict:
        words += kind, len(thing), *thing
        for value in thing.values():
            _note(value, words, seen)
    elif isinstance(thing, tuple | list):
        words += kind, len(thing)
        for value in thing:
            _note(value, words, seen)
    elif isinstance(thing, np.generic):
        words += kind, thing.tobytes()
    elif id(thing) in seen:
        words += kind, seen[id(thing)]
    else:
        _note_object(thing, kind, words, seen)


def _note_object(thing: Any, kind: type[Any], words: list[Any], seen: dict[int, int]) -> None:
    seen[id(thing)] = len(seen)
    if isinstance(thing, PPoly):
        own = {name: getattr(thing, name) for name in _OF_PIECES}
    elif kind is FunctionType and thing.__module__.partition(".")[0] in _OURS:
        # of ours, such as a constant load's: what it was made with, which may be a function of the user
        words.append(thing.__code__)
        own = {"cells": tuple(cell.cell_contents for cell in thing.__closure__ or ())}
        own |= {"defaults": thing.__defaults__, "named": thing.__kwdefaults__}
    elif kind is MethodType:
        own = {"of": thing.__self__, "function": thing.__func__}
    elif _is_ours(kind) and hasattr(thing, "__dict__"):
        own = vars(thing)
    else:
        raise _UnknownError
    words.append(kind)
    for name, value in own.items():
        if name not in _SKIPPED:
            words.append(name)
            _note(value, words, seen)


@functools.cache
def _is_ours(kind: type[Any]) -> bool:
    return kind.__module__.partition(".")[0] in _OURS


def kept_build(key: Key | None) -> Built | None:
    """What a model of these contents was built into, to the bit as it was; None where it must be built. Nobody writes to its
    system; state and layout are of who asks.
    """
    built = None if key is None else _kept.get(key)
    return None if built is None else _own(built)


def keep_build(key: Key | None, built: Built) -> None:
    """For the next one of these contents."""
    if (
        key is None
        or built.doubted
        or len(built.system.frames.mass) > SMALL
        or len(built.system.contacts.pairs)
    ):
        return
    unchanging(built.system)
    _kept[key] = _own(built)
    while len(_kept) > MOST:
        _kept.popitem(last=False)


def _own(built: Built) -> Built:
    layout = copy.copy(built.layout)
    layout.description = copy.copy(layout.description)
    return built._replace(state=copied(built.state), layout=layout, held=copied(built.held))
