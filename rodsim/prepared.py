"""Build a model once and run it many times with other numbers: `prepare`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rigid import checks
from rigid.errors import ModelError
from rodsim._compat import new_arguments
from rodsim.building.build import Built
from rodsim.building.rebuild import ReusableBuild, build_for_reuse, rebuild
from rodsim.components.model_argument import model_argument_error
from rodsim.components.parameter_changes import change, changeable, check_paths
from rodsim.model import Model
from rodsim.running.plan import Arguments
from rodsim.simulation import simulate

if TYPE_CHECKING:
    from rodsim.results.result import Result
    from rodsim.running.runner import Runner
    from rodsim.statics.equilibrium_results import Equilibrium


class ChangedModel(Model):
    """A prepared model with changed numbers: a separate model whose arrays reuse those of the prepared one."""

    _reusable_build: ReusableBuild
    _paths: tuple[str, ...]

    def build(self) -> Built:
        """Return the arrays as `Model.build` does, bitwise."""
        return rebuild(self._reusable_build, self, self._paths)


class Prepared:
    """A model that is built and checked once, to be run many times with other numbers.

    `prepare` and `Model.prepare` return it. A run is bitwise that of `simulate`, or of `equilibrium`, with a model that was
    made with these numbers. Parts that are added to the model later are not included.

    Parameters
    ----------
    model : Model
        The model as it is now.
    settings : mapping
        Settings of `simulate` for all runs, such as t_end, dt, start.

    Attributes
    ----------
    changeable : list of str
        Paths of all numbers that a run may change.

    See Also
    --------
    rodsim.simulate_many : Run a prepared model once for each of many sets of numbers.

    Examples
    --------
    >>> from rodsim import Box, Model
    >>> model = Model("oscillator")
    >>> block = model.add_body("block", Box(1, 1, 1, mass=2.0), position=(1, 0, 0))
    >>> coil = model.add_spring("coil", model.ground.at((0, 0, 0)), block, stiffness=8.0, length=0.5)
    >>> prepared = model.prepare(t_end=0.1, dt=0.01)
    >>> softer = prepared.run({"springs.coil.stiffness": 4.0})
    >>> slower = prepared.run({"springs.coil.stiffness": 4.0}, dt=0.02)
    """

    def __init__(self, model: Model, settings: Mapping[str, Any]):
        settings = new_arguments("simulate", settings)
        _check_settings("prepare", simulate, settings)
        self._settings = dict(settings)
        self._model = _copied_model(model, Model)
        self._reusable_build = build_for_reuse(self._model)

    @property
    def changeable(self) -> list[str]:
        """Paths of all numbers that a run may change.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model("falling", gravity=(0, 0, -9.81))
        >>> block = model.add_body("block", Box(1, 1, 1, mass=2.0))
        >>> "bodies.block.velocity" in model.prepare().changeable
        True
        """
        return changeable(self._model)

    @functools.cached_property
    def _changeable_set(self) -> frozenset[str]:
        """Return `changeable` as a set; cached, because the parts do not change."""
        return frozenset(self.changeable)

    def model(self, changes: Mapping[str, Any] | None = None) -> Model:
        """Return the model with other numbers; its `build` reuses the prepared arrays.

        Parameters
        ----------
        changes : mapping, optional
            Path -> value: "gravity" (3,), "loads.push.value", "springs.coil.stiffness", "bodies.arm.velocity",
            "bodies.arm.shape" (mass and inertia, with the same centre) or "rods.cord.section" (a `Section`). Also the
            numbers from which a section was made ("rods.cord.section.radius", "rods.cord.section.material.E"), and all
            other paths in `changeable`.

        Returns
        -------
        Model
            A separate model.

        Raises
        ------
        ModelError
            If there is no such path, or a value is invalid, as when the part is made.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model("falling", gravity=(0, 0, -9.81))
        >>> block = model.add_body("block", Box(1, 1, 1, mass=2.0))
        >>> prepared = model.prepare(t_end=0.1, dt=0.01)
        >>> moon = prepared.model({"gravity": (0, 0, -1.62)})
        """
        checks.by_name("prepared", "changes", changes, "{'springs.coil.stiffness': 20.0}")
        paths = tuple(changes or ())
        if not self._changeable_set.issuperset(paths):
            check_paths(f"prepared model '{self._model.name}'", self._model, paths)  # raises
        made: ChangedModel = _copied_model(self._model, ChangedModel)
        made._reusable_build, made._paths = self._reusable_build, paths
        return change(made, changes or {})

    def settings(self, others: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the settings of `simulate` for a run: those given to `prepare`, overridden by `others`.

        Parameters
        ----------
        others : mapping, optional
            Settings of `simulate` by name.

        Returns
        -------
        dict
            All settings by name.

        Raises
        ------
        ModelError
            If there is no such setting, or t_end or dt is missing.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model("falling", gravity=(0, 0, -9.81))
        >>> block = model.add_body("block", Box(1, 1, 1, mass=2.0))
        >>> prepared = model.prepare(t_end=0.1, dt=0.01)
        >>> prepared.settings({"dt": 0.005})["t_end"]
        0.1
        """
        others = new_arguments("simulate", others or {})
        _check_settings("prepared run", simulate, others)
        all_settings = {**self._settings, **others}
        for name in ("t_end", "dt"):
            if name not in all_settings:
                raise ModelError(f"prepared run: {name} is missing; give it here or to `prepare`")
        return all_settings

    def run(self, changes: Mapping[str, Any] | None = None, **settings: Any) -> Result:
        """Simulate the model with other numbers.

        Parameters
        ----------
        changes : mapping, optional
            Path -> value, as in `model`. Default: the numbers of the model.
        **settings
            Settings of `simulate`, such as t_end, dt, start, start_time. By default those given to `prepare`.

        Returns
        -------
        Result
            Bitwise the result of `simulate`.

        Raises
        ------
        ModelError
            If there is no such path or setting, and as `simulate` does.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model("falling", gravity=(0, 0, -9.81))
        >>> block = model.add_body("block", Box(1, 1, 1, mass=2.0))
        >>> prepared = model.prepare(t_end=0.1, dt=0.01)
        >>> moon = prepared.run({"gravity": (0, 0, -1.62)})
        """
        all_settings = self.settings(settings)
        return simulate(self.model(changes), **all_settings)

    def equilibrium(self, changes: Mapping[str, Any] | None = None, **settings: Any) -> Equilibrium:
        """Find the equilibrium of the model with other numbers.

        Parameters
        ----------
        changes : mapping, optional
            Path -> value, as in `model`. Default: the numbers of the model.
        **settings
            Settings of `equilibrium`, such as start, method. Those given to `prepare` belong to `simulate` and are not used.

        Returns
        -------
        Equilibrium
            Bitwise the result of `equilibrium`.

        Raises
        ------
        ModelError
            If there is no such path or setting, and as `equilibrium` does.

        Examples
        --------
        >>> from rodsim import Material, Model, Section
        >>> model = Model("cantilever", gravity=(0, 0, -9.81))
        >>> section = Section.circular(0.01, Material(E=2e9, nu=0.3, density=1000))
        >>> rod = model.add_rod("rod", [(0, 0, 0), (1, 0, 0)], section, 4)
        >>> root = model.add_joint("root", "weld", model.ground, rod.start)
        >>> moon = model.prepare().equilibrium({"gravity": (0, 0, -1.62)})
        """
        from rodsim.statics.equilibria import equilibrium

        settings = new_arguments("equilibrium", settings)
        _check_settings("prepared equilibrium", equilibrium, settings)
        return equilibrium(self.model(changes), **settings)

    def runner(self, changes: Mapping[str, Any] | None = None, **settings: Any) -> Runner:
        """Return a runner, which advances the model step by step from a loop of Python.

        Parameters
        ----------
        changes : mapping, optional
            Path -> value, as in `model`. Default: the numbers of the model.
        **settings
            Settings of `simulate`: dt, integrator, start, start_time, chart, solver, tolerance, threads. By default those given
            to `prepare`. Those of outputs are not used, and `t_end` only if it shortens `dt`.

        Returns
        -------
        Runner
            At t = 0.

        Raises
        ------
        ModelError
            If there is no such path or setting, `dt` is `Adaptive`, or there are an output file or events.

        Examples
        --------
        >>> from rodsim import Box, Model
        >>> model = Model("falling", gravity=(0, 0, -10))
        >>> block = model.add_body("block", Box(1, 1, 1, mass=2.0))
        >>> runner = model.prepare().runner(dt=0.1)
        >>> runner.advance(10)
        >>> round(float(runner.state.r[1, 2]), 6)
        -5.0
        """
        from rodsim.running.runner import Runner

        settings = {**self._settings, **settings}
        settings.setdefault("t_end", settings.get("dt"))
        return Runner(self.model(changes), arguments_of(self.settings(settings)))


