"""Command `rodsim doctor`: check what is installed, what works, and how fast a small run is."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from rodsim.cli.exit_codes import FOUND_WRONG, OK


def add_parsers(commands: Any) -> None:
    """Add the command and its options to `commands`."""
    parser = commands.add_parser(
        "doctor",
        help="what is installed, which drivers work, the cache, and the time of a small run",
        description="Looks at the program, its packages and extras, the cache of compiled kernels, OpenGL, a screen for "
        "windows, ffmpeg, and times a small run. Exit code 1 where something is broken.",
    )
    parser.add_argument("--quick", action="store_true", help="without the run, the pictures and the movies")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(act=doctor)


def doctor(options: argparse.Namespace) -> int:
    """Examine the installation, print the findings and return the exit code: rodsim doctor."""
    from rodsim.doctor.examination import examine
    from rodsim.doctor.report_lines import BROKEN

    findings = []
    for finding in examine(options.quick):
        findings.append(finding)
        if not options.json:
            print("\n".join(finding.lines(15)), flush=True)  # printed one by one: some take a while
    broken = [finding.name for finding in findings if finding.state == BROKEN]
    if options.json:
        print(json.dumps({"ok": not broken, "findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        print(f"broken: {', '.join(broken)}" if broken else "nothing is broken")
    return FOUND_WRONG if broken else OK
