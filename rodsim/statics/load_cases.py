"""Load cases and their combinations, in first-order or exact theory: `load_cases`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rigid import checks
from rigid.errors import ModelError
from rodsim.components.model_argument import model_argument_error
from rodsim.components.parameter_changes import GRAVITY
from rodsim.components.part_lookup import check_known
from rodsim.model import Model
from rodsim.results.errors import UnknownName
from rodsim.statics.equilibria import equilibrium
from rodsim.statics.first_order import FirstOrder
from rodsim.statics.linear_equilibria import LinearEquilibrium
from rodsim.statics.reactions import Reactions, as_xarray, write_csv
from rodsim.statics.section_forces import SectionForces


class Case(NamedTuple):
    """A load case: factors of loads by name, and motions of joints."""

    factors: dict[str, float]
    motions: dict[str, Any]


class LoadCases(Mapping[str, Any]):
    """Equilibria of load cases and combinations by name, as `load_cases` returns them.

    Parameters
    ----------
    results : mapping
        Name -> result of a case or combination.
    cases : sequence of str
        Names of the load cases; the others are combinations.

    Examples
    --------
    >>> from rodsim import Material, Model, Section, load_cases
    >>> model = Model("cantilever", gravity=(0, 0, -10.0))
    >>> section = Section.circular(0.01, Material(E=2e11, nu=0.3, density=7800))
    >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 4)
    >>> root = model.add_joint("root", "weld", model.ground, rod.start)
    >>> load_cases(model, {"dead": ["gravity"]}, {"more": {"dead": 1.35}})
    <LoadCases: dead, more>
    """

    def __init__(self, results: Mapping[str, Any], cases: Sequence[str]) -> None:
        self._results, self.cases = dict(results), tuple(cases)

    def __getitem__(self, name: str) -> Any:
        if name not in self._results:
            raise UnknownName(
                f"no load case or combination '{name}'; there are {', '.join(self._results) or 'none'}"
            )
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"<LoadCases: {', '.join(self._results)}>"

    @property
    def combinations(self) -> tuple[str, ...]:
        """Names of the combinations."""
        return tuple(name for name in self._results if name not in self.cases)

    @property
    def reactions(self) -> dict[str, Reactions]:
        """Reactions of every case and combination: name -> support -> force and moment."""
        return {name: result.reactions for name, result in self._results.items()}

    def reactions_to_csv(self, path: Path | str) -> Path:
        """Write all reactions as a table: case, support, its point in m, forces in N, moments in N m.

        Parameters
        ----------
        path : Path or str
            File to write, .csv.

        Returns
        -------
        Path
            The file.
        """
        return write_csv(path, self.reactions)

    def reactions_to_xarray(self) -> Any:
        """Return all reactions as an array of xarray with the dimensions case, support and component.

        Returns
        -------
        xarray.DataArray

        Raises
        ------
        ModelError
            If xarray is not installed (extra `notebook`).
        """
        return as_xarray(self.reactions)

    def envelope(self, rod: str) -> tuple[SectionForces, SectionForces]:
        """Return the least and the greatest section forces along a rod, over all combinations, or cases if there are none.

        Parameters
        ----------
        rod : str
            Name of the rod.

        Returns
        -------
        tuple of SectionForces
            Least and greatest values at each place.

        Raises
        ------
        UnknownName
            If there is no such rod.
        """
        every = [self[name].section_forces(rod) for name in self.combinations or self.cases]
        s = every[0].s
        N, M = (np.array([getattr(one, what) for one in every]) for what in "NM")
        return (
            SectionForces(s, N.min(axis=0), M.min(axis=0)),
            SectionForces(s, N.max(axis=0), M.max(axis=0)),
        )


def load_cases(
    model: Model,
    cases: Mapping[str, Sequence[str] | Mapping[str, float]],
    combinations: Mapping[str, Mapping[str, float]] | None = None,
    *,
    settlements: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None,
    linear: bool = True,
    load_time: float = 0.0,
) -> LoadCases:
    """Compute equilibria of a model under load cases and their combinations.

    Parameters
    ----------
    model : Model
        The model; joints and stiffness hold every part.
    cases : mapping of str to sequence of str, or to mapping of str to float
        Name of a load case -> names of its loads, or their factors: loads at points and along rods, joint forces, moving forces,
        and "gravity".
    combinations : mapping of str to mapping of str to float, optional
        Name of a combination -> factors of the load cases: ``{"ULS": {"dead": 1.35, "live": 1.5}}``.
    settlements : mapping, optional
        Name of a load case -> joint to the ground -> ``{"displacement": (3,), "rotation": (3,), "about": (3,)}``, as `motions` of
        `equilibrium`. A case may have loads, too.
    linear : bool, default True
        True: first-order theory, one factorisation for all. False: exact equilibria, one for each case and combination.
    load_time : float, default 0.0
        Time at which the loads are evaluated, s.

    Returns
    -------
    LoadCases
        Mapping of names to `LinearEquilibrium`, or `Equilibrium` if not `linear`. Stresses at the start, and what acts without
        being a load, such as a pressure, belong to every case and combination once.

    Raises
    ------
    ModelError
        If a case names a load that does not exist, or a combination a case that does not exist; if a name is used twice; or as
        `equilibrium`.

    See Also
    --------
    equilibrium : Computes one equilibrium under all loads.

    Examples
    --------
    >>> from rodsim import Material, Model, Section, load_cases
    >>> model = Model("beam", gravity=(0, 0, -9.81))
    >>> section = Section.rectangle(0.1, 0.2, Material(E=1.1e10, nu=0.3, density=500))
    >>> beam = model.add_rod("beam", [(0, 0, 0), (4, 0, 0)], section, 8, element="relative(2)")
    >>> left = model.add_joint("left", "revolute", model.ground, beam.start, axis=(0, 1, 0))
    >>> right = model.add_joint("right", "generic", model.ground, beam.end, locked=["y", "z", "rx", "rz"])
    >>> snow = model.add_distributed_load("snow", beam, (0, 0, -1000.0))
    >>> solved = load_cases(model, {"dead": ["gravity"], "live": ["snow"]}, {"ULS": {"dead": 1.35, "live": 1.5}})
    >>> float(solved["live"].reactions["left"].force[2].round(6))
    2000.0
    """
    if not isinstance(model, Model):
        raise model_argument_error("load_cases", model)
    checked, mixed = _checked(cases, combinations, settlements)
    built = model.build()
    solver = FirstOrder(model, built, None, load_time)
    known = [*solver.load_rows, GRAVITY]
    for name, case in checked.items():
        for load in case.factors:
            check_known(f"load case '{name}'", "load", load, known)
        for joint in case.motions:
            check_known(f"load case '{name}'", "joint", joint, list(model.joints))
    if not checks.flag("load_cases", "linear", linear):
        return _exact(model, checked, mixed, load_time)
    alone = {name: solver.response(case.factors, case.motions) for name, case in checked.items()}
    initial = solver.initial()
    results = {name: LinearEquilibrium(solver, initial.plus(x)) for name, x in alone.items()}
    for name, factors in mixed.items():
        total = initial
        for case_name, factor in factors.items():
            total = total.plus(alone[case_name], factor)
        results[name] = LinearEquilibrium(solver, total)
    return LoadCases(results, list(checked))


def _exact(
    model: Model, cases: Mapping[str, Case], combinations: Mapping[str, Mapping[str, float]], load_time: float
) -> LoadCases:
    """Return exact equilibria of all cases and combinations."""
    results = {}
    single = {name: {name: 1.0} for name in cases}
    for name, factors in {**single, **combinations}.items():
        loads: dict[str, float] = {}
        motions: dict[str, Any] = {}
        for case, factor in factors.items():
            for load, x in cases[case].factors.items():
                loads[load] = loads.get(load, 0.0) + factor * x
            for joint, motion in cases[case].motions.items():
                motions[joint] = _added(motions.get(joint), motion, factor)
        results[name] = equilibrium(
            model, load_factors=loads, motions=motions, load_time=load_time, progress=False
        )
    return LoadCases(results, list(cases))


def _added(first: dict[str, Any] | None, motion: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """Return the sum of a motion of a joint and a multiple of another one."""
    total = {"displacement": np.zeros(3), "rotation": np.zeros(3), **(first or {})}
    for what in ("displacement", "rotation"):
        total[what] = total[what] + factor * checks.vector("settlement", what, motion.get(what, np.zeros(3)))
    if "about" in motion:
        total["about"] = motion["about"]
    return total


def _checked(
    cases: Mapping[str, Sequence[str] | Mapping[str, float]],
    combinations: Mapping[str, Mapping[str, float]] | None,
    settlements: Mapping[str, Mapping[str, Mapping[str, Any]]] | None,
) -> tuple[dict[str, Case], dict[str, dict[str, float]]]:
    """Return load cases and combinations with checked names and factors."""
    checks.by_name("load_cases", "cases", cases, "{'dead': ['gravity', 'roof']}")
    checks.by_name("load_cases", "combinations", combinations, "{'ULS': {'dead': 1.35}}")
    checks.by_name("load_cases", "settlements", settlements, "{'sunk': {'left': {'displacement': (3,)}}}")
    made: dict[str, Case] = {}
    for name in [*cases, *(settlements or {})]:
        given = cases.get(name, ())
        if isinstance(given, str) or not isinstance(given, Sequence | Mapping):
            raise ModelError(
                f"load case '{name}': {checks.shown(given)} is not a list of loads; give [{checks.shown(given)}]"
            )
        factors = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given, 1.0)
        owner = f"load case '{name}'"
        numbers = {load: checks.number(owner, f"factor of '{load}'", x) for load, x in factors.items()}
        motions = dict((settlements or {}).get(name, {}))
        if not numbers and not motions:
            raise ModelError(f"{owner}: has no loads and no settlements. Name some, or remove the case")
        made[name] = Case(numbers, motions)
    mixed: dict[str, dict[str, float]] = {}
    for name, parts in (combinations or {}).items():
        owner = f"combination '{name}'"
        if name in made:
            raise ModelError(f"{owner}: a load case has this name; rename one of them")
        checks.by_name("load_cases", owner, parts, "{'dead': 1.35}")
        for case in parts:
            check_known(owner, "load case", case, list(made))
        mixed[name] = {case: checks.number(owner, f"factor of '{case}'", x) for case, x in parts.items()}
    return made, mixed
