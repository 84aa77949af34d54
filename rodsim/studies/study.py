"""Study: target, parameters, design of its cases, measures and saved results; all are checked before anything runs."""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rigid import checks
from rigid.lazy_modules import LazyModule
from rodsim.studies.case_keys import key, program, structure
from rodsim.studies.cases import Case
from rodsim.studies.errors import StudyError, near
from rodsim.studies.measures import Measure, check_words, parse
from rodsim.studies.study_targets import FunctionTarget, SceneTarget, StudyTarget

if TYPE_CHECKING:
    from rodsim.studies import study_schema as schema
    from rodsim.studies.study_schema import ChosenEntry, DesignEntry, ParameterEntry, PlotEntry
else:
    schema = LazyModule("rodsim.studies.study_schema")

KEEP = ("none", "all")


@dataclass
class Study:
    """A study and its cases; the constructor checks it and raises StudyError or SceneError before anything runs."""

    name: str
    base: StudyTarget
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
        check_columns(self.columns, list(self.measures))
        self.units = {name: parameter.unit for name, parameter in self.parameters.items()}
        self._check_seeds()
        self._check_keep()
        self._check_first()
        for plot in self.plots:
            for column in (plot.x, plot.y, plot.color):
                self._check_column(column)
        self._measures_key = key(dict(self.measures), self.sampler)  # hashed once, not for each case
        self.cases = [self._case(number, values) for number, values in enumerate(self.rows)]

    def _check_column(self, column: str | None) -> None:
        """Raise StudyError unless the table will have the column with numbers; columns of a function are known only later."""
        known = [CASE, *self.columns, *self.measures]
        if column is not None and self.measures and column not in known:
            raise StudyError(f"plot: there is no column '{column}'; {near(column, known, 'there are')}")
        if column in self.columns and not all(isinstance(row[column], int | float) for row in self.rows):
            raise StudyError(f"plot: '{column}' holds words or lists; choose a column of numbers")

    def _case(self, number: int, values: dict[str, Any]) -> Case:
        """Return a case with the hashes of its contents and of its structure."""
        content = self.base.content(values)
        return Case(number, key(program(), content, self._measures_key), structure(content), values)

    def _check_seeds(self) -> None:
        """Raise StudyError if seeds would only repeat identical cases of a scene."""
        takes_seed = not isinstance(self.base, SceneTarget)
        varies = any(p.random for p in self.parameters.values()) or self.design.type in (
            "latin_hypercube",
            "sobol",
        )
        if self.design.seeds is not None and not varies and not takes_seed:
            raise StudyError(
                "design: seeds repeat the same cases; give a parameter `normal` or `uniform`, or remove them"
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
        if isinstance(self.base, FunctionTarget):
            self._check_function_measures(self.base, first)
            return
        try:
            layout, end = self.base.layout(first), self.base.end(first)
        except ValueError as error:
            raise StudyError(f"{self._describe_case(0)}: {error}") from None
        for name, what in self.measures.items():
            if isinstance(what, str) and layout is not None:
                self.units[name] = parse(what, layout, end).unit
        if isinstance(self.base, SceneTarget):
            for number in self._ends():
                try:
                    self.base.end(self.rows[number])
                except ValueError as error:
                    raise StudyError(f"{self._describe_case(number)}: {error}") from None

    def _check_function_measures(self, base: FunctionTarget, first: dict[str, Any]) -> None:
        """Check named measures against the model that a function makes for the first case; without one, for all models."""
        named = {name: what for name, what in self.measures.items() if isinstance(what, str)}
        layout = base.layout_from_function(first) if named else None
        for name, text in named.items():
            if layout is None:
                check_words(text)
            else:
                self.units[name] = parse(text, layout).unit

    def _ends(self) -> list[int]:
        """Return the numbers of further cases to check: the first with the smallest, the largest and each non-numeric value."""
        assert isinstance(self.base, SceneTarget)
        indices = {0: 0}
        for name in self.base.places:
            column = [row[name] for row in self.rows]
            indices |= {column.index(value): 0 for value in _ends(column)}
        return sorted(indices)[1:]

    def _describe_case(self, number: int) -> str:
        """Describe a case by its values; if it differs from the first case in one value, by this value alone."""
        row, first = self.rows[number], self.rows[0]
        differing = [name for name in row if not number or row[name] != first[name]]
        if number and len(differing) == 1:
            return f"parameter '{differing[0]}' = {row[differing[0]]!r:.60}"
        return f"case {number}, " + ", ".join(f"{name} = {row[name]!r:.60}" for name in differing)


def _ends(values: list[Any]) -> list[Any]:
    """Return the smallest and largest number of the values, and the other values (at most 50)."""
    plain = [x for x in values if isinstance(x, int | float) and not isinstance(x, bool)]
    non_numeric = [
        x for k, x in enumerate(values) if (not isinstance(x, int | float)) and x not in values[:k]
    ]
    return ([min(plain), max(plain)] if plain else []) + non_numeric[:50]


CASE, ERROR = "case", "error"  # names of the columns of numbers and of messages
SEED = "seed"  # name of the column of seeds


# --- parameters and designs


@dataclass(frozen=True)
class Parameter:
    """A parameter of a study: its name, its entry in the study file (paths, values or distribution) and its unit."""

    name: str
    entry: ParameterEntry
    unit: str = ""

    @property
    def places(self) -> dict[str, float | None]:
        """Return the paths that the parameter sets, each with a factor; None: the value is not multiplied."""
        path = self.entry.path
        if isinstance(path, dict):
            return dict(path)
        paths = [self.name] if path is None else [path] if isinstance(path, str) else path
        return dict.fromkeys(paths)

    @property
    def random(self) -> bool:
        """Return whether the value is random, drawn again for each seed."""
        return self.entry.normal is not None or self.entry.uniform is not None

    def steps(self) -> list[Any]:
        """Return the values of the parameter for a grid or list design."""
        if self.entry.values is not None:
            return list(self.entry.values)
        if self.entry.n is None:
            raise StudyError(f"parameter '{self.name}': low and high without n; give n values on a grid")
        low, high = self._span()
        if self.entry.n == 1:
            return [low]
        space = np.geomspace if self.entry.scale == "log" else np.linspace
        return [float(x) for x in space(low, high, self.entry.n)]

    def scaled(self, u: float) -> float:
        """Return the value at the fraction `u` (0 to 1) between low and high, on a linear or logarithmic scale."""
        low, high = self._span()
        if self.entry.scale == "log":
            return float(low * (high / low) ** u)
        return float(low + u * (high - low))

    def drawn(self, seed: int) -> float:
        """Draw the value of a random parameter; it depends only on the seed and the name of the parameter."""
        generator = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        if self.entry.normal is not None:
            return float(generator.normal(self.entry.normal[0], self.entry.normal[1]))
        assert self.entry.uniform is not None
        return float(generator.uniform(self.entry.uniform[0], self.entry.uniform[1]))

    def _span(self) -> tuple[float, float]:
        """Return low and high; raise StudyError if they are missing."""
        if self.entry.low is None or self.entry.high is None:
            raise StudyError(f"parameter '{self.name}': samples lie between low and high; give both")
        return self.entry.low, self.entry.high


def made_parameter(name: str, entry: ParameterEntry) -> Parameter:
    """Return a parameter; if its entry has no unit, take the unit of its first path."""
    parameter = Parameter(name, entry)
    unit = entry.unit
    if unit is None:
        unit = unit_of(next(iter(parameter.places)), entry.values or ())
    return Parameter(name, entry, unit)


def rows(parameters: Sequence[Parameter], design: DesignEntry) -> list[dict[str, Any]]:
    """Return the cases: values by parameter name, with the seed if the design has seeds."""
    if any(parameter.name == SEED for parameter in parameters):
        raise StudyError(f"parameter '{SEED}': the design gives it; use `seeds` there, or another name")
    drawn = [parameter for parameter in parameters if parameter.random]
    varied = [parameter for parameter in parameters if not parameter.random]
    seeds = _seeds(design)
    if drawn and seeds is None:
        raise StudyError(f"parameter '{drawn[0].name}' is drawn with a seed; give the design `seeds: 10`")
    _check_count(design)
    cases: list[dict[str, Any]] = []
    for seed in [None] if seeds is None else seeds:
        for row in _DESIGNS[design.type](varied, design, seed or 0):
            values = {**row, **{p.name: p.drawn(seed or 0) for p in drawn}}
            ordered = {p.name: values[p.name] for p in parameters}
            cases.append(ordered if seed is None else {**ordered, SEED: seed})
            if len(cases) > schema.MAX_CASES:
                raise StudyError(
                    f"the design has more than {schema.MAX_CASES} cases; take fewer values or samples"
                )
    return cases


def _seeds(design: DesignEntry) -> list[int] | None:
    """Return the seeds of a design, 0 to n - 1 if only their number is given; None if it has no seeds."""
    if design.seeds is None:
        return None
    return list(range(design.seeds)) if isinstance(design.seeds, int) else design.seeds


def _check_count(design: DesignEntry) -> None:
    """Raise StudyError if the number of samples is missing, superfluous or, for Sobol points, not a power of two."""
    sampled = design.type in ("latin_hypercube", "sobol")
    if sampled and design.n is None:
        raise StudyError(f"design {design.type}: how many samples? give n")
    if not sampled and design.n is not None:
        raise StudyError(f"design {design.type}: n = {design.n} is for samples; give it to the parameters")
    if design.type == "sobol" and design.n is not None and design.n & (design.n - 1):
        below = 1 << (design.n.bit_length() - 1)
        raise StudyError(
            f"design sobol: n = {design.n}; its points are balanced for powers of two only, use {below} or {2 * below}"
        )


def _grid(parameters: Sequence[Parameter], design: DesignEntry, seed: int) -> list[dict[str, Any]]:
    """Return all combinations of the values; the last parameter changes fastest."""
    names = [parameter.name for parameter in parameters]
    steps = [parameter.steps() for parameter in parameters]
    if np.prod([float(len(values)) for values in steps]) > schema.MAX_CASES:
        raise StudyError(f"the grid has more than {schema.MAX_CASES} cases; take fewer values")
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*steps)]


