"""Run a probe in a separate process with a time limit."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import rodsim

_PROBES = "rodsim.doctor.probes"


def ask(probe: str, *arguments: str, limit: float = 60.0) -> dict[str, Any]:
    """Run a probe and return its result; {"error": ...} if it failed, crashed or took longer than `limit` (s)."""
    source_folder = str(Path(rodsim.__file__).parent.parent)  # import the same copy of the program
    start = (
        f"import sys; sys.path.insert(0, {source_folder!r}); from {_PROBES} import main; main(sys.argv[1:])"
    )
    try:
        process = subprocess.run(
            [sys.executable, "-c", start, probe, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"gave no answer within {limit:g} s"}
    except OSError as error:
        return {"error": f"cannot be started: {error}"}
    if process.returncode < 0:
        return {"error": f"crashed ({_signal(-process.returncode)})"}
    lines = process.stdout.strip().splitlines()
    try:
        answer: dict[str, Any] = json.loads(lines[-1])  # libraries may have printed earlier lines
        return answer
    except (IndexError, ValueError):
        message = process.stderr.strip().splitlines()
        return {"error": message[-1] if message else f"ended with exit code {process.returncode}"}


def _signal(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
