"""Commands `rodsim sweep` (a scene with many parameter values) and `rodsim converge` (refinement of mesh and step)."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from rodsim.cli.exit_codes import NOT_CONVERGED, OK
from rodsim.cli.scene_options import add_set, read_scene_with
from rodsim.cli.signal_handling import report_stop


def add_parsers(commands: Any) -> None:
    """Add the commands and their options to `commands`."""
    parser = commands.add_parser("sweep", help="a scene under many parameters, on all cores or many machines")
    parser.add_argument("study", help="study file, YAML")
    parser.add_argument(
        "-o", "--output", help="folder; default: the study's name. Cases done there are not run again"
    )
    _add_workers(parser)
    parser.add_argument(
        "--keep",
        metavar="WHICH",
        help="results as files: none, all, or numbers of cases as 0,7; instead of the study's",
    )
    parser.add_argument(
        "--plot",
        nargs="+",
        action="append",
        metavar="COLUMN",
        help="X Y, or X Y COLOUR: a picture of two or three columns; may be given again",
    )
    parser.add_argument(
        "--limit",
        type=float,
        metavar="SECONDS",
        help="largest time of a case, without compilation; a case that takes longer fails",
    )
    parser.add_argument("--retry", action="store_true", help="run cases again that have failed before")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(act=sweep)

    parser = commands.add_parser(
        "converge", help="mesh and step of a scene: orders, and the choice for an error"
    )
    parser.add_argument("scene", help="scene file, YAML")
    add_set(parser)
    parser.add_argument("--error", type=float, default=1e-3, help="wanted, relative; default: 1e-3")
    parser.add_argument(
        "--measure",
        action="append",
        metavar="WORDS",
        help="'final rods.arm.end.r.z' ...; may be given again; default: the motion of all parts",
    )
    parser.add_argument(
        "--levels", type=int, default=4, help="meshes, and steps, each half of the one before"
    )
    parser.add_argument("--t-end", type=float, help="s, instead of the scene's")
    parser.add_argument("--dt", type=float, help="s, the largest step, instead of the scene's")
    parser.add_argument("--integrator", help="instead of the scene's")
    parser.add_argument(
        "--schemes",
        nargs="*",
        metavar="INTEGRATOR",
        help="each with its own choice, and which takes least time; none named: the scene's and its variants of other orders",
    )
    parser.add_argument("-o", "--output", help="folder: cases done there are not run again; default: none")
    parser.add_argument("--plot", metavar="FILE", help="picture (.png, .pdf, .svg)")
    _add_workers(parser)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(act=converge)


def _add_workers(command: Any) -> None:
    """Add the options of the workers to a command."""
    command.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="of a Dask scheduler that runs, as tcp://HOST:8786; default: processes here",
    )
    command.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes here; 0: none but this; default: one a core",
    )


def sweep(options: argparse.Namespace) -> int:
    """Run a study, write its table and pictures, and return the exit code: rodsim sweep."""
    from rodsim.studies.errors import StudyStopped
    from rodsim.studies.study_runner import read_study, run_study

    study = read_study(options.study, _keep_option(options.keep), _plot_option(options.plot))
    folder = Path(options.output) if options.output else Path(options.study).with_suffix("")
    command = shlex.join(_resume_command(options))
    try:
        result = run_study(
            study,
            folder,
            scheduler=options.scheduler,
            workers=options.workers,
            progress=False if options.quiet else None,
            retry=options.retry,
            limit=options.limit,
        )
    except KeyboardInterrupt as stop:
        return report_stop(stop, _resume_command(options), f"what was done is in {folder}")
    except StudyStopped as error:
        print(f"rodsim: {error}; what was done is in '{folder}', `{command}` continues it", file=sys.stderr)
        return NOT_CONVERGED
    written = [folder / "table.csv", folder / "table.parquet"]
    for plot in study.plots:
        columns = [plot.x, plot.y] + ([plot.color] if plot.color else [])
        name = (
            plot.file
            or "-".join("".join(c if c.isalnum() else "_" for c in column) for column in columns) + ".png"
        )
        written.append(result.plot(*columns, path=folder / name, kind=plot.kind, log=plot.log))
    if not options.quiet:
        for path in written:
            print(f"wrote {path}")
    print(f"{len(result.outcomes)} cases, {len(result.failed)} failed")
    for number, message in list(result.failed.items())[:5]:
        print(f"rodsim: case {number}: {message}", file=sys.stderr)
    if len(result.failed) > 5:
        print(f"rodsim: and {len(result.failed) - 5} more, see the column error", file=sys.stderr)
    return NOT_CONVERGED if result.failed else OK


def _resume_command(options: argparse.Namespace) -> list[str]:
    """Return the command that continues a stopped study."""
    command = ["rodsim", "sweep", options.study]
    for name in ("output", "scheduler", "workers", "keep", "limit"):
        if getattr(options, name) is not None:
            command += [f"--{name}", str(getattr(options, name))]
    for columns in options.plot or []:
        command += ["--plot", *columns]
    return command


def _keep_option(option: str | None) -> Any:
    """Return the choice of results to save from the option --keep; None if it is missing."""
    from rodsim.studies.errors import StudyError
    from rodsim.studies.study_schema import ChosenEntry

    if option is None or option in ("none", "all"):
        return option
    try:
        return ChosenEntry(cases=[int(word) for word in option.split(",")])
    except ValueError:
        raise StudyError(f"--keep {option}: give none, all, or numbers of cases as 0,7") from None


def _plot_option(option: list[list[str]] | None) -> Any:
    """Return the pictures from the options --plot; None if there are none."""
    from rodsim.studies.errors import StudyError
    from rodsim.studies.study_schema import PlotEntry

    for columns in option or []:
        if len(columns) not in (2, 3):
            raise StudyError(f"--plot {' '.join(columns)}: give two columns or three")
    if option is None:
        return None
    return [PlotEntry(x=columns[0], y=columns[1], color=(*columns, None)[2]) for columns in option]


def converge(options: argparse.Namespace) -> int:
    """Refine mesh and step of a scene, print orders and choice, and return the exit code: rodsim converge."""
    from rodsim.studies.convergence import cheapest_scheme
    from rodsim.studies.convergence import converge as refine
    from rodsim.studies.errors import StudyError, StudyStopped

    several = options.schemes is not None
    if several and (options.plot or options.integrator):
        raise StudyError(
            "converge: --schemes has no picture and takes no --integrator; name it among the schemes, draw a picture without"
        )
    settings = {
        "error": options.error,
        "levels": options.levels,
        "t_end": options.t_end,
        "dt": options.dt,
        "folder": options.output,
        "scheduler": options.scheduler,
        "workers": options.workers,
        "progress": False if options.quiet or options.json else None,
    }
    scene: Any = read_scene_with(options.scene, options.set) if options.set else options.scene
    try:
        if several:
            chosen = cheapest_scheme(scene, options.schemes or None, options.measure, **settings)
            print(chosen.to_json() if options.json else chosen.text())
            return OK if chosen.ok else NOT_CONVERGED
        result = refine(scene, options.measure, integrator=options.integrator, **settings)
    except KeyboardInterrupt as stop:
        if options.output is None:
            return report_stop(stop, saved="nothing is saved without -o")
        return report_stop(stop, ["rodsim", *options.given], f"what was done is in {options.output}")
    except StudyStopped as error:
        print(f"rodsim: {error}", file=sys.stderr)
        return NOT_CONVERGED
    print(result.to_json() if options.json else result.text())
    if options.plot:
        path = result.plot(options.plot)
        print(f"wrote {path}", file=sys.stderr if options.json else sys.stdout)
    return OK if result.ok else NOT_CONVERGED
