"""Scenes to begin with: commented YAML files, in which $name, $file and $result stand for what the user calls them."""

from __future__ import annotations

import string
from importlib.resources import files

ORDER = ("cable", "mechanism", "soft-arm", "top", "chain")  # as they are listed


def words() -> dict[str, str]:
    """What each template shows: the first line of its file."""
    return {name: _text(name).splitlines()[0].removeprefix("# ") for name in ORDER}


def scene(template: str, name: str, file: str, result: str) -> str:
    """The text of a scene called `name`; its comments speak of `file` and of its `result`, as they are typed."""
    return string.Template(_text(template)).substitute(name=name, file=file, result=result)


def _text(template: str) -> str:
    return files(__package__).joinpath(f"{template}.yaml").read_text(encoding="utf-8")
