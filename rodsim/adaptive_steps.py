"""Choose steps by an error of the motion: the arguments, the settings stored with a result, and the record of the steps taken."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from discretization.system import System
from discretization.time.adaptive import AdaptiveStepper, model_size
from discretization.time.em_family import EM_FAMILY, EmIntegrator, em_integrator
from discretization.time.load_samples import POINTS
from discretization.time.stepper_base import StepperBase
from rigid import checks
from rigid.errors import ModelError
from rigid.system import Floats, Ints, State
from rigid.user_warnings import warn_user
from rodsim.components.model_warnings import StepWarning

if TYPE_CHECKING:
    from discretization.time.stepper import LoadValues

LEAST_ERROR, LARGEST_ERROR = 1e-12, 0.1
UNRELIABLE = 10.0  # growth factor of errors above which their estimate is in doubt
SAME_END = 1e-6  # relative tolerance of t_end as a multiple of the step
MOST_STEPS_BETWEEN = 1_000_000_000  # steps between two outputs
MOST_STEPS = 10**15  # numbers of steps are exact in double precision
OUTPUTS = {2: 100, 4: 50, 6: 25, 8: 25}  # order -> default number of output intervals, of two steps or more


class StepHistory(NamedTuple):
    """Statistics of adaptive steps: for each of T outputs, the steps taken since the previous one."""

    number: Ints  # (T,) number of steps
    smallest: Floats  # (T,) shortest step, s
    largest: Floats  # (T,) longest step, s
    error: Floats  # (T,) estimated error accumulated up to the output, relative to the size of the model
    growth: Floats  # (T,) factor by which errors have grown up to the output; 1 in files of older versions
    requested_error: float  # requested error, relative to the size of the model

    @property
    def unreliable(self) -> bool:
        """Whether errors have grown so far that their estimate is in doubt, and the estimate exceeds the requested error."""
        return bool(self.growth[-1] > UNRELIABLE and self.error[-1] > self.requested_error)

    def text(self) -> str:
        """Return a summary in one line."""
        if len(self.number) < 2:
            return "no step yet"
        text = (
            f"{self.number.sum()} steps of {self.smallest[1:].min():.3g} to {self.largest[1:].max():.3g} s, "
            f"error estimated {self.error[-1]:.1e} of the model's size"
        )
        if self.unreliable:
            text += f", unreliable: errors grow by a factor of {self.growth[-1]:.2g}"
        return text


@dataclass(frozen=True)
class Adaptive:
    """Choose the steps of a run by an error of its motion: ``simulate(model, t_end, dt=Adaptive(1e-4))``.

    For "em" and its variants. `Result.steps` has the lengths of the steps and the estimated error; it reports "unreliable" if
    errors grow. Values are checked when the run is started.

    Parameters
    ----------
    error : float
        Error of the motion over the whole run, relative to the size of the model: with 1e-4 a model of 1 m ends about 0.1 mm
        off if errors only accumulate. From 1e-12 to 0.1.
    output_dt : float, optional
        Time between outputs, s. Steps end at outputs; at least two lie between. By default t_end/100, of "em4" t_end/50, of
        "em6" and "em8" t_end/25.
    max_dt : float, optional
        Longest step, s; by default half of `output_dt`.

    Examples
    --------
    >>> from rodsim import Adaptive, Box, Model, simulate
    >>> model = Model("free fall", gravity=(0, 0, -10))
    >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1))
    >>> result = simulate(model, t_end=1.0, dt=Adaptive(1e-4, output_dt=0.1))
    >>> result.steps.unreliable
    False
    """

    error: float
    output_dt: float | None = None
    max_dt: float | None = None


ADAPTIVE_KEYS = ("error", "output_dt", "max_dt")
STEP_KEYS = ("dt", *ADAPTIVE_KEYS)  # keys of scenes


def with_adaptive(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of `simulate` for the settings of a scene, in which the fields of `Adaptive` are keys next to dt."""
    arguments = {name: value for name, value in settings.items() if name not in ADAPTIVE_KEYS}
    for name in ADAPTIVE_KEYS:
        if settings.get(name) is not None:
            arguments["dt"] = merged_adaptive(name, settings[name], arguments.get("dt"))
    return arguments


def merged_adaptive(field: str, value: Any, dt: float | Adaptive | None) -> float | Adaptive | None:
    """Return the steps with one field of `Adaptive` set; raise ModelError if the field does not fit dt."""
    if value is None:
        return dt
    if isinstance(dt, Adaptive):
        return replace(dt, **{field: value})
    if field == "error":
        if dt is not None:
            raise ModelError(
                f"simulate: dt = {checks.shown(dt)} and error = {checks.shown(value)} both set the step; give only one of them"
            )
        return Adaptive(value)
    if field == "output_dt":
        raise ModelError(
            f"simulate: output_dt = {checks.shown(value)} goes with error; with dt give output_every, in steps"
        )
    raise ModelError(
        f"simulate: max_dt = {checks.shown(value)} s limits steps that `error` chooses. Remove it, or give error instead of dt."
    )


