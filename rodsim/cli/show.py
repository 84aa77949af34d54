"""Command `rodsim show`: a result as curves, picture, movie, web page or in a window.

The options decide which; `rodsim plot`, `render`, `report` and `view` are older names of one kind each.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rigid.errors import ModelError
from rodsim.cli import picture_commands, reports

KINDS_OF_CURVES = (
    "overview", "energy", "balance", "momentum", "residuals", "newton", "path", "load", "contacts", "distance"
)  # fmt: skip


class _Kind(NamedTuple):
    """A way to show a result: what it is called, the options that it takes, and the function that does it."""

    name: str
    options: tuple[str, ...]
    act: Callable[[argparse.Namespace], int]


_CURVES = _Kind("curves", ("output", "what", "points"), picture_commands.plot)
_PICTURE = _Kind(
    "a picture or movie", ("output", "time", "speed", "color", "camera"), picture_commands.render
)
_PAGE = _Kind("a web page", ("output", "overwrite"), reports.report)
_WINDOW = _Kind("a window", ("color", "camera"), reports.view)
_BY_ENDING = {
    **dict.fromkeys((".html", ".htm"), _PAGE),
    **dict.fromkeys((".pdf", ".svg"), _CURVES),
    **dict.fromkeys((".png", ".mp4", ".gif"), _PICTURE),
}


def add_parsers(commands: Any) -> None:
    """Add the command and its options to `commands`."""
    parser = commands.add_parser(
        "show",
        help="a result as curves, picture, movie, web page or in a window",
        description="Show a result. Without -o and --what it opens in a window with a time slider.",
    )
    parser.add_argument("file")
    parser.add_argument(
        "-o",
        "--output",
        help=".png: picture; .mp4, .gif: movie; .html: web page; with --what curves: .png, .pdf, .svg",
    )
    parser.add_argument("--what", choices=KINDS_OF_CURVES, help="curves over time")
    parser.add_argument("--points", nargs="+", help="of curves of paths and distances, as of `rodsim plot`")
    parser.add_argument(
        "--time", type=float, nargs="+", help="s, of pictures; several are drawn over each other"
    )
    parser.add_argument("--speed", type=float, help="of a movie: seconds of the run in a second; default: 1")
    parser.add_argument(
        "--color", metavar="NAME", help="of pictures, movies and windows: as of `rodsim render`"
    )
    parser.add_argument(
        "--camera", metavar="VIEW", help="of pictures, movies and windows: as of `rodsim render`"
    )
    parser.add_argument("--overwrite", action="store_true", help="overwrite an existing web page")
    parser.set_defaults(act=show)


def show(options: argparse.Namespace) -> int:
    """Show a result as the options say and return the exit code: rodsim show."""
    kind = _kind(options)
    for name in ("what", "points", "time", "speed", "color", "camera", "overwrite"):
        if name not in kind.options and getattr(options, name) not in (None, False):
            raise ModelError(f"show: --{name} does not belong to {kind.name}. Leave it out.")
    options.what = options.what or "overview"
    return kind.act(options)


def _kind(options: argparse.Namespace) -> _Kind:
    """Return how to show the result: as curves if --what or --points is given, else by the ending of the output."""
    if options.what is not None or options.points is not None:
        return _CURVES
    if options.output is None:
        # a still picture or a movie needs no window, and gets its usual name
        return _WINDOW if options.time is None and options.speed is None else _PICTURE
    return _BY_ENDING.get(Path(options.output).suffix.lower(), _PICTURE)