def _list(parameters: Sequence[Parameter], design: DesignEntry, seed: int) -> list[dict[str, Any]]:
    """Combine the first values of all parameters, then the second values of all, and so on."""
    steps = {parameter.name: parameter.steps() for parameter in parameters}
    lengths = {name: len(values) for name, values in steps.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"'{name}' has {n}" for name, n in lengths.items())
        raise StudyError(f"design list: all parameters need as many values; {counts}")
    return [dict(zip(steps, values, strict=True)) for values in zip(*steps.values(), strict=True)]


def _sampled(parameters: Sequence[Parameter], design: DesignEntry, seed: int) -> list[dict[str, Any]]:
    """Return `n` samples of a Latin hypercube or of Sobol points between low and high of the parameters."""
    from scipy.stats import qmc

    assert design.n is not None
    if not parameters:
        raise StudyError(f"design {design.type}: no parameter has low and high; give them, or use a grid")
    sampler: Any = qmc.LatinHypercube if design.type == "latin_hypercube" else qmc.Sobol
    points = sampler(d=len(parameters), seed=np.random.default_rng(seed)).random(design.n)
    return [{p.name: p.scaled(float(u)) for p, u in zip(parameters, point, strict=True)} for point in points]


_DESIGNS = {"grid": _grid, "list": _list, "latin_hypercube": _sampled, "sobol": _sampled}


