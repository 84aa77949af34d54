"""What a study varies: a scene, a model under other settings, or a function of the parameters."""

from __future__ import annotations

import copy
import hashlib
import inspect
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol

from rodsim.studies.errors import StudyError, near
from rodsim.studies.keys import key
from rodsim.studies.paths import assign
from rodsim.studies.scratch import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rodsim.model import Model
    from rodsim.prepared import Prepared
    from rodsim.results.layout import Layout
    from rodsim.results.result import Result
    from rodsim.scenes.errors import Path as Keys
    from rodsim.scenes.model_from_scene import Loaded

Values = Mapping[str, Any]
SETTINGS = (
    "t_end",
    "dt",
    "error",
    "output_dt",
    "max_dt",
    "integrator",
    "chart",
    "tolerance",
    "solver",
    "output_every",
)  # of `simulate`


class Base(Protocol):
    """A case of it: what it is made of, and its result."""

    def content(self, values: Values) -> Any:
        """All that decides about the case, as `keys.key` takes it."""

    def result(self, values: Values, output: Path | None) -> Result | Mapping[str, Any]:
        """Run the case; `output`: file of its result, None: in memory."""

    def layout(self, values: Values) -> Layout | None:
        """Of the results, where it is known before a run."""

    def end(self, values: Values) -> float | None:
        """Where the run ends, s, with its steps checked; None: not known before a run."""


@dataclass
class SceneBase:
    """The data of a scene, the places of its parameters, and the files it reads."""

    file: str
    data: dict[str, Any]
    lines: dict[Any, int]
    whole: dict[str, Any]  # the data with all defaults
    places: dict[str, list[tuple[Keys, float | None]]]  # of each parameter, with a factor
    settings: dict[str, Any] = field(default_factory=dict)  # of the run, instead of the scene's
    files: dict[str, bytes] = field(default_factory=dict)  # meshes, by their names in the scene

    def case(self, values: Values) -> dict[str, Any]:
        """The data of the scene of one case."""
        data = copy.deepcopy(self.data)
        if self.settings:  # in place of the scene's, and a parameter in place of either
            data["run"] = {**(data.get("run") or {}), **self.settings}
        placed = [
            (keys, _times(values[name], factor))
            for name, places in self.places.items()
            for keys, factor in places
        ]
        # what all share first: a part that gets its own copy has it then, too
        for keys, value in sorted(placed, key=lambda item: item[0][0] not in ("materials", "sections")):
            assign(data, self.whole, keys, copy.deepcopy(value))
        return data

    def content(self, values: Values) -> Any:
        return ["scene", self.case(values), self.files]

    def load(self, values: Values, built: bool = False) -> Loaded:
        """The scene of a case, checked, and its model."""
        from rodsim.scenes.model_from_scene import loaded_from
        from rodsim.scenes.reading import Source

        with self._folder() as folder:
            return loaded_from(Source(self.file, self.case(values), self.lines), folder, built)

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
        """A folder with the files of the scene: the worker may be on another machine."""
        if not self.files:
            yield Path()
            return
        with temporary_folder() as name:
            for file, content in self.files.items():
                Path(name, file).write_bytes(content)
            yield Path(name)


def _times(value: Any, factor: float | None) -> Any:
    """Numbers that count stay whole."""
    if factor is None or factor == 1.0:
        return value
    product = value * factor
    return round(product) if isinstance(value, int) and float(product).is_integer() else product


@dataclass
class ModelBase:
    """A model, built once, under settings of its run and numbers of its parts that are varied."""

    model: Model
    settings: dict[str, Any]

    def __getstate__(self) -> dict[str, Any]:
        # what was prepared stays in its process
        return {name: x for name, x in vars(self).items() if name != "prepared"}

    @cached_property
    def prepared(self) -> Prepared:
        """The model, to be run with other numbers."""
        return self.model.prepare()

    def _split(self, values: Values) -> tuple[dict[str, Any], dict[str, Any]]:
        """Settings of a run, and numbers of the model."""
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
        """Raise StudyError for a parameter that is no setting, and no number of the model that may change."""
        from rodsim.parts.changes import changeable

        known = (*SETTINGS, *changeable(self.model))
        for name in names:
            if name not in known:
                raise StudyError(
                    f"parameter '{name}': the parts of a model are made; {near(name, known, 'it has')} "
                    "Give a scene, or a function of the parameters that makes the model"
                )


