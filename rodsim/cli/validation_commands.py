"""Commands `rodsim reproduce` (claims of papers) and `rodsim validate` (exact and published numbers), compared with results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rodsim.cli.exit_codes import CHECK_FAILED, OK, PROBLEM_FOUND


def add_parsers(commands: Any) -> None:
    """Add the commands and their options to `commands`."""
    _add_reproduce(commands)
    _add_validate(commands)


def _add_reproduce(commands: Any) -> None:
    """Add the command `reproduce`."""
    parser = commands.add_parser("reproduce", help="published examples: what papers claim, what is measured")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="studies to run; without a name they are listed"
    )
    parser.add_argument("--all", action="store_true", help="run all of them")
    parser.add_argument("-o", "--output", help="folder for pictures; default: none are drawn")
    parser.set_defaults(act=reproduce)


def _add_validate(commands: Any) -> None:
    """Add the command `validate`."""
    parser = commands.add_parser("validate", help="computed values compared with exact and published ones")
    parser.add_argument("names", nargs="*", metavar="CASE", help="cases to run; default: all")
    parser.add_argument("--list", action="store_true", help="list the cases and run none")
    parser.add_argument(
        "--papers", action="store_true", help="instead: examples of papers, with their claims"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="folder for the table as HTML and text, or for pictures of papers",
    )
    parser.set_defaults(act=validate)


def reproduce(options: argparse.Namespace) -> int:
    """Run published examples, print claims and results, and return the exit code: rodsim reproduce."""
    from rodsim.papers.claims_report import STUDIES
    from rodsim.papers.claims_report import reproduce as run_studies

    if not options.names and not options.all:
        width = max(map(len, STUDIES))
        for name, title in STUDIES.items():
            print(f"{name:{width}s}  {title}")
        print("run some with `rodsim validate --papers NAME ...`, all with `rodsim validate --papers`")
        return OK
    names = list(STUDIES) if options.all else options.names
    folder = Path(options.output) if options.output else None
    return PROBLEM_FOUND if run_studies(names, folder, sys.stdout) else OK


def validate(options: argparse.Namespace) -> int:
    """Run validation cases, print references and results, and return the exit code: rodsim validate."""
    if options.papers:
        options.names = [] if options.list else options.names
        options.all = not options.names and not options.list
        return reproduce(options)
    from rodsim.validation.outcomes_report import validate as run_cases
    from rodsim.validation.outcomes_report import write
    from rodsim.validation.registry import select_cases

    cases = select_cases(options.names)
    if options.list:
        width = max(len(case.name) for case in cases)
        for case in cases:
            print(f"{case.name:{width}s}  {case.title}")
        return OK
    outcomes = run_cases(cases, sys.stdout)
    if options.output is not None:
        for path in write(outcomes, Path(options.output)):
            print(f"wrote {path}")
    return OK if all(outcome.ok for outcome in outcomes) else CHECK_FAILED
