"""Command `rodsim compare`: measure the difference of two runs."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rigid.errors import ConvergenceError, ModelError
from rodsim.cli.exit_codes import LAW_BROKEN, NOT_CONVERGED, OK


def add_parsers(commands: Any) -> None:
    """Add the command and its options to `commands`."""
    parser = commands.add_parser(
        "compare",
        help="how far two runs are apart: other stiffness, integrator, step or mesh, rigid or flexible",
    )
    parser.add_argument("a", metavar="A", help="result or scene; scenes are run first")
    parser.add_argument("b", metavar="B", nargs="?", help="the same; default: scene A with the options below")
    parser.add_argument("--rigid", action="store_true", help="run B with rigid bodies for its rods")
    parser.add_argument("--integrator", help="run B with this one")
    parser.add_argument("--dt", type=float, help="s, run B with this step")
    parser.add_argument(
        "--points",
        nargs="+",
        metavar="POINT",
        help="block, block@0.1,0,0, rod@0.5, or with two names 'bar 9@0.1,0,0=rod@1'; default: all of the same name",
    )
    parser.add_argument("--plot", metavar="FILE", help="picture (.png, .pdf, .svg)")
    parser.add_argument("-o", "--output", metavar="FILE", help="table (.csv, .json, .txt)")
    parser.add_argument("--json", action="store_true", help="print the table for programs")
    parser.add_argument(
        "--within",
        type=float,
        metavar="TOL",
        help="exit code 4 unless all points stay together to this part of their ways, and turns to so many rad",
    )
    parser.set_defaults(act=compare)


def compare(options: argparse.Namespace) -> int:
    """Compare two runs and return the exit code: rodsim compare."""
    from rodsim.comparing.comparison import compare as make_comparison
    from rodsim.comparing.operands import is_scene, result_of

    changes = {"integrator": options.integrator, "dt": options.dt, "rigid": options.rigid}
    second = options.a if options.b is None else options.b
    if options.b is None and not any(changes.values()):
        raise ModelError(
            f"compare: '{options.a}' with what? give another result or scene, or --rigid, --integrator, --dt"
        )
    if options.b is None and not is_scene(options.a):
        raise ModelError(f"compare: '{options.a}' is a result and run already; give B as well")
    try:
        results = result_of(options.a), result_of(second, **changes)
    except ConvergenceError as error:
        print(f"rodsim: {error}", file=sys.stderr)
        return NOT_CONVERGED
    found = make_comparison(*results, options.points)
    print(found.to_json() if options.json else found.text())
    told = sys.stderr if options.json else sys.stdout
    if options.output is not None:
        print(f"wrote {found.write(options.output)}", file=told)
    if options.plot is not None:
        print(f"wrote {found.plot(options.plot)}", file=told)
    if options.within is None:
        return OK
    ok = found.within(options.within)
    print(f"{'within' if ok else 'NOT within'} {options.within:g}", file=told)
    return OK if ok else LAW_BROKEN
