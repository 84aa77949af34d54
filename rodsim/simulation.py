"""Simulate a model in time and store its outputs: `simulate`.

A run writes its result output by output and shows a progress line; stopped runs can be resumed.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from discretization.memory import Memory
from discretization.own_variables import without_lists
from discretization.planar.symmetry import Symmetry
from discretization.shortcuts import em_stepper
from discretization.system import System
from discretization.time.adaptive import FIRST, AdaptiveStepper
from discretization.time.advance import StepperBase
from discretization.time.contact_stepper import ContactStepper
from discretization.time.em_names import KIN, em_integrator
from discretization.time.reversing import reverses
from discretization.time.stepper import Stepper
from discretization.time.turns import busy
from rigid import checks
from rigid.compilation.first_compilation import announce
from rigid.errors import ConvergenceError, ModelError
from rigid.system import State
from rigid.user_warnings import warn_user
from rodsim.building.build import Placement
from rodsim.building.contact_doubts import warn_of_coarse_steps
from rodsim.building.initial_velocities import Fitted, fit_velocities
from rodsim.building.joint_rows import holding_names, loop_in_words
from rodsim.building.massless_rods import check_mass
from rodsim.building.plausibility import warn_of_stretched_starts
from rodsim.building.restart import restarted
from rodsim.building.starting_states import StartLike, check_start_time
from rodsim.building.turn_limits import turned_in_words
from rodsim.building.watched_loads import WatchedLoads
from rodsim.chosen_steps import Adaptive, Asked, adaptive, asked_steps, check_fit, resumed_steps, steps_of
from rodsim.event_march import march_until
from rodsim.model import Model
from rodsim.old_names import accept_old_arguments
from rodsim.parts.model_warnings import DoubtfulModelWarning
from rodsim.parts.no_model import no_model
from rodsim.provenance import provenance
from rodsim.results import older_files
from rodsim.results.coarse_rotations import describe_coarse_rotation
from rodsim.results.columns import COLUMNS
from rodsim.results.events import Event, Watch, checked_events
from rodsim.results.journal import has_result
from rodsim.results.layout import Functions
from rodsim.results.lock import check_locks
from rodsim.results.output_multipliers import STORED, MultipliersAfter, number_stored, start_of
from rodsim.results.outputs import Outputs
from rodsim.results.recorder import Recorder
from rodsim.results.result import Result
from rodsim.results.resuming import stored_outputs
from rodsim.results.whole_file import check_target
from rodsim.results.writer import MemoryWriter, ResultWriter

if TYPE_CHECKING:
    from discretization.time.mechanical_stepper import MechanicalStepper

Solver = Literal["auto", "general"]
USUAL_OUTPUTS = 500  # approximate number of outputs unless `output_every` is given
MOST_OUTPUTS = 2**29 - 1  # limit of a file: HDF5 stores the output times in one chunk
LARGEST_TOLERANCE = 1e-3
MOST_THREADS = 1024
_PATIENCE = 0.25  # longest compiled march, s: Ctrl-C is handled and the progress line moves between marches
_LEAP = 64  # growth factor of marches that take less than _PATIENCE / (2 _LEAP)


@accept_old_arguments
def simulate(
    model: Model,
    t_end: float,
    dt: float | Adaptive | None = None,
    integrator: str = "em",
    output: str | Path | None = None,
    output_every: int | None = None,
    resume: bool = False,
    progress: bool | None = None,
    chart: str | None = None,
    overwrite: bool = False,
    tolerance: float = 0.0,
    start: StartLike | None = None,
    start_time: float | None = None,
    events: Sequence[Event] | None = None,
    *,
    solver: Solver = "auto",
    threads: int = 1,
) -> Result:
    """Simulate a model from t = 0 to `t_end`.

    A step that contains a corner of a load is split there; outputs stay at multiples of `dt`. Signals declare their corners; a
    Python function declares them as an attribute, ``push.corners = (0.5, 0.52)``. A function without corners is evaluated once
    in each step, with `Adaptive` steps at ten times in each. Shorter loads may be missed; a StepWarning names those that were
    zero whenever they were evaluated.

    Parameters
    ----------
    model : Model
        The system to simulate; it is not changed.
    t_end : float
        End time, s. If it is not a multiple of `dt` to a relative 1e-6, `dt` is shortened, with a StepWarning.
    dt : float or Adaptive
        Step, s, or an error by which steps are chosen.
    integrator : str, default "em"
        "em" (order 2), "em4", "em6", "em8" (its compositions, for conservative models); "em-ggl", "em4-ggl", "em6-ggl",
        "em8-ggl" (velocities satisfy the joints to round-off); "em-d(rho)" with rho from 0 to 1 (dissipates what a step does not
        resolve, momenta exact; 1 dissipates nothing); or an integrator of mechanical systems: "EML", "EML-kappa",
        "VI-A(0.5)", "GGL-EM", "mG(3)", "GL-SPARK(2)" ...
    output : str or Path, optional
        Result file, .vtkhdf, which ParaView opens. An output survives a killed process 0.5 s after it was computed. By
        default the result stays in memory.
    output_every : int, optional
        Steps between outputs; the first and the last state are always stored. By default about 500 outputs are stored; a
        resumed run keeps the value of its file.
    resume : bool, default False
        Continue from the last output of `output`, bitwise as if the run had not stopped. The file must come from the same
        model, `dt` and `output_every`.
    progress : bool, optional
        Show a progress line on stderr; by default if that is a terminal.
    chart : {"quaternion", "quaternion-alpha", "quaternion-gamma", "director"}, optional
        Coordinates of integrators of mechanical systems. By default "quaternion" if the scheme allows its singular mass, else
        "director".
    overwrite : bool, default False
        Replace an existing file.
    tolerance : float, default 0.0
        Relative tolerance of the equations of a step, for "em" and its variants. With 1e-8 a step takes fewer iterations and
        conserves energy and momenta to that relative accuracy. 0 solves to round-off.
    start : Result, Equilibrium, State, SteadyRotation, str or Path, optional
        Initial state; by default that of the model. The parts must be the same, loads and parameters may differ; the
        description of the result records under "start" what changed. Time begins at 0. A drive starts from the current
        coordinate of its joint. If its rate differs, the velocities are changed to fit, which is recorded as well.
    start_time : float, optional
        Time of the state in `start`, s; by default the last.
    events : sequence of ContactBegins and DistanceBelow, optional
        End the run with the first step after which one of them holds. That state and the one before are stored, and
        `Result.ended_by` says which events held. With `Adaptive` steps they are detected at outputs only.

    Other Parameters
    ----------------
    solver : {"auto", "general"}, default "auto"
        "auto" selects, for "em" and its compositions, the fastest solver for the structure of the model: one with three unknowns
        per frame for models that are symmetric about a plane and move in it, one that eliminates joints for bodies and rods.
        Results agree to round-off. The description records under "run", "solver" which one was used. A resumed run continues
        with the solver with which it began.
    threads : int, default 1
        Threads that work on each step of "em" and its variants if the general solver solves nets and frames of rods. The result
        is bitwise the same for any number. Threads pay from some thousand elements on, if as many cores are idle; a tree
        uses one thread, and takes about as long as the general solver with two.

    Returns
    -------
    Result
        States at the outputs, with energies, momenta and forces computed from them.

    Raises
    ------
    ModelError
        If the model or an argument is invalid. No file has been written then.
    OSError
        If the file cannot be written, exists, or is being written by another process. Outputs stored before are kept.
    ConvergenceError
        If a step failed even after it was halved. `error.result` holds the outputs computed so far; the file keeps them.

    Warns
    -----
    InitialVelocityWarning
        If given initial velocities do not fit the joints and were changed.
    StepWarning
        If steps may miss a load, or `dt` was shortened.
    DoubtfulModelWarning
        If a body rotates by more than 0.3 rad in a step of "em", "em-ggl" or "em-d", or a rod with self-contact is bent tighter
        than its radius.

    Examples
    --------
    >>> from rodsim import Box, Model, simulate
    >>> model = Model("free fall", gravity=(0, 0, -10))
    >>> block = model.add_body("block", Box(0.1, 0.1, 0.1, mass=1))
    >>> result = simulate(model, t_end=1.0, dt=0.1)
    >>> round(float(result.body("block").r[-1, 2]), 6)
    -5.0
    """
    asked, tolerance = check_asked(
        model, t_end, dt, integrator, output, output_every, resume, progress, chart=chart, overwrite=overwrite,
        tolerance=tolerance, solver=solver, threads=threads
    )  # fmt: skip
    error = asked.error
    events = checked_events(() if events is None else events)
    if output is not None:
        check_output(Path(output), resume, overwrite)
    # an earlier end may lie between the outputs of this run
    n_stored, last, stored_run = stored_outputs(output) if resume and output is not None else (0, -1, {})
    given = float(asked.between(stored_run))
    t_end = float(t_end)
    if n_stored and given in (stored_run.get("dt"), stored_run.get("dt_given")):
        dt, n_steps = resumed_steps(t_end, float(stored_run["dt"]))
    else:
        dt, n_steps = steps_of(t_end, given, output_every)
        check_fit(dt, t_end, n_steps, given, "dt" if error is None else "output_dt")
    h = dt if error is None else FIRST * dt
    every = 1 if error is not None else _output_every(output_every, stored_run, n_steps)
    most = n_stored + _outputs_after(last, n_steps, every) + 2 * bool(events)
    if output is not None and most > MOST_OUTPUTS:
        raise ModelError(
            f"output_every = {every} gives {most:.3g} outputs, a file holds at most {MOST_OUTPUTS}; "
            f"use output_every = {-(-n_steps // MOST_OUTPUTS)} or more"
        )
    announce()
    built = model.build()
    check_mass(built, "simulate")
    if model.contacts and error is None:
        warn_of_coarse_steps(model, Placement(model), dt)
    check_start_time("simulate", start, start_time)
    state, change, changed_parts = fit_velocities(built) if start is None else Fitted(built.state, 0.0, {})
    if start is None and not n_stored:
        warn_of_stretched_starts(model, built.layout, built.system.frames.mass, state.v)
    if start is not None:
        built, state, origin = restarted(built, start, start_time)
        built.layout.description["start"] = origin
    built.layout.functions = Functions(built.load_values, built.drive_values)
    loads = WatchedLoads(built.load_values)
    touching = len(built.system.contacts.pairs) > 0
    make: Callable[[System], Stepper | MechanicalStepper]
    own = em_integrator(integrator)
    if own is not None:
        if chart is not None:
            raise ModelError(f"integrator '{integrator}' has its own chart; leave chart = '{chart}' out")
        spared = list(built.idle)  # axes without inertia, which cannot take a torque
        if spared and own.rho is not None:
            built.layout.description["without_inertia"] = spared
        of_kin: Callable[..., Stepper] = em_stepper
        make = partial(
            of_kin,
            h=h,
            order=own.order,
            load_values=loads,
            tolerance=tolerance,
            drive_values=built.drive_values,
            joint_names=holding_names(
                [joint.name for joint in built.layout.joints], built.other_names, built.system
            ),
            spared=spared,
            loop_of=partial(loop_in_words, model),
            threads=int(threads),
            shortcut=not touching and (solver == "auto" if n_stored == 0 else "solver" in stored_run),
            earlier=n_stored == 0 or "history" in stored_run,
            symmetry=Symmetry(state, built.load_directions)
            if n_stored == 0 or "plane" in stored_run
            else None,
            **own.steps,
        )
    else:
        # imported only here: its kernels take half a second to load
        from discretization.time.mechanical_stepper import MechanicalStepper

        initial, values = state, (loads, built.drive_values)

        def make(system: System) -> MechanicalStepper:
            """Return a stepper of an integrator for mechanical systems, for `built.system` or a variant of it."""
            begun = initial if system is built.system else without_lists(system, built.system, initial)
            return MechanicalStepper(model.name, system, begun, dt, integrator, chart, *values)

    settings: dict[str, Any] = {
        "dt": dt,
        "integrator": integrator,
        "output_every": every,
        "t_end": t_end,
    }
    if dt != given or "dt_given" in stored_run:
        settings["dt_given"] = given if dt != given else stored_run["dt_given"]
    stepper: Stepper | MechanicalStepper | ContactStepper | AdaptiveStepper
    stepper = ContactStepper(built.system, h, make) if touching else make(built.system)
    if isinstance(make, partial) and isinstance(stepper, Stepper):
        stepper.make = make
    settings |= stepper.settings | older_files.settings_of_predictors(stored_run)
    if n_stored == 0 or "corners" in stored_run:  # an older version did not split the steps of this run
        settings |= built.corners.settings(error is not None)
    if error is not None and not isinstance(stepper, AdaptiveStepper):
        settings |= asked.settings(
            built.system, state, built.load_values.vary, stored_run if n_stored else {}
        )
        stepper = adaptive(stepper, built.system, dt, settings, loads)
    else:
        stepper.corners = np.array(settings.get("corners", ()))
    state = stepper.start(state)
    if threads > 1:
        settings["threads"] = stepper.threads
    watch = Watch(events, built.layout) if events else None
    if watch is not None and not (resume and n_stored):
        watch.check_start(state)
    built.layout.remembering(stepper.sizes.memory)
    stepper.turned_in_words = partial(turned_in_words, built)
    if tolerance > 0.0:
        settings["tolerance"] = tolerance
    if own is not None and own.order > 2 and not reverses(built.system):
        settings["halves"] = False
    if events:
        settings["until"] = " or ".join(str(event) for event in events)
        settings["events"] = [event.described() for event in events]
    if not isinstance(stepper, Stepper) and stepper.chart is not None:
        settings["chart"] = stepper.chart
    if not n_stored or STORED in stored_run:  # files of older versions have none
        built.layout.n_after = number_stored(stepper, every, integrator)
    if built.layout.n_after:
        settings[STORED] = True
    if output is not None:
        built.layout.lam_start = start_of(built.system, state, built.load_values, built.drive_values, dt)
    built.layout.description["run"] = settings
    built.layout.description["provenance"] = provenance(model.scene)
    # distance of the nearest velocities that the joints allow from those given (m/s or rad/s), and the parts concerned
    built.layout.description["velocity_projection"] = change
    built.layout.description["initial_velocity_change"] = {k: list(v) for k, v in changed_parts.items()}
    writer: ResultWriter | MemoryWriter
    step = 0
    fresh = output is None or not resume
    if output is None:
        writer = MemoryWriter(built.layout)
    elif resume:
        writer, _, step, state = ResultWriter.resume(output, built.layout, most)
    else:
        writer = ResultWriter.create(output, built.layout, most)
    try:
        with Progress(n_steps, step, dt, every, progress, built.layout.memory) as line:
            after = None
            if built.layout.n_after and (output is not None or error is not None):
                after = MultipliersAfter(built.layout, lambda: stepper, dt)
            recorder = Recorder(built.system, dt, writer, line.audit if line.shown else None, after)
            try:
                if fresh:
                    recorder.add_last(0, state)
                if watch is None:
                    _instead.get()(stepper, state, step, n_steps, every, recorder, line)
                else:
                    march_until(watch, stepper, state, step, n_steps, every, recorder, line)
            except ConvergenceError as failed:
                failed.result = finish_at(failed, recorder, output)
                raise
            except OSError:
                with contextlib.suppress(OSError):  # a full disk may fail again
                    recorder.flush()
                raise
            except BaseException:
                recorder.flush()
                raise
            recorder.flush()
        loads.warn(f"model '{model.name}'", step * dt, recorder.last * dt)
        return finish(writer, output)
    finally:
        writer.close()


def check_asked(
    model: Model,
    t_end: float,
    dt: float | Adaptive | None,
    integrator: str,
    output: str | Path | None,
    output_every: int | None,
    resume: bool,
    progress: bool | None,
    *,
    chart: str | None,
    overwrite: bool,
    tolerance: float,
    solver: Solver,
    threads: int,
) -> tuple[Asked, float]:
    """Check the arguments of `simulate`; return the requested steps and the tolerance.

    Raises ModelError for invalid arguments.
    """
    if dt is not None and not isinstance(dt, Adaptive):
        steps_of(t_end, dt, output_every)
    _check_options(model, output, resume, progress, chart, overwrite)
    checks.word("simulate", "solver", solver, get_args(Solver))
    check_integrator(integrator)
    _check_threads(threads, integrator)
    asked = asked_steps(t_end, dt, output_every, integrator)
    return asked, _check_tolerance(tolerance, integrator)


def march(
    stepper: StepperBase,
    state: State,
    step: int,
    n_steps: int,
    every: int,
    recorder: Recorder,
    line: Progress,
) -> State:
    """Take all steps from `step` on and return the final state.

    Each march takes several output intervals, or some of the steps to the next output.
    """
    line.chunk = max(line.chunk, stepper.first_march)
    while step < n_steps:
        began = busy()
        whole = min(line.chunk, n_steps - step) // every
        if isinstance(stepper, Stepper | ContactStepper) and whole > 1 and step % every == 0:
            states, each = stepper.record(state, step, every, min(whole, recorder.most))
            count = every * len(each)
            state = State(*(array[-1].copy() for array in states))
            recorder.add(range(step + every, step + count + 1, every), states, each)
            step += count
        else:
            count = min(line.chunk, every - step % every, n_steps - step)
            state, report = stepper.advance(state, step, count)
            recorder.took(report)
            step += count
            if step % every == 0 or step == n_steps:
                recorder.add_last(step, state)
        line.moved(step, busy() - began, count)
        recorder.look()
    return state


March = Callable[[StepperBase, State, int, int, int, Recorder, "Progress"], object]
_instead: ContextVar[March] = ContextVar("instead", default=march)


@contextlib.contextmanager
def marching_by(other: March) -> Iterator[None]:
    """Within this context, `simulate` sets up all that a run needs and calls `other` to take its steps."""
    token = _instead.set(other)
    try:
        yield
    finally:
        _instead.reset(token)


def check_output(output: Path, resume: bool = False, overwrite: bool = False) -> None:
    """Raise unless a run may write `output`: other files, devices and links are never replaced, results only if requested."""
    if resume and overwrite:
        raise ModelError(
            f"'{output}': a run cannot both go on with a file and overwrite it; give one of the two"
        )
    check_target(output)
    check_locks(output)
    if has_result(output) and not resume and not overwrite:
        raise FileExistsError(f"'{output}' exists; overwrite it, resume it, or give another output")


def _outputs_after(last: int, n_steps: int, every: int) -> int:
    """Return how many of the outputs 0, every, 2 every ... and n_steps come after step `last`."""
    return -(-n_steps // every) - last // every if last < n_steps else 0


def _output_every(given: int | None, stored: Mapping[str, object], n_steps: int) -> int:
    """Return the steps between outputs: the given value, that of the resumed run, or one for about USUAL_OUTPUTS outputs."""
    if given is None:
        kept = stored.get("output_every")
        return kept if isinstance(kept, int) else max(1, round(n_steps / USUAL_OUTPUTS))
    return int(given)


def check_integrator(integrator: str) -> None:
    """Raise ModelError if `integrator` is not the name of an integrator."""
    if not isinstance(integrator, str):
        raise ModelError(f"integrator = {checks.shown(integrator)}; give a name such as 'em' or 'GGL-EM'")
    if em_integrator(integrator) is None:
        from discretization.time.integrators import parse, unknown

        try:
            parse(integrator)
        except ModelError as error:
            if not error.choices:
                raise
            raise unknown(integrator, (*KIN, *error.choices)) from None


def _check_tolerance(tolerance: float, integrator: str) -> float:
    """Return the tolerance as a number; raise ModelError if it is too large or the integrator does not support it."""
    tolerance = checks.number("simulate", "tolerance", tolerance, at_least=0.0)
    if tolerance > LARGEST_TOLERANCE:
        raise ModelError(
            f"simulate: tolerance = {tolerance:g} leaves nothing of the laws; give 0 to {LARGEST_TOLERANCE:g}"
        )
    if tolerance > 0.0 and em_integrator(integrator) is None:
        raise ModelError(
            f"integrator '{integrator}' solves its steps to round-off; leave tolerance = {tolerance:g} out, or use one of "
            f"{', '.join(KIN)}"
        )
    return tolerance


def _check_threads(threads: int, integrator: str) -> None:
    """Raise ModelError if the number of threads is invalid or the integrator uses one thread only."""
    checks.count("simulate", "threads", threads, at_most=MOST_THREADS)
    if threads > 1 and em_integrator(integrator) is None:
        raise ModelError(
            f"integrator '{integrator}' takes its steps in one thread; leave threads = {threads} out, or use one of "
            f"{', '.join(KIN)}"
        )


def _check_options(
    model: object, output: object, resume: object, progress: object, chart: object, overwrite: object
) -> None:
    """Raise ModelError if the model or an option of `simulate` has a wrong type."""
    if not isinstance(model, Model):
        raise no_model("simulate", model)
    if output is not None and (not isinstance(output, str | Path) or not Path(output).name):
        raise ModelError(f"simulate: output = {checks.shown(output)} is no name of a file; give one or None")
    if output is not None and "\0" in str(output):
        raise ModelError(f"simulate: output = {checks.shown(output)} contains NUL; give another name")
    checks.flag("simulate", "resume", resume)
    checks.flag("simulate", "overwrite", overwrite)
    if progress is not None:
        checks.flag("simulate", "progress", progress)
    if chart is not None and not isinstance(chart, str):
        raise ModelError(f"simulate: chart = {checks.shown(chart)} is no name; give one or None")


def finish(writer: ResultWriter | MemoryWriter, output: str | Path | None) -> Result:
    """Close the writer and return its result; warn of tight bends and of large rotations per step."""
    writer.close()
    if isinstance(writer, MemoryWriter):
        result = writer.result()
    else:
        result = writer.result()
        result.layout.functions = writer.layout.functions
    if bends := result.tight_bends:
        told = "; ".join(map(str, bends))
        warn_user(f"model '{result.layout.name}': {told}", DoubtfulModelWarning)
    if words := describe_coarse_rotation(result):
        warn_user(f"model '{result.layout.name}': {words}", DoubtfulModelWarning)
    return result


def finish_at(failed: ConvergenceError, recorder: Recorder, output: str | Path | None) -> Result:
    """Return the result of a failed run, including the last state that it reached."""
    if failed.reached is not None and failed.reached.step > recorder.last:
        recorder.took(failed.report)
        recorder.add_last(failed.reached.step, failed.reached.state)
    recorder.flush()
    return finish(recorder.writer, output)


class Progress:
    """The progress line, and the number of steps in a march (`chunk`), adapted so that the line moves often enough."""

    def __init__(self, n_steps: int, step: int, dt: float, every: int, show: bool | None, memory: Memory):
        """Prepare the line: `step` of `n_steps` steps done, `every` steps stored; `show` None: if stderr is a terminal."""
        self.chunk = 1
        self._memory = memory
        self._dt = dt
        self._every = "every step stored" if every == 1 else f"every {every} steps stored"
        self._first: float | None = None
        self._bar = None
        if show if show is not None else sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=n_steps, initial=step, unit="step", dynamic_ncols=True, leave=True)

    @property
    def shown(self) -> bool:
        """Whether the progress line is visible."""
        return self._bar is not None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def moved(self, step: int, seconds: float, count: int) -> None:
        """Adapt `chunk` to the duration of the last march (s, `count` steps) and move the bar to `step`."""
        if seconds < _PATIENCE / 2:
            # more if a march takes almost no time; by fixed factors, so that runs side by side march equally far
            further = _LEAP if seconds < _PATIENCE / (2 * _LEAP) else 2
            self.chunk = max(self.chunk, further * count)
        elif seconds > _PATIENCE:
            self.chunk = max(1, count // 2)
        if self._bar is not None:
            self._bar.update(count)
            self._bar.set_description(f"t = {step * self._dt:.4g} s", refresh=False)

    def audit(self, outputs: Outputs) -> None:
        """Show the energy error and the Newton iterations of the last output."""
        assert self._bar is not None
        rows = outputs.audit[[0, -1]]
        none = np.zeros((len(rows), 2))
        taken = self._memory.parts(outputs.state.memory[[0, -1]]).get("algorithmic", none).sum(axis=-1)
        first, audit = (dict(zip(COLUMNS, row.tolist(), strict=True)) for row in rows)
        if self._first is None:
            self._first = _balance(first) + float(taken[0])
        scale = max(abs(audit["kinetic"]) + abs(audit["elastic"]) + abs(audit["spring"]), 1e-300)
        error = (_balance(audit) + float(taken[-1]) - self._first) / scale
        self._bar.set_postfix_str(
            f"dE/E {error:+.1e}, Newton {audit['newton_mean']:.1f}, {self._every}", refresh=False
        )


def _balance(audit: Mapping[str, float]) -> float:
    """Return the conserved energy balance: total energy - work + dissipation, J."""
    return audit["total"] - audit["work"] + audit["dissipation"]
