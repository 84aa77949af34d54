"""`converge`: mesh and step of a scene refined, the orders seen, and the cheapest mesh and step for a given error.

Two sequences start at the scene's own mesh and step: meshes with twice the elements each at that step, steps of half the size
each on that mesh. Errors of both are taken to add. The choice is run, and compared with the limit of both sequences.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rigid.checks import count, number
from rigid.system import Floats
from rodsim.simulation import USUAL_OUTPUTS
from rodsim.studies.bases import SceneBase, scene_base
from rodsim.studies.cluster import Cluster
from rodsim.studies.designs import made_parameter
from rodsim.studies.errors import StudyError
from rodsim.studies.found import Sweep
from rodsim.studies.measures import Measure
from rodsim.studies.motion_samples import MotionSamples
from rodsim.studies.refinement import Series, cheapest, series
from rodsim.studies.running import run_study
from rodsim.studies.schema import DesignEntry, ParameterEntry
from rodsim.studies.study import Study

MOTION = "motion"  # of all parts
MESH, STEP, EVERY = "mesh", "dt", "output_every"  # columns
SAMPLES = 20  # times at which motions are compared
COARSER = 4.0  # at most, than the scene's own mesh and step
TRIES = 3  # of a choice, each finer where the one before missed the error


@dataclass(frozen=True)
class Choice:
    """A mesh and a step."""

    elements: dict[str, int]  # by rod
    dt: float | None  # s
    estimated: float  # relative error, largest of all measures
    checked: float  # found by running it
    ok: bool  # whether that is below the error asked for


@dataclass(frozen=True)
class Convergence:
    """What `converge` found; `runs` has the table of all runs."""

    scene: str
    error: float
    mesh: list[Series]
    step: list[Series]
    choice: Choice | None
    runs: Sweep
    elements: dict[str, int]  # of the scene
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether a choice was found that keeps to the error."""
        return self.choice is not None and self.choice.ok

    def text(self) -> str:
        """Tables of both sequences and the choice."""
        lines = [f"{self.scene}: errors relative, {_of_what(self.mesh or self.step)}"]
        for title, head, all_found in (
            (self._mesh_title(), "elements", self.mesh),
            (self._step_title(), "dt (s)", self.step),
        ):
            for found in all_found:
                lines += ["", f"{title}, {found.name}", f"{head:>10s}  {'error':>9s}  order"]
                for x, e, p in zip(found.x, found.errors, found.orders, strict=True):
                    lines.append(f"{x:10.6g}  {e:9.2e}  {'' if np.isnan(p) else f'{p:5.2f}'}".rstrip())
        lines += ["", *self._choice_lines(), *(f"note: {note}" for note in self.notes)]
        return "\n".join(lines)

    def _mesh_title(self) -> str:
        at = f" at dt = {self.step[0].x[0]:g} s" if self.step else ""
        return f"mesh{at}"

    def _step_title(self) -> str:
        return f"step with {sum(self.elements.values())} elements" if self.elements else "step"

    def _choice_lines(self) -> list[str]:
        if self.choice is None:
            return [f"no choice for an error of {self.error:g}: see the notes"]
        c = self.choice
        mesh = ", ".join(f"{n} elements of '{name}'" for name, n in c.elements.items())
        parts = [part for part in (mesh, "" if c.dt is None else f"dt = {c.dt:.6g} s") if part]
        verdict = "kept" if c.ok else "MISSED"
        return [
            f"for an error of {self.error:g}: {'; '.join(parts)}",
            f"expected {c.estimated:.2e}; run and compared with the limit: {c.checked:.2e}, {verdict}",
        ]

    def to_json(self) -> str:
        """The same for programs."""

        def plain(found: Series) -> dict[str, Any]:
            orders = [None if np.isnan(p) else float(p) for p in found.orders]
            rows = {"x": found.x.tolist(), "errors": found.errors.tolist(), "orders": orders}
            return {"measure": found.name, **rows, "trusted": found.trusted}

        choice = None if self.choice is None else vars(self.choice)
        series_of = {"mesh": [plain(x) for x in self.mesh], "step": [plain(x) for x in self.step]}
        told = {"scene": self.scene, "error": self.error, **series_of, "choice": choice, "notes": self.notes}
        return json.dumps(told, indent=2)

    def plot(self, path: Path | str) -> Path:
        """Errors over elements and step (.png, .pdf, .svg)."""
        from rodsim.studies.convergence_picture import Panel, draw

        choice = self.choice
        panels = [
            Panel("elements", self.mesh, None if choice is None else float(sum(choice.elements.values()))),
            Panel("dt (s)", self.step, None if choice is None else choice.dt),
        ]
        return draw(self.scene, self.error, [panel for panel in panels if panel.series], path)


def _of_what(all_found: list[Series]) -> str:
    if any(found.name == MOTION for found in all_found):
        return "of the farthest that a point goes"
    return "of the largest value on any level"


