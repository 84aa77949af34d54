"""Decide when a run writes its result file before its end."""

from __future__ import annotations

import math
import re
import time

from rigid.checks import shown
from rigid.errors import ModelError


class Snapshots:
    """When a run writes its result file before its end."""

    def __init__(self, outputs: int, seconds: float) -> None:
        """Let a snapshot be due after so many more outputs, or so many seconds."""
        self._outputs, self._seconds = outputs, seconds
        self._last, self._since = 0, time.monotonic()

    @classmethod
    def of(cls, interval: int | str | None) -> Snapshots:
        """Return the requested snapshots: a number of outputs, "30 s", or None, which means none.

        Raises ModelError for another value.
        """
        if interval is None:
            return cls(2**62, math.inf)
        if isinstance(interval, int) and not isinstance(interval, bool) and interval > 0:
            return cls(interval, math.inf)
        match = (
            re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*s\s*|\s*(\d+)\s*", interval)
            if isinstance(interval, str)
            else None
        )
        if match and float(match[1] or match[2]) > 0:
            return cls(int(match[2]), math.inf) if match[2] else cls(2**62, float(match[1]))
        raise ModelError(
            f'snapshot = {shown(interval)} is neither a number of outputs nor a time; give for example 100 or "30 s"'
        )

    def is_due(self, n_outputs: int) -> bool:
        """Return whether a snapshot is due, and if so count from now on."""
        now = time.monotonic()
        due = n_outputs - self._last >= self._outputs or now - self._since >= self._seconds
        if due:
            self._last, self._since = n_outputs, now
        return due
