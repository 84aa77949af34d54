"""Commands `rodsim plot` (curves of a result) and `rodsim render` (pictures and movies of its motion)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rigid.errors import ModelError
from rodsim.cli.exit_codes import OK
from rodsim.cli.files import open_result


def add_parsers(commands: Any) -> None:
    """Add the commands and their options to `commands`."""
    _add_plot(commands)
    _add_render(commands)


def _add_plot(commands: Any) -> None:
    """Add the command `plot`."""
    parser = commands.add_parser("plot", help="energies, momenta, residuals, paths over time")
    parser.add_argument("file")
    parser.add_argument(
        "-o", "--output", help="picture (.png, .pdf, .svg); default: NAME-WHAT.png beside the result"
    )
    parser.add_argument(
        "--what",
        default="overview",
        choices=[
            "overview",
            "energy",
            "balance",
            "momentum",
            "residuals",
            "newton",
            "path",
            "load",
            "contacts",
            "distance",
        ],
    )
    parser.add_argument(
        "--points",
        nargs="+",
        help="for path: bodies, rods, or rod:node; for distance: two surfaces or points",
    )
    parser.set_defaults(act=plot)


def _add_render(commands: Any) -> None:
    """Add the command `render`."""
    parser = commands.add_parser("render", help="picture or movie of a result")
    parser.add_argument("file")
    parser.add_argument("-o", "--output", help=".png, .mp4 or .gif; default: NAME.png beside the result")
    parser.add_argument("--time", type=float, nargs="+", help="s; several are drawn over each other")
    parser.add_argument("--speed", type=float, help="of a movie: seconds of the run in a second; default: 1")
    parser.add_argument(
        "--color",
        metavar="NAME",
        help="speed, strain, curvature, force, moment, contact, pressure, or K2, N1 ...",
    )
    parser.add_argument(
        "--camera",
        metavar="VIEW",
        help="iso, front, side, top, or azimuth/elevation in degrees, as --camera=-30/20; default: sees most",
    )
    parser.set_defaults(act=render)


def plot(options: argparse.Namespace) -> int:
    """Draw curves of a result and return the exit code: rodsim plot."""
    from rodsim.results.plot import plot as draw

    result = open_result(options.file)
    output = Path(options.output) if options.output else _beside(options.file, f"-{options.what}.png")
    draw(result, options.what, output, options.points)
    print(f"wrote {output}")
    return OK


def _beside(result: str, ending: str) -> Path:
    """Return the path in the folder of the result with its name and another ending."""
    path = Path(result)
    return path.with_name(path.stem + ending)


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
            raise ModelError("--speed is for a movie; end -o in .mp4 or .gif, or leave it out")
        draw(result, output, options.time, view=options.camera, color=options.color)
        print(f"wrote {output}")
    return OK
