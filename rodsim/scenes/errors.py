"""An error in a scene: file, line, object, value, cure."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

Path = tuple[str | int, ...]  # keys and indices from the top of a scene


class SceneError(ValueError):
    """A scene that cannot be used; `str()` is `file:line: what is wrong; what to do`, a line for each
    problem.
    """

    def __init__(self, problems: Sequence[tuple[str, int, str]]):
        self.problems = list(problems)
        super().__init__("\n".join(f"{file}:{line}: {text}" for file, line, text in self.problems))


class SceneProblem(ValueError):
    """A problem at one place of a scene, before its line is known."""

    def __init__(self, path: Path, text: str):
        super().__init__(text)
        self.path = path


def look_up(path: Path, what: str, name: str, table: dict[str, Any]) -> Any:
    """What the scene calls `name`; SceneProblem at `path` says what there is instead."""
    if name in table:
        return table[name]
    near = difflib.get_close_matches(name, table, 1)
    if near:
        cure = f"did you mean {near[0]!r}?"
    else:
        cure = f"there are {', '.join(table)}" if table else f"the scene has none; add a {what}"
    raise SceneProblem(path, f"there is no {what} {name!r}; {cure}")