@dataclass
class FunctionBase:
    """A function of the parameters that returns a model, the data of a scene, a result, or numbers by name."""

    function: Callable[..., Any]
    settings: dict[str, Any]

    def content(self, values: Values) -> Any:
        return ["function", self._known, self.settings, dict(values)]

    @cached_property
    def _known(self) -> str:
        """Its code is read once, not for each case."""
        return key(self.function)

    def layout(self, values: Values) -> None:
        return None

    def end(self, values: Values) -> None:
        return None

    def made_layout(self, values: Values) -> Layout | None:
        """Of the model or scene that it makes; None where it gives none, fails, or is seen to run the case itself."""
        from rodsim.model import Model

        if _names_of(self.function) & _RUNNING:
            return None
        try:
            made = self.function(**self._given(values))
            if isinstance(made, Model):
                return made.build().layout
            if isinstance(made, Mapping) and ("run" in made or "equilibrium" in made):
                return scene_base("<scene>", dict(made), {}).layout({})
        except Exception:
            return None  # the case tells what
        return None

    def _given(self, values: Values) -> dict[str, Any]:
        """What of the values is for the function; the rest is for the run."""
        takes = self._takes()
        return {name: value for name, value in values.items() if takes is None or name in takes}

    def result(self, values: Values, output: Path | None) -> Result | Mapping[str, Any]:
        from rodsim.model import Model
        from rodsim.results.result import Result

        given = self._given(values)
        settings = {**self.settings, **{name: v for name, v in values.items() if name not in given}}
        made = self.function(**given)
        if isinstance(made, Model):
            return _simulate(made, settings, output)
        if isinstance(made, Result):
            return made
        if isinstance(made, Mapping) and ("run" in made or "equilibrium" in made):
            from rodsim.scenes.plain import scene_of

            return scene_base("<scene>", scene_of(made), {}, settings=settings).result({}, output)
        if isinstance(made, Mapping):
            return made
        raise StudyError(
            f"{_name(self.function)}: it gave a {type(made).__name__}; return a Model, a Result, a scene or numbers by name"
        )

    def check(self, names: list[str]) -> None:
        """Raise StudyError unless the function, or its run, takes all parameters and needs no more."""
        takes = self._takes()
        if takes is None:
            return
        for name in names:
            if name not in takes and name not in SETTINGS and name != "seed":
                known = [*takes, *SETTINGS]
                raise StudyError(
                    f"parameter '{name}': {_name(self.function)} takes no '{name}'; {near(name, known)}"
                )
        needed = [n for n, p in takes.items() if p.default is p.empty and n not in names]
        if needed:
            raise StudyError(f"{_name(self.function)}: it needs '{needed[0]}'; give that parameter")

    def _takes(self) -> dict[str, inspect.Parameter] | None:
        """Its arguments by name; None: any."""
        parameters = inspect.signature(self.function).parameters
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            return None
        return {n: p for n, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}


_RUNNING = {
    "simulate",
    "equilibrium",
    "modes",
    "buckling",
    "integrate",
    "steady_rotation",
    "converge",
    "sweep",
}


def _names_of(function: Callable[..., Any]) -> set[str]:
    """Names that stand in its own code; none where it is no function of Python's."""
    code = getattr(function, "__code__", None)
    found: set[str] = set()
    waiting = [code] if isinstance(code, CodeType) else []
    while waiting:
        code = waiting.pop()
        found |= set(code.co_names)
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return found


def _name(function: Callable[..., Any]) -> str:
    return f"function '{getattr(function, '__name__', type(function).__name__)}'"


def _simulate(model: Model, settings: Mapping[str, Any], output: Path | None) -> Result:
    from rodsim.chosen_steps import with_adaptive
    from rodsim.simulation import simulate

    given = {name: value for name, value in settings.items() if value is not None}
    missing = [name for name in ("t_end", "dt") if name not in given]
    if missing and not ("t_end" in given and "error" in given):
        raise StudyError(f"study: how long to run and with which steps? give {' and '.join(missing)}")
    return simulate(model, **with_adaptive(given), output=output, progress=False)


def _end(settings: Mapping[str, Any]) -> float | None:
    from rodsim.chosen_steps import steps_of

    if settings.get("t_end") is None or settings.get("dt") is None:
        return None
    steps_of(settings["t_end"], settings["dt"], settings.get("output_every"))
    return float(settings["t_end"])


def scene_base(
    file: str,
    data: dict[str, Any],
    lines: dict[Any, int],
    folder: Path | None = None,
    places: Mapping[str, Mapping[str, float | None]] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> SceneBase:
    """A scene and the places of parameters in it; SceneError and StudyError say what is wrong with either."""
    from rodsim.scenes.old_words import new_path, with_new_words
    from rodsim.scenes.reading import Source
    from rodsim.scenes.scene_checks import check
    from rodsim.studies.paths import locate

    data, lines = with_new_words(data, lines, file)
    data, files = _with_meshes(data, folder or Path())
    whole = check(Source(file, data, lines)).model_dump()
    found: dict[str, list[tuple[Any, float | None]]] = {}
    for name, targets in (places or {}).items():
        try:
            found[name] = [(locate(whole, new_path(path)), factor) for path, factor in targets.items()]
        except StudyError as error:
            raise StudyError(f"parameter '{name}': {error}") from None
    given = {name: value for name, value in (settings or {}).items() if value is not None}
    return SceneBase(file, data, lines, whole, found, given, files)


def _with_meshes(data: dict[str, Any], folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The scene with names of its meshes that go anywhere, and their contents; what cannot be read stays as it is."""
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
    shape = body.get("shape") if isinstance(body, dict) else None
    return shape if isinstance(shape, dict) else None
