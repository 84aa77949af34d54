"""Choose the cheapest mesh and step for an error from two sequences of runs, and verify the choice by refining it.

The choice is run, then again with twice the elements, then again with twice the elements and half the step. With the orders p
and q of the sequences

    e = 1.1 (d_mesh/(1 - 2^-p) + d_step/(1 - 2^-q)),   d: the largest distance of a point from run to run                 (1)

estimates the error from runs at the choice itself, which includes the interaction of mesh and step there. The estimate is
conservative: the two parts never cancel, and orders above 2 count as 2. If (1) exceeds the error, or is several times smaller,
the sequences are shifted to pass through the measured errors, and the next choice is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rigid.system import Floats
from rodsim.studies.errors import StudyError
from rodsim.studies.refined_runs import Plan, Run
from rodsim.studies.refinement import Series, cheapest, distance

COARSER = 4.0  # limit: how many times coarser than the scene's own mesh and step a choice may be
TRIES = 4  # largest number of choices that are run
SAFETY = 1.1  # safety factor in (1)
AIM = 0.8  # expected error of a choice, as a fraction of the requested error
LOOSE = 0.4  # fraction of the requested error: below it a coarser choice is tried, too

Runs = Callable[[list[Run]], list[dict[str, Floats]]]  # function: runs -> values of each run, by measure


@dataclass(frozen=True)
class Choice:
    """A choice of mesh and step with its estimated errors."""

    elements: dict[str, int]  # number of elements of each rod
    dt: float | None  # step, s; None for an equilibrium
    estimated: float  # relative error predicted by the sequences, largest of all measures
    mesh_error: float  # relative, found by refining the choice; of the measure with the largest sum
    step_error: float
    ok: bool  # whether their sum is not above the requested error

    @property
    def checked(self) -> float:
        """Return the error estimate (1), the largest of all measures."""
        return self.mesh_error + self.step_error

    def plain(self) -> dict[str, Any]:
        """Return the choice as plain data, for JSON."""
        return {**vars(self), "checked": self.checked}


def choose(
    plan: Plan,
    meshes: Mapping[str, Series],
    steps: Mapping[str, Series],
    scales: Mapping[str, float],
    error: float,
    run: Runs,
) -> tuple[Choice, list[str]]:
    """Return the cheapest choice that meets the error for all measures, or the last that misses it; and notes.

    `meshes`, `steps`: refinement sequences by measure; empty if there is nothing to refine. `scales`: reference values by which
    errors are divided, by measure.
    """
    meshes, steps, notes = dict(meshes), dict(steps), []
    least, kept, missed = 1.0 / COARSER, None, None
    kept_work = float("inf")
    tries = 0
    while tries < TRIES:
        factors = [cheapest(meshes.get(name), steps.get(name), AIM * error) for name in scales]
        row = plan.finer(max(least, *(m for m, _ in factors)), max(least, *(s for _, s in factors)))
        if row.work >= 0.9 * kept_work:
            break
        m, s = plan.factors(row)
        try:
            parts = _errors(row, meshes, steps, scales, run)
        except StudyError as failure:  # the choice is too coarse to be run
            if least == 1.0 or (m >= 1.0 and s >= 1.0):
                raise
            notes.append(f"the choice did not run, the scene's own mesh and step are the coarsest: {failure}")
            least = 1.0
            continue
        tries += 1
        expected = max(_at(meshes, name, m) + _at(steps, name, s) for name in scales)
        worst = max(parts, key=lambda name: sum(parts[name]))
        choice = Choice(row.elements, row.dt, expected, *parts[worst], sum(parts[worst]) <= error)
        if not choice.ok:
            missed = choice
        else:
            kept, kept_work = choice, row.work
            if choice.checked >= LOOSE * error:
                break
        for name, (of_mesh, of_step) in parts.items():
            if name in meshes:
                meshes[name] = meshes[name].through(m, of_mesh)
            if name in steps:
                steps[name] = steps[name].through(s, of_step)
    found = kept or missed
    assert found is not None  # the first choice is run, or raises
    return found, notes


def _at(all_found: Mapping[str, Series], name: str, factor: float) -> float:
    return all_found[name].error_at(factor) if name in all_found else 0.0


def _errors(
    row: Run,
    meshes: Mapping[str, Series],
    steps: Mapping[str, Series],
    scales: Mapping[str, float],
    run: Runs,
) -> dict[str, tuple[float, float]]:
    """Return both terms of (1), mesh and step, by measure."""
    rows = [row]
    if meshes:
        rows.append(rows[-1].with_mesh(2))
    if steps:
        rows.append(rows[-1].with_steps(2))
    found = run(rows)

    def estimate(all_found: Mapping[str, Series], name: str, k: int) -> float:
        if name not in all_found:
            return 0.0
        change = distance(found[k][name], found[k + 1][name]) / scales[name]
        return SAFETY * all_found[name].error_of(change)

    return {name: (estimate(meshes, name, 0), estimate(steps, name, len(rows) - 2)) for name in scales}
