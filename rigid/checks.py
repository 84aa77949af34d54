"""Check user input; each error names the object, the value and the remedy.

Texts and truth values are not accepted as numbers. A count is an integer of Python or NumPy. The magnitude of numbers is at most
`LARGEST`, so that areas, volumes and stiffnesses computed from them neither overflow nor underflow.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rigid.errors import ModelError
from rigid.system import Floats
from rigid.vectors import norm

LARGEST = 1e50  # largest magnitude of a number; a length to the fifth power times a density is still finite
LONGEST_NAME = 200
_LONGEST_SHOWN = 80
_PLAIN = frozenset((float, int))
_EXACT = 2**53  # integers below this are exact as floats


def shown(value: object) -> str:
    """Return the text of `value` for a message, as in a program, cut to `_LONGEST_SHOWN` characters."""
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except Exception:  # an integer of more than 4300 digits, or a class whose repr fails
        text = f"<{type(value).__name__}>"
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def numbers(value: object) -> Floats | None:
    """Convert `value` to a new array of floats, which may contain nan and inf. Return None if an entry is not a number."""
    try:
        if type(value) is np.ndarray and value.dtype.kind == "f":
            return np.array(value, dtype=float)
        if isinstance(value, list | tuple) and _PLAIN.issuperset(map(type, value)):
            return np.array(value, dtype=float)  # the most frequent case: results of callables
        array: NDArray[Any] = np.array(value)
        if array.dtype.kind not in "iuf":
            return _from_objects(value)
        # NumPy converts truth values in a list to numbers: check the entries themselves
        return np.array(array, dtype=float) if hasattr(value, "__array__") else _from_objects(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None


def _from_objects(value: object) -> Floats | None:
    """Convert `value` to floats entry by entry. Return None if an entry is not a number."""
    array = np.array(value, dtype=object)
    if not all(map(_is_number_type, set(map(type, array.ravel())))):
        return None
    return array.astype(float)


def _is_number_type(kind: type) -> bool:
    """Return True if objects of this type are accepted as numbers."""
    if issubclass(kind, np.generic):
        return issubclass(kind, np.integer | np.floating) and not issubclass(kind, np.timedelta64)
    if issubclass(kind, bool | np.ndarray):
        return False
    return hasattr(kind, "__float__") or hasattr(kind, "__index__")


def number(
    owner: str, what: str, value: object, positive: bool = False, at_least: float | None = None
) -> float:
    """Convert `value` to a finite float and check its bounds.

    `owner` and `what` name the object and the argument in messages, in this and the following functions. `positive`: True if the
    value must be above 0. `at_least`: smallest permitted value. Raise ModelError if the value is not permitted.
    """
    if type(value) is float or (type(value) is int and abs(value) < _EXACT):
        x = float(value)
    else:
        array = numbers(value)
        if array is None or array.ndim:
            raise ModelError(f"{owner}: {what} = {shown(value)} is not a number; expected a number")
        x = float(array)
    if not math.isfinite(x):
        raise ModelError(f"{owner}: {what} = {shown(value)} is not a finite number; expected a finite number")
    if positive and x <= 0.0:
        raise ModelError(f"{owner}: {what} = {shown(value)} is not positive; give a number above 0")
    if at_least is not None and x < at_least:
        raise ModelError(
            f"{owner}: {what} = {shown(value)} is below {at_least:g}; give at least {at_least:g}"
        )
    if abs(x) > LARGEST or (positive and x < 1 / LARGEST):
        raise ModelError(
            f"{owner}: {what} = {shown(value)} is too {'large' if abs(x) > 1 else 'small'}; "
            f"choose units in which it lies between {1 / LARGEST:g} and {LARGEST:g}"
        )
    return x


def array(owner: str, what: str, value: object, shape: tuple[int | None, ...]) -> Floats:
    """Convert `value` to a new array of finite floats of the given shape; None in `shape` permits any length.

    Raise ModelError if the value has another shape or an entry is not a number, not finite or too large.
    """
    result = numbers(value)
    if result is not None and result.size and result.ndim == len(shape) and np.abs(result).max() <= LARGEST:
        filled_shape = tuple(m if n is None else n for n, m in zip(shape, result.shape, strict=True))
        if filled_shape == result.shape:  # the usual case
            return result
    expected = " x ".join("n" if n is None else str(n) for n in shape)
    if result is None:
        raise ModelError(
            f"{owner}: {what} = {shown(value)} contains an entry that is not a number; expected {expected} numbers"
        )
    if result.size == 0 and shape[0] is None:  # the length of the rows is unknown if the list is empty
        return np.zeros([n or 0 for n in shape])
    if result.ndim != len(shape) or any(
        n is not None and n != m for n, m in zip(shape, result.shape, strict=True)
    ):
        raise ModelError(f"{owner}: {what} has shape {result.shape}; give {expected} numbers")
    bad = ~(np.abs(result) <= LARGEST)
    if bad.any():
        index = tuple(int(k) for k in np.argwhere(bad)[0])
        x, index_text = result[index], ", ".join(map(str, index))
        reason = (
            "too large; choose other units"
            if np.isfinite(x)
            else f"not finite; give {expected} finite numbers"
        )
        raise ModelError(f"{owner}: {what}[{index_text}] = {x:g} is {reason}")
    return result


def vector(owner: str, what: str, value: ArrayLike, length: int = 3) -> Floats:
    """Convert `value` to an array of `length` finite floats, (length,). Raise ModelError if it is not one."""
    plain = isinstance(value, tuple | list) and len(value) == length and _PLAIN.issuperset(map(type, value))
    if plain and all(-LARGEST <= x <= LARGEST for x in value):  # type: ignore[union-attr, operator]
        return np.array(value, dtype=float)  # the usual case
    result = numbers(value)
    if result is None or result.shape != (length,) or not all(map(math.isfinite, entries := result.tolist())):
        raise ModelError(f"{owner}: {what} = {shown(value)} is not a list of {length} finite numbers")
    if max(map(abs, entries), default=0.0) > LARGEST:
        array(owner, what, value, (length,))  # raises the error that names the entry
    return result


def vectors(owner: str, values: Iterable[ArrayLike], what: Callable[[int], str], length: int = 3) -> Floats:
    """Check each of `values` as `vector` does and return all of them, (k, length).

    `what(k)` names value k in messages. Tuples of numbers, as callables return them, are checked all at once.
    """
    items = [
        item if type(item) is tuple else vector(owner, what(k), item, length) for k, item in enumerate(values)
    ]
    try:
        result = np.array(items, dtype=float)
        plain = all(type(item) is not tuple or _PLAIN.issuperset(map(type, item)) for item in items)
        if plain and result.shape == (len(items), length) and bool(np.all(np.abs(result) <= LARGEST)):
            return result
    except (ValueError, TypeError, OverflowError):
        pass  # one of them is not valid: check them one by one
    return np.reshape([vector(owner, what(k), item, length) for k, item in enumerate(items)], (-1, length))


def direction(owner: str, what: str, value: ArrayLike) -> Floats:
    """Return `value` scaled to a unit vector, (3,). Raise ModelError if it is zero."""
    result = vector(owner, what, value)
    largest = max(map(abs, result.tolist()))
    if largest == 0.0:
        raise ModelError(f"{owner}: {what} = {shown(value)} has no direction; give a vector that is not zero")
    result = result / largest  # the squares of small numbers would underflow
    return result / norm(result)


def unit_quaternion(owner: str, what: str, value: ArrayLike) -> Floats:
    """Return `value` as a unit quaternion (w, x, y, z). Raise ModelError if its length is off by more than 1e-6."""
    q = vector(owner, what, value, 4)
    size = norm(q)
    if abs(size - 1.0) > 1e-6:
        raise ModelError(
            f"{owner}: {what} = {shown(value)} has length {size:.6g}; give a unit quaternion (w, x, y, z)"
        )
    return q / size


def count(owner: str, what: str, value: object, at_least: int = 1, at_most: int | None = None) -> int:
    """Return `value` as an integer. Raise ModelError if it is not an integer, below `at_least` or above `at_most`."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool | np.timedelta64):
        raise ModelError(
            f"{owner}: {what} = {shown(value)} is not a whole number; expected at least {at_least}"
        )
    if value < at_least:
        raise ModelError(f"{owner}: {what} = {shown(value)} is too small; give at least {at_least}")
    if at_most is not None and value > at_most:
        raise ModelError(f"{owner}: {what} = {shown(value)} is too large; give at most {at_most}")
    return int(value)


