"""Command `rodsim new`: write a commented scene from a template."""

from __future__ import annotations

import argparse
import difflib
import json
import re
import shlex
from pathlib import Path
from typing import Any

from rodsim import templates
from rodsim.cli.exit_codes import OK

ENDINGS = (".yaml", ".yml")
_WORDS = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")  # not strings in YAML


def add_parsers(commands: Any) -> None:
    """Add the command and its options to `commands`."""
    new = commands.add_parser(
        "new",
        help="write a commented scene that runs, to begin with",
        description="Write a commented scene that runs: change it from there.",
    )
    new.add_argument("name", metavar="NAME", help="of the scene: NAME.yaml is written, and never overwritten")
    new.add_argument(
        "--template", default=templates.ORDER[0], help=f"{', '.join(templates.ORDER)}; default: %(default)s"
    )
    new.set_defaults(act=new_scene)


def new_scene(options: argparse.Namespace) -> int:
    """Write a new scene from a template, print the next commands and return the exit code: rodsim new."""
    from rigid.errors import ModelError

    template, path = _template(options.template), _path(options.name)
    file, result = str(path), str(path.with_suffix(".vtkhdf"))
    text = templates.scene(template, _yaml(path.stem), file, result)
    try:
        with open(path, "x", encoding="utf-8", newline="\n") as new:
            new.write(text)
    except FileExistsError:
        raise ModelError(f"'{path}' exists; give another name, or remove it first") from None
    print(f"wrote {path}: {templates.words()[template]}\nnext:")
    for command, description in next_commands(file, result):
        print(f"  {command}  # {description}")
    return OK


def next_commands(file: str, result: str) -> list[tuple[str, str]]:
    """Return the next commands for the new scene, padded to equal length, each with a description."""
    picture, page = (shlex.quote(str(Path(result).with_suffix(ending))) for ending in (".png", ".html"))
    file, result = shlex.quote(file), shlex.quote(result)
    commands = (
        (f"rodsim run {file}", "simulate"),
        (f"rodsim show {result} -o {picture}", "a picture; .mp4 for a movie"),
        (f"rodsim show {result} --what energy", "energies, momenta"),
        (f"rodsim audit {result}", "were energy and momenta conserved?"),
        (f"rodsim show {result} -o {page}", "all of it on one web page"),
    )
    width = max(len(command) for command, _ in commands)
    return [(f"{command:<{width}}", description) for command, description in commands]


def _template(name: str) -> str:
    """Return the name of a template; raise ModelError with suggestions if there is none of this name."""
    from rigid.errors import ModelError

    if name in templates.ORDER:
        return name
    # suggest a template that begins with the name, else a similar one
    suggestions = [known for known in templates.ORDER if name and known.startswith(name.lower())]
    suggestions = suggestions or difflib.get_close_matches(name.lower(), templates.ORDER, 1, cutoff=0.5)
    hint = f"did you mean '{suggestions[0]}'?" if suggestions else "choose one of:"
    listed = "".join(f"\n  {known:<10} {description}" for known, description in templates.words().items())
    raise ModelError(f"no template '{name}'; {hint}{listed}")


def _path(name: str) -> Path:
    """Return the path of the scene file to write; raise ModelError if the name is invalid."""
    from rigid.checks import name_fault
    from rigid.errors import ModelError

    path = Path(name)
    if not path.name or name.endswith(("/", "\\")) or path.name == "..":
        raise ModelError(f"'{name}' is not a scene name; write it as 'arm' or 'arm.yaml'")
    if path.suffix and path.suffix.lower() not in ENDINGS:
        raise ModelError(f"'{name}': scenes end in .yaml; give '{path.with_suffix('.yaml')}'")
    path = path if path.suffix else path.with_name(f"{path.name}.yaml")
    fault = name_fault(path.stem) or name_fault(str(path.parent))
    if fault:
        raise ModelError(f"the name of the scene {fault}")
    if path.stem in ENDINGS:
        raise ModelError(f"'{name}' is not a scene name; write it as 'arm{path.stem}'")
    if path.parent.exists() and not path.parent.is_dir():
        raise ModelError(f"'{name}': '{path.parent}' is not a folder")
    if not path.parent.exists():
        raise ModelError(f"'{name}': there is no folder '{path.parent}'; make it first")
    return path


def _yaml(name: str) -> str:
    """Return a text for YAML, in quotes if YAML would not read it as this text otherwise."""
    plain = re.fullmatch(r"[A-Za-z][\w -]*\w|[A-Za-z]", name) and name.lower() not in _WORDS
    return name if plain else json.dumps(name, ensure_ascii=False)
