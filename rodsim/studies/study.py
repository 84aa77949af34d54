"""Study: target, parameters, design, measures and saved results; all are checked before anything runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rigid import checks
from rodsim.studies import table
from rodsim.studies.bases import Base, FunctionBase, SceneBase
from rodsim.studies.cases import Case
from rodsim.studies.designs import Parameter, rows
from rodsim.studies.errors import StudyError, near
from rodsim.studies.keys import key, program, structure
from rodsim.studies.measures import Measure, check_words, parse

if TYPE_CHECKING:
    from rodsim.studies.study_schema import ChosenEntry, DesignEntry, PlotEntry

KEEP = ("none", "all")


@dataclass
class Study:
    """A study and its cases; the constructor checks it and raises StudyError or SceneError before anything runs."""

    name: str
    base: Base
    parameters: dict[str, Parameter]
    design: DesignEntry
    measures: dict[str, Measure]
    keep: str | ChosenEntry = "none"
    plots: list[PlotEntry] = field(default_factory=list)
    sampler: Any = None
    limit: float | None = None  # time limit of a case, s

    def __post_init__(self) -> None:
        if self.limit is not None:
            self.limit = checks.number("study", "limit", self.limit, positive=True)
        self.rows = rows(list(self.parameters.values()), self.design)
        self.columns = list(self.rows[0]) if self.rows else []  # names of the parameters, and of the seed
        table.check_columns(self.columns, list(self.measures))
        self.units = {name: parameter.unit for name, parameter in self.parameters.items()}
        self._check_seeds()
        self._check_keep()
        self._check_first()
        for plot in self.plots:
            for column in (plot.x, plot.y, plot.color):
                self._check_column(column)
        self._asked = key(dict(self.measures), self.sampler)  # hashed once, not for each case
        self.cases = [self._case(number, values) for number, values in enumerate(self.rows)]

    def _check_column(self, column: str | None) -> None:
        """Raise StudyError unless the table will have the column with numbers; columns of a function are known only later."""
        known = [table.CASE, *self.columns, *self.measures]
        if column is not None and self.measures and column not in known:
            raise StudyError(f"plot: there is no column '{column}'; {near(column, known, 'there are')}")
        if column in self.columns and not all(isinstance(row[column], int | float) for row in self.rows):
            raise StudyError(f"plot: '{column}' holds words or lists; choose a column of numbers")

    def _case(self, number: int, values: dict[str, Any]) -> Case:
        """Return a case with the hashes of its contents and of its structure."""
        content = self.base.content(values)
        return Case(number, key(program(), content, self._asked), structure(content), values)

    def _check_seeds(self) -> None:
        """Raise StudyError if seeds would only repeat identical cases of a scene."""
        takes_seed = not isinstance(self.base, SceneBase)
        varies = any(p.random for p in self.parameters.values()) or self.design.type in (
            "latin_hypercube",
            "sobol",
        )
        if self.design.seeds is not None and not varies and not takes_seed:
            raise StudyError(
                "design: seeds repeat the same cases; give a parameter `normal` or `uniform`, or leave them out"
            )

    def _check_keep(self) -> None:
        """Raise StudyError if the choice of saved results refers to an unknown case or measure."""
        if isinstance(self.keep, str):
            if self.keep not in KEEP:
                raise StudyError(f"keep = '{self.keep}'; give none, all, or which")
            return
        for number in self.keep.cases:
            if number >= len(self.rows):
                raise StudyError(f"keep: there is no case {number}; the last is {len(self.rows) - 1}")
        for column in (self.keep.largest, self.keep.smallest):
            if column is not None and column not in self.measures:
                raise StudyError(
                    f"keep: there is no measure '{column}'; {near(column, self.measures, 'there are')}"
                )

    def _check_first(self) -> None:
        """Check the first case, its measures against its parts and end time, and for a scene further cases (`_ends`)."""
        first = self.rows[0]
        if isinstance(self.base, FunctionBase):
            self._check_made(self.base, first)
            return
        try:
            layout, end = self.base.layout(first), self.base.end(first)
        except ValueError as error:
            raise StudyError(f"{self._case_in_words(0)}: {error}") from None
        for name, what in self.measures.items():
            if isinstance(what, str) and layout is not None:
                self.units[name] = parse(what, layout, end).unit
        if isinstance(self.base, SceneBase):
            for number in self._ends():
                try:
                    self.base.end(self.rows[number])
                except ValueError as error:
                    raise StudyError(f"{self._case_in_words(number)}: {error}") from None

    def _check_made(self, base: FunctionBase, first: dict[str, Any]) -> None:
        """Check named measures against the model that a function makes for the first case; without one, for all models."""
        named = {name: what for name, what in self.measures.items() if isinstance(what, str)}
        layout = base.made_layout(first) if named else None
        for name, text in named.items():
            if layout is None:
                check_words(text)
            else:
                self.units[name] = parse(text, layout).unit

    def _ends(self) -> list[int]:
        """Return the numbers of further cases to check: the first with the smallest, the largest and each non-numeric value."""
        assert isinstance(self.base, SceneBase)
        found = {0: 0}
        for name in self.base.places:
            column = [row[name] for row in self.rows]
            found |= {column.index(value): 0 for value in _ends(column)}
        return sorted(found)[1:]

    def _case_in_words(self, number: int) -> str:
        """Describe a case by its values; if it differs from the first case in one value, by this value alone."""
        row, first = self.rows[number], self.rows[0]
        differing = [name for name in row if not number or row[name] != first[name]]
        if number and len(differing) == 1:
            return f"parameter '{differing[0]}' = {row[differing[0]]!r:.60}"
        return f"case {number}, " + ", ".join(f"{name} = {row[name]!r:.60}" for name in differing)


def _ends(values: list[Any]) -> list[Any]:
    """Return the smallest and largest number of the values, and the other values (at most 50)."""
    plain = [x for x in values if isinstance(x, int | float) and not isinstance(x, bool)]
    others = [x for k, x in enumerate(values) if (not isinstance(x, int | float)) and x not in values[:k]]
    return ([min(plain), max(plain)] if plain else []) + others[:50]
