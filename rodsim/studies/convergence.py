"""Refine mesh and step of a scene: orders and the cheapest choice for an error (`converge`), also of several integrators.

Two sequences start at the scene's own mesh and step: meshes that are doubled at that step, and steps that are halved on that
mesh. They predict which choice meets the error; `refinement.choose` runs this choice and verifies it. `cheapest_scheme` repeats
this with several integrators. The cost of a run is estimated from the runs made: the shortest time per element and step, times
the elements and steps of the choice. So one-time costs of a process, such as loading machine code, are not counted for any
integrator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discretization.space.rod_elements import order_of
from discretization.time.em_family import EM_FAMILY, em_integrator
from rigid.checks import count, number
from rigid.errors import ModelError
from rigid.lazy_modules import LazyModule
from rigid.system import Floats
from rodsim._compat import accept_old_methods
from rodsim.adaptive_steps import steps_of
from rodsim.running.plan import DEFAULT_OUTPUTS
from rodsim.studies.errors import StudyError
from rodsim.studies.measures import Measure, MotionSamples, named_measures
from rodsim.studies.refinement import SAMPLES, Choice, Plan, Run, Series, choose, series
from rodsim.studies.study import Study, made_parameter
from rodsim.studies.study_results import Sweep, dumps
from rodsim.studies.study_runner import run_with
from rodsim.studies.study_targets import SceneTarget, read_scene_target, scene_target
from rodsim.studies.workers import open_workers

if TYPE_CHECKING:
    from rodsim.studies import study_schema as schema
else:
    schema = LazyModule("rodsim.studies.study_schema")

MOTION = "motion"  # name of the default measure: positions of all parts
EQUAL_TIME_RATIO = 1.2  # ratio of times below which two integrators count as equally fast


@dataclass(frozen=True)
class Convergence:
    """Hold errors, orders and the cheapest choice of mesh and step, which `converge` returns.

    Parameters
    ----------
    scene : str
        Name of the scene file.
    error : float
        Requested relative error.
    mesh : list of Series
        For each measure the refinement of the mesh: numbers of elements `x`, relative `errors` and `orders` of its levels. Empty
        if there are no rods.
    step : list of Series
        For each measure the refinement of the step: steps `x` (s), relative `errors` and `orders` of its levels. Empty for
        equilibria.
    choice : Choice or None
        Cheapest `elements` of each rod and `dt` (s) for the error, with the errors estimated; None if a sequence does not
        converge yet.
    runs : Sweep
        Table of the runs of both sequences.
    elements : dict of str to int
        Number of elements of each rod in the scene.
    notes : list of str, optional
        Remarks, such as why there is no choice. By default none.
    rate : float, default nan
        Shortest time of all runs per unit of `Run.work`, s.

    Examples
    --------
    >>> from rodsim.studies import converge
    >>> pin = {"name": "pin", "kind": "spherical", "a": {"ground": [0, 0, 0]}, "b": "bob"}
    >>> box = {"type": "box", "size": [0.1, 0.1, 0.1], "mass": 1}
    >>> scene = {"bodies": [{"name": "bob", "shape": box, "position": [1, 0, 0]}], "joints": [pin]}
    >>> scene |= {"gravity": [0, 0, -10], "run": {"t_end": 0.4, "dt": 0.02}}
    >>> found = converge(scene, levels=3, workers=0, progress=False)
    >>> found.ok, found.choice.dt
    (True, 0.02)
    >>> round(float(found.step[0].orders[-1]), 1)
    2.0
    """

    scene: str
    error: float
    mesh: list[Series]
    step: list[Series]
    choice: Choice | None
    runs: Sweep
    elements: dict[str, int]  # number of elements of each rod in the scene
    notes: list[str] = field(default_factory=list)
    rate: float = float("nan")  # shortest time of all runs per unit of `Run.work`, s

    @property
    def seconds(self) -> float:
        """Return the estimated time of a run with the choice (s), from the fastest run; nan if there is no choice."""
        if self.choice is None:
            return float("nan")
        return self.rate * Run(self.choice.elements, self.choice.dt, 1).work

    @property
    def ok(self) -> bool:
        """Return whether a choice was found that meets the error."""
        return self.choice is not None and self.choice.ok

    def text(self) -> str:
        """Return the tables of both sequences and the choice as text.

        Returns
        -------
        str
            Errors and orders on each level, the choice with its error, and notes.
        """
        lines = [f"{self.scene}: errors relative {_describe_reference(self.mesh or self.step)}"]
        for title, head, all_found in (
            (self._mesh_title(), "elements", self.mesh),
            (self._step_title(), "dt (s)", self.step),
        ):
            for refined in all_found:
                lines += ["", f"{title}, {refined.name}", f"{head:>10s}  {'error':>9s}  order"]
                for x, e, p in zip(refined.x, refined.errors, refined.orders, strict=True):
                    lines.append(f"{x:10.6g}  {e:9.2e}  {'' if np.isnan(p) else f'{p:5.2f}'}".rstrip())
        lines += ["", *self._choice_lines(), *(f"note: {note}" for note in self.notes)]
        return "\n".join(lines)

    def _mesh_title(self) -> str:
        at = f" at dt = {self.step[0].x[0]:g} s" if self.step else ""
        return f"mesh{at}"

    def _step_title(self) -> str:
        return f"step with {sum(self.elements.values())} elements" if self.elements else "step"

    def _choice_lines(self) -> list[str]:
        """Return the lines of text on the choice and its errors."""
        if self.choice is None:
            return [f"no choice for an error of {self.error:g}: see the notes"]
        c = self.choice
        mesh = ", ".join(f"{n} elements of '{name}'" for name, n in c.elements.items())
        parts = [part for part in (mesh, "" if c.dt is None else f"dt = {c.dt:.6g} s") if part]
        verdict = "kept" if c.ok else "MISSED"
        return [
            f"for an error of {self.error:g}: {'; '.join(parts)}",
            f"expected {c.estimated:.2e}; refined against itself: {_describe_sum(c)}{c.checked:.2e}, {verdict}",
        ]

    def to_json(self) -> str:
        """Return sequences, choice and notes as JSON.

        Returns
        -------
        str
            An object with the keys "scene", "error", "mesh", "step", "choice" and "notes".
        """

        def plain(refined: Series) -> dict[str, Any]:
            orders = [None if np.isnan(p) else float(p) for p in refined.orders]
            rows = {"x": refined.x.tolist(), "errors": refined.errors.tolist(), "orders": orders}
            return {"measure": refined.name, **rows, "trusted": refined.trusted}

        choice = None if self.choice is None else self.choice.plain()
        series_of = {"mesh": [plain(x) for x in self.mesh], "step": [plain(x) for x in self.step]}
        content = {
            "scene": self.scene,
            "error": self.error,
            **series_of,
            "choice": choice,
            "notes": self.notes,
        }
        return dumps(content, indent=2)

    def plot(self, path: Path | str) -> Path:
        """Draw the errors over the number of elements and the step.

        Parameters
        ----------
        path : Path or str
            File to write, .png, .pdf or .svg.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        StudyError
            If the format given by the ending of `path` is not supported.
        """
        from rodsim.studies.study_plots import Panel, draw_errors

        choice = self.choice
        panels = [
            Panel("elements", self.mesh, None if choice is None else float(sum(choice.elements.values()))),
            Panel("dt (s)", self.step, None if choice is None else choice.dt),
        ]
        return draw_errors(self.scene, self.error, [panel for panel in panels if panel.series], path)


def _describe_sum(choice: Choice) -> str:
    """Return the errors of mesh and step as a sum in text; empty unless both are positive."""
    parts = [(choice.mesh_error, "mesh"), (choice.step_error, "step")]
    summands = [f"{word} {error:.2e}" for error, word in parts if error]
    return f"{' + '.join(summands)} = " if len(summands) > 1 else ""


def _describe_reference(all_found: list[Series]) -> str:
    """Return the reference of relative errors, in words."""
    if any(refined.name == MOTION for refined in all_found):
        return "to the largest displacement of a point"
    return "to the largest value on any level"


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
    scheduler: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> Convergence:
    """Refine mesh and step of a scene; return the orders of both and the cheapest choice for an `error`.

    Parameters
    ----------
    scene : str, Path or mapping
        File or data of a scene; its own mesh and step are the coarsest. If the scene has no `run`, the mesh of its equilibrium
        is refined.
    measures : mapping of str to str or callable, or sequence of str, optional
        Measures as in `sweep`. By default the motion: positions of all bodies and of start, middle and end of all rods at about
        20 times, relative to the largest displacement of a point.
    error : float, default 1e-3
        Relative error that the choice must meet.
    levels : int, default 4
        Number of levels of each refinement, 3 or more; 4 levels need seven runs, and three to twelve more for the choice.
    t_end : float, optional
        End time, s. By default that of the scene.
    dt : float, optional
        Coarsest step, s. By default that of the scene.
    integrator : str, optional
        Integrator. By default that of the scene.
    folder : Path or str, optional
        Folder for the journal, the table, results and pictures. Cases already done there are not run again. By default
        everything stays in memory.
    scheduler : str or distributed.Client, optional
        Dask scheduler: its address, or a client that is connected to it. By default processes of this machine.
    workers : int, optional
        Number of processes of this machine, by default one for each core. 0: run the cases in this process, one after the other.
    progress : bool, optional
        Show a progress bar on stderr, by default if stderr is a terminal. False: no messages at all.

    Returns
    -------
    Convergence
        `mesh` and `step` contain errors and orders, `choice` the cheapest mesh and step.

    Raises
    ------
    StudyError, SceneError
        If the scene cannot be run as described, or a run failed.
    StudyStopped
        If the scheduler is gone for good; the finished cases are in the folder.

    Examples
    --------
    >>> from rodsim.studies import converge
    >>> pin = {"name": "pin", "kind": "spherical", "a": {"ground": [0, 0, 0]}, "b": "bob"}
    >>> box = {"type": "box", "size": [0.1, 0.1, 0.1], "mass": 1}
    >>> scene = {"bodies": [{"name": "bob", "shape": box, "position": [1, 0, 0]}], "joints": [pin]}
    >>> scene |= {"gravity": [0, 0, -10], "run": {"t_end": 0.4, "dt": 0.02}}
    >>> print(converge(scene, levels=3, workers=0, progress=False).text())
    <scene>: errors relative to the largest displacement of a point
    <BLANKLINE>
    step, motion
        dt (s)      error  order
          0.02   4.95e-04
          0.01   1.24e-04
         0.005   3.11e-05   2.00
    <BLANKLINE>
    for an error of 0.001: dt = 0.02 s
    expected 4.95e-04; refined against itself: 5.45e-04, kept
    """
    settings = {"t_end": t_end, "dt": dt, "integrator": integrator}
    refinement = Refinement.of(scene, settings, measures, error, levels)
    with open_workers(scheduler, workers) as opened:
        return refinement.choice({"folder": folder, "progress": progress, "workers": opened})


@dataclass
class Refinement:
    """A scene that is run with several meshes and steps as studies, and the times of these runs."""

    base: SceneTarget
    plan: Plan
    measures: dict[str, Measure]  # empty: the motion
    error: float
    rates: list[float] = field(default_factory=list)  # times of the runs per unit of `Run.work`, s

    @classmethod
    def of(cls, scene: Any, settings: dict[str, Any], measures: Any, error: float, levels: int) -> Refinement:
        """Check the arguments of `converge` and return the refinement; `settings`: replace those of the run of the scene."""
        error = number("converge", "error", error, positive=True)
        count("converge", "levels", levels)
        if levels < 3:
            raise StudyError(f"converge: levels = {levels}; an order takes 3 or more")
        base, named = read_scene_target(scene, settings=settings), named_measures(measures)
        return cls(base, plan_of(base, levels, motion=not named), named, error)

    def choice(self, run_options: dict[str, Any]) -> Convergence:
        """Run both sequences and, if both converge, find the choice; `run_options`: keyword arguments of `run_with`."""
        runs = self.run(self.plan.runs(), run_options)
        values, scales = self.values(runs)
        mesh, step = [], []
        first, factors = self.plan.first, 2.0 ** np.arange(self.plan.levels)
        n_mesh = self.plan.n_mesh
        for name, levels in values.items():
            if first.elements:
                n_total = sum(first.elements.values()) * factors
                mesh.append(series(name, n_total, levels[:n_mesh], scales[name]))
            if first.dt is not None:
                step.append(series(name, first.dt / factors, [levels[0], *levels[n_mesh:]], scales[name]))
        result = Convergence(self.base.file, self.error, mesh, step, None, runs, first.elements)
        notes = [
            f"{what}, {x.name}: order {x.order:.2f} on the finest levels: it does not converge yet; begin with a finer "
            f"{'mesh' if what == 'mesh' else 'dt'}, or end the run before the motion becomes chaotic (t_end)"
            for what, all_found in (("mesh", mesh), ("step", step))
            for x in all_found
            if not x.trusted
        ]
        if notes:
            return replace(result, notes=notes)

        def run(rows: list[Run]) -> list[dict[str, Floats]]:
            values, _ = self.values(self.run(rows, {**run_options, "progress": False}))
            return [{name: x[k] for name, x in values.items()} for k in range(len(rows))]

        mesh_series, step_series = ({x.name: x for x in all_found} for all_found in (mesh, step))
        choice, notes = choose(self.plan, mesh_series, step_series, scales, self.error, run)
        return replace(result, choice=choice, notes=notes, rate=min(self.rates))

    def run(self, rows: list[Run], run_options: dict[str, Any]) -> Sweep:
        """Run a list of meshes and steps as a study; raise StudyError if a run failed."""
        target, first = self.base, self.plan.first
        entries: dict[str, list[Any]] = {
            f"rods.{name}.n_elements": [row.elements[name] for row in rows] for name in first.elements
        }
        data, settings = target.data, target.settings
        if first.dt is not None:
            entries |= {"run.dt": [row.dt for row in rows], "run.output_every": [row.every for row in rows]}
            data = {**data, "run": {**(target.whole["run"] or {}), **settings}}
            # settings that replace the scene's must not replace the varied ones
            settings = {name: x for name, x in settings.items() if name not in ("dt", "output_every")}
        parameters = {
            path: made_parameter(path, schema.ParameterEntry(values=values))
            for path, values in entries.items()
        }
        paths = {name: p.places for name, p in parameters.items()}
        base = replace(
            scene_target(target.file, data, target.lines, None, paths, settings), files=target.files
        )
        sampler = None if self.measures else MotionSamples(self.plan.times)
        design = schema.DesignEntry(type="list")
        study = Study("converge", base, parameters, design, self.measures, sampler=sampler)
        sweep = run_with(study=study, **run_options)
        for case, message in sweep.failed.items():
            settings_of_case = ", ".join(f"{name} = {value}" for name, value in study.rows[case].items())
            raise StudyError(f"converge: the run with {settings_of_case} failed: {message}")
        self.rates += [run.seconds / row.work for row, run in zip(rows, sweep.outcomes, strict=True)]
        return sweep

    def values(self, runs: Sweep) -> tuple[dict[str, list[Floats]], dict[str, float]]:
        """Return the values of each run by measure, (k, 3) points or (1, 1) numbers, and the scales of the errors by measure."""
        if not self.measures:
            every = [np.array(outcome.samples) for outcome in runs.outcomes]
            return {MOTION: [x[1:].reshape(-1, 3) for x in every]}, {MOTION: float(every[0][0]) or 1.0}
        names = list(dict.fromkeys(name for outcome in runs.outcomes for name in outcome.measures))
        values = {name: [np.array([[run.measures[name]]]) for run in runs.outcomes] for name in names}
        bad = [name for name, values_of in values.items() if not np.isfinite(values_of).all()]
        if bad:
            raise StudyError(
                f"converge: measure '{bad[0]}' is not a finite number in some runs; choose another"
            )
        return values, {name: float(np.abs(values_of).max()) or 1.0 for name, values_of in values.items()}


def plan_of(base: SceneTarget, levels: int, motion: bool) -> Plan:
    """Return the plan of a scene, whose own mesh and step are the first run; raise StudyError if it cannot be refined."""
    loaded = base.load({}, built=True)
    orders = {rod.name: order_of(rod.element) for rod in loaded.scene.rods}
    for rod in loaded.scene.rods:
        if rod.nodes is not None:
            raise StudyError(
                f"converge: rod '{rod.name}' of '{base.file}' has `nodes`, but meshes are refined by n_elements. Remove `nodes`"
            )
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
    between = _steps_between_samples(n_steps)
    outputs_every = run.output_every or max(1, round(n_steps / DEFAULT_OUTPUTS))
    if motion:  # all samples must be outputs
        outputs_every = math.gcd(between, outputs_every)
    else:
        between = outputs_every * max(1, round(n_steps / outputs_every / SAMPLES))
    return Plan(Run(elements, dt, outputs_every), levels, orders, n_steps, between, motion)


def _multiple(n: int, order: int) -> int:
    """Return the smallest multiple of `order` that is not less than `n`."""
    return order * -(-n // order)


def _steps_between_samples(n_steps: int) -> int:
    """Return the number of steps from sample to sample: a divisor of `n_steps`, so that the steps can be divided again.

    If no divisor gives between 5 and 80 samples, the number need not be a divisor.
    """
    parts = [k for k in range(1, n_steps + 1) if n_steps % k == 0]
    best = min(parts, key=lambda k: abs(math.log(n_steps / k / SAMPLES)))
    even = SAMPLES / 4 <= n_steps / best <= 4 * SAMPLES
    return best if even or n_steps < SAMPLES else max(1, round(n_steps / SAMPLES))


# --- several integrators


@accept_old_methods
@dataclass(frozen=True)
class SchemeChoice:
    """Hold the refinements of several integrators, which `cheapest_scheme` returns.

    Parameters
    ----------
    scene : str
        Name of the scene file.
    error : float
        Requested relative error.
    refinements : dict of str to Convergence
        Refinement of each integrator.
    rejected : dict of str to str
        Error message of each integrator that cannot run this model, or not with so coarse a step.

    Examples
    --------
    >>> from rodsim.studies import cheapest_scheme
    >>> pin = {"name": "pin", "kind": "spherical", "a": {"ground": [0, 0, 0]}, "b": "bob"}
    >>> box = {"type": "box", "size": [0.1, 0.1, 0.1], "mass": 1}
    >>> scene = {"bodies": [{"name": "bob", "shape": box, "position": [1, 0, 0]}], "joints": [pin]}
    >>> scene |= {"gravity": [0, 0, -10], "run": {"t_end": 0.4, "dt": 0.02}}
    >>> choice = cheapest_scheme(scene, ["em", "em4"], levels=3, workers=0, progress=False)
    >>> choice.ok, sorted(choice.refinements)
    (True, ['em', 'em4'])
    """

    scene: str
    error: float
    refinements: dict[str, Convergence]
    rejected: dict[str, str]

    @property
    def best(self) -> str | None:
        """Return the integrator whose choice meets the error in the least time; None if none does."""
        times = {
            name: convergence.seconds for name, convergence in self.refinements.items() if convergence.ok
        }
        return min(times, key=lambda name: times[name]) if times else None

    @property
    def ok(self) -> bool:
        """Return whether an integrator meets the error."""
        return self.best is not None

    def text(self) -> str:
        """Return a table with a line for each integrator, and the cheapest one, as text.

        Returns
        -------
        str
            Elements, step, error, order and time of each integrator, or why it has none.
        """
        width = max(len(name) for name in (*self.refinements, *self.rejected, "scheme"))
        lines = [
            f"{self.scene}: for an error of {self.error:g}",
            "",
            f"{'scheme':{width}s}  elements      dt (s)      error  order    time (s)",
        ]
        for name, convergence in self.refinements.items():
            lines.append(f"{name:{width}s}  {_row(convergence)}")
        lines += [f"{name:{width}s}  {reason}" for name, reason in self.rejected.items()]
        return "\n".join([*lines, "", *self._verdict()])

    def _verdict(self) -> list[str]:
        """Return the line on the cheapest integrator, and on those that are about as fast."""
        best = self.best
        if best is None:
            return [f"none meets an error of {self.error:g}: `rodsim converge --integrator` says why"]
        least = self.refinements[best].seconds
        equally_fast = [
            name
            for name, convergence in self.refinements.items()
            if name != best and convergence.ok and convergence.seconds < EQUAL_TIME_RATIO * least
        ]
        suffix = (
            f"; {', '.join(equally_fast)} within {EQUAL_TIME_RATIO - 1:.0%} of its time"
            if equally_fast
            else ""
        )
        return [f"cheapest: {best}, {least:.3g} s{suffix}"]

    def to_json(self) -> str:
        """Return the choices of all integrators as JSON.

        Returns
        -------
        str
            An object with the keys "scene", "error", "best", "schemes" and "refused".
        """
        schemes = {
            name: {
                "ok": convergence.ok,
                "choice": None if convergence.choice is None else convergence.choice.plain(),
                "seconds": convergence.seconds if convergence.choice else None,
                "notes": convergence.notes,
            }
            for name, convergence in self.refinements.items()
        }
        content = {"scene": self.scene, "error": self.error, "best": self.best, "schemes": schemes}
        return dumps(content | {"refused": self.rejected}, indent=2)


def _row(convergence: Convergence) -> str:
    """Return the line of the table for an integrator, without its name."""
    if convergence.choice is None:
        return f"no choice: {convergence.notes[0]}"
    order = min((step.order for step in convergence.step if not step.exact), default=float("nan"))
    choice, n = convergence.choice, sum(convergence.choice.elements.values())
    dt = f"{choice.dt:10.6g}" if choice.dt is not None else f"{'-':>10s}"
    return (
        f"{n or '-':>8}  {dt}  {choice.checked:9.2e}  {order:5.2f}  {convergence.seconds:10.3g}"
        f"{'' if choice.ok else '  MISSED'}"
    )


def scheme_variants(integrator: str) -> tuple[str, ...]:
    """Return the integrator and its variants of other orders: em, em4, em6, em8, or these with -ggl.

    Raises StudyError for an integrator without such variants.
    """
    scheme = em_integrator(integrator)
    if scheme is None or not scheme.is_composition:
        raise StudyError(
            f"cheapest_scheme: '{integrator}' has no variants of other orders; give the schemes to choose from"
        )
    return tuple(name for name in EM_FAMILY if _is_variant(name, scheme.hidden))


def _is_variant(name: str, hidden: bool) -> bool:
    """Return whether an integrator is composed of steps of `em`, or of `em-ggl` if `hidden`."""
    try:
        scheme = em_integrator(name)
    except ModelError:  # a pattern for many integrators, which needs a parameter
        return False
    return scheme is not None and scheme.is_composition and scheme.hidden == hidden


def cheapest_scheme(
    scene: str | Path | Mapping[str, Any],
    schemes: Sequence[str] | None = None,
    measures: Mapping[str, Measure] | Sequence[str] | None = None,
    *,
    error: float = 1e-3,
    levels: int = 4,
    t_end: float | None = None,
    dt: float | None = None,
    folder: Path | str | None = None,
    scheduler: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> SchemeChoice:
    """Refine a scene with each of several integrators, and find the one that meets an error in the least time.

    Parameters
    ----------
    scene : str, Path or mapping
        File or data of a scene, as in `converge`. Its step is the coarsest of the sequences; a choice may have steps that are up
        to four times as long.
    schemes : sequence of str, optional
        Names of integrators. By default that of the scene and its variants of other orders (`scheme_variants`): "em",
        "em4", "em6" and "em8", or these with "-ggl".
    measures : mapping of str to str or callable, or sequence of str, optional
        Measures as in `converge`; by default the motion.
    error : float, default 1e-3
        Relative error that the choices must meet.
    levels : int, default 4
        Number of levels of each refinement, 3 or more.
    t_end : float, optional
        End time, s. By default that of the scene.
    dt : float, optional
        Coarsest step of the sequences, s. By default that of the scene.
    folder : Path or str, optional
        Folder with a subfolder for each integrator. By default everything stays in memory.
    scheduler : str or distributed.Client, optional
        Dask scheduler: its address, or a client that is connected to it. By default processes of this machine.
    workers : int, optional
        Number of processes of this machine, by default one for each core. 0: run the cases in this process, one after the other.
    progress : bool, optional
        Show a progress bar on stderr, by default if that is a terminal. False: no messages at all.

    Returns
    -------
    SchemeChoice
        `best` is the name of the cheapest integrator, `refinements` contains the refinement of each.

    Raises
    ------
    StudyError, SceneError
        If the scene cannot be run with any of the integrators, has no run, or `schemes` is empty.
    StudyStopped
        If the scheduler is gone for good; the finished cases are in the folder.

    Examples
    --------
    >>> from rodsim.studies import cheapest_scheme
    >>> pin = {"name": "pin", "kind": "spherical", "a": {"ground": [0, 0, 0]}, "b": "bob"}
    >>> box = {"type": "box", "size": [0.1, 0.1, 0.1], "mass": 1}
    >>> scene = {"bodies": [{"name": "bob", "shape": box, "position": [1, 0, 0]}], "joints": [pin]}
    >>> scene |= {"gravity": [0, 0, -10], "run": {"t_end": 0.4, "dt": 0.02}}
    >>> choice = cheapest_scheme(scene, ["em", "em4"], levels=3, workers=0, progress=False)
    >>> choice.refinements["em4"].choice.dt
    0.02
    """
    times = {"t_end": t_end, "dt": dt}
    run = read_scene_target(scene, settings=times).whole.get("run")
    if run is None:
        raise StudyError("cheapest_scheme: the scene has no run; an equilibrium has no integrator")
    names = scheme_variants(run["integrator"]) if schemes is None else tuple(dict.fromkeys(schemes))
    if not names:
        raise StudyError("cheapest_scheme: schemes is empty. Name at least one integrator.")
    refinements = {
        name: Refinement.of(scene, {**times, "integrator": name}, measures, error, levels) for name in names
    }
    results: dict[str, Convergence] = {}
    rejected: dict[str, str] = {}
    with open_workers(scheduler, workers) as opened:
        for name in names:
            of_scheme = None if folder is None else Path(folder) / name
            run_options = {"folder": of_scheme, "progress": progress, "workers": opened}
            try:
                results[name] = refinements[name].choice(run_options)
            except ModelError as words:  # the integrator cannot run this model, or not with so coarse a step
                rejected[name] = str(words)
    if not results:
        reasons = "; ".join(f"{name}: {words}" for name, words in rejected.items())
        raise StudyError(f"cheapest_scheme: no scheme runs: {reasons}")
    return SchemeChoice(refinements[names[0]].base.file, error, results, rejected)
