"""Designs of a study: grids, lists, Latin hypercubes and Sobol points of its parameters, repeated with seeds."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rodsim.studies.errors import StudyError
from rodsim.studies.units import unit_of

if TYPE_CHECKING:
    from rodsim.studies.study_schema import DesignEntry, ParameterEntry

MOST_CASES = 1_000_000  # largest number of cases of a study
SEED = "seed"  # name of the column of seeds


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
    found: list[dict[str, Any]] = []
    for seed in [None] if seeds is None else seeds:
        for row in _DESIGNS[design.type](varied, design, seed or 0):
            values = {**row, **{p.name: p.drawn(seed or 0) for p in drawn}}
            ordered = {p.name: values[p.name] for p in parameters}
            found.append(ordered if seed is None else {**ordered, SEED: seed})
            if len(found) > MOST_CASES:
                raise StudyError(f"the design has more than {MOST_CASES} cases; take fewer values or samples")
    return found


def _seeds(design: DesignEntry) -> list[int] | None:
    """Return the seeds of a design, 0 to n - 1 if only their number is given; None if it has no seeds."""
    if design.seeds is None:
        return None
    return list(range(design.seeds)) if isinstance(design.seeds, int) else design.seeds


def _check_count(design: DesignEntry) -> None:
    """Raise StudyError if the number of samples is missing, superfluous or, for Sobol points, no power of two."""
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
    if np.prod([float(len(values)) for values in steps]) > MOST_CASES:
        raise StudyError(f"the grid has more than {MOST_CASES} cases; take fewer values")
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*steps)]


def _list(parameters: Sequence[Parameter], design: DesignEntry, seed: int) -> list[dict[str, Any]]:
    """Combine the first values of all parameters, then the second values of all, and so on."""
    steps = {parameter.name: parameter.steps() for parameter in parameters}
    lengths = {name: len(values) for name, values in steps.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"'{name}' has {n}" for name, n in lengths.items())
        raise StudyError(f"design list: all parameters need as many values; {told}")
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