def prepare(model: Model, **settings: Any) -> Prepared:
    """Build and check a model once, to run it many times with other numbers; `Model.prepare` does the same.

    Parameters
    ----------
    model : Model
        The model as it is now; it is not changed.
    **settings
        Arguments of `simulate` for all its runs, such as `t_end`, `dt`, `integrator`.

    Returns
    -------
    Prepared
        The prepared model.

    Raises
    ------
    ModelError
        As `Model.build` does, and if a setting is not an argument of `simulate`.

    Examples
    --------
    >>> from rodsim import Box, Model, prepare
    >>> model = Model()
    >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1.0))
    >>> prepared = prepare(model, t_end=0.1, dt=0.01)
    >>> result = prepared.run({"bodies.block.velocity": (1, 0, 0)})
    """
    if not isinstance(model, Model):
        raise model_argument_error("prepare", model)
    return Prepared(model, settings)


def arguments_of(settings: Mapping[str, Any]) -> Arguments:
    """Return all arguments of `simulate`: those in `settings`, and the defaults of the others."""
    known = inspect.signature(simulate).parameters
    return Arguments(**{name: settings.get(name, known[name].default) for name in Arguments._fields})


def _copied_model(model: Model, kind: type[Any]) -> Any:
    """Return a model of class `kind` with the same parts in copied tables."""
    made: Any = object.__new__(kind)
    vars(made).update({name: dict(x) if isinstance(x, dict) else x for name, x in vars(model).items()})
    made.gravity = model.gravity.copy()
    return made


@functools.cache
def _settings_of(function: Any) -> tuple[str, ...]:
    """Return the names of a function's arguments after the first."""
    return tuple(inspect.signature(function).parameters)[1:]


def _check_settings(owner: str, function: Any, settings: Mapping[str, Any]) -> None:
    """Raise ModelError if `settings` has a name that is not an argument of `function`."""
    known = _settings_of(function)
    for name in settings:
        if name not in known:
            raise ModelError(
                f"{owner}: there is no setting '{name}'; there are {', '.join(known)}", choices=known
            )
