"""Which meshes and steps `converge` runs: the two sequences, and choices between and beyond their levels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from discretization.space.rod_elements import order_of
from rodsim.chosen_steps import steps_of
from rodsim.simulation import USUAL_OUTPUTS
from rodsim.studies.bases import SceneBase
from rodsim.studies.errors import StudyError

SAMPLES = 20  # times at which motions are compared, about


@dataclass(frozen=True)
class Run:
    """A mesh and a step."""

    elements: dict[str, int]  # by rod
    dt: float | None  # s; None: an equilibrium
    every: int  # steps between outputs

    @property
    def work(self) -> float:
        """In proportion to elements times steps."""
        return max(1, sum(self.elements.values())) / (self.dt or 1.0)

    def with_mesh(self, factor: int) -> Run:
        """With so many times the elements."""
        return replace(self, elements={name: n * factor for name, n in self.elements.items()})

    def with_steps(self, factor: int) -> Run:
        """With so many times the steps, and outputs at the same times."""
        return self if self.dt is None else replace(self, dt=self.dt / factor, every=self.every * factor)


@dataclass(frozen=True)
class Plan:
    """The first run of both sequences, and the times at which results are compared."""

    first: Run
    levels: int
    orders: dict[str, int]  # of the elements of each rod
    n_steps: int  # of the first run
    between: int  # steps of the first run from sample to sample
    motion: bool  # compared at samples alone, not by what all outputs say

    @property
    def times(self) -> tuple[float, ...] | None:
        """Of the samples, s; None: of an equilibrium, the last output."""
        dt = self.first.dt
        return (
            None if dt is None else tuple(k * dt for k in range(self.between, self.n_steps + 1, self.between))
        )

    @property
    def n_mesh(self) -> int:
        """Runs of the mesh sequence; the first is also the first of the steps."""
        return self.levels if self.first.elements else 1

    def runs(self) -> list[Run]:
        """Meshes at the first step, then steps on the first mesh."""
        meshes = [self.first.with_mesh(2**k) for k in range(self.n_mesh)]
        if self.first.dt is None:
            return meshes
        return meshes + [self.first.with_steps(2**k) for k in range(1, self.levels)]

    def finer(self, mesh: float, steps: float) -> Run:
        """A run that is finer than the first by these factors, or a little more: elements are whole, as many as their order
        divides; samples, and what else is measured, fall on outputs."""
        elements = {}
        for name, n in self.first.elements.items():
            p = self.orders[name]
            elements[name] = p * max(1, math.ceil(n * mesh / p - 1e-9))
        dt, every = self.first.dt, self.first.every
        if dt is None:
            return Run(elements, None, 1)
        # steps of the first run that are divided anew: the end, samples and outputs are whole numbers of these
        same_outputs = not self.motion and steps >= 1.0
        apart = every if same_outputs else self.between
        unit = math.gcd(apart, self.n_steps)
        n = max(1, math.ceil(unit * steps - 1e-9))
        each = n * apart // unit if self.motion or same_outputs else 1
        return Run(elements, dt * unit / n, each)

    def factors(self, run: Run) -> tuple[float, float]:
        """How much finer than the first a run is."""
        of_rods = [run.elements[name] / n for name, n in self.first.elements.items()]
        steps = 1.0 if run.dt is None or self.first.dt is None else self.first.dt / run.dt
        return min(of_rods, default=1.0), steps


def plan_of(base: SceneBase, levels: int, motion: bool) -> Plan:
    """Of a scene: its own mesh and step come first."""
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
    if motion:  # its samples are outputs
        usual = math.gcd(between, usual)
    else:
        between = usual * max(1, round(n_steps / usual / SAMPLES))
    return Plan(Run(elements, dt, usual), levels, orders, n_steps, between, motion)


def _multiple(n: int, order: int) -> int:
    return order * -(-n // order)


def _between_samples(n_steps: int) -> int:
    """Steps from sample to sample: a part of all, so that they can be divided anew, where there are about 20 such."""
    parts = [k for k in range(1, n_steps + 1) if n_steps % k == 0]
    best = min(parts, key=lambda k: abs(math.log(n_steps / k / SAMPLES)))
    even = SAMPLES / 4 <= n_steps / best <= 4 * SAMPLES
    return best if even or n_steps < SAMPLES else max(1, round(n_steps / SAMPLES))