def is_grid(parameters: Mapping[str, Parameter], design: DesignEntry) -> bool:
    """Return whether the cases are a full grid, so that the table has an axis for each parameter."""
    return design.type == "grid" and not any(parameter.random for parameter in parameters.values())


_UNITS = {
    "m": "radius outer_radius inner_radius width height length pitch position curve center at size",
    "Pa": "E G",
    "kg/m^3": "density",
    "N": "EA GA",
    "N m^2": "GJ EI",
    "kg/m": "mass_per_length",
    "kg m": "inertia_per_length",
    "kg": "mass",
    "m/s": "velocity",
    "rad/s": "angular_velocity",
    "s": "dt t_end t_start t_peak damping_time times",
    "m/s^2": "gravity",
    "Hz": "frequency",
    "deg": "angle_deg twist_deg",
}
_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}


def unit_of(path: str, values: Sequence[Any] = ()) -> str:
    """Return the unit of the value at `path` of a scene; "" if it is not known from the path, or if the values are text."""
    if any(isinstance(value, str) for value in values):
        return ""
    word = re.split(r"\.", re.sub(r"(\[-?\d+\])+$", "", path))[-1]
    return _OF.get(word, "")


def check_columns(parameters: Sequence[str], measures: Sequence[str]) -> None:
    """Raise StudyError if two columns would have the same name."""
    seen = {CASE: "the table's own", ERROR: "the table's own"}
    for kind, names in (("a parameter", parameters), ("a measure", measures)):
        for name in names:
            if name in seen:
                raise StudyError(f"'{name}' is {kind} and {seen[name]}; choose another name for one of them")
            seen[name] = kind