@dataclass(frozen=True)
class StepRequest:
    """Requested steps: of length `dt`, or as long as `error` and `max_dt` allow.

    With `error`, `dt` is the time between outputs, None for the default of the integrator's `order`.
    """

    t_end: float
    dt: float | None
    error: float | None = None
    order: int = 2
    max_dt: float | None = None

    def between(self, stored: Mapping[str, Any]) -> float:
        """Return the step, or with adaptive steps the time between outputs, s.

        `stored`: settings of the run that is resumed, empty for a new run.
        """
        if self.dt is not None:
            return self.dt
        return float(stored.get("dt", self.t_end / OUTPUTS.get(self.order, min(OUTPUTS.values()))))

    def settings(
        self, system: System, state: State, vary: bool, stored: Mapping[str, Any]
    ) -> dict[str, float]:
        """Return the settings of adaptive steps that are stored with the result.

        `vary`: whether a load is a function of time. A resumed run, with `stored` settings, keeps the model size and the time
        that it began with, and the rules of the version that began it.
        """
        assert self.error is not None
        size = stored.get("error_size") or model_size(system, state)
        step_settings = {
            "error": self.error,
            "error_size": size,
            "error_time": stored.get("error_time", self.t_end),
        }
        step_settings |= {} if self.max_dt is None else {"max_dt": self.max_dt}
        rules = {"error_growth": True} | ({"load_samples": POINTS} if vary else {})
        return step_settings | {name: value for name, value in rules.items() if not stored or name in stored}


def adaptive(
    inner: StepperBase, system: System, h: float, settings: Mapping[str, Any], load_values: LoadValues | None
) -> AdaptiveStepper:
    """Return an adaptive stepper around `inner` according to the settings of a run; `load_values` samples its loads."""
    scheme = em_integrator(settings["integrator"])
    assert scheme is not None
    return AdaptiveStepper(
        inner,
        system,
        h,
        scheme.order,
        settings["error"],
        settings["error_size"],
        settings["error_time"],
        knots=settings.get("corners", ()),
        load_values=load_values if "load_samples" in settings else None,
        max_dt=settings.get("max_dt", math.inf),
        growth="error_growth" in settings,
    )


def steps_of(t_end: float, dt: float, output_every: int | None = None) -> tuple[float, int]:
    """Return the step and the number of steps to `t_end`.

    If t_end is a multiple of dt to a relative error of `SAME_END`, these are dt and t_end/dt; else the step is the longest
    below dt of which t_end is a multiple.

    Raises
    ------
    ModelError
        An argument is not a positive number, or there are more steps than can be counted.
    """
    t_end = checks.number("simulate", "t_end", t_end, positive=True)
    dt = checks.number("simulate", "dt", dt, positive=True)
    if output_every is not None:
        checks.count("simulate", "output_every", output_every, at_most=MOST_STEPS_BETWEEN)
    steps = t_end / dt
    if steps > MOST_STEPS:
        raise ModelError(
            f"t_end = {t_end} s takes {steps:.3g} steps of dt = {dt} s, more than can be counted; "
            f"use dt = {t_end / MOST_STEPS:.3g} or more"
        )
    n_steps = round(steps)
    if n_steps and abs(n_steps * dt - t_end) <= SAME_END * t_end:
        return dt, n_steps
    n_steps = math.ceil(steps)
    return t_end / n_steps, n_steps


def check_fit(dt: float, t_end: float, n_steps: int, requested: float, name: str = "dt") -> None:
    """Warn if the step dt differs from the given one; `name`: what the step is called in the message."""
    if dt != requested:
        warn_user(
            f"simulate: t_end = {t_end:g} s is not a multiple of {name} = {requested:g} s ({t_end / requested:.4g} of "
            f"them). The run has {n_steps} of {name} = {dt:.10g} s.",
            StepWarning,
        )


def resumed_steps(t_end: float, stored: float) -> tuple[float, int]:
    """Return the step and the number of steps to `t_end` for a resumed run, which keeps its stored step.

    Raises ModelError if t_end is not a multiple of that step.
    """
    if (steps := steps_of(t_end, stored))[0] == stored:
        return steps
    before = stored * math.floor(t_end / stored)
    raise ModelError(
        f"simulate: t_end = {t_end:g} s is not a multiple of the step {stored:.10g} s of the run that is resumed. Use t_end = "
        f"{before:.10g} or {before + stored:.10g}."
    )


def requested_steps(
    t_end: float,
    dt: float | Adaptive | None,
    output_every: int | None,
    integrator: str,
    scheme: EmIntegrator | None,
) -> StepRequest:
    """Return the steps requested by the arguments of `simulate`; raise ModelError if the arguments contradict each other.

    `scheme`: parameters of the integrator if it is of the `em` family, which alone chooses its steps.
    """
    t_end = checks.number("simulate", "t_end", t_end, positive=True)
    if dt is None:
        raise ModelError(
            "simulate: give dt: the length of the steps (s), or Adaptive(error), which chooses it by an error"
        )
    if not isinstance(dt, Adaptive):
        return StepRequest(t_end, dt)
    if output_every is not None:
        raise ModelError(
            f"simulate: output_every = {checks.shown(output_every)} counts steps, which choose themselves by error; give "
            "output_dt (s)"
        )
    error = checks.number("simulate", "error", dt.error, positive=True)
    if not LEAST_ERROR <= error <= LARGEST_ERROR:
        raise ModelError(
            f"simulate: error = {error:g} is relative to the size of the model; give {LEAST_ERROR:g} to {LARGEST_ERROR:g}"
        )
    longest = [
        None if value is None else checks.number("simulate", name, value, positive=True)
        for name, value in (("output_dt", dt.output_dt), ("max_dt", dt.max_dt))
    ]
    if scheme is None:
        raise ModelError(
            f"integrator '{integrator}' takes steps of one length; give dt, or use one of {', '.join(EM_FAMILY)} with error"
        )
    return StepRequest(t_end, longest[0], error, scheme.order, longest[1])
