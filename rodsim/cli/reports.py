"""Commands `rodsim report` (a result as one web page) and `rodsim view` (a result in a window)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rodsim.cli.exit_codes import OK
from rodsim.cli.files import open_result


def add_parsers(commands: Any) -> None:
    """Add the commands and their options to `commands`."""
    parser = commands.add_parser("report", help="a result as one web page that opens without a network")
    parser.add_argument("file")
    parser.add_argument("-o", "--output", help="page, .html; default: beside the result")
    parser.add_argument("--overwrite", action="store_true", help="overwrite an existing page")
    parser.set_defaults(act=report)

    parser = commands.add_parser("view", help="a result in a window, with a time slider")
    parser.add_argument("file")
    parser.add_argument(
        "--color", metavar="NAME", help="as of `rodsim render`; the key c goes through them all"
    )
    parser.add_argument("--camera", metavar="VIEW", help="as of `rodsim render`")
    parser.set_defaults(act=view)


def report(options: argparse.Namespace) -> int:
    """Write the report of a result and return the exit code: rodsim report."""
    from rigid.errors import ModelError
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
