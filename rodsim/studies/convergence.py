"""Refine mesh and step of a scene (`converge`): observed orders, and the cheapest mesh and step for a given error.

Two sequences start at the scene's own mesh and step: meshes that are doubled at that step, and steps that are halved on that
mesh. They predict which choice meets the error; `choosing` runs this choice and verifies it by refinement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rigid.checks import count, number
from rigid.later import Later
from rigid.system import Floats
from rodsim.studies.bases import SceneBase, scene_base
from rodsim.studies.choosing import Choice, choose
from rodsim.studies.designs import made_parameter
from rodsim.studies.errors import StudyError
from rodsim.studies.measures import Measure
from rodsim.studies.motion_samples import MotionSamples
from rodsim.studies.plain_json import dumps
from rodsim.studies.refined_runs import Plan, Run, plan_of
from rodsim.studies.refinement import Series, series
from rodsim.studies.running import run_with
from rodsim.studies.study import Study
from rodsim.studies.study_results import Sweep
from rodsim.studies.workers import open_workers

if TYPE_CHECKING:
    from rodsim.studies import study_schema as schema
else:
    schema = Later("rodsim.studies.study_schema")

MOTION = "motion"  # name of the default measure: positions of all parts


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
        """Return the lines of text on the choice and its errors."""
        if self.choice is None:
            return [f"no choice for an error of {self.error:g}: see the notes"]
        c = self.choice
        mesh = ", ".join(f"{n} elements of '{name}'" for name, n in c.elements.items())
        parts = [part for part in (mesh, "" if c.dt is None else f"dt = {c.dt:.6g} s") if part]
        verdict = "kept" if c.ok else "MISSED"
        return [
            f"for an error of {self.error:g}: {'; '.join(parts)}",
            f"expected {c.estimated:.2e}; refined against itself: {_of_parts(c)}{c.checked:.2e}, {verdict}",
        ]

    def to_json(self) -> str:
        """Return sequences, choice and notes as JSON.

        Returns
        -------
        str
            An object with the keys "scene", "error", "mesh", "step", "choice" and "notes".
        """

        def plain(found: Series) -> dict[str, Any]:
            orders = [None if np.isnan(p) else float(p) for p in found.orders]
            rows = {"x": found.x.tolist(), "errors": found.errors.tolist(), "orders": orders}
            return {"measure": found.name, **rows, "trusted": found.trusted}

        choice = None if self.choice is None else self.choice.plain()
        series_of = {"mesh": [plain(x) for x in self.mesh], "step": [plain(x) for x in self.step]}
        told = {"scene": self.scene, "error": self.error, **series_of, "choice": choice, "notes": self.notes}
        return dumps(told, indent=2)

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
        from rodsim.studies.convergence_picture import Panel, draw

        choice = self.choice
        panels = [
            Panel("elements", self.mesh, None if choice is None else float(sum(choice.elements.values()))),
            Panel("dt (s)", self.step, None if choice is None else choice.dt),
        ]
        return draw(self.scene, self.error, [panel for panel in panels if panel.series], path)


def _of_parts(choice: Choice) -> str:
    """Return the errors of mesh and step as a sum in text; empty unless both are positive."""
    parts = [(choice.mesh_error, "mesh"), (choice.step_error, "step")]
    told = [f"{word} {error:.2e}" for error, word in parts if error]
    return f"{' + '.join(told)} = " if len(told) > 1 else ""


def _of_what(all_found: list[Series]) -> str:
    """Return the reference of relative errors, in words."""
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
    <scene>: errors relative, of the farthest that a point goes
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
    wanted = Wanted.of(measures, error, levels)
    base = scene_of(scene, {"t_end": t_end, "dt": dt, "integrator": integrator})
    plan = plan_of(base, levels, motion=not wanted.measures)
    with open_workers(scheduler, workers) as opened:
        return converged(base, plan, wanted, {"folder": folder, "progress": progress, "workers": opened})


class Wanted(NamedTuple):
    """Checked arguments of a refinement: measures, error and number of levels."""

    measures: dict[str, Measure]  # measures by name; empty: the motion
    error: float
    levels: int

    @classmethod
    def of(cls, measures: Mapping[str, Measure] | Sequence[str] | None, error: float, levels: int) -> Wanted:
        """Check the arguments of a refinement; raise StudyError or ModelError if one is invalid."""
        error = number("converge", "error", error, positive=True)
        count("converge", "levels", levels)
        if levels < 3:
            raise StudyError(f"converge: levels = {levels}; an order takes 3 or more")
        named: dict[str, Measure] = {}
        if measures is not None:
            named = dict(measures) if isinstance(measures, Mapping) else {text: text for text in measures}
        return cls(named, error, levels)


def converged(base: SceneBase, plan: Plan, wanted: Wanted, how: dict[str, Any]) -> Convergence:
    """Run both sequences and, if both converge, find the choice; `how`: keyword arguments of `run_with`."""
    named, error = wanted.measures, wanted.error
    rows = plan.runs()
    runs = _run(base, plan, rows, named, how)
    rates = _rates(rows, runs)
    values, scales = _values(runs, named)
    mesh, step = [], []
    first, factors = plan.first, 2.0 ** np.arange(plan.levels)
    for name, found in values.items():
        if first.elements:
            n_total = sum(first.elements.values()) * factors
            mesh.append(series(name, n_total, found[: plan.n_mesh], scales[name]))
        if first.dt is not None:
            step.append(series(name, first.dt / factors, [found[0], *found[plan.n_mesh :]], scales[name]))
    result = Convergence(base.file, error, mesh, step, None, runs, first.elements)
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

    def run(rows: list[Run]) -> list[dict[str, Floats]]:
        of_rows = _run(base, plan, rows, named, {**how, "progress": False})
        rates.extend(_rates(rows, of_rows))
        found, _ = _values(of_rows, named)
        return [{name: x[k] for name, x in found.items()} for k in range(len(rows))]

    of_meshes, of_steps = ({x.name: x for x in all_found} for all_found in (mesh, step))
    choice, notes = choose(plan, of_meshes, of_steps, scales, error, run)
    return replace(result, choice=choice, notes=[*result.notes, *notes], rate=min(rates))


def _rates(rows: list[Run], runs: Sweep) -> list[float]:
    """Return the time of each run per unit of `Run.work`, s."""
    return [outcome.seconds / row.work for row, outcome in zip(rows, runs.outcomes, strict=True)]


def scene_of(scene: str | Path | Mapping[str, Any], settings: dict[str, Any]) -> SceneBase:
    """Return the study target of a scene file or of scene data; `settings` that are not None replace those of its run."""
    from rodsim.scenes.reading import read

    if isinstance(scene, Mapping):
        return scene_base("<scene>", dict(scene), {}, None, {}, settings)
    source = read(scene)
    return scene_base(source.file, source.data, source.lines, Path(scene).parent, {}, settings)


def _run(
    of_scene: SceneBase, plan: Plan, rows: list[Run], measures: dict[str, Measure], how: dict[str, Any]
) -> Sweep:
    """Run a list of meshes and steps as a study; raise StudyError if a run failed."""
    entries: dict[str, list[Any]] = {
        f"rods.{name}.n_elements": [row.elements[name] for row in rows] for name in plan.first.elements
    }
    moves = plan.first.dt is not None
    if moves:
        entries |= {"run.dt": [row.dt for row in rows], "run.output_every": [row.every for row in rows]}
    parameters = {
        path: made_parameter(path, schema.ParameterEntry(values=values)) for path, values in entries.items()
    }
    # settings that replace the scene's must not replace the varied ones
    settings = {name: x for name, x in of_scene.settings.items() if name not in ("dt", "output_every")}
    data = {
        **of_scene.data,
        **({"run": {**(of_scene.whole["run"] or {}), **of_scene.settings}} if moves else {}),
    }
    places = {name: p.places for name, p in parameters.items()}
    base = scene_base(of_scene.file, data, of_scene.lines, None, places, settings)
    base.files = of_scene.files
    sampler = None if measures else MotionSamples(plan.times)
    study = Study("converge", base, parameters, schema.DesignEntry(type="list"), measures, sampler=sampler)
    found = run_with(study=study, **how)
    for case, words in found.failed.items():
        told = ", ".join(f"{name} = {value}" for name, value in study.rows[case].items())
        raise StudyError(f"converge: the run with {told} failed: {words}")
    return found


def _values(runs: Sweep, measures: dict[str, Measure]) -> tuple[dict[str, list[Floats]], dict[str, float]]:
    """Return the values of each run by measure, (k, 3) points or (1, 1) numbers, and the scales of the errors by measure."""
    if not measures:
        every = [np.array(outcome.samples) for outcome in runs.outcomes]
        return {MOTION: [x[1:].reshape(-1, 3) for x in every]}, {MOTION: float(every[0][0]) or 1.0}
    names = list(dict.fromkeys(name for outcome in runs.outcomes for name in outcome.measures))
    values = {name: [np.array([[outcome.measures[name]]]) for outcome in runs.outcomes] for name in names}
    bad = [name for name, found in values.items() if not np.isfinite(found).all()]
    if bad:
        raise StudyError(f"converge: measure '{bad[0]}' is no number in some runs; choose another")
    return values, {name: float(np.abs(found).max()) or 1.0 for name, found in values.items()}
