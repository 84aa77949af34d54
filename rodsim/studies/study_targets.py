"""Targets of a study: a scene, a model with varied settings and numbers, or a function of the parameters."""

from __future__ import annotations

import copy
import hashlib
import inspect
import tempfile
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol

from rodsim.scenes.errors import Path as Keys
from rodsim.studies.case_keys import key, names_in
from rodsim.studies.errors import StudyError, near
from rodsim.studies.scene_paths import locate, with_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rodsim.model import Model
    from rodsim.prepared import Prepared
    from rodsim.results.layout import Layout
    from rodsim.results.result import Result
    from rodsim.scenes.model_from_scene import Loaded
    from rodsim.scenes.yaml_data import Source

Values = Mapping[str, Any]
SETTINGS = (  # arguments of `simulate` that a study may set or vary
    "t_end", "dt", "error", "output_dt", "max_dt", "integrator", "chart", "tolerance", "solver", "output_every",
)  # fmt: skip
_RUNNING = {  # functions that run a model
    "simulate", "equilibrium", "modes", "buckling", "integrate", "steady_rotation", "converge", "sweep",
}  # fmt: skip


class StudyTarget(Protocol):
    """Interface of a study target: content, result, layout and end time of a case, given the values of its parameters."""

    def content(self, values: Values) -> Any:
        """Return all data that determine the numbers of the case, in a form that `case_keys.key` can hash."""

    def result(self, values: Values, output: Path | None) -> Result | Mapping[str, Any]:
        """Run the case and return its result; `output`: result file, None to keep the result in memory."""

    def layout(self, values: Values) -> Layout | None:
        """Return the layout of the results; None if it is not known before a run."""

    def end(self, values: Values) -> float | None:
        """Check the steps and return the end time of the run (s); None if it is not known before a run."""


@dataclass
class SceneTarget:
    """Study target given by the data of a scene: with the paths of its parameters and the files that it reads."""

    file: str
    data: dict[str, Any]
    lines: dict[Any, int]
    whole: dict[str, Any]  # scene data with all defaults filled in
    places: dict[str, list[tuple[Keys, float | None]]]  # by parameter: keys, factor
    settings: dict[str, Any] = field(default_factory=dict)  # replace those of the run
    files: dict[str, bytes] = field(default_factory=dict)  # mesh file name -> content

    def case(self, values: Values) -> dict[str, Any]:
        """Return the scene data of one case."""
        data: dict[str, Any] = self.source(values).data
        return data

    def source(self, values: Values) -> Source:
        """Return the scene of one case, with lines."""
        from rodsim.scenes.yaml_data import Source

        data = self.data
        if self.settings:  # settings replace the scene's; parameters replace both
            data = {**data, "run": {**(data.get("run") or {}), **self.settings}}
        values_at_keys = [
            (keys, _times(values[name], factor))
            for name, paths in self.places.items()
            for keys, factor in paths
        ]
        return with_values(Source(self.file, data, self.lines), self.whole, values_at_keys)

    def content(self, values: Values) -> Any:
        return ["scene", self.case(values), self.files]

    def load(self, values: Values, built: bool = False) -> Loaded:
        """Check the scene of a case and return it with its model; `built`: True to build the model once as a check."""
        from rodsim.scenes.model_from_scene import loaded_from

        with self._folder() as folder:
            return loaded_from(self.source(values), folder, built)

    def layout(self, values: Values) -> Layout:
        return self.load(values, built=True).model.build().layout

    def end(self, values: Values) -> float | None:
        run = self.load(values).scene.run
        return None if run is None else _end({name: getattr(run, name) for name in SETTINGS})

    def result(self, values: Values, output: Path | None) -> Result:
        from rigid.errors import ModelError
        from rodsim.results.events import events_of_scene
        from rodsim.scenes.equilibrium_settings import equilibrium_settings
        from rodsim.scenes.model_from_scene import translate

        loaded = self.load(values)
        run = loaded.scene.run
        try:
            if run is None:
                from rodsim.statics.equilibria import equilibrium

                return equilibrium(loaded.model, **equilibrium_settings(loaded), output=output)
            settings = {name: getattr(run, name) for name in SETTINGS}
            return _simulate(loaded.model, {**settings, "events": events_of_scene(run)}, output)
        except ModelError as error:
            raise translate(loaded.source, error) from None

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        """Provide a folder with the files of the scene, because the worker may be on another machine."""
        if not self.files:
            yield Path()
            return
        with tempfile.TemporaryDirectory(prefix="rodsim-") as name:
            for file, content in self.files.items():
                Path(name, file).write_bytes(content)
            yield Path(name)