def converge(
    scene: str | Path | Mapping[str, Any],
    measures: Mapping[str, Measure] | Sequence[str] | None = None,
    *,
    error: float = 1e-3,
    levels: int = 4,
    t_end: float | None = None,
    dt: float | None = None,
    integrator: str | None = None,
    folder: Path | str | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> Convergence:
    """Refine mesh and step of a scene, find the orders of both and the cheapest choice for an `error`.

    Parameters
    ----------
    scene: file or data; its own mesh and step are the coarsest. Of a scene without `run`, the mesh of its equilibrium.
    measures: as of `sweep`; by default the motion: positions of all bodies and of start, middle and end of all rods at 20
    times, relative to the farthest that a point goes.
    error: relative, wanted. levels: of each refinement, 3 or more; 4 need seven runs, and one to check the choice.
    t_end, dt, integrator: instead of the scene's. folder, scheduler, workers, progress: as of `sweep`.

    Raises
    ------
    StudyError, SceneError: the scene cannot be run as described; or a run failed.
    StudyStopped: the scheduler is gone for good; what was done is in the folder.
    """
    error = number("converge", "error", error, positive=True)
    count("converge", "levels", levels)
    if levels < 3:
        raise StudyError(f"converge: levels = {levels}; an order takes 3 or more")
    base = _scene(scene, {"t_end": t_end, "dt": dt, "integrator": integrator})
    plan = _Plan.of(base, levels)
    named: dict[str, Measure] = {}
    if measures is not None:
        named = dict(measures) if isinstance(measures, Mapping) else {text: text for text in measures}
    with Cluster(scheduler, workers) as cluster:
        return _converged(plan, named, error, {"folder": folder, "progress": progress, "cluster": cluster})


def _converged(plan: _Plan, named: dict[str, Measure], error: float, how: dict[str, Any]) -> Convergence:
    """Both sequences, and the choice where both converge."""
    levels, base = plan.levels, plan.base
    runs = _run(plan, plan.rows(), named, how)
    values, scales = _values(runs, named)
    mesh, step = [], []
    n_total = np.array([sum(plan.elements.values()) * 2.0**k for k in range(levels)])
    for name, found in values.items():
        if plan.elements:
            mesh.append(series(name, n_total, found[: plan.n_mesh], scales[name]))
        if plan.dt is not None:
            steps = plan.dt / 2.0 ** np.arange(levels)
            step.append(series(name, steps, [found[0], *found[plan.n_mesh :]], scales[name]))
    result = Convergence(base.file, error, mesh, step, None, runs, plan.elements)
    untrusted = [
        (what, x) for what, all_found in (("mesh", mesh), ("step", step)) for x in all_found if not x.trusted
    ]
    if untrusted:
        notes = [
            f"{what}, {x.name}: order {x.order:.2f} on the finest levels: it does not converge yet; begin with a finer "
            f"{'mesh' if what == 'mesh' else 'dt'}, or end the run before the motion becomes chaotic (t_end)"
            for what, x in untrusted
        ]
        return replace(result, notes=notes)
    return _chosen(result, plan, named, values, scales, how)


@dataclass(frozen=True)
class _Plan:
    """Which runs there are."""

    base: SceneBase
    levels: int
    elements: dict[str, int]  # of the first level, by rod
    dt: float | None  # s, of the first level
    every: int  # steps between outputs of the first level
    stride: int  # outputs between samples
    times: tuple[float, ...] | None  # of the samples

    @classmethod
    def of(cls, base: SceneBase, levels: int) -> _Plan:
        loaded = base.load({}, built=True)
        elements = {rod.name: rod.n_elements for rod in loaded.scene.rods}
        run = loaded.scene.run
        if run is None:
            if not elements:
                raise StudyError(
                    f"converge: '{base.file}' has neither a run nor rods; there is nothing to refine"
                )
            return cls(base, levels, elements, None, 1, 1, None)
        n_steps = round(run.t_end / run.dt)
        every = run.output_every or max(1, round(n_steps / USUAL_OUTPUTS))
        stride = max(1, round(n_steps / every / SAMPLES))
        times = tuple(float(k * run.dt) for k in range(every * stride, n_steps + 1, every * stride))
        return cls(base, levels, elements, run.dt, every, stride, times or (run.t_end,))

    @property
    def n_mesh(self) -> int:
        """Runs of the mesh sequence; the first is also the first of the steps."""
        return self.levels if self.elements else 1

    def rows(self) -> list[dict[str, Any]]:
        """Meshes at the first step, then steps on the first mesh."""
        meshes = [self._row(2**k, self.dt, self.every) for k in range(self.n_mesh)]
        if self.dt is None:
            return meshes
        return meshes + [self._row(1, self.dt / 2**k, self.every * 2**k) for k in range(1, self.levels)]

    def _row(self, mesh: float, dt: float | None, every: int) -> dict[str, Any]:
        row: dict[str, Any] = {MESH: mesh} if self.elements else {}
        return row if dt is None else {**row, STEP: dt, EVERY: every}

    def chosen(self, mesh: float, steps: float) -> dict[str, Any]:
        """The row that is finer by these factors; samples fall on outputs, which are as far apart as on the first level."""
        if self.dt is None:
            return self._row(mesh, None, 1)
        between = self.every * self.stride  # first steps from sample to sample
        n = math.ceil(between * steps - 1e-9)
        if n >= self.stride:
            n = self.stride * math.ceil(n / self.stride)
        return self._row(mesh, self.dt * between / n, n // self.stride if n >= self.stride else 1)

    def counted(self, mesh: float) -> dict[str, int]:
        """Elements of the rods on a mesh finer by this factor."""
        return {name: max(1, math.ceil(n * mesh - 1e-9)) for name, n in self.elements.items()}


def _scene(scene: str | Path | Mapping[str, Any], settings: dict[str, Any]) -> SceneBase:
    from rodsim.scenes.reading import read

    if isinstance(scene, Mapping):
        return scene_base("<scene>", dict(scene), {}, None, {}, settings)
    source = read(scene)
    return scene_base(source.file, source.data, source.lines, Path(scene).parent, {}, settings)


def _run(plan: _Plan, rows: list[dict[str, Any]], measures: dict[str, Measure], how: dict[str, Any]) -> Sweep:
    """Runs of a list of meshes and steps."""
    paths = {f"rods.{name}.n_elements": name for name in plan.elements}
    entries: dict[str, list[Any]] = {
        path: [plan.counted(row[MESH])[name] for row in rows] for path, name in paths.items()
    }
    if plan.dt is not None:
        entries |= {"run.dt": [row[STEP] for row in rows], "run.output_every": [row[EVERY] for row in rows]}
    parameters = {
        path: made_parameter(path, ParameterEntry(values=values)) for path, values in entries.items()
    }
    # what replaces the scene's own settings must not replace those varied
    settings = {name: x for name, x in plan.base.settings.items() if name not in ("dt", "output_every")}
    data = {
        **plan.base.data,
        **({"run": {**plan.base.whole["run"], **plan.base.settings}} if plan.dt is not None else {}),
    }
    base = scene_base(
        plan.base.file,
        data,
        plan.base.lines,
        None,
        {name: p.places for name, p in parameters.items()},
        settings,
    )
    base.files = plan.base.files
    sampler = None if measures else MotionSamples(plan.times)
    study = Study("converge", base, parameters, DesignEntry(type="list"), measures, sampler=sampler)
    found = run_study(study, **how)
    for case, words in found.failed.items():
        told = ", ".join(f"{name} = {value}" for name, value in study.rows[case].items())
        raise StudyError(f"converge: the run with {told} failed: {words}")
    return found


def _values(runs: Sweep, measures: dict[str, Measure]) -> tuple[dict[str, list[Floats]], dict[str, float]]:
    """What each run found, by measure, and the scales of errors."""
    if not measures:
        every = [np.array(outcome.samples) for outcome in runs.outcomes]
        return {MOTION: [x[1:] for x in every]}, {MOTION: float(every[0][0]) or 1.0}
    names = list(dict.fromkeys(name for outcome in runs.outcomes for name in outcome.measures))
    values = {name: [np.array([outcome.measures[name]]) for outcome in runs.outcomes] for name in names}
    bad = [name for name, found in values.items() if not np.isfinite(found).all()]
    if bad:
        raise StudyError(f"converge: measure '{bad[0]}' is no number in some runs; choose another")
    return values, {name: float(np.abs(found).max()) or 1.0 for name, found in values.items()}


def _chosen(
    result: Convergence,
    plan: _Plan,
    measures: dict[str, Measure],
    values: dict[str, list[Floats]],
    scales: dict[str, float],
    how: dict[str, Any],
) -> Convergence:
    """With the cheapest mesh and step for all measures, run and compared; finer again where it misses the error."""
    meshes = {x.name: x for x in result.mesh}
    steps = {x.name: x for x in result.step}
    limits = {}
    for name, found in values.items():
        limits[name] = found[0] + sum(x[name].limit - found[0] for x in (meshes, steps) if name in x)
    aim = 0.9 * result.error
    choice = None
    for _ in range(TRIES):
        factors = [cheapest(meshes.get(name), steps.get(name), aim) for name in values]
        m = max(1.0 / COARSER, *(factor[0] for factor in factors))
        s = max(1.0 / COARSER, *(factor[1] for factor in factors))
        row = plan.chosen(m, s)
        estimated = max(
            (meshes[name].error_at(m) if name in meshes else 0.0)
            + (steps[name].error_at(s) if name in steps else 0.0)
            for name in values
        )
        try:
            run = _run(plan, [row], measures, {**how, "progress": False})
        except StudyError as failure:  # too coarse to run at all
            if m >= 1.0 and s >= 1.0:
                raise
            note = (
                f"the choice did not run, the scene's own mesh and step are taken as the coarsest: {failure}"
            )
            return replace(result, notes=[*result.notes, note])
        ran, _ = _values(run, measures)
        checked = max(float(np.abs(ran[name][0] - limits[name]).max()) / scales[name] for name in values)
        choice = Choice(plan.counted(m), row.get(STEP), estimated, checked, checked <= result.error)
        if choice.ok:
            break
        aim *= 0.8 * result.error / checked
    return replace(result, choice=choice)
