"""Provide the two results of a comparison: open result files, run scenes and models."""

from __future__ import annotations

from pathlib import Path

from rigid.checks import shown
from rigid.errors import ModelError
from rodsim.adaptive_steps import STEP_KEYS, Adaptive, with_adaptive
from rodsim.model import Model
from rodsim.results.errors import ResultError
from rodsim.results.result import Result
from rodsim.scenes.model_from_scene import load, translate
from rodsim.simulation import simulate


def is_scene(path: str | Path) -> bool:
    """Return whether a path has the suffix of a scene file."""
    return Path(path).suffix.lower() in (".yaml", ".yml")


def open_or_run(
    path: str | Path,
    integrator: str | None = None,
    dt: float | None = None,
    rigid: bool = False,
    progress: bool | None = None,
) -> Result:
    """Open a result file, or run a scene in memory with its settings or those given here.

    `rigid`: run the rigid twin of the scene, see `Model.as_rigid`. If `dt` differs from that of the scene, the time between
    outputs is kept as nearly as possible. Raises ModelError if one of these is given for a result, which has been run already.
    """
    if not is_scene(path):
        if rigid or integrator is not None or dt is not None:
            raise ModelError(
                f"'{path}' is a result, which was run already; integrator, dt and rigid are for scenes. Give a scene"
            )
        return Result.load(path)
    loaded = load(path)
    scene = loaded.scene.run
    if scene is None:
        raise ModelError(f"'{path}': the scene does not say how long to run it; add a `run`")
    every = scene.output_every
    if dt is not None and every is not None and scene.dt is not None:
        every = max(1, round(every * scene.dt / dt))
    try:
        return simulate(
            loaded.model.as_rigid() if rigid else loaded.model,
            scene.t_end,
            with_adaptive({name: getattr(scene, name) for name in STEP_KEYS}).get("dt") if dt is None else dt,
            scene.integrator if integrator is None else integrator,
            output_every=every,
            chart=scene.chart if integrator is None else None,  # belongs to the scene's integrator
            tolerance=scene.tolerance if integrator is None else 0.0,
            progress=progress,
            solver=scene.solver,
        )
    except ModelError as error:
        raise translate(loaded.source, error) from None


Comparable = Result | Model | Path | str


def comparison_results(a: Comparable, b: Comparable) -> tuple[Result, Result]:
    """Return the two results that `compare` compares: open files, run scenes, and run a model in memory as the other was.

    Raises ResultError if neither defines how to run a model, or an argument is none of these.
    """
    first, second = (_open_result(x) if not isinstance(x, Model) else x for x in (a, b))
    if isinstance(first, Model):
        if isinstance(second, Model):
            raise ResultError(
                f"compare: {first!r} and {second!r} do not say how long to run; give what `simulate` returns for one of them"
            )
        return _run_with_settings_of(second, first), second
    return first, _run_with_settings_of(first, second) if isinstance(second, Model) else second


def _open_result(operand: object) -> Result:
    """Return the result of a path or a result; raise ResultError for anything else."""
    if isinstance(operand, str | Path):
        return open_or_run(operand, progress=False) if is_scene(operand) else Result.load(operand)
    if not isinstance(operand, Result):
        raise ResultError(
            f"compare: {shown(operand)} is not a result; give what `simulate` returns, a file of it, a scene, or a Model to be "
            "run as the other was"
        )
    return operand


def _run_with_settings_of(result: Result, model: Model) -> Result:
    """Run the model with the settings of the run of a result."""
    run = result.description.get("run", {})
    missing = [name for name in ("t_end", "dt", "integrator") if name not in run]
    why = "it is not a simulation" if missing or "statics" in result.description else ""
    why = why or ("it began with the state of another result" if "start" in result.description else "")
    if why:
        raise ResultError(
            f"compare: {result!r} does not say how to run model '{model.name}', {why}; give a result of that model too"
        )
    chosen = "error" in run  # adaptive steps: dt is the time between outputs
    return simulate(
        model,
        run["t_end"],
        dt=Adaptive(run["error"], output_dt=run["dt"], max_dt=run.get("max_dt")) if chosen else run["dt"],
        integrator=run["integrator"],
        output_every=None if chosen else run.get("output_every"),
        chart=run.get("chart"),
        tolerance=run.get("tolerance", 0.0),
        solver="auto" if "solver" in run else "general",
        progress=False,
    )
