"""rodsim report: a result as one web page; rodsim view: in a window."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rodsim.results.result import Result


def add_parser(commands: Any) -> None:
    """The commands and their options."""
    report = commands.add_parser("report", help="a result as one web page that opens without a network")
    report.add_argument("file")
    report.add_argument("-o", "--output", help="page, .html; default: beside the result")
    report.add_argument("--force", action="store_true", help="overwrite an existing page")

    view = commands.add_parser("view", help="a result in a window, with a time slider")
    view.add_argument("file")
    view.add_argument(
        "--color", metavar="NAME", help="as of `rodsim render`; the key c goes through them all"
    )
    view.add_argument("--camera", metavar="VIEW", help="as of `rodsim render`")


def report(options: argparse.Namespace) -> int:
    """rodsim report"""
    from rigid.errors import ModelError
    from rodsim.reporting import report as write

    output = Path(options.output) if options.output else Path(options.file).with_suffix(".html")
    result = _open(options.file)
    if output.exists() and not options.force:
        raise ModelError(f"'{output}' exists; --force overwrites it, -o names another file")
    write(result, output)
    print(f"wrote {output} ({output.stat().st_size / 1e6:.1f} MB)")
    return 0


def view(options: argparse.Namespace) -> int:
    """rodsim view"""
    from rodsim.results.viewer import view as show

    show(_open(options.file), options.color, options.camera)
    return 0


def _open(file: str) -> Result:
    from rigid.errors import ModelError
    from rodsim.results.result import Result

    if Path(file).suffix.lower() in (".yaml", ".yml"):
        raise ModelError(f"'{file}' is a scene, not a result; run it first: rodsim run {file}")
    return Result.open(file)
