"""What a run reads to go on with a result file, checked before anything is written: shapes, finite numbers, digests, model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rigid.system import Floats, State
from rodsim.interactions.registering import with_other_code
from rodsim.results import digests, native, stored_states
from rodsim.results.distances import SURFACES
from rodsim.results.errors import ResultError
from rodsim.results.layout import Layout
from rodsim.results.sources import FileSource, damage_of
from rodsim.results.storage import open_file

if TYPE_CHECKING:
    import h5py

_SAME_TIME = 1e-9  # of a time: that of an output is the number of its steps times dt
_UNIT = 1e-6  # of |q| - 1: an output has it to round-off
_CURE = (
    "run the simulation again, or begin a new file from an output that is whole: "
    "simulate(..., start=file, start_time=time)"
)


class LastOutput(NamedTuple):
    """Where a run goes on."""

    n: int  # outputs in the file
    t: float
    step: int
    state: State


def stored_outputs(path: Path | str) -> tuple[int, int, dict[str, Any]]:
    """Number of outputs in a result file, the step of the last one, and the settings of the run; (0, -1, {}) where
    there is none.

    Raises ResultError where the file is no result, or what a run reads to go on with it is damaged.
    """
    path = Path(path)
    if not path.is_file():
        return 0, -1, {}
    layout = FileSource(path).layout
    run = layout.description.get("run", {})
    with damage_of(path), open_file(path, "r") as file:
        if native.count(file) < 1:
            return 0, -1, run
        last = last_output(file, path, layout)
    return last.n, last.step, run


def last_output(file: h5py.File, path: Path, layout: Layout) -> LastOutput:
    """The last output of a file with this layout; ResultError where it, or the model beside it, is not what was written."""
    root, n = file[native.ROOT], native.count(file)
    if n < 1:
        raise ResultError(f"'{path}' holds no output to resume from; run without resume")
    wrong = [str(each) for each in digests.changed(file, slice(n - 1, n)) or []]
    if wrong:
        raise ResultError(f"'{path}' is damaged: {', '.join(wrong)} is not what was written; {_CURE}")
    t, step = float(root[native.TIME][n - 1]), int(root[native.STEP][n - 1])
    arrays = {name: native.read_rows(file, name, n - 1) for name in stored_states.shapes(layout)}
    fault = _fault_of(t, step, layout) or fault_of(arrays)
    if fault:
        raise ResultError(f"'{path}' is damaged: {fault} at output {n - 1}; {_CURE}")
    return LastOutput(n, t, step, stored_states.joined(layout, arrays))


def fault_of(arrays: Mapping[str, Floats]) -> str:
    """What of a state, as files have it, no step can begin with, in words; "": nothing."""
    for name, array in arrays.items():
        if not np.all(np.isfinite(array)):
            place = np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)
            return f"'{name}{list(map(int, place))}' is {array[place]}"
    miss = np.abs(np.linalg.norm(arrays["quat"], axis=-1) - 1.0)
    if miss.max(initial=0.0) > _UNIT:
        k = int(np.argmax(miss))
        return f"'quat[{k}]' is no unit quaternion (||q| - 1| = {miss[k]:.2g})"
    return ""


def _fault_of(t: float, step: int, layout: Layout) -> str:
    run = layout.description.get("run", {})
    if not np.isfinite(t) or step < 0:
        return f"'time' is {t}, 'step' {step}"
    if "dt" in run and abs(t - step * run["dt"]) > _SAME_TIME * max(abs(t), run["dt"]):
        return f"'time' is {t}, but 'step' {step} times dt = {run['dt']}"
    return ""


def plain(layout: Layout) -> dict[str, Any]:
    """The description as JSON gives it back."""
    return dict(json.loads(native.description_text(layout)))


def _without_end(layout: Layout) -> dict[str, Any]:
    """The same but for the end of the run, which may be made longer, and what computes it: it may be newer, or more threads."""
    description = plain(layout)
    description.pop("provenance", None)
    description.pop(SURFACES, None)  # follows from spheres and planes; older files have none
    if isinstance(description.get("run"), dict):
        for name in ("t_end", "until", "events", "threads"):
            description["run"].pop(name, None)
    return description


def check_same_model(stored: Layout, layout: Layout, path: Path) -> None:
    """Raise ResultError unless both describe the same model."""
    old, new = _without_end(stored), _without_end(layout)
    codes = {own["kind"]: own["code"] for own in new.get("others", {}).values() if "code" in own}
    for kind, name in with_other_code(old, codes).items():
        raise ResultError(
            f"'{path}' was made by other code of the kind '{kind}' (of interaction '{name}'); register that again, or go on in a "
            "new file from this one: simulate(..., start=Result.load(file))"
        )
    if stored.n_earlier:
        raise ResultError(
            f"'{path}' is of an older version, which began the steps of joined bodies otherwise; go on with that version, or "
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
            f"'{path}' is of an older version, whose 'em-d' did not dissipate in bushings and springs with laws; go on with "
            "that version, or in a new file from this one: simulate(..., start=)"
        )
    same = (
        stored.state_shapes() == layout.state_shapes()
        and stored.n_elements == layout.n_elements
        and [rod.name for rod in stored.rods] == [rod.name for rod in layout.rods]
        and [body.name for body in stored.bodies] == [body.name for body in layout.bodies]
        and all(np.array_equal(a.frames, b.frames) for a, b in zip(stored.rods, layout.rods, strict=True))
        and all(a.frame == b.frame for a, b in zip(stored.bodies, layout.bodies, strict=True))
    )
    if not same:
        raise ResultError(
            f"'{path}' is the result of another model (its rods, bodies or numbers of frames and joints "
            f"differ from those of '{layout.name}'); give another output, or do not resume"
        )