def flag(owner: str, what: str, value: object) -> bool:
    """Return `value` as a truth value. Raise ModelError if it is not one."""
    if not isinstance(value, bool | np.bool_):
        raise ModelError(
            f"{owner}: {what} = {shown(value)} is neither True nor False; expected True or False"
        )
    return bool(value)


def word(owner: str, what: str, value: object, choices: Any) -> str:
    """Return `value`, which must be one of the texts in `choices`. Raise ModelError if it is not."""
    if not isinstance(value, str) or value not in choices:
        raise ModelError(f"{owner}: {what} = {shown(value)} is not known; choose one of {', '.join(choices)}")
    return value


def name(what: str, value: object) -> str:
    """Return `value` as a name that every file format and message can hold. Raise ModelError if it is not valid."""
    fault = name_fault(value)
    if fault:
        raise ModelError(f"{what} = {shown(value)} {fault}")
    return str(value)


def name_fault(value: object) -> str | None:
    """Return why `value` cannot be a name, and the remedy. Return None if it can."""
    if not isinstance(value, str) or not value:
        return "is not a name; give a text that is not empty"
    if len(value) > LONGEST_NAME:
        return f"has {len(value)} characters; give at most {LONGEST_NAME}"
    if value.isascii() and value.isprintable():
        return None
    # no file format holds all control characters, and NUL ends a text in HDF5
    if any(unicodedata.category(c) in ("Cc", "Cs", "Cn", "Zl", "Zp") for c in value):
        return "contains a control character, which files cannot store; remove it"
    return None


def by_name(owner: str, what: str, value: object, example: str) -> None:
    """Raise ModelError unless `value` is None or a mapping. `example`: a valid mapping, for the message."""
    if value is not None and not isinstance(value, Mapping):
        raise ModelError(f"{owner}: {what} = {shown(value)} has no names; give {example}")
