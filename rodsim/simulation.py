"""`simulate`: from a model to a result, output by output, with a progress line; stopped runs can be
resumed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discretization.consistent import project_velocities
from discretization.measures import (
    constraint_residual,
    element_states,
    energies,
    momenta,
    velocity_residual,
)
from discretization.system import System
from discretization.time.stepper import Report, Stepper
from rigid import checks
from rigid.errors import ConvergenceError, ModelError
from rigid.system import State
from rodsim.results.writer import MemoryWriter, ResultWriter, stored_outputs

if TYPE_CHECKING:
    from discretization.time.mechanical_stepper import MechanicalStepper
    from rodsim.model import Model
    from rodsim.results.result import Result

MOST_STEPS_BETWEEN = 1_000_000_000  # outputs
INTEGRATORS = {"em": 2, "em4": 4, "em6": 6}
_PATIENCE = 0.25  # s a compiled march may take before Ctrl-C is heard and the progress line moves


def simulate(
    model: Model,
    t_end: float,
    dt: float,
    integrator: str = "em",
    output: str | Path | None = None,
    output_every: int = 1,
    resume: bool = False,
    progress: bool | None = None,
    chart: str | None = None,
) -> Result:
    """Simulate `model` from t = 0 to `t_end` with steps of `dt` (s) and return the result.

    Parameters
    ----------
    integrator: "em" (order 2), "em4", "em6" (its compositions, conservative models only); or, for rigid bodies and
    joints, any integrator of mechanical systems: "EML", "EML-kappa", "VI-A(0.5)", "GGL-EM", "mG(3)", "GL-SPARK(2)" ...
    chart: coordinates of the latter, "quaternion", "quaternion-alpha", "quaternion-gamma" or "director"; by default
    "quaternion" where the scheme allows its singular mass, else "director".
    output: file to write, VTKHDF and native result at once (`.vtkhdf`); None keeps the result in memory.
    output_every: steps between outputs; the initial and the last state are always written.
    resume: go on where `output` stops, to the bit; the file must come from the same model, dt and
    output_every.
    progress: show a progress line on stderr; by default where that is a terminal.

    Raises
    ------
    ModelError: the model or an argument cannot be used; nothing has been written then.
    ConvergenceError: a step failed (of `em`: even after halving it); `error.result` holds what was computed, the file
    keeps it.
    """
    n_steps = _check(t_end, dt, output_every)
    t_end, dt, output_every = float(t_end), float(dt), int(output_every)
    _check_options(model, output, resume, progress, chart)
    check_integrator(integrator)
    built = model.build()
    state, change = project_velocities(built.system, built.state)
    stepper: Stepper | MechanicalStepper
    if integrator in INTEGRATORS:
        if chart is not None:
            raise ModelError(f"integrator '{integrator}' has its own chart; leave chart = '{chart}' out")
        stepper = Stepper(built.system, dt, INTEGRATORS[integrator], built.load_values)
    else:
        # imported where needed: its kernels take half a second to load
        from discretization.time.mechanical_stepper import MechanicalStepper

        values = built.load_values
        stepper = MechanicalStepper(model.name, built.system, state, dt, integrator, chart, values)
        state = stepper.start(state)
        built.layout.n_chart = len(state.chart)
    outputs = [*range(0, n_steps, output_every), n_steps]
    settings: dict[str, float | str] = {
        "dt": dt,
        "integrator": integrator,
        "output_every": output_every,
        "t_end": t_end,
    }
    if not isinstance(stepper, Stepper):
        settings["chart"] = stepper.chart
    built.layout.description["run"] = settings
    # how far the nearest velocities that the joints allow are from those given (m/s or rad/s)
    built.layout.description["velocity_projection"] = change
    writer: ResultWriter | MemoryWriter
    step = 0
    if output is None:
        writer = MemoryWriter(built.layout)
    elif resume:
        # an earlier end may lie between the outputs of this run
        n_stored, last = stored_outputs(output)
        capacity = n_stored + sum(target > last for target in outputs)
        writer, _, step, state = ResultWriter.resume(output, built.layout, capacity)
    else:
        writer = ResultWriter.create(output, built.layout, len(outputs))
    with _Progress(n_steps, step, dt, progress) as line:
        try:
            if step == 0 and not (resume and output is not None):
                _append(writer, built.system, state, 0, dt, None)
            for target in outputs:
                if target <= step:
                    continue
                reports = []
                while step < target:
                    began = time.perf_counter()
                    count = min(line.chunk, target - step)
                    state, report = stepper.advance(state, step, count)
                    step += count
                    reports.append(report)
                    line.moved(step, time.perf_counter() - began, count)
                audit = _append(writer, built.system, state, step, dt, reports)
                line.audit(audit)
        except ConvergenceError as error:
            if error.reached is not None and error.reached[0] > step:
                _append(writer, built.system, error.reached[1], error.reached[0], dt, None)
            error.result = _finish(writer, output)
            raise
        except BaseException:
            writer.close()
            raise
    return _finish(writer, output)


def check_integrator(integrator: str) -> None:
    """Raise ModelError for a name that is no integrator."""
    if not isinstance(integrator, str):
        raise ModelError(f"integrator = {integrator!r}; give a name such as 'em' or 'GGL-EM'")
    if integrator not in INTEGRATORS:
        from discretization.time.integrators import parse

        try:
            parse(integrator)
        except ModelError as error:
            raise ModelError(
                str(error).replace("choose one of ", f"choose one of {', '.join(INTEGRATORS)}, ")
            ) from None


def _check(t_end: float, dt: float, output_every: int) -> int:
    """Number of steps."""
    t_end = checks.number("simulate", "t_end", t_end, positive=True)
    dt = checks.number("simulate", "dt", dt, positive=True)
    checks.count("simulate", "output_every", output_every, at_most=MOST_STEPS_BETWEEN)
    n_steps = round(t_end / dt)
    if n_steps < 1 or abs(n_steps * dt - t_end) > 1e-9 * t_end:
        nearest = t_end / max(n_steps, 1)
        raise ModelError(f"t_end = {t_end} s is not a multiple of dt = {dt} s; use dt = {nearest:.12g}")
    return n_steps


def _check_options(model: object, output: object, resume: object, progress: object, chart: object) -> None:
    from rodsim.model import Model

    if not isinstance(model, Model):
        raise ModelError(f"simulate: model = {checks.shown(model)} is no Model; give one")
    if output is not None and (not isinstance(output, str | Path) or not Path(output).name):
        raise ModelError(f"simulate: output = {checks.shown(output)} is no name of a file; give one or None")
    if output is not None and "\0" in str(output):
        raise ModelError(f"simulate: output = {checks.shown(output)} contains NUL; give another name")
    checks.flag("simulate", "resume", resume)
    if progress is not None:
        checks.flag("simulate", "progress", progress)
    if chart is not None and not isinstance(chart, str):
        raise ModelError(f"simulate: chart = {checks.shown(chart)} is no name; give one or None")


def _append(
    writer: ResultWriter | MemoryWriter,
    system: System,
    state: State,
    step: int,
    dt: float,
    reports: list[Report] | None,
) -> Mapping[str, float]:
    strains, stresses = element_states(system, state)
    audit = audit_of(system, state, reports or [])
    writer.append(step * dt, step, state, strains, stresses, audit)
    return audit


def audit_of(system: System, state: State, reports: list[Report]) -> dict[str, float]:
    """The audit columns of one output: energies, momenta, residuals and what Newton did since the last
    one.
    """
    energy = energies(system, state)
    P, L = momenta(system, state)
    taken = sum(report.substeps for report in reports)
    return {
        "kinetic": energy.kinetic,
        "elastic": energy.elastic,
        "gravity": energy.gravity,
        "spring": energy.spring,
        "total": energy.total,
        "work": float(state.totals[0]),
        "dissipation": float(state.totals[1]),
        **{f"P{axis}": float(value) for axis, value in zip("xyz", P, strict=True)},
        **{f"L{axis}": float(value) for axis, value in zip("xyz", L, strict=True)},
        "constraint": float(np.abs(constraint_residual(system, state)).max(initial=0.0)),
        "velocity_constraint": float(np.abs(velocity_residual(system, state)).max(initial=0.0)),
        "quat_norm": float(np.abs(np.linalg.norm(state.quat, axis=1) - 1.0).max()),
        "newton_mean": sum(report.iterations for report in reports) / taken if taken else 0.0,
        "newton_max": float(max((report.most_iterations for report in reports), default=0)),
        "halvings": float(sum(report.halvings for report in reports)),
    }


def _finish(writer: ResultWriter | MemoryWriter, output: str | Path | None) -> Result:
    from rodsim.results.result import Result

    writer.close()
    if isinstance(writer, MemoryWriter):
        return writer.result()
    assert output is not None
    return Result.open(output)


class _Progress:
    """The progress line, and the number of steps that a march takes between looks at the clock."""

    def __init__(self, n_steps: int, step: int, dt: float, show: bool | None):
        self.chunk = 1
        self._dt = dt
        self._first: Mapping[str, float] | None = None
        self._bar = None
        if show if show is not None else sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=n_steps, initial=step, unit="step", dynamic_ncols=True, leave=True)

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def moved(self, step: int, seconds: float, count: int) -> None:
        """Learn from the last march and move the bar."""
        if seconds < _PATIENCE / 2:
            self.chunk = 2 * count if count == self.chunk else self.chunk
        elif seconds > _PATIENCE:
            self.chunk = max(1, count // 2)
        if self._bar is not None:
            self._bar.update(count)
            self._bar.set_description(f"t = {step * self._dt:.4g} s", refresh=False)

    def audit(self, audit: Mapping[str, float]) -> None:
        """Show the energy error and the Newton iterations."""
        if self._bar is None:
            return
        balance = audit["total"] - audit["work"] + audit["dissipation"]
        if self._first is None:
            self._first = {"balance": balance}
        scale = max(abs(audit["kinetic"]) + abs(audit["elastic"]) + abs(audit["spring"]), 1e-300)
        error = (balance - self._first["balance"]) / scale
        self._bar.set_postfix_str(f"dE/E {error:+.1e}, Newton {audit['newton_mean']:.1f}", refresh=False)