def _times(value: Any, factor: float | None) -> Any:
    """Return the value times the factor; an integer stays an integer if the product is whole."""
    if factor is None or factor == 1.0:
        return value
    product = value * factor
    return round(product) if isinstance(value, int) and float(product).is_integer() else product


@dataclass
class ModelTarget:
    """Study target given by a model that is built once; settings of its run and numbers of its parts are varied."""

    model: Model
    settings: dict[str, Any]

    def __getstate__(self) -> dict[str, Any]:
        # the prepared model is not sent to other processes
        return {name: x for name, x in vars(self).items() if name != "prepared"}

    @cached_property
    def prepared(self) -> Prepared:
        """Return the prepared model, which can be run with other numbers."""
        return self.model.prepare()

    def _split(self, values: Values) -> tuple[dict[str, Any], dict[str, Any]]:
        """Split the values into settings of the run and numbers of the model."""
        settings = {name: x for name, x in values.items() if name in SETTINGS}
        numbers = {name: x for name, x in values.items() if name not in (*SETTINGS, "seed")}
        return {**self.settings, **settings}, numbers

    def content(self, values: Values) -> Any:
        return ["model", self.model, {**self.settings, **values}]

    def layout(self, values: Values) -> Layout:
        return self.model.build().layout

    def end(self, values: Values) -> float | None:
        return _end(self._split(values)[0])

    def result(self, values: Values, output: Path | None) -> Result:
        settings, numbers = self._split(values)
        return _simulate(self.prepared.model(numbers), settings, output)

    def check(self, names: list[str]) -> None:
        """Raise StudyError for a parameter that is neither a setting nor a changeable number of the model."""
        from rodsim.components.parameter_changes import changeable

        known = (*SETTINGS, *changeable(self.model))
        for name in names:
            if name not in known:
                raise StudyError(
                    f"parameter '{name}' is not a setting or a changeable number of the model; {near(name, known, 'it has')} "
                    "Give a scene, or a function of the parameters that makes the model"
                )


@dataclass
class FunctionTarget:
    """Study target given by a function of the parameters that returns a model, scene data, a result, or numbers by name."""

    function: Callable[..., Any]
    settings: dict[str, Any]

    def content(self, values: Values) -> Any:
        return ["function", self._function_key, self.settings, dict(values)]

    @cached_property
    def _function_key(self) -> str:
        """Return the hash of the function; cached, because it is the same for all cases."""
        return key(self.function)

    def layout(self, values: Values) -> None:
        """Return None: the layout of a function's result is not known before a run."""
        return None

    def end(self, values: Values) -> None:
        """Return None: the end time of a function's run is not known before it."""
        return None

    def layout_from_function(self, values: Values) -> Layout | None:
        """Return the layout of the model or scene that the function makes.

        None if it makes neither, fails, or calls a function that runs the case (`_RUNNING`).
        """
        from rodsim.model import Model

        code = getattr(self.function, "__code__", None)
        if isinstance(code, CodeType) and names_in(code) & _RUNNING:
            return None
        try:
            returned = self.function(**self._given(values))
            if isinstance(returned, Model):
                return returned.build().layout
            if isinstance(returned, Mapping) and ("run" in returned or "equilibrium" in returned):
                return read_scene_target(returned).layout({})
        except Exception:
            return None  # the error is reported when the case is run
        return None

    def _given(self, values: Values) -> dict[str, Any]:
        """Return the values that are arguments of the function; the others are settings of the run."""
        accepted = self._argument_names()
        return {name: value for name, value in values.items() if accepted is None or name in accepted}

    def result(self, values: Values, output: Path | None) -> Result | Mapping[str, Any]:
        from rodsim.model import Model
        from rodsim.results.result import Result

        arguments = self._given(values)
        settings = {**self.settings, **{name: v for name, v in values.items() if name not in arguments}}
        returned = self.function(**arguments)
        if isinstance(returned, Model):
            return _simulate(returned, settings, output)
        if isinstance(returned, Result):
            return returned
        if isinstance(returned, Mapping) and ("run" in returned or "equilibrium" in returned):
            return read_scene_target(returned, settings=settings).result({}, output)
        if isinstance(returned, Mapping):
            return returned
        raise StudyError(
            f"{_name(self.function)}: it gave a {type(returned).__name__}; return a Model, a Result, a scene or numbers by name"
        )

    def check(self, names: list[str]) -> None:
        """Raise StudyError unless function and run accept all parameters and no required argument is missing."""
        accepted = self._argument_names()
        if accepted is None:
            return
        for name in names:
            if name not in accepted and name not in SETTINGS and name != "seed":
                known = [*accepted, *SETTINGS]
                raise StudyError(
                    f"parameter '{name}': {_name(self.function)} has no argument '{name}'; {near(name, known)}"
                )
        needed = [n for n, p in accepted.items() if p.default is p.empty and n not in names]
        if needed:
            raise StudyError(f"{_name(self.function)}: it needs '{needed[0]}'; give that parameter")

    def _argument_names(self) -> dict[str, inspect.Parameter] | None:
        """Return the arguments of the function by name; None if it accepts any (`**kwargs`)."""
        parameters = inspect.signature(self.function).parameters
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            return None
        return {n: p for n, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}


