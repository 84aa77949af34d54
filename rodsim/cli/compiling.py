"""Command `rodsim compile`: compile the kernels before they are needed."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from rodsim.cli.exit_codes import FOUND_WRONG, OK
from rodsim.compiling.families import FAMILIES


def add_parsers(commands: Any) -> None:
    """Add the command and its options to `commands`."""
    parser = commands.add_parser(
        "compile",
        help="compile the kernels ahead, on all cores",
        description="Compile the kernels of this version and keep them, so that the first run of each kind does not wait "
        "for the compiler. Kernels that are kept already are not compiled again. Exit code 1 if a family fails or nothing "
        "can be kept.",
    )
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"{', '.join(FAMILIES)}; default: all")
    parser.add_argument("--processes", type=int, metavar="N", help="how many at once; default: the cores")
    parser.add_argument("--quiet", action="store_true", help="no progress line")
    parser.set_defaults(act=compile_kernels)


def compile_kernels(options: argparse.Namespace) -> int:
    """Compile the kernels, print how many families and where, and return the exit code: rodsim compile."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        print("rodsim: NUMBA_DISABLE_JIT is set, so nothing is compiled; unset it", file=sys.stderr)
        return FOUND_WRONG
    from rigid.compilation.cache_folder import report_not_kept
    from rodsim.compiling.ahead import compile_ahead

    found = compile_ahead(options.families or None, options.processes, False if options.quiet else None)
    for outcome in found.failed:
        print(f"rodsim: family '{outcome.family}' is not compiled: {outcome.fault}", file=sys.stderr)
    if found.not_kept:
        report_not_kept(found.not_kept)
        return FOUND_WRONG
    compiled = [outcome for outcome in found.outcomes if outcome.kernels and not outcome.fault]
    before = len(found.outcomes) - len(compiled) - len(found.failed)
    rest = [f"{before} compiled before"] if before else []
    rest += [f"{len(found.failed)} failed"] if found.failed else []
    others = f" ({', '.join(rest)})" if rest else ""
    print(
        f"compiled {len(compiled)} of {len(found.outcomes)} families in {found.seconds:.0f} s{others}; "
        f"the code is in {found.folder}"
    )
    return FOUND_WRONG if found.failed else OK
