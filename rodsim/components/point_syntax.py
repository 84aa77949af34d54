"""Parse points given as text: the name of a part, then @ and a position on it, as "cord@0.5" and "block@0.1,0,0"."""

from __future__ import annotations

import math
import re
from collections.abc import Container
from typing import NamedTuple

_NUMBER = r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*"
_POSITION = re.compile(rf"@({_NUMBER}(?:,{_NUMBER})*)(?=\.(?!\d))")


class Point(NamedTuple):
    """A point as it is written: its part and its position, which is empty without @ and None if it is not finite numbers."""

    part: str
    where: str  # text after the @
    position: tuple[float, ...] | None

    @property
    def fraction(self) -> float | None:
        """Return the position as a fraction of the length of a rod, from 0 to 1; None if it is not one."""
        if self.position is None or len(self.position) != 1 or not 0.0 <= self.position[0] <= 1.0:
            return None
        return self.position[0]


def parse_point(text: str, parts: Container[str]) -> Point:
    """Return the point that `text` names; a name in `parts` may contain @, otherwise the last @ ends the name."""
    name, at, where = text.rpartition("@")
    if text in parts or not at or not name:
        return Point(text, "", ())
    return Point(name, where, parse_position(where))


def parse_position(where: str) -> tuple[float, ...] | None:
    """Return the numbers of a position, separated by commas; () for an empty text, None unless all are finite numbers."""
    try:
        position = tuple(float(x) for x in where.split(",")) if where else ()
    except ValueError:
        return None
    return position if all(map(math.isfinite, position)) else None


def leading_position(text: str) -> tuple[str, str]:
    """Split "@0.1,0,0.r.z" into the position "0.1,0,0" and the rest ".r.z"; ("", text) if it does not begin with a position."""
    match = _POSITION.match(text)
    return (match[1], text[match.end() :]) if match else ("", text)
