"""Read the state from which a run resumes a result file, and check the file before anything is written.

Checked are shapes, finite numbers, checksums, and that the model is the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rigid.system import Floats, State
from rodsim.interactions.registration import kinds_with_other_code
from rodsim.results import native_format, stored_states
from rodsim.results.array_sources import Source, open_source
from rodsim.results.distances import SURFACES
from rodsim.results.errors import ResultError
from rodsim.results.event_history import stop_times
from rodsim.results.layout import Layout

_SAME_TIME = 1e-9  # relative tolerance of times: the time of an output is the number of its steps times dt
_UNIT = 1e-6  # tolerance of |q| - 1, which is zero to round-off at an output
_REMEDY = (
    "run the simulation again, or begin a new file from an output that is whole: "
    "simulate(..., start=file, start_time=time)"
)


class LastOutput(NamedTuple):
    """Hold the last output of a file, from which a run resumes."""

    n: int  # number of outputs in the file
    t: float  # time, s
    step: int  # number of steps since t = 0
    state: State  # state of all frames


def stored_outputs(path: Path | str) -> tuple[int, int, dict[str, Any]]:
    """Return the number of outputs in a result, the step of the last one, and the settings of the run.

    Returns (0, -1, {}) if there is neither file nor journal, and (0, -1, settings) if they hold no output.
    Raises ResultError if the file is not a result, or if the data from which a run would resume are damaged.
    """
    try:
        source = open_source(Path(path))
    except FileNotFoundError:
        return 0, -1, {}
    run = source.layout.description.get("run", {})
    if source.n_outputs < 1:
        return 0, -1, run
    last = last_output(source)
    return last.n, last.step, run


def last_output(source: Source) -> LastOutput:
    """Read the last output of a file or journal; raise ResultError if it, or the stored model, is damaged."""
    path, n = source.path, source.n_outputs
    if n < 1:
        raise ResultError(f"'{path}' holds no output to resume from; run without resume")
    wrong = [str(change) for change in source.find_damage(slice(n - 1, n)) or []]
    if wrong:
        raise ResultError(f"'{path}' is damaged: {', '.join(wrong)} is not what was written; {_REMEDY}")
    t, step = float(source.read(native_format.TIME, n - 1)), int(source.read(native_format.STEP, n - 1))
    arrays = source.read_all(stored_states.shapes(source.layout), n - 1)
    state = stored_states.joined(source.layout, arrays)
    stopped = float(stop_times(source.layout, state.internal[None])[0])
    fault = (t != stopped and _describe_time_fault(t, step, source.layout)) or describe_fault(arrays)
    if fault:
        raise ResultError(f"'{path}' is damaged: {fault} at output {n - 1}; {_REMEDY}")
    return LastOutput(n, t, step, state)


def describe_fault(arrays: Mapping[str, Floats]) -> str:
    """Describe the first fault of a state's stored arrays that makes a step impossible; return "" if there is none.

    A fault is a number that is not finite, or a quaternion that is not of unit length.
    """
    for name, array in arrays.items():
        if not np.all(np.isfinite(array)):
            position = np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)
            return f"'{name}{list(map(int, position))}' is {array[position]}"
    deviation = np.abs(np.linalg.norm(arrays["quat"], axis=-1) - 1.0)
    if deviation.max(initial=0.0) > _UNIT:
        k = int(np.argmax(deviation))
        return f"'quat[{k}]' is not a unit quaternion (||q| - 1| = {deviation[k]:.2g})"
    return ""


def _describe_time_fault(t: float, step: int, layout: Layout) -> str:
    """Describe why time and step number of an output do not fit each other; return "" if they do."""
    run = layout.description.get("run", {})
    if not np.isfinite(t) or step < 0:
        return f"'time' is {t}, 'step' {step}"
    if "dt" in run and abs(t - step * run["dt"]) > _SAME_TIME * max(abs(t), run["dt"]):
        return f"'time' is {t}, but 'step' {step} times dt = {run['dt']}"
    return ""


def json_description(layout: Layout) -> dict[str, Any]:
    """Return the description of a layout after a round trip through JSON."""
    return dict(json.loads(native_format.description_text(layout)))


def _without_run_end(layout: Layout) -> dict[str, Any]:
    """Return the description without the entries that may change when a run is resumed.

    These are the end of the run, which may be extended, the version of the program and the number of threads.
    """
    description = json_description(layout)
    description.pop("provenance", None)
    description.pop(SURFACES, None)  # follows from spheres and planes; older files have none
    if isinstance(description.get("run"), dict):
        for name in ("t_end", "until", "events", "threads"):
            description["run"].pop(name, None)
    return description


def check_same_model(stored: Layout, layout: Layout, path: Path) -> None:
    """Raise ResultError unless both describe the same model."""
    old, new = _without_run_end(stored), _without_run_end(layout)
    codes = {entry["kind"]: entry["code"] for entry in new.get("others", {}).values() if "code" in entry}
    for kind, name in kinds_with_other_code(old, codes).items():
        raise ResultError(
            f"'{path}' was made by other code of the kind '{kind}' (of interaction '{name}'); register that again, or continue "
            "in a new file from this one: simulate(..., start=Result.load(file))"
        )
    if old != new:
        keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
        raise ResultError(
            f"'{path}' is the result of another model ('{stored.name}' differs from '{layout.name}' in "
            f"{', '.join(keys)}); give another output, or do not resume"
        )
    if stored.n_memory != layout.n_memory:
        raise ResultError(
            f"'{path}' is of an older version, whose 'em-d' did not dissipate in bushings and springs with laws; continue with "
            "that version, or in a new file from this one: simulate(..., start=)"
        )
    matches = (
        stored.state_shapes() == layout.state_shapes()
        and stored.n_elements == layout.n_elements
        and [rod.name for rod in stored.rods] == [rod.name for rod in layout.rods]
        and [body.name for body in stored.bodies] == [body.name for body in layout.bodies]
        and all(np.array_equal(a.frames, b.frames) for a, b in zip(stored.rods, layout.rods, strict=True))
        and all(a.frame == b.frame for a, b in zip(stored.bodies, layout.bodies, strict=True))
    )
    if not matches:
        raise ResultError(
            f"'{path}' is the result of another model (its rods, bodies or numbers of frames and joints "
            f"differ from those of '{layout.name}'); give another output, or do not resume"
        )
