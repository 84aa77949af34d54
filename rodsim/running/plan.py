"""Check the arguments of a run, and find its steps and outputs: `plan_run`.

Nothing is built or written. A run that resumes a result file keeps the step and the outputs of that file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from discretization.time.adaptive import FIRST
from discretization.time.em_family import EM_FAMILY, EmIntegrator, em_integrator
from rigid import checks
from rigid.errors import ModelError
from rodsim.adaptive_steps import Adaptive, StepRequest, check_fit, requested_steps, resumed_steps, steps_of
from rodsim.building.starting_states import StartLike
from rodsim.components.model_argument import model_argument_error
from rodsim.components.model_data import ModelData
from rodsim.results.atomic_write import check_target
from rodsim.results.events import Event, checked_events
from rodsim.results.journal import existing, has_result
from rodsim.results.lock import check_locks
from rodsim.results.resume_state import stored_outputs
from rodsim.results.snapshots import Snapshots

Solver = Literal["auto", "general"]
DEFAULT_OUTPUTS = 500  # approximate number of outputs unless `output_every` is given
MAX_OUTPUTS = 2**29 - 1  # limit of a file
MAX_TOLERANCE = 1e-3
MAX_THREADS = 1024


class Arguments(NamedTuple):
    """Arguments of `simulate` besides the model, as the user gave them."""

    t_end: float
    dt: float | Adaptive | None
    integrator: str
    output: str | Path | None
    output_every: int | None
    resume: bool
    progress: bool | None
    chart: str | None
    overwrite: bool
    tolerance: float
    start: StartLike | None
    start_time: float | None
    events: Sequence[Event] | None
    solver: Solver
    threads: int
    snapshot: int | str | None


class CheckedArguments(NamedTuple):
    """Results of the checks of the arguments."""

    scheme: EmIntegrator | None  # None: an integrator of mechanical systems
    step_request: StepRequest  # requested steps
    tolerance: float


class Plan(NamedTuple):
    """Checked arguments of a run, its steps and its outputs.

    Attributes
    ----------
    arguments : Arguments
        Arguments of `simulate`.
    scheme : EmIntegrator or None
        Parameters of an integrator of the `em` family; None for an integrator of mechanical systems.
    step_request : StepRequest
        Requested steps.
    tolerance : float
        Relative tolerance of the equations of a step; 0 solves to round-off.
    events : tuple of Event
        Events that end the run.
    dt : float
        Step, or with adaptive steps the time between outputs, s.
    requested_dt : float
        Step before it was shortened to fit the end, s.
    n_steps, every : int
        Number of steps to the end, and between outputs.
    n_stored_outputs : int
        Number of outputs in the file that is resumed; 0 for a new run.
    stored : dict
        Settings of the run that is resumed; empty for a new run.
    most : int
        Largest number of outputs.
    """

    arguments: Arguments
    scheme: EmIntegrator | None
    step_request: StepRequest
    tolerance: float
    events: tuple[Event, ...]
    dt: float
    requested_dt: float
    n_steps: int
    every: int
    n_stored_outputs: int
    stored: dict[str, Any]
    most: int

    @property
    def adaptive(self) -> bool:
        """Whether steps are chosen by an error."""
        return self.step_request.error is not None

    @property
    def h(self) -> float:
        """First step, s."""
        return FIRST * self.dt if self.adaptive else self.dt

    def keeps(self, name: str) -> bool:
        """Return whether a setting applies: always in a new run, in a resumed run if it began with this setting."""
        return self.n_stored_outputs == 0 or name in self.stored


def plan_run(model: object, arguments: Arguments) -> Plan:
    """Check the arguments of a run and return its plan.

    Raises
    ------
    ModelError
        If the model or an argument is invalid.
    OSError
        If the result file exists, or another process writes it.
    """
    scheme, request, tolerance = check_arguments(model, arguments)
    events = checked_events(() if arguments.events is None else arguments.events)
    output = arguments.output
    if output is not None:
        check_output(Path(output), arguments.resume, arguments.overwrite)
    # an earlier end may lie between the outputs of this run
    n_stored_outputs, last, stored = (
        stored_outputs(output) if arguments.resume and output is not None else (0, -1, {})
    )
    requested_dt = float(request.between(stored))
    t_end = float(arguments.t_end)
    if n_stored_outputs and requested_dt in (stored.get("dt"), stored.get("dt_given")):
        dt, n_steps = resumed_steps(t_end, float(stored["dt"]))
    else:
        dt, n_steps = steps_of(t_end, requested_dt, arguments.output_every)
        check_fit(dt, t_end, n_steps, requested_dt, "dt" if request.error is None else "output_dt")
    every = 1 if request.error is not None else _output_every(arguments.output_every, stored, n_steps)
    most = n_stored_outputs + outputs_after(last, n_steps, every) + 2 * bool(events)
    if output is not None and most > MAX_OUTPUTS:
        raise ModelError(
            f"output_every = {every} gives {most:.3g} outputs, a file holds at most {MAX_OUTPUTS}; "
            f"use output_every = {-(-n_steps // MAX_OUTPUTS)} or more"
        )
    return Plan(
        arguments=arguments, scheme=scheme, step_request=request, tolerance=tolerance, events=tuple(events), dt=dt,
        requested_dt=requested_dt, n_steps=n_steps, every=every, n_stored_outputs=n_stored_outputs, stored=stored, most=most
    )  # fmt: skip


def check_arguments(model: object, arguments: Arguments) -> CheckedArguments:
    """Check the arguments that do not depend on files; raise ModelError if one is invalid.

    The start and the events are checked against the built model.
    """
    if arguments.dt is not None and not isinstance(arguments.dt, Adaptive):
        steps_of(arguments.t_end, arguments.dt, arguments.output_every)
    _check_options(model, arguments)
    checks.word("simulate", "solver", arguments.solver, get_args(Solver))
    scheme = check_integrator(arguments.integrator)
    checks.count("simulate", "threads", arguments.threads, at_most=MAX_THREADS)
    if arguments.threads > 1 and scheme is None:
        raise ModelError(
            f"integrator '{arguments.integrator}' takes its steps in one thread; "
            f"remove threads = {arguments.threads}, or use one of {', '.join(EM_FAMILY)}"
        )
    request = requested_steps(
        arguments.t_end, arguments.dt, arguments.output_every, arguments.integrator, scheme
    )
    return CheckedArguments(scheme, request, _check_tolerance(arguments, scheme))


def check_integrator(integrator: str) -> EmIntegrator | None:
    """Check the name of an integrator; return its parameters if it is of the `em` family, else None.

    Raises ModelError if there is no integrator of this name.
    """
    if not isinstance(integrator, str):
        raise ModelError(f"integrator = {checks.shown(integrator)}; give a name such as 'em' or 'GGL-EM'")
    scheme = em_integrator(integrator)
    if scheme is None:
        from discretization.time.integrators import parse, unknown

        try:
            parse(integrator)
        except ModelError as error:
            if not error.choices:
                raise
            raise unknown(integrator, (*EM_FAMILY, *error.choices)) from None
    return scheme


def check_output(output: Path, resume: bool = False, overwrite: bool = False) -> None:
    """Raise unless a run may write `output`: other files, devices and links are never replaced, results only if requested."""
    if resume and overwrite:
        raise ModelError(
            f"'{output}': a run cannot both resume a file and overwrite it; give either resume or overwrite"
        )
    check_target(output)
    check_locks(output)
    if has_result(output) and not resume and not overwrite:
        raise FileExistsError(f"'{existing(output)}' exists; overwrite it, resume it, or give another output")


def outputs_after(last: int, n_steps: int, every: int) -> int:
    """Return how many of the outputs 0, every, 2 every ... and n_steps come after step `last`."""
    return -(-n_steps // every) - last // every if last < n_steps else 0


def _output_every(requested: int | None, stored: Mapping[str, object], n_steps: int) -> int:
    """Return the steps between outputs: the given value, that of the resumed run, or one for about DEFAULT_OUTPUTS outputs."""
    if requested is None:
        stored_every = stored.get("output_every")
        return stored_every if isinstance(stored_every, int) else max(1, round(n_steps / DEFAULT_OUTPUTS))
    return int(requested)


def _check_tolerance(arguments: Arguments, scheme: EmIntegrator | None) -> float:
    """Return the tolerance as a number; raise ModelError if it is too large or the integrator does not support it."""
    tolerance = checks.number("simulate", "tolerance", arguments.tolerance, at_least=0.0)
    if tolerance > MAX_TOLERANCE:
        raise ModelError(
            f"simulate: tolerance = {tolerance:g} is too large to conserve anything; use a value from 0 to {MAX_TOLERANCE:g}"
        )
    if tolerance > 0.0 and scheme is None:
        raise ModelError(
            f"integrator '{arguments.integrator}' solves its steps to round-off; remove tolerance = {tolerance:g}, or use one "
            f"of {', '.join(EM_FAMILY)}"
        )
    return tolerance


def _check_options(model: object, arguments: Arguments) -> None:
    """Raise ModelError if the model or an option of `simulate` has a wrong type."""
    if not isinstance(model, ModelData):
        raise model_argument_error("simulate", model)
    output = arguments.output
    if output is not None and (not isinstance(output, str | Path) or not Path(output).name):
        raise ModelError(
            f"simulate: output = {checks.shown(output)} is not the name of a file; give a file name or None"
        )
    if output is not None and "\0" in str(output):
        raise ModelError(f"simulate: output = {checks.shown(output)} contains NUL; give another name")
    Snapshots.of(arguments.snapshot)
    checks.flag("simulate", "resume", arguments.resume)
    checks.flag("simulate", "overwrite", arguments.overwrite)
    if arguments.progress is not None:
        checks.flag("simulate", "progress", arguments.progress)
    if arguments.chart is not None and not isinstance(arguments.chart, str):
        raise ModelError(
            f"simulate: chart = {checks.shown(arguments.chart)} is not a name; give the name of a chart or None"
        )
