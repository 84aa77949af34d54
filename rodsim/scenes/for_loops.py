"""Repeat entries of lists in scenes: an entry with the key `for` stands for one entry per value of its variables.

    bodies:
      - for: {i: 0 to 9}
        name: link{i}
        position: [=i*length, 0, 0]
        shape: {type: box, size: [=length, 0.01, 0.01], mass: 0.1}

In the texts of the entry, {i} or an expression such as {i + 1} in braces is replaced by its value. In expressions, texts that
begin with `=`, i is a number like a parameter. Several variables give all combinations; the last one varies fastest.
"""

from __future__ import annotations

import ast
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from rigid.checks import shown
from rodsim.components.time_expressions import TIME
from rodsim.expressions import bound, name_fault, names_in, number_of, parsed
from rodsim.scenes.errors import Path, SceneProblem
from rodsim.scenes.parameters import DEEPEST, SIGN, Parameters, is_expression
from rodsim.scenes.yaml_data import MOST_VALUES, Source

FOR = "for"
_BRACES = re.compile(r"\{([^{}]*)\}")
_TO = re.compile(r"(.+?)\s+to\s+(.+)")
_WAYS = "write `0 to 9`, `range(n)` as in Python, or a list of values"


def expand_for_loops(source: Source) -> Source:
    """Return a scene with repeated entries written out; the lines of their values are those of the entry with `for`."""
    if not _repeats(source.data):
        return source
    made = Source(source.file, None, {}, source.text, source.what)
    try:
        made.data = _Writer(source, made.lines).copied(source.data, (), (), {})
    except SceneProblem as problem:
        raise source.located(problem) from None
    return made


def _repeats(value: Any, depth: int = 0) -> bool:
    """Return True if an entry of a list in the data has the key `for`."""
    if depth > DEEPEST:
        return False
    if isinstance(value, dict):
        return any(_repeats(x, depth + 1) for x in value.values())
    return isinstance(value, list) and any(
        (isinstance(x, dict) and FOR in x) or _repeats(x, depth + 1) for x in value
    )


class _Writer:
    """Copy data with repeated entries written out, and record the lines of the copies in `lines`."""

    def __init__(self, source: Source, lines: dict[Path, Any]) -> None:
        self._old, self._new, self._count = source.lines, lines, 0
        self._parameters = Parameters(source.data)

    def copied(self, value: Any, old: Path, new: Path, variables: Mapping[str, Any]) -> Any:
        """Return a copy of the value at the path `old`, which is at `new` in the copy, for values of the variables."""
        self._count += 1
        if self._count > MOST_VALUES or len(old) > 2 * DEEPEST:
            raise SceneProblem(old, f"'{FOR}' makes more than {MOST_VALUES} values; repeat fewer entries")
        if old in self._old:
            self._new[new] = self._old[old]
        if isinstance(value, dict):
            return {
                key: self.copied(x, (*old, key), (*new, key), variables)
                for key, x in value.items()
                if key != FOR or not old or not isinstance(old[-1], int)
            }
        if isinstance(value, list):
            items: list[Any] = []
            for k, item in enumerate(value):
                for inner in self._rounds(item, (*old, k), variables):
                    items.append(self.copied(item, (*old, k), (*new, len(items)), inner))
            return items
        if isinstance(value, str) and variables:
            return self._filled(value, old, variables)
        return value

    def _rounds(self, item: Any, path: Path, variables: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Iterate over the values of the variables for which an entry is written; the given ones if it has no `for`."""
        if not isinstance(item, dict) or FOR not in item:
            yield variables
            return
        loop_variables, where = item[FOR], (*path, FOR)
        if not isinstance(loop_variables, dict) or not loop_variables:
            raise SceneProblem(
                where, f"{FOR} = {shown(loop_variables)} does not name a variable; write it as {{i: 0 to 9}}"
            )
        for name in loop_variables:
            fault = name_fault(name)
            fault = fault or ("is a parameter too; choose another name" if name in self._parameters else None)
            if fault:
                raise SceneProblem(
                    where, f"{FOR}: the variable {name!r} {fault} (a range with commas is put in quotes)"
                )
        ranges = [self._values(name, text, where, variables) for name, text in loop_variables.items()]
        for values in product(*ranges):
            yield {**variables, **dict(zip(loop_variables, values, strict=True))}

    def _values(self, name: str, text_or_list: Any, path: Path, variables: Mapping[str, Any]) -> list[Any]:
        """Return the values of a variable: of a list, of `range(...)` as in Python, or of `a to b`, which includes b."""
        what = f"{FOR}: {name} = {shown(text_or_list)}"
        if isinstance(text_or_list, list) and all(isinstance(x, int | float | str) for x in text_or_list):
            return [self._filled(x, path, variables) if isinstance(x, str) else x for x in text_or_list]
        text = text_or_list.strip() if isinstance(text_or_list, str) else ""
        ends = _TO.fullmatch(text)
        try:
            call = parsed(text) if text.startswith("range(") else None
            limits = (
                [ast.unparse(x) for x in call.args]
                if isinstance(call, ast.Call)
                else list(ends.groups() if ends else ())
            )
            numbers = [number_of(limit, ChainMap(dict(variables), self._parameters)) for limit in limits]  # type: ignore[arg-type]
        except ValueError as error:
            raise SceneProblem(path, f"{what}: {error}") from None
        if not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:
            raise SceneProblem(path, f"{what} has no values; {_WAYS}")
        for limit, number in zip(limits, numbers, strict=True):
            if number != round(number) or abs(number) > MOST_VALUES:
                raise SceneProblem(
                    path, f"{what}: {limit} is {number:g}; give a whole number up to {MOST_VALUES}"
                )
        integers = [round(number) for number in numbers]
        return list(range(integers[0], integers[1] + 1) if ends else range(*integers))

    def _filled(self, text: str, path: Path, variables: Mapping[str, Any]) -> Any:
        """Return a text with values in place of the variables."""
        numbers = {name: x for name, x in variables.items() if not isinstance(x, str)}
        known = ChainMap(numbers, self._parameters)  # type: ignore[arg-type]  # both are only read

        def value_of(match: re.Match[str]) -> str:
            """Return the text of the value of an expression in braces."""
            name = match[1].strip()
            return str(variables[name]) if name in variables else str(number_of(name, known))

        try:
            text = _BRACES.sub(value_of, text)
            if is_expression(text):
                tree = parsed(text[len(SIGN) :])
                if names_in(tree) & numbers.keys():
                    return SIGN + ast.unparse(bound(tree, numbers, [*self._parameters, TIME]))
        except ValueError as error:
            raise SceneProblem(path, f"{shown(text)}: {error}") from None
        return text
