"""Command line entry point `rodsim`: the commands, and the handling of their errors."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from rodsim.cli import (
    comparing,
    compiling,
    completion,
    doctor,
    equilibrium,
    examining,
    exporting,
    modes,
    picture_commands,
    reports,
    run_command,
    schema_command,
    starting,
    studies,
)
from rodsim.cli import reproducing as references
from rodsim.cli.exit_codes import BAD_INPUT, OK
from rodsim.cli.stopping import stopped, terminable
from rodsim.cli.warning_lines import short_warnings
from rodsim.old_names import new_command_line

# In the order in which the help lists them. Each module adds its commands, with the function to call as `act`. These functions
# import what they need when they are called: the help is quick, and a command works if a library of another command is broken.
COMMANDS = (
    starting,
    run_command,
    modes,
    studies,
    reports,
    equilibrium,
    examining,
    exporting,
    picture_commands,
    comparing,
    references,
    schema_command,
    doctor,
    compiling,
    completion,
)

_EPILOG = """exit codes: 0 ok, 1 a claim of `reproduce` differs without a reason, `doctor` found something broken, or
`compile` failed, 2 bad input, 3 did not converge (the result so far is kept), 4 the audit found a law broken,
or a file that contradicts its states (`audit`, `run`), results are further apart than allowed (`compare`), a
number misses its reference (`validate`), 130 interrupted, 143 terminated (what was computed is kept)

examples:
  rodsim new arm --template soft-arm    write arm.yaml, a scene to begin with
  rodsim run scene.yaml                 simulate, write scene.vtkhdf (open it in ParaView 5.12 or later)
  rodsim audit scene.vtkhdf             were energy and momentum kept?
  rodsim render scene.vtkhdf -o a.mp4   make a movie"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands and their options; imports no large library."""
    top = argparse.ArgumentParser(
        prog="rodsim",
        description="Simulate rods and rigid multibody systems with structure-preserving integrators.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="store_true", help="print the version and stop")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    for module in COMMANDS:
        module.add_parsers(commands)
    top.set_defaults(top=top)  # `completion` completes all commands
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command given by `arguments` (default: those of the process) and return the exit code."""
    top = parser()
    with short_warnings():
        given = new_command_line(sys.argv[1:] if arguments is None else arguments)
    try:
        options = top.parse_args(given)
    except SystemExit as stop:
        return int(stop.code or 0)
    options.given = given
    if options.version:
        from rodsim import __version__

        print(f"rodsim {__version__}")
        return OK
    if options.command is None:
        top.print_help()
        return BAD_INPUT
    try:
        with terminable(), short_warnings():
            code = int(options.act(options))
        _flush()
        return code
    except KeyboardInterrupt as stop:
        return stopped(stop)
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except Exception as error:
        from rodsim.cli.errors import USER_ERRORS, words

        if not isinstance(error, USER_ERRORS):
            raise
        said = words(error)
        if isinstance(error, OSError) and error.filename is None and error.errno is not None:
            try:
                _flush("\n")
            except OSError as full:  # the error was caused by printing
                said = words(full)
        print(f"rodsim: {said}", file=sys.stderr)
        return BAD_INPUT


def _flush(more: str = "") -> None:
    """Write `more` and flush standard output; raise OSError with a file name if it cannot be written."""
    try:
        sys.stdout.write(more)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # otherwise Python tries again at exit and prints an error of its own
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        raise OSError(error.errno, error.strerror, "standard output") from None


if __name__ == "__main__":
    sys.exit(main())
