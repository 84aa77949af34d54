"""`error=` in place of `dt=`: what is asked for, what of it stands with a result, and the steps that were taken."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from discretization.system import System
from discretization.time.adaptive import AdaptiveStepper, model_size
from discretization.time.advance import StepperBase
from discretization.time.em_names import KIN, em_integrator
from discretization.time.load_samples import POINTS
from rigid import checks
from rigid.errors import ModelError
from rigid.system import Floats, Ints, State
from rigid.user_warnings import warn_user
from rodsim.parts.model_warnings import StepWarning

if TYPE_CHECKING:
    from discretization.time.stepper import LoadValues

LEAST_ERROR, LARGEST_ERROR = 1e-12, 0.1
UNRELIABLE = 10.0  # times that errors grow: beyond, their estimate is in doubt
SAME_END = 1e-6  # of t_end: what a number of steps may miss it by
MOST_STEPS_BETWEEN = 1_000_000_000  # outputs
MOST_STEPS = 10**15  # numbers of steps are exact in double precision
OUTPUTS = {2: 100, 4: 50, 6: 25, 8: 25}  # by order: between two outputs lie two steps at least


class StepHistory(NamedTuple):
    """Adaptive steps: for every output those since the one before."""

    number: Ints  # (T,)
    smallest: Floats  # (T,) s
    largest: Floats  # (T,) s
    error: Floats  # (T,) estimated, up to there, relative to the size of the model
    growth: Floats  # (T,) factor by which errors have grown up to there; 1 in files of older versions
    asked: float  # relative to the size of the model

    @property
    def unreliable(self) -> bool:
        """Whether errors have grown so far that their estimate is in doubt, and is more than was asked for."""
        return bool(self.growth[-1] > UNRELIABLE and self.error[-1] > self.asked)

    def text(self) -> str:
        """In a line."""
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
class Asked:
    """How long steps are to be: `dt`, or as long as `error` and `max_dt` allow."""

    t_end: float
    dt: float | None
    error: float | None = None
    order: int = 2
    max_dt: float | None = None

    def between(self, stored: Mapping[str, Any]) -> float:
        """Time of a step, or between outputs where steps choose themselves; stored: settings of a run that is resumed."""
        if self.dt is not None:
            return self.dt
        return float(stored.get("dt", self.t_end / OUTPUTS.get(self.order, min(OUTPUTS.values()))))

    def settings(
        self, system: System, state: State, vary: bool, stored: Mapping[str, Any]
    ) -> dict[str, float]:
        """What stands with the result; vary: whether a load is a function of time. A run that is resumed, with `stored` settings,
        goes on by the size and the time that it began with, and by the rules of the version that began it.
        """
        assert self.error is not None
        size = stored.get("error_size") or model_size(system, state)
        told = {"error": self.error, "error_size": size, "error_time": stored.get("error_time", self.t_end)}
        told |= {} if self.max_dt is None else {"max_dt": self.max_dt}
        rules = {"error_growth": True} | ({"load_samples": POINTS} if vary else {})
        return told | {name: value for name, value in rules.items() if not stored or name in stored}


def adaptive(
    inner: StepperBase, system: System, h: float, settings: Mapping[str, Any], load_values: LoadValues | None
) -> AdaptiveStepper:
    """As the settings of a run say; load_values: of its loads."""
    own = em_integrator(settings["integrator"])
    assert own is not None
    return AdaptiveStepper(
        inner,
        system,
        h,
        own.order,
        settings["error"],
        settings["error_size"],
        settings["error_time"],
        knots=settings.get("corners", ()),
        load_values=load_values if "load_samples" in settings else None,
        max_dt=settings.get("max_dt", math.inf),
        growth="error_growth" in settings,
    )


def steps_of(t_end: float, dt: float, output_every: int | None = None) -> tuple[float, int]:
    """Step and number of steps to `t_end`.

    Where t_end is a multiple of dt to a part `SAME_END`, these are dt and t_end/dt; else the step is the longest below dt of
    which it is a multiple.

    Raises
    ------
    ModelError
        One of them is not a positive number, or there are more steps than can be counted.
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


def check_fit(dt: float, t_end: float, n_steps: int, given: float, name: str = "dt") -> None:
    """Warn if a step is not the one that was given; name: of it, in words."""
    if dt != given:
        warn_user(
            f"simulate: t_end = {t_end:g} s is not a multiple of {name} = {given:g} s ({t_end / given:.4g} of them). The run "
            f"has {n_steps} of {name} = {dt:.10g} s.",
            StepWarning,
        )


def resumed_steps(t_end: float, stored: float) -> tuple[float, int]:
    """As `steps_of`, of a run that is resumed: it keeps its step.

    Raises ModelError where t_end is not a multiple of it.
    """
    if (steps := steps_of(t_end, stored))[0] == stored:
        return steps
    before = stored * math.floor(t_end / stored)
    raise ModelError(
        f"simulate: t_end = {t_end:g} s is not a multiple of the step {stored:.10g} s of the run that is resumed. Use t_end = "
        f"{before:.10g} or {before + stored:.10g}."
    )


def asked_steps(
    t_end: float,
    dt: float | None,
    error: float | None,
    output_dt: float | None,
    output_every: int | None,
    integrator: str,
    max_dt: float | None = None,
) -> Asked:
    """Of the arguments of `simulate`; ModelError where they do not fit each other."""
    t_end = checks.number("simulate", "t_end", t_end, positive=True)
    if error is None:
        if dt is None:
            raise ModelError("simulate: give dt (s), the length of the steps, or error, which chooses it")
        if output_dt is not None:
            raise ModelError(
                f"simulate: output_dt = {checks.shown(output_dt)} goes with error; with dt give output_every, in steps"
            )
        if max_dt is not None:
            raise ModelError(
                f"simulate: max_dt = {checks.shown(max_dt)} s limits steps that `error` chooses. Remove it, or give error "
                "instead of dt."
            )
        return Asked(t_end, dt)
    if dt is not None:
        raise ModelError(
            f"simulate: dt = {checks.shown(dt)} and error = {checks.shown(error)} both say how long steps are; give one"
        )
    if output_every is not None:
        raise ModelError(
            f"simulate: output_every = {checks.shown(output_every)} counts steps, which choose themselves by error; give "
            "output_dt (s)"
        )
    error = checks.number("simulate", "error", error, positive=True)
    if not LEAST_ERROR <= error <= LARGEST_ERROR:
        raise ModelError(
            f"simulate: error = {error:g} is relative to the size of the model; give {LEAST_ERROR:g} to {LARGEST_ERROR:g}"
        )
    if output_dt is not None:
        output_dt = checks.number("simulate", "output_dt", output_dt, positive=True)
    if max_dt is not None:
        max_dt = checks.number("simulate", "max_dt", max_dt, positive=True)
    own = em_integrator(integrator)
    if own is None:
        raise ModelError(
            f"integrator '{integrator}' takes steps of one length; give dt, or use one of {', '.join(KIN)} with error"
        )
    return Asked(t_end, output_dt, error, own.order, max_dt)
