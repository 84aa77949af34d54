"""A model that is built once and run many times with other numbers: `Model.prepare`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rigid import checks
from rigid.errors import ModelError
from rodsim.building.build import Built
from rodsim.building.rebuild import Kept, built_once, rebuilt
from rodsim.model import Model
from rodsim.old_names import new_arguments
from rodsim.parts.changes import change, changeable, check_paths

if TYPE_CHECKING:
    from rodsim.results.result import Result
    from rodsim.statics.equilibrium_results import Equilibrium


class Changed(Model):
    """A prepared model with other numbers: another model to whoever asks, but its arrays are those that are there."""

    told_by_contents = False  # what was prepared is there already
    _kept: Kept
    _paths: tuple[str, ...]

    def build(self) -> Built:
        """As of `Model`, to the bit."""
        return rebuilt(self._kept, self, self._paths)


class Prepared:
    """A model whose parts, meshes, joints and checks are done: each run begins with other numbers.

    A run is to the bit that of `simulate`, or `equilibrium`, with a model that was made with these numbers. What is added to
    the model after it was prepared is not part of it.
    """

    def __init__(self, model: Model, settings: Mapping[str, Any]):
        from rodsim.simulation import simulate

        self._simulate = simulate
        settings = new_arguments("simulate", settings)
        _check_settings("prepare", simulate, settings)
        self._settings = dict(settings)
        self._model = _own(model, Model)
        self._kept = built_once(self._model)

    @property
    def changeable(self) -> list[str]:
        """Paths of all numbers that a run may change."""
        return changeable(self._model)

    @functools.cached_property
    def _known(self) -> frozenset[str]:
        """As `changeable`: its parts stay as they are."""
        return frozenset(self.changeable)

    def model(self, changes: Mapping[str, Any] | None = None) -> Model:
        """The model with other numbers; its `build` takes what was prepared.

        changes: path -> value: "gravity" (3,), "loads.push.value", "springs.coil.stiffness", "bodies.arm.velocity",
        "bodies.arm.shape" (mass and inertia, the same centre), "rods.cord.section" (a `Section`), what that was made of
        ("rods.cord.section.radius", "rods.cord.section.material.E") and all else that `changeable` lists.

        Raises ModelError for another path, and where a value is none for it, as where the part is made.
        """
        checks.by_name("prepared", "changes", changes, "{'springs.coil.stiffness': 20.0}")
        paths = tuple(changes or ())
        if not self._known.issuperset(paths):
            check_paths(f"prepared model '{self._model.name}'", self._model, paths)  # says which
        made: Changed = _own(self._model, Changed)
        made._kept, made._paths = self._kept, paths
        return change(made, changes or {})

    def settings(self, others: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Settings of `simulate` for a run: those of `prepare`, and `others` in their place.

        Raises ModelError for one that is none, and where t_end or dt is missing.
        """
        others = new_arguments("simulate", others or {})
        _check_settings("prepared run", self._simulate, others)
        given = {**self._settings, **others}
        for name in ("t_end", "dt"):
            if name not in given and not (name == "dt" and given.get("error") is not None):
                raise ModelError(f"prepared run: {name} is missing; give it here or to `prepare`")
        return given

    def run(self, changes: Mapping[str, Any] | None = None, **settings: Any) -> Result:
        """`simulate` of the model with other numbers.

        changes: as of `model`. settings: of `simulate`, such as t_end, dt, start; those of `prepare` hold where they are left
        out.

        Raises ModelError for a path that is none; else as `simulate`.
        """
        given = self.settings(settings)
        return self._simulate(self.model(changes), **given)

    def equilibrium(self, changes: Mapping[str, Any] | None = None, **settings: Any) -> Equilibrium:
        """`equilibrium` of the model with other numbers.

        changes: as of `model`. settings: of `equilibrium`. Raises ModelError for a path that is none; else as that.
        """
        from rodsim.statics.equilibria import equilibrium

        settings = new_arguments("equilibrium", settings)
        _check_settings("prepared equilibrium", equilibrium, settings)
        return equilibrium(self.model(changes), **settings)


def _own(model: Model, kind: type[Any]) -> Any:
    """The same parts in tables of its own."""
    made: Any = object.__new__(kind)
    vars(made).update({name: dict(x) if isinstance(x, dict) else x for name, x in vars(model).items()})
    made.gravity = model.gravity.copy()
    return made


@functools.cache
def _settings_of(function: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)[1:]


def _check_settings(owner: str, function: Any, settings: Mapping[str, Any]) -> None:
    known = _settings_of(function)
    for name in settings:
        if name not in known:
            raise ModelError(
                f"{owner}: there is no setting '{name}'; there are {', '.join(known)}", choices=known
            )
