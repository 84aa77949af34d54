"""Simulate a model in time: `simulate`.

A run stores its outputs in memory or in a file and shows a progress line. A run with a file can be resumed after it was
stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rodsim._compat import accept_old_arguments
from rodsim.adaptive_steps import Adaptive
from rodsim.building.starting_states import StartLike
from rodsim.model import Model
from rodsim.results.events import Event
from rodsim.results.result import Result
from rodsim.running.plan import Arguments, Solver, plan_run
from rodsim.running.run import Run


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
    snapshot: int | str | None = None,
) -> Result:
    """Simulate a model from t = 0 to `t_end`.

    A corner of a load is a time at which the load jumps or has a kink. A step that contains a corner is split there; outputs
    stay at multiples of `dt`. Signals declare their corners; a Python function declares them as an attribute,
    ``push.corners = (0.5, 0.52)``. A function without corners is evaluated once in each step, at ten times in each step if
    `dt` is `Adaptive`. A load that acts for less than a step may be missed; a StepWarning names the loads that were zero at
    all evaluations.

    Parameters
    ----------
    model : Model
        The system to simulate; it is not changed.
    t_end : float
        End time, s. If it is not a multiple of `dt` to a relative 1e-6, `dt` is shortened, with a StepWarning.
    dt : float or Adaptive
        Step, s; or `Adaptive(error)`, which chooses the steps from an admissible error. Required.
    integrator : str, default "em"
        "em": energy-momentum scheme of order 2. "em4", "em6", "em8": its compositions of order 4, 6, 8, for models without
        dampers. "em-ggl", "em4-ggl", "em6-ggl", "em8-ggl": velocities satisfy the joints to round-off as well. "em-d(rho)"
        dissipates vibrations that a step does not resolve and conserves the momenta; rho from 0 to 1 is the spectral radius at
        infinite frequency, 1 dissipates nothing. Or an integrator of mechanical systems: "EML", "EML-kappa", "VI-A(0.5)",
        "GGL-EM", "mG(3)", "GL-SPARK(2)" ...
    output : str or Path, optional
        Result file, .vtkhdf, which ParaView opens. It is written when the run ends. Until then the outputs are in a journal
        next to it. If the process is killed, `recover` makes a result file of all outputs that are older than 0.5 s. By default
        the result stays in memory.
    output_every : int, optional
        Steps between outputs; the first and the last state are always stored. By default about 500 outputs are stored; a
        resumed run keeps the value of its file.
    resume : bool, default False
        Continue from the last output of `output`, bitwise as if the run had not stopped. The file must come from the same
        model, `dt` and `output_every`.
    progress : bool, optional
        Show a progress line on stderr; by default if that is a terminal.
    chart : {"quaternion", "quaternion-alpha", "quaternion-gamma", "director"}, optional
        Coordinates of rotations, for integrators of mechanical systems. By default "quaternion" if the scheme allows its
        singular mass matrix, else "director".
    overwrite : bool, default False
        Replace an existing file.
    tolerance : float, default 0.0
        Relative tolerance of the equations of a step, for "em" and its variants. With 1e-8 a step takes fewer iterations and
        conserves energy and momenta to that relative accuracy. 0 solves to round-off.
    start : Result, Equilibrium, State, SteadyRotation, str or Path, optional
        Initial state; by default that of the model. Rods, bodies and joints are found by name. It must have the parts of the
        model; joints, loads and parameters may differ. The description of the result records the differences under "start".
        Time begins at 0. A drive starts from the current coordinate of its joint. If its initial rate differs from that of the
        joint, or joints are new, the velocities are changed to fit; this is recorded as well.
    start_time : float, optional
        Time of the state in `start`, s; by default the last.
    events : sequence of ContactBegins and DistanceBelow, optional
        End the run after the first step at whose end one of the events holds. The states at both ends of this step are stored,
        and `Result.ended_by` names the events. With `Adaptive` steps events are detected at outputs only. Events of the model
        (`Model.add_event`) are found within a step.

    Other Parameters
    ----------------
    solver : {"auto", "general"}, default "auto"
        "auto" selects, for "em" and its compositions, the fastest solver that supports the model. The planar solver has three
        unknowns per frame, for models that are symmetric about a plane and move in it. The tree solver eliminates the joints,
        for models with the structure of a tree, also with closed loops. The general solver supports all models. Results agree
        to round-off. The description of the result records the solver under "run", "solver". A resumed run uses the same
        solver again.
    threads : int, default 1
        Number of threads in each step of "em" and its variants. Only the general solver uses more than one, for nets and frames
        of rods. The result is bitwise the same for any number. More threads save time from some thousand elements on, if as
        many cores are idle. The tree solver uses one thread, and takes about as long as the general solver with two.
    snapshot : int or str, optional
        Write the result file after every so many outputs, or seconds ("30 s"), for ParaView to read during the run. By
        default it is written when the run ends; `Result.load` reads its outputs at any time.

    Returns
    -------
    Result
        States at the outputs, with energies, momenta and forces computed from them.

    Raises
    ------
    ModelError
        If the model or an argument is invalid. No file has been written then.
    OSError
        If the file cannot be written, exists already, or is being written by another process. Outputs stored before remain in
        it.
    ConvergenceError
        If a step failed even after it was halved. `error.result` holds the outputs computed so far; the file keeps them.

    Warns
    -----
    InitialVelocityWarning
        If given initial velocities do not satisfy the joints and were changed.
    StepWarning
        If steps may miss a load, or `dt` was shortened.
    ModelCheckWarning
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
    arguments = Arguments(
        t_end, dt, integrator, output, output_every, resume, progress, chart, overwrite, tolerance, start, start_time, events,
        solver, threads, snapshot
    )  # fmt: skip
    run = Run(model, plan_run(model, arguments))
    try:
        run.open(progress)
        with run.line:
            run.execute()
        return run.result()
    finally:
        run.close()
