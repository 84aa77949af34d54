"""Write JSON with numbers that may be infinite or nan: JSON cannot represent these, so they are written as text."""

from __future__ import annotations

import json
import math
from typing import Any


def dumps(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON; nan, inf and -inf become the texts "nan", "inf", "-inf", which `float` reads."""
    return json.dumps(_plain(value), default=str, allow_nan=False, indent=indent)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(name): _plain(x) for name, x in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(x) for x in value]
    return repr(float(value)) if isinstance(value, float) and not math.isfinite(value) else value
