"""Arrays and other data inside a page: base64 of little-endian numbers, and JSON that cannot end a script."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rigid.system import Floats

_LARGEST = float(np.finfo(np.float32).max)


def packed(values: ArrayLike, kind: str = "f4") -> dict[str, Any]:
    """{"dtype", "shape", "bdata"} as plotly writes typed arrays; 'f4' for the eye, 'i4' for numbers of vertices."""
    array = np.asarray(values)
    if kind == "f4":
        array = np.clip(array, -_LARGEST, _LARGEST)  # a diverged run is drawn as far as single precision goes
    array = np.ascontiguousarray(array, dtype=f"<{kind}")
    return {
        "dtype": kind,
        "shape": list(array.shape),
        "bdata": base64.b64encode(array.tobytes()).decode("ascii"),
    }


def unpacked(data: dict[str, Any]) -> Floats:
    """What was given to `packed`, in its precision."""
    raw = np.frombuffer(base64.b64decode(data["bdata"]), dtype=f"<{data['dtype']}")
    return raw.reshape(data["shape"])


def script_json(data: Any) -> str:
    """JSON that can stand inside <script>: no '<' of a name ends it; numbers that are not finite become null."""
    text = json.dumps(_finite(data), separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float | np.floating):
        return float(data) if np.isfinite(data) else None
    if isinstance(data, np.integer):
        return int(data)
    return data
