"""Read a study file into a checked `Study`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rodsim.scenes.reading import read
from rodsim.scenes.scene_checks import checked
from rodsim.studies import study_schema as schema
from rodsim.studies.bases import scene_base
from rodsim.studies.designs import SEED, made_parameter
from rodsim.studies.errors import StudyError
from rodsim.studies.study import Study

if TYPE_CHECKING:
    from rodsim.scenes.reading import Source


def read_study(path: str | Path, keep: Any = None, plots: list[schema.PlotEntry] | None = None) -> Study:
    """Read and check a study file; the path of its scene is relative to it.

    `keep`, `plots`: replace those of the file. Raises SceneError, with file, line and remedy, if the study or scene is invalid.
    """
    source = read(path, "study")
    entry = checked(source, schema.StudyEntry)
    parameters = {name: made_parameter(name, given) for name, given in entry.parameters.items()}
    settings = {"t_end": entry.t_end, "dt": entry.dt, "integrator": entry.integrator}
    scene = read(Path(path).parent / entry.scene)
    try:
        places = {name: parameter.places for name, parameter in parameters.items()}
        base = scene_base(
            scene.file,
            scene.data,
            scene.lines,
            Path(path).parent / Path(entry.scene).parent,
            places,
            settings,
        )
        return Study(
            entry.name,
            base,
            parameters,
            entry.design,
            dict(entry.measures),
            entry.keep if keep is None else keep,
            entry.plots if plots is None else plots,
            limit=entry.limit,
        )
    except StudyError as error:
        raise source.error(_where(source, str(error)), str(error)) from None


def _where(source: Source, text: str) -> tuple[str, ...]:
    """Return the keys of the entry of the file to which the beginning of a message refers; empty if there is none."""
    for head, word in (("parameters", "parameter"), ("measures", "measure")):
        for name, item in (source.data.get(head) or {}).items():
            if text.startswith((f"{word} '{name}'", f"{word} '{item}'")):
                return (head, name)
    head = text.partition(":")[0].partition(" ")[0]
    head = "plots" if head == "plot" else head
    return (head,) if head in source.data and head != SEED else ()
