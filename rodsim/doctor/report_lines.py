"""What was found: a line of the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

OK, ABSENT, BROKEN = "ok", "-", "BROKEN"  # absent: not there, and not needed for the rest


@dataclass(frozen=True)
class Finding:
    """One thing looked at: how it is, in words, and what to do about it."""

    name: str
    state: str
    words: str
    cure: str = ""
    data: dict[str, Any] = field(default_factory=dict)  # numbers, for programs

    def lines(self, width: int) -> list[str]:
        """For reading."""
        told = f"  {self.name:<{width}}  {self.state:<6}  {self.words}"
        return [told] + ([f"  {'':<{width}}  {'':<6}  -> {self.cure}"] if self.cure else [])
