"""Embed data in a page: arrays as base64 of little-endian numbers, and JSON that cannot end a script element."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats

_LARGEST = float(np.finfo(np.float32).max)


def packed(values: ArrayLike, kind: str = "f4") -> dict[str, Any]:
    """Return an array as {"dtype", "shape", "bdata"}, as plotly does; `kind`: 'f4' for drawing, 'i4' for vertex indices."""
    array = np.asarray(values)
    if kind == "f4":
        array = np.clip(array, -_LARGEST, _LARGEST)  # a diverged run is clipped to single precision
    array = np.ascontiguousarray(array, dtype=f"<{kind}")
    return {
        "dtype": kind,
        "shape": list(array.shape),
        "bdata": base64.b64encode(array.tobytes()).decode("ascii"),
    }


def typed(data: dict[str, Any]) -> dict[str, Any]:
    """Return a packed array without its shape, as plotly expects it."""
    return {"dtype": data["dtype"], "bdata": data["bdata"]}


def unpacked(data: dict[str, Any]) -> Floats:
    """Return the array from the result of `packed`, in the precision chosen there."""
    raw = np.frombuffer(base64.b64decode(data["bdata"]), dtype=f"<{data['dtype']}")
    return raw.reshape(data["shape"])


def script_json(data: Any) -> str:
    """Return JSON that is safe inside <script>: '<', '>' and '&' are escaped; numbers that are not finite become null."""
    text = json.dumps(_finite(data), separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(data: Any) -> Any:
    """Return data with Python numbers, in which numbers that are not finite are None."""
    if isinstance(data, dict):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float | np.floating):
        return float(data) if np.isfinite(data) else None
    if isinstance(data, np.integer):
        return int(data)
    return data
