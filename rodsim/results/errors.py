"""Errors with results that a user can cause; each message names the file or the object, the value and the remedy."""

from __future__ import annotations

from pathlib import Path

from rigid.checks import shown


class ResultError(ValueError):
    """A result cannot be read, or cannot be used as requested."""


class UnknownName(ResultError, KeyError):
    """A name does not exist in a result."""

    __str__ = ValueError.__str__  # the method of KeyError puts quotes around the message


class NoOpenGL(ResultError, RuntimeError):
    """OpenGL was requested but is not available."""


def check_path(owner: str, path: object) -> Path:
    """Return `path`, a file to write, as a Path. Raise ResultError if it is not a file name; `owner`: caller, for the message."""
    if not isinstance(path, str | Path) or not Path(path).name or "\0" in str(path):
        raise ResultError(f"{owner}: path = {shown(path)} is not a file name; give a str or a Path")
    return Path(path)
