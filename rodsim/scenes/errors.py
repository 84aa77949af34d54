"""An error in a scene: file, line, object, value, cure."""

from __future__ import annotations

from collections.abc import Sequence

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
