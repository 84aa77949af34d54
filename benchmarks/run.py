"""Compare rodsim's kernel ratios, then B1 to B4 in every installed program, side by side.

python -m benchmarks.run
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import report
from benchmarks.measure import measure
from benchmarks.measurement import Measurement
from benchmarks.picture import draw
from benchmarks.programs import PROGRAMS
from benchmarks.registry import CASES


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return 0, or 2 on a wrong argument."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    names = _chosen(parser, arguments.case)
    repeats = 1 if arguments.quick else max(1, arguments.repeats)
    versions = {program.name: program.version() for program in PROGRAMS}
    report.head(versions)

    kernels: list[dict[str, object]] = []
    if arguments.case is None and not arguments.no_kernels:
        kernels = _kernels(arguments.quick)
    runs: list[Measurement] = []
    remarks: list[str] = []
    for name in names:
        measurements, notes = measure(CASES[name], arguments.program, repeats, arguments.quick)
        report.table(CASES[name], measurements, notes)
        runs += measurements
        remarks += notes
    if arguments.json:
        record = {
            "versions": versions,
            "kernels": kernels,
            "runs": [asdict(m) for m in runs],
            "remarks": remarks,
        }
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")
        print(f"\nwritten: {arguments.json}")
    if arguments.picture:
        print(f"written: {draw(runs, arguments.picture)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument(
        "--case", action="append", metavar="NAME", help=f"only {', '.join(CASES)}, or B3 for all chains"
    )
    parser.add_argument(
        "--program", action="append", choices=[p.name for p in PROGRAMS], help="only these, and rodsim"
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="runs of each; the median time counts (default 3)"
    )
    parser.add_argument("--quick", action="store_true", help="one repeat of the first runs of each sweep")
    parser.add_argument("--no-kernels", action="store_true", help="omit the ratios of rodsim's kernels")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all measurements to FILE")
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="also draw errors over time, log-log, to FILE"
    )
    return parser


def _chosen(parser: argparse.ArgumentParser, names: Sequence[str] | None) -> list[str]:
    chosen: list[str] = []
    for name in names or CASES:
        matching = [c for c in CASES if c == name or c.startswith(f"{name}-")]
        if not matching:
            parser.error(f"--case {name}: choose from {', '.join(CASES)}, or B3 for all chains")
        chosen += [c for c in matching if c not in chosen]
    return chosen


def _kernels(quick: bool) -> list[dict[str, object]]:
    """Ratios of rodsim: `ratios(quick)` of `benchmarks.kernels` yields (what, value, goal)."""
    if importlib.util.find_spec("benchmarks.kernels") is None:
        return []
    rows = list(importlib.import_module("benchmarks.kernels").ratios(quick))
    report.kernels(rows)
    return [{"what": what, "value": value, "goal": goal} for what, value, goal in rows]


if __name__ == "__main__":
    sys.exit(main())
