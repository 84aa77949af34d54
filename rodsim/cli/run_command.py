"""Command `rodsim run`: simulate a scene."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rigid.errors import ConvergenceError, ModelError
from rodsim.cli.exit_codes import CHECK_FAILED, OK
from rodsim.cli.messages import print_not_converged
from rodsim.cli.scene_options import add_set, load_scene
from rodsim.cli.signal_handling import report_stop

if TYPE_CHECKING:
    from rodsim.scenes.model_from_scene import Loaded


def add_parsers(commands: Any) -> None:
    """Add the command and its options to `commands`."""
    parser = commands.add_parser("run", help="simulate a scene")
    parser.add_argument("scene", help="scene file, YAML")
    add_set(parser)
    parser.add_argument("-o", "--output", help="result file; default: the scene's name with .vtkhdf")
    parser.add_argument("--t-end", type=float, help="s, instead of the scene's")
    parser.add_argument("--dt", type=float, help="s, instead of the scene's")
    parser.add_argument(
        "--error",
        type=float,
        help="in place of dt: of the motion, relative to the model's size; em family only",
    )
    parser.add_argument("--output-dt", type=float, help="s, with error: time between outputs")
    parser.add_argument("--max-dt", type=float, help="s, with error: the longest step")
    parser.add_argument(
        "--integrator",
        help="em, em4, em6, em8, each also with -ggl, em-d(0.8), EML, mG(3) ..., instead of the scene's",
    )
    parser.add_argument(
        "--chart", help="quaternion, quaternion-alpha, quaternion-gamma, director; not for em"
    )
    parser.add_argument(
        "--output-every",
        type=int,
        help="steps between outputs, instead of the scene's; where neither says, about 500 outputs are stored",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        help="of the equations of a step, relative: fewer iterations, invariants to that part; 0: round-off",
    )
    parser.add_argument(
        "--solver",
        choices=["auto", "general"],
        help="auto: faster solvers for trees of bodies and rods, and for planar models; instead of the scene's",
    )
    parser.add_argument(
        "--snapshot",
        metavar="N",
        help='write the result file every N outputs, or every "30 s", during the run',
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="for each step of a large net of rods; em family only"
    )
    parser.add_argument(
        "--resume", action="store_true", help="continue from the last output of the result file"
    )
    parser.add_argument("--overwrite", action="store_true", help="overwrite an existing result")
    parser.add_argument("--quiet", action="store_true", help="no progress line, no audit")
    parser.set_defaults(act=run)


def run(options: argparse.Namespace) -> int:
    """Simulate a scene, audit the result and return the exit code: rodsim run."""
    from rodsim.adaptive_steps import with_adaptive
    from rodsim.scenes.model_from_scene import translate
    from rodsim.simulation import simulate

    loaded = load_scene(options.scene, options.set)  # first: an invalid path gives no name for the result
    output = Path(options.output) if options.output else Path(options.scene).with_suffix(".vtkhdf")
    _check_output(output, Path(options.scene), options)
    settings = _settings(loaded, options)
    before = _file_identity(output)
    try:
        result = simulate(
            loaded.model,
            **with_adaptive(settings),
            output=output,
            resume=options.resume,
            overwrite=options.overwrite,
            progress=False if options.quiet else None,
        )
    except ModelError as error:
        raise translate(loaded.source, error) from None
    except ConvergenceError as error:
        return print_not_converged(error, output)
    except KeyboardInterrupt as stop:
        return report_stop(stop, *_resume_command(options, output, before))
    if options.quiet:
        return OK
    from rodsim.results.audit import audit as make_audit

    report = make_audit(result)
    print(report.text())
    every = result.description["run"]["output_every"]
    steps = "every step" if every == 1 else f"every {every} steps"
    if result.steps is not None:
        print(result.steps.text())
        steps = f"every {result.description['run']['dt']:g} s"
    for event in result.ended_by:
        name = f"event '{event}'" if isinstance(event, str) else str(event)
        print(f"ended at t = {result.t[-1]:.6g} s: {name}")
    print(f"written to {output}: {result.n_outputs} outputs, one {steps}")
    return OK if report.ok else CHECK_FAILED


def _resume_command(options: argparse.Namespace, output: Path, before: object) -> tuple[list[str], str]:
    """Return the command that continues after a stop, and a note on the saved result, empty if there is none.

    `before`: identity of the result file when the run began. If this run has written a file, the command resumes it.
    """
    command, note = ["rodsim", *(argument for argument in options.given if argument != "--quiet")], ""
    if options.resume or _file_identity(output) not in (None, before):
        command = [argument for argument in command if argument not in ("--overwrite", "--resume")] + [
            "--resume"
        ]
        note = f"what was computed is in {output}"
    return command, note


def _file_identity(path: Path) -> object:
    """Return the identity (device, inode) of the result at `path`, or of its journal; None if there is neither."""
    from rodsim.results.journal import journal_of

    for file in (journal_of(path), path):
        if file.exists():
            stat = file.stat()
            return stat.st_dev, stat.st_ino
    return None


def _settings(loaded: Loaded, options: argparse.Namespace) -> dict:
    """Return the arguments of `simulate`: those of the scene's run, replaced by the options."""
    from rodsim.results.events import events_of_scene

    run_scene = loaded.scene.run
    if run_scene is None:
        raise ModelError(f"scene '{loaded.scene.name}' has no `run`; add one, or use `rodsim equilibrium`")
    # fixed or adaptive steps: an option for one of them replaces the scene's settings of the other
    dt = run_scene.dt if options.dt is None and options.error is None else options.dt
    error = run_scene.error if options.dt is None and options.error is None else options.error
    output_every, output_dt = (None, run_scene.output_dt) if dt is None else (run_scene.output_every, None)
    longest = run_scene.max_dt if dt is None else None
    return {
        "t_end": run_scene.t_end if options.t_end is None else options.t_end,
        "dt": dt,
        "error": error,
        "output_dt": output_dt if options.output_dt is None else options.output_dt,
        "max_dt": longest if options.max_dt is None else options.max_dt,
        "integrator": run_scene.integrator if options.integrator is None else options.integrator,
        "output_every": output_every if options.output_every is None else options.output_every,
        "chart": run_scene.chart if options.chart is None else options.chart,
        "tolerance": run_scene.tolerance if options.tolerance is None else options.tolerance,
        "solver": run_scene.solver if options.solver is None else options.solver,
        "threads": options.threads,
        "snapshot": options.snapshot,
        "events": events_of_scene(run_scene),
    }


def _check_output(output: Path, scene: Path, options: argparse.Namespace) -> None:
    """Raise ModelError if the result file cannot be written, or its existence contradicts the options."""
    from rodsim.results.atomic_write import check_target
    from rodsim.results.journal import existing, has_result

    if options.resume and options.overwrite:
        raise ModelError("--resume and --overwrite exclude each other; remove one of them")
    check_target(output, scene)
    if not os.access(output.parent, os.W_OK):
        raise ModelError(f"'{output}': the folder '{output.parent}' cannot be written to")
    if has_result(output) and not options.resume and not options.overwrite:
        raise ModelError(
            f"'{existing(output)}' exists; --resume continues it, --overwrite overwrites it, -o names another file"
        )
    if options.resume and not has_result(output):
        raise ModelError(f"'{output}': no result to resume; remove --resume")
