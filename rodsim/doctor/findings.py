"""Findings of `rodsim doctor`, the lines of its report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

OK, ABSENT, BROKEN = "ok", "-", "BROKEN"  # ABSENT: not installed, and not needed by the rest


@dataclass(frozen=True)
class Finding:
    """Finding on one item: its name, its state, a description, and the remedy if something is wrong."""

    name: str
    state: str
    words: str
    cure: str = ""
    data: dict[str, Any] = field(default_factory=dict)  # facts for JSON

    def lines(self, width: int) -> list[str]:
        """Return the lines of the report; `width`: width of the column of names."""
        line = f"  {self.name:<{width}}  {self.state:<6}  {self.words}"
        return [line] + ([f"  {'':<{width}}  {'':<6}  -> {self.cure}"] if self.cure else [])
