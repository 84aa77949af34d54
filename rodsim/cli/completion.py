"""Command `rodsim completion`: print a script with which the shell completes commands, options, files and names."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

SHELLS = ("bash", "zsh", "tcsh")
# Destinations (`dest`) of arguments that are files, and (command, `dest`) of those that are folders.
FILES = ("scene", "file", "a", "b", "plot", "output", "study", "imported")
FOLDERS = {("audit", "output"), ("reproduce", "output"), ("validate", "output")}


def add_parsers(commands: Any) -> None:
    """Add the command and its options to `commands`."""
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


def completion(options: argparse.Namespace) -> int:
    """Print the completion script and return the exit code: rodsim completion."""
    import shtab

    names = _names()
    for command, action in _arguments(options.top):
        known = names.get(f"{command} {action.dest}", names.get(action.dest))
        if known:  # choices for completion only: commands check values themselves, with better messages
            action.choices = known
        elif (command, action.dest) in FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.dest in FILES and action.choices is None and action.type is None:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(options.top, shell=options.shell))
    return 0


def _arguments(top: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """Yield every argument of every command, with the name of the command."""
    for group in top._subparsers._group_actions if top._subparsers else []:
        for command, parser in dict(group.choices or {}).items():
            yield from ((command, action) for action in parser._actions)


def _names() -> dict[str, list[str]]:
    """Return the known values by destination of the argument, with the command if the destination is ambiguous."""
    from discretization.time.em_names import KIN
    from discretization.time.families import FAMILIES
    from discretization.time.mechanical_stepper import CHARTS
    from rodsim import templates
    from rodsim.compiling.families import FAMILIES as FAMILIES_OF_KERNELS
    from rodsim.results.camera import VIEWS
    from rodsim.results.fields import FIELDS
    from rodsim.validation.registry import CASES

    return {
        "template": list(templates.ORDER),
        "integrator": [*KIN, *FAMILIES],
        "chart": list(CHARTS),
        "camera": list(VIEWS),
        "color": list(FIELDS),
        "validate names": list(CASES),
        "compile families": list(FAMILIES_OF_KERNELS),
    }
