"""rodsim completion: a script by which the shell completes commands, options, files and names."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

SHELLS = ("bash", "zsh", "tcsh")
# Arguments that name files and folders, by where their values are kept.
FILES = ("scene", "file", "a", "b", "plot", "output", "study", "imported")
FOLDERS = {("audit", "output"), ("reproduce", "output"), ("validate", "output")}


def add_parsers(commands: Any) -> None:
    """The command and its options."""
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
    """rodsim completion"""
    import shtab

    names = _names()
    for command, action in _arguments(options.top):
        known = names.get(f"{command} {action.dest}", names.get(action.dest))
        if known:  # only here: what is allowed is checked where it is used, with better words
            action.choices = known
        elif (command, action.dest) in FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.dest in FILES and action.choices is None and action.type is None:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(options.top, shell=options.shell))
    return 0


def _arguments(top: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """Every argument of every command, with the command's name."""
    for group in top._subparsers._group_actions if top._subparsers else []:
        for command, parser in dict(group.choices or {}).items():
            yield from ((command, action) for action in parser._actions)


def _names() -> dict[str, list[str]]:
    """What may be given where it is no file, by where it is kept; with its command where the same word means other things."""
    from discretization.time.em_names import KIN
    from discretization.time.families import FAMILIES
    from discretization.time.mechanical_stepper import CHARTS
    from rodsim import templates
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
    }
