"""What a comparison is of: a result file as it is, a scene by running it."""

from __future__ import annotations

from pathlib import Path

from rigid.errors import ModelError
from rodsim.results.result import Result
from rodsim.scenes.loading import load, translate
from rodsim.simulation import simulate


def is_scene(path: str | Path) -> bool:
    """Whether the name is that of a scene."""
    return Path(path).suffix.lower() in (".yaml", ".yml")


def result_of(
    path: str | Path,
    integrator: str | None = None,
    dt: float | None = None,
    rigid: bool = False,
    progress: bool | None = None,
) -> Result:
    """Open a result file, or run a scene in memory with its own settings or those given here.

    rigid: the rigid twin of the scene instead, see `Model.rigidified`. Where dt is another than the scene's, outputs stay
    as far apart as it fits. Raises ModelError where one is given for a result, which is run already.
    """
    if not is_scene(path):
        if rigid or integrator is not None or dt is not None:
            raise ModelError(
                f"'{path}' is a result and run already; integrator, dt and rigid are for scenes, give one"
            )
        return Result.open(path)
    loaded = load(path)
    scene = loaded.scene.run
    if scene is None:
        raise ModelError(f"'{path}': the scene says not how long to run it; give it a `run`")
    every = scene.output_every
    if dt is not None and every is not None:
        every = max(1, round(every * scene.dt / dt))
    try:
        return simulate(
            loaded.model.rigidified() if rigid else loaded.model,
            scene.t_end,
            scene.dt if dt is None else dt,
            scene.integrator if integrator is None else integrator,
            output_every=every,
            chart=scene.chart if integrator is None else None,  # it belongs to the integrator of the scene
            tolerance=scene.tolerance if integrator is None else 0.0,
            progress=progress,
        )
    except ModelError as error:
        raise translate(loaded.source, error) from None
