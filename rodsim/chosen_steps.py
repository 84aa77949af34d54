"""`error=` in place of `dt=`: what is asked for, what of it stands with a result, and the steps that were taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from discretization.system import System
from discretization.time.adaptive import AdaptiveStepper, model_size
from discretization.time.advance import StepperBase
from discretization.time.em_names import KIN, em_integrator
from rigid import checks
from rigid.errors import ModelError
from rigid.system import Floats, Ints, State

LEAST_ERROR, LARGEST_ERROR = 1e-12, 0.1
OUTPUTS = {2: 100, 4: 50, 6: 25, 8: 25}  # by order: between two outputs lie two steps at least


class StepHistory(NamedTuple):
    """Steps that chose themselves, of every output those since the one before."""

    number: Ints  # (T,)
    smallest: Floats  # (T,) s
    largest: Floats  # (T,) s
    error: Floats  # (T,) estimated, of all steps up to there, relative to the size of the model

    def text(self) -> str:
        """In a line."""
        if len(self.number) < 2:
            return "no step yet"
        return (
            f"{self.number.sum()} steps of {self.smallest[1:].min():.3g} to {self.largest[1:].max():.3g} s, "
            f"error estimated {self.error[-1]:.1e} of the model's size"
        )


@dataclass(frozen=True)
class Asked:
    """How long steps are to be: `dt`, or as long as `error` allows."""

    t_end: float
    dt: float | None
    error: float | None = None
    order: int = 2

    def between(self, stored: Mapping[str, Any]) -> float:
        """Time of a step, or between outputs where steps choose themselves; stored: settings of a run that is resumed."""
        if self.dt is not None:
            return self.dt
        return float(stored.get("dt", self.t_end / OUTPUTS.get(self.order, min(OUTPUTS.values()))))

    def settings(self, system: System, state: State, stored: Mapping[str, Any]) -> dict[str, float]:
        """What stands with the result: a run that is resumed goes on by the size and the time that it began with."""
        assert self.error is not None
        size = stored.get("error_size") or model_size(system, state)
        return {"error": self.error, "error_size": size, "error_time": stored.get("error_time", self.t_end)}


def adaptive(inner: StepperBase, system: System, h: float, settings: Mapping[str, Any]) -> AdaptiveStepper:
    """As the settings of a run say."""
    own = em_integrator(settings["integrator"])
    assert own is not None
    return AdaptiveStepper(
        inner, system, h, own.order, settings["error"], settings["error_size"], settings["error_time"]
    )


def asked_steps(
    t_end: float,
    dt: float | None,
    error: float | None,
    output_dt: float | None,
    output_every: int | None,
    integrator: str,
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
    own = em_integrator(integrator)
    if own is None:
        raise ModelError(
            f"integrator '{integrator}' takes steps of one length; give dt, or use one of {', '.join(KIN)} with error"
        )
    return Asked(t_end, output_dt, error, own.order)
