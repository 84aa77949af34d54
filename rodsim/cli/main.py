"""The `rodsim` command. Exit codes: 0 ok, 2 bad input, 3 did not converge (what was computed is kept), 4 the audit found
a broken law, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from rodsim.cli import completion, doctor, modes, reports, starting, studies

OK, BAD_INPUT, NOT_CONVERGED, INTERRUPTED = 0, 2, 3, 130

_EPILOG = """exit codes: 0 ok, 1 a claim of `reproduce` differs without a reason, or `doctor` found something broken, 2 bad input,
3 did not converge (the result so far is kept), 4 the audit found a law broken, or a file that
contradicts its states (`audit`, `run`), results are further apart than allowed (`compare`), a number misses
its reference (`validate`), 130 interrupted

examples:
  rodsim new arm --template soft-arm    write arm.yaml, a scene to begin with
  rodsim run scene.yaml                 simulate, write scene.vtkhdf (open it in ParaView 5.12 or later)
  rodsim audit scene.vtkhdf             were energy and momentum kept?
  rodsim render scene.vtkhdf -o a.mp4   make a movie"""


def parser() -> argparse.ArgumentParser:
    """All commands and their options; imports nothing heavy."""
    top = argparse.ArgumentParser(
        prog="rodsim",
        description="Simulate rods and rigid multibody systems with structure-preserving integrators.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="store_true", help="print the version and stop")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")

    starting.add_parser(commands)
    run = commands.add_parser("run", help="simulate a scene")
    run.add_argument("scene", help="scene file, YAML")
    run.add_argument("-o", "--output", help="result file; default: the scene's name with .vtkhdf")
    run.add_argument("--t-end", type=float, help="s, instead of the scene's")
    run.add_argument("--dt", type=float, help="s, instead of the scene's")
    run.add_argument(
        "--integrator",
        help="em, em4, em6, em-ggl, em4-ggl, em6-ggl, em-d(0.8), EML, mG(3) ..., instead of the scene's",
    )
    run.add_argument("--chart", help="quaternion, quaternion-alpha, quaternion-gamma, director; not for em")
    run.add_argument(
        "--output-every",
        type=int,
        help="steps between outputs, instead of the scene's; where neither says, about 500 outputs are stored",
    )
    run.add_argument(
        "--tolerance",
        type=float,
        help="of the equations of a step, relative: fewer iterations, invariants to that part; 0: round-off",
    )
    run.add_argument("--resume", action="store_true", help="go on where the result file stops")
    run.add_argument("--force", action="store_true", help="overwrite an existing result")
    run.add_argument("--quiet", action="store_true", help="no progress line, no audit")

    modes.add_parser(commands)
    studies.add_parsers(commands)
    reports.add_parser(commands)
    static = commands.add_parser("static", help="the equilibrium of a scene under its loads")
    static.add_argument("scene", help="scene file, YAML")
    static.add_argument("-o", "--output", help="result file; default: the scene's name with .vtkhdf")
    static.add_argument("--method", choices=["newton", "arc-length"], help="instead of the scene's")
    static.add_argument("--force", action="store_true", help="overwrite an existing result")
    static.add_argument("--quiet", action="store_true", help="no events, no audit")

    check = commands.add_parser("check", help="check a scene without running it")
    check.add_argument("scene")

    info = commands.add_parser("info", help="what is in a scene or a result")
    info.add_argument("file")
    info.add_argument("--json", action="store_true", help="for programs")

    audit = commands.add_parser("audit", help="energies, momenta, constraints of a result: were they kept?")
    audit.add_argument("file")
    audit.add_argument("--json", action="store_true", help="for programs")
    audit.add_argument(
        "--local",
        action="store_true",
        help="instead: what the local laws of energy and momenta leave along the rods, from output to output",
    )
    audit.add_argument("-o", "--output", help="with --local: folder for pictures; default: none are drawn")

    export = commands.add_parser("export", help="write a result for older ParaView and other programs")
    export.add_argument("file")
    export.add_argument("--format", choices=["pvd", "vtu", "xdmf"], default="pvd")
    export.add_argument("-o", "--output", help="file to write; default: beside the result")
    export.add_argument("--every", type=int, default=1, help="every n-th output only")

    plot = commands.add_parser("plot", help="energies, momenta, residuals, paths over time")
    plot.add_argument("file")
    plot.add_argument(
        "-o", "--output", help="picture (.png, .pdf, .svg); default: NAME-WHAT.png beside the result"
    )
    plot.add_argument(
        "--what",
        default="overview",
        choices=["overview", "energy", "balance", "momentum", "residuals", "newton", "path", "load"],
    )
    plot.add_argument("--points", nargs="+", help="for path: bodies, rods, or rod:node")

    render = commands.add_parser("render", help="picture or movie of a result")
    render.add_argument("file")
    render.add_argument("-o", "--output", help=".png, .mp4 or .gif; default: NAME.png beside the result")
    render.add_argument("--time", type=float, nargs="+", help="s; several are drawn over each other")
    render.add_argument("--speed", type=float, help="of a movie: seconds of the run in a second; default: 1")

    render.add_argument(
        "--color", metavar="NAME", help="speed, strain, curvature, force, moment, or K2, N1 ..."
    )
    render.add_argument(
        "--camera",
        metavar="VIEW",
        help="iso, front, side, top, or azimuth/elevation in degrees, as --camera=-30/20; default: sees most",
    )

    compare = commands.add_parser(
        "compare",
        help="how far two runs are apart: other stiffness, integrator, step or mesh, rigid or flexible",
    )
    compare.add_argument("a", metavar="A", help="result or scene; scenes are run first")
    compare.add_argument(
        "b", metavar="B", nargs="?", help="the same; default: scene A with the options below"
    )
    compare.add_argument("--rigid", action="store_true", help="run B with rigid bodies for its rods")
    compare.add_argument("--integrator", help="run B with this one")
    compare.add_argument("--dt", type=float, help="s, run B with this step")
    compare.add_argument(
        "--points",
        nargs="+",
        metavar="POINT",
        help="block, block@0.1,0,0, rod@0.5, or with two names 'bar 9@0.1,0,0=rod@1'; default: all of the same name",
    )
    compare.add_argument("--plot", metavar="FILE", help="picture (.png, .pdf, .svg)")
    compare.add_argument("-o", "--output", metavar="FILE", help="table (.csv, .json, .txt)")
    compare.add_argument("--json", action="store_true", help="print the table for programs")
    compare.add_argument(
        "--within",
        type=float,
        metavar="TOL",
        help="exit code 4 unless all points stay together to this part of their ways, and turns to so many rad",
    )

    reproduce = commands.add_parser(
        "reproduce", help="published examples: what papers claim, what is measured"
    )
    reproduce.add_argument(
        "names", nargs="*", metavar="NAME", help="studies to run; without a name they are listed"
    )
    reproduce.add_argument("--all", action="store_true", help="run all of them")
    reproduce.add_argument("-o", "--output", help="folder for pictures; default: none are drawn")

    validate = commands.add_parser(
        "validate", help="exact and published numbers beside what is found for them"
    )
    validate.add_argument("names", nargs="*", metavar="CASE", help="cases to run; default: all")
    validate.add_argument("--list", action="store_true", help="list the cases and run none")
    validate.add_argument("-o", "--output", metavar="DIR", help="folder for the table as HTML and text")

    commands.add_parser("schema", help="JSON schema of scenes")
    doctor.add_parser(commands)
    completion.add_parser(commands, top)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    top = parser()
    try:
        options = top.parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    if options.version:
        from rodsim import __version__

        print(f"rodsim {__version__}")
        return OK
    if options.command is None:
        top.print_help()
        return BAD_INPUT
    try:
        code = int(_function(options)(options))
        _flush()
        return code
    except KeyboardInterrupt:
        print("rodsim: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except Exception as error:
        from rodsim.cli import commands

        if not isinstance(error, commands.USER_ERRORS):
            raise
        said = commands.words(error)
        if isinstance(error, OSError) and error.filename is None and error.errno is not None:
            try:
                _flush("\n")
            except OSError as full:  # it was the printing that failed
                said = commands.words(full)
        print(f"rodsim: {said}", file=sys.stderr)
        return BAD_INPUT


def _function(options: argparse.Namespace) -> Callable[[argparse.Namespace], int]:
    """What does the command: its parser may say so itself, for commands that work where a library does not."""
    if "act" in options:
        act: Callable[[argparse.Namespace], int] = options.act
        return act
    from rodsim.cli import commands

    return commands.COMMANDS[options.command]


def _flush(more: str = "") -> None:
    """Write out what was printed, and `more`; OSError, with a name, where the output is full."""
    try:
        sys.stdout.write(more)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # or Python tries again at the end, and says so in its own words
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        raise OSError(error.errno, error.strerror, "standard output") from None


if __name__ == "__main__":
    sys.exit(main())
