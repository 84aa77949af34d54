"""Command line entry point `rodsim`: the commands, and the handling of their errors."""

from __future__ import annotations

import argparse
import atexit
import gc
import importlib
import os
import sys
from collections.abc import Mapping, Sequence

from rodsim._compat import new_command_line
from rodsim.cli.exit_codes import BAD_INPUT, OK
from rodsim.cli.messages import one_line_warnings, user_error_classes, words
from rodsim.cli.signal_handling import raise_on_sigterm, report_stop

# Module -> its commands. A module is imported if one of its commands is given; all are imported for the help. It adds its
# commands, with the function to call as `act`. These functions import what they need when they are called: the help is quick,
# and a command works if a library of another command is broken.
COMMANDS = {
    "rodsim.cli.new_command": ("new",),
    "rodsim.cli.run_command": ("run",),
    "rodsim.cli.equilibrium": ("equilibrium",),
    "rodsim.cli.modes": ("modes",),
    "rodsim.cli.rotors": ("campbell",),
    "rodsim.cli.studies": ("sweep", "converge"),
    "rodsim.cli.show": ("show", "plot", "render", "report", "view"),
    "rodsim.cli.inspection_commands": ("info", "check", "audit", "compare", "export", "recover"),
    "rodsim.cli.validation_commands": ("validate", "reproduce"),
    "rodsim.cli.setup": ("doctor", "setup", "compile", "completion", "schema"),
}

# Commands that the help lists. The others are older names that work as before: `plot`, `render`, `view` and `report` of `show`,
# `check` of `info`, `reproduce` of `validate --papers`, and `compile`, `completion` and `schema` of `setup`.
LISTED = {
    "compute:": ("new", "run", "equilibrium", "modes", "campbell", "sweep", "converge"),
    "look at results:": ("show", "info", "audit", "compare", "export", "recover"),
    "rodsim itself:": ("validate", "doctor", "setup"),
}

_EXIT_CODES = """exit codes: 0 ok, 1 `doctor` found something broken, `compile` failed, or a claim of a paper differs without a
reason, 2 bad input, 3 did not converge (the result so far is kept), 4 the audit found a law broken, or a file that
contradicts its states (`audit`, `run`), results are further apart than allowed (`compare`), a number misses its reference
(`validate`), 130 interrupted, 143 terminated (what was computed is kept)"""


class _Parser(argparse.ArgumentParser):
    """Parser whose help is one page: the listed commands in groups, without their options."""

    page = ""

    def format_help(self) -> str:
        return self.page


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands and their options, or of those in the module of one command.

    No large library is imported.
    """
    top = _Parser(prog="rodsim")
    top.add_argument("--version", action="store_true", help="print the version and stop")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=argparse.ArgumentParser)
    for module in [module for module, names in COMMANDS.items() if command in names] or COMMANDS:
        importlib.import_module(module).add_parsers(commands)
    top.page = _page({action.dest: action.help or "" for action in commands._get_subactions()})
    for subparser in commands.choices.values():
        subparser.epilog = subparser.epilog or _EXIT_CODES
    top.set_defaults(all_commands=parser)  # for `completion`
    return top


def _page(helps: Mapping[str, str]) -> str:
    """Return the help of the command itself, which fits a terminal of 24 lines by 80 columns; `helps`: command -> words."""
    lines = [
        "usage: rodsim [--help] [--version] COMMAND ...",
        "Simulate rods and rigid multibody systems with structure-preserving integrators.",
    ]
    for heading, names in LISTED.items():
        lines.append(heading)
        lines += [f"  {name:<12}{helps[name]}" for name in names if name in helps]
    lines += [
        "exit codes: 0 ok, 1 found wrong, 2 bad input, 3 not converged, 4 law broken",
        "`rodsim COMMAND --help` lists options; to begin: `rodsim new arm`",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command given by `arguments` (default: those of the process) and return the exit code."""
    if arguments is None:  # the process ends with the command: searching all objects for garbage took 0.2 s
        atexit.register(gc.freeze)
    with one_line_warnings():
        argv = new_command_line(sys.argv[1:] if arguments is None else arguments)
    top = parser(next((word for word in argv if not word.startswith("-")), None))
    try:
        options = top.parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    options.given = argv
    if options.version:
        from rodsim import __version__

        print(f"rodsim {__version__}")
        return OK
    if options.command is None:
        top.print_help()
        return BAD_INPUT
    try:
        with raise_on_sigterm(), one_line_warnings():
            code = int(options.act(options))
        _flush()
        return code
    except KeyboardInterrupt as stop:
        return report_stop(stop)
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except Exception as error:
        if not isinstance(error, user_error_classes()):
            raise
        message = words(error)
        if isinstance(error, OSError) and error.filename is None and error.errno is not None:
            try:
                _flush("\n")
            except OSError as full:  # the error was caused by printing
                message = words(full)
        print(f"rodsim: {message}", file=sys.stderr)
        return BAD_INPUT


def _flush(text: str = "") -> None:
    """Write `text` and flush standard output; raise OSError with a file name if it cannot be written."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # otherwise Python tries again at exit and prints an error of its own
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        raise OSError(error.errno, error.strerror, "standard output") from None


if __name__ == "__main__":
    sys.exit(main())
