"""The cheapest mesh and step for an error, from two sequences of runs, and whether the choice keeps to the error.

The choice is run, once more with twice the elements, and once more with these and half the step. With the orders p and q of the
sequences

    e = 1.1 (d_mesh/(1 - 2^-p) + d_step/(1 - 2^-q)),   d: the largest distance of a point from run to run                 (1)

tells its error from the choice itself, with what mesh and step do to each other there, and on the safe side: the two parts
are never set off against each other, and orders above 2 count as 2. Where (1) misses the error, or the error is met several times
over, the sequences are moved to go through what was found, and the next choice is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rigid.system import Floats
from rodsim.studies.errors import StudyError
from rodsim.studies.refined_runs import Plan, Run
from rodsim.studies.refinement import Series, cheapest, distance

COARSER = 4.0  # at most, than the scene's own mesh and step
TRIES = 4  # of a choice
SAFETY = 1.1  # in (1)
AIM = 0.8  # of the error: what is expected of a choice
LOOSE = 0.4  # of the error: a choice that is better than this is tried coarser, too

Runs = Callable[[list[Run]], list[dict[str, Floats]]]  # values of each run, by measure


@dataclass(frozen=True)
class Choice:
    """A mesh and a step."""

    elements: dict[str, int]  # by rod
    dt: float | None  # s
    estimated: float  # relative error that the sequences let expect, largest of all measures
    mesh_error: float  # of that measure whose sum is largest, found by refining the choice
    step_error: float
    ok: bool  # whether their sum is below the error asked for

    @property
    def checked(self) -> float:
        """(1), largest of all measures."""
        return self.mesh_error + self.step_error

    def plain(self) -> dict[str, Any]:
        """For programs."""
        return {**vars(self), "checked": self.checked}


def choose(
    plan: Plan,
    meshes: Mapping[str, Series],
    steps: Mapping[str, Series],
    scales: Mapping[str, float],
    error: float,
    run: Runs,
) -> tuple[Choice, list[str]]:
    """The cheapest choice for all measures that keeps to the error, or the last that missed it; and notes.

    meshes, steps: by measure; empty where there is nothing to refine. scales: of errors, by measure.
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
        except StudyError as failure:  # too coarse to run at all
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
    assert found is not None  # the first is run, or raises
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
    """Both terms of (1) by measure."""
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
