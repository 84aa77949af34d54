"""Define the errors of scenes, which name file, line, object, value and remedy."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

Path = tuple[str | int, ...]  # keys and indices from the top of a scene


class SceneError(ValueError):
    """Raised if a scene cannot be used; `str()` has a line `file:line: what is wrong; what to do` for each problem."""

    def __init__(self, problems: Sequence[tuple[str, int, str]]):
        self.problems = list(problems)
        super().__init__("\n".join(f"{file}:{line}: {text}" for file, line, text in self.problems))


class SceneProblem(ValueError):
    """Raised for a problem at one path of a scene, before its line is known; `other`: path of what it collides with."""

    def __init__(self, path: Path, text: str, other: Path | None = None):
        super().__init__(text)
        self.path, self.other = path, other


def look_up(path: Path, what: str, name: str, table: dict[str, Any]) -> Any:
    """Return the object `name` of a table; raise SceneProblem at `path` with the known names if there is none.

    `what`: kind of object, for the message.
    """
    if name in table:
        return table[name]
    near = difflib.get_close_matches(name, table, 1)
    if near:
        cure = f"did you mean {near[0]!r}?"
    else:
        cure = f"there are {', '.join(table)}" if table else f"the scene has none; add a {what}"
    raise SceneProblem(path, f"there is no {what} {name!r}; {cure}")
