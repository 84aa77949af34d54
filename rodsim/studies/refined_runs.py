"""Meshes and steps that `converge` runs: the two sequences, and choices between and beyond their levels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from discretization.space.rod_elements import order_of
from rodsim.chosen_steps import steps_of
from rodsim.running.plan import USUAL_OUTPUTS
from rodsim.studies.bases import SceneBase
from rodsim.studies.errors import StudyError

SAMPLES = 20  # approximate number of times at which motions are compared


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
        apart = every if same_outputs else self.between
        unit = math.gcd(apart, self.n_steps)
        n = max(1, math.ceil(unit * steps - 1e-9))
        each = n * apart // unit if self.motion or same_outputs else 1
        return Run(elements, dt * unit / n, each)

    def factors(self, run: Run) -> tuple[float, float]:
        """Return the factors (mesh, steps) by which a run is finer than the first; the mesh by its least refined rod."""
        of_rods = [run.elements[name] / n for name, n in self.first.elements.items()]
        steps = 1.0 if run.dt is None or self.first.dt is None else self.first.dt / run.dt
        return min(of_rods, default=1.0), steps


def plan_of(base: SceneBase, levels: int, motion: bool) -> Plan:
    """Return the plan of a scene, whose own mesh and step are the first run; raise StudyError if it cannot be refined."""
    loaded = base.load({}, built=True)
    orders = {rod.name: order_of(rod.element) for rod in loaded.scene.rods}
    elements = {rod.name: _multiple(rod.n_elements, orders[rod.name]) for rod in loaded.scene.rods}
    run = loaded.scene.run
    if run is None:
        if not elements:
            raise StudyError(
                f"converge: '{base.file}' has neither a run nor rods; there is nothing to refine"
            )
        return Plan(Run(elements, None, 1), levels, orders, 0, 1, motion)
    if run.events:
        raise StudyError(
            f"converge: '{base.file}' has `events`, but runs are compared that have equal lengths. Remove `events`."
        )
    if run.dt is None:
        raise StudyError(
            f"converge: '{base.file}' has `error`, by which steps choose themselves; give dt, the step to refine from"
        )
    dt, n_steps = steps_of(run.t_end, run.dt)
    between = _between_samples(n_steps)
    usual = run.output_every or max(1, round(n_steps / USUAL_OUTPUTS))
    if motion:  # all samples must be outputs
        usual = math.gcd(between, usual)
    else:
        between = usual * max(1, round(n_steps / usual / SAMPLES))
    return Plan(Run(elements, dt, usual), levels, orders, n_steps, between, motion)


def _multiple(n: int, order: int) -> int:
    """Return the smallest multiple of `order` that is not less than `n`."""
    return order * -(-n // order)


def _between_samples(n_steps: int) -> int:
    """Return the number of steps from sample to sample: a divisor of `n_steps`, so that the steps can be divided again.

    If no divisor gives between 5 and 80 samples, the number need not be a divisor.
    """
    parts = [k for k in range(1, n_steps + 1) if n_steps % k == 0]
    best = min(parts, key=lambda k: abs(math.log(n_steps / k / SAMPLES)))
    even = SAMPLES / 4 <= n_steps / best <= 4 * SAMPLES
    return best if even or n_steps < SAMPLES else max(1, round(n_steps / SAMPLES))
