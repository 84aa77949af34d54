"""Errors with results that a user can cause; each names the file or the object, the value and the cure."""

from __future__ import annotations

from pathlib import Path

from rigid.checks import shown


class ResultError(ValueError):
    """A result that cannot be read, or cannot be used as asked."""


class UnknownName(ResultError, KeyError):
    """A name of something that is not in a result."""

    __str__ = ValueError.__str__  # that of KeyError puts quotes around the message


class NoOpenGL(ResultError, RuntimeError):
    """OpenGL was asked for where there is none."""


def checked_path(owner: str, path: object) -> Path:
    """`path` as the name of a file to write."""
    if not isinstance(path, str | Path) or not Path(path).name or "\0" in str(path):
        raise ResultError(f"{owner}: path = {shown(path)} is no name of a file; give one")
    return Path(path)
