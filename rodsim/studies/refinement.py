"""Errors and orders of sequences of runs, and the cheapest mesh and step for an error, which is verified by refining it.

Each run of a sequence has half the mesh size or step of the previous one. With the values q_k of level k and
d_k = max|q_{k+1} - q_k|, the observed order is p_k = log2(d_k/d_{k+1}), the limit (Richardson extrapolation)
q = q_L + (q_L - q_{L-1})/(2^p - 1), the error of a level max|q_k - q|. The maximum is over the rows, which are points.

A choice is run, then again with twice the elements, then again with twice the elements and half the step. With the orders p and q
of the sequences

    e = 1.1 (d_mesh/(1 - 2^-p) + d_step/(1 - 2^-q)),   d: the largest distance of a point from run to run                 (1)

estimates the error from runs at the choice itself, which includes the interaction of mesh and step there. The estimate is
conservative: the two parts never cancel, and orders above 2 count as 2. If (1) exceeds the error, or is several times smaller,
the sequences are shifted to pass through the measured errors, and the next choice is made.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rigid.system import Floats
from rodsim.studies.errors import StudyError

EXACT = 1e-12  # relative to the scale: smaller differences are round-off
LOWEST_ORDER, HIGHEST_ORDER = 0.5, 16.0  # observed orders outside: the sequence does not converge (yet)
TRUSTED_ORDER = 2.0  # upper limit of the order if an error is estimated from one refinement
SAMPLES = 20  # approximate number of times at which motions are compared
COARSER = 4.0  # limit: how many times coarser than the scene's own mesh and step a choice may be
TRIES = 4  # largest number of choices that are run
SAFETY = 1.1  # safety factor in (1)
AIM = 0.8  # expected error of a choice, as a fraction of the requested error
COARSER_TRIAL = 0.4  # fraction of the requested error: below it a coarser choice is tried, too


@dataclass(frozen=True)
class Series:
    """Errors of one measure over the levels of one refinement."""

    name: str
    x: Floats  # (L,) numbers of elements, or steps in s
    errors: Floats  # (L,) relative errors
    orders: Floats  # (L,) observed orders, nan for the first two
    limit: Floats  # extrapolated limit of the values
    exact: bool  # True: all levels agree to round-off
    trusted: bool  # True: the observed order is plausible, so that the limit can be used

    @property
    def order(self) -> float:
        """Return the order observed on the three finest levels."""
        return float(self.orders[-1])

    def error_at(self, factor: float) -> float:
        """Return the relative error if mesh or steps are finer by `factor` than on the first level."""
        if self.exact:
            return 0.0
        return float(self.errors[-1] * (2.0 ** (len(self.x) - 1) / factor) ** self.order)

    def through(self, factor: float, error: float) -> Series:
        """Return the series scaled to the given error at `factor`, with unchanged order."""
        expected = self.error_at(factor)
        return self if expected == 0.0 else replace(self, errors=self.errors * (error / expected))

    def error_of(self, change: float) -> float:
        """Return the error of a value that one more refinement changes by `change`: change/(1 - 2^-p).

        p is the observed order but at most 2, and 1 if the series is exact.
        """
        order = 1.0 if self.exact else min(self.order, TRUSTED_ORDER)
        return change / (1.0 - 2.0**-order)


def distance(a: Floats, b: Floats) -> float:
    """Return the largest distance of points (..., 3) or of numbers (..., 1)."""
    return float(np.linalg.norm(a - b, axis=-1).max())


def series(name: str, x: Floats, levels: list[Floats], scale: float) -> Series:
    """Return errors and orders of the values of each level, points as rows; `scale`: reference value of relative errors."""
    differences = np.array([distance(a, b) for a, b in itertools.pairwise(levels)]) / scale
    orders = np.full(len(levels), np.nan)
    if differences.max(initial=0.0) <= EXACT:
        return Series(name, x, np.zeros(len(levels)), orders, levels[-1], True, True)
    with np.errstate(divide="ignore", invalid="ignore"):
        orders[2:] = np.log2(differences[:-1] / differences[1:])
    order = orders[-1]
    trusted = bool(LOWEST_ORDER < order < HIGHEST_ORDER)
    denominator = 2.0**order - 1.0 if trusted else 1.0
    limit = levels[-1] + (levels[-1] - levels[-2]) / denominator
    errors = np.array([distance(level, limit) for level in levels]) / scale
    return Series(name, x, errors, orders, limit, False, trusted)


def cheapest(mesh: Series | None, step: Series | None, error: float) -> tuple[float, float]:
    """Return the factors (mesh, steps) over the first level with the least product for which both errors sum up to `error`.

    The cost is (elements) x (steps). With errors a m^-p and b s^-q the product m s is least at p a m^-p = q b s^-q. So the
    mesh may have the fraction q/(p + q) of the error, the step p/(p + q).
    """
    if mesh is None or mesh.exact:
        return 1.0, 1.0 if step is None or step.exact else _factor(step, error)
    if step is None or step.exact:
        return _factor(mesh, error), 1.0
    p, q = mesh.order, step.order
    return _factor(mesh, error * q / (p + q)), _factor(step, error * p / (p + q))


def _factor(refined: Series, error: float) -> float:
    """Return the factor by which mesh or steps must be finer than on the first level for this error."""
    return float((refined.error_at(1.0) / error) ** (1.0 / refined.order))


# --- runs


@dataclass(frozen=True)
class Run:
    """A run: mesh, step and interval between outputs."""

    elements: dict[str, int]  # number of elements of each rod
    dt: float | None  # step, s; None: an equilibrium
    every: int  # number of steps from output to output

    @property
    def work(self) -> float:
        """Return a measure of the cost, proportional to elements times steps."""
        return max(1, sum(self.elements.values())) / (self.dt or 1.0)

    def with_mesh(self, factor: int) -> Run:
        """Return the run with `factor` times as many elements."""
        return replace(self, elements={name: n * factor for name, n in self.elements.items()})

    def with_steps(self, factor: int) -> Run:
        """Return the run with `factor` times as many steps, and outputs at the same times."""
        return self if self.dt is None else replace(self, dt=self.dt / factor, every=self.every * factor)


@dataclass(frozen=True)
class Plan:
    """The first run of both sequences, and the times at which results are compared."""

    first: Run
    levels: int
    orders: dict[str, int]  # order of the elements of each rod
    n_steps: int  # number of steps of the first run
    between: int  # number of steps of the first run from sample to sample
    motion: bool  # True: the motion is compared at the samples; False: measures that use all outputs

    @property
    def times(self) -> tuple[float, ...] | None:
        """Return the times of the samples, s; None for an equilibrium, which is sampled at its last output."""
        dt = self.first.dt
        return (
            None if dt is None else tuple(k * dt for k in range(self.between, self.n_steps + 1, self.between))
        )

    @property
    def n_mesh(self) -> int:
        """Return the number of runs of the mesh sequence; its first run is also the first of the step sequence."""
        return self.levels if self.first.elements else 1

    def runs(self) -> list[Run]:
        """Return the runs of both sequences: meshes at the first step, then steps on the first mesh."""
        meshes = [self.first.with_mesh(2**k) for k in range(self.n_mesh)]
        if self.first.dt is None:
            return meshes
        return meshes + [self.first.with_steps(2**k) for k in range(1, self.levels)]

    def finer(self, mesh: float, steps: float) -> Run:
        """Return a run that is finer than the first by these factors, or a little more.

        Numbers of elements are multiples of their order; samples, and the outputs of other measures, fall on whole steps.
        """
        elements = {}
        for name, n in self.first.elements.items():
            p = self.orders[name]
            elements[name] = p * max(1, math.ceil(n * mesh / p - 1e-9))
        dt, every = self.first.dt, self.first.every
        if dt is None:
            return Run(elements, None, 1)
        # unit: steps of the first run that are divided again; end, samples and outputs are multiples of it
        same_outputs = not self.motion and steps >= 1.0
        spacing = every if same_outputs else self.between
        unit = math.gcd(spacing, self.n_steps)
        n = max(1, math.ceil(unit * steps - 1e-9))
        every_n = n * spacing // unit if self.motion or same_outputs else 1
        return Run(elements, dt * unit / n, every_n)

    def factors(self, run: Run) -> tuple[float, float]:
        """Return the factors (mesh, steps) by which a run is finer than the first; the mesh by its least refined rod."""
        mesh_factors = [run.elements[name] / n for name, n in self.first.elements.items()]
        steps = 1.0 if run.dt is None or self.first.dt is None else self.first.dt / run.dt
        return min(mesh_factors, default=1.0), steps


# --- choices


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
    min_factor, best, best_missed = 1.0 / COARSER, None, None
    best_work = float("inf")
    tries = 0
    while tries < TRIES:
        factors = [cheapest(meshes.get(name), steps.get(name), AIM * error) for name in scales]
        row = plan.finer(max(min_factor, *(m for m, _ in factors)), max(min_factor, *(s for _, s in factors)))
        if row.work >= 0.9 * best_work:
            break
        m, s = plan.factors(row)
        try:
            parts = _errors(row, meshes, steps, scales, run)
        except StudyError as failure:  # the choice is too coarse to be run
            if min_factor == 1.0 or (m >= 1.0 and s >= 1.0):
                raise
            notes.append(f"the choice did not run, the scene's own mesh and step are the coarsest: {failure}")
            min_factor = 1.0
            continue
        tries += 1
        expected = max(_error_at(meshes, name, m) + _error_at(steps, name, s) for name in scales)
        worst = max(parts, key=lambda name: sum(parts[name]))
        choice = Choice(row.elements, row.dt, expected, *parts[worst], sum(parts[worst]) <= error)
        if not choice.ok:
            best_missed = choice
        else:
            best, best_work = choice, row.work
            if choice.checked >= COARSER_TRIAL * error:
                break
        for name, (mesh_error, step_error) in parts.items():
            if name in meshes:
                meshes[name] = meshes[name].through(m, mesh_error)
            if name in steps:
                steps[name] = steps[name].through(s, step_error)
    result = best or best_missed
    assert result is not None  # the first choice is run, or raises
    return result, notes


def _error_at(all_found: Mapping[str, Series], name: str, factor: float) -> float:
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
    values = run(rows)

    def estimate(all_found: Mapping[str, Series], name: str, k: int) -> float:
        if name not in all_found:
            return 0.0
        change = distance(values[k][name], values[k + 1][name]) / scales[name]
        return SAFETY * all_found[name].error_of(change)

    return {name: (estimate(meshes, name, 0), estimate(steps, name, len(rows) - 2)) for name in scales}
