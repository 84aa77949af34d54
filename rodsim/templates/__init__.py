"""Scenes to begin with: commented YAML files, in which $name, $file, $result and $python stand for what the
user calls them: the scene, its file and its result as they are typed at the command line, the latter in Python."""

from __future__ import annotations

import json
import shlex
import string
from importlib.resources import files

ORDER = ("cable", "mechanism", "soft-arm", "top", "chain")  # as they are listed


def words() -> dict[str, str]:
    """What each template shows: the first line of its file."""
    return {name: _text(name).splitlines()[0].removeprefix("# ") for name in ORDER}


def scene(template: str, name: str, file: str, result: str) -> str:
    """The text of a scene that YAML reads as called `name`; its comments speak of `file` and of its `result`."""
    typed = {
        "file": shlex.quote(file),
        "result": shlex.quote(result),
        "python": json.dumps(result, ensure_ascii=False),
    }
    return string.Template(_text(template)).substitute(name=name, **typed)


def _text(template: str) -> str:
    return files(__package__).joinpath(f"{template}.yaml").read_text(encoding="utf-8")
