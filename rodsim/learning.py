"""Train policies on models: an environment for gymnasium (the extra `learning`).

In each step of the environment an action sets outputs of controllers with the law `controllers.External`. They are held while the
model takes one or several steps of its integrator. Observations, rewards and limits are formulas of what sensors measure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rigid import checks
from rigid.errors import ConvergenceError, ModelError
from rodsim.components.control_laws import formula_names
from rodsim.expressions import FUNCTIONS, ExpressionError, bound, function_of, parsed
from rodsim.extras import extra
from rodsim.model import Model
from rodsim.running.runner import Runner
from rodsim.simulation import simulate

if TYPE_CHECKING:
    import gymnasium
else:
    gymnasium = extra("gymnasium", "learning", "rodsim.learning")

__all__ = ["Environment"]

Values = Mapping[str, float]
Observation = NDArray[np.float64]
Action = NDArray[np.float64]
TIME = "t"
_TRIED = 1.7  # value of all names when a formula is tried


class Environment(gymnasium.Env[Observation, Action]):
    """A model as an environment of gymnasium.

    Formulas use the notation of Python and the names of sensors: `phi` for the value, `phi_rate` for its rate, `push` for an
    output of a controller (its controller before it, `hand_push`, if several have that name), `t` for the time.

    Parameters
    ----------
    model : Model
        A model with sensors and with controllers whose law is `controllers.External`.
    dt : float
        Step of the integrator, s.
    actions : mapping of str to pair of float
        "controller.output" -> smallest and largest value. Outputs that are left out keep their values.
    reward : str or callable
        Formula of the reward of a step, at its end; or a function of a mapping name -> value.
    observations : sequence of str, optional
        A formula for each observation. By default the value and the rate of each sensor.
    limits : mapping of str to pair of float, optional
        Formula -> smallest and largest value. The episode is terminated outside of them.
    steps : int, default 1
        Steps of the integrator in a step of the environment.
    t_end : float, default 10.0
        Time after which an episode is truncated, s.
    random_steps : int, default 0
        Steps of the environment with random actions before each episode, which then begins at t = 0 with the state they lead to.
    begin : callable, optional
        Function of the runner and of a random generator that is called after these, to set the state of the first observation.
    failure_reward : float, default 0.0
        Reward of a step that the integrator cannot take. It ends the episode; `info["failure"]` says why.
    render_mode : {"rgb_array"}, optional
        With it `render()` returns pictures.
    size : pair of int, default (480, 320)
        Width and height of pictures, pixels.
    view : (3,) array or str, optional
        Viewpoint of pictures, as in `render`.
    **settings
        Further settings of `simulate`: integrator, start, tolerance, solver.

    Attributes
    ----------
    runner : Runner
        The runner that advances the model.
    observation_names : tuple of str
        The formulas of the observations.

    Raises
    ------
    ModelError
        If a name, a formula or a range is invalid.
    MissingExtra
        When the module is imported without gymnasium.

    Examples
    --------
    >>> from rodsim import Box, Model, controllers, measures
    >>> from rodsim.learning import Environment
    >>> model = Model("cart")
    >>> cart = model.add_body("cart", Box(0.4, 0.2, 0.2, mass=2.0))
    >>> rail = model.add_joint("rail", "prismatic", "ground", cart, at=(0, 0, 0), axis=(1, 0, 0))
    >>> x = model.add_sensor("x", measures.coordinate(cart, axis=(1, 0, 0)))
    >>> hand = model.add_controller("hand", controllers.External(), outputs="push")
    >>> push = model.add_joint_force("push", "rail", hand.output())
    >>> environment = Environment(model, dt=0.01, actions={"hand.push": (-1, 1)}, reward="-x**2", limits={"x": (-2, 2)})
    >>> observation, info = environment.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = environment.step([1.0])
    >>> environment.observation_names, bool(observation[0] > 0), terminated, truncated
    (('x', 'x_rate'), True, False, False)
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 25}  # noqa: RUF012  as gymnasium declares it

    def __init__(
        self,
        model: Model,
        *,
        dt: float,
        actions: Mapping[str, tuple[float, float]],
        reward: str | Callable[[Values], float],
        observations: Sequence[str] | None = None,
        limits: Mapping[str, tuple[float, float]] | None = None,
        steps: int = 1,
        t_end: float = 10.0,
        random_steps: int = 0,
        begin: Callable[[Runner, np.random.Generator], None] | None = None,
        failure_reward: float = 0.0,
        render_mode: str | None = None,
        size: tuple[int, int] = (480, 320),
        view: Any = None,
        **settings: Any,
    ) -> None:
        owner = f"environment of '{model.name}'"
        self.steps = checks.count(owner, "steps", steps)
        self.t_end = checks.number(owner, "t_end", t_end, positive=True)
        self.random_steps = checks.count(owner, "random_steps", random_steps, at_least=0)
        self.failure_reward = checks.number(owner, "failure_reward", failure_reward)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ModelError(f"{owner}: render_mode = {checks.shown(render_mode)}. Give 'rgb_array' or None")
        self.render_mode, self._size, self._view, self._begin = render_mode, size, view, begin
        self.metadata = {**self.metadata, "render_fps": max(1, round(1.0 / (dt * self.steps)))}
        self._model, self.runner = model, model.prepare(dt=dt).runner(**settings)
        self._actions = self._ranges_of_actions(owner, actions)
        low, high = (np.array([action[end] for action in self._actions]) for end in (1, 2))
        self.action_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
        self._names = self._known_names(owner)
        known = (*self._names, TIME)
        self.observation_names = tuple(observations or self._names[: self._n_measured])
        self._observed = [_formula(owner, "observation", text, known) for text in self.observation_names]
        count = len(self.observation_names)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (count,), np.float64)
        self._reward = reward if callable(reward) else _formula(owner, "reward", reward, known)
        self._limits = [
            (_formula(owner, "limit", text, known), *_range(owner, f"limits['{text}']", ends), text)
            for text, ends in (limits or {}).items()
        ]
        self._pictures: Any = None

    @classmethod
    def from_scene(cls, path: str | Path, **options: Any) -> Environment:
        """Return the environment of a scene file, with its `dt` and `integrator` unless they are given.

        Parameters
        ----------
        path : str or Path
            A scene with sensors and with controllers whose law is `external`.
        **options
            As of `Environment`.

        Returns
        -------
        Environment

        Raises
        ------
        SceneError
            If the scene cannot be read.
        ModelError
            If an option is invalid.

        Examples
        --------
        >>> from rodsim.learning import Environment
        >>> Environment.from_scene("pendulum.yaml", actions={"motor.torque": (-2, 2)}, reward="cos(phi)")  # doctest: +SKIP
        """
        from rodsim.scenes.model_from_scene import load  # imported on demand: pydantic

        loaded = load(path)
        run = getattr(loaded.scene, "run", None)
        given = {name: getattr(run, name, None) for name in ("dt", "integrator", "chart", "solver")}
        return cls(loaded.model, **{k: v for k, v in given.items() if v is not None} | options)

    def _ranges_of_actions(
        self, owner: str, actions: Mapping[str, tuple[float, float]]
    ) -> list[tuple[str, float, float]]:
        """Return name, smallest and largest value of each action."""
        for name in actions:
            if name not in self.runner.controls:
                known = ", ".join(self.runner.controls) or "none"
                raise ModelError(
                    f"{owner}: there is no output '{name}' to act on. Outputs of controllers with the law controllers.External() "
                    f"are {known}",
                    choices=self.runner.controls,
                )
        if not actions:
            raise ModelError(f"{owner}: there are no actions. Give the range of at least one output")
        return [(name, *_range(owner, f"actions['{name}']", ends)) for name, ends in actions.items()]

    def _known_names(self, owner: str) -> list[str]:
        """Return the names in formulas: values and rates of sensors, then outputs."""
        sensors = [name for sensor in self._model.sensors for name in (sensor, f"{sensor}.rate")]
        outputs = [name.partition(".")[2] for name in self.runner.controls]
        single = [outputs.count(x) == 1 for x in outputs]
        of_outputs = [
            short if one else name
            for short, one, name in zip(outputs, single, self.runner.controls, strict=True)
        ]
        names = formula_names([*sensors, *of_outputs])
        self._n_measured = len(sensors)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ModelError(f"{owner}: two sensors or outputs are '{twice}' in formulas. Rename one of them")
        if not sensors:
            raise ModelError(
                f"{owner}: the model has no sensors. Add what a policy is to see with `add_sensor`"
            )
        return names

    def _values(self) -> dict[str, float]:
        """Return the values of all names in formulas."""
        measured = self.runner.sensors.ravel().tolist()
        held = [self.runner.output(name) for name in self.runner.controls]
        return dict(zip(self._names, measured + held, strict=True), **{TIME: self.runner.t})

    def _observe(self, values: Values) -> Observation:
        return np.array([formula(values) for formula in self._observed], np.float64)

    def _act(self, action: Any) -> None:
        """Advance the model by a step of the environment with an action, which is clipped to its range."""
        given = np.asarray(action, np.float64).ravel().tolist()
        values = {
            name: min(max(value, low), high)
            for (name, low, high), value in zip(self._actions, given, strict=True)
        }
        self.runner.advance(self.steps, values)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            Seed of the random actions before the episode, and of `begin`.
        options : dict, optional
            "start": a state, as `Runner.reset` accepts it.

        Returns
        -------
        observation : array
        info : dict
            Time "t", s.
        """
        super().reset(seed=seed)
        start = (options or {}).get("start")
        self.runner.reset() if start is None else self.runner.reset(start)
        for _ in range(self.random_steps):
            self._act([self.np_random.uniform(low, high) for _, low, high in self._actions])
        if self.random_steps:
            self.runner.restore(self.runner.state, 0.0)
        if self._begin is not None:
            self._begin(self.runner, self.np_random)
        return self._observe(self._values()), {"t": self.runner.t}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take a step of the environment.

        Parameters
        ----------
        action : array_like
            A value for each action; values outside of their ranges are clipped.

        Returns
        -------
        observation : array
        reward : float
        terminated : bool
            A limit is exceeded, or a step failed.
        truncated : bool
            The episode has lasted `t_end`.
        info : dict
            Time "t", s; "failure" if a step failed; "limit", the formula whose limit is exceeded.
        """
        info: dict[str, Any] = {}
        try:
            self._act(action)
        except ConvergenceError as error:
            info["failure"] = str(error)
        values = self._values()
        info["t"] = self.runner.t
        truncated = self.runner.t >= self.t_end - 0.5 * self.runner.dt
        if "failure" in info:
            return self._observe(values), self.failure_reward, True, truncated, info
        for formula, low, high, text in self._limits:
            if not low <= formula(values) <= high:
                info["limit"] = text
        return self._observe(values), float(self._reward(values)), "limit" in info, truncated, info

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture (height, width, 3) of the present state; None without `render_mode`."""
        if self.render_mode is None:
            return None
        if self._pictures is None:
            from rodsim.results.state_pictures import StatePictures  # imported on demand: libraries that draw

            start = simulate(self._model, self.runner.dt, self.runner.dt, progress=False)
            self._pictures = StatePictures(start, self._size, self._view)
        return self._pictures.picture(self.runner.state)

    def close(self) -> None:
        """Free what pictures need."""
        if self._pictures is not None:
            self._pictures.close()
            self._pictures = None


def _range(owner: str, what: str, ends: Any) -> tuple[float, float]:
    """Return the checked smallest and largest value of a range."""
    try:
        low, high = (float(x) for x in ends)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not low < high:
        raise ModelError(f"{owner}: {what} = {checks.shown(ends)}. Give (smallest, largest)")
    return low, high


def _formula(owner: str, what: str, text: Any, names: Sequence[str]) -> Callable[[Values], float]:
    """Return the function of the values of these names that a formula describes; raise ModelError if it is not one."""
    if not isinstance(text, str):
        raise ModelError(f"{owner}: {what} = {checks.shown(text)}. Give a formula such as 'cos(phi)'")
    try:
        tree = bound(parsed(text), {}, names)
        function_of(tree, dict.fromkeys(FUNCTIONS, lambda *_: _TRIED))(dict.fromkeys(names, _TRIED))
    except ExpressionError as error:
        raise ModelError(f"{owner}: {what} {checks.shown(text)}: {error}") from None
    return function_of(tree, FUNCTIONS)
