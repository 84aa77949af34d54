"""Commands `rodsim doctor` (check the installation) and `rodsim setup` (prepare it: kernels, shell, editor).

`rodsim compile` and `rodsim completion` are older names of `rodsim setup compile` and `rodsim setup completion`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rodsim.cli import schema_command
from rodsim.cli.exit_codes import BAD_INPUT, OK, PROBLEM_FOUND
from rodsim.compiling.families import FAMILIES as FAMILIES_OF_KERNELS

SHELLS = ("bash", "zsh", "tcsh")
# Destinations (`dest`) of arguments that are files, and (command, `dest`) of those that are folders.
FILES = ("scene", "file", "a", "b", "plot", "output", "study", "imported", "snapshot", "diagrams")
FOLDERS = {("audit", "output"), ("reproduce", "output"), ("validate", "output")}


def add_parsers(commands: Any) -> None:
    """Add the commands and their options to `commands`."""
    parser = commands.add_parser(
        "doctor",
        help="what is installed, which drivers work, the time of a small run",
        description="Looks at the program, its packages and extras, the cache of compiled kernels, OpenGL, a screen for "
        "windows, ffmpeg, and times a small run. Exit code 1 where something is broken.",
    )
    parser.add_argument("--quick", action="store_true", help="without the run, the pictures and the movies")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(act=doctor)

    setup = commands.add_parser(
        "setup",
        help="compile kernels ahead, complete in the shell, schema for editors",
        description="Prepare the installation: compile kernels ahead, complete commands in the shell, check scenes in an "
        "editor.",
    )
    parts = setup.add_subparsers(dest="part", metavar="PART")
    setup.set_defaults(act=lambda options: _print_help(setup))
    for group in (parts, commands):
        _add_compile(group)
        _add_completion(group)
        schema_command.add_parsers(group)


def _print_help(parser: argparse.ArgumentParser) -> int:
    """Print the help of a command that was given without its part, and return the exit code."""
    parser.print_help()
    return BAD_INPUT


def _add_compile(commands: Any) -> None:
    """Add the command `compile`."""
    parser = commands.add_parser(
        "compile",
        help="compile the kernels ahead, on all cores",
        description="Compile the kernels of this version and cache them, so that the first run of each kind does not wait "
        "for the compiler. Kernels that are cached already are not compiled again. Exit code 1 if a family fails or nothing "
        "can be cached.",
    )
    parser.add_argument(
        "families", nargs="*", metavar="FAMILY", help=f"{', '.join(FAMILIES_OF_KERNELS)}; default: all"
    )
    parser.add_argument("--processes", type=int, metavar="N", help="how many at once; default: the cores")
    parser.add_argument("--quiet", action="store_true", help="no progress line")
    parser.set_defaults(act=compile_kernels)


def _add_completion(commands: Any) -> None:
    """Add the command `completion`."""
    parser = commands.add_parser(
        "completion",
        help="completion of commands, options and files in the shell",
        description="Print a script that completes commands, options, files and names.",
        epilog="for bash, once:   rodsim completion bash > ~/.local/share/bash-completion/completions/rodsim\n"
        "for zsh, once:    rodsim completion zsh > ~/.zfunc/_rodsim    (with ~/.zfunc in fpath before compinit)\n"
        "for tcsh, once:   rodsim completion tcsh > ~/.rodsim.tcsh; echo 'source ~/.rodsim.tcsh' >> ~/.tcshrc",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(act=completion)


def doctor(options: argparse.Namespace) -> int:
    """Examine the installation, print the findings and return the exit code: rodsim doctor."""
    from rodsim.doctor.findings import BROKEN
    from rodsim.doctor.health_checks import examine

    findings = []
    for finding in examine(options.quick):
        findings.append(finding)
        if not options.json:
            print("\n".join(finding.lines(15)), flush=True)  # printed one by one: some take a while
    broken = [finding.name for finding in findings if finding.state == BROKEN]
    if options.json:
        print(json.dumps({"ok": not broken, "findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        print(f"broken: {', '.join(broken)}" if broken else "nothing is broken")
    return PROBLEM_FOUND if broken else OK


def compile_kernels(options: argparse.Namespace) -> int:
    """Compile the kernels, print how many families and where, and return the exit code: rodsim compile."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        print("rodsim: NUMBA_DISABLE_JIT is set, so nothing is compiled; unset it", file=sys.stderr)
        return PROBLEM_FOUND
    from rigid.compilation.cache_folder import report_not_cached
    from rodsim.compiling.ahead_of_time import compile_ahead

    result = compile_ahead(options.families or None, options.processes, False if options.quiet else None)
    for outcome in result.failed:
        print(f"rodsim: family '{outcome.family}' is not compiled: {outcome.fault}", file=sys.stderr)
    if result.not_cached_reason:
        report_not_cached(result.not_cached_reason)
        return PROBLEM_FOUND
    compiled = [outcome for outcome in result.outcomes if outcome.kernels and not outcome.fault]
    before = len(result.outcomes) - len(compiled) - len(result.failed)
    remaining = [f"{before} compiled before"] if before else []
    remaining += [f"{len(result.failed)} failed"] if result.failed else []
    suffix = f" ({', '.join(remaining)})" if remaining else ""
    print(
        f"compiled {len(compiled)} of {len(result.outcomes)} families in {result.seconds:.0f} s{suffix}; "
        f"the code is in {result.folder}"
    )
    return PROBLEM_FOUND if result.failed else OK


def completion(options: argparse.Namespace) -> int:
    """Print the completion script and return the exit code: rodsim completion."""
    from rodsim.extras import extra

    shtab = extra("shtab", "shell", "completion")
    top, names = options.all_commands(), _names()
    for command, action in _arguments(top):
        known = names.get(f"{command} {action.dest}", names.get(action.dest))
        if known:  # choices for completion only: commands check values themselves, with better messages
            action.choices = known
        elif (command, action.dest) in FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.dest in FILES and action.choices is None and action.type is None:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(top, shell=options.shell))
    return 0


def _arguments(top: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """Yield every argument of every command, also those of its parts, with the name of the command."""
    for group in top._subparsers._group_actions if top._subparsers else []:
        for command, parser in dict(group.choices or {}).items():
            yield from ((command, action) for action in parser._actions)
            yield from _arguments(parser)


def _names() -> dict[str, list[str]]:
    """Return the known values by destination of the argument, with the command if the destination is ambiguous."""
    from discretization.time.em_family import EM_FAMILY
    from discretization.time.families import FAMILIES
    from discretization.time.mechanical_stepper import CHARTS
    from rodsim import templates
    from rodsim.results.camera import VIEWS
    from rodsim.results.color_fields import FIELDS
    from rodsim.validation.registry import CASES

    return {
        "template": list(templates.ORDER),
        "integrator": [*EM_FAMILY, *FAMILIES],
        "chart": list(CHARTS),
        "camera": list(VIEWS),
        "color": list(FIELDS),
        "validate names": list(CASES),
        "compile families": list(FAMILIES_OF_KERNELS),
    }
