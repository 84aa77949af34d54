"""Evaluate numbers of a scene given as expressions of its parameters: text that begins with `=`, such as `=L/2 + 0.01`.

The notation is that of `rodsim.expressions`. An expression of the time t is left for the fields that accept functions of
time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from rigid.checks import shown
from rodsim.components.time_expressions import TIME
from rodsim.expressions import ExpressionError, bound, names_in, number_of, parsed
from rodsim.scenes.errors import Path, SceneError
from rodsim.scenes.yaml_data import Source

SIGN, PARAMETERS = "=", "parameters"
DEEPEST = 40  # nesting of data that is not from a file


class Parameters(Mapping[str, float]):
    """Parameters of a scene by name, evaluated on first access."""

    def __init__(self, data: Any) -> None:
        values = data.get(PARAMETERS) if isinstance(data, dict) else None
        self._values = values if isinstance(values, dict) else {}
        self._evaluated: dict[str, float] = {}
        self._in_progress: list[str] = []

    def __getitem__(self, name: str) -> float:
        if name in self._evaluated:
            return self._evaluated[name]
        value = self._values[name]
        if is_expression(value):
            if name in self._in_progress:
                circle = [*self._in_progress[self._in_progress.index(name) :], name]
                raise ValueError(
                    f"parameters depend on each other in a circle, {' -> '.join(circle)}. Set one of them to a number."
                )
            self._in_progress.append(name)
            try:
                value = self._evaluated[name] = number_of(value[len(SIGN) :], self)
                return value
            finally:
                self._in_progress.pop()
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"parameter '{name}' = {shown(value)} is not a number")
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def is_expression(value: Any) -> bool:
    """Return True if a value of a scene is an expression."""
    return isinstance(value, str) and value.startswith(SIGN)


def evaluated(source: Source, parameters: Parameters) -> Source:
    """Return the source with expressions replaced by numbers; SceneError names line, text and remedy."""
    if not isinstance(source.data, dict):
        return source
    problems: list[tuple[str, int, str]] = []

    def replaced(value: Any, path: Path) -> Any:
        """Return the data with expressions replaced by numbers; add to `problems` those that have none."""
        if isinstance(value, dict) and len(path) <= DEEPEST:
            return {key: replaced(x, (*path, key)) for key, x in value.items()}
        if isinstance(value, list) and len(path) <= DEEPEST:
            return [replaced(x, (*path, k)) for k, x in enumerate(value)]
        if not is_expression(value) or is_of_time(value, parameters):
            return value
        try:
            if len(path) == 2 and path[0] == PARAMETERS:
                return parameters[str(path[1])]
            return number_of(value[len(SIGN) :], parameters)
        except ValueError as error:
            where = ".".join(str(part) for part in path)
            problems.append((*source.place(path), f"{where} = {shown(value)}: {error}"))
            return value

    data = replaced(source.data, ())
    if problems:
        raise SceneError(sorted(set(problems))[:10])
    return Source(source.file, data, source.lines, source.text, source.what)


def is_of_time(text: str, parameters: Mapping[str, float]) -> bool:
    """Return True if an expression contains the time t, and no parameter is called t."""
    try:
        return TIME not in parameters and TIME in names_in(parsed(text.removeprefix(SIGN)))
    except ExpressionError:
        return False


def formula_of_time(text: str, parameters: Mapping[str, float]) -> str | float:
    """Return an expression with numbers in place of parameters: a number if it does not contain the time.

    Raises ValueError if it cannot be read or contains a name that is not known.
    """
    text = text.removeprefix(SIGN)
    if not is_of_time(text, parameters):
        return number_of(text, parameters)
    return ast.unparse(bound(parsed(text), parameters, [TIME]))
