"""Errors of studies that a user can cause; each message names the object, the value and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from rigid.errors import ModelError


class StudyError(ModelError):
    """The study cannot be run as described; nothing has been run."""


class StudyStopped(RuntimeError):
    """The study ended before its last case; the computed cases are in its folder."""


def near(word: str, known: Iterable[str], what: str = "it has") -> str:
    """Return advice for an unknown name: the most similar known name, or the list of known names preceded by `what`."""
    names = [str(name) for name in known]
    matches = difflib.get_close_matches(word, names, 1)
    if matches:
        return f"did you mean {matches[0]!r}?"
    listed = ", ".join(names[:20]) + (" ..." if len(names) > 20 else "")
    return f"{what} {listed}" if names else f"{what} none"
