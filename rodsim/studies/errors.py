"""What a user can cause with a study; each names the object, the value and the cure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from rigid.errors import ModelError


class StudyError(ModelError):
    """A study that cannot be run as described; nothing has been run then."""


class StudyStopped(RuntimeError):
    """A study that came to an end before its last case; what was computed is in its folder."""


def near(word: str, known: Iterable[str], what: str = "it has") -> str:
    """The cure for a name that is not known: the one meant, or all there are."""
    names = [str(name) for name in known]
    close = difflib.get_close_matches(word, names, 1)
    if close:
        return f"did you mean {close[0]!r}?"
    listed = ", ".join(names[:20]) + (" ..." if len(names) > 20 else "")
    return f"{what} {listed}" if names else f"{what} none"