def _name(function: Callable[..., Any]) -> str:
    """Return the name of a function for messages."""
    return f"function '{getattr(function, '__name__', type(function).__name__)}'"


def _simulate(model: Model, settings: Mapping[str, Any], output: Path | None) -> Result:
    """Simulate a model with the settings that are not None; raise StudyError if end time or steps are missing."""
    from rodsim.adaptive_steps import with_adaptive
    from rodsim.simulation import simulate

    present = {name: value for name, value in settings.items() if value is not None}
    missing = [name for name in ("t_end", "dt") if name not in present]
    if missing and not ("t_end" in present and "error" in present):
        raise StudyError(f"study: how long to run and with which steps? give {' and '.join(missing)}")
    return simulate(model, **with_adaptive(present), output=output, progress=False)


def _end(settings: Mapping[str, Any]) -> float | None:
    """Check that the steps fit the end time, and return it (s); None if `t_end` or `dt` is missing."""
    from rodsim.adaptive_steps import steps_of

    if settings.get("t_end") is None or settings.get("dt") is None:
        return None
    steps_of(settings["t_end"], settings["dt"], settings.get("output_every"))
    return float(settings["t_end"])


def scene_target(
    file: str,
    data: dict[str, Any],
    lines: dict[Any, int],
    folder: Path | None = None,
    places: Mapping[str, Mapping[str, float | None]] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> SceneTarget:
    """Check a scene, locate the parameters in it and return the study target.

    `folder`: folder of the mesh files. `places`: parameter name -> path -> factor. `settings`: replace those of the scene's run.
    Raises SceneError if the scene is invalid, StudyError if a path is.
    """
    from rodsim.scenes.deprecated_keys import new_path, with_new_keys
    from rodsim.scenes.scene_checks import check
    from rodsim.scenes.yaml_data import Source

    data, lines = with_new_keys(data, lines, file)
    data, files = _with_meshes(data, folder or Path())
    complete = check(Source(file, data, lines)).model_dump()
    located: dict[str, list[tuple[Any, float | None]]] = {}
    for name, targets in (places or {}).items():
        try:
            located[name] = [(locate(complete, new_path(path)), factor) for path, factor in targets.items()]
        except StudyError as error:
            raise StudyError(f"parameter '{name}': {error}") from None
    present = {name: value for name, value in (settings or {}).items() if value is not None}
    return SceneTarget(file, data, lines, complete, located, present, files)


def read_scene_target(
    scene: str | Path | Mapping[str, Any] | Source,
    places: Mapping[str, Mapping[str, float | None]] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> SceneTarget:
    """Return the study target of a scene: its file, its data, or the file that has been read. Others: as in `scene_target`."""
    if isinstance(scene, Mapping):
        from rodsim.scenes.scene_input import scene_of

        return scene_target("<scene>", scene_of(scene), {}, None, places, settings)
    from rodsim.scenes.reading import read

    source = read(scene) if isinstance(scene, str | Path) else scene
    return scene_target(source.file, source.data, source.lines, Path(source.file).parent, places, settings)


def _with_meshes(data: dict[str, Any], folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the scene with mesh files renamed by content hash, and their contents; unreadable files keep their names."""
    files: dict[str, bytes] = {}
    bodies = data.get("bodies")
    if not isinstance(bodies, list) or not any("file" in (_shape(body) or {}) for body in bodies):
        return data, files
    data = copy.deepcopy(data)
    for body in data["bodies"]:
        shape = _shape(body)
        if shape is None or not isinstance(shape.get("file"), str) or not (folder / shape["file"]).is_file():
            continue
        content = (folder / shape["file"]).read_bytes()
        name = hashlib.sha256(content).hexdigest()[:16] + Path(shape["file"]).suffix
        files[name], shape["file"] = content, name
    return data, files


def _shape(body: Any) -> dict[str, Any] | None:
    """Return the shape entry of a body in scene data; None if the data have none."""
    shape = body.get("shape") if isinstance(body, dict) else None
    return shape if isinstance(shape, dict) else None
