"""Tools to write scenes: values as plain data, candidates that are read as bit-identical objects, and the error if none is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np
from pydantic import ValidationError

from rigid.errors import ModelError

Data = dict[str, Any]
# factors tried for vectors that a check normalises
_SCALES = [1.0, *(1.0 + k * 2.0**-40 for k in range(1, 400))]


def raise_not_savable(owner: str, reason: str) -> NoReturn:
    """Raise ModelError: `owner` cannot be saved as a scene, for the reason `reason`."""
    end = "" if reason.endswith(".") else ", which a scene cannot say. Keep the script that makes it."
    raise ModelError(f"{owner}: cannot be saved as a scene: {reason}{end}")


def plain(value: Any) -> Any:
    """Return arrays, tuples and numpy numbers as lists and numbers of Python; None is left out of mappings."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    if isinstance(value, Mapping):
        return {name: plain(x) for name, x in value.items() if x is not None}
    return value


def invert_check(owner: str, what: str, check: Callable[[str, str, Any], Any], value: Any) -> list[float]:
    """Return numbers that the check turns into `value`: nearly always `value` itself, else a multiple of it."""
    for scale in _SCALES:
        if np.array_equal(check(owner, what, value * scale), value):
            numbers: list[float] = (value * scale).tolist()
            return numbers
    raise_not_savable(owner, f"its {what} is not the outcome of a rounded division")


def first_identical(
    owner: str, what: str, candidates: Iterable[Data], make: Callable[[Data], Any], original: Any
) -> Data:
    """Return the first candidate from which `make` makes an object bit-identical to `original`, apart from its field `given`."""
    bits = _bits(original)
    for candidate in candidates:
        try:
            if _bits(make(candidate)) == bits:
                return candidate
        except (ModelError, ValidationError):
            continue
    raise_not_savable(owner, f"its {what} is not one of those of scenes")


def _bits(value: Any) -> Any:
    """Return a value in a form that compares bitwise."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.kind, value.tobytes()
    if isinstance(value, list | tuple):
        return tuple(_bits(x) for x in value)
    if hasattr(value, "__dict__"):
        return type(value), {name: _bits(item) for name, item in vars(value).items() if name != "given"}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value).hex()
    return type(value), value
