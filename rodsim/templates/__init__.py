"""Templates of scenes: commented YAML files with placeholders.

$name is the name of the scene, $file and $result are its file and its result as typed at the command line, and $python is the
result as a string in Python.
"""

from __future__ import annotations

import json
import shlex
import string
from importlib.resources import files

ORDER = ("cable", "mechanism", "soft-arm", "top", "chain")  # in the order of the list in the help


def words() -> dict[str, str]:
    """Return the description of each template, which is the first line of its file."""
    return {name: _text(name).splitlines()[0].removeprefix("# ") for name in ORDER}


def scene(template: str, name: str, file: str, result: str) -> str:
    """Return the text of a scene from a template; `name`: its name in YAML; `file`, `result`: files named in its comments."""
    typed = {
        "file": shlex.quote(file),
        "result": shlex.quote(result),
        "python": json.dumps(result, ensure_ascii=False),
    }
    return string.Template(_text(template)).substitute(name=name, **typed)


def _text(template: str) -> str:
    return files(__package__).joinpath(f"{template}.yaml").read_text(encoding="utf-8")
