"""Commands `rodsim export`, which writes a result for other programs, and `rodsim recover`, for a run that was killed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rodsim.cli.exit_codes import OK
from rodsim.cli.files import open_result


def add_parsers(commands: Any) -> None:
    """Add the commands and their options to `commands`."""
    parser = commands.add_parser("export", help="write a result for older ParaView and other programs")
    parser.add_argument("file")
    parser.add_argument("--format", choices=["pvd", "vtu", "xdmf"], default="pvd")
    parser.add_argument("-o", "--output", help="file to write; default: beside the result")
    parser.add_argument("--every", type=int, default=1, help="every n-th output only")
    parser.set_defaults(act=export)
    parser = commands.add_parser("recover", help="make the result file of a run that was killed")
    parser.add_argument("file", help="the file that the run was to write")
    parser.set_defaults(act=recover)


def export(options: argparse.Namespace) -> int:
    """Write a result in another format and return the exit code: rodsim export."""
    from rodsim.results.export import export as write

    result = open_result(options.file)
    suffix = ".xdmf" if options.format == "xdmf" else ".pvd"
    output = Path(options.output) if options.output else Path(options.file).with_suffix(suffix)
    files = write(result, output, options.format, options.every)
    print(f"wrote {files[0]} ({len(files)} files)")
    return OK


def recover(options: argparse.Namespace) -> int:
    """Make the result file of a run that was killed from its journal and return the exit code: rodsim recover."""
    from rodsim.results.writer import recover as make_file

    result = make_file(options.file)
    print(f"wrote {result.path} ({result.n_outputs} outputs)")
    return OK
