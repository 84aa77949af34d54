"""rodsim report: a result as one web page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    """The command and its options."""
    report = commands.add_parser("report", help="a result as one web page that opens without a network")
    report.add_argument("file")
    report.add_argument("-o", "--output", help="page, .html; default: beside the result")
    report.add_argument("--force", action="store_true", help="overwrite an existing page")


def report(options: argparse.Namespace) -> int:
    """rodsim report"""
    from rigid.errors import ModelError
    from rodsim.reporting import report as write
    from rodsim.results.result import Result

    if Path(options.file).suffix.lower() in (".yaml", ".yml"):
        raise ModelError(
            f"'{options.file}' is a scene, not a result; run it first: rodsim run {options.file}"
        )
    output = Path(options.output) if options.output else Path(options.file).with_suffix(".html")
    result = Result.open(options.file)
    if output.exists() and not options.force:
        raise ModelError(f"'{output}' exists; --force overwrites it, -o names another file")
    write(result, output)
    print(f"wrote {output} ({output.stat().st_size / 1e6:.1f} MB)")
    return 0
