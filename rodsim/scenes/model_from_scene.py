"""Read scene files and make models from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from rigid.errors import ModelError
from rodsim.components.base import COMPONENT_TYPES
from rodsim.components.model_parts import Anchor
from rodsim.model import Model
from rodsim.scenes import schema
from rodsim.scenes.components import add_component
from rodsim.scenes.errors import Path, SceneError, SceneProblem
from rodsim.scenes.for_loops import expand_for_loops
from rodsim.scenes.object_names import name_object, objects
from rodsim.scenes.parts import PART_KINDS, named_section
from rodsim.scenes.points import PointReader
from rodsim.scenes.reading import read
from rodsim.scenes.scene_checks import check
from rodsim.scenes.yaml_data import Source


class Loaded(NamedTuple):
    """A scene that was read, checked and made into a model."""

    source: Source
    scene: schema.Scene
    model: Model
    monitors: dict[str, tuple[Anchor, list[float]]]  # for equilibria: name -> (point, direction)


def load(path: str | FilePath) -> Loaded:
    """Read, check and build the scene file `path`.

    Raises SceneError, with file, line, object, value and remedy, for any error in the scene.
    """
    return loaded_from(read(path), FilePath(path).parent)


def loaded_from(source: Source, folder: FilePath, built: bool = True) -> Loaded:
    """Check a scene that has been read and make its model; mesh files are searched in `folder`.

    `built`: True to build the model once as a check; False if the caller builds it.
    """
    source = expand_for_loops(source)
    scene = check(source)
    try:
        loader = _Loader(scene, folder)
        model, monitors = loader.model(), loader.monitors()
        model.scene = source.text
    except SceneProblem as problem:
        raise source.located(problem) from None
    try:
        if built:
            model.build()
    except ModelError as error:
        raise translate(source, error) from None
    return Loaded(source, scene, model, monitors)


def translate(source: Source, error: ModelError) -> SceneError:
    """Return a SceneError with the text of `error` at the line of the first object that it is about."""
    heads = {kind: head for head, kind in objects().items()}
    for kind, name in error.about:
        for k, item in enumerate(source.data.get(heads[kind]) or []):
            if item.get("name") == name:
                return source.error((heads[kind], k), str(error))
    return source.error((), str(error))


class _Loader:
    """Make a model from a checked scene; `folder`: where mesh files are searched."""

    def __init__(self, scene: schema.Scene, folder: FilePath):
        self._scene, self._folder = scene, folder
        self._model = Model(scene.name, scene.gravity)
        self._points = PointReader(self._model, scene, self._make)

    def model(self) -> Model:
        """Return the model with all parts and entries of the scene; errors are reported at the path of the object."""
        scene, model, points, folder = self._scene, self._model, self._points, self._folder
        self._unique_names()
        points.make_all()
        for head, kind in COMPONENT_TYPES.items():
            for k, item in enumerate(getattr(scene, head)):
                with self._errors_at((head, k)):
                    add_component(points, (head, k), kind, item, folder)
        for name in [name for name in scene.order if name in model.others]:
            model.others[name] = model.others.pop(name)
        for name in scene.sections:
            with self._errors_at(("sections", name)):
                named_section(("sections", name), name, scene)
        return model

    def _make(self, path: Path, item: Any) -> None:
        """Make a part and add it to the model."""
        with self._errors_at(path):
            PART_KINDS[str(path[0])].add(self._points, path, item, self._folder)

    def monitors(self) -> dict[str, tuple[Anchor, list[float]]]:
        """Return the points and directions of the monitors under `equilibrium`, by name."""
        items = self._scene.equilibrium.monitors if self._scene.equilibrium else []
        return {
            item.name: (
                self._points.point(("equilibrium", "monitors", k, "point"), item.point),
                item.direction,
            )
            for k, item in enumerate(items)
        }

    def _unique_names(self) -> None:
        """Raise SceneProblem if two parts, or two entries whose tables share names, have the same name."""
        tables = {
            frozenset((kind.table, *kind.tables_without_namesakes)) for kind in COMPONENT_TYPES.values()
        }
        lists = [
            [head for head, kind in COMPONENT_TYPES.items() if kind.table in sharing] for sharing in tables
        ]
        for heads in (["bodies", "rods", "driven"], *lists):
            known: dict[str, tuple[str, Path]] = {}
            for head in heads:
                for k, item in enumerate(getattr(self._scene, head)):
                    owner = name_object({head: [{"name": item.name}]}, (head, 0))
                    if item.name in known:
                        raise SceneProblem(
                            (head, k, "name"),
                            f"{owner}: there is already a {known[item.name][0]}; choose another name",
                            known[item.name][1],
                        )
                    known[item.name] = owner, (head, k, "name")

    @contextmanager
    def _errors_at(self, path: Path) -> Iterator[None]:
        """Convert a ModelError to a SceneProblem at the path of the object."""
        try:
            yield
        except ModelError as error:
            text = str(error)
            owner = name_object(self._plain(path), path)
            name = owner.split(" '")[-1].rstrip("'")
            raise SceneProblem(path, text if name in text else f"{owner}: {text}") from None

    def _plain(self, path: Path) -> dict[str, Any]:
        """Return the names under the first key of a path as plain data, for `name_object`."""
        items = getattr(self._scene, str(path[0]))
        return {
            str(path[0]): [{"name": item.name} for item in items] if isinstance(items, list) else dict(items)
        }
