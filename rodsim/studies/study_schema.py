"""Schema of study files, as pydantic models."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import Field, FiniteFloat, model_validator

from rodsim.scenes.schema_types import Name, Number, Part, Positive

MAX_CASES = 1_000_000  # largest number of cases of a study
_PICTURE = re.compile(r"\.(png|pdf|svg)$", re.IGNORECASE)
Count = Annotated[int, Field(ge=1, le=MAX_CASES)]
Pair = Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]


class ParameterEntry(Part):
    """A parameter: the paths that it sets, and its values.

    `path`: one or several paths in the scene; a mapping gives each a factor. By default the parameter's name is its path.
    Values: `values`; or `low` and `high`, with `n` values on a grid; or `normal: [mean, deviation]` or `uniform: [low, high]`,
    drawn again for each seed.
    """

    path: Name | list[Name] | dict[Name, Number] | None = None
    values: Annotated[list[Any], Field(min_length=1)] | None = None
    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    n: Count | None = None
    scale: Literal["linear", "log"] = "linear"
    normal: Pair | None = None
    uniform: Pair | None = None
    unit: str | None = None

    @model_validator(mode="after")
    def _one_kind_of_values(self) -> ParameterEntry:
        """Raise ValueError unless the values are given in exactly one consistent way."""
        if (self.low is None) != (self.high is None):
            raise ValueError("give both low and high")
        kinds = [w for w in ("values", "low", "normal", "uniform") if getattr(self, w) is not None]
        if len(kinds) != 1:
            given_kinds = " and ".join(kinds) if kinds else "nothing"
            raise ValueError(
                f"it has {given_kinds}: expected exactly one of values, low and high, normal, uniform"
            )
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError("low is not below high; exchange them")
        if self.scale == "log" and (self.low is None or self.low <= 0.0):
            raise ValueError("scale log is for low and high above 0; use linear")
        if self.n is not None and self.low is None:
            raise ValueError("n is for low and high; remove it")
        if self.normal is not None and self.normal[1] < 0.0:
            raise ValueError("the deviation of normal is negative; give 0 or more")
        if self.uniform is not None and not self.uniform[0] < self.uniform[1]:
            raise ValueError("uniform gives [low, high], low first")
        return self


class DesignEntry(Part):
    """Design of the cases: all combinations, rows of the lists, or `n` samples; `seeds`: repeat each case with every seed."""

    type: Literal["grid", "list", "latin_hypercube", "sobol"] = "grid"
    n: Count | None = None
    seeds: Count | Annotated[list[Seed], Field(min_length=1)] | None = None


class PlotEntry(Part):
    """Picture of two or three columns: `y` over `x`, or `color` over both."""

    x: Name
    y: Name
    color: Name | None = None
    kind: Literal["curves", "heat", "scatter"] | None = None
    file: Name | None = None
    log: Annotated[list[Name], Field(max_length=3)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _can_be_drawn(self) -> PlotEntry:
        """Raise ValueError if kind, columns and file name do not fit each other."""
        if self.kind == "heat" and self.color is None:
            raise ValueError("a heat map is of three columns; give color")
        if self.kind == "curves" and self.color is not None:
            raise ValueError("curves are of two columns; remove color, or give heat or scatter")
        for column in self.log:
            if column not in (self.x, self.y, self.color):
                raise ValueError(f"log: '{column}' is not one of its columns; give a column of x, y or color")
        if self.file is not None and (
            PurePath(self.file).name != self.file or not _PICTURE.search(self.file)
        ):
            raise ValueError(
                f"file = '{self.file}'; give a name without folders that ends in .png, .pdf or .svg"
            )
        return self


class ChosenEntry(Part):
    """Choice of the results to save: cases by number, or the `n` cases with the largest or smallest value of a measure."""

    cases: list[Annotated[int, Field(ge=0)]] = Field(default_factory=list)
    largest: Name | None = None
    smallest: Name | None = None
    n: Count = 1


class StudyEntry(Part):
    """Study: a scene, its parameters, the design of its cases and the measures."""

    name: Name = "study"
    scene: Name
    parameters: Annotated[dict[Name, ParameterEntry], Field(min_length=1)]
    design: DesignEntry = DesignEntry()
    measures: Annotated[dict[Name, str], Field(min_length=1)]
    keep: Literal["none", "all"] | ChosenEntry = "none"
    plots: list[PlotEntry] = Field(default_factory=list)
    limit: Positive | None = None
    """that a case may take, compiling apart; one that takes longer is recorded as failed [s]"""
    t_end: Positive | None = None
    dt: Positive | None = None
    integrator: Name | None = None
