"""Command `rodsim show`: a result as curves, picture, movie, web page or in a window.

The options decide which. `rodsim plot`, `render`, `report` and `view` are older names of one kind each.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rigid.errors import ModelError
from rodsim.cli.exit_codes import OK
from rodsim.cli.files import open_result

# Options besides the output, with their arguments for argparse.
OPTIONS: dict[str, dict[str, Any]] = {
    "what": {
        "choices": (
            *("overview", "energy", "balance", "momentum", "residuals", "newton", "path", "load"),
            *("contacts", "distance"),
        ),
        "help": "curves over time; default: overview",
    },
    "points": {
        "nargs": "+",
        "help": "for path: bodies, rods, or rod:node; for distance: two surfaces or points",
    },
    "time": {"type": float, "nargs": "+", "help": "s; several are drawn over each other"},
    "speed": {"type": float, "help": "of a movie: seconds of the run in a second; default: 1"},
    "color": {
        "metavar": "NAME",
        "help": "speed, strain, curvature, force, moment, contact, pressure, or K2, N1 ...; in a window the key c goes through "
        "them all",
    },
    "camera": {
        "metavar": "VIEW",
        "help": "iso, front, side, top, or azimuth/elevation in degrees, as --camera=-30/20; default: sees most",
    },
    "overwrite": {"action": "store_true", "help": "overwrite an existing page"},
}


class DisplayKind(NamedTuple):
    """A way to show a result.

    Attributes
    ----------
    name : str
        What the result is shown as, for messages.
    help, output : str
        Help of the older command, and of its option -o; "" if it has none.
    options : tuple of str
        Options that it takes.
    act : callable
        Shows the result and returns the exit code.
    """

    name: str
    help: str
    output: str
    options: tuple[str, ...]
    act: Callable[[argparse.Namespace], int]


def plot(options: argparse.Namespace) -> int:
    """Draw curves of a result and return the exit code: rodsim plot."""
    from rodsim.results.plot import plot as draw

    what, path = options.what or "overview", Path(options.file)
    result = open_result(options.file)
    output = Path(options.output) if options.output else path.with_name(f"{path.stem}-{what}.png")
    draw(result, what, output, options.points)
    print(f"wrote {output}")
    return OK


def render(options: argparse.Namespace) -> int:
    """Draw a picture or movie of a result and return the exit code: rodsim render."""
    from rodsim.results.render import render as draw
    from rodsim.results.render import render_movie

    result = open_result(options.file)
    output = Path(options.output) if options.output else Path(options.file).with_suffix(".png")
    if output.suffix.lower() in (".mp4", ".gif"):
        if options.time is not None:
            raise ModelError("--time picks the times of a still picture; a movie shows all, see --speed")
        speed = 1.0 if options.speed is None else options.speed
        frames = render_movie(result, output, speed=speed, view=options.camera, color=options.color)
        print(f"wrote {output} ({frames} frames)")
    else:
        if options.speed is not None:
            raise ModelError("--speed is for a movie; end -o in .mp4 or .gif, or remove --speed")
        draw(result, output, options.time, view=options.camera, color=options.color)
        print(f"wrote {output}")
    return OK


def report(options: argparse.Namespace) -> int:
    """Write the report of a result and return the exit code: rodsim report."""
    from rodsim.reporting import report as write

    output = Path(options.output) if options.output else Path(options.file).with_suffix(".html")
    result = open_result(options.file)
    if output.exists() and not options.overwrite:
        raise ModelError(f"'{output}' exists; --overwrite overwrites it, -o names another file")
    write(result, output)
    print(f"wrote {output} ({output.stat().st_size / 1e6:.1f} MB)")
    return OK


def view(options: argparse.Namespace) -> int:
    """Show a result in a window and return the exit code: rodsim view."""
    from rodsim.results.viewer import view as show

    show(open_result(options.file), options.color, options.camera)
    return OK


KINDS = {
    "plot": DisplayKind(
        "curves",
        "energies, momenta, residuals, paths over time",
        "picture (.png, .pdf, .svg); default: NAME-WHAT.png next to the result",
        ("what", "points"),
        plot,
    ),
    "render": DisplayKind(
        "a picture or movie",
        "picture or movie of a result",
        ".png, .mp4 or .gif; default: NAME.png next to the result",
        ("time", "speed", "color", "camera"),
        render,
    ),
    "report": DisplayKind(
        "a web page",
        "a result as one web page that opens without a network",
        "page, .html; default: next to the result",
        ("overwrite",),
        report,
    ),
    "view": DisplayKind(
        "a window", "a result in a window, with a time slider", "", ("color", "camera"), view
    ),
}
_BY_ENDING = {".html": "report", ".htm": "report", ".pdf": "plot", ".svg": "plot"}


def add_parsers(commands: Any) -> None:
    """Add the commands and their options to `commands`."""
    parser = commands.add_parser(
        "show",
        help="a result as curves, picture, movie, web page or in a window",
        description="Show a result. Without -o and --what it opens in a window with a time slider.",
    )
    output = ".png: picture; .mp4, .gif: movie; .html: web page; with --what curves: .png, .pdf, .svg"
    _add_options(parser, output, tuple(OPTIONS))
    parser.set_defaults(act=show)
    for name, kind in KINDS.items():
        parser = commands.add_parser(name, help=kind.help)
        _add_options(parser, kind.output, kind.options)
        parser.set_defaults(act=kind.act)


def _add_options(parser: argparse.ArgumentParser, output: str, names: tuple[str, ...]) -> None:
    """Add the file, the option -o with the help `output` unless that is empty, and the named options."""
    parser.add_argument("file")
    if output:
        parser.add_argument("-o", "--output", help=output)
    for name in names:
        parser.add_argument(f"--{name}", **OPTIONS[name])


def show(options: argparse.Namespace) -> int:
    """Show a result as the options say and return the exit code: rodsim show."""
    kind = KINDS[_kind(options)]
    for name in OPTIONS:
        if name not in kind.options and getattr(options, name) not in (None, False):
            raise ModelError(f"show: --{name} does not belong to {kind.name}. Remove it.")
    return kind.act(options)


def _kind(options: argparse.Namespace) -> str:
    """Return how to show the result: as curves if --what or --points is given, else by the ending of the output."""
    if options.what is not None or options.points is not None:
        return "plot"
    if options.output is None:
        # a picture or a movie needs no window, and gets its usual name
        return "view" if options.time is None and options.speed is None else "render"
    return _BY_ENDING.get(Path(options.output).suffix.lower(), "render")
